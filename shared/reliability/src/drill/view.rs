//! A drill as operators see it.

use gateway::clock::Timestamp;
use ground::id::{DrillId, MerchantId, StoreId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Beat, Drill, DrillKind, DrillStatus, StopCondition, TimelineEntry, Verdict};

/// The numbers of a drill's events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventCounts {
    /// Acknowledged.
    pub made: u64,
    /// Delivered.
    pub delivered: u64,
    /// Taken in by the canary's receiver, which checks their signatures.
    pub received: u64,
    /// Acknowledged, and never to be delivered.
    pub lost: u64,
    /// Not yet delivered.
    pub on_their_way: u64,
    /// Attempts that failed.
    pub failed_attempts: u64,
    /// Writes that were refused, whose events were never acknowledged.
    pub refused_writes: u64,
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
            refused_writes: observed.refused_writes,
        }
    }
}

ground::view! {
    /// A drill as operators see it.
    DrillView of drill: Drill {
        /// The id.
        id: DrillId,
        /// What is made to fail.
        kind: DrillKind,
        /// What is expected to happen.
        hypothesis: String,
        /// On which store: the canary.
        target: StoreId,
        /// How long the fault lasts, in seconds.
        duration_s: u64,
        /// How much of what all stores share it may take.
        blast_radius_percent: u64,
        /// What ends it before its time.
        stop_conditions: Vec<StopCondition>,
        /// In how many seconds after the fault all is to be delivered.
        rto_s: u64,
        /// How many events may be lost.
        rpo_events: u64,
        /// Who asked for it.
        requested_by: MerchantId,
        /// Where it is.
        status: DrillStatus,
        /// How it ended.
        verdict: Option<Verdict>,
        /// Why it ended before its time.
        stop_reason: Option<String>,
        /// Seconds from the end of the fault until all was delivered.
        observed_rto_s: Option<u64> = drill.observed_rto_s(),
        /// Events that were acknowledged and are lost.
        lost_events: u64 = drill.lost_events(),
        /// The numbers of its events.
        events: EventCounts = EventCounts::from(drill),
        /// When it began.
        started_at: Option<Timestamp>,
        /// When the fault was injected.
        injected_at: Option<Timestamp>,
        /// When the fault ends by itself.
        fault_expires_at: Option<Timestamp>,
        /// When the fault showed.
        detected_at: Option<Timestamp>,
        /// When the fault ended.
        fault_ended_at: Option<Timestamp>,
        /// When all was delivered.
        recovered_at: Option<Timestamp>,
        /// When the drill was over.
        finished_at: Option<Timestamp>,
        /// The evidence that states it.
        evidence_ids: Vec<String> = drill.evidence_id.iter().cloned().collect(),
        /// What happened, in order.
        timeline: Vec<TimelineEntry>,
        /// What can be done to it.
        allowed_actions: Vec<&'static str> = drill.allowed_actions(),
        /// When it was asked for.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
