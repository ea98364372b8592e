//! Transitions of a replay, and their writes.

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::key;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use table::{Condition, WalkPosition, Write};

use super::{AHEAD, Replay, ReplayStatus, ReplayUnderWay, ReplayedPage, STEP_GRACE, Scan};

impl Replay {
    pub(super) fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The replay with its next step at this time. Its due mark is moved only when it is near, not with
    /// each step.
    pub(super) fn with_step_at(self, at: Timestamp, now: Timestamp) -> Self {
        let is_near = self.due_at.is_none_or(|due| due < at.max(now).plus(MINUTE));
        let due_at = if is_near { Some(at.max(now).plus(STEP_GRACE)) } else { self.due_at };
        Self { next_step_at: at, due_at, ..self }
    }

    /// The replay after one page.
    #[must_use]
    pub fn advanced(&self, made: ReplayedPage, now: Timestamp) -> Self {
        let sent = self.sent.saturating_add(made.sent);
        let is_full = made.is_cut || (sent >= self.max_count && made.next.is_some());
        let is_last = is_full || made.next.is_none();
        let until = self.attempt_at(made.sent, now);
        let cursor = made.next.as_ref().and_then(WalkPosition::last).map(str::to_owned);
        let next = Self {
            status: ReplayStatus::Running,
            started_at: self.started_at.or(Some(now)),
            sent,
            skipped: self.skipped.and(made.skipped),
            matched: if is_last { sent } else { self.matched.max(sent) },
            has_more: if is_last { is_full } else { self.has_more },
            cursor: cursor.or_else(|| self.cursor.clone()),
            place: made.next.filter(|_| !is_last),
            made_at: is_last.then_some(now),
            scheduled_until: Some(until),
            ..self.changed(now)
        };
        let at = if is_last { until.plus(Duration::from_secs(1)) } else { until.minus(AHEAD) };
        next.with_step_at(at.max(now), now)
    }

    /// The replay cancelled: no more deliveries are created.
    ///
    /// # Errors
    /// `invalid_state_transition` when it has ended.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.ended(ReplayStatus::Cancelled, now))
    }

    /// The replay cancelled because its creator may no longer send. Deliveries already created go on.
    #[must_use]
    pub fn revoked(&self, reason: EndReason, now: Timestamp) -> Self {
        Self { status_reason: Some(reason), ..self.ended(ReplayStatus::Cancelled, now) }
    }

    /// The replay failed by a permanent error.
    #[must_use]
    pub fn failed_internally(&self, now: Timestamp) -> Self {
        let status_reason = Some(EndReason::InternalError);
        let ended = self.ended(ReplayStatus::Failed, now);
        Self { status_reason, scan: Scan::default(), scanned: Scan::default(), ..ended }
    }

    pub(super) fn ended(&self, status: ReplayStatus, now: Timestamp) -> Self {
        let changed = self.changed(now);
        Self { status, finished_at: Some(now), due_at: None, place: None, ..changed }
    }

    /// Adds the creation of the replay, on condition that no other is under way on its store
    /// (`replay_running`).
    pub fn begin(&self, write: Write) -> Write {
        let (store_id, replay_id) = (self.store_id.clone(), self.id.clone());
        let under_way = ReplayUnderWay { store_id, replay_id, version: 1 };
        write.create(&under_way, Code::ReplayRunning).create(self, Code::VersionConflict)
    }

    /// Adds the replacement of the replay by its next version. For one that has ended it also adds the
    /// event, and admits another replay on the store.
    pub fn save(&self, write: Write) -> Write {
        let write = write.replace(self, Code::VersionConflict);
        if !self.status.is_over() {
            return write;
        }
        let under_way = key::replay_under_way(&self.store_id);
        let is_ours = Condition::is("replay_id", self.id.as_str());
        write.delete_if(&under_way, is_ours, Code::VersionConflict).emit(self.finished())
    }
}
