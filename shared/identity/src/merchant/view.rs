//! Responses about merchants.

use core_types::fields::{Email, Locale};
use core_types::id::MerchantId;
use primitives::clock::Timestamp;
use services::config::Config;

use super::{Merchant, MerchantStatus};

core_types::view! {
    /// A merchant's account, as its owner sees it.
    MerchantView of (merchant: Merchant, config: &Config) {
        /// The id.
        id: MerchantId,
        /// The address.
        email: Email,
        /// Whether the address is proven.
        email_verified: bool,
        /// Whether there is a password to sign in with.
        has_password: bool = merchant.password_hash.is_some(),
        /// Whether a sign-in requires a second factor.
        mfa_enabled: bool,
        /// The person's name.
        name: Option<String>,
        /// The language of mails.
        locale: Option<Locale>,
        /// Whether the account may be used.
        status: MerchantStatus,
        /// Whether this is a platform operator, which requires a verified address.
        operator: bool = merchant.is_operator(config),
        /// When the account was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}
