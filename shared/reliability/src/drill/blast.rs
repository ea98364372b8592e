//! The blast radius of a drill: the share of the delivery workers that it can occupy.
//!
//! No fault reaches another store, but the canary's deliveries use the workers of all stores. Its events are
//! few, and the concurrent attempts for one store are bounded ([`MAX_ATTEMPTS_OF_TENANT`]). The blast radius is their
//! share of the deployment's concurrent attempts.

use core_types::id::StoreId;
use delivery::delivery::MAX_ATTEMPTS_OF_TENANT;
use schemars::JsonSchema;
use serde::Serialize;

use super::{DrillKind, MAX_EVENTS};

/// The largest blast radius, in percent (docs/operations.md).
pub const MAX_BLAST_RADIUS_PERCENT: u64 = 10;
/// Concurrent delivery attempts of a deployment: a hundred batches with five attempts each.
const ATTEMPTS_AT_ONCE: u64 = 500;

/// The blast radius: what a drill can affect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlastRadius {
    /// The stores whose writes, messages and deliveries can fail: the canary store alone.
    pub stores: Vec<StoreId>,
    /// The component in which the fault is injected.
    pub component: &'static str,
    /// The maximum number of events that the drill creates.
    pub events: u64,
    /// The maximum number of concurrent delivery attempts.
    pub attempts_at_once: u64,
    /// Their share of the deployment's concurrent delivery attempts, in percent, rounded up.
    pub percent: u64,
}

impl BlastRadius {
    /// The blast radius of a drill of this kind and duration.
    pub fn of(kind: DrillKind, duration_s: u64) -> Self {
        let events = events_of(duration_s);
        let attempts_at_once = events.min(u64::from(MAX_ATTEMPTS_OF_TENANT));
        let percent = attempts_at_once.saturating_mul(100).div_ceil(ATTEMPTS_AT_ONCE);
        let (stores, component) = (vec![StoreId::canary()], kind.component());
        Self { stores, component, events, attempts_at_once, percent }
    }
}

/// The most events that a drill of this duration creates: one each second, those of the baseline and those
/// of the recovery, up to [`MAX_EVENTS`].
pub(super) fn events_of(duration_s: u64) -> u64 {
    let most = u64::try_from(MAX_EVENTS).unwrap_or(u64::MAX);
    let baseline = u64::try_from(super::BASELINE_EVENTS).unwrap_or(u64::MAX);
    duration_s.saturating_add(baseline).saturating_add(2).min(most)
}
