//! The pending work of a payment: a refund or a dispute's evidence that its provider has not confirmed, an
//! unapplied payment to void or refund, and once a day a look-up of an open dispute, or of a payment that its
//! provider processes.
//!
//! The due mark is derived from the payment, so that no write can omit it, and disappears when nothing is
//! pending.

use std::time::Duration;

use primitives::clock::{DAY, Timestamp};
use table::outbox::DueKind;

use super::{Payment, PaymentStatus};

/// The interval at which a payment that its provider processes is polled (our choice): webhooks may be lost.
const PROCESSING_INTERVAL: Duration = DAY;

impl Payment {
    /// Whether it has pending work for the sweep, apart from look-ups.
    pub(super) fn has_work(&self) -> bool {
        !self.pending().is_zero() || self.has_pending_evidence() || self.is_to_go_back()
    }

    /// When the sweep processes it next; none without pending work.
    pub fn due_at(&self) -> Option<Timestamp> {
        let since = self.tried_at.unwrap_or(self.updated_at);
        let work = self.has_work().then(|| since.plus(DueKind::wait(self.tries)));
        let polls = self.polls_disputes_at().into_iter().chain(self.checks_processing_at());
        work.into_iter().chain(polls).min()
    }

    /// When its provider is next asked whether it still processes it; none if it does not.
    pub fn checks_processing_at(&self) -> Option<Timestamp> {
        let since = self.tried_at.unwrap_or(self.updated_at);
        (self.status == PaymentStatus::Processing).then(|| since.plus(PROCESSING_INTERVAL))
    }

    /// Counts an attempt of the sweep, so that the payment is due later if the attempt fails.
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

    fn captured() -> Payment {
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
    fn a_refund_is_retried_at_growing_intervals_until_it_is_done() {
        let payment = captured();
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
        // A refund that begins later starts with the shortest wait.
        let other = core_types::id::RefundId::derive(&["other"]);
        let begun = done.begin_refund(&other, &money::sample(100), later).unwrap();
        assert_eq!(begun.due_at(), Some(later.plus(MINUTE)));
    }

    #[test]
    fn an_unapplied_payment_is_due() {
        let attention = Some(Attention::LatePayment);
        let late = Payment { is_applied: false, attention, ..captured() };
        assert_eq!(late.due_at(), Some(NOW.plus(MINUTE)));
    }
}
