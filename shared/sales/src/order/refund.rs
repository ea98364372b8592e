//! Refunds of an order: the lines, the amounts, and the gift cards and payments that they go to, gift cards
//! first.
//!
//! An amount is first reserved on the order, on condition of its version: `refunded + a` may not exceed
//! `captured`. Then the provider is called. If it rejects the refund, the amount is released.

mod plan;
mod rest;
mod steps;
mod topics;
mod view;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{GiftCardId, LocationId, OrderId, OrderItemId, PaymentId, RefundId, StoreId};
use core_types::key;
use core_types::money::Money;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::fields::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;

use super::{Order, OrderItem, Units};
use crate::gift_card::GiftCardStatus;
use crate::tax::{self, LineTax};

pub use topics::*;
pub use view::{PlanView, RefundView, ReturnedMoney, SuggestedTransaction, Tender};

/// A merchant's note about a refund.
pub type RefundNote = Text<0, 2000>;

primitives::string_enum! {
    /// The effect of a refund or return on stock.
    RestockType {
        /// No units are put back into stock; in a refund, their fulfilment stays as it is, too.
        NoRestock = "no_restock",
        /// The units are cancelled before fulfilment, and available again.
        Cancel = "cancel",
        /// The units were fulfilled and are returned, and available again.
        Return = "return",
    }
}

primitives::string_enum! {
    /// The reason of a refund.
    RefundReason {
        /// The customer asked for it.
        CustomerRequest = "customer_request",
        /// The order was paid twice.
        Duplicate = "duplicate",
        /// The payment was fraudulent.
        Fraudulent = "fraudulent",
        /// The goods were defective.
        Defective = "defective",
        /// Another reason; the note may say which.
        Other = "other",
    }
}

primitives::string_enum! {
    /// The status of a refund or of a part of it.
    RefundStatus {
        /// The amount is reserved; the provider has not completed it.
        Pending = "pending",
        /// The money was refunded.
        Succeeded = "succeeded",
        /// The provider rejected it; the reserved amount is released.
        Failed = "failed",
    }
}

/// Units of a line to refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedLine {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The number of units.
    pub quantity: u32,
    /// The effect on stock.
    pub restock_type: RestockType,
    /// The location where they are put back; by default where they were taken from.
    pub location_id: Option<LocationId>,
}

/// The part of the shipping to refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedShipping {
    /// All that was not refunded yet.
    Full,
    /// This amount.
    Amount(Money),
}

primitives::string_enum! {
    /// The destination of the refund of disabled or expired gift cards.
    UnusableGiftCards {
        /// To the gift cards nevertheless: they can then be enabled, or their expiry extended.
        Credit = "credit",
        /// To the order's payments, as far as their captured amounts suffice; the merchant refunds the rest manually.
        Manual = "manual",
    }
}

/// A gift card that cannot be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableGiftCard {
    /// The gift card.
    pub id: GiftCardId,
    /// Why it cannot be used.
    pub status: GiftCardStatus,
}

/// A requested refund: an amount, or lines and shipping. Without any of these, everything that is left, with its
/// lines and shipping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedRefund {
    /// The amount.
    pub amount: Option<Money>,
    /// The lines.
    pub items: Vec<WantedLine>,
    /// The shipping.
    pub shipping: Option<WantedShipping>,
    /// The amount that the merchant retains of the lines and the shipping.
    pub restocking_fee: Option<Money>,
    /// Refund through this payment alone.
    pub payment_id: Option<PaymentId>,
    /// The destination of the money of gift cards that cannot be used.
    pub unusable_gift_cards: Option<UnusableGiftCards>,
}

impl WantedRefund {
    /// The location that each line names.
    pub fn locations(&self) -> impl Iterator<Item = Option<&LocationId>> {
        self.items.iter().map(|line| line.location_id.as_ref())
    }
}

/// Refunded units of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefundLine {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The number of units.
    pub quantity: u32,
    /// The amount for them, with their tax.
    pub amount: Money,
    /// The tax in the amount, by rate.
    #[serde(default)]
    pub tax_lines: Vec<LineTax>,
    /// The effect on stock.
    pub restock_type: RestockType,
    /// The units that this refund puts back into stock. Units put back before, without a refund or with a
    /// rejected one, do not count.
    pub restocked: u32,
    /// The first of the locations where they are put back.
    pub location_id: Option<LocationId>,
    /// All locations where they are put back.
    #[serde(default)]
    pub restocked_at: Vec<Units>,
}

/// The amounts of a refund, and where each part goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundPlan {
    /// The total amount.
    pub amount: Money,
    /// The lines.
    pub items: Vec<RefundLine>,
    /// The part for shipping, with its tax.
    pub shipping: Money,
    /// The tax on the part for shipping, by rate.
    pub shipping_tax_lines: Vec<LineTax>,
    /// The amount that the merchant retains, none if there is no fee. `amount` is without it.
    pub restocking_fee: Option<Money>,
    /// The parts to gift cards, which come first.
    pub to_gift_cards: Vec<(GiftCardId, Money)>,
    /// The parts that the merchant returns by hand, in place of gift cards that cannot be used.
    pub by_hand: Vec<(GiftCardId, Money)>,
    /// The parts through payments.
    pub to_payments: Vec<(PaymentId, Money)>,
}

/// A part of a refund: to a gift card, in place of one, or through a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefundTransaction {
    /// The gift card.
    pub gift_card_id: Option<GiftCardId>,
    /// The payment.
    pub payment_id: Option<PaymentId>,
    /// Whether the merchant refunds it manually, because the gift card cannot be used.
    #[serde(default)]
    pub manual: bool,
    /// The amount.
    pub amount: Money,
    /// The status.
    pub status: RefundStatus,
    /// The provider's code of the failure.
    pub failure_code: Option<String>,
}

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "refund", key = key::refund(&self.store_id, &self.order_id, &self.id), packed)]
pub struct Refund {
    /// The id, which providers also deduplicate on.
    pub id: RefundId,
    /// The store.
    pub store_id: StoreId,
    /// The order.
    pub order_id: OrderId,
    /// The status.
    pub status: RefundStatus,
    /// The total amount.
    pub amount: Money,
    /// The lines.
    pub items: Vec<RefundLine>,
    /// The part for shipping, with its tax.
    pub shipping: Money,
    /// The tax on the part for shipping, by rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shipping_tax_lines: Vec<LineTax>,
    /// The amount that the merchant retains of the lines and the shipping; `amount` is without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restocking_fee: Option<Money>,
    /// The parts: to gift cards, and through payments.
    pub transactions: Vec<RefundTransaction>,
    /// The reason.
    pub reason: RefundReason,
    /// The merchant's note.
    pub note: Option<String>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl RefundPlan {
    /// The tax in the amounts of its lines and of shipping, by rate.
    pub fn tax_lines(&self) -> Vec<LineTax> {
        tax_lines(&self.items, &self.shipping_tax_lines)
    }
}

fn tax_lines(items: &[RefundLine], of_shipping: &[LineTax]) -> Vec<LineTax> {
    tax::merged(items.iter().flat_map(|line| &line.tax_lines).chain(of_shipping))
}

impl Order {
    /// The tax in its refunds of lines and shipping so far.
    pub fn refunded_tax(&self) -> Money {
        let shipping = self.shipping_line.as_ref().map_or_else(Vec::new, |line| {
            let part = (0, self.shipping_refunded.amount, line.total.amount);
            line.tax_lines.iter().map(|tax| tax.part(part)).collect()
        });
        let lines = self.items.iter().flat_map(OrderItem::refunded_tax).chain(shipping);
        let lines: Vec<LineTax> = lines.collect();
        tax::sum(&lines, &self.currency).unwrap_or_else(|| Money::zero(&self.currency))
    }
}

impl Resource for Refund {
    type View = RefundView;

    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }

    /// The event is part of its order's timeline.
    fn event(&self, topic: &Topic<RefundView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

impl Refund {
    /// The refund of a plan. Its parts to gift cards and by hand have succeeded; those through payments are pending.
    pub fn of(
        order: &Order,
        id: RefundId,
        plan: &RefundPlan,
        (reason, note): (RefundReason, Option<String>),
        now: Timestamp,
    ) -> Self {
        let to_cards = plan.to_gift_cards.iter().map(|part| (part, false));
        let by_hand = plan.by_hand.iter().map(|part| (part, true));
        let cards = to_cards.chain(by_hand).map(|((id, amount), manual)| RefundTransaction {
            gift_card_id: Some(id.clone()),
            payment_id: None,
            manual,
            amount: amount.clone(),
            status: RefundStatus::Succeeded,
            failure_code: None,
        });
        let payments = plan.to_payments.iter().map(|(id, amount)| RefundTransaction {
            gift_card_id: None,
            payment_id: Some(id.clone()),
            manual: false,
            amount: amount.clone(),
            status: RefundStatus::Pending,
            failure_code: None,
        });
        let mut refund = Self {
            id,
            store_id: order.store_id.clone(),
            order_id: order.id.clone(),
            status: RefundStatus::Pending,
            amount: plan.amount.clone(),
            items: plan.items.clone(),
            shipping: plan.shipping.clone(),
            shipping_tax_lines: plan.shipping_tax_lines.clone(),
            restocking_fee: plan.restocking_fee.clone(),
            transactions: cards.chain(payments).collect(),
            reason,
            note,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        refund.derive();
        refund
    }

    /// The tax in the amounts of its lines and of shipping, by rate.
    pub fn tax_lines(&self) -> Vec<LineTax> {
        tax_lines(&self.items, &self.shipping_tax_lines)
    }

    fn derive(&mut self) {
        let any = |status| self.transactions.iter().any(|part| part.status == status);
        self.status = if any(RefundStatus::Pending) {
            RefundStatus::Pending
        } else if any(RefundStatus::Failed) {
            RefundStatus::Failed
        } else {
            RefundStatus::Succeeded
        };
    }

    /// The pending payments, with the amount of each.
    pub fn pending(&self) -> Vec<(PaymentId, Money)> {
        let pending = self.transactions.iter().filter(|part| part.status == RefundStatus::Pending);
        pending.filter_map(|part| Some((part.payment_id.clone()?, part.amount.clone()))).collect()
    }

    /// Records the provider's result on the part of a payment.
    pub fn mark(&mut self, payment: &PaymentId, outcome: &Result<String, String>) {
        let parts = self.transactions.iter_mut();
        for part in parts.filter(|part| part.payment_id.as_ref() == Some(payment)) {
            part.status = match outcome {
                Ok(_) => RefundStatus::Succeeded,
                Err(_) => RefundStatus::Failed,
            };
            part.failure_code = outcome.as_ref().err().cloned();
        }
        self.derive();
    }

    /// The refund at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}
