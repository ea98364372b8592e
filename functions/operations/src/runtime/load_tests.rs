//! Load tests (docs/operations.md).

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::State;
use callers::Operator;
use core_types::id::LoadTestId;
use core_types::key;
use delivery::run::RunMessage;
use gateway::app::App;
use gateway::budget::Cost;
use gateway::page::Paging;
use gateway::reply::{Accepted, Json, Page};
use gateway::request::{Accept, Body, Path};
use gateway::routes::Routes;
use primitives::fields::{Int, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use reliability::evidence::{self, Record};
use reliability::load_test::{LoadProfile, LoadTest, LoadTestView, MAX_DURATION_SECONDS, MAX_RATE};
use reliability::runs;
use services::Services;
use table::item::Item;

use crate::page::{self, Shown};

use super::drills::{hold, is_canary, release};

/// The default share of checkouts, in percent.
const CHECKOUT_PERCENT: u64 = 10;

pub(crate) fn routes() -> Routes {
    Routes::default()
        .get("/v1/operations/runtime/load-tests", Cost::List, list)
        .post("/v1/operations/runtime/load-tests", Cost::BULK, schedule)
        .get("/v1/operations/runtime/load-tests/{id}", Cost::READ, get)
        .post("/v1/operations/runtime/load-tests/{id}/abort", Cost::WRITE, abort)
}

/// `GET /v1/operations/runtime/load-tests` (`listLoadTests`): List load tests.
///
/// The newest load test comes first. Load tests are retained for 400 days.
pub(crate) async fn list(
    _: Operator,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<LoadTestView>, Problem> {
    let queries = runs::by_month(LoadTest::KIND, app.clock.now(), None);
    let view = |test: LoadTest| LoadTestView::from(&test);
    paging.query_many(&app, &queries, |_| true, view).await
}

/// A load test to run.
#[request]
#[derive(Debug)]
pub(crate) struct LoadTestRequest {
    /// The store to run on: `canary`, the default, or its id. No other is accepted.
    target: Option<Text<1, 100>>,
    /// The duration, in seconds: 1 to 60.
    duration_s: Int<1, MAX_DURATION_SECONDS>,
    /// The number of requests a second, 1 to 200.
    requests_per_second: Int<1, MAX_RATE>,
    /// The percentage of requests that are checkouts, 10 by default. The others read the storefront.
    checkout_percent: Option<Int<0, 100>>,
}

/// `POST /v1/operations/runtime/load-tests` (`createLoadTest`): Start a load test of the canary store.
///
/// The service sends requests to the canary's storefront at the given rate, regardless of the responses. It
/// measures status, latency and cost, for reads and checkouts separately. The test starts when this request
/// has answered 202; poll `GET …/{id}` for its progress.
///
/// One drill or load test runs at a time.
///
/// # Errors
/// `canary_only` for another store than the canary, and if the deployment allows no load tests;
/// `drill_running`.
pub(crate) async fn schedule(
    caller: Operator,
    State(app): State<App>,
    Body(input): Body<LoadTestRequest>,
) -> Result<Accepted<LoadTestView>, Problem> {
    if !is_canary(input.target.as_ref()) || !*app.config.drills_allowed {
        return Err(Code::CanaryOnly.into());
    }
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    let profile = LoadProfile {
        duration_s: number(input.duration_s.0),
        requests_per_second: number(input.requests_per_second.0),
        checkout_percent: input.checkout_percent.map_or(CHECKOUT_PERCENT, |Int(n)| number(n)),
    };
    let now = app.clock.now();
    let test = LoadTest::schedule(profile, &caller.account.id, now);
    let answer = Accepted::new(&LoadTestView::from(&test)).version(test.version);
    let write = app.table.write().create(&test, Code::VersionConflict);
    let answered = hold(write, &test.hold(), now).answer(answer, now).await?;
    RunMessage::LoadTest { id: test.id }.send(&app, Duration::ZERO).await;
    Ok(answered)
}

async fn find(services: &Services, id: &LoadTestId) -> Result<LoadTest, Problem> {
    services.table.get(&key::load_test(id)).await?.ok_or_else(|| Code::NotFound.into())
}

/// `GET /v1/operations/runtime/load-tests/{id}` (`getLoadTest`): Get a load test.
///
/// The load test has the measurements so far, for reads and checkouts separately. It is an HTML page if
/// `Accept` prefers `text/html` to JSON.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<LoadTestId>,
    accept: Accept,
) -> Result<Shown<LoadTestView>, Problem> {
    let test = find(&app, &id).await?;
    let json = || Json::new(&LoadTestView::from(&test)).version(test.version);
    Ok(page::described(&accept, || page::load_test::sheet(&test), json))
}

/// `POST /v1/operations/runtime/load-tests/{id}/abort` (`abortLoadTest`): Abort a load test.
///
/// No further requests are sent; requests in flight are still answered. The abort is recorded as evidence.
///
/// # Errors
/// `not_found`; `invalid_state_transition` when it has ended.
pub(crate) async fn abort(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<LoadTestId>,
) -> Result<Json<LoadTestView>, Problem> {
    table::retry_up_to(evidence::ADDITION_ATTEMPTS, || async {
        let now = app.clock.now();
        let after = find(&app, &id).await?.aborted(now)?;
        let record = Record::of_load_test(&after);
        let after = after.with_evidence(record.id().to_string());
        let addition = evidence::addition(&app, record, now).await?;
        let answer = Json::new(&LoadTestView::from(&after)).version(after.version);
        let write = app.table.write().replace(&after, Code::VersionConflict);
        let write = release(write, id.as_str()).when_some(addition, |write, it| it.put_into(write));
        write.answer(answer, now).await
    })
    .await
}
