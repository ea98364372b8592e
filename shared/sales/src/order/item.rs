//! The parts of an order: its lines, gift cards, payments and contact details.

mod allocation;

use std::collections::BTreeMap;

use core_types::fields::{E164, Phone};
use core_types::id::{GiftCardId, LocationId, OrderItemId, PaymentId, ProductId, VariantId};
use core_types::money::Money;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DiscountAllocation;
use crate::tax::{LineTax, share};

pub use allocation::{Allocation, Units};

/// The contact details of an order, as the shopper gave them: a guest has no account with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OrderContact {
    /// The given name.
    pub first_name: Option<String>,
    /// The family name.
    pub last_name: Option<String>,
    /// The telephone number, as it was written.
    pub phone: Option<Phone>,
    /// The telephone number in E.164; without a country code it is one of the address's country, or else of the
    /// store's.
    #[serde(default)]
    pub phone_e164: Option<E164>,
}

/// A line of an order: units of a variant, with its titles and price at placement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderItem {
    /// The id: `itm_` and 32 hexadecimal digits.
    pub id: OrderItemId,
    /// The variant.
    pub variant_id: VariantId,
    /// The product.
    pub product_id: ProductId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: Option<String>,
    /// The variant's SKU.
    pub sku: Option<String>,
    /// The URL of the first image.
    pub image_url: Option<String>,
    /// The units ordered.
    pub quantity: u32,
    /// The price of one unit before the store's tax was deducted from it, for a buyer who pays no tax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_price: Option<Money>,
    /// The price of one unit.
    pub price: Money,
    /// The price times the units sold.
    pub subtotal: Money,
    /// The discount on the line.
    pub discount: Money,
    /// The part of each discount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<DiscountAllocation>,
    /// The tax on the line.
    pub tax: Money,
    /// The tax by rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tax_lines: Vec<LineTax>,
    /// The subtotal less the discount, plus tax unless prices include it.
    pub total: Money,
    /// The units that were fulfilled.
    pub fulfilled: u32,
    /// The units that were refunded.
    pub refunded: u32,
    /// The units that were cancelled: by themselves, by a refund, or with the order.
    pub cancelled: u32,
    /// The units that were fulfilled and returned.
    pub returned: u32,
    /// The cancelled units that can still be refunded: they were cancelled without a refund, or the provider
    /// rejected it.
    #[serde(default, rename = "owed_cancelled")]
    pub refundable_cancelled: u32,
    /// The returned units that can still be refunded.
    #[serde(default, rename = "owed_returned")]
    pub refundable_returned: u32,
    /// The units of a paid order that were cancelled or returned without a refund: they are not paid again.
    #[serde(default)]
    pub waived: u32,
    /// The units that were cancelled or returned before the order was paid. The line's amounts are without them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsold: u32,
    /// The cancelled and returned units that were not put back into stock.
    #[serde(default)]
    pub discarded: u32,
    /// The amount refunded for this line.
    pub refunded_amount: Money,
    /// The first location that its stock is taken from; none if the variant's stock is not tracked.
    pub location_id: Option<LocationId>,
    /// The locations that its stock is taken from. An order from before lines could have several has none
    /// here: use [`OrderItem::allocations`].
    #[serde(default)]
    pub allocations: Vec<Allocation>,
    /// Whether the variant's stock is tracked.
    pub tracked: bool,
    /// Whether the variant was sold beyond its stock at placement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oversells: bool,
    /// The units that were not in stock at placement.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backordered: u32,
    /// Whether it needs shipping.
    pub requires_shipping: bool,
    /// Properties by which its units differ from others of the variant, as the shopper gave them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// Key-value pairs of merchants and apps, and those that the shopper gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(units: &u32) -> bool {
    *units == 0
}

impl OrderItem {
    /// The units that are still to be fulfilled.
    pub fn remaining(&self) -> u32 {
        self.quantity.saturating_sub(self.fulfilled).saturating_sub(self.cancelled)
    }

    /// The units that its amounts are for: those ordered, without those that were cancelled or returned before
    /// they were paid.
    pub fn sold(&self) -> u32 {
        self.quantity.saturating_sub(self.unsold)
    }

    /// The units that were sold and not refunded.
    pub fn refundable(&self) -> u32 {
        self.sold().saturating_sub(self.refunded)
    }

    /// The fulfilled units that were not returned.
    pub fn returnable(&self) -> u32 {
        self.fulfilled.saturating_sub(self.returned)
    }

    /// The units that were put back into stock, fulfilled before or not.
    pub fn restocked(&self) -> u32 {
        self.cancelled.saturating_add(self.returned).saturating_sub(self.discarded)
    }

    /// The refund for the next `quantity` units. The refunds of all units add up to the line's total, in any
    /// steps.
    pub fn worth(&self, quantity: u32) -> Money {
        let after = self.worth_of_first(self.refunded.saturating_add(quantity));
        let amount = after.saturating_sub(self.worth_of_first(self.refunded));
        Money { amount, currency: self.total.currency.clone() }
    }

    /// The tax in the refund for the next `quantity` units ([`OrderItem::worth`]), by rate. The parts of all units
    /// add up to the line's tax.
    pub fn tax_of(&self, quantity: u32) -> Vec<LineTax> {
        let (before, whole) = (i64::from(self.refunded), i64::from(self.sold()));
        let part = (before, before.saturating_add(i64::from(quantity)).min(whole), whole);
        self.tax_lines.iter().map(|line| line.part(part)).collect()
    }

    /// The tax in the refunds of its units so far, by rate.
    pub fn refunded_tax(&self) -> Vec<LineTax> {
        let part = (0, i64::from(self.refunded), i64::from(self.sold()));
        self.tax_lines.iter().map(|line| line.part(part)).collect()
    }

    /// The amount of the line that need not be paid.
    pub fn waived_amount(&self) -> Money {
        let left = self.worth_of_first(self.sold().saturating_sub(self.waived));
        let amount = self.total.amount.saturating_sub(left);
        Money { amount, currency: self.total.currency.clone() }
    }

    /// The amount for the first units of the line, half up; for all units it is the line's total.
    fn worth_of_first(&self, units: u32) -> i64 {
        let (units, sold) = (i64::from(units.min(self.sold())), i64::from(self.sold()));
        share(&self.total, units, sold).amount
    }

    /// The refunded units that were neither cancelled nor returned.
    pub(super) fn refunded_only(&self) -> u32 {
        let changed = self.cancelled.saturating_add(self.returned).saturating_sub(self.unsold);
        let owed = self.refundable_cancelled.saturating_add(self.refundable_returned);
        self.refunded.saturating_sub(changed.saturating_sub(owed))
    }
}

/// A gift card that pays for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiftCardUse {
    /// The gift card.
    pub card_id: GiftCardId,
    /// The last characters of its code.
    pub last_characters: String,
    /// The amount that it pays.
    pub amount: Money,
    /// The amount refunded to it.
    pub refunded: Money,
}

impl GiftCardUse {
    /// The amount that can still be refunded to it.
    pub fn refundable(&self) -> Money {
        self.amount.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.amount.currency))
    }
}

/// The part of a payment in an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPayment {
    /// The payment.
    pub payment_id: PaymentId,
    /// The payment provider.
    pub provider: String,
    /// The authorized amount.
    pub authorized: Money,
    /// The captured amount.
    pub captured: Money,
    /// The amount refunded through it, pending refunds included.
    pub refunded: Money,
    /// The sum of the amounts that its disputes hold, if there are any.
    #[serde(default, rename = "claimed", skip_serializing_if = "Option::is_none")]
    pub disputed_amount: Option<Money>,
    /// Whether the authorization was voided.
    #[serde(default)]
    pub voided: bool,
}

impl OrderPayment {
    /// The captured amount less refunds, pending ones included.
    pub fn unreturned(&self) -> Money {
        self.captured.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.captured.currency))
    }

    /// The unreturned amount that disputes hold or have taken.
    pub fn disputed(&self) -> Money {
        let none = || Money::zero(&self.captured.currency);
        self.disputed_amount.clone().unwrap_or_else(none).min(&self.unreturned())
    }

    /// The amount that can still be refunded through it.
    pub fn refundable(&self) -> Money {
        let left = self.unreturned().minus(&self.disputed());
        left.unwrap_or_else(|| Money::zero(&self.captured.currency))
    }

    /// Whether it was authorized, and voided before anything was captured.
    pub fn is_voided_authorization(&self) -> bool {
        self.voided && self.captured.is_zero() && !self.authorized.is_zero()
    }

    /// Whether it is authorized, and neither captured nor voided.
    pub fn is_open_authorization(&self) -> bool {
        !self.voided && self.captured.is_zero() && !self.authorized.is_zero()
    }
}
