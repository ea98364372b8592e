//! What keeps a delivery from being attempted although its time has come.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};
use services::queue;

use super::{Delivery, DeliveryStatus, QUEUE_GRACE, due_for};

/// How long before its turn the sweep hands a delivery to the queue, which then holds it back to
/// the second: shorter than a queue can, and longer than a sweep may be late.
const HANDED_OVER: Duration = MINUTE.saturating_mul(10);
/// How long a delivery that found no place waits at first, …
const CROWDED_FIRST: Duration = Duration::from_secs(1);
/// … and at last, before its jitter: it waits twice as long each time, so that what a full house
/// costs does not grow with what waits before it (our choice).
const CROWDED_MOST: Duration = Duration::from_secs(30);

primitives::string_enum! {
    /// What a delivery waits for besides its time.
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
    fn held(&self, by: Hold, now: Timestamp) -> Self {
        let status = match self.status {
            DeliveryStatus::Pending => DeliveryStatus::Pending,
            _ => DeliveryStatus::Retrying,
        };
        Self { status, held_by: Some(by), lease_until: None, ..self.changed(now) }
    }

    /// The delivery put off until its receiver's circuit may have closed.
    #[must_use]
    pub fn deferred(&self, until: Timestamp, now: Timestamp) -> Self {
        Self {
            next_attempt_at: Some(until),
            due_at: Some(due_for(until, now)),
            ..self.held(Hold::Circuit, now)
        }
    }

    /// The delivery put off because no place was free, for twice as long as the last time, half less
    /// or more as `draw` says, which is spread over all of `u32`.
    #[must_use]
    pub fn crowded(&self, draw: u32, now: Timestamp) -> Self {
        let has_waited = self.next_attempt_at.filter(|_| self.held_by == Some(Hold::Concurrency));
        let last = has_waited.map_or(Duration::ZERO, |until| self.updated_at.until(until));
        let wait = last.saturating_mul(2).clamp(CROWDED_FIRST, CROWDED_MOST);
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let spread = millis.saturating_mul(u64::from(draw)) >> 32_u32;
        let until = now.plus(Duration::from_millis(millis.div_euclid(2).saturating_add(spread)));
        Self {
            next_attempt_at: Some(until),
            due_at: Some(due_for(until, now)),
            ..self.held(Hold::Concurrency, now)
        }
    }

    /// The delivery put off until `at`, with its `turn` kept. A time that is too far away for a
    /// message is handed to the queue shortly before, so that those of a minute do not all come up
    /// with one sweep.
    #[must_use]
    pub fn paced(&self, at: Timestamp, turn: Timestamp, now: Timestamp) -> Self {
        let is_near = now.until(at) <= queue::MAX_DELAY;
        let due = if is_near { at.plus(QUEUE_GRACE) } else { at.minus(HANDED_OVER) };
        Self {
            next_attempt_at: Some(at),
            turn_at: Some(turn),
            due_at: Some(due),
            ..self.held(Hold::Rate, now)
        }
    }

    /// The delivery behind `head` in its ordering key; none when it already waits there. It is attempted as
    /// soon as its message comes, which whoever ends the head sends. Should that be lost, the sweep
    /// looks again, after the time at which the head may have ended.
    pub fn behind(&self, head: &Self, now: Timestamp) -> Option<Self> {
        let ends = head.next_attempt_at.or(head.lease_until).unwrap_or(now).max(now);
        let due = ends.plus(QUEUE_GRACE);
        let waits = self.held_by == Some(Hold::Entity) && self.lease_until.is_none();
        if waits && self.due_at.is_some_and(|at| at >= due) {
            return None;
        }
        Some(Self {
            next_attempt_at: Some(self.next_attempt_at.unwrap_or(now)),
            due_at: Some(due),
            ..self.held(Hold::Entity, now)
        })
    }
}
