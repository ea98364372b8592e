//! The response for a replay.

use core_types::end_reason::EndReason;
use core_types::event::{EXAMPLE_TIME, Event, EventSubject, Example};
use core_types::id::{MerchantId, ReplayId, StoreId, SubscriptionId};
use core_types::range::TimeRange;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    DEFAULT_RATE, Estimate, MAX_DELIVERIES, MAX_RANGE, Replay, ReplayInput, ReplayKind,
    ReplayStatus, Skipped,
};

core_types::topics! {
    REPLAY_FINISHED = "replay.finished", "replay", Some("read_operations"), ReplayView,
        "A replay ended: it completed, failed or was cancelled.";
}

/// The progress of a replay, in deliveries.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReplayProgress {
    /// Deliveries that were created.
    pub sent: u64,
    /// Deliveries that succeeded, as counted last.
    pub succeeded: u64,
    /// Deliveries that ended without success, as counted last.
    pub failed: u64,
    /// Deliveries that have not ended, or were not counted yet. After the replay they are still retried.
    pub unfinished: u64,
    /// The time and the id of the last event or delivery that it processed.
    pub cursor: Option<String>,
}

core_types::view! {
    /// A replay.
    ReplayView of replay: Replay {
        /// The id: `X-Service-Replay-Id` of its deliveries.
        id: ReplayId,
        /// The kind of deliveries or events that are sent again.
        kind: ReplayKind,
        /// The status of the replay.
        status: ReplayStatus,
        /// The reason of its early end, unless it was cancelled by request.
        status_reason: Option<EndReason>,
        /// The only subscription that it sends to; `null` for all.
        subscription_id: Option<SubscriptionId>,
        /// The only event types that it sends: names, `noun.*` or `*`. Empty for all.
        event_types: Vec<String>,
        /// The start of the range.
        since: Option<Timestamp> = replay.range.map(|range| range.since),
        /// The end of the range.
        until: Option<Timestamp> = replay.range.map(|range| range.until),
        /// The maximum number of deliveries that it creates.
        max_count: u64,
        /// The maximum number of first attempts a second.
        rate_per_second: u32,
        /// The deliveries to create, as counted before it began. Once all are created, their exact number.
        matched: u64,
        /// Whether there are more than `max_count`, or more than could be counted before it began.
        has_more: bool,
        /// The deliveries that were skipped, by reason.
        skipped: Skipped,
        /// The deliveries that were created, and their outcomes.
        progress: ReplayProgress = replay.progress(),
        /// The estimated cost and duration.
        estimate: Estimate = replay.estimate(),
        /// The merchant or app that created it: `mer_…` or `app_…`.
        created_by: String,
        /// When it began to create deliveries.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its status allows: `cancel`.
        allowed_actions: Vec<&'static str> = replay.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}

impl Example for ReplayView {
    fn example() -> Self {
        let range = TimeRange { since: EXAMPLE_TIME.minus(MAX_RANGE), until: EXAMPLE_TIME };
        let input = ReplayInput {
            kind: ReplayKind::Recover,
            subscription_id: Some(SubscriptionId::derive(&["example"])),
            event_types: Vec::new(),
            range: Some(range),
            delivery_ids: Vec::new(),
            max_count: MAX_DELIVERIES,
            rate_per_second: DEFAULT_RATE,
        };
        let by = MerchantId::derive(&["example"]);
        let store = StoreId::derive(&["example"]);
        let replay = Replay::new(input, &store, None, by.as_str(), EXAMPLE_TIME);
        Self::from(&Replay {
            id: ReplayId::derive(&["example"]),
            status: ReplayStatus::Succeeded,
            matched: 2,
            sent: 2,
            succeeded: 2,
            started_at: Some(EXAMPLE_TIME),
            finished_at: Some(EXAMPLE_TIME),
            version: 3,
            ..replay
        })
    }
}

impl Replay {
    /// The event that it has ended.
    pub(super) fn finished(&self) -> Event {
        let subject = EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        };
        Event::new(&REPLAY_FINISHED, subject, &ReplayView::from(self), self.updated_at)
    }

    /// Its progress.
    pub fn progress(&self) -> ReplayProgress {
        let ended = self.succeeded.saturating_add(self.failed);
        ReplayProgress {
            sent: self.sent,
            succeeded: self.succeeded,
            failed: self.failed,
            unfinished: self.sent.saturating_sub(ended),
            cursor: self.cursor.clone(),
        }
    }

    /// Its estimated cost and duration.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(self.kind, self.matched, self.rate_per_second)
    }

    /// The actions that its state allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_over() { Vec::new() } else { vec!["cancel"] }
    }
}
