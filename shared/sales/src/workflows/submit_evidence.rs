//! Evidence for a dispute, in three steps: keep, send, record.
//!
//! Crash story. After the first step the evidence is kept, sealed, and its dispute and payment say
//! that it is on its way; nobody else can send any. The provider is told under the evidence's id,
//! which follows from the caller's idempotency key: so the same request sent again resumes it where
//! it was left. Nobody has to send it again: a payment with evidence on its way carries a due mark
//! ([`super::process_payment`]). Evidence that was sent before is looked for at the provider first:
//! what the bank has, it has. A provider that rejects for good ends it; one that does not answer
//! leaves it on its way.

use core_types::id::{DisputeEvidenceId, DisputeId, StoreId};
use core_types::key;
use gateway::app::App;
use primitives::problem::{Code, Problem};
use gateway::reply::{NoContent, Reply};
use gateway::request::IfMatch;
use table::retry;

use crate::dispute::evidence::{self, Evidence, PendingEvidence};
use crate::dispute::{
    DISPUTE_UPDATED, Dispute, DisputeChange, EvidenceStatus, ObservedDispute, load,
};
use crate::order;
use crate::payment::connected::Connected;
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::{Provider, ProviderFailure};
use crate::payment::{Payment, PaymentDispute};
use crate::workflows::save_change::Spending;
use serde_json::Value;

/// Evidence that is to be sent.
#[derive(Debug, Clone)]
pub struct SubmitEvidence {
    /// The provider's fields, as they were given.
    pub fields: Value,
    /// Whether it is for the bank, or for the draft.
    pub submit: bool,
    /// What the evidence's id follows from: who sends it, and under which idempotency key.
    pub seed: String,
    /// The dispute's version that the caller has seen, if it says so.
    pub if_match: IfMatch,
}

/// Sends evidence, and answers with the dispute.
///
/// # Errors
/// `not_found`, `precondition_failed`, `provider_not_connected`, those of
/// [`Dispute::ensure_response`], the faults of `/evidence`; once it is kept only `provider_error`,
/// `provider_timeout` and others that no idempotency key keeps.
pub async fn submit<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &DisputeId,
    input: &SubmitEvidence,
    answer: impl Fn(&Dispute) -> R,
) -> Result<R, Problem> {
    let evidence_id = DisputeEvidenceId::derive(&[id.as_str(), &input.seed]);
    let (connected, dispute, evidence, is_new) =
        retry(|| Box::pin(keep(app, (store, id), &evidence_id, input))).await?;
    let Some(evidence) = evidence else {
        let sent = dispute.evidence.as_ref();
        return match sent.filter(|sent| sent.status == EvidenceStatus::Failed) {
            Some(sent) => Err(rejected(&sent.id, sent.failure_code.clone())),
            None => Ok(answer(&dispute)),
        };
    };
    let outcome = send(app, &connected, &dispute, &evidence, is_new).await?;
    let spending = Spending::default();
    let recorded =
        retry(|| Box::pin(record(app, (&dispute, &evidence.id), &outcome, &spending, &answer)));
    let recorded = recorded.await;
    recorded.and_then(|answered| match outcome {
        Outcome::Rejected(code) => Err(rejected(&evidence.id, Some(code))),
        Outcome::Taken(_) => answered.ok_or_else(|| Problem::internal("no dispute")),
    })
}

/// What the provider has said.
enum Outcome {
    /// The dispute as it is with it.
    Taken(Box<ObservedDispute>),
    /// No, with its code.
    Rejected(String),
}

fn rejected(id: &DisputeEvidenceId, why: Option<String>) -> Problem {
    Code::ProviderError
        .with("evidence_id", id.as_str())
        .with("failure_code", why)
        .because("a provider rejected evidence")
}

/// The first step; no evidence where the same request has brought it to its end before. Nothing is
/// kept for a provider that cannot be asked.
async fn keep(
    app: &App,
    (store, id): (&StoreId, &DisputeId),
    evidence_id: &DisputeEvidenceId,
    input: &SubmitEvidence,
) -> Result<(Connected, Dispute, Option<Evidence>, bool), Problem> {
    let now = app.clock.now();
    let dispute = load::dispute(app, store, id).await?;
    let connected = connect(app, store, dispute.provider).await?;
    if let Some(sent) = dispute.evidence.as_ref().filter(|sent| sent.id == *evidence_id) {
        if sent.status != EvidenceStatus::Pending {
            return Ok((connected, dispute, None, false));
        }
        let evidence = kept(app, &dispute).await?.filter(|kept| kept.id == *evidence_id);
        // Somebody else has just had the answer.
        let evidence = evidence.ok_or(Code::VersionConflict)?;
        return Ok((connected, dispute, Some(evidence), false));
    }
    input.if_match.check(dispute.version)?;
    dispute.ensure_response(now)?;
    let fields = evidence::parse(dispute.provider, &input.fields, &dispute.amount, input.submit)?;
    let evidence = Evidence { id: evidence_id.clone(), submit: input.submit, fields };
    let key = app.secrets.payment_key().await?;
    let pending = PendingEvidence::seal(&dispute, &evidence, &key, now);
    let next = dispute.with_evidence(&evidence, now);
    let payment = payment_of(app, &next).await?;
    let changed = payment.with_disputes([&next], now).ok_or(Code::VersionConflict)?;
    let write = app
        .table
        .write()
        .create(&pending, Code::VersionConflict)
        .replace(&next, Code::VersionConflict);
    changed.write(write, now).commit().await?;
    Ok((connected, next, Some(evidence), true))
}

async fn kept(app: &App, dispute: &Dispute) -> Result<Option<Evidence>, Problem> {
    let key = key::dispute_evidence(&dispute.store_id, &dispute.id);
    let found: Option<PendingEvidence> = app.table.get(&key).await?;
    match found {
        Some(pending) => pending.open(&*app.secrets.payment_key().await?).map(Some),
        None => Ok(None),
    }
}

async fn payment_of(app: &App, dispute: &Dispute) -> Result<Payment, Problem> {
    order::load::payment(app, &lookup_of(dispute)).await.map(|known| known.payment)
}

fn lookup_of(dispute: &Dispute) -> PaymentLookup {
    PaymentLookup {
        store_id: dispute.store_id.clone(),
        order_id: dispute.order_id.clone(),
        payment_id: dispute.payment_id.clone(),
    }
}

/// The second step: the provider is told, once per evidence however often it is told. What was told
/// before may have arrived.
///
/// # Errors
/// `provider_error`, `provider_timeout`: it may have arrived; ask again under the same id.
async fn send(
    app: &App,
    connected: &Connected,
    dispute: &Dispute,
    evidence: &Evidence,
    is_new: bool,
) -> Result<Outcome, Problem> {
    if !is_new {
        let observed = connected.look_up_dispute(app, dispute).await?;
        if observed.has_gone_on() {
            return Ok(if observed.is_submitted || !observed.status.is_over() {
                Outcome::Taken(Box::new(observed))
            } else {
                Outcome::Rejected("dispute_closed".to_owned())
            });
        }
    }
    match connected.send_evidence(app, dispute, evidence).await {
        Ok(observed) => Ok(Outcome::Taken(Box::new(observed))),
        Err(ProviderFailure::Rejected(code)) => Ok(Outcome::Rejected(code)),
        Err(failure) => Err(failure.into()),
    }
}

/// The third step, and the request's answer. None when the provider has rejected, which no key keeps.
async fn record<R: Reply>(
    app: &App,
    (dispute, id): (&Dispute, &DisputeEvidenceId),
    outcome: &Outcome,
    spending: &Spending,
    answer: &impl Fn(&Dispute) -> R,
) -> Result<Option<R>, Problem> {
    let now = app.clock.now();
    let known = load::dispute(app, &dispute.store_id, &dispute.id).await?;
    let rejection = match outcome {
        Outcome::Rejected(code) => Some(code.as_str()),
        Outcome::Taken(_) => None,
    };
    let Some(answered) = known.answered(id, rejection, now) else {
        // Somebody else has recorded it.
        return Ok(Some(answer(&known)));
    };
    let aggregate = order::load::payment(app, &lookup_of(dispute)).await?;
    let mut change = DisputeChange { dispute: answered, topics: vec![&DISPUTE_UPDATED] };
    if let Outcome::Taken(observed) = outcome
        && let Some(told) = Dispute::after(Some(&change.dispute), observed, &aggregate.payment, now)
    {
        let version = change.dispute.version;
        let topics = if told.topics.is_empty() { change.topics } else { told.topics };
        change = DisputeChange { dispute: Dispute { version, ..told.dispute }, topics };
    }
    let write = change.write(app.table.write(), now);
    let write = write.delete(&key::dispute_evidence(&dispute.store_id, &dispute.id));
    let changed = aggregate.payment.with_disputes([&change.dispute], now);
    let changed = changed.ok_or(Code::VersionConflict)?;
    let next = changed.payment.clone();
    let unchanged = order::OrderChange::none(&aggregate.order);
    let order = unchanged.with_payment(changed).and_disputed(&next, now);
    let write = order.save(app, write, spending, now).await?;
    if rejection.is_some() {
        write.commit().await?;
        return Ok(None);
    }
    write.answer(answer(&change.dispute), now).await.map(Some)
}

/// Resumes evidence that is on its way: the second and the third step.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `provider_not_connected`: it stays on its way.
pub(super) async fn resume(
    app: &App,
    payment: &Payment,
    entry: &PaymentDispute,
) -> Result<(), Problem> {
    let dispute = load::dispute(app, &payment.store_id, &entry.id).await?;
    let Some(evidence) = kept(app, &dispute).await? else { return Ok(()) };
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    let outcome = send(app, &connected, &dispute, &evidence, false).await?;
    let (known, spending) = ((&dispute, &evidence.id), Spending::default());
    retry(|| Box::pin(record(app, known, &outcome, &spending, &|_| NoContent::default())))
        .await
        .map(drop)
}
