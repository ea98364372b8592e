//! Routes of disputes: the list, a dispute, and its evidence.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::{DisputeId, PaymentId};
use core_types::provider::ProviderName;
use core_types::scope::{ReadPayments, WritePayments};
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Body, IfMatch, Path, Query, Raw};
use primitives::context::Context;
use primitives::input::request;
use primitives::problem::Problem;
use replies::ResourceReply;
use sales::dispute::{Dispute, DisputeStatus, DisputeView, load};
use sales::payment;
use sales::workflows::submit_evidence::{self, SubmitEvidence};
use serde_json::Value;

/// With a selective filter: the disputes that one round trip reads, and the most round trips for a page.
/// After these the page ends early, with a cursor.
const AHEAD: (usize, u32) = (200, 10);

/// The filters of disputes.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only disputes of this payment.
    payment_id: Option<PaymentId>,
    /// Only disputes with this status.
    status: Option<DisputeStatus>,
    /// Only disputes through this provider.
    provider: Option<ProviderName>,
}

impl ListQuery {
    fn matches(&self, dispute: &Dispute) -> bool {
        self.status.is_none_or(|status| dispute.status == status)
            && self.provider.is_none_or(|provider| dispute.provider == provider)
    }
}

/// `GET /v1/payments/disputes` (`listDisputes`): List disputes of a store.
///
/// Disputes come newest first; those of one payment in the order in which they were recorded.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadPayments>,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<DisputeView>, Problem> {
    let store = &caller.store.id;
    if let Some(id) = &query.payment_id {
        let payment = payment::load::found(&app, &caller.store, id).await?;
        let ids = payment.iter().flat_map(|payment| &payment.disputes).map(|known| &known.id);
        let mut disputes = load::disputes(&app, store, ids).await?;
        disputes.retain(|dispute| query.matches(dispute));
        let views: Vec<DisputeView> = disputes.iter().map(DisputeView::from).collect();
        return paging.slice(&app, views, |dispute| dispute.id.to_string()).await;
    }
    let listed = load::of_store(store, query.status).newest_first();
    let listed = match query.provider {
        Some(_) => listed.with_scan_limit(AHEAD.0, AHEAD.1),
        None => listed,
    };
    let matches = |dispute: &Dispute| query.matches(dispute);
    paging.query(&app, &listed, matches, |dispute: Dispute| DisputeView::from(&dispute)).await
}

/// `GET /v1/payments/disputes/{id}` (`getDispute`): Get a dispute.
///
/// The response has its reason, its deadline and its evidence.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadPayments>,
    State(app): State<App>,
    Path(id): Path<DisputeId>,
) -> Result<Json<DisputeView>, Problem> {
    Ok(load::dispute(&app, &caller.store.id, &id).await?.to_response())
}

/// Evidence against a dispute.
#[request]
#[derive(Debug)]
pub struct EvidenceRequest {
    /// The fields that the provider accepts: texts and ids of files at Stripe
    /// (<https://docs.stripe.com/api/disputes/update>); at Razorpay `amount`, `summary`, and ids of
    /// documents (<https://razorpay.com/docs/api/disputes/contest>). At most 200 KiB.
    #[schemars(schema_with = "fields")]
    evidence: Value,
    /// Whether it is submitted to the bank, which can be done once. Otherwise the provider saves it as a
    /// draft.
    submit: Option<bool>,
}

/// The schema of the fields, which differ by provider.
fn fields(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "minProperties": 1})
}

/// `POST /v1/payments/disputes/{id}/evidence` (`submitDisputeEvidence`): Submit evidence for a dispute.
///
/// The evidence is sent to the provider, as a draft or for the bank.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `evidence_pending`, `evidence_past_due`,
/// `precondition_failed`, `version_conflict`, `provider_not_connected`, `provider_error`,
/// `provider_timeout`; `unknown_field`, `invalid_type`, `out_of_range`, `too_few` and `too_long` as
/// field errors of the evidence.
pub async fn submit_evidence(
    caller: StoreAccess<WritePayments>,
    State(app): State<App>,
    Raw(inbound): Raw,
    Path(id): Path<DisputeId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(input): Body<EvidenceRequest>,
) -> Result<Json<DisputeView>, Problem> {
    let principal = Context::current().map(|context| context.principal()).unwrap_or_default();
    let seed = format!("{principal}#{}", inbound.header("idempotency-key").unwrap_or_default());
    let submit = input.submit.unwrap_or(false);
    let input =
        SubmitEvidence { fields: input.evidence, submit, seed, expected_version: if_match.0 };
    let completion = answering(Dispute::to_response);
    Box::pin(submit_evidence::submit(&app, &caller.store.id, &id, &input, &completion)).await
}
