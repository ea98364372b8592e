//! A replay as whoever answers for the store sees it.

use gateway::clock::Timestamp;
use ground::end_reason::EndReason;
use ground::event::{About, EXAMPLE_TIME, Event, Example};
use ground::id::{MerchantId, ReplayId, StoreId, SubscriptionId};
use ground::range::TimeRange;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    DEFAULT_RATE, Estimate, MOST, MOST_RANGE, Replay, ReplayAsk, ReplayKind, ReplayStatus, Skipped,
};

ground::topics! {
    REPLAY_FINISHED = "replay.finished", "replay", Some("read_operations"), ReplayView,
        "A replay is over: it has sent what it was to send, or was cancelled.";
}

/// How far a replay has come, in deliveries.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReplayProgress {
    /// Made, and on their way or there.
    pub sent: u64,
    /// Taken by their receivers, as far as it was looked.
    pub succeeded: u64,
    /// Ended without success.
    pub failed: u64,
    /// Not ended yet, or not looked at; of a replay that is over, still retried by themselves.
    pub unfinished: u64,
    /// The last of what was looked through: its time and its id.
    pub cursor: Option<String>,
}

ground::view! {
    /// A replay.
    ReplayView of replay: Replay {
        /// The id: `X-Service-Replay-Id` of its deliveries.
        id: ReplayId,
        /// What is sent again.
        kind: ReplayKind,
        /// Where it is in its life.
        status: ReplayStatus,
        /// Why it ended before its end, unless its owner gave it up.
        status_reason: Option<EndReason>,
        /// The only subscription that is sent to.
        subscription_id: Option<SubscriptionId>,
        /// The only events that are sent: names, `noun.*` or `*`; all, if none is named.
        event_types: Vec<String>,
        /// From this time on.
        since: Option<Timestamp> = replay.range.map(|range| range.since),
        /// Up to this time.
        until: Option<Timestamp> = replay.range.map(|range| range.until),
        /// The most deliveries that it makes.
        max_count: u64,
        /// First attempts that are begun in a second, at most.
        rate_per_second: u32,
        /// Deliveries to be made, as they were counted; once all are made, how many there are.
        matched: u64,
        /// Whether there is more than `max_count`, or was more than could be counted ahead.
        has_more: bool,
        /// What is not sent again, and why.
        skipped: Skipped,
        /// How far it has come.
        progress: ReplayProgress = replay.progress(),
        /// What it takes.
        estimate: Estimate = replay.estimate(),
        /// Who began it.
        created_by: String,
        /// When its first step was taken.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// What can be done with it now.
        allowed_actions: Vec<&'static str> = replay.allowed_actions(),
        /// When it was asked for.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Counts its changes.
        version: u64,
    }
}

impl Example for ReplayView {
    fn example() -> Self {
        let range = TimeRange { since: EXAMPLE_TIME.minus(MOST_RANGE), until: EXAMPLE_TIME };
        let ask = ReplayAsk {
            kind: ReplayKind::Recover,
            subscription_id: Some(SubscriptionId::derive(&["example"])),
            event_types: Vec::new(),
            range: Some(range),
            delivery_ids: Vec::new(),
            max_count: MOST,
            rate_per_second: DEFAULT_RATE,
        };
        let by = MerchantId::derive(&["example"]);
        let store = StoreId::derive(&["example"]);
        let replay = Replay::new(ask, &store, None, by.as_str(), EXAMPLE_TIME);
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
    /// That it is over.
    pub(super) fn finished(&self) -> Event {
        let about = About {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        };
        Event::new(&REPLAY_FINISHED, about, &ReplayView::from(self), self.updated_at)
    }

    /// How far it has come.
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

    /// What it takes.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(self.kind, self.matched, self.rate_per_second)
    }

    /// What can be done with it now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_over() { Vec::new() } else { vec!["cancel"] }
    }
}
