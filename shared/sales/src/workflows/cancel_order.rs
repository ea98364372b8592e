//! Cancelling an order: its stock and its money go back. What was authorized, or could still be
//! paid, is voided after that: a provider that does not answer keeps no order alive.

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::table::retry;
use ground::id::{OrderId, StoreId};
use ground::key;

use super::expire_order::void_open_payments_or_warn;
use super::refund_order::{self, RefundOrder};
use super::spending::Spending;
use crate::order::Order;
use crate::order::refund::Refund;

/// Cancels an order for its merchant, gives back what is asked for with it, and answers with the
/// order and the refund, if there was anything to refund.
///
/// # Errors
/// Those of [`Order::cancel`] and [`Order::plan_refund`]; `precondition_failed`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`.
pub async fn cancel<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    ask: &RefundOrder,
    answer: impl Fn(&Order, Option<&Refund>) -> R,
) -> Result<R, Problem> {
    let answer = |order: &Order, refund: Option<&Refund>| Ok(answer(order, refund));
    let answered = refund_order::run(app, (store, id), ask, &answer).await?;
    void_open_payments_or_warn(app, store, id).await;
    Ok(answered)
}

/// Cancels an unpaid order for its shopper, if `judge` lets it pass.
///
/// # Errors
/// `not_found`, `already_fulfilled`, `invalid_state_transition`; what `judge` says.
pub async fn cancel_unpaid<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    reason: &str,
    judge: impl Fn(&Order, Timestamp) -> Result<(), Problem>,
    answer: impl Fn(&Order, Timestamp) -> R,
) -> Result<R, Problem> {
    let spending = Spending::default();
    let answered = retry(|| async {
        let now = app.clock.now();
        let before: Order = app.table.get(&key::order(store, id)).await?.ok_or(Code::NotFound)?;
        judge(&before, now)?;
        let change = before.cancel(Some(reason.to_owned()), true, now)?;
        let write = change.save(app, app.table.write(), &spending, now).await?;
        write.answer(answer(&change.order, now), now).await
    })
    .await?;
    void_open_payments_or_warn(app, store, id).await;
    Ok(answered)
}
