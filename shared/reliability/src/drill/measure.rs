//! The measurements of a drill: the fate of each event, and the recovery time, lost events and verdict.

use std::time::Duration;

use core_types::event::{Event, OutboxState};
use delivery::delivery::{Delivery, DeliveryStatus};
use primitives::clock::Timestamp;

use super::{Drill, DrillKind, StopCondition, StopMetric, Verdict};

/// An event that is not delivered after this time is evidence of the fault.
const LATE: Duration = Duration::from_secs(1);

/// The fate of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is not delivered yet.
    OnItsWay {
        /// Attempts so far.
        attempts: u32,
    },
    /// It was delivered.
    Delivered {
        /// When it was delivered.
        at: Timestamp,
        /// Attempts that were made.
        attempts: u32,
    },
    /// It was acknowledged, and never will be delivered.
    Lost {
        /// Why.
        why: String,
        /// Attempts that were made.
        attempts: u32,
    },
}

impl Fate {
    /// The fate of an acknowledged event, by its state in the outbox and by its delivery. The delivery must
    /// be read after the event.
    pub fn of(event: Option<&Event>, delivery: Option<&Delivery>) -> Self {
        let lost = |why: &str, attempts| Self::Lost { why: why.to_owned(), attempts };
        let Some(delivery) = delivery else {
            return match event.map(|event| event.state) {
                None => lost("it is not in the outbox", 0),
                Some(OutboxState::Pending) => Self::OnItsWay { attempts: 0 },
                Some(OutboxState::Published) => lost("it was published without a delivery", 0),
                Some(OutboxState::Failed) => lost("it failed in the outbox", 0),
                Some(OutboxState::Discarded) => lost("it was discarded", 0),
            };
        };
        let attempts = delivery.attempt;
        match delivery.status {
            DeliveryStatus::Succeeded => Self::Delivered { at: delivery.updated_at, attempts },
            DeliveryStatus::Pending | DeliveryStatus::Delivering | DeliveryStatus::Retrying => {
                Self::OnItsWay { attempts }
            }
            DeliveryStatus::Exhausted | DeliveryStatus::Cancelled | DeliveryStatus::Blocked => {
                lost(&format!("its delivery is {}", delivery.status), attempts)
            }
        }
    }
}

/// The metrics of a drill at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Observation {
    /// Events that are not delivered.
    pub undelivered_events: u64,
    /// The age of the oldest of them, in whole seconds.
    pub oldest_undelivered_seconds: u64,
    /// Attempts that failed.
    pub failed_attempts: u64,
    /// Writes that were rejected.
    pub rejected_writes: u64,
    /// Messages in the delivery queue.
    pub queue_depth: u64,
}

impl Observation {
    pub(super) fn of(&self, metric: StopMetric) -> u64 {
        match metric {
            StopMetric::UndeliveredEvents => self.undelivered_events,
            StopMetric::OldestUndeliveredSeconds => self.oldest_undelivered_seconds,
            StopMetric::FailedAttempts => self.failed_attempts,
            StopMetric::RejectedWrites => self.rejected_writes,
            StopMetric::QueueDepth => self.queue_depth,
        }
    }

    /// Whether a condition is met.
    pub fn meets(&self, condition: &StopCondition) -> bool {
        self.of(condition.metric) > condition.above
    }
}

impl Drill {
    /// Computes the metrics at `now`.
    pub fn observation(&self, now: Timestamp) -> Observation {
        let open = || self.beats.iter().filter(|beat| beat.delivered_at.is_none());
        let oldest = open().map(|beat| beat.made_at).min();
        // The last attempt of a delivered event succeeded.
        let failed = self
            .beats
            .iter()
            .map(|beat| beat.attempts.saturating_sub(u32::from(beat.delivered_at.is_some())));
        Observation {
            undelivered_events: u64::try_from(open().count()).unwrap_or(u64::MAX),
            oldest_undelivered_seconds: oldest.map_or(0, |at| at.until(now).as_secs()),
            failed_attempts: failed.map(u64::from).fold(0, u64::saturating_add),
            rejected_writes: self.rejected_writes,
            queue_depth: self.queue_depth,
        }
    }

    /// The first stop condition that is met at `now`.
    pub fn breached(&self, now: Timestamp) -> Option<StopCondition> {
        let observed = self.observation(now);
        self.stop_conditions.iter().find(|condition| observed.meets(condition)).copied()
    }

    /// Whether the fault is detected: by a rejected write, a failed attempt or a late event. A rotation is
    /// detected by the first event that was created after it, delivered and received.
    pub(super) fn is_detected(&self, now: Timestamp) -> bool {
        let Some(injected_at) = self.injected_at else { return false };
        if self.kind == DrillKind::SigningKeyRotation {
            let is_after = |at: Timestamp| at >= injected_at;
            return self.beats.iter().any(|beat| {
                is_after(beat.made_at) && beat.delivered_at.is_some() && beat.received
            });
        }
        let observed = self.observation(now);
        let is_late = |at: Timestamp| at >= injected_at && at.plus(LATE) <= now;
        let late = self.beats.iter().any(|beat| !beat.is_settled() && is_late(beat.made_at));
        observed.rejected_writes > 0 || observed.failed_attempts > 0 || late
    }

    /// Events that were acknowledged and are lost.
    pub fn lost_events(&self) -> u64 {
        let lost = self.beats.iter().filter(|beat| beat.lost.is_some()).count();
        u64::try_from(lost).unwrap_or(u64::MAX)
    }

    /// Whether every event is delivered, or lost.
    pub(super) fn is_settled(&self) -> bool {
        self.beats.iter().all(super::Beat::is_settled)
    }

    /// When the last event that is not lost was delivered, and not before the end of the fault. None while
    /// an event is neither delivered nor lost.
    pub(super) fn recovery(&self) -> Option<Timestamp> {
        let ended = self.fault_ended_at.filter(|_| self.is_settled())?;
        let last = self.beats.iter().filter_map(|beat| beat.delivered_at).max();
        Some(last.map_or(ended, |last| last.max(ended)))
    }

    /// Seconds from the end of the fault until recovery, rounded up.
    pub fn observed_rto_s(&self) -> Option<u64> {
        let (ended, recovered) = (self.fault_ended_at?, self.recovered_at?);
        u64::try_from(ended.seconds_until(recovered)).ok()
    }

    /// The verdict: passed if recovery was in time, no more events are lost than allowed, and no stop
    /// condition was met.
    pub(super) fn validated(&self) -> Verdict {
        let is_in_time = self.observed_rto_s().is_some_and(|seconds| seconds <= self.rto_s);
        let is_little = self.lost_events() <= self.rpo_events;
        if is_in_time && is_little && self.stop_reason.is_none() {
            Verdict::Passed
        } else {
            Verdict::Failed
        }
    }
}
