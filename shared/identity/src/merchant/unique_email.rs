//! The claim of a merchant's account to its e-mail address.

use core_types::id::MerchantId;
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use table::Condition;
use table::item::Item;

use super::Merchant;

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
