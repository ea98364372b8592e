//! Media: the images that a store shows.
//!
//! The bytes are a [`Blob`], shared by everybody who uploaded the same; what a store knows of an
//! image is its own. Who shows an image holds it ([`image::hold`]), so that it is not deleted
//! under them.

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::fields::Subdomain;
use core_types::id::{MediaId, StoreId};
use core_types::image;
use core_types::key;
use core_types::sample_id;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::{Condition, Write};

use crate::blob::Blob;

core_types::topics! {
    MEDIA_CREATED = "media.created", "media", Some("read_media"), MediaView,
        "An image was uploaded.";
    MEDIA_DELETED = "media.deleted", "media", Some("read_media"), MediaView,
        "An image was deleted.";
}

/// Bytes of one image (docs/conventions.md §1).
pub const MAX_BYTES: usize = primitives::size::LARGE_BODY_LIMIT;
/// The attributes that other writes count in.
const COUNTED: &[&str] = &["uses"];

primitives::string_enum! {
    /// What an image is encoded as. SVG is none of them: it can run scripts.
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
    /// What the bytes are, by their first ones; what a client says about them is not asked.
    ///
    /// # Errors
    /// `media_type_refused`.
    pub fn of(bytes: &[u8]) -> Result<Self, Problem> {
        let found = infer::get(bytes).map(|kind| kind.mime_type());
        let known = Self::ALL.iter().find(|kind| found == Some(kind.as_str()));
        known.copied().ok_or_else(|| Code::MediaTypeRejected.into())
    }
}

/// An image of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Part of the key.
    pub id: MediaId,
    /// Part of the key.
    pub store_id: StoreId,
    /// What it is encoded as.
    pub content_type: MediaType,
    /// How many bytes.
    pub size: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// The upload whose chunks hold the bytes.
    pub upload: String,
    /// How many chunks.
    pub chunks: u32,
    /// What it shows, for who cannot see it.
    pub alt: Option<String>,
    /// Where it was fetched from.
    pub source_url: Option<String>,
    /// How many things show it.
    #[serde(default)]
    pub uses: u64,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Media {
    const KIND: &'static str = "media";
    fn key(&self) -> Key {
        key::media(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// What is said about an image when it is uploaded.
#[derive(Debug, Clone, Default)]
pub struct Caption {
    /// What it shows, for who cannot see it.
    pub alt: Option<String>,
    /// Where it was fetched from.
    pub source_url: Option<String>,
}

impl Media {
    /// A new image.
    pub fn upload(
        store: &StoreId,
        kind: MediaType,
        blob: &Blob,
        caption: Caption,
        now: Timestamp,
    ) -> Self {
        Self {
            id: MediaId::mint(now),
            store_id: store.clone(),
            content_type: kind,
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

    /// The image at its next version, with this text.
    #[must_use]
    pub fn described(&self, alt: Option<String>, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { alt, updated_at: now, version, ..self.clone() }
    }

    /// What an event about the image says it is about.
    pub fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }

    /// Where everybody finds it.
    pub fn url(&self, base_url: &str, subdomain: &Subdomain) -> String {
        image::url(&self.id, base_url, subdomain)
    }
}

/// Writes a changed image, without what others count in it.
pub fn replace(write: Write, media: &Media) -> Write {
    write.replace_except(media, COUNTED, Condition::default(), Code::VersionConflict)
}

/// Deletes an image that nothing shows. Ends in `version_conflict` when something does by now, or
/// when it is gone.
pub fn delete(write: Write, media: &Media) -> Write {
    let unused = Condition::new("uses = :none").value(":none", 0);
    write.delete_if(&media.key(), unused, Code::VersionConflict)
}

/// An image as the store and its apps see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MediaView {
    /// The id.
    pub id: MediaId,
    /// Where everybody finds it; what is there never changes.
    pub url: String,
    /// What it is encoded as.
    pub content_type: MediaType,
    /// How many bytes.
    pub size: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// What it shows, for who cannot see it.
    pub alt: Option<String>,
    /// Where it was fetched from.
    pub source_url: Option<String>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl MediaView {
    /// An image of the store of this subdomain.
    pub fn of(media: &Media, base_url: &str, subdomain: &Subdomain) -> Self {
        Self {
            id: media.id.clone(),
            url: media.url(base_url, subdomain),
            content_type: media.content_type,
            size: media.size,
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
    fn an_image_is_what_its_bytes_say() {
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
