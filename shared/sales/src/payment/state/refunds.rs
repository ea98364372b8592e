//! The refunds of a payment: reserved, requested at the provider, and completed.

use core_types::id::RefundId;
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::disputes::disputed;
use super::{PaymentChange, Transition};
use crate::payment::{
    Action, Attention, Observed, Payment, PaymentAttempt, PaymentRefund, PaymentSource,
    PaymentStatus, RefundState, ensure_countable,
};

impl Payment {
    /// The amount reserved for refunds that the provider has not confirmed.
    pub fn pending(&self) -> Money {
        let pending = self.refunds.iter().filter(|refund| refund.status == RefundState::Pending);
        Money::sum(pending.map(|refund| &refund.amount), &self.amount.currency)
            .unwrap_or_else(|| self.captured.clone())
    }

    /// The captured amount less refunds, pending ones included.
    pub fn unreturned(&self) -> Money {
        let left = self.captured.minus(&self.refunded).and_then(|l| l.minus(&self.pending()));
        left.unwrap_or_else(|| Money::zero(&self.amount.currency))
    }

    /// The amount that can still be refunded: the captured amount less refunds and disputed amounts.
    pub fn refundable(&self) -> Money {
        let left = self.unreturned().minus(&self.disputed());
        left.unwrap_or_else(|| Money::zero(&self.amount.currency))
    }

    /// Ensures that an amount can be refunded.
    ///
    /// # Errors
    /// `payment_disputed`, `refund_exceeds_captured`.
    pub fn ensure_refundable(&self, amount: &Money) -> Result<(), Problem> {
        let refundable = self.refundable();
        if !amount.is_zero() && refundable.minus(amount).is_some() {
            return Ok(());
        }
        if !amount.is_zero() && self.unreturned().minus(amount).is_some() {
            return Err(disputed(&refundable, &self.disputed()));
        }
        let refundable = serde_json::to_value(&refundable).unwrap_or_default();
        Err(Code::RefundExceedsCaptured.with("refundable", refundable))
    }

    /// Reserves `amount` for a refund: the first of three steps.
    ///
    /// # Errors
    /// `payment_not_captured`, `payment_disputed`, `refund_exceeds_captured`, `amount_not_supported`.
    pub fn begin_refund(
        &self,
        id: &RefundId,
        amount: &Money,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if self.captured.is_zero() {
            return Err(Code::PaymentNotCaptured.with("current", self.status.as_str()));
        }
        self.ensure_refundable(amount)?;
        ensure_countable(self.provider, amount)?;
        let mut next = self.changed(now);
        next.refunds.push(PaymentRefund {
            id: id.clone(),
            amount: amount.clone(),
            status: RefundState::Pending,
            provider_reference: None,
            failure_code: None,
            created_at: now,
            updated_at: now,
            version: 1,
        });
        Ok(next)
    }

    /// Records the result of a refund: the third step. Returns `None` if it is recorded already. `Ok` is the
    /// provider's id of the refund. `Err` is the provider's error code, and releases the reserved amount. A
    /// failure may follow a success, because a bank may return the money.
    pub fn finish_refund(
        &self,
        id: &RefundId,
        outcome: &Result<String, String>,
        now: Timestamp,
    ) -> Option<PaymentChange> {
        let mut next = self.changed(now);
        let refund = next.refunds.iter_mut().find(|refund| refund.id == *id)?;
        let before = refund.status;
        refund.updated_at = now;
        refund.version = refund.version.saturating_add(1);
        let amount = refund.amount.clone();
        let source = if self.is_unapplied_refund(id) {
            PaymentSource::Automatic
        } else {
            PaymentSource::Admin
        };
        let attempt = self.attempt(Action::Refund, &amount, source, now);
        match outcome {
            Ok(reference) if before == RefundState::Pending => {
                refund.status = RefundState::Succeeded;
                refund.provider_reference = Some(reference.clone());
                next.record(attempt);
                next.receipt(Action::Refund, &amount, reference, now);
                next.count_refunded(&amount);
                Some(PaymentChange::of(next, Transition::Refunded))
            }
            Err(code) if before != RefundState::Failed => {
                refund.status = RefundState::Failed;
                refund.failure_code = Some(code.clone());
                let failure_code = Some(code.clone());
                next.record(PaymentAttempt { succeeded: false, failure_code, ..attempt });
                if before == RefundState::Succeeded {
                    next.count_returned(&amount);
                }
                Some(PaymentChange::of(next, Transition::RefundFailed))
            }
            _ => None,
        }
    }

    /// Records that the provider has accepted a refund and will report its result. Returns `None` if that is
    /// recorded already.
    pub fn await_refund(
        &self,
        id: &RefundId,
        reference: &str,
        now: Timestamp,
    ) -> Option<PaymentChange> {
        let mut next = self.changed(now);
        let refund = next.refunds.iter_mut().find(|refund| refund.id == *id)?;
        let is_known = refund.status != RefundState::Pending
            || refund.provider_reference.as_deref() == Some(reference);
        if is_known {
            return None;
        }
        refund.updated_at = now;
        refund.version = refund.version.saturating_add(1);
        refund.provider_reference = Some(reference.to_owned());
        Some(PaymentChange::of(next, Transition::RefundAwaited))
    }

    /// Records a refund that was made directly at the provider, if the report has one.
    pub(super) fn externally_refunded(
        &self,
        observed: &Observed,
        source: PaymentSource,
        now: Timestamp,
    ) -> Option<PaymentChange> {
        let mut next = self.changed(now);
        next.count_external_refund(observed, source, now)
            .then(|| PaymentChange::of(next, Transition::Refunded))
    }

    /// Adds a refund that was made directly at the provider; returns whether there was one.
    pub(super) fn count_external_refund(
        &mut self,
        observed: &Observed,
        source: PaymentSource,
        now: Timestamp,
    ) -> bool {
        let Some((id, amount)) = self.external_refund(observed, source) else { return false };
        self.refunds.push(PaymentRefund {
            id,
            amount: amount.clone(),
            status: RefundState::Succeeded,
            provider_reference: None,
            failure_code: None,
            created_at: now,
            updated_at: now,
            version: 1,
        });
        let reference = self.provider_reference.clone();
        self.receipt(Action::Refund, &amount, &reference, now);
        self.count_refunded(&amount);
        true
    }

    /// The refunded amount that no refund of ours accounts for, with the id of a refund of it.
    fn external_refund(
        &self,
        observed: &Observed,
        source: PaymentSource,
    ) -> Option<(RefundId, Money)> {
        let observed = observed.refunded.clone()?;
        let ours = self.refunded.plus(&self.pending())?;
        // An event may be older than the failure of a refund that it includes.
        let ours =
            if source == PaymentSource::Webhook { ours.plus(&self.bounced())? } else { ours };
        let external = observed.minus(&ours).filter(|external| !external.is_zero())?;
        let id = RefundId::derive(&[self.id.as_str(), "elsewhere", &observed.amount.to_string()]);
        Some((id, external))
    }

    /// The amount of refunds that the provider accepted, and that failed later.
    fn bounced(&self) -> Money {
        let bounced = self.refunds.iter().filter(|refund| {
            refund.status == RefundState::Failed && refund.provider_reference.is_some()
        });
        Money::sum(bounced.map(|refund| &refund.amount), &self.amount.currency)
            .unwrap_or_else(|| self.captured.clone())
    }

    fn count_refunded(&mut self, amount: &Money) {
        self.refunded = self.refunded.plus(amount).unwrap_or_else(|| self.captured.clone());
        self.status = if self.refunded.amount >= self.captured.amount {
            PaymentStatus::Refunded
        } else {
            PaymentStatus::PartiallyRefunded
        };
        if self.status == PaymentStatus::Refunded && !self.is_applied {
            self.attention = None;
        }
    }

    /// Subtracts a refund that the bank returned.
    fn count_returned(&mut self, amount: &Money) {
        let zero = Money::zero(&self.amount.currency);
        self.refunded = self.refunded.minus(amount).unwrap_or(zero);
        if !self.is_applied {
            // The original reason was cleared with the refund, but it needs attention again.
            self.attention = self.attention.or(Some(Attention::LatePayment));
        }
        self.status = if self.refunded.is_zero() {
            PaymentStatus::Captured
        } else {
            PaymentStatus::PartiallyRefunded
        };
    }
}
