//! Publishing releases of a theme, listing them, and rolling back.

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::Topic;
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadThemes, WriteThemes};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, Path};
use primitives::fields::{FromText, Int, Text};
use primitives::input::request;
use primitives::problem::{Code, FieldError, FieldErrors, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use services::Services;
use table::ReadConsistency;
use themes::contents::Contents;
use themes::draft::ThemeDraft;
use themes::installed::InstalledTheme;
use themes::manifest::Slug;
use themes::published::{
    Publication, ReleaseView, THEME_PUBLISHED, THEME_ROLLED_BACK, ThemeRelease,
};
use themes::release::{RollbackRejection, content_sha256, rollback as validate};
use themes::schema::Schema;
use themes::settings::{self, Content, UnvalidatedContent};

use crate::on_store::OnStore;

/// The publication of a draft.
#[request]
#[derive(Debug, Clone)]
pub struct PublishRequest {
    /// The version of the draft to publish, which must be its current one.
    draft_version: Int<1, { i64::MAX }>,
    /// A message about the release.
    message: Option<Text<1, 500>>,
}

/// A new release.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublishedRelease")]
pub struct Released {
    /// The release.
    release: ReleaseView,
}

/// `POST /v1/themes/{slug}/publish` (`publishTheme`): Publish the draft of a theme.
///
/// Creates a release of the draft and makes it live.
///
/// # Errors
/// `theme_not_installed`, `no_draft`; `draft_conflict` with the `current_version`;
/// `theme_check_failed` with every finding: the draft does not fit the theme's version;
/// `version_conflict`: another release was made at the same moment.
pub async fn publish(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<PublishRequest>,
) -> Result<Created<Released>, Problem> {
    let store = &access.store;
    let (on_store, _) = OnStore::read(&app, &store.id, &slug, &[], ReadConsistency::Strong).await?;
    let installed = on_store.installed()?;
    let (draft, content) = ThemeDraft::content_of(on_store.draft.as_ref())?;
    draft.check(u64::try_from(input.draft_version.0).ok())?;
    let contents = Contents::load(&app, &installed.contents).await?;
    let content = checked(&contents.schema, content)?;
    let digest = content_sha256(contents.file_digests(), &content);
    let published = Publication {
        content,
        content_sha256: digest,
        draft_version: draft.version,
        message: input.message.map(String::from),
        by: access.actor.id().to_owned(),
    };
    let release = ThemeRelease::publish(installed, published, app.clock.now());
    go_live(&app, installed, &release, &THEME_PUBLISHED).await
}

/// Validates the content again, against the schema of the version that it is published with.
fn checked(schema: &Schema, content: &Content) -> Result<Content, Problem> {
    let draft = UnvalidatedContent::of(content)?;
    let finding = |error: &FieldError| {
        let FieldError { pointer, violation } = error;
        json!({"pointer": pointer, "code": violation.code, "detail": violation.detail})
    };
    let rejected = |errors: FieldErrors| {
        let findings: Vec<Value> = errors.iter().map(finding).collect();
        let rejected = Code::ThemeCheckFailed.with("findings", findings);
        if errors.more() > 0 { rejected.with("more", errors.more()) } else { rejected }
    };
    settings::check(schema, &draft).map(|(content, _)| content).map_err(rejected)
}

/// Writes a release and returns it. Of two concurrent releases the slower one fails and is not retried, so
/// that it does not replace the other unseen.
async fn go_live(
    services: &Services,
    installed: &InstalledTheme,
    release: &ThemeRelease,
    topic: &'static Topic<ReleaseView>,
) -> Result<Created<Released>, Problem> {
    let now = services.clock.now();
    release
        .go_live(services.table.write(), installed, now)
        .emit(release.event(topic, now))
        .answer(Created::new(&Released { release: release.view() }), now)
        .await
}

/// `GET /v1/themes/{slug}/releases` (`listThemeReleases`): List releases of a theme.
///
/// Lists the releases of a theme on the store, the newest first.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    paging: Paging,
) -> Result<Page<ReleaseView>, Problem> {
    let query = table::Query::partition(key::theme_releases(&access.store.id))
        .begins_with(key::theme_releases_of(slug.as_str()))
        .newest_first();
    paging.query(&app, &query, |_| true, |release: ThemeRelease| release.view()).await
}

/// A release with its settings and sections.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReleaseDetail {
    #[serde(flatten)]
    release: ReleaseView,
    #[serde(flatten)]
    content: Content,
}

/// The number of a release.
type Number = Int<1, { i64::MAX }>;

/// `GET /v1/themes/{slug}/releases/{number}` (`getThemeRelease`): Get a release of a theme and its settings.
///
/// Releases never change.
///
/// # Errors
/// `not_found`.
pub async fn get(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path((slug, number)): Path<(Slug, Text<1, 20>)>,
) -> Result<Json<ReleaseDetail>, Problem> {
    let number = Number::from_text(number.as_str()).map_err(|_| Code::NotFound)?;
    let number = u64::try_from(number.0).map_err(|_| Code::NotFound)?;
    let key = key::theme_release(&access.store.id, slug.as_str(), number);
    let found: ThemeRelease = load(&app, &key).await?;
    let detail = ReleaseDetail { release: found.view(), content: found.content.clone() };
    Ok(Json::new(&detail).version(found.version))
}

/// The release to restore.
#[request]
#[derive(Debug, Clone)]
pub struct RollbackRequest {
    /// Its number.
    release: Number,
    /// A message about the new release.
    message: Option<Text<1, 500>>,
}

/// `POST /v1/themes/{slug}/rollback` (`rollbackTheme`): Roll a theme back to an earlier release.
///
/// Creates a new release with the content and the digest of an earlier one, and makes it live. The draft is
/// unchanged.
///
/// # Errors
/// `theme_not_installed`, `not_found`, `already_current`; `version_conflict`: another release was made
/// at the same moment.
pub async fn rollback(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<RollbackRequest>,
) -> Result<Created<Released>, Problem> {
    let store = &access.store;
    let wanted = u64::try_from(input.release.0).map_err(|_| Code::NotFound)?;
    let live = store.live_theme.as_ref().filter(|live| live.slug == slug.as_str());
    let wanted_key = key::theme_release(&store.id, slug.as_str(), wanted);
    let live_key = live.map(|live| key::theme_release(&store.id, &live.slug, live.release));
    let live_key = live_key.filter(|key| *key != wanted_key);
    let more: Vec<_> = std::iter::once(&wanted_key).chain(live_key.as_ref()).collect();
    let (on_store, mut found) =
        OnStore::read(&app, &store.id, &slug, &more, ReadConsistency::Strong).await?;
    let installed = on_store.installed()?;
    let target: ThemeRelease = found.take(&wanted_key)?.ok_or(Code::NotFound)?;
    let live_release: Option<ThemeRelease> = crate::on_store::take(&mut found, live_key.as_ref())?;
    if let Some(live) = live {
        let current = live_release.as_ref().unwrap_or(&target);
        let (now, then) = (&current.content_sha256, &target.content_sha256);
        validate((live.release.max(wanted), now), (wanted, then)).map_err(rejected)?;
    }
    let (message, by) = (input.message.map(String::from), access.actor.id());
    let release = target.again(installed, message, by, app.clock.now());
    go_live(&app, installed, &release, &THEME_ROLLED_BACK).await
}

fn rejected(rejection: RollbackRejection) -> Problem {
    match rejection {
        RollbackRejection::NotFound => Code::NotFound.into(),
        RollbackRejection::AlreadyCurrent => Code::AlreadyCurrent.into(),
    }
}
