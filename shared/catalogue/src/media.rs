//! Media: the images of a store.
//!
//! The bytes are a [`Blob`], shared by all stores that uploaded the same; the other data of an image are
//! the store's own. Items that use an image take a reference to it ([`image::hold`]), so that it is not
//! deleted while it is in use.

mod fetch;
mod header;

use core_types::event::{EXAMPLE_TIME, Event, EventSubject, Example};
use core_types::fields::Subdomain;
use core_types::id::{MediaId, StoreId};
use core_types::image;
use core_types::key;
use core_types::sample_id;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;
use table::{Condition, Write, retry};

use crate::blob::{Blob, BlobUpload};
use identity::store::Store;
use services::Services;

pub use fetch::{FetchError, fetch};
pub use header::ImageHeader;

core_types::topics! {
    MEDIA_CREATED = "media.created", "media", Some("read_media"), MediaView,
        "An image was uploaded.";
    MEDIA_DELETED = "media.deleted", "media", Some("read_media"), MediaView,
        "An image was deleted.";
}

/// The most bytes of one image (docs/conventions.md §1).
pub const MAX_BYTES: usize = primitives::size::LARGE_BODY_LIMIT;
/// The attributes that writes of other items count.
const COUNTED: &[&str] = &["uses"];

primitives::string_enum! {
    /// The media type of an image. SVG is not accepted, because it can run scripts.
    MediaType {
        /// PNG.
        Png = "image/png",
        /// JPEG.
        Jpeg = "image/jpeg",
        /// WebP.
        Webp = "image/webp",
        /// GIF.
        Gif = "image/gif",
        /// AVIF.
        Avif = "image/avif",
    }
}

impl MediaType {
    /// The media type of these bytes, by their signature; the client's `Content-Type` is ignored.
    ///
    /// # Errors
    /// `media_type_rejected`.
    pub fn of(bytes: &[u8]) -> Result<Self, Problem> {
        let found = infer::get(bytes).map(|kind| kind.mime_type());
        let known = Self::ALL.iter().find(|kind| found == Some(kind.as_str()));
        known.copied().ok_or_else(|| Code::MediaTypeRejected.into())
    }
}

/// An image of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "media", key = key::media(&self.store_id, &self.id))]
pub struct Media {
    /// Part of the key.
    pub id: MediaId,
    /// Part of the key.
    pub store_id: StoreId,
    /// The media type.
    pub content_type: MediaType,
    /// The number of bytes.
    pub size: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// The upload that wrote the blob's chunks.
    pub upload: String,
    /// The number of chunks.
    pub chunks: u32,
    /// The width in pixels; none if the file does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The height in pixels; none if the file does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The alternative text.
    pub alt: Option<String>,
    /// The address from which it was fetched; null if it was uploaded.
    pub source_url: Option<String>,
    /// The number of items that use it.
    #[serde(default)]
    pub uses: u64,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// The description of an uploaded image.
#[derive(Debug, Clone, Default)]
pub struct Caption {
    /// The alternative text.
    pub alt: Option<String>,
    /// The address from which it was fetched; null if it was uploaded.
    pub source_url: Option<String>,
}

impl Media {
    /// A new image.
    pub fn upload(
        store: &StoreId,
        header: ImageHeader,
        blob: &Blob,
        caption: Caption,
        now: Timestamp,
    ) -> Self {
        Self {
            id: MediaId::mint(now),
            store_id: store.clone(),
            content_type: header.kind,
            width: header.size.map(|(width, _)| width),
            height: header.size.map(|(_, height)| height),
            size: blob.size,
            sha256: blob.sha256.clone(),
            upload: blob.upload.clone(),
            chunks: blob.chunks,
            alt: caption.alt,
            source_url: caption.source_url,
            uses: 0,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The image at its next version, with this alternative text.
    #[must_use]
    pub fn described(&self, alt: Option<String>, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { alt, updated_at: now, version, ..self.clone() }
    }

    /// The subject of its events.
    pub fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }

    /// Its public address.
    pub fn url(&self, base_url: &str, subdomain: &Subdomain) -> String {
        image::url(&self.id, base_url, subdomain)
    }
}

/// Stores an image of this id, once: a repetition returns the stored one.
///
/// # Errors
/// `media_type_rejected`; 503.
pub async fn create(
    services: &Services,
    store: &Store,
    (id, bytes, caption): (MediaId, Vec<u8>, Caption),
) -> Result<Media, Problem> {
    let header = ImageHeader::read(&bytes)?;
    let deposit = BlobUpload::new(bytes, services.clock.now());
    let (id, caption, deposit) = (&id, &caption, &deposit);
    let made = retry(|| async move {
        if let Some(known) = services.table.get::<Media>(&key::media(&store.id, id)).await? {
            return Ok(known);
        }
        let (write, blob) = deposit.refer(services, services.table.write()).await?;
        let now = services.clock.now();
        let made = Media::upload(&store.id, header, &blob, caption.clone(), now);
        let made = Media { id: id.clone(), ..made };
        let view = MediaView::of(&made, &services.config.base_url, &store.subdomain);
        write
            .create(&made, Code::VersionConflict)
            .emit(Event::new(&MEDIA_CREATED, made.event_subject(), &view, now))
            .commit()
            .await?;
        Ok(made)
    })
    .await;
    deposit.delete_superseded(services).await;
    made
}

/// Adds a changed image to a transaction, without its counted attributes.
pub fn replace(write: Write, media: &Media) -> Write {
    write.replace_except(media, COUNTED, Condition::default(), Code::VersionConflict)
}

/// Adds the deletion of an unused image to a transaction. It fails with `version_conflict` if the image is
/// in use, or was deleted already.
pub fn delete(write: Write, media: &Media) -> Write {
    let unused = Condition::new("uses = :none").value(":none", 0);
    write.delete_if(&media.key(), unused, Code::VersionConflict)
}

/// An image of a store.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MediaView {
    /// The id.
    pub id: MediaId,
    /// Its public address; the bytes there never change.
    pub url: String,
    /// The media type.
    pub content_type: MediaType,
    /// The number of bytes.
    pub size: u64,
    /// The width in pixels; null if the file does not tell it.
    pub width: Option<u32>,
    /// The height in pixels; null if the file does not tell it.
    pub height: Option<u32>,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// The alternative text.
    pub alt: Option<String>,
    /// The address from which it was fetched; null if it was uploaded.
    pub source_url: Option<String>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version, for `If-Match`.
    pub version: u64,
}

impl MediaView {
    /// The response for an image of the store with this subdomain.
    pub fn of(media: &Media, base_url: &str, subdomain: &Subdomain) -> Self {
        Self {
            id: media.id.clone(),
            url: media.url(base_url, subdomain),
            content_type: media.content_type,
            size: media.size,
            width: media.width,
            height: media.height,
            sha256: media.sha256.clone(),
            alt: media.alt.clone(),
            source_url: media.source_url.clone(),
            created_at: media.created_at,
            updated_at: media.updated_at,
            version: media.version,
        }
    }
}

impl Example for MediaView {
    fn example() -> Self {
        let id = sample_id!(MediaId);
        Self {
            url: format!("https://api.example.com/v1/storefront/blue-bottle/media/{id}"),
            id,
            content_type: MediaType::Png,
            size: 48_213,
            width: Some(1_200),
            height: Some(800),
            sha256: crypto::seal::digest("example"),
            alt: Some("A blue bottle on a shelf".into()),
            source_url: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_is_determined_by_the_bytes() {
        use MediaType::{Avif, Gif, Jpeg, Png, Webp};
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        let jpeg = b"\xff\xd8\xff\xe0\0\x10JFIF";
        let gif = b"GIF89a\x01\0\x01\0";
        let webp = b"RIFF\x24\0\0\0WEBPVP8 ";
        let avif = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf";
        let kinds = [&png[..], jpeg, gif, webp, avif].map(|bytes| MediaType::of(bytes).unwrap());
        assert_eq!(kinds, [Png, Jpeg, Gif, Webp, Avif]);
        for other in [&b""[..], b"<svg/>", b"<html>", b"%PDF-1.7", b"\x89PN", b"PK\x03\x04"] {
            assert_eq!(MediaType::of(other).unwrap_err().code, Code::MediaTypeRejected);
        }
    }
}
