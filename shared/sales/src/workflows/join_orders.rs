//! Assigns a guest's orders to the account that has proven the address.
//!
//! Each order is one transaction: the order, on condition of its version, and the counts of account and guest. So it is
//! counted once, however often it is tried, and whatever pays or refunds it meanwhile. After a crash the
//! work is still due, and skips the orders that were assigned before.

use core_types::id::{CustomerId, StoreId};
use core_types::key;
use identity::customer::Customer;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Problem;
use services::Services;
use table::item::{Item, Key};
use table::{Write, retry};

use super::give_order::assign_to_account;
use crate::discount::uses;
use crate::guest;
use crate::order::guest::GuestOrders;
use crate::order::{Order, OrderDiscount};

/// The most orders of one step.
const STEP: usize = 100;

/// Assigns the next orders. Returns when to continue, if there may be more.
///
/// # Errors
/// 503: the work stays due. `version_conflict`: an order keeps changing.
pub async fn step(
    services: &Services,
    store: &StoreId,
    customer: &CustomerId,
    guest: &str,
) -> Result<Option<Timestamp>, Problem> {
    let (work_key, account_key) =
        (key::guest_orders(store, customer, guest), key::customer(store, customer));
    let mut batch = services.table.get_many(&[&work_key, &account_key]).await?;
    let work: Option<GuestOrders> = batch.take(&work_key)?;
    let account: Option<Customer> = batch.take(&account_key)?;
    let Some(work) = work else { return Ok(None) };
    let (mut is_done, mut failed) = (true, 0_usize);
    if account.is_some() {
        let orders = services.table.keys(&work.orders(), STEP).await?;
        // The index is late and still lists assigned orders: the next step no longer finds them.
        is_done = orders.len() < STEP;
        for order in orders {
            match retry(|| join(services, &work, &order)).await {
                Ok(true) => {}
                Ok(false) => {
                    is_done = true;
                    break;
                }
                // An order that can never be assigned stays a guest's, and does not stop the others.
                Err(problem) if problem.is_permanent() => {
                    tracing::error!(
                        ?order, cause = %problem,
                        "guest order not linked to the customer's account"
                    );
                    failed = failed.saturating_add(1);
                }
                Err(problem) => return Err(problem),
            }
        }
    }
    // If none can be assigned, the next step would find the same orders.
    if !is_done && failed < STEP {
        return Ok(Some(services.clock.now().plus(MINUTE)));
    }
    services.table.write().delete(&work.key()).commit().await?;
    Ok(None)
}

/// Ends work that has met a permanent error. Its remaining orders stay the guest's.
///
/// # Errors
/// 503.
pub async fn fail(
    services: &Services,
    store: &StoreId,
    customer: &CustomerId,
    guest: &str,
) -> Result<(), Problem> {
    services.table.write().delete(&key::guest_orders(store, customer, guest)).commit().await
}

/// Assigns one order, unless that was done before. Returns whether the account exists.
async fn join(services: &Services, work: &GuestOrders, order: &Key) -> Result<bool, Problem> {
    let now = services.clock.now();
    let order: Option<Order> = services.table.get(order).await?;
    let order = order.filter(|order| order.store_id == work.store_id);
    let joined = order.as_ref().and_then(|it| it.joined(&work.customer_id, &work.guest, now));
    let (Some(order), Some(joined)) = (order, joined) else { return Ok(true) };
    let write = guest::reassign(services, services.table.write(), (&order, &joined)).await?;
    assign_to_account(uses_of(&joined, write), &joined, now).await
}

/// Counts the order's uses of discounts under its account.
fn uses_of(order: &Order, write: Write) -> Write {
    let Some(account) = &order.customer_id else { return write };
    let by_person = |discount: &&OrderDiscount| !discount.given_back && discount.used.by.is_some();
    order.discounts.iter().filter(by_person).fold(write, |write, discount| {
        uses::join(write, (&order.store_id, &discount.discount_id), account)
    })
}
