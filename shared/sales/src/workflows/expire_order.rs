//! Processes due orders: expires those that were not paid in time, and closes open payments of ended ones.
//!
//! Crash safety. Before an order expires, its providers are called: paid payments are recorded and the
//! others voided, so that nobody pays for an ended order. A provider that does not answer delays the expiry,
//! but not forever, and does not stop calls to the others.
//!
//! An order whose payment is processed by its provider does not expire until that has succeeded or failed.
//!
//! An order that ends in any way leaves a due mark, which is removed when every payment is closed. Each step
//! may be repeated, even concurrently: a payment is closed under one idempotency key, its update is applied
//! once, and the order ends on condition of its version.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Problem;
use services::Services;
use table::Attempt;

use super::close_payments::{ASKED_AGAIN, close_payments, fetch_all, open_payments, remind};
use crate::order::{Order, OrderChange, load};
use crate::payment::ProviderDeadline;

/// The time after its expiry for which an order waits for providers that do not answer (our choice). Its stock
/// stays reserved meanwhile.
const LONGEST_WAIT: Duration = MINUTE.saturating_mul(30);

/// Processes an order whose due mark has passed. Returns whether something was done.
///
/// # Errors
/// Those of the provider; the order stays due. `version_conflict` if another process changed it.
pub async fn process(
    services: &Services,
    order: &Order,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let now = services.clock.now();
    if order.due_at().is_none_or(|at| now < at) {
        return Ok(false);
    }
    if !order.is_over() {
        return Box::pin(expire(services, order, deadline, now)).await;
    }
    Box::pin(close_payments(services, &order.store_id, &order.id, deadline)).await
}

/// Expires an order that was not paid in time, unless its provider reports a payment. Of a draft, only the hold on
/// its stock ends.
async fn expire(
    services: &Services,
    order: &Order,
    deadline: &ProviderDeadline,
    now: Timestamp,
) -> Result<bool, Problem> {
    let mut aggregate = load::aggregate(services, &order.store_id, &order.id).await?;
    if let Some(change) = aggregate.order.end_hold(now) {
        save(services, &change, now).await?;
        return Ok(true);
    }
    if aggregate.order.expire(now).is_none() {
        return Ok(false);
    }
    if open_payments(&aggregate).next().is_some() {
        let fetched = fetch_all(services, &aggregate, deadline).await;
        aggregate = load::aggregate(services, &order.store_id, &order.id).await?;
        let latest = aggregate.order.expires_at.map(|at| at.plus(LONGEST_WAIT));
        let can_wait = latest.is_some_and(|latest| now < latest);
        if !fetched.is_complete() && can_wait && aggregate.order.expire(now).is_some() {
            remind(services, &aggregate.order, Some(now.plus(ASKED_AGAIN)), 0).await?;
            return fetched.failed.map_or(Ok(false), Err);
        }
    }
    let Some(change) = aggregate.order.expire(now) else { return Ok(true) };
    save(services, &change, now).await?;
    Ok(true)
}

async fn save(services: &Services, change: &OrderChange, now: Timestamp) -> Result<(), Problem> {
    let write = change.save(services, services.table.write(), Attempt::First, now).await?;
    write.commit().await
}
