//! Drills in responses.

use core_types::id::{DrillId, MerchantId, StoreId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Beat, Drill, DrillKind, DrillStatus, StopCondition, TimelineEntry, Verdict};

/// The numbers of a drill's events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventCounts {
    /// Events that were written and acknowledged.
    pub made: u64,
    /// Events that were delivered.
    pub delivered: u64,
    /// Events that the canary's receiver accepted after it checked their signatures.
    pub received: u64,
    /// Events that were acknowledged and will never be delivered.
    pub lost: u64,
    /// Events that are neither delivered nor lost yet.
    pub on_their_way: u64,
    /// Delivery attempts that failed.
    pub failed_attempts: u64,
    /// Writes that were rejected, whose events were never acknowledged.
    pub rejected_writes: u64,
}

impl From<&Drill> for EventCounts {
    fn from(drill: &Drill) -> Self {
        let count = |is: fn(&&Beat) -> bool| {
            u64::try_from(drill.beats.iter().filter(is).count()).unwrap_or(u64::MAX)
        };
        let observed = drill.observation(drill.updated_at);
        Self {
            made: count(|_| true),
            delivered: count(|beat| beat.delivered_at.is_some()),
            received: count(|beat| beat.received),
            lost: drill.lost_events(),
            on_their_way: count(|beat| !beat.is_settled()),
            failed_attempts: observed.failed_attempts,
            rejected_writes: observed.rejected_writes,
        }
    }
}

core_types::view! {
    /// A failover drill.
    DrillView of drill: Drill {
        /// The id.
        id: DrillId,
        /// The fault that is injected.
        kind: DrillKind,
        /// The outcome that the operator expects.
        hypothesis: String,
        /// The canary store.
        target: StoreId,
        /// The duration of the fault, in seconds.
        duration_s: u64,
        /// The share of the deployment's concurrent delivery attempts that it may use, in percent.
        blast_radius_percent: u64,
        /// The conditions that end it early.
        stop_conditions: Vec<StopCondition>,
        /// Recovery time objective: the seconds after the fault within which all events must be delivered.
        rto_s: u64,
        /// Recovery point objective: how many events may be lost.
        rpo_events: u64,
        /// The operator who created it.
        requested_by: MerchantId,
        /// The status.
        status: DrillStatus,
        /// The verdict; `null` until it is completed or stopped.
        verdict: Option<Verdict>,
        /// The reason of its early end.
        stop_reason: Option<String>,
        /// The seconds from the end of the fault until all events were delivered; `null` if they were not.
        observed_rto_s: Option<u64> = drill.observed_rto_s(),
        /// The number of events that were acknowledged and will never be delivered.
        lost_events: u64 = drill.lost_events(),
        /// The numbers of its events.
        events: EventCounts = EventCounts::from(drill),
        /// When it began.
        started_at: Option<Timestamp>,
        /// When the fault was injected.
        injected_at: Option<Timestamp>,
        /// When the fault ends automatically.
        fault_expires_at: Option<Timestamp>,
        /// When the fault first had a visible effect.
        detected_at: Option<Timestamp>,
        /// When the fault ended.
        fault_ended_at: Option<Timestamp>,
        /// When all events were delivered.
        recovered_at: Option<Timestamp>,
        /// When the drill ended.
        finished_at: Option<Timestamp>,
        /// The evidence record of the drill, once it ended.
        evidence_ids: Vec<String> = drill.evidence_id.iter().cloned().collect(),
        /// The timeline, the oldest entry first.
        timeline: Vec<TimelineEntry>,
        /// The actions that its status allows: `abort`.
        allowed_actions: Vec<&'static str> = drill.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}
