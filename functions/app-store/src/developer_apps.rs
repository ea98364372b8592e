//! A developer's apps: list, create, get and update them.

mod life;
mod update;
mod webhook;

use axum::extract::State;
use callers::Developer;
use core_types::fields::{Slug, WebUrl};
use core_types::id::{AppId, MerchantId};
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::Scopes;
use crypto::seal;
use gateway::app::App;
use gateway::bridged;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoStore, Page};
use gateway::request::{Body, Path, Query, RequestRules, Ruled, Validation};
use identity::merchant::MerchantStatus;
use platform::app::{
    APP_CREATED, AppClient, AppHosts, AppStatus, AppView, ClientSecret, CommerceApp,
    MAX_REDIRECT_URIS, UniqueSlug, is_registrable_redirect,
};
use platform::developer::{self, Developer as Profile};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Exact, Flag, FromText, Text, Violation};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use replies::ResourceReply;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Condition, Write};

pub use life::{delete, publish, rotate_secret, unpublish};
pub use update::update;
use webhook::Hook;

/// A redirect URI that may be registered, exactly as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUri(String);

impl FromText for RedirectUri {
    const EXPECTS: &'static str = "a redirect URI";

    fn from_text(text: &str) -> Result<Self, Violation> {
        if is_registrable_redirect(text) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be an absolute https URI in normal form, without fragment, user \
                          name or wildcard; http only for loopback addresses.";
            Err(Violation::new("redirect_uri_invalid", detail))
        }
    }
}

primitives::text_field!(RedirectUri);
primitives::string_schema!(RedirectUri);

type RedirectUris = AtMost<RedirectUri, MAX_REDIRECT_URIS>;

/// Loads an app, if it is the developer's and not deleted.
///
/// # Errors
/// `not_found`.
pub async fn load_own(
    services: &Services,
    developer: &Developer,
    id: &AppId,
) -> Result<CommerceApp, Problem> {
    let found = load(services, &key::app(id)).await?;
    ensure_own(developer, &found).map(|()| found)
}

/// Ensures that the app is the developer's and not deleted.
///
/// # Errors
/// `not_found`.
fn ensure_own(developer: &Developer, app: &CommerceApp) -> Result<(), Problem> {
    let is_own = app.owner_id == developer.account.id && app.status != AppStatus::Deleted;
    if is_own { Ok(()) } else { Err(Code::NotFound.into()) }
}

/// Filters of the list of apps.
#[request]
#[derive(Debug)]
pub struct AppsQuery {
    /// Only apps in this status.
    status: Option<AppStatus>,
}

/// `GET /v1/app-store/developers/apps` (`listDeveloperApps`): List your own apps.
///
/// The newest app comes first. Deleted apps are not listed.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    developer: Developer,
    State(app): State<App>,
    Query(query): Query<AppsQuery>,
    paging: Paging,
) -> Result<Page<AppView>, Problem> {
    let admits = |each: &CommerceApp| query.status.is_none_or(|status| each.status == status);
    let own = developer::apps_of(&developer.account.id).newest_first();
    paging.query(&app, &own, admits, |each| each.view()).await
}

/// A new app.
#[request]
#[derive(Debug)]
pub struct CreateAppRequest {
    /// The name.
    name: Text<1, 100>,
    /// The readable name in URLs, unique among all apps.
    slug: Slug,
    /// The URL at which the app runs. It must not be on this service's host.
    app_url: WebUrl,
    /// The redirect URIs of authorizations: one to ten, compared character by character.
    redirect_uris: RedirectUris,
    /// The scopes that the app may request; none by default.
    scopes: Option<Scopes>,
    /// Whether the app runs inside the admin; `false` by default.
    embedded: Flag,
    /// The URL that `app.*` events about the app are posted to.
    webhook_url: Option<Exact<2048>>,
    /// Whether the app is a confidential client, which can keep a client secret (RFC 6749 §2.1); `true` by
    /// default. It cannot be changed later.
    confidential: Option<Flag>,
    /// Whether authorizations must use PKCE; `true` by default, and always for an app that cannot keep a
    /// secret.
    require_pkce: Option<Flag>,
}

impl RequestRules for CreateAppRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let app = validation.app;
        let uris = given.get::<RedirectUris>("redirect_uris");
        let mut errors = uris.map(|uris| validate_uris(app, &uris, false)).unwrap_or_default();
        errors.extend(given.get("app_url").and_then(|url| validate_app_url(app, &url)));
        let is_on = |name: &str| given.get::<Flag>(name).is_none_or(|flag| flag.0);
        errors.extend(validate_pkce(is_on("confidential"), is_on("require_pkce")));
        let hook = given.get::<Exact<2048>>("webhook_url");
        errors.extend(webhook::validate(app, hook.as_ref()).await);
        errors
    }
}

/// An app with the secrets that are returned once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppSecretsView {
    #[serde(flatten)]
    app: AppView,
    /// The client secret, only when the app is created. A public client has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// The signing secret of the app's webhooks, only when the first webhook URL is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_secret: Option<String>,
}

/// `POST /v1/app-store/developers/apps` (`createDeveloperApp`): Create an app.
///
/// The app begins as a `draft`, which is in no catalogue. The response has the client secret, and with a
/// `webhook_url` the signing secret; no later response does. A developer has at most 100 apps. It emits
/// `app.created`.
///
/// # Errors
/// `slug_taken`, `app_limit`, `account_disabled`; `redirect_uri_invalid`, `own_host` and the egress
/// policy's rejections as field errors.
pub async fn create(
    developer: Developer,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateAppRequest>>,
) -> Result<NoStore<Created<AppSecretsView>>, Problem> {
    developer.profile.ensure_may_publish()?;
    let confidential = input.confidential.is_none_or(|flag| flag.0);
    let require_pkce = input.require_pkce.is_none_or(|flag| flag.0);
    let now = app.clock.now();
    let id = AppId::mint(now);
    let hook = match &input.webhook_url {
        Some(url) => Some(Hook::new(&app, &id, url.as_str(), now).await?),
        None => None,
    };
    let made = CommerceApp {
        id,
        owner_id: developer.account.id,
        name: input.name.into(),
        slug: input.slug,
        app_url: input.app_url,
        redirect_uris: texts(input.redirect_uris),
        scopes: input.scopes.unwrap_or_default(),
        embedded: input.embedded.0,
        webhook_url: hook.as_ref().map(|hook| hook.subscription.url.clone()),
        webhook_subscription_id: hook.as_ref().map(|hook| hook.subscription.id.clone()),
        client_id: primitives::id::mint("cli_", now),
        confidential,
        require_pkce,
        status: AppStatus::Draft,
        proposed: None,
        suspension: None,
        listing: None,
        approved_version: None,
        open_submission_id: None,
        published_at: None,
        rating_count: 0,
        rating_sum: 0,
        stars: [0; 5],
        active_installs: 0,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    save_new(&app, made, hook, now).await
}

/// Writes a new app with its client, slug and subscription.
async fn save_new(
    services: &Services,
    made: CommerceApp,
    hook: Option<Hook>,
    now: Timestamp,
) -> Result<NoStore<Created<AppSecretsView>>, Problem> {
    let secret = made.confidential.then(new_secret);
    let client = AppClient {
        client_id: made.client_id.clone(),
        app_id: made.id.clone(),
        confidential: made.confidential,
        secrets: secret
            .iter()
            .map(|secret| ClientSecret { digest: seal::digest(secret), expires_at: None })
            .collect(),
        version: 1,
    };
    let slug = UniqueSlug { slug: made.slug.clone(), app_id: made.id.clone(), version: 1 };
    let view = AppSecretsView {
        app: made.view(),
        client_secret: secret,
        webhook_secret: hook.as_ref().map(|hook| hook.secret.clone()),
    };
    Profile::one_app_more(active_account(services.table.write(), &made.owner_id), &made.owner_id)
        .create(&slug, Code::SlugTaken)
        .create(&made, Code::VersionConflict)
        .create(&client, Code::VersionConflict)
        .when_some(hook, |write, hook| write.create(&hook.subscription, Code::VersionConflict))
        .emit(made.event(&APP_CREATED, now))
        .answer(Created::new(&view).version(1).no_store(), now)
        .await
}

/// Requires that the developer's account is still active.
fn active_account(write: Write, id: &MerchantId) -> Write {
    let active = Condition::is("status", MerchantStatus::Active);
    write.check(&key::merchant(id), active, Code::Unauthenticated)
}

fn new_secret() -> String {
    format!("cls_{}", seal::random_secret())
}

fn texts(uris: RedirectUris) -> Vec<String> {
    uris.0.into_iter().map(|uri| uri.0).collect()
}

/// The field errors of redirect URIs that are each well formed.
fn validate_uris(services: &Services, uris: &RedirectUris, is_published: bool) -> Vec<FieldError> {
    let violation = |pointer: String, code, detail| FieldError::new(pointer, code, detail);
    let hosts = AppHosts::of(services.config.loopback_apps);
    let mut errors = Vec::new();
    if uris.0.is_empty() {
        let detail = "Must have at least one element.";
        errors.push(violation("/redirect_uris".into(), "too_few", detail));
    }
    for (position, uri) in uris.0.iter().enumerate() {
        let pointer = format!("/redirect_uris/{position}");
        if uris.0.iter().take(position).any(|earlier| earlier == uri) {
            errors.push(violation(pointer, "duplicate", "Must not repeat another redirect URI."));
        } else if is_published && !hosts.allow(&uri.0) {
            let detail = "A published app may not redirect to loopback addresses.";
            errors.push(violation(pointer, "redirect_uri_invalid", detail));
        } else if bridged::is_ours(&services.config, &uri.0) {
            let detail = "Must not point to this service.";
            errors.push(violation(pointer, "redirect_uri_invalid", detail));
        }
    }
    errors
}

/// The field error of an app URL on this service's own host: requests for the service would reach the app.
fn validate_app_url(services: &Services, url: &WebUrl) -> Option<FieldError> {
    let violation = Violation::new("own_host", "Must not point to this service.");
    bridged::is_ours(&services.config, url.as_str()).then(|| FieldError::at("/app_url", violation))
}

/// The field error of a public client without PKCE, which alone protects its codes (RFC 9700 §2.1.1).
fn validate_pkce(confidential: bool, require_pkce: bool) -> Option<FieldError> {
    let detail = "Must be `true` for a public app: without a client secret, PKCE is required.";
    let violation = Violation::new("pkce_required", detail);
    (!confidential && !require_pkce).then(|| FieldError::at("/require_pkce", violation))
}

/// `GET /v1/app-store/developers/apps/{id}` (`getDeveloperApp`): Get one of your own apps.
///
/// The response has the current configuration and, as `proposed`, the changes that are not approved yet.
/// Secrets are never returned.
///
/// # Errors
/// `not_found`, also for another developer's app and a deleted one.
pub async fn get(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
) -> Result<Json<AppView>, Problem> {
    Ok(load_own(&app, &developer, &id).await?.to_response())
}
