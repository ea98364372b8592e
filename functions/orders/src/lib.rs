//! `/v1/orders`: orders, fulfilments and refunds.

mod actions;
mod cancel;
mod fulfill;
mod lines;
mod list;
mod orders;
mod payment_link;
mod place;
mod refund;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    Routes::default()
        .get("/v1/orders", Cost::List, list::list)
        .post_atomic("/v1/orders", Cost::CHECKOUT, place::create)
        .get("/v1/orders/{id}", Cost::READ, orders::get)
        .patch("/v1/orders/{id}", Cost::WRITE, orders::update)
        .post_atomic("/v1/orders/{id}/fulfill", Cost::WRITE, fulfill::fulfill)
        .get("/v1/orders/{id}/fulfillments", Cost::List, fulfill::list)
        .patch("/v1/orders/{id}/fulfillments/{fulfillment_id}", Cost::WRITE, fulfill::update)
        .post_atomic(
            "/v1/orders/{id}/fulfillments/{fulfillment_id}/cancel",
            Cost::WRITE,
            fulfill::cancel,
        )
        .post_atomic(
            "/v1/orders/{id}/fulfillments/{fulfillment_id}/deliver",
            Cost::WRITE,
            fulfill::deliver,
        )
        .post("/v1/orders/{id}/refund", Cost::WRITE, refund::create)
        .post("/v1/orders/{id}/refund/calculate", Cost::READ, refund::calculate)
        .get("/v1/orders/{id}/refunds", Cost::List, refund::list)
        .get("/v1/orders/{id}/refunds/{refund_id}", Cost::READ, refund::get)
        .post("/v1/orders/{id}/cancel", Cost::WRITE, cancel::cancel)
        .post_atomic("/v1/orders/{id}/lines/cancel", Cost::WRITE, lines::cancel)
        .post_atomic("/v1/orders/{id}/lines/return", Cost::WRITE, lines::return_lines)
        .post_atomic("/v1/orders/{id}/close", Cost::WRITE, actions::close)
        .post_atomic("/v1/orders/{id}/reopen", Cost::WRITE, actions::reopen)
        .post("/v1/orders/{id}/capture", Cost::WRITE, actions::capture)
        .post_atomic("/v1/orders/{id}/confirm", Cost::WRITE, actions::confirm)
        .post_atomic(
            "/v1/orders/{id}/send-payment-link",
            Cost::WRITE,
            payment_link::send_payment_link,
        )
        .post_atomic("/v1/orders/{id}/mark-paid", Cost::WRITE, actions::mark_paid)
        .post_atomic("/v1/orders/{id}/hold", Cost::WRITE, actions::hold)
        .post_atomic("/v1/orders/{id}/release", Cost::WRITE, actions::release)
        .get("/v1/orders/{id}/events", Cost::List, orders::list_events)
}
