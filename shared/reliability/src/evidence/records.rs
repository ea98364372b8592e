//! What is stated about work that is over, once: the same outcome of the same work has the same id. What was
//! given up is stated too, so that nothing that was begun is missing from the chain.

use delivery::replay::Replay;
use primitives::problem::Problem;

use super::summary::ReplaySummary;
use super::{EvidenceKind, Record};
use crate::drill::{Drill, DrillStatus};
use crate::load_test::LoadTest;

impl Record {
    /// How a drill went that is over, or about to be.
    pub fn of_drill(drill: &Drill) -> Self {
        let is_given_up = drill.status == DrillStatus::Aborted;
        let outcome = if is_given_up { drill.status.as_str() } else { drill.outcome().as_str() };
        Self {
            kind: EvidenceKind::Drill,
            subject: drill.id.to_string(),
            outcome: outcome.to_owned(),
            store_id: None,
            summary: drill.summary(),
        }
    }

    /// How a load test went that is over.
    pub fn of_load_test(test: &LoadTest) -> Self {
        Self {
            kind: EvidenceKind::LoadTest,
            subject: test.id.to_string(),
            outcome: test.status.to_string(),
            store_id: None,
            summary: test.summary(),
        }
    }

    /// What a replay came to that is over. What was skipped and not in flight never arrives.
    ///
    /// # Errors
    /// 500: it has no JSON.
    pub fn of_replay(replay: &Replay) -> Result<Self, Problem> {
        let summary = ReplaySummary {
            matched: replay.matched,
            delivered: replay.succeeded,
            missing: replay.matched.saturating_sub(replay.sent),
        };
        Ok(Self {
            kind: EvidenceKind::Replay,
            subject: replay.id.to_string(),
            outcome: replay.status.to_string(),
            store_id: Some(replay.store_id.clone()),
            summary: serde_json::to_value(summary).map_err(Problem::internal)?,
        })
    }
}
