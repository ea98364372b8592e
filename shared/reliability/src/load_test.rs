//! Load tests: requests to the canary's storefront at a rate, as many shoppers make them, and how they
//! were answered (docs/operations.md).
//!
//! ```text
//! scheduled ─► running ─► completed
//!     │           ├─────► failed    it stood still for longer than it may take
//!     └───────────┴─────► aborted   by an operator
//! ```
//!
//! The rate is kept whatever the answers are: a service that is slow is asked no less often. What a runner
//! that was lost had sent and not yet counted is sent again, some seconds' requests at most.

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
use services::metrics::{Histogram, Percentiles};
use table::canary::CanaryHold;
use table::item::{Item, Key};

pub use view::LoadTestView;

/// The longest, in seconds (docs/operations.md).
pub const MAX_DURATION_SECONDS: i64 = 60;
/// The highest rate, in requests a second (docs/operations.md).
pub const MAX_RATE: i64 = 200;
/// How long load tests are kept.
pub const RETENTION: Duration = DAY.saturating_mul(400);
/// How long a step may be silent before somebody else takes the test over.
const LEASE: Duration = Duration::from_secs(30);
/// What it may take beyond its time: to prepare the canary, and for answers that are late.
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
    /// Whether nothing more happens.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Aborted | Self::Failed)
    }
}

/// The load of a load test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadProfile {
    /// How long it runs, in seconds.
    pub duration_s: u64,
    /// The number of requests a second.
    pub requests_per_second: u64,
    /// The percentage of requests that are checkouts. The others read the storefront.
    pub checkout_percent: u64,
}

impl LoadProfile {
    /// Requests in all.
    pub fn planned(&self) -> u64 {
        self.duration_s.saturating_mul(self.requests_per_second)
    }

    /// Whether the request of this number is a checkout: they are spread evenly.
    pub fn is_checkout(&self, number: u64) -> bool {
        let upto = |n: u64| n.saturating_mul(self.checkout_percent).div_euclid(100);
        upto(number.saturating_add(1)) > upto(number)
    }
}

/// How one request was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The status; none without an answer.
    pub status: Option<u16>,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// What the answer says that it cost, in points.
    pub points: u64,
    /// What the answer says that it consumed, in tenths of capacity units; locally alone.
    pub unit_tenths: u64,
}

/// How requests were answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
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
    /// Points.
    pub points: u64,
    /// Tenths of capacity units.
    pub unit_tenths: u64,
    /// How long they took, in microseconds.
    pub latency: Histogram,
}

impl Outcomes {
    /// With this one.
    pub fn count(&mut self, sample: Sample) {
        let slot = match sample.status {
            Some(200..=399) => &mut self.succeeded,
            Some(429) => &mut self.limited,
            Some(400..=499) => &mut self.refused,
            Some(_) => &mut self.failed,
            None => &mut self.unanswered,
        };
        *slot = slot.saturating_add(1);
        self.sent = self.sent.saturating_add(1);
        self.points = self.points.saturating_add(sample.points);
        self.unit_tenths = self.unit_tenths.saturating_add(sample.unit_tenths);
        if sample.status.is_some() {
            self.latency.note(sample.micros);
        }
    }

    /// Those that did not succeed, in hundredths of a percent.
    pub fn error_basis_points(&self) -> u64 {
        let bad = self.sent.saturating_sub(self.succeeded);
        bad.saturating_mul(10_000).checked_div(self.sent).unwrap_or(0)
    }
}

/// The requests of some seconds of a load test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LoadTestInterval")]
pub struct Stretch {
    /// When they were counted.
    pub at: Timestamp,
    /// The number of requests sent.
    pub sent: u64,
    /// The number of requests that were not answered 2xx or 3xx.
    pub errors: u64,
    /// How long the answered requests took, in microseconds.
    pub latency_us: Percentiles,
}

impl Stretch {
    fn of(samples: &[&[Sample]], at: Timestamp) -> Self {
        let mut all = Outcomes::default();
        for sample in samples.iter().copied().flatten() {
            all.count(*sample);
        }
        let (sent, errors) = (all.sent, all.sent.saturating_sub(all.succeeded));
        Self { at, sent, errors, latency_us: all.latency.percentiles() }
    }
}

/// A load test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTest {
    /// `lod_…`; later ones sort after it.
    pub id: LoadTestId,
    /// On which store: the canary.
    pub target: StoreId,
    /// What was asked for.
    pub profile: LoadProfile,
    /// Who asked for it.
    pub requested_by: MerchantId,
    /// Where it is.
    pub status: LoadTestStatus,
    /// Why it ended before its time.
    pub stop_reason: Option<String>,
    /// Seconds whose requests were made.
    pub seconds_done: u64,
    /// How reads of the storefront were answered.
    pub reads: Outcomes,
    /// How checkouts were answered.
    pub checkouts: Outcomes,
    /// How it went over time.
    pub stretches: Vec<Stretch>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// Where it is stated.
    pub evidence_id: Option<String>,
    /// Until when a step is at it.
    pub lease_until: Option<Timestamp>,
    /// When the sweep sends for it.
    pub due_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it changed last.
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
        let due = self.due_at.map(|at| table::outbox::Due::Run.mark(self.id.as_str(), at));
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
    /// A load test that is yet to begin.
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

    /// When it is over at the latest, however often it was interrupted.
    pub fn ends_by(&self) -> Timestamp {
        let began = self.started_at.unwrap_or(self.created_at);
        began.plus(Duration::from_secs(self.profile.duration_s).saturating_add(GRACE))
    }

    /// The canary, held for it.
    pub fn hold(&self) -> CanaryHold {
        let held_until = self.ends_by().plus(GRACE);
        CanaryHold { run_id: self.id.to_string(), fault: None, held_until, version: 1 }
    }

    /// What can be done to it.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_final() { Vec::new() } else { vec!["abort"] }
    }

    /// The load test at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Taken up by somebody, who is silent no longer than their lease.
    #[must_use]
    pub fn claimed(&self, now: Timestamp) -> Self {
        let until = Some(now.plus(LEASE));
        let (status, started_at) = (LoadTestStatus::Running, self.started_at.or(Some(now)));
        Self { status, started_at, lease_until: until, due_at: until, ..self.changed(now) }
    }

    /// Left by who was at it, to be sent for in a while.
    #[must_use]
    pub fn left(&self, now: Timestamp) -> Self {
        Self { lease_until: None, ..self.claimed(now) }
    }

    /// Whether somebody is at it.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
    }

    /// With the requests of so many seconds more.
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

    /// Whether all requests were made.
    pub fn is_done(&self) -> bool {
        self.seconds_done >= self.profile.duration_s
    }

    /// Over: all requests were made.
    #[must_use]
    pub fn completed(&self, now: Timestamp) -> Self {
        self.over(LoadTestStatus::Completed, None, now)
    }

    /// Stated as this record of the evidence.
    #[must_use]
    pub fn stated(self, evidence_id: String) -> Self {
        Self { evidence_id: Some(evidence_id), ..self }
    }

    /// Over: it could not go on.
    #[must_use]
    pub fn failed(&self, why: &str, now: Timestamp) -> Self {
        self.over(LoadTestStatus::Failed, Some(why.to_owned()), now)
    }

    /// Ended by an operator.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is over.
    pub fn aborted(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_final() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.aborted_because("aborted by an operator", now))
    }

    /// Ended before its time, for this reason.
    #[must_use]
    pub fn aborted_because(&self, why: &str, now: Timestamp) -> Self {
        self.over(LoadTestStatus::Aborted, Some(why.to_owned()), now)
    }

    fn over(&self, status: LoadTestStatus, stop_reason: Option<String>, now: Timestamp) -> Self {
        Self {
            status,
            stop_reason,
            finished_at: Some(now),
            lease_until: None,
            due_at: None,
            ..self.changed(now)
        }
    }

    /// How long all requests took, in microseconds.
    pub fn latency(&self) -> Percentiles {
        let mut all = self.reads.latency.clone();
        all.merge(&self.checkouts.latency);
        all.percentiles()
    }

    /// What its evidence says.
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
            "refused": sum(|it| it.refused),
            "points": sum(|it| it.points),
            "p50_ms": millis(p50),
            "p95_ms": millis(p95),
            "p99_ms": millis(p99),
        })
    }
}
