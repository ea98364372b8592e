//! The outbox: events and how far they have come on their way out (docs/conventions.md §10). It is its
//! store's, and the platform's operators', who keep it moving.

use axum::extract::State;
use commerce::readers::ensure_reads_event;
use commerce::topics;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Index;
use gateway::page::Paging;
use gateway::problem::{Code, FieldError, Problem};
use gateway::reply::{Json, Page};
use gateway::request::{Given, Judgement, Path, Query, Ruled, Rules, request};
use gateway::table;
use ground::event::{Event, EventGroup, OutboxState};
use ground::id::EventId;
use ground::key;
use ground::scope::{ReadOperations, Required, WriteOperations};
use platform::caller::OverseenStore;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::range::{self, KEPT, TimeRange};

ground::view! {
    /// An event as the outbox shows it.
    OutboxView of event: Event {
        id: EventId,
        r#type: String = event.name.clone(),
        status: OutboxState = event.state,
        failure: Option<String>,
        entity: EntityView = EntityView::from(event),
        request_id: String,
        trace_id: String,
        published_at: Option<Timestamp>,
        payload_expunged: bool = event.is_expunged(),
        allowed_actions: Vec<&'static str> = event.allowed_actions(),
        created_at: Timestamp,
        updated_at: Timestamp = event.published_at.unwrap_or(event.created_at),
        version: u64,
    }
}

ground::view! {
    /// What an event is about.
    #[schemars(rename = "EventSubject")]
    EntityView of event: Event {
        r#type: String = event.entity_type.clone(),
        id: String = event.entity_id.clone(),
        version: u64 = event.entity_version,
    }
}

/// One event with its payload.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventWithPayload {
    #[serde(flatten)]
    view: OutboxView,
    /// The frozen body; `null` when it was removed, or is not the caller's to read.
    payload: Option<Value>,
}

/// Which events.
#[request]
#[derive(Debug)]
pub(crate) struct OutboxQuery {
    /// Only those in this state.
    status: Option<OutboxState>,
    /// Only those at or after this time; at most 30 days back.
    since: Option<Timestamp>,
    /// Only those at or before this time.
    until: Option<Timestamp>,
}

impl Rules for OutboxQuery {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        range::broken(given, case, KEPT)
    }
}

/// `GET /v1/operations/outbox` (`listEvents`): List events of a store.
///
/// Lists the store's events, the newest first.
pub(crate) async fn list(
    caller: OverseenStore<ReadOperations>,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<OutboxQuery>>,
    paging: Paging,
) -> Result<Page<OutboxView>, Problem> {
    let store = &caller.store;
    let range = TimeRange::of(query.since, query.until, KEPT, store.created_at, app.clock.now())?;
    let days = range.queries(Index::Gsi5, |day| key::events_on(&store.id, day));
    let is_asked_for = |event: &Event| query.status.is_none_or(|status| event.state == status);
    paging.answer_over(&app, &days, is_asked_for, |event: Event| OutboxView::from(&event)).await
}

async fn find<S: Required>(
    app: &App,
    caller: &OverseenStore<S>,
    id: &EventId,
) -> Result<(EventGroup, Event), Problem> {
    let group = app.table.get::<EventGroup>(&key::event(id)).await?.ok_or(Code::NotFound)?;
    let event = group.event(id).cloned();
    let ours = event.filter(|event| event.store_id.as_ref() == Some(&caller.store.id));
    Ok((group, ours.ok_or(Code::NotFound)?))
}

/// `GET /v1/operations/outbox/{id}` (`getEvent`): Get an event.
///
/// Shows an event with its payload, if the caller's scopes can read it.
///
/// An operator sees none: it is the store's business, and its customers'.
///
/// # Errors
/// `not_found`.
pub(crate) async fn show(
    caller: OverseenStore<ReadOperations>,
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
    let shown = EventWithPayload { view: OutboxView::from(&event), payload };
    Ok(Json::new(&shown).version(event.version))
}

/// `POST /v1/operations/outbox/{id}/requeue` (`requeueEvent`): Requeue a failed or discarded event.
///
/// Has a failed or discarded event published by the next sweep.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read; `invalid_state_transition`,
/// `payload_expunged`.
pub(crate) async fn requeue(
    caller: OverseenStore<WriteOperations>,
    State(app): State<App>,
    Path(id): Path<EventId>,
) -> Result<Json<OutboxView>, Problem> {
    change(&app, &caller, &id, Event::requeue).await
}

/// `POST /v1/operations/outbox/{id}/discard` (`discardEvent`): Discard an unpublished event.
///
/// Keeps an event from being published.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read; `invalid_state_transition` when
/// it has been.
pub(crate) async fn discard(
    caller: OverseenStore<WriteOperations>,
    State(app): State<App>,
    Path(id): Path<EventId>,
) -> Result<Json<OutboxView>, Problem> {
    change(&app, &caller, &id, Event::discard).await
}

async fn change(
    app: &App,
    caller: &OverseenStore<WriteOperations>,
    id: &EventId,
    decide: impl Fn(&Event, Timestamp) -> Result<Event, Problem>,
) -> Result<Json<OutboxView>, Problem> {
    table::retry(|| async {
        let now = app.clock.now();
        let (group, before) = find(app, caller, id).await?;
        ensure_reads_event(&caller.actor, &before.name)?;
        let after = decide(&before, now)?;
        let answer = Json::new(&OutboxView::from(&after)).version(after.version);
        let write = app.table.write().replace(&group.with([after]), Code::VersionConflict);
        write.answer(answer, now).await
    })
    .await
}
