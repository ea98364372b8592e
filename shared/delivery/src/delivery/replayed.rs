//! What a replay makes of a delivery: another one of the same event, in its place.

use core_types::event::Event;
use core_types::id::{DeliveryId, EventId, ReplayId, SubscriptionId};
use primitives::clock::Timestamp;

use super::{Delivery, DeliveryStatus, due_for};
use crate::subscription::Subscription;

/// Why a delivery ended that was retried when a replay made another in its place.
const REPLAYED: &str = "replayed";

impl Delivery {
    /// The id of the delivery of this event to this subscription that a replay makes: always the same.
    pub fn replayed_id(
        event: &EventId,
        subscription: &SubscriptionId,
        replay: &ReplayId,
    ) -> DeliveryId {
        DeliveryId::derive(&[event.as_str(), subscription.as_str(), replay.as_str()])
    }

    /// The delivery of this event that a replay makes. It has its place among those about the same
    /// entity, as the first had.
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

    /// The delivery with its first attempt at `at`: replays keep a rate.
    #[must_use]
    pub fn due_from(self, at: Timestamp, now: Timestamp) -> Self {
        Self { next_attempt_at: Some(at), due_at: Some(due_for(at, now)), ..self }
    }

    /// The delivery after a replay made another in its place: what was still to be attempted is
    /// attempted there.
    #[must_use]
    pub fn replaced_by(&self, other: &DeliveryId, now: Timestamp) -> Self {
        let kept = if self.status.is_final() {
            self.changed(now)
        } else {
            self.ended(DeliveryStatus::Cancelled, REPLAYED, now)
        };
        Self { replayed_by: Some(other.clone()), ..kept }
    }

    /// Whether it was ended by the replay that made another in its place.
    pub fn is_ended_by_replay(&self) -> bool {
        self.replayed_by.is_some() && self.last_error.as_deref() == Some(REPLAYED)
    }
}
