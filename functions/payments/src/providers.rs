//! Routes of a store's accounts with payment providers. Credentials are write-only.
//!
//! Only merchants can use these routes: a change of the account decides who receives the payments, and an app
//! with `write_payments` is not trusted with that.

mod credentials;

use axum::extract::State;
use callers::Admin;
use core_types::fields::Handle;
use core_types::id::PaymentId;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, RequestRules, Ruled, Validation};
use identity::settings::LONGEST_MANUAL_PAYMENT_WINDOW;
use identity::store;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, FromText, Int, Patch, Text, Violation};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::payment::account::{ProviderAccount, ProviderAccountView};
use sales::payment::credentials::ProviderCredentials;
use sales::payment::manual_method::{MAX_METHODS, ManualMethod};
use sales::payment::provider::{Provider, ProviderFailure};
use sales::payment::{CaptureMethod, Mode, load};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;

use self::credentials::CredentialsRequest;

/// The most open payments that the problem `provider_in_use` lists.
const MAX_LISTED_OPEN: usize = 100;

/// `GET /v1/payments/providers` (`listPaymentProviders`): List payment providers of a store.
///
/// `manual` is always listed.
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
/// `unknown_provider`; `not_found`: the store has no account with the provider.
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
    found.ok_or_else(|| Code::NotFound.into())
}

fn to_response(
    services: &Services,
    caller: &Admin,
    account: &ProviderAccount,
) -> Json<ProviderAccountView> {
    let view = ProviderAccountView::of(account, &caller.store, &services.config.base_url);
    Json::new(&view).version(account.version)
}

/// The changes of an account with a provider. Missing fields stay as they are.
#[request]
#[derive(Debug, Clone)]
pub struct SaveRequest {
    /// The provider's keys, which replace all old ones; a `webhook_secret` alone replaces only the old one.
    /// `manual` has none.
    credentials: Option<CredentialsRequest>,
    /// Test (the provider's sandbox) or live.
    mode: Option<Mode>,
    /// The capture method.
    capture_method: Option<CaptureMethod>,
    /// Whether customers can pay with it.
    enabled: Option<Flag>,
    /// The instructions for customers, such as the account for a bank transfer.
    instructions: Patch<Text<0, 2_000>>,
    /// The manual payment methods, in the order in which customers see them. They replace all old ones; only
    /// `manual` has any.
    methods: Option<AtMost<MethodRequest, MAX_METHODS>>,
}

/// A manual payment method.
#[request]
#[derive(Debug, Clone)]
pub struct MethodRequest {
    /// The id, unique in the store: `bank-transfer`.
    id: Handle,
    /// The name that customers see.
    name: Text<1, 100>,
    /// The instructions for customers, such as the account for a bank transfer.
    instructions: Option<Text<0, 2_000>>,
    /// The period in which an order with this method reserves its stock, in minutes. With 0, it does so until it
    /// is paid or cancelled. By default the store's `manual_payment_window_minutes` applies.
    payment_window_minutes: Option<Int<0, LONGEST_MANUAL_PAYMENT_WINDOW>>,
    /// Whether customers can choose it; they can by default.
    enabled: Option<Flag>,
}

impl From<MethodRequest> for ManualMethod {
    fn from(input: MethodRequest) -> Self {
        let minutes = input.payment_window_minutes;
        Self {
            id: input.id,
            name: input.name.into(),
            instructions: input.instructions.map(String::from),
            payment_window_minutes: minutes.and_then(|minutes| u64::try_from(minutes.0).ok()),
            enabled: input.enabled.is_none_or(|flag| flag.0),
        }
    }
}

/// Finds methods of one id, and methods of a provider that has none.
fn broken_methods(provider: ProviderName, methods: &[ManualMethod]) -> Vec<FieldError> {
    if provider != ProviderName::Manual && !methods.is_empty() {
        let detail = "Only `manual` has payment methods.";
        return vec![FieldError::new("/methods", "not_applicable", detail)];
    }
    let ids = methods.iter().map(|method| &method.id).enumerate();
    let is_repeated =
        |at: usize, id: &Handle| methods.iter().take(at).any(|earlier| earlier.id == *id);
    let repeated = ids.filter(|(at, id)| is_repeated(*at, id)).map(|(at, _)| {
        FieldError::new(
            format!("/methods/{at}/id"),
            "duplicate",
            "Another payment method of the request has this id.",
        )
    });
    repeated.collect()
}

/// The credentials that a request brings.
enum NewCredentials {
    /// All keys.
    All(ProviderCredentials),
    /// The signing secret of webhooks; the keys stay.
    WebhookSecret(String),
}

impl RequestRules for SaveRequest {
    /// Validates the keys if the request has their mode. Otherwise `apply` does, for the stored mode.
    async fn violations(given: Given<'_>, case: &Validation<'_>) -> Vec<FieldError> {
        let provider = case.inbound.param("provider").unwrap_or_default();
        let provider = ProviderName::from_text(provider).ok();
        let keys = given.get::<CredentialsRequest>("credentials");
        match (provider, keys, given.get("mode")) {
            (None | Some(ProviderName::Manual), ..) | (_, None, _) | (.., None) => Vec::new(),
            (_, Some(keys), _) if keys.webhook_secret_alone().is_some() => Vec::new(),
            (Some(provider), Some(keys), Some(mode)) => {
                keys.validate(provider, mode).err().unwrap_or_default()
            }
        }
    }
}

impl SaveRequest {
    /// Applies the changes to the account, and returns its new credentials.
    fn apply(
        self,
        known: &ProviderAccount,
    ) -> Result<(ProviderAccount, Option<NewCredentials>), Problem> {
        let mut next = known.clone();
        next.mode = self.mode.unwrap_or(next.mode);
        next.capture_method = self.capture_method.unwrap_or(next.capture_method);
        next.enabled = self.enabled.map_or(next.enabled, |flag| flag.0);
        self.instructions.apply(&mut next.instructions);
        if let Some(methods) = self.methods {
            next.methods = methods.0.into_iter().map(ManualMethod::from).collect();
            let errors = broken_methods(next.provider, &next.methods);
            if !errors.is_empty() {
                return Err(Problem::invalid(errors));
            }
        }
        if next.provider == ProviderName::Manual {
            return manual(next, self.credentials.is_some(), known);
        }
        let keeps_keys = known.sealed_credentials.is_some() && next.mode == known.mode;
        let keys = self.credentials.as_ref();
        let secret = keys.and_then(CredentialsRequest::webhook_secret_alone).filter(|_| keeps_keys);
        let credentials = match keys {
            Some(_) if secret.is_some() => {
                secret.map(|secret| NewCredentials::WebhookSecret(secret.to_owned()))
            }
            Some(keys) => {
                let keys = keys.validate(next.provider, next.mode).map_err(Problem::invalid)?;
                Some(NewCredentials::All(keys))
            }
            None if known.sealed_credentials.is_none() => {
                return Err(required(
                    "/credentials",
                    "Credentials are required to connect a provider.",
                ));
            }
            None if next.mode != known.mode => {
                return Err(required("/credentials", "Send the credentials of the new mode."));
            }
            None => None,
        };
        if self.enabled.is_none() && known.is_new() {
            next.enabled = true;
        }
        Ok((next, credentials))
    }
}

/// Ensures that `manual` has no keys, no test mode and only manual capture.
fn manual(
    next: ProviderAccount,
    has_credentials: bool,
    known: &ProviderAccount,
) -> Result<(ProviderAccount, Option<NewCredentials>), Problem> {
    let mut errors = Vec::new();
    let rules = [
        (has_credentials, "/credentials", "`manual` has no credentials."),
        (next.mode != known.mode, "/mode", "The mode of `manual` cannot be changed."),
        (
            next.capture_method != known.capture_method,
            "/capture_method",
            "The capture method of `manual` cannot be changed.",
        ),
    ];
    for (_, pointer, detail) in rules.into_iter().filter(|(is_wrong, ..)| *is_wrong) {
        let violation = Violation::new("not_applicable", detail);
        errors.push(FieldError::at(pointer, violation));
    }
    if errors.is_empty() { Ok((next, None)) } else { Err(Problem::invalid(errors)) }
}

fn required(pointer: &str, detail: &'static str) -> Problem {
    Problem::field(pointer, "required", detail)
}

/// `PUT /v1/payments/providers/{provider}` (`setPaymentProvider`): Connect or update a payment provider.
///
/// New keys are checked with the provider. If it cannot be reached they are saved, and not marked as
/// verified.
///
/// # Errors
/// `credentials_rejected`, `unknown_provider`, `provider_not_connected`, `precondition_failed`,
/// `version_conflict`; `required`, `unknown_field`, `invalid_key` and `not_applicable` as field errors.
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
    if let Some(credentials) = credentials {
        let key = app.secrets.payment_key().await?;
        match credentials {
            NewCredentials::All(credentials) => {
                next = next.with_credentials(&key, &credentials);
                next.verified_at = check(&app, &next, now).await?;
            }
            NewCredentials::WebhookSecret(secret) => {
                let stored = known.credentials(&key).ok_or(Code::ProviderNotConnected)?;
                let webhook_secret = Some(secret);
                let credentials = ProviderCredentials { webhook_secret, ..stored };
                next = next.with_credentials(&key, &credentials);
            }
        }
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

/// Checks the credentials with the provider, and returns when it accepted them; none if it cannot be reached.
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
            tracing::warn!(
                cause = %failure,
                "credentials saved unchecked: the provider did not answer"
            );
            Ok(None)
        }
    }
}

/// `DELETE /v1/payments/providers/{provider}` (`deletePaymentProvider`): Disconnect a payment provider.
///
/// Customers can no longer pay with it, and the account is no longer returned. Its sealed keys stay, so that
/// its payments can be refunded and its webhooks verified. `PUT` connects an account again, with keys.
/// `manual` is reset to its default; disable it with `PUT`.
///
/// The account cannot be deleted while a payment can be paid, captured or voided, has a pending refund or an
/// open dispute, or awaits the merchant's decision. Void or refund such payments first, or disable the
/// account until their orders end.
///
/// The account is disabled before the payments are checked, so that none is created in the meantime. A crash
/// leaves it disabled; it can then be deleted or enabled again.
///
/// # Errors
/// `unknown_provider`, `not_found`, `precondition_failed`, `version_conflict`; `provider_in_use`, with the number
/// of open payments.
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
    let disconnected = off.disconnected(now);
    configured().replace(&disconnected, Code::VersionConflict).answer(answer, now).await
}

/// Ensures that no payment needs the account.
///
/// # Errors
/// `provider_in_use`, with the number and ids of open payments.
async fn reject_if_needed(services: &Services, known: &ProviderAccount) -> Result<(), Problem> {
    let limit = MAX_LISTED_OPEN.saturating_add(1);
    let mut open = load::open_payments(services, &known.store_id, known.provider, limit).await?;
    if open.is_empty() {
        return Ok(());
    }
    let has_more = open.len() > MAX_LISTED_OPEN;
    open.truncate(MAX_LISTED_OPEN);
    let ids: Vec<&str> = open.iter().map(PaymentId::as_str).collect();
    let problem = Code::ProviderInUse.with("open_payments", ids.len());
    Err(problem.with("payment_ids", ids).with("has_more", has_more))
}

/// The result of a test of credentials.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProviderTest {
    /// The payment provider: `manual`, `razorpay` or `stripe`.
    provider: ProviderName,
    /// Test or live.
    mode: Mode,
    /// Always `true`: if the provider rejects the credentials, the response is the problem
    /// `credentials_rejected`.
    ok: bool,
    /// When the provider accepted the credentials.
    verified_at: Timestamp,
}

/// `POST /v1/payments/providers/{provider}/test` (`testPaymentProvider`):
/// Test the credentials of a payment provider.
///
/// The stored credentials are checked with the provider.
///
/// # Errors
/// `unknown_provider`, `not_found`, `credentials_rejected`, `provider_not_connected`, `provider_error`,
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
