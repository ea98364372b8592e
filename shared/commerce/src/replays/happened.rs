//! Replays of the events of a time range, to the subscriptions that receive them now.

use std::collections::HashMap;

use core_types::event::{Event, OutboxState};
use core_types::id::DeliveryId;
use core_types::key;
use delivery::delivery::Delivery;
use delivery::replay::ReplayKind;
use delivery::subscription::Subscription;
use primitives::problem::Problem;
use table::WalkPosition;
use table::item::{Index, Key};

use super::{Plan, Planned, Replaying};

impl Replaying<'_> {
    /// Plans a page of events: a delivery to each subscription that receives the event, or only to those that
    /// have no delivery of it.
    pub(super) async fn plan_happened(
        &self,
        place: Option<&WalkPosition>,
        limit: usize,
    ) -> Result<Plan, Problem> {
        let Some(range) = self.replay.range else { return Ok(Plan::default()) };
        let store = &self.replay.store_id;
        let queries = range.walk(Index::Gsi5, |day| vec![key::events_on(store, day)]);
        let matches =
            |event: &Event| event.state == OutboxState::Published && self.is_requested(&event.name);
        let (events, next) = self.services.table.walk(&queries, limit, place, matches).await?;
        let mut plan = Plan { next, ..Plan::default() };
        let mut pairs: Vec<(&Event, &Subscription)> = Vec::new();
        for event in &events {
            let mut receivers = self.audience.on_store(store, event)?;
            receivers.retain(|it| self.may_send_to(it));
            if event.is_expunged() {
                let count = u64::try_from(receivers.len()).unwrap_or(u64::MAX);
                let skipped = &mut plan.skipped.payload_expunged;
                *skipped = skipped.saturating_add(count);
            } else {
                pairs.extend(receivers.into_iter().map(|subscription| (event, subscription)));
            }
        }
        plan.planned = match self.replay.kind {
            ReplayKind::Missing => self.without_delivery(&pairs).await?,
            _ => pairs
                .iter()
                .map(|(event, to)| Planned::alongside(self.delivery(event, to)))
                .collect(),
        };
        Ok(plan)
    }

    /// Plans the first deliveries that were never created. One that this replay has created counts as
    /// created.
    async fn without_delivery(
        &self,
        pairs: &[(&Event, &Subscription)],
    ) -> Result<Vec<Planned>, Problem> {
        let first = |event: &Event, to: &Subscription| Delivery::first_id(&event.id, &to.id);
        let keys: Vec<Key> =
            pairs.iter().map(|(event, to)| key::delivery(&first(event, to))).collect();
        let mut batch =
            self.services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        let mut existing: HashMap<DeliveryId, Delivery> = HashMap::new();
        for key in &keys {
            existing.extend(batch.take::<Delivery>(key)?.map(|found| (found.id.clone(), found)));
        }
        let planned = pairs.iter().filter_map(|(event, to)| {
            let id = first(event, to);
            match existing.remove(&id) {
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
