//! Events: what happened, frozen when it happened, in the same transaction as the change
//! (docs/conventions.md §10).
//!
//! The events of a transaction are an item together ([`EventGroup`]), and that is three things at
//! once: the outbox entry (its due mark, until they are published), a timeline (GSI6) and the audit
//! trail (GSI5, by store and day). It is written whole once: what changes about it is how far its
//! events have come, the lists hold its keys alone, and all else is packed, so that most are one
//! kilobyte. The timeline of an event is that of its
//! entity, or of what the entity belongs to ([`Event::in_timeline_of`]): an order's is one query,
//! its payments, refunds and fulfilments included.
//!
//! A topic is a constant beside its noun, declared by [`topics!`](crate::topics) and typed by the
//! data it carries: `Event::new(&STORE_UPDATED, about, &view, now)`. What knows all of them, the
//! catalogue, is above every noun.

mod group;
mod outbox;
mod stored;
mod topic;

use gateway::clock::{DAY, MINUTE, Timestamp};
use gateway::context::Context;
use gateway::outbox::Outgoing;
use gateway::table::Write;
use serde_json::{Value, json};

pub use group::EventGroup;
pub use outbox::OutboxState;
pub use topic::{EXAMPLE_TIME, Entry, Example, Shape, Topic, sample};

use crate::id::{AppId, EventId, StoreId};
use crate::key::{self, IndexKey};
use crate::mail::Notice;

/// The version of event bodies.
pub const API_VERSION: &str = "v1";
/// The largest event body in bytes.
pub const MAX_BODY: usize = 64 * 1024;
/// How long events are kept.
pub const RETENTION: std::time::Duration = DAY.saturating_mul(30);
/// The stream hands an event on within this time; after it, the sweep does.
pub const STREAM_GRACE: std::time::Duration = MINUTE;

/// Whether a subscription's filter takes an event: by exact name, `order.*` or `*`.
pub fn matches(filter: &str, name: &str) -> bool {
    match filter.strip_suffix(".*") {
        _ if filter == "*" || filter == name => true,
        Some(noun) => name.split_once('.').is_some_and(|(prefix, _)| prefix == noun),
        None => false,
    }
}

/// What an event is about.
#[derive(Debug, Clone, Copy)]
pub struct EventSubject<'a> {
    /// The store it happened on.
    pub store: Option<&'a StoreId>,
    /// The app it concerns: its own `webhook_url` is told.
    pub app: Option<&'a AppId>,
    /// The entity's id.
    pub entity: &'a str,
    /// The entity's version after the change.
    pub version: u64,
}

/// An event. The item that holds it is its [`EventGroup`].
#[derive(Debug, Clone)]
pub struct Event {
    /// The id: what receivers deduplicate on.
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
    /// Whose timeline shows it, when that is not the entity's own.
    pub timeline: Option<String>,
    /// The entity's version after the change.
    pub entity_version: u64,
    /// The request that made it happen.
    pub request_id: String,
    /// The trace of that request.
    pub trace_id: String,
    /// Who made that request: `merchant:mer_…`, `installation:ins_…`. None for the service's own.
    pub actor: Option<String>,
    /// Whether it is a sample for a test delivery: it did not happen, and no list shows it.
    pub test: bool,
    /// When it happened.
    pub created_at: Timestamp,
    /// The mail that follows from it, when it is handed out.
    pub notice: Option<Notice>,
    /// The body as it is delivered, to the byte: frozen. Empty once it was removed.
    pub body: String,
    /// How far it has come on its way out.
    pub state: OutboxState,
    /// Why it failed, when it has.
    pub failure: Option<String>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Counts what has become of it: 1 when it was made.
    pub version: u64,
}

impl Event {
    /// What happened, with the entity as it is now.
    pub fn new<T: Example>(
        topic: &Topic<T>,
        about: EventSubject<'_>,
        data: &T,
        now: Timestamp,
    ) -> Self {
        let data = serde_json::to_value(data).unwrap_or_default();
        Self::untyped(&Entry::of(topic), about, data, now)
    }

    /// An event of a topic known only by its name: a sample for a test delivery.
    pub fn untyped(topic: &Entry, about: EventSubject<'_>, data: Value, now: Timestamp) -> Self {
        let id = group::nth(&EventId::mint(now), 0);
        let (request_id, trace_id) = Context::current().map_or_else(
            || (gateway::id::mint("req_", now), gateway::id::mint("", now)),
            |context| (context.request_id().to_owned(), context.trace_id().to_owned()),
        );
        let body = |data: Value| {
            json!({
                "id": id,
                "type": topic.name,
                "api_version": API_VERSION,
                "created_at": now,
                "store_id": about.store,
                "request_id": request_id,
                "trace_id": trace_id,
                "entity": {"type": topic.entity, "id": about.entity, "version": about.version},
                "data": data,
            })
            .to_string()
        };
        let mut text = body(data);
        if text.len() > MAX_BODY {
            // Receivers fetch what does not fit; cutting it anywhere else would break the JSON.
            text = body(json!({"id": about.entity, "truncated": true}));
        }
        Self {
            name: topic.name.to_owned(),
            store_id: about.store.cloned(),
            app_id: about.app.cloned(),
            entity_type: topic.entity.to_owned(),
            entity_id: about.entity.to_owned(),
            timeline: None,
            entity_version: about.version,
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

    /// Shown in the timeline of what its entity belongs to: a payment's in its order's. It is in
    /// one timeline; the entity's own is what that one says about the entity.
    #[must_use]
    pub fn in_timeline_of(self, subject: &str) -> Self {
        Self { timeline: Some(subject.to_owned()), ..self }
    }

    /// A mail follows from it, when it is handed out.
    #[must_use]
    pub fn with_mail(self, notice: Notice) -> Self {
        Self { notice: Some(notice), ..self }
    }

    /// The event's entry in its timeline.
    pub fn in_timeline(&self) -> IndexKey {
        let scope = key::event_scope(self.store_id.as_ref(), self.app_id.as_ref());
        key::timeline(&scope, self.subject(), self.created_at, &self.id)
    }

    /// Whose timeline it is in.
    fn subject(&self) -> &str {
        self.timeline.as_ref().unwrap_or(&self.entity_id)
    }

    /// Whether a list shows it: what is neither a store's nor an app's is nobody's to list.
    fn is_listed(&self) -> bool {
        self.store_id.is_some() || self.app_id.is_some()
    }

    /// The same under another id of the same length, which its body names too. The body names the id
    /// it was made under, as nothing else can that is older than the id.
    fn known_as(self, id: EventId) -> Self {
        if id == self.id {
            return self;
        }
        Self { body: self.body.replace(self.id.as_str(), id.as_str()), id, ..self }
    }

    /// Sorts the events about one entity in the order in which it changed: by its version, and those
    /// of one version as they were made.
    pub fn order(&self) -> String {
        format!("{:020}#{}#{}", self.entity_version, self.created_at, self.id)
    }

    /// A sample of this topic for a test delivery: it has been published before it is written.
    pub fn sample(topic: &Entry, about: EventSubject<'_>, data: Value, now: Timestamp) -> Self {
        let event = Self::untyped(topic, about, data, now);
        Self { test: true, state: OutboxState::Published, published_at: Some(now), ..event }
    }
}

impl Outgoing for Event {
    fn put_into(self, write: Write) -> Write {
        write.gather(self)
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
    fn a_body_has_at_most_64_kb_and_beyond_that_names_what_to_fetch() {
        let now = Timestamp::from_millis(1_795_244_400_000);
        let event = |padding: usize| {
            let about = EventSubject { store: None, app: None, entity: "x", version: 1 };
            let data = json!({"padding": "x".repeat(padding)});
            Event::untyped(&Entry::of(&STORE_UPDATED), about, data, now)
        };
        let fits = MAX_BODY - event(0).body.len();
        assert_eq!(event(fits).body.len(), MAX_BODY);
        let cut: Value = serde_json::from_str(&event(fits + 1).body).unwrap();
        assert_eq!(cut.get("data"), Some(&json!({"id": "x", "truncated": true})));
    }

    #[test]
    fn events_about_one_entity_sort_by_its_version_first() {
        let at = |version: u64, millis: i64| {
            let about = EventSubject { store: None, app: None, entity: "x", version };
            let now = Timestamp::from_millis(1_795_244_400_000 + millis);
            Event::untyped(&Entry::of(&STORE_UPDATED), about, json!({}), now).order()
        };
        let mut found = [at(10, 0), at(9, 5), at(9, 4), at(100, -1)];
        let expected = [found[2].clone(), found[1].clone(), found[0].clone(), found[3].clone()];
        found.sort();
        assert_eq!(found, expected);
    }
}
