//! Pinned blobs: the files of theme releases, which never change and are never deleted.
//!
//! Pinning takes a reference that is never released. So a pinned blob is read by its [`BlobRef`] alone,
//! without its description.
//!
//! **Idempotent.** Pinning the same bytes again writes nothing. Small blobs share a transaction, each
//! description with its chunks. The chunks of a blob larger than a transaction are written before its
//! description, as those of a [`super::BlobUpload`] are.

use std::collections::BTreeMap;

use bytes::Bytes;
use core_types::key;
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Change, ReadConsistency, Write, retry_eventual_first};

use super::{Blob, BlobChunk, CHUNK, Octets, TOGETHER};

/// Bytes of one transaction, below its limit of 4 MB with names and keys.
const TRANSACTION: usize = 3_000_000;
/// Actions of one transaction, below its limit of 100.
const ACTIONS: usize = 90;
/// Keys of one batch.
const BATCH: usize = 100;
/// Concurrent transactions (our choice).
const SIDE_BY_SIDE: usize = 4;

/// A reference to pinned bytes, sufficient to read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// The upload that wrote the chunks.
    pub upload: String,
    /// The number of chunks.
    pub chunks: u32,
    /// The number of bytes.
    pub size: u64,
}

impl From<&Blob> for BlobRef {
    fn from(blob: &Blob) -> Self {
        Self {
            sha256: blob.sha256.clone(),
            upload: blob.upload.clone(),
            chunks: blob.chunks,
            size: blob.size,
        }
    }
}

/// Stores files for good, given by their SHA-256 in hex, and returns a reference to each.
///
/// # Errors
/// 503.
pub async fn pin(
    services: &Services,
    files: &BTreeMap<String, Bytes>,
) -> Result<BTreeMap<String, BlobRef>, Problem> {
    let upload = primitives::id::mint("", services.clock.now());
    // A pinned blob stays, so an eventually consistent read that finds it suffices. If it misses one,
    // the write fails and is repeated over a strongly consistent read.
    let upload = &upload;
    retry_eventual_first(|consistency| pin_once(services, files, upload, consistency)).await
}

async fn pin_once(
    services: &Services,
    files: &BTreeMap<String, Bytes>,
    upload: &str,
    consistency: ReadConsistency,
) -> Result<BTreeMap<String, BlobRef>, Problem> {
    let now = services.clock.now();
    let known = descriptions(services, files.keys(), consistency).await?;
    let mut places: BTreeMap<String, BlobRef> =
        known.iter().map(|(name, blob)| (name.clone(), BlobRef::from(blob))).collect();
    let mut batches = Batches::new(services);
    for blob in known.values().filter(|blob| !blob.pinned) {
        batches.add(1, 0, |write| add_permanent_reference(write, blob));
    }
    for (name, bytes) in files.iter().filter(|(name, _)| !known.contains_key(*name)) {
        let blob = describe(name, bytes, upload, now);
        let chunks = chunks(&blob, bytes);
        places.insert(name.clone(), BlobRef::from(&blob));
        if bytes.len() > TRANSACTION {
            for together in chunks.chunks(TOGETHER) {
                let write = together.iter().fold(services.table.write(), Write::put);
                write.commit().await?;
            }
            batches.add(1, 0, |write| write.create(&blob, Code::VersionConflict));
        } else {
            batches.add(chunks.len().saturating_add(1), bytes.len(), |write| {
                let write = chunks.iter().fold(write, Write::put);
                write.create(&blob, Code::VersionConflict)
            });
        }
    }
    stream::iter(batches.all)
        .map(Write::commit)
        .buffer_unordered(SIDE_BY_SIDE)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(places)
}

/// Loads the descriptions of those blobs that exist.
async fn descriptions(
    services: &Services,
    names: impl Iterator<Item = &String>,
    consistency: ReadConsistency,
) -> Result<BTreeMap<String, Blob>, Problem> {
    let keys: Vec<Key> = names.map(|name| key::blob(name)).collect();
    let read = keys.chunks(BATCH).map(|keys| async move {
        let mut batch =
            services.table.get_many_with(&keys.iter().collect::<Vec<_>>(), consistency).await?;
        let found = keys.iter().map(|key| batch.take::<Blob>(key));
        found.collect::<Result<Vec<Option<Blob>>, Problem>>()
    });
    let found = try_join_all(read).await?.into_iter().flatten().flatten();
    Ok(found.map(|blob| (blob.sha256.clone(), blob)).collect())
}

fn describe(name: &str, bytes: &Bytes, upload: &str, now: Timestamp) -> Blob {
    Blob {
        sha256: name.to_owned(),
        upload: upload.to_owned(),
        size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        chunks: u32::try_from(bytes.len().div_ceil(CHUNK)).unwrap_or(u32::MAX),
        references: 1,
        pinned: true,
        created_at: now,
        version: 1,
    }
}

fn chunks(blob: &Blob, bytes: &Bytes) -> Vec<BlobChunk> {
    let chunk = |(number, bytes): (u32, &[u8])| BlobChunk {
        sha256: blob.sha256.clone(),
        upload: blob.upload.clone(),
        number,
        bytes: Octets(bytes.to_vec()),
        version: 1,
    };
    (0..).zip(bytes.chunks(CHUNK)).map(chunk).collect()
}

/// Adds a reference that is never released.
fn add_permanent_reference(write: Write, blob: &Blob) -> Write {
    let change = Change::new("SET pinned = :yes, #references = #references + :one")
        .only_if("upload = :upload AND (attribute_not_exists(pinned) OR pinned = :no)")
        .name("#references", "references")
        .value(":upload", &blob.upload)
        .value(":yes", true)
        .value(":no", false)
        .value(":one", 1);
    write.update(&blob.key(), change, Code::VersionConflict)
}

/// Groups actions into few transactions.
struct Batches<'a> {
    services: &'a Services,
    all: Vec<Write>,
    actions: usize,
    bytes: usize,
}

impl<'a> Batches<'a> {
    fn new(services: &'a Services) -> Self {
        Self { services, all: Vec::new(), actions: 0, bytes: 0 }
    }

    fn add(&mut self, actions: usize, bytes: usize, extend: impl FnOnce(Write) -> Write) {
        let (all, sum) = (self.actions.saturating_add(actions), self.bytes.saturating_add(bytes));
        let has_room = all <= ACTIONS && sum <= TRANSACTION;
        let (write, all, sum) = match self.all.pop() {
            Some(write) if has_room => (write, all, sum),
            full => {
                self.all.extend(full);
                (self.services.table.write(), actions, bytes)
            }
        };
        (self.actions, self.bytes) = (all, sum);
        self.all.push(extend(write));
    }
}

/// Loads several pinned blobs at once, in the order of `places`.
///
/// # Errors
/// 500 if one is missing, which cannot happen to pinned bytes; 503.
pub async fn read(services: &Services, places: &[&BlobRef]) -> Result<Vec<Bytes>, Problem> {
    let keys = |place: &BlobRef| {
        (0..place.chunks).map(|n| key::blob_chunk(&place.sha256, &place.upload, n)).collect()
    };
    let wanted: Vec<Vec<Key>> = places.iter().map(|place| keys(place)).collect();
    // Pinned bytes never change, so an eventually consistent read suffices; a miss is read again.
    let mut batch =
        services.table.get_many_eventually(&wanted.iter().flatten().collect::<Vec<_>>()).await?;
    let mut known: BTreeMap<&str, Bytes> = BTreeMap::new();
    for (place, keys) in places.iter().zip(&wanted) {
        if known.contains_key(place.sha256.as_str()) {
            continue;
        }
        let mut bytes = Vec::new();
        for key in keys {
            let chunk: Option<BlobChunk> = match batch.take(key)? {
                Some(chunk) => Some(chunk),
                None => services.table.get(key).await?,
            };
            bytes.extend(
                chunk.ok_or_else(|| Problem::internal("a pinned blob is missing"))?.bytes.0,
            );
        }
        known.insert(&place.sha256, Bytes::from(bytes));
    }
    Ok(places.iter().filter_map(|place| known.get(place.sha256.as_str()).cloned()).collect())
}
