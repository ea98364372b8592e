//! Failover drills: a fault is injected for the canary store, and it is measured how the service notices,
//! recovers, and what it loses (docs/operations.md).
//!
//! ```text
//! scheduled ─► baseline ─► injected ─► recovering ─► completed   with a verdict
//!     │            │           │            ├──────► stopped     a stop condition was met: failed
//!     │            └──► failed │            │        the canary was not healthy, nothing was injected
//!     └────────────────────────┴────────────┴──────► aborted     by an operator: no verdict
//! ```
//!
//! The runner takes one step after another; what it knows is in the drill, under its version. The fault
//! has an end of its own, which no step is needed for. So a runner that is gone leaves a drill that is
//! due: the sweep sends for it again, and the next step finds the fault over.

mod blast;
mod measure;
mod schedule;
mod view;

use std::time::Duration;

use core_types::id::{DrillId, EventId, MerchantId, StoreId};
use core_types::key::{self, IndexKey};
use primitives::clock::{DAY, HOUR, MINUTE, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::canary::FaultKind;
use table::item::{Item, Key};

pub use blast::{BlastRadius, MAX_BLAST_RADIUS_PERCENT};
pub use measure::{Fate, Observation};
pub use schedule::Step;
pub use view::{DrillView, EventCounts};

/// The longest fault, in seconds (docs/operations.md).
pub const MAX_DURATION_SECONDS: i64 = 300;
/// The longest time to recover that can be asked for, in seconds (our choice).
pub const MAX_RTO_SECONDS: i64 = 3_600;
/// Stop conditions of one drill.
pub const MAX_STOP_CONDITIONS: usize = 10;
/// Events of one drill at most: one batch reads them with what has become of them.
pub const MAX_EVENTS: usize = 30;
/// How long drills are kept.
pub const RETENTION: Duration = DAY.saturating_mul(400);
/// Events that must arrive before a fault is injected.
const BASELINE_EVENTS: usize = 3;
/// How long they may take.
const BASELINE: Duration = MINUTE;
/// How long recovery is waited for at least, however soon it is asked for: what is late is measured, too.
const RECOVERY: Duration = Duration::from_mins(15);
/// How long a step may be silent before somebody else takes the drill over.
const LEASE: Duration = Duration::from_secs(30);

primitives::string_enum! {
    /// The fault that a drill injects.
    DrillKind {
        /// Events are not published.
        OutboxRelayStall = "outbox_relay_stall",
        /// The queue does not accept messages.
        QueueUnavailable = "queue_unavailable",
        /// The receiver of deliveries accepts no connection.
        ReceiverDown = "receiver_down",
        /// The table throttles writes.
        TableThrottled = "table_throttled",
        /// No fault: the signing secret is rotated while events are delivered.
        SigningKeyRotation = "signing_key_rotation",
    }
}

impl DrillKind {
    /// What the adapters are told to fail; none of a rotation, which is real.
    pub const fn fault(self) -> Option<FaultKind> {
        match self {
            Self::OutboxRelayStall => Some(FaultKind::RelayStall),
            Self::QueueUnavailable => Some(FaultKind::QueueUnavailable),
            Self::ReceiverDown => Some(FaultKind::ReceiverDown),
            Self::TableThrottled => Some(FaultKind::TableThrottled),
            Self::SigningKeyRotation => None,
        }
    }

    /// Where it fails.
    pub const fn component(self) -> &'static str {
        match self {
            Self::OutboxRelayStall => "dispatcher",
            Self::QueueUnavailable => "queue",
            Self::ReceiverDown => "webhooks",
            Self::TableThrottled => "table",
            Self::SigningKeyRotation => "signing",
        }
    }
}

primitives::string_enum! {
    /// The status of a drill.
    DrillStatus {
        /// It has not begun.
        Scheduled = "scheduled",
        /// It checks that the canary store is healthy.
        Baseline = "baseline",
        /// The fault is injected.
        Injected = "injected",
        /// The fault is over, and the remaining events are being delivered.
        Recovering = "recovering",
        /// It ended with a verdict.
        Completed = "completed",
        /// It ended early, because a stop condition was met.
        Stopped = "stopped",
        /// It was aborted by an operator, or because its creator is no operator any more.
        Aborted = "aborted",
        /// It ended before a fault was injected, or could not continue.
        Failed = "failed",
    }
}

impl DrillStatus {
    /// Whether nothing more happens.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Stopped | Self::Aborted | Self::Failed)
    }
}

primitives::string_enum! {
    /// The verdict of a drill.
    #[schemars(rename = "DrillVerdict")]
    Verdict {
        /// The service recovered within `rto_s`, lost at most `rpo_events`, and met no stop condition.
        Passed = "passed",
        /// It did not.
        Failed = "failed",
    }
}

primitives::string_enum! {
    /// The metric of a stop condition.
    StopMetric {
        /// The number of events of the drill that were not delivered.
        UndeliveredEvents = "undelivered_events",
        /// The age of the oldest event that was not delivered, in seconds.
        OldestUndeliveredSeconds = "oldest_undelivered_seconds",
        /// The number of failed delivery attempts of the drill.
        FailedAttempts = "failed_attempts",
        /// The number of rejected writes of the drill.
        RejectedWrites = "refused_writes",
        /// The number of messages that wait in the delivery queue, of all stores.
        QueueDepth = "queue_depth",
    }
}

/// A condition that ends a drill early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopCondition {
    /// The metric that is compared.
    pub metric: StopMetric,
    /// The drill stops when the metric is above this number.
    pub above: u64,
}

/// What an operator asks for.
#[derive(Debug, Clone)]
pub struct DrillPlan {
    /// What is made to fail.
    pub kind: DrillKind,
    /// What is expected to happen.
    pub hypothesis: String,
    /// How long, in seconds.
    pub duration_s: u64,
    /// How much of what all stores share the drill may take.
    pub blast_radius_percent: u64,
    /// What ends it before its time.
    pub stop_conditions: Vec<StopCondition>,
    /// In how many seconds after the fault all is to be delivered.
    pub rto_s: u64,
    /// How many events may be lost.
    pub rpo_events: u64,
}

/// An event of the drill, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// The event.
    pub event_id: EventId,
    /// When it was acknowledged.
    pub made_at: Timestamp,
    /// When its delivery succeeded.
    pub delivered_at: Option<Timestamp>,
    /// Whether the receiver has taken it in, its signatures being good.
    pub received: bool,
    /// Attempts at its delivery.
    pub attempts: u32,
    /// Why it is lost.
    pub lost: Option<String>,
}

impl Beat {
    /// Whether nothing more is to happen to it.
    pub fn is_settled(&self) -> bool {
        self.delivered_at.is_some() || self.lost.is_some()
    }
}

/// An entry of the timeline of a drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DrillTimelineEntry")]
pub struct TimelineEntry {
    /// When it happened.
    pub at: Timestamp,
    /// The status of the drill at that time.
    pub status: DrillStatus,
    /// What happened.
    pub message: String,
}

/// A drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    /// `drl_…`; later ones sort after it.
    pub id: DrillId,
    /// What is made to fail.
    pub kind: DrillKind,
    /// What is expected to happen, in the operator's words.
    pub hypothesis: String,
    /// On which store: the canary.
    pub target: StoreId,
    /// How long the fault lasts, in seconds.
    pub duration_s: u64,
    /// How much of what all stores share the drill may take.
    pub blast_radius_percent: u64,
    /// What ends it before its time.
    pub stop_conditions: Vec<StopCondition>,
    /// In how many seconds after the fault all is to be delivered.
    pub rto_s: u64,
    /// How many events may be lost.
    pub rpo_events: u64,
    /// Who asked for it.
    pub requested_by: MerchantId,
    /// Where it is.
    pub status: DrillStatus,
    /// How it ended.
    pub verdict: Option<Verdict>,
    /// Why it ended before its time.
    pub stop_reason: Option<String>,
    /// Its events.
    pub beats: Vec<Beat>,
    /// Writes that were rejected: their events were never acknowledged, and are not lost.
    pub refused_writes: u64,
    /// Messages that waited when last looked at.
    pub queue_depth: u64,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When the fault was injected.
    pub injected_at: Option<Timestamp>,
    /// When the fault ends by itself.
    pub fault_expires_at: Option<Timestamp>,
    /// When the fault showed.
    pub detected_at: Option<Timestamp>,
    /// When the fault ended.
    pub fault_ended_at: Option<Timestamp>,
    /// When all was delivered.
    pub recovered_at: Option<Timestamp>,
    /// When the drill was over.
    pub finished_at: Option<Timestamp>,
    /// Where it is stated.
    pub evidence_id: Option<String>,
    /// What happened, in order.
    pub timeline: Vec<TimelineEntry>,
    /// Until when a step is at it.
    pub lease_until: Option<Timestamp>,
    /// When the sweep sends for it.
    pub due_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Item for Drill {
    const KIND: &'static str = "drill";
    fn key(&self) -> Key {
        key::drill(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let due = self.due_at.map(|at| table::outbox::Due::Run.mark(self.id.as_str(), at));
        [key::operation_of_month(Self::KIND, self.created_at, self.id.as_str())]
            .into_iter()
            .chain(due)
            .collect()
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl Drill {
    /// A drill that is yet to begin.
    pub fn schedule(plan: DrillPlan, by: &MerchantId, now: Timestamp) -> Self {
        let drill = Self {
            id: DrillId::mint(now),
            kind: plan.kind,
            hypothesis: plan.hypothesis,
            target: StoreId::canary(),
            duration_s: plan.duration_s,
            blast_radius_percent: plan.blast_radius_percent,
            stop_conditions: plan.stop_conditions,
            rto_s: plan.rto_s,
            rpo_events: plan.rpo_events,
            requested_by: by.clone(),
            status: DrillStatus::Scheduled,
            verdict: None,
            stop_reason: None,
            beats: Vec::new(),
            refused_writes: 0,
            queue_depth: 0,
            started_at: None,
            injected_at: None,
            fault_expires_at: None,
            detected_at: None,
            fault_ended_at: None,
            recovered_at: None,
            finished_at: None,
            evidence_id: None,
            timeline: Vec::new(),
            lease_until: None,
            due_at: Some(now.plus(LEASE)),
            created_at: now,
            updated_at: now,
            version: 1,
        };
        drill.noted("asked for", now)
    }

    /// How long the fault lasts.
    pub fn duration(&self) -> Duration {
        Duration::from_secs(self.duration_s)
    }

    /// How long recovery is waited for.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.rto_s).max(RECOVERY)
    }

    /// Until when the canary is held at the longest: whoever wants it after that gets it.
    pub fn held_until(&self) -> Timestamp {
        let longest = BASELINE.saturating_add(self.duration()).saturating_add(self.patience());
        self.created_at.plus(longest.saturating_add(HOUR))
    }

    /// The drill at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// With what happened.
    #[must_use]
    pub(crate) fn noted(mut self, message: impl Into<String>, now: Timestamp) -> Self {
        let entry = TimelineEntry { at: now, status: self.status, message: message.into() };
        self.timeline.push(entry);
        self
    }

    /// What can be done to it.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_final() { Vec::new() } else { vec!["abort"] }
    }
}

#[cfg(test)]
mod tests;
