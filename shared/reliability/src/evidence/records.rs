//! Records of drills, load tests and replays that ended. The same outcome of the same run has the same id, so
//! it is recorded once. Aborted runs are recorded too, so that the chain shows every run that began.

use delivery::replay::Replay;
use primitives::problem::Problem;

use super::summary::ReplaySummary;
use super::{EvidenceKind, Record};
use crate::drill::{Drill, DrillStatus};
use crate::load_test::LoadTest;

impl Record {
    /// The record of a drill that has ended, or is about to.
    pub fn of_drill(drill: &Drill) -> Self {
        let is_aborted = drill.status == DrillStatus::Aborted;
        let outcome = if is_aborted { drill.status.as_str() } else { drill.outcome().as_str() };
        Self {
            kind: EvidenceKind::Drill,
            subject: drill.id.to_string(),
            outcome: outcome.to_owned(),
            store_id: None,
            summary: drill.summary(),
        }
    }

    /// The record of a load test that has ended.
    pub fn of_load_test(test: &LoadTest) -> Self {
        Self {
            kind: EvidenceKind::LoadTest,
            subject: test.id.to_string(),
            outcome: test.status.to_string(),
            store_id: None,
            summary: test.summary(),
        }
    }

    /// The record of a replay that has ended. Deliveries that were matched and not sent count as missing.
    ///
    /// # Errors
    /// 500: it cannot be serialized.
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
