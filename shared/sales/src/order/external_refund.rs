//! Money of an order that went back at its provider, without us: the order has a refund that says
//! so, like any other.

use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use primitives::clock::Timestamp;

use super::refund::{Plan, Refund, RefundReason};
use super::{ORDER_REFUNDED, Order, OrderChange, RefundChange};

impl OrderChange {
    /// The same, with every other authorization voided: the order is paid without it.
    #[must_use]
    pub fn without_authorizations(mut self) -> Self {
        self.order.void_authorizations();
        self.order.derive();
        self
    }

    /// The same, with money of one of its payments that has gone back already: a refund of an
    /// amount, of no line, in the one new version of the order. Nothing more when the order counts
    /// all of that already.
    #[must_use]
    pub fn and_externally_refunded(
        self,
        payment: &PaymentId,
        id: &RefundId,
        amount: &Money,
        now: Timestamp,
    ) -> Self {
        let Some((order, refund)) = self.order.external_refund(payment, id, amount, now) else {
            return self;
        };
        let version = self.before.version.saturating_add(1);
        let order = Order { version, ..order };
        let refund = Some(RefundChange { refund, before: None });
        Self { order, refund, ..self }.announced(&ORDER_REFUNDED)
    }
}

impl Order {
    /// The order with what went back of one of its payments, and the refund that says so.
    fn external_refund(
        &self,
        payment: &PaymentId,
        id: &RefundId,
        amount: &Money,
        now: Timestamp,
    ) -> Option<(Self, Refund)> {
        // What a dispute holds may go back all the same: the provider says that it has.
        let left = self.payment(payment)?.unreturned().min(&self.unreturned());
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
        Some((order, refund))
    }
}
