//! Refunds made directly at the provider: the order gets a refund for them, like any other.

use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use primitives::clock::Timestamp;

use super::refund::{Refund, RefundPlan, RefundReason};
use super::{ORDER_REFUNDED, Order, OrderChange, RefundChange};

impl OrderChange {
    /// Voids all authorizations, as the order is paid without them.
    #[must_use]
    pub fn without_authorizations(mut self) -> Self {
        self.order.void_authorizations();
        self.order.derive();
        self
    }

    /// Adds a refund of a payment that was made at its provider, in the same new version of the order. It
    /// has an amount and no lines. Changes nothing if the order has counted all of it already.
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
        let mut order = Order { version, ..order };
        let mut uses = self.uses;
        uses.extend(order.release_uses());
        let refund = Some(RefundChange { refund, before: None });
        Self { order, uses, refund, ..self }.announced(&ORDER_REFUNDED)
    }
}

impl Order {
    /// The order with a refund of one of its payments, and that refund.
    fn external_refund(
        &self,
        payment: &PaymentId,
        id: &RefundId,
        amount: &Money,
        now: Timestamp,
    ) -> Option<(Self, Refund)> {
        // The provider has refunded it, so it counts even if a dispute holds the money.
        let left = self.payment(payment)?.unreturned().min(&self.unreturned());
        let amount = left.min(amount);
        (!amount.is_zero()).then_some(())?;
        let plan = RefundPlan {
            amount: amount.clone(),
            items: Vec::new(),
            shipping: Money::zero(&self.currency),
            shipping_tax_lines: Vec::new(),
            restocking_fee: None,
            to_gift_cards: Vec::new(),
            by_hand: Vec::new(),
            to_payments: vec![(payment.clone(), amount)],
        };
        let order = self.reserve_refund(&plan, now).ok()?;
        let mut refund = Refund::of(self, id.clone(), &plan, (RefundReason::Other, None), now);
        refund.mark(payment, &Ok(id.to_string()));
        Some((order, refund))
    }
}
