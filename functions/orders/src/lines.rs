//! Routes that cancel or return units of an order without a refund.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::inventory;
use core_types::id::{LocationId, OrderId, OrderItemId};
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Int, Text};
use primitives::input::request;
use primitives::problem::{FieldError, Problem};
use sales::order::lines::{CancelledLine, LinesView, ReturnedLine};
use sales::order::refund::RestockType;
use sales::order::{MAX_LINES, MAX_QUANTITY, Order, OrderChange, load};
use services::Services;

/// Units of a line to cancel.
#[request]
#[derive(Debug, Clone)]
pub struct CancelledRequest {
    /// The line: the id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// The number of units.
    quantity: Int<1, MAX_QUANTITY>,
}

/// Units to cancel.
#[request]
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// The units by line; by default all units that are still to be fulfilled.
    items: Option<AtMost<CancelledRequest, MAX_LINES>>,
    /// Whether their stock becomes available again; by default true.
    restock: Option<Flag>,
    /// The cancellation reason.
    reason: Option<Text<1, 500>>,
}

/// Units of a line to return.
#[request]
#[derive(Debug, Clone)]
pub struct ReturnedRequest {
    /// The line: the id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// The number of units.
    quantity: Int<1, MAX_QUANTITY>,
    /// `return`, the default: their stock becomes available again. `no_restock`: it does not.
    restock_type: Option<RestockType>,
    /// The location that they are returned to; by default the one that they were fulfilled from.
    location_id: Option<LocationId>,
}

/// Units to return.
#[request]
#[derive(Debug, Clone)]
pub struct ReturnRequest {
    /// The units by line.
    #[schemars(length(min = 1))]
    items: AtMost<ReturnedRequest, MAX_LINES>,
    /// The reason of the return.
    reason: Option<Text<1, 500>>,
}

fn units(quantity: Int<1, MAX_QUANTITY>) -> u32 {
    u32::try_from(quantity.0).unwrap_or(0)
}

/// Ensures that there is a line.
///
/// # Errors
/// `too_few`, at `/items`.
fn ensure_some<T>(items: &[T]) -> Result<(), Problem> {
    if items.is_empty() {
        return Err(Problem::field("/items", "too_few", "Must have at least one line."));
    }
    Ok(())
}

impl ReturnRequest {
    /// Validates the lines and returns them.
    ///
    /// # Errors
    /// `too_few`; `invalid_choice` for `cancel`, because the units are fulfilled; `not_applicable` for a
    /// location with `no_restock`.
    fn lines(&self) -> Result<Vec<ReturnedLine>, Problem> {
        ensure_some(&self.items.0)?;
        let mut errors = Vec::new();
        for (position, line) in self.items.0.iter().enumerate() {
            let mut reject = |field: &str, code: &'static str, detail: &'static str| {
                let pointer = format!("/items/{position}/{field}");
                errors.push(FieldError::new(pointer, code, detail));
            };
            match line.restock_type {
                Some(RestockType::Cancel) => {
                    let detail =
                        "Must be `return` or `no_restock`: the units are already fulfilled.";
                    reject("restock_type", "invalid_choice", detail);
                }
                Some(RestockType::NoRestock) if line.location_id.is_some() => {
                    let detail = "`location_id` is not allowed with `no_restock`.";
                    reject("location_id", "not_applicable", detail);
                }
                _ => {}
            }
        }
        if !errors.is_empty() {
            return Err(Problem::invalid(errors));
        }
        let line = |line: &ReturnedRequest| ReturnedLine {
            order_item_id: line.order_item_id.clone(),
            quantity: units(line.quantity),
            restock: line.restock_type != Some(RestockType::NoRestock),
            location_id: line.location_id.clone(),
        };
        Ok(self.items.0.iter().map(line).collect())
    }
}

/// `POST /v1/orders/{id}/lines/cancel` (`cancelOrderLines`): Cancel units of an order.
///
/// Units that are not fulfilled can be cancelled, once the order is confirmed, authorized or paid. Before that,
/// confirm the order first, or cancel it as a whole.
///
/// Units of an order that is not paid in full are not sold: its lines, discounts, tax and totals follow, and gift
/// cards that would pay more than the new total are credited. Units of a paid order are not refunded: create a
/// refund before or after this request.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `quantity_exceeds_remaining`, `precondition_failed`,
/// `version_conflict`; `too_few`, `unknown_order_item` and `duplicate` as field errors.
pub async fn cancel(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(input): Body<CancelRequest>,
) -> Result<Json<LinesView>, Problem> {
    let line = |line: &CancelledRequest| CancelledLine {
        order_item_id: line.order_item_id.clone(),
        quantity: units(line.quantity),
    };
    let requested: Option<Vec<_>> = match &input.items {
        Some(items) => {
            ensure_some(&items.0)?;
            Some(items.0.iter().map(line).collect())
        }
        None => None,
    };
    let restock = input.restock.is_none_or(|restock| restock.0);
    let reason = input.reason.map(String::from);
    change(&caller, &app, (&id, if_match), &[], |order, now| {
        order.cancel_lines(requested.as_deref(), restock, reason.clone(), now)
    })
    .await
}

/// `POST /v1/orders/{id}/lines/return` (`returnOrderLines`): Return units of an order.
///
/// Fulfilled units can be returned. Those of an order that is not paid in full are not sold: its amounts follow, as
/// when units are cancelled. Units of a paid order are not refunded: create a refund before or after this request.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `quantity_exceeds_remaining`, `precondition_failed`,
/// `version_conflict`, `storefront_not_found`, `location_inactive`; `too_few`, `invalid_choice`,
/// `not_applicable`, `unknown_order_item`, `duplicate`, `unknown_location` and `location_inactive` as field
/// errors.
pub async fn return_lines(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(input): Body<ReturnRequest>,
) -> Result<Json<LinesView>, Problem> {
    let lines = input.lines()?;
    let reason = input.reason.map(String::from);
    let requested: Vec<_> = lines.iter().map(|line| line.location_id.as_ref()).collect();
    change(&caller, &app, (&id, if_match), &requested, |order, now| {
        order.return_lines(&lines, reason.clone(), now)
    })
    .await
}

/// Saves a change of an order's lines in one transaction: the order, its stock and its events.
async fn change(
    caller: &StoreAccess<WriteOrders>,
    services: &Services,
    (id, if_match): (&OrderId, IfMatch),
    requested: &[Option<&LocationId>],
    decide: impl Fn(&Order, Timestamp) -> Result<(OrderChange, LinesView), Problem>,
) -> Result<Json<LinesView>, Problem> {
    let (store, if_match, decide) = (&caller.store.id, &if_match, &decide);
    inventory::retry_on_conflict_eventual_first(|consistency| async move {
        let now = services.clock.now();
        let before = load::order_with_consistency(services, store, id, consistency).await?;
        if_match.check(before.version)?;
        let (change, view) = decide(&before, now)?;
        let locations = view.restock_locations().with_requested(requested.iter().copied());
        let restock_guard = load::ensure_restock_locations(services, store, &locations).await?;
        let write = restock_guard
            .require(change.save(services, services.table.write(), consistency.into(), now).await?);
        write.answer(Json::new(&view).version(change.order.version), now).await
    })
    .await
}
