//! The estimated cost and duration of a replay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReplayKind;

/// The estimated cost and duration of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReplayEstimate")]
pub struct Estimate {
    /// The cost for the platform if every first attempt succeeds (docs/costs.md §1).
    pub cost: EstimatedCost,
    /// The time in which all first attempts begin, in seconds.
    pub seconds: u64,
}

/// The estimated cost of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EstimatedCost {
    /// Read units of the table.
    pub read_units: u64,
    /// Write units of the table and its indexes.
    pub write_units: u64,
    /// Requests to the queue.
    pub queue_requests: u64,
    /// The total with the functions' time, at list prices, in millionths of a US dollar.
    pub usd_micros: u64,
}

/// Read units of one delivery: the earlier delivery, its event, the reads of its attempt, and its
/// outcome.
const READ_UNITS: u64 = 4;
/// Write units of a delivery that replaces no other: created 3, claimed 1, outcome recorded 2.
const WRITE_UNITS: u64 = 6;
/// Write units of a delivery that replaces another: both are written in one transaction.
const WRITE_UNITS_IN_PLACE: u64 = 9;
/// Requests to the queue of one delivery: sent, received, deleted.
const QUEUE_REQUESTS: u64 = 3;
/// Prices in thousandths of a millionth of a US dollar: of a read unit, a write unit, a request to a
/// queue, and the functions' time of one delivery (docs/costs.md §1).
const NANOS: [u64; 4] = [125, 625, 400, 400];

impl Estimate {
    /// The estimate for `matched` deliveries at this rate.
    pub fn of(kind: ReplayKind, matched: u64, rate_per_second: u32) -> Self {
        let writes = match kind {
            ReplayKind::Delivery | ReplayKind::Recover => WRITE_UNITS_IN_PLACE,
            ReplayKind::Missing | ReplayKind::Range => WRITE_UNITS,
        };
        let parts = [READ_UNITS, writes, QUEUE_REQUESTS, 1];
        let nanos = parts.iter().zip(NANOS).map(|(units, price)| units.saturating_mul(price));
        let nanos = nanos.fold(0_u64, u64::saturating_add).saturating_mul(matched);
        let cost = EstimatedCost {
            read_units: READ_UNITS.saturating_mul(matched),
            write_units: writes.saturating_mul(matched),
            queue_requests: QUEUE_REQUESTS.saturating_mul(matched),
            usd_micros: nanos.div_ceil(1_000),
        };
        Self { cost, seconds: matched.div_ceil(u64::from(rate_per_second.max(1))) }
    }
}
