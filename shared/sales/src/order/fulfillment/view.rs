//! The representation of fulfilments in responses and events.

use core_types::id::{FulfillmentId, LocationId, OrderId};
use primitives::clock::Timestamp;

use super::{FulfilledUnits, Fulfillment, FulfillmentLine, FulfillmentState, Tracking};

core_types::view! {
    /// A shipment of units of an order.
    FulfillmentView of fulfillment: Fulfillment {
        /// The id: `ful_` and 32 hexadecimal digits.
        id: FulfillmentId,
        /// The order.
        order_id: OrderId,
        /// The status.
        status: FulfillmentState,
        /// The lines in it.
        items: Vec<FulfillmentLine>,
        /// The locations that its tracked units were taken from.
        allocations: Vec<FulfilledUnits> = fulfillment.taken.clone(),
        /// The location that it ships from, if the request named one.
        location_id: Option<LocationId>,
        /// The tracking details.
        tracking: Tracking,
        /// Whether the customer is notified.
        notify_customer: bool,
        /// When it was delivered.
        delivered_at: Option<Timestamp>,
        /// When it was cancelled.
        cancelled_at: Option<Timestamp>,
        /// The actions that its status allows now.
        allowed_actions: Vec<&'static str> = fulfillment.allowed_actions(),
        /// When it was shipped.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version for `If-Match`.
        version: u64,
    }
}
