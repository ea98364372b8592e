//! Fulfilments as the API shows them.

use gateway::clock::Timestamp;
use ground::id::{FulfillmentId, LocationId, OrderId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Fulfillment, FulfillmentLine, FulfillmentState, Taken, Tracking};

/// A fulfilment as the API shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FulfillmentView {
    /// The id.
    pub id: FulfillmentId,
    /// The order.
    pub order_id: OrderId,
    /// How far it has come.
    pub status: FulfillmentState,
    /// What is in it.
    pub items: Vec<FulfillmentLine>,
    /// Where its counted units were taken from.
    pub allocations: Vec<Taken>,
    /// Where it left from, when one location was named.
    pub location_id: Option<LocationId>,
    /// How it can be followed.
    pub tracking: Tracking,
    /// Whether the customer is told.
    pub notify_customer: bool,
    /// When it arrived.
    pub delivered_at: Option<Timestamp>,
    /// When it was called back.
    pub cancelled_at: Option<Timestamp>,
    /// What can be done with it now.
    pub allowed_actions: Vec<&'static str>,
    /// When it left.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Fulfillment> for FulfillmentView {
    fn from(fulfillment: &Fulfillment) -> Self {
        Self {
            id: fulfillment.id.clone(),
            order_id: fulfillment.order_id.clone(),
            status: fulfillment.status,
            items: fulfillment.items.clone(),
            allocations: fulfillment.taken.clone(),
            location_id: fulfillment.location_id.clone(),
            tracking: fulfillment.tracking.clone(),
            notify_customer: fulfillment.notify_customer,
            delivered_at: fulfillment.delivered_at,
            cancelled_at: fulfillment.cancelled_at,
            allowed_actions: fulfillment.allowed_actions(),
            created_at: fulfillment.created_at,
            updated_at: fulfillment.updated_at,
            version: fulfillment.version,
        }
    }
}
