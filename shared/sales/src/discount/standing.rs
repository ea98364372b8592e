//! Whether a discount can be used: by now, and by this shopper.

use core_types::fields::Email;
use core_types::id::{CustomerId, StoreId};
use crypto::seal;
use primitives::clock::Timestamp;

use super::{Discount, DiscountStatus};

/// Why a discount is not given: a word for programs and a sentence for shoppers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscountRejection {
    /// There is no such code.
    Unknown,
    /// Named twice.
    Duplicate,
    /// Another code counts.
    NotCombinable,
    /// Switched off.
    Disabled,
    /// Its time has not come.
    NotStarted,
    /// Its time is over.
    Expired,
    /// Others have used it up.
    UsedUp,
    /// The shopper has used it up.
    UsedByCustomer,
    /// The shopper has ordered before, or cannot be known not to have.
    NotFirstOrder,
    /// The cart is too small.
    MinimumNotMet,
    /// It is for other goods.
    NotApplicable,
    /// It is in a currency that the store had once.
    CurrencyMismatch,
}

impl DiscountRejection {
    /// The code of the field's fault.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "unknown_discount_code",
            Self::Duplicate => "duplicate",
            Self::NotCombinable => "not_combinable",
            Self::Disabled => "discount_disabled",
            Self::NotStarted => "discount_not_started",
            Self::Expired => "discount_expired",
            Self::UsedUp => "discount_used_up",
            Self::UsedByCustomer => "discount_used_by_customer",
            Self::NotFirstOrder => "discount_not_first_order",
            Self::MinimumNotMet => "discount_minimum_not_met",
            Self::NotApplicable => "discount_not_applicable",
            Self::CurrencyMismatch => "currency_mismatch",
        }
    }

    /// The same for people.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Unknown => "There is no such discount code.",
            Self::Duplicate => "Name each code once.",
            Self::NotCombinable => "An order takes one discount code.",
            Self::Disabled => "This discount is switched off.",
            Self::NotStarted => "This discount has not begun.",
            Self::Expired => "This discount is over.",
            Self::UsedUp => "This discount has been used up.",
            Self::UsedByCustomer => "You have used this discount already.",
            Self::NotFirstOrder => "This discount is for the first order of a customer's account.",
            Self::MinimumNotMet => "There is too little in the cart for this discount.",
            Self::NotApplicable => "This discount is not for what is in the cart.",
            Self::CurrencyMismatch => "This discount is in another currency.",
        }
    }
}

/// Who uses discounts.
#[derive(Debug, Clone, Default)]
pub struct Shopper {
    /// Their account, and how many orders it has.
    pub account: Option<(CustomerId, u64)>,
    /// Where their confirmation goes.
    pub email: Option<Email>,
}

impl Shopper {
    /// What their uses are counted under: their account, or, of a guest, a digest of their address.
    pub fn who(&self, store: &StoreId) -> Option<String> {
        match (&self.account, &self.email) {
            (Some((account, _)), _) => Some(account.to_string()),
            (None, Some(email)) => Some(seal::digest(&format!("{store}\n{}", email.normalized()))),
            (None, None) => None,
        }
    }
}

/// A discount with how much of it is used.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The discount.
    pub discount: Discount,
    /// How many orders use it, where that is limited.
    pub used: u64,
    /// How many orders of this shopper do, where that is limited.
    pub used_by_shopper: u64,
}

impl Standing {
    /// Whether this shopper can use it now.
    ///
    /// # Errors
    /// Why not.
    pub fn ensure(&self, shopper: &Shopper, now: Timestamp) -> Result<(), DiscountRejection> {
        let discount = &self.discount;
        match discount.status_at(now) {
            DiscountStatus::Active => {}
            DiscountStatus::Scheduled => return Err(DiscountRejection::NotStarted),
            DiscountStatus::Expired => return Err(DiscountRejection::Expired),
            DiscountStatus::Disabled => return Err(DiscountRejection::Disabled),
        }
        if discount.usage_limit.is_some_and(|most| u64::from(most) <= self.used) {
            return Err(DiscountRejection::UsedUp);
        }
        if discount.per_customer_limit.is_some_and(|most| u64::from(most) <= self.used_by_shopper) {
            return Err(DiscountRejection::UsedByCustomer);
        }
        let is_first = shopper.account.as_ref().is_some_and(|(_, orders)| *orders == 0);
        if discount.first_order_only && !is_first {
            return Err(DiscountRejection::NotFirstOrder);
        }
        Ok(())
    }
}
