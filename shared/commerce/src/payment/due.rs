//! Payments with something left to do: a refund that its provider has not confirmed, money that
//! the order did not take and that has not gone back.
//!
//! Whoever begins such work does it at once. The due mark is for the case that they cannot: the
//! process ended, the provider did not answer, or it said that it would take a while. It follows
//! from what the payment is, so that no write forgets it, and goes when nothing is left. A refund
//! is asked for under its own id, so that it is one however often it is taken up.

use std::sync::atomic::{AtomicU32, Ordering};

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::outbox::Due;
use gateway::problem::{Code, Problem};

use super::account::connect;
use super::{Payment, PaymentRefund, ProviderReference, RefundState, refund, surplus};

/// How many providers that do not answer one sweep waits for, at ten seconds each; the rest of
/// the work waits for the next.
const PATIENCE: u32 = 8;

/// How much longer a sweep waits for providers that do not answer.
#[derive(Debug, Default)]
pub struct Patience {
    waited_for: AtomicU32,
}

impl Patience {
    /// Whether no provider is to be asked any more.
    pub fn is_spent(&self) -> bool {
        self.waited_for.load(Ordering::Relaxed) >= PATIENCE
    }

    /// Notes how a call has failed.
    pub fn note(&self, problem: &Problem) {
        if problem.code == Code::ProviderTimeout {
            self.waited_for.fetch_add(1, Ordering::Relaxed);
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
    if payment.due_at().is_none_or(|at| now < at) || patience.is_spent() {
        return Ok(false);
    }
    let taken = payment.taken_up(now);
    app.table.write().replace(&taken, Code::VersionConflict).commit().await?;
    let done = carry_out(app, &taken).await;
    done.inspect_err(|problem| patience.note(problem)).map(|()| true)
}

async fn carry_out(app: &App, payment: &Payment) -> Result<(), Problem> {
    let is_pending = |refund: &&PaymentRefund| refund.status == RefundState::Pending;
    let mut pending = payment.refunds.iter().filter(is_pending).peekable();
    if pending.peek().is_none() {
        let connected = connect(app, &payment.store_id, payment.provider).await?;
        return surplus::give_back(app, &connected, payment).await;
    }
    let place = ProviderReference::from(payment);
    for reserved in pending {
        let said = refund::ask(app, payment, &reserved.id, &reserved.amount).await?;
        refund::record(app, &place, &reserved.id, &said).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gateway::clock::MINUTE;

    use super::*;
    use crate::money;
    use crate::payment::{Attention, PaymentStatus};

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
    fn a_refund_is_taken_up_later_and_later_until_it_is_done() {
        let payment = taken();
        assert_eq!(payment.due_at(), None);
        let id = crate::id::RefundId::derive(&["refund"]);
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
        let other = crate::id::RefundId::derive(&["other"]);
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
