//! Orders of guests become those of the account that has proven their address.
//!
//! Each is one transaction: the order under its version, and the account's counts. So it is counted
//! once, however often it is tried, and beside whatever pays or refunds it meanwhile. A crash leaves
//! the work due; what was joined before is no guest's any more.

use core_types::id::{CustomerId, StoreId};
use core_types::key;
use gateway::app::App;
use primitives::clock::{MINUTE, Timestamp};
use table::item::{Item, Key};
use primitives::problem::Problem;
use table::retry;
use identity::customer::Customer;

use super::give_order::give;
use crate::order::Order;
use crate::order::guest::GuestOrders;

/// Orders of one step: what is beyond them is the next one's.
const STEP: usize = 100;

/// Joins the next orders; when to go on, where there may be more.
///
/// # Errors
/// 503: the work stays due. `version_conflict`: an order is being changed again and again.
pub async fn step(
    app: &App,
    store: &StoreId,
    customer: &CustomerId,
    guest: &str,
) -> Result<Option<Timestamp>, Problem> {
    let (work_key, account_key) =
        (key::guest_orders(store, customer, guest), key::customer(store, customer));
    let mut batch = app.table.get_many(&[&work_key, &account_key]).await?;
    let work: Option<GuestOrders> = batch.take(&work_key)?;
    let account: Option<Customer> = batch.take(&account_key)?;
    let Some(work) = work else { return Ok(None) };
    let (mut is_done, mut failed) = (true, 0_usize);
    if account.is_some() {
        let orders = app.table.keys(&work.listed(), STEP).await?;
        // The index shows for a while what was joined: the next step finds it gone.
        is_done = orders.len() < STEP;
        for order in orders {
            match retry(|| join(app, &work, &order)).await {
                Ok(true) => {}
                Ok(false) => {
                    is_done = true;
                    break;
                }
                // One that can never be joined stays a guest's, and keeps no other from it.
                Err(problem) if problem.is_permanent() => {
                    tracing::error!(?order, cause = %problem, "an order of a guest is not joined");
                    failed = failed.saturating_add(1);
                }
                Err(problem) => return Err(problem),
            }
        }
    }
    // Where none can be joined, the next step would find the same.
    if !is_done && failed < STEP {
        return Ok(Some(app.clock.now().plus(MINUTE)));
    }
    app.table.write().delete(&work.key()).commit().await?;
    Ok(None)
}

/// Ends the work that has met an error that it would meet again: the orders stay guests'.
///
/// # Errors
/// 503.
pub async fn give_up(
    app: &App,
    store: &StoreId,
    customer: &CustomerId,
    guest: &str,
) -> Result<(), Problem> {
    app.table.write().delete(&key::guest_orders(store, customer, guest)).commit().await
}

/// Joins one order, if it is to be joined still; whether the account is there.
async fn join(app: &App, work: &GuestOrders, order: &Key) -> Result<bool, Problem> {
    let now = app.clock.now();
    let order: Option<Order> = app.table.get(order).await?;
    let order = order.filter(|order| order.store_id == work.store_id);
    let joined = order.and_then(|order| order.joined(&work.customer_id, &work.guest, now));
    let Some(joined) = joined else { return Ok(true) };
    give(app.table.write(), &joined, now).await
}
