//! The counters of the functions, over a window that ends now.

use std::collections::BTreeMap;
use std::time::Duration;

use core_types::id::StoreId;
use core_types::key;
use futures_util::future::try_join_all;
use primitives::clock::{HOUR, MINUTE, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use services::metrics;
use services::metrics::{Histogram, MetricSubject, Minute, Percentiles, Tally};
use table::Query;
use table::item::Item;

use crate::queues::QueueDepth;

/// The subject that delivery attempts of all stores and apps are counted under.
pub const DELIVERIES: &str = "deliveries";
/// The list of stores that had a failed delivery attempt.
pub const STORES: &str = "stores";

/// The subject that a store's delivery attempts are counted under.
pub fn delivery_subject(store: &StoreId) -> MetricSubject {
    MetricSubject::listed(STORES, store.as_str())
}

primitives::string_enum! {
    /// The time that numbers cover, up to now.
    #[schemars(rename = "MetricsWindow")]
    Window {
        /// Five minutes.
        FiveMinutes = "5m",
        /// An hour.
        Hour = "1h",
        /// A day.
        Day = "24h",
    }
}

impl Window {
    /// The length of the window.
    pub const fn length(self) -> Duration {
        match self {
            Self::FiveMinutes => MINUTE.saturating_mul(5),
            Self::Hour => HOUR,
            Self::Day => HOUR.saturating_mul(24),
        }
    }

    /// The length of a point of its series.
    pub const fn step(self) -> Duration {
        match self {
            Self::FiveMinutes | Self::Hour => MINUTE,
            Self::Day => MINUTE.saturating_mul(15),
        }
    }
}

/// The requests of a family of routes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FamilyNumbers {
    /// The name of the family.
    pub family: &'static str,
    /// The number of requests.
    pub requests: u64,
    /// The number of requests answered with 5xx.
    pub errors: u64,
    /// The number of requests answered with 4xx other than 429.
    pub rejections: u64,
    /// The number of requests answered with 429.
    pub throttled: u64,
    /// The number of calls that the table throttled, whether or not a retry succeeded.
    pub table_throttles: u64,
    /// The response times of the requests, in milliseconds. Each percentile is at most an eighth too large.
    pub latency_ms: Percentiles,
}

impl FamilyNumbers {
    fn of(family: &'static str, tally: &Tally) -> Self {
        Self {
            family,
            requests: tally.count,
            errors: tally.errors,
            rejections: tally.rejections,
            throttled: tally.throttled,
            table_throttles: tally.table_throttles,
            latency_ms: tally.latency.percentiles(),
        }
    }
}

/// Webhook delivery attempts, without test events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryNumbers {
    /// The number of attempts.
    pub attempts: u64,
    /// The number of attempts that succeeded.
    pub succeeded: u64,
    /// The number of attempts that failed.
    pub failed: u64,
    /// The percentage of attempts that succeeded, rounded down; `null` without attempts.
    pub success_percent: Option<u64>,
    /// The response times of receivers, in milliseconds.
    pub latency_ms: Percentiles,
}

impl From<&Tally> for DeliveryNumbers {
    fn from(tally: &Tally) -> Self {
        let succeeded = tally.count.saturating_sub(tally.errors);
        Self {
            attempts: tally.count,
            succeeded,
            failed: tally.errors,
            success_percent: succeeded.saturating_mul(100).checked_div(tally.count),
            latency_ms: tally.latency.percentiles(),
        }
    }
}

/// A sample of the platform in one minute, taken by the watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "sample", key = key::sample(self.at))]
#[item(forget_at = Some(self.at.plus(HOUR.saturating_mul(72))))]
pub struct Sample {
    /// When the minute began.
    pub at: Timestamp,
    /// The age of the oldest waiting event, in seconds.
    pub outbox_lag_seconds: u64,
    /// The depths of the queues.
    pub queues: Vec<QueueDepth>,
    /// Always 1: a second run in the same minute replaces the sample.
    pub version: u64,
}

/// The numbers of a part of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MetricsPoint")]
pub struct Point {
    /// When this part began.
    pub at: Timestamp,
    /// The number of requests of all families.
    pub requests: u64,
    /// The number of requests answered with 5xx.
    pub errors: u64,
    /// The response times of the requests, in milliseconds.
    pub latency_ms: Percentiles,
    /// The longest time that an event had waited, in seconds; `null` if it was not measured.
    pub outbox_lag_seconds: Option<u64>,
    /// The highest number of messages in all queues; `null` if it was not measured.
    pub queued: Option<u64>,
    /// The highest number of dead letters in all queues; `null` if it was not measured.
    pub dead_letters: Option<u64>,
}

/// Loads the counters of a subject since this time, one for each minute.
///
/// # Errors
/// 503.
pub async fn load_per_minute(
    services: &Services,
    subject: &str,
    since: Timestamp,
) -> Result<Vec<Minute>, Problem> {
    metrics::minutes(&services.table, subject, since, services.clock.now()).await
}

/// Adds the counters of all of these minutes.
pub fn sum(minutes: &[Minute]) -> Tally {
    minutes.iter().fold(Tally::default(), |mut all, minute| {
        all.merge(&minute.tally);
        all
    })
}

/// The requests of all families, in total and over time.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// The families in document order, including those without requests.
    pub families: Vec<FamilyNumbers>,
    minutes: BTreeMap<Timestamp, Tally>,
}

/// Loads the requests of all families since this time, concurrently.
///
/// # Errors
/// 503.
pub async fn traffic(services: &Services, since: Timestamp) -> Result<Traffic, Problem> {
    let names: Vec<&'static str> = metrics::families().collect();
    let found =
        try_join_all(names.iter().map(|name| load_per_minute(services, name, since))).await?;
    let mut all: BTreeMap<Timestamp, Tally> = BTreeMap::new();
    for minute in found.iter().flatten() {
        all.entry(minute.at).or_default().merge(&minute.tally);
    }
    let of =
        |(name, minutes): (&&'static str, &Vec<Minute>)| FamilyNumbers::of(name, &sum(minutes));
    Ok(Traffic { families: names.iter().zip(&found).map(of).collect(), minutes: all })
}

/// Loads the samples of the platform since this time.
///
/// # Errors
/// 503.
pub async fn samples(services: &Services, since: Timestamp) -> Result<Vec<Sample>, Problem> {
    let (since, now) = (metrics::minute_of(since), services.clock.now());
    let mut found = Vec::new();
    for day in [since, now] {
        let query = Query::partition(key::samples_of_day(day));
        found.extend(services.table.all::<Sample>(&query, 1_440).await?);
        if since.day() == now.day() {
            break;
        }
    }
    found.retain(|sample| sample.at >= since && sample.at <= now);
    Ok(found)
}

/// Builds the points of a window. A point without requests and without a sample is left out.
pub fn series(traffic: &Traffic, samples: &[Sample], step: Duration) -> Vec<Point> {
    let step = i64::try_from(step.as_millis()).unwrap_or(60_000).max(1);
    let begin = |at: Timestamp| {
        Timestamp::from_millis(at.millis().saturating_sub(at.millis().rem_euclid(step)))
    };
    let empty = |at| Point {
        at,
        requests: 0,
        errors: 0,
        latency_ms: Percentiles::default(),
        outbox_lag_seconds: None,
        queued: None,
        dead_letters: None,
    };
    let mut points: BTreeMap<Timestamp, (Point, Histogram)> = BTreeMap::new();
    for (at, tally) in &traffic.minutes {
        let at = begin(*at);
        let (point, latency) =
            points.entry(at).or_insert_with(|| (empty(at), Histogram::default()));
        point.requests = point.requests.saturating_add(tally.count);
        point.errors = point.errors.saturating_add(tally.errors);
        latency.merge(&tally.latency);
    }
    for seen in samples {
        let at = begin(seen.at);
        let (point, _) = points.entry(at).or_insert_with(|| (empty(at), Histogram::default()));
        let sum = |of: fn(&QueueDepth) -> u64| seen.queues.iter().map(of).sum::<u64>();
        point.outbox_lag_seconds = point.outbox_lag_seconds.max(Some(seen.outbox_lag_seconds));
        point.queued = point.queued.max(Some(sum(|queue| queue.messages)));
        point.dead_letters = point.dead_letters.max(Some(sum(|queue| queue.dead_letters)));
    }
    let finished =
        |(point, latency): (Point, Histogram)| Point { latency_ms: latency.percentiles(), ..point };
    points.into_values().map(finished).collect()
}
