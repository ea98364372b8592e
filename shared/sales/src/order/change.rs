//! One change of an order, with all that is written with it: stock, gift cards, payments, a refund,
//! and what is announced. It is saved in one transaction
//! ([`save_change`](crate::workflows::save_change)).

use catalogue::inventory::StockStep;
use core_types::event::{Event, Topic};
use core_types::id::{GiftCardId, OrderItemId};
use core_types::money::Money;

use super::refund::{Refund, RefundStatus};
use super::stock::StockMove;
use super::{Order, OrderDiscount, OrderView, Units};
use crate::payment::PaymentChange;

/// An order at its next version, and what is written in the same transaction.
#[derive(Debug, Clone)]
pub struct OrderChange {
    /// The order as it was read.
    pub before: Box<Order>,
    /// The order as it is to be written; it is not when its version is the same.
    pub order: Order,
    /// How all the stock that it holds moves.
    pub stock: Option<StockMove>,
    /// Units of lines that move by themselves.
    pub units: Vec<(StockStep, OrderItemId, Vec<Units>)>,
    /// What goes back to gift cards.
    pub cards: Vec<(GiftCardId, Money)>,
    /// Discounts whose use is given back.
    pub uses: Vec<OrderDiscount>,
    /// Its payments that change.
    pub payments: Vec<PaymentChange>,
    /// Its refund that is begun or goes on.
    pub refund: Option<RefundChange>,
    /// What is announced of its lines.
    pub lines: Option<Event>,
    /// What is announced of the order.
    pub topics: Vec<&'static Topic<OrderView>>,
}

/// A refund as it is to be written.
#[derive(Debug, Clone)]
pub struct RefundChange {
    /// The refund.
    pub refund: Refund,
    /// How far it had come; none when it is new.
    pub before: Option<RefundStatus>,
}

impl OrderChange {
    /// From one version of an order to the next.
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
            lines: None,
            topics: Vec::new(),
        }
    }

    /// The order stays as it is.
    pub fn none(order: &Order) -> Self {
        Self::new(order, order.clone())
    }

    /// The same, moving all the stock that the order holds.
    #[must_use]
    pub fn moving(self, stock: Option<StockMove>) -> Self {
        Self { stock, ..self }
    }

    /// The same, with a payment.
    #[must_use]
    pub fn with_payment(mut self, payment: PaymentChange) -> Self {
        self.payments.push(payment);
        self
    }

    /// The same, announced by this besides.
    #[must_use]
    pub fn announced(mut self, topic: &'static Topic<OrderView>) -> Self {
        self.topics.push(topic);
        self
    }

    /// Whether this is announced of the order.
    pub fn announces(&self, topic: &Topic<OrderView>) -> bool {
        self.topics.iter().any(|announced| announced.name == topic.name)
    }

    /// Whether the order changes.
    pub fn is_order_changed(&self) -> bool {
        self.order.version != self.before.version
    }
}
