//! State changes of dispatched events: one write for those of a group.

use core_types::event::{Event, EventGroup, OutboxState};
use core_types::id::EventId;
use platform::usage;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;
use table::outbox::{DueMark, remove_due_mark};
use table::{Changed, Write};

use crate::order_mails::{self, EventOutput};

/// The number of conflicting writes of a group before it is left to the sweep.
const TRIES: usize = 9;

/// The outcome of the pending events of a group.
#[derive(Debug)]
pub(crate) struct GroupOutcome {
    /// The group, as it was read.
    pub(crate) group: EventGroup,
    /// The events that were published or failed.
    pub(crate) done: Vec<Event>,
    /// Why others stay pending.
    pub(crate) failure: Option<Problem>,
}

/// Changes the state of a group's events whose deliveries were created, and writes their outputs. An event
/// with a permanent error is marked as failed; one that met an outage stays pending. Events whose state others
/// have changed meanwhile stay as they are, and that is success.
pub(crate) async fn commit_states(
    services: &Services,
    group: EventGroup,
    made: Vec<(Event, Result<(), Problem>)>,
) -> GroupOutcome {
    let (mut done, mut transitions, mut failure) = (Vec::new(), Vec::new(), None);
    for (event, made) in made {
        let composed = match made {
            Ok(()) => order_mails::compose_for_event(services, &event).await,
            Err(problem) => Err(problem),
        };
        let ending = match composed {
            Ok(output) => TransitionOutcome::Published(output.map(Box::new)),
            Err(problem) if problem.is_permanent() => {
                problem.log();
                TransitionOutcome::Failed(problem.code.as_str())
            }
            Err(problem) => {
                failure = Some(problem);
                continue;
            }
        };
        transitions.push(EventTransition { id: event.id.clone(), ending });
        done.push(event);
    }
    match write(services, group.clone(), &transitions).await {
        Ok(()) => GroupOutcome { group, done, failure },
        Err(problem) if problem.is_permanent() => {
            let failure =
                commit_failed(services, &group, transitions, &problem).await.err().or(failure);
            GroupOutcome { group, done: Vec::new(), failure }
        }
        Err(problem) => GroupOutcome { group, done: Vec::new(), failure: Some(problem) },
    }
}

/// Marks events as failed whose `published` or `failed` state was rejected permanently, without their
/// outputs. If even that cannot be written, the group loses its due mark.
async fn commit_failed(
    services: &Services,
    group: &EventGroup,
    transitions: Vec<EventTransition>,
    problem: &Problem,
) -> Result<(), Problem> {
    let failed = |one: EventTransition| EventTransition {
        ending: TransitionOutcome::Failed(problem.code.as_str()),
        ..one
    };
    let transitions: Vec<EventTransition> = transitions.into_iter().map(failed).collect();
    match write(services, group.clone(), &transitions).await {
        Err(again) if again.is_permanent() => {
            remove_due_mark(&services.table, &group.key(), DueMark::Any, problem).await
        }
        outcome => outcome,
    }
}

/// A state change of an event.
struct EventTransition {
    id: EventId,
    ending: TransitionOutcome,
}

/// The new state.
enum TransitionOutcome {
    /// It is published, with this output.
    Published(Option<Box<EventOutput>>),
    /// It failed, for this reason.
    Failed(&'static str),
}

async fn write(
    services: &Services,
    mut group: EventGroup,
    transitions: &[EventTransition],
) -> Result<(), Problem> {
    for _ in 0..TRIES {
        let changed = transitioned(&group, transitions, services.clock.now());
        if changed.is_empty() {
            return Ok(());
        }
        let output = outputs(&changed, transitions);
        match replace(services, &group, changed, output).await? {
            None => return Ok(()),
            Some(other) => group = other,
        }
    }
    let id = group.key().sk;
    Err(Problem::unavailable(format!("event group {id} changed concurrently {TRIES} times")))
}

/// The pending events among the transitions, in their new states.
fn transitioned(group: &EventGroup, transitions: &[EventTransition], now: Timestamp) -> Vec<Event> {
    let moved = |event: &Event| {
        let its_own = transitions.iter().find(|one| one.id == event.id)?;
        Some(match its_own.ending {
            TransitionOutcome::Published(_) => event.moved_to(OutboxState::Published, None, now),
            TransitionOutcome::Failed(why) => {
                event.moved_to(OutboxState::Failed, Some(why.to_owned()), now)
            }
        })
    };
    group.pending().filter_map(moved).collect()
}

/// The outputs of the changed events. Several events may say that their order was paid, but it is
/// counted once.
fn outputs(changed: &[Event], transitions: &[EventTransition]) -> Vec<EventOutput> {
    let has_moved = |id: &EventId| changed.iter().any(|event| event.id == *id);
    let output = |one: &EventTransition| match &one.ending {
        TransitionOutcome::Published(Some(output)) if has_moved(&one.id) => {
            Some(EventOutput::clone(output))
        }
        _ => None,
    };
    let mut all: Vec<EventOutput> = transitions.iter().filter_map(output).collect();
    all.iter_mut().filter(|one| one.paid.is_some()).skip(1).for_each(|one| one.paid = None);
    all
}

/// Writes the group with the changed events and what follows from them, and counts published ones in the
/// usage of apps. Returns the current group when another writer came first.
async fn replace(
    services: &Services,
    group: &EventGroup,
    changed: Vec<Event>,
    output: Vec<EventOutput>,
) -> Result<Option<EventGroup>, Problem> {
    let next = group.with(changed.iter().cloned());
    let is_counted =
        |event: &&Event| event.state == OutboxState::Published && usage::is_counted(event);
    let counted: Vec<&Event> = changed.iter().filter(is_counted).collect();
    if counted.is_empty() && output.is_empty() {
        return match services.table.change::<EventGroup>(&group.key(), next.advance()).await? {
            Changed::Done(_) => Ok(None),
            Changed::Rejected(found) => Ok(found),
        };
    }
    let write = services.table.write().update(&group.key(), next.advance(), Code::VersionConflict);
    let write = output.into_iter().fold(usage::count(write, &counted), Write::emit);
    match write.commit().await {
        Err(problem) if problem.code == Code::VersionConflict => {
            services.table.get(&group.key()).await
        }
        outcome => outcome.map(|()| None),
    }
}

#[cfg(test)]
mod tests {
    use core_types::event::{EXAMPLE_TIME, EventSubject};
    use identity::store::TOPICS;

    use super::*;

    fn group() -> EventGroup {
        let store = core_types::id::StoreId::derive(&["here"]);
        let of = |entity| {
            let subject = EventSubject { store: Some(&store), app: None, entity, version: 1 };
            Event::untyped(&TOPICS[0], subject, serde_json::json!({}), EXAMPLE_TIME)
        };
        let events = ["a", "b", "c"].map(|entity| of(entity).in_timeline_of("here"));
        EventGroup::of_events(events.into()).remove(0)
    }

    fn moving(event: &Event, ending: TransitionOutcome) -> EventTransition {
        EventTransition { id: event.id.clone(), ending }
    }

    /// The states of a group's events after these moves, given by position.
    fn states(
        group: &EventGroup,
        transitions: &[(usize, Option<&'static str>)],
    ) -> Vec<&'static str> {
        let of = |(place, why): &(usize, Option<&'static str>)| {
            moving(
                &group.events()[*place],
                why.map_or(TransitionOutcome::Published(None), TransitionOutcome::Failed),
            )
        };
        let transitions: Vec<EventTransition> = transitions.iter().map(of).collect();
        let after = group.with(transitioned(group, &transitions, EXAMPLE_TIME));
        after.events().iter().map(|event| event.state.as_str()).collect()
    }

    #[test]
    fn a_permanent_error_fails_its_own_event_only() {
        let group = group();
        let found = states(&group, &[(0, None), (1, Some("internal")), (2, None)]);
        assert_eq!(found, ["published", "failed", "published"]);
        assert_eq!(states(&group, &[(0, None)]), ["published", "pending", "pending"]);
        let failed = group.with(transitioned(
            &group,
            &[moving(&group.events()[1], TransitionOutcome::Failed("internal"))],
            EXAMPLE_TIME,
        ));
        assert_eq!(failed.events()[1].failure.as_deref(), Some("internal"));
    }

    #[test]
    fn state_changes_of_others_are_not_overwritten() {
        let begun = group();
        let discarded = begun.with([begun.events()[0].discard(EXAMPLE_TIME).unwrap()]);
        let all = [(0, None), (1, None), (2, None)];
        assert_eq!(states(&discarded, &all), ["discarded", "published", "published"]);
        let published = begun.with(
            begun.pending().map(|event| event.moved_to(OutboxState::Published, None, EXAMPLE_TIME)),
        );
        let all =
            begun.events().iter().map(|event| moving(event, TransitionOutcome::Published(None)));
        assert!(transitioned(&published, &all.collect::<Vec<_>>(), EXAMPLE_TIME).is_empty());
    }
}
