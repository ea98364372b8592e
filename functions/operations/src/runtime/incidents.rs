//! Incidents: operators open them and lead them to their end, and so do the rules that are looked at each
//! minute; a store's owner reads those that concern the store.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::context::Context;
use gateway::item::Item;
use gateway::page::Paging;
use gateway::problem::{Code, FieldError, Problem};
use gateway::reply::{Created, Json, Page};
use gateway::request::{
    AtMost, Body, Given, IfMatch, Judgement, Path, Query, Ruled, Rules, Text, request,
};
use gateway::table;
use ground::id::{IncidentId, StoreId};
use ground::key;
use ground::resource::{Resource, change, change_with, load};
use ground::scope::ReadOperations;
use platform::caller::{Operator, Overseer};
use reliability::incident::{
    Component, Correction, INCIDENT_UPDATED, Incident, IncidentStatus, IncidentView, Report,
    Severity, Step,
};
use reliability::{evidence, runs};

/// Incidents of a month that an overview looks at, and those that it shows.
const MOST_SHOWN: usize = 100;

/// Which incidents.
#[request]
#[derive(Debug)]
pub(crate) struct IncidentsQuery {
    /// Only those that have come so far.
    status: Option<IncidentStatus>,
    /// Only those that are so bad.
    severity: Option<Severity>,
    /// Only those that were opened at or after this time.
    since: Option<Timestamp>,
}

/// `GET /v1/operations/runtime/incidents` (`listIncidents`): List incidents.
///
/// Lists incidents, the newest first: to a store's owner those that concern the store, to an operator all of
/// the last fourteen months, or those of a store that they name.
pub(crate) async fn list(
    caller: Overseer<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<IncidentsQuery>,
    paging: Paging,
) -> Result<Page<IncidentView>, Problem> {
    let is_asked_for = |incident: &Incident| {
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
        .answer_over(&app, &queries, is_asked_for, |found: Incident| IncidentView::from(&found))
        .await
}

/// The latest that are not resolved, of the last fourteen months, the newest first.
///
/// # Errors
/// 503.
pub(crate) async fn unresolved(app: &App) -> Result<Vec<Incident>, Problem> {
    let months = runs::by_month(Incident::KIND, app.clock.now(), None);
    let read = months.iter().map(|month| app.table.all::<Incident>(month, MOST_SHOWN));
    let found = futures_util::future::try_join_all(read).await?;
    let unresolved = found.into_iter().flatten().filter(Incident::is_unresolved);
    Ok(unresolved.take(MOST_SHOWN).collect())
}

/// `GET /v1/operations/runtime/incidents/{id}` (`getIncident`): Get an incident.
///
/// The response has its timeline.
///
/// # Errors
/// `not_found`, also where it concerns somebody else.
pub(crate) async fn show(
    caller: Overseer<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
) -> Result<Json<IncidentView>, Problem> {
    let found: Incident = load(&app, &key::incident(&id)).await?;
    if !caller.sees(found.store_id.as_ref()) {
        return Err(Code::NotFound.into());
    }
    Ok(found.shown())
}

/// A new incident.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct OpenIncidentRequest {
    /// What it is called.
    title: Text<1, 200>,
    /// How bad it is.
    severity: Severity,
    /// What of the platform it is about.
    components: AtMost<Component, 10>,
    /// What is known about it.
    description: Option<Text<1, 5_000>>,
    /// The store that it concerns, whose owner is told; none where it is the platform's.
    store_id: Option<StoreId>,
}

impl Rules for OpenIncidentRequest {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        let Some(store) = given.get::<StoreId>("store_id") else { return Vec::new() };
        let found = case.app.table.get::<identity::store::Store>(&key::store(&store)).await;
        if matches!(found, Ok(None)) {
            return vec![FieldError::new("/store_id", "not_found", "There is no such store.")];
        }
        Vec::new()
    }
}

/// `POST /v1/operations/runtime/incidents` (`createIncident`): Open an incident.
///
/// Its timeline begins with who opened it.
pub(crate) async fn open(
    _: Operator,
    State(app): State<App>,
    Ruled(Body(ask)): Ruled<Body<OpenIncidentRequest>>,
) -> Result<Created<IncidentView>, Problem> {
    let now = app.clock.now();
    let report = Report {
        store_id: ask.store_id,
        cause: None,
        title: ask.title.into(),
        description: ask.description.map(String::from),
        severity: ask.severity,
        components: distinct(ask.components.0),
    };
    let incident = Incident::open(report, actor(), now);
    incident.create_in(app.table.write(), now).answer(incident.created(), now).await
}

/// Each once, in the order of the documentation.
fn distinct(mut components: Vec<Component>) -> Vec<Component> {
    components.sort_unstable();
    components.dedup();
    components
}

/// Who asks.
fn actor() -> Option<String> {
    Context::current().map(|context| context.principal())
}

/// What is corrected of an incident; what is left out stays.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct CorrectIncidentRequest {
    /// What it is called.
    title: Option<Text<1, 200>>,
    /// How bad it is.
    severity: Option<Severity>,
    /// What of the platform it is about.
    components: Option<AtMost<Component, 10>>,
    /// What is known about it.
    description: Option<Text<1, 5_000>>,
    /// Why it happened, and what keeps it from happening again.
    rca: Option<Text<1, 10_000>>,
}

/// `PATCH /v1/operations/runtime/incidents/{id}` (`updateIncident`): Update an incident.
///
/// The change is recorded in its timeline.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub(crate) async fn correct(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(ask): Body<CorrectIncidentRequest>,
) -> Result<Json<IncidentView>, Problem> {
    let correction = Correction {
        title: ask.title.map(String::from),
        description: ask.description.map(String::from),
        severity: ask.severity,
        components: ask.components.map(|given| distinct(given.0)),
        rca: ask.rca.map(String::from),
    };
    let next = |incident: &Incident, now| Ok(incident.correct(correction.clone(), actor(), now));
    change::<Incident>(&app, &key::incident(&id), if_match, &INCIDENT_UPDATED, next).await
}

/// What is said about a step.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct StepRequest {
    /// What the timeline says.
    message: Option<Text<1, 2_000>>,
    /// Why it happened, and what keeps it from happening again.
    rca: Option<Text<1, 10_000>>,
}

/// `POST /v1/operations/runtime/incidents/{id}/acknowledge` (`acknowledgeIncident`): Acknowledge an incident.
///
/// It says that somebody works on the incident.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn acknowledge(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(ask): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Acknowledge, ask).await
}

/// `POST /v1/operations/runtime/incidents/{id}/mitigate` (`mitigateIncident`): Mark an incident as mitigated.
///
/// It says that the incident does no more harm, while its cause may last.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn mitigate(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(ask): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Mitigate, ask).await
}

/// `POST /v1/operations/runtime/incidents/{id}/resolve` (`resolveIncident`): Resolve an incident.
///
/// Where a rule opened it and is still broken, the next look opens another.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn resolve(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(ask): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Resolve, ask).await
}

/// `POST /v1/operations/runtime/incidents/{id}/close` (`closeIncident`): Close an incident.
///
/// It says that the review of the incident is over.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub(crate) async fn close(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(ask): Body<StepRequest>,
) -> Result<Json<IncidentView>, Problem> {
    take(&app, &id, if_match, Step::Close, ask).await
}

async fn take(
    app: &App,
    id: &IncidentId,
    if_match: IfMatch,
    step: Step,
    ask: StepRequest,
) -> Result<Json<IncidentView>, Problem> {
    let (message, rca) = (ask.message.map(String::from), ask.rca.map(String::from));
    let next = |incident: &Incident, now| {
        let after = incident.take(step, message.clone(), actor(), now)?;
        Ok(Some(Incident { rca: rca.clone().or(after.rca), ..after }))
    };
    let extend = |write, (_, after): (&Incident, &Incident), _| after.leave(write, step);
    let key = key::incident(id);
    let answer = change_with(app, &key, if_match, step.topic(), next, extend).await?;
    if matches!(step, Step::Resolve | Step::Close) {
        state(app, &load(app, &key).await?).await;
    }
    Ok(answer)
}

/// States that an incident is resolved. What the table refuses then is stated when it is closed.
async fn state(app: &App, incident: &Incident) {
    let stated = async { evidence::append(app, incident.record()?).await };
    if let Err(problem) = stated.await {
        tracing::warn!(cause = %problem, incident = incident.id.as_str(), "not stated");
    }
}

/// Something to say about an incident.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct NoteRequest {
    /// What the timeline says.
    message: Text<1, 2_000>,
}

/// `POST /v1/operations/runtime/incidents/{id}/timeline` (`createIncidentEntry`):
/// Add an entry to an incident's timeline.
///
/// Entries are never changed or removed.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub(crate) async fn note(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<IncidentId>,
    if_match: IfMatch,
    Body(ask): Body<NoteRequest>,
) -> Result<Json<IncidentView>, Problem> {
    let message = String::from(ask.message);
    let next = |incident: &Incident, now| Ok(Some(incident.note(message.clone(), actor(), now)));
    change::<Incident>(&app, &key::incident(&id), if_match, &INCIDENT_UPDATED, next).await
}
