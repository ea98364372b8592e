//! Who is told of the events of a batch: the subscriptions of their stores and of the apps that they are
//! about, read once for all of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use commerce::topics;
use delivery::delivery::Delivery;
use delivery::subscription::{Payload, Subscription};
use futures_util::stream::{self, StreamExt};
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Key;
use gateway::problem::Problem;
use gateway::table::{Batch, Query};
use ground::event::Event;
use ground::id::{AppId, StoreId};
use ground::key;
use platform::app::Stop;
use platform::installation::Installation;

use crate::PARALLEL;

/// Subscriptions read of one partition: a store's limit, or an app's own.
const MOST: usize = 60;
/// Installations that one round trip reads, each with the mark that stops its app.
const INSTALLATIONS: usize = 50;

/// The subscriptions of some partitions, and the installations of the apps that made them. What could
/// not be read is a fault of the events that it is needed for, and of no other.
#[derive(Debug, Default)]
pub(crate) struct Audience {
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
    pub(crate) async fn of(app: &App, events: &[&Event]) -> Self {
        let partitions: BTreeSet<String> =
            events.iter().flat_map(|event| partitions_of(event)).collect();
        let subscriptions: HashMap<String, Result<Vec<Subscription>, Problem>> =
            stream::iter(partitions)
                .map(|partition| async move {
                    let query = Query::partition(&partition).begins_with(key::SUBSCRIPTIONS);
                    let found = app.table.all::<Subscription>(&query, MOST).await;
                    (partition, found)
                })
                .buffer_unordered(PARALLEL)
                .collect()
                .await;
        let found: Vec<&Subscription> =
            subscriptions.values().filter_map(|found| found.as_ref().ok()).flatten().collect();
        let installations = installations(app, &found).await;
        Self { subscriptions, installations }
    }

    /// Whether all was asked for that says who is told of an event.
    pub(crate) fn knows(&self, event: &Event) -> bool {
        partitions_of(event).all(|partition| self.subscriptions.contains_key(&partition))
    }

    /// The deliveries of an event.
    ///
    /// # Errors
    /// Why it cannot be told who takes it.
    pub(crate) fn deliveries(
        &self,
        event: &Event,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, Problem> {
        let payload = Payload::from(event);
        let scope = topics::scope_of(&event.name);
        let mut deliveries = Vec::new();
        for partition in partitions_of(event) {
            let found = self.subscriptions.get(&partition);
            let found =
                found.map_or_else(|| Err(Problem::unavailable("not read")), Clone::clone)?;
            for subscription in &found {
                let installation = self.installation(event, subscription)?;
                if subscription.takes(event, scope, installation) && subscription.wants(&payload) {
                    deliveries.push(Delivery::new(event, subscription, now));
                }
            }
        }
        Ok(deliveries)
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
    app: &App,
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
        let mut batch = app.table.get_many(&keys).await;
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
