//! Ceilings: the maximum of attempts in any window of time, from all networks together.
//!
//! A throttle counts by network, so that a stranger does not slow an owner down; an attacker with
//! many networks meets the ceiling. It is exact: the times of counted attempts are stored, and none
//! is allowed that would exceed the maximum in any window that ends now.

use std::time::Duration;

use core_types::key;
use primitives::clock::{DAY, HOUR, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{ReadConsistency, Write, retry};

use super::too_many;

/// The maximum number of an account's one-time codes that are compared in an hour, right or wrong (our
/// choice):
/// at 25 of a million, an attacker with any number of networks needs years.
pub const CODE_ATTEMPTS: Ceiling = Ceiling { of: "judged", max: 25, window: HOUR };
/// The maximum number of codes of a second factor that are compared in an hour, right or wrong (our
/// choice).
pub const TOTP_ATTEMPTS: Ceiling = Ceiling { of: "judged_totp", max: 25, window: HOUR };
/// The maximum number of mails of one kind that can be requested for an account in an hour (our choice).
const MAILS: usize = 10;

/// A maximum per window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling {
    /// The kind that is counted, part of the key.
    pub of: &'static str,
    /// The maximum.
    pub max: usize,
    /// The length of the window.
    pub window: Duration,
}

impl Ceiling {
    /// The ceiling of mails of one kind per account and hour.
    pub const fn of_mails(of: &'static str) -> Self {
        Self { of, max: MAILS, window: HOUR }
    }

    /// The key of the subject's counted times.
    pub fn key(self, digest: &str) -> Key {
        key::throttle(self.of, digest)
    }

    /// The times within the window, if another attempt is allowed.
    ///
    /// # Errors
    /// `too_many_attempts`.
    fn recent(self, before: Option<Times>, digest: &str, now: Timestamp) -> Result<Times, Problem> {
        let (of, digest) = (self.of.to_owned(), digest.to_owned());
        let none = Times { of, digest, at: Vec::new(), version: 0 };
        let mut counted = before.unwrap_or(none);
        counted.at.retain(|time| now < time.plus(self.window));
        if counted.at.len() >= self.max {
            let oldest = counted.at.first().copied().unwrap_or(now);
            return Err(too_many(now.seconds_until(oldest.plus(self.window)).max(1)));
        }
        Ok(counted)
    }

    /// The times with one more.
    ///
    /// # Errors
    /// `too_many_attempts`.
    pub fn count(
        self,
        before: Option<Times>,
        digest: &str,
        now: Timestamp,
    ) -> Result<Times, Problem> {
        let mut counted = self.recent(before, digest, now)?;
        counted.at.push(now);
        counted.version = counted.version.saturating_add(1);
        Ok(counted)
    }

    /// Requires that another attempt is allowed, without counting it.
    ///
    /// # Errors
    /// `too_many_attempts`; 503.
    pub async fn ensure(self, services: &Services, digest: &str) -> Result<(), Problem> {
        self.ensure_as(services, digest, ReadConsistency::Strong).await
    }

    /// As [`Ceiling::ensure`], with the given read consistency; the write that counts checks again.
    ///
    /// # Errors
    /// As [`Ceiling::ensure`].
    pub async fn ensure_as(
        self,
        services: &Services,
        digest: &str,
        consistency: ReadConsistency,
    ) -> Result<(), Problem> {
        let before: Option<Times> = services.table.get_as(&self.key(digest), consistency).await?;
        self.recent(before, digest, services.clock.now()).map(drop)
    }

    /// Counts one more attempt, in one transaction with the writes of `also`.
    ///
    /// # Errors
    /// `too_many_attempts`, also when other attempts win every retry; the errors of `also`; 503.
    pub async fn count_attempt(
        self,
        services: &Services,
        digest: &str,
        also: impl Fn(Write) -> Write + Sync,
    ) -> Result<(), Problem> {
        let counted = retry(|| async {
            let before: Option<Times> = services.table.get(&self.key(digest)).await?;
            let counted = self.count(before, digest, services.clock.now())?;
            counted.save(also(services.table.write())).commit().await
        });
        counted.await.map_err(|problem| match problem.code {
            Code::VersionConflict => too_many(1),
            _ => problem,
        })
    }
}

/// The times of counted attempts.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "ceiling", key = key::throttle(&self.of, &self.digest))]
#[item(forget_at = self.at.last().map(|last| last.plus(DAY)))]
pub struct Times {
    /// The kind that is counted.
    #[serde(rename = "kind")]
    of: String,
    /// SHA-256 of the subject.
    digest: String,
    /// The times within the window at the last write, oldest first.
    #[serde(rename = "times")]
    at: Vec<Timestamp>,
    /// Optimistic lock: one more with each write.
    version: u64,
}

impl Times {
    /// Writes it, unless another attempt was counted meanwhile.
    pub fn save(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }
}

#[cfg(test)]
mod tests {
    use http::header;
    use primitives::clock::MINUTE;

    use super::*;

    #[test]
    fn the_ceiling_holds_in_any_window() {
        let five = Ceiling { of: "x", max: 5, window: MINUTE };
        let start = Timestamp::from_millis(1_767_225_600_000);
        let at = |seconds: u64| start.plus(Duration::from_secs(seconds));
        let mut counted = None;
        for second in [0, 10, 20, 30, 40] {
            counted = Some(five.count(counted, "d", at(second)).unwrap());
        }
        let problem = five.count(counted.clone(), "d", at(50)).unwrap_err();
        let wait = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
        assert_eq!(wait.unwrap().1, "10");
        let early = start.plus(MINUTE).minus(Duration::from_millis(1));
        assert!(five.count(counted.clone(), "d", early).is_err());
        let next = five.count(counted, "d", at(60)).unwrap();
        assert_eq!((next.at.len(), next.version), (5, 6));
        assert!(five.count(Some(next), "d", at(69)).is_err());
    }

    #[test]
    fn codes_and_mails_have_their_documented_ceilings() {
        assert_eq!((CODE_ATTEMPTS.max, CODE_ATTEMPTS.window), (25, HOUR));
        assert_eq!((TOTP_ATTEMPTS.max, TOTP_ATTEMPTS.window), (25, HOUR));
        let mails = Ceiling::of_mails("otp_mails");
        assert_eq!((mails.max, mails.window), (10, HOUR));
    }

    #[test]
    fn counted_times_are_deleted_a_day_after_the_last() {
        let now = Timestamp::from_millis(0);
        let counted = CODE_ATTEMPTS.count(None, "d", now).unwrap();
        let counted = CODE_ATTEMPTS.count(Some(counted), "d", now.plus(MINUTE)).unwrap();
        assert_eq!((counted.forget_at(), counted.version()), (Some(now.plus(MINUTE + DAY)), 2));
        let counted = CODE_ATTEMPTS.count(Some(counted), "d", now.plus(2 * MINUTE)).unwrap();
        assert_eq!(counted.version(), 3);
    }
}
