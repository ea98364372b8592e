//! Submits evidence for a dispute in three steps: store, send, record.
//!
//! Crash safety. After the first step the evidence is stored, sealed, and pending on its dispute and
//! payment; no other evidence can be sent. It is sent under its id, which is derived from the caller's
//! idempotency key, so a repeated request resumes it.
//!
//! No caller needs to repeat it: a payment with pending evidence carries a due mark
//! ([`super::process_payment`]). Resuming looks up the dispute at the provider first, as the bank may have
//! the evidence already. A provider's final rejection ends it; a missing response leaves it pending.

use core_types::id::{DisputeEvidenceId, DisputeId, StoreId};
use core_types::key;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use services::Services;
use table::{Attempt, CommitOnly, Completion, retry, retry_attempts};

use crate::dispute::evidence::{self, Evidence, PendingEvidence};
use crate::dispute::{
    DISPUTE_UPDATED, Dispute, DisputeChange, EvidenceStatus, ObservedDispute, load,
};
use crate::order;
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::{Provider, ProviderFailure};
use crate::payment::provider_client::ProviderClient;
use crate::payment::{Payment, PaymentDispute};
use serde_json::Value;

/// A request to send evidence.
#[derive(Debug, Clone)]
pub struct SubmitEvidence {
    /// The provider's fields, as in the request.
    pub fields: Value,
    /// Whether it is submitted to the bank; otherwise it is saved as a draft.
    pub submit: bool,
    /// The evidence's id is derived from this: the caller and its idempotency key.
    pub seed: String,
    /// The dispute's version that the caller expects, if any.
    pub expected_version: ExpectedVersion,
}

/// Sends evidence. The outcome is the dispute after it.
///
/// # Errors
/// `not_found`, `precondition_failed`, `provider_not_connected`, those of
/// [`Dispute::ensure_response`], field errors of `/evidence`. Once it is stored only `provider_error`,
/// `provider_timeout` and others that are not stored as idempotent responses.
pub async fn submit<C: Completion<Dispute>>(
    services: &Services,
    store: &StoreId,
    id: &DisputeId,
    input: &SubmitEvidence,
    completion: &C,
) -> Result<C::Output, Problem> {
    let evidence_id = DisputeEvidenceId::derive(&[id.as_str(), &input.seed]);
    let (provider_client, dispute, evidence, is_new) =
        retry(|| Box::pin(store_evidence(services, (store, id), &evidence_id, input))).await?;
    let Some(evidence) = evidence else {
        let sent = dispute.evidence.as_ref();
        return match sent.filter(|sent| sent.status == EvidenceStatus::Failed) {
            Some(sent) => Err(rejected(&sent.id, sent.failure_code.clone())),
            None => Ok(completion.unchanged(&dispute)),
        };
    };
    let outcome = send(services, &provider_client, &dispute, &evidence, is_new).await?;
    let known = (&dispute, &evidence.id);
    let recorded =
        retry_attempts(|attempt| Box::pin(record(services, known, &outcome, attempt, completion)));
    let recorded = recorded.await;
    recorded.and_then(|output| match outcome {
        ProviderAnswer::Rejected(code) => Err(rejected(&evidence.id, Some(code))),
        ProviderAnswer::Accepted(_) => {
            output.ok_or_else(|| Problem::internal("the dispute of accepted evidence is missing"))
        }
    })
}

/// The provider's response.
enum ProviderAnswer {
    /// It has accepted the evidence: the dispute at the provider.
    Accepted(Box<ObservedDispute>),
    /// It has rejected the evidence, with this code.
    Rejected(String),
}

fn rejected(id: &DisputeEvidenceId, why: Option<String>) -> Problem {
    Code::ProviderError
        .with("evidence_id", id.as_str())
        .with("failure_code", why)
        .because("a provider rejected evidence")
}

/// The first step: stores the evidence. Returns none if the same request has completed before. Nothing is
/// stored if the provider is not connected.
async fn store_evidence(
    services: &Services,
    (store, id): (&StoreId, &DisputeId),
    evidence_id: &DisputeEvidenceId,
    input: &SubmitEvidence,
) -> Result<(ProviderClient, Dispute, Option<Evidence>, bool), Problem> {
    let now = services.clock.now();
    let dispute = load::dispute(services, store, id).await?;
    let provider_client = connect(services, store, dispute.provider).await?;
    if let Some(sent) = dispute.evidence.as_ref().filter(|sent| sent.id == *evidence_id) {
        if sent.status != EvidenceStatus::Pending {
            return Ok((provider_client, dispute, None, false));
        }
        let evidence =
            stored_evidence(services, &dispute).await?.filter(|one| one.id == *evidence_id);
        // Another process has just recorded the response.
        let evidence = evidence.ok_or(Code::VersionConflict)?;
        return Ok((provider_client, dispute, Some(evidence), false));
    }
    input.expected_version.check(dispute.version)?;
    dispute.ensure_response(now)?;
    let fields = evidence::parse(dispute.provider, &input.fields, &dispute.amount, input.submit)?;
    let evidence = Evidence { id: evidence_id.clone(), submit: input.submit, fields };
    let key = services.secrets.payment_key().await?;
    let pending = PendingEvidence::seal(&dispute, &evidence, &key, now);
    let next = dispute.with_evidence(&evidence, now);
    let payment = payment_of(services, &next).await?;
    let changed = payment.with_disputes([&next], now).ok_or(Code::VersionConflict)?;
    let write = services
        .table
        .write()
        .create(&pending, Code::VersionConflict)
        .replace(&next, Code::VersionConflict);
    changed.write(write, now).commit().await?;
    Ok((provider_client, next, Some(evidence), true))
}

async fn stored_evidence(
    services: &Services,
    dispute: &Dispute,
) -> Result<Option<Evidence>, Problem> {
    let key = key::dispute_evidence(&dispute.store_id, &dispute.id);
    let found: Option<PendingEvidence> = services.table.get(&key).await?;
    match found {
        Some(pending) => pending.open(&*services.secrets.payment_key().await?).map(Some),
        None => Ok(None),
    }
}

async fn payment_of(services: &Services, dispute: &Dispute) -> Result<Payment, Problem> {
    order::load::payment(services, &lookup_of(dispute)).await.map(|known| known.payment)
}

fn lookup_of(dispute: &Dispute) -> PaymentLookup {
    PaymentLookup {
        store_id: dispute.store_id.clone(),
        order_id: dispute.order_id.clone(),
        payment_id: dispute.payment_id.clone(),
    }
}

/// The second step: sends the evidence to the provider, unless it turns out to have arrived before.
///
/// # Errors
/// `provider_error`, `provider_timeout`: it may have arrived; send it again under the same id.
async fn send(
    services: &Services,
    provider_client: &ProviderClient,
    dispute: &Dispute,
    evidence: &Evidence,
    is_new: bool,
) -> Result<ProviderAnswer, Problem> {
    if !is_new {
        let observed = provider_client.fetch_dispute(services, dispute).await?;
        if observed.is_past_evidence() {
            return Ok(if observed.is_submitted || !observed.status.is_over() {
                ProviderAnswer::Accepted(Box::new(observed))
            } else {
                ProviderAnswer::Rejected("dispute_closed".to_owned())
            });
        }
    }
    match provider_client.send_evidence(services, dispute, evidence).await {
        Ok(observed) => Ok(ProviderAnswer::Accepted(Box::new(observed))),
        Err(ProviderFailure::Rejected(code)) => Ok(ProviderAnswer::Rejected(code)),
        Err(failure) => Err(failure.into()),
    }
}

/// The third step. None after a rejection, which does not complete the workflow.
async fn record<C: Completion<Dispute>>(
    services: &Services,
    (dispute, id): (&Dispute, &DisputeEvidenceId),
    outcome: &ProviderAnswer,
    attempt: Attempt,
    completion: &C,
) -> Result<Option<C::Output>, Problem> {
    let now = services.clock.now();
    let known = load::dispute(services, &dispute.store_id, &dispute.id).await?;
    let rejection = match outcome {
        ProviderAnswer::Rejected(code) => Some(code.as_str()),
        ProviderAnswer::Accepted(_) => None,
    };
    let Some(answered) = known.answered(id, rejection, now) else {
        // Another process has recorded it.
        return Ok(Some(completion.unchanged(&known)));
    };
    let aggregate = order::load::payment(services, &lookup_of(dispute)).await?;
    let mut change = DisputeChange { dispute: answered, topics: vec![&DISPUTE_UPDATED] };
    if let ProviderAnswer::Accepted(observed) = outcome
        && let Some(told) = Dispute::after(Some(&change.dispute), observed, &aggregate.payment, now)
    {
        let version = change.dispute.version;
        let topics = if told.topics.is_empty() { change.topics } else { told.topics };
        change = DisputeChange { dispute: Dispute { version, ..told.dispute }, topics };
    }
    let write = change.write(services.table.write(), now);
    let write = write.delete(&key::dispute_evidence(&dispute.store_id, &dispute.id));
    let changed = aggregate.payment.with_disputes([&change.dispute], now);
    let changed = changed.ok_or(Code::VersionConflict)?;
    let next = changed.payment.clone();
    let unchanged = order::OrderChange::none(&aggregate.order);
    let order = unchanged.with_payment(changed).and_disputed(&next, now);
    let write = order.save(services, write, attempt, now).await?;
    if rejection.is_some() {
        write.commit().await?;
        return Ok(None);
    }
    completion.commit(write, &change.dispute, now).await.map(Some)
}

/// Resumes pending evidence, with the second and third steps.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `provider_not_connected`: it stays pending.
pub(super) async fn resume(
    services: &Services,
    payment: &Payment,
    entry: &PaymentDispute,
) -> Result<(), Problem> {
    let dispute = load::dispute(services, &payment.store_id, &entry.id).await?;
    let Some(evidence) = stored_evidence(services, &dispute).await? else { return Ok(()) };
    let provider_client = connect(services, &payment.store_id, payment.provider).await?;
    let outcome = send(services, &provider_client, &dispute, &evidence, false).await?;
    let known = (&dispute, &evidence.id);
    let record = |attempt| Box::pin(record(services, known, &outcome, attempt, &CommitOnly));
    retry_attempts(record).await.map(drop)
}
