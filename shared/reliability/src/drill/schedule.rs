//! The course of a drill: which step comes next, and what each makes of it.

use std::time::Duration;

use core_types::id::EventId;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use table::canary::{CanaryHold, Fault};

use super::blast::events_of;
use super::{
    BASELINE, BASELINE_EVENTS, Beat, Drill, DrillStatus, Fate, LEASE, StopCondition, Verdict,
};

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Begin.
    Begin,
    /// Make an event.
    MakeEvent,
    /// Inject the fault.
    Inject,
    /// End the fault: this condition is met.
    Stop(StopCondition),
    /// End the fault: its time is over.
    EndFault,
    /// Say how it went.
    Conclude,
    /// Give up before anything was injected.
    GiveUp,
    /// Look again in a moment.
    Wait,
    /// Nothing.
    Nothing,
}

impl Drill {
    /// What is to be done at `now`.
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
        // The last is for the time after the fault.
        let has_room = self.beats.len().saturating_add(1) < most;
        if is_time && has_room { Step::MakeEvent } else { Step::Wait }
    }

    /// One event more shows that the service works again, whatever became of the others.
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

    /// From one event to the next while the fault is there.
    fn interval(&self) -> Duration {
        let room = events_of(self.duration_s).saturating_sub(4).max(1);
        let millis = self.duration_s.saturating_mul(1_000).div_ceil(room);
        Duration::from_millis(millis.max(1_000))
    }

    /// Taken up by somebody, who is silent no longer than their lease.
    #[must_use]
    pub fn claimed(&self, now: Timestamp) -> Self {
        let until = Some(now.plus(LEASE));
        Self { lease_until: until, due_at: until, ..self.changed(now) }
    }

    /// Left by who was at it, to be sent for in a while.
    #[must_use]
    pub fn left(&self, now: Timestamp) -> Self {
        Self { lease_until: None, ..self.claimed(now) }
    }

    /// Whether somebody is at it.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
    }

    /// Begun.
    #[must_use]
    pub fn begun(&self, now: Timestamp) -> Self {
        let begun =
            Self { status: DrillStatus::Baseline, started_at: Some(now), ..self.claimed(now) };
        begun.noted("began: the canary is looked at", now)
    }

    /// With an event more.
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

    /// With a write more that was rejected.
    #[must_use]
    pub fn with_refused_write(&self, now: Timestamp) -> Self {
        let refused_writes = self.refused_writes.saturating_add(1);
        Self { refused_writes, ..self.claimed(now) }
    }

    /// With what has become of its events; none when that is nothing new.
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
        if next.detected_at.is_none() && next.status == DrillStatus::Injected && next.shows(now) {
            next.detected_at = Some(now);
            let message = match next.kind.fault() {
                Some(_) => "the fault shows",
                None => "the first event signed by both secrets has arrived",
            };
            next = next.noted(message, now);
        }
        (next != *self).then(|| next.claimed(now))
    }

    /// With the fault injected, until its time is over.
    #[must_use]
    pub fn injected(&self, now: Timestamp) -> Self {
        let next = Self {
            status: DrillStatus::Injected,
            injected_at: Some(now),
            fault_expires_at: Some(now.plus(self.duration())),
            ..self.claimed(now)
        };
        let message = format!("{} injected for {} s", self.kind, self.duration_s);
        next.noted(message, now)
    }

    /// With the fault over: by its time, or because a condition is met.
    #[must_use]
    pub fn with_fault_ended(&self, why: Option<StopCondition>, now: Timestamp) -> Self {
        let ended = self.fault_expires_at.map_or(now, |at| at.min(now));
        let reason = why.map(|condition| {
            let found = self.observation(now).of(condition.metric);
            format!("{} above {}: {found}", condition.metric, condition.above)
        });
        let message = match &reason {
            None => "the fault is over".to_owned(),
            Some(reason) => format!("stopped: {reason}"),
        };
        let next = Self {
            status: DrillStatus::Recovering,
            fault_ended_at: Some(ended),
            stop_reason: reason,
            ..self.claimed(now)
        };
        next.noted(message, now)
    }

    /// Over, with a verdict.
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
        next.over(status, message, now)
    }

    /// Given up: before anything was injected, because the canary is not healthy; or because it cannot go on.
    /// A fault that is there ends with it.
    #[must_use]
    pub fn given_up(&self, why: &str, now: Timestamp) -> Self {
        let stop_reason = Some(why.to_owned());
        let next = Self { fault_ended_at: self.fault_end(now), stop_reason, ..self.clone() };
        next.over(DrillStatus::Failed, format!("given up: {why}"), now)
    }

    /// Ended by an operator.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is over.
    pub fn aborted(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_final() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.aborted_because("aborted by an operator", now))
    }

    /// Ended before its time, for this reason.
    #[must_use]
    pub fn aborted_because(&self, why: &str, now: Timestamp) -> Self {
        let stop_reason = Some(why.to_owned());
        let next = Self { fault_ended_at: self.fault_end(now), stop_reason, ..self.clone() };
        next.over(DrillStatus::Aborted, why.to_owned(), now)
    }

    /// When its fault ended, if it had one and is over now.
    fn fault_end(&self, now: Timestamp) -> Option<Timestamp> {
        self.injected_at.map(|_| {
            let by_itself = self.fault_expires_at.unwrap_or(now);
            self.fault_ended_at.unwrap_or(by_itself.min(now))
        })
    }

    /// Stated as this record of the evidence.
    #[must_use]
    pub fn stated(self, evidence_id: String) -> Self {
        Self { evidence_id: Some(evidence_id), ..self }
    }

    fn over(&self, status: DrillStatus, message: String, now: Timestamp) -> Self {
        let next = Self {
            status,
            finished_at: Some(now),
            lease_until: None,
            due_at: None,
            ..self.changed(now)
        };
        next.noted(message, now)
    }

    /// The canary, held for it, with nothing injected.
    pub fn hold(&self) -> CanaryHold {
        CanaryHold {
            run_id: self.id.to_string(),
            fault: None,
            held_until: self.held_until(),
            version: 1,
        }
    }

    /// The canary, held for it, with its fault, if it has one.
    pub fn hold_with_fault(&self) -> CanaryHold {
        let fault = self.kind.fault().zip(self.fault_expires_at);
        let fault = fault.map(|(kind, expires_at)| Fault { kind, expires_at });
        CanaryHold { fault, ..self.hold() }
    }

    /// What its evidence says.
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

    /// Milliseconds from the beginning of the fault until all was delivered.
    fn recovery_ms(&self) -> Option<u64> {
        let (injected, recovered) = (self.injected_at?, self.recovered_at?);
        u64::try_from(injected.until(recovered).as_millis()).ok()
    }

    /// The result if the drill ends now.
    pub fn outcome(&self) -> Verdict {
        Self { recovered_at: self.recovery(), ..self.clone() }.validated()
    }
}
