//! Events: records of what happened, written and frozen in the transaction of the change (docs/conventions.md
//! §10).
//!
//! The events of a transaction are one item ([`EventGroup`]) with three uses: the outbox entry (its due mark,
//! until they are published), a timeline (GSI6) and the audit trail (GSI5, by store and day). The whole item
//! is written once, and only the events' progress is updated. The index entries are keys alone and the rest
//! is packed, so most items are one kilobyte. An event is in the timeline of its entity, or of the entity's
//! parent ([`Event::in_timeline_of`]): one query lists an order's, with its payments, refunds and
//! fulfilments.
//!
//! A topic is a constant next to its noun, declared by [`topics!`](crate::topics) and typed by its data:
//! `Event::new(&STORE_UPDATED, subject, &view, now)`. The catalogue, which knows all topics, depends on every
//! noun.

mod group;
mod outbox;
mod stored;
mod topic;

use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::context::Context;
use serde_json::{Value, json};
use table::Write;
use table::outbox::Outgoing;

pub use group::EventGroup;
pub use outbox::OutboxState;
pub use topic::{EXAMPLE_TIME, EventSchema, Example, Topic, TopicDeclaration, envelope, sample};

use crate::id::{AppId, EventId, StoreId};
use crate::key::{self, IndexKey};
use crate::mail::Notice;

/// The version of event bodies.
pub const API_VERSION: &str = "v1";
/// The largest event body in bytes.
pub const MAX_BODY: usize = 64 * 1024;
/// The retention of events.
pub const RETENTION: std::time::Duration = DAY.saturating_mul(30);
/// The stream publishes an event within this time; after it, the sweep does.
pub const STREAM_GRACE: std::time::Duration = MINUTE;

/// Whether a subscription's filter matches an event: by exact name, `order.*` or `*`.
pub fn matches(filter: &str, name: &str) -> bool {
    match filter.strip_suffix(".*") {
        _ if filter == "*" || filter == name => true,
        Some(noun) => name.split_once('.').is_some_and(|(prefix, _)| prefix == noun),
        None => false,
    }
}

/// The subject of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventSubject<'a> {
    /// The store it happened on.
    pub store: Option<&'a StoreId>,
    /// The app it concerns, whose own `webhook_url` receives it.
    pub app: Option<&'a AppId>,
    /// The entity's id.
    pub entity: &'a str,
    /// The entity's version after the change.
    pub version: u64,
}

/// An event. It is stored in its [`EventGroup`].
#[derive(Debug, Clone)]
pub struct Event {
    /// The id, which receivers deduplicate on.
    pub id: EventId,
    /// The topic's name.
    pub name: String,
    /// The store it happened on.
    pub store_id: Option<StoreId>,
    /// The app it concerns.
    pub app_id: Option<AppId>,
    /// The kind of entity.
    pub entity_type: String,
    /// The entity's id.
    pub entity_id: String,
    /// The entity whose timeline lists it, if not its own.
    pub timeline: Option<String>,
    /// The entity's version after the change.
    pub entity_version: u64,
    /// The request that caused it.
    pub request_id: String,
    /// The trace of that request.
    pub trace_id: String,
    /// The principal of that request: `merchant:mer_…`, `installation:ins_…`. None for the service's own
    /// work.
    pub actor: Option<String>,
    /// Whether it is the sample of a test delivery: it did not happen, and no list returns it.
    pub test: bool,
    /// When it happened.
    pub created_at: Timestamp,
    /// The mail that is written when it is published.
    pub notice: Option<Notice>,
    /// The delivered body, frozen to the byte; empty once it was removed.
    pub body: String,
    /// Its progress in the outbox.
    pub state: OutboxState,
    /// The reason of its failure, if it failed.
    pub failure: Option<String>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Counts changes of its progress: 1 when it was made.
    pub version: u64,
}

impl Event {
    /// The event of a change, with the changed entity as its data.
    pub fn new<T: Example>(
        topic: &Topic<T>,
        subject: EventSubject<'_>,
        data: &T,
        now: Timestamp,
    ) -> Self {
        let data = serde_json::to_value(data).unwrap_or_default();
        Self::untyped(&TopicDeclaration::of(topic), subject, data, now)
    }

    /// An event of a topic known only by its name: a sample for a test delivery.
    pub fn untyped(
        topic: &TopicDeclaration,
        subject: EventSubject<'_>,
        data: Value,
        now: Timestamp,
    ) -> Self {
        let id = key::nth_event(&EventId::mint(now), 0);
        let (request_id, trace_id) = Context::current().map_or_else(
            || (primitives::id::mint("req_", now), primitives::id::mint("", now)),
            |context| (context.request_id().to_owned(), context.trace_id().to_owned()),
        );
        let body = |data: Value| {
            json!({
                "id": id,
                "type": topic.name,
                "api_version": API_VERSION,
                "created_at": now,
                "store_id": subject.store,
                "request_id": request_id,
                "trace_id": trace_id,
                "entity": {"type": topic.entity, "id": subject.entity, "version": subject.version},
                "data": data,
            })
            .to_string()
        };
        let mut text = body(data);
        if text.len() > MAX_BODY {
            // Receivers fetch the entity instead; cutting the JSON anywhere else would break it.
            text = body(json!({"id": subject.entity, "truncated": true}));
        }
        Self {
            name: topic.name.to_owned(),
            store_id: subject.store.cloned(),
            app_id: subject.app.cloned(),
            entity_type: topic.entity.to_owned(),
            entity_id: subject.entity.to_owned(),
            timeline: None,
            entity_version: subject.version,
            actor: Context::current().map(|context| context.principal()).filter(|p| !p.is_empty()),
            test: false,
            notice: None,
            request_id,
            trace_id,
            body: text,
            state: OutboxState::Pending,
            failure: None,
            published_at: None,
            created_at: now,
            version: 1,
            id,
        }
    }

    /// Puts it into the timeline of its entity's parent: a payment's event into its order's. It is in that
    /// timeline alone.
    #[must_use]
    pub fn in_timeline_of(self, subject: &str) -> Self {
        Self { timeline: Some(subject.to_owned()), ..self }
    }

    /// Adds a mail, which is written when the event is published.
    #[must_use]
    pub fn with_mail(self, notice: Notice) -> Self {
        Self { notice: Some(notice), ..self }
    }

    /// The event's entry in its timeline.
    pub fn in_timeline(&self) -> IndexKey {
        let tenant = key::event_tenant(self.store_id.as_ref(), self.app_id.as_ref());
        key::timeline(&tenant, self.subject(), self.created_at, &self.id)
    }

    /// The entity whose timeline lists it.
    fn subject(&self) -> &str {
        self.timeline.as_ref().unwrap_or(&self.entity_id)
    }

    /// Whether a list returns it: an event of neither a store nor an app is in no list.
    fn is_listed(&self) -> bool {
        self.store_id.is_some() || self.app_id.is_some()
    }

    /// The same event under another id of the same length, also in its body. Nothing else in the body can
    /// match the old id, because the id is newer than the data.
    fn known_as(self, id: EventId) -> Self {
        if id == self.id {
            return self;
        }
        Self { body: self.body.replace(self.id.as_str(), id.as_str()), id, ..self }
    }

    /// The sort key that orders the events of one entity: by its version, then by time and id.
    pub fn order(&self) -> String {
        format!("{:020}#{}#{}", self.entity_version, self.created_at, self.id)
    }

    /// A sample of this topic for a test delivery. It counts as published from the start.
    pub fn sample(
        topic: &TopicDeclaration,
        subject: EventSubject<'_>,
        data: Value,
        now: Timestamp,
    ) -> Self {
        let event = Self::untyped(topic, subject, data, now);
        Self { test: true, state: OutboxState::Published, published_at: Some(now), ..event }
    }
}

impl Outgoing for Event {
    fn put_into(self, write: Write) -> Write {
        write.emit_grouped(self)
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Opened {}

    impl Example for Opened {
        fn example() -> Self {
            Self {}
        }
    }

    const STORE_UPDATED: Topic<Opened> =
        Topic::new("store.updated", "store", Some("read_store"), "A store changed.");

    #[test]
    fn filters_match_by_name_noun_or_all() {
        assert!(matches("*", "app.installed") && matches("app.*", "app.installed"));
        assert!(matches("app.installed", "app.installed"));
        assert!(!matches("app.*", "apple.eaten") && !matches("app", "app.installed"));
    }

    #[test]
    fn a_body_over_64_kb_names_the_resource_to_fetch() {
        let now = Timestamp::from_millis(1_795_244_400_000);
        let event = |padding: usize| {
            let subject = EventSubject { store: None, app: None, entity: "x", version: 1 };
            let data = json!({"padding": "x".repeat(padding)});
            Event::untyped(&TopicDeclaration::of(&STORE_UPDATED), subject, data, now)
        };
        let fits = MAX_BODY - event(0).body.len();
        assert_eq!(event(fits).body.len(), MAX_BODY);
        let cut: Value = serde_json::from_str(&event(fits + 1).body).unwrap();
        assert_eq!(cut.get("data"), Some(&json!({"id": "x", "truncated": true})));
    }

    #[test]
    fn events_about_one_entity_sort_by_its_version_first() {
        let at = |version: u64, millis: i64| {
            let subject = EventSubject { store: None, app: None, entity: "x", version };
            let now = Timestamp::from_millis(1_795_244_400_000 + millis);
            Event::untyped(&TopicDeclaration::of(&STORE_UPDATED), subject, json!({}), now).order()
        };
        let mut found = [at(10, 0), at(9, 5), at(9, 4), at(100, -1)];
        let expected = [found[2].clone(), found[1].clone(), found[0].clone(), found[3].clone()];
        found.sort();
        assert_eq!(found, expected);
    }
}
