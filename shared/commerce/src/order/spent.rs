//! What customers have spent: a statistic beside their account.
//!
//! It is written after the order, and not with it: an account may be gone, and no payment is to
//! fail for that. A crash between the two leaves the statistic short, and nothing else.

use gateway::app::App;
use gateway::problem::Code;

use super::Order;
use crate::customer;

impl Order {
    /// What the order has brought in: nothing while only gift cards were set aside for it.
    pub(super) fn brought_in(&self) -> i64 {
        if !self.has_money() && !self.totals.due.is_zero() {
            return 0;
        }
        self.refundable().amount
    }
}

/// Notes what became of an order's money between two of its versions.
pub async fn note(app: &App, before: &Order, after: &Order) {
    let more = after.brought_in().saturating_sub(before.brought_in());
    let Some(customer) = after.customer_id.as_ref().filter(|_| more != 0) else { return };
    let write =
        customer::count_spent(app.table.write(), &after.store_id, customer, more, Code::NotFound);
    if let Err(problem) = write.commit().await {
        tracing::debug!(cause = %problem, "a customer's spending was not noted");
    }
}
