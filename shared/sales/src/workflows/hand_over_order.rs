//! Moves an order to another account of the same person, with its counts there and its uses of discounts
//! that are limited per customer.

use core_types::id::CustomerId;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;
use table::{Write, retry};

use super::give_order::{assign_to_account, name};
use crate::discount::uses;
use crate::order::Order;

/// Moves an order, unless that was done before.
///
/// # Errors
/// `version_conflict` if the order keeps changing; 503.
pub async fn hand_over(
    services: &Services,
    order: &Key,
    from: &CustomerId,
    to: &CustomerId,
) -> Result<(), Problem> {
    retry(|| async {
        let now = services.clock.now();
        let before: Option<Order> = services.table.get(order).await?;
        let after = before.as_ref().and_then(|order| order.handed_over(from, to, now));
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        if !assign_to_account(uses_of(&before, services.table.write(), from, to), &after, now)
            .await?
        {
            name(uses_of(&before, services.table.write(), from, to), &after, now).await?;
        }
        Ok(())
    })
    .await
}

/// Adds the order's counted uses of discounts: at most one with a code and one automatic.
fn uses_of(order: &Order, write: Write, from: &CustomerId, to: &CustomerId) -> Write {
    let theirs = order.discounts.iter().filter(|discount| {
        !discount.given_back && discount.used.by.as_deref() == Some(from.as_str())
    });
    theirs.fold(write, |write, discount| {
        uses::hand_over(write, (&order.store_id, &discount.discount_id), (from, to))
    })
}
