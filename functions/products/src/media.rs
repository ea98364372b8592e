//! Handlers that upload, list, describe and delete the images of a store.

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use bytes::Bytes;
use callers::StoreAccess;
use catalogue::blob::{Blob, BlobUpload};
use catalogue::media::{
    self, Caption, FetchError, ImageHeader, MAX_BYTES, MEDIA_CREATED, MEDIA_DELETED, Media,
    MediaType, MediaView,
};
use core_types::event::Event;
use core_types::id::{MediaId, StoreId};
use core_types::key;
use core_types::resource;
use core_types::scope::{ReadMedia, WriteMedia};
use egress::{DestinationRejection, SendError};
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{
    Argument, Body, IfMatch, Path, Query, Raw, Reads, RequestRules, Ruled, Validation,
};
use http::request::Parts;
use identity::store::Store;
use primitives::fields::{Exact, Patch, Text};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::Item;
use table::retry;

/// Maximum time to fetch an image.
const FETCH_LIMIT: Duration = Duration::from_secs(10);

fn view(services: &Services, store: &Store, media: &Media) -> MediaView {
    MediaView::of(media, &services.config.base_url, &store.subdomain)
}

/// Filters of a list of images.
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only images of this media type.
    content_type: Option<MediaType>,
}

/// `GET /v1/media` (`listMedia`): List images of a store.
///
/// Images come newest first. Each entry has the public URL of the image.
pub(crate) async fn list(
    access: StoreAccess<ReadMedia>,
    State(app): State<App>,
    Query(filter): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<MediaView>, Problem> {
    let store = &access.store;
    let query = table::Query::partition(store.key().pk).begins_with(key::MEDIA).newest_first();
    let wanted =
        |media: &Media| filter.content_type.is_none_or(|wanted| media.content_type == wanted);
    paging.query(&app, &query, wanted, |media| view(&app, store, &media)).await
}

/// The details of an image whose bytes are the body.
#[request]
#[derive(Debug)]
pub(crate) struct UploadQuery {
    /// Alternative text, when the body is the image. At most 500 characters.
    alt: Option<Text<1, 500>>,
}

/// An image to fetch.
#[request]
#[derive(Debug)]
pub(crate) struct FetchRequest {
    /// The public HTTPS URL of the image, at most 2,048 characters. Redirects are not followed.
    source_url: Exact<2048>,
    /// Alternative text, at most 500 characters.
    alt: Option<Text<1, 500>>,
}

impl RequestRules for FetchRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let Some(url) = given.get::<Exact<2048>>("source_url") else { return Vec::new() };
        let rejection = validation.app.egress.check(url.as_str()).await.err();
        let violation = |rejection: DestinationRejection| {
            FieldError::new("/source_url", rejection.code(), rejection.to_string())
        };
        rejection.map(violation).into_iter().collect()
    }
}

/// The source of an uploaded image.
pub(crate) enum Upload {
    /// The body is the image.
    Bytes,
    /// The body names a URL to fetch the image from.
    Source(FetchRequest),
}

impl Argument for Upload {
    const READS: Reads = Reads::BODY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        match validation.inbound.media_type().as_str() {
            "application/json" => Ruled::<Body<FetchRequest>>::validate(validation).await,
            kind if kind.is_empty()
                || kind == "application/octet-stream"
                || kind.starts_with("image/") =>
            {
                Ok(())
            }
            _ => {
                let detail = "Send the image's bytes, or `application/json` with its `source_url`.";
                Err(Code::UnsupportedMediaType.detail(detail))
            }
        }
    }

    gateway::describes! { |operation| {
        operation.takes_bytes("image/*");
        operation.takes_bytes("application/octet-stream");
        operation.takes_body::<FetchRequest>("application/json");
        operation.rejects(&[Code::UnsupportedMediaType]);
    } }
}

impl<S: Sync> FromRequestParts<S> for Upload {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        if inbound.media_type() != "application/json" {
            return Ok(Self::Bytes);
        }
        let Body(input) = Body::from_request_parts(parts, state).await?;
        Ok(Self::Source(input))
    }
}

/// `POST /v1/media` (`createMedia`): Upload an image.
///
/// The body is the image itself, or a JSON object with a `source_url` to fetch it from. An image has at most
/// 4 MiB, and is a PNG, JPEG, WebP, GIF or AVIF. The type is detected from the bytes, not from
/// `Content-Type`. A fetch takes at most 10 seconds. The event is `media.created`.
///
/// # Errors
/// `media_type_rejected`, `body_too_large`, `unsupported_media_type`, `source_unreachable`.
pub(crate) async fn create(
    access: StoreAccess<WriteMedia>,
    State(app): State<App>,
    Raw(inbound): Raw,
    upload: Upload,
    Query(details): Query<UploadQuery>,
) -> Result<Created<MediaView>, Problem> {
    let (bytes, caption) = match upload {
        Upload::Source(input) => fetched(&app, input).await?,
        Upload::Bytes => {
            let alt = details.alt.map(String::from);
            (inbound.body.clone(), Caption { alt, source_url: None })
        }
    };
    let header = ImageHeader::read(&bytes)?;
    let deposit = BlobUpload::new(bytes.to_vec(), app.clock.now());
    let store = &access.store;
    let answer = retry(|| async {
        let (write, blob) = deposit.refer(&app, app.table.write()).await?;
        let now = app.clock.now();
        let media = Media::upload(&store.id, header, &blob, caption.clone(), now);
        let view = view(&app, store, &media);
        write
            .create(&media, Code::VersionConflict)
            .emit(Event::new(&MEDIA_CREATED, media.event_subject(), &view, now))
            .answer(Created::new(&view).version(media.version), now)
            .await
    })
    .await;
    deposit.delete_superseded(&app).await;
    answer
}

/// Fetches the image from `source_url`.
async fn fetched(services: &Services, input: FetchRequest) -> Result<(Bytes, Caption), Problem> {
    let source_url = input.source_url.as_str().to_owned();
    let fetched = media::fetch(services, &source_url, FETCH_LIMIT).await;
    let bytes = fetched.map_err(|error| match error {
        FetchError::Send(SendError::Blocked(rejection)) => {
            Problem::field("/source_url", rejection.code(), rejection.to_string())
        }
        FetchError::TooLarge => Code::BodyTooLarge.with("limit", MAX_BYTES),
        error => Code::SourceUnreachable.detail(error.to_string()),
    })?;
    let caption = Caption { alt: input.alt.map(String::from), source_url: Some(source_url) };
    Ok((bytes, caption))
}

async fn find(services: &Services, store: &StoreId, id: &MediaId) -> Result<Media, Problem> {
    resource::load(services, &key::media(store, id)).await
}

/// `GET /v1/media/{id}` (`getMedia`): Get an image's details.
///
/// The response has the image's size, media type, alternative text and public URL.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    access: StoreAccess<ReadMedia>,
    State(app): State<App>,
    Path(id): Path<MediaId>,
) -> Result<Json<MediaView>, Problem> {
    let media = find(&app, &access.store.id, &id).await?;
    Ok(Json::new(&view(&app, &access.store, &media)).version(media.version))
}

/// Details of an image to update.
#[request]
#[derive(Debug)]
pub(crate) struct UpdateRequest {
    /// Alternative text, at most 500 characters. `null` removes it.
    alt: Patch<Text<1, 500>>,
}

/// `PATCH /v1/media/{id}` (`updateMedia`): Update an image's details.
///
/// Only the alternative text can be updated. To replace the image itself, upload a new one. No event is sent.
///
/// # Errors
/// `not_found`, `precondition_failed`, `version_conflict`.
pub(crate) async fn update(
    access: StoreAccess<WriteMedia>,
    State(app): State<App>,
    Path(id): Path<MediaId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<MediaView>, Problem> {
    let store = &access.store;
    let media = find(&app, &store.id, &id).await?;
    if_match.check(media.version)?;
    let to_response = |media: &Media| Json::new(&view(&app, store, media)).version(media.version);
    let mut alt = media.alt.clone();
    input.alt.apply(&mut alt);
    if alt == media.alt {
        return Ok(to_response(&media));
    }
    let now = app.clock.now();
    let next = media.described(alt, now);
    media::replace(app.table.write(), &next).answer(to_response(&next), now).await
}

/// `DELETE /v1/media/{id}` (`deleteMedia`): Delete an image.
///
/// Only an image that is not in use can be deleted. Remove it from products and from the store's branding
/// first. The event is `media.deleted`.
///
/// # Errors
/// `not_found`, `precondition_failed`; `media_in_use` with the number of `uses`.
pub(crate) async fn delete(
    access: StoreAccess<WriteMedia>,
    State(app): State<App>,
    Path(id): Path<MediaId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let store = &access.store;
    let (answer, released) = retry(|| async {
        let media = find(&app, &store.id, &id).await?;
        if_match.check(media.version)?;
        if media.uses > 0 {
            return Err(Code::MediaInUse.with("uses", media.uses));
        }
        let blob: Option<Blob> = app.table.get(&key::blob(&media.sha256)).await?;
        let blob = blob
            .ok_or_else(|| Problem::internal(format!("the blob of the image {id} is missing")))?;
        let now = app.clock.now();
        let event =
            Event::new(&MEDIA_DELETED, media.event_subject(), &view(&app, store, &media), now);
        let write = media::delete(app.table.write(), &media);
        let answer = blob.release(write).emit(event).answer(NoContent::default(), now).await?;
        Ok((answer, blob))
    })
    .await?;
    released.erase_unused(&app).await;
    Ok(answer)
}
