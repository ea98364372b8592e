//! What a replay does not send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is not sent again, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SkippedDeliveries")]
pub struct Skipped {
    /// Its payload was removed.
    pub payload_expunged: u64,
    /// Its event is no longer kept.
    pub expired: u64,
    /// It is being attempted, or about to be.
    pub in_flight: u64,
    /// Its subscription is off or gone, or may not be told of it any more.
    pub not_deliverable: u64,
}

impl Skipped {
    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            payload_expunged: self.payload_expunged.saturating_add(other.payload_expunged),
            expired: self.expired.saturating_add(other.expired),
            in_flight: self.in_flight.saturating_add(other.in_flight),
            not_deliverable: self.not_deliverable.saturating_add(other.not_deliverable),
        }
    }

    /// What can never arrive by this replay, and does not by itself.
    pub(super) const fn lost(self) -> u64 {
        self.payload_expunged.saturating_add(self.expired).saturating_add(self.not_deliverable)
    }
}
