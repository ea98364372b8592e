//! Retries the unfinished work of a payment.
//!
//! Work is usually finished by whoever begins it. The due mark covers the other cases: the process ended,
//! the provider did not answer, or it reported the work as pending. A refund is requested under its own id,
//! so that resuming it never refunds twice.

use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;

use super::return_unapplied::return_unapplied;
use super::{close_payments, record_disputes, record_payment, refund_order, submit_evidence};
use crate::payment::load::connect;
use crate::payment::provider_client::ProviderClient;
use crate::payment::{
    ObservedState, PROCESSING_WINDOW, Payment, PaymentRefund, ProviderDeadline, RefundState,
};

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
    let is_due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
    let polls_disputes = is_due(payment.polls_disputes_at());
    let checks = is_due(payment.checks_processing_at());
    let mut taken = payment.retried(now);
    if polls_disputes {
        taken.disputes_fetched_at = Some(now);
    }
    services.table.write().replace(&taken, Code::VersionConflict).commit().await?;
    let polls = PaymentPolls { disputes: polls_disputes, processing: checks };
    execute(services, &taken, polls, deadline).await.map(|()| true)
}

/// The daily look-ups of a payment that are due.
#[derive(Debug, Clone, Copy)]
struct PaymentPolls {
    /// Its disputes.
    disputes: bool,
    /// Its own state, while its provider processes it.
    processing: bool,
}

/// Resumes pending refunds and evidence, returns unapplied money if no refund is pending, and makes the
/// look-ups that are due. One failure does not stop the rest; the first one is returned.
async fn execute(
    services: &Services,
    payment: &Payment,
    polls: PaymentPolls,
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
    let is_to_go_back = pending.is_empty() && payment.is_to_go_back();
    if has_passed() || !(polls.disputes || polls.processing || is_to_go_back) {
        return outcome;
    }
    let provider_client = connect(services, &payment.store_id, provider).await?;
    if is_to_go_back {
        outcome = outcome.and(noted(return_unapplied(services, &provider_client, payment).await));
    }
    if polls.processing && !has_passed() {
        outcome = outcome.and(noted(check_processing(services, &provider_client, payment).await));
    }
    if polls.disputes && !has_passed() {
        let fetched = record_disputes::fetch_and_record(services, &provider_client, payment).await;
        outcome = outcome.and(noted(fetched.map(drop)));
    }
    outcome
}

/// Looks up a payment that its provider processes, and records the result. One that has failed at the bank is
/// recorded as failed, so that its shopper can pay again.
async fn check_processing(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<(), Problem> {
    let observed = record_payment::fetch_and_capture(services, provider_client, payment).await?;
    let since = payment.attempts.last().map_or(payment.created_at, |attempt| attempt.at);
    let is_overdue = since.plus(PROCESSING_WINDOW) < services.clock.now();
    if observed.state == ObservedState::Processing && is_overdue {
        tracing::error!(
            payment = payment.id.as_str(),
            "payment still processing at its provider after the expected time"
        );
    }
    close_payments::record(services, provider_client, payment, &observed).await
}
