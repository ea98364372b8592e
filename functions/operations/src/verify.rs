//! Verification of the outbox: its events are compared with the deliveries.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use axum::extract::State;
use callers::{StoreAccess, StoreOrOperator};
use commerce::topics;
use core_types::event::{Event, EventGroup, OutboxState};
use core_types::id::{AppId, DeliveryId, EventId, StoreId, SubscriptionId};
use core_types::key;
use core_types::scope::ReadOperations;
use delivery::delivery::Delivery;
use delivery::subscription::{Payload, Subscription};
use gateway::app::App;
use gateway::budget;
use gateway::reply::Json;
use gateway::request::{Query, RequestRules, Ruled, Validation};
use platform::app::{AppStatus, CommerceApp};
use platform::installation::Installation;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::input::{Given, request};
use primitives::problem::{FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::{Element, Index, Item, Key};

use crate::range::{self, TimeRange};

/// Events, and deliveries, that one request reads at most, the newest first.
const MOST: usize = 1_000;
/// Expected deliveries that one request reads by their keys at most, because the list did not have them.
const MOST_SOUGHT: usize = 1_000;
/// Points of reads at which the request ends: the cost that it is charged in advance.
const MOST_POINTS: u32 = 100;
/// Keys of one strongly consistent read, items of a page, and subscriptions of a store that are read.
const CHUNK: usize = 100;
/// Gaps, and orphans, that a response lists at most.
const MOST_NAMED: usize = 100;
/// The longest range.
const MOST_RANGE: Duration = DAY.saturating_mul(14);
/// The default range.
const DEFAULT_RANGE: Duration = DAY;
/// The longest time that an event may be pending: the stream, then the sweep, with time for both to be
/// late.
const MAY_BE_PENDING: Duration = MINUTE.saturating_mul(5);

/// The range of time to verify.
#[request]
#[derive(Debug)]
pub(crate) struct OutboxVerifyQuery {
    /// The start: at most 14 days before `until`, by default one day.
    since: Option<Timestamp>,
    /// The end; now by default. To continue a range that was too large for one request, send its
    /// `verified_from`.
    until: Option<Timestamp>,
}

impl RequestRules for OutboxVerifyQuery {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        if given.has("since") || given.has("until") {
            range::violations(given, MOST_RANGE, validation.app.clock.now())
        } else {
            Vec::new()
        }
    }
}

/// The result of comparing the outbox with the deliveries.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutboxCheck {
    /// The number of events that were verified.
    checked: usize,
    /// The number of deliveries that were verified.
    deliveries: usize,
    /// The number of gaps: events pending for more than five minutes, and deliveries of published events that
    /// were never created.
    missing: usize,
    /// The number of deliveries whose event does not exist.
    orphan: usize,
    /// The first 100 gaps.
    gaps: Vec<Gap>,
    /// The first 100 deliveries whose event does not exist.
    orphans: Vec<DeliveryId>,
    /// The start of the range.
    since: Timestamp,
    /// The end of the range.
    until: Timestamp,
    /// The range was verified from this time on. It is later than `since` if there was too much for one
    /// request.
    verified_from: Timestamp,
    /// Whether a part of the range is left: request it with `verified_from` as `until`.
    truncated: bool,
}

/// A delivery that was never created, or an event that is still pending.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "DeliveryGap")]
pub(crate) struct Gap {
    /// The event.
    event_id: EventId,
    /// The subscription without a delivery; `null` for an event that is still pending.
    subscription_id: Option<SubscriptionId>,
}

/// `GET /v1/operations/outbox/verify` (`verifyEvents`): Verify events against their deliveries.
///
/// The request checks that every event of the range has its deliveries, and that every delivery has its
/// event. Only subscriptions that did not change after the event are expected to have a delivery. An event
/// that has been pending for more than five minutes is a gap as well.
///
/// One request verifies up to 1,000 events and deliveries, the newest first. If `truncated` is true, continue
/// with `verified_from` as `until`. A replay of kind `missing` closes gaps of published events.
pub(crate) async fn verify(
    caller: StoreOrOperator<ReadOperations>,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<OutboxVerifyQuery>>,
) -> Result<Json<OutboxCheck>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let until = query.until.unwrap_or(now).min(now);
    let since = query.since.unwrap_or_else(|| until.minus(DEFAULT_RANGE));
    let range = TimeRange::of(Some(since), Some(until), MOST_RANGE, store.created_at, now)?;
    let days = range.queries(Index::Gsi5, |day| key::events_on(&store.id, day));
    // Half of the points are for events, the other half for deliveries.
    let (mut events, events_end): (Vec<Event>, _) = newest(&app, days, MOST_POINTS / 2).await?;
    let tenant = key::event_tenant(Some(&store.id), None);
    let days = range.queries(Index::Gsi5, |day| key::deliveries_on(&tenant, day));
    let (mut deliveries, deliveries_end): (Vec<Delivery>, _) =
        newest(&app, days, MOST_POINTS).await?;
    // From this time on both lists are complete.
    let from_events = reach(&events, events_end, range, |event| event.created_at);
    let from_deliveries = reach(&deliveries, deliveries_end, range, |it| it.created_at);
    let known_from = from_events.max(from_deliveries);
    events.retain(|event| event.created_at >= known_from);
    let there: HashSet<&DeliveryId> = deliveries.iter().map(|delivery| &delivery.id).collect();
    let expected = expected(&app, &caller, (&events, range.until), &there).await?;
    let verified_from = expected.from.unwrap_or(known_from);
    events.retain(|event| event.created_at >= verified_from);
    deliveries.retain(|delivery| delivery.created_at >= verified_from);
    let is_stuck = |event: &&Event| {
        event.state == OutboxState::Pending && event.created_at.plus(MAY_BE_PENDING) <= now
    };
    let stuck = events.iter().filter(is_stuck);
    let mut gaps: Vec<Gap> =
        stuck.map(|event| Gap { event_id: event.id.clone(), subscription_id: None }).collect();
    gaps.extend(undelivered(&app, expected.sought).await?);
    let orphans = orphans(&app, &events, &deliveries).await?;
    let (missing, orphan) = (gaps.len(), orphans.len());
    gaps.truncate(MOST_NAMED);
    Ok(Json::new(&OutboxCheck {
        checked: events.len(),
        deliveries: deliveries.len(),
        missing,
        orphan,
        gaps,
        orphans: orphans.into_iter().take(MOST_NAMED).collect(),
        since: range.since,
        until: range.until,
        verified_from,
        truncated: verified_from > range.since,
    }))
}

/// Whether all items of a range were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Reached,
    /// There may be older items.
    Ahead,
}

/// The time from which on the list is complete.
fn reach<T>(found: &[T], end: End, range: TimeRange, at: impl Fn(&T) -> Timestamp) -> Timestamp {
    let oldest = found.last().filter(|_| end == End::Ahead);
    oldest.map_or(range.since, at)
}

/// Reads the newest items of these days: at most [`MOST`], until all reads of the request cost `points`.
async fn newest<T: Element>(
    services: &Services,
    days: Vec<table::Query>,
    points: u32,
) -> Result<(Vec<T>, End), Problem> {
    let mut found: Vec<T> = Vec::new();
    for day in days {
        let (day, mut start) = (day.without_read_limit(), None);
        loop {
            let page = services.table.page(&day, CHUNK, start, |_: &T| true).await?;
            found.extend(page.items);
            if found.len() >= MOST || (!found.is_empty() && budget::points_read() >= points) {
                return Ok((found, End::Ahead));
            }
            start = page.next;
            if start.is_none() {
                break;
            }
        }
    }
    Ok((found, End::Reached))
}

/// The gaps: expected deliveries that do not exist.
async fn undelivered(
    services: &Services,
    expected: Vec<(EventId, SubscriptionId)>,
) -> Result<Vec<Gap>, Problem> {
    let key_of =
        |(event, to): &(EventId, SubscriptionId)| key::delivery(&Delivery::first_id(event, to));
    let keys: Vec<Key> = expected.iter().map(key_of).collect();
    let absent = absent::<Delivery>(services, &keys).await?;
    let gap = |(event_id, to)| Gap { event_id, subscription_id: Some(to) };
    let pairs = expected.into_iter().zip(keys);
    Ok(pairs.filter(|(_, key)| absent.contains(key)).map(|(pair, _)| gap(pair)).collect())
}

/// The deliveries whose event does not exist.
async fn orphans(
    services: &Services,
    events: &[Event],
    deliveries: &[Delivery],
) -> Result<Vec<DeliveryId>, Problem> {
    let known: HashSet<&EventId> = events.iter().map(|event| &event.id).collect();
    let of_unknown = || deliveries.iter().filter(|it| !known.contains(&it.event_id));
    // Events of one transaction are one item.
    let keys: HashSet<Key> = of_unknown().map(|it| key::event(&it.event_id)).collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    let eventless = absent::<EventGroup>(services, &keys).await?;
    let is_orphan = |it: &&Delivery| eventless.contains(&key::event(&it.event_id));
    Ok(of_unknown().filter(is_orphan).map(|it| it.id.clone()).collect())
}

/// The expected deliveries that must be read by their keys.
#[derive(Debug, Default)]
struct Expected {
    /// The event and the subscription of each delivery.
    sought: Vec<(EventId, SubscriptionId)>,
    /// The time from which on they are complete, if there are too many for one request.
    from: Option<Timestamp>,
}

impl Expected {
    /// Whether the limit is reached before this event. Events of one moment stay together, and a request
    /// always covers more than the moment at which it begins, so that its continuation makes progress.
    fn is_full(&mut self, before: Option<&Event>, event: &Event, until: Timestamp) -> bool {
        let ends =
            |before: &&Event| event.created_at < before.created_at && before.created_at < until;
        let end = before.filter(ends).filter(|_| self.sought.len() >= MOST_SOUGHT);
        self.from = end.map(|before| before.created_at);
        end.is_some()
    }
}

/// Computes the expected deliveries that are not in `there`: for each published event, the newest first, one
/// for each subscription that matches it and has not changed since the event.
async fn expected(
    services: &Services,
    caller: &StoreAccess<ReadOperations>,
    (events, until): (&[Event], Timestamp),
    there: &HashSet<&DeliveryId>,
) -> Result<Expected, Problem> {
    let store = &caller.store.id;
    let partition = table::Query::partition(key::store(store).pk).begins_with(key::SUBSCRIPTIONS);
    let subscriptions: Vec<Subscription> = services.table.all(&partition, CHUNK).await?;
    let installed = installed(services, store, &subscriptions).await?;
    let (mut expected, mut before) = (Expected::default(), None);
    for event in events.iter().filter(|event| event.state == OutboxState::Published) {
        if expected.is_full(before.replace(event), event, until) {
            break;
        }
        let payload = Payload::from(event);
        for subscription in &subscriptions {
            let by = subscription.app_id.as_ref().and_then(|id| installed.get(id));
            let installation = by.map(|(installation, _)| installation);
            let unchanged_since = |at: Timestamp| at < event.created_at;
            // A suspended app receives no events, and its suspension is a change of the app.
            let hears = |(installation, by): &(Installation, CommerceApp)| {
                unchanged_since(installation.updated_at)
                    && unchanged_since(by.updated_at)
                    && by.status != AppStatus::Suspended
            };
            if unchanged_since(subscription.updated_at)
                && by.is_none_or(hears)
                && subscription.matches_event(event, topics::scope_of(&event.name), installation)
                && subscription.wants(&payload)
                && !there.contains(&Delivery::first_id(&event.id, &subscription.id))
            {
                expected.sought.push((event.id.clone(), subscription.id.clone()));
            }
        }
    }
    Ok(expected)
}

/// Loads the installations of the apps that subscribed on a store, each with its app, in one round trip.
async fn installed(
    services: &Services,
    store: &StoreId,
    subscriptions: &[Subscription],
) -> Result<HashMap<AppId, (Installation, CommerceApp)>, Problem> {
    let ids: BTreeSet<&AppId> =
        subscriptions.iter().filter_map(|subscription| subscription.app_id.as_ref()).collect();
    let keys: Vec<(&AppId, [Key; 2])> = ids
        .into_iter()
        .map(|id| (id, [key::installation(&Installation::id_of(store, id)), key::app(id)]))
        .collect();
    let all: Vec<&Key> = keys.iter().flat_map(|(_, keys)| keys).collect();
    let mut batch = services.table.get_many(&all).await?;
    let mut found = HashMap::new();
    for (id, [installation, by]) in &keys {
        if let Some(both) = batch.take(installation)?.zip(batch.take(by)?) {
            found.insert((*id).clone(), both);
        }
    }
    Ok(found)
}

/// The keys that have no item. An eventually consistent read goes first; keys that it does not find are read
/// again strongly consistently.
async fn absent<T: Item>(services: &Services, keys: &[Key]) -> Result<HashSet<Key>, Problem> {
    let mut found = services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    let mut unseen: HashSet<Key> = HashSet::new();
    for key in keys {
        if found.take::<T>(key)?.is_none() {
            unseen.insert(key.clone());
        }
    }
    let mut absent = HashSet::new();
    for chunk in unseen.into_iter().collect::<Vec<_>>().chunks(CHUNK) {
        let mut batch = services.table.get_many(&chunk.iter().collect::<Vec<_>>()).await?;
        for key in chunk {
            if batch.take::<T>(key)?.is_none() {
                absent.insert(key.clone());
            }
        }
    }
    Ok(absent)
}
