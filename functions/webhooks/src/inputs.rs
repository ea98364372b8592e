//! Inputs of attempts: their deliveries, and what the attempts of a batch share, which is read once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use commerce::topics;
use core_types::event::{Event, EventGroup};
use core_types::id::{DeliveryId, EventId};
use core_types::key;
use delivery::delivery::{Delivery, DeliveryMessage};
use delivery::subscription::Subscription;
use platform::app::Stop;
use platform::installation::{Installation, InstallationStatus};
use primitives::problem::Problem;
use services::Services;
use table::Batch;
use table::item::{Item, Key};

/// The number of messages whose inputs one round trip reads: five items each.
pub(crate) const AT_ONCE: usize = 20;

/// The inputs of an attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    /// None where it is read on its own.
    pub(crate) delivery: Option<Delivery>,
    pub(crate) event: Option<Arc<Event>>,
    pub(crate) subscription: Option<Arc<Subscription>>,
    /// The installation of the app that created the subscription on a store; none while operators have
    /// suspended the app.
    installation: Option<Arc<Installation>>,
}

/// The inputs of the attempts of a batch.
#[derive(Debug, Default)]
pub(crate) struct SharedInputs {
    deliveries: HashMap<DeliveryId, Delivery>,
    events: HashMap<EventId, Arc<Event>>,
    subscriptions: HashMap<Key, Arc<Subscription>>,
    installations: HashMap<Key, Arc<Installation>>,
    stops: HashSet<Key>,
}

/// The keys of the installation of the app that created a store's subscription, and of the mark of its
/// suspension by operators: either ends what the app may be sent. An app's own subscription needs
/// neither, because it also reports the app's uninstallation and suspension.
fn installation_keys(message: &DeliveryMessage) -> Option<[Key; 2]> {
    let (store, app) = (message.store_id.as_ref()?, message.app_id.as_ref()?);
    let id = Installation::id_of(store, app);
    Some([key::installation(&id), Stop::of(app, &id)])
}

/// All keys that a message's attempt needs besides its delivery's.
pub(crate) fn keys_of(message: &DeliveryMessage) -> Vec<Key> {
    let mut keys = vec![key::event(&message.event_id), message.subscription_key()];
    keys.extend(installation_keys(message).into_iter().flatten());
    keys
}

impl SharedInputs {
    /// Reads the inputs of up to [`AT_ONCE`] messages.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub(crate) async fn read(
        services: &Services,
        messages: &[DeliveryMessage],
    ) -> Result<Self, Problem> {
        let deliveries = messages.iter().map(|message| key::delivery(&message.delivery_id));
        let keys: HashSet<Key> = messages.iter().flat_map(keys_of).chain(deliveries).collect();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let mut shared = Self::default();
        for message in messages {
            shared.take(&mut batch, message);
        }
        Ok(shared)
    }

    /// Takes the inputs of a message, as far as they can be parsed. Others are read again for the single
    /// attempt, which then fails alone.
    pub(crate) fn take(&mut self, batch: &mut Batch, message: &DeliveryMessage) {
        if let Ok(Some(delivery)) = batch.take(&key::delivery(&message.delivery_id)) {
            self.deliveries.insert(message.delivery_id.clone(), delivery);
        }
        // Events that happened together are one item, which the first message takes for all.
        if let Ok(Some(group)) = batch.take::<EventGroup>(&key::event(&message.event_id)) {
            let events = group.into_events().into_iter();
            self.events.extend(events.map(|event| (event.id.clone(), Arc::new(event))));
        }
        take_into(&mut self.subscriptions, batch, message.subscription_key());
        if let Some([installation, stop]) = installation_keys(message) {
            take_into(&mut self.installations, batch, installation);
            if batch.take::<Stop>(&stop).is_ok_and(|found| found.is_some()) {
                self.stops.insert(stop);
            }
        }
    }

    /// The inputs of this message's attempt.
    pub(crate) fn of(&self, message: &DeliveryMessage) -> Inputs {
        let keys = installation_keys(message);
        let not_stopped = keys.filter(|[_, stop]| !self.stops.contains(stop));
        Inputs {
            delivery: self.deliveries.get(&message.delivery_id).cloned(),
            event: self.events.get(&message.event_id).cloned(),
            subscription: self.subscriptions.get(&message.subscription_key()).cloned(),
            installation: not_stopped.and_then(|[key, _]| self.installations.get(&key).cloned()),
        }
    }
}

fn take_into<T: Item>(all: &mut HashMap<Key, Arc<T>>, batch: &mut Batch, key: Key) {
    if let Ok(Some(found)) = batch.take::<T>(&key) {
        all.insert(key, Arc::new(found));
    }
}

impl Inputs {
    /// The inputs of one attempt besides its delivery, from a batch that was read for it alone.
    ///
    /// # Errors
    /// `internal` when one of them cannot be parsed.
    pub(crate) fn of(batch: &mut Batch, message: &DeliveryMessage) -> Result<Self, Problem> {
        let group = batch.take::<EventGroup>(&key::event(&message.event_id))?;
        let event = group.and_then(|group| group.into_event(&message.event_id)).map(Arc::new);
        let subscription = batch.take(&message.subscription_key())?.map(Arc::new);
        let mut installation = None;
        if let Some([installation_key, stop_key]) = installation_keys(message)
            && batch.take::<Stop>(&stop_key)?.is_none()
        {
            installation = batch.take(&installation_key)?.map(Arc::new);
        }
        Ok(Self { delivery: None, event, subscription, installation })
    }

    /// Whether the receiver is known to be prompt.
    pub(crate) fn is_prompt(&self) -> bool {
        self.subscription.as_ref().is_some_and(|found| found.health.is_prompt())
    }

    /// The event and the subscription to send it to, or the reason why it is never sent.
    pub(crate) fn deliverable(
        &self,
        is_test: bool,
    ) -> Result<(Arc<Event>, Arc<Subscription>), &'static str> {
        let event = self.event.as_ref().filter(|event| !event.is_expunged());
        let event = event.ok_or("payload_expunged")?;
        let subscription = self.subscription.as_ref().ok_or("subscription_deleted")?;
        // Nobody has confirmed the queue.
        if !subscription.is_confirmed() {
            return Err("subscription_unconfirmed");
        }
        // A test checks whether a receiver works, also before its subscription is enabled.
        if !subscription.is_enabled() && !is_test {
            return Err("subscription_disabled");
        }
        let installation = self.installation.as_deref();
        let is_active =
            installation.is_some_and(|found| found.status == InstallationStatus::Active);
        if subscription.scopes.is_some() && !is_active {
            return Err("installation_inactive");
        }
        // A test has sample data, and was authorized when it was requested.
        if !is_test && !subscription.may_read(topics::scope_of(&event.name), installation) {
            return Err("insufficient_scope");
        }
        Ok((Arc::clone(event), Arc::clone(subscription)))
    }
}
