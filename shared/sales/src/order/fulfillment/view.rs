//! Fulfilments as the API shows them.

use core_types::id::{FulfillmentId, LocationId, OrderId};
use primitives::clock::Timestamp;

use super::{FulfilledUnits, Fulfillment, FulfillmentLine, FulfillmentState, Tracking};

core_types::view! {
    /// A fulfilment as the API shows it.
    FulfillmentView of fulfillment: Fulfillment {
        /// `ful_` and 32 hexadecimal digits.
        id: FulfillmentId,
        /// The order that it belongs to.
        order_id: OrderId,
        /// How far it has come.
        status: FulfillmentState,
        /// What is in it.
        items: Vec<FulfillmentLine>,
        /// Where its counted units were taken from.
        allocations: Vec<FulfilledUnits> = fulfillment.taken.clone(),
        /// Where it left from, when one location was named.
        location_id: Option<LocationId>,
        /// How it can be followed.
        tracking: Tracking,
        /// Whether the customer is told.
        notify_customer: bool,
        /// When it arrived.
        delivered_at: Option<Timestamp>,
        /// When it was cancelled.
        cancelled_at: Option<Timestamp>,
        /// The actions that its state allows now.
        allowed_actions: Vec<&'static str> = fulfillment.allowed_actions(),
        /// When it left.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
