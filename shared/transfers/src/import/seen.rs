//! What a dry run has seen of a file: what may be there once, in the words of the store.
//!
//! A file in earnest is validated by the table itself. A dry run writes nothing, so it remembers what it would
//! have written: digests of 64 bits, of which two of 400,000 agree by chance once in 200 million files.

use std::collections::HashSet;

use crypto::seal;
use primitives::problem::Problem;
use services::Services;

use super::Import;
use crate::chunk::{self, Chunk};

/// Bytes of a digest.
const DIGEST: usize = 8;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    before: HashSet<[u8; DIGEST]>,
    new: Vec<u8>,
}

impl Seen {
    /// What the steps before have seen.
    ///
    /// # Errors
    /// 503.
    pub(super) async fn read(services: &Services, import: &Import) -> Result<Self, Problem> {
        let places: Vec<String> = (0..import.seen_pages).map(|page| place(import, page)).collect();
        let mut before = HashSet::new();
        for places in places.chunks(50) {
            let bytes =
                chunk::read(services, import.id.as_str(), places).await?.unwrap_or_default();
            before
                .extend(bytes.chunks_exact(DIGEST).filter_map(|one| <[u8; 8]>::try_from(one).ok()));
        }
        Ok(Self { before, new: Vec::new() })
    }

    /// Whether it was seen.
    pub(super) fn has(&self, word: &str) -> bool {
        let digest = seal::sha256(word.as_bytes());
        digest.first_chunk::<DIGEST>().is_some_and(|digest| self.before.contains(digest))
    }

    /// Whether this is the first time.
    pub(super) fn is_new(&mut self, word: &str) -> bool {
        let digest = seal::sha256(word.as_bytes());
        let Some(digest) = digest.first_chunk::<DIGEST>() else { return true };
        let is_new = self.before.insert(*digest);
        if is_new {
            self.new.extend_from_slice(digest);
        }
        is_new
    }

    /// Writes what is new, as a page of its own; answers with how many pages there are then.
    ///
    /// # Errors
    /// `version_conflict` when the import has moved on; 503.
    pub(super) async fn write(
        &mut self,
        services: &Services,
        import: &Import,
    ) -> Result<u64, Problem> {
        if self.new.is_empty() {
            return Ok(import.seen_pages);
        }
        let bytes = std::mem::take(&mut self.new);
        let place = place(import, import.seen_pages);
        let page = Chunk::new(import.id.as_str(), place, bytes, import.created_at);
        chunk::write_of(services, import, &[page]).await?;
        Ok(import.seen_pages.saturating_add(1))
    }
}

fn place(import: &Import, page: u64) -> String {
    format!("SEEN#{:06}#{page:06}", import.runs)
}
