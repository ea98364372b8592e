//! Reliability evidence: the chain of what was measured, for whoever wants to hold it against what was
//! promised. What is one store's business is that store's and the operators' alone.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Element;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::{Json, Page};
use gateway::request::{Int, Path, Query, Written, request};
use gateway::table;
use ground::id::{EvidenceId, StoreId};
use ground::key;
use ground::scope::ReadOperations;
use platform::caller::Observer;
use reliability::evidence::{
    self, Broken, Checked, Evidence, EvidenceKind, EvidenceName, Head, MOST_CHECKED, Position,
    Stated,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What cursors of a walk are sealed for.
const WALK: &[u8] = b"a walk along the evidence";

/// A record of the chain. Its hash is over `previous_hash` and `record`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EvidenceView {
    id: EvidenceId,
    /// Its place in the chain, from 1.
    number: u64,
    kind: EvidenceKind,
    /// What it is about: the id of a drill, a replay …
    subject: String,
    /// What that came to.
    outcome: String,
    /// The store whose business it is; none where it is the platform's.
    store_id: Option<StoreId>,
    /// What was measured.
    summary: Value,
    /// The canonical text of all this (RFC 8785), as it was hashed.
    record: String,
    /// The hash of the record before it; of the first, 64 zeroes.
    previous_hash: String,
    /// SHA-256 over the text of `previous_hash` and `record`, in hex.
    hash: String,
    created_at: Timestamp,
    updated_at: Timestamp,
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

/// Which records.
#[request]
#[derive(Debug)]
pub(crate) struct EvidenceQuery {
    /// Only those of this kind.
    kind: Option<EvidenceKind>,
    /// Only those recorded at or after this time.
    since: Option<Timestamp>,
}

/// `GET /v1/operations/reliability-evidence` (`listEvidence`): List reliability evidence.
///
/// Lists the evidence, the newest first.
///
/// A store sees the platform's and its own.
pub(crate) async fn list(
    caller: Observer<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<EvidenceQuery>,
    paging: Paging,
) -> Result<Page<EvidenceView>, Problem> {
    let head = app.table.get::<Head>(&key::evidence_head()).await?;
    let since = query.since.unwrap_or_else(|| Timestamp::from_millis(0));
    let months = head.map(|head| evidence::months_of(&head, since)).unwrap_or_default();
    let months: Vec<table::Query> =
        months.iter().rev().map(|month| evidence::newest_of(month)).collect();
    let is_asked_for = |Stated { statement, .. }: &Stated| {
        query.kind.is_none_or(|kind| statement.kind == kind)
            && statement.recorded_at >= since
            && caller.may_see(statement.store_id.as_ref())
    };
    paging.answer_over(&app, &months, is_asked_for, EvidenceView::from).await
}

/// `GET /v1/operations/reliability-evidence/{id}` (`getEvidence`): Get a record of evidence.
///
/// Shows a record with its canonical text and hash.
///
/// # Errors
/// `not_found`.
pub(crate) async fn show(
    caller: Observer<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<EvidenceId>,
) -> Result<Json<EvidenceView>, Problem> {
    let named = app.table.get::<EvidenceName>(&key::evidence_named(&id)).await?;
    let named = named.ok_or(Code::NotFound)?;
    let found = app.table.get::<Evidence>(&named.leads_to()).await?;
    let stated = found.and_then(|evidence| Stated::held_by(evidence).pop());
    let ours = stated.filter(|Stated { statement, .. }| {
        statement.id == id && caller.may_see(statement.store_id.as_ref())
    });
    let view = EvidenceView::from(ours.ok_or(Code::NotFound)?);
    Ok(Json::new(&view).version(view.version))
}

/// How far to walk.
#[request]
#[derive(Debug)]
pub(crate) struct EvidenceVerifyQuery {
    /// Records to walk at once; 1,000 if left out.
    limit: Option<Written<Int<1, 1_000>>>,
    /// Where to go on: `next_cursor` of the answer before.
    cursor: Option<String>,
}

/// The chain, held against its head.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvidenceChainCheck")]
pub(crate) struct ChainCheck {
    /// Whether every record that was walked is as it was written.
    chain_ok: bool,
    /// The hash at the chain's end.
    head_hash: Option<String>,
    /// How many records there are.
    count: u64,
    /// How many of them were walked now.
    checked: usize,
    /// Where the chain is broken first.
    first_broken: Option<Broken>,
    /// What to send as `cursor` to go on; the chain is whole when all of its parts are.
    next_cursor: Option<String>,
}

/// `GET /v1/operations/reliability-evidence/verify` (`verifyEvidence`): Verify the chain of evidence.
///
/// Walks the chain, and names the first record that is not as it was written.
///
/// A record that was changed, taken out or put in is found by its number. A long chain is walked in
/// parts.
///
/// # Errors
/// `invalid_cursor`.
pub(crate) async fn verify(
    _: Observer<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<EvidenceVerifyQuery>,
) -> Result<Json<ChainCheck>, Problem> {
    let keys = app.secrets.keys().await?;
    let opened = |cursor: String| -> Option<Position> {
        serde_json::from_slice(&keys.pages.open(&cursor, WALK).ok()?).ok()
    };
    let from = query.cursor.map(|cursor| opened(cursor).ok_or(Code::InvalidCursor)).transpose()?;
    let limit = query.limit.and_then(|limit| usize::try_from(limit.0.0).ok());
    let found = evidence::check(&app, from, limit.unwrap_or(MOST_CHECKED)).await?;
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
            chain_ok: found.broken.is_none(),
            head_hash: found.head_hash().map(str::to_owned),
            count: found.count(),
            checked: found.checked,
            first_broken: found.broken,
            next_cursor,
        }
    }
}
