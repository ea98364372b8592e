//! An order becomes another account's, of the same person: with what it counts there, and with its use of
//! discounts that a customer has a limited number of.

use core_types::id::CustomerId;
use gateway::app::App;
use table::item::Key;
use primitives::problem::Problem;
use table::{Write, retry};

use super::give_order::{give, name};
use crate::discount::uses;
use crate::order::Order;

/// Hands an order over, if it is to be handed over still.
///
/// # Errors
/// `version_conflict` when it is being changed again and again; 503.
pub async fn hand_over(
    app: &App,
    order: &Key,
    from: &CustomerId,
    to: &CustomerId,
) -> Result<(), Problem> {
    retry(|| async {
        let now = app.clock.now();
        let before: Option<Order> = app.table.get(order).await?;
        let after = before.as_ref().and_then(|order| order.handed_over(from, to, now));
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        if !give(uses_of(&before, app.table.write(), from, to), &after, now).await? {
            name(uses_of(&before, app.table.write(), from, to), &after, now).await?;
        }
        Ok(())
    })
    .await
}

/// Adds what the order's use of discounts counts: at most one of a code and one automatic one.
fn uses_of(order: &Order, write: Write, from: &CustomerId, to: &CustomerId) -> Write {
    let theirs = order.discounts.iter().filter(|discount| {
        !discount.given_back && discount.used.by.as_deref() == Some(from.as_str())
    });
    theirs.fold(write, |write, discount| {
        uses::hand_over(write, (&order.store_id, &discount.discount_id), (from, to))
    })
}
