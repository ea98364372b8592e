//! The effect of disputes on an order: disputed amounts cannot be refunded.
//!
//! A dispute changes neither `financial_status` nor `fulfillment_status`.

use primitives::clock::Timestamp;

use super::{ORDER_UPDATED, Order, OrderChange};
use crate::payment::Payment;

impl OrderChange {
    /// Adds the amount that disputes claim of a payment, in the same new version of the order. Changes
    /// nothing if the order does not have the payment, or has that amount already.
    #[must_use]
    pub fn and_disputed(self, payment: &Payment, now: Timestamp) -> Self {
        let Some(order) = self.order.disputed_by(payment, now) else { return self };
        let version = self.before.version.saturating_add(1);
        let is_told = self.is_order_changed();
        let next = Self { order: Order { version, ..order }, ..self };
        if is_told { next } else { next.announced(&ORDER_UPDATED) }
    }
}

impl Order {
    fn disputed_by(&self, payment: &Payment, now: Timestamp) -> Option<Self> {
        let disputed_amount = payment.disputed_amount();
        let disputed_amount = (!disputed_amount.is_zero()).then_some(disputed_amount);
        let mut next = self.clone();
        let entry = next.payments.iter_mut().find(|entry| entry.payment_id == payment.id)?;
        (entry.disputed_amount != disputed_amount).then_some(())?;
        entry.disputed_amount = disputed_amount;
        Some(next.changed(now))
    }
}
