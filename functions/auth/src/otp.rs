//! Sign-in by one-time code.

use axum::extract::State;
use core_types::fields::Email;
use gateway::app::App;
use gateway::caller::Public;
use gateway::idempotency::Commit;
use gateway::idempotency::answering;
use gateway::reply::{Accepted, Json, NoStore};
use gateway::request::{Body, Inbound, Raw, Ruled};
use identity::account::Account;
use identity::authentication::code::{ChallengeSelector, CodeSent};
use identity::authentication::{MailRequest, code};
use identity::challenge::Challenge;
use identity::challenge_subject::ChallengeSubject;
use identity::merchant::{MERCHANT_UPDATED, Merchant, MerchantView, Platform};
use identity::session::CreatedVia;
use identity::throttle::Kind;
use primitives::fields::{Flag, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::retry;

use crate::email;
use crate::mfa;
use crate::session::{self, SignedIn};
use crate::signin::{begin, finish};

/// `POST /v1/auth/signin/otp` (`requestSignInCode`): Request a sign-in code by mail.
///
/// For an address without an account the response and the work are the same: a challenge is written that no
/// code passes.
///
/// # Errors
/// `too_many_attempts` before `resend_after` has passed.
pub(crate) async fn request(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<MailRequest>,
) -> Result<Accepted<CodeSent>, Problem> {
    let (at, network) = ((&Platform, &input.email), inbound.client_prefix());
    let completion = answering(Accepted::<CodeSent>::new);
    code::request::<Merchant, _>(&app, at, &network, &completion).await
}

/// A one-time code to verify.
#[request]
#[derive(Debug)]
pub(crate) struct VerifyCodeRequest {
    /// The challenge that the code answers.
    challenge_id: Option<Text<1, 100>>,
    /// Instead of the challenge: the address that the code was mailed to. It stands for the newest
    /// challenge requested from the same network.
    email: Option<Email>,
    /// The code. Any text is accepted, so that a malformed code counts as an attempt like a wrong one.
    code: Text<1, 100>,
    /// A code of the authenticator app or a recovery code, if the account has a second factor.
    totp: Option<Text<1, 100>>,
    /// Whether also to set the session cookie.
    cookie: Flag,
}

impl Rules for VerifyCodeRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        ChallengeSelector::violations(given)
    }
}

/// `POST /v1/auth/signin/otp/verify` (`verifySignInCode`): Sign in with a mailed code.
///
/// Begins a session. A code is redeemed once.
///
/// The first code that proves the account's address gives the account to its recipient: an earlier password
/// is removed, and earlier sessions end.
///
/// # Errors
/// `invalid_or_expired_code`, for every failure; `account_disabled` and `mfa_required`, only with the right
/// code; `too_many_attempts`, when the account's ceiling of validated codes is reached.
pub(crate) async fn verify(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Ruled(Body(input)): Ruled<Body<VerifyCodeRequest>>,
) -> Result<NoStore<Json<SignedIn>>, Problem> {
    let id = match ChallengeSelector::new(input.challenge_id, input.email)? {
        ChallengeSelector::Challenge(id) => id,
        ChallengeSelector::SentTo(email) => {
            let network = inbound.client_prefix();
            let subject = Merchant::attempt_subject_at(Kind::Code, &Platform, &email, &network);
            code::newest(&app, &subject).await?
        }
    };
    let (challenge, challenge_subject) = code::validate(&app, id, &input.code).await?;
    let account: Merchant = code::account_of(&app, &challenge, &challenge_subject).await?;
    if !account.email_verified {
        return take_over(&app, (&challenge, &challenge_subject), &inbound, input.cookie.0).await;
    }
    let second = mfa::second(&app, &account, input.totp.as_ref(), &inbound).await?;
    let write = code::consume(&app, &challenge, app.clock.now())
        .delete(&account.attempt_subject(Kind::Code, &inbound.client_prefix()).key());
    finish(&app, &account, write, (CreatedVia::Otp, second), &inbound, input.cookie.0).await
}

/// Gives the account to the first who proves its address, and begins a session. No second factor is required:
/// one that was set up before the proof is removed.
async fn take_over(
    services: &Services,
    (challenge, challenge_subject): (&Challenge, &ChallengeSubject),
    inbound: &Inbound,
    cookie: bool,
) -> Result<NoStore<Json<SignedIn>>, Problem> {
    retry(|| async {
        let found: Merchant = code::account_of(services, challenge, challenge_subject).await?;
        let now = services.clock.now();
        // The address was proven meanwhile, which ended this code.
        let account = found.taken_over(now).ok_or(Code::InvalidOrExpiredCode)?;
        let (session, token) = begin(&account, CreatedVia::Otp, inbound, now);
        let view = MerchantView::of(&account, &services.config);
        let body = SignedIn::new(view, &session, &token, None, now);
        let write = code::consume(services, challenge, now);
        account
            .save(write, Code::VersionConflict)
            .emit(account.event(&MERCHANT_UPDATED, &services.config, now))
            .emit(email::account_taken_over_mail(services, &account, now).await?)
            .create(&session, Code::VersionConflict)
            .delete(&account.attempt_subject(Kind::Code, &inbound.client_prefix()).key())
            .answer(session::signed_in(&body, cookie), now)
            .await
    })
    .await
}
