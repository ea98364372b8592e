//! A delivery as its owner sees it.

use gateway::clock::Timestamp;
use ground::id::{DeliveryId, EventId, ReplayId, SubscriptionId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Delivery, DeliveryStatus, Hold};

/// A delivery as its owner sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeliveryView {
    /// The id.
    pub id: DeliveryId,
    /// The event.
    pub event_id: EventId,
    /// The event's name.
    pub event_type: String,
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// Where it is in its life.
    pub status: DeliveryStatus,
    /// Attempts begun.
    pub attempts: u32,
    /// When the next attempt is to be made.
    pub next_attempt_at: Option<Timestamp>,
    /// What it waits for besides its time: `circuit`, `entity` or `rate`.
    pub held_by: Option<Hold>,
    /// When it was attempted last.
    pub last_attempt_at: Option<Timestamp>,
    /// The last answer's status.
    pub last_status_code: Option<u16>,
    /// The last failure's class, or why it ended.
    pub last_error: Option<String>,
    /// How long the last attempt took, in milliseconds.
    pub last_duration_ms: Option<u64>,
    /// The replay that made it.
    pub replay_id: Option<ReplayId>,
    /// The delivery that it repeats.
    pub redelivery_of: Option<DeliveryId>,
    /// Whether it is a test.
    pub test: bool,
    /// Whether the payload was removed.
    pub payload_expunged: bool,
    /// What its owner can do now.
    pub allowed_actions: Vec<&'static str>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl Delivery {
    /// What its owner can do now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match (self.expunged_at, self.status) {
            (Some(_), _) | (None, DeliveryStatus::Delivering) => Vec::new(),
            (None, DeliveryStatus::Pending) => vec!["expunge"],
            (None, _) => vec!["redeliver", "expunge"],
        }
    }
}

impl From<&Delivery> for DeliveryView {
    fn from(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id.clone(),
            event_id: delivery.event_id.clone(),
            event_type: delivery.event_type.clone(),
            subscription_id: delivery.subscription_id.clone(),
            status: delivery.status,
            attempts: delivery.attempt,
            next_attempt_at: delivery.next_attempt_at,
            held_by: delivery.held_by,
            last_attempt_at: delivery.last_attempt_at,
            last_status_code: delivery.last_status_code,
            last_error: delivery.last_error.clone(),
            last_duration_ms: delivery.last_duration_ms,
            replay_id: delivery.replay_id.clone(),
            redelivery_of: delivery.redelivery_of.clone(),
            test: delivery.test,
            payload_expunged: delivery.expunged_at.is_some(),
            allowed_actions: delivery.allowed_actions(),
            created_at: delivery.created_at,
            updated_at: delivery.updated_at,
            version: delivery.version,
        }
    }
}
