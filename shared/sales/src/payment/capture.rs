//! Captures: how much a merchant may take, and those that were never answered.

use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use ground::money::Money;

use super::{Action, Payment, PaymentStatus};
use crate::order::Order;

/// How much of a payment its merchant may take now: not more than its order is short of.
///
/// # Errors
/// `not_capturable`, `amount_exceeds_authorized`, `order_already_paid`; a fault of `/amount`.
pub fn capturable(
    payment: &Payment,
    order: &Order,
    wanted: Option<&Money>,
) -> Result<Money, Problem> {
    if order.is_over() {
        let current = Code::NotCapturable.with("current", payment.status.as_str());
        return Err(current.with("order_status", order.status.as_str()));
    }
    let amount = payment.capturable(wanted)?;
    let outstanding = order.outstanding();
    // Two ways to pay one order may both have been begun.
    if outstanding.is_zero() {
        return Err(Code::OrderAlreadyPaid.into());
    }
    match (outstanding.minus(&amount), wanted) {
        (Some(_), _) => Ok(amount),
        (None, None) => payment.capturable(Some(&outstanding)),
        (None, Some(_)) => {
            let detail = "Must be at most what is left to pay for the order.";
            Err(Problem::field("/amount", "out_of_range", detail))
        }
    }
}

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
    use crate::payment::tests::{NOW, after, open, seen};
    use ground::money;

    #[test]
    fn a_capture_without_an_answer_is_remembered_as_one_that_may_have_worked() {
        let held = after(&open(), &seen(ObservedState::Authorized, 129_900));
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
        let taken = after(&open(), &seen(ObservedState::Captured, 129_900));
        let failed = after(&open(), &seen(ObservedState::Failed, 0));
        for payment in [taken, failed, open()] {
            assert!(!payment.has_unanswered_capture(), "{:?}", payment.status);
            assert!(payment.capture_unanswered(&money::sample(1), "timeout", NOW).is_none());
        }
    }
}
