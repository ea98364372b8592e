//! Failover drills (docs/operations.md).

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::State;
use callers::Operator;
use core_types::id::{DrillId, StoreId, SubscriptionId};
use core_types::key;
use delivery::run::RunMessage;
use gateway::app::App;
use gateway::budget::Cost;
use gateway::idempotency;
use gateway::page::Paging;
use gateway::reply::{Accepted, Either, Json, Page};
use gateway::request::{Accept, Body, Path};
use gateway::routes::Routes;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Int, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use reliability::drill::{
    BlastRadius, Drill, DrillKind, DrillPlan, DrillView, MAX_BLAST_RADIUS_PERCENT,
    MAX_DURATION_SECONDS, MAX_RTO_SECONDS, MAX_STOP_CONDITIONS, StopCondition, StopMetric,
};
use reliability::evidence::{self, Record};
use reliability::{canary, runs};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::canary::CanaryHold;
use table::item::Item;
use table::{Condition, Write};

use super::incidents::unresolved;
use crate::page::{self, Shown};

/// The name of the canary store as a target.
pub(super) const CANARY: &str = "canary";

pub(crate) fn routes() -> Routes {
    Routes::default()
        .get("/v1/operations/runtime/failover-drills", Cost::List, list)
        .post("/v1/operations/runtime/failover-drills", Cost::BULK, schedule)
        .get("/v1/operations/runtime/failover-drills/{id}", Cost::READ, get)
        .post("/v1/operations/runtime/failover-drills/{id}/abort", Cost::WRITE, abort)
}

/// `GET /v1/operations/runtime/failover-drills` (`listDrills`): List failover drills.
///
/// The newest drill comes first. Drills are retained for 400 days.
pub(crate) async fn list(
    _: Operator,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<DrillView>, Problem> {
    let queries = runs::by_month(Drill::KIND, app.clock.now(), None);
    paging.query_many(&app, &queries, |_| true, |drill: Drill| DrillView::from(&drill)).await
}

/// A condition that ends a drill early.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct StopConditionRequest {
    /// The metric that is compared.
    metric: StopMetric,
    /// The drill stops when the metric is above this number.
    above: Int<0, 1_000_000>,
}

/// A drill to run.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct DrillRequest {
    /// The fault to inject.
    kind: DrillKind,
    /// The expected outcome.
    hypothesis: Text<1, 1000>,
    /// The store to run on: `canary`, the default, or its id. No other is accepted.
    target: Option<Text<1, 100>>,
    /// The duration of the fault, in seconds: 1 to 300.
    duration_s: Int<1, MAX_DURATION_SECONDS>,
    /// The share of the deployment's concurrent delivery attempts that the drill may use, in percent: 10 by
    /// default and at most.
    blast_radius_percent: Option<Int<1, 100>>,
    /// Conditions that end the drill early, at most 10.
    stop_conditions: Option<AtMost<StopConditionRequest, MAX_STOP_CONDITIONS>>,
    /// Recovery time objective: all events must be delivered within this many seconds after the fault, 0 to
    /// 3,600.
    rto_s: Int<0, MAX_RTO_SECONDS>,
    /// Recovery point objective: how many events may be lost, 0 to 1,000.
    rpo_events: Int<0, 1000>,
    /// Return what the drill would affect, and start nothing.
    dry_run: Flag,
    /// Must be `true` to start the drill; a dry run does not need it.
    confirm: Flag,
}

fn whole<const MIN: i64, const MAX: i64>(number: Int<MIN, MAX>) -> u64 {
    u64::try_from(number.0).unwrap_or(0)
}

impl DrillRequest {
    fn plan(&self) -> DrillPlan {
        let percent = self.blast_radius_percent.map_or(MAX_BLAST_RADIUS_PERCENT, whole);
        let conditions = self.stop_conditions.iter().flat_map(|conditions| &conditions.0);
        let condition = |requested: &StopConditionRequest| StopCondition {
            metric: requested.metric,
            above: whole(requested.above),
        };
        DrillPlan {
            kind: self.kind,
            hypothesis: self.hypothesis.as_str().to_owned(),
            duration_s: whole(self.duration_s),
            blast_radius_percent: percent,
            stop_conditions: conditions.map(condition).collect(),
            rto_s: whole(self.rto_s),
            rpo_events: whole(self.rpo_events),
        }
    }
}

/// Whether a target is the canary, by its name or its id.
pub(super) fn is_canary(target: Option<&Text<1, 100>>) -> bool {
    target.is_none_or(|target| {
        target.as_str() == CANARY || target.as_str() == StoreId::canary().as_str()
    })
}

/// The preview of a drill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DrillPreview {
    /// The canary store, whether it exists yet or not.
    targets: Vec<TargetView>,
    /// The blast radius beyond the canary store.
    blast_radius: BlastRadius,
    /// Whether this deployment allows drills.
    drills_allowed: bool,
}

/// The target of a drill.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DrillCanary")]
struct TargetView {
    /// The canary store.
    store_id: StoreId,
    /// Its webhook subscription.
    subscription_id: SubscriptionId,
    /// The URL that its events are posted to.
    receiver: String,
}

/// `POST /v1/operations/runtime/failover-drills` (`createDrill`): Start a failover drill.
///
/// A drill injects a fault for the canary store and measures how the service recovers from it. It starts when
/// this request has answered 202; poll `GET …/{id}` for its verdict. It needs `confirm: true` and an
/// `Idempotency-Key`.
///
/// With `dry_run`, the response is 200 with the effects of the drill, and nothing is started. One drill or
/// load test runs at a time, and no drill starts while an incident is unresolved.
///
/// # Errors
/// `blast_radius_exceeded` when it would exceed `blast_radius_percent` or 10 percent, or names another store
/// than the canary; `drills_disabled` if the deployment allows no drills; `drill_running`; `incident_open`;
/// `confirmation_required` as a field error without `confirm`.
pub(crate) async fn schedule(
    caller: Operator,
    State(app): State<App>,
    _: idempotency::Required,
    Body(input): Body<DrillRequest>,
) -> Result<Either<Json<DrillPreview>, Accepted<DrillView>>, Problem> {
    let plan = input.plan();
    let radius = BlastRadius::of(plan.kind, plan.duration_s);
    let most = plan.blast_radius_percent.min(MAX_BLAST_RADIUS_PERCENT);
    let is_too_wide = plan.blast_radius_percent > most || radius.percent > most;
    if is_too_wide || !is_canary(input.target.as_ref()) {
        return Err(Code::BlastRadiusExceeded.with("limit_percent", most));
    }
    let drills_allowed = *app.config.drills_allowed;
    if input.dry_run.0 {
        let target = TargetView {
            store_id: StoreId::canary(),
            subscription_id: SubscriptionId::canary(),
            receiver: canary::receiver_url(&app),
        };
        let preview = DrillPreview { targets: vec![target], blast_radius: radius, drills_allowed };
        return Ok(Either::Left(Json::new(&preview)));
    }
    if !input.confirm.0 {
        let detail = "Must be `true`, to confirm that a fault is injected.";
        return Err(Problem::field("/confirm", "confirmation_required", detail));
    }
    if !drills_allowed {
        return Err(Code::DrillsDisabled.into());
    }
    let now = app.clock.now();
    if !unresolved(&app).await?.is_empty() {
        return Err(Code::IncidentOpen.into());
    }
    let drill = Drill::schedule(plan, &caller.account.id, now);
    let answer = Accepted::new(&DrillView::from(&drill)).version(drill.version);
    let write = app.table.write().create(&drill, Code::VersionConflict);
    let answered = hold(write, &drill.hold(), now).answer(answer, now).await?;
    RunMessage::Drill { id: drill.id }.send(&app, Duration::ZERO).await;
    Ok(Either::Right(answered))
}

/// Adds the hold on the canary to a transaction, which is rejected while another run holds it.
pub(super) fn hold(write: Write, hold: &CanaryHold, now: Timestamp) -> Write {
    let is_free =
        Condition::new("attribute_not_exists(PK) OR held_until <= :now").value(":now", now);
    write.put_if(hold, is_free, Code::DrillRunning)
}

async fn find(services: &Services, id: &DrillId) -> Result<Drill, Problem> {
    services.table.get(&key::drill(id)).await?.ok_or_else(|| Code::NotFound.into())
}

/// `GET /v1/operations/runtime/failover-drills/{id}` (`getDrill`): Get a failover drill.
///
/// The drill has the verdict, the measured recovery time, the lost events and the timeline. It is an HTML
/// page if `Accept` prefers `text/html` to JSON.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<DrillId>,
    accept: Accept,
) -> Result<Shown<DrillView>, Problem> {
    let drill = find(&app, &id).await?;
    let json = || Json::new(&DrillView::from(&drill)).version(drill.version);
    Ok(page::described(&accept, || page::drill::sheet(&drill), json))
}

/// `POST /v1/operations/runtime/failover-drills/{id}/abort` (`abortDrill`): Abort a failover drill.
///
/// The drill and its fault end at once, without a verdict. Events that the fault held up are still delivered,
/// but no longer measured. The abort is recorded as evidence.
///
/// # Errors
/// `not_found`; `invalid_state_transition` when it has ended.
pub(crate) async fn abort(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<DrillId>,
) -> Result<Json<DrillView>, Problem> {
    table::retry_up_to(evidence::ADDITION_ATTEMPTS, || async {
        let now = app.clock.now();
        let after = find(&app, &id).await?.aborted(now)?;
        let record = Record::of_drill(&after);
        let after = after.with_evidence(record.id().to_string());
        let addition = evidence::addition(&app, record, now).await?;
        let answer = Json::new(&DrillView::from(&after)).version(after.version);
        let write = app.table.write().replace(&after, Code::VersionConflict);
        let write = release(write, id.as_str()).when_some(addition, |write, it| it.put_into(write));
        write.answer(answer, now).await
    })
    .await
}

/// Adds the release of the canary to a transaction, on condition that no other run holds it.
pub(super) fn release(write: Write, run: &str) -> Write {
    let is_ours = Condition::new("attribute_not_exists(PK) OR run_id = :run").value(":run", run);
    write.delete_if(&CanaryHold::place(), is_ours, Code::VersionConflict)
}
