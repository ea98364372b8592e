//! What becomes of a payment: pure transitions that only go forward.

mod disputes;
mod refunds;

use core_types::event::Topic;
use core_types::money::Money;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::Write;

pub(crate) use disputes::disputed;

use super::{
    Action, Attention, MAX_RECORDS, Observed, ObservedState, Payment, PaymentAttempt,
    PaymentStatus, PaymentView, Receipt, Source,
};
use crate::payment::{
    PAYMENT_AUTHORIZED, PAYMENT_CAPTURED, PAYMENT_FAILED, PAYMENT_REFUNDED, PAYMENT_VOIDED,
    can_count,
};

/// What happened to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The customer agreed; the money is held.
    Authorized,
    /// The money was taken.
    Captured,
    /// Money was held or taken, but not what was asked for.
    Mismatched,
    /// An attempt failed.
    Failed,
    /// It was given up.
    Voided,
    /// Money went back.
    Refunded,
    /// The provider rejected to refund.
    RefundFailed,
    /// Money is to go back, and reserved for that.
    RefundBegun,
    /// The provider will refund the money, and says so when it has.
    RefundAwaited,
    /// The merchant took another amount than was asked for.
    Accepted,
    /// Its order was paid without it.
    Superseded,
    /// A dispute of it changed, or evidence for one is on its way.
    Disputed,
}

/// A payment at its next version, and what happened to it.
#[derive(Debug, Clone)]
pub struct PaymentChange {
    /// The payment as it is to be written; new, when its version is 1.
    pub payment: Payment,
    /// What happened.
    pub transition: Transition,
    /// Whether money that was taken has gone back already, directly at the provider: who learns
    /// of a capture late learns of both at once.
    pub has_gone_back: bool,
}

impl PaymentChange {
    /// This happened to the payment, and nothing else.
    pub fn of(payment: Payment, transition: Transition) -> Self {
        Self { payment, transition, has_gone_back: false }
    }

    /// What is announced.
    pub fn topic(&self) -> Option<&'static Topic<PaymentView>> {
        match self.transition {
            Transition::Authorized => Some(&PAYMENT_AUTHORIZED),
            Transition::Mismatched if self.payment.captured.is_zero() => Some(&PAYMENT_AUTHORIZED),
            Transition::Captured | Transition::Mismatched => Some(&PAYMENT_CAPTURED),
            Transition::Failed => Some(&PAYMENT_FAILED),
            Transition::Voided => Some(&PAYMENT_VOIDED),
            Transition::Refunded => Some(&PAYMENT_REFUNDED),
            Transition::RefundFailed
            | Transition::RefundBegun
            | Transition::RefundAwaited
            | Transition::Accepted
            | Transition::Superseded
            | Transition::Disputed => None,
        }
    }

    /// Adds the payment and what is announced of it to a transaction.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let event = |topic| self.payment.event(topic, now);
        let gone_back = self.has_gone_back.then_some(&PAYMENT_REFUNDED);
        let write = match self.payment.version {
            1 => write.create(&self.payment, Code::VersionConflict),
            _ => write.replace(&self.payment, Code::VersionConflict),
        };
        write.also(self.topic().map(event), Write::emit).also(gone_back.map(event), Write::emit)
    }
}

impl Payment {
    /// The payment at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        // What is begun now has not been tried yet.
        let (tries, tried_at) =
            if self.has_work() { (self.tries, self.tried_at) } else { (0, None) };
        let version = self.version.saturating_add(1);
        Self { updated_at: now, version, tries, tried_at, ..self.clone() }
    }

    /// The payment with what a provider says about it; `None` when that says nothing new. What is
    /// older than what is known says nothing new: webhooks come late and out of order. Neither does
    /// what another payment of the same provider's order has come to: one that failed, that was
    /// made twice and went back by itself, or that is not ours to capture.
    ///
    /// Another amount than was asked for is recorded and marked ([`Attention::AmountMismatch`]); it
    /// is not applied until the merchant accepts it.
    ///
    /// # Errors
    /// `amount_mismatch`: an amount that cannot be recorded, being of another currency.
    pub fn observe(
        &self,
        observed: &Observed,
        source: Source,
        now: Timestamp,
    ) -> Result<Option<PaymentChange>, Problem> {
        use PaymentStatus::{Authorized, Captured, Created, Failed, PartiallyRefunded, Voided};
        let waits = matches!(self.status, Created | Failed);
        match observed.state {
            ObservedState::Failed if waits => Ok(self.failed(observed, source, now)),
            ObservedState::Authorized
                if waits
                    || self.is_authorized_anew(observed)
                    || self.is_carried_anew(observed, source) =>
            {
                self.authorized_as(observed, source, now).map(Some)
            }
            ObservedState::Captured if waits || matches!(self.status, Authorized | Voided) => {
                self.captured_as(observed, source, now).map(Some)
            }
            ObservedState::Captured if matches!(self.status, Captured | PartiallyRefunded) => {
                let is_ours = self.is_carried_by(observed.provider_payment.as_deref());
                Ok(is_ours.then(|| self.externally_refunded(observed, source, now)).flatten())
            }
            ObservedState::Voided if waits => Ok(Some(self.voided(observed, source, now))),
            ObservedState::Voided
                if self.status == Authorized
                    && self.is_carried_by(observed.provider_payment.as_deref()) =>
            {
                Ok(Some(self.voided(observed, source, now)))
            }
            _ => Ok(None),
        }
    }

    /// Whether this is what carries its money, to the provider; what names nothing is not told
    /// apart.
    pub(crate) fn is_carried_by(&self, carrier: Option<&str>) -> bool {
        let known = self.provider_payment.as_deref();
        known.zip(carrier).is_none_or(|(known, carrier)| known == carrier)
    }

    /// Whether another payment of the provider's order holds the authorization now. Only who asks
    /// the provider learns that the first does not any more; an event tells of one alone.
    fn is_carried_anew(&self, observed: &Observed, source: Source) -> bool {
        self.status == PaymentStatus::Authorized
            && source != Source::Webhook
            && !self.is_carried_by(observed.provider_payment.as_deref())
    }

    fn attempt(
        &self,
        action: Action,
        amount: &Money,
        source: Source,
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

    /// Records something that was tried, and may not have worked.
    pub(super) fn record_failure(
        &mut self,
        action: Action,
        amount: &Money,
        code: &str,
        now: Timestamp,
    ) {
        let failure_code = Some(code.to_owned());
        let attempt = self.attempt(action, amount, Source::Admin, now);
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

    /// The payment with the provider's references of what carries the money.
    fn carried(&self, observed: &Observed, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        next.provider_payment = observed.provider_payment.clone().or(next.provider_payment);
        next.method = observed.method.clone().or(next.method);
        next
    }

    /// A failed attempt; told twice, it says nothing new.
    fn failed(&self, observed: &Observed, source: Source, now: Timestamp) -> Option<PaymentChange> {
        let mut next = self.carried(observed, now);
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
        if known {
            return None;
        }
        next.record(attempt);
        next.status = PaymentStatus::Failed;
        Some(PaymentChange::of(next, Transition::Failed))
    }

    fn authorized_as(
        &self,
        observed: &Observed,
        source: Source,
        now: Timestamp,
    ) -> Result<PaymentChange, Problem> {
        let amount = self.countable(observed)?;
        let mut next = self.carried(observed, now);
        next.record(next.attempt(Action::Authorize, &amount, source, now));
        let fits = amount == self.amount;
        next.mark_mismatch(!fits);
        next.authorized = amount;
        next.status = PaymentStatus::Authorized;
        Ok(PaymentChange::of(
            next,
            if fits { Transition::Authorized } else { Transition::Mismatched },
        ))
    }

    /// The amount that a provider has seen, if it is one of this payment's currency.
    fn countable(&self, observed: &Observed) -> Result<Money, Problem> {
        let is_ours = |amount: &Money| amount.currency == self.amount.currency && !amount.is_zero();
        observed.amount.clone().filter(is_ours).ok_or_else(|| Code::AmountMismatch.into())
    }

    /// Whether so much is what was asked for. Less is right only where somebody chose to take less:
    /// when a merchant captures what was authorized, which may itself not be what was asked for.
    fn is_asked_for(&self, amount: &Money, source: Source) -> bool {
        let is_within = |limit: &Money| limit.minus(amount).is_some();
        *amount == self.amount
            || (self.capture_method == super::CaptureMethod::Manual && is_within(&self.amount))
            || (source == Source::Admin && is_within(&self.authorized))
    }

    /// Marks what the merchant has to decide about, or takes the mark away.
    fn mark_mismatch(&mut self, is_other_amount: bool) {
        if is_other_amount {
            self.attention = Some(Attention::AmountMismatch);
        } else if self.attention == Some(Attention::AmountMismatch) {
            self.attention = None;
        }
    }

    /// The money was taken; some of it may have gone back since.
    fn captured_as(
        &self,
        observed: &Observed,
        source: Source,
        now: Timestamp,
    ) -> Result<PaymentChange, Problem> {
        let amount = self.countable(observed)?;
        let mut next = self.carried(observed, now);
        let fits = self.is_asked_for(&amount, source);
        next.mark_mismatch(!fits);
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
        let happened = if fits { Transition::Captured } else { Transition::Mismatched };
        Ok(PaymentChange { has_gone_back, ..PaymentChange::of(next, happened) })
    }

    /// Whether a payment that was given up holds money again: an authorization that was not there
    /// then. An authorization that was given up lives on at a provider that cancels nothing, and is
    /// told late by others; but who pays an order of Razorpay's anew has authorized anew.
    fn is_authorized_anew(&self, observed: &Observed) -> bool {
        self.status == PaymentStatus::Voided
            && self.provider == ProviderName::Razorpay
            && observed.provider_payment.is_some()
            && observed.provider_payment != self.provider_payment
    }

    fn voided(&self, observed: &Observed, source: Source, now: Timestamp) -> PaymentChange {
        let mut next = self.carried(observed, now);
        next.record(next.attempt(Action::Void, &self.amount, source, now));
        next.authorized = Money::zero(&self.amount.currency);
        next.mark_mismatch(false);
        next.status = PaymentStatus::Voided;
        PaymentChange::of(next, Transition::Voided)
    }

    /// The payment marked for somebody to look at; `None` when it is.
    pub fn flagged(&self, why: Attention, now: Timestamp) -> Option<Self> {
        let next = Self { attention: Some(why), ..self.changed(now) };
        (self.attention != Some(why)).then_some(next)
    }

    /// How much can be taken now, if anything.
    fn capture_limit(&self) -> Option<&Money> {
        match (self.provider, self.status) {
            (_, PaymentStatus::Authorized) => Some(&self.authorized),
            // Nobody authorizes cash: the merchant says that it is there.
            (ProviderName::Manual, PaymentStatus::Created | PaymentStatus::Failed) => {
                Some(&self.amount)
            }
            _ => None,
        }
    }

    /// How much a merchant who asks for `wanted` may take now.
    ///
    /// # Errors
    /// `not_capturable`, `amount_exceeds_authorized`; a fault of `/amount` when the provider takes
    /// no such part.
    pub fn capturable(&self, wanted: Option<&Money>) -> Result<Money, Problem> {
        let limit = self.capture_limit().ok_or_else(|| {
            let current = Code::NotCapturable.with("current", self.status.as_str());
            current.with("allowed_actions", self.allowed_actions())
        })?;
        let wanted = wanted.unwrap_or(limit);
        let left = limit.minus(wanted);
        let left =
            left.ok_or_else(|| Code::AmountExceedsAuthorized.with("authorized", limit.amount))?;
        let fault = if wanted.is_zero() {
            ("out_of_range", "Must be more than nothing.")
        } else if self.provider == ProviderName::Razorpay && !left.is_zero() {
            ("not_supported", "Razorpay takes all that is authorized, or nothing.")
        } else if !can_count(self.provider, wanted) {
            ("not_supported", "The provider does not take this amount of this currency.")
        } else {
            return Ok(wanted.clone());
        };
        Err(Problem::field("/amount", fault.0, fault.1))
    }

    /// # Errors
    /// `invalid_state_transition`: money was taken, or nothing is held any more.
    pub fn check_voidable(&self) -> Result<(), Problem> {
        if self.is_open() || self.status == PaymentStatus::Authorized {
            return Ok(());
        }
        Err(Problem::state(self.status.as_str(), &self.allowed_actions()))
    }

    /// The actions that its state allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let mut actions = Vec::new();
        if self.capture_limit().is_some() {
            actions.push("capture");
        }
        if self.is_open() || self.status == PaymentStatus::Authorized {
            actions.push("void");
        }
        if self.is_acceptable() {
            actions.push("accept");
        }
        if !self.refundable().is_zero() {
            actions.push("refund");
        }
        if self.provider != ProviderName::Manual {
            actions.push("sync");
        }
        actions
    }
}
