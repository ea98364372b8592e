//! The two queues: one whose attempts end soon, one for receivers that take their time.

use std::time::Duration;

use services::queue::QueueName;

use super::{Delivery, QUEUE, SLOW_QUEUE};
use crate::subscription::{SLOW, Subscription};

/// The class of an attempt that was not answered in time.
pub const TIMEOUT: &str = "timeout";

primitives::string_enum! {
    /// Which of the two queues.
    Speed {
        /// No attempt takes longer than five seconds.
        Fast = "FAST",
        /// Attempts at receivers that take longer than that.
        Slow = "SLOW",
    }
}

impl Speed {
    /// The queue that a delivery is on: the slow one when its receiver is slow, and after an attempt
    /// that was not answered in time.
    pub fn of(delivery: &Delivery, subscription: &Subscription) -> Self {
        let timed_out = delivery.last_error.as_deref() == Some(TIMEOUT);
        if timed_out || subscription.health.is_slow() { Self::Slow } else { Self::Fast }
    }

    /// Its queue.
    pub const fn queue(self) -> QueueName {
        match self {
            Self::Fast => QUEUE,
            Self::Slow => SLOW_QUEUE,
        }
    }

    /// Time for all of an attempt: resolver, handshakes, headers and body (docs/conventions.md §10).
    pub const fn deadline(self) -> Duration {
        match self {
            Self::Fast => SLOW,
            Self::Slow => Duration::from_secs(15),
        }
    }
}
