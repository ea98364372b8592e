//! Orders: three axes of state, the lines, and every transition between them.
//!
//! An order is one item, and each transition is a pure method that answers with the order at its
//! next version. What a transition does to stock, gift cards and payments is written in the same
//! transaction as the order, under the condition that nobody changed the order meanwhile: so each
//! of them happens exactly once, whoever races whom.
//!
//! - [`pricing`]: a cart with the server's prices becomes an order that holds its stock.
//! - An [`OrderChange`] is a transition with all that is written with it: money that comes in, or
//!   does not come in time; the end of an order; a refund.
//! - [`fulfillment`]: lines leave.
//! - [`lines`]: units are cancelled or returned, without money; [`restock`]: where to.
//! - [`refund`]: money goes back, to gift cards first.
//!
//! What loads, decides, asks a provider and writes over several steps is one of the
//! [`workflows`](crate::workflows).

pub mod aggregate;
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
mod samples;
pub mod shopper;
mod state;
pub mod stock;
#[cfg(test)]
pub(crate) mod tests;
mod topics;
mod transitions;
pub mod update;
mod view;

use std::collections::BTreeMap;

use core_types::event::EventSubject;
use core_types::fields::{Currency, Email, Locale};
use core_types::id::{CustomerId, OrderId, OrderItemId, PaymentId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use table::outbox::Due;
use identity::address::PostalAddress;
use serde::{Deserialize, Serialize};

use crate::payment::CaptureMethod;

pub use change::{OrderChange, RefundChange};
pub use charges::{DiscountAllocation, OrderDiscount, OrderDiscountView, ShippingLine, Totals};
pub use item::{Allocation, GiftCardUse, OrderContact, OrderItem, OrderPayment, Units};
pub use link::PresentedToken;
pub use redact::OrderRedacted;
pub use state::{FinancialStatus, FulfillmentStatus, OrderAction, OrderStatus};
pub use stock::StockState;
pub use topics::*;
pub use transitions::IncomingPayment;
pub use view::{AllocationView, GiftCardUseView, OrderItemView, OrderPaymentView, OrderView};

/// Lines of one order, after lines of one variant were merged (docs/conventions.md §13).
pub const MAX_LINES: usize = 40;
/// Locations that the lines of one order are taken from, each line's counted by itself: whatever
/// moves all of an order's stock is two actions for each in one transaction, which takes 100. So
/// 40 lines are taken whole or not at all, and 20 may be taken from two locations each.
pub const MAX_ALLOCATIONS: usize = MAX_LINES;
/// Units of one line.
pub const MAX_QUANTITY: i64 = 999;
/// Gift cards that pay for one order.
pub const MAX_GIFT_CARDS: usize = 3;

/// An order.
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// `ord_` and 32 hexadecimal digits.
    pub id: OrderId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// What people call it: the store's prefix and a number that grows.
    pub number: String,
    /// The customer, when they have an account.
    #[serde(default)]
    pub customer_id: Option<CustomerId>,
    /// What the address of a guest is known by: whoever proves the address with an account has the
    /// order. None of an order that has a customer, or no address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
    /// Where confirmations go.
    #[serde(default)]
    pub email: Option<Email>,
    /// Whether the customer has proven to receive mail there: what else is known of the address is theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_email_proven: bool,
    /// The language in which its shopper is written to; the store's unless it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// Whom it is for, in the shopper's words.
    #[serde(default)]
    pub contact: Option<OrderContact>,
    /// Where it is in its life.
    pub status: OrderStatus,
    /// Whether it is kept from being fulfilled.
    #[serde(default)]
    pub on_hold: bool,
    /// What has become of its money.
    pub financial_status: FinancialStatus,
    /// How much of it has left.
    pub fulfillment_status: FulfillmentStatus,
    /// What its remaining units hold of the stock.
    pub stock: StockState,
    /// The lines; no two of one variant.
    pub items: Vec<OrderItem>,
    /// Its amounts, from the subtotal to what is due.
    pub totals: Totals,
    /// How it is sent, when that was chosen.
    #[serde(default)]
    pub shipping_line: Option<ShippingLine>,
    /// What is taken off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<OrderDiscount>,
    /// The gift cards that pay for it.
    #[serde(default)]
    pub gift_cards: Vec<GiftCardUse>,
    /// The payments that were authorized or taken: each at most once, so that
    /// none is applied twice.
    #[serde(default)]
    pub payments: Vec<OrderPayment>,
    /// Taken so far, from gift cards and payments.
    pub captured: Money,
    /// Gone back so far, to gift cards and payments, or reserved for it. Never more than
    /// `captured`.
    pub refunded: Money,
    /// How much of that was for shipping.
    pub shipping_refunded: Money,
    /// Whether the last attempt to pay failed.
    #[serde(default)]
    pub payment_failed: bool,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// Where it goes.
    #[serde(default)]
    pub shipping_address: Option<PostalAddress>,
    /// Who is billed.
    #[serde(default)]
    pub billing_address: Option<PostalAddress>,
    /// In the shopper's or the merchant's words.
    #[serde(default)]
    pub note: Option<String>,
    /// Labels of the merchant's.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What apps and merchants keep with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Where it was made: `storefront`, or what the maker says.
    pub source: String,
    /// The payment provider that the shopper chose at checkout.
    #[serde(default)]
    pub payment_provider: Option<String>,
    /// When that provider is to take the money, if the order says: otherwise the store's account
    /// with it does.
    #[serde(default)]
    pub capture_method: Option<CaptureMethod>,
    /// SHA-256 of the token that a shopper without an account shows.
    #[serde(default)]
    pub order_token_digest: Option<String>,
    /// When it expires unless it is paid; none once it cannot.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// How many seconds it waits to be paid; none when it waits for ever.
    #[serde(default)]
    pub payment_window: Option<u64>,
    /// Whether the merchant has confirmed it, so that it does not wait to be paid.
    #[serde(default)]
    pub confirmed: bool,
    /// When its payments are looked at again: because a provider did not answer, or to close
    /// those of an order that is over.
    #[serde(default)]
    pub attend_at: Option<Timestamp>,
    /// How often that was tried in vain.
    #[serde(default)]
    pub attend_tries: u32,
    /// Why it was cancelled.
    #[serde(default)]
    pub cancel_reason: Option<String>,
    /// When it was cancelled or expired.
    #[serde(default)]
    pub cancelled_at: Option<Timestamp>,
    /// When it was closed.
    #[serde(default)]
    pub closed_at: Option<Timestamp>,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Order {
    const KIND: &'static str = "order";
    /// Packed but for what a reminder moves without a new version.
    const PACKING: Option<Packing> =
        Some(Packing { plain: &["attend_at", "attend_tries"], text: None });
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
        // What waits for its money expires; what is open without that, the store still owes.
        let is_owed = self.expires_at.is_none() && self.status == OrderStatus::Open;
        let due = self.due_at().map(|at| Due::Order.mark(self.id.as_str(), at));
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
    /// The order at its next version, with what follows from its lines and its money.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        let mut next =
            Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() };
        next.derive();
        next
    }

    /// Sets what follows from the rest.
    fn derive(&mut self) {
        self.financial_status = self.derived_financial_status();
        self.fulfillment_status = self.derived_fulfillment_status();
    }

    /// The line of this id.
    pub fn item(&self, id: &OrderItemId) -> Option<&OrderItem> {
        self.items.iter().find(|item| item.id == *id)
    }

    /// What this payment has done for the order.
    pub fn payment(&self, id: &PaymentId) -> Option<&OrderPayment> {
        self.payments.iter().find(|payment| payment.payment_id == *id)
    }

    /// What is left to pay: of the total, but for units that were cancelled or came back.
    pub fn outstanding(&self) -> Money {
        let zero = || Money::zero(&self.currency);
        self.owed().minus(&self.captured).unwrap_or_else(zero)
    }

    /// What is to be paid in all.
    fn owed(&self) -> Money {
        let zero = || Money::zero(&self.currency);
        let waived = self.items.iter().map(OrderItem::waived_amount).collect::<Vec<_>>();
        let waived = Money::sum(waived.iter().chain([&self.waived_shipping()]), &self.currency);
        self.totals.total.minus(&waived.unwrap_or_else(zero)).unwrap_or_else(zero)
    }

    /// Whether the order takes so much more money. Somebody may be paying what has been called
    /// off meanwhile: that is taken, and can be refunded, as long as something is left to pay.
    pub fn takes(&self, amount: &Money) -> bool {
        let uncalled = self.totals.total.minus(&self.captured);
        let fits = uncalled.is_some_and(|left| left.minus(amount).is_some());
        fits && (amount.is_zero() || !self.outstanding().is_zero())
    }

    /// Whether nothing was paid, and nothing is to be paid any more.
    fn is_waived(&self) -> bool {
        self.captured.is_zero() && !self.totals.total.is_zero() && self.owed().is_zero()
    }

    /// What was taken and has not gone back, nor is on its way back.
    pub fn unreturned(&self) -> Money {
        self.captured.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// What disputes hold of its payments, or have taken.
    pub fn disputed(&self) -> Money {
        let parts: Vec<Money> = self.payments.iter().map(OrderPayment::disputed).collect();
        let sum = Money::sum(&parts, &self.currency);
        sum.unwrap_or_else(|| self.unreturned()).min(&self.unreturned())
    }

    /// What could still go back.
    pub fn refundable(&self) -> Money {
        let left = self.unreturned().minus(&self.disputed());
        left.unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// What payments, not gift cards, have taken.
    pub fn captured_by_payments(&self) -> Money {
        let parts = self.payments.iter().map(|payment| &payment.captured);
        Money::sum(parts, &self.currency).unwrap_or_else(|| self.captured.clone())
    }

    /// What the order has brought in: nothing while only gift cards were set aside for it, and
    /// nothing that a dispute holds or has taken.
    pub fn brought_in(&self) -> i64 {
        if !self.has_money() && !self.outstanding().is_zero() {
            return 0;
        }
        self.refundable().amount
    }

    /// What providers have authorized and nobody has taken yet.
    pub fn authorized(&self) -> Money {
        let open = self.payments.iter().filter(|payment| payment.is_open_authorization());
        Money::sum(open.map(|payment| &payment.authorized), &self.currency)
            .unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// Whether a shopper may pay for it now.
    pub fn is_payable(&self, now: Timestamp) -> bool {
        self.status == OrderStatus::Open
            && !self.outstanding().is_zero()
            && self.authorized().is_zero()
            && self.expires_at.is_none_or(|at| now < at)
    }

    /// Whether money is authorized or taken, gift cards aside.
    fn has_money(&self) -> bool {
        self.payments
            .iter()
            .any(|payment| payment.is_open_authorization() || !payment.captured.is_zero())
    }

    fn derived_financial_status(&self) -> FinancialStatus {
        let taken = self.captured_by_payments();
        if !self.has_money() && !self.outstanding_at_placement_was_zero() {
            match self.status {
                OrderStatus::Expired => return FinancialStatus::Expired,
                OrderStatus::Cancelled => return FinancialStatus::Voided,
                _ => {}
            }
        }
        if !self.refunded.is_zero() {
            return if self.unreturned().is_zero() {
                FinancialStatus::Refunded
            } else {
                FinancialStatus::PartiallyRefunded
            };
        }
        if self.is_waived() && self.authorized().is_zero() {
            FinancialStatus::Voided
        } else if self.outstanding().is_zero() && !self.is_waived() {
            FinancialStatus::Paid
        } else if !taken.is_zero() {
            FinancialStatus::PartiallyPaid
        } else if !self.authorized().is_zero() {
            FinancialStatus::Authorized
        } else if self.status == OrderStatus::Cancelled {
            FinancialStatus::Voided
        } else if self.payment_failed {
            FinancialStatus::Failed
        } else {
            FinancialStatus::Pending
        }
    }

    /// Whether gift cards, or its being free, paid for all of it when it was placed.
    fn outstanding_at_placement_was_zero(&self) -> bool {
        self.totals.due.is_zero()
    }

    fn derived_fulfillment_status(&self) -> FulfillmentStatus {
        let sum = |count: fn(&OrderItem) -> u32| {
            self.items.iter().map(count).fold(0, u32::saturating_add)
        };
        let (fulfilled, remaining) = (sum(|item| item.fulfilled), sum(OrderItem::remaining));
        match (fulfilled, remaining) {
            (0, 0) => FulfillmentStatus::NotRequired,
            (0, _) => FulfillmentStatus::Unfulfilled,
            (_, 0) => FulfillmentStatus::Fulfilled,
            _ => FulfillmentStatus::PartiallyFulfilled,
        }
    }
}
