//! Routes of a store's accounts with payment providers. Credentials are write-only.
//!
//! Only merchants can use these routes: a change of the account decides who receives the payments, and an app
//! with `write_payments` is not trusted with that.

mod credentials;
mod input;

use axum::extract::State;
use callers::Admin;
use core_types::id::PaymentId;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, Ruled};
use identity::store;
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Text};
use primitives::problem::{Code, Problem};
use sales::payment::account::{ProviderAccount, ProviderAccountView};
use sales::payment::credentials::ProviderCredentials;
use sales::payment::provider::{Provider, ProviderFailure};
use sales::payment::{Mode, load};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;

use self::input::{NewCredentials, SaveRequest};

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
    paging.slice(&app, views, |view| view.id.to_string()).await
}

/// `GET /v1/payments/providers/{provider}` (`getPaymentProvider`): Get a payment provider of a store.
///
/// Credentials are never part of the response.
///
/// # Errors
/// `unknown_provider`; `not_found`: the store has no account with the provider.
pub async fn get(
    caller: Admin,
    State(app): State<App>,
    Path(provider): Path<Text<1, 64>>,
) -> Result<Json<ProviderAccountView>, Problem> {
    let account = find(&app, &caller, parse_provider(&provider)?).await?;
    Ok(to_response(&app, &caller, &account))
}

fn parse_provider(provider: &Text<1, 64>) -> Result<ProviderName, Problem> {
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

/// `PUT /v1/payments/providers/{provider}` (`setPaymentProvider`): Connect or update a payment provider.
///
/// New keys are checked with the provider. If it cannot be reached they are saved, and not marked as
/// verified.
///
/// # Errors
/// `credentials_rejected`, `unknown_provider`, `provider_not_connected`, `precondition_failed`,
/// `version_conflict`; `required`, `unknown_field`, `invalid_key` and `not_applicable` as field errors.
pub async fn put(
    caller: Admin,
    State(app): State<App>,
    Path(provider): Path<Text<1, 64>>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<SaveRequest>>,
) -> Result<Json<ProviderAccountView>, Problem> {
    let provider = parse_provider(&provider)?;
    let store = &caller.store;
    let stored = load::account_to_change(&app, store, provider).await?;
    if_match.check(stored.version)?;
    let (mut next, credentials) = input.apply(&stored)?;
    let now = app.clock.now();
    if let Some(credentials) = credentials {
        let key = app.secrets.payment_key().await?;
        match credentials {
            NewCredentials::All(credentials) => {
                next = next.with_credentials(&key, &credentials);
                next.verified_at = check(&app, &next, now).await?;
            }
            NewCredentials::WebhookSecret(secret) => {
                let old = stored.credentials(&key).ok_or(Code::ProviderNotConnected)?;
                let webhook_secret = Some(secret);
                let credentials = ProviderCredentials { webhook_secret, ..old };
                next = next.with_credentials(&key, &credentials);
            }
        }
    }
    if next == stored {
        return Ok(to_response(&app, &caller, &stored));
    }
    let next = ProviderAccount {
        created_at: if stored.is_new() { now } else { stored.created_at },
        updated_at: now,
        version: stored.version.saturating_add(1),
        ..next
    };
    let write = store::count_config_change(app.table.write(), &store.id);
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
    let provider_client = account.connect(&*services.secrets.payment_key().await?)?;
    match provider_client.check(services).await {
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
    let stored = find(&app, &caller, parse_provider(&provider)?).await?;
    if_match.check(stored.version)?;
    let answer = NoContent::default();
    if stored.version == 0 {
        return Ok(answer);
    }
    ensure_not_in_use(&app, &stored).await?;
    let now = app.clock.now();
    let begin_write = || store::count_config_change(app.table.write(), &stored.store_id);
    if stored.provider == ProviderName::Manual {
        let write = begin_write().delete_if(
            &stored.key(),
            stored.version_condition(),
            Code::VersionConflict,
        );
        return write.answer(answer, now).await;
    }
    let disabled = stored.clone().switched(false, now);
    begin_write().replace(&disabled, Code::VersionConflict).commit().await?;
    if let Err(in_use) = ensure_not_in_use(&app, &disabled).await {
        let restored = disabled.switched(stored.enabled, now);
        begin_write().replace(&restored, Code::VersionConflict).commit().await?;
        return Err(in_use);
    }
    let disconnected = disabled.disconnected(now);
    begin_write().replace(&disconnected, Code::VersionConflict).answer(answer, now).await
}

/// Ensures that no payment needs the account.
///
/// # Errors
/// `provider_in_use`, with the number and ids of open payments.
async fn ensure_not_in_use(services: &Services, stored: &ProviderAccount) -> Result<(), Problem> {
    let limit = MAX_LISTED_OPEN.saturating_add(1);
    let mut open = load::open_payments(services, &stored.store_id, stored.provider, limit).await?;
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
    let stored = find(&app, &caller, parse_provider(&provider)?).await?;
    let provider_client = stored.connect(&*app.secrets.payment_key().await?)?;
    provider_client.check(&app).await.map_err(|failure| match failure {
        ProviderFailure::Unauthorized | ProviderFailure::Rejected(_) => {
            Problem::from(Code::CredentialsRejected)
        }
        other => Problem::from(other),
    })?;
    let now = app.clock.now();
    let answer = Json::new(&ProviderTest {
        provider: stored.provider,
        mode: stored.mode,
        ok: true,
        verified_at: now,
    });
    if stored.version == 0 {
        return Ok(answer);
    }
    let version = stored.version.saturating_add(1);
    let next = ProviderAccount { verified_at: Some(now), updated_at: now, version, ..stored };
    app.table.write().replace(&next, Code::VersionConflict).answer(answer, now).await
}
