//! The watch, once a minute: evaluates the rules, and opens an incident for each one that is violated.
//!
//! - *A crash between two steps, or two runs at once*: an incident and its [`OpenIncident`] are created in
//!   one transaction, on condition that there is no such item. Resolving the incident deletes the item in the
//!   transaction that replaces the incident's version. The second run finds it done, and the next minute
//!   repeats.
//! - *A number that cannot be read*: its rules count neither as violated nor as held; open incidents stay open.

use std::collections::BTreeMap;

use core_types::id::StoreId;
use core_types::key;
use core_types::resource::Resource;
use futures_util::StreamExt;
use futures_util::future::{join4, try_join_all};
use futures_util::stream;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::Serialize;
use services::Services;
use services::metrics;
use services::metrics::{CODE_FAMILY, minute_of};

use crate::evidence;
use crate::incident::{INCIDENT_RESOLVED, Incident, NewIncident, OpenIncident, Step};
use crate::metrics::{DELIVERIES, STORES, Sample, load_per_minute, sum};
use crate::queues::{QUEUES, QueueDepth, outbox_lag};
use crate::rules::{CALM, Rule, Terms, WINDOW, success_percent};

/// Marks of failing stores that one run reads, and the most stores whose counters it then reads. Stores
/// beyond that, in the order of their ids, are not read in this run.
const MAX_MARKS: usize = 5_000;
const MAX_STORES: usize = 200;
/// Stores whose counters are read concurrently.
const PARALLEL: usize = 8;
/// The subject of a rule that concerns the whole platform.
pub const PLATFORM: &str = "platform";

/// The measurements and actions of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Watched {
    /// The age of the oldest waiting event, in seconds; none if it could not be read.
    pub outbox_lag_seconds: Option<u64>,
    /// Dead letters in all queues.
    pub dead_letters: Option<u64>,
    /// Replays of authorization codes in the last 15 minutes.
    pub code_replays: Option<u64>,
    /// The percentage of delivery attempts of the last 15 minutes that succeeded; none with too few failures.
    pub delivery_success_percent: Option<u64>,
    /// Incidents opened.
    pub opened: usize,
    /// Incidents resolved.
    pub resolved: usize,
    /// Failed steps; the next minute repeats them.
    pub failures: usize,
}

/// A measurement that a rule is evaluated on.
#[derive(Debug, Clone)]
struct Reading {
    rule: Rule,
    subject: String,
    store_id: Option<StoreId>,
    /// The measured number; none if there are too few failures, and then the rule holds.
    observed: Option<u64>,
}

impl Reading {
    fn of(rule: Rule, subject: impl Into<String>, observed: Option<u64>) -> Self {
        Self { rule, subject: subject.into(), store_id: None, observed }
    }

    fn is_broken(&self) -> bool {
        self.observed.is_some_and(|observed| self.rule.is_broken_by(observed))
    }

    fn report(&self) -> NewIncident {
        let Terms { title, severity, components, threshold, comparison, .. } = self.rule.terms();
        let (observed, unit) = (self.observed.unwrap_or(0), self.rule.unit());
        let bound = match comparison {
            crate::rules::Comparison::AtLeast => "fewer than",
            crate::rules::Comparison::Above => "at most",
            crate::rules::Comparison::Below => "at least",
        };
        let subject = &self.subject;
        let description =
            format!("{subject}: {observed} {unit}; the rule requires {bound} {threshold}.");
        NewIncident {
            store_id: self.store_id.clone(),
            cause: Some((self.rule, subject.clone())),
            title: format!("{title}: {subject}"),
            description: Some(description),
            severity,
            components: components.to_vec(),
        }
    }
}

/// Measures the platform, stores a sample, and opens and resolves incidents.
pub async fn watch(services: &Services) -> Watched {
    let now = services.clock.now();
    let mut watched = Watched::default();
    let mut readings = Vec::new();
    let (queues, lag, deliveries, replays) = join4(
        depths(services),
        outbox_lag(services, now),
        deliveries(services, now),
        code_replays(services, now),
    )
    .await;
    if let Ok(queues) = &queues {
        readings.extend(queues.iter().map(|queue| {
            Reading::of(Rule::DeadLetters, queue.name.clone(), Some(queue.dead_letters))
        }));
        watched.dead_letters = Some(queues.iter().map(|queue| queue.dead_letters).sum());
    }
    if let Ok(lag) = &lag {
        readings.push(Reading::of(Rule::OutboxLag, PLATFORM, Some(*lag)));
        watched.outbox_lag_seconds = Some(*lag);
    }
    if let Ok(replays) = &replays {
        readings.push(Reading::of(Rule::CodeReplays, PLATFORM, Some(*replays)));
        watched.code_replays = Some(*replays);
    }
    if let Ok(deliveries) = &deliveries {
        watched.delivery_success_percent =
            deliveries.iter().find(|one| one.subject == PLATFORM).and_then(|one| one.observed);
        readings.extend(deliveries.iter().cloned());
    }
    let seen = queues.as_ref().ok().cloned().zip(lag.as_ref().ok().copied());
    if let Some((queues, outbox_lag_seconds)) = seen {
        let sample = Sample { at: minute_of(now), outbox_lag_seconds, queues, version: 1 };
        watched.count(remember(services, sample).await);
    }
    let failed = [queues.err(), lag.err(), replays.err(), deliveries.as_ref().err().cloned()];
    for problem in failed.into_iter().flatten() {
        watched.count(Err(problem));
    }
    match validate(services, readings, deliveries.is_ok(), now).await {
        Ok((opened, resolved, failures)) => {
            watched.opened = opened;
            watched.resolved = resolved;
            watched.failures = watched.failures.saturating_add(failures);
        }
        Err(problem) => watched.count(Err(problem)),
    }
    watched
}

impl Watched {
    fn count(&mut self, outcome: Result<(), Problem>) {
        if let Err(problem) = outcome {
            tracing::warn!(cause = %problem, "check of the platform failed");
            self.failures = self.failures.saturating_add(1);
        }
    }
}

/// Stores the sample for metrics. A second run in the same minute replaces it.
async fn remember(services: &Services, sample: Sample) -> Result<(), Problem> {
    services.table.write().put(&sample).commit().await
}

async fn depths(services: &Services) -> Result<Vec<QueueDepth>, Problem> {
    try_join_all(QUEUES.iter().map(|queue| async move {
        let (depth, dead_letters) = queue.depth(services).await?;
        Ok(QueueDepth { name: queue.name.to_owned(), messages: depth.total(), dead_letters })
    }))
    .await
}

async fn code_replays(services: &Services, now: Timestamp) -> Result<u64, Problem> {
    let minutes = load_per_minute(services, CODE_FAMILY, now.minus(WINDOW)).await?;
    Ok(sum(&minutes).code_replays)
}

/// Measures the deliveries of the platform, and those of each store that had a failed attempt.
async fn deliveries(services: &Services, now: Timestamp) -> Result<Vec<Reading>, Problem> {
    let since = now.minus(WINDOW);
    let all = load_per_minute(services, DELIVERIES, since).await?;
    let mut readings =
        vec![Reading::of(Rule::DeliverySuccess, PLATFORM, success_percent(&sum(&all)))];
    let failing = metrics::failing(&services.table, STORES, since, now, MAX_MARKS).await?;
    let stores = failing.iter().filter_map(|name| StoreId::parse(name)).take(MAX_STORES);
    let stores: Vec<StoreId> = stores.collect();
    let read: Vec<Result<Reading, Problem>> = stream::iter(stores)
        .map(|store| async move {
            let minutes = load_per_minute(services, store.as_str(), since).await?;
            let observed = success_percent(&sum(&minutes));
            let reading = Reading::of(Rule::DeliverySuccess, store.as_str(), observed);
            Ok(Reading { store_id: Some(store), ..reading })
        })
        .buffer_unordered(PARALLEL)
        .collect()
        .await;
    for reading in read {
        readings.push(reading?);
    }
    Ok(readings)
}

/// Opens an incident for each violated rule that has none, and resolves those whose rules have held for
/// [`CALM`]. A store without failures is not read, so the rule of a store that was not read counts as held.
async fn validate(
    services: &Services,
    readings: Vec<Reading>,
    knows_stores: bool,
    now: Timestamp,
) -> Result<(usize, usize, usize), Problem> {
    let open = OpenIncident::all(services).await?;
    let mut open: BTreeMap<(Rule, String), OpenIncident> =
        open.into_iter().map(|place| ((place.rule, place.subject.clone()), place)).collect();
    let mut outcomes: Vec<Result<Done, Problem>> = Vec::new();
    for reading in readings {
        let place = open.remove(&(reading.rule, reading.subject.clone()));
        outcomes.push(match (reading.is_broken(), place) {
            (true, None) => open_one(services, &reading, now).await,
            (true, Some(place)) => still_broken(services, &place).await,
            (false, Some(place)) => still_holds(services, &place, now).await,
            (false, None) => Ok(Done::Nothing),
        });
    }
    // The remaining incidents had no reading.
    let left = open.into_values().filter(|place| place.store_id.is_some() && knows_stores);
    for place in left {
        outcomes.push(still_holds(services, &place, now).await);
    }
    let count =
        |meant: Done| outcomes.iter().filter(|it| matches!(it, Ok(done) if *done == meant)).count();
    let (opened, resolved) = (count(Done::Opened), count(Done::Resolved));
    let mut failures = 0_usize;
    for problem in outcomes.into_iter().filter_map(Result::err) {
        tracing::warn!(cause = %problem, "incident not opened or resolved");
        failures = failures.saturating_add(1);
    }
    Ok((opened, resolved, failures))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Nothing,
    Opened,
    Resolved,
}

/// Treats a lost race as done: another run has written the same.
fn unless_lost(outcome: Result<(), Problem>, done: Done) -> Result<Done, Problem> {
    match outcome {
        Ok(()) => Ok(done),
        Err(problem) if problem.code == Code::VersionConflict => Ok(Done::Nothing),
        Err(problem) => Err(problem),
    }
}

async fn open_one(services: &Services, reading: &Reading, now: Timestamp) -> Result<Done, Problem> {
    let incident = Incident::open(reading.report(), None, now);
    let outcome = incident.create_in(services.table.write(), now).commit().await;
    if outcome.is_ok() {
        tracing::warn!(rule = %reading.rule, subject = reading.subject, observed = reading.observed,
            "incident opened");
    }
    unless_lost(outcome, Done::Opened)
}

async fn still_broken(services: &Services, place: &OpenIncident) -> Result<Done, Problem> {
    if place.calm_since.is_none() {
        return Ok(Done::Nothing);
    }
    let write = services.table.write().replace(&place.calm(None), Code::VersionConflict);
    unless_lost(write.commit().await, Done::Nothing)
}

async fn still_holds(
    services: &Services,
    place: &OpenIncident,
    now: Timestamp,
) -> Result<Done, Problem> {
    let Some(since) = place.calm_since else {
        let write = services.table.write().replace(&place.calm(Some(now)), Code::VersionConflict);
        return unless_lost(write.commit().await, Done::Nothing);
    };
    if since.plus(CALM) > now {
        return Ok(Done::Nothing);
    }
    let incident: Option<Incident> = services.table.get(&key::incident(&place.incident_id)).await?;
    let Some(incident) = incident.filter(Incident::is_unresolved) else {
        let write = services.table.write().delete_unchanged(place, Code::VersionConflict);
        return unless_lost(write.commit().await, Done::Nothing);
    };
    let minutes = since.until(now).as_secs().div_euclid(60);
    let message = format!("The rule has held for {minutes} minutes.");
    let after = incident.take(Step::Resolve, Some(message), None, now)?;
    let stated = evidence::addition(services, after.record()?, now).await?;
    let write = services
        .table
        .write()
        .replace(&after, Code::VersionConflict)
        .delete_unchanged(place, Code::VersionConflict)
        .when_some(stated, |write, stated| stated.put_into(write))
        .emit(after.event(&INCIDENT_RESOLVED, now));
    unless_lost(write.commit().await, Done::Resolved)
}
