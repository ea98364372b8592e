//! The events of orders.

use super::lines::LinesView;
use super::{OrderRedacted, OrderView};

core_types::topics! {
    ORDER_CREATED = "order.created", "order", Some("read_orders"), OrderView,
        "An order was placed; its stock is set aside.";
    ORDER_UPDATED = "order.updated", "order", Some("read_orders"), OrderView,
        "An order's data changed.";
    ORDER_CONFIRMED = "order.confirmed", "order", Some("read_orders"), OrderView,
        "An order is to be honoured although its money comes later.";
    ORDER_PAYMENT_REQUESTED = "order.payment_requested", "order", Some("read_orders"), OrderView,
        "Whom an order is for was mailed a link to pay it.";
    ORDER_AUTHORIZED = "order.authorized", "order", Some("read_orders"), OrderView,
        "A provider promised an order's money.";
    ORDER_PAID = "order.paid", "order", Some("read_orders"), OrderView,
        "All of an order's money came in.";
    ORDER_PARTIALLY_FULFILLED = "order.partially_fulfilled", "order", Some("read_orders"),
        OrderView, "Some of an order left.";
    ORDER_FULFILLED = "order.fulfilled", "order", Some("read_orders"), OrderView,
        "The last of an order left.";
    ORDER_REFUNDED = "order.refunded", "order", Some("read_orders"), OrderView,
        "Some or all of an order's money went back.";
    ORDER_HELD = "order.held", "order", Some("read_orders"), OrderView,
        "An order is kept from being fulfilled.";
    ORDER_RELEASED = "order.released", "order", Some("read_orders"), OrderView,
        "An order may be fulfilled again.";
    ORDER_CANCELLED = "order.cancelled", "order", Some("read_orders"), OrderView,
        "An order was cancelled.";
    ORDER_LINES_CANCELLED = "order.lines_cancelled", "order", Some("read_orders"), LinesView,
        "Units of an order that had not left were cancelled.";
    ORDER_LINES_RETURNED = "order.lines_returned", "order", Some("read_orders"), LinesView,
        "Units of an order that had left came back.";
    ORDER_EXPIRED = "order.expired", "order", Some("read_orders"), OrderView,
        "An order was not paid in time; its stock went back.";
    ORDER_CLOSED = "order.closed", "order", Some("read_orders"), OrderView,
        "An order is done with.";
    ORDER_REOPENED = "order.reopened", "order", Some("read_orders"), OrderView,
        "A closed order was reopened.";
    ORDER_REDACTED = "order.redacted", "order", Some("read_orders"), OrderRedacted,
        "Whom an order was for was removed from it: remove what you hold of them.";
}
