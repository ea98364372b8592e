//! Deliveries as they are after days: aged, added and recorded in the table, instead of waited for.

use std::time::Duration;

use core_types::event::{Event, EventGroup, EventSubject, TopicDeclaration};
use core_types::id::{DeliveryId, StoreId};
use core_types::key;
use delivery::delivery::{
    AttemptOutcome, Delivery, DeliveryAttempt, DeliveryStatus, MAX_ATTEMPTS_OF_TENANT,
    MAX_ATTEMPTS_TO_HOST, Speed,
};
use delivery::subscription::Subscription;
use identity::store::STORE_UPDATED;
use serde_json::{Value, json};
use table::item::Key;

use crate::clock::MINUTE;
use crate::process::Process;
use crate::{Gateway, Store};

/// How many deliveries of a store may be attempted at once, on each queue.
pub const PERMITS_OF_STORE: usize = number(MAX_ATTEMPTS_OF_TENANT);
/// How many deliveries to a host may be attempted at once, on each queue.
pub const PERMITS_TO_HOST: usize = number(MAX_ATTEMPTS_TO_HOST);

#[expect(clippy::as_conversions, reason = "in a constant there is no other")]
const fn number(most: u32) -> usize {
    most as usize
}

/// Events that one transaction announces.
const TOGETHER: usize = 50;

impl Gateway {
    /// The events that are one item with this one, as they are stored now.
    pub async fn events_with(&self, id: &str) -> EventGroup {
        let mut groups = self.event_groups().await;
        groups.retain(|group| group.events().iter().any(|event| event.id.as_str() == id));
        groups.pop().expect("the event is there")
    }

    /// A delivery that was attempted so often, and is due again now.
    pub async fn age_delivery(&self, id: &str, attempts: u32) {
        let (table, now) = (&self.app().table, self.now());
        let delivery: Delivery = table.get(&delivery_key(id)).await.unwrap().expect("it is there");
        let (status, version) = (DeliveryStatus::Pending, delivery.version + 1);
        let (next_attempt_at, due_at) = (Some(now), Some(now));
        let aged = Delivery {
            attempt: attempts,
            claim: None,
            status,
            version,
            next_attempt_at,
            due_at,
            ..delivery
        };
        table.write().put(&aged).commit().await.expect("it is aged");
    }

    /// The subscription of a delivery has failed for so long, and given up so many deliveries since.
    pub async fn age_failures(&self, delivery: &str, failing: Duration, exhausted: u32) {
        let table = &self.app().table;
        let delivery: Delivery =
            table.get(&delivery_key(delivery)).await.unwrap().expect("it is there");
        let key = delivery.message().subscription_key();
        let mut subscription: Subscription =
            table.get(&key).await.unwrap().expect("it is subscribed");
        subscription.health.exhausted_since_success = exhausted;
        subscription.health.failing_since = Some(self.now().minus(failing));
        table.write().put(&subscription).commit().await.expect("it is aged");
    }

    /// So many deliveries like this one, made so much later.
    pub async fn add_deliveries(&self, like: &str, later: Duration, count: u32) {
        let table = &self.app().table;
        let like: Delivery = table.get(&delivery_key(like)).await.unwrap().expect("it is there");
        let created_at = like.created_at.plus(later);
        let write = (0..count).fold(table.write(), |write, number| {
            let id = DeliveryId::derive(&[&created_at.to_string(), &number.to_string()]);
            write.put(&Delivery { id, created_at, ..like.clone() })
        });
        write.commit().await.expect("they are added");
    }

    /// Records the attempts of a delivery anew, each answered 200 with one of these bodies, of which the last
    /// was cut off; gives the number of attempts that are stored with the delivery, and of answers that are not.
    pub async fn record_attempts(&self, id: &str, url: &str, bodies: &[String]) -> (usize, usize) {
        let table = &self.app().table;
        let mut delivery: Delivery =
            table.get(&delivery_key(id)).await.unwrap().expect("it is there");
        delivery.attempts.clear();
        let mut answers = Vec::new();
        for (attempt, body) in (1_u32..).zip(bodies) {
            let of = Delivery { attempt, ..delivery.clone() };
            let outcome = AttemptOutcome::answered(200, None);
            let is_last = usize::try_from(attempt) == Ok(bodies.len());
            let attempt = DeliveryAttempt::of(&of, url, &outcome, Duration::ZERO)
                .with_response(body.as_bytes(), is_last);
            answers.extend(attempt.recorded_answer(&of));
            delivery = of.with_attempt(&attempt);
        }
        table.write().put(&delivery).commit().await.expect("they are recorded");
        for chunk in answers.chunks(50) {
            let write = chunk.iter().fold(table.write(), table::Write::put);
            write.commit().await.expect("they are recorded");
        }
        (delivery.attempts().len(), answers.len())
    }

    /// Deletes a delivery, as its time to live would.
    pub async fn forget_delivery(&self, id: &str) {
        let write = self.app().table.write().delete(&delivery_key(id));
        write.commit().await.expect("it is deleted");
    }

    /// The permits for attempts of a store's deliveries to prompt receivers.
    pub fn permits_of_store(&self, store: &Store) -> Permits {
        let store = StoreId::parse(&store.id).expect("a store's id");
        let tenant = key::event_tenant(Some(&store), None);
        self.permits(key::permits_of_tenant(&tenant, Speed::Fast.as_str()), MAX_ATTEMPTS_OF_TENANT)
    }

    /// The permits for attempts at a host.
    pub fn permits_to_host(&self, host: &str) -> Permits {
        self.permits(key::permits_of_host(host, Speed::Fast.as_str()), MAX_ATTEMPTS_TO_HOST)
    }

    fn permits(&self, key: Key, most: u32) -> Permits {
        Permits { app: self.app().clone(), key, most }
    }
}

/// The concurrency permits of a store or a host.
#[derive(Clone)]
pub struct Permits {
    app: gateway::app::App,
    key: Key,
    most: u32,
}

/// A permit that is held.
#[derive(Debug, Clone)]
pub struct Permit(table::Permit);

impl Permits {
    /// Takes one for a minute, unless all are taken.
    pub async fn take(&self) -> Option<Permit> {
        let now = self.app.clock.now();
        let taken = self.app.table.take_permit(&self.key, self.most, now.plus(MINUTE), now).await;
        taken.expect("the table answers").map(Permit)
    }

    /// Takes all that nobody holds.
    pub async fn take_all(&self) -> Vec<Permit> {
        let mut taken = Vec::new();
        while let Some(permit) = self.take().await {
            taken.push(permit);
        }
        taken
    }

    /// Gives one back.
    pub async fn release(&self, permit: Permit) {
        self.app.table.return_permit(permit.0).await.expect("the table answers");
    }

    /// What the table has of them.
    pub async fn stored(&self, gateway: &Gateway) -> Option<Value> {
        let mut items = gateway.items(&self.key.pk).await;
        items.retain(|item| item["SK"] == self.key.sk.as_str());
        items.pop()
    }
}

impl Process {
    /// So many changes of a store happen, each announced about an entity of its own; gives the events' ids.
    pub async fn announce(&self, store: &Store, count: usize) -> Vec<String> {
        let store = StoreId::parse(&store.id).expect("a store's id");
        let (app, topic) = (self.app(), TopicDeclaration::of(&STORE_UPDATED));
        let mut ids = Vec::new();
        let numbers: Vec<usize> = (0..count).collect();
        for part in numbers.chunks(TOGETHER) {
            let write = part.iter().fold(app.table.write(), |write, number| {
                let entity = format!("entity-{number}");
                let subject =
                    EventSubject { store: Some(&store), app: None, entity: &entity, version: 1 };
                let data = json!({"number": number});
                let event = Event::untyped(&topic, subject, data, app.clock.now());
                ids.push(event.id.to_string());
                write.emit(event)
            });
            write.commit().await.expect("they are announced");
        }
        ids
    }
}

fn delivery_key(id: &str) -> Key {
    key::delivery(&DeliveryId::parse(id).expect("a delivery's id"))
}
