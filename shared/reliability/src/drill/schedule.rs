//! The schedule of a drill: its next step, and the change that each step makes.

use std::time::Duration;

use core_types::id::EventId;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use table::canary::{CanaryHold, Fault};

use super::blast::events_of;
use super::{
    BASELINE, BASELINE_EVENTS, Beat, Drill, DrillStatus, Fate, LEASE, StopCondition, Verdict,
};

/// The next step of a drill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Begin the baseline.
    Begin,
    /// Create an event.
    MakeEvent,
    /// Inject the fault.
    Inject,
    /// End the fault early: this stop condition is met.
    Stop(StopCondition),
    /// End the fault: it has expired.
    EndFault,
    /// End the drill with a verdict.
    Conclude,
    /// End the drill before a fault was injected.
    GiveUp,
    /// Wait, and then check again.
    Wait,
    /// Nothing: the drill has ended.
    Nothing,
}

impl Drill {
    /// The next step at `now`.
    pub fn next_step(&self, now: Timestamp) -> Step {
        match self.status {
            DrillStatus::Scheduled => Step::Begin,
            DrillStatus::Baseline => self.next_of_baseline(now),
            DrillStatus::Injected => self.next_of_fault(now),
            DrillStatus::Recovering => self.next_of_recovery(now),
            _ => Step::Nothing,
        }
    }

    fn next_of_baseline(&self, now: Timestamp) -> Step {
        let began = self.started_at.unwrap_or(self.created_at);
        let is_made = self.beats.len() >= BASELINE_EVENTS;
        if is_made && self.beats.iter().all(|beat| beat.delivered_at.is_some()) {
            Step::Inject
        } else if now >= began.plus(BASELINE) || self.lost_events() > 0 {
            Step::GiveUp
        } else if is_made {
            Step::Wait
        } else {
            Step::MakeEvent
        }
    }

    fn next_of_fault(&self, now: Timestamp) -> Step {
        if self.fault_expires_at.is_none_or(|at| now >= at) {
            return Step::EndFault;
        }
        if let Some(condition) = self.breached(now) {
            return Step::Stop(condition);
        }
        let injected = self.injected_at.unwrap_or(now);
        let last = self.beats.iter().map(|beat| beat.made_at).filter(|at| *at >= injected).max();
        let is_time = last.is_none_or(|last| now >= last.plus(self.interval()));
        let most = usize::try_from(events_of(self.duration_s)).unwrap_or(usize::MAX);
        // The last event is reserved for the recovery.
        let has_room = self.beats.len().saturating_add(1) < most;
        if is_time && has_room { Step::MakeEvent } else { Step::Wait }
    }

    /// One more event is created after the fault, to prove that the service works again.
    fn next_of_recovery(&self, now: Timestamp) -> Step {
        let ended = self.fault_ended_at.unwrap_or(self.created_at);
        let is_tried = self.beats.iter().any(|beat| beat.made_at >= ended);
        if now >= ended.plus(self.patience()) || (is_tried && self.is_settled()) {
            Step::Conclude
        } else if is_tried {
            Step::Wait
        } else {
            Step::MakeEvent
        }
    }

    /// The time between two events while the fault lasts.
    fn interval(&self) -> Duration {
        let samples = events_of(self.duration_s).saturating_sub(4).max(1);
        let millis = self.duration_s.saturating_mul(1_000).div_ceil(samples);
        Duration::from_millis(millis.max(1_000))
    }

    /// The drill with a new lease for a runner.
    #[must_use]
    pub fn claimed(&self, now: Timestamp) -> Self {
        let until = Some(now.plus(LEASE));
        Self { lease_until: until, due_at: until, ..self.changed(now) }
    }

    /// The drill with its lease released, to be enqueued again by the sweep.
    #[must_use]
    pub fn released(&self, now: Timestamp) -> Self {
        Self { lease_until: None, ..self.claimed(now) }
    }

    /// Whether a runner holds a lease on it.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
    }

    /// The drill with its baseline begun.
    #[must_use]
    pub fn begun(&self, now: Timestamp) -> Self {
        let begun =
            Self { status: DrillStatus::Baseline, started_at: Some(now), ..self.claimed(now) };
        begun.with_entry("started: checking that events of the canary store arrive", now)
    }

    /// The drill with one more event.
    #[must_use]
    pub fn with_event(&self, event_id: EventId, now: Timestamp) -> Self {
        let mut next = self.claimed(now);
        next.beats.push(Beat {
            event_id,
            made_at: now,
            delivered_at: None,
            received: false,
            attempts: 0,
            lost: None,
        });
        next
    }

    /// The drill with one more rejected write.
    #[must_use]
    pub fn with_rejected_write(&self, now: Timestamp) -> Self {
        let rejected_writes = self.rejected_writes.saturating_add(1);
        Self { rejected_writes, ..self.claimed(now) }
    }

    /// The drill with the fates of its events, each with whether the receiver has it; none if nothing
    /// changes.
    #[must_use]
    pub fn with_fates(
        &self,
        fates: &[(EventId, Fate, bool)],
        queue_depth: u64,
        now: Timestamp,
    ) -> Option<Self> {
        let mut next = Self { queue_depth, ..self.clone() };
        for (id, fate, received) in fates {
            let Some(beat) = next.beats.iter_mut().find(|beat| beat.event_id == *id) else {
                continue;
            };
            beat.received |= *received;
            match fate {
                Fate::OnItsWay { attempts } => beat.attempts = *attempts,
                Fate::Delivered { at, attempts } => {
                    (beat.delivered_at, beat.attempts) = (Some(*at), *attempts);
                }
                Fate::Lost { why, attempts } => {
                    (beat.lost, beat.attempts) = (Some(why.clone()), *attempts);
                }
            }
        }
        if next.detected_at.is_none()
            && next.status == DrillStatus::Injected
            && next.is_detected(now)
        {
            next.detected_at = Some(now);
            let message = match next.kind.fault() {
                Some(_) => "the fault was detected",
                None => "the first event signed with both secrets was received",
            };
            next = next.with_entry(message, now);
        }
        (next != *self).then(|| next.claimed(now))
    }

    /// The drill with the fault injected, for its duration.
    #[must_use]
    pub fn injected(&self, now: Timestamp) -> Self {
        let next = Self {
            status: DrillStatus::Injected,
            injected_at: Some(now),
            fault_expires_at: Some(now.plus(self.duration())),
            ..self.claimed(now)
        };
        let message = format!("{} injected for {} s", self.kind, self.duration_s);
        next.with_entry(message, now)
    }

    /// The drill with the fault ended: because it expired, or because of a stop condition.
    #[must_use]
    pub fn with_fault_ended(&self, why: Option<StopCondition>, now: Timestamp) -> Self {
        let ended = self.fault_expires_at.map_or(now, |at| at.min(now));
        let reason = why.map(|condition| {
            let found = self.observation(now).of(condition.metric);
            format!("{} above {}: {found}", condition.metric, condition.above)
        });
        let message = match &reason {
            None => "the fault ended".to_owned(),
            Some(reason) => format!("stopped: {reason}"),
        };
        let next = Self {
            status: DrillStatus::Recovering,
            fault_ended_at: Some(ended),
            stop_reason: reason,
            ..self.claimed(now)
        };
        next.with_entry(message, now)
    }

    /// The drill ended, with a verdict.
    #[must_use]
    pub fn concluded(&self, evidence_id: Option<String>, now: Timestamp) -> Self {
        let recovered_at = self.recovery();
        let measured = Self { recovered_at, ..self.clone() };
        let verdict = measured.validated();
        let status =
            if self.stop_reason.is_some() { DrillStatus::Stopped } else { DrillStatus::Completed };
        let message = match measured.observed_rto_s() {
            Some(seconds) => format!(
                "{verdict}: all delivered {seconds} s after the fault, {} lost",
                measured.lost_events()
            ),
            None => format!("{verdict}: not all was delivered, {} lost", measured.lost_events()),
        };
        let next = Self { verdict: Some(verdict), evidence_id, ..measured };
        next.ended(status, message, now)
    }

    /// The drill failed: before the fault was injected, because the canary is not healthy, or because it
    /// cannot continue. An injected fault ends with it.
    #[must_use]
    pub fn failed_for(&self, why: &str, now: Timestamp) -> Self {
        let stop_reason = Some(why.to_owned());
        let next = Self { fault_ended_at: self.fault_end(now), stop_reason, ..self.clone() };
        next.ended(DrillStatus::Failed, format!("failed: {why}"), now)
    }

    /// The drill aborted by an operator.
    ///
    /// # Errors
    /// `invalid_state_transition` when it has ended.
    pub fn aborted(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_final() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.aborted_because("aborted by an operator", now))
    }

    /// The drill aborted for this reason.
    #[must_use]
    pub fn aborted_because(&self, why: &str, now: Timestamp) -> Self {
        let stop_reason = Some(why.to_owned());
        let next = Self { fault_ended_at: self.fault_end(now), stop_reason, ..self.clone() };
        next.ended(DrillStatus::Aborted, why.to_owned(), now)
    }

    /// When its fault ended, if the drill ends now; none if none was injected.
    fn fault_end(&self, now: Timestamp) -> Option<Timestamp> {
        self.injected_at.map(|_| {
            let by_itself = self.fault_expires_at.unwrap_or(now);
            self.fault_ended_at.unwrap_or(by_itself.min(now))
        })
    }

    /// The drill with the id of its evidence record.
    #[must_use]
    pub fn with_evidence(self, evidence_id: String) -> Self {
        Self { evidence_id: Some(evidence_id), ..self }
    }

    fn ended(&self, status: DrillStatus, message: String, now: Timestamp) -> Self {
        let next = Self {
            status,
            finished_at: Some(now),
            lease_until: None,
            due_at: None,
            ..self.changed(now)
        };
        next.with_entry(message, now)
    }

    /// The hold on the canary for this drill, without a fault.
    pub fn hold(&self) -> CanaryHold {
        CanaryHold {
            run_id: self.id.to_string(),
            fault: None,
            held_until: self.held_until(),
            version: 1,
        }
    }

    /// The hold on the canary for this drill, with its fault, if it has one.
    pub fn hold_with_fault(&self) -> CanaryHold {
        let fault = self.kind.fault().zip(self.fault_expires_at);
        let fault = fault.map(|(kind, expires_at)| Fault { kind, expires_at });
        CanaryHold { fault, ..self.hold() }
    }

    /// The summary in its evidence record.
    pub fn summary(&self) -> serde_json::Value {
        let measured = Self { recovered_at: self.recovery(), ..self.clone() };
        serde_json::json!({
            "kind": measured.kind,
            "recovery_ms": measured.recovery_ms(),
            "target": measured.target,
            "duration_s": measured.duration_s,
            "verdict": measured.validated(),
            "stop_reason": measured.stop_reason,
            "events": measured.beats.len(),
            "lost_events": measured.lost_events(),
            "rpo_events": measured.rpo_events,
            "observed_rto_s": measured.observed_rto_s(),
            "rto_s": measured.rto_s,
            "injected_at": measured.injected_at,
            "fault_ended_at": measured.fault_ended_at,
            "recovered_at": measured.recovered_at,
        })
    }

    /// Milliseconds from the injection of the fault until recovery.
    fn recovery_ms(&self) -> Option<u64> {
        let (injected, recovered) = (self.injected_at?, self.recovered_at?);
        u64::try_from(injected.until(recovered).as_millis()).ok()
    }

    /// The verdict if the drill ends now.
    pub fn outcome(&self) -> Verdict {
        Self { recovered_at: self.recovery(), ..self.clone() }.validated()
    }
}
