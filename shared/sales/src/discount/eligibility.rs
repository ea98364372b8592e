//! Whether a discount can be used now, by this shopper.

use core_types::fields::Email;
use core_types::id::{CustomerId, StoreId};
use crypto::seal;
use identity::customer::Customer;
use primitives::clock::Timestamp;

use super::{Discount, DiscountStatus};

/// The reason why a discount does not apply: a code for programs and a sentence for shoppers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscountRejection {
    /// No discount has this code.
    Unknown,
    /// The request has the code twice.
    Duplicate,
    /// Another code of the request is used.
    NotCombinable,
    /// It is disabled.
    Disabled,
    /// It has not started.
    NotStarted,
    /// It has ended.
    Expired,
    /// Its usage limit is reached.
    UsedUp,
    /// Its limit per customer is reached.
    UsedByCustomer,
    /// The shopper has ordered before, or has no account.
    NotFirstOrder,
    /// The targeted lines do not reach its minimum purchase.
    MinimumNotMet,
    /// It targets no line of the cart.
    NotApplicable,
    /// It does not make the chosen shipping rate free.
    NotForShippingRate,
    /// It is in a former currency of the store.
    CurrencyMismatch,
}

impl DiscountRejection {
    /// The code of the field error.
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
            Self::NotForShippingRate => "discount_not_for_shipping_rate",
            Self::CurrencyMismatch => "currency_mismatch",
        }
    }

    /// Whether other goods in the cart could make the discount usable.
    pub const fn is_of_goods(self) -> bool {
        matches!(self, Self::MinimumNotMet | Self::NotApplicable | Self::NotForShippingRate)
    }

    /// The detail of the field error.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Unknown => "There is no such discount code.",
            Self::Duplicate => "Another entry has this code.",
            Self::NotCombinable => "An order can have only one discount code.",
            Self::Disabled => "This discount is disabled.",
            Self::NotStarted => "This discount has not started.",
            Self::Expired => "This discount has ended.",
            Self::UsedUp => "This discount has reached its usage limit.",
            Self::UsedByCustomer => "You have used this discount already.",
            Self::NotFirstOrder => {
                "This discount is only for the first order of a customer account."
            }
            Self::MinimumNotMet => "The cart does not reach the minimum of this discount.",
            Self::NotApplicable => "This discount does not apply to the goods in the cart.",
            Self::NotForShippingRate => "This discount does not apply to the chosen shipping rate.",
            Self::CurrencyMismatch => "This discount is in another currency.",
        }
    }
}

/// The shopper who uses discounts.
#[derive(Debug, Clone, Default)]
pub struct Shopper {
    /// The account, with its number of orders.
    pub account: Option<(CustomerId, u64)>,
    /// The address that the account has proven; a guest's own.
    pub email: Option<Email>,
}

/// The ids that the uses of a person are counted under: the account and a digest of the address that it has
/// proven, or a digest of a guest's address. So an account and the guests of its address share a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShopperIds(pub Vec<String>);

impl Shopper {
    /// The shopper of an account, or else the guest of an address.
    pub fn of(account: Option<&Customer>, email: Option<&Email>) -> Self {
        match account {
            Some(account) => Self {
                account: Some((account.id.clone(), account.orders_count)),
                email: account.email.clone().filter(|email| account.has_proven(email)),
            },
            None => Self { account: None, email: email.cloned() },
        }
    }

    /// The ids that the shopper's uses are counted under.
    pub fn ids(&self, store: &StoreId) -> ShopperIds {
        let account = self.account.iter().map(|(account, _)| account.to_string());
        let digest = |email: &Email| seal::digest(&format!("{store}\n{}", email.normalized()));
        ShopperIds(account.chain(self.email.iter().map(digest)).collect())
    }
}

/// A discount with the numbers of its uses.
#[derive(Debug, Clone)]
pub struct DiscountUsage {
    /// The discount.
    pub discount: Discount,
    /// The number of orders that use it; 0 if that is not limited.
    pub used: u64,
    /// The number of this person's orders that use it; 0 if that is not limited.
    pub used_by_shopper: u64,
}

impl DiscountUsage {
    /// Ensures that this shopper can use the discount now.
    ///
    /// # Errors
    /// The reason why they cannot.
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
