//! The summaries of evidence records, as far as reports use them. A record may have further fields.

use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};

/// The summary of a failover drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrillSummary {
    /// The kind of the drill.
    pub kind: String,
    /// Seconds from the end of the fault until recovery; none without recovery.
    pub observed_rto_s: Option<u64>,
    /// Events that the drill created.
    pub events: u64,
    /// The number of lost events.
    pub lost_events: u64,
}

/// The summary of a load test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTestSummary {
    /// Requests sent.
    pub requests: u64,
    /// The number of failed requests: 5xx, or no answer.
    pub errors: u64,
    /// The median latency, in milliseconds.
    pub p50_ms: u64,
    /// The 95th percentile of the latency, in milliseconds.
    pub p95_ms: u64,
    /// The 99th percentile of the latency, in milliseconds.
    pub p99_ms: u64,
}

/// The summary of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaySummary {
    /// Deliveries that matched the replay's selection.
    pub matched: u64,
    /// The number of successful deliveries.
    pub delivered: u64,
    /// The number of events that were not sent.
    pub missing: u64,
}

/// The summary of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentSummary {
    /// The severity.
    pub severity: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was resolved.
    pub resolved_at: Timestamp,
}
