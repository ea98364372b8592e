//! What the deliveries of a replay have come to: counted by looking at them, page by page, because
//! telling the replay of each would cost a write each (docs/decisions.md §11).
//!
//! A look goes over all of them, from the first that had not ended at the look before. When each has
//! ended, the replay has; otherwise it looks again, after twice the time, up to a minute.

use std::time::Duration;

use primitives::clock::{MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use table::WalkPlace;

use super::{Replay, ReplayStatus, WATCHED};
use crate::delivery::DeliveryStatus;

/// How far a look has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// Where it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<WalkPlace>,
    /// Deliveries that arrived.
    pub succeeded: u64,
    /// Deliveries that ended otherwise.
    pub failed: u64,
    /// Deliveries that have not ended.
    pub unfinished: u64,
}

impl Scan {
    /// With what else was seen.
    fn with(&self, seen: &[DeliveryStatus], place: Option<WalkPlace>) -> Self {
        let mut look = Self { place, ..self.clone() };
        for status in seen {
            let count = match status {
                DeliveryStatus::Succeeded => &mut look.succeeded,
                status if status.is_final() => &mut look.failed,
                _ => &mut look.unfinished,
            };
            *count = count.saturating_add(1);
        }
        look
    }

    const fn seen(&self) -> u64 {
        self.succeeded.saturating_add(self.failed).saturating_add(self.unfinished)
    }
}

/// How long after so many looks in vain the next begins.
fn wait(scans: u32) -> Duration {
    Duration::from_secs(1).saturating_mul(1 << scans.min(6)).min(MINUTE)
}

impl Replay {
    /// The replay after a page of a look, `next` being where it goes on; at its end it may be over.
    #[must_use]
    pub fn looked_at(
        &self,
        seen: &[DeliveryStatus],
        next: Option<WalkPlace>,
        now: Timestamp,
    ) -> Self {
        let is_whole = next.is_none();
        let look = self.look.with(seen, next);
        let looked = if is_whole || look.unfinished > 0 { &self.looked } else { &look };
        let after = Self {
            succeeded: self.succeeded.max(look.succeeded),
            failed: self.failed.max(look.failed),
            looked: looked.clone(),
            look: look.clone(),
            ..self.changed(now)
        };
        if !is_whole {
            return after.with_step_at(now, now);
        }
        let is_complete = look.unfinished == 0 && look.seen() >= self.sent;
        if is_complete || self.made_at.is_none_or(|at| at.plus(WATCHED) <= now) {
            // A step that was cut off may have made more than it could count.
            return Self { sent: self.sent.max(look.seen()), ..after }.validated(now);
        }
        // An index is read late: what it has not shown yet may lie anywhere.
        let again = if look.seen() < self.sent { Scan::default() } else { after.looked.clone() };
        let scans = self.scans.saturating_add(1);
        let at = now.plus(wait(self.scans));
        Self { look: again.clone(), looked: again, scans, ..after }.with_step_at(at, now)
    }

    /// The replay ended, with what came of it.
    fn validated(&self, now: Timestamp) -> Self {
        let is_all = self.succeeded >= self.sent && self.skipped.lost() == 0;
        let status = match self.succeeded {
            _ if is_all => ReplayStatus::Succeeded,
            0 => ReplayStatus::Failed,
            _ => ReplayStatus::Partial,
        };
        let matched = self.matched.max(self.sent);
        Self { matched, version: self.version, ..self.ended(status, now) }
    }
}
