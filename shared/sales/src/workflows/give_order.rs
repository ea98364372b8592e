//! An order becomes an account's: the order under its version, and the account's counts, in one
//! transaction.

use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::Write;
use identity::customer;

use crate::order::{ORDER_UPDATED, Order};

/// Adds an order that has another customer now than in its version before.
fn change(write: Write, order: &Order, now: Timestamp) -> Write {
    write.replace(order, Code::VersionConflict).emit(order.event(&ORDER_UPDATED, now))
}

/// Gives the order to the account that it names; whether that is there.
///
/// # Errors
/// `version_conflict`; 503.
pub(super) async fn give(write: Write, order: &Order, now: Timestamp) -> Result<bool, Problem> {
    let Some(customer) = &order.customer_id else { return Ok(true) };
    let counts = customer::counted_order(order.brought_in()).only_if("attribute_exists(PK)");
    let account = key::customer(&order.store_id, customer);
    match change(write, order, now).update(&account, counts, Code::NotFound).commit().await {
        Ok(()) => Ok(true),
        Err(problem) if problem.code == Code::NotFound => Ok(false),
        Err(problem) => Err(problem),
    }
}

/// Names an account that is gone as the order's: the store's books know it by its id.
///
/// # Errors
/// `version_conflict`; 503.
pub(super) async fn name(write: Write, order: &Order, now: Timestamp) -> Result<(), Problem> {
    change(write, order, now).commit().await
}
