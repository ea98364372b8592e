//! Cancelling an order: its stock goes back, and what was paid is refunded. What was authorized, or
//! could still be paid, is voided after that: a provider that does not answer keeps no order alive.
//!
//! An order that was paid is cancelled and its refund reserved in one transaction; the refund then
//! goes on as any other ([`super::refund_order`]), and is resumed as any other.

use catalogue::inventory;
use core_types::id::{OrderId, StoreId};
use gateway::app::App;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use gateway::reply::Reply;
use gateway::request::IfMatch;
use table::{ReadConsistency, retry};

use super::close_payments::close_payments_or_warn;
use super::refund_order::{self, Earlier, NewRefund, Reserved};
use super::save_change::Spending;
use crate::order::refund::{Refund, RefundReason, WantedRefund};
use crate::order::{Order, load};

/// How a merchant cancels an order.
#[derive(Debug, Clone)]
pub struct CancelOrder {
    /// Why.
    pub reason: Option<String>,
    /// Whether its stock can be sold again.
    pub restock: bool,
    /// Whether what was paid goes back; a gift card that was set aside for an unpaid order does
    /// anyway.
    pub refund: bool,
    /// What the refund's id follows from: who asks for what, and under which idempotency key.
    pub seed: String,
    /// The order's version that the caller has seen, if it says so.
    pub if_match: IfMatch,
}

/// Cancels an order for its merchant, and answers with the order and the refund, if there was
/// anything to refund.
///
/// # Errors
/// Those of [`Order::cancel`] and [`Order::plan_refund`]; `precondition_failed`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`.
pub async fn cancel<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    input: &CancelOrder,
    answer: impl Fn(&Order, Option<&Refund>) -> R,
) -> Result<R, Problem> {
    let answer = |order: &Order, refund: Option<&Refund>| Ok(answer(order, refund));
    let spending = Spending::default();
    // A future of many kilobytes stays out of its caller's.
    let once = |consistency| once(app, (store, id, consistency), input, &spending, &answer);
    let reserved = inventory::persist_eventual_first(once);
    let reserved = Box::pin(reserved).await?;
    let answered = refund_order::finish(app, reserved, &answer).await?;
    Box::pin(close_payments_or_warn(app, store, id)).await;
    Ok(answered)
}

/// One attempt: the order is cancelled, and what goes back of its money is reserved.
async fn once<R: Reply>(
    app: &App,
    (store, id, consistency): (&StoreId, &OrderId, ReadConsistency),
    input: &CancelOrder,
    spending: &Spending,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<Reserved<R>, Problem> {
    let aggregate = load::aggregate_as(app, store, id, consistency).await?;
    let now = app.clock.now();
    let refund_id = match Earlier::of(&aggregate, &input.seed, now) {
        Earlier::Stands(refund) => {
            consistency.ensure_strong()?;
            return Reserved::of(aggregate, refund, answer);
        }
        Earlier::New(id) => id,
    };
    input.if_match.check(aggregate.order.version)?;
    let cancelled = aggregate.order.cancel(input.reason.clone(), input.restock, now)?;
    if !input.refund || cancelled.order.refundable().is_zero() {
        let answered = answer(&cancelled.order, None)?;
        let write = cancelled.save(app, app.table.write(), spending, now).await?;
        return write.answer(answered, now).await.map(Reserved::Done);
    }
    let (wanted, why) = (WantedRefund::default(), (RefundReason::Other, input.reason.clone()));
    let refund = NewRefund { id: refund_id, wanted: &wanted, why };
    refund_order::begin(app, &aggregate, cancelled, refund, spending, answer, now).await
}

/// Cancels an unpaid order for its shopper, if `validate` lets it pass.
///
/// # Errors
/// `not_found`, `already_fulfilled`, `invalid_state_transition`; what `validate` says.
pub async fn cancel_unpaid<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    reason: &str,
    validate: impl Fn(&Order, Timestamp) -> Result<(), Problem>,
    answer: impl Fn(&Order, Timestamp) -> R,
) -> Result<R, Problem> {
    let spending = Spending::default();
    let answered = retry(|| async {
        let now = app.clock.now();
        let before = load::order(app, store, id).await?;
        validate(&before, now)?;
        let change = before.cancel(Some(reason.to_owned()), true, now)?;
        let write = change.save(app, app.table.write(), &spending, now).await?;
        write.answer(answer(&change.order, now), now).await
    })
    .await?;
    Box::pin(close_payments_or_warn(app, store, id)).await;
    Ok(answered)
}
