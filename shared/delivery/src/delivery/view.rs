//! A delivery as its owner sees it.

use gateway::clock::Timestamp;
use ground::id::{DeliveryId, EventId, ReplayId, SubscriptionId};

use super::{Delivery, DeliveryStatus, Hold};

ground::view! {
    /// A delivery as its owner sees it.
    DeliveryView of delivery: Delivery {
        /// The id.
        id: DeliveryId,
        /// The event.
        event_id: EventId,
        /// The event's name.
        event_type: String,
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Where it is in its life.
        status: DeliveryStatus,
        /// Attempts begun.
        attempts: u32 = delivery.attempt,
        /// When the next attempt is to be made.
        next_attempt_at: Option<Timestamp>,
        /// What it waits for besides its time: `circuit`, `concurrency`, `entity` or `rate`.
        held_by: Option<Hold>,
        /// When it was attempted last.
        last_attempt_at: Option<Timestamp>,
        /// The last answer's status.
        last_status_code: Option<u16>,
        /// The last failure's class, or why it ended.
        last_error: Option<String>,
        /// How long the last attempt took, in milliseconds.
        last_duration_ms: Option<u64>,
        /// The replay that made it.
        replay_id: Option<ReplayId>,
        /// The delivery that it repeats.
        redelivery_of: Option<DeliveryId>,
        /// The delivery that a replay made in its place, after it ended without success.
        replayed_by: Option<DeliveryId>,
        /// Whether it is a test.
        test: bool,
        /// Whether the payload was removed.
        payload_expunged: bool = delivery.expunged_at.is_some(),
        /// What its owner can do now.
        allowed_actions: Vec<&'static str> = delivery.allowed_actions(),
        /// When it was made.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
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
