//! What a version of a theme is made of, as it is kept: a document that names each file by its digest.
//!
//! Files and document are pinned blobs (`catalogue::blob::pinned`): stored once, whoever uploads them,
//! and never changed. So a release, a preview and an installation hold the document's place alone, and
//! a process that has read it need not read it again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use catalogue::blob::pinned::{self, BlobRef};
use gateway::app::App;
use primitives::clock::MINUTE;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::file::{Digest, FileRef};
use crate::manifest::Manifest;
use crate::package::Package;
use crate::schema::Schema;

/// How long a process remembers a document (our choice): it never changes, but takes memory.
const REMEMBERED: Duration = MINUTE.saturating_mul(5);
/// Bytes of a document that is remembered, at most (our choice).
const MOST_REMEMBERED: u64 = 128 * 1024;

/// A file, and where its bytes lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFile {
    /// What it is called, and what it is.
    #[serde(flatten)]
    pub file: FileRef,
    /// The upload whose chunks hold its bytes.
    upload: String,
    /// How many chunks.
    chunks: u32,
}

impl StoredFile {
    /// Where its bytes lie.
    pub fn place(&self) -> BlobRef {
        BlobRef {
            sha256: self.file.sha256.to_string(),
            upload: self.upload.clone(),
            chunks: self.chunks,
            size: self.file.size,
        }
    }
}

/// Everything of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contents {
    /// What `theme.json` says.
    pub manifest: Manifest,
    /// What can be set.
    pub schema: Schema,
    /// Its files, by path.
    pub files: Vec<StoredFile>,
}

impl Contents {
    /// Keeps a package: its files, then this document. Done again, it writes nothing.
    ///
    /// # Errors
    /// 503.
    pub async fn keep(app: &App, package: &Package) -> Result<BlobRef, Problem> {
        let named = |file: &crate::file::File| (file.sha256.to_string(), file.bytes.clone());
        let bytes: BTreeMap<String, Bytes> = package.files.iter().map(named).collect();
        let places = pinned::pin(app, &bytes).await?;
        let stored = |file: &crate::file::File| {
            let place = places.get(&file.sha256.to_string())?;
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
        let mut kept = pinned::pin(app, &BTreeMap::from([(name.clone(), text)])).await?;
        kept.remove(&name).ok_or_else(|| Problem::internal("a document was not kept"))
    }

    /// The document that lies here.
    ///
    /// # Errors
    /// 503.
    pub async fn load(app: &App, place: &BlobRef) -> Result<Arc<Self>, Problem> {
        if let Some(known) = app.cache.get::<Self>(&place.sha256, app.clock.now()) {
            return Ok(known);
        }
        let bytes = pinned::read(app, &[place]).await?;
        let text = bytes.first().ok_or_else(|| Problem::internal("a document without bytes"))?;
        let found: Arc<Self> = Arc::new(serde_json::from_slice(text).map_err(Problem::internal)?);
        if place.size <= MOST_REMEMBERED {
            app.cache.keep(&place.sha256, Arc::clone(&found), app.clock.now(), REMEMBERED);
        }
        Ok(found)
    }

    /// Its files as a manifest names them.
    pub fn manifest_of_files(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.files.iter().map(|stored| (stored.file.path.as_str(), &stored.file.sha256))
    }

    /// A file of this digest.
    pub fn by_digest(&self, digest: &Digest) -> Option<&StoredFile> {
        self.files.iter().find(|stored| stored.file.sha256 == *digest)
    }

    /// The file at this path.
    pub fn at(&self, path: &str) -> Option<&StoredFile> {
        self.files.iter().find(|stored| stored.file.path == path)
    }

    /// The bytes of several files, in one round trip for each hundred chunks, in the order asked for.
    ///
    /// # Errors
    /// 503.
    pub async fn read(app: &App, files: &[&StoredFile]) -> Result<Vec<Bytes>, Problem> {
        let places: Vec<BlobRef> = files.iter().map(|stored| stored.place()).collect();
        pinned::read(app, &places.iter().collect::<Vec<_>>()).await
    }
}
