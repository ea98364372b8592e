//! What disputes of its payments mean for an order: that much of its money cannot go back.
//!
//! What was paid stays paid: a dispute changes neither `financial_status` nor what has left.

use primitives::clock::Timestamp;

use super::{ORDER_UPDATED, Order, OrderChange};
use crate::payment::Payment;

impl OrderChange {
    /// The same, with what disputes claim of a payment, in the one new version of the order. Nothing
    /// more when the order counts nothing of that payment, or knows.
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
        let claimed = payment.claimed();
        let claimed = (!claimed.is_zero()).then_some(claimed);
        let mut next = self.clone();
        let known = next.payments.iter_mut().find(|known| known.payment_id == payment.id)?;
        (known.claimed != claimed).then_some(())?;
        known.claimed = claimed;
        Some(next.changed(now))
    }
}
