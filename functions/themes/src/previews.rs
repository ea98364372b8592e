//! Preview sessions: a draft, shown for a limited time to bearers of the token. They open a storefront that
//! is not open yet to strangers, so that creating and ending one requires `write_themes`.

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::{PreviewSessionId, StoreId};
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadThemes, WriteThemes};
use gateway::app::App;
use gateway::reply::{Created, Json, NoContent, NoStore};
use gateway::request::{Body, Path};
use primitives::clock::Timestamp;
use primitives::fields::Int;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{ReadConsistency, retry};
use themes::draft::ThemeDraft;
use themes::manifest::Slug;
use themes::preview::DEFAULT_LIFE;
use themes::session::{PreviewSession, PreviewSessionView};

use crate::on_store::OnStore;

/// The options of a preview session.
#[request]
#[derive(Debug, Clone)]
pub struct PreviewRequest {
    /// The version of the draft to preview, which must be its current one.
    draft_version: Option<Int<1, { i64::MAX }>>,
    /// The lifetime in seconds; 1,800 by default.
    expires_in: Option<Int<60, 86_400>>,
}

/// A preview session, with its token.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewSessionWithToken {
    #[serde(flatten)]
    session: PreviewSessionView,
    /// The token for the storefront, sent as `X-Service-Preview-Token` or as `preview_token`. Returned
    /// once.
    preview_token: String,
    /// The URL of the storefront's theme with the draft.
    preview_url: String,
}

/// `POST /v1/themes/{slug}/preview-session` (`createPreviewSession`): Create a preview session of a draft.
///
/// Creates a session that shows the present content of the draft to bearers of the returned token.
///
/// # Errors
/// `theme_not_installed`, `no_draft`; `draft_conflict` with the `current_version`.
pub async fn create(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<PreviewRequest>,
) -> Result<NoStore<Created<PreviewSessionWithToken>>, Problem> {
    let store = &access.store;
    let keys = app.secrets.keys().await?;
    let now = app.clock.now();
    let (on_store, _) = OnStore::read(&app, &store.id, &slug, &[], ReadConsistency::Strong).await?;
    let installed = on_store.installed()?;
    let (draft, content) = ThemeDraft::content_of(on_store.draft.as_ref())?;
    draft.check(input.draft_version.and_then(|version| u64::try_from(version.0).ok()))?;
    let life = input.expires_in.and_then(|seconds| u64::try_from(seconds.0).ok());
    let life = life.map_or(DEFAULT_LIFE, Duration::from_secs);
    let by = access.actor.id();
    let session = PreviewSession::begin(installed, (draft, content), by, life, now)
        .on_behalf_of(access.authority(&[]));
    let token = session.token().sign(&keys.previews);
    let (base, shop) = (&app.config.base_url, store.subdomain.as_str());
    let created = PreviewSessionWithToken {
        session: PreviewSessionView::from(&session),
        preview_url: format!("{base}/v1/storefront/{shop}/theme?preview_token={token}"),
        preview_token: token,
    };
    app.table
        .write()
        .create(&session, Code::VersionConflict)
        .answer(Created::new(&created).no_store(), now)
        .await
}

/// Loads a session of this theme on this store.
async fn load_own(
    services: &Services,
    store: &StoreId,
    slug: &Slug,
    id: &PreviewSessionId,
) -> Result<PreviewSession, Problem> {
    let found: PreviewSession = load(services, &key::preview_session(id)).await?;
    let is_own = found.store_id == *store && found.slug == *slug;
    if is_own { Ok(found) } else { Err(Code::NotFound.into()) }
}

/// `GET /v1/themes/{slug}/preview-session/{id}` (`getPreviewSession`): Get a preview session.
///
/// Returns a preview session without its token.
///
/// # Errors
/// `not_found`; `preview_expired`: it has expired, or it was revoked.
pub async fn get(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path((slug, id)): Path<(Slug, PreviewSessionId)>,
) -> Result<Json<PreviewSessionView>, Problem> {
    let session = load_own(&app, &access.store.id, &slug, &id).await?;
    session.check(app.clock.now())?;
    Ok(Json::new(&PreviewSessionView::from(&session)).version(session.version))
}

/// `DELETE /v1/themes/{slug}/preview-session/{id}` (`deletePreviewSession`): End a preview session.
///
/// Revokes a preview session: its token is invalid from the next request on.
///
/// # Errors
/// `not_found`.
pub async fn delete(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path((slug, id)): Path<(Slug, PreviewSessionId)>,
) -> Result<NoContent, Problem> {
    retry(|| async {
        let now: Timestamp = app.clock.now();
        let session = load_own(&app, &access.store.id, &slug, &id).await?;
        if session.check(now).is_err() {
            return Ok(NoContent::default());
        }
        let write = app.table.write().replace(&session.revoked(now), Code::VersionConflict);
        write.answer(NoContent::default(), now).await
    })
    .await
}
