//! Captures that were never answered.

use core_types::money::Money;
use primitives::clock::Timestamp;

use super::{Action, Payment, PaymentStatus};

impl Payment {
    /// Whether its provider was asked to take it, and did not say what came of that.
    pub(crate) fn has_unanswered_capture(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.action == Action::Capture && !attempt.succeeded)
    }

    /// The payment with a capture that was not answered; `None` when there is nothing to capture.
    pub(crate) fn capture_unanswered(
        &self,
        amount: &Money,
        code: &str,
        now: Timestamp,
    ) -> Option<Self> {
        (self.status == PaymentStatus::Authorized).then_some(())?;
        let mut next = self.changed(now);
        next.record_failure(Action::Capture, amount, code, now);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::ObservedState;
    use crate::payment::tests::{NOW, after, observed, open};
    use core_types::money;

    #[test]
    fn a_capture_without_an_answer_is_remembered_as_one_that_may_have_worked() {
        let held = after(&open(), &observed(ObservedState::Authorized, 129_900));
        assert!(!held.has_unanswered_capture());
        let noted = held.capture_unanswered(&money::sample(500), "timeout", NOW).unwrap();
        assert!(noted.has_unanswered_capture());
        let attempt = noted.attempts.last().unwrap();
        assert_eq!((attempt.action, attempt.succeeded), (Action::Capture, false));
        assert_eq!(attempt.failure_code.as_deref(), Some("timeout"));
        assert_eq!((noted.status, noted.version), (held.status, held.version + 1));
    }

    #[test]
    fn what_was_taken_or_failed_to_be_promised_is_no_capture_without_an_answer() {
        let taken = after(&open(), &observed(ObservedState::Captured, 129_900));
        let failed = after(&open(), &observed(ObservedState::Failed, 0));
        for payment in [taken, failed, open()] {
            assert!(!payment.has_unanswered_capture(), "{:?}", payment.status);
            assert!(payment.capture_unanswered(&money::sample(1), "timeout", NOW).is_none());
        }
    }
}
