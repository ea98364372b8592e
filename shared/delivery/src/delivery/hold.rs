//! Holds: reasons to postpone an attempt although its time has come.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};
use services::queue;

use super::{Delivery, DeliveryStatus, QUEUE_GRACE, due_for};

/// The time before its attempt at which the sweep queues a rate-limited delivery, with a delay to the second. It is
/// shorter than a queue's longest delay, and longer than a sweep may be late.
const QUEUED_AHEAD: Duration = MINUTE.saturating_mul(10);
/// The first wait of a delivery that got no concurrency permit, …
const FIRST_PERMIT_WAIT: Duration = Duration::from_secs(1);
/// … and the longest, before jitter. The wait doubles each time, so that the cost of a full limit does
/// not grow with the number of deliveries that wait (our choice).
const MAX_PERMIT_WAIT: Duration = Duration::from_secs(30);

primitives::string_enum! {
    /// The reason why a delivery waits, besides the time of its next attempt.
    #[schemars(rename = "DeliveryHold")]
    Hold {
        /// The circuit of its receiver is open, because many attempts failed.
        Circuit = "circuit",
        /// The limit of concurrent attempts, of its store or at its receiver's host, is reached.
        Concurrency = "concurrency",
        /// An earlier delivery about the same entity has not ended.
        Entity = "entity",
        /// The rate limit of its subscription.
        Rate = "rate",
    }
}

impl Delivery {
    fn held_by(&self, by: Hold, now: Timestamp) -> Self {
        let status = match self.status {
            DeliveryStatus::Pending => DeliveryStatus::Pending,
            _ => DeliveryStatus::Retrying,
        };
        Self { status, held_by: Some(by), lease_until: None, ..self.changed(now) }
    }

    /// The delivery postponed until its receiver's circuit may let an attempt through.
    #[must_use]
    pub fn held_by_circuit(&self, until: Timestamp, now: Timestamp) -> Self {
        Self {
            next_attempt_at: Some(until),
            due_at: Some(due_for(until, now)),
            ..self.held_by(Hold::Circuit, now)
        }
    }

    /// The delivery postponed because no concurrency permit was free: twice as long as the last time, ±
    /// 50 %, spread by `draw` over all of `u32`.
    #[must_use]
    pub fn held_by_concurrency(&self, draw: u32, now: Timestamp) -> Self {
        let has_waited = self.next_attempt_at.filter(|_| self.held_by == Some(Hold::Concurrency));
        let last = has_waited.map_or(Duration::ZERO, |until| self.updated_at.until(until));
        let wait = last.saturating_mul(2).clamp(FIRST_PERMIT_WAIT, MAX_PERMIT_WAIT);
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let spread = millis.saturating_mul(u64::from(draw)) >> 32_u32;
        let until = now.plus(Duration::from_millis(millis.div_euclid(2).saturating_add(spread)));
        Self {
            next_attempt_at: Some(until),
            due_at: Some(due_for(until, now)),
            ..self.held_by(Hold::Concurrency, now)
        }
    }

    /// The delivery postponed by the rate limit until `at`, with the slot that it was assigned.
    /// When `at` is beyond a message's longest delay, the sweep queues it shortly before, so that the
    /// deliveries of one minute do not all start with one sweep.
    #[must_use]
    pub fn held_by_rate(&self, at: Timestamp, slot: Timestamp, now: Timestamp) -> Self {
        let is_near = now.until(at) <= queue::MAX_DELAY;
        let due = if is_near { at.plus(QUEUE_GRACE) } else { at.minus(QUEUED_AHEAD) };
        Self {
            next_attempt_at: Some(at),
            rate_slot_at: Some(slot),
            due_at: Some(due),
            ..self.held_by(Hold::Rate, now)
        }
    }

    /// The delivery waiting behind `head` in its ordering key; none when it already waits there. It is
    /// attempted as soon as the worker that ends the head sends its message. If that message is lost, the
    /// sweep picks the delivery up after the time at which the head may have ended.
    pub fn held_by_entity(&self, head: &Self, now: Timestamp) -> Option<Self> {
        let ends = head.next_attempt_at.or(head.lease_until).unwrap_or(now).max(now);
        let due = ends.plus(QUEUE_GRACE);
        let waits = self.held_by == Some(Hold::Entity) && self.lease_until.is_none();
        if waits && self.due_at.is_some_and(|at| at >= due) {
            return None;
        }
        Some(Self {
            next_attempt_at: Some(self.next_attempt_at.unwrap_or(now)),
            due_at: Some(due),
            ..self.held_by(Hold::Entity, now)
        })
    }
}
