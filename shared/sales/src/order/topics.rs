//! The events of orders.

use super::lines::LinesView;
use super::{OrderRedacted, OrderView};

core_types::topics! {
    ORDER_CREATED = "order.created", "order", Some("read_orders"), OrderView,
        "An order was placed; its stock is reserved.";
    ORDER_UPDATED = "order.updated", "order", Some("read_orders"), OrderView,
        "An order's data changed.";
    ORDER_CONFIRMED = "order.confirmed", "order", Some("read_orders"), OrderView,
        "An order that is paid later was confirmed.";
    ORDER_PAYMENT_REQUESTED = "order.payment_requested", "order", Some("read_orders"), OrderView,
        "The customer of an order was mailed a payment link.";
    ORDER_AUTHORIZED = "order.authorized", "order", Some("read_orders"), OrderView,
        "The payment of an order was authorized.";
    ORDER_PAID = "order.paid", "order", Some("read_orders"), OrderView,
        "An order was paid in full.";
    ORDER_PARTIALLY_FULFILLED = "order.partially_fulfilled", "order", Some("read_orders"),
        OrderView, "An order was partially fulfilled.";
    ORDER_FULFILLED = "order.fulfilled", "order", Some("read_orders"), OrderView,
        "An order was completely fulfilled.";
    ORDER_REFUNDED = "order.refunded", "order", Some("read_orders"), OrderView,
        "An order was refunded, partially or completely.";
    ORDER_HELD = "order.held", "order", Some("read_orders"), OrderView,
        "The fulfilment of an order was put on hold.";
    ORDER_RELEASED = "order.released", "order", Some("read_orders"), OrderView,
        "The hold on an order's fulfilment was released.";
    ORDER_CANCELLED = "order.cancelled", "order", Some("read_orders"), OrderView,
        "An order was cancelled.";
    ORDER_LINES_CANCELLED = "order.lines_cancelled", "order", Some("read_orders"), LinesView,
        "Unfulfilled units of an order were cancelled.";
    ORDER_LINES_RETURNED = "order.lines_returned", "order", Some("read_orders"), LinesView,
        "Fulfilled units of an order were returned.";
    ORDER_EXPIRED = "order.expired", "order", Some("read_orders"), OrderView,
        "An order was not paid in time and expired; its stock was released.";
    ORDER_CLOSED = "order.closed", "order", Some("read_orders"), OrderView,
        "An order was closed.";
    ORDER_REOPENED = "order.reopened", "order", Some("read_orders"), OrderView,
        "A closed order was reopened.";
    ORDER_REDACTED = "order.redacted", "order", Some("read_orders"), OrderRedacted,
        "The customer's data was erased from an order: delete what you store about them.";
}
