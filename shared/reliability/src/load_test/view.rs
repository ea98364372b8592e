//! Load tests in responses.

use core_types::id::{LoadTestId, MerchantId, StoreId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use services::metrics::Percentiles;

use super::{LoadProfile, LoadTest, LoadTestStatus, Outcomes, Stretch};

/// The cost of requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LoadTestCost")]
pub struct CostView {
    /// The points that the responses report.
    pub points: u64,
    /// Tenths of capacity units of the table; 0 where responses do not report them, as in production.
    pub unit_tenths: u64,
}

/// The outcomes of requests of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomesView {
    /// The number of requests sent.
    pub sent: u64,
    /// The number of requests answered 2xx or 3xx.
    pub succeeded: u64,
    /// The number of requests answered 429.
    pub limited: u64,
    /// The number of requests answered with another 4xx.
    pub rejected: u64,
    /// The number of requests answered 5xx.
    pub failed: u64,
    /// The number of requests that were not answered, or not in time.
    pub unanswered: u64,
    /// The share of requests that did not succeed, in hundredths of a percent.
    pub error_basis_points: u64,
    /// The response times of the answered requests, in microseconds.
    pub latency_us: Percentiles,
    /// The cost of the requests.
    pub cost: CostView,
}

impl From<&Outcomes> for OutcomesView {
    fn from(outcomes: &Outcomes) -> Self {
        Self {
            sent: outcomes.sent,
            succeeded: outcomes.succeeded,
            limited: outcomes.limited,
            rejected: outcomes.rejected,
            failed: outcomes.failed,
            unanswered: outcomes.unanswered,
            error_basis_points: outcomes.error_basis_points(),
            latency_us: outcomes.latency.percentiles(),
            cost: CostView { points: outcomes.points, unit_tenths: outcomes.unit_tenths },
        }
    }
}

core_types::view! {
    /// A load test.
    LoadTestView of test: LoadTest {
        /// The id.
        id: LoadTestId,
        /// The canary store.
        target: StoreId,
        /// The load that was requested.
        profile: LoadProfile,
        /// The operator who created it.
        requested_by: MerchantId,
        /// The status.
        status: LoadTestStatus,
        /// The reason of its early end.
        stop_reason: Option<String>,
        /// The total number of requests that it plans to send.
        planned: u64 = test.profile.planned(),
        /// The number of seconds whose requests were sent.
        seconds_done: u64,
        /// The outcomes of reads of the storefront.
        reads: OutcomesView = OutcomesView::from(&test.reads),
        /// The outcomes of checkouts.
        checkouts: OutcomesView = OutcomesView::from(&test.checkouts),
        /// The outcomes over time, by stretches of some seconds.
        stretches: Vec<Stretch>,
        /// When it began.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The evidence record of the load test, once it ended.
        evidence_ids: Vec<String> = test.evidence_id.iter().cloned().collect(),
        /// The actions that its status allows: `abort`.
        allowed_actions: Vec<&'static str> = test.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}
