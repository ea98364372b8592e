//! Events: each has arrived, and those of an entity in order.

use std::collections::{BTreeMap, BTreeSet};

use delivery::delivery::{DeliveryStatus, LIFETIME};
use primitives::clock::Timestamp;
use serde_json::Value;

use super::Books;
use crate::client::text;
use crate::network::Arrival;
use crate::plant::Plant;
use crate::run::Run;

impl Run<'_> {
    /// Every event has arrived, those of an entity in order, and the last of an order is about the order as it is.
    pub(super) async fn check_events(&self, books: &Books) {
        let mut arrivals = self.world.receiver.arrivals();
        if self.planted.borrow().plant == Some(Plant::SwappedEvents) {
            swap(&mut arrivals);
        }
        let mut versions: BTreeMap<&str, u64> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for arrival in &arrivals {
            let Arrival { event, kind, entity, version } = arrival;
            if !seen.insert(event.as_str()) {
                continue;
            }
            let last = versions.entry(entity).or_default();
            if *version < *last {
                self.fail(format!("events: {kind} {version} of {entity} came after {last}"));
            }
            *last = (*last).max(*version);
        }
        let mut unseen = BTreeSet::new();
        for event in self.all("/v1/operations/outbox").await {
            let (id, kind) = (text(&event, "/id"), text(&event, "/type"));
            let is_old = text(&event, "/created_at") < self.begun.to_string();
            // A redaction takes what an event says of a person, and nobody gets it then.
            if event.get("payload_expunged").and_then(Value::as_bool) == Some(true) {
                unseen.insert(text(&event, "/entity/id"));
            } else if !seen.contains(id.as_str()) && !is_old {
                let path = format!("/v1/operations/webhook-deliveries?event_id={id}");
                let deliveries = self.all(&path).await;
                if deliveries.is_empty() || !deliveries.iter().all(has_expired) {
                    self.fail(format!(
                        "events: {kind} {id} has never arrived: {deliveries:?}, {event}"
                    ));
                }
                unseen.insert(text(&event, "/entity/id"));
            }
        }
        for order in &books.orders {
            let (id, version) = (text(order, "/id"), order.get("version").and_then(Value::as_u64));
            let last = versions.get(id.as_str()).copied();
            if last != version && !unseen.contains(&id) {
                self.fail(format!("events: {id} has version {version:?}, and {last:?} came last"));
            }
        }
    }
}

/// Whether a delivery was given up as promised: attempted, refused, and its lifetime over. The clock may pass it between
/// two attempts.
fn has_expired(delivery: &Value) -> bool {
    let at = |pointer: &str| Timestamp::parse(&text(delivery, pointer));
    let lived = at("/updated_at").zip(at("/created_at"));
    text(delivery, "/status") == DeliveryStatus::Exhausted.as_str()
        && text(delivery, "/last_error") == "expired"
        && delivery.pointer("/attempts").and_then(Value::as_u64) > Some(0)
        && lived.is_some_and(|(ended, begun)| begun.plus(LIFETIME) <= ended)
}

/// Swaps the first two events of one entity.
fn swap(arrivals: &mut [Arrival]) {
    for place in 0..arrivals.len() {
        let later = arrivals.iter().enumerate().skip(place).find(|(_, later)| {
            arrivals
                .get(place)
                .is_some_and(|one| one.entity == later.entity && one.version < later.version)
        });
        if let Some((other, _)) = later {
            return arrivals.swap(place, other);
        }
    }
}
