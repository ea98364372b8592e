//! Payments with something left to do: a refund that its provider has not confirmed, money that
//! the order did not take and that has not gone back.
//!
//! Whoever begins such work does it at once. The due mark is for the case that they cannot: the
//! process ended, the provider did not answer, or it said that it would take a while. It follows
//! from what the payment is, so that no write forgets it, and goes when nothing is left. A refund
//! is asked for under its own id, so that it is one however often it is taken up.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::outbox::Due;
use gateway::problem::{Code, Problem};
use ground::provider::ProviderName;

use super::account::connect;
use super::{Payment, PaymentRefund, ProviderReference, RefundState, refund, surplus};

/// How often one sweep waits in vain for the same provider, ten seconds each time; the rest of its
/// work waits for the next.
const PATIENCE: u32 = 8;
/// How long after its beginning a sweep still asks providers: what it asks last has to come to its
/// end within the minute that the sweep is given.
const ASKING: Duration = Duration::from_secs(35);

/// How much longer a sweep waits for providers: one that does not answer is no reason not to ask
/// another.
#[derive(Debug)]
pub struct Patience {
    until: Timestamp,
    razorpay: AtomicU32,
    stripe: AtomicU32,
}

impl Patience {
    /// That of a sweep which began then.
    pub fn since(began: Timestamp) -> Self {
        let (razorpay, stripe) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { until: began.plus(ASKING), razorpay, stripe }
    }

    /// How often a provider was waited for in vain; nobody waits for what is done by hand.
    const fn waits(&self, provider: ProviderName) -> Option<&AtomicU32> {
        match provider {
            ProviderName::Manual => None,
            ProviderName::Razorpay => Some(&self.razorpay),
            ProviderName::Stripe => Some(&self.stripe),
        }
    }

    /// Whether this provider is not to be asked any more.
    pub fn is_spent(&self, provider: ProviderName, now: Timestamp) -> bool {
        self.waits(provider)
            .is_some_and(|waits| self.until <= now || waits.load(Ordering::Relaxed) >= PATIENCE)
    }

    /// Notes how a call of this provider has failed.
    pub fn note(&self, provider: ProviderName, problem: &Problem) {
        if problem.code == Code::ProviderTimeout
            && let Some(waits) = self.waits(provider)
        {
            waits.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Payment {
    /// Whether something is left to do that nobody else is asked for.
    pub(super) fn has_work(&self) -> bool {
        !self.pending().is_zero() || self.is_to_go_back()
    }

    /// When the sweep takes it up.
    pub fn due_at(&self) -> Option<Timestamp> {
        let since = self.tried_at.unwrap_or(self.updated_at);
        self.has_work().then(|| since.plus(Due::wait(self.tries)))
    }

    /// The payment as the sweep takes it up: due again later, should that fail.
    fn taken_up(&self, now: Timestamp) -> Self {
        let tries = self.tries.saturating_add(1);
        Self { tries, tried_at: Some(now), ..self.changed(now) }
    }
}

/// Takes up a payment whose due mark has passed; whether something was done. The mark is moved on
/// first: of two sweeps, one goes on.
///
/// # Errors
/// Those of the provider: the payment is due again later. `version_conflict` when somebody else
/// has it.
pub async fn take_up(app: &App, payment: &Payment, patience: &Patience) -> Result<bool, Problem> {
    let now = app.clock.now();
    if payment.due_at().is_none_or(|at| now < at) || patience.is_spent(payment.provider, now) {
        return Ok(false);
    }
    let taken = payment.taken_up(now);
    app.table.write().replace(&taken, Code::VersionConflict).commit().await?;
    carry_out(app, &taken, patience).await.map(|()| true)
}

/// Does what is left. One refund that fails keeps no other from being asked for; the first failure
/// is the one that is told.
async fn carry_out(app: &App, payment: &Payment, patience: &Patience) -> Result<(), Problem> {
    let provider = payment.provider;
    let is_pending = |refund: &&PaymentRefund| refund.status == RefundState::Pending;
    let mut pending = payment.refunds.iter().filter(is_pending).peekable();
    if pending.peek().is_none() {
        let connected = connect(app, &payment.store_id, provider).await?;
        let given_back = surplus::give_back(app, &connected, payment).await;
        return given_back.inspect_err(|problem| patience.note(provider, problem));
    }
    let mut outcome = Ok(());
    for reserved in pending {
        if patience.is_spent(provider, app.clock.now()) {
            break;
        }
        let asked = ask_and_record(app, payment, reserved).await;
        outcome = outcome.and(asked.inspect_err(|problem| patience.note(provider, problem)));
    }
    outcome
}

async fn ask_and_record(
    app: &App,
    payment: &Payment,
    reserved: &PaymentRefund,
) -> Result<(), Problem> {
    let said = refund::ask(app, payment, &reserved.id, &reserved.amount).await?;
    refund::record(app, &ProviderReference::from(payment), &reserved.id, &said).await
}

#[cfg(test)]
mod tests {
    use gateway::clock::MINUTE;

    use super::*;
    use crate::payment::{Attention, PaymentStatus};
    use ground::money;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn taken() -> Payment {
        let sample = Payment::sample();
        Payment {
            status: PaymentStatus::Captured,
            captured: sample.amount.clone(),
            refunded: money::sample(0),
            refunds: Vec::new(),
            is_applied: true,
            updated_at: NOW,
            ..sample
        }
    }

    #[test]
    fn a_sweep_loses_patience_with_one_provider_at_a_time_and_in_time_with_all() {
        let (manual, razorpay, stripe) =
            (ProviderName::Manual, ProviderName::Razorpay, ProviderName::Stripe);
        let patience = Patience::since(NOW);
        patience.note(stripe, &Code::ProviderNotConnected.into());
        for _ in 0..PATIENCE {
            assert!(!patience.is_spent(stripe, NOW));
            patience.note(stripe, &Code::ProviderTimeout.into());
            patience.note(manual, &Code::ProviderTimeout.into());
        }
        let spent = |now| [manual, razorpay, stripe].map(|one| patience.is_spent(one, now));
        assert_eq!(spent(NOW), [false, false, true]);
        assert_eq!(spent(NOW.plus(ASKING)), [false, true, true]);
    }

    #[test]
    fn a_refund_is_taken_up_later_and_later_until_it_is_done() {
        let payment = taken();
        assert_eq!(payment.due_at(), None);
        let id = ground::id::RefundId::derive(&["refund"]);
        let begun = payment.begin_refund(&id, &money::sample(100), NOW).unwrap();
        assert_eq!(begun.due_at(), Some(NOW.plus(MINUTE)));
        let later = NOW.plus(MINUTE);
        let once = begun.taken_up(later);
        assert_eq!(once.due_at(), Some(later.plus(MINUTE * 2)));
        let often = (0..100).fold(once.clone(), |payment, _| payment.taken_up(later));
        assert_eq!(often.due_at(), Some(later.plus(MINUTE * 512)));
        let done = often.finish_refund(&id, &Ok("re_1".into()), later).unwrap().payment;
        assert_eq!(done.due_at(), None);
        // What is begun after that is tried from the start.
        let other = ground::id::RefundId::derive(&["other"]);
        let begun = done.begin_refund(&other, &money::sample(100), later).unwrap();
        assert_eq!(begun.due_at(), Some(later.plus(MINUTE)));
    }

    #[test]
    fn money_that_the_order_did_not_take_is_due() {
        let attention = Some(Attention::LatePayment);
        let late = Payment { is_applied: false, attention, ..taken() };
        assert_eq!(late.due_at(), Some(NOW.plus(MINUTE)));
    }
}
