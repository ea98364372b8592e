//! Routes of fulfilments: create, list, update the tracking, cancel, mark as delivered.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::inventory;
use catalogue::location::Location;
use core_types::fields::WebUrl;
use core_types::id::{FulfillmentId, LocationId, OrderId, OrderItemId, StoreId};
use core_types::key;
use core_types::mail::Notice;
use core_types::resource::Resource;
use core_types::scope::{ReadFulfillments, WriteFulfillments};
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch, Path};
use identity::settings::Settings;
use identity::store::Store;
use primitives::fields::{AtMost, Flag, Int, Patch, Text};
use primitives::input::{NoFields, request};
use primitives::problem::{Code, FieldError, FieldErrors, Problem};
use replies::{ResourceReply, change};
use sales::order::cart::violation;
use sales::order::fulfillment::{
    FULFILLMENT_CANCELLED, FULFILLMENT_CREATED, FULFILLMENT_DELIVERED, FULFILLMENT_UPDATED,
    Fulfillment, FulfillmentLine, FulfillmentView, Tracking, WantedFulfillment, fulfill_stock,
    return_stock,
};
use sales::order::{
    FinancialStatus, FulfillmentStatus, MAX_LINES, MAX_QUANTITY, ORDER_FULFILLED,
    ORDER_PARTIALLY_FULFILLED, ORDER_UPDATED, Order, OrderStatus, load,
};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{ReadConsistency, retry_eventual_first};

/// Units of a line to fulfil.
#[request]
#[derive(Debug, Clone)]
pub struct FulfilledLine {
    /// The line: the id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// The number of units.
    quantity: Int<1, MAX_QUANTITY>,
}

/// The tracking details of a parcel.
#[request]
#[derive(Debug, Clone, Default)]
pub struct TrackingRequest {
    /// The tracking number.
    number: Patch<Text<1, 100>>,
    /// The carrier.
    company: Patch<Text<1, 100>>,
    /// The URL of the tracking page.
    url: Patch<WebUrl>,
}

impl TrackingRequest {
    fn apply(self, before: &Tracking) -> Tracking {
        let mut tracking = before.clone();
        self.number.apply(&mut tracking.number);
        self.company.apply(&mut tracking.company);
        self.url.apply(&mut tracking.url);
        tracking
    }
}

/// A fulfilment to create.
#[request]
#[derive(Debug, Clone)]
pub struct FulfillRequest {
    /// The units by line; by default all units that are still to be fulfilled.
    items: Option<AtMost<FulfilledLine, MAX_LINES>>,
    /// The location to fulfil from. Only units that are there are fulfilled.
    location_id: Option<LocationId>,
    /// The tracking details.
    tracking: Option<TrackingRequest>,
    /// Whether the customer is notified, which they are by default.
    notify_customer: Option<Flag>,
}

impl From<FulfillRequest> for WantedFulfillment {
    fn from(input: FulfillRequest) -> Self {
        let line = |line: FulfilledLine| FulfillmentLine {
            order_item_id: line.order_item_id,
            quantity: u32::try_from(line.quantity.0).unwrap_or(0),
        };
        Self {
            items: input.items.map(|items| items.0.into_iter().map(line).collect()),
            location_id: input.location_id,
            tracking: input.tracking.unwrap_or_default().apply(&Tracking::default()),
            notify_customer: input.notify_customer.is_none_or(|flag| flag.0),
        }
    }
}

/// A fulfilment with the changed data of its order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FulfillmentAnswer {
    /// The fulfilment.
    fulfillment: FulfillmentView,
    /// The order.
    order: FulfilledOrder,
}

/// The data of an order that a fulfilment changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FulfilledOrder {
    /// The id: `ord_` and 32 hexadecimal digits.
    id: OrderId,
    /// The order number that people use.
    number: String,
    /// The status.
    status: OrderStatus,
    /// The payment status.
    financial_status: FinancialStatus,
    /// The fulfilment status.
    fulfillment_status: FulfillmentStatus,
    /// The actions that its status allows now.
    allowed_actions: Vec<&'static str>,
    /// The version for `If-Match`.
    version: u64,
}

impl FulfillmentAnswer {
    fn of(fulfillment: &Fulfillment, order: &Order) -> Self {
        let order = FulfilledOrder {
            id: order.id.clone(),
            number: order.number.clone(),
            status: order.status,
            financial_status: order.financial_status,
            fulfillment_status: order.fulfillment_status,
            allowed_actions: order.allowed_actions(),
            version: order.version,
        };
        Self { fulfillment: FulfillmentView::from(fulfillment), order }
    }
}

/// `POST /v1/orders/{id}/fulfill` (`fulfillOrder`): Fulfill lines of an order.
///
/// The units of a line can be fulfilled in one or several fulfilments.
///
/// # Errors
/// `not_found`, `order_not_fulfillable`, `nothing_to_fulfill`, `quantity_exceeds_remaining`,
/// `insufficient_committed`, `precondition_failed`, `version_conflict`; `unknown_order_item`,
/// `duplicate` and `unknown_location` as field errors.
pub async fn fulfill(
    caller: StoreAccess<WriteFulfillments>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(input): Body<FulfillRequest>,
) -> Result<Created<FulfillmentAnswer>, Problem> {
    let (app, store, id, if_match, input) = (&app, &caller.store, &id, &if_match, &input);
    inventory::retry_on_conflict_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let (before, violation) =
            load_with_location(app, &store.id, id, input.location_id.as_ref(), consistency).await?;
        if_match.check(before.version)?;
        let fulfilled = before.fulfill(input.clone().into(), now);
        let (order, fulfillment) = with_field_error(fulfilled, violation)?;
        let topic = match order.fulfillment_status {
            FulfillmentStatus::Fulfilled => &ORDER_FULFILLED,
            _ => &ORDER_PARTIALLY_FULFILLED,
        };
        let write = app.table.write().replace(&order, Code::VersionConflict);
        let write = fulfill_stock(write, &before, &fulfillment, now);
        let write = write.create(&fulfillment, Code::VersionConflict);
        let created = fulfillment.event(&FULFILLMENT_CREATED, now);
        let is_notified = is_notified(app, store, &order, &fulfillment).await?;
        let created = if is_notified { created.with_mail(Notice::OrderShipped) } else { created };
        write
            .emit(created)
            .emit(order.event(topic, now))
            .answer(Created::new(&FulfillmentAnswer::of(&fulfillment, &order)), now)
            .await
    })
    .await
}

/// Loads the order, and the field error of an unknown location, in one round trip.
async fn load_with_location(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    location: Option<&LocationId>,
    consistency: ReadConsistency,
) -> Result<(Order, Option<FieldError>), Problem> {
    let order_key = key::order(store, id);
    let location_key = location.map(|location| key::location(store, location));
    let keys: Vec<_> = std::iter::once(&order_key).chain(&location_key).collect();
    let mut batch = services.table.get_many_with(&keys, consistency).await?;
    let order = batch.take(&order_key)?.ok_or(Code::NotFound)?;
    let known: Option<Location> = match &location_key {
        Some(key) => batch.take(key)?,
        None => None,
    };
    let is_unknown = location.is_some() && known.is_none();
    let unknown = || violation("/location_id", "unknown_location", "There is no such location.");
    Ok((order, is_unknown.then(unknown)))
}

/// Returns the result, unless there is a field error: then that error, with the field errors of the result.
fn with_field_error<T>(
    decided: Result<T, Problem>,
    violation: Option<FieldError>,
) -> Result<T, Problem> {
    let Some(violation) = violation else { return decided };
    let mut errors = FieldErrors::from(vec![violation]);
    if let Err(problem) = decided {
        errors.merge(problem.errors().clone());
    }
    Err(Problem::invalid(errors))
}

/// Whether the customer is mailed: if the merchant requested it and the store's settings enable it.
async fn is_notified(
    services: &Services,
    store: &Store,
    order: &Order,
    fulfillment: &Fulfillment,
) -> Result<bool, Problem> {
    if order.email.is_none() || !fulfillment.notify_customer {
        return Ok(false);
    }
    let defaults = Settings::of(store);
    let settings: Option<Settings> = services.table.get(&defaults.key()).await?;
    Ok(settings.unwrap_or(defaults).notifications.shipping_confirmation)
}

/// `GET /v1/orders/{id}/fulfillments` (`listFulfillments`): List fulfillments of an order.
///
/// Fulfilments come oldest first.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadFulfillments>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    paging: Paging,
) -> Result<Page<FulfillmentView>, Problem> {
    let aggregate = load::aggregate(&app, &caller.store.id, &id).await?;
    let views: Vec<_> = aggregate.fulfillments.iter().map(FulfillmentView::from).collect();
    paging.slice(&app, views, |view| view.id.to_string()).await
}

/// The changes of a fulfilment.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The changes of its tracking details.
    tracking: TrackingRequest,
}

/// `PATCH /v1/orders/{id}/fulfillments/{fulfillment_id}` (`updateFulfillment`):
/// Update the tracking of a fulfillment.
///
/// The tracking number, carrier and URL can change.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn update(
    caller: StoreAccess<WriteFulfillments>,
    State(app): State<App>,
    Path((id, fulfillment_id)): Path<(OrderId, FulfillmentId)>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<FulfillmentView>, Problem> {
    let key = key::fulfillment(&caller.store.id, &id, &fulfillment_id);
    change(&app, &key, if_match, &FULFILLMENT_UPDATED, |before: &Fulfillment, now| {
        before.tracked(input.tracking.clone().apply(&before.tracking), now).map(Some)
    })
    .await
}

/// `POST /v1/orders/{id}/fulfillments/{fulfillment_id}/cancel` (`cancelFulfillment`): Cancel a fulfillment.
///
/// Its units can be fulfilled again, from the same locations.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`,
/// `storefront_not_found`; `location_inactive`: a location is no longer active. A return can bring the units
/// to another location.
pub async fn cancel(
    caller: StoreAccess<WriteFulfillments>,
    State(app): State<App>,
    Path((id, fulfillment_id)): Path<(OrderId, FulfillmentId)>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<FulfillmentView>, Problem> {
    let (app, store, id, if_match) = (&app, &caller.store.id, &id, &if_match);
    let fulfillment_id = &fulfillment_id;
    inventory::retry_on_conflict_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let aggregate = load::aggregate_with_consistency(app, store, id, consistency).await?;
        let before = aggregate.fulfillment(fulfillment_id)?;
        if_match.check(before.version)?;
        let (order, fulfillment) = aggregate.order.cancel_fulfillment(before, now)?;
        let write = app
            .table
            .write()
            .replace(&order, Code::VersionConflict)
            .replace(&fulfillment, Code::VersionConflict);
        let locations = before.restock_locations(&order);
        let unchanged = load::ensure_restock_locations(app, store, &locations).await?;
        unchanged
            .require(return_stock(write, &order, before, now))
            .emit(fulfillment.event(&FULFILLMENT_CANCELLED, now))
            .emit(order.event(&ORDER_UPDATED, now))
            .answer(fulfillment.to_response(), now)
            .await
    })
    .await
}

/// `POST /v1/orders/{id}/fulfillments/{fulfillment_id}/deliver` (`deliverFulfillment`):
/// Mark a fulfillment as delivered.
///
/// The customer is mailed if the store's settings enable it.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn deliver(
    caller: StoreAccess<WriteFulfillments>,
    State(app): State<App>,
    Path((id, fulfillment_id)): Path<(OrderId, FulfillmentId)>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<FulfillmentView>, Problem> {
    let (app, store, if_match) = (&app, &caller.store.id, &if_match);
    let keys = (key::fulfillment(store, &id, &fulfillment_id), key::order(store, &id));
    let (of_fulfillment, of_order) = (&keys.0, &keys.1);
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let mut batch = app.table.get_many_with(&[of_fulfillment, of_order], consistency).await?;
        let before: Fulfillment = batch.take(of_fulfillment)?.ok_or(Code::NotFound)?;
        let order: Option<Order> = batch.take(of_order)?;
        if_match.check(before.version)?;
        let after = before.delivered(now)?;
        let event = after.event(&FULFILLMENT_DELIVERED, now);
        let is_notified = order.is_some_and(|order| order.has_listener());
        let event = if is_notified { event.with_mail(Notice::OrderDelivered) } else { event };
        let write = app.table.write().replace(&after, Code::VersionConflict).emit(event);
        write.answer(after.to_response(), now).await
    })
    .await
}
