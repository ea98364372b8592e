//! `/v1/operations/runtime`: the state of the platform, its queues and incidents, replays, drills and load
//! tests. A merchant sees the numbers of their own store; an operator those of the platform, or of a named
//! store.

mod canary;
mod drills;
mod incidents;
mod load_tests;
pub(crate) mod overview;
mod queues;
mod replays;

use gateway::budget::Cost;
use gateway::routes::Routes;

pub(crate) use replays::begin;

/// The routes below `/v1/operations/runtime`.
pub(crate) fn routes() -> Routes {
    overview().merge(queues()).merge(incidents()).merge(replays()).merge(drills_and_load_tests())
}

fn overview() -> Routes {
    Routes::default().get("/v1/operations/runtime/overview", Cost::BULK, overview::get)
}

fn queues() -> Routes {
    Routes::default()
        .get("/v1/operations/runtime/queues", Cost::SEARCH, queues::list)
        .get("/v1/operations/runtime/queues/{name}", Cost::READ, queues::get)
        .get("/v1/operations/runtime/queues/{name}/dlq", Cost::SEARCH, queues::dead_letters)
        .post("/v1/operations/runtime/queues/{name}/dlq/redrive", Cost::BULK, queues::redrive)
}

fn incidents() -> Routes {
    Routes::default()
        .get("/v1/operations/runtime/incidents", Cost::List, incidents::list)
        .post("/v1/operations/runtime/incidents", Cost::WRITE, incidents::create)
        .get("/v1/operations/runtime/incidents/{id}", Cost::READ, incidents::get)
        .patch("/v1/operations/runtime/incidents/{id}", Cost::WRITE, incidents::update)
        .post(
            "/v1/operations/runtime/incidents/{id}/acknowledge",
            Cost::WRITE,
            incidents::acknowledge,
        )
        .post("/v1/operations/runtime/incidents/{id}/mitigate", Cost::WRITE, incidents::mitigate)
        .post("/v1/operations/runtime/incidents/{id}/resolve", Cost::WRITE, incidents::resolve)
        .post("/v1/operations/runtime/incidents/{id}/close", Cost::WRITE, incidents::close)
        .post("/v1/operations/runtime/incidents/{id}/timeline", Cost::WRITE, incidents::note)
}

/// Replays of events.
fn replays() -> Routes {
    Routes::default()
        .get("/v1/operations/runtime/replays", Cost::List, replays::list)
        .post("/v1/operations/runtime/replays", Cost::BULK, replays::create)
        .get("/v1/operations/runtime/replays/{id}", Cost::READ, replays::get)
        .post("/v1/operations/runtime/replays/{id}/cancel", Cost::WRITE, replays::cancel)
}

/// Drills and load tests, which run on the canary store.
fn drills_and_load_tests() -> Routes {
    drills::routes().merge(load_tests::routes()).merge(canary::routes())
}
