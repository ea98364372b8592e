//! The canary store, which drills and load tests run on (docs/operations.md).
//!
//! One transaction creates it on first use: an account that nobody can sign in to, an active store with its
//! location, and a webhook subscription whose receiver is a route of this service ([`receiver_url`]). Its ids
//! are fixed, so that creating it twice creates it once, and so that permissions can name it by its ids.

use std::time::Duration;

use catalogue::location;
use core_types::event::{Event, EventGroup};
use core_types::fields::{Country, Currency, Email, Subdomain};
use core_types::id::{DeliveryId, EventId, MerchantId, StoreId, SubscriptionId};
use core_types::key;
use crypto::seal;
use crypto::signature::SigningSecret;
use delivery::delivery::Delivery;
use delivery::subscription::{HealthStatus, Subscription, hint, seal_secret};
use identity::member::Memberships;
use identity::merchant::{Merchant, MerchantStatus};
use identity::store::{
    self, InventoryPolicy, NewStore, STORE_UPDATED, Store, StoreStatus, UniqueSubdomain,
};
use primitives::clock::{DAY, Timestamp};
use primitives::fields::FromText;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};

use crate::drill::Fate;

/// The path of the receiver of the canary's events.
pub const RECEIVER: &str = "/v1/operations/runtime/canary/deliveries";
/// The topic that it subscribes to: drills create its events, and load tests create none.
const EVENTS: &str = "store.updated";
/// The retention of receipts.
const RETENTION: Duration = DAY;

/// The receiver of the canary's events: this service itself, at the base URL that clients use.
pub fn receiver_url(services: &Services) -> String {
    format!("{}{RECEIVER}", *services.config.base_url)
}

fn subscription_key() -> Key {
    key::subscription(&StoreId::canary(), &SubscriptionId::canary())
}

/// Loads the canary's subscription, if the canary exists.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn subscription(services: &Services) -> Result<Option<Subscription>, Problem> {
    services.table.get(&subscription_key()).await
}

/// Loads the canary, or creates it, and ensures that its subscription is enabled, healthy and sends to this
/// service.
///
/// # Errors
/// 503 when the table or the keys cannot be reached.
pub async fn ensure(services: &Services) -> Result<Store, Problem> {
    table::retry(|| async {
        let (store_key, subscription_key) = (key::store(&StoreId::canary()), subscription_key());
        let mut batch = services.table.get_many(&[&store_key, &subscription_key]).await?;
        let found: Option<Store> = batch.take(&store_key)?;
        let subscribed: Option<Subscription> = batch.take(&subscription_key)?;
        match (found, subscribed) {
            (Some(store), Some(subscription)) => {
                repair(services, &subscription).await?;
                Ok(store)
            }
            _ => make(services).await,
        }
    })
    .await
}

/// Enables the subscription, resets its health and sets its URL, if a drill has left them otherwise.
async fn repair(services: &Services, before: &Subscription) -> Result<(), Problem> {
    let (now, url) = (services.clock.now(), receiver_url(services));
    let is_well =
        before.is_enabled() && before.url == url && before.health.word() == HealthStatus::Healthy;
    if is_well {
        return Ok(());
    }
    let moved = before.moved_to(url, now);
    let enabled = if moved.is_enabled() { moved } else { moved.enable(now)? };
    let repaired = Subscription {
        health: enabled.health.renewed(),
        version: before.version.saturating_add(1),
        ..enabled
    };
    repaired.save(services.table.write(), before).commit().await
}

async fn make(services: &Services) -> Result<Store, Problem> {
    let now = services.clock.now();
    let key = services.secrets.webhook_key().await?;
    let (merchant, store) = (merchant(now)?, open_store(now)?);
    let (id, secret) = (SubscriptionId::canary(), SigningSecret::generate());
    let subscription = Subscription {
        secret_hint: Some(hint(&secret)),
        description: Some("Failover drills".to_owned()),
        ..Subscription::for_store(
            &store.id,
            merchant.id.as_str(),
            id.clone(),
            receiver_url(services),
            vec![EVENTS.to_owned()],
            seal_secret(&key, &id, &secret),
            now,
        )
    };
    let write = services.table.write().create(&merchant, Code::VersionConflict);
    let write = write.create(&store, Code::VersionConflict);
    let is_free = UniqueSubdomain::is_free_for(&store.id, now);
    let write = write.put_if(&UniqueSubdomain::of(&store), is_free, Code::VersionConflict);
    let write = write.create(&location::Location::default_of(&store, now), Code::VersionConflict);
    write.create(&subscription, Code::VersionConflict).commit().await?;
    Ok(store)
}

/// An account without a password, at an address that no mail reaches (RFC 2606 §2): nobody signs in to it.
fn merchant(now: Timestamp) -> Result<Merchant, Problem> {
    Ok(Merchant {
        id: MerchantId::canary(),
        email: parsed::<Email>("canary@canary.invalid")?,
        email_verified: false,
        name: Some("Canary".to_owned()),
        locale: None,
        password_hash: None,
        mfa_enabled: false,
        status: MerchantStatus::Active,
        credential_generation: 1,
        password_generation: 1,
        newest_store_id: Some(StoreId::canary()),
        memberships: Memberships::default(),
        stores: 1,
        delete_at: None,
        created_at: now,
        updated_at: now,
        version: 1,
    })
}

/// An active store that accepts any order, with a random subdomain.
fn open_store(now: Timestamp) -> Result<Store, Problem> {
    let drawn = u64::from_be_bytes(seal::random_bytes());
    let new_store = NewStore {
        name: "Canary".to_owned(),
        subdomain: parsed::<Subdomain>(&format!("canary-{drawn:016x}"))?,
        currency: parsed::<Currency>("EUR")?,
        country: parsed::<Country>("DE")?,
        region: None,
        locale: None,
        timezone: None,
    };
    let id = StoreId::canary();
    Ok(Store {
        online_locations: vec![store::first_location(&id)],
        id,
        status: StoreStatus::Active,
        inventory_policy: InventoryPolicy::Continue,
        ..Store::create(&MerchantId::canary(), new_store, now)
    })
}

fn parsed<T: FromText>(text: &str) -> Result<T, Problem> {
    T::from_text(text).map_err(|fault| Problem::internal(format!("{text}: {}", fault.code)))
}

/// Changes the canary, which creates an event like any change of a store.
///
/// # Errors
/// 503 when the write was rejected; there is no event then.
pub async fn make_event(services: &Services) -> Result<EventId, Problem> {
    table::retry(|| async {
        let now = services.clock.now();
        let found: Option<Store> = services.table.get(&key::store(&StoreId::canary())).await?;
        let store =
            found.ok_or_else(|| Problem::internal("the canary store does not exist"))?.changed(now);
        let event = store.event(&STORE_UPDATED, &services.config.base_url, now);
        let id = event.id.clone();
        store::replace(services.table.write(), &store).emit(event).commit().await?;
        Ok(id)
    })
    .await
}

/// Loads the fates of the canary's events, each with whether the receiver has it, in two round trips.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn fates(
    services: &Services,
    events: &[EventId],
) -> Result<Vec<(EventId, Fate, bool)>, Problem> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let event_keys: Vec<Key> = events.iter().map(key::event).collect();
    let mut groups = services.table.get_many(&event_keys.iter().collect::<Vec<_>>()).await?;
    // Read after the events: a published event has its deliveries.
    let delivery_of =
        |event: &EventId| -> DeliveryId { Delivery::first_id(event, &SubscriptionId::canary()) };
    let delivery_keys: Vec<Key> =
        events.iter().map(|event| key::delivery(&delivery_of(event))).collect();
    let receipt_keys: Vec<Key> = events.iter().map(key::canary_receipt).collect();
    let both: Vec<&Key> = delivery_keys.iter().chain(&receipt_keys).collect();
    let mut found = services.table.get_many(&both).await?;
    let mut fates = Vec::new();
    for ((event, event_key), (delivery, receipt)) in
        events.iter().zip(&event_keys).zip(delivery_keys.iter().zip(&receipt_keys))
    {
        let group: Option<EventGroup> = groups.take(event_key)?;
        let stored: Option<Event> = group.and_then(|group| group.into_event(event));
        let delivery: Option<Delivery> = found.take(delivery)?;
        let receipt: Option<CanaryReceipt> = found.take(receipt)?;
        let fate = Fate::of(stored.as_ref(), delivery.as_ref());
        fates.push((event.clone(), fate, receipt.is_some()));
    }
    Ok(fates)
}

/// Rotates the signing secret of the canary's deliveries; both secrets sign during `grace`.
///
/// # Errors
/// 503 when the table or the keys cannot be reached.
pub async fn rotate_secret(services: &Services, grace: Duration) -> Result<(), Problem> {
    let key = services.secrets.webhook_key().await?;
    let secret = SigningSecret::generate();
    table::retry(|| async {
        let before = subscription(services).await?.ok_or(Code::NotFound)?;
        let now = services.clock.now();
        let finished = before.finish_rotation(now).unwrap_or_else(|_| before.clone());
        let sealed = seal_secret(&key, &before.id, &secret);
        let after = finished.rotate(sealed, Some(hint(&secret)), grace, now)?;
        let after = Subscription { version: before.version.saturating_add(1), ..after };
        after.save(services.table.write(), &before).commit().await
    })
    .await
}

/// Ends a rotation, if one is in progress: only the new secret signs from now on.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn finish_secret_rotation(services: &Services) -> Result<(), Problem> {
    table::retry(|| async {
        let before = subscription(services).await?.ok_or(Code::NotFound)?;
        match before.finish_rotation(services.clock.now()) {
            Ok(after) => after.save(services.table.write(), &before).commit().await,
            Err(_) => Ok(()),
        }
    })
    .await
}

/// The receipt of an event by the canary's receiver.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "canary_receipt", key = key::canary_receipt(&self.event_id))]
#[item(forget_at = Some(self.received_at.plus(RETENTION)))]
pub struct CanaryReceipt {
    /// The event.
    pub event_id: EventId,
    /// When it was first received.
    pub received_at: Timestamp,
    /// Always 1: it is written once.
    pub version: u64,
}

impl CanaryReceipt {
    /// The receipt for an event.
    pub fn of(event_id: EventId, now: Timestamp) -> Self {
        Self { event_id, received_at: now, version: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canary_accepts_any_order_and_has_no_sign_in() {
        let now = Timestamp::from_millis(1_767_225_600_000);
        let (store, merchant) = (open_store(now).unwrap(), merchant(now).unwrap());
        assert!(store.id.is_canary() && store.status == StoreStatus::Active);
        assert_eq!((store.owner_id, merchant.password_hash), (merchant.id, None));
        assert_eq!(store.online_locations, [store::first_location(&StoreId::canary())]);
        assert_ne!(store.subdomain, open_store(now).unwrap().subdomain);
        // The template permits the runner to access this account, and no other.
        let template = include_str!("../../../template.yaml");
        assert!(template.contains(&format!("\"MER#{}\"", MerchantId::canary())));
    }
}
