//! Reliability evidence: the hash chain of measured results. A record about one store is visible to that
//! store and to operators alone.

use axum::extract::State;
use callers::OperatorOrStore;
use core_types::id::{EvidenceId, StoreId};
use core_types::key;
use core_types::scope::ReadOperations;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Path, Query};
use primitives::clock::Timestamp;
use primitives::fields::{Int, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use reliability::evidence::{
    self, ChainBreak, Checked, Evidence, EvidenceKind, EvidenceName, Head, MAX_CHECKED_RECORDS,
    Position, Stated,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use table::item::Element;

/// The context that cursors of a check are sealed with.
const WALK: &[u8] = b"a walk along the evidence";

/// A record of the evidence chain. Its hash covers `previous_hash` and `record`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EvidenceView {
    /// The id of the record.
    id: EvidenceId,
    /// Its position in the chain, from 1.
    number: u64,
    /// The kind of result that it records.
    kind: EvidenceKind,
    /// The id of the drill, load test, replay, incident or report.
    subject: String,
    /// The outcome in one word: the verdict of a drill, the final status of a replay.
    outcome: String,
    /// The store that it concerns; `null` for the platform.
    store_id: Option<StoreId>,
    /// The measured values; their members depend on `kind`.
    summary: Value,
    /// The hashed text: the record as canonical JSON (RFC 8785).
    record: String,
    /// The hash of the previous record; 64 zeroes for the first.
    previous_hash: String,
    /// SHA-256 of the concatenation of `previous_hash` and `record`, in lower-case hex.
    hash: String,
    /// When it was recorded.
    created_at: Timestamp,
    /// The same as `created_at`: a record never changes.
    updated_at: Timestamp,
    /// Always 1.
    version: u64,
}

impl From<Stated> for EvidenceView {
    fn from(Stated { evidence, statement }: Stated) -> Self {
        Self {
            id: statement.id,
            number: statement.number,
            kind: statement.kind,
            subject: statement.subject,
            outcome: statement.outcome,
            store_id: statement.store_id,
            summary: statement.summary,
            record: evidence.record,
            previous_hash: evidence.previous_hash,
            hash: evidence.hash,
            created_at: statement.recorded_at,
            updated_at: statement.recorded_at,
            version: 1,
        }
    }
}

/// Filters of the list of evidence.
#[request]
#[derive(Debug)]
pub(crate) struct EvidenceQuery {
    /// Only records of this kind.
    kind: Option<EvidenceKind>,
    /// Only records created at or after this time.
    since: Option<Timestamp>,
}

/// `GET /v1/operations/reliability-evidence` (`listEvidence`): List reliability evidence.
///
/// The newest record comes first. A store sees the records of the platform and its own; an operator sees all.
pub(crate) async fn list(
    caller: OperatorOrStore<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<EvidenceQuery>,
    paging: Paging,
) -> Result<Page<EvidenceView>, Problem> {
    let head = app.table.get::<Head>(&key::evidence_head()).await?;
    let since = query.since.unwrap_or_else(|| Timestamp::from_millis(0));
    let months = head.map(|head| evidence::months_of(&head, since)).unwrap_or_default();
    let months: Vec<table::Query> =
        months.iter().rev().map(|month| evidence::newest_of(month)).collect();
    let is_requested = |Stated { statement, .. }: &Stated| {
        query.kind.is_none_or(|kind| statement.kind == kind)
            && statement.recorded_at >= since
            && caller.can_read(statement.store_id.as_ref())
    };
    paging.query_many(&app, &months, is_requested, EvidenceView::from).await
}

/// `GET /v1/operations/reliability-evidence/{id}` (`getEvidence`): Get a record of evidence.
///
/// The response has the canonical text that was hashed, its hash and the previous hash, so that you can
/// verify the record yourself.
///
/// # Errors
/// `not_found`, also for another store's record.
pub(crate) async fn get(
    caller: OperatorOrStore<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<EvidenceId>,
) -> Result<Json<EvidenceView>, Problem> {
    let named = app.table.get::<EvidenceName>(&key::evidence_named(&id)).await?;
    let named = named.ok_or(Code::NotFound)?;
    let found = app.table.get::<Evidence>(&named.leads_to()).await?;
    let stated = found.and_then(|evidence| Stated::held_by(evidence).pop());
    let ours = stated.filter(|Stated { statement, .. }| {
        statement.id == id && caller.can_read(statement.store_id.as_ref())
    });
    let view = EvidenceView::from(ours.ok_or(Code::NotFound)?);
    Ok(Json::new(&view).version(view.version))
}

/// The part of the chain to verify.
#[request]
#[derive(Debug)]
pub(crate) struct EvidenceVerifyQuery {
    /// The number of records to verify in this request: 1 to 1,000, by default 1,000.
    limit: Option<Written<Int<1, 1_000>>>,
    /// The position to continue at: `next_cursor` of the previous response.
    cursor: Option<String>,
}

/// The result of verifying a part of the chain.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvidenceChainCheck")]
pub(crate) struct ChainCheck {
    /// Whether every record that was verified in this request is intact.
    chain_ok: bool,
    /// The hash of the last record of the chain; `null` when there is none.
    head_hash: Option<String>,
    /// The number of records of the chain.
    count: u64,
    /// The number of records that this request verified.
    checked: usize,
    /// The first record that is not intact; `null` when none was found.
    first_broken: Option<ChainBreak>,
    /// The `cursor` to continue with; `null` at the end. The chain is intact when every part is.
    next_cursor: Option<String>,
}

/// `GET /v1/operations/reliability-evidence/verify` (`verifyEvidence`): Verify the chain of evidence.
///
/// The request recomputes the hashes from the first record on, and names the first record that was changed,
/// removed or inserted. One request verifies at most 1,000 records; continue with `next_cursor`.
///
/// # Errors
/// `invalid_cursor`.
pub(crate) async fn verify(
    _: OperatorOrStore<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<EvidenceVerifyQuery>,
) -> Result<Json<ChainCheck>, Problem> {
    let keys = app.secrets.keys().await?;
    let opened = |cursor: String| -> Option<Position> {
        serde_json::from_slice(&keys.pages.open(&cursor, WALK).ok()?).ok()
    };
    let from = query.cursor.map(|cursor| opened(cursor).ok_or(Code::InvalidCursor)).transpose()?;
    let limit = query.limit.and_then(|limit| usize::try_from(limit.0.0).ok());
    let found = evidence::check(&app, from, limit.unwrap_or(MAX_CHECKED_RECORDS)).await?;
    let sealed = |next: &Position| {
        let position = serde_json::to_vec(next).map_err(Problem::internal)?;
        Ok::<_, Problem>(keys.pages.seal(&position, WALK))
    };
    let next_cursor = found.next.as_ref().map(sealed).transpose()?;
    Ok(Json::new(&ChainCheck::of(found, next_cursor)))
}

impl ChainCheck {
    fn of(found: Checked, next_cursor: Option<String>) -> Self {
        Self {
            chain_ok: found.defect.is_none(),
            head_hash: found.head_hash().map(str::to_owned),
            count: found.count(),
            checked: found.checked,
            first_broken: found.defect,
            next_cursor,
        }
    }
}
