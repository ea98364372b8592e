//! Sign-in by one-time code.

use axum::extract::State;
use commerce::challenge::{self, CODE_LIFETIME, Challenge, Holder};
use commerce::fields::Email;
use commerce::id::ChallengeId;
use commerce::key;
use commerce::mail::{Letter, Mail};
use commerce::merchant::{Merchant, MerchantStatus, MerchantView};
use commerce::session::CreatedVia;
use commerce::throttle::{Kind, Subject, Throttle};
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::Public;
use gateway::password;
use gateway::problem::{Code, FieldError, Problem};
use gateway::request::{Body, Fault, FieldErrors, Flag, Inbound, Raw, Text};
use http::StatusCode;
use serde_json::json;

use crate::session::{self, SignedIn};
use crate::signin::{admit, begin, find};

/// `POST /v1/auth/signin/otp`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct CodeRequest {
    /// The address of the account; the code is mailed there.
    email: Email,
}

/// `POST /v1/auth/signin/otp` — mails a code. For an address without an account the answer and
/// the work are the same: a challenge is written that nothing can pass.
///
/// # Errors
/// `too_many_attempts` before `resend_after` has passed.
pub(crate) async fn request(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(ask): Body<CodeRequest>,
) -> Result<Answer, Problem> {
    let id = ChallengeId::mint(app.clock.now());
    let (_, throttle, account) = find(&app, Kind::Code, &ask.email, &inbound, Some(&id)).await?;
    let account = account.filter(|account| account.status == MerchantStatus::Active);
    let keys = app.secrets.keys().await?;
    let code = challenge::six_digits();
    let hash = password::hash_code(&code).await.map_err(Problem::unavailable)?;
    let now = app.clock.now();
    let mail = account.as_ref().map(|account| {
        Mail::compose(&keys.seal, &Letter::one_time_code(&account.email, &code), now)
    });
    let body = json!({
        "challenge_id": id,
        "channel": "email",
        "expires_in": CODE_LIFETIME.as_secs(),
        "resend_after": now.seconds_until(throttle.next_at),
    });
    let challenge = Challenge::begin(id, account.as_ref().map(Holder::of), hash, now)
        .bound_to(account.as_ref());
    app.table
        .write()
        .create(&challenge, Code::VersionConflict)
        .also(mail.transpose()?, gateway::table::Write::emit)
        .answer(Answer::accepted(&body), now)
        .await
}

/// `POST /v1/auth/signin/otp/verify`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct VerifyRequest {
    /// The challenge that the code answers.
    #[deserr(default)]
    challenge_id: Option<Text<1, 100>>,
    /// Instead of the challenge: the address the code was mailed to. Means the newest challenge
    /// that the same network asked for.
    #[deserr(default)]
    email: Option<Email>,
    /// The code. Any text is judged, so that a malformed one costs a try like a wrong one.
    code: Text<1, 100>,
    /// Whether to set the session cookie too.
    #[deserr(default)]
    cookie: Flag,
}

/// `POST /v1/auth/signin/otp/verify` — a session for the right code, once.
///
/// The try is counted first, by a write of its own (traps 17). Of several right answers at the
/// same moment the one that uses the challenge up begins a session.
///
/// # Errors
/// `invalid_or_expired_code`, for every way to fail; `account_disabled`, only with the right code.
pub(crate) async fn verify(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(ask): Body<VerifyRequest>,
) -> Result<Answer, Problem> {
    let failed = Code::InvalidOrExpiredCode;
    let id = named_challenge(&app, &ask, &inbound).await?.ok_or(failed)?;
    let challenge_key = key::challenge(&id);
    let try_it = Challenge::count_try(app.clock.now());
    app.table.write().update(&challenge_key, try_it, failed).commit().await?;
    let challenge: Challenge = app.table.get(&challenge_key).await?.ok_or(failed)?;
    let right = password::verify_code(ask.code.as_str(), Some(&challenge.code_hash)).await;
    let owner = challenge.holder.as_ref().and_then(Holder::merchant).filter(|_| right);
    let owner = owner.ok_or(failed)?;
    let account: Option<Merchant> = app.table.get(&key::merchant(owner)).await?;
    let account = admit(account.filter(|account| challenge.fits(account)).ok_or(failed)?)?;
    let now = app.clock.now();
    let (session, token) = begin(&account, CreatedVia::Otp, &inbound, now);
    let view = MerchantView::of(&account, &app.config);
    let body = SignedIn::new(view, &session, &token, None, now);
    let subject = Subject::new(Kind::Code, &account.email, &inbound.client_prefix());
    app.table
        .write()
        .update(&challenge_key, challenge::use_up(now), failed)
        .create(&session, Code::VersionConflict)
        .delete(&subject.key())
        .answer(session::signed_in(StatusCode::OK, &body, ask.cookie.0), now)
        .await
}

/// The challenge that a request means; `None` when there is none such.
async fn named_challenge(
    app: &App,
    ask: &VerifyRequest,
    inbound: &Inbound,
) -> Result<Option<ChallengeId>, Problem> {
    match (&ask.challenge_id, &ask.email) {
        (Some(id), None) => Ok(ChallengeId::parse(id.as_str())),
        (None, Some(email)) => {
            let subject = Subject::new(Kind::Code, email, &inbound.client_prefix());
            let throttle: Option<Throttle> = app.table.get(&subject.key()).await?;
            Ok(throttle.and_then(|throttle| throttle.challenge_id))
        }
        (None, None) | (Some(_), Some(_)) => {
            let fault = Fault::new("required", "Give either `challenge_id` or `email`.");
            let at =
                |pointer: &str| FieldError { pointer: pointer.to_owned(), fault: fault.clone() };
            Err(Problem::invalid(vec![at("/challenge_id"), at("/email")]))
        }
    }
}
