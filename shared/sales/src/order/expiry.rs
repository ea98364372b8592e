//! When the sweep processes an order: it was not paid in time, or it has ended and a payment is still open.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};

use super::Order;

/// The time that the process which ended an order has to close its payments itself.
const GRACE: Duration = MINUTE;

impl Order {
    /// When the sweep processes it. An order whose payment is processed waits for the end of that, which the
    /// payment finds out ([`Payment::due_at`](crate::payment::Payment::due_at)).
    pub fn due_at(&self) -> Option<Timestamp> {
        if self.is_processing() {
            return None;
        }
        match (self.expires_at, self.attend_at) {
            (Some(expires), Some(attend)) => Some(expires.max(attend)),
            (Some(expires), None) => Some(expires),
            (None, attend) => attend.filter(|_| self.is_over()),
        }
    }

    /// Schedules the sweep to close the payments of an ended order.
    pub(super) fn attend(&mut self, now: Timestamp) {
        self.attend_at = Some(now.plus(GRACE));
        self.attend_tries = 0;
    }
}
