//! When the sweep processes an order: it was not paid in time, it has ended and a payment is still open, or it is a
//! draft whose hold on its stock ends.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};

use super::stock::{OrderStock, StockMove};
use super::{ORDER_UPDATED, Order, OrderChange, OrderStatus};

/// The time that the process which ended an order has to close its payments itself.
const GRACE: Duration = MINUTE;

impl Order {
    /// When the sweep processes it. An order whose payment is processed waits for the end of that, which the
    /// payment finds out ([`Payment::due_at`](crate::payment::Payment::due_at)).
    pub fn due_at(&self) -> Option<Timestamp> {
        if self.is_processing() {
            return None;
        }
        if self.status == OrderStatus::Draft {
            return self.stock_held_until;
        }
        match (self.expires_at, self.attend_at) {
            (Some(expires), Some(attend)) => Some(expires.max(attend)),
            (Some(expires), None) => Some(expires),
            (None, attend) => attend.filter(|_| self.is_over()),
        }
    }

    /// Releases the stock of a draft whose hold has ended. The draft stays; it takes its stock again when it
    /// becomes binding. `None` if it is not due.
    pub fn end_hold(&self, now: Timestamp) -> Option<OrderChange> {
        let is_due = self.stock_held_until.is_some_and(|at| at <= now);
        let reserves_stock =
            self.status == OrderStatus::Draft && self.stock == OrderStock::Reserved;
        (is_due && reserves_stock).then_some(())?;
        let next = Self { stock: OrderStock::Released, stock_held_until: None, ..self.clone() };
        let change = OrderChange::new(self, next.changed(now)).moving(Some(StockMove::Release));
        Some(change.announced(&ORDER_UPDATED))
    }

    /// Schedules the sweep to close the payments of an ended order.
    pub(super) fn schedule_closing(&mut self, now: Timestamp) {
        self.attend_at = Some(now.plus(GRACE));
        self.attend_tries = 0;
    }
}
