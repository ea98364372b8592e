//! What the records of each kind measured, as far as reports count with it. A record may say more.

use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};

/// A failover drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrillSummary {
    /// Which fault was injected.
    pub kind: String,
    /// From the fault's end until all was as before, in seconds; none if it never was.
    pub observed_rto_s: Option<u64>,
    /// Events that happened during the drill.
    pub events: u64,
    /// Those of them that never arrived.
    pub lost_events: u64,
}

/// A load test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTestSummary {
    /// Requests made.
    pub requests: u64,
    /// Those that failed: 5xx, or no answer.
    pub errors: u64,
    /// Half of them were answered within this, in milliseconds.
    pub p50_ms: u64,
    /// 95 of 100 were.
    pub p95_ms: u64,
    /// 99 of 100 were.
    pub p99_ms: u64,
}

/// A replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaySummary {
    /// Deliveries that were to be made.
    pub matched: u64,
    /// Those that arrived.
    pub delivered: u64,
    /// Those that were never made.
    pub missing: u64,
}

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentSummary {
    /// How bad it was.
    pub severity: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was resolved.
    pub resolved_at: Timestamp,
}
