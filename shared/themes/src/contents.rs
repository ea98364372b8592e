//! The stored contents of a theme's version: a document that names each file by its digest.
//!
//! Files and documents are pinned blobs (`catalogue::blob::pinned`): deduplicated by content, and
//! immutable. So releases, previews and installations store the document's reference alone, and a process
//! can cache a document.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use catalogue::blob::pinned::{self, BlobRef};
use primitives::clock::MINUTE;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;

use crate::file::{Digest, FileRef};
use crate::manifest::Manifest;
use crate::package::Package;
use crate::schema::Schema;

/// The time for which a process caches a document (our choice). It never changes, but takes memory.
const CACHED_FOR: Duration = MINUTE.saturating_mul(5);
/// The maximum size of a cached document, in bytes (our choice): the schema of a large theme has some 300 KB.
const MAX_CACHED: u64 = 1 << 20;

/// A file and the reference to its stored bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its path, digest, size and content type.
    #[serde(flatten)]
    pub file: FileRef,
    /// The upload whose chunks hold its bytes.
    upload: String,
    /// The number of chunks.
    chunks: u32,
}

impl StoredFile {
    /// The reference to its stored bytes.
    pub fn blob(&self) -> BlobRef {
        BlobRef {
            sha256: self.file.sha256.to_string(),
            upload: self.upload.clone(),
            chunks: self.chunks,
            size: self.file.size,
        }
    }
}

/// The contents of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contents {
    /// The manifest, from `theme.json`.
    pub manifest: Manifest,
    /// The schema of its settings.
    pub schema: Schema,
    /// Its files, by path.
    pub files: Vec<StoredFile>,
}

impl Contents {
    /// Stores a package: its files, then this document. A repetition writes nothing.
    ///
    /// # Errors
    /// 503.
    pub async fn store(services: &Services, package: &Package) -> Result<BlobRef, Problem> {
        let named = |file: &crate::file::File| (file.sha256.to_string(), file.bytes.clone());
        let bytes: BTreeMap<String, Bytes> = package.files.iter().map(named).collect();
        let blobs = pinned::pin(services, &bytes).await?;
        let stored = |file: &crate::file::File| {
            let place = blobs.get(&file.sha256.to_string())?;
            let (upload, chunks) = (place.upload.clone(), place.chunks);
            Some(StoredFile { file: file.reference(), upload, chunks })
        };
        let document = Self {
            manifest: package.manifest.clone(),
            schema: package.schema.clone(),
            files: package.files.iter().filter_map(stored).collect(),
        };
        let text = Bytes::from(serde_json::to_vec(&document).map_err(Problem::internal)?);
        let name = Digest::of(&text).to_string();
        let mut references = pinned::pin(services, &BTreeMap::from([(name.clone(), text)])).await?;
        references
            .remove(&name)
            .ok_or_else(|| Problem::internal("the contents document of a theme was not stored"))
    }

    /// Loads a document by its reference.
    ///
    /// # Errors
    /// 503.
    pub async fn load(services: &Services, place: &BlobRef) -> Result<Arc<Self>, Problem> {
        if let Some(known) = services.cache.get::<Self>(&place.sha256, services.clock.now()) {
            return Ok(known);
        }
        let bytes = pinned::read(services, &[place]).await?;
        let text = bytes.first().ok_or_else(|| {
            Problem::internal(format!("the contents {} have no bytes", place.sha256))
        })?;
        let found: Arc<Self> = Arc::new(serde_json::from_slice(text).map_err(Problem::internal)?);
        if place.size <= MAX_CACHED {
            services.cache.insert(
                &place.sha256,
                Arc::clone(&found),
                services.clock.now(),
                CACHED_FOR,
            );
        }
        Ok(found)
    }

    /// The paths and digests of its files.
    pub fn file_digests(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.files.iter().map(|stored| (stored.file.path.as_str(), &stored.file.sha256))
    }

    /// The first file with this digest.
    pub fn by_digest(&self, digest: &Digest) -> Option<&StoredFile> {
        self.files.iter().find(|stored| stored.file.sha256 == *digest)
    }

    /// The file at this path.
    pub fn at(&self, path: &str) -> Option<&StoredFile> {
        self.files.iter().find(|stored| stored.file.path == path)
    }

    /// Reads the bytes of several files, in the order requested: one round trip for each hundred chunks.
    ///
    /// # Errors
    /// 503.
    pub async fn read(services: &Services, files: &[&StoredFile]) -> Result<Vec<Bytes>, Problem> {
        let blobs: Vec<BlobRef> = files.iter().map(|stored| stored.blob()).collect();
        pinned::read(services, &blobs.iter().collect::<Vec<_>>()).await
    }
}
