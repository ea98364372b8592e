//! Retries the unfinished work of a payment.
//!
//! Work is usually finished by whoever begins it. The due mark covers the other cases: the process ended,
//! the provider did not answer, or it reported the work as pending. A refund is requested under its own id,
//! so that resuming it never refunds twice.

use primitives::problem::{Code, Problem};
use services::Services;

use super::return_unapplied::return_unapplied;
use super::{record_disputes, refund_order, submit_evidence};
use crate::payment::load::connect;
use crate::payment::{Payment, PaymentRefund, ProviderDeadline, RefundState};

/// Processes a payment whose due mark has passed. Returns whether something was done. The mark is moved on
/// first, so that only one of two sweeps continues.
///
/// # Errors
/// Those of the provider: the payment is due again later. `version_conflict` if another process changed it.
pub async fn process(
    services: &Services,
    payment: &Payment,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let now = services.clock.now();
    if payment.due_at().is_none_or(|at| now < at) || deadline.has_passed(payment.provider, now) {
        return Ok(false);
    }
    let asks = payment.asks_about_disputes_at().is_some_and(|at| at <= now);
    let mut taken = payment.retried(now);
    if asks {
        taken.disputes_asked_at = Some(now);
    }
    services.table.write().replace(&taken, Code::VersionConflict).commit().await?;
    execute(services, &taken, asks, deadline).await.map(|()| true)
}

/// Resumes pending refunds and evidence, returns unapplied money if no refund is pending, and fetches
/// disputes if that is due. One failure does not stop the rest; the first one is returned.
async fn execute(
    services: &Services,
    payment: &Payment,
    asks: bool,
    deadline: &ProviderDeadline,
) -> Result<(), Problem> {
    let provider = payment.provider;
    let has_passed = || deadline.has_passed(provider, services.clock.now());
    let noted =
        |done: Result<(), Problem>| done.inspect_err(|problem| deadline.note(provider, problem));
    let mut outcome = Ok(());
    let is_pending = |refund: &&PaymentRefund| refund.status == RefundState::Pending;
    let pending: Vec<&PaymentRefund> = payment.refunds.iter().filter(is_pending).collect();
    for reserved in &pending {
        if has_passed() {
            return outcome;
        }
        outcome = outcome.and(noted(refund_order::resume(services, payment, reserved).await));
    }
    for entry in payment.disputes.iter().filter(|entry| entry.evidence.is_some()) {
        if has_passed() {
            return outcome;
        }
        outcome = outcome.and(noted(submit_evidence::resume(services, payment, entry).await));
    }
    if has_passed() || !(asks || (pending.is_empty() && payment.is_to_go_back())) {
        return outcome;
    }
    let connected = connect(services, &payment.store_id, provider).await?;
    if pending.is_empty() && payment.is_to_go_back() {
        outcome = outcome.and(noted(return_unapplied(services, &connected, payment).await));
    }
    if asks && !has_passed() {
        let fetched = record_disputes::look(services, &connected, payment).await;
        outcome = outcome.and(noted(fetched.map(drop)));
    }
    outcome
}
