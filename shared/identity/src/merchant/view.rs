//! Merchants as they are shown.

use gateway::clock::Timestamp;
use gateway::config::Config;
use ground::fields::{Email, Locale};
use ground::id::MerchantId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Merchant, MerchantStatus};

/// An account as its owner sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct MerchantView {
    /// The id.
    pub id: MerchantId,
    /// The address.
    pub email: Email,
    /// Whether the address is proven.
    pub email_verified: bool,
    /// Whether there is a password to sign in with.
    pub has_password: bool,
    /// Whether a sign-in takes a second factor.
    pub mfa_enabled: bool,
    /// The person's name.
    pub name: Option<String>,
    /// The language of mails.
    pub locale: Option<Locale>,
    /// Whether the account may be used.
    pub status: MerchantStatus,
    /// Whether this is a platform operator, which takes a verified address.
    pub operator: bool,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl MerchantView {
    /// The account, under these settings.
    pub fn of(merchant: &Merchant, config: &Config) -> Self {
        Self {
            id: merchant.id.clone(),
            email: merchant.email.clone(),
            email_verified: merchant.email_verified,
            has_password: merchant.password_hash.is_some(),
            mfa_enabled: merchant.mfa_enabled,
            name: merchant.name.clone(),
            locale: merchant.locale.clone(),
            status: merchant.status,
            operator: merchant.is_operator(config),
            created_at: merchant.created_at,
            updated_at: merchant.updated_at,
            version: merchant.version,
        }
    }
}
