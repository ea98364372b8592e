//! The two delivery queues: a fast one with a short deadline, and one for slow receivers.

use std::time::Duration;

use services::queue::QueueName;

use super::{Delivery, QUEUE, SLOW_QUEUE};
use crate::subscription::{SLOW, Subscription};

/// The error class of an attempt that timed out.
pub const TIMEOUT: &str = "timeout";

primitives::string_enum! {
    /// A delivery queue.
    Speed {
        /// The queue whose attempts take five seconds at most.
        Fast = "FAST",
        /// The queue of attempts at receivers that take longer than that.
        Slow = "SLOW",
    }
}

impl Speed {
    /// The queue of a delivery: the slow one when its receiver is slow, or after an attempt that timed
    /// out.
    pub fn of(delivery: &Delivery, subscription: &Subscription) -> Self {
        let timed_out = delivery.last_error.as_deref() == Some(TIMEOUT);
        if timed_out || subscription.health.is_slow() { Self::Slow } else { Self::Fast }
    }

    /// The name of the queue.
    pub const fn queue(self) -> QueueName {
        match self {
            Self::Fast => QUEUE,
            Self::Slow => SLOW_QUEUE,
        }
    }

    /// The deadline of a whole attempt: resolver, handshakes, headers and body (docs/conventions.md §10).
    pub const fn deadline(self) -> Duration {
        match self {
            Self::Fast => SLOW,
            Self::Slow => Duration::from_secs(15),
        }
    }
}
