//! A store's accounts with payment providers. Credentials go in, and never come out.
//!
//! These routes are the merchant's alone: whoever can change the account decides where the money
//! goes, and that is more than an app with `write_payments` is trusted with.

mod credentials;

use axum::extract::State;
use core_types::id::PaymentId;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, Page};
use gateway::request::{Body, Given, IfMatch, Path, Ruled, Rules, Validation, request};
use identity::store;
use platform::caller::Admin;
use primitives::clock::Timestamp;
use primitives::fields::{Fault, Flag, FromText, Patch, Text};
use primitives::problem::{Code, FieldError, Problem};
use sales::payment::account::{ProviderAccount, ProviderAccountView};
use sales::payment::credentials::ProviderCredentials;
use sales::payment::provider::{Provider, ProviderFailure};
use sales::payment::{CaptureMethod, Mode, load};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;

use self::credentials::CredentialsRequest;

/// How many open payments are named to who wants to delete their account.
const SHOWN_OPEN: usize = 100;

/// `GET /v1/payments/providers` (`listPaymentProviders`): List payment providers of a store.
///
/// `manual` is always among them.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: Admin,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<ProviderAccountView>, Problem> {
    let accounts = load::accounts(&app, &caller.store).await?;
    let view = |account: &ProviderAccount| {
        ProviderAccountView::of(account, &caller.store, &app.config.base_url)
    };
    let views = accounts.iter().map(view).collect();
    paging.whole(&app, views, |view| view.id.to_string()).await
}

/// `GET /v1/payments/providers/{provider}` (`getPaymentProvider`): Get a payment provider of a store.
///
/// Credentials are never part of the response.
///
/// # Errors
/// `unknown_provider`: no such provider, or no account with it.
pub async fn show(
    caller: Admin,
    State(app): State<App>,
    Path(provider): Path<Text<1, 64>>,
) -> Result<Json<ProviderAccountView>, Problem> {
    let account = find(&app, &caller, named(&provider)?).await?;
    Ok(to_response(&app, &caller, &account))
}

fn named(provider: &Text<1, 64>) -> Result<ProviderName, Problem> {
    ProviderName::from_text(provider.as_str()).map_err(|_| Code::UnknownProvider.into())
}

async fn find(
    services: &Services,
    caller: &Admin,
    provider: ProviderName,
) -> Result<ProviderAccount, Problem> {
    let found = load::account(services, &caller.store, provider).await?;
    found.ok_or_else(|| Code::UnknownProvider.into())
}

fn to_response(
    services: &Services,
    caller: &Admin,
    account: &ProviderAccount,
) -> Json<ProviderAccountView> {
    let view = ProviderAccountView::of(account, &caller.store, &services.config.base_url);
    Json::new(&view).version(account.version)
}

/// An account with a provider: what is left out stays as it is.
#[request]
#[derive(Debug, Clone)]
pub struct SaveRequest {
    /// The provider's keys, all of them anew; `manual` has none.
    credentials: Option<CredentialsRequest>,
    /// The provider's sandbox, or real money.
    mode: Option<Mode>,
    /// When money is taken.
    capture_method: Option<CaptureMethod>,
    /// Whether customers may pay with it.
    enabled: Option<Flag>,
    /// What customers are told: where to transfer to, what to bring.
    instructions: Patch<Text<0, 2_000>>,
}

impl Rules for SaveRequest {
    /// The keys, when it is said which mode they are of.
    async fn broken(given: Given<'_>, case: &Validation<'_>) -> Vec<FieldError> {
        let provider = case.inbound.param("provider").unwrap_or_default();
        let provider = ProviderName::from_text(provider).ok();
        let keys = given.get::<CredentialsRequest>("credentials");
        match (provider, keys, given.get("mode")) {
            (None | Some(ProviderName::Manual), ..) | (_, None, _) | (.., None) => Vec::new(),
            (Some(provider), Some(keys), Some(mode)) => {
                keys.validate(provider, mode).err().unwrap_or_default()
            }
        }
    }
}

impl SaveRequest {
    /// The account as the caller wants it, and its new credentials.
    fn apply(
        self,
        known: &ProviderAccount,
    ) -> Result<(ProviderAccount, Option<ProviderCredentials>), Problem> {
        let mut next = known.clone();
        next.mode = self.mode.unwrap_or(next.mode);
        next.capture_method = self.capture_method.unwrap_or(next.capture_method);
        next.enabled = self.enabled.map_or(next.enabled, |flag| flag.0);
        self.instructions.apply(&mut next.instructions);
        if next.provider == ProviderName::Manual {
            return manual(next, self.credentials.is_some(), known);
        }
        let credentials = match &self.credentials {
            Some(asked) => {
                Some(asked.validate(next.provider, next.mode).map_err(Problem::invalid)?)
            }
            None if known.sealed_credentials.is_none() => {
                return Err(required("/credentials", "The first time, give the keys."));
            }
            None if next.mode != known.mode => {
                return Err(required("/credentials", "The other mode has other keys."));
            }
            None => None,
        };
        if self.enabled.is_none() && known.is_new() {
            next.enabled = true;
        }
        Ok((next, credentials))
    }
}

/// Cash has no keys, no sandbox, and is taken when the merchant says so.
fn manual(
    next: ProviderAccount,
    has_credentials: bool,
    known: &ProviderAccount,
) -> Result<(ProviderAccount, Option<ProviderCredentials>), Problem> {
    let mut errors = Vec::new();
    let faults = [
        (has_credentials, "/credentials"),
        (next.mode != known.mode, "/mode"),
        (next.capture_method != known.capture_method, "/capture_method"),
    ];
    for (_, pointer) in faults.iter().filter(|(is_wrong, _)| *is_wrong) {
        let fault = Fault::new("not_applicable", "`manual` takes none but the default.");
        errors.push(FieldError { pointer: (*pointer).to_owned(), fault });
    }
    if errors.is_empty() { Ok((next, None)) } else { Err(Problem::invalid(errors)) }
}

fn required(pointer: &str, detail: &'static str) -> Problem {
    Problem::field(pointer, "required", detail)
}

/// `PUT /v1/payments/providers/{provider}` (`setPaymentProvider`): Connect or update a payment provider.
///
/// New credentials are shown to the provider; when it cannot be reached they are kept, and not marked as
/// verified.
///
/// # Errors
/// `credentials_rejected`, `unknown_provider`, `provider_not_connected`, `precondition_failed`,
/// `version_conflict`; the faults of keys as faults of their fields.
pub async fn save(
    caller: Admin,
    State(app): State<App>,
    Path(provider): Path<Text<1, 64>>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<SaveRequest>>,
) -> Result<Json<ProviderAccountView>, Problem> {
    let provider = named(&provider)?;
    let store = &caller.store;
    let known = load::account_to_change(&app, store, provider).await?;
    if_match.check(known.version)?;
    let (mut next, credentials) = input.apply(&known)?;
    let now = app.clock.now();
    if let Some(credentials) = &credentials {
        let key = app.secrets.payment_key().await?;
        next = next.with_credentials(&key, credentials);
        next.verified_at = check(&app, &next, now).await?;
    }
    if next == known {
        return Ok(to_response(&app, &caller, &known));
    }
    let next = ProviderAccount {
        created_at: if known.is_new() { now } else { known.created_at },
        updated_at: now,
        version: known.version.saturating_add(1),
        ..next
    };
    let write = store::configured(app.table.write(), &store.id);
    write
        .create_or_replace(&next, Code::VersionConflict)
        .answer(to_response(&app, &caller, &next), now)
        .await
}

/// When the provider accepted the credentials: now, or not yet when it cannot be reached.
///
/// # Errors
/// `credentials_rejected`.
async fn check(
    services: &Services,
    account: &ProviderAccount,
    now: Timestamp,
) -> Result<Option<Timestamp>, Problem> {
    let connected = account.connect(&*services.secrets.payment_key().await?)?;
    match connected.check(services).await {
        Ok(()) => Ok(Some(now)),
        Err(ProviderFailure::Unauthorized | ProviderFailure::Rejected(_)) => {
            Err(Code::CredentialsRejected.into())
        }
        Err(
            failure @ (ProviderFailure::Timeout
            | ProviderFailure::Broken(_)
            | ProviderFailure::Busy),
        ) => {
            tracing::warn!(cause = %failure, "credentials saved without a check");
            Ok(None)
        }
    }
}

/// `DELETE /v1/payments/providers/{provider}` (`deletePaymentProvider`): Disconnect a payment provider.
///
/// Customers can no longer pay with it, and the account is shown no more. Its keys are kept, sealed, for what
/// was paid with it: that is refunded, and its webhooks are verified, as before; `PUT` connects an account
/// anew, with keys. `manual` goes back to its default; switch it off with `PUT`. Payments that can still be
/// paid, captured or voided, money on its way back, and amounts that wait for the merchant's decision keep
/// the account: void or refund them first, or switch the account off and let their orders end.
///
/// It is switched off before it is known that nothing is open, so that nothing can be begun
/// meanwhile: a crash leaves it switched off, to be deleted again or switched on.
///
/// # Errors
/// `unknown_provider`, `precondition_failed`, `version_conflict`; `provider_in_use`, with how many
/// payments are open, and which.
pub async fn delete(
    caller: Admin,
    State(app): State<App>,
    Path(provider): Path<Text<1, 64>>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let known = find(&app, &caller, named(&provider)?).await?;
    if_match.check(known.version)?;
    let answer = NoContent::default();
    if known.version == 0 {
        return Ok(answer);
    }
    reject_if_needed(&app, &known).await?;
    let now = app.clock.now();
    let configured = || store::configured(app.table.write(), &known.store_id);
    if known.provider == ProviderName::Manual {
        let write = configured().delete_if(&known.key(), known.stands(), Code::VersionConflict);
        return write.answer(answer, now).await;
    }
    let off = known.clone().switched(false, now);
    configured().replace(&off, Code::VersionConflict).commit().await?;
    if let Err(needed) = reject_if_needed(&app, &off).await {
        let back = off.switched(known.enabled, now);
        configured().replace(&back, Code::VersionConflict).commit().await?;
        return Err(needed);
    }
    let gone = off.disconnected(now);
    configured().replace(&gone, Code::VersionConflict).answer(answer, now).await
}

/// # Errors
/// `provider_in_use`, with how many payments are open, and which.
async fn reject_if_needed(services: &Services, known: &ProviderAccount) -> Result<(), Problem> {
    let limit = SHOWN_OPEN.saturating_add(1);
    let mut open = load::open_payments(services, &known.store_id, known.provider, limit).await?;
    if open.is_empty() {
        return Ok(());
    }
    let has_more = open.len() > SHOWN_OPEN;
    open.truncate(SHOWN_OPEN);
    let ids: Vec<&str> = open.iter().map(PaymentId::as_str).collect();
    let problem = Code::ProviderInUse.with("open_payments", ids.len());
    Err(problem.with("payment_ids", ids).with("has_more", has_more))
}

/// Credentials that their provider has accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProviderTest {
    /// `manual`, `razorpay` or `stripe`.
    provider: ProviderName,
    /// Whether money moves.
    mode: Mode,
    /// Always true: what is rejected is a problem.
    ok: bool,
    /// When the provider accepted them.
    verified_at: Timestamp,
}

/// `POST /v1/payments/providers/{provider}/test` (`testPaymentProvider`):
/// Test the credentials of a payment provider.
///
/// The provider is asked whether it accepts them.
///
/// # Errors
/// `unknown_provider`, `credentials_rejected`, `provider_not_connected`, `provider_error`,
/// `provider_timeout`, `version_conflict`.
pub async fn test(
    caller: Admin,
    State(app): State<App>,
    Path(provider): Path<Text<1, 64>>,
) -> Result<Json<ProviderTest>, Problem> {
    let known = find(&app, &caller, named(&provider)?).await?;
    let connected = known.connect(&*app.secrets.payment_key().await?)?;
    connected.check(&app).await.map_err(|failure| match failure {
        ProviderFailure::Unauthorized | ProviderFailure::Rejected(_) => {
            Problem::from(Code::CredentialsRejected)
        }
        other => Problem::from(other),
    })?;
    let now = app.clock.now();
    let answer = Json::new(&ProviderTest {
        provider: known.provider,
        mode: known.mode,
        ok: true,
        verified_at: now,
    });
    if known.version == 0 {
        return Ok(answer);
    }
    let version = known.version.saturating_add(1);
    let next = ProviderAccount { verified_at: Some(now), updated_at: now, version, ..known };
    app.table.write().replace(&next, Code::VersionConflict).answer(answer, now).await
}
