//! The audit log: what happened on a store, and who did it.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Index;
use gateway::page::Paging;
use gateway::problem::{FieldError, Problem};
use gateway::reply::Page;
use gateway::request::{Given, Judgement, Query, Ruled, Rules, Text, request};
use ground::event::Event;
use ground::id::EventId;
use ground::key;
use platform::caller::Admin;

use crate::outbox::EntityView;
use crate::range::{self, KEPT, TimeRange};

ground::view! {
    /// One entry.
    #[schemars(rename = "AuditEntry")]
    EntryView of event: Event {
        id: EventId,
        action: String = event.name.clone(),
        /// `merchant:mer_…` or `installation:ins_…`; none for the service itself.
        actor: Option<String>,
        entity: EntityView = EntityView::from(event),
        request_id: String,
        trace_id: String,
        created_at: Timestamp,
    }
}

/// Which entries.
#[request]
#[derive(Debug)]
pub(crate) struct AuditQuery {
    /// Only this action: an event's name.
    action: Option<Text<1, 100>>,
    /// Only what was done to this entity.
    entity_id: Option<Text<1, 100>>,
    /// Only what happened at or after this time; at most 30 days back.
    since: Option<Timestamp>,
    /// Only what happened at or before this time.
    until: Option<Timestamp>,
}

impl Rules for AuditQuery {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        range::broken(given, case, KEPT)
    }
}

/// `GET /v1/operations/audit-log` (`listAuditLog`): List the audit log of a store.
///
/// Lists what was done on the store, the newest first.
pub(crate) async fn list(
    caller: Admin,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<AuditQuery>>,
    paging: Paging,
) -> Result<Page<EntryView>, Problem> {
    let store = &caller.store;
    let range = TimeRange::of(query.since, query.until, KEPT, store.created_at, app.clock.now())?;
    let days = range.queries(Index::Gsi5, |day| key::events_on(&store.id, day));
    let is_asked_for = |event: &Event| {
        query.action.as_ref().is_none_or(|action| event.name == action.as_str())
            && query.entity_id.as_ref().is_none_or(|id| event.entity_id == id.as_str())
    };
    paging.answer_over(&app, &days, is_asked_for, |event| EntryView::from(&event)).await
}
