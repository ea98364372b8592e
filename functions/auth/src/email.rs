//! Proving that an address is the account's.

use axum::extract::State;
use commerce::account::{self, Account, Found, MailRequest};
use commerce::challenge::{self, Purpose};
use commerce::event::MERCHANT_UPDATED;
use commerce::mail::Letter;
use commerce::merchant::{Merchant, Platform};
use commerce::throttle::Kind;
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::Public;
use gateway::item::Item;
use gateway::problem::{Code, Problem};
use gateway::request::{Body, FieldErrors, Raw, Text};
use gateway::table::retry;
use serde_json::json;

/// `POST /v1/auth/email/verify`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct VerifyRequest {
    /// The token of the mail.
    token: Text<1, 200>,
}

/// `POST /v1/auth/email/verify` — the address is the account's. The token works once, and only
/// for the address it was mailed to.
///
/// # Errors
/// `invalid_or_expired_token`.
pub(crate) async fn verify(
    _: Public,
    State(app): State<App>,
    Body(ask): Body<VerifyRequest>,
) -> Result<Answer, Problem> {
    retry(|| async {
        let token = ask.token.as_str();
        let (link, account) = account::follow::<Merchant>(&app, Purpose::Verify, token).await?;
        let now = app.clock.now();
        let account = account.verified(now);
        let answer = Answer::ok(&json!({"verified": true, "email": account.email}));
        let used = challenge::use_up(now);
        let write = app.table.write().update(&link.key(), used, Code::InvalidOrExpiredToken);
        account
            .save(write, Code::VersionConflict)
            .emit(account.event(&MERCHANT_UPDATED, &app.config, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// `POST /v1/auth/email/verify/resend` — mails the link again. The answer and the work are the
/// same for an address without an account, and for one that is verified.
///
/// # Errors
/// `too_many_attempts`.
pub(crate) async fn resend(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(ask): Body<MailRequest>,
) -> Result<Answer, Problem> {
    let at = (&Platform, &ask.email);
    let found: Found<Merchant> = account::find(&app, Kind::Verify, at, &inbound, None).await?;
    let waits = |account: &Merchant| account.is_active() && !account.email_verified;
    let letter = |to: &_, token: &str| Letter::verify_email(to, token, &app.config.base_url);
    account::send_link(&app, Purpose::Verify, found.account.filter(waits).as_ref(), letter).await
}
