//! Carts: what a shopper has chosen, with everything that its order needs, until it becomes that order.
//!
//! A cart is one item. It stores choices and no amounts but the price of each line when the shopper saw it last:
//! its totals are those of [`place_order`](crate::workflows::place_order), priced whenever they are requested.
//! Each change is a pure method that returns the cart at its next version, written on condition of the
//! version before. A cart is converted once, in the transaction of its order
//! ([`convert_cart`](crate::workflows::convert_cart)).
//!
//! - [`lines`]: the lines, and how equal ones are merged. [`change`]: a change by the shopper.
//! - [`access`]: the token of a guest's cart, and of the link in a mail.
//! - [`owned`]: the cart of a customer, and what becomes of a guest's when they sign in.
//! - [`view`]: the cart with its totals, its faults and what can be done next.
//! - [`reminder`]: a cart that was left.

pub mod access;
pub mod change;
pub mod codes;
pub mod content;
pub mod lines;
pub mod owned;
pub mod record;
pub mod reminder;
mod samples;
#[cfg(test)]
mod tests;
mod topics;
pub mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use core_types::event::EventSubject;
use core_types::fields::{Currency, Email, Handle, Locale, TaxNumber};
use core_types::id::{CartId, CustomerId, GiftCardId, OrderId, ShippingRateId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::provider::ProviderName;
use identity::address::PostalAddress;
use identity::store::Store;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};
use table::outbox::DueKind;

use crate::discount::DiscountCode;
use crate::order::OrderContact;
use crate::order::cart::PaymentInput;
use crate::payment::CaptureMethod;

pub use lines::CartItem;
pub use topics::*;

/// The retention of a cart after its last change (our choice).
pub const RETENTION: Duration = DAY.saturating_mul(30);

primitives::string_enum! {
    /// The status of a cart.
    CartStatus {
        /// It can be changed and ordered.
        Open = "open",
        /// It has become an order.
        Converted = "converted",
    }
}

/// A gift card that a cart is paid with. Its code is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CartGiftCard {
    /// The gift card's id.
    pub id: GiftCardId,
    /// The last characters of its code.
    pub last_characters: String,
}

/// The chosen payment provider and method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CartPayment {
    /// The payment provider.
    pub provider: ProviderName,
    /// The manual payment method.
    pub method: Option<Handle>,
    /// The capture method; that of the store's account with the provider if none.
    pub capture_method: Option<CaptureMethod>,
}

impl From<PaymentInput> for CartPayment {
    fn from(input: PaymentInput) -> Self {
        let PaymentInput { provider, method, capture_method } = input;
        Self { provider, method, capture_method }
    }
}

impl From<CartPayment> for PaymentInput {
    fn from(chosen: CartPayment) -> Self {
        let CartPayment { provider, method, capture_method } = chosen;
        Self { provider, method, capture_method }
    }
}

/// The buyer of a cart, and how it is shipped and paid: what the shopper gave for the order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CartBuyer {
    /// The address that confirmations are sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// The name and telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<OrderContact>,
    /// Whether the buyer accepts marketing, as they said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepts_marketing: Option<bool>,
    /// The language of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// The shipping address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipping_address: Option<PostalAddress>,
    /// The billing address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<PostalAddress>,
    /// The chosen shipping rate; a pickup is one at its location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipping_rate_id: Option<ShippingRateId>,
    /// The chosen payment provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<CartPayment>,
    /// The tax registration number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax_number: Option<TaxNumber>,
    /// A note to the merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Metadata of the order.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// A cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cart {
    /// The id: `crt_` and 32 hexadecimal digits. It gives no access.
    pub id: CartId,
    /// The store.
    pub store_id: StoreId,
    /// The SHA-256 of the token that gives access to a guest's cart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_digest: Option<String>,
    /// The customer whose cart it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_id: Option<CustomerId>,
    /// The keyed hash of a guest's address, by which a redaction finds the cart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
    /// The status.
    pub status: CartStatus,
    /// The lines; no two of one variant with equal properties.
    #[serde(default)]
    pub lines: Vec<CartItem>,
    /// The discount codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discount_codes: Vec<DiscountCode>,
    /// The gift cards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gift_cards: Vec<CartGiftCard>,
    /// The buyer, and how it is shipped and paid.
    #[serde(default)]
    pub buyer: CartBuyer,
    /// The store's currency at the last change: that of the lines' prices.
    pub currency: Currency,
    /// The order that it has become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_id: Option<OrderId>,
    /// When the sweep looks whether it was left; not before the reminder is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_at: Option<Timestamp>,
    /// When it was found to be left, since its last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it expires: [`RETENTION`] after the last change.
    pub expires_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Cart {
    const KIND: &'static str = "cart";
    /// Packed, except what the sweep moves without a new version.
    const PACKING: Option<Packing> =
        Some(Packing { plain: &["remind_at"], text: None, keyed: false });
    fn key(&self) -> Key {
        key::cart(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let of_guest = self.guest.as_ref().map(|guest| key::carts_of_guest(guest, &self.id));
        let due = self.remind_at.map(|at| DueKind::Run.mark(self.id.as_str(), at));
        of_guest.into_iter().chain(due).collect()
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}

impl Cart {
    /// An empty cart: of a customer, or of whoever has the token with this digest.
    pub fn new(
        store: &Store,
        customer_id: Option<CustomerId>,
        token_digest: Option<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            id: CartId::mint(now),
            store_id: store.id.clone(),
            token_digest,
            customer_id,
            guest: None,
            status: CartStatus::Open,
            lines: Vec::new(),
            discount_codes: Vec::new(),
            gift_cards: Vec::new(),
            buyer: CartBuyer::default(),
            currency: store.currency.clone(),
            order_id: None,
            remind_at: None,
            abandoned_at: None,
            created_at: now,
            updated_at: now,
            expires_at: now.plus(RETENTION),
            version: 1,
        }
    }

    /// The cart at its next version. It is retained for another [`RETENTION`], and may be left again.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self {
            abandoned_at: None,
            updated_at: now,
            expires_at: now.plus(RETENTION),
            version: self.version.saturating_add(1),
            ..self.clone()
        }
    }

    /// The cart as it is stored: found by its guest's address, and with a reminder if one may be due.
    #[must_use]
    pub fn stored(self, store: &Store, now: Timestamp) -> Self {
        let address = self.buyer.email.as_ref().filter(|_| self.customer_id.is_none());
        let guest = address.map(|email| store.guest_key(email));
        let remind_at = self.next_reminder(now);
        Self { guest, remind_at, ..self }
    }

    /// The cart after it has become an order. The order has everything else of it, so that the cart names nobody.
    #[must_use]
    pub fn converted(&self, order: &OrderId, now: Timestamp) -> Self {
        Self {
            status: CartStatus::Converted,
            order_id: Some(order.clone()),
            guest: None,
            lines: Vec::new(),
            discount_codes: Vec::new(),
            gift_cards: Vec::new(),
            buyer: CartBuyer::default(),
            remind_at: None,
            ..self.changed(now)
        }
    }

    /// Ensures that it has not become an order.
    ///
    /// # Errors
    /// `cart_converted`, with the order.
    pub fn ensure_open(&self) -> Result<(), Problem> {
        match &self.order_id {
            Some(order) => Err(Code::CartConverted.with("order_id", order.as_str())),
            None => Ok(()),
        }
    }

    /// Whether it is there at this time: the table deletes expired items some time later.
    pub fn is_retained(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// The subject of its events.
    pub fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}
