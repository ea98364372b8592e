//! What a storefront is shown in: the live release of its theme, or a draft for who has a preview's
//! token; and the files of either.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use catalogue::blob::pinned::BlobRef;
use gateway::app::App;
use gateway::caller::{Access, Caller, Identity};
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::reply::{File, Json, Reply};
use gateway::request::{Argument, Exact, Inbound, Judgement, Query, Raw, Reads, request};
use ground::fields::Subdomain;
use http::request::Parts;
use http::{HeaderName, header};
use identity::store::Store;
use identity::storefront::{FRESH, OpenStore, any_store, open_store, visitor};
use schemars::JsonSchema;
use serde::Serialize;
use themes::contents::{Contents, StoredFile};
use themes::file::{Digest, FileRef};
use themes::manifest::{Slug, Version};
use themes::preview::Token;
use themes::published::{self, ThemeRelease};
use themes::release::content_sha256;
use themes::schema::ThemeInfo;
use themes::session::PreviewSession;
use themes::settings::Content;

/// The header of a preview's token.
const PREVIEW_HEADER: &str = "x-service-preview-token";
/// The query parameter of it.
const PREVIEW_PARAMETER: &str = "preview_token";
/// What is shown to who was invited is theirs alone.
const PRIVATE: &str = "private, no-store";
/// What is at a file's URL never changes (RFC 8246).
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Opened by itself, a file runs nothing and loads nothing.
const NOTHING: &str = "default-src 'none'; sandbox";

/// Anybody, at the theme of the storefront that the path names; with a preview's token also of one
/// that is not open yet.
#[derive(Debug, Clone)]
pub(crate) struct ThemeViewer {
    of: Arc<OpenStore>,
    preview: Option<Token>,
    identity: Identity,
}

gateway::caller_argument!(ThemeViewer);

impl Caller for ThemeViewer {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let name = inbound.param("subdomain").unwrap_or_default();
        let header = inbound.header(PREVIEW_HEADER).map(str::to_owned);
        let (of, preview) = match header.or_else(|| inbound.query_param(PREVIEW_PARAMETER)) {
            None => (open_store(app, name).await?, None),
            Some(token) => {
                let keys = app.secrets.keys().await?;
                let of = any_store(app, name).await?;
                let now = app.clock.now();
                match Token::verify(&token, &keys.previews, &of.store.id, now) {
                    Ok(token) => (of, Some(token)),
                    // A storefront that is not open is none to whoever was not invited.
                    Err(refusal) => {
                        open_store(app, name).await?;
                        return Err(refusal.into());
                    }
                }
            }
        };
        let identity = visitor(&of.store.id, inbound);
        Ok(Self { of, preview, identity })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// Who looks.
#[request]
#[derive(Debug)]
pub(crate) struct PreviewQuery {
    /// The token of a preview session; or send it as `X-Service-Preview-Token`.
    #[expect(dead_code, reason = "the caller was judged by it")]
    preview_token: Option<Exact<512>>,
}

/// What invites a viewer: judged with the caller, and named here for who reads the document.
pub(crate) struct Invitation;

impl Argument for Invitation {
    const READS: Reads = Reads::QUERY;

    async fn judge(case: &mut Judgement<'_>) -> Result<(), Problem> {
        Query::<PreviewQuery>::judge(case).await
    }

    gateway::describes! { |operation| {
        operation.takes_query::<PreviewQuery>();
        let location = gateway::describe::ParameterLocation::Header;
        operation.takes::<String>(location, "X-Service-Preview-Token", false);
        operation.refuses(&[Code::ValidationFailed]);
    } }
}

impl<S: Sync> FromRequestParts<S> for Invitation {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self)
    }
}

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

impl ThemeViewer {
    fn store(&self) -> &Store {
        &self.of.store
    }

    /// What the store is shown in, to this viewer.
    ///
    /// # Errors
    /// `not_found`, before something was published; `preview_expired`.
    async fn shown(&self, app: &App) -> Result<Shown, Problem> {
        if let Some(token) = &self.preview {
            return PreviewSession::of(app, token).await.map(Shown::from);
        }
        let live = published::live(app, self.store()).await?;
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

/// `GET /v1/storefront/{subdomain}/theme`: what the storefront is shown in: settings, sections and the
/// files of the live release, or, for who has a preview's token, of the draft.
///
/// # Errors
/// `store_not_found`; `not_found`, before something was published; `invalid_or_expired_token`, also
/// for another store's; `preview_expired`.
pub(crate) async fn show(
    caller: ThemeViewer,
    State(app): State<App>,
    _: Invitation,
) -> Result<Json<StorefrontTheme>, Problem> {
    let shown = caller.shown(&app).await?;
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
    let answer = Json::new(&view);
    Ok(match caller.preview {
        Some(_) => answer.header(header::CACHE_CONTROL, PRIVATE),
        None => answer.cached(FRESH),
    })
}

/// Where the files of a storefront's theme are.
fn files_below(app: &App, shop: &Subdomain) -> String {
    format!("{}/v1/storefront/{shop}/theme/files", app.config.base_url)
}

/// The file that the path names by its digest.
pub(crate) struct FileDigest(Digest);

impl Argument for FileDigest {
    async fn judge(case: &mut Judgement<'_>) -> Result<(), Problem> {
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

/// `GET /v1/storefront/{subdomain}/theme/files/{sha256}`: the bytes of a file of the live release, of
/// one before it, or of a preview's draft. For whoever has them, and says so by `If-None-Match`, they are
/// not even read.
///
/// # Errors
/// `store_not_found`, `not_found`, `invalid_or_expired_token`, `preview_expired`.
pub(crate) async fn file(
    caller: ThemeViewer,
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
    let kept = if caller.preview.is_some() { PRIVATE } else { FOR_EVER };
    Ok(File::new(&stored.file.content_type, bytes).map(|answer| {
        answer
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, kept)
            .header(header::CONTENT_SECURITY_POLICY, NOTHING)
            .header(HeaderName::from_static("cross-origin-resource-policy"), "cross-origin")
    }))
}

/// The file, if the storefront shows it or has shown it lately.
async fn find(
    app: &App,
    caller: &ThemeViewer,
    digest: &Digest,
) -> Result<Option<StoredFile>, Problem> {
    if let Some(token) = &caller.preview {
        let session = PreviewSession::of(app, token).await?;
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
