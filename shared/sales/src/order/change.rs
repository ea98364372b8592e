//! A change of an order with all that is written with it: stock, gift cards, payments, a refund and events.
//! It is saved in one transaction ([`save_change`](crate::workflows::save_change)).

use catalogue::inventory::StockStep;
use core_types::event::{Event, Topic};
use core_types::id::{GiftCardId, OrderItemId};
use core_types::money::Money;

use super::refund::{Refund, RefundStatus};
use super::stock::StockMove;
use super::{Order, OrderDiscount, OrderView, Units};
use crate::payment::PaymentChange;

/// An order at its next version, and the other writes of the same transaction.
#[derive(Debug, Clone)]
pub struct OrderChange {
    /// The order before the change.
    pub before: Box<Order>,
    /// The order after the change. It is written only if its version is another one.
    pub order: Order,
    /// The move of all stock that the order holds.
    pub stock: Option<StockMove>,
    /// The moves of individual units of lines.
    pub units: Vec<(StockStep, OrderItemId, Vec<Units>)>,
    /// The amounts refunded to gift cards.
    pub cards: Vec<(GiftCardId, Money)>,
    /// The discounts whose uses are given back.
    pub uses: Vec<OrderDiscount>,
    /// The changes of its payments.
    pub payments: Vec<PaymentChange>,
    /// The refund that begins or changes.
    pub refund: Option<RefundChange>,
    /// The event about its lines.
    pub lines_event: Option<Event>,
    /// The topics of the events about the order.
    pub topics: Vec<&'static Topic<OrderView>>,
}

/// A new or changed refund.
#[derive(Debug, Clone)]
pub struct RefundChange {
    /// The refund.
    pub refund: Refund,
    /// The status before; none for a new refund.
    pub before: Option<RefundStatus>,
}

impl OrderChange {
    /// A change from one version of an order to the next.
    pub fn new(before: &Order, order: Order) -> Self {
        Self {
            before: Box::new(before.clone()),
            order,
            stock: None,
            units: Vec::new(),
            cards: Vec::new(),
            uses: Vec::new(),
            payments: Vec::new(),
            refund: None,
            lines_event: None,
            topics: Vec::new(),
        }
    }

    /// A change that leaves the order as it is.
    pub fn none(order: &Order) -> Self {
        Self::new(order, order.clone())
    }

    /// Sets the move of all stock that the order holds.
    #[must_use]
    pub fn moving(self, stock: Option<StockMove>) -> Self {
        Self { stock, ..self }
    }

    /// Adds the change of a payment.
    #[must_use]
    pub fn with_payment(mut self, payment: PaymentChange) -> Self {
        self.payments.push(payment);
        self
    }

    /// Adds an event about the order.
    #[must_use]
    pub fn announced(mut self, topic: &'static Topic<OrderView>) -> Self {
        self.topics.push(topic);
        self
    }

    /// Whether the change has an event of this topic.
    pub fn announces(&self, topic: &Topic<OrderView>) -> bool {
        self.topics.iter().any(|announced| announced.name == topic.name)
    }

    /// Whether the order changes.
    pub fn is_order_changed(&self) -> bool {
        self.order.version != self.before.version
    }
}
