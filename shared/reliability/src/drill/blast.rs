//! How much of what all stores share a drill can take.
//!
//! No fault reaches another store: what is left is that the canary's traffic uses workers that others use,
//! too. Its events are few, and attempts for one store are counted ([`MOST_FOR_SCOPE`]); as a share of
//! the attempts that the deployment makes at once that is the blast radius.

use core_types::id::StoreId;
use delivery::delivery::MOST_FOR_SCOPE;
use schemars::JsonSchema;
use serde::Serialize;

use super::{DrillKind, MAX_EVENTS};

/// The largest blast radius, in percent (docs/operations.md).
pub const MAX_BLAST_RADIUS_PERCENT: u64 = 10;
/// Attempts that the workers of a deployment make at once: five of a batch, a hundred batches.
const ATTEMPTS_AT_ONCE: u64 = 500;

/// What a drill can affect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlastRadius {
    /// The stores whose writes, messages and deliveries can fail: the canary store alone.
    pub stores: Vec<StoreId>,
    /// The component in which the fault is injected.
    pub component: &'static str,
    /// The most events that the drill creates.
    pub events: u64,
    /// The most concurrent delivery attempts that it makes.
    pub attempts_at_once: u64,
    /// Their share of the deployment's concurrent delivery attempts, in percent, rounded up.
    pub percent: u64,
}

impl BlastRadius {
    /// That of a drill of this kind and so many seconds.
    pub fn of(kind: DrillKind, duration_s: u64) -> Self {
        let events = events_of(duration_s);
        let attempts_at_once = events.min(u64::from(MOST_FOR_SCOPE));
        let percent = attempts_at_once.saturating_mul(100).div_ceil(ATTEMPTS_AT_ONCE);
        let (stores, component) = (vec![StoreId::canary()], kind.component());
        Self { stores, component, events, attempts_at_once, percent }
    }
}

/// Events that a drill of so many seconds makes at most: one each second, as far as there is room, some
/// before and one after.
pub(super) fn events_of(duration_s: u64) -> u64 {
    let most = u64::try_from(MAX_EVENTS).unwrap_or(u64::MAX);
    let baseline = u64::try_from(super::BASELINE_EVENTS).unwrap_or(u64::MAX);
    duration_s.saturating_add(baseline).saturating_add(2).min(most)
}
