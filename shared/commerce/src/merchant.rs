//! Merchants: the accounts that own stores, publish apps, or operate the platform.

use std::time::Duration;

use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::table::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Email, Locale};
use crate::id::MerchantId;
use crate::key;

/// How long a deleted account is kept before it is removed.
pub const GRACE: Duration = DAY.saturating_mul(30);

gateway::words! {
    /// Whether an account may be used.
    MerchantStatus {
        /// It may.
        Active = "active",
        /// An operator has closed it.
        Disabled = "disabled",
        /// Its owner has deleted it; it is removed when the grace of 30 days ends.
        Deleted = "deleted",
    }
}

/// An account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Merchant {
    /// The id.
    pub id: MerchantId,
    /// The address as it was given.
    pub email: Email,
    /// Whether its owner has proven to receive mail there.
    pub email_verified: bool,
    /// The person's name.
    pub name: Option<String>,
    /// The language of mails.
    pub locale: Option<Locale>,
    /// Argon2id, PHC form. Secret.
    pub password_hash: String,
    /// Whether the account may be used.
    pub status: MerchantStatus,
    /// Whether this is a platform operator.
    pub operator: bool,
    /// Counts password changes: sessions of an earlier generation are dead.
    pub credential_generation: u64,
    /// When the account is removed, once deleted.
    pub delete_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Merchant {
    const KIND: &'static str = "merchant";
    fn key(&self) -> Key {
        key::merchant(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        self.delete_at
    }
}

/// What somebody says about an account to make.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The address.
    pub email: Email,
    /// Argon2id of the password, PHC form.
    pub password_hash: String,
    /// The person's name.
    pub name: Option<String>,
    /// The language of mails.
    pub locale: Option<Locale>,
    /// Whether the settings name the address as an operator's. The role is exercised only once
    /// the address is verified: anybody can sign up with any address.
    pub operator: bool,
}

impl Merchant {
    /// A new account, whose address is yet to be verified.
    pub fn register(registration: Registration, now: Timestamp) -> Self {
        Self {
            id: MerchantId::mint(now),
            email: registration.email,
            email_verified: false,
            name: registration.name,
            locale: registration.locale,
            password_hash: registration.password_hash,
            status: MerchantStatus::Active,
            operator: registration.operator,
            credential_generation: 1,
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

    /// The account with every session ended.
    #[must_use]
    pub fn with_sessions_ended(&self, now: Timestamp) -> Self {
        let credential_generation = self.credential_generation.saturating_add(1);
        Self { credential_generation, ..self.changed(now) }
    }

    /// The account with another password, which ends every session.
    #[must_use]
    pub fn with_password(&self, password_hash: String, now: Timestamp) -> Self {
        Self { password_hash, ..self.with_sessions_ended(now) }
    }

    /// The account whose owner has proven to receive mail at its address.
    #[must_use]
    pub fn verified(&self, now: Timestamp) -> Self {
        Self { email_verified: true, ..self.changed(now) }
    }

    /// The account given up by its owner: its sessions end now, it is removed after the grace.
    #[must_use]
    pub fn given_up(&self, now: Timestamp) -> Self {
        Self {
            status: MerchantStatus::Deleted,
            delete_at: Some(now.plus(GRACE)),
            ..self.with_sessions_ended(now)
        }
    }
}

/// The one account of an e-mail address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueEmail {
    /// The normalized address.
    pub email: String,
    /// Whose it is.
    pub merchant_id: MerchantId,
    /// When the address is free again, once the account is deleted.
    #[serde(default)]
    pub released_at: Option<Timestamp>,
    /// Counts writes.
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

    /// Under which an account may claim an address: nobody has it, or whoever had it is gone. TTL
    /// may be days late, so the time is compared here.
    pub fn is_free(now: Timestamp) -> Condition {
        Condition::new("attribute_not_exists(PK) OR released_at <= :now").value(":now", now)
    }

    /// Under which an account may give its claim up: it has it.
    pub fn is_held_by(merchant: &Merchant) -> Condition {
        Condition::new("merchant_id = :merchant").value(":merchant", &merchant.id)
    }
}

impl Item for UniqueEmail {
    const KIND: &'static str = "unique_email";
    fn key(&self) -> Key {
        key::unique_email(&self.email)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        self.released_at.map(|released_at| released_at.plus(DAY))
    }
}

/// An account as its owner sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MerchantView {
    /// The id.
    pub id: MerchantId,
    /// The address.
    pub email: Email,
    /// Whether the address is proven.
    pub email_verified: bool,
    /// The person's name.
    pub name: Option<String>,
    /// The language of mails.
    pub locale: Option<Locale>,
    /// Whether the account may be used.
    pub status: MerchantStatus,
    /// Whether this is a platform operator.
    pub operator: bool,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Merchant> for MerchantView {
    fn from(merchant: &Merchant) -> Self {
        Self {
            id: merchant.id.clone(),
            email: merchant.email.clone(),
            email_verified: merchant.email_verified,
            name: merchant.name.clone(),
            locale: merchant.locale.clone(),
            status: merchant.status,
            operator: merchant.operator,
            created_at: merchant.created_at,
            updated_at: merchant.updated_at,
            version: merchant.version,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use gateway::request::FromText;

    use super::*;

    /// An account.
    pub(crate) fn ann(now: Timestamp) -> Merchant {
        let registration = Registration {
            email: Email::from_text("Ann@example.com").unwrap(),
            password_hash: "$argon2id$".into(),
            name: None,
            locale: None,
            operator: false,
        };
        Merchant::register(registration, now)
    }

    #[test]
    fn a_deleted_account_keeps_its_address_until_it_is_removed() {
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        assert_eq!(UniqueEmail::of(&merchant).released_at, None);
        let gone = merchant.given_up(now);
        assert_eq!(UniqueEmail::of(&gone).released_at, Some(now.plus(GRACE)));
        assert_eq!((gone.version, gone.credential_generation), (2, 2));
    }

    #[test]
    fn a_new_password_ends_the_sessions_and_a_verified_address_does_not() {
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        assert_eq!(merchant.with_password("new".into(), now).credential_generation, 2);
        let verified = merchant.verified(now);
        assert!(verified.email_verified && verified.credential_generation == 1);
    }
}
