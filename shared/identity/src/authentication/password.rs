//! Passwords: reset by mail, changed with a link or a session.

use core_types::fields::Email;
use core_types::mail::{Mail, MailContent};
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{Completion, Write};

use super::{
    Account, AccountLookup, LinkSent, PresentedCode, confirm, find, follow, keep_session,
    live_sessions, send_link,
};
use crate::challenge::{self, Purpose};
use crate::notifications;
use crate::password::{Guess, NewPassword};
use crate::throttle::Kind;

/// Mails a link to set a new password. The outcome and the work are the same for an address
/// without an account.
///
/// # Errors
/// `too_many_attempts`.
pub async fn reset<A: Account, C: Completion<LinkSent>>(
    services: &Services,
    at: (&A::Tenant, &Email),
    network: &str,
    content: impl FnOnce(&Email, &str) -> MailContent,
    completion: &C,
) -> Result<C::Output, Problem> {
    let AccountLookup::<A> { account, .. } = find(services, Kind::Reset, at, network, None).await?;
    let account = account.filter(Account::is_active);
    send_link(services, Purpose::Reset, account.as_ref(), content, completion).await
}

/// A change of password.
#[request]
#[derive(Debug)]
pub struct UpdateRequest {
    /// The token of a reset mail; without a session.
    token: Option<Text<1, 200>>,
    /// The current password, if there is one; with a session.
    current_password: Option<Guess>,
    /// A one-time code to the account's address, where it has no password.
    one_time_code: Option<PresentedCode>,
    /// 8 to 128 characters, and not a common one.
    new_password: NewPassword,
    /// Whether the account's other sessions end; they do unless this is `false`. A reset always
    /// ends them.
    revoke_other_sessions: Option<Flag>,
}

impl UpdateRequest {
    /// The token that authorizes the request.
    fn token_alone(&self) -> Result<&str, Problem> {
        let required = || Problem::field("/token", "required", "This field is required.");
        self.token.as_ref().map(Text::as_str).ok_or_else(required)
    }
}

impl Rules for UpdateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        if !given.has("token") {
            return Vec::new();
        }
        let of_session = ["current_password", "one_time_code", "revoke_other_sessions"];
        let extra = of_session.into_iter().filter(|name| given.has(name));
        let detail = "Cannot be given with `token`.";
        extra.map(|name| FieldError::new(format!("/{name}"), "not_with_token", detail)).collect()
    }
}

/// The result of a password change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasswordUpdated {
    /// `true`.
    updated: bool,
    /// The number of other sessions that were revoked.
    sessions_revoked: usize,
}

impl PasswordUpdated {
    const fn of(sessions_revoked: usize) -> Self {
        Self { updated: true, sessions_revoked }
    }
}

/// Sets a new password with a token. One transaction uses the token up, sets the password and
/// raises the credential generation. It also proves the address, and lets the owner sign in without
/// waiting for the throttle.
///
/// # Errors
/// `invalid_or_expired_token`.
pub async fn by_link<A: Account, C: Completion<PasswordUpdated>>(
    services: &Services,
    network: &str,
    input: &UpdateRequest,
    completion: &C,
) -> Result<C::Output, Problem> {
    let (link, account) = follow::<A>(services, Purpose::Reset, input.token_alone()?).await?;
    let hash = input.new_password.hash().await?;
    let now = services.clock.now();
    let ended = live_sessions(services, &account, now).await?.len();
    let next = account.with_password(hash, now).proven();
    let subject = account.attempt_subject(Kind::SignIn, network);
    let used = challenge::use_up(now);
    let write = services.table.write().update(&link.key(), used, Code::InvalidOrExpiredToken);
    let write = next.save(write, Code::VersionConflict).delete(&subject.key());
    let write = announced(services, write, &next, now).await?;
    completion.commit(write, &PasswordUpdated::of(ended), now).await
}

/// Sets a new password for the signed-in owner. The current session survives: the same transaction
/// moves it to the new credential generation. With `revoke_other_sessions: false` the generation
/// stays, and so do all sessions.
///
/// # Errors
/// 422 without the current password, or a one-time code where there is none; `invalid_credentials`,
/// `invalid_or_expired_code`, `too_many_attempts`.
pub async fn by_session<A: Account, C: Completion<PasswordUpdated>>(
    services: &Services,
    network: &str,
    input: &UpdateRequest,
    (account, session): (&A, &A::Session),
    completion: &C,
) -> Result<C::Output, Problem> {
    let proofs = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let confirmed = confirm(services, account, proofs, "This field is required.", network).await?;
    let hash = input.new_password.hash().await?;
    let now = services.clock.now();
    let revoke = input.revoke_other_sessions.is_none_or(|flag| flag.0);
    let next = if revoke {
        account.with_password(hash, now)
    } else {
        account.with_password_alone(hash, now)
    };
    let mut ended = if revoke { live_sessions(services, account, now).await? } else { Vec::new() };
    let current = session.key();
    ended.retain(|session| session.key() != current);
    let write = next.save(services.table.write(), Code::VersionConflict);
    let write = confirmed.add_use(keep_session(write, &current, &next), now);
    let write = announced(services, write, &next, now).await?;
    completion.commit(write, &PasswordUpdated::of(ended.len()), now).await
}

/// Adds the notification of a new password: a mail to the owner, and the event if there is one.
async fn announced(
    services: &Services,
    write: Write,
    account: &impl Account,
    now: Timestamp,
) -> Result<Write, Problem> {
    let event = account.password_updated(&services.config, now);
    let write = write.when_some(event, Write::emit);
    let Some(email) = account.email() else { return Ok(write) };
    let owner = account.challenge_subject();
    let content = notifications::password_changed(email, owner.store_id(), now);
    Ok(write.emit(Mail::sealed(services, &content, now).await?))
}
