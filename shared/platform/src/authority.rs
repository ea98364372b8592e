//! The authority of long work: its principal, and the check that it may still do the work.
//!
//! A request is authorized once, by its credential. The work that it starts goes on later: meanwhile an
//! app may be uninstalled, a member removed or a scope withdrawn. So the work stores its [`Authority`],
//! and its steps check it by one `BatchGetItem` before each page ([`AuthorityCheck::reason`]). What is under way
//! is finished, and nothing after it begins.

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{AppId, InstallationId, MerchantId, StoreId};
use core_types::key;
use identity::account::Account as _;
use identity::merchant::Merchant;
use identity::store::{Store, StoreStatus};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::Batch;
use table::item::Key;
use tokio::time::Instant;

use crate::actor::{StoreActor, insufficient_scope};
use crate::app::Stop;
use crate::installation::{Installation, InstallationStatus};

/// The time for which the result of a check is reused by shorter pages.
const REUSED_FOR: Duration = Duration::from_millis(500);

/// The principal that requested work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RequestedBy {
    /// A member of the store.
    Member { merchant_id: MerchantId },
    /// An app, and for an embedded token the member who uses it.
    App {
        app_id: AppId,
        installation_id: InstallationId,
        /// The installation's generation at the time of the request: a later one means that its tokens
        /// were revoked.
        generation: u64,
        merchant_id: Option<MerchantId>,
    },
    /// A platform operator.
    Operator { merchant_id: MerchantId },
}

/// The principal of work on a store, and the scopes that the work requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// The principal. The stored name is older.
    #[serde(rename = "asker")]
    requested_by: RequestedBy,
    /// None for work of the platform: the canary store is created when it is needed.
    store_id: Option<StoreId>,
    scopes: Vec<String>,
}

impl Authority {
    /// Ensures that the actor has all scopes of the work: whoever stops it decides about all of it.
    ///
    /// # Errors
    /// `insufficient_scope`, with the first scope that is missing.
    pub fn ensure_covered_by(&self, actor: &StoreActor) -> Result<(), Problem> {
        let missing = self.scopes.iter().find(|scope| !actor.is_unlimited() && !actor.may(scope));
        missing.map_or(Ok(()), |scope| Err(insufficient_scope(scope)))
    }
}

impl Authority {
    /// The authority of an actor on a store, for work that requires these scopes.
    pub fn of_actor<'a>(
        actor: &StoreActor,
        store: &StoreId,
        scopes: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let requested_by = match actor {
            StoreActor::Merchant(id, _) => RequestedBy::Member { merchant_id: id.clone() },
            StoreActor::App(actor) => RequestedBy::App {
                app_id: actor.app_id.clone(),
                installation_id: actor.installation_id.clone(),
                generation: actor.generation,
                merchant_id: actor.merchant_id.clone(),
            },
        };
        let scopes = scopes.into_iter().map(str::to_owned).collect();
        Self { requested_by, store_id: Some(store.clone()), scopes }
    }

    /// The authority of an operator, on a store or for the platform.
    pub fn of_operator(operator: &MerchantId, store: Option<&StoreId>) -> Self {
        let requested_by = RequestedBy::Operator { merchant_id: operator.clone() };
        Self { requested_by, store_id: store.cloned(), scopes: Vec::new() }
    }

    /// The authority of the same principal, for work that requires this scope.
    #[must_use]
    pub fn for_scope(&self, scope: &str) -> Self {
        Self { scopes: vec![scope.to_owned()], ..self.clone() }
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.store_id.iter().map(key::store).collect();
        match &self.requested_by {
            RequestedBy::Member { merchant_id } | RequestedBy::Operator { merchant_id } => {
                keys.push(key::merchant(merchant_id));
            }
            RequestedBy::App { app_id, installation_id, merchant_id, .. } => {
                keys.extend([
                    key::installation(installation_id),
                    Stop::of(app_id, installation_id),
                ]);
                keys.extend(merchant_id.as_ref().map(key::merchant));
            }
        }
        keys
    }

    /// The reason for which the authority was revoked; none while the work may go on.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn revocation(&self, services: &Services) -> Result<Option<EndReason>, Problem> {
        let keys = self.keys();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let store = match &self.store_id {
            Some(id) => {
                let found: Option<Store> = batch.take(&key::store(id))?;
                let Some(store) = found.filter(|store| store.status != StoreStatus::Deleted) else {
                    return Ok(Some(EndReason::StoreDeleted));
                };
                Some(store)
            }
            None => None,
        };
        let store = store.as_ref();
        match &self.requested_by {
            RequestedBy::Member { merchant_id } => {
                self.member_revocation(&mut batch, merchant_id, store)
            }
            RequestedBy::Operator { merchant_id } => {
                let account: Option<Merchant> = batch.take(&key::merchant(merchant_id))?;
                let Some(account) = account.filter(Merchant::is_active) else {
                    return Ok(Some(EndReason::AccountClosed));
                };
                let is_operator = account.is_operator(&services.config);
                Ok((!is_operator).then_some(EndReason::ScopeWithdrawn))
            }
            RequestedBy::App { app_id, installation_id, generation, merchant_id } => {
                let stop = batch.take::<Stop>(&Stop::of(app_id, installation_id))?;
                let found = batch.take::<Installation>(&key::installation(installation_id))?;
                let reason = self.app_revocation(found.as_ref(), stop.is_some(), *generation);
                match (reason, merchant_id) {
                    (None, Some(merchant)) => self.member_revocation(&mut batch, merchant, store),
                    (reason, _) => Ok(reason),
                }
            }
        }
    }

    fn member_revocation(
        &self,
        batch: &mut Batch,
        merchant: &MerchantId,
        store: Option<&Store>,
    ) -> Result<Option<EndReason>, Problem> {
        let account: Option<Merchant> = batch.take(&key::merchant(merchant))?;
        let Some(account) = account.filter(Merchant::is_active) else {
            return Ok(Some(EndReason::AccountClosed));
        };
        let Some(grant) = store.and_then(|store| account.grant_on(store)) else {
            return Ok(Some(EndReason::MemberRemoved));
        };
        let is_covered = self.scopes.iter().all(|scope| grant.covers(scope));
        Ok((!is_covered).then_some(EndReason::ScopeWithdrawn))
    }

    fn app_revocation(
        &self,
        installation: Option<&Installation>,
        is_stopped: bool,
        generation: u64,
    ) -> Option<EndReason> {
        let is_gone = |it: &&Installation| {
            matches!(it.status, InstallationStatus::Uninstalled | InstallationStatus::Pending)
        };
        let Some(installation) = installation.filter(|it| !is_gone(it)) else {
            return Some(EndReason::AppUninstalled);
        };
        if is_stopped || installation.status == InstallationStatus::Suspended {
            return Some(EndReason::AppSuspended);
        }
        if installation.generation != generation {
            return Some(EndReason::TokensRevoked);
        }
        let is_covered = self.scopes.iter().all(|scope| installation.scopes.cover(scope));
        (!is_covered).then_some(EndReason::ScopeWithdrawn)
    }
}

/// The check of an authority, repeated between the pages of work.
#[derive(Debug)]
pub struct AuthorityCheck {
    authority: Option<Authority>,
    checked_at: Option<Instant>,
}

impl AuthorityCheck {
    /// The check of this authority. Work without one was begun before authorities were stored, and goes
    /// on.
    pub fn of(authority: Option<&Authority>) -> Self {
        Self { authority: authority.cloned(), checked_at: None }
    }

    /// The reason for which the authority was revoked before the next page; none while the work may go on.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn revocation(&mut self, services: &Services) -> Result<Option<EndReason>, Problem> {
        let is_known = self.checked_at.is_some_and(|at| at.elapsed() < REUSED_FOR);
        let Some(authority) = self.authority.as_ref().filter(|_| !is_known) else {
            return Ok(None);
        };
        let reason = authority.revocation(services).await?;
        self.checked_at = Some(Instant::now());
        Ok(reason)
    }
}

#[cfg(test)]
mod tests;
