//! Merchants: the accounts that own stores, publish apps, or operate the platform.

mod session;
pub mod stores;
mod topics;
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
use table::item::{Item, Key};
use table::{Change, Condition, Write};

use crate::account::{Account, Generations};
use crate::challenge_subject::ChallengeSubject;
use crate::member::{Memberships, RoleGrant};
use crate::session::Session;
use crate::store::Store;
use crate::throttle::{AttemptSubject, Kind};

pub use topics::*;
pub use view::MerchantView;

/// The retention of a deleted account before it is removed.
pub const GRACE: Duration = DAY.saturating_mul(30);

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
    /// suffices. Written by [`Merchant::write_memberships`] and [`Merchant::is_regranted`] alone.
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

    /// The account claimed by the owner of its address. If the address was unproven, a stranger may
    /// have set the account up: its password, second factor, sessions, codes and links end. None
    /// when the address was proven before.
    #[must_use]
    pub fn claimed(&self, now: Timestamp) -> Option<Self> {
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
            delete_at: Some(now.plus(GRACE)),
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

/// The tenant of merchants' addresses.
#[derive(Debug)]
pub struct Platform;

impl Account for Merchant {
    type Tenant = Platform;
    type Claim = UniqueEmail;
    type Session = Session;

    fn subject(kind: Kind, _: &Platform, email: &Email, network: &str) -> AttemptSubject {
        AttemptSubject::new(kind, email, network)
    }
    fn claim_key(_: &Platform, email: &str) -> Key {
        key::unique_email(email)
    }
    fn key_by(_: &Platform, claim: Option<&UniqueEmail>, email: &str) -> Key {
        let nobody = || MerchantId::derive(&["nobody", email]);
        key::merchant(&claim.map_or_else(nobody, |claim| claim.merchant_id.clone()))
    }
    fn key_of(holder: &ChallengeSubject) -> Option<Key> {
        let ChallengeSubject::Merchant { merchant_id } = holder else { return None };
        Some(key::merchant(merchant_id))
    }

    fn challenge_subject(&self) -> ChallengeSubject {
        ChallengeSubject::Merchant { merchant_id: self.id.clone() }
    }
    fn tenant(&self) -> Platform {
        Platform
    }
    fn email(&self) -> Option<&Email> {
        Some(&self.email)
    }
    fn password_hash(&self) -> Option<&str> {
        self.password_hash.as_deref()
    }
    fn generations(&self) -> Generations {
        Generations { credential: self.credential_generation, password: self.password_generation }
    }
    fn is_proven(&self) -> bool {
        self.email_verified
    }
    fn closed(&self) -> Option<Problem> {
        match self.status {
            MerchantStatus::Active => None,
            MerchantStatus::Disabled => Some(Code::AccountDisabled.into()),
            MerchantStatus::Deleted => {
                Some(Code::AccountDisabled.detail("The account is deleted."))
            }
        }
    }
    fn is_session_valid(&self, session: &Session, now: Timestamp) -> bool {
        session.is_alive(self, now)
    }

    fn at(&self, to: Generations, password_hash: Option<String>, now: Timestamp) -> Self {
        Self {
            credential_generation: to.credential,
            password_generation: to.password,
            password_hash: password_hash.or_else(|| self.password_hash.clone()),
            ..self.changed(now)
        }
    }
    fn proven(self) -> Self {
        // The first proof ends earlier credentials, including the second factor.
        Self { mfa_enabled: self.mfa_enabled && self.email_verified, email_verified: true, ..self }
    }
    fn save(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace_except(self, Self::COUNTED, Condition::default(), rejected)
    }
    fn password_updated(&self, config: &Config, now: Timestamp) -> Option<Event> {
        Some(self.event(&MERCHANT_PASSWORD_UPDATED, config, now))
    }
}

/// Writes of an account.
impl Merchant {
    /// Attributes changed in place by the transactions that open or delete a store, or change a
    /// membership. [`Account::save`] never writes them, and they do not raise the version.
    pub const COUNTED: &'static [&'static str] = &["stores", "newest_store_id", "memberships"];

    /// Writes this account at its next version, unless it owns a store or its memberships have
    /// changed since it was read.
    pub fn save_unless_owner(&self, write: Write, rejected: impl Into<Problem>) -> Write {
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
    pub fn is_regranted(&self, write: Write, memberships: &Memberships, gives_up: bool) -> Write {
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
    pub fn one_store_more(write: Write, store: &Store, rejected: impl Into<Problem>) -> Write {
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
    pub fn one_store_less(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        if self.stores == 0 {
            return write;
        }
        let change =
            Change::new("SET stores = stores - :one").only_if("stores >= :one").value(":one", 1);
        write.update(&self.key(), change, rejected)
    }
}

/// The claim of one account to an e-mail address.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unique_email", key = key::unique_email(&self.email))]
#[item(forget_at = self.released_at.map(|released_at| released_at.plus(DAY)))]
pub struct UniqueEmail {
    /// The normalized address.
    pub email: String,
    /// The account.
    pub merchant_id: MerchantId,
    /// When the address becomes free again, once the account is deleted.
    #[serde(default)]
    pub released_at: Option<Timestamp>,
    /// Always 1: written whole, and never replaced under its version.
    pub version: u64,
}

impl UniqueEmail {
    /// The claim of `merchant` to its address.
    pub fn of(merchant: &Merchant) -> Self {
        Self {
            email: merchant.email.normalized(),
            merchant_id: merchant.id.clone(),
            released_at: merchant.delete_at,
            version: 1,
        }
    }

    /// The condition to claim an address: nobody has it, or its account is removed. TTL may be days
    /// late, so the time is compared here.
    pub fn is_free(now: Timestamp) -> Condition {
        Condition::new("attribute_not_exists(PK) OR released_at <= :now").value(":now", now)
    }

    /// The condition to release a claim: the merchant holds it.
    pub fn is_held_by(merchant: &Merchant) -> Condition {
        Condition::is("merchant_id", &merchant.id)
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
        assert_eq!(UniqueEmail::of(&deleted).released_at, Some(now.plus(GRACE)));
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
        let claimed = merchant.claimed(now).unwrap();
        assert_eq!(generations(&claimed), (2, 2, 2));
        assert!(claimed.email_verified && claimed.password_hash.is_none());
        assert!(claimed.claimed(now).is_none() && verified.claimed(now).is_none());
    }
}
