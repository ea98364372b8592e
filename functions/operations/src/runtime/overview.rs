//! The state of the platform, or of a store's webhooks.

use axum::extract::State;
use callers::StoreOrPlatform;
use core_types::event::{Event, OutboxState};
use core_types::id::StoreId;
use core_types::key;
use core_types::scope::ReadOperations;
use futures_util::future::try_join4;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Accept, Query};
use primitives::clock::Timestamp;
use primitives::input::request;
use primitives::problem::Problem;
use reliability::drill::Drill;
use reliability::incident::{Incident, IncidentBrief};
use reliability::load_test::LoadTest;
use reliability::metrics::{
    DELIVERIES, DeliveryNumbers, FamilyNumbers, Point, Window, load_per_minute, samples, series,
    sum, traffic,
};
use reliability::queues::{self, QueueState, outbox_lag};
use reliability::runs::{self, RunBrief};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::{Index, Item};

use super::incidents::unresolved;
use crate::page::{self, Shown};

/// A store's newest events of a day that are read for pending ones, and its newest incidents that are read.
const LOOKED_AT: usize = 100;

/// The time that the numbers cover.
#[request]
#[derive(Debug)]
pub(crate) struct OverviewQuery {
    /// `5m`, `1h` or `24h`; `5m` by default.
    window: Option<Window>,
}

/// The state of the platform, or of a store's webhooks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RuntimeOverview {
    /// The time that the numbers cover.
    pub(crate) window: Window,
    /// The start of that time, at a full minute.
    pub(crate) since: Timestamp,
    /// When the numbers were read.
    pub(crate) measured_at: Timestamp,
    /// The store that the numbers are about; `null` for the platform.
    pub(crate) store_id: Option<StoreId>,
    /// Events that wait to be published.
    pub(crate) outbox: OutboxNumbers,
    /// Webhook delivery attempts.
    pub(crate) deliveries: DeliveryNumbers,
    /// The incidents that are not resolved, the newest first.
    pub(crate) open_incidents: Vec<IncidentBrief>,
    /// The store's last replay; `null` for the platform.
    pub(crate) last_replay: Option<RunBrief>,
    /// The numbers of the platform; `null` for a store.
    pub(crate) platform: Option<PlatformNumbers>,
}

/// Events that wait to be published.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutboxNumbers {
    /// The age of the oldest pending event, in seconds; 0 if there is none.
    pub(crate) lag_seconds: u64,
}

/// The numbers of the platform.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlatformNumbers {
    /// The queues with their backlog.
    pub(crate) queues: Vec<QueueState>,
    /// The requests of each family of routes. Numbers of the last minute may be missing: a process writes a
    /// minute's numbers with its first request after that minute.
    pub(crate) families: Vec<FamilyNumbers>,
    /// The numbers over time: a point a minute, for `24h` a point for every 15 minutes.
    pub(crate) series: Vec<Point>,
    /// The last failover drill.
    pub(crate) last_drill: Option<RunBrief>,
    /// The last load test.
    pub(crate) last_load_test: Option<RunBrief>,
}

/// `GET /v1/operations/runtime/overview` (`getOverview`): Get the state of the platform or a store.
///
/// For a store, it has the waiting time of its events, its delivery attempts, its unresolved incidents and
/// its last replay. An operator who names no store sees the platform instead: also the queues, the requests
/// of each family, and the last drill and load test.
///
/// The numbers cover the last five minutes by default. It is an HTML page if `Accept` prefers `text/html` to
/// JSON.
pub(crate) async fn get(
    caller: StoreOrPlatform<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<OverviewQuery>,
    accept: Accept,
) -> Result<NoStore<Shown<RuntimeOverview>>, Problem> {
    let window = query.window.unwrap_or(Window::FiveMinutes);
    let now = app.clock.now();
    let since = services::metrics::minute_of(now.minus(window.length()));
    let numbers = match caller.store() {
        Some(store) => Box::pin(of_store(&app, store, window, since)).await?,
        None => Box::pin(of_platform(&app, window, since)).await?,
    };
    let overview = RuntimeOverview { measured_at: now, ..numbers };
    let response =
        page::described(&accept, || page::overview::sheet(&overview), || Json::new(&overview));
    Ok(NoStore::of(response))
}

async fn of_store(
    services: &Services,
    store: &StoreId,
    window: Window,
    since: Timestamp,
) -> Result<RuntimeOverview, Problem> {
    let now = services.clock.now();
    let (index, partition) = key::incidents_of_store(store);
    let incidents = table::Query::index(index, partition).newest_first();
    let (counted, incidents, lag_seconds, last_replay) = try_join4(
        load_per_minute(services, store.as_str(), since),
        Box::pin(services.table.all::<Incident>(&incidents, LOOKED_AT)),
        Box::pin(store_lag(services, store, since, now)),
        runs::last_replay(services, store),
    )
    .await?;
    let open = incidents.iter().filter(|incident| incident.is_unresolved());
    Ok(RuntimeOverview {
        window,
        since,
        measured_at: now,
        store_id: Some(store.clone()),
        outbox: OutboxNumbers { lag_seconds },
        deliveries: DeliveryNumbers::from(&sum(&counted)),
        open_incidents: open.map(IncidentBrief::from).collect(),
        last_replay,
        platform: None,
    })
}

/// For how long the oldest pending one of a store's latest events has waited, in seconds.
async fn store_lag(
    services: &Services,
    store: &StoreId,
    since: Timestamp,
    now: Timestamp,
) -> Result<u64, Problem> {
    let mut oldest = now;
    for day in [now, since] {
        let partition = key::events_on(store, day);
        let query = table::Query::index(Index::Gsi5, partition).newest_first();
        let query = query.with_scan_limit(LOOKED_AT, 1);
        let waits = |event: &Event| event.state == OutboxState::Pending;
        let found = services.table.page::<Event>(&query, LOOKED_AT, None, waits).await?;
        let waiting = found.items.into_iter().map(|event| event.created_at);
        oldest = waiting.fold(oldest, Timestamp::min);
        if day.day() == since.day() {
            break;
        }
    }
    Ok(oldest.until(now).as_secs())
}

async fn of_platform(
    services: &Services,
    window: Window,
    since: Timestamp,
) -> Result<RuntimeOverview, Problem> {
    let now = services.clock.now();
    let (queues, lag_seconds, counted, traffic) = try_join4(
        queues::all(services),
        outbox_lag(services, now),
        load_per_minute(services, DELIVERIES, since),
        traffic(services, since),
    )
    .await?;
    let (seen, open, last_drill, last_load_test) = try_join4(
        samples(services, since),
        Box::pin(unresolved(services)),
        Box::pin(runs::last(services, Drill::KIND)),
        runs::last(services, LoadTest::KIND),
    )
    .await?;
    Ok(RuntimeOverview {
        window,
        since,
        measured_at: now,
        store_id: None,
        outbox: OutboxNumbers { lag_seconds },
        deliveries: DeliveryNumbers::from(&sum(&counted)),
        open_incidents: open.iter().map(IncidentBrief::from).collect(),
        last_replay: None,
        platform: Some(PlatformNumbers {
            queues,
            series: series(&traffic, &seen, window.step()),
            families: traffic.families,
            last_drill,
            last_load_test,
        }),
    })
}
