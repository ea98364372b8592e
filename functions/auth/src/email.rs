//! Proving that an address is the account's.

use axum::extract::State;
use commerce::challenge::{self, Holder, Link, Purpose};
use commerce::fields::Email;
use commerce::key;
use commerce::merchant::{Merchant, MerchantStatus};
use commerce::throttle::Kind;
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::Public;
use gateway::item::Item;
use gateway::problem::{Code, Problem};
use gateway::request::{Body, FieldErrors, Raw, Text};
use gateway::seal;
use gateway::table::retry;
use serde_json::json;

use crate::account;
use crate::password::send_link;
use crate::signin::find;

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
    let refused = Code::InvalidOrExpiredToken;
    let link_key = key::link(&seal::digest(ask.token.as_str()));
    retry(|| async {
        let now = app.clock.now();
        let link: Link = app.table.get(&link_key).await?.ok_or(refused)?;
        let owner = link.leads_to(Purpose::Verify, now).and_then(Holder::merchant);
        let owner = owner.ok_or(refused)?;
        let account: Option<Merchant> = app.table.get(&key::merchant(owner)).await?;
        let account = account.filter(|account| link.fits(account)).ok_or(refused)?.verified(now);
        let answer = Answer::ok(&json!({"verified": true, "email": account.email}));
        let write = app.table.write().update(&link.key(), challenge::use_up(now), refused);
        account
            .save(write, Code::VersionConflict)
            .emit(account::updated(&app, &account, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// `POST /v1/auth/email/verify/resend`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct ResendRequest {
    /// The address to verify.
    email: Email,
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
    Body(ask): Body<ResendRequest>,
) -> Result<Answer, Problem> {
    let (_, _, account) = find(&app, Kind::Verify, &ask.email, &inbound, None).await?;
    let waits =
        |account: &Merchant| account.status == MerchantStatus::Active && !account.email_verified;
    send_link(&app, Purpose::Verify, account.filter(waits).as_ref()).await
}
