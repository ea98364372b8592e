//! The editor: a theme's state on a store, and its draft.

use std::collections::BTreeMap;

use axum::extract::State;
use callers::StoreAccess;
use core_types::key;
use core_types::resource::Resource;
use core_types::scope::{ReadThemes, WriteThemes};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoContent};
use gateway::request::{Body, IfMatch, Path, Raw};
use http::header;
use primitives::fields::Int;
use primitives::input::{AnyJson, request};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use table::item::Key;
use table::{ReadConsistency, retry, retry_eventual_first};
use themes::contents::Contents;
use themes::draft::{DraftView, Editing, ThemeDraft};
use themes::file::Digest;
use themes::finding::Finding;
use themes::installed::InstalledThemeView;
use themes::manifest::{Slug, Version};
use themes::published::ThemeRelease;
use themes::settings::{self, Content, MAX_CONTENT, SectionOrBlock, Sections, UnvalidatedContent};

use crate::on_store::{OnStore, take};

/// The content of the live release of this theme.
#[derive(Debug, Serialize, JsonSchema)]
struct PublishedContent {
    /// The release's number.
    release: u64,
    /// The version of the theme.
    theme_version: Version,
    /// The digest over files and settings.
    content_sha256: Digest,
    #[serde(flatten)]
    content: Content,
}

/// The state of a theme, as an editor needs it to start.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EditorView {
    /// The installed version of the theme, whose schema applies.
    schema_version: Version,
    /// The installation.
    installation: InstalledThemeView,
    /// The live release, if it is of this theme.
    published: Option<PublishedContent>,
    /// The draft, if there is one.
    draft: Option<DraftView>,
    /// The number of the newest release; 0 without one.
    #[serde(rename = "release_history_head")]
    latest_release: u64,
    /// The caller's permissions: `read`, and with `write_themes` also `write` and `publish`.
    permissions: Vec<&'static str>,
}

/// `GET /v1/themes/{slug}/editor` (`getThemeEditor`): Get the release and the draft of a theme.
///
/// Returns the live release and the draft of a theme. The `ETag` is the draft's version.
///
/// # Errors
/// `theme_not_installed`.
pub async fn get(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
) -> Result<Json<EditorView>, Problem> {
    let store = &access.store;
    let live = store.live_theme.as_ref().filter(|live| live.slug == slug.as_str());
    let release_key = live.map(|live| key::theme_release(&store.id, &live.slug, live.release));
    let more: Vec<&Key> = release_key.iter().collect();
    let (on_store, mut found) =
        OnStore::read(&app, &store.id, &slug, &more, ReadConsistency::Strong).await?;
    let installed = on_store.installed()?;
    let release: Option<ThemeRelease> = take(&mut found, release_key.as_ref())?;
    let permissions = if access.actor.may("write_themes") {
        &["read", "write", "publish"][..]
    } else {
        &["read"]
    };
    let view = EditorView {
        schema_version: installed.theme_version.clone(),
        installation: installed.view(),
        published: release.map(|release| PublishedContent {
            release: release.number,
            theme_version: release.theme_version,
            content_sha256: release.content_sha256,
            content: release.content,
        }),
        draft: on_store.draft.as_ref().and_then(ThemeDraft::view),
        latest_release: installed.latest_release,
        permissions: permissions.to_vec(),
    };
    let answer = Json::new(&view).header(header::CACHE_CONTROL, "private, no-cache");
    // `If-Match` takes the version of the draft.
    Ok(match &on_store.draft {
        Some(draft) => answer.version(draft.version),
        None => answer,
    })
}

/// A whole draft. Omitted settings get their defaults; omitted sections are none; omitted templates, section groups
/// and static sections are as the theme has them.
#[request]
#[derive(Debug, Clone)]
pub struct DraftRequest {
    /// The settings of the whole theme, by their ids.
    settings: Option<AnyJson<Map<String, Value>>>,
    /// The sections of the home page, by names that the editor chooses.
    sections: Option<AnyJson<BTreeMap<String, SectionOrBlock>>>,
    /// The order of the sections.
    order: Option<AnyJson<Vec<String>>>,
    /// The sections of other templates, by the template's name: `product`, or `product.gift` for an alternative
    /// to it.
    templates: Option<AnyJson<BTreeMap<String, Sections>>>,
    /// The sections of section groups, by the group's name: `header-group`.
    section_groups: Option<AnyJson<BTreeMap<String, Sections>>>,
    /// Sections that a layout or template places by their type, by that type: `header`.
    static_sections: Option<AnyJson<BTreeMap<String, SectionOrBlock>>>,
    /// The version of the draft that this one replaces; or send it as `If-Match`.
    version: Option<Int<0, { i64::MAX }>>,
}

impl From<&DraftRequest> for UnvalidatedContent {
    fn from(input: &DraftRequest) -> Self {
        Self {
            settings: given(input.settings.as_ref()),
            sections: given(input.sections.as_ref()),
            order: input
                .order
                .as_ref()
                .map_or_else(|| Vec::<Value>::new().into(), |any| any.0.clone()),
            templates: given(input.templates.as_ref()),
            section_groups: given(input.section_groups.as_ref()),
            static_sections: given(input.static_sections.as_ref()),
        }
    }
}

/// The object, or an empty one.
fn given<T>(object: Option<&AnyJson<T>>) -> Value {
    object.map_or_else(|| Map::new().into(), |any| any.0.clone())
}

/// A saved draft.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SavedThemeDraft")]
pub struct SavedDraft {
    /// The draft as stored: sanitized, with a value for every setting.
    draft: Option<DraftView>,
    /// A warning for each value that was removed or changed.
    warnings: Vec<Finding>,
}

/// `PUT /v1/themes/{slug}/editor/draft` (`setThemeDraft`): Replace the draft of a theme.
///
/// Replaces the whole draft.
///
/// Every value is validated against the theme's schema and sanitized. Of two editors who have read the same
/// draft and send its version, one saves. A draft has at most 256 KiB.
///
/// # Errors
/// `theme_not_installed`; `precondition_failed` and `draft_conflict` with the `current_version`: the
/// draft is not at the version that `If-Match` or the body names; `body_too_large`; values that the schema
/// rejects as field errors.
pub async fn put_draft(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    if_match: IfMatch,
    Raw(inbound): Raw,
    Body(input): Body<DraftRequest>,
) -> Result<Json<SavedDraft>, Problem> {
    if inbound.body.len() > MAX_CONTENT {
        return Err(Code::BodyTooLarge.with("limit", MAX_CONTENT));
    }
    let store = &access.store;
    let named = input.version.as_ref().and_then(|version| u64::try_from(version.0).ok());
    let input = &UnvalidatedContent::from(&input);
    let (app, slug, by) = (&app, &slug, access.actor.id());
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let (before, _) = OnStore::read(app, &store.id, slug, &[], consistency).await?;
        let installed = before.installed()?;
        match &before.draft {
            Some(draft) => {
                if_match.check(draft.version)?;
                draft.check(named)?;
            }
            None => if_match.check(0)?,
        }
        let contents = Contents::load(app, &installed.contents).await?;
        let (content, warnings) =
            settings::check(&contents.schema, input).map_err(Problem::invalid)?;
        let edit =
            Editing { store: &store.id, slug, theme_version: &installed.theme_version, by, now };
        let draft = ThemeDraft::saved(before.draft.as_ref(), content, edit);
        let answer =
            Json::new(&SavedDraft { draft: draft.view(), warnings }).version(draft.version);
        let write = app.table.write().create_or_replace(&draft, Code::VersionConflict);
        write.answer(answer, now).await
    })
    .await
}

/// `DELETE /v1/themes/{slug}/editor/draft` (`deleteThemeDraft`): Delete the draft of a theme.
///
/// The version of the draft is not reset: the next saved draft has the next version.
///
/// # Errors
/// `theme_not_installed`, `no_draft`, `precondition_failed`.
pub async fn delete_draft(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let store = &access.store;
    retry(|| async {
        let now = app.clock.now();
        let (before, _) =
            OnStore::read(&app, &store.id, &slug, &[], ReadConsistency::Strong).await?;
        let installed = before.installed()?;
        let (draft, _) = ThemeDraft::content_of(before.draft.as_ref())?;
        if_match.check(draft.version)?;
        let by = access.actor.id();
        let edit = Editing {
            store: &store.id,
            slug: &slug,
            theme_version: &installed.theme_version,
            by,
            now,
        };
        let discarded = draft.discarded(edit);
        let write = app.table.write().replace(&discarded, Code::VersionConflict);
        write.answer(NoContent::default(), now).await
    })
    .await
}
