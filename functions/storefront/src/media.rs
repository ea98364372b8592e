//! The images of a storefront.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use callers::anonymous_at;
use catalogue::blob::Blob;
use catalogue::media::Media;
use core_types::id::MediaId;
use core_types::key;
use gateway::app::App;
use gateway::caller::{Access, Caller, Identity};
use gateway::reply::{File, Ranged, Reply};
use gateway::request::{Argument, Inbound, Raw, Validation};
use http::request::Parts;
use http::{HeaderName, header};
use identity::store::Store;
use identity::storefront::{OpenStore, any_store};
use primitives::problem::{Code, Problem};
use services::Services;

/// An image's URL never changes its content, so it may be cached for a year (RFC 8246).
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// An image that is opened as a page runs and loads nothing.
const NOTHING: &str = "default-src 'none'; sandbox";

/// An anonymous caller at the images of the store that the path names. The store need not be open, so that
/// the merchant who sets it up sees them.
#[derive(Debug, Clone)]
pub(crate) struct ImageViewer {
    of: Arc<OpenStore>,
    identity: Identity,
}

gateway::caller_argument!(ImageViewer);

impl ImageViewer {
    fn store(&self) -> &Store {
        &self.of.store
    }
}

impl Caller for ImageViewer {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let of = any_store(services, inbound.param("subdomain").unwrap_or_default()).await?;
        let identity = anonymous_at(&of.store.id, inbound);
        Ok(Self { of, identity })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// The id of the requested image. The path names the store by its subdomain or its id.
pub(crate) struct ImageId(MediaId);

impl Argument for ImageId {
    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let id = validation.inbound.param("id").and_then(MediaId::parse).ok_or(Code::NotFound)?;
        validation.insert(Some(Self(id)));
        Ok(())
    }

    gateway::describes! { |operation| {
        operation.takes_in_path::<String>(0);
        operation.takes_in_path::<MediaId>(1);
    } }
}

impl<S: Sync> FromRequestParts<S> for ImageId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// `GET /v1/storefront/{subdomain}/media/{id}` (`downloadMedia`): Download an image.
///
/// With a matching `If-None-Match`, the bytes are not read.
///
/// # Errors
/// `storefront_not_found`, `not_found`.
pub(crate) async fn get(
    caller: ImageViewer,
    State(app): State<App>,
    Raw(inbound): Raw,
    ImageId(id): ImageId,
) -> Result<Ranged<File>, Problem> {
    let media: Option<Media> = app.table.get(&key::media(&caller.store().id, &id)).await?;
    let media = media.ok_or(Code::NotFound)?;
    let tag = format!("\"{}\"", media.sha256);
    // An exact single tag. For other forms of the header, the edge turns the response into a 304.
    let known = inbound.header("if-none-match") == Some(tag.as_str());
    let bytes = if known {
        Vec::new()
    } else {
        let bytes = Blob::read(&app, &media.sha256, &media.upload, media.chunks).await?;
        bytes.ok_or(Code::NotFound)?
    };
    let image = File::new(media.content_type.as_str(), bytes);
    Ok(Ranged::in_parts(image.map(|answer| {
        answer
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, FOR_EVER)
            .header(header::CONTENT_SECURITY_POLICY, NOTHING)
            .header(HeaderName::from_static("cross-origin-resource-policy"), "cross-origin")
    })))
}
