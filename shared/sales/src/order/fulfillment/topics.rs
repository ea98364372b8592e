//! The events of fulfilments.

use super::FulfillmentView;

core_types::topics! {
    FULFILLMENT_CREATED = "fulfillment.created", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "Lines of an order were fulfilled.";
    FULFILLMENT_UPDATED = "fulfillment.updated", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "The tracking of a fulfilment changed.";
    FULFILLMENT_DELIVERED = "fulfillment.delivered", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment was delivered to the customer.";
    FULFILLMENT_CANCELLED = "fulfillment.cancelled", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment was cancelled; its lines can be fulfilled again.";
}
