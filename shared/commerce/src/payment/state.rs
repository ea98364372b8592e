//! What becomes of a payment: pure transitions that only go forward.

mod refunds;

use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::Write;

use super::{
    Action, Attempt, Attention, KEPT, Observed, ObservedState, Payment, PaymentStatus, PaymentView,
    ProviderName, Receipt, Source,
};
use crate::event::{
    PAYMENT_AUTHORIZED, PAYMENT_CAPTURED, PAYMENT_FAILED, PAYMENT_REFUNDED, PAYMENT_VOIDED, Topic,
};
use crate::money::Money;

/// What happened to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// The customer agreed; the money is held.
    Authorized,
    /// The money was taken.
    Captured,
    /// An attempt failed.
    Failed,
    /// It was given up.
    Voided,
    /// Money went back.
    Refunded,
    /// The provider refused to give money back.
    RefundFailed,
    /// The provider will give money back, and says so when it has.
    RefundAwaited,
}

/// A payment at its next version, and what happened to it.
#[derive(Debug, Clone)]
pub struct Step {
    /// The payment as it is to be written.
    pub payment: Payment,
    /// What happened.
    pub happened: Happened,
}

impl Step {
    fn of(payment: Payment, happened: Happened) -> Self {
        Self { payment, happened }
    }

    /// What is announced.
    pub fn topic(&self) -> Option<&'static Topic<PaymentView>> {
        match self.happened {
            Happened::Authorized => Some(&PAYMENT_AUTHORIZED),
            Happened::Captured => Some(&PAYMENT_CAPTURED),
            Happened::Failed => Some(&PAYMENT_FAILED),
            Happened::Voided => Some(&PAYMENT_VOIDED),
            Happened::Refunded => Some(&PAYMENT_REFUNDED),
            Happened::RefundFailed | Happened::RefundAwaited => None,
        }
    }

    /// Adds the payment and what is announced of it to a transaction.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let event = self.topic().map(|topic| self.payment.event(topic, now));
        write.replace(&self.payment, Code::VersionConflict).also(event, Write::emit)
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

    /// The payment with what a provider says about it; `None` when that is no news. What is older
    /// than what is known is no news: webhooks come late and out of order.
    ///
    /// # Errors
    /// `amount_mismatch`: another amount or currency than was asked for; nothing is settled.
    pub fn observe(
        &self,
        seen: &Observed,
        source: Source,
        now: Timestamp,
    ) -> Result<Option<Step>, Problem> {
        use PaymentStatus::{Authorized, Captured, Created, Failed, PartiallyRefunded, Voided};
        let waits = matches!(self.status, Created | Failed);
        match seen.state {
            ObservedState::Failed if waits => Ok(self.failed(seen, source, now)),
            ObservedState::Authorized if waits || self.is_promised_anew(seen) => {
                self.authorized_as(seen, source, now).map(Some)
            }
            ObservedState::Captured if waits || matches!(self.status, Authorized | Voided) => {
                self.captured_as(seen, source, now).map(Some)
            }
            ObservedState::Captured if matches!(self.status, Captured | PartiallyRefunded) => {
                Ok(self.refunded_elsewhere(seen, source, now))
            }
            ObservedState::Voided if waits || self.status == Authorized => {
                Ok(Some(self.voided(seen, source, now)))
            }
            _ => Ok(None),
        }
    }

    fn attempt(&self, action: Action, amount: &Money, source: Source, now: Timestamp) -> Attempt {
        Attempt {
            action,
            succeeded: true,
            amount: amount.clone(),
            provider_payment: self.provider_payment.clone(),
            failure_code: None,
            source,
            at: now,
        }
    }

    fn record(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
        let surplus = self.attempts.len().saturating_sub(KEPT);
        self.attempts.drain(..surplus);
    }

    fn receipt(&mut self, action: Action, amount: &Money, reference: &str, now: Timestamp) {
        let (amount, provider_reference) = (amount.clone(), reference.to_owned());
        self.receipts.push(Receipt { action, amount, provider_reference, at: now });
        let surplus = self.receipts.len().saturating_sub(KEPT);
        self.receipts.drain(..surplus);
    }

    /// The payment with the provider's references of what carries the money.
    fn carried(&self, seen: &Observed, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        next.provider_payment = seen.provider_payment.clone().or(next.provider_payment);
        next.method = seen.method.clone().or(next.method);
        next
    }

    /// A failed attempt; told twice, it is no news.
    fn failed(&self, seen: &Observed, source: Source, now: Timestamp) -> Option<Step> {
        let mut next = self.carried(seen, now);
        let attempt = Attempt {
            succeeded: false,
            failure_code: seen.failure_code.clone(),
            ..next.attempt(Action::Authorize, &self.amount, source, now)
        };
        let known = self.attempts.iter().any(|before| {
            !before.succeeded
                && before.provider_payment == attempt.provider_payment
                && before.failure_code == attempt.failure_code
        });
        if known {
            return None;
        }
        next.record(attempt);
        next.status = PaymentStatus::Failed;
        Some(Step::of(next, Happened::Failed))
    }

    fn authorized_as(
        &self,
        seen: &Observed,
        source: Source,
        now: Timestamp,
    ) -> Result<Step, Problem> {
        let amount = seen.amount.clone().filter(|amount| *amount == self.amount);
        let amount = amount.ok_or(Code::AmountMismatch)?;
        let mut next = self.carried(seen, now);
        next.record(next.attempt(Action::Authorize, &amount, source, now));
        next.authorized = amount;
        next.status = PaymentStatus::Authorized;
        Ok(Step::of(next, Happened::Authorized))
    }

    /// The money was taken. Less than was asked for is right only where somebody chose to take
    /// less: when a merchant captures what was authorized.
    fn captured_as(
        &self,
        seen: &Observed,
        source: Source,
        now: Timestamp,
    ) -> Result<Step, Problem> {
        let may_be_less = self.capture_method == super::CaptureMethod::Manual;
        let fits = |amount: &Money| {
            *amount == self.amount
                || (may_be_less && !amount.is_zero() && self.amount.minus(amount).is_some())
        };
        let amount = seen.amount.clone().filter(fits).ok_or(Code::AmountMismatch)?;
        let mut next = self.carried(seen, now);
        next.record(next.attempt(Action::Capture, &amount, source, now));
        let reference = next.provider_payment.clone();
        let reference = reference.unwrap_or_else(|| next.provider_reference.clone());
        next.receipt(Action::Capture, &amount, &reference, now);
        if next.authorized.is_zero() {
            next.authorized = self.amount.clone();
        }
        next.captured = amount;
        next.status = PaymentStatus::Captured;
        next.attention = next.attention.filter(|why| *why != Attention::AmountMismatch);
        Ok(Step::of(next, Happened::Captured))
    }

    /// Whether a payment that was given up holds money again: a promise that was not there then. A
    /// promise that was given up lives on at a provider that cancels nothing, and is told late by
    /// others; but who pays an order of Razorpay's anew has promised anew.
    fn is_promised_anew(&self, seen: &Observed) -> bool {
        self.status == PaymentStatus::Voided
            && self.provider == ProviderName::Razorpay
            && seen.provider_payment.is_some()
            && seen.provider_payment != self.provider_payment
    }

    fn voided(&self, seen: &Observed, source: Source, now: Timestamp) -> Step {
        let mut next = self.carried(seen, now);
        next.record(next.attempt(Action::Void, &self.amount, source, now));
        next.authorized = Money::zero(&self.amount.currency);
        next.status = PaymentStatus::Voided;
        Step::of(next, Happened::Voided)
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
        } else if !self.provider.takes(wanted) {
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

    /// What can be done with it.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let mut actions = Vec::new();
        if self.capture_limit().is_some() {
            actions.push("capture");
        }
        if self.is_open() || self.status == PaymentStatus::Authorized {
            actions.push("void");
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
