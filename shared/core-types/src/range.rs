//! A range of time and its day partitions.

use std::time::Duration;

use primitives::clock::{DAY, Timestamp};
use primitives::input::Given;
use primitives::problem::{FieldError, Problem};
use serde::{Deserialize, Serialize};
use table::Query;
use table::item::Index;

/// The retention of objects, which limits how far back lists go (our choice: 30 days).
pub const RETENTION: Duration = DAY.saturating_mul(30);

/// The time from `since` to `until`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRange {
    /// Its first moment.
    pub since: Timestamp,
    /// Its last moment.
    pub until: Timestamp,
}

/// The field errors of `since` and `until`.
pub fn violations(given: Given<'_>, longest: Duration, now: Timestamp) -> Vec<FieldError> {
    let (since, until) = (given.get("since"), given.get("until"));
    let is_odd = |name: &str, well_formed: bool| given.has(name) && !well_formed;
    if is_odd("since", since.is_some()) || is_odd("until", until.is_some()) {
        return Vec::new();
    }
    let floor = Timestamp::from_millis(0);
    let validated = TimeRange::of(since, until, longest, floor, now);
    validated.err().map(|problem| problem.errors().to_vec()).unwrap_or_default()
}

impl TimeRange {
    /// The requested range, at most `longest` long. Without `since` it begins `longest` before its end; without
    /// `until` it ends now. `floor` is when the store was created: the range is cut to begin no earlier.
    ///
    /// # Errors
    /// `invalid_range`, `range_too_wide`.
    pub fn of(
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        longest: Duration,
        floor: Timestamp,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let until = until.unwrap_or(now).min(now);
        let since = since.unwrap_or_else(|| until.minus(longest));
        if until < since {
            let detail = "Must not be after `until`, nor in the future.";
            return Err(Problem::field("/since", "invalid_range", detail));
        }
        if since.until(until) > longest {
            let days = longest.as_secs().div_euclid(DAY.as_secs());
            let detail = format!("The range must be at most {days} days.");
            return Err(Problem::field("/since", "range_too_wide", detail));
        }
        Ok(Self { since: since.max(floor).min(until), until })
    }

    /// An instant of each UTC day of the range, the newest first.
    pub fn days(self) -> Vec<Timestamp> {
        let mut days = vec![self.until];
        let mut day = self.until;
        while day.day() > self.since.day() {
            day = day.minus(DAY);
            days.push(day);
        }
        days
    }

    /// One query for each day of an index, where sort keys begin with the time.
    pub fn queries(self, index: Index, partition: impl Fn(Timestamp) -> String) -> Vec<Query> {
        let (low, high) = (self.since.to_string(), format!("{}~", self.until));
        let query = |day| Query::index(index, partition(day)).between(&low, &high).newest_first();
        self.days().into_iter().map(query).collect()
    }

    /// One query for each partition of each day of an index, the oldest day first, where sort keys begin with
    /// the time.
    pub fn walk(self, index: Index, partitions: impl Fn(Timestamp) -> Vec<String>) -> Vec<Query> {
        let (low, high) = (self.since.to_string(), format!("{}~", self.until));
        let query = |partition| Query::index(index, partition).between(&low, &high);
        self.days().into_iter().rev().flat_map(partitions).map(query).collect()
    }

    /// Whether `at` is in it.
    pub fn holds(self, at: Timestamp) -> bool {
        self.since <= at && at <= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn range(since: Option<&str>, until: Option<&str>, floor: &str) -> Result<TimeRange, Problem> {
        let now = at("2026-11-21T07:00:00Z");
        TimeRange::of(since.map(at), until.map(at), RETENTION, at(floor), now)
    }

    #[test]
    fn a_range_is_its_days_newest_first_and_begins_with_the_store() {
        let days = |range: TimeRange| range.days().iter().map(|day| day.day()).collect::<Vec<_>>();
        let found = range(Some("2026-11-19T23:59:59Z"), None, "2020-01-01T00:00:00Z").unwrap();
        assert_eq!(days(found), ["20261121", "20261120", "20261119"]);
        assert_eq!(days(range(None, None, "2026-11-20T00:00:00Z").unwrap()).len(), 2);
        assert_eq!(days(range(None, None, "2020-01-01T00:00:00Z").unwrap()).len(), 31);
    }

    #[test]
    fn a_range_that_is_reversed_or_too_wide_is_rejected() {
        let violation = |since, until| {
            let problem = range(since, until, "2020-01-01T00:00:00Z").unwrap_err();
            problem.errors().first().map(|error| error.violation.code)
        };
        assert_eq!(violation(Some("2026-11-22T00:00:00Z"), None), Some("invalid_range"));
        assert_eq!(violation(Some("2026-10-01T00:00:00Z"), None), Some("range_too_wide"));
    }
}
