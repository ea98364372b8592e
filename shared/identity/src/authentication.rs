//! Who somebody is: the one way to find an account, to validate who claims to be its owner, to write
//! to it and to end its sessions, here, in [`code`] and in [`password`]. What a stranger can ask
//! about an address costs the same round trips and the same work whether it has an account or not.

pub mod code;
pub mod password;

use core_types::fields::Email;
use core_types::id::ChallengeId;
use core_types::key;
use core_types::mail::{Mail, MailContent};
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::{Item, Key};
use primitives::problem::{Code, Problem};
use gateway::reply::{Accepted, Reply};
use primitives::fields::{Flag, Text};
use gateway::request::{Inbound, request};
use crypto::seal;
use table::{Change, Query, Write, retry};
use schemars::JsonSchema;
use serde::Serialize;

use crate::challenge::{self, Challenge, Link, Purpose};
use crate::password::Guess;
use crate::throttle::{self, Kind, Subject, Throttle};

use crate::account::Account;

/// The most sessions that are looked at to say how many ended.
const COUNTED_SESSIONS: usize = 1_000;

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
    (tenant, email): (&A::Tenant, &Email),
    inbound: &Inbound,
    challenge: Option<&ChallengeId>,
) -> Result<Found<A>, Problem> {
    let subject = A::subject(kind, tenant, email, &inbound.client_prefix());
    let normalized = email.normalized();
    let claim_key = A::claim_key(tenant, &normalized);
    let (throttle, mut batch) = throttle::attempt(app, &subject, challenge, &[&claim_key]).await?;
    let claim: Option<A::Claim> = batch.take(&claim_key)?;
    let account = app.table.get(&A::key_by(tenant, claim.as_ref(), &normalized)).await?;
    Ok(Found { subject, throttle, account })
}

/// The account of an address, for the right password.
///
/// # Errors
/// `invalid_credentials`, the same for an unknown address; `account_disabled`, only with the right
/// password; `too_many_attempts`.
pub async fn by_password<A: Account>(
    app: &App,
    at: (&A::Tenant, &Email),
    guess: &Guess,
    inbound: &Inbound,
) -> Result<(A, Subject), Problem> {
    let Found::<A> { subject, account, .. } = find(app, Kind::SignIn, at, inbound, None).await?;
    let right = guess.matches(account.as_ref().and_then(A::password_hash)).await;
    let account = account.filter(|_| right).ok_or(Code::InvalidCredentials)?;
    Ok((account.admit()?, subject))
}

/// A one-time code that was mailed to the account's own address, as one to sign in with is.
#[request]
#[derive(Debug, Clone)]
pub struct PresentedCode {
    /// The challenge that the code answers.
    challenge_id: Text<1, 100>,
    /// The code. Any text is validated.
    code: Text<1, 100>,
}

/// That who is signed in is the owner, and what was shown for it.
#[derive(Debug)]
pub enum Confirmed {
    /// The password, counted for this subject.
    ByPassword(Subject),
    /// A code of this challenge.
    ByCode(Box<Challenge>),
}

impl Confirmed {
    /// Clears the count, or uses the code up: of several requests with one code, one succeeds.
    pub fn spend(&self, write: Write, now: Timestamp) -> Write {
        match self {
            Self::ByPassword(subject) => write.delete(&subject.key()),
            Self::ByCode(challenge) => {
                let used = challenge::use_up(now);
                write.update(&challenge.key(), used, Code::InvalidOrExpiredCode)
            }
        }
    }
}

/// Demands of who is signed in what only the owner has, for a stolen session must not be enough: the
/// current password, counted like a sign-in, so that a session is no way to guess it; or where there
/// is none, a fresh one-time code.
///
/// # Errors
/// 422 with `needed_to` when that is not given; `invalid_credentials`, `invalid_or_expired_code`,
/// `too_many_attempts`.
pub async fn confirm<A: Account>(
    app: &App,
    account: &A,
    (guess, code): (Option<&Guess>, Option<&PresentedCode>),
    needed_to: &'static str,
    inbound: &Inbound,
) -> Result<Confirmed, Problem> {
    let required = |pointer: &str| Problem::field(pointer, "required", needed_to);
    let Some(hash) = account.password_hash() else {
        let shown = code.ok_or_else(|| required("/one_time_code"))?;
        let id = ChallengeId::parse(shown.challenge_id.as_str());
        let (challenge, holder) = code::validate(app, id, &shown.code).await?;
        let is_own = holder == account.holder() && challenge.fits(account);
        let own = is_own.then(|| Confirmed::ByCode(Box::new(challenge)));
        return own.ok_or_else(|| Code::InvalidOrExpiredCode.into());
    };
    let guess = guess.ok_or_else(|| required("/current_password"))?;
    let subject = account.attempted(Kind::SignIn, inbound);
    throttle::attempt(app, &subject, None, &[]).await?;
    if guess.matches(Some(hash)).await {
        Ok(Confirmed::ByPassword(subject))
    } else {
        Err(Code::InvalidCredentials.detail("The current password is wrong."))
    }
}

/// A request for a mail to the owner of an account: a one-time code or a link.
#[request]
#[derive(Debug)]
pub struct MailRequest {
    /// The address of the account; the mail goes there.
    pub email: Email,
}

/// That a link is on its way, if there is somebody to write to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LinkSent {
    /// Seconds until the link ends.
    expires_in: u64,
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
    content: impl FnOnce(&Email, &str) -> MailContent,
) -> Result<Accepted<LinkSent>, Problem> {
    let key = app.secrets.mail_key().await?;
    let now = app.clock.now();
    let (link, token) = Link::begin(purpose, account, now);
    let content = |account: &A| account.addressed(content(account.email(), &token));
    let mail = account.map(|account| Mail::compose(&key, &content(account), now));
    let mail = mail.transpose()?;
    let answer = Accepted::new(&LinkSent { expires_in: purpose.lifetime().as_secs() });
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
    let rejected = Code::InvalidOrExpiredToken;
    let link: Option<Link> = app.table.get(&key::link(&seal::digest(token))).await?;
    let link = link.ok_or(rejected)?;
    let owner = link.leads_to(purpose, app.clock.now()).and_then(A::key_of).ok_or(rejected)?;
    let account: Option<A> = app.table.get(&owner).await?;
    let account = account.filter(|account| link.fits(account)).ok_or(rejected)?;
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
#[request]
#[derive(Debug)]
pub struct SignOutRequest {
    /// Whether to end every session of the account.
    pub all: Flag,
}

/// Ends a session; or every one of the account, by raising its credential generation, without
/// enumerating them.
///
/// # Errors
/// `unauthenticated`, when the account is gone.
pub async fn sign_out<A: Account, R: Reply + Clone>(
    app: &App,
    (account, session): (&A, &A::Session),
    input: &SignOutRequest,
    answer: R,
) -> Result<R, Problem> {
    let (account_key, session_key) = (account.key(), session.key());
    if !input.all.0 {
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
