//! Merchants: the accounts that own stores, publish apps, or operate the platform.

mod account;
mod session;
pub mod stores;
mod topics;
mod unique_email;
mod view;

use std::time::Duration;

use core_types::event::{Event, EventSubject, Topic};
use core_types::fields::{Email, Locale};
use core_types::id::{MerchantId, StoreId};
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::config::Config;
use table::item::Item;
use table::{Change, Condition, Write};

use crate::account::{Account, Generations};
use crate::member::{Memberships, RoleGrant};
use crate::store::Store;

pub use account::Platform;
pub use topics::*;
pub use unique_email::UniqueEmail;
pub use view::MerchantView;

/// The retention of a deleted account before it is removed.
pub const DELETION_GRACE_PERIOD: Duration = DAY.saturating_mul(30);

primitives::string_enum! {
    /// Whether an account may be used.
    MerchantStatus {
        /// It may be used.
        Active = "active",
        /// An operator has closed it.
        Disabled = "disabled",
        /// Its owner has deleted it; it is removed when the grace of 30 days ends.
        Deleted = "deleted",
    }
}

/// A merchant's account.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "merchant", key = key::merchant(&self.id), forget_at = self.delete_at)]
pub struct Merchant {
    /// `mer_…`; later ones sort after it.
    pub id: MerchantId,
    /// The address as it was entered.
    pub email: Email,
    /// Whether the owner has proven to receive mail there.
    pub email_verified: bool,
    /// The person's name.
    pub name: Option<String>,
    /// The language of mails.
    pub locale: Option<Locale>,
    /// Argon2id hash, PHC form. Secret. None after the proven owner has ended earlier credentials:
    /// they sign in by one-time code until they set a password.
    pub password_hash: Option<String>,
    /// Whether a sign-in requires a second factor ([`Mfa`](crate::mfa::Mfa)).
    #[serde(default)]
    pub mfa_enabled: bool,
    /// Whether the account may be used.
    pub status: MerchantStatus,
    /// Counts events that end every session: sessions of an earlier generation are invalid.
    pub credential_generation: u64,
    /// Counts passwords: a reset link sent before the newest password was set is invalid.
    #[serde(default)]
    pub password_generation: u64,
    /// The stores it owns, without deleted ones: see [`Merchant::COUNTED`].
    #[serde(default)]
    pub stores: u64,
    /// The store it opened last, even if deleted: the index may not have it yet. Written with the
    /// counter.
    #[serde(default)]
    pub newest_store_id: Option<StoreId>,
    /// The stores of others that it may act on, with its role on each, so that reading the account
    /// suffices. Written by [`Merchant::write_memberships`] and [`Merchant::replace_memberships`] alone.
    #[serde(default, skip_serializing_if = "Memberships::is_unwritten")]
    pub memberships: Memberships,
    /// When a deleted account is removed.
    pub delete_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Optimistic lock: raised by each write except those of counters.
    pub version: u64,
}

/// The data of an account to create.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The address to mail the verification link to.
    pub email: Email,
    /// Argon2id of the password, PHC form.
    pub password_hash: String,
    /// The person's name.
    pub name: Option<String>,
    /// The language of mails.
    pub locale: Option<Locale>,
}

impl Merchant {
    /// Creates an account, whose address is not proven yet.
    pub fn register(registration: Registration, now: Timestamp) -> Self {
        Self {
            id: MerchantId::mint(now),
            email: registration.email,
            email_verified: false,
            name: registration.name,
            locale: registration.locale,
            password_hash: Some(registration.password_hash),
            mfa_enabled: false,
            status: MerchantStatus::Active,
            credential_generation: 1,
            password_generation: 1,
            stores: 0,
            newest_store_id: None,
            memberships: Memberships::default(),
            delete_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The account at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The account with its address proven by a holder of its credentials. The caller keeps that
    /// session; every other session, code and link ends.
    #[must_use]
    pub fn verified(&self, now: Timestamp) -> Self {
        Self { email_verified: true, ..self.with_sessions_ended(now) }
    }

    /// The account taken over by the owner of its address. If the address was unproven, a stranger may
    /// have set the account up: its password, second factor, sessions, codes and links end. None
    /// when the address was proven before.
    #[must_use]
    pub fn taken_over(&self, now: Timestamp) -> Option<Self> {
        if self.email_verified {
            return None;
        }
        let Generations { credential, password } = self.generations();
        Some(Self {
            credential_generation: credential.saturating_add(1),
            password_generation: password.saturating_add(1),
            email_verified: true,
            password_hash: None,
            mfa_enabled: false,
            ..self.changed(now)
        })
    }

    /// The account deleted by its owner: its sessions end now, it is removed after the grace
    /// period.
    #[must_use]
    pub fn deleted(&self, now: Timestamp) -> Self {
        Self {
            status: MerchantStatus::Deleted,
            delete_at: Some(now.plus(DELETION_GRACE_PERIOD)),
            ..self.with_sessions_ended(now)
        }
    }

    /// An event about the account, with its current state.
    pub fn event(&self, topic: &Topic<MerchantView>, config: &Config, now: Timestamp) -> Event {
        let entity = self.id.as_str();
        let subject = EventSubject { store: None, app: None, entity, version: self.version };
        Event::new(topic, subject, &MerchantView::of(self, config), now)
    }

    /// Its grant on this store, if any: ownership is read from the store, membership from the
    /// account.
    pub fn grant_on(&self, store: &Store) -> Option<RoleGrant> {
        if store.owner_id == self.id {
            return Some(RoleGrant::OWNER);
        }
        self.memberships.grants.get(&store.id).cloned()
    }

    /// Whether this is a platform operator: the settings list its address, and it is proven.
    /// Evaluated at each call, so that the role ends with the address or its listing.
    pub fn is_operator(&self, config: &Config) -> bool {
        let address = self.email.normalized();
        let listed = |operator: &String| operator.trim().to_lowercase() == address;
        self.email_verified && config.operators.iter().any(listed)
    }
}

/// Writes of an account.
impl Merchant {
    /// Attributes changed in place by the transactions that open or delete a store, or change a
    /// membership. [`Account::save`] never writes them, and they do not raise the version.
    pub const COUNTED: &'static [&'static str] = &["stores", "newest_store_id", "memberships"];

    /// Writes this account at its next version, on condition that it can be deleted: it owns no store, and its
    /// memberships have not changed since it was read.
    pub fn save_if_deletable(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        // Older accounts have no counter.
        let none = format!(
            "(attribute_not_exists(stores) OR stores = :none) AND ({})",
            Memberships::UNCHANGED
        );
        let none = Condition::new(none)
            .name("#revision", "revision")
            .value(":none", 0)
            .value(":revision", self.memberships.revision);
        write.replace_except(self, Self::COUNTED, none, rejected)
    }

    /// Sets the memberships of the account, if they are unchanged since it was read and it is
    /// active.
    pub fn write_memberships(&self, write: Write, memberships: &Memberships) -> Write {
        let change = Change::new("SET memberships = :memberships")
            .only_if(format!("#status = :active AND ({})", Memberships::UNCHANGED))
            .name("#status", "status")
            .name("#revision", "revision")
            .value(":active", MerchantStatus::Active)
            .value(":revision", self.memberships.revision)
            .value(":memberships", memberships);
        write.update(&self.key(), change, Code::VersionConflict)
    }

    /// Sets the memberships of the account, if they are unchanged since it was read. If it
    /// `gives_up` the ownership of a store, it counts one store less.
    pub fn replace_memberships(
        &self,
        write: Write,
        memberships: &Memberships,
        gives_up: bool,
    ) -> Write {
        let counted = gives_up && self.stores > 0;
        let set = if counted { ", stores = stores - :one" } else { "" };
        let has = if counted { " AND stores >= :one" } else { "" };
        let change = Change::new(format!("SET memberships = :memberships{set}"))
            .only_if(format!("({}){has}", Memberships::UNCHANGED))
            .name("#revision", "revision")
            .value(":revision", self.memberships.revision)
            .value(":memberships", memberships);
        let change = if counted { change.value(":one", 1) } else { change };
        write.update(&self.key(), change, Code::VersionConflict)
    }

    /// Counts one more store of the owner's account, if that is active.
    pub fn count_new_store(write: Write, store: &Store, rejected: impl Into<Problem>) -> Write {
        let count = "SET stores = if_not_exists(stores, :none) + :one, newest_store_id = :store";
        let change = Change::new(count)
            .value(":store", &store.id)
            .only_if("#status = :active")
            .name("#status", "status")
            .value(":active", MerchantStatus::Active)
            .value(":none", 0)
            .value(":one", 1);
        write.update(&key::merchant(&store.owner_id), change, rejected)
    }

    /// Counts one store less of the account. An account older than the counter is not counted.
    pub fn count_deleted_store(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        if self.stores == 0 {
            return write;
        }
        let change =
            Change::new("SET stores = stores - :one").only_if("stores >= :one").value(":one", 1);
        write.update(&self.key(), change, rejected)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use primitives::fields::FromText;

    use super::*;

    /// A merchant account.
    pub(crate) fn ann(now: Timestamp) -> Merchant {
        let registration = Registration {
            email: Email::from_text("Ann@example.com").unwrap(),
            password_hash: "$argon2id$".into(),
            name: None,
            locale: None,
        };
        Merchant::register(registration, now)
    }

    #[test]
    fn a_deleted_account_keeps_its_address_until_it_is_removed() {
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        assert_eq!(UniqueEmail::of(&merchant).released_at, None);
        let deleted = merchant.deleted(now);
        assert_eq!(UniqueEmail::of(&deleted).released_at, Some(now.plus(DELETION_GRACE_PERIOD)));
        assert_eq!((deleted.version, deleted.credential_generation), (2, 2));
    }

    #[test]
    fn a_new_password_and_the_first_proof_end_the_sessions() {
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        let generations = |merchant: &Merchant| {
            (merchant.version, merchant.credential_generation, merchant.password_generation)
        };
        assert_eq!(generations(&merchant.with_password("new".into(), now)), (2, 2, 2));
        assert_eq!(generations(&merchant.with_password_alone("new".into(), now)), (2, 1, 2));
        assert_eq!(generations(&merchant.with_sessions_ended(now)), (2, 2, 1));
        let verified = merchant.verified(now);
        assert_eq!(generations(&verified), (2, 2, 1));
        assert!(verified.email_verified && verified.password_hash.is_some());
        let taken_over = merchant.taken_over(now).unwrap();
        assert_eq!(generations(&taken_over), (2, 2, 2));
        assert!(taken_over.email_verified && taken_over.password_hash.is_none());
        assert!(taken_over.taken_over(now).is_none() && verified.taken_over(now).is_none());
    }
}
