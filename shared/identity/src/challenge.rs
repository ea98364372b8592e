//! Proofs that somebody receives mail at an address: one-time codes, and links that reset a password or
//! verify the address (docs/conventions.md §7).
//!
//! For an address without an account the same items are written, without a subject: a request costs the same
//! and gets the same response, but the proof is never valid. Validity is decided by the item's state and
//! `expires_at`, in code and in the condition of the write that uses the proof up.

use std::time::Duration;

use core_types::fields::Email;
use core_types::id::ChallengeId;
use core_types::key;
use crypto::seal;
use primitives::clock::{DAY, MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use table::Change;
use table::item::Item;

use crate::account::{Account, Generations};
use crate::challenge_subject::ChallengeSubject;

/// The lifetime of a one-time code.
pub const CODE_LIFETIME: Duration = MINUTE.saturating_mul(10);
/// The maximum number of tries of a code.
pub const TRIES: u32 = 5;

primitives::string_enum! {
    /// Whether a proof can still be used.
    ProofState {
        /// It was not used yet.
        Pending = "pending",
        /// It was used.
        Used = "used",
    }
}

/// A one-time code that was sent.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "challenge", key = key::challenge(&self.id))]
#[item(forget_at = Some(self.expires_at.plus(DAY)))]
pub struct Challenge {
    /// The id, returned to the requester of the code.
    pub id: ChallengeId,
    /// The account or applicant that it is for; none for an address without an account.
    #[serde(rename = "holder")]
    pub subject: Option<ChallengeSubject>,
    /// The address that it was sent to, normalized. The code proves this address and no later one.
    pub email: String,
    /// The account's credential generation when it was sent: it is invalid once every session was ended.
    pub credential_generation: u64,
    /// SHA-256 of the account that it is for, known or not, by which the ceiling of validated codes counts.
    pub account: String,
    /// The Argon2id hash of the code, in PHC form. Secret.
    pub code_hash: String,
    /// The number of tries left, counted down before a code is compared.
    pub tries_left: u32,
    /// Whether it can still be used.
    pub state: ProofState,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was requested.
    pub created_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Challenge {
    /// Creates a challenge that is not bound to an account yet.
    pub fn begin(
        id: ChallengeId,
        (subject, account): (Option<ChallengeSubject>, &str),
        code_hash: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            subject,
            email: String::new(),
            credential_generation: 0,
            account: account.to_owned(),
            code_hash,
            tries_left: TRIES,
            state: ProofState::Pending,
            expires_at: now.plus(CODE_LIFETIME),
            created_at: now,
            version: 1,
        }
    }

    /// The challenge, bound to the account's present address and generation.
    #[must_use]
    pub fn bound_to<A: Account>(self, account: Option<&A>) -> Self {
        Self {
            email: account.and_then(A::email).map(Email::normalized).unwrap_or_default(),
            credential_generation: account.map_or(0, |account| account.generations().credential),
            ..self
        }
    }

    /// Whether the code is still valid for the account: it has the same address, and nothing has ended
    /// every session since.
    pub fn is_valid_for<A: Account>(&self, account: &A) -> bool {
        account.email().is_some_and(|own| own.normalized() == self.email)
            && self.credential_generation == account.generations().credential
    }

    /// Counts one try, on condition that one is left and the challenge can still be used.
    pub fn count_try(now: Timestamp) -> Change {
        Change::new("SET tries_left = tries_left - :one, #version = #version + :one")
            .only_if("tries_left > :none AND #state = :pending AND expires_at > :now")
            .name("#state", "state")
            .name("#version", "version")
            .value(":one", 1)
            .value(":none", 0)
            .value(":pending", ProofState::Pending)
            .value(":now", now)
    }
}

/// Uses a challenge or a link up, on condition that it was not used and has not expired.
pub fn use_up(now: Timestamp) -> Change {
    Change::new("SET #state = :used, used_at = :now, #version = #version + :one")
        .only_if("#state = :pending AND expires_at > :now")
        .name("#state", "state")
        .name("#version", "version")
        .value(":one", 1)
        .value(":used", ProofState::Used)
        .value(":pending", ProofState::Pending)
        .value(":now", now)
}

/// Draws a code of six digits, uniformly.
pub fn six_digits() -> String {
    /// The largest multiple of a million that fits into four bytes: draws from there on would favour low
    /// codes.
    const FAIR: u32 = 4_294_000_000;
    loop {
        let draw = u32::from_be_bytes(seal::random_bytes());
        if draw < FAIR {
            return format!("{:06}", draw.rem_euclid(1_000_000));
        }
    }
}

primitives::string_enum! {
    /// The purpose of a link.
    Purpose {
        /// It sets a new password.
        Reset = "reset",
        /// It verifies the address.
        Verify = "verify",
        /// It represents the first factor when the second is sent: returned in a problem, not mailed.
        Mfa = "mfa",
    }
}

impl Purpose {
    /// The lifetime of such a link: a day to verify an address, five minutes to send a second factor
    /// (our choice), half an hour to reset a password.
    pub const fn lifetime(self) -> Duration {
        match self {
            Self::Reset => MINUTE.saturating_mul(30),
            Self::Verify => DAY,
            Self::Mfa => MINUTE.saturating_mul(5),
        }
    }
}

/// A link that was sent, stored under the digest of its token.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "link", key = key::link(&self.digest), forget_at = Some(self.expires_at.plus(DAY)))]
pub struct Link {
    /// SHA-256 of the token.
    pub digest: String,
    /// The purpose.
    pub purpose: Purpose,
    /// The account that it is for; none for an address without an account.
    #[serde(rename = "holder")]
    pub subject: Option<ChallengeSubject>,
    /// The address that it was sent to, normalized. The link proves this address and no later one.
    pub email: String,
    /// The account's credential generation when it was sent: a reset link is invalid once every session
    /// was ended.
    pub credential_generation: u64,
    /// The account's password generation when it was sent: a reset link is invalid after a change of the
    /// password.
    #[serde(default)]
    pub password_generation: u64,
    /// Whether it can still be used.
    pub state: ProofState,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was requested.
    pub created_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Link {
    /// Creates a link and its token, which is sent and not stored.
    pub fn begin<A: Account>(
        purpose: Purpose,
        account: Option<&A>,
        now: Timestamp,
    ) -> (Self, String) {
        let token = seal::random_secret();
        let link = Self {
            digest: seal::digest(&token),
            purpose,
            subject: account.map(Account::challenge_subject),
            email: account.and_then(A::email).map(Email::normalized).unwrap_or_default(),
            credential_generation: account.map_or(0, |account| account.generations().credential),
            password_generation: account.map_or(0, |account| account.generations().password),
            state: ProofState::Pending,
            expires_at: now.plus(purpose.lifetime()),
            created_at: now,
            version: 1,
        };
        (link, token)
    }

    /// The account that it is for, if it can be used for `purpose` now.
    pub fn leads_to(&self, purpose: Purpose, now: Timestamp) -> Option<&ChallengeSubject> {
        let usable =
            self.purpose == purpose && self.state == ProofState::Pending && now < self.expires_at;
        self.subject.as_ref().filter(|_| usable)
    }

    /// Whether the link is still valid for the account: it has the same address. For a reset or a second
    /// factor, its generations must not have changed; for a verification, its address must be unproven.
    pub fn is_valid_for<A: Account>(&self, account: &A) -> bool {
        let Generations { credential, password } = account.generations();
        let same_password =
            self.credential_generation == credential && self.password_generation == password;
        account.is_active()
            && account.email().is_some_and(|own| own.normalized() == self.email)
            && match self.purpose {
                Purpose::Reset | Purpose::Mfa => same_password,
                Purpose::Verify => !account.is_proven(),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merchant::Merchant;
    use crate::merchant::tests::ann;

    #[test]
    fn codes_have_six_digits_and_are_uniform() {
        let codes: std::collections::HashSet<_> = (0..1_000).map(|_| six_digits()).collect();
        assert!(codes.iter().all(|code| code.len() == 6 && code.parse::<u32>().is_ok()));
        assert!(codes.len() > 990, "{}", codes.len());
        // About one code in thirty is above the bias of an unfair draw.
        assert!(codes.iter().any(|code| code.as_str() > "967295"), "none is high");
    }

    #[test]
    fn a_code_is_valid_until_the_address_changes_or_every_session_ends() {
        use primitives::fields::FromText;
        let now = Timestamp::from_millis(0);
        let (merchant, id) = (ann(now), ChallengeId::mint(now));
        let code = Challenge::begin(
            id,
            (Some(merchant.challenge_subject()), "account"),
            String::new(),
            now,
        )
        .bound_to(Some(&merchant));
        assert!(code.is_valid_for(&merchant) && code.is_valid_for(&merchant.changed(now)));
        assert!(!code.is_valid_for(&merchant.with_sessions_ended(now)));
        assert!(!code.is_valid_for(&merchant.taken_over(now).unwrap()));
        let email = core_types::fields::Email::from_text("bob@example.com").unwrap();
        assert!(!code.is_valid_for(&Merchant { email, ..merchant }));
    }

    #[test]
    fn a_link_is_valid_until_it_expires_or_the_account_changes() {
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        let (link, token) = Link::begin(Purpose::Reset, Some(&merchant), now);
        assert_eq!(link.digest, seal::digest(&token));
        let subject = merchant.challenge_subject();
        assert_eq!(link.leads_to(Purpose::Reset, now), Some(&subject));
        assert_eq!(Merchant::key_of(&subject), Some(merchant.key()));
        assert_eq!(link.leads_to(Purpose::Verify, now), None);
        assert_eq!(link.leads_to(Purpose::Reset, now.plus(MINUTE * 30)), None);
        assert!(link.is_valid_for(&merchant));
        assert!(!link.is_valid_for(&merchant.with_password("other".into(), now)));
        assert!(!link.is_valid_for(&merchant.with_password_alone("other".into(), now)));
        assert!(!link.is_valid_for(&merchant.with_sessions_ended(now)));
        let (proof, _) = Link::begin(Purpose::Verify, Some(&merchant), now);
        assert!(
            proof.is_valid_for(&merchant) && proof.is_valid_for(&merchant.with_sessions_ended(now))
        );
        assert!(!proof.is_valid_for(&merchant.verified(now)));
        let (nobody, _) = Link::begin(Purpose::Reset, None::<&Merchant>, now);
        assert_eq!(nobody.leads_to(Purpose::Reset, now), None);
    }

    #[test]
    fn a_subject_is_a_stores_customer_or_a_merchant() {
        use crate::challenge_subject::Application;
        use core_types::id::{CustomerId, StoreId};
        use primitives::fields::FromText;
        let now = Timestamp::from_millis(0);
        let store_id = StoreId::derive(&["s"]);
        let email = core_types::fields::Email::from_text("ann@example.com").unwrap();
        let application = Application {
            email: email.clone(),
            password_hash: None,
            name: None,
            phone: None,
            phone_e164: None,
            accepts_marketing: false,
        };
        let customer_id = CustomerId::derive(&["c"]);
        for subject in [
            ChallengeSubject::Customer {
                store_id: store_id.clone(),
                customer_id: customer_id.clone(),
            },
            ChallengeSubject::Applicant {
                store_id: store_id.clone(),
                application: Box::new(application),
            },
            ChallengeSubject::EmailChange {
                store_id: store_id.clone(),
                customer_id,
                email,
                password_generation: 1,
            },
        ] {
            assert_eq!(subject.store_id(), Some(&store_id));
        }
        assert_eq!(ann(now).challenge_subject().store_id(), None);
    }

    #[test]
    fn a_link_is_invalid_for_a_closed_account_or_another_address() {
        use primitives::fields::FromText;
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        let (link, _) = Link::begin(Purpose::Reset, Some(&merchant), now);
        let closed = crate::merchant::MerchantStatus::Disabled;
        assert!(!link.is_valid_for(&Merchant { status: closed, ..merchant.clone() }));
        let email = core_types::fields::Email::from_text("bob@example.com").unwrap();
        assert!(!link.is_valid_for(&Merchant { email, ..merchant }));
    }

    #[test]
    fn counting_a_try_and_using_a_proof_up_are_conditional() {
        let now = Timestamp::from_millis(0);
        let (tried, used) = (Challenge::count_try(now), use_up(now));
        for (written, expected) in [
            (&tried, "tries_left > :none AND #state = :pending AND expires_at > :now"),
            (&tried, "tries_left = tries_left - :one"),
            (&used, "#state = :pending AND expires_at > :now"),
            (&used, "SET #state = :used"),
        ] {
            let written = format!("{written:?}");
            assert!(written.contains(expected), "{expected}: {written}");
        }
    }

    #[test]
    fn proofs_expire_after_their_lifetime_and_are_deleted_a_day_later() {
        let now = Timestamp::from_millis(0);
        let id = ChallengeId::mint(now);
        let code = Challenge::begin(id, (None, "account"), String::new(), now);
        let code = Challenge { version: 7, ..code };
        assert_eq!(code.expires_at, now.plus(MINUTE * 10));
        assert_eq!((code.forget_at(), code.version()), (Some(code.expires_at.plus(DAY)), 7));
        for (purpose, lifetime) in
            [(Purpose::Reset, MINUTE * 30), (Purpose::Verify, DAY), (Purpose::Mfa, MINUTE * 5)]
        {
            let (link, _) = Link::begin(purpose, None::<&Merchant>, now);
            let link = Link { version: 8, ..link };
            assert_eq!(link.expires_at, now.plus(lifetime), "{purpose:?}");
            assert_eq!((link.forget_at(), link.version()), (Some(link.expires_at.plus(DAY)), 8));
        }
    }
}
