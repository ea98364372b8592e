//! Choosing an app for a store, and what a store has chosen.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Index;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::{Created, Either, Json, Page};
use gateway::request::{Body, Path, Query, request};
use gateway::table::{self, retry};
use ground::event::Event;
use ground::id::{AppId, EventId, InstallationId};
use ground::key;
use ground::resource::Resource;
use platform::app::{AppStatus, CommerceApp};
use platform::caller::Admin;
use platform::installation::{APP_INSTALLED, Installation, InstallationStatus, InstallationView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::apps::{ScopeView, explained};
use crate::installations::own;

/// Nothing beside `store_id`, which selects the store as on every merchant route.
#[request]
#[derive(Debug)]
pub struct InstallRequest {}

/// What has to follow an install before the app can act.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthorizeView {
    /// Whether the merchant has to grant scopes.
    required: bool,
    client_id: String,
    scopes: Vec<String>,
    /// The app's first redirect URI.
    redirect_uri: Option<String>,
}

/// An app on a store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InstallResponse {
    installation: InstallationView,
    authorize: AuthorizeView,
}

/// A pending installation as it is, or one that has begun.
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
/// It is pending until it is authorized, or active at once when it asks for no scopes. Choosing a
/// pending app again changes nothing and answers 200 (our choice).
///
/// # Errors
/// `not_found` for an app that is not in the catalogue; `app_suspended`; `already_installed`.
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
            Some(gone) if gone.status == InstallationStatus::Uninstalled => {
                gone.begin_again(&chosen, by, now)
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

/// The app and the store's installation of it, in one round trip.
async fn load(
    app: &App,
    admin: &Admin,
    id: &AppId,
) -> Result<(CommerceApp, Option<Installation>), Problem> {
    let app_key = key::app(id);
    let installation_key = key::installation(&Installation::id_of(&admin.store.id, id));
    let mut batch = app.table.get_many(&[&app_key, &installation_key]).await?;
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
    app: &App,
    chosen: &CommerceApp,
    next: &Installation,
    now: Timestamp,
) -> Result<Created<InstallResponse>, Problem> {
    let write = app.table.write();
    let write = write.create_or_replace(next, Code::VersionConflict);
    // Either way the app must still be in the catalogue when the transaction happens.
    let write = if next.status == InstallationStatus::Active {
        CommerceApp::one_install_more(write, &chosen.id, Code::NotFound)
    } else {
        write.check(&key::app(&chosen.id), CommerceApp::still_published(), Code::NotFound)
    };
    let answer = InstallResponse::of(next, chosen);
    write
        .emit(next.event(&APP_INSTALLED, now))
        .answer(Created::new(&answer).version(next.version), now)
        .await
}

/// Which installations.
#[request]
#[derive(Debug)]
pub struct InstallationsQuery {
    /// Only this status; all but `uninstalled` when left out (our choice).
    status: Option<InstallationStatus>,
}

/// `GET /v1/app-store/installations` (`listInstallations`): List installations of a store.
///
/// Apps see their own installation alone.
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
    paging.answer(&app, &wanted, admits, |each| each.view()).await
}

/// `GET /v1/app-store/installations/{id}` (`getInstallation`): Get an installation.
///
/// The response has its status and the granted scopes.
///
/// # Errors
/// `not_found`, also for another store's.
pub async fn show(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
) -> Result<Json<InstallationView>, Problem> {
    Ok(own(&app, &admin, &id).await?.shown())
}

/// One line of an installation's history.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "InstallationHistoryEntry")]
pub struct AccessView {
    id: EventId,
    #[serde(rename = "type")]
    name: String,
    created_at: Timestamp,
    request_id: String,
    /// The event's data, as it was when it happened.
    data: Value,
}

impl From<Event> for AccessView {
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
/// Lists what happened to the installation, the newest first.
///
/// Authorizations, tokens issued and revoked, suspensions. Kept as long as events.
///
/// # Errors
/// `not_found`, also for another store's.
pub async fn access_log(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
    paging: Paging,
) -> Result<Page<AccessView>, Problem> {
    let installation = own(&app, &admin, &id).await?;
    let (index, partition) = key::timeline_on(&admin.store.id, installation.id.as_str());
    let wanted = table::Query::index(index, partition).newest_first();
    paging.answer(&app, &wanted, |_: &Event| true, AccessView::from).await
}

/// What an app may do on a store, and what it could ask for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InstallationScopesView {
    /// What the merchant granted.
    granted: Vec<ScopeView>,
    /// What the app is registered for: what it may ask for next.
    registered: Vec<ScopeView>,
}

/// `GET /v1/app-store/installations/{id}/scopes` (`getInstallationScopes`): Get the scopes of an installation.
///
/// Explains granted and registered scopes.
///
/// # Errors
/// `not_found`, also for another store's.
pub async fn scopes(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
) -> Result<Json<InstallationScopesView>, Problem> {
    let installation = own(&app, &admin, &id).await?;
    let registered: Option<CommerceApp> = app.table.get(&key::app(&installation.app_id)).await?;
    let view = InstallationScopesView {
        granted: explained(installation.scopes.iter()),
        registered: registered.map(|each| explained(each.scopes.iter())).unwrap_or_default(),
    };
    Ok(Json::new(&view))
}
