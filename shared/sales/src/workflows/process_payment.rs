//! What a payment has left to do is tried again.
//!
//! Whoever begins such work does it at once. The due mark is for the case that they cannot: the
//! process ended, the provider did not answer, or it said that it would take a while. A refund is
//! asked for under its own id, so that it is one however often it is resumed.

use gateway::app::App;
use primitives::problem::{Code, Problem};

use super::return_unapplied::return_unapplied;
use super::{record_disputes, refund_order, submit_evidence};
use crate::payment::load::connect;
use crate::payment::{Payment, PaymentRefund, ProviderDeadline, RefundState};

/// Processes a payment whose due mark has passed; whether something was done. The mark is moved on
/// first: of two sweeps, one goes on.
///
/// # Errors
/// Those of the provider: the payment is due again later. `version_conflict` when somebody else
/// has it.
pub async fn process(
    app: &App,
    payment: &Payment,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let now = app.clock.now();
    if payment.due_at().is_none_or(|at| now < at) || deadline.has_passed(payment.provider, now) {
        return Ok(false);
    }
    let asks = payment.asks_about_disputes_at().is_some_and(|at| at <= now);
    let mut taken = payment.retried(now);
    if asks {
        taken.disputes_asked_at = Some(now);
    }
    app.table.write().replace(&taken, Code::VersionConflict).commit().await?;
    execute(app, &taken, asks, deadline).await.map(|()| true)
}

/// Does what is left: refunds and evidence, or else what is to go back; and asks about disputes where
/// it is time. One thing that fails keeps no other from being done; the first failure is the one
/// that is told.
async fn execute(
    app: &App,
    payment: &Payment,
    asks: bool,
    deadline: &ProviderDeadline,
) -> Result<(), Problem> {
    let provider = payment.provider;
    let has_passed = || deadline.has_passed(provider, app.clock.now());
    let noted =
        |done: Result<(), Problem>| done.inspect_err(|problem| deadline.note(provider, problem));
    let mut outcome = Ok(());
    let is_pending = |refund: &&PaymentRefund| refund.status == RefundState::Pending;
    let pending: Vec<&PaymentRefund> = payment.refunds.iter().filter(is_pending).collect();
    for reserved in &pending {
        if has_passed() {
            return outcome;
        }
        outcome = outcome.and(noted(refund_order::resume(app, payment, reserved).await));
    }
    for entry in payment.disputes.iter().filter(|entry| entry.evidence.is_some()) {
        if has_passed() {
            return outcome;
        }
        outcome = outcome.and(noted(submit_evidence::resume(app, payment, entry).await));
    }
    if has_passed() || !(asks || (pending.is_empty() && payment.is_to_go_back())) {
        return outcome;
    }
    let connected = connect(app, &payment.store_id, provider).await?;
    if pending.is_empty() && payment.is_to_go_back() {
        outcome = outcome.and(noted(return_unapplied(app, &connected, payment).await));
    }
    if asks && !has_passed() {
        let looked = record_disputes::look(app, &connected, payment).await;
        outcome = outcome.and(noted(looked.map(drop)));
    }
    outcome
}
