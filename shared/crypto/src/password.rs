//! Passwords and one-time codes at rest: Argon2id (RFC 9106), and what may become a password.
//!
//! Parameters are the smallest that OWASP's Password Storage Cheat Sheet still lists for Argon2id:
//! m = 19 MiB, t = 2, p = 1. Rules for new passwords are those of NIST SP 800-63B and ASVS 6.2: a
//! length, a deny-list of common ones, no composition rules.
//!
//! Two attacks shape the functions. *Enumeration*: [`verify`] does the same work for an account
//! that does not exist, so time tells nothing about e-mail addresses. *Exhaustion*: each hash takes
//! 19 MiB and a core, so at most one per core runs at a time and the rest wait; 200 parallel
//! sign-ins would otherwise take 4 GiB. Hashing happens on a blocking thread, because 20 ms of work
//! on the runtime's one thread would stall every other request.
//!
//! Count an attempt *before* calling [`verify`] (docs/platform.md §7): the wait here is what a race
//! would use.
//!
//! `common_passwords.txt` are the entries of at least eight characters in Django 5.2's
//! `common-passwords.txt.gz` (BSD-3-Clause; compiled by Royce Williams from breaches), lower-case,
//! sorted; ASVS 6.2.4 asks for 3,000.

use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Lengths of a password, in Unicode scalar values.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=128;
/// Argon2's memory, in KiB.
const MEMORY_KIB: u32 = 19 * 1_024;
/// Argon2's passes over the memory.
const PASSES: u32 = 2;
/// Argon2's ordering keys.
const PARALLELISM: u32 = 1;
/// The hash of a random text nobody knows, with the parameters above: the account nobody has.
const NOBODY: &str = concat!(
    "$argon2id$v=19$m=19456,t=2,p=1$",
    "pS5AeLpVfa9VRcufeLMP0w$",
    "tU5Tc/Tyd5utMINGF7GZaKxOzAifgSrwMvi7vRpKpkU"
);

static COMMON: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// One permit per core: the bound on memory and on threads that compute hashes.
static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    Arc::new(Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get)))
});

/// A password that someone may choose. Not needed for signing in: there any text is tried.
///
/// Kept exactly as it was typed. NIST merely recommends Unicode normalization, and a table of
/// normal forms that changes with a library's version could lock people out (our choice).
#[derive(Clone)]
pub struct Password(String);

/// Why a text may not become a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordError {
    /// Fewer than 8 characters.
    TooShort,
    /// More than 128 characters.
    TooLong,
    /// Among the passwords that attackers try first, in whatever case.
    Common,
}

/// A hash could not be computed: the machine is out of memory or randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashError;

impl Password {
    /// Accepts what the rules allow.
    pub fn parse(text: impl Into<String>) -> Result<Self, PasswordError> {
        let text = text.into();
        let length = text.chars().count();
        if length < *LENGTH.start() {
            return Err(PasswordError::TooShort);
        }
        if length > *LENGTH.end() {
            return Err(PasswordError::TooLong);
        }
        if COMMON.contains(text.to_lowercase().as_str()) {
            return Err(PasswordError::Common);
        }
        Ok(Self(text))
    }
}

impl TryFrom<String> for Password {
    type Error = PasswordError;

    fn try_from(text: String) -> Result<Self, PasswordError> {
        Self::parse(text)
    }
}

impl PasswordError {
    /// The code that a client sees.
    pub fn code(self) -> &'static str {
        match self {
            Self::TooShort => "password_too_short",
            Self::TooLong => "password_too_long",
            Self::Common => "password_common",
        }
    }
}

/// The PHC string to store for `password`, with a fresh random salt.
pub async fn hash(password: &Password) -> Result<String, HashError> {
    hash_text(password.0.clone()).await
}

/// The PHC string to store for a one-time code: six digits are hashed like a password, because a
/// plain digest of one of a million texts is reversed in a second.
pub async fn hash_code(code: &str) -> Result<String, HashError> {
    hash_text(code.to_owned()).await
}

/// Whether `candidate` is the password behind `phc`, or false after the same work if there is none.
///
/// A stored text that is not a PHC string counts as none.
pub async fn verify(candidate: &str, phc: Option<&str>) -> bool {
    let candidate = candidate.to_owned();
    let phc = phc.map(str::to_owned);
    bounded(move || verify_blocking(&candidate, phc.as_deref(), NOBODY)).await.unwrap_or(false)
}

/// Whether `code` is the one-time code behind `phc`; like [`verify`] in every respect.
pub async fn verify_code(code: &str, phc: Option<&str>) -> bool {
    verify(code, phc).await
}

async fn hash_text(text: String) -> Result<String, HashError> {
    bounded(move || hash_blocking(&text)).await?
}

/// Runs `work` on a blocking thread once a permit is free.
///
/// The permit travels into the closure: if the request goes away, the work still ends and only
/// then makes room.
async fn bounded<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HashError> {
    let permit = Arc::clone(&PERMITS).acquire_owned().await.map_err(|_| HashError)?;
    spawn_blocking(move || {
        let result = work();
        drop(permit);
        result
    })
    .await
    .map_err(|_| HashError)
}

fn hash_blocking(text: &str) -> Result<String, HashError> {
    let params = Params::new(MEMORY_KIB, PASSES, PARALLELISM, None).map_err(|_| HashError)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = argon2.hash_password(text.as_bytes()).map_err(|_| HashError)?;
    Ok(hash.to_string())
}

fn verify_blocking(candidate: &str, phc: Option<&str>, nobody: &str) -> bool {
    let stored = phc.and_then(|text| PasswordHash::new(text).ok());
    let exists = stored.is_some();
    let Some(hash) = stored.or_else(|| PasswordHash::new(nobody).ok()) else {
        return false;
    };
    // The parameters are the stored hash's own, so they can be raised without a migration.
    let matches = Argon2::default().verify_password(candidate.as_bytes(), &hash).is_ok();
    exists && matches
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password([redacted])")
    }
}

impl fmt::Display for PasswordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "must have at least 8 characters",
            Self::TooLong => "must have at most 128 characters",
            Self::Common => "is among the passwords that attackers try first",
        })
    }
}

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the password could not be hashed")
    }
}

impl std::error::Error for PasswordError {}
impl std::error::Error for HashError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn rejected(text: &str) -> &'static str {
        Password::parse(text).unwrap_err().code()
    }

    #[test]
    fn length_counts_characters_and_not_bytes() {
        assert_eq!(rejected(""), "password_too_short");
        assert_eq!(rejected("kq7#vTz"), "password_too_short");
        assert_eq!(rejected("äöüßéèñ"), "password_too_short");
        assert!(Password::parse("kq7#vTzm").is_ok());
        assert!(Password::parse("äöüßéèñ€").is_ok());
        assert!(Password::parse("🦀".repeat(128)).is_ok());
        assert_eq!(rejected(&"🦀".repeat(129)), "password_too_long");
    }

    #[test]
    fn common_passwords_are_rejected_in_any_case() {
        for text in ["password", "PassWord1", "12345678", "qwertyuiop", "ILOVEYOU", "trustno1"] {
            assert_eq!(rejected(text), "password_common");
        }
    }

    #[test]
    fn no_kind_of_character_is_demanded_or_rejected() {
        for text in ["correct horse battery staple", "        ", "zgmfxbvtqw", "null\0null"] {
            assert!(Password::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn the_password_list_has_the_length_that_asvs_requires() {
        assert!(COMMON.len() >= 3_000);
        for entry in COMMON.iter() {
            assert!(LENGTH.contains(&entry.chars().count()), "{entry:?}");
            assert_eq!(*entry, entry.to_lowercase());
            assert_eq!(*entry, entry.trim());
        }
    }

    #[tokio::test]
    async fn a_password_is_recognized_and_its_neighbours_are_not() {
        let password = Password::parse("kq7#vTzm 9").unwrap();
        let phc = hash(&password).await.unwrap();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert_ne!(phc, hash(&password).await.unwrap());
        assert!(verify("kq7#vTzm 9", Some(&phc)).await);
        for near in ["", "kq7#vTzm 9 ", "KQ7#vTzm 9", "kq7#vTzm 9\0"] {
            assert!(!verify(near, Some(&phc)).await, "{near:?}");
        }
    }

    #[tokio::test]
    async fn a_one_time_code_is_hashed_alike() {
        let phc = hash_code("042137").await.unwrap();
        assert!(verify_code("042137", Some(&phc)).await);
        assert!(!verify_code("42137", Some(&phc)).await);
        assert!(!verify_code("042137", None).await);
    }

    #[tokio::test]
    async fn no_account_and_a_broken_hash_are_rejected() {
        for invalid in [None, Some(""), Some("x"), Some("$argon2id$v=19$m=19456,t=2,p=1$")] {
            assert!(!verify("x", invalid).await, "{invalid:?}");
        }
    }

    #[test]
    fn knowing_nobodys_password_opens_nothing() {
        let nobody = hash_blocking("x").unwrap();
        assert!(verify_blocking("x", Some(&nobody), NOBODY));
        assert!(!verify_blocking("x", None, &nobody));
    }

    #[test]
    fn no_account_costs_the_work_of_an_account() {
        let phc = hash_blocking("x").unwrap();
        let (nobody, somebody) =
            (PasswordHash::new(NOBODY).unwrap(), PasswordHash::new(&phc).unwrap());
        assert_eq!(nobody.params, somebody.params);
        assert_eq!((nobody.algorithm, nobody.version), (somebody.algorithm, somebody.version));
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "200 callers at once")]
    async fn no_more_hashes_run_at_a_time_than_there_are_cores() {
        static RUNNING: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let work = || {
            MOST.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        };
        let all: Vec<_> = (0..200).map(|_| tokio::spawn(bounded(work))).collect();
        for one in all {
            one.await.unwrap().unwrap();
        }
        assert!(MOST.load(Ordering::SeqCst) <= available_parallelism().unwrap().get());
    }

    #[test]
    fn a_password_does_not_show_in_debug_output() {
        assert_eq!(format!("{:?}", Password::parse("kq7#vTzm").unwrap()), "Password([redacted])");
    }
}
