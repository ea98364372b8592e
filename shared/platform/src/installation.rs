//! Installations: one app on one store, and the tokens that act there.

mod topics;

use std::collections::BTreeMap;

use core_types::event::EventSubject;
use core_types::id::{AppId, InstallationId, MerchantId, SessionId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use core_types::scope::Scopes;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::app::CommerceApp;

pub use topics::*;

/// The audience of app tokens (RFC 7519 §4.1.3).
pub const AUDIENCE: &str = "commerce-api";

/// The most token hashes that an installation stores. Older ones are dropped, and their tokens expire
/// with them (docs/data-model.md §6).
pub const MAX_TOKEN_DIGESTS: usize = 20;

primitives::string_enum! {
    /// The status of an installation.
    #[schemars(rename = "AppInstallationStatus")]
    InstallationStatus {
        /// It was installed and not authorized yet.
        Pending = "pending",
        /// The app can act on the store.
        Active = "active",
        /// The merchant suspended it: tokens are rejected until it is resumed.
        Suspended = "suspended",
        /// It was uninstalled, and no token works any more.
        Uninstalled = "uninstalled",
    }
}

/// An installation.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "installation", key = key::installation(&self.id))]
// Packed, except for the attributes that the conditions for tokens and reviews name.
#[item(plain = ["status", "generation"])]
#[item(indexes = vec![key::installations_of_store(&self.store_id, &self.app_id)])]
pub struct Installation {
    /// The id, derived from store and app.
    pub id: InstallationId,
    /// The store on which the app acts.
    pub store_id: StoreId,
    /// The app.
    pub app_id: AppId,
    /// The app's developer.
    pub developer_id: MerchantId,
    /// The status.
    pub status: InstallationStatus,
    /// The scopes that the merchant granted.
    pub scopes: Scopes,
    /// Incremented to revoke all tokens: a token of an earlier generation is rejected.
    pub generation: u64,
    /// The access tokens issued to the app.
    #[serde(rename = "configuration")]
    pub access_tokens: AccessTokens,
    /// The merchant who installed it.
    pub installed_by: MerchantId,
    /// When it became active; reset when the app is installed again.
    pub installed_at: Option<Timestamp>,
    /// When it was uninstalled.
    pub uninstalled_at: Option<Timestamp>,
    /// The merchant's reason for its status.
    pub status_reason: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

/// The access tokens issued to an installed app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessTokens {
    /// The SHA-256 digests of the newest access tokens, with their expiry. The tokens themselves are not stored.
    #[serde(rename = "token_hashes")]
    pub digests: BTreeMap<String, Timestamp>,
}

impl Installation {
    /// The id of the installation of this app on this store.
    pub fn id_of(store: &StoreId, app: &AppId) -> InstallationId {
        InstallationId::derive(&[store.as_str(), app.as_str()])
    }

    /// The installation at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The first installation of the app on the store: pending until the merchant grants scopes, active
    /// at once if the app requests none.
    pub fn begin(app: &CommerceApp, store: &StoreId, by: &MerchantId, now: Timestamp) -> Self {
        let needs_consent = !app.scopes.is_empty();
        Self {
            id: Self::id_of(store, &app.id),
            store_id: store.clone(),
            app_id: app.id.clone(),
            developer_id: app.owner_id.clone(),
            status: if needs_consent {
                InstallationStatus::Pending
            } else {
                InstallationStatus::Active
            },
            scopes: Scopes::default(),
            generation: 1,
            access_tokens: AccessTokens::default(),
            installed_by: by.clone(),
            installed_at: (!needs_consent).then_some(now),
            uninstalled_at: None,
            status_reason: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The installation begun again after it was uninstalled. Its former tokens stay revoked.
    #[must_use]
    pub fn begin_again(&self, app: &CommerceApp, by: &MerchantId, now: Timestamp) -> Self {
        Self {
            generation: self.generation,
            created_at: self.created_at,
            version: self.version.saturating_add(1),
            ..Self::begin(app, &self.store_id, by, now)
        }
    }

    /// The merchant's actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.status {
            InstallationStatus::Pending => vec!["authorize", "uninstall"],
            InstallationStatus::Active => {
                vec!["authorize", "suspend", "revoke_tokens", "uninstall"]
            }
            InstallationStatus::Suspended => vec!["resume", "revoke_tokens", "uninstall"],
            InstallationStatus::Uninstalled => vec!["install", "authorize"],
        }
    }

    fn rejected(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
    }

    /// The installation with all tokens revoked, from the next request on.
    fn with_tokens_revoked(self) -> Self {
        Self {
            generation: self.generation.saturating_add(1),
            access_tokens: AccessTokens::default(),
            ..self
        }
    }

    /// The installation uninstalled: the generation is incremented, and hashes and scopes are cleared.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn uninstall(&self, reason: Option<String>, now: Timestamp) -> Result<Self, Problem> {
        if self.status == InstallationStatus::Uninstalled {
            return Err(self.rejected());
        }
        Ok(Self {
            status: InstallationStatus::Uninstalled,
            status_reason: reason,
            uninstalled_at: Some(now),
            scopes: Scopes::default(),
            ..self.changed(now).with_tokens_revoked()
        })
    }

    /// The installation suspended; its tokens are rejected until it is resumed.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn suspend(&self, reason: Option<String>, now: Timestamp) -> Result<Self, Problem> {
        if self.status != InstallationStatus::Active {
            return Err(self.rejected());
        }
        let status = InstallationStatus::Suspended;
        Ok(Self { status, status_reason: reason, ..self.changed(now) })
    }

    /// The installation resumed.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn resume(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status != InstallationStatus::Suspended {
            return Err(self.rejected());
        }
        let status = InstallationStatus::Active;
        Ok(Self { status, status_reason: None, ..self.changed(now) })
    }

    /// The installation with all tokens revoked and nothing else changed.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn revoke_tokens(&self, now: Timestamp) -> Result<Self, Problem> {
        match self.status {
            InstallationStatus::Active | InstallationStatus::Suspended => {
                Ok(self.changed(now).with_tokens_revoked())
            }
            _ => Err(self.rejected()),
        }
    }

    /// The installation with a token's digest recorded; only the newest ones are stored.
    #[must_use]
    pub fn record(&self, token: &AppToken, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        let digests = &mut next.access_tokens.digests;
        digests.retain(|_, expires_at| now < *expires_at);
        digests.insert(token.digest.clone(), token.expires_at);
        while digests.len() > MAX_TOKEN_DIGESTS {
            let oldest =
                digests.iter().min_by_key(|(_, at)| **at).map(|(digest, _)| digest.clone());
            match oldest {
                Some(digest) => digests.remove(&digest),
                None => break,
            };
        }
        next
    }

    /// Ensures that a token with this record may act now.
    ///
    /// # Errors
    /// `invalid_token`: the digest is no longer recorded, the token is revoked or of an earlier
    /// generation, or the installation is not active.
    pub fn admit(&self, token: &AppToken, now: Timestamp) -> Result<(), Problem> {
        // Embedded tokens are many and short-lived; only their own item records them.
        let recorded =
            token.session_id.is_some() || self.access_tokens.digests.contains_key(&token.digest);
        let alive = token.installation_id == self.id
            && token.generation == self.generation
            && !token.revoked
            && now < token.expires_at
            && self.status == InstallationStatus::Active;
        if recorded && alive { Ok(()) } else { Err(Code::InvalidToken.into()) }
    }
}

impl Resource for Installation {
    type View = InstallationView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, app) = (Some(&self.store_id), Some(&self.app_id));
        EventSubject { store, app, entity: self.id.as_str(), version: self.version }
    }
}

/// The record of an app access token, by its digest.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "app_token", key = key::app_token(&self.digest))]
#[item(forget_at = Some(self.expires_at.plus(DAY)))]
pub struct AppToken {
    /// SHA-256 of the token.
    pub digest: String,
    /// The installation it acts for.
    pub installation_id: InstallationId,
    /// The session it is bound to, for an embedded token.
    pub session_id: Option<SessionId>,
    /// The merchant of that session.
    pub merchant_id: Option<MerchantId>,
    /// Its scopes.
    pub scopes: Scopes,
    /// The installation's generation when it was issued.
    pub generation: u64,
    /// Whether this single token was revoked.
    pub revoked: bool,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was issued.
    pub created_at: Timestamp,
    /// Always 1: the item is written whole, and never replaced by version.
    pub version: u64,
}

core_types::view! {
    /// The installation of an app on a store.
    InstallationView of installation: Installation {
        /// The id.
        id: InstallationId,
        /// The store.
        store_id: StoreId,
        /// The app.
        app_id: AppId,
        /// The status.
        status: InstallationStatus,
        /// The scopes that the merchant granted.
        scopes: Vec<String> = installation.scopes.to_vec(),
        /// The merchant's reason for a suspension or uninstallation.
        status_reason: Option<String>,
        /// When it became active; `null` while it is pending.
        installed_at: Option<Timestamp>,
        /// When it was uninstalled.
        uninstalled_at: Option<Timestamp>,
        /// The merchant's actions that its status allows.
        allowed_actions: Vec<&'static str> = installation.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}

#[cfg(test)]
mod tests;
