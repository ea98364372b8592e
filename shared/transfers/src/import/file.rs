//! The file of an import: its parts, and the chunks that store them.

use crypto::seal;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;

use super::Import;
use crate::chunk::{self, CHUNK, FileChunk};

/// The number of chunks read at once.
const READ_AT_ONCE: usize = 4;

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedPart {
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// The size of the part, in bytes.
    pub bytes: u64,
    /// A random name of the upload, which is in the keys of its chunks, so that two uploads of one part
    /// never share a chunk. Parts stored before this field existed use the digest.
    #[serde(default)]
    pub upload: Option<String>,
}

impl UploadedPart {
    /// A part of these bytes, uploaded at this time.
    pub fn of(bytes: &[u8], now: Timestamp) -> Self {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let upload = Some(primitives::id::mint("", now));
        Self { sha256: seal::digest_of(bytes), bytes: length, upload }
    }

    fn chunk_name(&self, number: u32, chunk: usize) -> String {
        let name = self.upload.as_ref().unwrap_or(&self.sha256);
        format!("{number:02}#{name}#{chunk:03}")
    }

    /// Deletes its chunks: it is not, or no longer, a part of the import.
    pub async fn discard(&self, services: &Services, (import, number): (&Import, u32)) {
        let count = self.bytes.div_ceil(u64::try_from(CHUNK).unwrap_or(u64::MAX));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let names: Vec<String> = (0..count).map(|chunk| self.chunk_name(number, chunk)).collect();
        chunk::discard(services, import.id.as_str(), &names).await;
    }

    /// Writes its chunks.
    ///
    /// # Errors
    /// 503.
    pub async fn write(
        &self,
        services: &Services,
        (import, number): (&Import, u32),
        bytes: &[u8],
    ) -> Result<(), Problem> {
        let chunk = |(count, bytes): (usize, &[u8])| {
            let name = self.chunk_name(number, count);
            FileChunk::new(import.id.as_str(), name, bytes.to_vec(), import.created_at)
        };
        let chunks: Vec<FileChunk> = bytes.chunks(CHUNK).enumerate().map(chunk).collect();
        chunk::write(services, &chunks).await
    }
}

/// A source of a file's bytes.
pub(super) trait ByteSource {
    /// Reads the next bytes; none at the end of the file.
    ///
    /// # Errors
    /// 503.
    async fn next(&mut self) -> Result<Vec<u8>, Problem>;

    /// The same file from an offset on, of which a little is read at once.
    fn at(&self, byte: u64) -> Self;
}

/// The chunks of an import's file, from an offset on.
pub(super) struct Chunks<'a> {
    services: &'a Services,
    import: &'a Import,
    byte: u64,
    /// The number of chunks read at once.
    at_once: usize,
}

impl<'a> Chunks<'a> {
    pub(super) const fn of(services: &'a Services, import: &'a Import) -> Self {
        Self { services, import, byte: import.progress.place.byte, at_once: READ_AT_ONCE }
    }
}

impl ByteSource for Chunks<'_> {
    /// # Errors
    /// 503; `internal` when a chunk is missing.
    async fn next(&mut self) -> Result<Vec<u8>, Problem> {
        let (names, offset, reached) = self.import.next_chunks(self.byte, self.at_once);
        let found = chunk::read(self.services, self.import.id.as_str(), &names).await?;
        let mut bytes =
            found.ok_or_else(|| Problem::internal("a chunk of an import's file is missing"))?;
        bytes.drain(..offset.min(bytes.len()));
        self.byte = reached.max(self.byte);
        Ok(bytes)
    }

    fn at(&self, byte: u64) -> Self {
        Self { services: self.services, import: self.import, byte, at_once: 1 }
    }
}

impl Import {
    /// The keys of the next chunks from an offset on, the offset within the first of them, and the offset
    /// at which they end.
    fn next_chunks(&self, byte: u64, at_once: usize) -> (Vec<String>, usize, u64) {
        let size = u64::try_from(CHUNK).unwrap_or(u64::MAX);
        let (mut names, mut offset, mut begin) = (Vec::new(), 0, 0_u64);
        for (number, part) in &self.parts {
            let count = part.bytes.div_ceil(size);
            for chunk in 0..count {
                let length = size.min(part.bytes.saturating_sub(chunk.saturating_mul(size)));
                let end = begin.saturating_add(length);
                if end > byte && names.len() < at_once {
                    if names.is_empty() {
                        offset = usize::try_from(byte.saturating_sub(begin)).unwrap_or(0);
                    }
                    names.push(part.chunk_name(*number, usize::try_from(chunk).unwrap_or(0)));
                } else if end > byte {
                    return (names, offset, begin);
                }
                begin = end;
            }
        }
        (names, offset, begin)
    }
}
