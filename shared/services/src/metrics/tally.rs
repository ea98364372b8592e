//! The counts of a subject in a minute.

use std::time::Duration;

use super::Histogram;

/// The outcome of a request or a delivery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestOutcome {
    /// The duration.
    pub took: Duration,
    /// Whether it failed by an error of the service: 5xx.
    pub is_error: bool,
    /// Whether it was rejected: 4xx, except 429.
    pub is_rejection: bool,
    /// Whether it was rate-limited: 429.
    pub is_throttled: bool,
    /// The number of calls that the table throttled.
    pub table_throttles: u32,
}

impl RequestOutcome {
    /// The outcome of a request, by the status of its response.
    pub fn of_response(status: u16, took: Duration, table_throttles: u32) -> Self {
        let is_throttled = status == 429;
        let is_rejection = (400..500).contains(&status) && !is_throttled;
        Self { took, is_error: status >= 500, is_rejection, is_throttled, table_throttles }
    }
}

/// The counts of outcomes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All.
    pub count: u64,
    /// The failed ones: 5xx.
    pub errors: u64,
    /// The rejected ones: 4xx, except 429.
    pub rejections: u64,
    /// The rate-limited ones: 429.
    pub throttled: u64,
    /// The number of calls that the table throttled.
    pub table_throttles: u64,
    /// The authorization codes that were presented again.
    pub code_replays: u64,
    /// The durations, in milliseconds.
    pub latency: Histogram,
}

impl Tally {
    pub(super) fn note(&mut self, outcome: RequestOutcome) {
        self.count = self.count.saturating_add(1);
        self.errors = self.errors.saturating_add(u64::from(outcome.is_error));
        self.rejections = self.rejections.saturating_add(u64::from(outcome.is_rejection));
        self.throttled = self.throttled.saturating_add(u64::from(outcome.is_throttled));
        self.table_throttles =
            self.table_throttles.saturating_add(u64::from(outcome.table_throttles));
        self.latency.note(u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX));
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        let Self { latency, .. } = other;
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.rejections = self.rejections.saturating_add(other.rejections);
        self.throttled = self.throttled.saturating_add(other.throttled);
        self.table_throttles = self.table_throttles.saturating_add(other.table_throttles);
        self.code_replays = self.code_replays.saturating_add(other.code_replays);
        self.latency.merge(latency);
    }

    /// The counts to add to a minute's item, by attribute.
    pub(super) fn fields(&self) -> Vec<(String, u64)> {
        let counts = [
            ("count", self.count),
            ("errors", self.errors),
            ("rejections", self.rejections),
            ("throttled", self.throttled),
            ("table_throttles", self.table_throttles),
            ("code_replays", self.code_replays),
        ];
        let counts = counts.map(|(name, count)| (name.to_owned(), count));
        let buckets = self.latency.buckets().map(|(bucket, count)| (format!("b{bucket}"), count));
        counts.into_iter().chain(buckets).filter(|(_, count)| *count > 0).collect()
    }
}
