//! One-time codes: mailed with a challenge that stores the account, and validated when they are
//! returned.

use core_types::fields::Email;
use core_types::id::ChallengeId;
use core_types::key;
use core_types::mail::{Mail, MailContent};
use crypto::password;
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::Given;
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::outbox::Outgoing;
use table::{Completion, Write};

use super::{Account, AccountLookup, find};
use crate::challenge::{self, CODE_LIFETIME, Challenge};
use crate::challenge_subject::ChallengeSubject;
use crate::notifications;
use crate::throttle::{AttemptSubject, CODE_ATTEMPTS, Kind, Throttle};

/// A code about to be sent: the challenge, and the mail if there is a recipient.
#[derive(Debug)]
pub struct Sending {
    challenge: Challenge,
    mail: Option<Mail>,
    resend_after: i64,
}

/// A one-time code that was sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CodeSent {
    /// The challenge that the code answers.
    challenge_id: ChallengeId,
    /// `email`.
    channel: &'static str,
    /// Seconds until the code expires.
    expires_in: u64,
    /// Seconds until another code may be requested.
    resend_after: i64,
}

impl Sending {
    /// Creates a code for `challenge_subject`, bound to the account's current state. `content` returns the mail
    /// to send, if there is one.
    ///
    /// # Errors
    /// 503.
    pub async fn new<A: Account>(
        services: &Services,
        id: ChallengeId,
        (challenge_subject, account): (Option<ChallengeSubject>, Option<&A>),
        (subject, throttle): (&AttemptSubject, &Throttle),
        content: impl FnOnce(&str) -> Option<MailContent>,
    ) -> Result<Self, Problem> {
        let key = services.secrets.mail_key().await?;
        let code = challenge::six_digits();
        let hash = password::hash_code(&code).await.map_err(Problem::unavailable)?;
        let now = services.clock.now();
        let owner = account.map(A::challenge_subject);
        let store =
            challenge_subject.as_ref().or(owner.as_ref()).and_then(ChallengeSubject::store_id);
        let content = content(&code).map(|content| match account {
            Some(account) => account.addressed(content.from_store(store)),
            None => content.from_store(store),
        });
        let mail = content.map(|content| Mail::compose(&key, &content, now));
        Ok(Self {
            challenge: Challenge::begin(id, (challenge_subject, subject.account()), hash, now)
                .bound_to(account),
            mail: mail.transpose()?,
            resend_after: now.seconds_until(throttle.next_at),
        })
    }

    /// The code as it is sent.
    pub fn sent(&self) -> CodeSent {
        CodeSent {
            challenge_id: self.challenge.id.clone(),
            channel: "email",
            expires_in: CODE_LIFETIME.as_secs(),
            resend_after: self.resend_after,
        }
    }

    /// Writes the challenge and the mail.
    ///
    /// # Errors
    /// 503.
    pub async fn send<C: Completion<CodeSent>>(
        self,
        services: &Services,
        completion: &C,
    ) -> Result<C::Output, Problem> {
        let (sent, now) = (self.sent(), services.clock.now());
        completion.commit(services.table.write().emit(self), &sent, now).await
    }
}

impl Outgoing for Sending {
    fn put_into(self, write: Write) -> Write {
        write.create(&self.challenge, Code::VersionConflict).when_some(self.mail, Write::emit)
    }
}

/// Mails a code that signs in. For an address without an account the outcome and the work are the
/// same: a challenge is written that no code passes.
///
/// # Errors
/// `too_many_attempts` before `resend_after` has passed.
pub async fn request<A: Account, C: Completion<CodeSent>>(
    services: &Services,
    at: (&A::Tenant, &Email),
    network: &str,
    completion: &C,
) -> Result<C::Output, Problem> {
    let id = ChallengeId::mint(services.clock.now());
    let AccountLookup::<A> { subject, throttle, account } =
        find(services, Kind::Code, at, network, Some(&id)).await?;
    let account = account.filter(Account::is_active);
    let content = |code: &str| {
        let account = account.as_ref()?;
        let owner = account.challenge_subject();
        Some(notifications::sign_in_code(account.email()?, owner.store_id(), code))
    };
    let bound = (account.as_ref().map(A::challenge_subject), account.as_ref());
    let sending = Sending::new(services, id, bound, (&subject, &throttle), content).await?;
    sending.send(services, completion).await
}

/// How a request selects its challenge.
#[derive(Debug)]
pub enum ChallengeSelector {
    /// By id; `None` for a malformed id.
    Challenge(Option<ChallengeId>),
    /// The newest one requested from the same network for this address.
    SentTo(Email),
}

impl ChallengeSelector {
    /// Requires exactly one of the two.
    ///
    /// # Errors
    /// 422 when both or neither are given.
    pub fn new(id: Option<Text<1, 100>>, email: Option<Email>) -> Result<Self, Problem> {
        match (id, email) {
            (Some(id), None) => Ok(Self::Challenge(ChallengeId::parse(id.as_str()))),
            (None, Some(email)) => Ok(Self::SentTo(email)),
            (first, _) => Err(Problem::invalid(Self::rejection(first.is_some()))),
        }
    }

    /// The field errors of a request that names no challenge, or two ways.
    pub fn violations(given: Given<'_>) -> Vec<FieldError> {
        let (has_id, has_email) = (given.has("challenge_id"), given.has("email"));
        if has_id == has_email { Self::rejection(has_id) } else { Vec::new() }
    }

    fn rejection(is_twice: bool) -> Vec<FieldError> {
        let code = if is_twice { "not_applicable" } else { "required" };
        let detail = "Send `challenge_id` or `email`, not both.";
        let at = |pointer: &str| FieldError::new(pointer, code, detail);
        vec![at("/challenge_id"), at("/email")]
    }
}

/// The newest challenge that the subject requested.
///
/// # Errors
/// 503.
pub async fn newest(
    services: &Services,
    subject: &AttemptSubject,
) -> Result<Option<ChallengeId>, Problem> {
    let throttle: Option<Throttle> = services.table.get(&subject.key()).await?;
    Ok(throttle.and_then(|throttle| throttle.challenge_id))
}

/// Returns the challenge and its account for the right code. The attempt is counted first, on the
/// challenge and under the account's ceiling, by a separate write: otherwise many parallel guesses
/// would all be compared. The caller's transaction then consumes the challenge ([`consume`]).
///
/// # Errors
/// `invalid_or_expired_code` for every failure; `too_many_attempts` when the account's ceiling of
/// validated codes is reached.
pub async fn validate(
    services: &Services,
    id: Option<ChallengeId>,
    code: &Text<1, 100>,
) -> Result<(Challenge, ChallengeSubject), Problem> {
    let failed = Code::InvalidOrExpiredCode;
    let challenge_key = key::challenge(&id.ok_or(failed)?);
    let challenge: Challenge = services.table.get(&challenge_key).await?.ok_or(failed)?;
    let try_it = |write: Write| {
        write.update(&challenge_key, Challenge::count_try(services.clock.now()), failed)
    };
    CODE_ATTEMPTS.count_attempt(services, &challenge.account, try_it).await?;
    let right = password::verify_code(code.as_str(), Some(&challenge.code_hash)).await;
    let challenge_subject = challenge.subject.clone().filter(|_| right).ok_or(failed)?;
    Ok((challenge, challenge_subject))
}

/// Loads the code's account, if it may be used and the code is still valid for it.
///
/// # Errors
/// `invalid_or_expired_code`; `account_disabled`.
pub async fn account_of<A: Account>(
    services: &Services,
    challenge: &Challenge,
    challenge_subject: &ChallengeSubject,
) -> Result<A, Problem> {
    let failed = Code::InvalidOrExpiredCode;
    let account: Option<A> =
        services.table.get(&A::key_of(challenge_subject).ok_or(failed)?).await?;
    account.filter(|account| challenge.is_valid_for(account)).ok_or(failed)?.admit()
}

/// Begins a transaction that consumes the challenge: of several right answers at once, one succeeds.
pub fn consume(services: &Services, challenge: &Challenge, now: Timestamp) -> Write {
    let used = challenge::use_up(now);
    services.table.write().update(&challenge.key(), used, Code::InvalidOrExpiredCode)
}
