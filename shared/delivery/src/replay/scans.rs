//! Scans of a replay's deliveries for their outcomes. They are read page by page, because reporting each
//! outcome to the replay would cost a write each (docs/decisions.md §11).
//!
//! A scan covers all deliveries, from the first that had not ended at the scan before. When all have
//! ended, the replay ends; otherwise another scan follows, after twice the time, up to a minute.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use table::WalkPosition;

use super::{Replay, ReplayStatus, WATCHED};
use crate::delivery::DeliveryStatus;

/// The progress of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The position at which it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<WalkPosition>,
    /// Deliveries that succeeded.
    pub succeeded: u64,
    /// Deliveries that ended without success.
    pub failed: u64,
    /// Deliveries that have not ended.
    pub unfinished: u64,
}

impl Scan {
    /// The scan with the statuses of another page counted.
    fn with(&self, seen: &[DeliveryStatus], place: Option<WalkPosition>) -> Self {
        let mut scan = Self { place, ..self.clone() };
        for status in seen {
            let count = match status {
                DeliveryStatus::Succeeded => &mut scan.succeeded,
                status if status.is_final() => &mut scan.failed,
                _ => &mut scan.unfinished,
            };
            *count = count.saturating_add(1);
        }
        scan
    }

    const fn seen(&self) -> u64 {
        self.succeeded.saturating_add(self.failed).saturating_add(self.unfinished)
    }
}

/// The wait before the next scan, after this many scans that found unfinished deliveries.
fn wait(scans: u32) -> Duration {
    Duration::from_secs(1).saturating_mul(1 << scans.min(6)).min(MINUTE)
}

impl Replay {
    /// The replay after a page of a scan; `next` is where the scan goes on. After the last page the
    /// replay may end.
    #[must_use]
    pub fn with_scanned(
        &self,
        seen: &[DeliveryStatus],
        next: Option<WalkPosition>,
        now: Timestamp,
    ) -> Self {
        let is_whole = next.is_none();
        let scan = self.scan.with(seen, next);
        let scanned = if is_whole || scan.unfinished > 0 { &self.scanned } else { &scan };
        let after = Self {
            succeeded: self.succeeded.max(scan.succeeded),
            failed: self.failed.max(scan.failed),
            scanned: scanned.clone(),
            scan: scan.clone(),
            ..self.changed(now)
        };
        if !is_whole {
            return after.with_step_at(now, now);
        }
        let is_complete = scan.unfinished == 0 && scan.seen() >= self.sent;
        if is_complete || self.made_at.is_none_or(|at| at.plus(WATCHED) <= now) {
            // An interrupted step may have created more than it counted.
            return Self { sent: self.sent.max(scan.seen()), ..after }.completed(now);
        }
        // The index is eventually consistent: the deliveries it lacks may lie anywhere.
        let again = if scan.seen() < self.sent { Scan::default() } else { after.scanned.clone() };
        let scans = self.scans.saturating_add(1);
        let at = now.plus(wait(self.scans));
        Self { scan: again.clone(), scanned: again, scans, ..after }.with_step_at(at, now)
    }

    /// The replay ended, with the status that follows from its counts.
    fn completed(&self, now: Timestamp) -> Self {
        let is_all = self.succeeded >= self.sent && self.skipped.undeliverable() == 0;
        let status = match self.succeeded {
            _ if is_all => ReplayStatus::Succeeded,
            0 => ReplayStatus::Failed,
            _ => ReplayStatus::Partial,
        };
        let matched = self.matched.max(self.sent);
        Self { matched, version: self.version, ..self.ended(status, now) }
    }
}
