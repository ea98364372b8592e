//! Counters of a process, held in memory and written once a minute.
//!
//! A request's count is not written with the request. Once a minute is over, its counts are added to that
//! minute's item by one transaction, which the client token makes idempotent. This happens during a later
//! request of the same process, which waits at most [`PATIENCE`] for it and is not charged. Counts that are
//! unwritten when a process ends are lost (docs/decisions.md §17.1).

mod family;
mod histogram;
mod minute;
mod tally;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use primitives::clock::{DAY, Timestamp};
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use table::item::Item;
use table::{Change, Table, Write};

use minute::{failing_key, key};

pub use family::{CODE_FAMILY, families, family_of};
pub use histogram::{Histogram, Percentiles};
pub use minute::{Failing, Minute, failing, minute_of, minutes};
pub use tally::{RequestOutcome, Tally};

/// The retention of a minute: longer than the longest window that is read.
const RETENTION: Duration = DAY.saturating_mul(3);
/// The time for which a request waits for the write.
const PATIENCE: Duration = Duration::from_secs(2);
/// Minutes per transaction, with the marks of the failing ones.
const CHUNK: usize = 40;
/// The most minutes of subjects in memory, so that a failing write does not let them grow without bound.
const MAX_HELD: usize = 5_000;

/// The subject of a count: a family's requests, or deliveries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricSubject {
    /// The name: a family's, or an id.
    pub name: String,
    /// The list that has this subject in each minute in which it fails; for subjects that are too many to
    /// read each.
    pub list: Option<&'static str>,
}

impl MetricSubject {
    /// A subject of a small set.
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), list: None }
    }

    /// A subject of a large set, which is listed in minutes in which it fails.
    pub fn listed(list: &'static str, name: impl Into<String>) -> Self {
        Self { name: name.into(), list: Some(list) }
    }
}

/// The counts that are not written yet.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<BTreeMap<(Timestamp, MetricSubject), Tally>>);

impl Metrics {
    fn held(&self) -> MutexGuard<'_, BTreeMap<(Timestamp, MetricSubject), Tally>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an outcome.
    pub fn note(&self, subject: MetricSubject, now: Timestamp, outcome: RequestOutcome) {
        let mut held = self.held();
        if held.len() < MAX_HELD {
            held.entry((minute_of(now), subject)).or_default().note(outcome);
        }
    }

    /// Writes the minutes that are over. A minute that a concurrent call has taken is left to that call.
    pub async fn flush(&self, table: &Table, now: Timestamp) {
        let current = minute_of(now);
        self.write_down(table, self.take(|minute| minute < current)).await;
    }

    /// Writes everything, also of the current minute.
    pub async fn flush_all(&self, table: &Table) {
        self.write_down(table, self.take(|_| true)).await;
    }

    /// Whether the unwritten counts contain an error.
    pub fn has_errors(&self) -> bool {
        self.held().values().any(|tally| tally.errors > 0)
    }

    fn take(
        &self,
        is_meant: impl Fn(Timestamp) -> bool,
    ) -> Vec<((Timestamp, MetricSubject), Tally)> {
        let mut held = self.held();
        if !held.keys().any(|(minute, _)| is_meant(*minute)) {
            return Vec::new();
        }
        let all = std::mem::take(&mut *held);
        let (taken, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|((minute, _), _)| is_meant(*minute));
        *held = left;
        drop(held);
        taken.into_iter().collect()
    }

    /// Counts that could not be written are put back, for the next attempt.
    async fn write_down(&self, table: &Table, taken: Vec<((Timestamp, MetricSubject), Tally)>) {
        for chunk in taken.chunks(CHUNK) {
            let write = chunk.iter().fold(table.write(), |write, ((at, subject), tally)| {
                add(write, subject, *at, tally)
            });
            let write = tokio::time::timeout(PATIENCE, aside(write));
            if let Err(problem) = write
                .await
                .unwrap_or_else(|_| Err(Problem::unavailable("the write of metrics timed out")))
            {
                tracing::warn!(
                    cause = %problem,
                    "metrics not written; tried again with the next batch"
                );
                self.put_back(chunk);
            }
        }
    }

    fn put_back(&self, chunk: &[((Timestamp, MetricSubject), Tally)]) {
        let mut held = self.held();
        for (place, tally) in chunk {
            if held.len() < MAX_HELD {
                held.entry(place.clone()).or_default().merge(tally);
            }
        }
    }
}

/// Commits a write of the process itself, which does not count as the request's.
async fn aside(write: Write) -> Result<(), Problem> {
    let context = Context::new(&http::HeaderMap::new(), "", Timestamp::from_millis(0));
    context.scope(write.commit()).await
}

/// Adds a repeated use of a code to the minute of a subject.
///
/// # Errors
/// 503.
pub async fn note_code_replay(table: &Table, subject: &str, now: Timestamp) -> Result<(), Problem> {
    let tally = Tally { code_replays: 1, ..Tally::default() };
    add(table.write(), &MetricSubject::of(subject), minute_of(now), &tally).commit().await
}

fn add(write: Write, subject: &MetricSubject, at: Timestamp, tally: &Tally) -> Write {
    let fields = tally.fields();
    let sums = (0..fields.len()).map(|number| format!("#f{number} :f{number}"));
    let sums = sums.chain(["#version :one".to_owned()]).collect::<Vec<_>>().join(", ");
    // `ADD` is not idempotent by itself: the transaction's client token makes it so.
    let change = named(format!("SET {SUBJECT} ADD {sums}"), Minute::KIND, &subject.name, at);
    let change = (0..).zip(&fields).fold(change, |change, (number, (name, count)): (u32, _)| {
        change.name(&format!("#f{number}"), name).value(&format!(":f{number}"), count)
    });
    // Neither update has a condition that could be rejected.
    let write = write.update(&key(&subject.name, at), change, Code::VersionConflict);
    let failing = subject.list.filter(|_| tally.errors > 0);
    write.when_some(failing, |write, list| {
        let mark = format!("SET #list = :list, {SUBJECT} ADD #version :one");
        let mark = named(mark, Failing::KIND, &subject.name, at);
        let mark = mark.name("#list", "list").value(":list", list);
        write.update(&failing_key(list, &subject.name, at), mark, Code::VersionConflict)
    })
}

/// The common attributes of both kinds of items.
const SUBJECT: &str = "entity = :kind, subject = :subject, #at = :at, #ttl = :ttl";

fn named(text: String, kind: &str, subject: &str, at: Timestamp) -> Change {
    Change::new(text)
        .name("#at", "at")
        .name("#ttl", "ttl")
        .name("#version", "version")
        .value(":kind", kind)
        .value(":subject", subject)
        .value(":at", at)
        .value(":ttl", at.plus(RETENTION).seconds())
        .value(":one", 1_u64)
}

#[cfg(test)]
mod tests {
    use super::minute::ranges;
    use super::*;
    use table::Query;
    use table::item::Key;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_minute_is_read_as_it_was_added_up() {
        let mut tally = Tally { code_replays: 2, ..Tally::default() };
        for (status, millis) in [(200, 3), (200, 250), (404, 3), (429, 0), (503, 900)] {
            tally.note(RequestOutcome::of_response(status, Duration::from_millis(millis), 1));
        }
        let counts = (tally.count, tally.errors, tally.rejections, tally.throttled);
        assert_eq!((counts, tally.table_throttles), ((5, 1, 1, 1), 5));
        let (subject, at) = ("orders".to_owned(), at("2026-11-21T07:31:00Z"));
        let minute = Minute { subject, at, tally, version: 3 };
        let stored = serde_json::to_value(&minute).unwrap();
        assert_eq!(serde_json::from_value::<Minute>(stored).unwrap(), minute);
        assert_eq!(minute.key(), Key::new("MET#RUN#orders#20261121", "0731"));
    }

    #[test]
    fn a_range_is_its_days_and_begins_with_its_first_minute() {
        let found = ranges("orders", at("2026-11-20T23:58:30Z"), at("2026-11-21T00:03:10Z"), "");
        let keys: Vec<_> = found.iter().map(Query::partition_key).collect();
        assert_eq!(keys, ["MET#RUN#orders#20261120", "MET#RUN#orders#20261121"]);
        let one = ranges("orders", at("2026-11-20T10:00:00Z"), at("2026-11-20T10:05:00Z"), "");
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn only_minutes_that_are_over_are_taken_and_each_once() {
        let metrics = Metrics::default();
        let (early, late) = (at("2026-11-21T07:31:59Z"), at("2026-11-21T07:32:00Z"));
        for now in [early, early, late] {
            metrics.note(MetricSubject::of("orders"), now, RequestOutcome::default());
        }
        let over = |now| metrics.take(|minute| minute < minute_of(now));
        assert!(over(early).is_empty());
        let taken = over(late);
        assert_eq!(taken.iter().map(|(_, tally)| tally.count).collect::<Vec<_>>(), [2]);
        assert!(over(late).is_empty());
        metrics.put_back(&taken);
        assert_eq!(metrics.take(|_| true).len(), 2);
    }
}
