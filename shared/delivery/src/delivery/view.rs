//! The response for a delivery.

use core_types::id::{DeliveryId, EventId, ReplayId, SubscriptionId};
use primitives::clock::Timestamp;

use super::{Delivery, DeliveryStatus, Hold};

core_types::view! {
    /// A delivery of an event to a subscription.
    DeliveryView of delivery: Delivery {
        /// The id.
        id: DeliveryId,
        /// The event that is delivered.
        event_id: EventId,
        /// The event type, like `order.created`.
        event_type: String,
        /// The subscription that receives it.
        subscription_id: SubscriptionId,
        /// The status of the delivery.
        status: DeliveryStatus,
        /// The number of attempts begun.
        attempts: u32 = delivery.attempt,
        /// When the next attempt is due; `null` when none is.
        next_attempt_at: Option<Timestamp>,
        /// The cause that delays it, besides the time of its next attempt: `circuit`, `concurrency`, `entity` or
        /// `rate`.
        held_by: Option<Hold>,
        /// When the last attempt began.
        last_attempt_at: Option<Timestamp>,
        /// The HTTP status of the last response; `null` without a response.
        last_status_code: Option<u16>,
        /// The class of the last failure, or the reason why the delivery ended.
        last_error: Option<String>,
        /// The duration of the last attempt, in milliseconds.
        last_duration_ms: Option<u64>,
        /// The replay that created it.
        replay_id: Option<ReplayId>,
        /// The earlier delivery whose event it sends again.
        redelivery_of: Option<DeliveryId>,
        /// The delivery that a replay created in place of this one, which had not succeeded.
        replayed_by: Option<DeliveryId>,
        /// Whether it is a test event.
        test: bool,
        /// Whether its payload was removed.
        payload_expunged: bool = delivery.expunged_at.is_some(),
        /// The actions that its status allows: `redeliver`, `expunge`.
        allowed_actions: Vec<&'static str> = delivery.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}

impl Delivery {
    /// The actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match (self.expunged_at, self.status) {
            (Some(_), _) | (None, DeliveryStatus::Delivering) => Vec::new(),
            (None, DeliveryStatus::Pending) => vec!["expunge"],
            (None, _) => vec!["redeliver", "expunge"],
        }
    }
}
