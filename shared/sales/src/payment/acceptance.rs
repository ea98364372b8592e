//! The merchant's decision on a payment of another amount than requested: accept it as a part of the amount
//! due, or refund it.

use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::Problem;

use super::{Attention, Payment, PaymentStatus};

impl Payment {
    /// Whether the provider has authorized or captured another amount than requested, and the merchant has
    /// not decided on it.
    pub fn awaits_decision(&self) -> bool {
        let is_held = matches!(
            self.status,
            PaymentStatus::Authorized | PaymentStatus::Captured | PaymentStatus::PartiallyRefunded
        );
        is_held && !self.is_applied && self.attention == Some(Attention::AmountMismatch)
    }

    /// Whether it can be accepted as a part of the amount due: not while a refund is pending, nor while a
    /// dispute holds or has taken some of it.
    pub fn is_acceptable(&self) -> bool {
        let is_whole = self.pending().is_zero() && self.disputed().is_zero();
        self.awaits_decision() && is_whole && !self.refundable().is_zero()
    }

    /// Accepts the payment as a part of the amount due, and returns the accepted amount: the captured amount
    /// less refunds.
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

    fn mismatched() -> Payment {
        after(&open(), &observed(ObservedState::Captured, 1_000))
    }

    #[test]
    fn another_amount_is_accepted_once_and_only_while_it_is_held() {
        let payment = mismatched();
        let (accepted, amount) = payment.accepted(NOW).unwrap();
        assert_eq!((accepted.is_applied, accepted.attention), (true, None));
        assert_eq!((accepted.version, amount), (payment.version + 1, money::sample(1_000)));
        assert_eq!(accepted.accepted(NOW).unwrap_err().code, Code::InvalidStateTransition);
        let requested = after(&open(), &observed(ObservedState::Captured, 129_900));
        assert!(!requested.awaits_decision() && !requested.is_acceptable());
        assert_eq!(requested.accepted(NOW).unwrap_err().code, Code::InvalidStateTransition);
        let voided = Payment { status: PaymentStatus::Voided, ..payment };
        assert!(!voided.awaits_decision());
    }

    #[test]
    fn nothing_is_accepted_while_a_refund_is_pending() {
        let id = core_types::id::RefundId::derive(&["a"]);
        let payment = mismatched();
        let pending = payment.begin_refund(&id, &money::sample(400), NOW).unwrap();
        assert!(pending.awaits_decision() && !pending.is_acceptable());
        let refunded = pending.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
        let (_, amount) = refunded.accepted(NOW).unwrap();
        assert_eq!(amount, money::sample(600), "what has not gone back");
    }
}
