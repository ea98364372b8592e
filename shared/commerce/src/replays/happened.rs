//! Events of a range that are sent again, to the subscriptions that take them now.

use std::collections::HashMap;

use core_types::event::{Event, OutboxState};
use core_types::id::DeliveryId;
use core_types::key;
use delivery::delivery::Delivery;
use delivery::replay::ReplayKind;
use delivery::subscription::Subscription;
use primitives::problem::Problem;
use table::WalkPlace;
use table::item::{Index, Key};

use super::{Plan, Planned, Replaying};

impl Replaying<'_> {
    /// A page of what has happened: each event for each subscription that takes it, or for those that have
    /// no delivery of it.
    pub(super) async fn plan_happened(
        &self,
        place: Option<&WalkPlace>,
        room: usize,
    ) -> Result<Plan, Problem> {
        let Some(range) = self.replay.range else { return Ok(Plan::default()) };
        let store = &self.replay.store_id;
        let queries = range.walk(Index::Gsi5, |day| vec![key::events_on(store, day)]);
        let is_meant =
            |event: &Event| event.state == OutboxState::Published && self.is_asked_for(&event.name);
        let (events, next) = self.services.table.walk(&queries, room, place, is_meant).await?;
        let mut plan = Plan { next, ..Plan::default() };
        let mut taken: Vec<(&Event, &Subscription)> = Vec::new();
        for event in &events {
            let mut takers = self.audience.on_store(store, event)?;
            takers.retain(|it| self.may_send_to(it));
            if event.is_expunged() {
                let count = u64::try_from(takers.len()).unwrap_or(u64::MAX);
                let skipped = &mut plan.skipped.payload_expunged;
                *skipped = skipped.saturating_add(count);
            } else {
                taken.extend(takers.into_iter().map(|subscription| (event, subscription)));
            }
        }
        plan.planned = match self.replay.kind {
            ReplayKind::Missing => self.without_delivery(&taken).await?,
            _ => taken
                .iter()
                .map(|(event, to)| Planned::alongside(self.delivery(event, to)))
                .collect(),
        };
        Ok(plan)
    }

    /// The first deliveries that were never made. What is there by this replay counts as made by it.
    async fn without_delivery(
        &self,
        taken: &[(&Event, &Subscription)],
    ) -> Result<Vec<Planned>, Problem> {
        let first = |event: &Event, to: &Subscription| Delivery::first_id(&event.id, &to.id);
        let keys: Vec<Key> =
            taken.iter().map(|(event, to)| key::delivery(&first(event, to))).collect();
        let mut batch =
            self.services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        let mut there: HashMap<DeliveryId, Delivery> = HashMap::new();
        for key in &keys {
            there.extend(batch.take::<Delivery>(key)?.map(|found| (found.id.clone(), found)));
        }
        let planned = taken.iter().filter_map(|(event, to)| {
            let id = first(event, to);
            match there.remove(&id) {
                None => Some(Planned::alongside(Delivery { id, ..self.delivery(event, to) })),
                Some(found) if found.replay_id.as_ref() == Some(&self.replay.id) => {
                    Some(Planned { is_made: true, ..Planned::alongside(found) })
                }
                Some(_) => None,
            }
        });
        Ok(planned.collect())
    }
}
