//! The deliveries of a replay, page by page: found in the lists of events and deliveries, matched with the
//! current subscriptions, and created so that a repetition has no effect.
//!
//! - *A crash before the replay is saved*: the page is found again, and its deliveries exist with the same
//!   ids. A replaced delivery names its replacement, which is counted as created.
//! - *A crash before the messages*: the deliveries are due, and the sweep sends their messages.

mod failed;
mod happened;
mod make;

use std::collections::HashSet;

use core_types::event::{self, Event};
use core_types::id::DeliveryId;
use delivery::delivery::Delivery;
use delivery::replay::{Replay, ReplayKind, ReplayedPage, Skipped};
use delivery::subscription::Subscription;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::WalkPosition;

use crate::audience::Audience;

pub use failed::load_named;

/// Items of one page when a replay is counted in advance.
const COUNTED: usize = 500;
/// The most pages that are counted in advance. The replay itself processes the rest, too.
const MOST_PAGES: usize = 40;

/// A delivery to create.
#[derive(Debug, Clone)]
struct Planned {
    delivery: Delivery,
    /// The delivery that it replaces, as it was read.
    replaces: Option<Delivery>,
    /// Whether a previous attempt of the page has created it.
    is_made: bool,
}

impl Planned {
    /// A delivery that replaces none.
    const fn alongside(delivery: Delivery) -> Self {
        Self { delivery, replaces: None, is_made: false }
    }
}

/// A page of deliveries to create.
#[derive(Debug, Default)]
struct Plan {
    planned: Vec<Planned>,
    skipped: Skipped,
    next: Option<WalkPosition>,
}

/// A running replay, with the subscriptions that it may send to.
#[derive(Debug)]
pub struct Replaying<'a> {
    services: &'a Services,
    replay: &'a Replay,
    audience: &'a Audience,
    now: Timestamp,
}

/// The deliveries that a replay would create, as far as they were counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted {
    /// The deliveries that would be created.
    pub matched: u64,
    /// The deliveries that would be skipped.
    pub skipped: Skipped,
    /// Whether there are more than it may create, or than were counted.
    pub has_more: bool,
}

impl<'a> Replaying<'a> {
    /// Prepares a page of a replay.
    pub const fn new(
        services: &'a Services,
        replay: &'a Replay,
        audience: &'a Audience,
        now: Timestamp,
    ) -> Self {
        Self { services, replay, audience, now }
    }

    /// Counts the deliveries of the replay without creating any.
    ///
    /// # Errors
    /// 503.
    pub async fn count(&self) -> Result<Counted, Problem> {
        let (mut counted, mut place) = (Counted::default(), None);
        // Several deliveries of one event to one subscription are replayed as one.
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

    /// Creates the next page of deliveries. Returns them, for their messages, and the result of the page, for
    /// the replay.
    ///
    /// # Errors
    /// 503: nothing is lost, and the page can be repeated.
    pub async fn make(&self) -> Result<(Vec<Delivery>, ReplayedPage), Problem> {
        let mut plan = self.plan(self.replay.place.as_ref(), self.replay.page_size()).await?;
        let left = usize::try_from(self.replay.remaining()).unwrap_or(usize::MAX);
        let is_cut = plan.planned.len() > left;
        plan.planned.truncate(left);
        let planned = plan.planned.into_iter().zip(0_u64..).map(|(planned, number)| {
            let at = self.replay.attempt_at(number, self.now);
            Planned { delivery: planned.delivery.due_from(at, self.now), ..planned }
        });
        let (made, skipped) = make::all(self.services, planned.collect(), self.now).await?;
        let sent = u64::try_from(made.len()).unwrap_or(u64::MAX);
        let skipped = plan.skipped.and(skipped);
        Ok((made, ReplayedPage { sent, skipped, next: plan.next, is_cut }))
    }

    async fn plan(&self, place: Option<&WalkPosition>, limit: usize) -> Result<Plan, Problem> {
        match self.replay.kind {
            ReplayKind::Delivery => self.plan_named().await,
            ReplayKind::Recover => self.plan_failed(place, limit).await,
            ReplayKind::Missing | ReplayKind::Range => self.plan_happened(place, limit).await,
        }
    }

    /// Whether the replay includes events with this name.
    fn is_requested(&self, event: &str) -> bool {
        let types = &self.replay.event_types;
        types.is_empty() || types.iter().any(|filter| event::matches(filter, event))
    }

    /// The delivery of an event to a subscription by this replay, without its due time.
    fn delivery(&self, event: &Event, to: &Subscription) -> Delivery {
        Delivery::replayed(event, to, &self.replay.id, self.now)
    }

    fn is_ours(&self, delivery: &Delivery) -> bool {
        let (event, subscription) = (&delivery.event_id, &delivery.subscription_id);
        let id = Delivery::replayed_id(event, subscription, &self.replay.id);
        delivery.replayed_by.as_ref() == Some(&id)
    }

    /// Whether the replay may send to a subscription: all of the store's, or limited to the subscription that
    /// it names and the app that requested it.
    fn may_send_to(&self, to: &Subscription) -> bool {
        self.replay.subscription_id.as_ref().is_none_or(|only| *only == to.id)
            && (self.replay.app_id.is_none() || self.replay.app_id == to.app_id)
    }
}
