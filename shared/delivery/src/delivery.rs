//! Deliveries: each is one event for one subscription (docs/conventions.md §10).
//!
//! A delivery is created, and the outcome of each attempt recorded, in one write of this one item. The
//! first attempt at a prompt receiver needs no other: while the queue hides its message, the message
//! belongs to one worker. Every other attempt is claimed first, by a conditional write. However often a
//! message comes, an attempt is recorded once (docs/platform.md §2).
//! While a delivery is unfinished, the sweep finds it, also if its message is lost. Deliveries that an event
//! makes are named together by a [`DeliveryBatch`], which the sweep loads once, two minutes later. One that
//! does not end at once has a due mark of its own: from its claim, its failure, its hold, or that sweep on.
//!
//! The list by status has an index of its own only for deliveries in trouble. So a delivery that succeeds
//! at once costs two write units to create, one to record its outcome, and its share of a batch.
//!
//! A replay creates another delivery of the same event, and marks the delivery that it replaces.
//!
//! ```text
//! pending ─► delivering ─► succeeded
//!    ▲           │ ├─────► exhausted   10 attempts failed, or it waited for its receiver for 5 days
//!    │           │ └─────► blocked     the URL leads to a private address
//!    └ retrying ◄┘                     cancelled: the subscription or the payload was deleted
//! ```

mod attempt;
mod batch;
mod hold;
mod message;
mod ordering_key;
mod permits;
mod queued;
mod replayed;
mod retry;
mod signing;
mod speed;
mod status;
mod view;
mod write;

use std::time::Duration;

use core_types::event::Event;
use core_types::id::{AppId, DeliveryId, EventId, ReplayId, StoreId, SubscriptionId};
use core_types::key::{self, IndexKey};
use primitives::clock::{DAY, MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use services::queue;
use services::queue::QueueName;
use table::item::{Item, Key};
use table::outbox::DueKind;

use crate::subscription::Subscription;

pub use attempt::{
    AttemptOutcome, AttemptVerdict, AttemptView, DeliveryAttempt, OversizedResponse, StoredAttempt,
};
pub use batch::{BatchPositions, BatchRow, DeliveryBatch, SHARDS as BATCH_SHARDS};
pub use hold::Hold;
pub use message::{AttemptReadiness, DeliveryMessage};
pub use ordering_key::{OrderingKey, OrderingPosition, head_before, wake_next};
pub use permits::{MAX_ATTEMPTS_OF_TENANT, MAX_ATTEMPTS_TO_HOST, Permits};
pub use queued::{message_attributes, message_body};
pub use retry::{MAX_ATTEMPTS, slot, wait};
pub use signing::{HEADER_PREFIX, headers};
pub use speed::{Speed, TIMEOUT};
pub use status::DeliveryStatus;
pub use view::DeliveryView;

/// Webhook deliveries. New ones are sent here; a worker that finds the receiver slow moves its delivery
/// to [`SLOW_QUEUE`].
pub const QUEUE: QueueName = QueueName("WEBHOOK_QUEUE_URL");
/// Webhook deliveries to slow receivers.
pub const SLOW_QUEUE: QueueName = QueueName("SLOW_WEBHOOK_QUEUE_URL");
/// The retention of deliveries.
pub const RETENTION: Duration = DAY.saturating_mul(30);
/// The lease of an attempt: how long it may take, with the reads and writes around it.
const LEASE: Duration = MINUTE;
/// The time after which the sweep takes the message of a delivery for lost: a minute for the message,
/// and the lease of the attempt that it brings, which then needs no mark of its own.
const QUEUE_GRACE: Duration = MINUTE.saturating_add(LEASE);
/// The time for which the sweep leaves a delivery alone after it has queued it again.
const SWEPT_GRACE: Duration = MINUTE.saturating_mul(2);
/// A delivery that was attempted, or waits for its receiver, ends without success after this long (our choice).
/// The schedule takes 104 hours at most, when every slot is doubled; the rest is time to wait for the circuit of
/// a failing receiver.
pub const LIFETIME: Duration = DAY.saturating_mul(5);

/// A delivery.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    /// The id, derived from event, subscription and cause, so that a repeated fan-out creates nothing
    /// twice.
    pub id: DeliveryId,
    /// The event; its body is what is sent.
    pub event_id: EventId,
    /// The event's name, like `order.created`.
    pub event_type: String,
    /// The subscription that receives the event.
    pub subscription_id: SubscriptionId,
    /// The store of the subscription; none for an app's own.
    pub store_id: Option<StoreId>,
    /// The app that created the subscription, or whose own it is.
    pub app_id: Option<AppId>,
    /// The replay that created it.
    pub replay_id: Option<ReplayId>,
    /// The earlier delivery whose event it sends again.
    pub redelivery_of: Option<DeliveryId>,
    /// The delivery that a replay created in place of this one, which had not succeeded.
    #[serde(default)]
    pub replayed_by: Option<DeliveryId>,
    /// Whether it is a test event: attempted once, and never counted as the receiver's failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test: bool,
    /// The status.
    pub status: DeliveryStatus,
    /// Attempts begun.
    pub attempt: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// Its ordering key, when its subscription wants the events about an entity in order.
    #[serde(default, rename = "lane")]
    pub ordering_key: Option<OrderingKey>,
    /// The time that the subscription's rate limit assigned to it, when others were before it.
    #[serde(default)]
    #[serde(rename = "turn_at")]
    pub rate_slot_at: Option<Timestamp>,
    /// The cause of its wait, besides its time.
    #[serde(default)]
    pub held_by: Option<Hold>,
    /// When the lease of the current attempt ends.
    pub lease_until: Option<Timestamp>,
    /// A random value of each claim, by which a worker recognizes its own among equal ones.
    pub claim: Option<String>,
    /// When the sweep picks it up; none when it has ended, and until something happens to one that a
    /// [`DeliveryBatch`] names.
    pub due_at: Option<Timestamp>,
    /// The last answer's status.
    pub last_status_code: Option<u16>,
    /// The last failure's class, or why it ended.
    pub last_error: Option<String>,
    /// When the last attempt began.
    pub last_attempt_at: Option<Timestamp>,
    /// The duration of the last attempt, in milliseconds.
    pub last_duration_ms: Option<u64>,
    /// SHA-256 of the body that was sent, in hex: it outlives the body.
    pub body_sha256: Option<String>,
    /// Its latest attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<StoredAttempt>,
    /// When the payload was removed.
    pub expunged_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

impl Item for Delivery {
    const KIND: &'static str = "delivery";
    fn key(&self) -> Key {
        key::delivery(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let tenant = key::event_tenant(self.store_id.as_ref(), self.app_id.as_ref());
        let (at, to) = (self.created_at, &self.subscription_id);
        let mut keys = vec![key::deliveries_of_day(&tenant, at, &self.id, to)];
        let trouble = self.listed_status().map(DeliveryStatus::as_str);
        keys.extend(
            trouble.map(|status| key::deliveries_in_trouble(&tenant, status, at, &self.id, to)),
        );
        keys.extend(self.due_at.map(|at| DueKind::Delivery.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl Delivery {
    /// The id of the first delivery of this event to this subscription.
    pub fn first_id(event: &EventId, subscription: &SubscriptionId) -> DeliveryId {
        DeliveryId::derive(&[event.as_str(), subscription.as_str(), ""])
    }

    /// The first delivery of this event to this subscription.
    pub fn new(event: &Event, subscription: &Subscription, now: Timestamp) -> Self {
        Self {
            id: Self::first_id(&event.id, &subscription.id),
            event_id: event.id.clone(),
            event_type: event.name.clone(),
            subscription_id: subscription.id.clone(),
            store_id: subscription.store_id.clone(),
            app_id: subscription.app_id.clone(),
            replay_id: None,
            redelivery_of: None,
            replayed_by: None,
            test: false,
            status: DeliveryStatus::Pending,
            attempt: 0,
            next_attempt_at: Some(now),
            ordering_key: OrderingKey::of(event, subscription),
            rate_slot_at: None,
            held_by: None,
            lease_until: None,
            claim: None,
            due_at: Some(due_for(now, now)),
            last_status_code: None,
            last_error: None,
            last_attempt_at: None,
            last_duration_ms: None,
            body_sha256: None,
            attempts: Vec::new(),
            expunged_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// As [`Delivery::new`], of a delivery that a [`DeliveryBatch`] names: it has no due mark.
    pub fn in_batch(event: &Event, subscription: &Subscription, now: Timestamp) -> Self {
        Self { due_at: None, ..Self::new(event, subscription, now) }
    }

    /// Another delivery of the same event; `nonce` distinguishes its id from all others. It was requested
    /// on its own, so it has no ordering key and waits for no other.
    #[must_use]
    pub fn repeated(
        event: &Event,
        subscription: &Subscription,
        nonce: &str,
        now: Timestamp,
    ) -> Self {
        let cause = [event.id.as_str(), subscription.id.as_str(), nonce];
        Self {
            id: DeliveryId::derive(&cause),
            ordering_key: None,
            ..Self::new(event, subscription, now)
        }
    }

    /// Whether it has no attempt left, or has exceeded its lifetime. The lifetime does not end a delivery that was
    /// never attempted, unless its receiver's circuit or its rate limit is why: a service that stood still for days
    /// has not come to it, and its receiver is not at fault.
    pub fn is_spent(&self, now: Timestamp) -> bool {
        let max_attempts = if self.test { 1 } else { MAX_ATTEMPTS };
        let is_held = matches!(self.held_by, Some(Hold::Circuit | Hold::Rate));
        let is_old = self.created_at.plus(LIFETIME) <= now;
        self.attempt >= max_attempts || (is_old && (self.attempt > 0 || is_held))
    }

    /// The status under which a delivery in trouble is listed. During a later attempt it stays listed as
    /// `retrying`: a reader of the list loads the delivery itself.
    fn listed_status(&self) -> Option<DeliveryStatus> {
        match self.status {
            DeliveryStatus::Pending | DeliveryStatus::Succeeded => None,
            DeliveryStatus::Delivering => (self.attempt > 1).then_some(DeliveryStatus::Retrying),
            status => Some(status),
        }
    }

    /// Whether only its batch brings it back: it has not ended, and has no due mark.
    pub fn is_unmarked(&self) -> bool {
        self.due_at.is_none() && !self.status.is_final()
    }

    /// Whether it is pending or being attempted.
    pub fn is_in_flight(&self) -> bool {
        matches!(self.status, DeliveryStatus::Pending | DeliveryStatus::Delivering)
    }

    fn changed(&self, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { updated_at: now, claim: None, version, ..self.clone() }
    }

    /// The delivery with its next attempt begun. Its due mark stays, and one without gets it at the end of the
    /// lease: if a mark passes before, the sweep leaves the delivery alone until then.
    #[must_use]
    pub fn claimed(&self, now: Timestamp) -> Self {
        Self {
            status: DeliveryStatus::Delivering,
            attempt: self.attempt.saturating_add(1),
            next_attempt_at: None,
            rate_slot_at: None,
            held_by: None,
            lease_until: Some(now.plus(LEASE)),
            due_at: self.due_at.or(Some(now.plus(LEASE))),
            last_attempt_at: Some(now),
            ..self.changed(now)
        }
    }

    /// The delivery with its next attempt begun and not claimed. The table does not learn of it before its
    /// outcome, which is therefore the next version.
    #[must_use]
    pub fn begun(&self, now: Timestamp) -> Self {
        Self { version: self.version, ..self.claimed(now) }
    }

    /// The delivery as it was found after the outcome of its unclaimed attempt could not be recorded, with that
    /// attempt begun; none when the attempt was recorded by another worker, or the delivery has ended.
    pub fn begun_again(&self, found: &Self, now: Timestamp) -> Option<Self> {
        let is_open = self.claim.is_none()
            && found.attempt.saturating_add(1) == self.attempt
            && matches!(found.status, DeliveryStatus::Pending | DeliveryStatus::Retrying);
        is_open.then(|| Self { last_attempt_at: self.last_attempt_at, ..found.begun(now) })
    }

    /// Whether a worker holds the lease of its current attempt.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
    }

    /// The delivery ended in this status, without another attempt.
    #[must_use]
    pub fn ended(&self, status: DeliveryStatus, why: &str, now: Timestamp) -> Self {
        Self {
            status,
            next_attempt_at: None,
            rate_slot_at: None,
            held_by: None,
            lease_until: None,
            due_at: None,
            last_error: Some(why.to_owned()),
            ..self.changed(now)
        }
    }

    /// The delivery after its attempt; `draw` is a random number for the jitter.
    #[must_use]
    pub fn with_outcome(
        &self,
        outcome: &AttemptOutcome,
        took: Duration,
        draw: u32,
        now: Timestamp,
    ) -> Self {
        let next = slot(self.attempt)
            .filter(|_| !self.test)
            .map(|slot| now.plus(wait(slot, outcome.retry_after, draw)));
        let (status, next) = match (outcome.verdict, next) {
            (AttemptVerdict::Success, _) => (DeliveryStatus::Succeeded, None),
            (AttemptVerdict::Blocked, _) => (DeliveryStatus::Blocked, None),
            (AttemptVerdict::Gone, _) | (AttemptVerdict::Failure, None) => {
                (DeliveryStatus::Exhausted, None)
            }
            (AttemptVerdict::Failure, next) => (DeliveryStatus::Retrying, next),
        };
        Self {
            status,
            next_attempt_at: next,
            lease_until: None,
            due_at: next.map(|next| due_for(next, now)),
            last_status_code: outcome.status_code,
            last_error: outcome.error.clone(),
            last_duration_ms: u64::try_from(took.as_millis()).ok(),
            ..self.changed(now)
        }
    }

    /// The delivery queued again by the sweep, which then leaves it alone for two minutes.
    #[must_use]
    pub fn swept(&self, now: Timestamp) -> Self {
        let carried_at = self.next_attempt_at.map_or(now, |next| next.max(now));
        Self { due_at: Some(carried_at.plus(SWEPT_GRACE)), ..self.changed(now) }
    }

    /// The delivery without its payload. If it had not ended, it is cancelled.
    #[must_use]
    pub fn expunged(&self, now: Timestamp) -> Self {
        let remaining = if self.status.is_final() {
            self.changed(now)
        } else {
            self.ended(DeliveryStatus::Cancelled, "payload_expunged", now)
        };
        Self { expunged_at: Some(now), attempts: self.without_answers(), ..remaining }
    }
}

/// The due mark of a delivery whose next attempt is at `next`: late when a queue message covers it, on
/// time when `next` is beyond a message's longest delay.
fn due_for(next: Timestamp, now: Timestamp) -> Timestamp {
    if now.until(next) <= queue::MAX_DELAY { next.plus(QUEUE_GRACE) } else { next }
}

#[cfg(test)]
mod tests;
