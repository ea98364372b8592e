//! What an order is made of: lines, the gift cards and payments that pay for it, addresses.

use std::collections::BTreeMap;

use core_types::fields::Phone;
use core_types::id::{GiftCardId, LocationId, OrderItemId, PaymentId, ProductId, VariantId};
use core_types::money::Money;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DiscountAllocation;
use crate::tax::LineTax;

/// Whom an order is for, in the shopper's words: a guest has no account that would say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OrderContact {
    /// The given name.
    pub first_name: Option<String>,
    /// The family name.
    pub last_name: Option<String>,
    /// The telephone number.
    pub phone: Option<Phone>,
}

/// A line: so many units of a variant, as it was named and priced when the order was placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderItem {
    /// `itm_` and 32 hexadecimal digits.
    pub id: OrderItemId,
    /// The id of what is sold.
    pub variant_id: VariantId,
    /// Its product.
    pub product_id: ProductId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: Option<String>,
    /// The variant's SKU.
    pub sku: Option<String>,
    /// The first image.
    pub image_url: Option<String>,
    /// Units ordered.
    pub quantity: u32,
    /// The price of one.
    pub price: Money,
    /// Price times quantity.
    pub subtotal: Money,
    /// Taken off it.
    pub discount: Money,
    /// By which discounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<DiscountAllocation>,
    /// Tax on it.
    pub tax: Money,
    /// By which rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tax_lines: Vec<LineTax>,
    /// Subtotal less discount, plus tax unless prices hold it already.
    pub total: Money,
    /// Units that have left.
    pub fulfilled: u32,
    /// Units that money went back for.
    pub refunded: u32,
    /// Units that will not leave: cancelled, by themselves, by a refund or with the order.
    pub cancelled: u32,
    /// Units that left and came back.
    pub returned: u32,
    /// Of those that will not leave, how many money could still go back for: they were cancelled
    /// without a refund, or a provider rejected it.
    #[serde(default)]
    pub owed_cancelled: u32,
    /// Of those that came back, how many money could still go back for.
    #[serde(default)]
    pub owed_returned: u32,
    /// Units that need not be paid: they were cancelled, or came back, without a refund.
    #[serde(default)]
    pub waived: u32,
    /// Of those that will not leave or came back, how many are not in stock again.
    #[serde(default)]
    pub discarded: u32,
    /// What went back for this line.
    pub refunded_amount: Money,
    /// The first location that its stock is taken from; none when the variant's stock is not
    /// counted.
    pub location_id: Option<LocationId>,
    /// Where its stock is taken from. An order that was placed before a line could have several
    /// locations names none here: [`OrderItem::allocations`] knows.
    #[serde(default)]
    pub allocations: Vec<Allocation>,
    /// Whether the variant's stock is counted.
    pub tracked: bool,
    /// Whether it has to be sent.
    pub requires_shipping: bool,
    /// What apps and merchants keep with it, and what its shopper said of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl OrderItem {
    /// Units that have yet to leave.
    pub fn remaining(&self) -> u32 {
        self.quantity.saturating_sub(self.fulfilled).saturating_sub(self.cancelled)
    }

    /// Units that money has not gone back for.
    pub fn refundable(&self) -> u32 {
        self.quantity.saturating_sub(self.refunded)
    }

    /// Units that have left and not come back.
    pub fn returnable(&self) -> u32 {
        self.fulfilled.saturating_sub(self.returned)
    }

    /// Units that went back into stock, whether they ever left or not.
    pub fn restocked(&self) -> u32 {
        self.cancelled.saturating_add(self.returned).saturating_sub(self.discarded)
    }

    /// What `quantity` more units are worth: the refunds of all units add up to the line's total,
    /// whatever the steps.
    pub fn worth(&self, quantity: u32) -> Money {
        let after = self.worth_of_first(self.refunded.saturating_add(quantity));
        let amount = after.saturating_sub(self.worth_of_first(self.refunded));
        Money { amount, currency: self.total.currency.clone() }
    }

    /// What need not be paid of it.
    pub fn waived_amount(&self) -> Money {
        let amount = self.worth_of_first(self.waived);
        Money { amount, currency: self.total.currency.clone() }
    }

    /// What so many units are worth, the first one first: all of them are worth the line's total.
    fn worth_of_first(&self, units: u32) -> i64 {
        let units = i128::from(units.min(self.quantity));
        let product = i128::from(self.total.amount).saturating_mul(units);
        let part = product.checked_div(i128::from(self.quantity)).unwrap_or(0);
        i64::try_from(part).unwrap_or(0)
    }

    /// Where its stock is taken from; nothing when the variant's stock is not counted.
    pub fn allocations(&self) -> Vec<Allocation> {
        match (&self.location_id, self.allocations.as_slice()) {
            (Some(location), []) => vec![Allocation {
                location_id: location.clone(),
                quantity: self.quantity,
                fulfilled: self.fulfilled,
                cancelled: self.cancelled,
                returned: self.returned,
            }],
            (_, known) => known.to_vec(),
        }
    }

    /// Units that have yet to leave and can leave from this location, or from any.
    pub fn remaining_at(&self, location: Option<&LocationId>) -> u32 {
        let allocations = self.allocations();
        let Some(location) = location.filter(|_| !allocations.is_empty()) else {
            return self.remaining();
        };
        let here = allocations.iter().filter(|one| one.location_id == *location);
        here.map(Allocation::remaining).fold(0, u32::saturating_add)
    }

    /// Has units leave, from this location or from any; where they are taken from.
    pub(super) fn fulfill_units(&mut self, quantity: u32, at: Option<&LocationId>) -> Vec<Units> {
        let taken = self.spread(quantity, at, Allocation::remaining, |one| &mut one.fulfilled);
        self.fulfilled = self.fulfilled.saturating_add(quantity);
        taken
    }

    /// Has units be there again that had left from these locations.
    pub(super) fn unfulfill_units(&mut self, quantity: u32, from: &[Units]) {
        self.allocations = self.allocations();
        for units in from {
            let of = |one: &&mut Allocation| one.location_id == units.location_id;
            if let Some(one) = self.allocations.iter_mut().find(of) {
                one.fulfilled = one.fulfilled.saturating_sub(units.quantity);
            }
        }
        self.fulfilled = self.fulfilled.saturating_sub(quantity);
    }

    /// Cancels units, those of the last location first, so that the line leaves from fewer;
    /// where they were to be taken from.
    pub(super) fn cancel_units(&mut self, quantity: u32) -> Vec<Units> {
        self.allocations = self.allocations();
        self.allocations.reverse();
        let freed = self.spread(quantity, None, Allocation::remaining, |one| &mut one.cancelled);
        self.allocations.reverse();
        self.cancelled = self.cancelled.saturating_add(quantity);
        freed
    }

    /// Takes units back; where they had left from.
    pub(super) fn return_units(&mut self, quantity: u32) -> Vec<Units> {
        let back = self.spread(quantity, None, Allocation::returnable, |one| &mut one.returned);
        self.returned = self.returned.saturating_add(quantity);
        back
    }

    /// Spreads units over the allocations that have room for them, from the first.
    fn spread(
        &mut self,
        quantity: u32,
        at: Option<&LocationId>,
        room: fn(&Allocation) -> u32,
        counter: fn(&mut Allocation) -> &mut u32,
    ) -> Vec<Units> {
        self.allocations = self.allocations();
        let mut left = quantity;
        let mut parts = Vec::new();
        let here = |one: &&mut Allocation| at.is_none_or(|at| one.location_id == *at);
        for one in self.allocations.iter_mut().filter(here) {
            let part = room(one).min(left);
            if part > 0 {
                left = left.saturating_sub(part);
                let counter = counter(one);
                *counter = counter.saturating_add(part);
                let location_id = one.location_id.clone();
                parts.push(Units { location_id, quantity: part });
            }
        }
        parts
    }

    /// Units that money went back for and of which nobody has said yet what became of them.
    pub(super) fn refunded_only(&self) -> u32 {
        let changed = self.cancelled.saturating_add(self.returned);
        let owed = self.owed_cancelled.saturating_add(self.owed_returned);
        self.refunded.saturating_sub(changed.saturating_sub(owed))
    }
}

/// Units of a line that are taken from one location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// The id of one of the store's locations.
    pub location_id: LocationId,
    /// Units that were allocated there.
    pub quantity: u32,
    /// Of these, how many have left.
    pub fulfilled: u32,
    /// Of these, how many will not leave.
    pub cancelled: u32,
    /// Of these, how many left and came back, wherever to.
    pub returned: u32,
}

impl Allocation {
    /// All of it yet to leave.
    pub fn new(location_id: LocationId, quantity: u32) -> Self {
        Self { location_id, quantity, fulfilled: 0, cancelled: 0, returned: 0 }
    }

    /// Units that have yet to leave.
    pub fn remaining(&self) -> u32 {
        self.quantity.saturating_sub(self.fulfilled).saturating_sub(self.cancelled)
    }

    /// Units that have left and not come back.
    pub fn returnable(&self) -> u32 {
        self.fulfilled.saturating_sub(self.returned)
    }
}

/// Units at a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Units {
    /// The id of one of the store's locations.
    pub location_id: LocationId,
    /// How many.
    pub quantity: u32,
}

/// A gift card that pays for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiftCardUse {
    /// The id of the gift card.
    pub card_id: GiftCardId,
    /// The end of its code.
    pub last_characters: String,
    /// Taken from it.
    pub amount: Money,
    /// Gone back to it.
    pub refunded: Money,
}

impl GiftCardUse {
    /// What could still go back to it.
    pub fn refundable(&self) -> Money {
        self.amount.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.amount.currency))
    }
}

/// What a payment has done for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPayment {
    /// The id of one of the order's payments.
    pub payment_id: PaymentId,
    /// Its provider.
    pub provider: String,
    /// Authorized.
    pub authorized: Money,
    /// Taken.
    pub captured: Money,
    /// Gone back, or reserved for it.
    pub refunded: Money,
    /// What disputes of it claim together, when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Money>,
    /// Whether the authorization was given up.
    #[serde(default)]
    pub voided: bool,
}

impl OrderPayment {
    /// What was taken and has not gone back, nor is reserved for it.
    pub fn unreturned(&self) -> Money {
        self.captured.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.captured.currency))
    }

    /// What disputes hold of that, or have taken.
    pub fn disputed(&self) -> Money {
        let none = || Money::zero(&self.captured.currency);
        self.claimed.clone().unwrap_or_else(none).min(&self.unreturned())
    }

    /// What could still go back through it.
    pub fn refundable(&self) -> Money {
        let left = self.unreturned().minus(&self.disputed());
        left.unwrap_or_else(|| Money::zero(&self.captured.currency))
    }

    /// Whether it is authorized, not taken, and not given up.
    pub fn is_open_authorization(&self) -> bool {
        !self.voided && self.captured.is_zero() && !self.authorized.is_zero()
    }
}

impl From<Units> for Allocation {
    fn from(units: Units) -> Self {
        Self::new(units.location_id, units.quantity)
    }
}
