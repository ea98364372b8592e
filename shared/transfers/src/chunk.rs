//! Chunks: parts of a file, each of which fits into an item.

use std::time::Duration;

use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key, Octets};
use table::{Condition, Query, Write};

/// The size of one chunk, in bytes (docs/data-model.md §1).
pub const CHUNK: usize = 350_000;
/// The most chunks of one transaction: below its limit of 4 MB.
const TOGETHER: usize = 8;
/// The number of chunks listed at once for deletion.
const REMOVED: usize = 100;
/// The retention of a file, from the creation of its import or export.
pub const RETENTION: Duration = Duration::from_hours(7 * 24);

/// A chunk of a file.
#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "file_piece", key = key::file_chunk(&self.file, &self.place), octets)]
#[item(forget_at = Some(self.forgotten_at))]
pub struct FileChunk {
    /// The import or the export.
    pub file: String,
    /// The key of the chunk within the file; chunks sort by it in their order.
    pub place: String,
    /// Its bytes.
    pub bytes: Octets,
    /// When the file is deleted.
    pub forgotten_at: Timestamp,
    /// Always 1: the item is created and deleted, never replaced.
    pub version: u64,
}

impl FileChunk {
    /// A chunk of a file whose import or export was created at this time.
    pub fn new(file: &str, place: String, bytes: Vec<u8>, begun: Timestamp) -> Self {
        let (file, forgotten_at) = (file.to_owned(), begun.plus(RETENTION));
        Self { file, place, bytes: Octets(bytes), forgotten_at, version: 1 }
    }
}

/// Writes chunks, replacing any at the same keys.
///
/// # Errors
/// 503.
pub async fn write(services: &Services, chunks: &[FileChunk]) -> Result<(), Problem> {
    for together in chunks.chunks(TOGETHER) {
        together.iter().fold(services.table.write(), Write::put).commit().await?;
    }
    Ok(())
}

/// Writes chunks of work, on condition that the work is still at the version they were created from. The
/// chunks of cancelled or deleted work have been removed: none may follow.
///
/// # Errors
/// `version_conflict` when the work has changed; 503.
pub async fn write_of<T: Item>(
    services: &Services,
    work: &T,
    chunks: &[FileChunk],
) -> Result<(), Problem> {
    for together in chunks.chunks(TOGETHER) {
        let is_unchanged = Condition::is_at(work.version());
        let write = services.table.write().check(&work.key(), is_unchanged, Code::VersionConflict);
        together.iter().fold(write, Write::put).commit().await?;
    }
    Ok(())
}

/// Deletes the chunks at these places. A failure is only logged: time-to-live deletes the rest.
pub async fn discard(services: &Services, file: &str, places: &[String]) {
    for together in places.chunks(TOGETHER) {
        let delete = |write: Write, place: &String| write.delete(&key::file_chunk(file, place));
        let deleted = together.iter().fold(services.table.write(), delete).commit().await;
        if let Err(problem) = deleted {
            tracing::warn!(cause = %problem, file, "chunks of a file not discarded; they expire");
        }
    }
}

/// Reads the bytes of these places in order; none when a chunk is missing.
///
/// # Errors
/// 503.
pub async fn read(
    services: &Services,
    file: &str,
    places: &[String],
) -> Result<Option<Vec<u8>>, Problem> {
    let keys: Vec<Key> = places.iter().map(|place| key::file_chunk(file, place)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut bytes = Vec::new();
    for key in &keys {
        let Some(chunk) = batch.take::<FileChunk>(key)? else { return Ok(None) };
        bytes.extend(chunk.bytes.0);
    }
    Ok(Some(bytes))
}

/// Deletes all chunks of a file.
///
/// # Errors
/// 503.
pub async fn erase(services: &Services, file: &str) -> Result<(), Problem> {
    loop {
        let query = Query::partition(key::file_chunks(file));
        let keys = services.table.keys(&query, REMOVED).await?;
        if keys.is_empty() {
            return Ok(());
        }
        for key in &keys {
            services.table.write().delete(key).commit().await?;
        }
    }
}

/// Deletes all chunks of a file. A failure is only logged: time-to-live deletes the rest.
pub async fn delete_all(services: &Services, file: &str) {
    if let Err(problem) = erase(services, file).await {
        tracing::warn!(cause = %problem, file, "chunks of a deleted file not deleted; they expire");
    }
}
