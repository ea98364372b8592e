//! What a process counts of what it does, in memory, and writes down once a minute.
//!
//! A request writes nothing for it. What was counted in a minute is added to that minute's item by one
//! transaction, which the client token makes happen once, when the minute is over: beside a later request of
//! the same process, which does not wait longer than [`PATIENCE`] for it, nor pays for it. What a process has
//! counted when it ends is lost with it (docs/decisions.md §17.1).

mod histogram;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{DAY, MINUTE, Timestamp};
use crate::context::Context;
use crate::item::{Item, Key};
use crate::problem::{Code, Problem};
use crate::table::{Change, Query, Table, Write};

pub use histogram::{Histogram, Percentiles};

/// How long a minute is kept: longer than the longest window that is looked at.
const KEPT: Duration = DAY.saturating_mul(3);
/// How long a request waits for what it writes down on the side.
const PATIENCE: Duration = Duration::from_secs(2);
/// Minutes that one transaction adds to, with the marks of those that failed.
const CHUNK: usize = 40;
/// Minutes of subjects that are held at most: what cannot be written down must not grow for ever.
const MOST_HELD: usize = 5_000;

/// What is counted: a family's requests, or deliveries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// Its name: that of a family, or an id.
    pub name: String,
    /// The list in which it stands by the minute while something of it fails; of what there are too many to
    /// look at each.
    pub list: Option<&'static str>,
}

impl Subject {
    /// One of a few.
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), list: None }
    }

    /// One of many, who are listed while something of them fails.
    pub fn listed(list: &'static str, name: impl Into<String>) -> Self {
        Self { name: name.into(), list: Some(list) }
    }
}

/// How something went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How long it took.
    pub took: Duration,
    /// Whether it failed, and the asker is not to blame: 5xx.
    pub is_error: bool,
    /// Whether it was refused: 4xx, but for 429.
    pub is_refusal: bool,
    /// Whether the asker's budget was spent: 429.
    pub is_throttled: bool,
    /// How often the table refused a call for now.
    pub table_throttles: u32,
}

impl Outcome {
    /// How a request went, by the status of its answer.
    pub fn answered(status: u16, took: Duration, table_throttles: u32) -> Self {
        let is_throttled = status == 429;
        let is_refusal = (400..500).contains(&status) && !is_throttled;
        Self { took, is_error: status >= 500, is_refusal, is_throttled, table_throttles }
    }
}

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All.
    pub count: u64,
    /// Those that failed: 5xx.
    pub errors: u64,
    /// Those that were refused: 4xx, but for 429.
    pub refusals: u64,
    /// Those whose asker's budget was spent: 429.
    pub throttled: u64,
    /// How often the table refused a call for now.
    pub table_throttles: u64,
    /// Authorization codes that came a second time.
    pub code_replays: u64,
    /// How long each took, in milliseconds.
    pub latency: Histogram,
}

impl Tally {
    fn note(&mut self, outcome: Outcome) {
        self.count = self.count.saturating_add(1);
        self.errors = self.errors.saturating_add(u64::from(outcome.is_error));
        self.refusals = self.refusals.saturating_add(u64::from(outcome.is_refusal));
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
        self.refusals = self.refusals.saturating_add(other.refusals);
        self.throttled = self.throttled.saturating_add(other.throttled);
        self.table_throttles = self.table_throttles.saturating_add(other.table_throttles);
        self.code_replays = self.code_replays.saturating_add(other.code_replays);
        self.latency.merge(latency);
    }

    /// What is added to a minute's item, by attribute.
    fn fields(&self) -> Vec<(String, u64)> {
        let counts = [
            ("count", self.count),
            ("errors", self.errors),
            ("refusals", self.refusals),
            ("throttled", self.throttled),
            ("table_throttles", self.table_throttles),
            ("code_replays", self.code_replays),
        ];
        let counts = counts.map(|(name, count)| (name.to_owned(), count));
        let buckets = self.latency.buckets().map(|(bucket, count)| (format!("b{bucket}"), count));
        counts.into_iter().chain(buckets).filter(|(_, count)| *count > 0).collect()
    }
}

/// What all processes have counted of a subject in a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Minute {
    /// The subject's name.
    pub subject: String,
    /// When the minute began.
    pub at: Timestamp,
    /// What was counted.
    pub tally: Tally,
    /// One more with each process that added to it.
    pub version: u64,
}

/// A minute as it is stored: each bucket is an attribute, which `ADD` can make.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    subject: String,
    at: Timestamp,
    version: u64,
    #[serde(flatten)]
    fields: BTreeMap<String, serde_json::Value>,
}

impl TryFrom<Stored> for Minute {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { subject, at, version, fields } = stored;
        let mut tally = Tally::default();
        for (name, value) in fields {
            let Some(count) = value.as_u64() else { continue };
            match name.as_str() {
                "count" => tally.count = count,
                "errors" => tally.errors = count,
                "refusals" => tally.refusals = count,
                "throttled" => tally.throttled = count,
                "table_throttles" => tally.table_throttles = count,
                "code_replays" => tally.code_replays = count,
                other => {
                    let bucket = other.strip_prefix('b').and_then(|digits| digits.parse().ok());
                    if let Some(bucket) = bucket {
                        tally.latency.add(bucket, count);
                    }
                }
            }
        }
        Ok(Self { subject, at, tally, version })
    }
}

impl From<Minute> for Stored {
    fn from(minute: Minute) -> Self {
        let fields = minute.tally.fields().into_iter();
        let fields = fields.map(|(name, count)| (name, count.into())).collect();
        Self { subject: minute.subject, at: minute.at, version: minute.version, fields }
    }
}

impl Item for Minute {
    const KIND: &'static str = "minute";
    fn key(&self) -> Key {
        key(&self.subject, self.at)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.at.plus(KEPT))
    }
}

/// That something of a subject failed in a minute.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Failing {
    /// The list.
    pub list: String,
    /// The subject's name.
    pub subject: String,
    /// When the minute began.
    pub at: Timestamp,
    /// One more with each process that saw it.
    pub version: u64,
}

impl Item for Failing {
    const KIND: &'static str = "failing";
    fn key(&self) -> Key {
        failing_key(&self.list, &self.subject, self.at)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

fn partition(subject: &str, at: Timestamp) -> String {
    format!("MET#RUN#{subject}#{}", at.day())
}

/// The place of a minute in its day: `hhmm`.
fn place(at: Timestamp) -> String {
    at.to_string().chars().skip(11).take(5).filter(|c| *c != ':').collect()
}

fn key(subject: &str, at: Timestamp) -> Key {
    Key::new(partition(subject, at), place(at))
}

fn failing_key(list: &str, subject: &str, at: Timestamp) -> Key {
    Key::new(partition(&format!("{list}.failing"), at), format!("{}#{subject}", place(at)))
}

/// The minute that holds an instant.
pub fn minute_of(at: Timestamp) -> Timestamp {
    let minute = i64::try_from(MINUTE.as_millis()).unwrap_or(60_000);
    Timestamp::from_millis(at.millis().saturating_sub(at.millis().rem_euclid(minute)))
}

/// What a minute's partition is asked for, a day each: from the minute that holds `since` to that which holds
/// `until`.
fn ranges(name: &str, since: Timestamp, until: Timestamp, after: &str) -> Vec<Query> {
    let mut queries = Vec::new();
    let (mut from, until) = (minute_of(since), minute_of(until));
    loop {
        let is_last = from.day() >= until.day();
        let to = if is_last { place(until) } else { "2359".to_owned() };
        let query = Query::partition(partition(name, from));
        queries.push(query.between(place(from), format!("{to}{after}")));
        if is_last {
            return queries;
        }
        let day = i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX);
        let midnight = from.millis().saturating_sub(from.millis().rem_euclid(day));
        from = Timestamp::from_millis(midnight.saturating_add(day));
    }
}

/// The minutes of a subject from that which holds `since` to that which holds `until`.
///
/// # Errors
/// 503.
pub async fn minutes(
    table: &Table,
    subject: &str,
    since: Timestamp,
    until: Timestamp,
) -> Result<Vec<Minute>, Problem> {
    let mut found = Vec::new();
    for query in ranges(subject, since, until, "") {
        // More than a day has no minutes.
        found.extend(table.all::<Minute>(&query, 1_440).await?);
    }
    Ok(found)
}

/// The subjects of a list of whom something failed between these instants, once each; stops at `most` marks.
///
/// # Errors
/// 503.
pub async fn failing(
    table: &Table,
    list: &str,
    since: Timestamp,
    until: Timestamp,
    most: usize,
) -> Result<Vec<String>, Problem> {
    let mut found = Vec::new();
    for query in ranges(&format!("{list}.failing"), since, until, "#~") {
        let marks = table.all::<Failing>(&query, most).await?.into_iter();
        found.extend(marks.map(|mark| mark.subject));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// What this process has counted and not written down.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<BTreeMap<(Timestamp, Subject), Tally>>);

impl Metrics {
    fn held(&self) -> MutexGuard<'_, BTreeMap<(Timestamp, Subject), Tally>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts how something went.
    pub fn note(&self, subject: Subject, now: Timestamp, outcome: Outcome) {
        let mut held = self.held();
        if held.len() < MOST_HELD {
            held.entry((minute_of(now), subject)).or_default().note(outcome);
        }
    }

    /// Writes down the minutes that are over: those that another writes at the same moment are not ours.
    pub async fn flush(&self, table: &Table, now: Timestamp) {
        let current = minute_of(now);
        self.write_down(table, self.take(|minute| minute < current)).await;
    }

    /// Writes down everything: what is known of it is needed before the minute is over.
    pub async fn flush_all(&self, table: &Table) {
        self.write_down(table, self.take(|_| true)).await;
    }

    /// Whether anything failed of what is not written down.
    pub fn has_errors(&self) -> bool {
        self.held().values().any(|tally| tally.errors > 0)
    }

    fn take(&self, is_meant: impl Fn(Timestamp) -> bool) -> Vec<((Timestamp, Subject), Tally)> {
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

    /// What could not be written is held on to, for another time.
    async fn write_down(&self, table: &Table, taken: Vec<((Timestamp, Subject), Tally)>) {
        for chunk in taken.chunks(CHUNK) {
            let write = chunk.iter().fold(table.write(), |write, ((at, subject), tally)| {
                add(write, subject, *at, tally)
            });
            let write = tokio::time::timeout(PATIENCE, aside(write));
            if let Err(problem) = write.await.unwrap_or_else(|_| Err(Problem::unavailable("late")))
            {
                tracing::warn!(cause = %problem, "what was counted is not written down");
                self.put_back(chunk);
            }
        }
    }

    fn put_back(&self, chunk: &[((Timestamp, Subject), Tally)]) {
        let mut held = self.held();
        for (place, tally) in chunk {
            if held.len() < MOST_HELD {
                held.entry(place.clone()).or_default().merge(tally);
            }
        }
    }
}

/// Commits what no request has asked for: it is not among what the request asked of the table.
async fn aside(write: Write) -> Result<(), Problem> {
    let context = Context::new(&http::HeaderMap::new(), "", Timestamp::from_millis(0));
    context.scope(write.commit()).await
}

/// Adds a code that came a second time to the minute of a subject.
///
/// # Errors
/// 503.
pub async fn note_code_replay(table: &Table, subject: &str, now: Timestamp) -> Result<(), Problem> {
    let tally = Tally { code_replays: 1, ..Tally::default() };
    add(table.write(), &Subject::of(subject), minute_of(now), &tally).commit().await
}

fn add(write: Write, subject: &Subject, at: Timestamp, tally: &Tally) -> Write {
    let fields = tally.fields();
    let sums = (0..fields.len()).map(|number| format!("#f{number} :f{number}"));
    let sums = sums.chain(["#version :one".to_owned()]).collect::<Vec<_>>().join(", ");
    // `ADD` counts once here alone: in a transaction, which the client token makes happen once.
    let change = named(format!("SET {SUBJECT} ADD {sums}"), Minute::KIND, &subject.name, at);
    let change = (0..).zip(&fields).fold(change, |change, (number, (name, count)): (u32, _)| {
        change.name(&format!("#f{number}"), name).value(&format!(":f{number}"), count)
    });
    // Neither change has a condition that could be refused.
    let write = write.update(&key(&subject.name, at), change, Code::VersionConflict);
    let failing = subject.list.filter(|_| tally.errors > 0);
    write.also(failing, |write, list| {
        let mark = format!("SET #list = :list, {SUBJECT} ADD #version :one");
        let mark = named(mark, Failing::KIND, &subject.name, at);
        let mark = mark.name("#list", "list").value(":list", list);
        write.update(&failing_key(list, &subject.name, at), mark, Code::VersionConflict)
    })
}

/// What both kinds of items say of themselves.
const SUBJECT: &str = "entity = :kind, subject = :subject, #at = :at, #ttl = :ttl";

fn named(text: String, kind: &str, subject: &str, at: Timestamp) -> Change {
    Change::new(text)
        .name("#at", "at")
        .name("#ttl", "ttl")
        .name("#version", "version")
        .value(":kind", kind)
        .value(":subject", subject)
        .value(":at", at)
        .value(":ttl", at.plus(KEPT).seconds())
        .value(":one", 1_u64)
}

/// The family that redeems authorization codes: those that come again are counted with its requests.
pub const CODE_FAMILY: &str = "app-store";

/// The families, by what their paths begin with below `/v1`; what is below none is the first's.
const FAMILIES: &[(&str, &[&str])] = &[
    ("health", &[]),
    ("auth", &["auth"]),
    ("storefront", &["storefront"]),
    ("stores", &["stores"]),
    ("products", &["products", "inventory", "customers", "media", "reviews", "form-submissions"]),
    ("orders", &["orders"]),
    ("payments", &["payments"]),
    ("themes", &["themes"]),
    ("app-store", &["app-store"]),
    ("operations", &["operations"]),
];

/// The names of the families, in document order.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|(name, _)| *name)
}

/// The family that a request of this path is led to.
pub fn family_of(path: &str) -> &'static str {
    let first = path.strip_prefix("/v1/").and_then(|rest| rest.split('/').next());
    let takes = |(name, prefixes): &(&'static str, &[&str])| {
        first.is_some_and(|first| prefixes.contains(&first)).then_some(*name)
    };
    FAMILIES.iter().find_map(takes).unwrap_or("health")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_minute_is_read_as_it_was_added_up() {
        let mut tally = Tally { code_replays: 2, ..Tally::default() };
        for (status, millis) in [(200, 3), (200, 250), (404, 3), (429, 0), (503, 900)] {
            tally.note(Outcome::answered(status, Duration::from_millis(millis), 1));
        }
        let counts = (tally.count, tally.errors, tally.refusals, tally.throttled);
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
            metrics.note(Subject::of("orders"), now, Outcome::default());
        }
        let over = |now| metrics.take(|minute| minute < minute_of(now));
        assert!(over(early).is_empty());
        let taken = over(late);
        assert_eq!(taken.iter().map(|(_, tally)| tally.count).collect::<Vec<_>>(), [2]);
        assert!(over(late).is_empty());
        metrics.put_back(&taken);
        assert_eq!(metrics.take(|_| true).len(), 2);
    }

    #[test]
    fn a_path_is_its_familys() {
        for (path, family) in [
            ("/v1/orders", "orders"),
            ("/v1/orders/ord_1/refund", "orders"),
            ("/v1/inventory/levels", "products"),
            ("/health", "health"),
            ("/v1/nowhere", "health"),
            ("/v1/app-store/oauth/token", "app-store"),
        ] {
            assert_eq!(family_of(path), family, "{path}");
        }
        assert_eq!(families().count(), 10);
    }
}
