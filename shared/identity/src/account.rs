//! Accounts: what merchants and the customers of a store have in common. An account has an address
//! that is its alone in some realm, perhaps a password, and sessions.
//!
//! The trait says in what they differ. The functions here, in [`code`] and in [`password`] are the
//! one way to find an account, to judge who claims to be its owner, to write to it and to end its
//! sessions. What a stranger can ask about an address costs the same round trips and the same work
//! whether it has an account or not.

pub mod code;
pub mod password;

use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::config::Config;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::request::{FieldErrors, Flag, Inbound};
use gateway::seal;
use gateway::table::{Change, Query, Write, retry};
use serde_json::json;

use crate::challenge::{Holder, Link, Purpose};
use crate::event::Event;
use crate::fields::Email;
use crate::id::ChallengeId;
use crate::key;
use crate::mail::{Letter, Mail};
use crate::password::Guess;
use crate::throttle::{self, Kind, Subject, Throttle};

/// The most sessions that are looked at to say how many ended.
const COUNTED_SESSIONS: usize = 1_000;

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
    type Realm: Sync;
    /// What holds an address for an account.
    type Claim: Item;
    /// What a sign-in begins.
    type Session: Item;

    /// Somebody in a network who attempts something for the account of an address, known or not.
    fn subject(kind: Kind, realm: &Self::Realm, email: &Email, network: &str) -> Subject;
    /// The key of what holds a normalized address.
    fn claim_key(realm: &Self::Realm, email: &str) -> Key;
    /// The key of the account that holds a normalized address; without a claim, of a derived id,
    /// which is nobody's: accounts have minted ones.
    fn key_by(realm: &Self::Realm, claim: Option<&Self::Claim>, email: &str) -> Key;
    /// The key of the account whose proof it is, if it is one of this kind.
    fn key_of(holder: &Holder) -> Option<Key>;

    /// The account as a holder of proofs.
    fn holder(&self) -> Holder;
    /// Where its address is its alone.
    fn realm(&self) -> Self::Realm;
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
    fn save(&self, write: Write, refused: impl Into<Problem>) -> Write;
    /// The event of a new password, if there is one.
    fn password_updated(&self, _: &Config, _: Timestamp) -> Option<Event> {
        None
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
        Self::subject(kind, &self.realm(), self.email(), &inbound.client_prefix())
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

/// What looking for an account came to.
#[derive(Debug)]
pub struct Found<A> {
    /// Who looked.
    pub subject: Subject,
    /// Their attempts, this one included.
    pub throttle: Throttle,
    /// The account, if the address has one.
    pub account: Option<A>,
}

/// Counts an attempt of this kind, and finds the account of the address. An unknown address takes
/// the same round trips.
///
/// # Errors
/// `too_many_attempts`.
pub async fn find<A: Account>(
    app: &App,
    kind: Kind,
    (realm, email): (&A::Realm, &Email),
    inbound: &Inbound,
    challenge: Option<&ChallengeId>,
) -> Result<Found<A>, Problem> {
    let subject = A::subject(kind, realm, email, &inbound.client_prefix());
    let normalized = email.normalized();
    let claim_key = A::claim_key(realm, &normalized);
    let (throttle, mut batch) = throttle::attempt(app, &subject, challenge, &[&claim_key]).await?;
    let claim: Option<A::Claim> = batch.take(&claim_key)?;
    let account = app.table.get(&A::key_by(realm, claim.as_ref(), &normalized)).await?;
    Ok(Found { subject, throttle, account })
}

/// The account of an address, for the right password.
///
/// # Errors
/// `invalid_credentials`, the same for an unknown address; `account_disabled`, only with the right
/// password; `too_many_attempts`.
pub async fn by_password<A: Account>(
    app: &App,
    at: (&A::Realm, &Email),
    guess: &Guess,
    inbound: &Inbound,
) -> Result<(A, Subject), Problem> {
    let Found::<A> { subject, account, .. } = find(app, Kind::SignIn, at, inbound, None).await?;
    let right = guess.matches(account.as_ref().and_then(A::password_hash)).await;
    let account = account.filter(|_| right).ok_or(Code::InvalidCredentials)?;
    Ok((account.admit()?, subject))
}

/// Judges the current password of who is signed in, counted like a sign-in: a stolen session must
/// not be a way to guess it. An account without one asks for none.
///
/// # Errors
/// 422 with `needed_to` when there is one and none is given; `invalid_credentials`,
/// `too_many_attempts`.
pub async fn confirm<A: Account>(
    app: &App,
    account: &A,
    guess: Option<&Guess>,
    needed_to: &'static str,
    inbound: &Inbound,
) -> Result<Option<Subject>, Problem> {
    let Some(hash) = account.password_hash() else { return Ok(None) };
    let guess = guess.ok_or_else(|| Problem::field("/current_password", "required", needed_to))?;
    let subject = account.attempted(Kind::SignIn, inbound);
    throttle::attempt(app, &subject, None, &[]).await?;
    if guess.matches(Some(hash)).await {
        Ok(Some(subject))
    } else {
        Err(Code::InvalidCredentials.detail("The current password is wrong."))
    }
}

/// A request for a mail to the owner of an account: a one-time code or a link.
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct MailRequest {
    /// The address of the account; the mail goes there.
    pub email: Email,
}

/// Mails a link to the account, if there is one; else a link is written that leads nowhere, and
/// the answer is the same.
///
/// # Errors
/// 503.
pub async fn send_link<A: Account>(
    app: &App,
    purpose: Purpose,
    account: Option<&A>,
    letter: impl FnOnce(&Email, &str) -> Letter,
) -> Result<Answer, Problem> {
    let key = app.secrets.mail_key().await?;
    let now = app.clock.now();
    let (link, token) = Link::begin(purpose, account, now);
    let letter =
        |account: &A| letter(account.email(), &token).from_store(account.holder().store_id());
    let mail = account.map(|account| Mail::compose(&key, &letter(account), now));
    let mail = mail.transpose()?;
    let answer = Answer::accepted(&json!({"expires_in": purpose.lifetime().as_secs()}));
    let write = app.table.write().create(&link, Code::VersionConflict).also(mail, Write::emit);
    write.answer(answer, now).await
}

/// The link of a token that can still be used for `purpose`, and the account it leads to.
///
/// # Errors
/// `invalid_or_expired_token`.
pub async fn follow<A: Account>(
    app: &App,
    purpose: Purpose,
    token: &str,
) -> Result<(Link, A), Problem> {
    let refused = Code::InvalidOrExpiredToken;
    let link: Option<Link> = app.table.get(&key::link(&seal::digest(token))).await?;
    let link = link.ok_or(refused)?;
    let owner = link.leads_to(purpose, app.clock.now()).and_then(A::key_of).ok_or(refused)?;
    let account: Option<A> = app.table.get(&owner).await?;
    let account = account.filter(|account| link.fits(account)).ok_or(refused)?;
    Ok((link, account))
}

/// Moves a session to the account's credential generation, so that it outlives what ends the
/// others. In place, because a session's use is recorded behind its reader's back.
pub fn keep_session(write: Write, session: &Key, account: &impl Account) -> Write {
    let change = Change::new("SET credential_generation = :generation, #version = #version + :one")
        .only_if("attribute_exists(PK)")
        .name("#version", "version")
        .value(":generation", account.generations().credential)
        .value(":one", 1);
    write.update(session, change, Code::Unauthenticated)
}

/// The account's sessions, of which the dead are left out.
pub(crate) async fn live_sessions<A: Account>(
    app: &App,
    account: &A,
    now: Timestamp,
) -> Result<Vec<A::Session>, Problem> {
    let mut sessions = app.table.all(&sessions(account), COUNTED_SESSIONS).await?;
    sessions.retain(|session| account.keeps(session, now));
    Ok(sessions)
}

/// The account's sessions, newest first.
pub fn sessions<A: Account>(account: &A) -> Query {
    Query::partition(account.key().pk).begins_with(key::SESSIONS).newest_first()
}

/// A sign-out.
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct SignOutRequest {
    /// Whether to end every session of the account.
    #[deserr(default)]
    pub all: Flag,
}

/// Ends a session; or every one of the account, by raising its credential generation, without
/// enumerating them.
///
/// # Errors
/// `unauthenticated`, when the account is gone.
pub async fn sign_out<A: Account>(
    app: &App,
    (account, session): (&A, &A::Session),
    ask: &SignOutRequest,
    answer: Answer,
) -> Result<Answer, Problem> {
    let (account_key, session_key) = (account.key(), session.key());
    if !ask.all.0 {
        return app.table.write().delete(&session_key).answer(answer, app.clock.now()).await;
    }
    retry(|| async {
        let now = app.clock.now();
        let account: Option<A> = app.table.get(&account_key).await?;
        let account = account.ok_or(Code::Unauthenticated)?.with_sessions_ended(now);
        let write = account.save(app.table.write(), Code::VersionConflict).delete(&session_key);
        write.answer(answer.clone(), now).await
    })
    .await
}
