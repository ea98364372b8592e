//! What is counted of a subject in a minute.

use std::time::Duration;

use super::Histogram;

/// How something went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How long it took.
    pub took: Duration,
    /// Whether it failed, and the asker is not to blame: 5xx.
    pub is_error: bool,
    /// Whether it was rejected: 4xx, but for 429.
    pub is_rejection: bool,
    /// Whether the asker's budget was spent: 429.
    pub is_throttled: bool,
    /// How often the table rejected a call for now.
    pub table_throttles: u32,
}

impl Outcome {
    /// How a request went, by the status of its answer.
    pub fn answered(status: u16, took: Duration, table_throttles: u32) -> Self {
        let is_throttled = status == 429;
        let is_rejection = (400..500).contains(&status) && !is_throttled;
        Self { took, is_error: status >= 500, is_rejection, is_throttled, table_throttles }
    }
}

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All.
    pub count: u64,
    /// Those that failed: 5xx.
    pub errors: u64,
    /// Those that were rejected: 4xx, but for 429.
    pub rejections: u64,
    /// Those whose asker's budget was spent: 429.
    pub throttled: u64,
    /// How often the table rejected a call for now.
    pub table_throttles: u64,
    /// Authorization codes that came a second time.
    pub code_replays: u64,
    /// How long each took, in milliseconds.
    pub latency: Histogram,
}

impl Tally {
    pub(super) fn note(&mut self, outcome: Outcome) {
        self.count = self.count.saturating_add(1);
        self.errors = self.errors.saturating_add(u64::from(outcome.is_error));
        self.rejections = self.rejections.saturating_add(u64::from(outcome.is_rejection));
        self.throttled = self.throttled.saturating_add(u64::from(outcome.is_throttled));
        self.table_throttles =
            self.table_throttles.saturating_add(u64::from(outcome.table_throttles));
        self.latency.note(u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX));
    }

    /// Adds what another has counted.
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

    /// What is added to a minute's item, by attribute.
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
