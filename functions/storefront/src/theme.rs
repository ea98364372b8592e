//! What a storefront is shown in: the live release of its theme, or a draft for who has a preview's
//! token; and the files of either.

use axum::extract::{FromRequestParts, State};
use catalogue::blob::pinned::BlobRef;
use core_types::fields::Subdomain;
use gateway::answer::PRIVATE;
use gateway::app::App;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use gateway::reply::{File, Json, Reply};
use gateway::request::{Argument, Raw, Validation};
use http::request::Parts;
use http::{HeaderName, header};
use schemars::JsonSchema;
use serde::Serialize;
use themes::contents::{Contents, StoredFile};
use themes::file::{Digest, FileRef};
use themes::manifest::{Slug, Version};
use themes::published::{self, ThemeRelease};
use themes::release::content_sha256;
use themes::schema::ThemeInfo;
use themes::session::PreviewSession;
use themes::settings::Content;

use crate::viewer::{Invitation, Viewer};

/// What is at a file's URL never changes (RFC 8246).
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Opened by itself, a file runs nothing and loads nothing.
const NOTHING: &str = "default-src 'none'; sandbox";

/// What is shown: a release, or a draft as a preview session keeps it.
struct Shown {
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

impl From<ThemeRelease> for Shown {
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

impl From<PreviewSession> for Shown {
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

impl Shown {
    /// What the store is shown in, to this viewer.
    ///
    /// # Errors
    /// `not_found`, before something was published.
    async fn to(viewer: &Viewer, app: &App) -> Result<Self, Problem> {
        if let Some(session) = &viewer.invitation {
            return Ok(session.as_ref().clone().into());
        }
        let live = published::live(app, viewer.store()).await?;
        Ok(live.ok_or(Code::NotFound)?.into())
    }
}

/// A file, and where it is found.
#[derive(Debug, Serialize, JsonSchema)]
struct ServedFile {
    #[serde(flatten)]
    file: FileRef,
    /// Where it is; what is there never changes.
    url: String,
}

/// What a storefront is shown in: all that a renderer needs, with the files that it names.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StorefrontTheme {
    /// The theme's name in URLs.
    slug: Slug,
    /// What people call it.
    name: String,
    /// The version of the theme.
    version: Version,
    /// The release's number; none for a preview.
    release: Option<u64>,
    /// The draft that a preview shows.
    draft_version: Option<u64>,
    /// The digest over files and settings.
    content_sha256: Digest,
    /// What the theme says of itself.
    theme_info: ThemeInfo,
    /// The languages that it speaks, the default first.
    locales: Vec<String>,
    #[serde(flatten)]
    content: Content,
    /// Its files.
    files: Vec<ServedFile>,
    /// When it was published, or its preview begun.
    published_at: Timestamp,
}

/// `GET /v1/storefront/{subdomain}/theme` (`getStorefrontTheme`): Get the theme of a storefront.
///
/// The response has settings, sections and files of the live release; of the draft, with the token of a
/// preview.
///
/// # Errors
/// `store_not_found`; `not_found`, before something was published; `invalid_or_expired_token`, also
/// for another store's; `preview_expired`.
pub(crate) async fn show(
    caller: Viewer,
    State(app): State<App>,
    _: Invitation,
) -> Result<Json<StorefrontTheme>, Problem> {
    let shown = Shown::to(&caller, &app).await?;
    let contents = Contents::load(&app, &shown.place).await?;
    let below = files_below(&app, &caller.store().subdomain);
    let served = |stored: &StoredFile| {
        let file = stored.file.clone();
        ServedFile { url: format!("{below}/{}", file.sha256), file }
    };
    let digest = shown.digest;
    let of_draft = || content_sha256(contents.manifest_of_files(), &shown.content);
    let view = StorefrontTheme {
        slug: shown.slug.clone(),
        name: contents.manifest.name.clone(),
        version: shown.version.clone(),
        release: shown.release,
        draft_version: shown.draft_version,
        content_sha256: digest.unwrap_or_else(of_draft),
        theme_info: contents.schema.theme_info.clone(),
        locales: contents.schema.locales.clone(),
        files: contents.files.iter().map(served).collect(),
        published_at: shown.at,
        content: shown.content,
    };
    Ok(Json::new(&view).cached(caller.keeping()))
}

/// Where the files of a storefront's theme are.
fn files_below(app: &App, shop: &Subdomain) -> String {
    format!("{}/v1/storefront/{shop}/theme/files", app.config.base_url)
}

/// The file that the path names by its digest.
pub(crate) struct FileDigest(Digest);

impl Argument for FileDigest {
    async fn validate(case: &mut Validation<'_>) -> Result<(), Problem> {
        let named = case.inbound.param("sha256").and_then(|text| text.parse().ok());
        case.keep(Some(Self(named.ok_or(Code::NotFound)?)));
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
/// It belongs to the live release, to one before it, or to a preview's draft. For whoever has them, and says
/// so by `If-None-Match`, they are not even read.
///
/// # Errors
/// `store_not_found`, `not_found`, `invalid_or_expired_token`, `preview_expired`.
pub(crate) async fn file(
    caller: Viewer,
    State(app): State<App>,
    Raw(inbound): Raw,
    FileDigest(digest): FileDigest,
    _: Invitation,
) -> Result<File, Problem> {
    let stored = find(&app, &caller, &digest).await?.ok_or(Code::NotFound)?;
    let tag = format!("\"{digest}\"");
    // A tag that is alone and to the letter: whatever else, the edge makes a 304 of the answer.
    let bytes = if inbound.header("if-none-match") == Some(tag.as_str()) {
        Vec::new()
    } else {
        let mut read = Contents::read(&app, &[&stored]).await?;
        read.pop().map(Vec::from).unwrap_or_default()
    };
    let kept = if caller.invitation.is_some() { PRIVATE } else { FOR_EVER };
    Ok(File::new(&stored.file.content_type, bytes).map(|answer| {
        answer
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, kept)
            .header(header::CONTENT_SECURITY_POLICY, NOTHING)
            .header(HeaderName::from_static("cross-origin-resource-policy"), "cross-origin")
    }))
}

/// The file, if the storefront shows it or has shown it lately.
async fn find(app: &App, caller: &Viewer, digest: &Digest) -> Result<Option<StoredFile>, Problem> {
    if let Some(session) = &caller.invitation {
        return within(app, &session.contents, digest).await;
    }
    let shown = published::live_place(app, caller.store()).await?.ok_or(Code::NotFound)?;
    if let Some(stored) = within(app, &shown, digest).await? {
        return Ok(Some(stored));
    }
    for place in published::last_places(app, caller.store()).await? {
        if let Some(stored) = within(app, &place, digest).await? {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

async fn within(
    app: &App,
    place: &BlobRef,
    digest: &Digest,
) -> Result<Option<StoredFile>, Problem> {
    Ok(Contents::load(app, place).await?.by_digest(digest).cloned())
}
