//! Replays: events that are sent again, under their own ids, by new deliveries
//! (docs/conventions.md §10).
//!
//! A replay goes over what it is to send, page by page, and makes the deliveries of each; then it looks at
//! what they have come to, until each has ended. How far it is stands in this item, and every step is a
//! write of it under its version: a step that is taken twice, or cut off, makes the same deliveries again,
//! under the same ids, and counts them once.
//!
//! ```text
//! queued ─► running ─► succeeded   all that it was to send has arrived
//!    │         ├─────► partial     some has
//!    │         ├─────► failed      nothing has
//!    └─────────┴─────► cancelled   by its owner: what was made goes on, no more is made
//! ```

mod estimate;
mod scans;
mod skipped;
mod view;

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{AppId, DeliveryId, ReplayId, StoreId, SubscriptionId};
use core_types::key::{self, IndexKey};
use core_types::range::TimeRange;
use platform::authority::Authority;
use primitives::clock::{DAY, HOUR, MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::outbox::Due;
use table::{Condition, WalkPlace, Write};

pub use estimate::{Estimate, EstimatedCost};
pub use scans::Scan;
pub use skipped::Skipped;
pub use view::{REPLAY_FINISHED, ReplayProgress, ReplayView, SHAPES, TOPICS};

/// The most deliveries that one makes.
pub const MOST: u64 = 10_000;
/// The longest range.
pub const MOST_RANGE: Duration = DAY.saturating_mul(14);
/// First attempts in a second, unless asked otherwise.
pub const DEFAULT_RATE: u32 = 100;
/// What is looked at in one page.
const PAGE: usize = 100;
/// How far ahead of their time deliveries are made, beside a page that takes as long: what a cancelled
/// replay still sends.
const AHEAD: Duration = Duration::from_secs(5);
/// How long after a step's time the sweep takes its message for lost.
const STEP_GRACE: Duration = MINUTE.saturating_mul(2);
/// How long after the last delivery was made it is looked at what they come to. What is still retried
/// then goes on by itself.
const WATCHED: Duration = HOUR;
/// How early a step may be taken: queues count whole seconds.
const EARLY: Duration = Duration::from_secs(1);
/// How long after the end of its range a replay begins: indexes show by then what was written last
/// (docs/platform.md §1; our choice), also to a step that comes early.
const SETTLING: Duration = Duration::from_secs(4);
/// How long replays are kept.
const RETENTION: Duration = DAY.saturating_mul(90);

primitives::string_enum! {
    /// What a replay sends again.
    ReplayKind {
        /// The events of the deliveries that are named.
        Delivery = "delivery",
        /// The failed deliveries of a subscription: those that are retried, exhausted, cancelled or blocked.
        Recover = "recover",
        /// Events of a range that match a subscription now and have no delivery to it.
        Missing = "missing",
        /// All events of a range that match a subscription now.
        Range = "range",
    }
}

primitives::string_enum! {
    /// The status of a replay.
    ReplayStatus {
        /// It has not begun.
        Queued = "queued",
        /// It creates deliveries, or waits for their outcomes.
        Running = "running",
        /// All deliveries succeeded, and none was skipped except those in flight.
        Succeeded = "succeeded",
        /// Some deliveries succeeded.
        Partial = "partial",
        /// No delivery succeeded, or the replay met a permanent error, which `status_reason` names.
        Failed = "failed",
        /// It was cancelled by request, or because its creator may no longer send, which `status_reason`
        /// says.
        Cancelled = "cancelled",
    }
}

impl ReplayStatus {
    /// Whether nothing more happens.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct ReplayInput {
    /// What is sent again.
    pub kind: ReplayKind,
    /// The only subscription that is sent to.
    pub subscription_id: Option<SubscriptionId>,
    /// The only events that are sent: names, `noun.*` or `*`; all, if none is named.
    pub event_types: Vec<String>,
    /// When what is sent again happened, or was to be delivered; none of deliveries that are named.
    pub range: Option<TimeRange>,
    /// The deliveries that are named.
    pub delivery_ids: Vec<DeliveryId>,
    /// The most deliveries that it makes.
    pub max_count: u64,
    /// First attempts that are begun in a second, at most.
    pub rate_per_second: u32,
}

/// A replay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replay {
    /// `rpl_…`; later ones sort after it.
    pub id: ReplayId,
    /// The store whose events it sends.
    pub store_id: StoreId,
    /// The app that asked for it: it sends to that app's own subscriptions alone.
    pub app_id: Option<AppId>,
    /// Who asked for it: `mer_…` or `app_…`.
    pub created_by: String,
    /// In whose name it sends.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// What is sent again.
    pub kind: ReplayKind,
    /// The only subscription that is sent to.
    pub subscription_id: Option<SubscriptionId>,
    /// The only events that are sent.
    #[serde(default)]
    pub event_types: Vec<String>,
    /// When what is sent again happened, or was to be delivered.
    pub range: Option<TimeRange>,
    /// The deliveries that are named.
    #[serde(default)]
    pub delivery_ids: Vec<DeliveryId>,
    /// The most deliveries that it makes.
    pub max_count: u64,
    /// First attempts that are begun in a second, at most.
    pub rate_per_second: u32,
    /// Where it is in its life.
    pub status: ReplayStatus,
    /// Why it ended early, unless its owner wanted it so.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// Deliveries to be made, as they were counted; once all are made, how many there are.
    pub matched: u64,
    /// Whether there is more than it makes, or was more than could be counted ahead.
    pub has_more: bool,
    /// Deliveries made.
    pub sent: u64,
    /// What is not sent again, as far as it has come.
    pub skipped: Skipped,
    /// Of its deliveries, those that had arrived when it looked last.
    pub succeeded: u64,
    /// Those that had ended without success.
    pub failed: u64,
    /// Where it goes on.
    pub place: Option<WalkPlace>,
    /// The same, for people.
    pub cursor: Option<String>,
    /// When the last delivery was made; from then on it looks what they come to.
    pub made_at: Option<Timestamp>,
    /// Up to when the rate is used up by deliveries that were made.
    pub paced_until: Option<Timestamp>,
    /// The look that is under way.
    #[serde(default)]
    pub look: Scan,
    /// Where the next look begins: all before it have ended.
    #[serde(default)]
    pub looked: Scan,
    /// Looks that were taken in vain.
    #[serde(default, rename = "looks")]
    pub scans: u32,
    /// When the next step is to be taken.
    pub next_step_at: Timestamp,
    /// When the sweep takes the next step's message for lost.
    pub due_at: Option<Timestamp>,
    /// When the first step was taken.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Item for Replay {
    const KIND: &'static str = "replay";
    fn key(&self) -> Key {
        key::replay(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let mut keys = vec![key::replays_of_store(&self.store_id, self.created_at, &self.id)];
        keys.extend(self.due_at.map(|at| Due::Run.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

/// The replay that is under way on a store: there is one at most.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReplayUnderWay {
    /// The store.
    pub store_id: StoreId,
    /// The replay.
    pub replay_id: ReplayId,
    /// Always 1: it is put, and deleted.
    pub version: u64,
}

impl Item for ReplayUnderWay {
    const KIND: &'static str = "replay_under_way";
    fn key(&self) -> Key {
        key::replay_under_way(&self.store_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// What a page of the walk came to.
#[derive(Debug)]
pub struct Made {
    /// Deliveries made.
    pub sent: u64,
    /// What is not sent again.
    pub skipped: Skipped,
    /// Where the walk goes on; none at its end.
    pub next: Option<WalkPlace>,
    /// Whether something was left out because there is room for no more.
    pub is_cut: bool,
}

/// When the first step may be taken: once the lists have all that happened by the end of the range.
fn first_step_at(range: Option<&TimeRange>, now: Timestamp) -> Timestamp {
    range.map_or(now, |range| range.until.min(now).plus(SETTLING).max(now))
}

impl Replay {
    /// A replay that is asked for.
    pub fn new(
        input: ReplayInput,
        store: &StoreId,
        app: Option<&AppId>,
        by: &str,
        now: Timestamp,
    ) -> Self {
        let first_step_at = first_step_at(input.range.as_ref(), now);
        Self {
            id: ReplayId::mint(now),
            store_id: store.clone(),
            app_id: app.cloned(),
            created_by: by.to_owned(),
            authority: None,
            kind: input.kind,
            subscription_id: input.subscription_id,
            event_types: input.event_types,
            range: input.range,
            delivery_ids: input.delivery_ids,
            max_count: input.max_count,
            rate_per_second: input.rate_per_second,
            status: ReplayStatus::Queued,
            status_reason: None,
            matched: 0,
            has_more: false,
            sent: 0,
            skipped: Skipped::default(),
            succeeded: 0,
            failed: 0,
            place: None,
            cursor: None,
            made_at: None,
            paced_until: None,
            look: Scan::default(),
            looked: Scan::default(),
            scans: 0,
            next_step_at: first_step_at,
            due_at: Some(first_step_at.plus(STEP_GRACE)),
            started_at: None,
            finished_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The replay, which sends in this name.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// How much the next page takes in: no more than goes out in the time that is made ahead.
    pub fn room(&self) -> usize {
        let ahead = u64::from(self.rate_per_second).saturating_mul(AHEAD.as_secs());
        usize::try_from(ahead.clamp(1, self.left().max(1))).map_or(PAGE, |room| room.min(PAGE))
    }

    /// Deliveries that it may still make.
    pub fn left(&self) -> u64 {
        self.max_count.saturating_sub(self.sent)
    }

    /// When the delivery of this number, of those that are made now, is to be attempted.
    pub fn turn(&self, number: u64, now: Timestamp) -> Timestamp {
        let first = self.paced_until.map_or(now, |until| until.max(now));
        let millis = number.saturating_mul(1_000).div_ceil(u64::from(self.rate_per_second.max(1)));
        first.plus(Duration::from_millis(millis))
    }

    /// Whether its next step can be taken: a message before that is of a step that was.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        !self.status.is_over() && self.next_step_at <= now.plus(EARLY)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The replay with its next step at this time. Its due mark is moved when it comes near, and not
    /// with each of many steps.
    fn with_step_at(self, at: Timestamp, now: Timestamp) -> Self {
        let is_near = self.due_at.is_none_or(|due| due < at.max(now).plus(MINUTE));
        let due_at = if is_near { Some(at.max(now).plus(STEP_GRACE)) } else { self.due_at };
        Self { next_step_at: at, due_at, ..self }
    }

    /// The replay after a page.
    #[must_use]
    pub fn advanced(&self, made: Made, now: Timestamp) -> Self {
        let sent = self.sent.saturating_add(made.sent);
        let is_full = made.is_cut || (sent >= self.max_count && made.next.is_some());
        let is_last = is_full || made.next.is_none();
        let paced = self.turn(made.sent, now);
        let cursor = made.next.as_ref().and_then(WalkPlace::last).map(str::to_owned);
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
            paced_until: Some(paced),
            ..self.changed(now)
        };
        let at = if is_last { paced.plus(Duration::from_secs(1)) } else { paced.minus(AHEAD) };
        next.with_step_at(at.max(now), now)
    }

    /// The replay given up: no more deliveries are made.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is over.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.ended(ReplayStatus::Cancelled, now))
    }

    /// The replay, which whoever asked for it may no longer have sent: what was made goes on.
    #[must_use]
    pub fn revoked(&self, reason: EndReason, now: Timestamp) -> Self {
        Self { status_reason: Some(reason), ..self.ended(ReplayStatus::Cancelled, now) }
    }

    /// The replay after an error that it would meet again.
    #[must_use]
    pub fn broken(&self, now: Timestamp) -> Self {
        let status_reason = Some(EndReason::InternalError);
        let ended = self.ended(ReplayStatus::Failed, now);
        Self { status_reason, look: Scan::default(), looked: Scan::default(), ..ended }
    }

    fn ended(&self, status: ReplayStatus, now: Timestamp) -> Self {
        let changed = self.changed(now);
        Self { status, finished_at: Some(now), due_at: None, place: None, ..changed }
    }

    /// Adds the replay's first write: it is the only one under way on its store.
    pub fn begin(&self, write: Write) -> Write {
        let (store_id, replay_id) = (self.store_id.clone(), self.id.clone());
        let under_way = ReplayUnderWay { store_id, replay_id, version: 1 };
        write.create(&under_way, Code::ReplayRunning).create(self, Code::VersionConflict)
    }

    /// Adds the write of the replay in place of its version before; one that is over says so, and makes
    /// room for another.
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

#[cfg(test)]
mod tests;
