//! Loads orders and their parts.

use catalogue::location::Location;
use core_types::id::{GiftCardId, LocationId, OrderId, StoreId};
use core_types::key;
use core_types::resource;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item;
use table::item::{Attributes, FromItem, Item, Key};
use table::{Listed, Query, ReadConsistency};

use super::Order;
use super::aggregate::{OrderAggregate, PaymentWithOrder};
use super::fulfillment::Fulfillment;
use super::number;
use super::refund::{Refund, UnusableGiftCard, WantedRefund};
use super::restock::{LocationsUnchanged, RestockLocations};
use crate::gift_card::{GiftCard, GiftCardStatus};
use crate::payment::Payment;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider_event::ProviderEvent;

/// The most items of one order.
const MAX_ITEMS: usize = 1_000;
/// The locations that one round trip reads.
const BATCH: usize = 100;

/// An item of an order's partition.
enum Member {
    Order(Box<Order>),
    Fulfillment(Box<Fulfillment>),
    Refund(Box<Refund>),
    Payment(Box<Payment>),
    Other,
}

impl FromItem for Member {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        Ok(match item::kind(&attributes) {
            Order::KIND => Self::Order(Box::new(item::parse(attributes)?)),
            Fulfillment::KIND => Self::Fulfillment(Box::new(item::parse(attributes)?)),
            Refund::KIND => Self::Refund(Box::new(item::parse(attributes)?)),
            Payment::KIND => Self::Payment(Box::new(item::parse(attributes)?)),
            _ => Self::Other,
        })
    }
}

/// Loads an order without its parts, strongly consistent.
///
/// # Errors
/// `not_found`.
pub async fn order(services: &Services, store: &StoreId, id: &OrderId) -> Result<Order, Problem> {
    order_with_consistency(services, store, id, ReadConsistency::Strong).await
}

/// Loads an order as [`order`] does, with this consistency.
///
/// # Errors
/// `not_found`.
pub async fn order_with_consistency(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    consistency: ReadConsistency,
) -> Result<Order, Problem> {
    resource::load_with_consistency(services, &key::order(store, id), consistency).await
}

/// Loads an order with all its parts, in one query of their partition, strongly consistent.
///
/// # Errors
/// `not_found`.
pub async fn aggregate(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
) -> Result<OrderAggregate, Problem> {
    aggregate_with_consistency(services, store, id, ReadConsistency::Strong).await
}

/// Loads an order as [`aggregate`] does, with this consistency.
///
/// # Errors
/// `not_found`.
pub async fn aggregate_with_consistency(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    consistency: ReadConsistency,
) -> Result<OrderAggregate, Problem> {
    let query = Query::partition(key::order(store, id).pk).with_consistency(consistency);
    let found: Vec<Member> = services.table.all(&query, MAX_ITEMS).await?;
    let mut order = None;
    let (mut fulfillments, mut refunds, mut payments) = (Vec::new(), Vec::new(), Vec::new());
    for member in found {
        match member {
            Member::Order(found) => order = Some(*found),
            Member::Fulfillment(found) => fulfillments.push(*found),
            Member::Refund(found) => refunds.push(*found),
            Member::Payment(found) => payments.push(*found),
            Member::Other => {}
        }
    }
    refunds.sort_by_key(|refund| refund.created_at);
    payments.sort_by_key(|payment| payment.created_at);
    let order = order.ok_or(Code::NotFound)?;
    Ok(OrderAggregate { order, fulfillments, refunds, payments })
}

/// Finds the orders with this number, with or without the prefix: `1001` and `#1001`. Usually there is one;
/// a prefix that ends in digits makes a number ambiguous. Takes one round trip, however many orders the
/// store has.
///
/// # Errors
/// The table does not answer.
pub async fn by_number(
    services: &Services,
    store: &Store,
    text: &str,
) -> Result<Vec<Order>, Problem> {
    let numbered = |serial| (serial, key::order(&store.id, &store.order_id(serial)));
    let named: Vec<(u64, Key)> = number::serials_in(text).map(numbered).collect();
    let keys: Vec<&Key> = named.iter().map(|(_, key)| key).collect();
    let mut batch = services.table.get_many(&keys).await?;
    let mut found = Vec::new();
    for (serial, key) in &named {
        let Some(order) = batch.take::<Order>(key)? else { continue };
        Listed::count_read(1);
        if order.number == text || serial.to_string() == text {
            found.push(order);
        }
    }
    Ok(found)
}

/// Loads a payment and its order in one round trip.
///
/// # Errors
/// `not_found`.
pub async fn payment(
    services: &Services,
    lookup: &PaymentLookup,
) -> Result<PaymentWithOrder, Problem> {
    payment_and_event(services, lookup, None).await.map(|(known, _)| known)
}

/// Loads a payment and its order, and whether an event was handled before.
///
/// A batch reads its items one by one. It is read again if another write came in between.
pub(crate) async fn payment_and_event(
    services: &Services,
    lookup: &PaymentLookup,
    event: Option<&ProviderEvent>,
) -> Result<(PaymentWithOrder, bool), Problem> {
    let payment_key = key::payment(&lookup.store_id, &lookup.order_id, &lookup.payment_id);
    let order_key = key::order(&lookup.store_id, &lookup.order_id);
    let event_key = event.map(Item::key);
    let keys: Vec<&Key> = [&payment_key, &order_key].into_iter().chain(&event_key).collect();
    let mut reads: u32 = 1;
    loop {
        let mut found = services.table.get_many(&keys).await?;
        let payment = found.take(&payment_key)?.ok_or(Code::NotFound)?;
        let order = found.take(&order_key)?.ok_or(Code::NotFound)?;
        let known = PaymentWithOrder { payment, order };
        if known.agrees() || reads >= MAX_READS {
            let handled = match &event_key {
                None => None,
                Some(key) => found.take::<ProviderEvent>(key)?,
            };
            return Ok((known, handled.is_some()));
        }
        reads = reads.saturating_add(1);
    }
}

/// Reads of a payment and its order after which they are taken as they are.
const MAX_READS: u32 = 3;

/// Finds those of an order's gift cards that a refund may go to and that cannot be used now. Takes a read if there
/// are any that something can be refunded to.
///
/// # Errors
/// The table does not answer.
pub async fn unusable_gift_cards(
    services: &Services,
    order: &Order,
    wanted: &WantedRefund,
    now: Timestamp,
) -> Result<Vec<UnusableGiftCard>, Problem> {
    let mut unusable = Vec::new();
    let open = order.gift_cards.iter().filter(|card| !card.refundable().is_zero());
    let open: Vec<(Key, &GiftCardId)> = open
        .filter(|_| wanted.payment_id.is_none())
        .map(|card| (key::gift_card(&order.store_id, &card.card_id), &card.card_id))
        .collect();
    if open.is_empty() {
        return Ok(unusable);
    }
    let mut found =
        services.table.get_many(&open.iter().map(|(key, _)| key).collect::<Vec<_>>()).await?;
    for (key, id) in open {
        let card: Option<GiftCard> = found.take(&key)?;
        let status = card.map_or(GiftCardStatus::Disabled, |card| card.status_at(now));
        if status != GiftCardStatus::Active {
            unusable.push(UnusableGiftCard { id: id.clone(), status });
        }
    }
    Ok(unusable)
}

/// Checks that units can be put back at these locations. Returns the condition under which that still holds
/// in the transaction that puts them back.
///
/// Takes no round trip without locations, otherwise one for the store and one per hundred locations. The
/// store is read first, so that the write detects a location that changes in between.
///
/// # Errors
/// `unknown_location` and `location_inactive` as field errors; `location_inactive` as the problem itself if
/// the request has no field for the location.
pub async fn ensure_restock_locations(
    services: &Services,
    store: &StoreId,
    wanted: &RestockLocations,
) -> Result<LocationsUnchanged, Problem> {
    let ids: Vec<(Key, &LocationId)> =
        wanted.ids().map(|id| (key::location(store, id), id)).collect();
    if ids.is_empty() {
        return Ok(LocationsUnchanged::default());
    }
    let known: Store =
        services.table.get(&key::store(store)).await?.ok_or(Code::StorefrontNotFound)?;
    let mut errors: Vec<FieldError> = Vec::new();
    for chunk in ids.chunks(BATCH) {
        let keys: Vec<&Key> = chunk.iter().map(|(key, _)| key).collect();
        let mut batch = services.table.get_many(&keys).await?;
        for (key, id) in chunk {
            let location: Option<Location> = batch.take(key)?;
            errors.extend(wanted.field_errors(id, location.as_ref())?);
        }
    }
    if errors.is_empty() {
        return Ok(LocationsUnchanged::of(&known));
    }
    errors.sort_by(|one, other| one.pointer.cmp(&other.pointer));
    Err(Problem::invalid(errors))
}
