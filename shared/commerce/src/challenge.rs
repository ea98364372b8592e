//! Proofs that somebody receives mail at an address: one-time codes, and links that reset a
//! password or verify the address (protocols §6).
//!
//! For an address without an account the same items are written, without a merchant: asking costs
//! the same and shows the same, and nothing comes of it. Validity is the item's own state and
//! `expires_at`, in code and in the condition of the write that uses it up.

use std::time::Duration;

use gateway::clock::{DAY, MINUTE, Timestamp};
use gateway::item::{Item, Key};
use gateway::seal;
use gateway::table::Change;
use serde::{Deserialize, Serialize};

use crate::id::{ChallengeId, MerchantId};
use crate::key;
use crate::merchant::{Merchant, MerchantStatus};

/// How long a one-time code is good for.
pub const CODE_LIFETIME: Duration = MINUTE.saturating_mul(10);
/// How often a code may be tried.
pub const TRIES: u32 = 5;

gateway::words! {
    /// Whether a proof can still be given.
    ProofState {
        /// It can.
        Pending = "pending",
        /// It was, once.
        Used = "used",
    }
}

/// A one-time code that somebody was sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Challenge {
    /// The id: given to whoever asked for the code.
    pub id: ChallengeId,
    /// Who signs in with it; nobody, for an address without an account.
    pub merchant_id: Option<MerchantId>,
    /// The address it was sent to, normalized: the code proves that one and no later one.
    #[serde(default)]
    pub email: String,
    /// The account's credential generation then: a code sent before every session was ended
    /// begins none.
    #[serde(default)]
    pub credential_generation: u64,
    /// Argon2id of the code, PHC form. Secret.
    pub code_hash: String,
    /// Tries left. Counted down before a code is compared.
    pub tries_left: u32,
    /// Whether it can still be used.
    pub state: ProofState,
    /// When it can no longer be used.
    pub expires_at: Timestamp,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Challenge {
    const KIND: &'static str = "challenge";
    fn key(&self) -> Key {
        key::challenge(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at.plus(DAY))
    }
}

impl Challenge {
    /// A new challenge.
    pub fn begin(
        id: ChallengeId,
        merchant: Option<&Merchant>,
        code_hash: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            merchant_id: merchant.map(|merchant| merchant.id.clone()),
            email: merchant.map(|merchant| merchant.email.normalized()).unwrap_or_default(),
            credential_generation: merchant.map_or(0, |merchant| merchant.credential_generation),
            code_hash,
            tries_left: TRIES,
            state: ProofState::Pending,
            expires_at: now.plus(CODE_LIFETIME),
            created_at: now,
            version: 1,
        }
    }

    /// Whether what the code proves still matters to the account: the address is still its own,
    /// and nothing has ended every session since.
    pub fn fits(&self, merchant: &Merchant) -> bool {
        self.email == merchant.email.normalized()
            && self.credential_generation == merchant.credential_generation
    }

    /// Takes one try, if one is left of a challenge that can still be used.
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

/// Uses a challenge or a link up, if that has not happened and its time has not come.
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

/// A new code: six digits, each as likely as any other.
pub fn six_digits() -> String {
    /// The largest multiple of a million that four bytes hold: draws above it would favour the
    /// low codes.
    const FAIR: u32 = 4_294_000_000;
    loop {
        let draw = u32::from_be_bytes(seal::random_bytes());
        if draw < FAIR {
            return format!("{:06}", draw.rem_euclid(1_000_000));
        }
    }
}

gateway::words! {
    /// What a link is for.
    Purpose {
        /// Setting a new password.
        Reset = "reset",
        /// Verifying the address.
        Verify = "verify",
    }
}

impl Purpose {
    /// How long such a link is good for; a day to verify an address (our choice).
    pub const fn lifetime(self) -> Duration {
        match self {
            Self::Reset => MINUTE.saturating_mul(30),
            Self::Verify => DAY,
        }
    }
}

/// A link that somebody was sent, by the digest of its token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Link {
    /// SHA-256 of the token.
    pub digest: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Whose it is; nobody's, for an address without an account.
    pub merchant_id: Option<MerchantId>,
    /// The address it was sent to, normalized: the link proves that one and no later one.
    pub email: String,
    /// The account's credential generation then: a link sent before every session was ended lets
    /// nobody in.
    pub credential_generation: u64,
    /// The account's password generation then: a link sent before a password change does not undo
    /// it.
    #[serde(default)]
    pub password_generation: u64,
    /// Whether it can still be used.
    pub state: ProofState,
    /// When it can no longer be used.
    pub expires_at: Timestamp,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Link {
    const KIND: &'static str = "link";
    fn key(&self) -> Key {
        key::link(&self.digest)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at.plus(DAY))
    }
}

impl Link {
    /// A new link and its token, which is mailed and kept nowhere.
    pub fn begin(purpose: Purpose, merchant: Option<&Merchant>, now: Timestamp) -> (Self, String) {
        let token = seal::random_secret();
        let link = Self {
            digest: seal::digest(&token),
            purpose,
            merchant_id: merchant.map(|merchant| merchant.id.clone()),
            email: merchant.map(|merchant| merchant.email.normalized()).unwrap_or_default(),
            credential_generation: merchant.map_or(0, |merchant| merchant.credential_generation),
            password_generation: merchant.map_or(0, |merchant| merchant.password_generation),
            state: ProofState::Pending,
            expires_at: now.plus(purpose.lifetime()),
            created_at: now,
            version: 1,
        };
        (link, token)
    }

    /// The merchant it leads to, while it can be used for `purpose`.
    pub fn leads_to(&self, purpose: Purpose, now: Timestamp) -> Option<&MerchantId> {
        let usable =
            self.purpose == purpose && self.state == ProofState::Pending && now < self.expires_at;
        self.merchant_id.as_ref().filter(|_| usable)
    }

    /// Whether what it proves still matters to the account: the address is still its own and, for
    /// a reset, the password still the one that was forgotten.
    pub fn fits(&self, merchant: &Merchant) -> bool {
        let same_password = self.credential_generation == merchant.credential_generation
            && self.password_generation == merchant.password_generation;
        merchant.status == MerchantStatus::Active
            && self.email == merchant.email.normalized()
            && (same_password || self.purpose == Purpose::Verify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merchant::tests::ann;

    #[test]
    fn codes_have_six_digits_and_spread() {
        let codes: std::collections::HashSet<_> = (0..1_000).map(|_| six_digits()).collect();
        assert!(codes.iter().all(|code| code.len() == 6 && code.parse::<u32>().is_ok()));
        assert!(codes.len() > 990, "{}", codes.len());
    }

    #[test]
    fn a_code_fits_until_the_address_changes_or_every_session_ends() {
        use gateway::request::FromText;
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        let code = Challenge::begin(ChallengeId::mint(now), Some(&merchant), String::new(), now);
        assert!(code.fits(&merchant) && code.fits(&merchant.verified(now)));
        assert!(!code.fits(&merchant.with_sessions_ended(now)));
        let email = crate::fields::Email::from_text("bob@example.com").unwrap();
        assert!(!code.fits(&Merchant { email, ..merchant }));
    }

    #[test]
    fn a_link_serves_its_purpose_until_it_expires_or_the_account_changes() {
        let now = Timestamp::from_millis(0);
        let merchant = ann(now);
        let (link, token) = Link::begin(Purpose::Reset, Some(&merchant), now);
        assert_eq!(link.digest, seal::digest(&token));
        assert_eq!(link.leads_to(Purpose::Reset, now), Some(&merchant.id));
        assert_eq!(link.leads_to(Purpose::Verify, now), None);
        assert_eq!(link.leads_to(Purpose::Reset, now.plus(MINUTE * 30)), None);
        assert!(link.fits(&merchant));
        assert!(!link.fits(&merchant.with_password("other".into(), now)));
        assert!(!link.fits(&merchant.with_password_alone("other".into(), now)));
        assert!(!link.fits(&merchant.with_sessions_ended(now)));
        let (nobody, _) = Link::begin(Purpose::Reset, None, now);
        assert_eq!(nobody.leads_to(Purpose::Reset, now), None);
    }
}
