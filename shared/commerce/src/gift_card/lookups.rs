//! How often a client may try a code out: five times in any minute.
//!
//! Asking for a balance counts before the code is looked at, right or wrong. Paying with a code
//! counts when it is wrong; but whoever has used their tries up is refused before any code is
//! looked at, or else the refusal would tell the wrong codes from the right ones.

use gateway::app::App;
use gateway::clock::{DAY, MINUTE, Timestamp};
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::seal;
use gateway::table::retry;
use http::header;
use serde::{Deserialize, Serialize};

use crate::id::StoreId;
use crate::key;

/// Look-ups that a client may make in [`WINDOW`].
const MOST: usize = 5;
/// See [`MOST`].
const WINDOW: std::time::Duration = MINUTE;
/// What the throttle is of.
const KIND: &str = "gift_card";

/// A client's latest look-ups at a store.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Lookups {
    /// SHA-256 of store and network.
    digest: String,
    /// When they were, oldest first.
    times: Vec<Timestamp>,
    /// Counts writes.
    version: u64,
}

impl Item for Lookups {
    const KIND: &'static str = "gift_card_lookups";
    fn key(&self) -> Key {
        key::throttle(KIND, &self.digest)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        self.times.last().map(|last| last.plus(DAY))
    }
}

impl Lookups {
    /// The look-ups that still count, if they leave room for another.
    fn recent(before: Option<Self>, digest: &str, now: Timestamp) -> Result<Self, Problem> {
        let none = Self { digest: digest.to_owned(), times: Vec::new(), version: 0 };
        let mut lookups = before.unwrap_or(none);
        lookups.times.retain(|time| now < time.plus(WINDOW));
        if lookups.times.len() >= MOST {
            let oldest = lookups.times.first().copied().unwrap_or(now);
            return Err(too_many(now.seconds_until(oldest.plus(WINDOW)).max(1)));
        }
        Ok(lookups)
    }

    /// The look-ups with one more.
    fn count(before: Option<Self>, digest: &str, now: Timestamp) -> Result<Self, Problem> {
        let mut lookups = Self::recent(before, digest, now)?;
        lookups.times.push(now);
        lookups.version = lookups.version.saturating_add(1);
        Ok(lookups)
    }
}

fn too_many(seconds: i64) -> Problem {
    Code::TooManyAttempts
        .with("retry_after", seconds)
        .header(header::RETRY_AFTER, &seconds.to_string())
}

/// Demands that whoever is in the network `client_prefix` may look up another code, and counts
/// nothing.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn demand_lookup(app: &App, store: &StoreId, client_prefix: &str) -> Result<(), Problem> {
    let digest = digest_of(store, client_prefix);
    let before: Option<Lookups> = app.table.get(&key::throttle(KIND, &digest)).await?;
    Lookups::recent(before, &digest, app.clock.now()).map(drop)
}

fn digest_of(store: &StoreId, client_prefix: &str) -> String {
    seal::digest(&format!("{store}\n{client_prefix}"))
}

/// Counts a look-up by whoever is in the network `client_prefix`.
///
/// # Errors
/// `too_many_attempts`; 503 when it cannot be counted: codes are money.
pub async fn count_lookup(app: &App, store: &StoreId, client_prefix: &str) -> Result<(), Problem> {
    let digest = digest_of(store, client_prefix);
    let counted = retry(|| async {
        let before: Option<Lookups> = app.table.get(&key::throttle(KIND, &digest)).await?;
        let lookups = Lookups::count(before, &digest, app.clock.now())?;
        let write = app.table.write();
        let write = match lookups.version {
            1 => write.create(&lookups, Code::VersionConflict),
            _ => write.replace(&lookups, Code::VersionConflict),
        };
        write.commit().await
    });
    counted.await.map_err(|problem| match problem.code {
        // Crowded out by the same client's other look-ups.
        Code::VersionConflict => too_many(1),
        _ => problem,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn five_in_any_minute_and_not_one_more() {
        let start = Timestamp::from_millis(1_767_225_600_000);
        let at = |seconds: u64| start.plus(Duration::from_secs(seconds));
        let mut lookups = None;
        for second in [0, 10, 20, 30, 40] {
            lookups = Some(Lookups::count(lookups, "d", at(second)).unwrap());
        }
        let problem = Lookups::count(lookups.clone(), "d", at(50)).unwrap_err();
        let wait = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
        assert_eq!(wait.unwrap().1, "10");
        let next = Lookups::count(lookups, "d", at(60)).unwrap();
        assert_eq!((next.times.len(), next.version), (5, 6));
        assert!(Lookups::count(Some(next), "d", at(69)).is_err());
    }
}
