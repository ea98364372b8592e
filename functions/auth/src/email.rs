//! Verification of an account's e-mail address.

use gateway::idempotency::Commit;
use std::sync::Arc;

use axum::extract::State;
use core_types::fields::Email;
use core_types::mail::Mail;
use gateway::app::App;
use gateway::caller::{Access, Caller, Identity, Public};
use gateway::idempotency::answering;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, Inbound, Raw};
use identity::account::Account;
use identity::authentication::{self, AccountLookup, LinkSent, MailRequest};
use identity::challenge::{self, Purpose};
use identity::merchant::{MERCHANT_UPDATED, Merchant, Platform};
use identity::notifications;
use identity::password::Guess;
use identity::session::Session;
use identity::throttle::Kind;
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{Write, retry};

/// The caller of a verification: a signed-in merchant, or anybody with the link.
#[derive(Debug, Clone)]
pub(crate) enum Prover {
    /// A merchant with a live session, of this or another account.
    SignedIn(Box<callers::Merchant>),
    /// A caller with the link alone.
    Anybody(Public),
}

gateway::caller_argument!(Prover);

impl Caller for Prover {
    fn access() -> Access {
        Access::Public
    }

    /// An invalid credential is rejected and not ignored: its sender expects to be signed in, and the
    /// link alone ends more sessions.
    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        if callers::presents_credential(inbound) {
            let merchant = callers::Merchant::authenticate(services, inbound).await?;
            return Ok(Self::SignedIn(Box::new(merchant)));
        }
        Public::authenticate(services, inbound).await.map(Self::Anybody)
    }

    fn identity(&self) -> Identity {
        match self {
            Self::SignedIn(merchant) => merchant.identity(),
            Self::Anybody(public) => public.identity(),
        }
    }
}

impl Prover {
    /// The caller's session, if it is of `account`.
    fn session_of(&self, account: &Merchant) -> Option<&Session> {
        match self {
            Self::SignedIn(merchant) if merchant.account.id == account.id => {
                Some(&merchant.session)
            }
            Self::SignedIn(_) | Self::Anybody(_) => None,
        }
    }
}

/// The proof that a mail was received.
#[request]
#[derive(Debug)]
pub(crate) struct VerifyEmailRequest {
    /// The token of the mail.
    token: Text<1, 200>,
    /// Instead of a session: the account's password, which then stays valid.
    password: Option<Guess>,
}

/// The result of a verification.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EmailVerified {
    /// `true`.
    verified: bool,
    email: Email,
    /// Whether the account still has a password.
    has_password: bool,
}

/// `POST /v1/auth/email/verify` (`verifyEmail`): Verify the e-mail address of an account.
///
/// The token is used once, until the address is verified, and only for the address that it was mailed to.
///
/// The person who created the account may not be the one who receives its mail. With a session or the
/// password of the account, the link proves that they are the same: password and session stay, and the
/// other sessions end. Alone, it does not: the password is removed, every session ends, and the owner signs
/// in by one-time code or sets a password by reset.
///
/// # Errors
/// `invalid_or_expired_token`; `unauthenticated`, `invalid_token`, `account_disabled`,
/// `origin_not_allowed`; `invalid_credentials`, `too_many_attempts`.
pub(crate) async fn verify(
    prover: Prover,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<VerifyEmailRequest>,
) -> Result<Json<EmailVerified>, Problem> {
    let token = input.token.as_str();
    let mut confirmed = None;
    if let Some(guess) = &input.password {
        let (_, account) = authentication::follow::<Merchant>(&app, Purpose::Verify, token).await?;
        // Without a password, no guess is right.
        account.password_hash().ok_or(Code::InvalidCredentials)?;
        let needed_to = "Required to verify the address.";
        let proof = (Some(guess), None);
        confirmed = Some(
            authentication::confirm(&app, &account, proof, needed_to, &inbound.client_prefix())
                .await?,
        );
    }
    retry(|| async {
        let (link, account) =
            authentication::follow::<Merchant>(&app, Purpose::Verify, token).await?;
        let now = app.clock.now();
        let session = prover.session_of(&account).map(Item::key);
        let is_creator = session.is_some() || confirmed.is_some();
        let taken_over = account.taken_over(now).filter(|_| !is_creator);
        let notice = match &taken_over {
            Some(account) => Some(account_taken_over_mail(&app, account, now).await?),
            None => None,
        };
        let next = taken_over.unwrap_or_else(|| account.verified(now));
        let answer = Json::new(&EmailVerified {
            verified: true,
            email: next.email.clone(),
            has_password: next.password_hash.is_some(),
        });
        let used = challenge::use_up(now);
        let write = app.table.write().update(&link.key(), used, Code::InvalidOrExpiredToken);
        next.save(write, Code::VersionConflict)
            .when_some(session, |write, session| {
                authentication::keep_session(write, &session, &next)
            })
            .when_some(confirmed.as_ref(), |write, confirmed| confirmed.add_use(write, now))
            .when_some(notice, Write::emit)
            .emit(next.event(&MERCHANT_UPDATED, &app.config, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// The mail to the new owner of an account whose password and sessions have ended with the proof of its
/// address.
pub(crate) async fn account_taken_over_mail(
    services: &Services,
    account: &Merchant,
    now: Timestamp,
) -> Result<Mail, Problem> {
    let content = notifications::address_proven(&account.email, &services.config.base_url);
    Mail::sealed(services, &content, now).await
}

/// `POST /v1/auth/email/verify/resend` (`resendEmailVerification`): Send the verification mail again.
///
/// The response and the work are the same for an address without an account, and for a verified one.
///
/// # Errors
/// `too_many_attempts`.
pub(crate) async fn resend(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<MailRequest>,
) -> Result<Accepted<LinkSent>, Problem> {
    let at = (&Platform, &input.email);
    let found: AccountLookup<Merchant> =
        authentication::find(&app, Kind::Verify, at, &inbound.client_prefix(), None).await?;
    let waits = |account: &Merchant| account.is_active() && !account.email_verified;
    let content =
        |to: &_, token: &str| notifications::verify_email(to, token, &app.config.base_url);
    let (account, completion) = (found.account.filter(waits), answering(Accepted::<LinkSent>::new));
    authentication::send_link(&app, Purpose::Verify, account.as_ref(), content, &completion).await
}
