//! Authentication of any account: finds it, verifies its owner, mails it, and ends its sessions; with
//! [`code`] and [`password`]. Requests about an address cost the same round trips and the same work,
//! whether or not it has an account.

pub mod code;
pub mod password;

use core_types::fields::Email;
use core_types::id::ChallengeId;
use core_types::key;
use core_types::mail::{Mail, MailContent};
use crypto::seal;
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::{Item, Key};
use table::{Change, Completion, Query, Write, retry};

use crate::challenge::{self, Challenge, Link, Purpose};
use crate::password::Guess;
use crate::throttle::{self, AttemptSubject, Kind, Throttle};

use crate::account::Account;

/// The maximum number of sessions that are read to count those that end.
const COUNTED_SESSIONS: usize = 1_000;

/// The result of finding an account.
#[derive(Debug)]
pub struct AccountLookup<A> {
    /// The subject of the attempt.
    pub subject: AttemptSubject,
    /// The attempts, including this one.
    pub throttle: Throttle,
    /// The account, if the address has one.
    pub account: Option<A>,
}

/// Counts an attempt of this kind, and finds the account of the address. An unknown address costs the same
/// round trips.
///
/// # Errors
/// `too_many_attempts`.
pub async fn find<A: Account>(
    services: &Services,
    kind: Kind,
    (tenant, email): (&A::Tenant, &Email),
    network: &str,
    challenge: Option<&ChallengeId>,
) -> Result<AccountLookup<A>, Problem> {
    let subject = A::attempt_subject_at(kind, tenant, email, network);
    let normalized = email.normalized();
    let claim_key = A::claim_key(tenant, &normalized);
    let (throttle, mut batch) =
        throttle::attempt(services, &subject, challenge, &[&claim_key]).await?;
    let claim: Option<A::Claim> = batch.take(&claim_key)?;
    let account = services.table.get(&A::key_by(tenant, claim.as_ref(), &normalized)).await?;
    Ok(AccountLookup { subject, throttle, account })
}

/// Returns the account of an address for the right password.
///
/// # Errors
/// `invalid_credentials`, the same for an unknown address; `account_disabled`, only with the right
/// password; `too_many_attempts`.
pub async fn by_password<A: Account>(
    services: &Services,
    at: (&A::Tenant, &Email),
    guess: &Guess,
    network: &str,
) -> Result<(A, AttemptSubject), Problem> {
    let AccountLookup::<A> { subject, account, .. } =
        find(services, Kind::SignIn, at, network, None).await?;
    let right = guess.matches(account.as_ref().and_then(A::password_hash)).await;
    let account = account.filter(|_| right).ok_or(Code::InvalidCredentials)?;
    Ok((account.admit()?, subject))
}

/// A one-time code that was mailed to the account's address, like a sign-in code.
#[request]
#[derive(Debug, Clone)]
pub struct PresentedCode {
    /// The challenge that the code answers.
    challenge_id: Text<1, 100>,
    /// The code. Any text is accepted and validated.
    code: Text<1, 100>,
}

/// The proof that a signed-in caller is the owner.
#[derive(Debug)]
pub enum Confirmed {
    /// The password; its attempts are counted for this subject.
    ByPassword(AttemptSubject),
    /// The code of this challenge.
    ByCode(Box<Challenge>),
}

impl Confirmed {
    /// Adds the reset of the attempts, or the use of the code. Of several requests with one code, one
    /// succeeds.
    pub fn add_use(&self, write: Write, now: Timestamp) -> Write {
        match self {
            Self::ByPassword(subject) => write.delete(&subject.key()),
            Self::ByCode(challenge) => {
                let used = challenge::use_up(now);
                write.update(&challenge.key(), used, Code::InvalidOrExpiredCode)
            }
        }
    }
}

/// Requires a proof of a signed-in caller that they are the owner, because a stolen session must not
/// suffice. It is the current password; its attempts are counted like sign-ins, so that a session is no
/// way to guess it. Without a password it is a fresh one-time code.
///
/// # Errors
/// 422 with `needed_to` if the proof is missing; `invalid_credentials`, `invalid_or_expired_code`,
/// `too_many_attempts`.
pub async fn confirm<A: Account>(
    services: &Services,
    account: &A,
    (guess, code): (Option<&Guess>, Option<&PresentedCode>),
    needed_to: &'static str,
    network: &str,
) -> Result<Confirmed, Problem> {
    let required = |pointer: &str| Problem::field(pointer, "required", needed_to);
    let Some(hash) = account.password_hash() else {
        let presented = code.ok_or_else(|| required("/one_time_code"))?;
        let id = ChallengeId::parse(presented.challenge_id.as_str());
        let (challenge, challenge_subject) = code::validate(services, id, &presented.code).await?;
        let is_own =
            challenge_subject == account.challenge_subject() && challenge.is_valid_for(account);
        let own = is_own.then(|| Confirmed::ByCode(Box::new(challenge)));
        return own.ok_or_else(|| Code::InvalidOrExpiredCode.into());
    };
    let guess = guess.ok_or_else(|| required("/current_password"))?;
    let subject = account.attempt_subject(Kind::SignIn, network);
    throttle::attempt(services, &subject, None, &[]).await?;
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
    /// The address of the account, to which the mail is sent.
    pub email: Email,
}

/// A link that was mailed. It says the same without an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LinkSent {
    /// Seconds until the link expires.
    expires_in: u64,
}

/// Mails a link to the account, if there is one. Otherwise writes a link without a subject; the outcome is the
/// same.
///
/// # Errors
/// 503.
pub async fn send_link<A: Account, C: Completion<LinkSent>>(
    services: &Services,
    purpose: Purpose,
    account: Option<&A>,
    content: impl FnOnce(&Email, &str) -> MailContent,
    completion: &C,
) -> Result<C::Output, Problem> {
    let key = services.secrets.mail_key().await?;
    let now = services.clock.now();
    let (link, token) = Link::begin(purpose, account, now);
    let addressed = account.and_then(|account| Some((account, account.email()?)));
    let mail = addressed.map(|(account, email)| {
        Mail::compose(&key, &account.addressed(content(email, &token)), now)
    });
    let mail = mail.transpose()?;
    let sent = LinkSent { expires_in: purpose.lifetime().as_secs() };
    let write =
        services.table.write().create(&link, Code::VersionConflict).when_some(mail, Write::emit);
    completion.commit(write, &sent, now).await
}

/// Loads the link of a token, which must be usable for `purpose`, and its account.
///
/// # Errors
/// `invalid_or_expired_token`.
pub async fn follow<A: Account>(
    services: &Services,
    purpose: Purpose,
    token: &str,
) -> Result<(Link, A), Problem> {
    let rejected = Code::InvalidOrExpiredToken;
    let link: Option<Link> = services.table.get(&key::link(&seal::digest(token))).await?;
    let link = link.ok_or(rejected)?;
    let owner = link.leads_to(purpose, services.clock.now()).and_then(A::key_of).ok_or(rejected)?;
    let account: Option<A> = services.table.get(&owner).await?;
    let account = account.filter(|account| link.is_valid_for(account)).ok_or(rejected)?;
    Ok((link, account))
}

/// Moves a session to the account's new credential generation, so that it stays valid when the others end.
/// Changed in place, because other requests record the session's use meanwhile.
pub fn keep_session(write: Write, session: &Key, account: &impl Account) -> Write {
    let change = Change::new("SET credential_generation = :generation, #version = #version + :one")
        .only_if("attribute_exists(PK)")
        .name("#version", "version")
        .value(":generation", account.generations().credential)
        .value(":one", 1);
    write.update(session, change, Code::Unauthenticated)
}

/// Loads the account's valid sessions.
pub(crate) async fn live_sessions<A: Account>(
    services: &Services,
    account: &A,
    now: Timestamp,
) -> Result<Vec<A::Session>, Problem> {
    let mut sessions = services.table.all(&sessions(account), COUNTED_SESSIONS).await?;
    sessions.retain(|session| account.is_session_valid(session, now));
    Ok(sessions)
}

/// The query of the account's sessions, newest first.
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

/// Ends a session. With `all`, ends every session of the account by raising its credential generation,
/// without enumerating them.
///
/// # Errors
/// `unauthenticated`: the account does not exist any more.
pub async fn sign_out<A: Account, C: Completion<()>>(
    services: &Services,
    (account, session): (&A, &A::Session),
    input: &SignOutRequest,
    completion: &C,
) -> Result<C::Output, Problem> {
    let (account_key, session_key) = (account.key(), session.key());
    if !input.all.0 {
        let write = services.table.write().delete(&session_key);
        return completion.commit(write, &(), services.clock.now()).await;
    }
    retry(|| async {
        let now = services.clock.now();
        let account: Option<A> = services.table.get(&account_key).await?;
        let account = account.ok_or(Code::Unauthenticated)?.with_sessions_ended(now);
        let write =
            account.save(services.table.write(), Code::VersionConflict).delete(&session_key);
        completion.commit(write, &(), now).await
    })
    .await
}
