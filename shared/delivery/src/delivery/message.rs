//! Messages of the delivery queues: one for each attempt.

use std::time::Duration;

use core_types::id::{AppId, DeliveryId, EventId, StoreId, SubscriptionId};
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use services::queue;
use table::item::Key;

use super::{Delivery, DeliveryStatus};
use crate::subscription;

/// The most that a message may be early: queues count whole seconds, and clocks differ.
pub(super) const EARLY: Duration = Duration::from_secs(1);

/// A queue message for one attempt: it names everything that the attempt reads, in one round trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryMessage {
    /// The delivery to attempt.
    pub delivery_id: DeliveryId,
    /// The attempt that this message stands for.
    pub attempt: u32,
    /// The event to send.
    pub event_id: EventId,
    /// The subscription that receives the event.
    pub subscription_id: SubscriptionId,
    /// The store of the subscription.
    pub store_id: Option<StoreId>,
    /// The app that created the subscription, or whose own it is.
    pub app_id: Option<AppId>,
}

impl DeliveryMessage {
    /// The subscription's key.
    pub fn subscription_key(&self) -> Key {
        subscription::key_of(self.store_id.as_ref(), self.app_id.as_ref(), &self.subscription_id)
    }
}

/// Whether the attempt of a message can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptReadiness {
    /// The attempt can be made.
    Ready,
    /// The attempt can be made; the one before it has no recorded outcome.
    AfterExpiredLease,
    /// The attempt was made, is under way or is not due: the message is ignored.
    Stale,
}

impl Delivery {
    /// The message for the next attempt.
    pub fn message(&self) -> DeliveryMessage {
        DeliveryMessage {
            delivery_id: self.id.clone(),
            attempt: self.attempt.saturating_add(1),
            event_id: self.event_id.clone(),
            subscription_id: self.subscription_id.clone(),
            store_id: self.store_id.clone(),
            app_id: self.app_id.clone(),
        }
    }

    /// The delay of the message for the next attempt, in whole seconds, rounded up. None when it exceeds
    /// the queue's longest delay, or when nothing is to be attempted.
    pub fn delay(&self, now: Timestamp) -> Option<Duration> {
        let at = self.next_attempt_at.filter(|_| !self.status.is_final())?;
        let seconds = u64::try_from(now.seconds_until(at)).unwrap_or(0);
        Some(Duration::from_secs(seconds)).filter(|delay| *delay <= queue::MAX_DELAY)
    }

    /// Whether the attempt of a message can be made now.
    pub fn readiness(&self, attempt: u32, now: Timestamp) -> AttemptReadiness {
        let is_next = self.attempt.saturating_add(1) == attempt;
        let has_come = |at: Option<Timestamp>| at.is_none_or(|at| at <= now.plus(EARLY));
        match self.status {
            DeliveryStatus::Pending | DeliveryStatus::Retrying
                if is_next && has_come(self.next_attempt_at) =>
            {
                AttemptReadiness::Ready
            }
            DeliveryStatus::Delivering
                if is_next && self.lease_until.is_none_or(|until| until <= now) =>
            {
                AttemptReadiness::AfterExpiredLease
            }
            _ => AttemptReadiness::Stale,
        }
    }
}
