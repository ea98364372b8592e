//! The second factor: enrolment, confirmation, removal, and validation at sign-in.

use axum::extract::State;
use core_types::key;
use core_types::mail::Mail;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Created, Json, NoContent, NoStore};
use gateway::request::{Body, Inbound, Raw};
use http::header;
use identity::account::Account;
use identity::authentication::{PresentedCode, confirm};
use identity::challenge::{Link, Purpose};
use identity::merchant::{MERCHANT_UPDATED, Merchant};
use identity::mfa::{Enrolment, Mfa, MfaState};
use identity::notifications;
use identity::password::Guess;
use identity::throttle::{self, AttemptSubject, Kind};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{Condition, Write};

/// A validated second factor: the item with the code spent, and the throttle subject of the attempt.
#[derive(Debug)]
pub(crate) struct CodeProof {
    mfa: Mfa,
    subject: AttemptSubject,
}

impl CodeProof {
    /// Adds the use of the code: of several sign-ins with one code, one succeeds.
    pub(crate) fn add_use(self, write: Write) -> Write {
        write.replace(&self.mfa, Code::InvalidOrExpiredCode).delete(&self.subject.key())
    }

    /// Adds the use of the code and the removal of the second factor.
    pub(crate) fn end(self, write: Write) -> Write {
        let unused = Condition::is_at(self.mfa.version.saturating_sub(1));
        let write = write.delete_if(&self.mfa.key(), unused, Code::InvalidOrExpiredCode);
        write.delete(&self.subject.key())
    }
}

/// Validates a code. The attempt is counted first, like that of a password, and under the account's
/// ceiling.
///
/// # Errors
/// `invalid_or_expired_code`; `too_many_attempts`.
async fn validate(
    services: &Services,
    account: &Merchant,
    code: &str,
    inbound: &Inbound,
    expected: impl Fn(&Mfa, Timestamp) -> bool,
) -> Result<CodeProof, Problem> {
    let failed = Code::InvalidOrExpiredCode;
    let (subject, mfa_key) =
        (account.attempt_subject(Kind::Totp, &inbound.client_prefix()), key::mfa(&account.id));
    let (_, mut batch) = throttle::attempt(services, &subject, None, &[&mfa_key]).await?;
    let now = services.clock.now();
    let mfa: Option<Mfa> = batch.take(&mfa_key)?;
    let mfa = mfa.filter(|mfa| expected(mfa, now)).ok_or(failed)?;
    let key = services.secrets.mfa_key().await?;
    let mfa = mfa.spent(&key, code, now)?.ok_or(failed)?;
    Ok(CodeProof { mfa, subject })
}

/// The state of the second factor in a sign-in.
#[derive(Debug)]
pub(crate) enum Second {
    /// The account has none.
    NotNeeded,
    /// It is required, and was not sent.
    Missing,
    /// The code is right.
    Right(Box<CodeProof>),
}

/// Validates the second factor after the first one, if the account has one.
///
/// # Errors
/// `invalid_or_expired_code`; `too_many_attempts`.
pub(crate) async fn second(
    services: &Services,
    account: &Merchant,
    totp: Option<&Text<1, 100>>,
    inbound: &Inbound,
) -> Result<Second, Problem> {
    match totp {
        _ if !account.mfa_enabled => Ok(Second::NotNeeded),
        None => Ok(Second::Missing),
        Some(code) => {
            let active = |mfa: &Mfa, _| mfa.state == MfaState::Active;
            let proof = validate(services, account, code.as_str(), inbound, active).await?;
            Ok(Second::Right(Box::new(proof)))
        }
    }
}

/// Ends a sign-in that lacks its second factor. `write` uses up the first factor, and the problem has a
/// token that represents it for five minutes.
pub(crate) async fn begin_second_step(write: Write, account: &Merchant, now: Timestamp) -> Problem {
    let (link, token) = Link::begin(Purpose::Mfa, Some(account), now);
    match write.create(&link, Code::VersionConflict).commit().await {
        Err(problem) => problem,
        Ok(()) => Code::MfaRequired
            .with("mfa_token", token)
            .with("expires_in", Purpose::Mfa.lifetime().as_secs())
            .header(header::CACHE_CONTROL, "no-store"),
    }
}

/// Requires the second factor of a signed-in caller, for operations that would bypass it.
///
/// # Errors
/// `mfa_required`, without a token: send the request again with `totp`; `invalid_or_expired_code`;
/// `too_many_attempts`.
pub(crate) async fn ensure(
    services: &Services,
    account: &Merchant,
    totp: Option<&Text<1, 100>>,
    inbound: &Inbound,
) -> Result<Option<CodeProof>, Problem> {
    match second(services, account, totp, inbound).await? {
        Second::NotNeeded => Ok(None),
        Second::Right(proof) => Ok(Some(*proof)),
        Second::Missing => {
            let detail = "A second factor is required: send the authenticator's code as `totp`.";
            Err(Code::MfaRequired.detail(detail))
        }
    }
}

/// The enrolment of a second factor.
#[request]
#[derive(Debug)]
pub(crate) struct EnrolRequest {
    /// The current password, if the account has one.
    current_password: Option<Guess>,
    /// A one-time code mailed to the account's address, if it has no password.
    one_time_code: Option<PresentedCode>,
}

/// `POST /v1/auth/mfa/totp` (`createTotp`): Create a second factor and recovery codes.
///
/// Creates a secret for an authenticator app, and ten recovery codes.
///
/// They are returned once, and become active when a code is confirmed. Until then another request replaces
/// them.
///
/// # Errors
/// `email_unverified`: the proof of the address would remove the second factor; `mfa_enabled`;
/// `invalid_credentials`, `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn enrol(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<EnrolRequest>,
) -> Result<NoStore<Created<Enrolment>>, Problem> {
    let account = caller.account;
    if !account.email_verified {
        return Err(Code::EmailUnverified.into());
    }
    if account.mfa_enabled {
        return Err(Code::MfaEnabled.into());
    }
    let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let needed_to = "Required to set up a second factor.";
    let confirmed = confirm(&app, &account, proof, needed_to, &inbound.client_prefix()).await?;
    let (key, now) = (app.secrets.mfa_key().await?, app.clock.now());
    let (mfa, proof) = Mfa::enrol(&account.id, &account.email, &key, now)?;
    let off = Condition::new("attribute_not_exists(mfa_enabled) OR mfa_enabled = :off");
    let write = app.table.write().put(&mfa).check(
        &account.key(),
        off.value(":off", false),
        Code::MfaEnabled,
    );
    confirmed.add_use(write, now).answer(Created::new(&proof).no_store(), now).await
}

/// The confirmation of a second factor.
#[request]
#[derive(Debug)]
pub(crate) struct ConfirmMfaRequest {
    /// A code of the authenticator app. Any text is accepted and validated.
    code: Text<1, 100>,
}

/// The state of a confirmed second factor.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MfaConfirmed {
    /// `true`.
    mfa_enabled: bool,
    recovery_codes_left: usize,
}

/// `POST /v1/auth/mfa/totp/confirm` (`confirmTotp`): Confirm the second factor.
///
/// Enables the second factor. Sessions stay valid.
///
/// # Errors
/// `mfa_enabled`; `invalid_or_expired_code`, also an hour after the secret was created, and without one;
/// `too_many_attempts`.
pub(crate) async fn confirm_totp(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<ConfirmMfaRequest>,
) -> Result<Json<MfaConfirmed>, Problem> {
    let account = caller.account;
    if account.mfa_enabled {
        return Err(Code::MfaEnabled.into());
    }
    let proof = validate(&app, &account, input.code.as_str(), &inbound, Mfa::is_pending).await?;
    let proof = CodeProof { mfa: proof.mfa.activated(), ..proof };
    let recovery_codes_left = proof.mfa.recovery_codes_left();
    let answer = Json::new(&MfaConfirmed { mfa_enabled: true, recovery_codes_left });
    switched(&app, &account, true, |write| proof.add_use(write))
        .await?
        .answer(answer, app.clock.now())
        .await
}

/// The removal of a second factor.
#[request]
#[derive(Debug)]
pub(crate) struct RemoveMfaRequest {
    /// A code of the authenticator app, or a recovery code.
    code: Text<1, 100>,
    /// The current password, if the account has one.
    current_password: Option<Guess>,
    /// A one-time code mailed to the account's address, if it has no password.
    one_time_code: Option<PresentedCode>,
}

/// `DELETE /v1/auth/mfa/totp` (`disableTotp`): Disable the second factor.
///
/// Recovery codes are deleted with it.
///
/// # Errors
/// `not_found` without one; `invalid_credentials`, `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn delete(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<RemoveMfaRequest>,
) -> Result<NoContent, Problem> {
    let account = caller.account;
    if !account.mfa_enabled {
        return Err(Code::NotFound.into());
    }
    let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let needed_to = "Required to disable the second factor.";
    let confirmed = confirm(&app, &account, proof, needed_to, &inbound.client_prefix()).await?;
    let active = |mfa: &Mfa, _| mfa.state == MfaState::Active;
    let proof = validate(&app, &account, input.code.as_str(), &inbound, active).await?;
    let now = app.clock.now();
    let write = switched(&app, &account, false, |write| proof.end(write)).await?;
    confirmed.add_use(write, now).answer(NoContent::default(), now).await
}

/// Begins the transaction that enables or disables the second factor, with its event and notification.
async fn switched(
    services: &Services,
    account: &Merchant,
    on: bool,
    spend_code: impl FnOnce(Write) -> Write,
) -> Result<Write, Problem> {
    let now = services.clock.now();
    let next = Merchant { mfa_enabled: on, ..account.changed(now) };
    let content = notifications::mfa_switched(&next.email, on, now);
    let notice = Mail::sealed(services, &content, now).await?;
    let write = spend_code(next.save(services.table.write(), Code::VersionConflict));
    Ok(write.emit(next.event(&MERCHANT_UPDATED, &services.config, now)).emit(notice))
}
