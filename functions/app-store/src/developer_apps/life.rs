//! Publishing and deleting apps, and their client secret.

use axum::extract::State;
use callers::Developer;
use core_types::event::Topic;
use core_types::id::AppId;
use core_types::key;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoContent, NoStore};
use gateway::request::{IfMatch, Path};
use platform::app::{
    APP_DELETED, APP_PUBLISHED, APP_SECRET_ROTATED, APP_UNPUBLISHED, AppClient, AppHosts, AppView,
    CommerceApp, SECRET_OVERLAP,
};
use platform::submission::{APP_SUBMISSION_WITHDRAWN, Submission};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use replies::change;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Write, retry};

use super::{ensure_own, load_own, new_secret};

/// `DELETE /v1/app-store/developers/apps/{id}` (`deleteDeveloperApp`): Delete an app.
///
/// Only an app that is not published and not active on any store can be deleted: unpublish it first. Its
/// OAuth client, its webhook and its open submission end with it, and its slug is free again. It emits
/// `app.deleted`.
///
/// # Errors
/// `not_found`; `app_installed` while it is active on a store; `invalid_state_transition` while it is
/// published; `precondition_failed`.
pub async fn delete(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    retry(|| async {
        let before = load_own(&app, &developer, &id).await?;
        if_match.check(before.version)?;
        let now = app.clock.now();
        let next = before.delete(now)?;
        let write = withdraw_open(app.table.write(), &app, &before, now).await?;
        let write = match &before.webhook_subscription_id {
            Some(hook) => write.delete(&key::app_subscription(&id, hook)),
            None => write,
        };
        let write = developer.profile.one_app_less(write);
        next.save_unless_installed(write, Code::VersionConflict)
            .delete(&key::client(&before.client_id))
            .delete(&key::unique_app_slug(before.slug.as_str()))
            .emit(next.event(&APP_DELETED, now))
            .answer(NoContent::default(), now)
            .await
    })
    .await
}

/// Adds the withdrawal of the open submission to a transaction, if there is one.
async fn withdraw_open(
    write: Write,
    services: &Services,
    before: &CommerceApp,
    now: Timestamp,
) -> Result<Write, Problem> {
    let Some(open) = &before.open_submission_id else { return Ok(write) };
    let open: Option<Submission> = services.table.get(&key::submission(&before.id, open)).await?;
    let Some(open) = open else { return Ok(write) };
    let withdrawn = open.withdraw(now)?;
    let event = withdrawn.event(&APP_SUBMISSION_WITHDRAWN, now);
    Ok(write.replace(&withdrawn, Code::VersionConflict).emit(event))
}

/// A new client secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClientSecretView {
    /// The OAuth client id.
    client_id: String,
    /// The new client secret. It is never returned again.
    client_secret: String,
    /// The previous secret works until this time.
    previous_secret_expires_at: Timestamp,
}

/// `POST /v1/app-store/developers/apps/{id}/secret/rotate` (`rotateAppSecret`):
/// Rotate the client secret of an app.
///
/// The response has the new secret, and no later one does. The previous secret works for 24 more hours; an
/// older one stops working at once. Tokens stay valid. It emits `app.secret_rotated`.
///
/// # Errors
/// `not_found`; `invalid_state_transition` for a client that has no secret.
pub async fn rotate_secret(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
) -> Result<NoStore<Json<ClientSecretView>>, Problem> {
    let found = load_own(&app, &developer, &id).await?;
    let client: Option<AppClient> = app.table.get(&key::client(&found.client_id)).await?;
    let client = client.ok_or(Code::NotFound)?;
    if !client.confidential {
        return Err(Code::InvalidStateTransition.detail("A public app has no client secret."));
    }
    let now = app.clock.now();
    let secret = new_secret();
    let view = ClientSecretView {
        client_id: client.client_id.clone(),
        client_secret: secret.clone(),
        previous_secret_expires_at: now.plus(SECRET_OVERLAP),
    };
    app.table
        .write()
        .replace(&client.rotate(&secret, now), Code::VersionConflict)
        .emit(found.event(&APP_SECRET_ROTATED, now))
        .answer(Json::new(&view).no_store(), now)
        .await
}

/// `POST /v1/app-store/developers/apps/{id}/publish` (`publishDeveloperApp`): Publish an approved app.
///
/// The app enters the catalogue with its approved listing, and can be installed. A draft or unpublished app
/// can be published. It emits `app.published`.
///
/// # Errors
/// `not_found`; `not_approved` without an approved version; `invalid_state_transition`; `account_disabled`
/// for a suspended developer; `checks_failed` when a redirect URI leads to a loopback address.
pub async fn publish(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
) -> Result<Json<AppView>, Problem> {
    developer.profile.ensure_may_publish()?;
    let hosts = AppHosts::of(app.config.loopback_apps);
    let publish = |app: &CommerceApp, now| app.publish(hosts, now);
    move_to(&app, &developer, &id, &APP_PUBLISHED, publish).await
}

/// `POST /v1/app-store/developers/apps/{id}/unpublish` (`unpublishDeveloperApp`): Unpublish an app.
///
/// The app leaves the catalogue, and cannot be installed or authorized any more. Active installations keep
/// working. It emits `app.unpublished`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub async fn unpublish(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
) -> Result<Json<AppView>, Problem> {
    move_to(&app, &developer, &id, &APP_UNPUBLISHED, CommerceApp::unpublish).await
}

async fn move_to(
    services: &Services,
    developer: &Developer,
    id: &AppId,
    topic: &Topic<AppView>,
    decide: impl Fn(&CommerceApp, Timestamp) -> Result<CommerceApp, Problem>,
) -> Result<Json<AppView>, Problem> {
    change(services, &key::app(id), IfMatch::default(), topic, |before, now| {
        ensure_own(developer, before)?;
        decide(before, now).map(Some)
    })
    .await
}
