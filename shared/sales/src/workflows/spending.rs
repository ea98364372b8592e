//! What customers have spent: counted beside their account, in the transaction that changes the
//! money of an order.
//!
//! An account may be gone, or go at that moment, and no payment is to fail for that. So the first
//! attempt takes the account to be there, which costs no read; one that is refused is made again,
//! and from then on the account is looked for first, and left out when it is not there.

use std::sync::atomic::{AtomicBool, Ordering};

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::key;
use identity::customer::{self, Customer};

use crate::order::{Order, OrderChange};

/// What one change of an order's money means for its customer, however often the change is tried:
/// to be made before the first attempt.
#[derive(Debug, Default)]
pub struct Spending {
    was_tried: AtomicBool,
}

impl Spending {
    /// Adds what the customer has spent between two versions of an order to the transaction that
    /// writes the second. An account that has gone meanwhile ends in `version_conflict`; the next
    /// attempt leaves it out.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn count(
        &self,
        app: &App,
        write: Write,
        before: &Order,
        after: &Order,
    ) -> Result<Write, Problem> {
        let more = after.brought_in().saturating_sub(before.brought_in());
        let Some(id) = after.customer_id.as_ref().filter(|_| more != 0) else { return Ok(write) };
        if self.was_tried.swap(true, Ordering::Relaxed) {
            let known: Option<Customer> =
                app.table.get(&key::customer(&after.store_id, id)).await?;
            if known.is_none() {
                return Ok(write);
            }
        }
        Ok(customer::count_spent(write, &after.store_id, id, more, Code::VersionConflict))
    }
}

impl OrderChange {
    /// Adds all of it to a transaction, with what the order's customer has spent by it.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn save(
        &self,
        app: &App,
        write: Write,
        spending: &Spending,
        now: Timestamp,
    ) -> Result<Write, Problem> {
        spending.count(app, self.write(write, now), &self.before, &self.order).await
    }
}
