//! Deliveries that a replay creates: another of the same event, in place of an earlier one.

use core_types::event::Event;
use core_types::id::{DeliveryId, EventId, ReplayId, SubscriptionId};
use primitives::clock::Timestamp;

use super::{Delivery, DeliveryStatus, due_for};
use crate::subscription::Subscription;

/// The `last_error` of a delivery that was still to be attempted when a replay replaced it.
const REPLAYED: &str = "replayed";

impl Delivery {
    /// The id of the delivery that a replay creates of this event to this subscription: always the same.
    pub fn replayed_id(
        event: &EventId,
        subscription: &SubscriptionId,
        replay: &ReplayId,
    ) -> DeliveryId {
        DeliveryId::derive(&[event.as_str(), subscription.as_str(), replay.as_str()])
    }

    /// The delivery that a replay creates of this event. It has a position in its ordering key, as the
    /// first delivery had.
    #[must_use]
    pub fn replayed(
        event: &Event,
        subscription: &Subscription,
        replay: &ReplayId,
        now: Timestamp,
    ) -> Self {
        Self {
            id: Self::replayed_id(&event.id, &subscription.id, replay),
            replay_id: Some(replay.clone()),
            ..Self::new(event, subscription, now)
        }
    }

    /// The delivery with its first attempt at `at`, which the replay's rate determines.
    #[must_use]
    pub fn due_from(self, at: Timestamp, now: Timestamp) -> Self {
        Self { next_attempt_at: Some(at), due_at: Some(due_for(at, now)), ..self }
    }

    /// The delivery after a replay created another in its place. If it had not ended, it is cancelled:
    /// the attempts go on there.
    #[must_use]
    pub fn replaced_by(&self, other: &DeliveryId, now: Timestamp) -> Self {
        let remaining = if self.status.is_final() {
            self.changed(now)
        } else {
            self.ended(DeliveryStatus::Cancelled, REPLAYED, now)
        };
        Self { replayed_by: Some(other.clone()), ..remaining }
    }

    /// Whether it was cancelled by the replay that created another in its place.
    pub fn is_ended_by_replay(&self) -> bool {
        self.replayed_by.is_some() && self.last_error.as_deref() == Some(REPLAYED)
    }
}
