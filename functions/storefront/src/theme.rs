//! The theme of a storefront: the live release, or a draft with a preview token, and the files of either.

use axum::extract::{FromRequestParts, State};
use catalogue::blob::pinned::BlobRef;
use core_types::fields::Subdomain;
use gateway::answer::PRIVATE;
use gateway::app::App;
use gateway::reply::{File, Json, Ranged, Reply};
use gateway::request::{Argument, Raw, Validation};
use http::request::Parts;
use http::{HeaderName, header};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use themes::contents::{Contents, StoredFile};
use themes::file::{Digest, FileRef};
use themes::manifest::{Slug, Version};
use themes::published::{self, ThemeRelease};
use themes::release::content_sha256;
use themes::schema::ThemeInfo;
use themes::session::PreviewSession;
use themes::settings::Content;

use crate::viewer::{PreviewToken, Viewer};

/// A file's URL names its content, which never changes (RFC 8246).
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// A file that is opened as a page runs and loads nothing.
const NOTHING: &str = "default-src 'none'; sandbox";

/// The content of a storefront: a release, or the draft of a preview session.
struct ThemeState {
    slug: Slug,
    version: Version,
    place: BlobRef,
    content: Content,
    /// The release's digest; a draft's is computed.
    digest: Option<Digest>,
    release: Option<u64>,
    draft_version: Option<u64>,
    at: Timestamp,
}

impl From<ThemeRelease> for ThemeState {
    fn from(release: ThemeRelease) -> Self {
        Self {
            slug: release.slug,
            version: release.theme_version,
            place: release.contents,
            content: release.content,
            digest: Some(release.content_sha256),
            release: Some(release.number),
            draft_version: None,
            at: release.created_at,
        }
    }
}

impl From<PreviewSession> for ThemeState {
    fn from(session: PreviewSession) -> Self {
        Self {
            slug: session.slug,
            version: session.theme_version,
            place: session.contents,
            content: session.content,
            digest: None,
            release: None,
            draft_version: Some(session.draft_version),
            at: session.created_at,
        }
    }
}

impl ThemeState {
    /// Loads the content for this viewer.
    ///
    /// # Errors
    /// `not_found`: nothing is published yet.
    async fn load(viewer: &Viewer, services: &Services) -> Result<Self, Problem> {
        if let Some(session) = &viewer.preview {
            return Ok(session.as_ref().clone().into());
        }
        let live = published::live(services, viewer.store()).await?;
        Ok(live.ok_or(Code::NotFound)?.into())
    }
}

/// A file with its URL.
#[derive(Debug, Serialize, JsonSchema)]
struct ServedFile {
    #[serde(flatten)]
    file: FileRef,
    /// The URL; its content never changes.
    url: String,
}

/// The theme of a storefront: the settings, sections and files that a renderer needs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StorefrontTheme {
    /// The theme's name in URLs.
    slug: Slug,
    /// The display name.
    name: String,
    /// The version of the theme.
    version: Version,
    /// The release's number; none for a preview.
    release: Option<u64>,
    /// The version of the draft that a preview shows.
    draft_version: Option<u64>,
    /// The digest over files and settings.
    content_sha256: Digest,
    /// The theme's description.
    theme_info: ThemeInfo,
    /// The languages of the theme's texts, the default first.
    locales: Vec<String>,
    #[serde(flatten)]
    content: Content,
    /// The theme's files.
    files: Vec<ServedFile>,
    /// When the release was published, or the preview session created.
    published_at: Timestamp,
}

/// `GET /v1/storefront/{subdomain}/theme` (`getStorefrontTheme`): Get the theme of a storefront.
///
/// The response has the settings, sections and files of the live release; with a preview token, those of
/// the draft.
///
/// # Errors
/// `storefront_not_found`; `not_found`: nothing is published yet; `invalid_or_expired_token`, also
/// for another store's; `preview_expired`.
pub(crate) async fn get(
    caller: Viewer,
    State(app): State<App>,
    _: PreviewToken,
) -> Result<Json<StorefrontTheme>, Problem> {
    let state = ThemeState::load(&caller, &app).await?;
    let contents = Contents::load(&app, &state.place).await?;
    let below = files_below(&app, &caller.store().subdomain);
    let served = |stored: &StoredFile| {
        let file = stored.file.clone();
        ServedFile { url: format!("{below}/{}", file.sha256), file }
    };
    let digest = state.digest;
    let of_draft = || content_sha256(contents.file_digests(), &state.content);
    let view = StorefrontTheme {
        slug: state.slug.clone(),
        name: contents.manifest.name.clone(),
        version: state.version.clone(),
        release: state.release,
        draft_version: state.draft_version,
        content_sha256: digest.unwrap_or_else(of_draft),
        theme_info: contents.schema.theme_info.clone(),
        locales: contents.schema.locales.clone(),
        files: contents.files.iter().map(served).collect(),
        published_at: state.at,
        content: state.content,
    };
    Ok(Json::new(&view).cached(caller.keeping()))
}

/// The base URL of a storefront's theme files.
fn files_below(services: &Services, shop: &Subdomain) -> String {
    format!("{}/v1/storefront/{shop}/theme/files", services.config.base_url)
}

/// The digest of the requested file.
pub(crate) struct FileDigest(Digest);

impl Argument for FileDigest {
    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let named = validation.inbound.param("sha256").and_then(|text| text.parse().ok());
        validation.insert(Some(Self(named.ok_or(Code::NotFound)?)));
        Ok(())
    }

    gateway::describes! { |operation| {
        operation.takes_in_path::<String>(0);
        operation.takes_in_path::<Digest>(1);
    } }
}

impl<S: Sync> FromRequestParts<S> for FileDigest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// `GET /v1/storefront/{subdomain}/theme/files/{sha256}` (`downloadThemeFile`): Download a file of a theme.
///
/// Serves files of the live release, of recent releases, or of a preview's draft. With a matching
/// `If-None-Match`, the bytes are not read.
///
/// # Errors
/// `storefront_not_found`, `not_found`, `invalid_or_expired_token`, `preview_expired`.
pub(crate) async fn get_file(
    caller: Viewer,
    State(app): State<App>,
    Raw(inbound): Raw,
    FileDigest(digest): FileDigest,
    _: PreviewToken,
) -> Result<Ranged<File>, Problem> {
    let stored = find(&app, &caller, &digest).await?.ok_or(Code::NotFound)?;
    let tag = format!("\"{digest}\"");
    // An exact single tag. For other forms of the header, the edge turns the response into a 304.
    let bytes = if inbound.header("if-none-match") == Some(tag.as_str()) {
        Vec::new()
    } else {
        let mut read = Contents::read(&app, &[&stored]).await?;
        read.pop().map(Vec::from).unwrap_or_default()
    };
    let cache_control = if caller.preview.is_some() { PRIVATE } else { FOR_EVER };
    let file = File::new(&stored.file.content_type, bytes);
    Ok(Ranged::in_parts(file.map(|answer| {
        answer
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, cache_control)
            .header(header::CONTENT_SECURITY_POLICY, NOTHING)
            .header(HeaderName::from_static("cross-origin-resource-policy"), "cross-origin")
    })))
}

/// Finds the file in the preview, or in the live and recent releases.
async fn find(
    services: &Services,
    caller: &Viewer,
    digest: &Digest,
) -> Result<Option<StoredFile>, Problem> {
    if let Some(session) = &caller.preview {
        return contents_file(services, &session.contents, digest).await;
    }
    let live = published::live_place(services, caller.store()).await?.ok_or(Code::NotFound)?;
    if let Some(stored) = contents_file(services, &live, digest).await? {
        return Ok(Some(stored));
    }
    for place in published::last_places(services, caller.store()).await? {
        if let Some(stored) = contents_file(services, &place, digest).await? {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

async fn contents_file(
    services: &Services,
    place: &BlobRef,
    digest: &Digest,
) -> Result<Option<StoredFile>, Problem> {
    Ok(Contents::load(services, place).await?.by_digest(digest).cloned())
}
