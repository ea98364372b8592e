//! Units of an order that are cancelled, or come back, without money.

use axum::extract::State;
use catalogue::inventory;
use core_types::id::{LocationId, OrderId, OrderItemId};
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path, request};
use platform::caller::StoreAccess;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Fault, Flag, Int, Text};
use primitives::problem::{FieldError, Problem};
use sales::order::lines::{CancelledLine, LinesView, ReturnedLine};
use sales::order::refund::RestockType;
use sales::order::{MAX_LINES, MAX_QUANTITY, Order, OrderChange, load};
use sales::workflows::save_change::Spending;
use services::Services;

/// Units of a line that are cancelled.
#[request]
#[derive(Debug, Clone)]
pub struct CancelledRequest {
    /// The id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// How many units of it.
    quantity: Int<1, MAX_QUANTITY>,
}

/// Units to be cancelled.
#[request]
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// By line; everything that has not left unless some are named.
    items: Option<AtMost<CancelledRequest, MAX_LINES>>,
    /// Whether they can be sold again; they can, unless said otherwise.
    restock: Option<Flag>,
    /// Why.
    reason: Option<Text<1, 500>>,
}

/// Units of a line that come back.
#[request]
#[derive(Debug, Clone)]
pub struct ReturnedRequest {
    /// The id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// How many units of it.
    quantity: Int<1, MAX_QUANTITY>,
    /// `return`, unless said otherwise: they can be sold again; `no_restock`: they cannot.
    restock_type: Option<RestockType>,
    /// Where they come back to; where they left from, unless said otherwise.
    location_id: Option<LocationId>,
}

/// Units that come back.
#[request]
#[derive(Debug, Clone)]
pub struct ReturnRequest {
    /// By line.
    #[schemars(length(min = 1))]
    items: AtMost<ReturnedRequest, MAX_LINES>,
    /// Why.
    reason: Option<Text<1, 500>>,
}

fn units(quantity: Int<1, MAX_QUANTITY>) -> u32 {
    u32::try_from(quantity.0).unwrap_or(0)
}

/// # Errors
/// `too_few`, at `/items`.
fn ensure_some<T>(items: &[T]) -> Result<(), Problem> {
    if items.is_empty() {
        return Err(Problem::field("/items", "too_few", "Name at least one line."));
    }
    Ok(())
}

impl ReturnRequest {
    /// # Errors
    /// `too_few`; `invalid_choice` for units that have left and are to be cancelled;
    /// `not_applicable` for a location of what goes into no stock.
    fn lines(&self) -> Result<Vec<ReturnedLine>, Problem> {
        ensure_some(&self.items.0)?;
        let mut errors = Vec::new();
        for (position, line) in self.items.0.iter().enumerate() {
            let mut reject = |field: &str, code: &'static str, detail: &'static str| {
                let pointer = format!("/items/{position}/{field}");
                errors.push(FieldError { pointer, fault: Fault::new(code, detail) });
            };
            match line.restock_type {
                Some(RestockType::Cancel) => {
                    let detail = "Must be `return` or `no_restock`: these units have left.";
                    reject("restock_type", "invalid_choice", detail);
                }
                Some(RestockType::NoRestock) if line.location_id.is_some() => {
                    let detail = "What goes into no stock goes to no location.";
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
/// Cancels units that have not left, whatever becomes of their money: that goes back by a refund, before or
/// after. What was not paid need not be paid.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `quantity_exceeds_remaining`, `precondition_failed`,
/// `version_conflict`; `too_few`, `unknown_order_item` and `duplicate` as faults of their fields.
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
    let named: Option<Vec<_>> = match &input.items {
        Some(items) => {
            ensure_some(&items.0)?;
            Some(items.0.iter().map(line).collect())
        }
        None => None,
    };
    let restock = input.restock.is_none_or(|restock| restock.0);
    let reason = input.reason.map(String::from);
    change(&caller, &app, &id, if_match, |order, now| {
        order.cancel_lines(named.as_deref(), restock, reason.clone(), now)
    })
    .await
}

/// `POST /v1/orders/{id}/lines/return` (`returnOrderLines`): Return units of an order.
///
/// Returns units that have left, whatever becomes of their money: that goes back by a refund, before or
/// after. What was not paid need not be paid.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `quantity_exceeds_remaining`, `precondition_failed`,
/// `version_conflict`, `store_not_found`, `location_inactive`; `too_few`, `invalid_choice`,
/// `not_applicable`, `unknown_order_item`, `duplicate`, `unknown_location` and `location_inactive`
/// as faults of their fields.
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
    change(&caller, &app, &id, if_match, |order, now| {
        order.return_lines(&lines, reason.clone(), now)
    })
    .await
}

/// One change of an order's lines: the order, its stock, its events, in one transaction.
async fn change(
    caller: &StoreAccess<WriteOrders>,
    services: &Services,
    id: &OrderId,
    if_match: IfMatch,
    decide: impl Fn(&Order, Timestamp) -> Result<(OrderChange, LinesView), Problem>,
) -> Result<Json<LinesView>, Problem> {
    let (store, spending) = (&caller.store.id, &Spending::default());
    let (if_match, decide) = (&if_match, &decide);
    inventory::persist_eventual_first(|consistency| async move {
        let now = services.clock.now();
        let before = load::order_as(services, store, id, consistency).await?;
        if_match.check(before.version)?;
        let (change, view) = decide(&before, now)?;
        let unchanged = load::restock_locations(services, store, &view.restock_locations()).await?;
        let write =
            unchanged.ensure(change.save(services, services.table.write(), spending, now).await?);
        write.answer(Json::new(&view).version(change.order.version), now).await
    })
    .await
}
