//! Throttles: limits on guessing a password or requesting a code (docs/conventions.md §7).
//!
//! An attempt is counted *before* it is validated, by a write that holds only if nobody else
//! counted meanwhile; otherwise 200 parallel guesses would all be compared (docs/platform.md §7).
//! The wait grows exponentially up to a maximum: there is no hard lock, so nobody can lock out
//! somebody else for good. The subject is (e-mail, network): a stranger elsewhere does not slow the
//! owner down, and an unknown address is throttled like a known one. Kinds that send mail or
//! validate a code also have a [`Ceiling`] for the account, whatever the network: it blocks codes
//! and links for a while, but not the password.

mod ceiling;

use std::time::Duration;

use core_types::fields::Email;
use core_types::id::{ChallengeId, StoreId};
use core_types::key;
use crypto::seal;
use http::header;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Batch, retry};

pub use ceiling::{CODE_ATTEMPTS, Ceiling, TOTP_ATTEMPTS, Times};

/// Attempts are forgotten this long after the last one.
const MEMORY: Duration = DAY;
/// The longest wait.
const LONGEST: Duration = MINUTE.saturating_mul(15);
/// The number of attempts from which the wait doubles.
const DOUBLES_FROM: u32 = 5;

primitives::string_enum! {
    /// The kind of attempt.
    Kind {
        /// A password guess.
        SignIn = "signin",
        /// A request for a one-time code.
        Code = "otp",
        /// A request for a reset link.
        Reset = "reset",
        /// A request for a verification link.
        Verify = "verify",
        /// A change of an account's address.
        Move = "move",
        /// A guess of a second factor's code.
        Totp = "totp",
        /// A guess of a shop's password.
        Shop = "shop",
    }
}

impl Kind {
    /// The wait after this many attempts. A password may be mistyped four times without a wait;
    /// mail has a wait of a minute from the first attempt. Both double from the fifth attempt on.
    fn wait(self, attempts: u32) -> Duration {
        let first = match self {
            Self::SignIn | Self::Totp | Self::Shop if attempts < DOUBLES_FROM => {
                return Duration::ZERO;
            }
            Self::SignIn | Self::Totp | Self::Shop => Duration::from_secs(1),
            Self::Code | Self::Reset | Self::Verify | Self::Move => MINUTE,
        };
        let doublings = attempts.saturating_sub(DOUBLES_FROM);
        first.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST)
    }
}

impl Kind {
    /// The account's ceiling from any network: for mails, and for codes, which have only a million
    /// values.
    fn ceiling(self) -> Option<Ceiling> {
        let of = match self {
            Self::SignIn | Self::Shop => return None,
            Self::Code => "otp_mails",
            Self::Reset => "reset_mails",
            Self::Verify => "verify_mails",
            Self::Move => "move_mails",
            Self::Totp => return Some(TOTP_ATTEMPTS),
        };
        Some(Ceiling::of_mails(of))
    }
}

/// An account and a network that attempt something.
#[derive(Debug, Clone)]
pub struct AttemptSubject {
    kind: Kind,
    digest: String,
    account: String,
}

impl AttemptSubject {
    /// The subject of attempts from the network `ip_prefix` for an account, known or not.
    pub fn new(kind: Kind, email: &Email, ip_prefix: &str) -> Self {
        Self::of(kind, &email.normalized(), ip_prefix)
    }

    /// The subject of attempts from the network `ip_prefix` for an account at a store.
    pub fn on_store(kind: Kind, store: &StoreId, email: &Email, ip_prefix: &str) -> Self {
        Self::of(kind, &format!("{store}\n{}", email.normalized()), ip_prefix)
    }

    /// The subject of attempts from the network `ip_prefix` for an account without an address.
    pub fn of_item(kind: Kind, account: &Key, ip_prefix: &str) -> Self {
        Self::of(kind, &account.pk, ip_prefix)
    }

    fn of(kind: Kind, account: &str, ip_prefix: &str) -> Self {
        let digest = seal::digest(&format!("{account}\n{ip_prefix}"));
        Self { kind, digest, account: seal::digest(account) }
    }

    /// SHA-256 of the account alone, by which ceilings count.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// The key of its throttle.
    pub fn key(&self) -> Key {
        key::throttle(self.kind.as_str(), &self.digest)
    }
}

/// The counted attempts of one subject.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "throttle", key = key::throttle(self.kind.as_str(), &self.digest))]
#[item(forget_at = Some(self.last_at.plus(MEMORY).plus(DAY)))]
pub struct Throttle {
    /// The kind of attempt.
    pub kind: Kind,
    /// SHA-256 of e-mail and network.
    pub digest: String,
    /// Attempts since the last success.
    pub attempts: u32,
    /// When the next attempt is allowed.
    pub next_at: Timestamp,
    /// When the last attempt was.
    pub last_at: Timestamp,
    /// The newest one-time-code challenge that this subject requested.
    pub challenge_id: Option<ChallengeId>,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Throttle {
    /// Counts one more attempt.
    ///
    /// # Errors
    /// `too_many_attempts` while the subject has to wait.
    pub fn count(
        before: Option<&Self>,
        subject: &AttemptSubject,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if let Some(before) = before
            && now < before.next_at
        {
            return Err(too_many(now.seconds_until(before.next_at)));
        }
        let remembered = before.filter(|before| now < before.last_at.plus(MEMORY));
        let attempts = remembered.map_or(0, |before| before.attempts).saturating_add(1);
        Ok(Self {
            kind: subject.kind,
            digest: subject.digest.clone(),
            attempts,
            next_at: now.plus(subject.kind.wait(attempts)),
            last_at: now,
            challenge_id: None,
            version: before.map_or(0, |before| before.version).saturating_add(1),
        })
    }
}

/// `429` with the seconds to wait.
fn too_many(seconds: i64) -> Problem {
    Code::TooManyAttempts
        .with("retry_after", seconds)
        .header(header::RETRY_AFTER, &seconds.to_string())
}

/// Counts an attempt, and reads `more` in the same round trip. Stores `challenge` as the subject's
/// newest.
///
/// # Errors
/// `too_many_attempts`; 503 when the attempt cannot be counted: signing in fails closed.
pub async fn attempt(
    services: &Services,
    subject: &AttemptSubject,
    challenge: Option<&ChallengeId>,
    more: &[&Key],
) -> Result<(Throttle, Batch), Problem> {
    let counted = retry(|| async {
        let (throttle_key, ceiling) = (subject.key(), subject.kind.ceiling());
        let ceiling_key = ceiling.map(|ceiling| ceiling.key(subject.account()));
        let own = [&throttle_key].into_iter().chain(&ceiling_key);
        let keys: Vec<&Key> = own.chain(more.iter().copied()).collect();
        let mut batch = services.table.get_many(&keys).await?;
        let (before, now): (Option<Throttle>, _) =
            (batch.take(&throttle_key)?, services.clock.now());
        let mut throttle = Throttle::count(before.as_ref(), subject, now)?;
        throttle.challenge_id = challenge.cloned();
        let counted = match ceiling.zip(ceiling_key.as_ref()) {
            None => None,
            Some((ceiling, key)) => {
                Some(ceiling.count(batch.take(key)?, subject.account(), now)?)
            }
        };
        let write = services.table.write().create_or_replace(&throttle, Code::VersionConflict);
        write.when_some(counted, |write, counted| counted.save(write)).commit().await?;
        Ok((throttle, batch))
    });
    counted.await.map_err(|problem| match problem.code {
        // Other attempts won every retry.
        Code::VersionConflict => too_many(1),
        _ => problem,
    })
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    fn subject(kind: Kind) -> AttemptSubject {
        AttemptSubject::new(kind, &Email::from_text("Ann@Example.com").unwrap(), "203.0.113.0/24")
    }

    /// Attempts as early as allowed, and the waits between them in seconds.
    fn waits(kind: Kind, attempts: usize) -> Vec<u64> {
        let mut now = Timestamp::from_millis(0);
        let mut throttle: Option<Throttle> = None;
        let mut waits = Vec::new();
        for _ in 0..attempts {
            let counted = Throttle::count(throttle.as_ref(), &subject(kind), now).unwrap();
            waits.push(now.until(counted.next_at).as_secs());
            now = counted.next_at;
            throttle = Some(counted);
        }
        waits
    }

    #[test]
    fn the_wait_doubles_up_to_a_maximum() {
        let signin = waits(Kind::SignIn, 17);
        assert_eq!(signin[..8], [0, 0, 0, 0, 1, 2, 4, 8]);
        assert_eq!(signin[14..], [900, 900, 900]);
        assert_eq!(waits(Kind::Code, 10), [60, 60, 60, 60, 60, 120, 240, 480, 900, 900]);
    }

    #[test]
    fn an_early_attempt_gets_the_seconds_to_wait() {
        let now = Timestamp::from_millis(0);
        let first = Throttle::count(None, &subject(Kind::Code), now).unwrap();
        let early = now.plus(Duration::from_millis(58_500));
        let problem = Throttle::count(Some(&first), &subject(Kind::Code), early).unwrap_err();
        assert_eq!(problem.code, Code::TooManyAttempts);
        let retry = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
        assert_eq!(retry.unwrap().1, "2");
    }

    #[test]
    fn attempts_are_deleted_after_a_day() {
        let now = Timestamp::from_millis(0);
        let mut old = Throttle::count(None, &subject(Kind::SignIn), now).unwrap();
        old.attempts = 30;
        let later = Throttle::count(Some(&old), &subject(Kind::SignIn), now.plus(DAY)).unwrap();
        assert_eq!((later.attempts, later.version), (1, 2));
    }

    #[test]
    fn attempts_count_by_address_and_network_regardless_of_case() {
        let key = |email: &str, network: &str| {
            AttemptSubject::new(Kind::SignIn, &Email::from_text(email).unwrap(), network).key()
        };
        assert_eq!(key("ann@example.com", "a"), key("ANN@example.com", "a"));
        assert_ne!(key("ann@example.com", "a"), key("ann@example.com", "b"));
        let account = |network: &str| {
            let email = Email::from_text("ANN@example.com").unwrap();
            AttemptSubject::new(Kind::Code, &email, network).account().to_owned()
        };
        assert_eq!(account("a"), account("b"), "ceilings go by account");
    }

    #[test]
    fn each_kind_except_passwords_has_its_own_ceiling() {
        let of = |kind: Kind| kind.ceiling().map(|ceiling| ceiling.of);
        assert_eq!(of(Kind::SignIn), None, "nobody can be kept from their password");
        let kinds = [Kind::Code, Kind::Reset, Kind::Verify, Kind::Move, Kind::Totp];
        let names: std::collections::BTreeSet<_> = kinds.into_iter().filter_map(of).collect();
        assert_eq!(names.len(), kinds.len(), "{names:?}");
        assert_eq!(Kind::Totp.ceiling(), Some(TOTP_ATTEMPTS));
    }

    #[test]
    fn ceilings_count_by_account_and_store() {
        let email = |text: &str| Email::from_text(text).unwrap();
        let subject = |text: &str| AttemptSubject::new(Kind::Code, &email(text), "a");
        let ann = subject("ann@example.com");
        assert_eq!(ann.account(), seal::digest("ann@example.com"));
        assert_ne!(ann.account(), subject("bob@example.com").account());
        let store = StoreId::derive(&["s"]);
        let customer = AttemptSubject::on_store(Kind::Code, &store, &email("ann@example.com"), "a");
        assert_ne!(ann.account(), customer.account());
        assert_ne!(ann.key(), customer.key());
    }

    #[test]
    fn a_throttle_is_deleted_only_after_its_attempts_expire() {
        let now = Timestamp::from_millis(0);
        let counted = Throttle::count(None, &subject(Kind::SignIn), now).unwrap();
        let counted = Throttle { version: 7, ..counted };
        assert_eq!((counted.forget_at(), counted.version()), (Some(now.plus(2 * DAY)), 7));
    }
}
