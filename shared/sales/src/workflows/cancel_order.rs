//! Cancels an order: releases its stock and refunds what was paid. Authorizations and open payments are
//! voided after that, so a provider that does not answer does not keep the order open.
//!
//! A paid order is cancelled and its refund reserved in one transaction. The refund then continues, and can
//! be resumed, like any other ([`super::refund_order`]).

use catalogue::inventory;
use core_types::id::{CustomerId, OrderId, StoreId};
use primitives::problem::Problem;
use primitives::version::ExpectedVersion;
use services::Services;
use table::{Completion, ReadConsistency, retry_attempts};

use super::close_payments::close_payments_or_warn;
use super::explain_rejection::explained;
use super::refund_order::{self, EarlierRefund, NewRefund, RefundReservation, Refunded};
use crate::order::refund::{Refund, RefundReason, UnusableGiftCards, WantedRefund};
use crate::order::{Order, PresentedToken, load};

/// A merchant's request to cancel an order.
#[derive(Debug, Clone)]
pub struct CancelOrder {
    /// The reason.
    pub reason: Option<String>,
    /// Whether its stock becomes available again.
    pub restock: bool,
    /// Whether payments are refunded. Gift cards of an unpaid order are refunded in any case.
    pub refund: bool,
    /// The destination of the money of gift cards that cannot be used.
    pub unusable_gift_cards: Option<UnusableGiftCards>,
    /// The refund's id is derived from this: the caller, the request and its idempotency key.
    pub seed: String,
    /// The order's version that the caller expects, if any.
    pub expected_version: ExpectedVersion,
}

/// A cancelled order.
#[derive(Debug, Clone)]
pub struct Cancelled {
    /// The order.
    pub order: Order,
    /// Its refund, if there was anything to refund.
    pub refund: Option<Refund>,
}

impl From<Refunded> for Cancelled {
    fn from(refunded: Refunded) -> Self {
        Self { order: refunded.order, refund: Some(refunded.refund) }
    }
}

/// Cancels an order for its merchant.
///
/// # Errors
/// Those of [`Order::cancel`] and [`Order::plan_refund`]; `precondition_failed`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`. After a rejection by the provider the order is
/// cancelled, and its refund has failed.
pub async fn cancel<C: Completion<Cancelled>>(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    input: &CancelOrder,
    completion: &C,
) -> Result<C::Output, Problem> {
    // Boxed: this future takes many kilobytes.
    let once = |consistency| once(services, (store, id, consistency), input, completion);
    let reserved = inventory::retry_on_conflict_eventual_first(once);
    let reserved = Box::pin(reserved).await?;
    let refunding = refund_order::finish(services, reserved, completion);
    let output = explained(services, refunding).await?;
    Box::pin(close_payments_or_warn(services, store, id)).await;
    Ok(output)
}

/// Makes one attempt: cancels the order and reserves its refund.
async fn once<C: Completion<Cancelled>>(
    services: &Services,
    (store, id, consistency): (&StoreId, &OrderId, ReadConsistency),
    input: &CancelOrder,
    completion: &C,
) -> Result<RefundReservation<C::Output>, Problem> {
    let aggregate = load::aggregate_with_consistency(services, store, id, consistency).await?;
    let now = services.clock.now();
    let refund_id = match EarlierRefund::of(&aggregate, &input.seed, now) {
        EarlierRefund::Begun(refund) => {
            consistency.ensure_strong()?;
            return Ok(RefundReservation::of(aggregate, refund, completion));
        }
        EarlierRefund::New(id) => id,
    };
    input.expected_version.check(aggregate.order.version)?;
    let cancelled = aggregate.order.cancel(input.reason.clone(), input.restock, now)?;
    if !input.refund || cancelled.order.refundable().is_zero() {
        let write = services.table.write();
        let write = cancelled.save(services, write, consistency.into(), now).await?;
        let outcome = Cancelled { order: cancelled.order, refund: None };
        return completion.commit(write, &outcome, now).await.map(RefundReservation::Done);
    }
    let unusable_gift_cards = input.unusable_gift_cards;
    let wanted = WantedRefund { unusable_gift_cards, ..WantedRefund::default() };
    let why = (RefundReason::Other, input.reason.clone());
    let refund = NewRefund { id: refund_id, wanted: &wanted, why };
    let attempt = consistency.into();
    refund_order::begin(services, &aggregate, cancelled, refund, attempt, completion, now).await
}

/// A shopper's request to cancel an order.
#[derive(Debug, Clone, Copy)]
pub struct CancelByShopper<'a> {
    /// The customer who is signed in, if any.
    pub customer: Option<&'a CustomerId>,
    /// The order's token, if the request has one.
    pub token: Option<&'a PresentedToken>,
    /// The reason.
    pub reason: &'a str,
}

/// Cancels an unpaid order for its shopper.
///
/// # Errors
/// `not_found`, also if the order is not the shopper's; those of [`Order::cancel_by_shopper`].
pub async fn cancel_by_shopper<C: Completion<Order>>(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    input: CancelByShopper<'_>,
    completion: &C,
) -> Result<C::Output, Problem> {
    let output = retry_attempts(|attempt| async move {
        let now = services.clock.now();
        let before = load::order(services, store, id).await?;
        before.ensure_shown_to(input.customer, input.token)?;
        let change = before.cancel_by_shopper(input.reason, now)?;
        let write = change.save(services, services.table.write(), attempt, now).await?;
        completion.commit(write, &change.order, now).await
    })
    .await?;
    Box::pin(close_payments_or_warn(services, store, id)).await;
    Ok(output)
}
