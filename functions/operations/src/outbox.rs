//! The outbox: events and whether they were published (docs/conventions.md §10). A store's members and apps
//! read it and change its events, and so do operators.

use axum::extract::State;
use callers::StoreOrOperator;
use commerce::readers::ensure_reads_event;
use commerce::topics;
use core_types::event::{Event, EventGroup, OutboxState};
use core_types::id::EventId;
use core_types::key;
use core_types::scope::{ReadOperations, RequiredScope, WriteOperations};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Path, Query, RequestRules, Ruled, Validation};
use primitives::clock::Timestamp;
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::Services;
use table::item::Index;

use crate::range::{self, RETENTION, TimeRange};

core_types::view! {
    /// An event in the outbox.
    OutboxView of event: Event {
        /// The id, which its webhooks carry as `webhook-id`.
        id: EventId,
        /// The event type, like `order.created`.
        r#type: String = event.name.clone(),
        /// Whether it was turned into deliveries.
        status: OutboxState = event.state,
        /// The code of the error that prevented its publication.
        failure: Option<String>,
        /// The entity that it is about.
        entity: EntityView = EntityView::from(event),
        /// The id of the request that caused it.
        request_id: String,
        /// The trace of that request.
        trace_id: String,
        /// When it was turned into deliveries.
        published_at: Option<Timestamp>,
        /// Whether its payload was removed.
        payload_expunged: bool = event.is_expunged(),
        /// The actions that its status allows: `requeue`, `discard`.
        allowed_actions: Vec<&'static str> = event.allowed_actions(),
        /// When it happened.
        created_at: Timestamp,
        /// When it was published; before that, when it happened.
        updated_at: Timestamp = event.published_at.unwrap_or(event.created_at),
        /// Incremented by each change of its status.
        version: u64,
    }
}

core_types::view! {
    /// The entity that an event is about.
    #[schemars(rename = "EventSubject")]
    EntityView of event: Event {
        /// The type of the entity, like `order`.
        r#type: String = event.entity_type.clone(),
        /// The id of the entity.
        id: String = event.entity_id.clone(),
        /// The version of the entity after the change.
        version: u64 = event.entity_version,
    }
}

/// An event of the outbox with its payload.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventWithPayload {
    #[serde(flatten)]
    view: OutboxView,
    /// The body that webhooks carry. `null` when it was removed, or when the caller may not read it.
    payload: Option<Value>,
}

/// Filters of the list of events.
#[request]
#[derive(Debug)]
pub(crate) struct OutboxQuery {
    /// Only events in this status.
    status: Option<OutboxState>,
    /// Only events at or after this time: at most 30 days before `until`, which is also the default.
    since: Option<Timestamp>,
    /// Only events at or before this time; now by default.
    until: Option<Timestamp>,
}

impl RequestRules for OutboxQuery {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        range::violations(given, RETENTION, validation.app.clock.now())
    }
}

/// `GET /v1/operations/outbox` (`listEvents`): List events of a store.
///
/// The newest event comes first, without its payload. Events are retained for 30 days. An operator can list the
/// events of a store that they name.
pub(crate) async fn list(
    caller: StoreOrOperator<ReadOperations>,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<OutboxQuery>>,
    paging: Paging,
) -> Result<Page<OutboxView>, Problem> {
    let store = &caller.store;
    let range =
        TimeRange::of(query.since, query.until, RETENTION, store.created_at, app.clock.now())?;
    let days = range.queries(Index::Gsi5, |day| key::events_on(&store.id, day));
    let is_requested = |event: &Event| query.status.is_none_or(|status| event.state == status);
    paging.query_many(&app, &days, is_requested, |event: Event| OutboxView::from(&event)).await
}

async fn find<S: RequiredScope>(
    services: &Services,
    caller: &StoreOrOperator<S>,
    id: &EventId,
) -> Result<(EventGroup, Event), Problem> {
    let group = services.table.get::<EventGroup>(&key::event(id)).await?.ok_or(Code::NotFound)?;
    let event = group.event(id).cloned();
    let ours = event.filter(|event| event.store_id.as_ref() == Some(&caller.store.id));
    Ok((group, ours.ok_or(Code::NotFound)?))
}

/// `GET /v1/operations/outbox/{id}` (`getEvent`): Get an event.
///
/// The event has its payload, if the caller may read events of this type. An operator never sees the payload
/// of another store's event.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    caller: StoreOrOperator<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<EventId>,
) -> Result<Json<EventWithPayload>, Problem> {
    let (_, event) = find(&app, &caller, &id).await?;
    let scope = topics::scope_of(&event.name);
    let readable = if caller.actor.is_unlimited() {
        !caller.is_operator()
    } else {
        scope.is_some_and(|scope| caller.actor.may(scope))
    };
    let payload = readable.then(|| serde_json::from_str(&event.body).ok()).flatten();
    let response = EventWithPayload { view: OutboxView::from(&event), payload };
    Ok(Json::new(&response).version(event.version))
}

/// `POST /v1/operations/outbox/{id}/requeue` (`requeueEvent`): Requeue a failed or discarded event.
///
/// The event is `pending` again, and is published within about a minute.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read; `invalid_state_transition`
/// unless it is failed or discarded; `payload_expunged`.
pub(crate) async fn requeue(
    caller: StoreOrOperator<WriteOperations>,
    State(app): State<App>,
    Path(id): Path<EventId>,
) -> Result<Json<OutboxView>, Problem> {
    change(&app, &caller, &id, Event::requeue).await
}

/// `POST /v1/operations/outbox/{id}/discard` (`discardEvent`): Discard an unpublished event.
///
/// A pending or failed event is not published: no webhook is sent. It stays in the outbox and can be
/// requeued.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read; `invalid_state_transition`
/// when it was published or discarded.
pub(crate) async fn discard(
    caller: StoreOrOperator<WriteOperations>,
    State(app): State<App>,
    Path(id): Path<EventId>,
) -> Result<Json<OutboxView>, Problem> {
    change(&app, &caller, &id, Event::discard).await
}

async fn change(
    services: &Services,
    caller: &StoreOrOperator<WriteOperations>,
    id: &EventId,
    decide: impl Fn(&Event, Timestamp) -> Result<Event, Problem>,
) -> Result<Json<OutboxView>, Problem> {
    table::retry(|| async {
        let now = services.clock.now();
        let (group, before) = find(services, caller, id).await?;
        ensure_reads_event(&caller.actor, &before.name)?;
        let after = decide(&before, now)?;
        let answer = Json::new(&OutboxView::from(&after)).version(after.version);
        let write = services.table.write().replace(&group.with([after]), Code::VersionConflict);
        write.answer(answer, now).await
    })
    .await
}
