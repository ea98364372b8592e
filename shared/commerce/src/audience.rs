//! Who is told of the events of a batch: the subscriptions of their stores and of the apps that they are
//! about, read once for all of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use core_types::event::Event;
use core_types::id::{AppId, StoreId, SubscriptionId};
use core_types::key;
use delivery::delivery::Delivery;
use delivery::replay::Replay;
use delivery::subscription::{Payload, Subscription};
use futures_util::stream::{self, StreamExt};
use platform::app::Stop;
use platform::installation::Installation;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;
use table::{Batch, Query};

use crate::topics;

/// Subscriptions read of one partition: a store's limit, or an app's own.
const MOST: usize = 60;
/// Partitions read side by side.
const PARALLEL: usize = 8;
/// Installations that one round trip reads, each with the mark that stops its app.
const INSTALLATIONS: usize = 50;

/// The subscriptions of some partitions, and the installations of the apps that made them. What could
/// not be read is a fault of the events that it is needed for, and of no other.
#[derive(Debug, Default)]
pub struct Audience {
    subscriptions: HashMap<String, Result<Vec<Subscription>, Problem>>,
    installations: HashMap<(StoreId, AppId), Result<Option<Installation>, Problem>>,
}

/// The partitions that hold the subscriptions that may take an event.
fn partitions_of(event: &Event) -> impl Iterator<Item = String> + use<> {
    let store = event.store_id.as_ref().map(|store| key::store(store).pk);
    let app = event.app_id.as_ref().map(|app| key::app(app).pk);
    store.into_iter().chain(app)
}

impl Audience {
    /// Reads who may be told of these events.
    pub async fn of(services: &Services, events: &[&Event]) -> Self {
        let partitions = events.iter().flat_map(|event| partitions_of(event));
        Self::read(services, partitions.collect()).await
    }

    /// Reads who may be told of the events of a store by subscriptions on it.
    pub async fn of_store(services: &Services, store: &StoreId) -> Self {
        Self::read(services, [key::store(store).pk].into()).await
    }

    async fn read(services: &Services, partitions: BTreeSet<String>) -> Self {
        let subscriptions: HashMap<String, Result<Vec<Subscription>, Problem>> =
            stream::iter(partitions)
                .map(|partition| async move {
                    let query = Query::partition(&partition).begins_with(key::SUBSCRIPTIONS);
                    let found = services.table.all::<Subscription>(&query, MOST).await;
                    (partition, found)
                })
                .buffer_unordered(PARALLEL)
                .collect()
                .await;
        let found: Vec<&Subscription> =
            subscriptions.values().filter_map(|found| found.as_ref().ok()).flatten().collect();
        let installations = installations(services, &found).await;
        Self { subscriptions, installations }
    }

    /// Whether all was asked for that says who is told of an event.
    pub fn knows(&self, event: &Event) -> bool {
        partitions_of(event).all(|partition| self.subscriptions.contains_key(&partition))
    }

    /// The deliveries of an event.
    ///
    /// # Errors
    /// Why it cannot be told who takes it.
    pub fn deliveries(&self, event: &Event, now: Timestamp) -> Result<Vec<Delivery>, Problem> {
        let payload = Payload::from(event);
        let mut deliveries = Vec::new();
        for partition in partitions_of(event) {
            let mut taken = self.takers(event, &partition)?;
            taken.retain(|subscription| subscription.wants(&payload));
            let made = taken.into_iter();
            deliveries.extend(made.map(|subscription| Delivery::new(event, subscription, now)));
        }
        Ok(deliveries)
    }

    /// Those of a store's subscriptions that take an event of it now. Of one whose payload was removed
    /// no filter can tell.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn on_store(&self, store: &StoreId, event: &Event) -> Result<Vec<&Subscription>, Problem> {
        let payload = Payload::from(event);
        let mut taken = self.takers(event, &key::store(store).pk)?;
        taken.retain(|subscription| event.is_expunged() || subscription.wants(&payload));
        Ok(taken)
    }

    /// The subscription of a store, if it may be told of this event by name: its filters aside, and
    /// what it was subscribed to.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn reader(
        &self,
        store: &StoreId,
        id: &SubscriptionId,
        event: &Event,
    ) -> Result<Option<&Subscription>, Problem> {
        let mut found = self.found(&key::store(store).pk)?.iter();
        let subscription = found.find(|found| found.id == *id && found.is_enabled());
        let Some(subscription) = subscription else { return Ok(None) };
        let installation = self.installation(event, subscription)?;
        let may = subscription.may_read(topics::scope_of(&event.name), installation);
        Ok(may.then_some(subscription))
    }

    /// Those of a store's subscriptions that a replay may send to: what it is asked for, and by whom, allows
    /// no others.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn receivers<'a>(
        &'a self,
        replay: &'a Replay,
    ) -> Result<impl Iterator<Item = &'a Subscription>, Problem> {
        let found = self.found(&key::store(&replay.store_id).pk)?.iter();
        Ok(found.filter(|it| {
            it.is_enabled()
                && (replay.app_id.is_none() || it.app_id == replay.app_id)
                && replay.subscription_id.as_ref().is_none_or(|id| it.id == *id)
        }))
    }

    /// The subscriptions of a partition.
    fn found(&self, partition: &str) -> Result<&[Subscription], Problem> {
        match self.subscriptions.get(partition) {
            Some(Ok(found)) => Ok(found),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(Problem::unavailable("not read")),
        }
    }

    /// Those of them that take an event, filters aside.
    fn takers(&self, event: &Event, partition: &str) -> Result<Vec<&Subscription>, Problem> {
        let scope = topics::scope_of(&event.name);
        let mut taken = Vec::new();
        for subscription in self.found(partition)? {
            let installation = self.installation(event, subscription)?;
            if subscription.takes(event, scope, installation) {
                taken.push(subscription);
            }
        }
        Ok(taken)
    }

    /// The installation of the app that made a subscription, on the event's store.
    fn installation(
        &self,
        event: &Event,
        subscription: &Subscription,
    ) -> Result<Option<&Installation>, Problem> {
        let on = event.store_id.clone().zip(subscription.app_id.clone());
        match on.and_then(|on| self.installations.get(&on)) {
            Some(Ok(found)) => Ok(found.as_ref()),
            Some(Err(problem)) => Err(problem.clone()),
            None => Ok(None),
        }
    }
}

/// The installations of the apps that subscribed on a store: what an app may be told ends with its
/// installation, not with its subscription. Those of an app that operators have stopped are left out.
async fn installations(
    services: &Services,
    subscriptions: &[&Subscription],
) -> HashMap<(StoreId, AppId), Result<Option<Installation>, Problem>> {
    let of_apps = subscriptions.iter().filter(|subscription| subscription.scopes.is_some());
    let wanted: HashSet<(StoreId, AppId)> = of_apps
        .filter_map(|subscription| subscription.store_id.clone().zip(subscription.app_id.clone()))
        .collect();
    let keyed: Vec<((StoreId, AppId), [Key; 2])> = wanted
        .into_iter()
        .map(|(store, services)| {
            let id = Installation::id_of(&store, &services);
            let keys = [key::installation(&id), Stop::of(&services, &id)];
            ((store, services), keys)
        })
        .collect();
    let mut found = HashMap::new();
    for chunk in keyed.chunks(INSTALLATIONS) {
        let keys: Vec<&Key> = chunk.iter().flat_map(|(_, keys)| keys).collect();
        let mut batch = services.table.get_many(&keys).await;
        for (on, keys) in chunk {
            let outcome = match &mut batch {
                Ok(batch) => unless_stopped(batch, keys),
                Err(problem) => Err(problem.clone()),
            };
            found.insert(on.clone(), outcome);
        }
    }
    found
}

fn unless_stopped(
    batch: &mut Batch,
    [installation, stop]: &[Key; 2],
) -> Result<Option<Installation>, Problem> {
    let is_stopped = batch.take::<Stop>(stop)?.is_some();
    Ok(batch.take::<Installation>(installation)?.filter(|_| !is_stopped))
}
