//! Replays of deliveries: those that the replay names, and those that have failed.

use std::collections::HashMap;

use core_types::event::{Event, EventGroup};
use core_types::id::EventId;
use core_types::key;
use delivery::delivery::{Delivery, DeliveryStatus};
use delivery::replay::{Replay, Skipped};
use primitives::problem::Problem;
use services::Services;
use table::item::{Index, Key};
use table::{Query, WalkPosition};

use super::{Plan, Planned, Replaying};

/// The statuses of deliveries that have not arrived, in the order in which they are read. Retrying ones,
/// which the replay ends, come first.
const FAILED: [DeliveryStatus; 4] = [
    DeliveryStatus::Retrying,
    DeliveryStatus::Exhausted,
    DeliveryStatus::Cancelled,
    DeliveryStatus::Blocked,
];
/// Keys that one query reads ahead to find those of one subscription.
const LOOK_AHEAD: usize = 100;

/// Loads the deliveries that a replay names, without those of other stores or apps.
///
/// # Errors
/// 503.
pub async fn load_named(services: &Services, replay: &Replay) -> Result<Vec<Delivery>, Problem> {
    let keys: Vec<Key> = replay.delivery_ids.iter().map(key::delivery).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut found: Vec<Delivery> = Vec::new();
    for key in &keys {
        found.extend(batch.take(key)?);
    }
    found.retain(|delivery| {
        delivery.store_id.as_ref() == Some(&replay.store_id)
            && (replay.app_id.is_none() || replay.app_id == delivery.app_id)
    });
    Ok(found)
}

impl Replaying<'_> {
    /// Plans the named deliveries, which fit into one page.
    pub(super) async fn plan_named(&self) -> Result<Plan, Problem> {
        let found = load_named(self.services, self.replay).await?;
        let missing = self.replay.delivery_ids.len().saturating_sub(found.len());
        let mut plan = self.plan_again(found).await?;
        plan.skipped.expired =
            plan.skipped.expired.saturating_add(u64::try_from(missing).unwrap_or(u64::MAX));
        Ok(plan)
    }

    /// Plans a page of failed deliveries to a subscription.
    pub(super) async fn plan_failed(
        &self,
        place: Option<&WalkPosition>,
        limit: usize,
    ) -> Result<Plan, Problem> {
        let (Some(id), Some(range)) = (&self.replay.subscription_id, self.replay.range) else {
            return Ok(Plan::default());
        };
        let tenant = key::event_tenant(Some(&self.replay.store_id), None);
        let partitions =
            |day| FAILED.map(|it| key::deliveries_in(&tenant, it.as_str(), day)).to_vec();
        let of_subscription =
            |query: Query| query.ends_with(key::to_subscription(id)).with_scan_limit(LOOK_AHEAD, 1);
        let queries = range.walk(Index::Gsi6, partitions);
        let queries: Vec<Query> = queries.into_iter().map(of_subscription).collect();
        let matches = |delivery: &Delivery| {
            range.holds(delivery.created_at)
                && !delivery.test
                && delivery.status != DeliveryStatus::Succeeded
                && delivery.replay_id.as_ref() != Some(&self.replay.id)
                && !delivery.is_ended_by_replay()
                && (delivery.replayed_by.is_none() || self.is_ours(delivery))
                && self.is_requested(&delivery.event_type)
        };
        let (found, next) = self.services.table.walk(&queries, limit, place, matches).await?;
        Ok(Plan { next, ..self.plan_again(found).await? })
    }

    /// Plans the replay of these deliveries.
    async fn plan_again(&self, found: Vec<Delivery>) -> Result<Plan, Problem> {
        let events = self.events_of(&found).await?;
        let mut plan = Plan::default();
        for before in found {
            match self.redelivery(before, &events)? {
                Ok(planned) => plan.planned.push(planned),
                Err(skipped) => plan.skipped = plan.skipped.and(skipped),
            }
        }
        Ok(plan)
    }

    /// Plans a new delivery of the same event, or the reason why it is skipped.
    fn redelivery(
        &self,
        before: Delivery,
        events: &HashMap<EventId, Event>,
    ) -> Result<Result<Planned, Skipped>, Problem> {
        let none = Skipped::default();
        if before.is_in_flight() {
            return Ok(Err(Skipped { in_flight: 1, ..none }));
        }
        if before.expunged_at.is_some() {
            return Ok(Err(Skipped { payload_expunged: 1, ..none }));
        }
        let Some(event) = events.get(&before.event_id) else {
            return Ok(Err(Skipped { expired: 1, ..none }));
        };
        if event.is_expunged() {
            return Ok(Err(Skipped { payload_expunged: 1, ..none }));
        }
        let (store, to) = (&self.replay.store_id, &before.subscription_id);
        let reader = self.audience.reader(store, to, event)?;
        let Some(subscription) = reader.filter(|_| !before.test) else {
            return Ok(Err(Skipped { not_deliverable: 1, ..none }));
        };
        let delivery = Delivery {
            redelivery_of: Some(before.id.clone()),
            ..self.delivery(event, subscription)
        };
        let is_made = self.is_ours(&before);
        // A delivery that has arrived, or that another replay has replaced, stays as it is.
        let is_replaced = !matches!(before.status, DeliveryStatus::Succeeded)
            && (before.replayed_by.is_none() || is_made);
        let replaces = is_replaced.then_some(before);
        Ok(Ok(Planned { delivery, replaces, is_made }))
    }

    /// Loads the events of deliveries, as far as they are still stored.
    async fn events_of(&self, deliveries: &[Delivery]) -> Result<HashMap<EventId, Event>, Problem> {
        let keys: Vec<Key> =
            deliveries.iter().map(|delivery| key::event(&delivery.event_id)).collect();
        let mut batch =
            self.services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        let mut events = HashMap::new();
        for key in &keys {
            // Events of one transaction are one item, so taking it returns all of them.
            let group = batch.take::<EventGroup>(key)?;
            let found = group.into_iter().flat_map(EventGroup::into_events);
            events.extend(found.map(|event| (event.id.clone(), event)));
        }
        Ok(events)
    }
}
