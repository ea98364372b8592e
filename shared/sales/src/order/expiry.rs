//! When the expiry job processes an order: it was not paid in time, or it is over while a payment
//! of its is still open.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};

use super::Order;

/// How long an order that is over is left to whoever ended it.
const GRACE: Duration = MINUTE;

impl Order {
    /// When the expiry job processes it.
    pub fn due_at(&self) -> Option<Timestamp> {
        match (self.expires_at, self.attend_at) {
            (Some(expires), Some(attend)) => Some(expires.max(attend)),
            (Some(expires), None) => Some(expires),
            (None, attend) => attend.filter(|_| self.is_over()),
        }
    }

    /// Has the expiry job look at the payments of an order that is over.
    pub(super) fn attend(&mut self, now: Timestamp) {
        self.attend_at = Some(now.plus(GRACE));
        self.attend_tries = 0;
    }
}
