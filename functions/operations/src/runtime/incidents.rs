//! Incidents: operators open and resolve them, and so do the rules that are evaluated each minute. A store
//! reads those that concern it.

use axum::extract::State;
use callers::{Operator, StoreOrPlatform};
use core_types::id::{IncidentId, StoreId};
use core_types::key;
use core_types::resource::load;
use core_types::scope::ReadOperations;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch, Path, Query, RequestRules, Ruled, Validation};
use primitives::clock::Timestamp;
use primitives::context::Context;
use primitives::fields::{AtMost, Text};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use reliability::incident::{
    Component, Correction, INCIDENT_UPDATED, Incident, IncidentStatus, IncidentView, NewIncident,
    Severity, Step,
};
use reliability::{evidence, runs};
use replies::{ResourceReply, change, change_with};
use services::Services;
use table::item::Item;

/// Incidents of a month that are read for the unresolved ones, and unresolved ones that are returned.
const MOST_SHOWN: usize = 100;

/// Filters of the list of incidents.
#[request]
#[derive(Debug)]
pub(crate) struct IncidentsQuery {
    /// Only incidents in this status.
    status: Option<IncidentStatus>,
    /// Only incidents of this severity.
    severity: Option<Severity>,
    /// Only incidents opened at or after this time.
    since: Option<Timestamp>,
}

/// `GET /v1/operations/runtime/incidents` (`listIncidents`): List incidents.
///
/// The newest incident comes first. A store sees the incidents that concern it. An operator who names no
/// store sees all incidents of the last 14 months.
pub(crate) async fn list(
    caller: StoreOrPlatform<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<IncidentsQuery>,
    paging: Paging,
) -> Result<Page<IncidentView>, Problem> {
    let is_requested = |incident: &Incident| {
        query.status.is_none_or(|status| incident.status == status)
            && query.severity.is_none_or(|severity| incident.severity == severity)
            && query.since.is_none_or(|since| incident.created_at >= since)
    };
    let queries = match caller.store() {
        Some(store) => {
            let (index, partition) = key::incidents_of_store(store);
            vec![table::Query::index(index, partition).newest_first()]
        }
        None => runs::by_month(Incident::KIND, app.clock.now(), query.since),
    };
    paging
        .query_many(&app, &queries, is_requested, |found: Incident| IncidentView::from(&found))
        .await
}

/// Loads the unresolved incidents of the last fourteen months, the newest first, as far as they are among the
/// latest 100 of their month.
///
/// # Errors
/// 503.
pub(crate) async fn unresolved(services: &Services) -> Result<Vec<Incident>, Problem> {
    let months = runs::by_month(Incident::KIND, services.clock.now(), None);
    let read = months.iter().map(|month| services.table.all::<Incident>(month, MOST_SHOWN));
    let found = futures_util::future::try_join_all(read).await?;
    let unresolved = found.into_iter().flatten().filter(Incident::is_unresolved);
    Ok(unresolved.take(MOST_SHOWN).collect())
}

/// `GET /v1/operations/runtime/incidents/{id}` (`getIncident`): Get an incident.
///
/// The incident has its timeline and the actions that its status allows. A store sees the incidents that
/// concern it only.
///
/// # Errors
/// `not_found`, also for an incident of another store or of the platform.
pub(crate) async fn get(
    caller: StoreOrPlatform<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
) -> Result<Json<IncidentView>, Problem> {
    let found: Incident = load(&app, &key::incident(&id)).await?;
    if !caller.can_read(found.store_id.as_ref()) {
        return Err(Code::NotFound.into());
    }
    Ok(found.to_response())
}

/// A new incident.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct OpenIncidentRequest {
    /// The title.
    title: Text<1, 200>,
    /// The severity.
    severity: Severity,
    /// The affected components, at most 10.
    components: AtMost<Component, 10>,
    /// The description of what is known. It becomes the first message of the timeline.
    description: Option<Text<1, 5_000>>,
    /// The store that it concerns: the store sees the incident and receives its events. Leave it out for an
    /// incident of the platform.
    store_id: Option<StoreId>,
}

impl RequestRules for OpenIncidentRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let Some(store) = given.get::<StoreId>("store_id") else { return Vec::new() };
        let found = validation.app.table.get::<identity::store::Store>(&key::store(&store)).await;
        if matches!(found, Ok(None)) {
            return vec![FieldError::new("/store_id", "not_found", "There is no such store.")];
        }
        Vec::new()
    }
}

/// `POST /v1/operations/runtime/incidents` (`createIncident`): Open an incident.
///
/// The incident is `open`, and its timeline begins with the operator who opened it. It emits
/// `incident.opened`. With `store_id`, that store sees the incident and receives its events. While an
/// incident is unresolved, no failover drill starts.
pub(crate) async fn create(
    _: Operator,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<OpenIncidentRequest>>,
) -> Result<Created<IncidentView>, Problem> {
    let now = app.clock.now();
    let report = NewIncident {
        store_id: input.store_id,
        cause: None,
        title: input.title.into(),
        description: input.description.map(String::from),
        severity: input.severity,
        components: distinct(input.components.0),
    };
    let incident = Incident::open(report, actor(), now);
    incident.create_in(app.table.write(), now).answer(incident.to_created_response(), now).await
}

/// Removes duplicates, and sorts in the order of the documentation.
fn distinct(mut components: Vec<Component>) -> Vec<Component> {
    components.sort_unstable();
    components.dedup();
    components
}

/// The principal of the request.
fn actor() -> Option<String> {
    Context::current().map(|context| context.principal())
}

/// Changes to an incident. An omitted field keeps its value.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct CorrectIncidentRequest {
    /// The title.
    title: Option<Text<1, 200>>,
    /// The severity.
    severity: Option<Severity>,
    /// The affected components, at most 10, which replace all current ones.
    components: Option<AtMost<Component, 10>>,
    /// The description.
    description: Option<Text<1, 5_000>>,
    /// The root cause analysis: why it happened, and what prevents a repetition.
    rca: Option<Text<1, 10_000>>,
}

/// `PATCH /v1/operations/runtime/incidents/{id}` (`updateIncident`): Update an incident.
///
/// Title, description, severity, components and `rca` can be changed in any status. A change adds an entry to
/// the timeline and emits `incident.updated`. A request that changes nothing adds no entry.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub(crate) async fn update(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(input): Body<CorrectIncidentRequest>,
) -> Result<Json<IncidentView>, Problem> {
    let correction = Correction {
        title: input.title.map(String::from),
        description: input.description.map(String::from),
        severity: input.severity,
        components: input.components.map(|given| distinct(given.0)),
        rca: input.rca.map(String::from),
    };
    let next = |incident: &Incident, now| Ok(incident.correct(correction.clone(), actor(), now));
    change::<Incident>(&app, &key::incident(&id), if_match, &INCIDENT_UPDATED, next).await
}

/// A message about a change of status.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct StepRequest {
    /// The message of the timeline's new entry.
    message: Option<Text<1, 2_000>>,
    /// The root cause analysis: why it happened, and what prevents a repetition. By default, it stays.
    rca: Option<Text<1, 10_000>>,
}

/// `POST /v1/operations/runtime/incidents/{id}/acknowledge` (`acknowledgeIncident`): Acknowledge an incident.
///
/// An operator works on the incident. Only an `open` incident can be acknowledged. It emits
/// `incident.acknowledged`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn acknowledge(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(input): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Acknowledge, input).await
}

/// `POST /v1/operations/runtime/incidents/{id}/mitigate` (`mitigateIncident`): Mark an incident as mitigated.
///
/// The incident no longer has an effect, although its cause may remain. It must be `open` or `acknowledged`.
/// It emits `incident.mitigated`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn mitigate(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(input): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Mitigate, input).await
}

/// `POST /v1/operations/runtime/incidents/{id}/resolve` (`resolveIncident`): Resolve an incident.
///
/// The incident is over; it can be resolved from every status before. It is recorded as evidence, and emits
/// `incident.resolved`. If a rule opened it and is still violated, a new incident is opened within a minute.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn resolve(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(input): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Resolve, input).await
}

/// `POST /v1/operations/runtime/incidents/{id}/close` (`closeIncident`): Close an incident.
///
/// The review of the incident is complete. Only a `resolved` incident can be closed. It emits
/// `incident.closed`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn close(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(input): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Close, input).await
}

async fn take(
    services: &Services,
    id: &IncidentId,
    if_match: IfMatch,
    step: Step,
    input: StepRequest,
) -> Result<Json<IncidentView>, Problem> {
    let (message, rca) = (input.message.map(String::from), input.rca.map(String::from));
    let next = |incident: &Incident, now| {
        let after = incident.take(step, message.clone(), actor(), now)?;
        Ok(Some(Incident { rca: rca.clone().or(after.rca), ..after }))
    };
    let extend = |write, (_, after): (&Incident, &Incident), _| after.close_in(write, step);
    let key = key::incident(id);
    let answer = change_with(services, &key, if_match, step.topic(), next, extend).await?;
    if matches!(step, Step::Resolve | Step::Close) {
        state(services, &load(services, &key).await?).await;
    }
    Ok(answer)
}

/// Records a resolved incident as evidence. If the table rejects that, it is recorded when the incident is
/// closed.
async fn state(services: &Services, incident: &Incident) {
    let stated = async { evidence::append(services, incident.record()?).await };
    if let Err(problem) = stated.await {
        tracing::warn!(
            cause = %problem, incident = incident.id.as_str(),
            "evidence of an incident not appended"
        );
    }
}

/// An entry to add to a timeline.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct NoteRequest {
    /// The message of the entry.
    message: Text<1, 2_000>,
}

/// `POST /v1/operations/runtime/incidents/{id}/timeline` (`createIncidentEntry`):
/// Add an entry to an incident's timeline.
///
/// The entry has the time and the operator. The status of the incident stays. An entry is never changed. The
/// timeline has its first entry and the latest 199. It emits `incident.updated`.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub(crate) async fn note(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(input): Body<NoteRequest>,
) -> Result<Json<IncidentView>, Problem> {
    let message = String::from(input.message);
    let next = |incident: &Incident, now| Ok(Some(incident.note(message.clone(), actor(), now)));
    change::<Incident>(&app, &key::incident(&id), if_match, &INCIDENT_UPDATED, next).await
}
