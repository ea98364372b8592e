//! Accounts: what merchants and the customers of a store have in common. An account has an address
//! that is its alone in some realm, perhaps a password, and sessions.
//!
//! The trait says in what they differ; [`authentication`](crate::authentication) is what can be done
//! with any of them.

use core_types::event::Event;
use core_types::fields::Email;
use core_types::mail::MailContent;
use gateway::clock::Timestamp;
use gateway::config::Config;
use gateway::item::{Item, Key};
use gateway::problem::Problem;
use gateway::request::Inbound;
use gateway::table::Write;

use crate::holder::ChallengeSubject;
use crate::throttle::{Kind, Subject};

/// How often an account's credentials have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generations {
    /// Counts what ended every session: sessions of an earlier generation are dead.
    pub credential: u64,
    /// Counts passwords: a reset link sent before another one was set leads nowhere.
    pub password: u64,
}

/// An account.
pub trait Account: Item + Clone {
    /// Where an address is one account's: the platform, or a store.
    type Tenant: Sync;
    /// What holds an address for an account.
    type Claim: Item;
    /// What a sign-in begins.
    type Session: Item;

    /// Somebody in a network who attempts something for the account of an address, known or not.
    fn subject(kind: Kind, tenant: &Self::Tenant, email: &Email, network: &str) -> Subject;
    /// The key of what holds a normalized address.
    fn claim_key(tenant: &Self::Tenant, email: &str) -> Key;
    /// The key of the account that holds a normalized address; without a claim, of a derived id,
    /// which is nobody's: accounts have minted ones.
    fn key_by(tenant: &Self::Tenant, claim: Option<&Self::Claim>, email: &str) -> Key;
    /// The key of the account whose proof it is, if it is one of this kind.
    fn key_of(holder: &ChallengeSubject) -> Option<Key>;

    /// The account as a holder of proofs.
    fn holder(&self) -> ChallengeSubject;
    /// Where its address is its alone.
    fn tenant(&self) -> Self::Tenant;
    /// Its address.
    fn email(&self) -> &Email;
    /// What is kept of its password, if it has one.
    fn password_hash(&self) -> Option<&str>;
    /// How often its credentials have changed.
    fn generations(&self) -> Generations;
    /// Whether somebody has proven to receive mail at its address.
    fn is_proven(&self) -> bool {
        true
    }
    /// Why it may not be used, if that is so: told only to who has proven to be its owner.
    fn closed(&self) -> Option<Problem>;
    /// Whether the session is alive, and the account's.
    fn keeps(&self, session: &Self::Session, now: Timestamp) -> bool;

    /// The account at its next version, of these generations, with another password if one is
    /// given.
    #[must_use]
    fn at(&self, generations: Generations, password_hash: Option<String>, now: Timestamp) -> Self;
    /// The account once its owner has proven to receive mail at its address.
    #[must_use]
    fn proven(self) -> Self {
        self
    }
    /// Writes the account, at its next version, without what others count in it.
    fn save(&self, write: Write, rejected: impl Into<Problem>) -> Write;
    /// The event of a new password, if there is one.
    fn password_updated(&self, _: &Config, _: Timestamp) -> Option<Event> {
        None
    }

    /// A mail to the account's address, as its store's. Nobody has proven the address of a customer whom a
    /// merchant made: the mail goes to a stranger.
    fn addressed(&self, content: MailContent) -> MailContent {
        let content = content.from_store(self.holder().store_id());
        let is_stranger = content.store_id.is_some() && !self.is_proven();
        if is_stranger { content.to_stranger() } else { content }
    }

    /// Whether it may be used.
    fn is_active(&self) -> bool {
        self.closed().is_none()
    }

    /// The account, if it may be used.
    ///
    /// # Errors
    /// `account_disabled`: asked only of who has proven to be its owner.
    fn admit(self) -> Result<Self, Problem> {
        self.closed().map_or(Ok(self), Err)
    }

    /// Whoever attempts something for this account from where the request came from.
    fn attempted(&self, kind: Kind, inbound: &Inbound) -> Subject {
        Self::subject(kind, &self.tenant(), self.email(), &inbound.client_prefix())
    }

    /// The account with every session ended.
    #[must_use]
    fn with_sessions_ended(&self, now: Timestamp) -> Self {
        let Generations { credential, password } = self.generations();
        let credential = credential.saturating_add(1);
        self.at(Generations { credential, password }, None, now)
    }

    /// The account with another password, which ends every session.
    #[must_use]
    fn with_password(&self, password_hash: String, now: Timestamp) -> Self {
        let Generations { credential, password } = self.generations();
        let (credential, password) = (credential.saturating_add(1), password.saturating_add(1));
        self.at(Generations { credential, password }, Some(password_hash), now)
    }

    /// The account with another password, whose sessions live on.
    #[must_use]
    fn with_password_alone(&self, password_hash: String, now: Timestamp) -> Self {
        let Generations { credential, password } = self.generations();
        let password = password.saturating_add(1);
        self.at(Generations { credential, password }, Some(password_hash), now)
    }
}
