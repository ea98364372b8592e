//! Fan-out: an event becomes one delivery for each subscription that takes it.
//!
//! The deliveries of a batch of events are made side by side, each by one conditional write; then their
//! messages are sent, ten at a time; and only then each event loses the mark that brings it back. Ids of
//! deliveries follow from event and subscription, and one that has been made is left as it is: a crash
//! in between repeats what was done, and changes nothing about it.

use std::collections::HashSet;
use std::time::Duration;

use delivery::delivery::{Delivery, QUEUE};
use futures_util::stream::{self, StreamExt};
use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use ground::event::{Event, OutboxState};
use ground::id::EventId;
use platform::usage;

use crate::PARALLEL;
use crate::audience::Audience;
use crate::pending_events;

/// Events that are fanned out together: their messages share batches, and the first of them does not
/// wait for a hundred others.
const WAVE: usize = 20;
/// Waves under way at once.
const WAVES: usize = 2;
/// Writes of one event, and calls of another kind of one wave, under way at once.
const WRITES: usize = 16;
/// Messages that one call sends.
const MESSAGES: usize = 10;
/// What the stream tells of an event is believed for this long: later, whoever is late or tries again
/// looks whether it is still pending.
const BELIEVED: Duration = Duration::from_secs(5);
/// Events that one look takes in.
const LOOKED_AT: usize = 100;

/// Publishes an event: its deliveries, their messages, its new state. Publishing twice is publishing
/// once.
///
/// # Errors
/// 503 when the table or the queue cannot be reached. A defect of ours marks the event as failed
/// instead, for its owner to see and to requeue.
pub async fn publish(app: &App, event: &Event) -> Result<(), Problem> {
    let outcomes = publish_all(app, vec![event.clone()]).await;
    outcomes.into_iter().try_for_each(|(_, outcome)| outcome)
}

/// Publishes events side by side, each for itself: answers with what became of each.
pub(crate) async fn publish_all(
    app: &App,
    events: Vec<Event>,
) -> Vec<(Event, Result<(), Problem>)> {
    let audience = Audience::of(app, &events).await;
    let waves: Vec<Vec<Event>> = events.chunks(WAVE).map(<[Event]>::to_vec).collect();
    let outcomes: Vec<_> = stream::iter(waves)
        .map(|wave| Box::pin(publish_wave(app, &audience, wave)))
        .buffered(WAVES)
        .collect()
        .await;
    outcomes.into_iter().flatten().collect()
}

/// Those of the events that are pending no longer: of what happened a while ago, the table is asked. What
/// its owner has given up meanwhile is not sent.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn over(app: &App, events: &[Event]) -> Result<HashSet<EventId>, Problem> {
    let since = app.clock.now().minus(BELIEVED);
    let mut over = HashSet::new();
    let old: Vec<&Event> = events.iter().filter(|event| event.created_at < since).collect();
    for chunk in old.chunks(LOOKED_AT) {
        let keys: Vec<Key> = chunk.iter().map(|event| event.key()).collect();
        let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        for (event, key) in chunk.iter().zip(&keys) {
            // One that cannot be read is met again where it is marked.
            let found: Option<Event> = batch.take(key).unwrap_or(None);
            if found.is_none_or(|found| found.state != OutboxState::Pending) {
                over.insert(event.id.clone());
            }
        }
    }
    Ok(over)
}

async fn publish_wave(
    app: &App,
    audience: &Audience,
    wave: Vec<Event>,
) -> Vec<(Event, Result<(), Problem>)> {
    let now = app.clock.now();
    let made = stream::iter(wave)
        .map(|event| async move {
            match audience.deliveries(&event, now) {
                Ok(deliveries) => {
                    let outcome = make(app, audience, &event, &deliveries).await;
                    (event, deliveries, outcome)
                }
                Err(problem) => (event, Vec::new(), Err(problem)),
            }
        })
        .buffered(PARALLEL)
        .collect::<Vec<_>>()
        .await;
    let is_made = made.iter().filter(|(_, _, outcome)| outcome.is_ok());
    send(app, is_made.flat_map(|(_, deliveries, _)| deliveries)).await;
    stream::iter(made)
        .map(|(event, _, outcome)| async move {
            let outcome = match outcome {
                Ok(()) => mark_published(app, &event).await,
                failed => failed,
            };
            let outcome = conclude(app, &event, outcome).await;
            (event, outcome)
        })
        .buffered(WRITES)
        .collect()
        .await
}

/// Makes an event's deliveries. Where one has a lane, those of the events before it come first.
async fn make(
    app: &App,
    audience: &Audience,
    event: &Event,
    deliveries: &[Delivery],
) -> Result<(), Problem> {
    if deliveries.iter().any(|delivery| delivery.lane.is_some()) {
        Box::pin(publish_before(app, audience, event)).await?;
    }
    make_all(app, deliveries).await
}

async fn make_all(app: &App, deliveries: &[Delivery]) -> Result<(), Problem> {
    let writes: Vec<_> = deliveries.iter().map(|delivery| delivery.make(app)).collect();
    let outcomes: Vec<Result<(), Problem>> =
        stream::iter(writes).buffer_unordered(WRITES).collect().await;
    outcomes.into_iter().collect()
}

/// Publishes the events about the same entity that come before `event` and are still pending, so
/// that positions in a lane are taken in the order of the changes, whatever order the stream, its
/// retries and the sweep bring events in.
async fn publish_before(app: &App, audience: &Audience, event: &Event) -> Result<(), Problem> {
    for earlier in pending_events::before(app, event).await? {
        let outcome = if audience.knows(&earlier) {
            publish_alone(app, audience, &earlier).await
        } else {
            let its_own = Audience::of(app, std::slice::from_ref(&earlier)).await;
            publish_alone(app, &its_own, &earlier).await
        };
        conclude(app, &earlier, outcome).await?;
    }
    Ok(())
}

async fn publish_alone(app: &App, audience: &Audience, event: &Event) -> Result<(), Problem> {
    let deliveries = audience.deliveries(event, app.clock.now())?;
    make_all(app, &deliveries).await?;
    send(app, &deliveries).await;
    mark_published(app, event).await
}

/// Sends the messages for these. What is not sent is no loss: each delivery is due in a while, and the
/// sweep queues what is missing.
async fn send(app: &App, deliveries: impl IntoIterator<Item = &Delivery>) {
    let messages: Vec<_> =
        deliveries.into_iter().map(|delivery| (delivery.message(), Duration::ZERO)).collect();
    let queue = app.queue(QUEUE);
    let sendings: Vec<_> = messages.chunks(MESSAGES).map(|ten| queue.send(ten)).collect();
    let outcomes = stream::iter(sendings).buffer_unordered(WRITES).collect::<Vec<_>>().await;
    for problem in outcomes.into_iter().filter_map(Result::err) {
        tracing::warn!(cause = %problem, "messages not queued");
    }
}

/// Moves the event on, and counts it, on the condition that it is pending.
async fn mark_published(app: &App, event: &Event) -> Result<(), Problem> {
    let published = event.moved_to(OutboxState::Published, None, app.clock.now());
    let write = app.table.write().replace(&published, Code::VersionConflict);
    usage::count(write, event).commit().await
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

/// Marks an event as failed, unless it has been published meanwhile.
async fn fail(app: &App, event: &Event, problem: &Problem) -> Result<(), Problem> {
    let why = Some(problem.code.as_str().to_owned());
    let failed = event.moved_to(OutboxState::Failed, why, app.clock.now());
    match app.table.write().replace(&failed, Code::VersionConflict).commit().await {
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        outcome => outcome,
    }
}
