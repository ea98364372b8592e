//! Load tests: requests to the canary's storefront at a fixed rate, like those of many shoppers, and how they
//! were answered (docs/operations.md).
//!
//! ```text
//! scheduled ─► running ─► completed
//!     │           ├─────► failed    it did not finish in time, or could not continue
//!     └───────────┴─────► aborted   by an operator
//! ```
//!
//! The rate does not depend on the answers: a slow service gets as many requests. Requests that a crashed
//! runner had sent and not yet counted are sent again, those of some seconds at most.

mod outcomes;
#[cfg(test)]
mod tests;
mod view;

use std::time::Duration;

use core_types::id::{LoadTestId, MerchantId, StoreId};
use core_types::key::{self, IndexKey};
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::metrics::Percentiles;
use table::canary::CanaryHold;
use table::item::{Item, Key};

pub use outcomes::{Outcomes, Sample, Stretch};
pub use view::LoadTestView;

/// The longest load test, in seconds (docs/operations.md).
pub const MAX_DURATION_SECONDS: i64 = 60;
/// The highest rate, in requests a second (docs/operations.md).
pub const MAX_RATE: i64 = 200;
/// The retention of load tests.
pub const RETENTION: Duration = DAY.saturating_mul(400);
/// The lease of a step: another runner takes the test over when it has expired.
const LEASE: Duration = Duration::from_secs(30);
/// The time that it may take beyond its duration: to prepare the canary, and for late answers.
const GRACE: Duration = MINUTE.saturating_mul(3);

primitives::string_enum! {
    /// The status of a load test.
    LoadTestStatus {
        /// It has not begun.
        Scheduled = "scheduled",
        /// It sends requests.
        Running = "running",
        /// It has sent all requests.
        Completed = "completed",
        /// It was aborted by an operator, or because its creator is no operator any more.
        Aborted = "aborted",
        /// It stopped for too long, or could not continue.
        Failed = "failed",
    }
}

impl LoadTestStatus {
    /// Whether the load test has ended.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Aborted | Self::Failed)
    }
}

/// The load of a load test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadProfile {
    /// The duration, in seconds.
    pub duration_s: u64,
    /// The number of requests a second.
    pub requests_per_second: u64,
    /// The percentage of requests that are checkouts. The others read the storefront.
    pub checkout_percent: u64,
}

impl LoadProfile {
    /// The total number of requests.
    pub fn planned(&self) -> u64 {
        self.duration_s.saturating_mul(self.requests_per_second)
    }

    /// Whether the request of this number is a checkout. Checkouts are spread evenly.
    pub fn is_checkout(&self, number: u64) -> bool {
        let upto = |n: u64| n.saturating_mul(self.checkout_percent).div_euclid(100);
        upto(number.saturating_add(1)) > upto(number)
    }
}

/// A load test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTest {
    /// `lod_…`; ids sort by creation.
    pub id: LoadTestId,
    /// The target store: the canary.
    pub target: StoreId,
    /// The requested load.
    pub profile: LoadProfile,
    /// The operator who created it.
    pub requested_by: MerchantId,
    /// The status.
    pub status: LoadTestStatus,
    /// The reason of its early end.
    pub stop_reason: Option<String>,
    /// The number of seconds whose requests were sent.
    pub seconds_done: u64,
    /// The outcomes of reads of the storefront.
    pub reads: Outcomes,
    /// The outcomes of checkouts.
    pub checkouts: Outcomes,
    /// The outcomes over time.
    pub stretches: Vec<Stretch>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The evidence record of the load test.
    pub evidence_id: Option<String>,
    /// The end of the lease of the step that runs.
    pub lease_until: Option<Timestamp>,
    /// When the sweep enqueues it again.
    pub due_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Item for LoadTest {
    const KIND: &'static str = "load_test";
    fn key(&self) -> Key {
        key::load_test(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let due = self.due_at.map(|at| table::outbox::DueKind::Run.mark(self.id.as_str(), at));
        [key::operation_of_month(Self::KIND, self.created_at, self.id.as_str())]
            .into_iter()
            .chain(due)
            .collect()
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl LoadTest {
    /// A new load test, scheduled to begin.
    pub fn schedule(profile: LoadProfile, by: &MerchantId, now: Timestamp) -> Self {
        Self {
            id: LoadTestId::mint(now),
            target: StoreId::canary(),
            profile,
            requested_by: by.clone(),
            status: LoadTestStatus::Scheduled,
            stop_reason: None,
            seconds_done: 0,
            reads: Outcomes::default(),
            checkouts: Outcomes::default(),
            stretches: Vec::new(),
            started_at: None,
            finished_at: None,
            evidence_id: None,
            lease_until: None,
            due_at: Some(now.plus(LEASE)),
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// When it ends at the latest, however often it was interrupted.
    pub fn ends_by(&self) -> Timestamp {
        let began = self.started_at.unwrap_or(self.created_at);
        began.plus(Duration::from_secs(self.profile.duration_s).saturating_add(GRACE))
    }

    /// The hold on the canary for this load test.
    pub fn hold(&self) -> CanaryHold {
        let held_until = self.ends_by().plus(GRACE);
        CanaryHold { run_id: self.id.to_string(), fault: None, held_until, version: 1 }
    }

    /// The actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_final() { Vec::new() } else { vec!["abort"] }
    }

    /// The load test at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The load test running, with a new lease for a runner.
    #[must_use]
    pub fn claimed(&self, now: Timestamp) -> Self {
        let until = Some(now.plus(LEASE));
        let (status, started_at) = (LoadTestStatus::Running, self.started_at.or(Some(now)));
        Self { status, started_at, lease_until: until, due_at: until, ..self.changed(now) }
    }

    /// The load test with its lease released, to be enqueued again by the sweep.
    #[must_use]
    pub fn released(&self, now: Timestamp) -> Self {
        Self { lease_until: None, ..self.claimed(now) }
    }

    /// Whether a runner holds a lease on it.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
    }

    /// The load test with the requests of `seconds` more seconds.
    #[must_use]
    pub fn with_seconds(
        &self,
        seconds: u64,
        reads: &[Sample],
        checkouts: &[Sample],
        now: Timestamp,
    ) -> Self {
        let mut next = self.claimed(now);
        next.seconds_done = next.seconds_done.saturating_add(seconds);
        for sample in reads {
            next.reads.count(*sample);
        }
        for sample in checkouts {
            next.checkouts.count(*sample);
        }
        next.stretches.push(Stretch::of(&[reads, checkouts], now));
        next
    }

    /// Whether all requests were sent.
    pub fn is_done(&self) -> bool {
        self.seconds_done >= self.profile.duration_s
    }

    /// The load test completed: all requests were sent.
    #[must_use]
    pub fn completed(&self, now: Timestamp) -> Self {
        self.ended(LoadTestStatus::Completed, None, now)
    }

    /// The load test with the id of its evidence record.
    #[must_use]
    pub fn with_evidence(self, evidence_id: String) -> Self {
        Self { evidence_id: Some(evidence_id), ..self }
    }

    /// The load test failed: it could not continue.
    #[must_use]
    pub fn failed(&self, why: &str, now: Timestamp) -> Self {
        self.ended(LoadTestStatus::Failed, Some(why.to_owned()), now)
    }

    /// The load test aborted by an operator.
    ///
    /// # Errors
    /// `invalid_state_transition` when it has ended.
    pub fn aborted(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_final() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.aborted_because("aborted by an operator", now))
    }

    /// The load test aborted for this reason.
    #[must_use]
    pub fn aborted_because(&self, why: &str, now: Timestamp) -> Self {
        self.ended(LoadTestStatus::Aborted, Some(why.to_owned()), now)
    }

    fn ended(&self, status: LoadTestStatus, stop_reason: Option<String>, now: Timestamp) -> Self {
        Self {
            status,
            stop_reason,
            finished_at: Some(now),
            lease_until: None,
            due_at: None,
            ..self.changed(now)
        }
    }

    /// The latency of all answered requests, in microseconds.
    pub fn latency(&self) -> Percentiles {
        let mut all = self.reads.latency.clone();
        all.merge(&self.checkouts.latency);
        all.percentiles()
    }

    /// The summary in its evidence record.
    pub fn summary(&self) -> serde_json::Value {
        let (reads, checkouts) = (&self.reads, &self.checkouts);
        let sum = |of: fn(&Outcomes) -> u64| of(reads).saturating_add(of(checkouts));
        let Percentiles { p50, p95, p99 } = self.latency();
        let millis = |micros: Option<u64>| micros.map_or(0, |micros| micros.div_ceil(1_000));
        serde_json::json!({
            "target": self.target,
            "profile": self.profile,
            "requests": sum(|it| it.sent),
            "errors": sum(|it| it.failed.saturating_add(it.unanswered)),
            "limited": sum(|it| it.limited),
            "rejected": sum(|it| it.rejected),
            "points": sum(|it| it.points),
            "p50_ms": millis(p50),
            "p95_ms": millis(p95),
            "p99_ms": millis(p99),
        })
    }
}
