//! What a payment has left to do: a refund that its provider has not confirmed, evidence for a
//! dispute that it has not taken in, money that the order did not take and that has not gone back;
//! and once a day a question about a dispute that is not over.
//!
//! The due mark follows from what the payment is, so that no write forgets it, and goes when
//! nothing is left.

use primitives::clock::Timestamp;
use table::outbox::Due;

use super::Payment;

impl Payment {
    /// Whether something is left to do that nobody else is asked for.
    pub(super) fn has_work(&self) -> bool {
        !self.pending().is_zero() || self.has_pending_evidence() || self.is_to_go_back()
    }

    /// When it is tried again.
    pub fn due_at(&self) -> Option<Timestamp> {
        let since = self.tried_at.unwrap_or(self.updated_at);
        let work = self.has_work().then(|| since.plus(Due::wait(self.tries)));
        work.into_iter().chain(self.asks_about_disputes_at()).min()
    }

    /// The payment as it is tried again: due later, should that fail.
    #[must_use]
    pub fn retried(&self, now: Timestamp) -> Self {
        let tries = self.tries.saturating_add(1);
        Self { tries, tried_at: Some(now), ..self.changed(now) }
    }
}

#[cfg(test)]
mod tests {
    use primitives::clock::MINUTE;

    use super::*;
    use crate::payment::{Attention, PaymentStatus};
    use core_types::money;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn taken() -> Payment {
        let sample = Payment::sample();
        Payment {
            status: PaymentStatus::Captured,
            captured: sample.amount.clone(),
            refunded: money::sample(0),
            refunds: Vec::new(),
            is_applied: true,
            updated_at: NOW,
            ..sample
        }
    }

    #[test]
    fn a_refund_is_taken_up_later_and_later_until_it_is_done() {
        let payment = taken();
        assert_eq!(payment.due_at(), None);
        let id = core_types::id::RefundId::derive(&["refund"]);
        let begun = payment.begin_refund(&id, &money::sample(100), NOW).unwrap();
        assert_eq!(begun.due_at(), Some(NOW.plus(MINUTE)));
        let later = NOW.plus(MINUTE);
        let once = begun.retried(later);
        assert_eq!(once.due_at(), Some(later.plus(MINUTE * 2)));
        let often = (0..100).fold(once.clone(), |payment, _| payment.retried(later));
        assert_eq!(often.due_at(), Some(later.plus(MINUTE * 512)));
        let done = often.finish_refund(&id, &Ok("re_1".into()), later).unwrap().payment;
        assert_eq!(done.due_at(), None);
        // What is begun after that is tried from the start.
        let other = core_types::id::RefundId::derive(&["other"]);
        let begun = done.begin_refund(&other, &money::sample(100), later).unwrap();
        assert_eq!(begun.due_at(), Some(later.plus(MINUTE)));
    }

    #[test]
    fn money_that_the_order_did_not_take_is_due() {
        let attention = Some(Attention::LatePayment);
        let late = Payment { is_applied: false, attention, ..taken() };
        assert_eq!(late.due_at(), Some(NOW.plus(MINUTE)));
    }
}
