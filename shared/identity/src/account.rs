//! Accounts: the trait that merchants and customers share. An account has an address that is unique
//! within its tenant, perhaps a password, and sessions.
//!
//! The trait holds the differences; [`authentication`](crate::authentication) works with any
//! account.

use core_types::event::Event;
use core_types::fields::Email;
use core_types::mail::MailContent;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::config::Config;
use table::Write;
use table::item::{Item, Key};

use crate::challenge_subject::ChallengeSubject;
use crate::throttle::{AttemptSubject, Kind};

/// Counters of an account's credential changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generations {
    /// Counts events that end every session: sessions of an earlier generation are invalid.
    pub credential: u64,
    /// Counts passwords: a reset link sent before the newest password was set is invalid.
    pub password: u64,
}

/// An account of a merchant or a customer.
pub trait Account: Item + Clone {
    /// The scope within which an address is unique: the platform, or a store.
    type Tenant: Sync;
    /// The item that reserves an address for one account.
    type Claim: Item;
    /// The session type that a sign-in creates.
    type Session: Item;

    /// The throttle subject of an attempt: an address, known or not, and the network it comes from.
    fn attempt_subject_at(
        kind: Kind,
        tenant: &Self::Tenant,
        email: &Email,
        network: &str,
    ) -> AttemptSubject;
    /// The key of the claim to a normalized address.
    fn claim_key(tenant: &Self::Tenant, email: &str) -> Key;
    /// The key of the account that holds a normalized address. Without a claim it is a derived id,
    /// which no account has: accounts have minted ids.
    fn key_by(tenant: &Self::Tenant, claim: Option<&Self::Claim>, email: &str) -> Key;
    /// The key of the account that a challenge belongs to, if it is of this kind.
    fn key_of(challenge_subject: &ChallengeSubject) -> Option<Key>;

    /// The account as the subject of a challenge.
    fn challenge_subject(&self) -> ChallengeSubject;
    /// The tenant that its address is unique in.
    fn tenant(&self) -> Self::Tenant;
    /// The account's address; none if its tenant knows none, so that nobody can sign in.
    fn email(&self) -> Option<&Email>;
    /// The hash of its password, if it has one.
    fn password_hash(&self) -> Option<&str>;
    /// The counters of its credential changes.
    fn generations(&self) -> Generations;
    /// Whether its owner has proven to receive mail at its address.
    fn is_proven(&self) -> bool {
        true
    }
    /// The reason why the account may not be used, if any. Told only to a proven owner.
    fn unusable_reason(&self) -> Option<Problem>;
    /// Whether the session is valid and belongs to the account.
    fn is_session_valid(&self, session: &Self::Session, now: Timestamp) -> bool;

    /// The account at its next version, with these generations, and with a new password if one is
    /// given.
    #[must_use]
    fn at(&self, generations: Generations, password_hash: Option<String>, now: Timestamp) -> Self;
    /// The account with its address proven.
    #[must_use]
    fn proven(self) -> Self {
        self
    }
    /// Writes the account at its next version, without the counters that other writes maintain.
    fn save(&self, write: Write, rejected: impl Into<Problem>) -> Write;
    /// The event of a changed password, if this kind of account has one.
    fn password_updated(&self, _: &Config, _: Timestamp) -> Option<Event> {
        None
    }

    /// A mail to the account's address, from its store. Nobody has proven the address of a customer whom a
    /// merchant created: its recipient is unverified.
    fn addressed(&self, content: MailContent) -> MailContent {
        let content = content.from_store(self.challenge_subject().store_id());
        let is_unverified = content.store_id.is_some() && !self.is_proven();
        if is_unverified { content.for_unverified() } else { content }
    }

    /// Whether the account may be used.
    fn is_active(&self) -> bool {
        self.unusable_reason().is_none()
    }

    /// Returns the account if it may be used.
    ///
    /// # Errors
    /// `account_disabled`: call this only for a proven owner.
    fn admit(self) -> Result<Self, Problem> {
        self.unusable_reason().map_or(Ok(self), Err)
    }

    /// The throttle subject of an attempt on this account from this network.
    fn attempt_subject(&self, kind: Kind, network: &str) -> AttemptSubject {
        match self.email() {
            Some(email) => Self::attempt_subject_at(kind, &self.tenant(), email, network),
            None => AttemptSubject::of_item(kind, &self.key(), network),
        }
    }

    /// The account with every session ended.
    #[must_use]
    fn with_sessions_ended(&self, now: Timestamp) -> Self {
        let Generations { credential, password } = self.generations();
        let credential = credential.saturating_add(1);
        self.at(Generations { credential, password }, None, now)
    }

    /// The account with a new password, which ends every session.
    #[must_use]
    fn with_password(&self, password_hash: String, now: Timestamp) -> Self {
        let Generations { credential, password } = self.generations();
        let (credential, password) = (credential.saturating_add(1), password.saturating_add(1));
        self.at(Generations { credential, password }, Some(password_hash), now)
    }

    /// The account with a new password; its sessions stay valid.
    #[must_use]
    fn with_password_alone(&self, password_hash: String, now: Timestamp) -> Self {
        let Generations { credential, password } = self.generations();
        let password = password.saturating_add(1);
        self.at(Generations { credential, password }, Some(password_hash), now)
    }
}
