//! Fulfilment: lines leave, are followed, arrive, or are cancelled.

use axum::extract::State;
use catalogue::inventory;
use catalogue::location::Location;
use core_types::fields::WebUrl;
use core_types::id::{FulfillmentId, LocationId, OrderId, OrderItemId, StoreId};
use core_types::key;
use core_types::mail::Notice;
use core_types::resource::{Resource, change};
use core_types::scope::{ReadFulfillments, WriteFulfillments};
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch, NoFields, Path, request};
use identity::settings::Settings;
use identity::store::Store;
use platform::caller::StoreAccess;
use primitives::fields::{AtMost, Flag, Int, Patch, Text};
use primitives::problem::{Code, FieldError, FieldErrors, Problem};
use sales::order::cart::fault;
use sales::order::fulfillment::{
    FULFILLMENT_CANCELLED, FULFILLMENT_CREATED, FULFILLMENT_DELIVERED, FULFILLMENT_UPDATED,
    Fulfillment, FulfillmentLine, FulfillmentView, Tracking, WantedFulfillment, bring_back,
    take_out,
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

/// Units of a line.
#[request]
#[derive(Debug, Clone)]
pub struct FulfilledLine {
    /// The id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// How many units of it.
    quantity: Int<1, MAX_QUANTITY>,
}

/// How a parcel can be followed.
#[request]
#[derive(Debug, Clone, Default)]
pub struct TrackingRequest {
    /// The carrier's number.
    number: Patch<Text<1, 100>>,
    /// The carrier.
    company: Patch<Text<1, 100>>,
    /// Where it can be followed.
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

/// What is to leave.
#[request]
#[derive(Debug, Clone)]
pub struct FulfillRequest {
    /// Units by line; everything that is left unless some are named.
    items: Option<AtMost<FulfilledLine, MAX_LINES>>,
    /// Only what is at this location.
    location_id: Option<LocationId>,
    /// How it can be followed.
    tracking: Option<TrackingRequest>,
    /// Whether the customer is told.
    notify_customer: Flag,
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
            notify_customer: input.notify_customer.0,
        }
    }
}

/// A fulfilment with what it has made of its order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FulfillmentAnswer {
    /// What has left.
    fulfillment: FulfillmentView,
    /// Its order.
    order: FulfilledOrder,
}

/// As much of an order as a fulfilment changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FulfilledOrder {
    /// `ord_` and 32 hexadecimal digits.
    id: OrderId,
    /// What people call it.
    number: String,
    /// Where it is in its life.
    status: OrderStatus,
    /// What has become of its money.
    financial_status: FinancialStatus,
    /// How much of it has left.
    fulfillment_status: FulfillmentStatus,
    /// The actions that its state allows now.
    allowed_actions: Vec<&'static str>,
    /// What `If-Match` takes.
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
/// Each line is fulfilled by its quantity, in one or several fulfillments.
///
/// # Errors
/// `not_found`, `order_not_fulfillable`, `nothing_to_fulfill`, `quantity_exceeds_remaining`,
/// `insufficient_committed`, `precondition_failed`, `version_conflict`; `unknown_order_item`,
/// `duplicate` and `unknown_location` as faults of their fields.
pub async fn fulfill(
    caller: StoreAccess<WriteFulfillments>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(input): Body<FulfillRequest>,
) -> Result<Created<FulfillmentAnswer>, Problem> {
    let (app, store, id, if_match, input) = (&app, &caller.store, &id, &if_match, &input);
    inventory::persist_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let (before, fault) =
            look(app, &store.id, id, input.location_id.as_ref(), consistency).await?;
        if_match.check(before.version)?;
        let fulfilled = before.fulfill(input.clone().into(), now);
        let (order, fulfillment) = sound(fulfilled, fault)?;
        let topic = match order.fulfillment_status {
            FulfillmentStatus::Fulfilled => &ORDER_FULFILLED,
            _ => &ORDER_PARTIALLY_FULFILLED,
        };
        let write = app.table.write().replace(&order, Code::VersionConflict);
        let write = take_out(write, &before, &fulfillment, now);
        let write = write.create(&fulfillment, Code::VersionConflict);
        let left = fulfillment.event(&FULFILLMENT_CREATED, now);
        let is_told = is_told(app, store, &order, &fulfillment).await?;
        let left = if is_told { left.with_mail(Notice::OrderShipped) } else { left };
        write
            .emit(left)
            .emit(order.event(topic, now))
            .answer(Created::new(&FulfillmentAnswer::of(&fulfillment, &order)), now)
            .await
    })
    .await
}

/// The order, and what is wrong with the location that is named: one round trip.
async fn look(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    location: Option<&LocationId>,
    consistency: ReadConsistency,
) -> Result<(Order, Option<FieldError>), Problem> {
    let order_key = key::order(store, id);
    let location_key = location.map(|location| key::location(store, location));
    let keys: Vec<_> = std::iter::once(&order_key).chain(&location_key).collect();
    let mut batch = services.table.look(&keys, consistency).await?;
    let order = batch.take(&order_key)?.ok_or(Code::NotFound)?;
    let known: Option<Location> = match &location_key {
        Some(key) => batch.take(key)?,
        None => None,
    };
    let is_unknown = location.is_some() && known.is_none();
    let unknown = || fault("/location_id", "unknown_location", "There is no such location.");
    Ok((order, is_unknown.then(unknown)))
}

/// What was decided, unless a field was at fault: that one, and those that were found deciding.
fn sound<T>(decided: Result<T, Problem>, fault: Option<FieldError>) -> Result<T, Problem> {
    let Some(fault) = fault else { return decided };
    let mut errors = FieldErrors::from(vec![fault]);
    if let Err(problem) = decided {
        errors.merge(problem.errors().clone());
    }
    Err(Problem::invalid(errors))
}

/// Whether the customer is told by mail: if the merchant asked for it and the store's settings have it.
async fn is_told(
    services: &Services,
    store: &Store,
    order: &Order,
    fulfillment: &Fulfillment,
) -> Result<bool, Problem> {
    if order.email.is_none() || !fulfillment.notify_customer {
        return Ok(false);
    }
    let untouched = Settings::of(store);
    let settings: Option<Settings> = services.table.get(&untouched.key()).await?;
    Ok(settings.unwrap_or(untouched).notifications.shipping_confirmation)
}

/// `GET /v1/orders/{id}/fulfillments` (`listFulfillments`): List fulfillments of an order.
///
/// Fulfillments come oldest first.
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
    paging.whole(&app, views, |view| view.id.to_string()).await
}

/// How a fulfilment can be followed.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// What changes about it.
    tracking: TrackingRequest,
}

/// `PATCH /v1/orders/{id}/fulfillments/{fulfillment_id}` (`updateFulfillment`):
/// Update the tracking of a fulfillment.
///
/// Number, carrier and URL of its tracking can change.
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
/// Cancels it; its units are to be fulfilled again, from where they had left.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`,
/// `store_not_found`; `location_inactive`, when a location is not in use any more: the units can
/// come back to another by a return.
pub async fn cancel(
    caller: StoreAccess<WriteFulfillments>,
    State(app): State<App>,
    Path((id, fulfillment_id)): Path<(OrderId, FulfillmentId)>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<FulfillmentView>, Problem> {
    let (app, store, id, if_match) = (&app, &caller.store.id, &id, &if_match);
    let fulfillment_id = &fulfillment_id;
    inventory::persist_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let aggregate = load::aggregate_as(app, store, id, consistency).await?;
        let before = aggregate.fulfillment(fulfillment_id)?;
        if_match.check(before.version)?;
        let (order, fulfillment) = aggregate.order.cancel_fulfillment(before, now)?;
        let write = app
            .table
            .write()
            .replace(&order, Code::VersionConflict)
            .replace(&fulfillment, Code::VersionConflict);
        let locations = before.restock_locations(&order);
        let unchanged = load::restock_locations(app, store, &locations).await?;
        unchanged
            .ensure(bring_back(write, &order, before, now))
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
/// The customer is mailed, where the store's settings say so.
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
        let mut batch = app.table.look(&[of_fulfillment, of_order], consistency).await?;
        let before: Fulfillment = batch.take(of_fulfillment)?.ok_or(Code::NotFound)?;
        let order: Option<Order> = batch.take(of_order)?;
        if_match.check(before.version)?;
        let after = before.delivered(now)?;
        let event = after.event(&FULFILLMENT_DELIVERED, now);
        let is_told = order.is_some_and(|order| order.has_listener());
        let event = if is_told { event.with_mail(Notice::OrderDelivered) } else { event };
        let write = app.table.write().replace(&after, Code::VersionConflict).emit(event);
        write.answer(after.to_response(), now).await
    })
    .await
}
