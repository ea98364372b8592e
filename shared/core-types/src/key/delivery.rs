//! Keys of delivery: subscriptions, events, deliveries, mails.

use primitives::clock::Timestamp;
use table::item::{Index, Key};

use super::{IndexKey, gsi5, gsi6};
use crate::id::{AppId, DeliveryId, EventId, MailId, ReplayId, StoreId, SubscriptionId};

// Events and webhooks.

/// A webhook subscription of a store.
pub fn subscription(store: &StoreId, id: &SubscriptionId) -> Key {
    Key::new(format!("STO#{store}"), format!("WHS#{id}"))
}
/// The subscription of an app's own `webhook_url`, to events about the app on any store.
pub fn app_subscription(app: &AppId, id: &SubscriptionId) -> Key {
    Key::new(format!("APP#{app}"), format!("WHS#{id}"))
}
/// The counter of a store's subscriptions.
pub fn subscription_count(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "CTR#WHS")
}
/// The prefix of the sort keys of subscriptions.
pub const SUBSCRIPTIONS: &str = "WHS#";
/// The group of an event with the others of its transaction: outbox entry, timeline and audit trail in one
/// item.
pub fn event(id: &EventId) -> Key {
    Key::new(format!("EVT#{}", event_group(id)), "A")
}
/// The common part of the ids of events in one item: all but the last two digits, which number them.
pub fn event_group(id: &EventId) -> &str {
    let id = id.as_str();
    id.get(..id.len().saturating_sub(2)).unwrap_or(id)
}
/// The id of the event with this number, in the group of another event.
pub fn nth_event(of: &EventId, number: usize) -> EventId {
    EventId::parse(&format!("{}{number:02x}", event_group(of))).unwrap_or_else(|| of.clone())
}
/// The digits that tell this group from others of the same time; they sort as ids do.
pub fn event_moment(id: &EventId) -> &str {
    event_group(id).get(EventId::PREFIX.len().saturating_add(TIME_DIGITS)..).unwrap_or_default()
}
/// The digits of an id that are its time (RFC 9562 §5.7).
const TIME_DIGITS: usize = 12;
/// The partition of a store's events of a day, in the index that lists them.
pub fn events_on(store: &StoreId, day: Timestamp) -> String {
    format!("STO#{store}#EVT#{}", day.day())
}
/// The partition of a store's deliveries of a day; for an app's own subscription, the app's.
pub fn deliveries_on(tenant: &str, day: Timestamp) -> String {
    format!("{tenant}#DLV#{}", day.day())
}
/// The partition of a day's deliveries of one unsuccessful status.
pub fn deliveries_in(tenant: &str, status: &str, day: Timestamp) -> String {
    format!("{tenant}#DLV#{status}#{}", day.day())
}
/// The suffix of the sort keys of deliveries to a subscription.
pub fn to_subscription(subscription: &SubscriptionId) -> String {
    format!("#{subscription}")
}
/// A store's events of a day.
pub fn events_of_day(store: &StoreId, at: Timestamp, id: &EventId) -> IndexKey {
    gsi5(events_on(store, at), format!("{at}#{}", event_moment(id)))
}
/// The tenant of events and deliveries in partition keys: the store, otherwise the app.
pub fn event_tenant(store: Option<&StoreId>, app: Option<&AppId>) -> String {
    match (store, app) {
        (Some(store), _) => format!("STO#{store}"),
        (None, Some(app)) => format!("APP#{app}"),
        (None, None) => "-".to_owned(),
    }
}
/// The index of an entity's timeline on a store, and its partition there.
pub fn timeline_on(store: &StoreId, subject: &str) -> (Index, String) {
    (Index::Gsi6, timeline_of(&event_tenant(Some(store), None), subject))
}
fn timeline_of(tenant: &str, subject: &str) -> String {
    format!("{tenant}#ENT#{subject}")
}
/// The entry of an event in a timeline, which has the events about an entity and its parts.
pub fn timeline(tenant: &str, subject: &str, at: Timestamp, id: &EventId) -> IndexKey {
    gsi6(timeline_of(tenant, subject), format!("{at}#{}", event_moment(id)))
}
/// A delivery.
pub fn delivery(id: &DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "A")
}
/// The partition of a shard of the batches in which deliveries are made.
pub fn delivery_batches(shard: char) -> String {
    format!("DLV#BATCH#{shard}")
}
/// A batch of deliveries that were made together; `nonce` tells it from others of the same moment.
pub fn delivery_batch(shard: char, at: Timestamp, nonce: &str) -> Key {
    Key::new(delivery_batches(shard), format!("{at}#{nonce}"))
}
/// How far the sweep has come in the batches of deliveries.
pub fn batch_positions() -> Key {
    Key::new("DLV#BATCH", "A")
}
/// A receiver's long answer to an attempt.
pub fn recorded_answer(id: &DeliveryId, number: u32) -> Key {
    Key::new(format!("DLV#{id}"), format!("{RECORDED_ANSWERS}{number:04}"))
}
/// The prefix of the sort keys of recorded answers.
pub const RECORDED_ANSWERS: &str = "ANS#";
/// A store's deliveries of a day; for an app's own subscription, the app's.
pub fn deliveries_of_day(
    tenant: &str,
    at: Timestamp,
    id: &DeliveryId,
    subscription: &SubscriptionId,
) -> IndexKey {
    let place = format!("{at}#{id}{}", to_subscription(subscription));
    gsi5(deliveries_on(tenant, at), place)
}
/// A day's deliveries of one unsuccessful status.
pub fn deliveries_in_trouble(
    tenant: &str,
    status: &str,
    at: Timestamp,
    id: &DeliveryId,
    subscription: &SubscriptionId,
) -> IndexKey {
    let place = format!("{at}#{id}{}", to_subscription(subscription));
    gsi6(deliveries_in(tenant, status, at), place)
}
/// The partition of an ordering key: a subscription's unfinished deliveries about one entity, in order.
pub fn ordering_key(subscription: &SubscriptionId, entity: &str) -> String {
    format!("WHS#{subscription}#ENT#{entity}")
}
/// A delivery's position in its ordering key.
pub fn ordering_position(subscription: &SubscriptionId, entity: &str, order: &str) -> Key {
    Key::new(ordering_key(subscription, entity), order)
}
/// The rate limit of a subscription that has one.
pub fn delivery_rate_limit(subscription: &SubscriptionId) -> Key {
    Key::new(format!("WHS#{subscription}"), "PACE")
}
/// The concurrency permits of a receiving host, on a queue of deliveries.
pub fn permits_of_host(host: &str, queue: &str) -> Key {
    Key::new(format!("PLC#HOST#{host}"), queue)
}
/// The concurrency permits of a store or app that subscribed, on a queue of deliveries.
pub fn permits_of_tenant(tenant: &str, queue: &str) -> Key {
    Key::new(format!("PLC#{tenant}"), queue)
}
/// A replay of deliveries.
pub fn replay(id: &ReplayId) -> Key {
    Key::new(format!("{REPLAYS}{id}"), "A")
}
/// The prefix of the partition keys of replays.
pub const REPLAYS: &str = "RPL#";
/// The replay that is running on a store.
pub fn replay_under_way(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "RPL")
}
/// The partition of a store's replays, in the index that lists them.
pub fn replays_on(store: &StoreId) -> String {
    format!("STO#{store}#RPL")
}
/// A store's replays by time.
pub fn replays_of_store(store: &StoreId, at: Timestamp, id: &ReplayId) -> IndexKey {
    gsi5(replays_on(store), format!("{at}#{id}"))
}
/// An outgoing mail.
pub fn mail(id: &MailId) -> Key {
    Key::new(format!("MAI#{id}"), "A")
}

// The table's stream, where several processes read it.

/// The partition of the leases of the stream's shards.
pub const STREAM_LEASES: &str = "STREAM#LEASES";
/// The lease of a shard of the table's stream: which process reads it, and how far it has come.
pub fn stream_lease(shard: &str) -> Key {
    Key::new(STREAM_LEASES, shard)
}
