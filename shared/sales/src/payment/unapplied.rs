//! Unapplied payments: late or duplicate payments, which are not applied to their order.

use core_types::id::RefundId;
use core_types::money::Money;
use primitives::clock::Timestamp;

use super::{
    Attention, Payment, PaymentChange, PaymentRefund, PaymentStatus, RefundState, Transition,
};
use crate::order::refund::{Refund, RefundReason, RefundStatus, RefundTransaction};

impl Payment {
    /// Marks an authorization as a duplicate, because its order was paid by other means.
    pub(crate) fn superseded(&self, now: Timestamp) -> PaymentChange {
        let attention = Some(Attention::DuplicatePayment);
        let next = Self { attention, is_applied: false, ..self.changed(now) };
        PaymentChange::of(next, Transition::Superseded)
    }

    /// Whether it is unapplied and still has to be voided or refunded. If the provider rejects that, it is
    /// left to the merchant.
    pub(crate) fn is_to_go_back(&self) -> bool {
        let late =
            matches!(self.attention, Some(Attention::LatePayment | Attention::DuplicatePayment));
        let held = self.status == PaymentStatus::Authorized
            || matches!(self.status, PaymentStatus::Captured | PaymentStatus::PartiallyRefunded);
        let rejected = self.state_of(&self.unapplied_refund()) == Some(RefundState::Failed);
        // A disputed amount cannot be refunded until the dispute is won.
        let is_withheld = !self.disputed().is_zero() && self.refundable().is_zero();
        late && held && !self.is_applied && !rejected && !is_withheld
    }

    /// The id of the refund of an unapplied payment, the same for each attempt. After it has succeeded, an
    /// amount that became refundable again (because another refund failed) gets the next id.
    pub(crate) fn unapplied_refund(&self) -> RefundId {
        // Among one more id than there are refunds, at least one has not succeeded.
        let ids = (0..self.refunds.len()).map(|nth| self.nth_unapplied_refund(nth));
        let mut ids = ids.filter(|id| self.state_of(id) != Some(RefundState::Succeeded));
        ids.next().unwrap_or_else(|| self.nth_unapplied_refund(self.refunds.len()))
    }

    fn nth_unapplied_refund(&self, nth: usize) -> RefundId {
        // `surplus` is part of ids that are in use.
        RefundId::derive(&[self.id.as_str(), "surplus", &nth.to_string()])
    }

    /// Whether this is a refund that began by itself, because the payment is unapplied.
    pub(super) fn is_unapplied_refund(&self, id: &RefundId) -> bool {
        (0..=self.refunds.len()).any(|nth| self.nth_unapplied_refund(nth) == *id)
    }

    /// A refund of it that its order has no refund for, in the form of a refund of the order.
    pub fn refund_of_unapplied(&self, entry: &PaymentRefund) -> Refund {
        let status = match entry.status {
            RefundState::Pending => RefundStatus::Pending,
            RefundState::Succeeded => RefundStatus::Succeeded,
            RefundState::Failed => RefundStatus::Failed,
        };
        Refund {
            id: entry.id.clone(),
            store_id: self.store_id.clone(),
            order_id: self.order_id.clone(),
            status,
            amount: entry.amount.clone(),
            items: Vec::new(),
            shipping: Money::zero(&entry.amount.currency),
            shipping_tax_lines: Vec::new(),
            restocking_fee: None,
            transactions: vec![RefundTransaction {
                gift_card_id: None,
                payment_id: Some(self.id.clone()),
                manual: false,
                amount: entry.amount.clone(),
                status,
                failure_code: entry.failure_code.clone(),
            }],
            reason: RefundReason::Other,
            note: None,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            version: entry.version,
        }
    }

    /// Whether another refund of it is pending, which may still fail.
    pub(crate) fn is_going_back_otherwise(&self) -> bool {
        let ours = self.unapplied_refund();
        let mut others = self.refunds.iter().filter(|refund| refund.id != ours);
        others.any(|refund| refund.status == RefundState::Pending)
    }

    fn state_of(&self, id: &RefundId) -> Option<RefundState> {
        self.refund(id).map(|refund| refund.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispute::DisputeStatus;
    use crate::payment::PaymentDispute;
    use crate::payment::tests::{NOW, open};
    use core_types::id::DisputeId;
    use core_types::money;

    fn with(authorized: i64, captured: i64) -> Payment {
        let (authorized, captured) = (money::sample(authorized), money::sample(captured));
        Payment { authorized, captured, ..open() }
    }

    fn late(status: PaymentStatus, refunds: Vec<PaymentRefund>) -> Payment {
        Payment { attention: Some(Attention::LatePayment), status, refunds, ..with(100, 100) }
    }

    fn refund(id: RefundId, status: RefundState) -> PaymentRefund {
        PaymentRefund {
            id,
            amount: money::sample(100),
            status,
            provider_reference: None,
            failure_code: None,
            created_at: NOW,
            updated_at: NOW,
            version: 1,
        }
    }

    #[test]
    fn an_unapplied_payment_is_refunded_unless_that_was_rejected() {
        use PaymentStatus::{Authorized, Captured, Created, PartiallyRefunded, Refunded, Voided};
        for status in [Authorized, Captured, PartiallyRefunded] {
            assert!(late(status, Vec::new()).is_to_go_back(), "{status:?}");
        }
        for status in [Created, Voided, Refunded] {
            assert!(!late(status, Vec::new()).is_to_go_back(), "{status:?}");
        }
        let held = late(Captured, Vec::new());
        assert!(!Payment { is_applied: true, ..held.clone() }.is_to_go_back());
        assert!(!Payment { attention: None, ..held.clone() }.is_to_go_back());
        let mismatch = Some(Attention::AmountMismatch);
        assert!(!Payment { attention: mismatch, ..held.clone() }.is_to_go_back());
        let first = held.unapplied_refund();
        let rejected = late(Captured, vec![refund(first.clone(), RefundState::Failed)]);
        assert_eq!(rejected.unapplied_refund(), first);
        assert!(!rejected.is_to_go_back(), "left to the merchant");
    }

    #[test]
    fn an_amount_that_is_refundable_again_gets_another_refund() {
        let of = |refunds: Vec<PaymentRefund>| late(PaymentStatus::Captured, refunds);
        let first = of(Vec::new()).unapplied_refund();
        let done = refund(first.clone(), RefundState::Succeeded);
        let second = of(vec![done.clone()]).unapplied_refund();
        assert_ne!(second, first);
        let again = refund(second.clone(), RefundState::Succeeded);
        let third = of(vec![done.clone(), again]).unapplied_refund();
        assert!(third != first && third != second);
        assert_eq!(of(vec![refund(first.clone(), RefundState::Pending)]).unapplied_refund(), first);
    }

    #[test]
    fn another_pending_refund_is_recognized() {
        let of = |id: RefundId, status| {
            let refunds = vec![refund(id, status)];
            late(PaymentStatus::Captured, refunds).is_going_back_otherwise()
        };
        let (ours, other) = (open().unapplied_refund(), RefundId::derive(&["other"]));
        assert!(of(other.clone(), RefundState::Pending));
        assert!(!of(other.clone(), RefundState::Succeeded) && !of(other, RefundState::Failed));
        assert!(!of(ours, RefundState::Pending));
    }

    #[test]
    fn a_superseded_authorization_is_a_duplicate() {
        let superseded = Payment { is_applied: true, ..with(100, 0) }.superseded(NOW).payment;
        assert_eq!(superseded.attention, Some(Attention::DuplicatePayment));
        assert!(!superseded.is_applied);
    }

    #[test]
    fn an_unapplied_payment_is_refunded_when_its_dispute_is_won() {
        let disputed = |status, held| {
            let id = DisputeId::derive(&["a"]);
            let dispute = PaymentDispute { id, status, held: money::sample(held), evidence: None };
            Payment { disputes: vec![dispute], ..late(PaymentStatus::Captured, Vec::new()) }
        };
        let all = disputed(DisputeStatus::UnderReview, 100);
        assert!(!all.is_to_go_back() && all.needs_provider(), "it is asked about, and no more");
        assert!(!disputed(DisputeStatus::Lost, 100).is_to_go_back());
        assert!(disputed(DisputeStatus::UnderReview, 40).is_to_go_back(), "the rest can");
        assert!(disputed(DisputeStatus::Won, 0).is_to_go_back());
    }
}
