//! What is stated about work that is over, once: the same outcome of the same work has the same id.

use delivery::replay::Replay;
use gateway::app::App;
use gateway::problem::Problem;
use ground::id::EvidenceId;
use reliability::drill::Drill;
use reliability::evidence::summary::ReplaySummary;
use reliability::evidence::{EvidenceKind, Record, append};
use reliability::load_test::LoadTest;

/// States how a drill went; answers with where.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn of_drill(app: &App, drill: &Drill) -> Result<EvidenceId, Problem> {
    let record = Record {
        kind: EvidenceKind::Drill,
        subject: drill.id.to_string(),
        outcome: drill.outcome().to_string(),
        store_id: None,
        summary: drill.summary(),
    };
    append(app, record).await
}

/// States how a load test went; answers with where.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn of_load_test(app: &App, test: &LoadTest) -> Result<EvidenceId, Problem> {
    let record = Record {
        kind: EvidenceKind::LoadTest,
        subject: test.id.to_string(),
        outcome: "completed".to_owned(),
        store_id: None,
        summary: test.summary(),
    };
    append(app, record).await
}

/// States what a replay that is over came to. What was skipped and not in flight never arrives.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn of_replay(app: &App, replay: &Replay) -> Result<EvidenceId, Problem> {
    let summary = ReplaySummary {
        matched: replay.matched,
        delivered: replay.succeeded,
        missing: replay.matched.saturating_sub(replay.sent),
    };
    let record = Record {
        kind: EvidenceKind::Replay,
        subject: replay.id.to_string(),
        outcome: replay.status.as_str().to_owned(),
        store_id: Some(replay.store_id.clone()),
        summary: serde_json::to_value(summary).map_err(Problem::internal)?,
    };
    append(app, record).await
}
