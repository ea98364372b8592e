//! Another amount than was asked for: the merchant takes it as a part of what is due, or gives it
//! back.

use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::Problem;

use super::{Attention, Payment, PaymentStatus};

impl Payment {
    /// Whether the provider holds or has taken another amount than was asked for, and the merchant
    /// has not said what is to become of it.
    pub fn awaits_decision(&self) -> bool {
        let is_there = matches!(
            self.status,
            PaymentStatus::Authorized | PaymentStatus::Captured | PaymentStatus::PartiallyRefunded
        );
        is_there && !self.is_applied && self.attention == Some(Attention::AmountMismatch)
    }

    /// Whether it can be taken as a part of what is due: not while some of it may be on its way
    /// back, nor while a dispute holds some of it or has taken it.
    pub fn is_acceptable(&self) -> bool {
        let is_whole = self.pending().is_zero() && self.disputed().is_zero();
        self.awaits_decision() && is_whole && !self.refundable().is_zero()
    }

    /// The payment as a part of what is due, and how much that is: what has not gone back.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub(crate) fn accepted(&self, now: Timestamp) -> Result<(Self, Money), Problem> {
        if !self.is_acceptable() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        let next = Self { is_applied: true, attention: None, ..self.changed(now) };
        Ok((next, self.refundable()))
    }
}

#[cfg(test)]
mod tests {
    use primitives::problem::Code;

    use super::*;
    use crate::payment::ObservedState;
    use crate::payment::tests::{NOW, after, observed, open};
    use core_types::money;

    fn other_amount() -> Payment {
        after(&open(), &observed(ObservedState::Captured, 1_000))
    }

    #[test]
    fn another_amount_is_accepted_once_and_only_where_it_is_held() {
        let payment = other_amount();
        let (accepted, amount) = payment.accepted(NOW).unwrap();
        assert_eq!((accepted.is_applied, accepted.attention), (true, None));
        assert_eq!((accepted.version, amount), (payment.version + 1, money::sample(1_000)));
        assert_eq!(accepted.accepted(NOW).unwrap_err().code, Code::InvalidStateTransition);
        let asked_for = after(&open(), &observed(ObservedState::Captured, 129_900));
        assert!(!asked_for.awaits_decision() && !asked_for.is_acceptable());
        assert_eq!(asked_for.accepted(NOW).unwrap_err().code, Code::InvalidStateTransition);
        let given_up = Payment { status: PaymentStatus::Voided, ..payment };
        assert!(!given_up.awaits_decision());
    }

    #[test]
    fn nothing_is_accepted_while_some_of_it_may_be_on_its_way_back() {
        let id = core_types::id::RefundId::derive(&["a"]);
        let payment = other_amount();
        let going = payment.begin_refund(&id, &money::sample(400), NOW).unwrap();
        assert!(going.awaits_decision() && !going.is_acceptable());
        let gone = going.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
        let (_, amount) = gone.accepted(NOW).unwrap();
        assert_eq!(amount, money::sample(600), "what has not gone back");
    }
}
