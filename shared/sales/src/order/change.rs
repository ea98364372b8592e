//! One change of an order, with all that is written with it: stock, gift cards, payments, a refund,
//! and what is announced.

use catalogue::inventory::Step;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::event::{Event, Topic};
use ground::id::{GiftCardId, OrderItemId};
use ground::money::Money;

use super::refund::{REFUND_CREATED, REFUND_FAILED, REFUND_SUCCEEDED, Refund, RefundStatus};
use super::stock::{self, Move};
use super::{Order, OrderView, Units};
use crate::gift_card;
use crate::payment::PaymentChange;

/// An order at its next version, and what is written in the same transaction.
#[derive(Debug, Clone)]
pub struct OrderChange {
    /// The order as it was read.
    pub before: Box<Order>,
    /// The order as it is to be written; it is not when its version is the same.
    pub order: Order,
    /// How all the stock that it holds moves.
    pub stock: Option<Move>,
    /// Units of lines that move by themselves.
    pub units: Vec<(Step, OrderItemId, Vec<Units>)>,
    /// What goes back to gift cards.
    pub cards: Vec<(GiftCardId, Money)>,
    /// Its payments that change.
    pub payments: Vec<PaymentChange>,
    /// Its refund that is begun or goes on.
    pub refund: Option<RefundChange>,
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
            payments: Vec::new(),
            refund: None,
            topics: Vec::new(),
        }
    }

    /// The order stays as it is.
    pub fn none(order: &Order) -> Self {
        Self::new(order, order.clone())
    }

    /// The same, moving all the stock that the order holds.
    #[must_use]
    pub fn moving(self, stock: Option<Move>) -> Self {
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

    /// Adds all of it to a transaction.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let changed = self.is_order_changed().then_some(&self.order);
        let write = write
            .also(changed, |write, order| write.replace(order, Code::VersionConflict))
            .also(self.stock, |write, how| stock::move_all(write, &self.before, how, now));
        let write = self.payments.iter().fold(write, |write, payment| payment.write(write, now));
        let write = self.units.iter().fold(write, |write, (step, id, units)| {
            let Some(item) = self.order.item(id) else { return write };
            stock::step_all(write, *step, (&self.order, item), units, now)
        });
        let write = self.cards.iter().fold(write, |write, (card, amount)| {
            let gone = Problem::internal("a gift card that paid for an order is gone");
            let order = (&self.order.store_id, &self.order.id);
            gift_card::credit(write, card, amount, order, gone, now)
        });
        let write = write.also(self.refund.as_ref(), |write, refund| refund.write(write, now));
        let view = OrderView::from(&self.order);
        self.topics.iter().fold(write, |write, topic| {
            write.emit(Event::new(topic, self.order.about(), &view, now))
        })
    }
}

impl RefundChange {
    /// Adds the refund, and what is announced of it, to a transaction.
    fn write(&self, write: Write, now: Timestamp) -> Write {
        let refund = &self.refund;
        let write = match self.before {
            None => {
                write.create(refund, Code::VersionConflict).emit(refund.event(&REFUND_CREATED, now))
            }
            Some(_) => write.replace(refund, Code::VersionConflict),
        };
        match refund.status {
            RefundStatus::Succeeded if self.before != Some(RefundStatus::Succeeded) => {
                write.emit(refund.event(&REFUND_SUCCEEDED, now))
            }
            RefundStatus::Failed if self.before != Some(RefundStatus::Failed) => {
                write.emit(refund.event(&REFUND_FAILED, now))
            }
            _ => write,
        }
    }
}
