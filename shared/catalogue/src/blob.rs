//! Blobs: bytes addressed by their digest and stored once, in chunks that fit into items.
//!
//! **Stored once.** A blob's description is one item, created by its first upload; later uploads of the
//! same bytes raise its reference count. The chunks belong to the upload that created the description
//! and have its id in their keys. So the deletion of a blob and a new upload of the same bytes never
//! touch each other's chunks, and no transaction has to hold four megabytes.
//!
//! Blobs that are never deleted are [`pinned`].
//!
//! **After a crash.** There may be chunks without a description, to which nothing refers; they only
//! cost their storage. There is never a description without its chunks: these are written before it
//! and deleted after it.

pub mod pinned;

use std::sync::atomic::{AtomicBool, Ordering};

use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use sha2::{Digest, Sha256};
use table::item::{Item, Key, Octets};
use table::{Change, Condition, Write};

/// Bytes of one chunk (docs/data-model.md §1).
const CHUNK: usize = 350_000;
/// Chunks in one transaction, which stays below its limit of 4 MB.
const TOGETHER: usize = 8;

/// The description of stored bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "blob", key = key::blob(&self.sha256))]
pub struct Blob {
    /// SHA-256 of the bytes, in hex: their name.
    pub sha256: String,
    /// The upload that wrote the chunks.
    pub upload: String,
    /// The number of bytes.
    pub size: u64,
    /// The number of chunks.
    pub chunks: u32,
    /// The number of references to it.
    pub references: u64,
    /// Whether one of the references is never released ([`pinned`]).
    #[serde(default)]
    pub pinned: bool,
    /// When it was first uploaded.
    pub created_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "blob_chunk", key = key::blob_chunk(&self.sha256, &self.upload, self.number), octets)]
struct BlobChunk {
    sha256: String,
    upload: String,
    number: u32,
    bytes: Octets,
    version: u64,
}

/// An upload of bytes.
#[derive(Debug)]
pub struct BlobUpload {
    bytes: Vec<u8>,
    mine: Blob,
    /// Whether this upload's chunks are stored.
    written: AtomicBool,
    /// Whether another upload's chunks are referred to instead.
    superseded: AtomicBool,
}

impl BlobUpload {
    /// An upload of these bytes; nothing is written yet.
    pub fn new(bytes: Vec<u8>, now: Timestamp) -> Self {
        let digits = |byte: &u8| [byte >> 4, byte & 0xf];
        let sha256 = Sha256::digest(&bytes)
            .iter()
            .flat_map(digits)
            .filter_map(|digit| char::from_digit(u32::from(digit), 16))
            .collect();
        let mine = Blob {
            sha256,
            upload: primitives::id::mint("", now),
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            chunks: u32::try_from(bytes.len().div_ceil(CHUNK)).unwrap_or(u32::MAX),
            references: 1,
            pinned: false,
            created_at: now,
            version: 1,
        };
        Self { bytes, mine, written: AtomicBool::new(false), superseded: AtomicBool::new(false) }
    }

    /// Adds one reference to the transaction, and returns the blob to refer to. Writes the chunks first,
    /// if the bytes are not stored yet. After a lost race the transaction fails with `version_conflict`,
    /// and is to be repeated ([`table::retry`]).
    pub async fn refer(&self, services: &Services, write: Write) -> Result<(Write, Blob), Problem> {
        let found: Option<Blob> = services.table.get(&self.mine.key()).await?;
        if let Some(blob) = found {
            self.superseded.store(blob.upload != self.mine.upload, Ordering::Relaxed);
            let change = Change::new("SET #references = #references + :one")
                .only_if("upload = :upload")
                .name("#references", "references")
                .value(":one", 1)
                .value(":upload", &blob.upload);
            return Ok((write.update(&blob.key(), change, Code::VersionConflict), blob));
        }
        self.superseded.store(false, Ordering::Relaxed);
        if !self.written.load(Ordering::Relaxed) {
            self.write_chunks(services).await?;
            self.written.store(true, Ordering::Relaxed);
        }
        Ok((write.create(&self.mine, Code::VersionConflict), self.mine.clone()))
    }

    async fn write_chunks(&self, services: &Services) -> Result<(), Problem> {
        let chunks: Vec<(u32, &[u8])> = (0..).zip(self.bytes.chunks(CHUNK)).collect();
        for together in chunks.chunks(TOGETHER) {
            let write = together.iter().fold(services.table.write(), |write, (number, bytes)| {
                write.put(&BlobChunk {
                    sha256: self.mine.sha256.clone(),
                    upload: self.mine.upload.clone(),
                    number: *number,
                    bytes: Octets(bytes.to_vec()),
                    version: 1,
                })
            });
            write.commit().await?;
        }
        Ok(())
    }

    /// Deletes this upload's chunks, if another upload of the same bytes was first.
    pub async fn delete_superseded(&self, services: &Services) {
        if self.written.load(Ordering::Relaxed) && self.superseded.load(Ordering::Relaxed) {
            erase(services, &self.mine).await;
        }
    }
}

impl Blob {
    /// Loads the bytes; none when they were deleted meanwhile.
    pub async fn read(
        services: &Services,
        sha256: &str,
        upload: &str,
        chunks: u32,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let keys: Vec<Key> = (0..chunks).map(|n| key::blob_chunk(sha256, upload, n)).collect();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let mut bytes = Vec::new();
        for key in &keys {
            let Some(chunk) = batch.take::<BlobChunk>(key)? else { return Ok(None) };
            bytes.extend(chunk.bytes.0);
        }
        Ok(Some(bytes))
    }

    /// Adds the release of one reference to the transaction; with the last one, the deletion of the
    /// description. After the transaction is committed, [`Blob::erase_unused`] deletes the chunks.
    pub fn release(&self, write: Write) -> Write {
        if self.references <= 1 {
            let last = Condition::new("upload = :upload AND #references = :one")
                .name("#references", "references")
                .value(":upload", &self.upload)
                .value(":one", 1);
            return write.delete_if(&self.key(), last, Code::VersionConflict);
        }
        let change = Change::new("SET #references = #references - :one")
            .only_if("upload = :upload AND #references > :one")
            .name("#references", "references")
            .value(":upload", &self.upload)
            .value(":one", 1);
        write.update(&self.key(), change, Code::VersionConflict)
    }

    /// Deletes the chunks of a blob whose last reference was released.
    pub async fn erase_unused(&self, services: &Services) {
        if self.references <= 1 {
            erase(services, self).await;
        }
    }
}

/// Deletes chunks that nothing refers to. A failure is logged, and only costs their storage.
async fn erase(services: &Services, blob: &Blob) {
    let write = (0..blob.chunks).fold(services.table.write(), |write, number| {
        write.delete(&key::blob_chunk(&blob.sha256, &blob.upload, number))
    });
    if let Err(problem) = write.commit().await {
        tracing::warn!(
            cause = %problem, sha256 = blob.sha256,
            "chunks of an unused blob not deleted"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_addressed_by_their_digest_and_split_into_chunks() {
        let now = Timestamp::from_millis(0);
        let deposit = BlobUpload::new(b"abc".to_vec(), now);
        assert!(deposit.mine.sha256.starts_with("ba7816bf"));
        assert_eq!((deposit.mine.size, deposit.mine.chunks), (3, 1));
        assert_eq!(BlobUpload::new(vec![0; 4 << 20], now).mine.chunks, 12);
        assert_eq!(BlobUpload::new(vec![0; CHUNK], now).mine.chunks, 1);
        assert_eq!(BlobUpload::new(vec![0; CHUNK + 1], now).mine.chunks, 2);
    }
}
