//! The second factor: enrolled, confirmed, removed, and asked for at sign-in.

use axum::extract::State;
use core_types::key;
use core_types::mail::Mail;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::Item;
use primitives::problem::{Code, Problem};
use gateway::reply::{Created, Json, NoContent, NoStore};
use gateway::request::{Body, Inbound, Raw, request};
use primitives::fields::Text;
use table::{Condition, Write};
use http::header;
use identity::account::Account;
use identity::authentication::{PresentedCode, confirm};
use identity::challenge::{Link, Purpose};
use identity::merchant::{MERCHANT_UPDATED, Merchant};
use identity::mfa::{Enrolment, Mfa, MfaState};
use identity::notifications;
use identity::password::Guess;
use identity::throttle::{self, Kind, Subject};
use platform::caller;
use schemars::JsonSchema;
use serde::Serialize;

/// A second factor that was validated right: how it is written down, and who showed it.
#[derive(Debug)]
pub(crate) struct Shown {
    mfa: Mfa,
    subject: Subject,
}

impl Shown {
    /// Uses it up: of several sign-ins with one code, one succeeds.
    pub(crate) fn spend(self, write: Write) -> Write {
        write.replace(&self.mfa, Code::InvalidOrExpiredCode).delete(&self.subject.key())
    }

    /// Uses it up, and the second factor goes with it.
    pub(crate) fn end(self, write: Write) -> Write {
        let unused = Condition::is_at(self.mfa.version.saturating_sub(1));
        let write = write.delete_if(&self.mfa.key(), unused, Code::InvalidOrExpiredCode);
        write.delete(&self.subject.key())
    }
}

/// Validates a code. It is counted first, as a password is, and under a ceiling for the account.
///
/// # Errors
/// `invalid_or_expired_code`; `too_many_attempts`.
async fn validate(
    app: &App,
    account: &Merchant,
    code: &str,
    inbound: &Inbound,
    expected: impl Fn(&Mfa, Timestamp) -> bool,
) -> Result<Shown, Problem> {
    let failed = Code::InvalidOrExpiredCode;
    let (subject, mfa_key) = (account.attempted(Kind::Totp, inbound), key::mfa(&account.id));
    let (_, mut batch) = throttle::attempt(app, &subject, None, &[&mfa_key]).await?;
    let now = app.clock.now();
    let mfa: Option<Mfa> = batch.take(&mfa_key)?;
    let mfa = mfa.filter(|mfa| expected(mfa, now)).ok_or(failed)?;
    let key = app.secrets.mfa_key().await?;
    let mfa = mfa.spent(&key, code, now)?.ok_or(failed)?;
    Ok(Shown { mfa, subject })
}

/// What a sign-in shows beside its first factor.
#[derive(Debug)]
pub(crate) enum Second {
    /// Nothing, and nothing is needed.
    NotNeeded,
    /// Nothing, and it is needed.
    Missing,
    /// The right code.
    Right(Box<Shown>),
}

/// Validates the second factor of who has shown the first, if the account has one.
///
/// # Errors
/// `invalid_or_expired_code`; `too_many_attempts`.
pub(crate) async fn second(
    app: &App,
    account: &Merchant,
    totp: Option<&Text<1, 100>>,
    inbound: &Inbound,
) -> Result<Second, Problem> {
    match totp {
        _ if !account.mfa_enabled => Ok(Second::NotNeeded),
        None => Ok(Second::Missing),
        Some(code) => {
            let active = |mfa: &Mfa, _| mfa.state == MfaState::Active;
            let shown = validate(app, account, code.as_str(), inbound, active).await?;
            Ok(Second::Right(Box::new(shown)))
        }
    }
}

/// Ends a sign-in that lacks its second factor: what was shown is used up by `write`, and a token is
/// handed out that stands for it for five minutes.
pub(crate) async fn required(write: Write, account: &Merchant, now: Timestamp) -> Problem {
    let (link, token) = Link::begin(Purpose::Mfa, Some(account), now);
    match write.create(&link, Code::VersionConflict).commit().await {
        Err(problem) => problem,
        Ok(()) => Code::MfaRequired
            .with("mfa_token", token)
            .with("expires_in", Purpose::Mfa.lifetime().as_secs())
            .header(header::CACHE_CONTROL, "no-store"),
    }
}

/// Demands the second factor of who is signed in, for what would get around it.
///
/// # Errors
/// `mfa_required`, without a token: send the request again with `totp`; `invalid_or_expired_code`;
/// `too_many_attempts`.
pub(crate) async fn ensure(
    app: &App,
    account: &Merchant,
    totp: Option<&Text<1, 100>>,
    inbound: &Inbound,
) -> Result<Option<Shown>, Problem> {
    match second(app, account, totp, inbound).await? {
        Second::NotNeeded => Ok(None),
        Second::Right(shown) => Ok(Some(*shown)),
        Second::Missing => Err(Code::MfaRequired.detail("Send the code of your device as `totp`.")),
    }
}

/// The setting up of a second factor.
#[request]
#[derive(Debug)]
pub(crate) struct EnrolRequest {
    /// The current password, if the account has one.
    current_password: Option<Guess>,
    /// A one-time code to the account's address, where it has no password.
    one_time_code: Option<PresentedCode>,
}

/// `POST /v1/auth/mfa/totp` (`createTotp`): Create a second factor and recovery codes.
///
/// Makes a secret for an authenticator program, and ten recovery codes.
///
/// They are shown this once, and count once a code has come back; until then another request
/// replaces them.
///
/// # Errors
/// `email_unverified`: whoever proves an address ends what was set up before, this too;
/// `mfa_enabled`; `invalid_credentials`, `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn enrol(
    caller: caller::Merchant,
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
    let needed_to = "Needed to set up a second factor.";
    let confirmed = confirm(&app, &account, proof, needed_to, &inbound).await?;
    let (key, now) = (app.secrets.mfa_key().await?, app.clock.now());
    let (mfa, shown) = Mfa::enrol(&account.id, &account.email, &key, now)?;
    let off = Condition::new("attribute_not_exists(mfa_enabled) OR mfa_enabled = :off");
    let write = app.table.write().put(&mfa).check(
        &account.key(),
        off.value(":off", false),
        Code::MfaEnabled,
    );
    confirmed.spend(write, now).answer(Created::new(&shown).no_store(), now).await
}

/// What proves that the second factor works.
#[request]
#[derive(Debug)]
pub(crate) struct ConfirmMfaRequest {
    /// A code of the authenticator program. Any text is validated.
    code: Text<1, 100>,
}

/// That the second factor is asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MfaConfirmed {
    /// `true`.
    mfa_enabled: bool,
    recovery_codes_left: usize,
}

/// `POST /v1/auth/mfa/totp/confirm` (`confirmTotp`): Confirm the second factor.
///
/// Switches the second factor on. Sessions live on.
///
/// # Errors
/// `mfa_enabled`; `invalid_or_expired_code`, also an hour after the secret was made, and without one;
/// `too_many_attempts`.
pub(crate) async fn confirm_totp(
    caller: caller::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<ConfirmMfaRequest>,
) -> Result<Json<MfaConfirmed>, Problem> {
    let account = caller.account;
    if account.mfa_enabled {
        return Err(Code::MfaEnabled.into());
    }
    let shown = validate(&app, &account, input.code.as_str(), &inbound, Mfa::is_pending).await?;
    let shown = Shown { mfa: shown.mfa.activated(), ..shown };
    let recovery_codes_left = shown.mfa.recovery_codes_left();
    let answer = Json::new(&MfaConfirmed { mfa_enabled: true, recovery_codes_left });
    switched(&app, &account, true, |write| shown.spend(write))
        .await?
        .answer(answer, app.clock.now())
        .await
}

/// The end of a second factor.
#[request]
#[derive(Debug)]
pub(crate) struct RemoveMfaRequest {
    /// A code of the authenticator program, or a recovery code.
    code: Text<1, 100>,
    /// The current password, if the account has one.
    current_password: Option<Guess>,
    /// A one-time code to the account's address, where it has no password.
    one_time_code: Option<PresentedCode>,
}

/// `DELETE /v1/auth/mfa/totp` (`disableTotp`): Disable the second factor.
///
/// Recovery codes are deleted with it.
///
/// # Errors
/// `not_found` without one; `invalid_credentials`, `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn remove(
    caller: caller::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<RemoveMfaRequest>,
) -> Result<NoContent, Problem> {
    let account = caller.account;
    if !account.mfa_enabled {
        return Err(Code::NotFound.into());
    }
    let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let needed_to = "Needed to give the second factor up.";
    let confirmed = confirm(&app, &account, proof, needed_to, &inbound).await?;
    let active = |mfa: &Mfa, _| mfa.state == MfaState::Active;
    let shown = validate(&app, &account, input.code.as_str(), &inbound, active).await?;
    let now = app.clock.now();
    let write = switched(&app, &account, false, |write| shown.end(write)).await?;
    confirmed.spend(write, now).answer(NoContent::default(), now).await
}

/// Begins the transaction that switches the second factor on or off, and tells of it.
async fn switched(
    app: &App,
    account: &Merchant,
    on: bool,
    write_down: impl FnOnce(Write) -> Write,
) -> Result<Write, Problem> {
    let now = app.clock.now();
    let next = Merchant { mfa_enabled: on, ..account.changed(now) };
    let content = notifications::mfa_switched(&next.email, on, now);
    let notice = Mail::sealed(app, &content, now).await?;
    let write = write_down(next.save(app.table.write(), Code::VersionConflict));
    Ok(write.emit(next.event(&MERCHANT_UPDATED, &app.config, now)).emit(notice))
}
