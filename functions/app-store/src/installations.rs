//! A merchant's actions on an installation: suspend, resume, revoke its tokens, uninstall.

use axum::extract::State;
use callers::Admin;
use core_types::event::Topic;
use core_types::id::InstallationId;
use core_types::key;
use core_types::resource::{Resource, load};
use delivery::subscription::{Subscription, remove_of_app};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use platform::app::AppStatus;
use platform::installation::{
    APP_RESUMED, APP_SUSPENDED, APP_TOKENS_REVOKED, APP_UNINSTALLED, Installation,
    InstallationStatus, InstallationView,
};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::{ResourceReply, change_with};
use services::Services;
use table::{Change, Query, Write, retry};

/// The reason of a change of an installation.
#[request]
#[derive(Debug, Clone)]
pub struct ReasonRequest {
    /// The reason, which the installation and the event have.
    reason: Option<Text<0, 500>>,
}

impl ReasonRequest {
    fn text(&self) -> Option<String> {
        self.reason.clone().map(String::from)
    }
}

/// `POST /v1/app-store/installations/{id}/uninstall` (`uninstallApp`): Uninstall an app from a store.
///
/// All tokens of the app stop working with the next request, and the webhook subscriptions that it created on
/// the store are deleted. The granted scopes are removed; the installation stays, as `uninstalled`. It emits
/// `app.uninstalled`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub async fn uninstall(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
    Body(input): Body<ReasonRequest>,
) -> Result<Json<InstallationView>, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let known = load_own(&app, &admin, &id).await?;
        let next = known.uninstall(input.text(), now)?;
        let mut write = app.table.write();
        if known.status == InstallationStatus::Active {
            write = decrement_installs(write, &known);
        }
        let subscriptions = subscriptions(&app, &known).await?;
        write = remove_of_app(write, &known.store_id, &known.app_id, &subscriptions);
        write
            .replace(&next, Code::VersionConflict)
            .emit(next.event(&APP_UNINSTALLED, now))
            .answer(next.to_response(), now)
            .await
    })
    .await
}

/// `POST /v1/app-store/installations/{id}/suspend` (`suspendInstallation`): Suspend an installation.
///
/// Only an active installation can be suspended. Its tokens are rejected until it is resumed or authorized
/// again, and the webhook subscriptions of the app on the store receive nothing. It emits `app.suspended`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub async fn suspend(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
    Body(input): Body<ReasonRequest>,
) -> Result<Json<InstallationView>, Problem> {
    let suspend = |known: &Installation, now| known.suspend(input.text(), now);
    transition(&admin, &app, &id, &APP_SUSPENDED, suspend, decrement_installs).await
}

/// `POST /v1/app-store/installations/{id}/resume` (`resumeInstallation`): Resume a suspended installation.
///
/// Tokens that have not expired work again, and the app's webhook subscriptions receive new events. It emits
/// `app.resumed`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`; `app_not_published` when its developer has deleted the app.
pub async fn resume(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
) -> Result<Json<InstallationView>, Problem> {
    transition(&admin, &app, &id, &APP_RESUMED, Installation::resume, increment_installs).await
}

/// `POST /v1/app-store/installations/{id}/tokens/revoke` (`revokeInstallationTokens`):
/// Revoke all tokens of an installation.
///
/// Access tokens, refresh tokens and codes that were not redeemed stop working with the next request. The app
/// stays installed; a new authorization gives it new tokens. A member's session can still get an embedded
/// token. It emits `app.tokens_revoked`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub async fn revoke_tokens(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<InstallationId>,
) -> Result<Json<InstallationView>, Problem> {
    let revoke = Installation::revoke_tokens;
    transition(&admin, &app, &id, &APP_TOKENS_REVOKED, revoke, |write, _| write).await
}

/// Loads the installation, if it is on the caller's store.
///
/// # Errors
/// `not_found`.
pub async fn load_own(
    services: &Services,
    admin: &Admin,
    id: &InstallationId,
) -> Result<Installation, Problem> {
    let found = load(services, &key::installation(id)).await?;
    ensure_own(admin, &found).map(|()| found)
}

/// Ensures that the installation is on the caller's store.
///
/// # Errors
/// `not_found`.
fn ensure_own(admin: &Admin, installation: &Installation) -> Result<(), Problem> {
    let is_own = installation.store_id == admin.store.id;
    if is_own { Ok(()) } else { Err(Code::NotFound.into()) }
}

/// Changes an installation that is on the caller's store; `update_counter` adds the change of the app's counter.
async fn transition(
    admin: &Admin,
    services: &Services,
    id: &InstallationId,
    topic: &Topic<InstallationView>,
    next: impl Fn(&Installation, Timestamp) -> Result<Installation, Problem>,
    update_counter: impl Fn(Write, &Installation) -> Write,
) -> Result<Json<InstallationView>, Problem> {
    let next = |known: &Installation, now| {
        ensure_own(admin, known)?;
        next(known, now).map(Some)
    };
    let key = key::installation(id);
    change_with(services, &key, IfMatch::default(), topic, next, |write, (known, _), _| {
        update_counter(write, known)
    })
    .await
}

/// Adds one to the app's active installations, unless the app is deleted.
fn increment_installs(write: Write, known: &Installation) -> Write {
    let change = Change::new("SET active_installs = active_installs + :one")
        .only_if("#status <> :deleted")
        .name("#status", "status")
        .value(":deleted", AppStatus::Deleted)
        .value(":one", 1);
    write.update(&key::app(&known.app_id), change, Code::AppNotPublished)
}

/// Subtracts one from the app's active installations. The transaction has a client request token, so a repeated
/// call subtracts it once (`TransactWriteItems`).
fn decrement_installs(write: Write, known: &Installation) -> Write {
    let change = Change::new("SET active_installs = active_installs - :one")
        .only_if("active_installs >= :one")
        .value(":one", 1);
    write.update(&key::app(&known.app_id), change, Code::VersionConflict)
}

/// Loads the store's webhook subscriptions, of which its quota permits 50.
async fn subscriptions(
    services: &Services,
    known: &Installation,
) -> Result<Vec<Subscription>, Problem> {
    let partition =
        Query::partition(key::store(&known.store_id).pk).begins_with(key::SUBSCRIPTIONS);
    services.table.all(&partition, 60).await
}
