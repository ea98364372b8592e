//! Refunds: what goes back, of which lines, and through what: gift cards first.
//!
//! Whatever is to go back is first reserved on the order: `refunded + a` only while that is at
//! most `captured`, under the order's version. Only then is a provider asked. What it rejects is
//! released again.

mod plan;
mod steps;
mod topics;
mod view;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{GiftCardId, LocationId, OrderId, OrderItemId, PaymentId, RefundId, StoreId};
use core_types::key;
use core_types::money::Money;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use primitives::fields::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Order, Units};

pub use topics::*;
pub use view::{PlanView, RefundView, SuggestedTransaction};

/// What a merchant notes about a refund, at whatever door it comes in.
pub type RefundNote = Text<0, 2000>;

primitives::string_enum! {
    /// What becomes of the units that money goes back for.
    RestockType {
        /// Nothing: stock and what is to be fulfilled stay as they are.
        NoRestock = "no_restock",
        /// They have not left and will not: they can be sold again.
        Cancel = "cancel",
        /// They have left and come back: they can be sold again.
        Return = "return",
    }
}

primitives::string_enum! {
    /// Why money goes back.
    RefundReason {
        /// The customer asked for it.
        CustomerRequest = "customer_request",
        /// It was paid twice.
        Duplicate = "duplicate",
        /// Somebody else's money paid for it.
        Fraudulent = "fraudulent",
        /// The goods were not as they should be.
        Defective = "defective",
        /// Another reason; the note may say which.
        Other = "other",
    }
}

primitives::string_enum! {
    /// How far a refund, or a part of it, has come.
    RefundStatus {
        /// Reserved; a provider has not answered yet.
        Pending = "pending",
        /// The money has gone back.
        Succeeded = "succeeded",
        /// A provider rejected; what was reserved for it is free again.
        Failed = "failed",
    }
}

/// Units of a line that money is to go back for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedLine {
    /// The id of one of the order's `items`.
    pub order_item_id: OrderItemId,
    /// How many units of it.
    pub quantity: u32,
    /// What becomes of them.
    pub restock_type: RestockType,
    /// Where they come back to; where they came from, unless said otherwise.
    pub location_id: Option<LocationId>,
}

/// How much of the shipping is to go back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedShipping {
    /// What has not gone back yet.
    Full,
    /// So much.
    Amount(Money),
}

/// What is to go back: an amount, or lines and shipping; everything that is left when neither is
/// named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedRefund {
    /// An amount.
    pub amount: Option<Money>,
    /// Lines.
    pub items: Vec<WantedLine>,
    /// Shipping.
    pub shipping: Option<WantedShipping>,
    /// Only through this payment.
    pub payment_id: Option<PaymentId>,
}

/// Units of a line that money goes back for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefundLine {
    /// The id of one of the order's `items`.
    pub order_item_id: OrderItemId,
    /// How many units of it.
    pub quantity: u32,
    /// What they are worth.
    pub amount: Money,
    /// What becomes of them.
    pub restock_type: RestockType,
    /// How many of them go back into stock with it: none that went back before, without a refund
    /// or with one that was rejected.
    pub restocked: u32,
    /// Where they come back to; the first of these locations.
    pub location_id: Option<LocationId>,
    /// Where they come back to, each.
    #[serde(default)]
    pub restocked_at: Vec<Units>,
}

/// What goes back, and through what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// All of it.
    pub amount: Money,
    /// For these lines.
    pub items: Vec<RefundLine>,
    /// For shipping.
    pub shipping: Money,
    /// To gift cards, first.
    pub to_gift_cards: Vec<(GiftCardId, Money)>,
    /// Through payments.
    pub to_payments: Vec<(PaymentId, Money)>,
}

/// A part of a refund: to a gift card, or through a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefundTransaction {
    /// The gift card.
    pub gift_card_id: Option<GiftCardId>,
    /// The id of one of the order's payments.
    pub payment_id: Option<PaymentId>,
    /// How much.
    pub amount: Money,
    /// How far it has come.
    pub status: RefundStatus,
    /// Why it failed, in the provider's word.
    pub failure_code: Option<String>,
}

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// The id; also what providers deduplicate on.
    pub id: RefundId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The order that it belongs to.
    pub order_id: OrderId,
    /// How far it has come.
    pub status: RefundStatus,
    /// All of it.
    pub amount: Money,
    /// For these lines.
    pub items: Vec<RefundLine>,
    /// For shipping.
    pub shipping: Money,
    /// Its parts.
    pub transactions: Vec<RefundTransaction>,
    /// Why.
    pub reason: RefundReason,
    /// In the merchant's words.
    pub note: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Refund {
    const KIND: &'static str = "refund";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::refund(&self.store_id, &self.order_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
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

    /// In its order's timeline.
    fn event(&self, topic: &Topic<RefundView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

impl Refund {
    /// The refund of a plan: its gift cards have their money, its payments are to be asked.
    pub fn of(
        order: &Order,
        id: RefundId,
        plan: &Plan,
        (reason, note): (RefundReason, Option<String>),
        now: Timestamp,
    ) -> Self {
        let cards = plan.to_gift_cards.iter().map(|(id, amount)| RefundTransaction {
            gift_card_id: Some(id.clone()),
            payment_id: None,
            amount: amount.clone(),
            status: RefundStatus::Succeeded,
            failure_code: None,
        });
        let payments = plan.to_payments.iter().map(|(id, amount)| RefundTransaction {
            gift_card_id: None,
            payment_id: Some(id.clone()),
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

    /// The payments that have not answered yet, with what each is to refund.
    pub fn pending(&self) -> Vec<(PaymentId, Money)> {
        let pending = self.transactions.iter().filter(|part| part.status == RefundStatus::Pending);
        pending.filter_map(|part| Some((part.payment_id.clone()?, part.amount.clone()))).collect()
    }

    /// Marks the part of a payment with what its provider said.
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
