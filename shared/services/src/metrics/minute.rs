//! The stored metrics: a subject's counts in a minute, and marks of subjects with failures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{RETENTION, Tally};
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::Problem;
use table::item::{Item, Key};
use table::{Query, Table};

/// The counts of a subject in a minute, from all processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "minute", key = key(&self.subject, self.at))]
#[item(forget_at = Some(self.at.plus(RETENTION)))]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Minute {
    /// The subject's name.
    pub subject: String,
    /// When the minute began.
    pub at: Timestamp,
    /// The counts.
    pub tally: Tally,
    /// The version, incremented by each process that added to it.
    pub version: u64,
}

/// The stored form of a minute: each bucket is an attribute, which `ADD` can create.
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
                "rejections" => tally.rejections = count,
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

/// The mark that a subject had a failure in a minute.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "failing", key = failing_key(&self.list, &self.subject, self.at))]
pub struct Failing {
    /// The list.
    pub list: String,
    /// The subject's name.
    pub subject: String,
    /// When the minute began.
    pub at: Timestamp,
    /// The version, incremented by each process that had a failure.
    pub version: u64,
}

fn partition(subject: &str, at: Timestamp) -> String {
    format!("MET#RUN#{subject}#{}", at.day())
}

/// The sort key of a minute in its day: `hhmm`.
fn place(at: Timestamp) -> String {
    at.to_string().chars().skip(11).take(5).filter(|c| *c != ':').collect()
}

pub(super) fn key(subject: &str, at: Timestamp) -> Key {
    Key::new(partition(subject, at), place(at))
}

pub(super) fn failing_key(list: &str, subject: &str, at: Timestamp) -> Key {
    Key::new(partition(&format!("{list}.failing"), at), format!("{}#{subject}", place(at)))
}

/// The minute that contains an instant.
pub fn minute_of(at: Timestamp) -> Timestamp {
    let minute = i64::try_from(MINUTE.as_millis()).unwrap_or(60_000);
    Timestamp::from_millis(at.millis().saturating_sub(at.millis().rem_euclid(minute)))
}

/// The queries of a subject's minutes, one for each day: from the minute of `since` to that of `until`.
pub(super) fn ranges(name: &str, since: Timestamp, until: Timestamp, after: &str) -> Vec<Query> {
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

/// The minutes of a subject from that of `since` to that of `until`.
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

/// The subjects of a list with a failure between these instants, once each; stops at `most` marks.
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
