//! Replays: events sent again, under their own ids, by new deliveries (docs/conventions.md §10).
//!
//! A replay walks page by page over the events or deliveries to send again, and creates the deliveries of
//! each page. Then it scans their outcomes until each has ended. Its progress is stored in this item, and
//! every step writes the item under its version. So a step that is repeated or interrupted creates the
//! same deliveries again, under the same ids, and counts them once.
//!
//! ```text
//! queued ─► running ─► succeeded   all deliveries succeeded
//!    │         ├─────► partial     some succeeded
//!    │         ├─────► failed      none succeeded, or a permanent error
//!    └─────────┴─────► cancelled   by request or for its creator's authority: existing deliveries go on
//! ```

mod estimate;
mod scans;
mod skipped;
mod transitions;
mod view;

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{AppId, DeliveryId, ReplayId, StoreId, SubscriptionId};
use core_types::key::{self, IndexKey};
use core_types::range::TimeRange;
use platform::authority::Authority;
use primitives::clock::{DAY, HOUR, MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use table::WalkPosition;
use table::item::{Item, Key};
use table::outbox::DueKind;

pub use estimate::{Estimate, EstimatedCost};
pub use scans::Scan;
pub use skipped::Skipped;
pub use view::{EVENT_SCHEMAS, REPLAY_FINISHED, ReplayProgress, ReplayView, TOPICS};

/// The most deliveries of one replay.
pub const MAX_DELIVERIES: u64 = 10_000;
/// The longest range.
pub const MAX_RANGE: Duration = DAY.saturating_mul(14);
/// The default of `rate_per_second`: first attempts in a second.
pub const DEFAULT_RATE: u32 = 100;
/// The number of items in one page.
const PAGE: usize = 100;
/// The time by which deliveries are created ahead, besides a page that takes as long. This much a
/// cancelled replay still sends.
const AHEAD: Duration = Duration::from_secs(5);
/// The time after which the sweep takes the message of a step for lost.
const STEP_GRACE: Duration = MINUTE.saturating_mul(2);
/// The time after the creation of its last delivery for which the outcomes are scanned. Deliveries still being
/// retried then go on without the replay.
const WATCHED: Duration = HOUR;
/// The most that a step may be early: queues count whole seconds.
const EARLY: Duration = Duration::from_secs(1);
/// The time after the end of its range at which a replay begins, also by an early step: by then the indexes have
/// the last writes of the range (docs/platform.md §1; our choice).
const SETTLING: Duration = Duration::from_secs(4);
/// The retention of replays.
const RETENTION: Duration = DAY.saturating_mul(90);

primitives::string_enum! {
    /// The kind of deliveries or events that a replay sends again.
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
    /// Whether it has ended.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// The validated input of a new replay.
#[derive(Debug, Clone)]
pub struct ReplayInput {
    /// The kind of deliveries or events that are sent again.
    pub kind: ReplayKind,
    /// The only subscription that it sends to; none for all.
    pub subscription_id: Option<SubscriptionId>,
    /// The only event types that it sends: names, `noun.*` or `*`. Empty for all.
    pub event_types: Vec<String>,
    /// The range of the events, or of the creation of the deliveries; none when deliveries are named.
    pub range: Option<TimeRange>,
    /// The deliveries to send again, when they are named.
    pub delivery_ids: Vec<DeliveryId>,
    /// The maximum number of deliveries that it creates.
    pub max_count: u64,
    /// The maximum number of first attempts a second.
    pub rate_per_second: u32,
}

/// A replay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replay {
    /// `rpl_…`; later ones sort after it.
    pub id: ReplayId,
    /// The store whose events it sends.
    pub store_id: StoreId,
    /// The app that created it: it sends to that app's own subscriptions alone.
    pub app_id: Option<AppId>,
    /// The merchant or app that created it: `mer_…` or `app_…`.
    pub created_by: String,
    /// The authority on whose behalf it sends.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// The kind of deliveries or events that are sent again.
    pub kind: ReplayKind,
    /// The only subscription that it sends to; none for all.
    pub subscription_id: Option<SubscriptionId>,
    /// The only event types that it sends; empty for all.
    #[serde(default)]
    pub event_types: Vec<String>,
    /// The range of the events, or of the creation of the deliveries.
    pub range: Option<TimeRange>,
    /// The deliveries to send again, when they are named.
    #[serde(default)]
    pub delivery_ids: Vec<DeliveryId>,
    /// The maximum number of deliveries that it creates.
    pub max_count: u64,
    /// The maximum number of first attempts a second.
    pub rate_per_second: u32,
    /// The status.
    pub status: ReplayStatus,
    /// The reason of its early end, unless it was cancelled by request.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// The deliveries to create, as counted before it began. Once all are created, their exact number.
    pub matched: u64,
    /// Whether there are more than `max_count`, or more than could be counted before it began.
    pub has_more: bool,
    /// Deliveries created.
    pub sent: u64,
    /// Deliveries skipped so far.
    pub skipped: Skipped,
    /// Deliveries that had succeeded at the last scan.
    pub succeeded: u64,
    /// Deliveries that had ended without success at the last scan.
    pub failed: u64,
    /// The position at which the walk continues.
    pub place: Option<WalkPosition>,
    /// The same place for people: a time and an id.
    pub cursor: Option<String>,
    /// When the last delivery was created; from then on their outcomes are scanned.
    pub made_at: Option<Timestamp>,
    /// Until when the rate is used up by the deliveries created so far.
    #[serde(rename = "paced_until")]
    pub scheduled_until: Option<Timestamp>,
    /// The scan under way.
    #[serde(default, rename = "look")]
    pub scan: Scan,
    /// The position at which the next scan begins: all deliveries before it have ended.
    #[serde(default, rename = "looked")]
    pub scanned: Scan,
    /// Scans that found unfinished deliveries.
    #[serde(default, rename = "looks")]
    pub scans: u32,
    /// When the next step is due.
    pub next_step_at: Timestamp,
    /// When the sweep takes the next step's message for lost.
    pub due_at: Option<Timestamp>,
    /// When the first step was taken.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
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
        keys.extend(self.due_at.map(|at| DueKind::Run.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

/// The replay under way on a store: at most one.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "replay_under_way", key = key::replay_under_way(&self.store_id))]
pub struct ReplayUnderWay {
    /// The store.
    pub store_id: StoreId,
    /// The replay.
    pub replay_id: ReplayId,
    /// Always 1: the item is created and deleted, never replaced.
    pub version: u64,
}

/// The result of one page of the walk.
#[derive(Debug)]
pub struct ReplayedPage {
    /// Deliveries created.
    pub sent: u64,
    /// Deliveries skipped.
    pub skipped: Skipped,
    /// The position at which the walk continues; none at its end.
    pub next: Option<WalkPosition>,
    /// Whether deliveries were left out because `max_count` was reached.
    pub is_cut: bool,
}

/// When the first step may be taken: once the indexes have all events of the range.
fn first_step_at(range: Option<&TimeRange>, now: Timestamp) -> Timestamp {
    range.map_or(now, |range| range.until.min(now).plus(SETTLING).max(now))
}

impl Replay {
    /// A new replay.
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
            scheduled_until: None,
            scan: Scan::default(),
            scanned: Scan::default(),
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

    /// The replay with the authority on whose behalf it sends.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// The size of the next page: no more than is sent in the time that deliveries are created ahead.
    pub fn page_size(&self) -> usize {
        let ahead = u64::from(self.rate_per_second).saturating_mul(AHEAD.as_secs());
        usize::try_from(ahead.clamp(1, self.remaining().max(1))).map_or(PAGE, |size| size.min(PAGE))
    }

    /// The number of deliveries that it may still create.
    pub fn remaining(&self) -> u64 {
        self.max_count.saturating_sub(self.sent)
    }

    /// When the delivery of this number, among those created now, is to be attempted.
    pub fn attempt_at(&self, number: u64, now: Timestamp) -> Timestamp {
        let first = self.scheduled_until.map_or(now, |until| until.max(now));
        let millis = number.saturating_mul(1_000).div_ceil(u64::from(self.rate_per_second.max(1)));
        first.plus(Duration::from_millis(millis))
    }

    /// Whether its next step can be taken. An earlier message belongs to a past step.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        !self.status.is_over() && self.next_step_at <= now.plus(EARLY)
    }
}

#[cfg(test)]
mod tests;
