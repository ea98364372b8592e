//! Deliveries that a replay skips.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The numbers of deliveries that a replay skips, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SkippedDeliveries")]
pub struct Skipped {
    /// The payload was removed.
    pub payload_expunged: u64,
    /// The event is no longer stored.
    pub expired: u64,
    /// The delivery is pending or being attempted.
    pub in_flight: u64,
    /// The subscription is disabled, deleted or may not receive the event any more; or it was a test event.
    pub not_deliverable: u64,
}

impl Skipped {
    /// The sum of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            payload_expunged: self.payload_expunged.saturating_add(other.payload_expunged),
            expired: self.expired.saturating_add(other.expired),
            in_flight: self.in_flight.saturating_add(other.in_flight),
            not_deliverable: self.not_deliverable.saturating_add(other.not_deliverable),
        }
    }

    /// Events that this replay can never deliver. Those in flight are not among them: they go on by
    /// themselves.
    pub(super) const fn undeliverable(self) -> u64 {
        self.payload_expunged.saturating_add(self.expired).saturating_add(self.not_deliverable)
    }
}
