//! The audit log: the events of a store, with the principals whose requests caused them.

use axum::extract::State;
use callers::Admin;
use core_types::event::Event;
use core_types::id::EventId;
use core_types::key;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::Page;
use gateway::request::{Query, RequestRules, Ruled, Validation};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::{Given, request};
use primitives::problem::{FieldError, Problem};
use table::item::Index;

use crate::outbox::EntityView;
use crate::range::{self, RETENTION, TimeRange};

core_types::view! {
    /// An entry of the audit log.
    #[schemars(rename = "AuditEntry")]
    EntryView of event: Event {
        /// The id of the event that recorded the action.
        id: EventId,
        /// The action: the event's type, like `order.created`.
        action: String = event.name.clone(),
        /// The principal that acted, like `merchant:mer_…`, `installation:ins_…` or `customer:cus_…`; `null`
        /// for the service itself.
        actor: Option<String>,
        /// The entity that the action changed.
        entity: EntityView = EntityView::from(event),
        /// The id of the request that caused it.
        request_id: String,
        /// The trace of that request.
        trace_id: String,
        /// When it happened.
        created_at: Timestamp,
    }
}

/// Filters of the audit log.
#[request]
#[derive(Debug)]
pub(crate) struct AuditQuery {
    /// Only entries of this action: an event type.
    action: Option<Text<1, 100>>,
    /// Only entries about the entity of this id.
    entity_id: Option<Text<1, 100>>,
    /// Only entries at or after this time: at most 30 days before `until`, which is also the default.
    since: Option<Timestamp>,
    /// Only entries at or before this time; now by default.
    until: Option<Timestamp>,
}

impl RequestRules for AuditQuery {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        range::violations(given, RETENTION, validation.app.clock.now())
    }
}

/// `GET /v1/operations/audit-log` (`listAuditLog`): List the audit log of a store.
///
/// The newest entry comes first. An entry is an event of the store with the principal whose request caused
/// it. Entries are retained for 30 days.
pub(crate) async fn list(
    caller: Admin,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<AuditQuery>>,
    paging: Paging,
) -> Result<Page<EntryView>, Problem> {
    let store = &caller.store;
    let range =
        TimeRange::of(query.since, query.until, RETENTION, store.created_at, app.clock.now())?;
    let days = range.queries(Index::Gsi5, |day| key::events_on(&store.id, day));
    let is_requested = |event: &Event| {
        query.action.as_ref().is_none_or(|action| event.name == action.as_str())
            && query.entity_id.as_ref().is_none_or(|id| event.entity_id == id.as_str())
    };
    paging.query_many(&app, &days, is_requested, |event| EntryView::from(&event)).await
}
