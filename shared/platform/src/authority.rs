//! Who long work acts for, and whether they still may.
//!
//! A request is validated once, by the credential that it brings. Work that goes on after it is not: an app may be
//! uninstalled, a member removed and a scope withdrawn while it does. So the work keeps its [`Authority`], and
//! whoever takes its steps asks again, by one `BatchGetItem`, before each page of what it does
//! ([`Standing::lost`]): what was under way is finished, and nothing after it begins.

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{AppId, InstallationId, MerchantId, StoreId};
use core_types::key;
use core_types::scope::Required;
use identity::account::Account as _;
use identity::merchant::Merchant;
use identity::store::{Store, StoreStatus};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::Batch;
use table::item::Key;
use tokio::time::Instant;

use crate::app::Stop;
use crate::caller::{OverseenStore, StoreAccess, StoreActor, insufficient_scope};
use crate::installation::{Installation, InstallationStatus};

/// How long an answer is believed: pages that take less than that share one.
const BELIEVED: Duration = Duration::from_millis(500);

/// Who asked for work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RequestedBy {
    /// A member of the store.
    Member { merchant_id: MerchantId },
    /// An app, and the member who uses it where its token is embedded.
    App {
        app_id: AppId,
        installation_id: InstallationId,
        /// The installation's, when it was asked: a later one is of another life of it.
        generation: u64,
        merchant_id: Option<MerchantId>,
    },
    /// A platform operator.
    Operator { merchant_id: MerchantId },
}

/// Who work acts for on a store, and the scopes that it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    asker: RequestedBy,
    /// None where it is the platform's own: the canary store is made when it is needed.
    store_id: Option<StoreId>,
    scopes: Vec<String>,
}

impl Authority {
    /// Ensures that the actor may do all that the work does: to stop it is to decide about it.
    ///
    /// # Errors
    /// `insufficient_scope`, with the first scope that is missing.
    pub fn ensure_covered_by(&self, actor: &StoreActor) -> Result<(), Problem> {
        let missing = self.scopes.iter().find(|scope| !actor.is_unlimited() && !actor.may(scope));
        missing.map_or(Ok(()), |scope| Err(insufficient_scope(scope)))
    }
}

impl<S: Required> StoreAccess<S> {
    /// The store's owner, who acts in a session of their own: not a member, and not through an app.
    pub fn acting_owner(&self) -> Option<&MerchantId> {
        match &self.actor {
            StoreActor::Merchant(id, _) => Some(id).filter(|id| **id == self.store.owner_id),
            StoreActor::App(_) => None,
        }
    }

    /// The caller's authority for work that takes these scopes, beside that of the request.
    pub fn authority(&self, scopes: &[&str]) -> Authority {
        let asker = match &self.actor {
            StoreActor::Merchant(id, _) => RequestedBy::Member { merchant_id: id.clone() },
            StoreActor::App(actor) => RequestedBy::App {
                app_id: actor.app_id.clone(),
                installation_id: actor.installation_id.clone(),
                generation: actor.generation,
                merchant_id: actor.merchant_id.clone(),
            },
        };
        let scopes = std::iter::once(S::SCOPE).chain(scopes.iter().copied());
        let scopes = scopes.map(str::to_owned).collect();
        Authority { asker, store_id: Some(self.store.id.clone()), scopes }
    }
}

impl<S: Required> OverseenStore<S> {
    /// As [`StoreAccess::authority`]; of an operator, for as long as they are one.
    pub fn authority_overseen(&self, scopes: &[&str]) -> Authority {
        match (&self.actor, self.is_operator()) {
            (StoreActor::Merchant(id, _), true) => Authority::of_operator(id, Some(&self.store.id)),
            _ => self.authority(scopes),
        }
    }
}

impl Authority {
    /// An operator's, on a store or for the platform.
    pub fn of_operator(operator: &MerchantId, store: Option<&StoreId>) -> Self {
        let asker = RequestedBy::Operator { merchant_id: operator.clone() };
        Self { asker, store_id: store.cloned(), scopes: Vec::new() }
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.store_id.iter().map(key::store).collect();
        match &self.asker {
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

    /// Why the work may not go on; none while it may.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn lost(&self, services: &Services) -> Result<Option<EndReason>, Problem> {
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
        match &self.asker {
            RequestedBy::Member { merchant_id } => {
                self.lost_by_member(&mut batch, merchant_id, store)
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
                let lost = self.lost_by_app(found.as_ref(), stop.is_some(), *generation);
                match (lost, merchant_id) {
                    (None, Some(merchant)) => self.lost_by_member(&mut batch, merchant, store),
                    (lost, _) => Ok(lost),
                }
            }
        }
    }

    fn lost_by_member(
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

    fn lost_by_app(
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

/// Whether work may go on, asked anew while its pages are done.
#[derive(Debug)]
pub struct Standing {
    authority: Option<Authority>,
    asked_at: Option<Instant>,
}

impl Standing {
    /// That of work with this authority; what was begun before work kept it has none, and goes on.
    pub fn of(authority: Option<&Authority>) -> Self {
        Self { authority: authority.cloned(), asked_at: None }
    }

    /// Why the work may not go on with its next page; none while it may.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn lost(&mut self, services: &Services) -> Result<Option<EndReason>, Problem> {
        let is_known = self.asked_at.is_some_and(|at| at.elapsed() < BELIEVED);
        let Some(authority) = self.authority.as_ref().filter(|_| !is_known) else {
            return Ok(None);
        };
        let lost = authority.lost(services).await?;
        self.asked_at = Some(Instant::now());
        Ok(lost)
    }
}

#[cfg(test)]
mod tests;
