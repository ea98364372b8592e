//! The events of one transaction, as one item.
//!
//! Events of one transaction are written together: an order is paid and its payment is captured. Such events
//! share their actor, time and lists, and most of their data. One item stores all of that once, has one entry
//! in each list and one due mark, and is published by one write. Lists return the single events. An event
//! that fails, or that its owner discards, does so without the others.

use primitives::clock::Timestamp;
use primitives::problem::Code;
use serde::{Deserialize, Serialize};
use table::item::{Element, Item, Key, Packing};
use table::outbox::{DueKind, Grouped};
use table::{Change, Write};

use super::stored::{Stored, progress_of};
use super::{Event, OutboxState, RETENTION, STREAM_GRACE};
use crate::id::{AppId, EventId, StoreId};
use crate::key::{self, IndexKey};

/// The most events in one item: their ids end in two hex digits that number them.
const MOST: usize = 256;
/// The most bytes of bodies in one item: DynamoDB's limit of 400 KB, less room for all else.
const ROOM: usize = 350 * 1024;

/// Events that were written together: one timeline, one time, and ids that differ in the last two digits
/// alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct EventGroup {
    /// The id of the first event.
    id: EventId,
    created_at: Timestamp,
    /// Ordered by id.
    events: Vec<Event>,
    /// Counts writes of the item; each event counts its own.
    pub(super) version: u64,
}

impl Item for EventGroup {
    const KIND: &'static str = "event";
    const PACKING: Option<Packing> =
        Some(Packing { plain: &["progress"], text: Some("bodies"), keyed: true });
    fn key(&self) -> Key {
        key::event(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let is_shown = |event: &&Event| event.is_listed() && !event.test;
        let first = self.events.iter().find(is_shown);
        let mut keys: Vec<IndexKey> = first.map(Event::in_timeline).into_iter().collect();
        if let Some((store, event)) =
            first.and_then(|event| Some((event.store_id.as_ref()?, event)))
        {
            keys.push(key::events_of_day(store, event.created_at, &event.id));
        }
        if self.pending().next().is_some() {
            let due = self.created_at.plus(STREAM_GRACE);
            keys.push(DueKind::Event.mark(key::event_moment(&self.id), due));
        }
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl Element for Event {
    type Container = EventGroup;

    /// The events that lists return.
    fn held_by(group: EventGroup) -> Vec<Self> {
        group.events.into_iter().filter(Self::is_listed).collect()
    }
}

impl Grouped for Event {
    fn put_all(all: Vec<Self>, write: Write) -> Write {
        let create = |write: Write, group| write.create(&group, Code::VersionConflict);
        EventGroup::of_events(all).into_iter().fold(write, create)
    }
}

impl EventGroup {
    /// Groups the events of one transaction into the items that store them. Events of one tenant, timeline
    /// and time share an item. Events that no list returns share the item of any other of their time.
    pub fn of_events(mut events: Vec<Event>) -> Vec<Self> {
        // Ids ascend as events are made, and the new ids preserve that order.
        events.sort_by(|one, other| one.id.cmp(&other.id));
        let (listed, unlisted): (Vec<_>, Vec<_>) = events.into_iter().partition(Event::is_listed);
        let mut groups: Vec<Vec<Event>> = Vec::new();
        for event in listed.into_iter().chain(unlisted) {
            match groups.iter_mut().find(|group| is_place_for(&event, group)) {
                Some(group) => group.push(event),
                None => groups.push(vec![event]),
            }
        }
        groups.into_iter().filter_map(Self::numbered).collect()
    }

    /// The group of these events, with ids derived from the first one's.
    fn numbered(mut events: Vec<Event>) -> Option<Self> {
        events.sort_by(|one, other| one.id.cmp(&other.id));
        let first = events.first()?.id.clone();
        let known =
            |(number, event): (usize, Event)| event.known_as(key::nth_event(&first, number));
        Self::of(events.into_iter().enumerate().map(known).collect(), 1)
    }

    pub(super) fn of(events: Vec<Event>, version: u64) -> Option<Self> {
        let (id, created_at) = events.first().map(|first| (first.id.clone(), first.created_at))?;
        Some(Self { id, created_at, events, version })
    }

    /// All events, in the order in which they were made.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All events, in the same order.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// The event of this id.
    pub fn event(&self, id: &EventId) -> Option<&Event> {
        self.events.iter().find(|event| event.id == *id)
    }

    /// Takes the event of this id.
    pub fn into_event(self, id: &EventId) -> Option<Event> {
        self.events.into_iter().find(|event| event.id == *id)
    }

    /// The events that are not published yet.
    pub fn pending(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.state == OutboxState::Pending)
    }

    /// Whether they happened on the canary store.
    pub fn is_canarys(&self) -> bool {
        self.events.iter().any(|event| event.store_id.as_ref().is_some_and(StoreId::is_canary))
    }

    /// When they happened.
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// The group at its next version, with these events replaced.
    #[must_use]
    pub fn with(&self, changed: impl IntoIterator<Item = Event>) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        for event in changed {
            if let Some(place) = next.events.iter_mut().find(|before| before.id == event.id) {
                *place = event;
            }
        }
        next
    }

    /// The update from the version before to the present progress of the events. It never adds a due mark,
    /// because no event becomes pending by it.
    pub fn advance(&self) -> Change {
        let unmark = if self.pending().next().is_none() { " REMOVE GSI3PK, GSI3SK" } else { "" };
        Change::new(format!("SET #progress = :progress, #version = :now{unmark}"))
            .only_if("#version = :before")
            .name("#progress", "progress")
            .name("#version", "version")
            .value(":progress", progress_of(&self.events))
            .value(":now", self.version)
            .value(":before", self.version.saturating_sub(1))
    }
}

/// Whether an event fits into this group.
fn is_place_for(event: &Event, group: &[Event]) -> bool {
    let bytes =
        group.iter().map(|other| other.body.len()).fold(event.body.len(), usize::saturating_add);
    let is_of = |first: &Event| {
        first.created_at == event.created_at
            && first.test == event.test
            && (!event.is_listed() || place(first) == place(event))
    };
    group.len() < MOST && bytes <= ROOM && group.first().is_some_and(is_of)
}

/// The place of an event in lists: its scope and its timeline.
fn place(event: &Event) -> (Option<&StoreId>, Option<&AppId>, &str) {
    let app = event.app_id.as_ref().filter(|_| event.store_id.is_none());
    (event.store_id.as_ref(), app, event.subject())
}

#[cfg(test)]
mod tests;
