//! A load test as operators see it.

use gateway::clock::Timestamp;
use gateway::metrics::Percentiles;
use ground::id::{LoadTestId, MerchantId, StoreId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{LoadProfile, LoadTest, LoadTestStatus, Outcomes, Stretch};

/// What requests cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LoadTestCost")]
pub struct CostView {
    /// Points, as their answers say.
    pub points: u64,
    /// Tenths of the table's capacity units; 0 where answers do not say them, as in production.
    pub unit_tenths: u64,
}

/// How requests of a kind were answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomesView {
    /// Requests that were made.
    pub sent: u64,
    /// Answered 2xx or 3xx.
    pub succeeded: u64,
    /// Answered 429.
    pub limited: u64,
    /// Answered another 4xx.
    pub refused: u64,
    /// Answered 5xx.
    pub failed: u64,
    /// Not answered in time, or not at all.
    pub unanswered: u64,
    /// Those that did not succeed, in hundredths of a percent.
    pub error_basis_points: u64,
    /// How long they took, in microseconds.
    pub latency_us: Percentiles,
    /// What they cost.
    pub cost: CostView,
}

impl From<&Outcomes> for OutcomesView {
    fn from(outcomes: &Outcomes) -> Self {
        Self {
            sent: outcomes.sent,
            succeeded: outcomes.succeeded,
            limited: outcomes.limited,
            refused: outcomes.refused,
            failed: outcomes.failed,
            unanswered: outcomes.unanswered,
            error_basis_points: outcomes.error_basis_points(),
            latency_us: outcomes.latency.percentiles(),
            cost: CostView { points: outcomes.points, unit_tenths: outcomes.unit_tenths },
        }
    }
}

ground::view! {
    /// A load test as operators see it.
    LoadTestView of test: LoadTest {
        /// The id.
        id: LoadTestId,
        /// On which store: the canary.
        target: StoreId,
        /// What was asked for.
        profile: LoadProfile,
        /// Who asked for it.
        requested_by: MerchantId,
        /// Where it is.
        status: LoadTestStatus,
        /// Why it ended before its time.
        stop_reason: Option<String>,
        /// Requests in all, as planned.
        planned: u64 = test.profile.planned(),
        /// Seconds whose requests were made.
        seconds_done: u64,
        /// How reads of the storefront were answered.
        reads: OutcomesView = OutcomesView::from(&test.reads),
        /// How checkouts were answered.
        checkouts: OutcomesView = OutcomesView::from(&test.checkouts),
        /// How it went over time, some seconds at once.
        stretches: Vec<Stretch>,
        /// When it began.
        started_at: Option<Timestamp>,
        /// When it was over.
        finished_at: Option<Timestamp>,
        /// The evidence that states it.
        evidence_ids: Vec<String> = test.evidence_id.iter().cloned().collect(),
        /// What can be done to it.
        allowed_actions: Vec<&'static str> = test.allowed_actions(),
        /// When it was asked for.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
