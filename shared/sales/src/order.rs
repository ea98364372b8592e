//! Orders: their statuses, lines and transitions.
//!
//! An order is one item. Each transition is a pure method that returns the order at its next version. Its
//! effects on stock, gift cards and payments are written in one transaction with the order, on condition
//! that nobody has changed the order meanwhile. So each effect happens exactly once, whatever races.
//!
//! - [`pricing`]: turns a cart into an order at the store's prices.
//! - [`OrderChange`]: a transition with everything that is written with it: a payment, an expiry, a
//!   cancellation, a refund.
//! - [`fulfillment`]: shipping lines.
//! - [`lines`]: cancelling and returning units, without refunding; [`restock`]: where they are put back.
//! - [`refund`]: refunding, to gift cards first.
//!
//! Use cases that call a provider or take several steps are [`workflows`](crate::workflows).

pub mod aggregate;
mod balance;
pub mod cart;
mod change;
mod charges;
mod disputes;
mod expiry;
mod external_refund;
pub mod fulfillment;
pub mod guest;
mod item;
pub mod lines;
mod link;
pub mod load;
mod manual_payment;
pub mod number;
pub(crate) mod payable;
mod payments;
pub mod pricing;
mod redact;
pub mod refund;
pub mod restock;
mod retax;
mod rounding;
mod samples;
pub mod shopper;
mod state;
pub mod stock;
#[cfg(test)]
pub(crate) mod tests;
mod topics;
pub mod tracking;
mod transitions;
mod unsold;
pub mod update;
mod view;

use std::collections::BTreeMap;

use core_types::event::EventSubject;
use core_types::fields::{Currency, Email, Locale, TaxNumber};
use core_types::id::{CustomerId, OrderId, OrderItemId, PaymentId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::resource::Resource;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};
use table::outbox::DueKind;

use crate::payment::CaptureMethod;
use crate::payment::manual_method::ChosenMethod;
use crate::tax::TaxLocation;

pub use change::{OrderChange, RefundChange};
pub use charges::{DiscountAllocation, OrderDiscount, OrderDiscountView, ShippingLine, Totals};
pub use item::{Allocation, GiftCardUse, OrderContact, OrderItem, OrderPayment, Units};
pub use link::PresentedToken;
pub use redact::OrderRedacted;
pub use state::{FinancialStatus, FulfillmentStatus, OrderAction, OrderStatus};
pub use stock::OrderStock;
pub use topics::*;
pub use transitions::IncomingPayment;
pub use view::{AllocationView, GiftCardUseView, OrderItemView, OrderPaymentView, OrderView};

/// Lines of one order, after lines of one variant with equal properties were merged (docs/conventions.md §13).
pub const MAX_LINES: usize = 40;
/// Allocations of one order: the locations of each line, summed over its lines.
///
/// Moving all of an order's stock takes two actions per allocation in one transaction, which takes 100. So
/// 40 lines get one location each, or 20 lines two each.
pub const MAX_ALLOCATIONS: usize = MAX_LINES;
/// Units of one line.
pub const MAX_QUANTITY: i64 = 999;
/// Gift cards that pay for one order.
pub const MAX_GIFT_CARDS: usize = 3;

/// An order.
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The id: `ord_` and 32 hexadecimal digits.
    pub id: OrderId,
    /// The store.
    pub store_id: StoreId,
    /// The order number that people use: the store's prefix and a growing number.
    pub number: String,
    /// The customer, if the shopper has an account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_id: Option<CustomerId>,
    /// The keyed hash of a guest's address: an account that proves the address gets the order. None if the
    /// order has a customer, or no address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
    /// The address that confirmations are sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// Whether the customer has proven the address. Other data about the address then belongs to them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_email_proven: bool,
    /// The language of mails to the shopper; the store's if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// The contact details that the shopper gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<OrderContact>,
    /// The status.
    pub status: OrderStatus,
    /// Whether fulfilment is on hold.
    #[serde(default)]
    pub on_hold: bool,
    /// The payment status, derived from the amounts.
    pub financial_status: FinancialStatus,
    /// The fulfilment status, derived from the lines.
    pub fulfillment_status: FulfillmentStatus,
    /// Whether its remaining units are reserved or committed in the stock.
    pub stock: OrderStock,
    /// The lines; no two of one variant with equal properties.
    pub items: Vec<OrderItem>,
    /// The amounts of what is sold, from the subtotal to the amount due.
    pub totals: Totals,
    /// The amount that its totals had in addition before units were cancelled or returned unpaid. Somebody may be
    /// paying it at that moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncharged: Option<Money>,
    /// The place whose tax rates it was taxed by; none if its buyer pays no tax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taxed_at: Option<TaxLocation>,
    /// The chosen shipping rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_line: Option<ShippingLine>,
    /// The discounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<OrderDiscount>,
    /// The gift cards that pay for it.
    #[serde(default)]
    pub gift_cards: Vec<GiftCardUse>,
    /// The payments that were authorized or captured. Each appears at most once, so none is applied twice.
    #[serde(default)]
    pub payments: Vec<OrderPayment>,
    /// The payments that it did not accept and that are refunded, because they came late or twice. They are in no
    /// other amount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unapplied: Vec<OrderPayment>,
    /// The amount captured so far, from gift cards and payments.
    pub captured: Money,
    /// The amount refunded so far to gift cards and payments, pending refunds included. Never more than
    /// `captured`.
    pub refunded: Money,
    /// The part of `refunded` that was for shipping.
    pub shipping_refunded: Money,
    /// The payments that their providers are processing. The order waits for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processing: Vec<PaymentId>,
    /// Whether a provider has begun to process a payment of it, whatever became of that: its shopper knows that it was placed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_processing: bool,
    /// Whether the last payment attempt failed.
    #[serde(default)]
    pub payment_failed: bool,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The shipping address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_address: Option<PostalAddress>,
    /// The billing address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<PostalAddress>,
    /// The buyer's tax registration number, such as a VAT or GST number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax_number: Option<TaxNumber>,
    /// The store's tax registration number at placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_tax_number: Option<TaxNumber>,
    /// A note of the shopper or the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The merchant's tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Key-value pairs of merchants and apps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The source: `storefront`, or a name that the creator gave.
    pub source: String,
    /// The payment provider that the shopper chose at checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_provider: Option<String>,
    /// The manual payment method that the shopper chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<ChosenMethod>,
    /// The instructions of a manual payment, as the shopper was given them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_instructions: Option<String>,
    /// The capture method at that provider; the setting of the store's provider account if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture_method: Option<CaptureMethod>,
    /// The SHA-256 of the token by which a shopper without an account accesses the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_token_digest: Option<String>,
    /// When it expires unless it is paid; none if it cannot expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When a draft's hold on its stock ends; none if it holds none, or without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stock_held_until: Option<Timestamp>,
    /// The payment window in seconds; none if it never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_window: Option<u64>,
    /// Whether the merchant has confirmed it, so that it is binding before it is paid.
    #[serde(default)]
    pub confirmed: bool,
    /// When the sweep processes its payments next: after a provider did not answer, or to close open
    /// payments of an ended order.
    #[serde(default)]
    pub attend_at: Option<Timestamp>,
    /// The number of failed attempts at that.
    #[serde(default)]
    pub attend_tries: u32,
    /// The cancellation reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// When it was cancelled or expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Timestamp>,
    /// When it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Order {
    const KIND: &'static str = "order";
    /// Packed, except the attributes that a reminder moves without a new version. What is packed refers to `PK` and `GSI6PK`
    /// (whose guest's it is), which therefore change with the whole item alone.
    const PACKING: Option<Packing> =
        Some(Packing { plain: &["attend_at", "attend_tries"], text: None, keyed: true });
    fn key(&self) -> Key {
        key::order(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let listed = key::orders_of_store(&self.store_id, self.created_at, &self.id);
        let of_customer = self.customer_id.as_ref().map(|customer| {
            key::orders_of_customer(&self.store_id, customer, self.created_at, &self.id)
        });
        let of_guest = self
            .guest
            .as_ref()
            .filter(|_| self.customer_id.is_none())
            .map(|guest| key::orders_of_guest(guest, &self.id));
        // An unpaid order expires; an open one that cannot expire still has to be delivered, and one whose
        // payment is processed may have to be.
        let is_owed =
            self.status == OrderStatus::Open && (self.expires_at.is_none() || self.is_processing());
        let due = self.due_at().map(|at| DueKind::Order.mark(self.id.as_str(), at));
        let owed =
            is_owed.then(|| key::open_orders_of_store(&self.store_id, self.created_at, &self.id));
        let of_someone = of_customer.into_iter().chain(of_guest);
        std::iter::once(listed).chain(of_someone).chain(due).chain(owed).collect()
    }
}

impl Resource for Order {
    type View = OrderView;

    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }
}

impl Order {
    /// The order at its next version, with derived statuses.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        let mut next =
            Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() };
        next.derive();
        next
    }

    /// The line with this id.
    pub fn item(&self, id: &OrderItemId) -> Option<&OrderItem> {
        self.items.iter().find(|item| item.id == *id)
    }

    /// The order's entry for this payment.
    pub fn payment(&self, id: &PaymentId) -> Option<&OrderPayment> {
        self.payments.iter().find(|payment| payment.payment_id == *id)
    }
}
