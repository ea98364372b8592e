//! Captures without a response of the provider.

use core_types::money::Money;
use primitives::clock::Timestamp;

use super::{Action, Payment, PaymentStatus};

impl Payment {
    /// Whether a capture was requested without a response of the provider.
    pub(crate) fn has_unanswered_capture(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.action == Action::Capture && !attempt.succeeded)
    }

    /// Records a capture without a response; returns `None` if the payment is not authorized.
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
    fn a_capture_without_a_response_is_recorded() {
        let held = after(&open(), &observed(ObservedState::Authorized, 129_900));
        assert!(!held.has_unanswered_capture());
        let recorded = held.capture_unanswered(&money::sample(500), "timeout", NOW).unwrap();
        assert!(recorded.has_unanswered_capture());
        let attempt = recorded.attempts.last().unwrap();
        assert_eq!((attempt.action, attempt.succeeded), (Action::Capture, false));
        assert_eq!(attempt.failure_code.as_deref(), Some("timeout"));
        assert_eq!((recorded.status, recorded.version), (held.status, held.version + 1));
    }

    #[test]
    fn only_an_authorized_payment_has_an_unanswered_capture() {
        let captured = after(&open(), &observed(ObservedState::Captured, 129_900));
        let failed = after(&open(), &observed(ObservedState::Failed, 0));
        for payment in [captured, failed, open()] {
            assert!(!payment.has_unanswered_capture(), "{:?}", payment.status);
            assert!(payment.capture_unanswered(&money::sample(1), "timeout", NOW).is_none());
        }
    }
}
