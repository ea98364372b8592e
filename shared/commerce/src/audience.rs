//! The audience of a batch of events: the subscriptions of their stores and of the apps that they are about,
//! read once for the whole batch.

use std::collections::{BTreeSet, HashMap, HashSet};

use core_types::event::Event;
use core_types::id::{AppId, StoreId, SubscriptionId};
use core_types::key;
use delivery::delivery::Delivery;
use delivery::replay::Replay;
use delivery::subscription::{Ordering, Payload, Subscription};
use futures_util::stream::{self, StreamExt};
use platform::app::Stop;
use platform::installation::Installation;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;
use table::{Batch, Query};

use crate::topics;

/// The most subscriptions that are read of one partition: the limit of a store or an app.
const MOST: usize = 60;
/// Partitions read in parallel.
const PARALLEL: usize = 8;
/// Installations read in one round trip, each with the mark that stops its app.
const INSTALLATIONS: usize = 50;

/// The subscriptions of some partitions, and the installations of the apps that created them. A failed read
/// only affects the events that need it.
#[derive(Debug, Default)]
pub struct Audience {
    subscriptions: HashMap<String, Result<Vec<Subscription>, Problem>>,
    installations: HashMap<(StoreId, AppId), Result<Option<Installation>, Problem>>,
}

/// The partitions with the subscriptions that may receive an event.
fn partitions_of(event: &Event) -> impl Iterator<Item = String> + use<> {
    let store = event.store_id.as_ref().map(|store| key::store(store).pk);
    let app = event.app_id.as_ref().map(|app| key::app(app).pk);
    store.into_iter().chain(app)
}

impl Audience {
    /// Reads the audience of these events.
    pub async fn of(services: &Services, events: &[&Event]) -> Self {
        let partitions = events.iter().flat_map(|event| partitions_of(event));
        Self::read(services, partitions.collect()).await
    }

    /// Reads the audience of a store's events among the subscriptions of the store.
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

    /// Whether all partitions that an event needs were read, successfully or not.
    pub fn knows(&self, event: &Event) -> bool {
        partitions_of(event).all(|partition| self.subscriptions.contains_key(&partition))
    }

    /// Whether a subscription that may receive an event wants the events about an entity in order. Also true
    /// where that could not be read.
    pub fn is_ordered(&self, event: &Event) -> bool {
        let is_ordered = |found: &Subscription| found.ordering == Ordering::Entity;
        partitions_of(event)
            .any(|partition| self.found(&partition).map_or(true, |all| all.iter().any(is_ordered)))
    }

    /// Creates the deliveries of an event.
    ///
    /// # Errors
    /// The error of a read that it needs.
    pub fn deliveries(&self, event: &Event, now: Timestamp) -> Result<Vec<Delivery>, Problem> {
        let payload = Payload::from(event);
        let mut deliveries = Vec::new();
        for partition in partitions_of(event) {
            let mut receiving = self.receivers_in(event, &partition)?;
            receiving.retain(|subscription| subscription.wants(&payload));
            let made = receiving.into_iter();
            deliveries
                .extend(made.map(|subscription| Delivery::in_batch(event, subscription, now)));
        }
        Ok(deliveries)
    }

    /// The subscriptions of a store that receive an event of it now. Filters are not evaluated for an event
    /// whose payload was removed.
    ///
    /// # Errors
    /// The error of a read that it needs.
    pub fn on_store(&self, store: &StoreId, event: &Event) -> Result<Vec<&Subscription>, Problem> {
        let payload = Payload::from(event);
        let mut receiving = self.receivers_in(event, &key::store(store).pk)?;
        receiving.retain(|subscription| event.is_expunged() || subscription.wants(&payload));
        Ok(receiving)
    }

    /// The subscription with this id, if it is enabled and may read this event, regardless of its filters and
    /// event types.
    ///
    /// # Errors
    /// The error of a read that it needs.
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

    /// The enabled subscriptions that a replay may send to: limited to the subscription that it names, and to
    /// the app that requested it.
    ///
    /// # Errors
    /// The error of a read that it needs.
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
            None => {
                let cause = format!("the subscriptions of {partition} were not read");
                Err(Problem::unavailable(cause))
            }
        }
    }

    /// The subscriptions of a partition that receive an event, regardless of filters.
    fn receivers_in(&self, event: &Event, partition: &str) -> Result<Vec<&Subscription>, Problem> {
        let scope = topics::scope_of(&event.name);
        let mut receiving = Vec::new();
        for subscription in self.found(partition)? {
            let installation = self.installation(event, subscription)?;
            if subscription.matches_event(event, scope, installation) {
                receiving.push(subscription);
            }
        }
        Ok(receiving)
    }

    /// The installation on the event's store of the app that created a subscription.
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

/// Reads the installations of the apps that created subscriptions on a store: an app receives no events after
/// its installation ends, even if its subscription remains. Installations of stopped apps are omitted.
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
        .map(|(store, app)| {
            let id = Installation::id_of(&store, &app);
            let keys = [key::installation(&id), Stop::of(&app, &id)];
            ((store, app), keys)
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
