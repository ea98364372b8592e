//! Whether every event was delivered: the outbox compared with the deliveries.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use axum::extract::State;
use commerce::topics;
use delivery::delivery::Delivery;
use delivery::subscription::{Payload, Subscription};
use gateway::app::App;
use gateway::clock::{DAY, MINUTE, Timestamp};
use gateway::item::{Element, Index, Item, Key};
use gateway::problem::{FieldError, Problem};
use gateway::reply::Json;
use gateway::request::{Given, Judgement, Query, Ruled, Rules, request};
use gateway::table;
use ground::event::{Event, EventGroup, OutboxState};
use ground::id::{AppId, DeliveryId, EventId, StoreId, SubscriptionId};
use ground::key;
use ground::scope::ReadOperations;
use platform::app::{AppStatus, CommerceApp};
use platform::caller::{OverseenStore, StoreAccess};
use platform::installation::Installation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::range::{self, TimeRange};

/// What is looked at of each kind in one call, the newest first.
const MOST: usize = 5_000;
/// Keys read consistently in one round trip, and subscriptions of a store that are read.
const CHUNK: usize = 100;
/// What is named of each kind.
const MOST_NAMED: usize = 100;
/// The longest range.
const MOST_RANGE: Duration = DAY.saturating_mul(14);
/// The range, if none is asked for.
const DEFAULT_RANGE: Duration = DAY;
/// How long an event may be pending: stream, then sweep, and room for both to be late.
const MAY_BE_PENDING: Duration = MINUTE.saturating_mul(5);

/// Which window.
#[request]
#[derive(Debug)]
pub(crate) struct OutboxVerifyQuery {
    /// From this time on; a day before `until` if left out, at most 14.
    since: Option<Timestamp>,
    /// Up to this time; now, if left out. To go on with a window that was too large for one call, its
    /// `verified_from`.
    until: Option<Timestamp>,
}

impl Rules for OutboxVerifyQuery {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        if given.has("since") || given.has("until") {
            range::broken(given, case, MOST_RANGE)
        } else {
            Vec::new()
        }
    }
}

/// The outbox held against the deliveries, both ways.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutboxCheck {
    /// Events that were looked at.
    checked: usize,
    /// Deliveries that were looked at.
    deliveries: usize,
    /// Events that have been pending for more than five minutes, and deliveries of published ones
    /// that a subscription should have had.
    missing: usize,
    /// Deliveries without their event.
    orphan: usize,
    /// The first hundred of what is missing.
    gaps: Vec<Gap>,
    /// The first hundred deliveries without their event.
    orphans: Vec<DeliveryId>,
    since: Timestamp,
    until: Timestamp,
    /// From when on all of it was looked at: later than `since` where there is too much for one call.
    verified_from: Timestamp,
    /// Whether there are more than were looked at: ask again, with `until` as `verified_from` is.
    truncated: bool,
}

/// A delivery that there should be, or an event that should have been published.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Gap {
    event_id: EventId,
    /// Who should have had it; none of an event that is still pending.
    subscription_id: Option<SubscriptionId>,
}

/// `GET /v1/operations/outbox/verify`: Holds the outbox against the deliveries: that every event of the
/// window has its deliveries, and every delivery its event.
pub(crate) async fn verify(
    caller: OverseenStore<ReadOperations>,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<OutboxVerifyQuery>>,
) -> Result<Json<OutboxCheck>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let until = query.until.unwrap_or(now).min(now);
    let since = query.since.unwrap_or_else(|| until.minus(DEFAULT_RANGE));
    let range = TimeRange::of(Some(since), Some(until), MOST_RANGE, store.created_at, now)?;
    let mut events: Vec<Event> =
        newest(&app, range.queries(Index::Gsi5, |day| key::events_on(&store.id, day))).await?;
    let scope = key::event_scope(Some(&store.id), None);
    let days = range.queries(Index::Gsi5, |day| key::deliveries_on(&scope, day));
    let mut deliveries: Vec<Delivery> = newest(&app, days).await?;
    // Both are known from here on.
    let from_events = reach(&events, range, |event| event.created_at);
    let verified_from = from_events.max(reach(&deliveries, range, |it| it.created_at));
    events.retain(|event| event.created_at >= verified_from);
    deliveries.retain(|delivery| delivery.created_at >= verified_from);
    let is_stuck = |event: &&Event| {
        event.state == OutboxState::Pending && event.created_at.plus(MAY_BE_PENDING) <= now
    };
    let stuck = events.iter().filter(is_stuck);
    let mut gaps: Vec<Gap> =
        stuck.map(|event| Gap { event_id: event.id.clone(), subscription_id: None }).collect();
    gaps.extend(undelivered(&app, expected(&app, &caller, &events).await?).await?);
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

/// From when on all of these were read: the newest of them are known.
fn reach<T>(found: &[T], range: TimeRange, at: impl Fn(&T) -> Timestamp) -> Timestamp {
    let oldest = found.last().filter(|_| found.len() >= MOST);
    oldest.map_or(range.since, at)
}

/// The newest items over these days, at most [`MOST`].
async fn newest<T: Element>(app: &App, days: Vec<table::Query>) -> Result<Vec<T>, Problem> {
    let mut found: Vec<T> = Vec::new();
    for day in days {
        let room = MOST.saturating_sub(found.len());
        if room == 0 {
            break;
        }
        found.extend(app.table.page(&day.whole(), room, None, |_: &T| true).await?.items);
    }
    Ok(found)
}

/// Those of the deliveries that there should be which are not there.
async fn undelivered(
    app: &App,
    expected: Vec<(EventId, SubscriptionId)>,
) -> Result<Vec<Gap>, Problem> {
    let key_of =
        |(event, to): &(EventId, SubscriptionId)| key::delivery(&Delivery::first_id(event, to));
    let keys: Vec<Key> = expected.iter().map(key_of).collect();
    let absent = absent::<Delivery>(app, &keys).await?;
    let gap = |(event_id, to)| Gap { event_id, subscription_id: Some(to) };
    let pairs = expected.into_iter().zip(keys);
    Ok(pairs.filter(|(_, key)| absent.contains(key)).map(|(pair, _)| gap(pair)).collect())
}

/// Those of the deliveries whose event is not there.
async fn orphans(
    app: &App,
    events: &[Event],
    deliveries: &[Delivery],
) -> Result<Vec<DeliveryId>, Problem> {
    let known: HashSet<&EventId> = events.iter().map(|event| &event.id).collect();
    let of_unknown = || deliveries.iter().filter(|it| !known.contains(&it.event_id));
    // Events that happened together are one item.
    let keys: HashSet<Key> = of_unknown().map(|it| key::event(&it.event_id)).collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    let eventless = absent::<EventGroup>(app, &keys).await?;
    let is_orphan = |it: &&Delivery| eventless.contains(&key::event(&it.event_id));
    Ok(of_unknown().filter(is_orphan).map(|it| it.id.clone()).collect())
}

/// The deliveries there should be: for each published event, of each subscription that is as it
/// was when the event happened.
async fn expected(
    app: &App,
    caller: &StoreAccess<ReadOperations>,
    events: &[Event],
) -> Result<Vec<(EventId, SubscriptionId)>, Problem> {
    let store = &caller.store.id;
    let partition = table::Query::partition(key::store(store).pk).begins_with(key::SUBSCRIPTIONS);
    let subscriptions: Vec<Subscription> = app.table.all(&partition, CHUNK).await?;
    let installed = installed(app, store, &subscriptions).await?;
    let mut expected = Vec::new();
    for event in events.iter().filter(|event| event.state == OutboxState::Published) {
        let payload = Payload::from(event);
        for subscription in &subscriptions {
            let by = subscription.app_id.as_ref().and_then(|id| installed.get(id));
            let installation = by.map(|(installation, _)| installation);
            let unchanged_since = |at: Timestamp| at < event.created_at;
            // A suspended app hears of nothing, and its suspension is a change of the app.
            let hears = |(installation, by): &(Installation, CommerceApp)| {
                unchanged_since(installation.updated_at)
                    && unchanged_since(by.updated_at)
                    && by.status != AppStatus::Suspended
            };
            if unchanged_since(subscription.updated_at)
                && by.is_none_or(hears)
                && subscription.takes(event, topics::scope_of(&event.name), installation)
                && subscription.wants(&payload)
            {
                expected.push((event.id.clone(), subscription.id.clone()));
            }
        }
    }
    Ok(expected)
}

/// The installations on a store of the apps that subscribed, each with its app, in one round trip.
async fn installed(
    app: &App,
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
    let mut batch = app.table.get_many(&all).await?;
    let mut found = HashMap::new();
    for (id, [installation, by]) in &keys {
        if let Some(both) = batch.take(installation)?.zip(batch.take(by)?) {
            found.insert((*id).clone(), both);
        }
    }
    Ok(found)
}

/// Those of the keys that hold nothing. What is not seen at a glance is looked for as it is.
async fn absent<T: Item>(app: &App, keys: &[Key]) -> Result<HashSet<Key>, Problem> {
    let mut glanced = app.table.glance(&keys.iter().collect::<Vec<_>>()).await?;
    let mut unseen: HashSet<Key> = HashSet::new();
    for key in keys {
        if glanced.take::<T>(key)?.is_none() {
            unseen.insert(key.clone());
        }
    }
    let mut absent = HashSet::new();
    for chunk in unseen.into_iter().collect::<Vec<_>>().chunks(CHUNK) {
        let mut batch = app.table.get_many(&chunk.iter().collect::<Vec<_>>()).await?;
        for key in chunk {
            if batch.take::<T>(key)?.is_none() {
                absent.insert(key.clone());
            }
        }
    }
    Ok(absent)
}
