//! Failover drills: a fault is injected for the canary store, and its detection, the recovery and lost events
//! are measured (docs/operations.md).
//!
//! ```text
//! scheduled ─► baseline ─► injected ─► recovering ─► completed   with a verdict
//!     │            │           │            ├──────► stopped     a stop condition was met: failed
//!     │            └──► failed │            │        the canary was not healthy, nothing was injected
//!     └────────────────────────┴────────────┴──────► aborted     by an operator: no verdict
//! ```
//!
//! The runner takes one step after another, and stores its state in the drill under an optimistic lock. The
//! fault expires by itself, without a step. A runner that crashes leaves a drill that is due: the sweep
//! enqueues it again, and the next step finds that the fault has expired.

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
/// The longest recovery time objective of a drill, in seconds (our choice).
pub const MAX_RTO_SECONDS: i64 = 3_600;
/// Stop conditions of one drill at most.
pub const MAX_STOP_CONDITIONS: usize = 10;
/// Events of one drill at most: one batch reads them with their deliveries.
pub const MAX_EVENTS: usize = 30;
/// The retention of drills.
pub const RETENTION: Duration = DAY.saturating_mul(400);
/// Events that must be delivered before a fault is injected.
const BASELINE_EVENTS: usize = 3;
/// The longest time until the baseline's events are delivered.
const BASELINE: Duration = MINUTE;
/// The shortest wait for recovery, even with a shorter objective: a late recovery is measured, too.
const RECOVERY: Duration = Duration::from_mins(15);
/// The lease of a step: another runner takes the drill over when it has expired.
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
    /// The fault that the adapters inject; none for a rotation, which is a real one.
    pub const fn fault(self) -> Option<FaultKind> {
        match self {
            Self::OutboxRelayStall => Some(FaultKind::RelayStall),
            Self::QueueUnavailable => Some(FaultKind::QueueUnavailable),
            Self::ReceiverDown => Some(FaultKind::ReceiverDown),
            Self::TableThrottled => Some(FaultKind::TableThrottled),
            Self::SigningKeyRotation => None,
        }
    }

    /// The component in which the fault is injected.
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
    /// Whether the drill has ended.
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
        /// One of these was not met.
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
        RejectedWrites = "rejected_writes",
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

/// The drill that an operator requests.
#[derive(Debug, Clone)]
pub struct DrillPlan {
    /// The fault to inject.
    pub kind: DrillKind,
    /// The expected outcome, in the operator's words.
    pub hypothesis: String,
    /// The duration of the fault, in seconds.
    pub duration_s: u64,
    /// The largest share of the deployment's concurrent delivery attempts, in percent.
    pub blast_radius_percent: u64,
    /// The conditions that end the drill early.
    pub stop_conditions: Vec<StopCondition>,
    /// The recovery time objective: seconds from the end of the fault until all events are delivered.
    pub rto_s: u64,
    /// The recovery point objective: events that may be lost.
    pub rpo_events: u64,
}

/// An event of the drill, with the progress of its delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// The event.
    pub event_id: EventId,
    /// When it was acknowledged.
    pub made_at: Timestamp,
    /// When its delivery succeeded.
    pub delivered_at: Option<Timestamp>,
    /// Whether the receiver accepted it, with valid signatures.
    pub received: bool,
    /// Delivery attempts so far.
    pub attempts: u32,
    /// Why it is lost; none while it is not.
    pub lost: Option<String>,
}

impl Beat {
    /// Whether it is delivered or lost.
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
    /// The description of what happened.
    pub message: String,
}

/// A drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    /// `drl_…`; ids sort by creation.
    pub id: DrillId,
    /// The injected fault.
    pub kind: DrillKind,
    /// The expected outcome, in the operator's words.
    pub hypothesis: String,
    /// The target store: the canary.
    pub target: StoreId,
    /// The duration of the fault, in seconds.
    pub duration_s: u64,
    /// The largest share of the deployment's concurrent delivery attempts, in percent.
    pub blast_radius_percent: u64,
    /// The conditions that end the drill early.
    pub stop_conditions: Vec<StopCondition>,
    /// The recovery time objective: seconds from the end of the fault until all events are delivered.
    pub rto_s: u64,
    /// The recovery point objective: events that may be lost.
    pub rpo_events: u64,
    /// The operator who created it.
    pub requested_by: MerchantId,
    /// The status.
    pub status: DrillStatus,
    /// The verdict, once it ended with one.
    pub verdict: Option<Verdict>,
    /// The reason of its early end.
    pub stop_reason: Option<String>,
    /// Its events.
    pub beats: Vec<Beat>,
    /// Writes that were rejected: their events were never acknowledged, and are not lost.
    pub rejected_writes: u64,
    /// Messages in the delivery queue when it was last read.
    pub queue_depth: u64,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When the fault was injected.
    pub injected_at: Option<Timestamp>,
    /// When the fault expires by itself.
    pub fault_expires_at: Option<Timestamp>,
    /// When the fault was detected.
    pub detected_at: Option<Timestamp>,
    /// When the fault ended.
    pub fault_ended_at: Option<Timestamp>,
    /// When all events that are not lost were delivered.
    pub recovered_at: Option<Timestamp>,
    /// When the drill ended.
    pub finished_at: Option<Timestamp>,
    /// The evidence record of the drill.
    pub evidence_id: Option<String>,
    /// The timeline, the oldest entry first.
    pub timeline: Vec<TimelineEntry>,
    /// The end of the lease of the step that runs.
    pub lease_until: Option<Timestamp>,
    /// When the sweep enqueues it again.
    pub due_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
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
        let due = self.due_at.map(|at| table::outbox::DueKind::Run.mark(self.id.as_str(), at));
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
    /// A new drill, scheduled to begin.
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
            rejected_writes: 0,
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
        drill.with_entry("requested", now)
    }

    /// The duration of the fault.
    pub fn duration(&self) -> Duration {
        Duration::from_secs(self.duration_s)
    }

    /// The longest wait for recovery: the objective, and 15 minutes at least.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.rto_s).max(RECOVERY)
    }

    /// When the hold on the canary expires at the latest; another run may then take it.
    pub fn held_until(&self) -> Timestamp {
        let longest = BASELINE.saturating_add(self.duration()).saturating_add(self.patience());
        self.created_at.plus(longest.saturating_add(HOUR))
    }

    /// The drill at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The drill with a new entry in its timeline.
    #[must_use]
    pub(crate) fn with_entry(mut self, message: impl Into<String>, now: Timestamp) -> Self {
        let entry = TimelineEntry { at: now, status: self.status, message: message.into() };
        self.timeline.push(entry);
        self
    }

    /// The actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_final() { Vec::new() } else { vec!["abort"] }
    }
}

#[cfg(test)]
mod tests;
