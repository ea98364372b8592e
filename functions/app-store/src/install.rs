//! Installing an app on a store, and the installations of a store.

use axum::extract::State;
use callers::Admin;
use core_types::event::Event;
use core_types::id::{AppId, EventId, InstallationId};
use core_types::key;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Either, Json, Page};
use gateway::request::{Body, Path, Query};
use platform::app::{AppStatus, CommerceApp};
use platform::installation::{APP_INSTALLED, Installation, InstallationStatus, InstallationView};
use primitives::clock::Timestamp;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::Services;
use table::item::Index;
use table::retry;

use crate::apps::{ScopeView, explained};
use crate::installations::load_own;

/// An empty request: only `store_id` is accepted, which selects the store as on every merchant route.
#[request]
#[derive(Debug)]
pub struct InstallRequest {}

/// The authorization that must follow before the app can act.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthorizeView {
    /// Whether the merchant must authorize the app.
    required: bool,
    /// The app's OAuth client id.
    client_id: String,
    /// The scopes that the app is registered for.
    scopes: Vec<String>,
    /// The app's first redirect URI.
    redirect_uri: Option<String>,
}

/// An installation, and the authorization that must follow.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InstallResponse {
    /// The installation.
    installation: InstallationView,
    /// The authorization that must follow.
    authorize: AuthorizeView,
}

/// The unchanged pending installation, or a new one.
type InstallReply = Either<Json<InstallResponse>, Created<InstallResponse>>;

impl InstallResponse {
    fn of(installation: &Installation, app: &CommerceApp) -> Self {
        Self {
            installation: installation.view(),
            authorize: AuthorizeView {
                required: installation.status == InstallationStatus::Pending,
                client_id: app.client_id.clone(),
                scopes: app.scopes.to_vec(),
                redirect_uri: app.redirect_uris.first().cloned(),
            },
        }
    }
}

/// `POST /v1/app-store/apps/{id}/install` (`installApp`): Install an app on a store.
///
/// The installation is `pending` until the app is authorized, or `active` at once if the app requests no
/// scopes. `authorize` has what an authorization needs. It emits `app.installed`.
///
/// Installing a pending app again changes nothing and answers 200. An app that was uninstalled can be
/// installed again.
///
/// # Errors
/// `not_found` for an app that is not in the catalogue; `app_suspended`; `already_installed` when it is
/// active or suspended.
pub async fn install(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Body(InstallRequest {}): Body<InstallRequest>,
) -> Result<InstallReply, Problem> {
    retry(|| async {
        let (chosen, present) = load(&app, &admin, &id).await?;
        let now = app.clock.now();
        let by = &admin.account.id;
        let next = match present {
            None => Installation::begin(&chosen, &admin.store.id, by, now),
            Some(former) if former.status == InstallationStatus::Uninstalled => {
                former.begin_again(&chosen, by, now)
            }
            Some(pending) if pending.status == InstallationStatus::Pending => {
                let answer = InstallResponse::of(&pending, &chosen);
                return Ok(Either::Left(Json::new(&answer).version(pending.version)));
            }
            Some(present) => return Err(already_installed(&present)),
        };
        save(&app, &chosen, &next, now).await.map(Either::Right)
    })
    .await
}

/// Loads the app and the store's installation of it, in one round trip.
async fn load(
    services: &Services,
    admin: &Admin,
    id: &AppId,
) -> Result<(CommerceApp, Option<Installation>), Problem> {
    let app_key = key::app(id);
    let installation_key = key::installation(&Installation::id_of(&admin.store.id, id));
    let mut batch = services.table.get_many(&[&app_key, &installation_key]).await?;
    let chosen: CommerceApp = batch.take(&app_key)?.ok_or(Code::NotFound)?;
    match chosen.status {
        AppStatus::Published => Ok((chosen, batch.take(&installation_key)?)),
        AppStatus::Suspended => Err(Code::AppSuspended.into()),
        _ => Err(Code::NotFound.into()),
    }
}

fn already_installed(present: &Installation) -> Problem {
    Code::AlreadyInstalled
        .with("installation_id", present.id.as_str())
        .with("current", present.status.as_str())
}

async fn save(
    services: &Services,
    chosen: &CommerceApp,
    next: &Installation,
    now: Timestamp,
) -> Result<Created<InstallResponse>, Problem> {
    let write = services.table.write();
    let write = write.create_or_replace(next, Code::VersionConflict);
    // In both cases the app must still be in the catalogue when the transaction commits.
    let write = if next.status == InstallationStatus::Active {
        CommerceApp::count_install_if_published(write, &chosen.id, Code::NotFound)
    } else {
        write.check(&key::app(&chosen.id), CommerceApp::still_published(), Code::NotFound)
    };
    let answer = InstallResponse::of(next, chosen);
    write
        .emit(next.event(&APP_INSTALLED, now))
        .answer(Created::new(&answer).version(next.version), now)
        .await
}

/// Filters of the list of installations.
#[request]
#[derive(Debug)]
pub struct InstallationsQuery {
    /// Only installations in this status; by default, all but `uninstalled`.
    status: Option<InstallationStatus>,
}

/// `GET /v1/app-store/installations` (`listInstallations`): List installations of a store.
///
/// Uninstalled apps are not listed, unless `status` is `uninstalled`. The list is for owners and admins of
/// the store, and is sorted by the id of the app.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    admin: Admin,
    State(app): State<App>,
    Query(query): Query<InstallationsQuery>,
    paging: Paging,
) -> Result<Page<InstallationView>, Problem> {
    let wanted = table::Query::index(Index::Gsi5, key::installations_on(&admin.store.id));
    let admits = |each: &Installation| match query.status {
        Some(status) => each.status == status,
        None => each.status != InstallationStatus::Uninstalled,
    };
    paging.query(&app, &wanted, admits, |each| each.view()).await
}

/// `GET /v1/app-store/installations/{id}` (`getInstallation`): Get an installation.
///
/// The installation has its status, the granted scopes and the actions that the status allows. It stays when
/// the app is uninstalled.
///
/// # Errors
/// `not_found`, also for another store's installation.
pub async fn get(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
) -> Result<Json<InstallationView>, Problem> {
    Ok(load_own(&app, &admin, &id).await?.to_response())
}

/// An entry of the access log of an installation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AccessLogEntry {
    /// The id of the event.
    id: EventId,
    /// The event type, like `app.token_issued`.
    #[serde(rename = "type")]
    name: String,
    /// When it happened.
    created_at: Timestamp,
    /// The id of the request that caused it.
    request_id: String,
    /// The data of the event, from the time when it happened.
    data: Value,
}

impl From<Event> for AccessLogEntry {
    fn from(event: Event) -> Self {
        let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
        Self {
            id: event.id,
            name: event.name,
            created_at: event.created_at,
            request_id: event.request_id,
            data: body.get("data").cloned().unwrap_or_default(),
        }
    }
}

/// `GET /v1/app-store/installations/{id}/access-log` (`listInstallationAccessLog`):
/// List the access log of an installation.
///
/// The newest entry comes first. The log has the installation's events: installed, authorized, token issued,
/// all tokens revoked, suspended, resumed and uninstalled. Entries are retained for 30 days. It does not record
/// that an app revoked a single token.
///
/// # Errors
/// `invalid_cursor`, `not_found`, also for another store's installation.
pub async fn access_log(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
    paging: Paging,
) -> Result<Page<AccessLogEntry>, Problem> {
    let installation = load_own(&app, &admin, &id).await?;
    let (index, partition) = key::timeline_on(&admin.store.id, installation.id.as_str());
    let wanted = table::Query::index(index, partition).newest_first();
    paging.query(&app, &wanted, |_: &Event| true, AccessLogEntry::from).await
}

/// The scopes of an installation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InstallationScopesView {
    /// The scopes that the merchant granted.
    granted: Vec<ScopeView>,
    /// The scopes that the app is registered for, and may request.
    registered: Vec<ScopeView>,
}

/// `GET /v1/app-store/installations/{id}/scopes` (`getInstallationScopes`):
/// Get the scopes of an installation.
///
/// The response explains the scopes that the merchant granted, and those that the app is registered for. An
/// authorization can grant any of the latter.
///
/// # Errors
/// `not_found`, also for another store's installation.
pub async fn scopes(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
) -> Result<Json<InstallationScopesView>, Problem> {
    let installation = load_own(&app, &admin, &id).await?;
    let registered: Option<CommerceApp> = app.table.get(&key::app(&installation.app_id)).await?;
    let view = InstallationScopesView {
        granted: explained(installation.scopes.iter()),
        registered: registered.map(|each| explained(each.scopes.iter())).unwrap_or_default(),
    };
    Ok(Json::new(&view))
}
