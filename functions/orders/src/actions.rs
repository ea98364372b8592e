//! Actions on orders: close, reopen, hold, release, mark as paid, confirm, capture.

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::Topic;
use core_types::id::OrderId;
use core_types::key;
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::{Commit, answering};
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::{NoFields, request};
use primitives::problem::{Code, Problem};
use replies::{ResourceReply, change};
use sales::order::aggregate::PaymentWithOrder;
use sales::order::{
    ORDER_CLOSED, ORDER_HELD, ORDER_RELEASED, ORDER_REOPENED, Order, OrderAction, OrderView, load,
};
use sales::payment::load::connect;
use sales::workflows::record_payment;
use services::Services;
use table::{retry, retry_eventual_first};

/// `POST /v1/orders/{id}/close` (`closeOrder`): Close an order.
///
/// A closed order leaves the list of open orders; it can be reopened.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn close(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    transition(&caller, &app, &id, if_match, Order::closed, &ORDER_CLOSED).await
}

/// `POST /v1/orders/{id}/reopen` (`reopenOrder`): Reopen a closed order.
///
/// The order is listed among open orders again.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn reopen(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    transition(&caller, &app, &id, if_match, Order::reopened, &ORDER_REOPENED).await
}

/// `POST /v1/orders/{id}/hold` (`holdOrder`): Hold the fulfillment of an order.
///
/// A held order cannot be fulfilled until it is released.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn hold(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    transition(&caller, &app, &id, if_match, Order::held, &ORDER_HELD).await
}

/// `POST /v1/orders/{id}/release` (`releaseOrder`): Release an order from its hold.
///
/// The order can be fulfilled again.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn release(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    transition(&caller, &app, &id, if_match, Order::released, &ORDER_RELEASED).await
}

/// Executes a transition that changes neither stock nor payments.
async fn transition(
    caller: &StoreAccess<WriteOrders>,
    services: &Services,
    id: &OrderId,
    if_match: IfMatch,
    transition: fn(&Order, Timestamp) -> Result<Order, Problem>,
    topic: &Topic<OrderView>,
) -> Result<Json<OrderView>, Problem> {
    let key = key::order(&caller.store.id, id);
    change(services, &key, if_match, topic, |order, now| transition(order, now).map(Some)).await
}

/// The manual payment of an order.
#[request]
#[derive(Debug, Clone)]
pub struct MarkPaidRequest {
    /// The payment method, such as `cash`, `bank_transfer` or `card`.
    method: Option<Text<1, 50>>,
}

/// `POST /v1/orders/{id}/mark-paid` (`markOrderPaid`): Mark an order as paid.
///
/// The merchant states that the outstanding amount was received. A draft becomes an order.
///
/// # Errors
/// `not_found`, `order_already_paid`, `amount_mismatch`, `invalid_state_transition`,
/// `precondition_failed`, `version_conflict`; `insufficient_stock`: it is a draft whose hold on its stock has
/// ended, and the stock was sold.
pub async fn mark_paid(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(input): Body<MarkPaidRequest>,
) -> Result<Json<OrderView>, Problem> {
    let (app, store) = (&app, &caller.store.id);
    let (id, if_match, input) = (&id, &if_match, &input);
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let aggregate = load::aggregate_with_consistency(app, store, id, consistency).await?;
        if_match.check(aggregate.order.version)?;
        let method = input.method.clone().map(String::from);
        let change = aggregate.order.pay_manually(&aggregate.payments, method, now)?;
        let write = change.save(app, app.table.write(), consistency.into(), now).await?;
        write.answer(change.order.to_response(), now).await
    })
    .await
}

/// `POST /v1/orders/{id}/confirm` (`confirmOrder`): Confirm an order that is paid later.
///
/// Examples are cash on delivery and bank transfers. Its stock is committed, and it no longer expires
/// (docs/conventions.md §13).
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`; `insufficient_stock`: it is
/// a draft whose hold on its stock has ended, and the stock was sold.
pub async fn confirm(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    let (app, store) = (&app, &caller.store.id);
    let (id, if_match) = (&id, &if_match);
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let before = load::order_with_consistency(app, store, id, consistency).await?;
        if_match.check(before.version)?;
        let change = before.confirm(now)?;
        let write = change.save(app, app.table.write(), consistency.into(), now).await?;
        write.answer(change.order.to_response(), now).await
    })
    .await
}

/// `POST /v1/orders/{id}/capture` (`captureOrder`): Capture the authorized payments of an order.
///
/// The authorized amount is captured at the provider.
///
/// # Errors
/// `not_found`, `not_capturable`, `amount_exceeds_authorized`, `order_already_paid`,
/// `amount_mismatch`, `amount_not_supported`, `precondition_failed`, `provider_not_connected`,
/// `provider_error`, `provider_timeout`, `version_conflict`.
pub async fn capture(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    let (payment, amount) = retry(|| async {
        let aggregate = load::aggregate(&app, &caller.store.id, &id).await?;
        let order = &aggregate.order;
        if_match.check(order.version)?;
        if !order.allows(OrderAction::Capture) {
            return Err(Code::NotCapturable
                .with("current", order.financial_status.as_str())
                .with("allowed_actions", order.allowed_actions()));
        }
        let authorized = order.payments.iter().find(|payment| payment.is_open_authorization());
        let payment = authorized
            .ok_or_else(|| Problem::internal("the authorized payment of an order is missing"))?;
        let payment = aggregate.payment(&payment.payment_id)?;
        let amount = order.capturable(payment, None)?;
        Ok((payment.clone(), amount))
    })
    .await?;
    let provider_client = connect(&app, &caller.store.id, payment.provider).await?;
    let to_response = |known: &PaymentWithOrder| known.order.to_response();
    record_payment::capture(&app, &provider_client, &payment, &amount, &answering(to_response))
        .await
}
