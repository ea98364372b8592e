//! The events of fulfilments.

use super::FulfillmentView;

core_types::topics! {
    FULFILLMENT_CREATED = "fulfillment.created", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "Lines of an order left.";
    FULFILLMENT_UPDATED = "fulfillment.updated", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment can be followed otherwise.";
    FULFILLMENT_DELIVERED = "fulfillment.delivered", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment is with the customer.";
    FULFILLMENT_CANCELLED = "fulfillment.cancelled", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment was called back; its lines are to be fulfilled again.";
}
