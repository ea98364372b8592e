//! Assigns an order to an account: writes the order, on condition of its version, and the account's counts
//! in one transaction.

use core_types::key;
use core_types::resource::Resource;
use identity::customer;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::Write;

use crate::order::{ORDER_UPDATED, Order};

/// Adds the write of an order whose customer has changed.
fn change(write: Write, order: &Order, now: Timestamp) -> Write {
    write.replace(order, Code::VersionConflict).emit(order.event(&ORDER_UPDATED, now))
}

/// Writes the order for the account that it names. Returns whether that account exists.
///
/// # Errors
/// `version_conflict`; 503.
pub(super) async fn assign_to_account(
    write: Write,
    order: &Order,
    now: Timestamp,
) -> Result<bool, Problem> {
    let Some(customer) = &order.customer_id else { return Ok(true) };
    let counts = customer::count_order(order.net_revenue()).only_if("attribute_exists(PK)");
    let account = key::customer(&order.store_id, customer);
    match change(write, order, now).update(&account, counts, Code::NotFound).commit().await {
        Ok(()) => Ok(true),
        Err(problem) if problem.code == Code::NotFound => Ok(false),
        Err(problem) => Err(problem),
    }
}

/// Writes the order for an account that was deleted, whose id the store's records still have.
///
/// # Errors
/// `version_conflict`; 503.
pub(super) async fn name(write: Write, order: &Order, now: Timestamp) -> Result<(), Problem> {
    change(write, order, now).commit().await
}
