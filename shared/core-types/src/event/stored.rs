//! The stored form of groups of events: all bodies in one text, and the members that the bodies lack.
//!
//! Bodies are frozen to the byte and repeat each other: compressed together, their common parts are stored
//! once. Members of an event that are in its body are read from there.

use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Event, EventGroup, OutboxState};
use crate::id::{AppId, EventId, StoreId};
use crate::mail::Notice;

/// The stored form of a group.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    events: Vec<RelatedItem>,
    bodies: String,
    /// The progress of each event: one entry if all are equal, none while all are pending at version 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    progress: Vec<Progress>,
    version: u64,
}

/// The members of an event that its body lacks.
#[derive(Serialize, Deserialize)]
struct RelatedItem {
    /// The length of its body in bytes.
    length: usize,
    /// The head of its body, once the body was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Head>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    app_id: Option<AppId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeline: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    test: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notice: Option<Notice>,
}

/// The members of a body except its data.
#[derive(Serialize, Deserialize)]
struct Head {
    id: EventId,
    r#type: String,
    #[serde(default)]
    store_id: Option<StoreId>,
    request_id: String,
    trace_id: String,
    entity: Entity,
    created_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Entity {
    r#type: String,
    id: String,
    version: u64,
}

/// The progress of an event in the outbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    state: OutboxState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published_at: Option<Timestamp>,
    version: u64,
}

impl Progress {
    const BEGUN: Self =
        Self { state: OutboxState::Pending, failure: None, published_at: None, version: 1 };

    fn of(event: &Event) -> Self {
        Self {
            state: event.state,
            failure: event.failure.clone(),
            published_at: event.published_at,
            version: event.version,
        }
    }
}

/// The progress of events in its stored form.
pub(super) fn progress_of(events: &[Event]) -> Vec<Progress> {
    let mut all: Vec<Progress> = events.iter().map(Progress::of).collect();
    let one_for_all = all.first().filter(|one| all.iter().all(|other| other == *one));
    if let Some(one) = one_for_all {
        let count = usize::from(*one != Progress::BEGUN);
        all.truncate(count);
    }
    all
}

impl RelatedItem {
    fn of(event: &Event) -> Self {
        Self {
            length: event.body.len(),
            head: event.is_expunged().then(|| Head::of(event)),
            app_id: event.app_id.clone(),
            timeline: event.timeline.clone(),
            actor: event.actor.clone(),
            test: event.test,
            notice: event.notice,
        }
    }

    fn into_event(self, body: &str, reached: Progress) -> Result<Event, String> {
        let head = self.head.map_or_else(|| serde_json::from_str(body), Ok);
        let head: Head = head.map_err(|error| format!("the body of an event: {error}"))?;
        Ok(Event {
            id: head.id,
            name: head.r#type,
            store_id: head.store_id,
            app_id: self.app_id,
            entity_type: head.entity.r#type,
            entity_id: head.entity.id,
            timeline: self.timeline,
            entity_version: head.entity.version,
            request_id: head.request_id,
            trace_id: head.trace_id,
            actor: self.actor,
            test: self.test,
            notice: self.notice,
            body: body.to_owned(),
            state: reached.state,
            failure: reached.failure,
            published_at: reached.published_at,
            created_at: head.created_at,
            version: reached.version,
        })
    }
}

impl Head {
    fn of(event: &Event) -> Self {
        Self {
            id: event.id.clone(),
            r#type: event.name.clone(),
            store_id: event.store_id.clone(),
            request_id: event.request_id.clone(),
            trace_id: event.trace_id.clone(),
            entity: Entity {
                r#type: event.entity_type.clone(),
                id: event.entity_id.clone(),
                version: event.entity_version,
            },
            created_at: event.created_at,
        }
    }
}

impl From<EventGroup> for Stored {
    fn from(group: EventGroup) -> Self {
        Self {
            events: group.events().iter().map(RelatedItem::of).collect(),
            bodies: group.events().iter().map(|event| event.body.as_str()).collect(),
            progress: progress_of(group.events()),
            version: group.version,
        }
    }
}

impl TryFrom<Stored> for EventGroup {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { events, bodies, progress, version } = stored;
        let one_for_all = progress.first().unwrap_or(&Progress::BEGUN);
        let mut is_whole = progress.len() <= 1 || progress.len() == events.len();
        let mut rest = bodies.as_str();
        let mut all = Vec::with_capacity(events.len());
        for (index, alongside) in events.into_iter().enumerate() {
            let (body, others) = rest.split_at_checked(alongside.length).ok_or("a body is cut")?;
            let reached = progress.get(index).unwrap_or(one_for_all).clone();
            all.push(alongside.into_event(body, reached)?);
            rest = others;
        }
        is_whole &= rest.is_empty();
        let group = Self::of(all, version).filter(|_| is_whole);
        group.ok_or_else(|| "events whose parts do not fit together".to_owned())
    }
}
