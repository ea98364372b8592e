//! What an order is made of: lines, totals, the gift cards and payments that pay for it, addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Currency, Phone};
use crate::id::{GiftCardId, LocationId, OrderItemId, PaymentId, ProductId, VariantId};
use crate::money::Money;

/// Whom an order is for, in the shopper's words: a guest has no account that would say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
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
    /// The id.
    pub id: OrderItemId,
    /// The variant.
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
    /// Tax on it.
    pub tax: Money,
    /// Subtotal less discount plus tax.
    pub total: Money,
    /// Units that have left.
    pub fulfilled: u32,
    /// Units that money went back for.
    pub refunded: u32,
    /// Units that will not leave: called off, by a refund or with the order.
    pub cancelled: u32,
    /// Units that left and came back into stock.
    pub returned: u32,
    /// Of those that will not leave, how many a provider refused to give the money back for.
    #[serde(default)]
    pub owed_cancelled: u32,
    /// Of those that came back, how many a provider refused to give the money back for.
    #[serde(default)]
    pub owed_returned: u32,
    /// What went back for this line.
    pub refunded_amount: Money,
    /// Where its stock is; none when the variant's stock is not counted.
    pub location_id: Option<LocationId>,
    /// Whether the variant's stock is counted.
    pub tracked: bool,
    /// Whether it has to be sent.
    pub requires_shipping: bool,
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
        self.cancelled.saturating_add(self.returned)
    }

    /// What `quantity` more units are worth: the refunds of all units add up to the line's total,
    /// whatever the steps.
    pub fn worth(&self, quantity: u32) -> Money {
        let up_to = |units: u32| {
            let product = i128::from(self.total.amount).saturating_mul(i128::from(units));
            let part = product.checked_div(i128::from(self.quantity)).unwrap_or(0);
            i64::try_from(part).unwrap_or(0)
        };
        let after = up_to(self.refunded.saturating_add(quantity).min(self.quantity));
        let amount = after.saturating_sub(up_to(self.refunded));
        Money { amount, currency: self.total.currency.clone() }
    }
}

/// What an order comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// The lines before tax.
    pub subtotal: Money,
    /// Sending it.
    pub shipping: Money,
    /// Tax on all of it.
    pub tax: Money,
    /// Subtotal, shipping and tax.
    pub total: Money,
    /// What gift cards pay of the total.
    pub gift_cards: Money,
    /// What is left to pay when it is placed.
    pub due: Money,
}

impl Totals {
    /// Nothing.
    pub fn zero(currency: &Currency) -> Self {
        let zero = Money::zero(currency);
        Self {
            subtotal: zero.clone(),
            shipping: zero.clone(),
            tax: zero.clone(),
            total: zero.clone(),
            gift_cards: zero.clone(),
            due: zero,
        }
    }
}

/// A gift card that pays for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiftCardUse {
    /// The card.
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
    /// The payment.
    pub payment_id: PaymentId,
    /// Its provider.
    pub provider: String,
    /// Promised.
    pub authorized: Money,
    /// Taken.
    pub captured: Money,
    /// Gone back, or reserved for it.
    pub refunded: Money,
    /// Whether the promise was given up.
    #[serde(default)]
    pub voided: bool,
}

impl OrderPayment {
    /// What could still go back through it.
    pub fn refundable(&self) -> Money {
        self.captured.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.captured.currency))
    }

    /// Whether it is promised, not taken, and not given up.
    pub fn is_open_authorization(&self) -> bool {
        !self.voided && self.captured.is_zero() && !self.authorized.is_zero()
    }
}
