//! The state machine of a payment: pure transitions that only go forward.

mod change;
mod disputes;
mod refunds;

use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

pub use change::{PaymentChange, Transition};
pub(crate) use disputes::disputed;

use super::{
    Action, Attention, MAX_RECORDS, Observed, ObservedState, Payment, PaymentAttempt,
    PaymentSource, PaymentStatus, Receipt,
};
use crate::payment::{Capabilities, can_count};

impl Payment {
    /// The payment at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        // The count of attempts starts anew with each piece of work.
        let (tries, tried_at) =
            if self.has_work() { (self.tries, self.tried_at) } else { (0, None) };
        let version = self.version.saturating_add(1);
        Self { updated_at: now, version, tries, tried_at, ..self.clone() }
    }

    /// Merges a provider's report into the payment. Returns `None` if the report has nothing new.
    ///
    /// Ignored are outdated reports, because webhooks arrive late and out of order, and reports of other
    /// payments of the same provider's order: failed ones, duplicates that the provider refunded itself, and
    /// ones that are not ours to capture. Another amount than requested is recorded and marked
    /// ([`Attention::AmountMismatch`]); it is not applied until the merchant accepts it.
    ///
    /// # Errors
    /// `amount_mismatch`: the amount is missing, zero or of another currency, and cannot be recorded.
    pub fn observe(
        &self,
        observed: &Observed,
        source: PaymentSource,
        now: Timestamp,
    ) -> Result<Option<PaymentChange>, Problem> {
        use PaymentStatus::{Authorized, Captured, PartiallyRefunded, Processing, Voided};
        let is_unpaid = self.is_open() || self.status == Processing;
        match observed.state {
            ObservedState::Processing if self.is_open() && !self.has_outlived(observed, source) => {
                Ok(Some(self.processing(observed, now)))
            }
            ObservedState::Failed if self.is_open() || self.is_returned(observed, source) => {
                Ok(self.failed(observed, source, now))
            }
            ObservedState::Authorized
                if is_unpaid
                    || self.is_authorized_anew(observed)
                    || self.has_other_carrier(observed, source) =>
            {
                self.authorized_as(observed, source, now).map(Some)
            }
            ObservedState::Captured if is_unpaid || matches!(self.status, Authorized | Voided) => {
                self.captured_as(observed, source, now).map(Some)
            }
            ObservedState::Captured if matches!(self.status, Captured | PartiallyRefunded) => {
                let is_ours = self.is_carried_by(observed.provider_payment.as_deref());
                Ok(is_ours.then(|| self.externally_refunded(observed, source, now)).flatten())
            }
            ObservedState::Voided if is_unpaid => Ok(Some(self.voided(observed, source, now))),
            ObservedState::Voided
                if self.status == Authorized
                    && self.is_carried_by(observed.provider_payment.as_deref()) =>
            {
                Ok(Some(self.voided(observed, source, now)))
            }
            _ => Ok(None),
        }
    }

    /// Whether this provider's payment is the one of this payment. It is if either of the ids is missing.
    pub(crate) fn is_carried_by(&self, carrier: Option<&str>) -> bool {
        let known = self.provider_payment.as_deref();
        known.zip(carrier).is_none_or(|(known, carrier)| known == carrier)
    }

    /// Whether another payment of the provider's order holds the authorization now. Only a response of the
    /// provider shows that the first one no longer does; an event is about one payment alone.
    fn has_other_carrier(&self, observed: &Observed, source: PaymentSource) -> bool {
        self.status == PaymentStatus::Authorized
            && source != PaymentSource::Webhook
            && !self.is_carried_by(observed.provider_payment.as_deref())
    }

    fn attempt(
        &self,
        action: Action,
        amount: &Money,
        source: PaymentSource,
        now: Timestamp,
    ) -> PaymentAttempt {
        PaymentAttempt {
            action,
            succeeded: true,
            amount: amount.clone(),
            provider_payment: self.provider_payment.clone(),
            failure_code: None,
            source,
            at: now,
        }
    }

    /// Records an attempt that failed, or whose result is unknown.
    pub(super) fn record_failure(
        &mut self,
        action: Action,
        amount: &Money,
        code: &str,
        now: Timestamp,
    ) {
        let failure_code = Some(code.to_owned());
        let attempt = self.attempt(action, amount, PaymentSource::Admin, now);
        self.record(PaymentAttempt { succeeded: false, failure_code, ..attempt });
    }

    fn record(&mut self, attempt: PaymentAttempt) {
        self.attempts.push(attempt);
        let excess = self.attempts.len().saturating_sub(MAX_RECORDS);
        self.attempts.drain(..excess);
    }

    fn receipt(&mut self, action: Action, amount: &Money, reference: &str, now: Timestamp) {
        let (amount, provider_reference) = (amount.clone(), reference.to_owned());
        self.receipts.push(Receipt { action, amount, provider_reference, at: now });
        let excess = self.receipts.len().saturating_sub(MAX_RECORDS);
        self.receipts.drain(..excess);
    }

    /// Sets the provider's id of the payment, and its method.
    fn with_carrier(&self, observed: &Observed, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        next.provider_payment = observed.provider_payment.clone().or(next.provider_payment);
        next.method = observed.method.clone().or(next.method);
        next
    }

    /// Whether a webhook reports that an attempt is processed which has failed since: webhooks arrive late.
    fn has_outlived(&self, observed: &Observed, source: PaymentSource) -> bool {
        let is_of_attempt = |attempt: &PaymentAttempt| {
            !attempt.succeeded
                && attempt.action == Action::Authorize
                && attempt.provider_payment == observed.provider_payment
        };
        source == PaymentSource::Webhook
            && observed.provider_payment.is_some()
            && self.attempts.iter().any(is_of_attempt)
    }

    /// Whether a failure is that of the payment which is processed. A late webhook may report an earlier
    /// attempt, so a webhook has to name the payment; a response of the provider is about its present state.
    fn is_returned(&self, observed: &Observed, source: PaymentSource) -> bool {
        let is_named =
            self.provider_payment.is_none() || self.provider_payment == observed.provider_payment;
        self.status == PaymentStatus::Processing && (source != PaymentSource::Webhook || is_named)
    }

    /// Marks the payment as processed by its provider. Its order waits for that.
    fn processing(&self, observed: &Observed, now: Timestamp) -> PaymentChange {
        let mut next = self.with_carrier(observed, now);
        next.status = PaymentStatus::Processing;
        PaymentChange::of(next, Transition::Processing)
    }

    /// Records a failed attempt, once.
    fn failed(
        &self,
        observed: &Observed,
        source: PaymentSource,
        now: Timestamp,
    ) -> Option<PaymentChange> {
        let mut next = self.with_carrier(observed, now);
        let attempt = PaymentAttempt {
            succeeded: false,
            failure_code: observed.failure_code.clone(),
            ..next.attempt(Action::Authorize, &self.amount, source, now)
        };
        let known = self.attempts.iter().any(|before| {
            !before.succeeded
                && before.action == attempt.action
                && before.provider_payment == attempt.provider_payment
                && before.failure_code == attempt.failure_code
        });
        if known && self.is_open() {
            return None;
        }
        next.record(attempt);
        next.status = PaymentStatus::Failed;
        Some(PaymentChange::of(next, Transition::Failed))
    }

    fn authorized_as(
        &self,
        observed: &Observed,
        source: PaymentSource,
        now: Timestamp,
    ) -> Result<PaymentChange, Problem> {
        let amount = self.countable(observed)?;
        let mut next = self.with_carrier(observed, now);
        next.record(next.attempt(Action::Authorize, &amount, source, now));
        let matches_request = amount == self.amount;
        next.mark_mismatch(!matches_request);
        next.authorized = amount;
        next.status = PaymentStatus::Authorized;
        Ok(PaymentChange::of(
            next,
            if matches_request { Transition::Authorized } else { Transition::Mismatched },
        ))
    }

    /// The reported amount, if it is positive and in the currency of the payment.
    fn countable(&self, observed: &Observed) -> Result<Money, Problem> {
        let is_ours = |amount: &Money| amount.currency == self.amount.currency && !amount.is_zero();
        observed.amount.clone().filter(is_ours).ok_or_else(|| Code::AmountMismatch.into())
    }

    /// Whether a captured amount matches the requested one. A smaller one matches only if the merchant chose
    /// to capture less; the limit is then the authorized amount, which may itself differ from the requested
    /// one.
    fn matches_requested(&self, amount: &Money, source: PaymentSource) -> bool {
        let is_within = |limit: &Money| limit.minus(amount).is_some();
        *amount == self.amount
            || (self.capture_method == super::CaptureMethod::Manual && is_within(&self.amount))
            || (source == PaymentSource::Admin && is_within(&self.authorized))
    }

    /// Marks a mismatched amount for the merchant's decision, or removes the mark.
    fn mark_mismatch(&mut self, is_other_amount: bool) {
        if is_other_amount {
            self.attention = Some(Attention::AmountMismatch);
        } else if self.attention == Some(Attention::AmountMismatch) {
            self.attention = None;
        }
    }

    /// Records a capture, with refunds since then.
    fn captured_as(
        &self,
        observed: &Observed,
        source: PaymentSource,
        now: Timestamp,
    ) -> Result<PaymentChange, Problem> {
        let amount = self.countable(observed)?;
        let mut next = self.with_carrier(observed, now);
        let matches_request = self.matches_requested(&amount, source);
        next.mark_mismatch(!matches_request);
        next.record(next.attempt(Action::Capture, &amount, source, now));
        let reference = next.provider_payment.clone();
        let reference = reference.unwrap_or_else(|| next.provider_reference.clone());
        next.receipt(Action::Capture, &amount, &reference, now);
        if next.authorized.is_zero() {
            next.authorized = amount.clone();
        }
        next.captured = amount;
        next.status = PaymentStatus::Captured;
        let has_gone_back = next.count_external_refund(observed, source, now);
        let happened = if matches_request { Transition::Captured } else { Transition::Mismatched };
        Ok(PaymentChange { has_gone_back, ..PaymentChange::of(next, happened) })
    }

    /// Whether a voided payment has a new authorization, where its provider allows one. Elsewhere a reported
    /// authorization is the voided one: it stays at a provider that cancels nothing, or the report is late.
    fn is_authorized_anew(&self, observed: &Observed) -> bool {
        self.status == PaymentStatus::Voided
            && Capabilities::of(self.provider).authorizes_anew
            && observed.provider_payment.is_some()
            && observed.provider_payment != self.provider_payment
    }

    fn voided(&self, observed: &Observed, source: PaymentSource, now: Timestamp) -> PaymentChange {
        let mut next = self.with_carrier(observed, now);
        next.record(next.attempt(Action::Void, &self.amount, source, now));
        next.authorized = Money::zero(&self.amount.currency);
        next.mark_mismatch(false);
        next.status = PaymentStatus::Voided;
        PaymentChange::of(next, Transition::Voided)
    }

    /// Marks the payment with a reason for attention; returns `None` if it has that mark already.
    pub fn flagged(&self, why: Attention, now: Timestamp) -> Option<Self> {
        let next = Self { attention: Some(why), ..self.changed(now) };
        (self.attention != Some(why)).then_some(next)
    }

    /// The most that can be captured now; none if it cannot be captured.
    fn capture_limit(&self) -> Option<&Money> {
        match (Capabilities::of(self.provider).is_online, self.status) {
            (_, PaymentStatus::Authorized) => Some(&self.authorized),
            // Cash is not authorized: the merchant captures it on receipt.
            (false, PaymentStatus::Created | PaymentStatus::Failed) => Some(&self.amount),
            _ => None,
        }
    }

    /// The amount to capture for a request of `wanted`, by default all.
    ///
    /// # Errors
    /// `not_capturable`, `amount_exceeds_authorized`; a field error of `/amount` if it is zero or the
    /// provider does not support it.
    pub fn capturable(&self, wanted: Option<&Money>) -> Result<Money, Problem> {
        let limit = self.capture_limit().ok_or_else(|| {
            let current = Code::NotCapturable.with("current", self.status.as_str());
            current.with("allowed_actions", self.allowed_actions())
        })?;
        let wanted = wanted.unwrap_or(limit);
        let left = limit.minus(wanted);
        let left =
            left.ok_or_else(|| Code::AmountExceedsAuthorized.with("authorized", limit.amount))?;
        let error = if wanted.is_zero() {
            ("out_of_range", "Must be greater than 0.")
        } else if !Capabilities::of(self.provider).captures_in_part && !left.is_zero() {
            ("not_supported", "The provider captures only the whole authorized amount.")
        } else if !can_count(self.provider, wanted) {
            ("not_supported", "The provider does not support this amount of this currency.")
        } else {
            return Ok(wanted.clone());
        };
        Err(Problem::field("/amount", error.0, error.1))
    }

    /// Ensures that the payment can be voided.
    ///
    /// # Errors
    /// `invalid_state_transition`: it was captured or voided.
    pub fn ensure_voidable(&self) -> Result<(), Problem> {
        if self.may_yet_be_captured() {
            return Ok(());
        }
        Err(Problem::state(self.status.as_str(), &self.allowed_actions()))
    }

    /// The actions that its state allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let mut actions = Vec::new();
        if self.capture_limit().is_some() {
            actions.push("capture");
        }
        if self.may_yet_be_captured() {
            actions.push("void");
        }
        if self.is_acceptable() {
            actions.push("accept");
        }
        if !self.refundable().is_zero() {
            actions.push("refund");
        }
        if Capabilities::of(self.provider).is_online {
            actions.push("sync");
        }
        actions
    }
}
