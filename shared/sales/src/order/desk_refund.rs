//! Money of an order that went back at its provider's own desk: nobody asked us, and the order
//! has a refund that says so, like any other.

use gateway::clock::Timestamp;
use gateway::problem::Code;
use gateway::table::Write;
use ground::event::Event;
use ground::id::{PaymentId, RefundId};
use ground::money::Money;

use super::refund::{Plan, Refund, RefundReason};
use super::{Order, OrderView};
use crate::order::ORDER_REFUNDED;
use crate::order::refund::{REFUND_CREATED, REFUND_SUCCEEDED};

/// A refund that was made at a provider's desk, and its order at its next version.
#[derive(Debug, Clone)]
pub struct DeskRefund {
    /// The order.
    pub order: Order,
    /// The refund: of an amount, of no line.
    pub refund: Refund,
}

impl Order {
    /// What went back of one of its payments; `None` when the order counts all of that already.
    pub fn refunded_at_desk(
        &self,
        payment: &PaymentId,
        id: &RefundId,
        amount: &Money,
        now: Timestamp,
    ) -> Option<DeskRefund> {
        let left = self.payment(payment)?.refundable().min(&self.refundable());
        let amount = left.min(amount);
        (!amount.is_zero()).then_some(())?;
        let plan = Plan {
            amount: amount.clone(),
            items: Vec::new(),
            shipping: Money::zero(&self.currency),
            to_gift_cards: Vec::new(),
            to_payments: vec![(payment.clone(), amount)],
        };
        let order = self.reserve_refund(&plan, now).ok()?;
        let mut refund = Refund::of(self, id.clone(), &plan, (RefundReason::Other, None), now);
        refund.mark(payment, &Ok(id.to_string()));
        Some(DeskRefund { order, refund })
    }
}

/// Adds the refund, its order, and what is announced of both to a transaction.
pub fn record(write: Write, done: &DeskRefund, now: Timestamp) -> Write {
    announce(write.replace(&done.order, Code::VersionConflict), done, now)
}

/// The same for an order that the transaction writes already.
pub fn announce(write: Write, done: &DeskRefund, now: Timestamp) -> Write {
    let DeskRefund { order, refund } = done;
    write
        .create(refund, Code::VersionConflict)
        .emit(refund.event(&REFUND_CREATED, now))
        .emit(refund.event(&REFUND_SUCCEEDED, now))
        .emit(Event::new(&ORDER_REFUNDED, order.about(), &OrderView::from(order), now))
}
