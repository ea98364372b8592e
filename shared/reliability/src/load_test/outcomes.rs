//! What a load test measures: the outcomes of its requests.

use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::metrics::{Histogram, Percentiles};

/// The outcome of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The status; none without an answer.
    pub status: Option<u16>,
    /// The latency, in microseconds.
    pub micros: u64,
    /// The cost that the response reports, in points.
    pub points: u64,
    /// The consumption that the response reports, in tenths of capacity units; only locally.
    pub unit_tenths: u64,
}

/// The outcomes of requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Requests that were sent.
    pub sent: u64,
    /// Answered 2xx or 3xx.
    pub succeeded: u64,
    /// Answered 429.
    pub limited: u64,
    /// Answered another 4xx.
    pub rejected: u64,
    /// Answered 5xx.
    pub failed: u64,
    /// Not answered in time, or not at all.
    pub unanswered: u64,
    /// The cost in points.
    pub points: u64,
    /// The consumption in tenths of capacity units.
    pub unit_tenths: u64,
    /// The response times of the answered requests, in microseconds.
    pub latency: Histogram,
}

impl Outcomes {
    /// Counts a request.
    pub fn count(&mut self, sample: Sample) {
        let slot = match sample.status {
            Some(200..=399) => &mut self.succeeded,
            Some(429) => &mut self.limited,
            Some(400..=499) => &mut self.rejected,
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

    /// The share of requests that did not succeed, in hundredths of a percent.
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
    /// The response times of the answered requests, in microseconds.
    pub latency_us: Percentiles,
}

impl Stretch {
    pub(super) fn of(samples: &[&[Sample]], at: Timestamp) -> Self {
        let mut all = Outcomes::default();
        for sample in samples.iter().copied().flatten() {
            all.count(*sample);
        }
        let (sent, errors) = (all.sent, all.sent.saturating_sub(all.succeeded));
        Self { at, sent, errors, latency_us: all.latency.percentiles() }
    }
}
