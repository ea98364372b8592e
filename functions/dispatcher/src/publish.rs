//! Fan-out: an event becomes one delivery for each subscription that receives it.
//!
//! The deliveries of a batch of new events are created together. The stream brings the records of
//! a partition to one invocation at a time, before the sweep knows of them, so nobody else creates their
//! deliveries meanwhile; what an earlier invocation created is read first. Where somebody may, because the
//! event is older or a receiver wants events in order, each is created by one conditional write. Then
//! their messages are sent, ten at a time. Only then the events lose the mark that brings them back,
//! those that happened together by one write. Ids of deliveries are derived from event and subscription,
//! and an existing delivery is left unchanged. So a repetition after a crash changes nothing that was
//! done.

use std::time::Duration;

use commerce::audience::Audience;
use core_types::event::{Event, EventGroup};
use delivery::delivery::{Delivery, QUEUE};
use futures_util::stream::{self, StreamExt};
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::canary::FaultKind;
use table::item::{Item, Key};

use crate::PARALLEL;
use crate::create;
use crate::outcome::{GroupOutcome, commit_states};
use crate::pending_events;

/// The number of groups that are fanned out together: their messages share batches, and the first of them
/// does not wait for a hundred others.
const WAVE: usize = 16;
/// The number of concurrent waves.
const WAVES: usize = 2;
/// The number of concurrent calls of one kind within one wave.
const WRITES: usize = 16;
/// The number of messages in one call.
const MESSAGES: usize = 10;
/// For this long a stream record is trusted. A later one is checked in the table for being still
/// pending.
const TRUSTED_FOR: Duration = Duration::from_secs(5);
/// The number of groups that one batch reads.
const READ_AT_ONCE: usize = 100;

/// An event and its deliveries, which are to be created.
type Planned = (Event, Result<Vec<Delivery>, Problem>);
/// An event, its deliveries, and whether they were created.
type Made = (Event, Vec<Delivery>, Result<(), Problem>);

/// Publishes the pending events of a group: creates their deliveries, sends the messages, and changes the
/// events' states. Publishing twice has the effect of once.
///
/// # Errors
/// 503 when the table or the queue cannot be reached. A permanent error marks its event as failed
/// instead, for the owner to see and to requeue.
pub async fn publish(services: &Services, group: &EventGroup) -> Result<(), Problem> {
    let outcomes = publish_all(services, vec![group.clone()]).await;
    outcomes.into_iter().try_for_each(|outcome| outcome.failure.map_or(Ok(()), Err))
}

/// Publishes groups of events concurrently and independently. Returns the outcome of each.
pub(crate) async fn publish_all(services: &Services, groups: Vec<EventGroup>) -> Vec<GroupOutcome> {
    let groups = unless_stalled(services, groups).await;
    let pending: Vec<&Event> = groups.iter().flat_map(EventGroup::pending).collect();
    let audience = Audience::of(services, &pending).await;
    let waves: Vec<Vec<EventGroup>> = groups.chunks(WAVE).map(<[EventGroup]>::to_vec).collect();
    let outcomes: Vec<_> = stream::iter(waves)
        .map(|wave| Box::pin(publish_wave(services, &audience, wave)))
        .buffered(WAVES)
        .collect()
        .await;
    outcomes.into_iter().flatten().collect()
}

/// The groups without those of the canary store while a drill stalls them: they stay pending, and due.
async fn unless_stalled(services: &Services, mut groups: Vec<EventGroup>) -> Vec<EventGroup> {
    if groups.iter().any(EventGroup::is_canarys)
        && services.table.injects(FaultKind::RelayStall).await
    {
        groups.retain(|group| !group.is_canarys());
    }
    groups
}

/// The current groups with pending events. Recent ones are trusted, older ones are read from the table.
/// Events that their owner has discarded meanwhile are not sent.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn still_pending(
    services: &Services,
    groups: Vec<EventGroup>,
) -> Result<Vec<EventGroup>, Problem> {
    let since = services.clock.now().minus(TRUSTED_FOR);
    let (old, mut found): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|group| group.created_at() < since);
    for chunk in old.chunks(READ_AT_ONCE) {
        let keys: Vec<Key> = chunk.iter().map(EventGroup::key).collect();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        // A group that cannot be read is found again by the sweep.
        found.extend(keys.iter().filter_map(|key| batch.take::<EventGroup>(key).ok().flatten()));
    }
    found.retain(|group| group.pending().next().is_some());
    Ok(found)
}

async fn publish_wave(
    services: &Services,
    audience: &Audience,
    wave: Vec<EventGroup>,
) -> Vec<GroupOutcome> {
    let now = services.clock.now();
    let is_ours = |group: &EventGroup| is_ours_alone(audience, group, now);
    let (ours, others): (Vec<_>, Vec<_>) = wave.into_iter().partition(is_ours);
    let one_by_one = stream::iter(others)
        .map(|group| async move {
            let made = make_group(services, audience, &group).await;
            (group, made)
        })
        .buffered(PARALLEL)
        .collect::<Vec<_>>();
    let (mut made, one_by_one) =
        tokio::join!(make_together(services, audience, ours), Box::pin(one_by_one));
    made.extend(one_by_one);
    let is_made = made.iter().flat_map(|(_, made)| made).filter(|(_, _, made)| made.is_ok());
    send(services, is_made.flat_map(|(_, deliveries, _)| deliveries)).await;
    stream::iter(made)
        .map(|(group, made)| async move {
            let made = made.into_iter().map(|(event, _, made)| (event, made)).collect();
            commit_states(services, group, made).await
        })
        .buffered(WRITES)
        .collect()
        .await
}

/// Whether nobody else creates the deliveries of a group meanwhile. The sweep does for old events, and for a
/// receiver that wants them in order whoever publishes a later event about the same entity.
fn is_ours_alone(audience: &Audience, group: &EventGroup, now: Timestamp) -> bool {
    group.created_at() > now.minus(TRUSTED_FOR)
        && !group.pending().any(|event| audience.is_ordered(event))
}

/// Creates the deliveries of the pending events of several groups.
async fn make_together(
    services: &Services,
    audience: &Audience,
    groups: Vec<EventGroup>,
) -> Vec<(EventGroup, Vec<Made>)> {
    let now = services.clock.now();
    let planned: Vec<(EventGroup, Vec<Planned>)> = groups
        .into_iter()
        .map(|group| {
            let planned = plan(audience, &group, now);
            (group, planned)
        })
        .collect();
    let deliveries: Vec<&Delivery> = planned
        .iter()
        .flat_map(|(_, plans)| plans)
        .flat_map(|(_, plan)| plan.iter().flatten())
        .collect();
    let failures = create::together(services, &deliveries).await;
    let made = |(event, plan): Planned| match plan {
        Ok(deliveries) => {
            let made = failures.check(&deliveries);
            (event, deliveries, made)
        }
        Err(problem) => (event, Vec::new(), Err(problem)),
    };
    planned
        .into_iter()
        .map(|(group, plans)| (group, plans.into_iter().map(made).collect()))
        .collect()
}

/// The deliveries of a group's pending events, in the events' order.
fn plan(audience: &Audience, group: &EventGroup, now: Timestamp) -> Vec<Planned> {
    let mut pending: Vec<&Event> = group.pending().collect();
    pending.sort_by_key(|event| event.order());
    pending.into_iter().map(|event| (event.clone(), audience.deliveries(event, now))).collect()
}

/// Creates the deliveries of a group's pending events: concurrently, unless their order matters to a
/// receiver.
async fn make_group(services: &Services, audience: &Audience, group: &EventGroup) -> Vec<Made> {
    let planned = plan(audience, group, services.clock.now());
    let has_ordering_keys =
        planned.iter().any(|(_, plan)| plan.as_deref().is_ok_and(by_ordering_key));
    if has_ordering_keys {
        return make_in_order(services, audience, planned).await;
    }
    stream::iter(planned)
        .map(|(event, plan)| async move {
            match plan {
                Ok(deliveries) => {
                    let made = make_all(services, &deliveries).await;
                    (event, deliveries, made)
                }
                Err(problem) => (event, Vec::new(), Err(problem)),
            }
        })
        .buffered(PARALLEL)
        .collect()
        .await
}

fn by_ordering_key(deliveries: &[Delivery]) -> bool {
    deliveries.iter().any(|delivery| delivery.ordering_key.is_some())
}

/// Creates the deliveries one event after the other. A failed event blocks later ones about the same
/// entity, unless its error is permanent.
async fn make_in_order(
    services: &Services,
    audience: &Audience,
    planned: Vec<Planned>,
) -> Vec<Made> {
    let mut all: Vec<Made> = Vec::new();
    for (event, plan) in planned {
        let ahead = all.iter().filter(|(ahead, _, _)| ahead.entity_id == event.entity_id);
        let mut failures = ahead.filter_map(|(_, _, made)| made.as_ref().err());
        let held_up = failures.find(|problem| !problem.is_permanent()).cloned();
        let made = match (held_up, plan) {
            (Some(problem), _) | (None, Err(problem)) => (event, Vec::new(), Err(problem)),
            (None, Ok(deliveries)) => {
                let made = make(services, audience, &event, &deliveries).await;
                (event, deliveries, made)
            }
        };
        all.push(made);
    }
    all
}

/// Creates an event's deliveries. If one has an ordering key, those of earlier events are created first.
async fn make(
    services: &Services,
    audience: &Audience,
    event: &Event,
    deliveries: &[Delivery],
) -> Result<(), Problem> {
    if by_ordering_key(deliveries) {
        Box::pin(publish_before(services, audience, event)).await?;
    }
    make_all(services, deliveries).await
}

async fn make_all(services: &Services, deliveries: &[Delivery]) -> Result<(), Problem> {
    let all: Vec<&Delivery> = deliveries.iter().collect();
    create::each(services, &all).await.check(deliveries)
}

/// Publishes the pending events about the same entity that come before `event`. So positions in an
/// ordering key are taken in the order of the changes, in whatever order the stream, its retries and the
/// sweep bring the events.
async fn publish_before(
    services: &Services,
    audience: &Audience,
    event: &Event,
) -> Result<(), Problem> {
    for (group, earlier) in pending_events::before(services, event).await? {
        let made = if audience.knows(&earlier) {
            make_alone(services, audience, &earlier).await
        } else {
            let its_own = Audience::of(services, &[&earlier]).await;
            make_alone(services, &its_own, &earlier).await
        };
        let outcome = commit_states(services, group, vec![(earlier, made)]).await;
        outcome.failure.map_or(Ok(()), Err)?;
    }
    Ok(())
}

async fn make_alone(
    services: &Services,
    audience: &Audience,
    event: &Event,
) -> Result<(), Problem> {
    let deliveries = audience.deliveries(event, services.clock.now())?;
    make_all(services, &deliveries).await?;
    send(services, &deliveries).await;
    Ok(())
}

/// Sends the messages for these deliveries. A failure is only logged: each delivery is due after a while,
/// and the sweep queues it.
async fn send(services: &Services, deliveries: impl IntoIterator<Item = &Delivery>) {
    let messages: Vec<_> =
        deliveries.into_iter().map(|delivery| (delivery.message(), Duration::ZERO)).collect();
    let queue = services.queue(QUEUE);
    let sendings: Vec<_> = messages.chunks(MESSAGES).map(|ten| queue.send(ten)).collect();
    let outcomes = stream::iter(sendings).buffer_unordered(WRITES).collect::<Vec<_>>().await;
    for problem in outcomes.into_iter().filter_map(Result::err) {
        tracing::warn!(
            cause = %problem, deliveries = messages.len(),
            "messages of new deliveries not queued; the sweep queues them"
        );
    }
}
