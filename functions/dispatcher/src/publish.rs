//! Fan-out: an event becomes one delivery for each subscription that takes it.

use std::collections::HashMap;
use std::time::Duration;

use commerce::topics;
use delivery::delivery::Delivery;
use delivery::subscription::{MAX_PER_STORE, Payload, Subscription};
use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::{Condition, Query};
use ground::event::{Event, OutboxState};
use ground::id::AppId;
use ground::key;
use platform::app::Stop;
use platform::installation::Installation;
use platform::usage;

use crate::pending_events;

/// Subscriptions read of one partition: a store's limit, or an app's own.
const MOST: usize = 60;
/// Actions that one transaction takes.
const MOST_ACTIONS: usize = 100;

/// Publishes an event: its deliveries and its new state are one transaction, on the condition that
/// it is pending; then the messages. Publishing twice is publishing once.
///
/// # Errors
/// 503 when the table or the queue cannot be reached. A defect of ours marks the event as failed
/// instead, for its owner to see and to requeue.
pub async fn publish(app: &App, event: &Event) -> Result<(), Problem> {
    let outcome = fan_out(app, event).await;
    conclude(app, event, outcome).await
}

/// Success when somebody else was faster; an event that a defect of ours stops is marked as failed.
async fn conclude(app: &App, event: &Event, outcome: Result<(), Problem>) -> Result<(), Problem> {
    match outcome {
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        Err(problem) if problem.code == Code::Internal => {
            problem.log();
            fail(app, event, &problem).await
        }
        outcome => outcome,
    }
}

async fn fan_out(app: &App, event: &Event) -> Result<(), Problem> {
    let deliveries = deliveries(app, event).await?;
    if deliveries.iter().any(|delivery| delivery.lane.is_some()) {
        publish_before(app, event).await?;
    }
    write_all(app, event, &deliveries).await
}

/// Publishes the events about the same entity that come before `event` and are still pending, so
/// that positions in a lane are taken in the order of the changes, whatever order the stream, its
/// retries and the sweep bring events in.
async fn publish_before(app: &App, event: &Event) -> Result<(), Problem> {
    for earlier in pending_events::before(app, event).await? {
        let outcome = match deliveries(app, &earlier).await {
            Ok(deliveries) => write_all(app, &earlier, &deliveries).await,
            Err(problem) => Err(problem),
        };
        conclude(app, &earlier, outcome).await?;
    }
    Ok(())
}

/// Writes an event's deliveries and its new state, and sends the messages.
async fn write_all(app: &App, event: &Event, deliveries: &[Delivery]) -> Result<(), Problem> {
    let published = event.moved_to(OutboxState::Published, None, app.clock.now());
    let (ahead, beside) = deliveries.split_at(deliveries.len().saturating_sub(fitting(deliveries)));
    for delivery in ahead {
        write_ahead(app, event, delivery).await?;
    }
    let mut write = app.table.write().replace(&published, Code::VersionConflict);
    for delivery in beside {
        write = delivery.enter_lane(write.create(delivery, Code::VersionConflict));
    }
    usage::count(write, event).commit().await?;
    let messages: Vec<_> =
        deliveries.iter().map(|delivery| (delivery.message(), Duration::ZERO)).collect();
    if let Err(problem) = app.queue(delivery::delivery::QUEUE).send(&messages).await {
        // Each delivery is due in a minute; the sweep queues what is missing.
        tracing::warn!(cause = %problem, event = event.id.as_str(), "messages not queued");
    }
    Ok(())
}

/// How many of these, from the last on, fit beside the event and its counter in a transaction.
fn fitting(deliveries: &[Delivery]) -> usize {
    let mut room = MOST_ACTIONS.saturating_sub(2);
    let fits = |delivery: &&Delivery| {
        let actions = if delivery.lane.is_some() { 2 } else { 1 };
        let left = room.checked_sub(actions);
        room = left.unwrap_or(room);
        left.is_some()
    };
    deliveries.iter().rev().take_while(fits).count()
}

/// Writes a delivery that does not fit, while the event is still pending. One that is there was
/// written by an earlier try; an event that moved on refuses what follows.
async fn write_ahead(app: &App, event: &Event, delivery: &Delivery) -> Result<(), Problem> {
    let is_pending = Condition::is_at(event.version);
    let write = app.table.write().check(&event.key(), is_pending, Code::VersionConflict);
    let write = write.create(delivery, Code::VersionConflict);
    match delivery.enter_lane(write).commit().await {
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        outcome => outcome,
    }
}

/// The deliveries of an event.
async fn deliveries(app: &App, event: &Event) -> Result<Vec<Delivery>, Problem> {
    let mut subscriptions: Vec<Subscription> = Vec::new();
    let partitions = [
        event.store_id.as_ref().map(|store| key::store(store).pk),
        event.app_id.as_ref().map(|app| key::app(app).pk),
    ];
    for partition in partitions.into_iter().flatten() {
        let query = Query::partition(partition).begins_with(key::SUBSCRIPTIONS);
        subscriptions.extend(app.table.all::<Subscription>(&query, MOST).await?);
    }
    let installations = installations(app, event, &subscriptions).await?;
    let now = app.clock.now();
    let payload = Payload::from(event);
    let scope = topics::scope_of(&event.name);
    let takes = |subscription: &&Subscription| {
        let installation = subscription.app_id.as_ref().and_then(|app| installations.get(app));
        subscription.takes(event, scope, installation) && subscription.wants(&payload)
    };
    Ok(subscriptions
        .iter()
        .filter(takes)
        .map(|subscription| Delivery::new(event, subscription, now))
        .collect())
}

/// The installations of the apps that subscribed on the event's store: what an app may be told
/// ends with its installation, not with its subscription. Those of an app that operators have
/// stopped are left out.
async fn installations(
    app: &App,
    event: &Event,
    subscriptions: &[Subscription],
) -> Result<HashMap<AppId, Installation>, Problem> {
    let Some(store) = &event.store_id else { return Ok(HashMap::new()) };
    let of_apps = subscriptions.iter().filter(|subscription| subscription.scopes.is_some());
    let keys: HashMap<AppId, [Key; 2]> = of_apps
        .filter_map(|subscription| subscription.app_id.clone())
        .map(|app| {
            let id = Installation::id_of(store, &app);
            let keys = [key::installation(&id), Stop::of(&app, &id)];
            (app, keys)
        })
        .collect();
    let mut batch = app.table.get_many(&keys.values().flatten().collect::<Vec<_>>()).await?;
    let mut found = HashMap::new();
    for (app, [installation_key, stop_key]) in keys {
        let is_stopped = batch.take::<Stop>(&stop_key)?.is_some();
        if let Some(installation) = batch.take::<Installation>(&installation_key)?
            && !is_stopped
        {
            found.insert(app, installation);
        }
    }
    Ok(found)
}

/// Marks an event as failed, unless it has been published meanwhile.
async fn fail(app: &App, event: &Event, problem: &Problem) -> Result<(), Problem> {
    let why = Some(problem.code.as_str().to_owned());
    let failed = event.moved_to(OutboxState::Failed, why, app.clock.now());
    match app.table.write().replace(&failed, Code::VersionConflict).commit().await {
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        outcome => outcome,
    }
}

// Without an order everything fits: the event, its counter, and every subscription there can be.
const _: () = assert!(MAX_PER_STORE < 90);
