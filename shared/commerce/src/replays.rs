//! What a replay sends again, page by page: found in the lists of events and deliveries, validated by the
//! subscriptions as they are now, and made so that it can be made again.
//!
//! - *A crash before the replay's own write*: the page is found again, and its deliveries are there, under
//!   the same ids. What took the place of a delivery says so in it, and is counted as made.
//! - *A crash before the messages*: the deliveries are due, and the sweep sends theirs.

mod failed;
mod happened;
mod make;

use std::collections::HashSet;

use core_types::event::{self, Event};
use core_types::id::DeliveryId;
use delivery::delivery::Delivery;
use delivery::replay::{Made, Replay, ReplayKind, Skipped};
use delivery::subscription::Subscription;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::WalkPlace;

use crate::audience::Audience;

pub use failed::named;

/// What is looked at in one page when a replay is counted ahead.
const COUNTED: usize = 500;
/// Pages that counting ahead looks at: what is beyond is found by the replay itself.
const MOST_PAGES: usize = 40;

/// A delivery that is to be made.
#[derive(Debug, Clone)]
struct Planned {
    delivery: Delivery,
    /// The one whose place it takes, as it was read.
    replaces: Option<Delivery>,
    /// Whether that says already that it does.
    is_made: bool,
}

impl Planned {
    /// Beside whatever there is.
    const fn alongside(delivery: Delivery) -> Self {
        Self { delivery, replaces: None, is_made: false }
    }
}

/// A page of what is to be made.
#[derive(Debug, Default)]
struct Plan {
    planned: Vec<Planned>,
    skipped: Skipped,
    next: Option<WalkPlace>,
}

/// A replay at work, with the subscriptions that it may send to.
#[derive(Debug)]
pub struct Replaying<'a> {
    services: &'a Services,
    replay: &'a Replay,
    audience: &'a Audience,
    now: Timestamp,
}

/// What a replay would send, as far as it was counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted {
    /// Deliveries to be made.
    pub matched: u64,
    /// What would not be sent.
    pub skipped: Skipped,
    /// Whether there is more than it may make, or than was counted.
    pub has_more: bool,
}

impl<'a> Replaying<'a> {
    /// The next page of a replay.
    pub const fn new(
        services: &'a Services,
        replay: &'a Replay,
        audience: &'a Audience,
        now: Timestamp,
    ) -> Self {
        Self { services, replay, audience, now }
    }

    /// What the replay sends, without making any of it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn count(&self) -> Result<Counted, Problem> {
        let (mut counted, mut place) = (Counted::default(), None);
        // Several deliveries of one event to one subscription are sent again as one.
        let mut once: HashSet<DeliveryId> = HashSet::new();
        for _ in 0..MOST_PAGES {
            let plan = self.plan(place.as_ref(), COUNTED).await?;
            once.extend(plan.planned.into_iter().map(|planned| planned.delivery.id));
            counted.matched = u64::try_from(once.len()).unwrap_or(u64::MAX);
            counted.skipped = counted.skipped.and(plan.skipped);
            counted.has_more = plan.next.is_some();
            place = plan.next;
            if counted.matched >= self.replay.max_count {
                counted.has_more |= counted.matched > self.replay.max_count;
                counted.matched = self.replay.max_count;
                break;
            }
            if place.is_none() {
                break;
            }
        }
        Ok(counted)
    }

    /// Makes the next page of deliveries; answers with them, for their messages, and with what it came
    /// to, for the replay.
    ///
    /// # Errors
    /// 503 when the table cannot be reached: nothing is lost, and the page is made again.
    pub async fn make(&self) -> Result<(Vec<Delivery>, Made), Problem> {
        let mut plan = self.plan(self.replay.place.as_ref(), self.replay.room()).await?;
        let left = usize::try_from(self.replay.left()).unwrap_or(usize::MAX);
        let is_cut = plan.planned.len() > left;
        plan.planned.truncate(left);
        let planned = plan.planned.into_iter().zip(0_u64..).map(|(planned, number)| {
            let at = self.replay.turn(number, self.now);
            Planned { delivery: planned.delivery.due_from(at, self.now), ..planned }
        });
        let (made, skipped) = make::all(self.services, planned.collect(), self.now).await?;
        let sent = u64::try_from(made.len()).unwrap_or(u64::MAX);
        let skipped = plan.skipped.and(skipped);
        Ok((made, Made { sent, skipped, next: plan.next, is_cut }))
    }

    async fn plan(&self, place: Option<&WalkPlace>, room: usize) -> Result<Plan, Problem> {
        match self.replay.kind {
            ReplayKind::Delivery => self.plan_named().await,
            ReplayKind::Recover => self.plan_failed(place, room).await,
            ReplayKind::Missing | ReplayKind::Range => self.plan_happened(place, room).await,
        }
    }

    /// Whether an event is of those that are asked for.
    fn is_asked_for(&self, event: &str) -> bool {
        let types = &self.replay.event_types;
        types.is_empty() || types.iter().any(|filter| event::matches(filter, event))
    }

    /// The delivery that the replay makes of an event for a subscription, its turn aside.
    fn delivery(&self, event: &Event, to: &Subscription) -> Delivery {
        Delivery::replayed(event, to, &self.replay.id, self.now)
    }

    fn is_ours(&self, delivery: &Delivery) -> bool {
        let (event, subscription) = (&delivery.event_id, &delivery.subscription_id);
        let id = Delivery::replayed_id(event, subscription, &self.replay.id);
        delivery.replayed_by.as_ref() == Some(&id)
    }

    /// Whether it may send to a subscription: all of the store's, or those of the app that asked.
    fn may_send_to(&self, to: &Subscription) -> bool {
        self.replay.subscription_id.as_ref().is_none_or(|only| *only == to.id)
            && (self.replay.app_id.is_none() || self.replay.app_id == to.app_id)
    }
}
