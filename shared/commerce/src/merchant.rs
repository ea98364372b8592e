//! Merchants: the accounts that own stores, publish apps, or operate the platform.

use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Email, Locale};
use crate::id::MerchantId;
use crate::key;

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

/// The one account of an e-mail address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueEmail {
    /// The normalized address.
    pub email: String,
    /// Whose it is.
    pub merchant_id: MerchantId,
    /// Counts writes.
    pub version: u64,
}

impl UniqueEmail {
    /// The claim of `merchant` to its address.
    pub fn of(merchant: &Merchant) -> Self {
        Self { email: merchant.email.normalized(), merchant_id: merchant.id.clone(), version: 1 }
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
