//! `/v1/payments`: payments, their refunds and disputes, and a store's accounts with payment providers.
//!
//! The customer's routes of payments are at `/v1/storefront/{subdomain}/payments`.

mod actions;
mod disputes;
mod payments;
mod providers;
mod refunds;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    Routes::default()
        .get("/v1/payments", Cost::List, payments::list)
        .get("/v1/payments/{id}", Cost::READ, payments::get)
        .get("/v1/payments/{id}/events", Cost::List, payments::list_events)
        .post("/v1/payments/{id}/capture", Cost::WRITE, actions::capture)
        .post("/v1/payments/{id}/accept", Cost::WRITE, actions::accept)
        .post("/v1/payments/{id}/void", Cost::WRITE, actions::void)
        .post("/v1/payments/{id}/sync", Cost::WRITE, actions::sync)
        .get("/v1/payments/{id}/refunds", Cost::READ, refunds::list)
        .post("/v1/payments/{id}/refunds", Cost::WRITE, refunds::create)
        .get("/v1/payments/disputes", Cost::List, disputes::list)
        .get("/v1/payments/disputes/{id}", Cost::READ, disputes::get)
        .post("/v1/payments/disputes/{id}/evidence", Cost::WRITE, disputes::submit_evidence)
        .get("/v1/payments/providers", Cost::READ, providers::list)
        .get("/v1/payments/providers/{provider}", Cost::READ, providers::get)
        .put("/v1/payments/providers/{provider}", Cost::WRITE, providers::put)
        .delete("/v1/payments/providers/{provider}", Cost::WRITE, providers::delete)
        .post("/v1/payments/providers/{provider}/test", Cost::WRITE, providers::test)
}
