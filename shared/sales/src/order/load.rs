//! Loaders: what is read of orders.

use catalogue::location::Location;
use core_types::id::{LocationId, OrderId, StoreId};
use core_types::key;
use core_types::resource;
use gateway::app::App;
use table::item;
use table::item::{Attributes, FromItem, Item, Key};
use gateway::page;
use primitives::problem::{Code, FieldError, Problem};
use table::{Query, ReadConsistency};
use identity::store::Store;

use super::Order;
use super::aggregate::{OrderAggregate, PaymentWithOrder};
use super::fulfillment::Fulfillment;
use super::number;
use super::refund::Refund;
use super::restock::{RestockLocations, UnchangedStore};
use crate::payment::Payment;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider_event::ProviderEvent;

/// Items that are read of one order.
const MAX_ITEMS: usize = 1_000;
/// Locations that are read in one round trip.
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

/// An order alone.
///
/// # Errors
/// `not_found`.
pub async fn order(app: &App, store: &StoreId, id: &OrderId) -> Result<Order, Problem> {
    order_as(app, store, id, ReadConsistency::Strong).await
}

/// As [`order`], as it is or at an eventually consistent read.
///
/// # Errors
/// `not_found`.
pub async fn order_as(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    consistency: ReadConsistency,
) -> Result<Order, Problem> {
    resource::load_as(app, &key::order(store, id), consistency).await
}

/// An order with all that belongs to it: one query, because they share a partition.
///
/// # Errors
/// `not_found`.
pub async fn aggregate(
    app: &App,
    store: &StoreId,
    id: &OrderId,
) -> Result<OrderAggregate, Problem> {
    aggregate_as(app, store, id, ReadConsistency::Strong).await
}

/// As [`aggregate`], as it is or at an eventually consistent read.
///
/// # Errors
/// `not_found`.
pub async fn aggregate_as(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    consistency: ReadConsistency,
) -> Result<OrderAggregate, Problem> {
    let query = Query::partition(key::order(store, id).pk).seen(consistency);
    let found: Vec<Member> = app.table.all(&query, MAX_ITEMS).await?;
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

/// The orders that people call this, with or without the prefix: `1001` and `#1001`. There is
/// mostly one; a prefix that ends in digits can make two orders look alike. One round trip, however
/// many orders the store has.
///
/// # Errors
/// The table does not answer.
pub async fn by_number(app: &App, store: &Store, text: &str) -> Result<Vec<Order>, Problem> {
    let numbered = |serial| (serial, key::order(&store.id, &store.order_id(serial)));
    let named: Vec<(u64, Key)> = number::serials_in(text).map(numbered).collect();
    let keys: Vec<&Key> = named.iter().map(|(_, key)| key).collect();
    let mut batch = app.table.get_many(&keys).await?;
    let mut found = Vec::new();
    for (serial, key) in &named {
        let Some(order) = batch.take::<Order>(key)? else { continue };
        page::count_read(1);
        if order.number == text || serial.to_string() == text {
            found.push(order);
        }
    }
    Ok(found)
}

/// A payment and its order, in one round trip.
///
/// # Errors
/// `not_found`.
pub async fn payment(app: &App, lookup: &PaymentLookup) -> Result<PaymentWithOrder, Problem> {
    payment_and_event(app, lookup, None).await.map(|(known, _)| known)
}

/// A payment and its order, and whether an event has been handled.
pub(crate) async fn payment_and_event(
    app: &App,
    lookup: &PaymentLookup,
    event: Option<&ProviderEvent>,
) -> Result<(PaymentWithOrder, bool), Problem> {
    let payment_key = key::payment(&lookup.store_id, &lookup.order_id, &lookup.payment_id);
    let order_key = key::order(&lookup.store_id, &lookup.order_id);
    let event_key = event.map(Item::key);
    let keys: Vec<&Key> = [&payment_key, &order_key].into_iter().chain(&event_key).collect();
    let mut found = app.table.get_many(&keys).await?;
    let payment = found.take(&payment_key)?.ok_or(Code::NotFound)?;
    let order = found.take(&order_key)?.ok_or(Code::NotFound)?;
    let handled = match &event_key {
        None => None,
        Some(key) => found.take::<ProviderEvent>(key)?,
    };
    Ok((PaymentWithOrder { payment, order }, handled.is_some()))
}

/// Whether units can come back to these locations, and what the transaction that brings them back
/// has to demand for that to stay true. Two round trips, none when nothing comes back. The store is
/// read first, so that a location that changes between the two is noticed by the write.
///
/// # Errors
/// `unknown_location` and `location_inactive` as faults of the fields; `location_inactive` as the
/// problem itself where no field could name another.
pub async fn restock_locations(
    app: &App,
    store: &StoreId,
    wanted: &RestockLocations,
) -> Result<UnchangedStore, Problem> {
    let ids: Vec<(Key, &LocationId)> =
        wanted.ids().map(|id| (key::location(store, id), id)).collect();
    if ids.is_empty() {
        return Ok(UnchangedStore::default());
    }
    let known: Store = app.table.get(&key::store(store)).await?.ok_or(Code::StoreNotFound)?;
    let mut errors: Vec<FieldError> = Vec::new();
    for chunk in ids.chunks(BATCH) {
        let keys: Vec<&Key> = chunk.iter().map(|(key, _)| key).collect();
        let mut batch = app.table.get_many(&keys).await?;
        for (key, id) in chunk {
            let location: Option<Location> = batch.take(key)?;
            errors.extend(wanted.faults(id, location.as_ref())?);
        }
    }
    if errors.is_empty() {
        return Ok(UnchangedStore::of(&known));
    }
    errors.sort_by(|one, other| one.pointer.cmp(&other.pointer));
    Err(Problem::invalid(errors))
}
