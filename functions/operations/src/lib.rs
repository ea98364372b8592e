//! `/v1/operations` — webhook subscriptions and deliveries, the catalogue of events, the outbox, replays,
//! rate limits and the audit log; the state of the platform, its reliability evidence and its reports.

mod actions;
mod audit;
mod deliveries;
mod destinations;
mod event_types;
mod evidence;
mod limits;
mod outbox;
pub mod page;
mod receipts;
mod recover;
mod reports;
mod runtime;
mod subscriptions;
mod verify;

use core_types::range;
use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family.
pub fn routes() -> Routes {
    webhooks().merge(platform()).merge(runtime::routes()).merge(evidence_and_reports())
}

/// Webhook subscriptions and deliveries.
fn webhooks() -> Routes {
    Routes::default()
        .get("/v1/operations/webhook-deliveries", Cost::List, deliveries::list)
        .get("/v1/operations/webhook-deliveries/{id}", Cost::READ, deliveries::get)
        .get("/v1/operations/webhook-deliveries/{id}/attempts", Cost::List, deliveries::attempts)
        .get("/v1/operations/webhook-deliveries/{id}/receipt", Cost::READ, receipts::get)
        .post(
            "/v1/operations/webhook-deliveries/{id}/redeliver",
            Cost::WRITE,
            deliveries::redeliver,
        )
        .delete(
            "/v1/operations/webhook-deliveries/{id}/content",
            Cost::WRITE,
            deliveries::delete_content,
        )
        .get("/v1/operations/webhook-subscriptions", Cost::List, subscriptions::list)
        .post("/v1/operations/webhook-subscriptions", Cost::WRITE, subscriptions::create)
        .get("/v1/operations/webhook-subscriptions/{id}", Cost::READ, subscriptions::get)
        .patch("/v1/operations/webhook-subscriptions/{id}", Cost::WRITE, subscriptions::update)
        .delete("/v1/operations/webhook-subscriptions/{id}", Cost::WRITE, subscriptions::delete)
        .post("/v1/operations/webhook-subscriptions/{id}/enable", Cost::WRITE, actions::enable)
        .post("/v1/operations/webhook-subscriptions/{id}/disable", Cost::WRITE, actions::disable)
        .post(
            "/v1/operations/webhook-subscriptions/{id}/confirm",
            Cost::WRITE,
            destinations::confirm,
        )
        .post(
            "/v1/operations/webhook-subscriptions/{id}/challenge",
            Cost::WRITE,
            destinations::challenge,
        )
        .post("/v1/operations/webhook-subscriptions/{id}/test", Cost::WRITE, actions::test)
        .post(
            "/v1/operations/webhook-subscriptions/{id}/secret/rotate",
            Cost::WRITE,
            actions::rotate,
        )
        .post(
            "/v1/operations/webhook-subscriptions/{id}/secret/promote",
            Cost::WRITE,
            actions::promote,
        )
        .post("/v1/operations/webhook-subscriptions/{id}/recover", Cost::BULK, recover::recover)
        .get("/v1/operations/webhook-subscriptions/{id}/stats", Cost::SEARCH, recover::stats)
}

/// The event types, the outbox, the rate limits and the audit log.
fn platform() -> Routes {
    Routes::default()
        .open_to_any_origin(callers::cross_origin::is_open)
        .get("/v1/operations/event-types", Cost::SEARCH, event_types::list)
        .get("/v1/operations/event-types/{type}", Cost::READ, event_types::get)
        .get("/v1/operations/outbox", Cost::List, outbox::list)
        .get("/v1/operations/outbox/verify", Cost::BULK, verify::verify)
        .get("/v1/operations/outbox/{id}", Cost::READ, outbox::get)
        .post("/v1/operations/outbox/{id}/requeue", Cost::WRITE, outbox::requeue)
        .post("/v1/operations/outbox/{id}/discard", Cost::WRITE, outbox::discard)
        .get("/v1/operations/rate-limits", Cost::READ, limits::get)
        .get("/v1/operations/audit-log", Cost::List, audit::list)
}

/// Certification reports and reliability evidence.
fn evidence_and_reports() -> Routes {
    Routes::default()
        .get("/v1/operations/certification-reports", Cost::List, reports::list)
        .post("/v1/operations/certification-reports", Cost::BULK, reports::create)
        .get("/v1/operations/certification-reports/{id}", Cost::READ, reports::get)
        .get("/v1/operations/reliability-evidence", Cost::List, evidence::list)
        .get("/v1/operations/reliability-evidence/verify", Cost::BULK, evidence::verify)
        .get("/v1/operations/reliability-evidence/{id}", Cost::READ, evidence::get)
}
