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
use ground::id::{AppId, EventId, StoreId};
use ground::key;
use ground::scope::ReadOperations;
use platform::app::{AppStatus, CommerceApp};
use platform::caller::{OverseenStore, StoreAccess};
use platform::installation::Installation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::range::{self, TimeRange};

/// What is looked at of each kind, the newest first.
const MOST: usize = 500;
/// Keys read in one round trip.
const CHUNK: usize = 100;
/// The longest range.
const MOST_RANGE: Duration = DAY.saturating_mul(14);
/// The range, if none is asked for.
const DEFAULT_RANGE: Duration = DAY;
/// How long an event may be pending: stream, then sweep, and room for both to be late.
const MAY_BE_PENDING: Duration = MINUTE.saturating_mul(5);

/// Since when.
#[request]
#[derive(Debug)]
pub(crate) struct OutboxVerifyQuery {
    /// From this time on; a day back if left out, at most 14.
    since: Option<Timestamp>,
}

impl Rules for OutboxVerifyQuery {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        if given.has("since") { range::broken(given, case, MOST_RANGE) } else { Vec::new() }
    }
}

/// The outbox held against the deliveries.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutboxCheck {
    /// Events that were looked at.
    checked: usize,
    /// Events that have been pending for more than five minutes, and deliveries of published ones
    /// that a subscription should have had.
    missing: usize,
    /// Deliveries without their event.
    orphan: usize,
    since: Timestamp,
    /// Whether there are more than were looked at.
    truncated: bool,
}

/// `GET /v1/operations/outbox/verify`: Holds the outbox against the deliveries.
pub(crate) async fn verify(
    caller: OverseenStore<ReadOperations>,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<OutboxVerifyQuery>>,
) -> Result<Json<OutboxCheck>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let since = query.since.unwrap_or_else(|| now.minus(DEFAULT_RANGE));
    let range = TimeRange::of(Some(since), None, MOST_RANGE, store.created_at, now)?;
    let events: Vec<Event> =
        newest(&app, range.queries(Index::Gsi5, |day| key::events_on(&store.id, day))).await?;
    let stuck = events.iter().filter(|event| {
        event.state == OutboxState::Pending && event.created_at.plus(MAY_BE_PENDING) <= now
    });
    let stuck = stuck.count();
    let expected = expected(&app, &caller, &events).await?;
    let undelivered = absent::<Delivery>(&app, &expected).await?;
    let scope = key::event_scope(Some(&store.id), None);
    let days = range.queries(Index::Gsi5, |day| key::deliveries_on(&scope, day));
    let deliveries: Vec<Delivery> = newest(&app, days).await?;
    let known: BTreeSet<&EventId> = events.iter().map(|event| &event.id).collect();
    let unknown: BTreeSet<&EventId> = deliveries
        .iter()
        .map(|delivery| &delivery.event_id)
        .filter(|id| !known.contains(id))
        .collect();
    // Events that happened together are one item.
    let unknown: HashSet<Key> = unknown.into_iter().map(key::event).collect();
    let unknown: Vec<Key> = unknown.into_iter().collect();
    let eventless = absent::<EventGroup>(&app, &unknown).await?;
    let orphan = deliveries
        .iter()
        .filter(|delivery| eventless.contains(&key::event(&delivery.event_id)))
        .count();
    Ok(Json::new(&OutboxCheck {
        checked: events.len(),
        missing: stuck.saturating_add(undelivered.len()),
        orphan,
        since: since.max(store.created_at),
        truncated: events.len() >= MOST || deliveries.len() >= MOST,
    }))
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

/// The deliveries there should be: for each published event, of each subscription that is as it
/// was when the event happened.
async fn expected(
    app: &App,
    caller: &StoreAccess<ReadOperations>,
    events: &[Event],
) -> Result<Vec<Key>, Problem> {
    let store = &caller.store.id;
    let partition = table::Query::partition(key::store(store).pk).begins_with(key::SUBSCRIPTIONS);
    let subscriptions: Vec<Subscription> = app.table.all(&partition, CHUNK).await?;
    let installed = installed(app, store, &subscriptions).await?;
    let mut keys = Vec::new();
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
                keys.push(key::delivery(&Delivery::first_id(&event.id, &subscription.id)));
            }
        }
    }
    Ok(keys)
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

/// Those of the keys, each of which is there once, that hold nothing.
async fn absent<T: Item>(app: &App, keys: &[Key]) -> Result<Vec<Key>, Problem> {
    let mut absent = Vec::new();
    for chunk in keys.chunks(CHUNK) {
        let mut batch = app.table.get_many(&chunk.iter().collect::<Vec<_>>()).await?;
        for key in chunk {
            if batch.take::<T>(key)?.is_none() {
                absent.push(key.clone());
            }
        }
    }
    Ok(absent)
}
