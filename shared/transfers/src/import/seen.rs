//! Unique values that a dry run has seen: handles, SKUs and addresses that a store may have once.
//!
//! In a real import the table itself enforces uniqueness. A dry run writes nothing, so it records digests
//! of what it would have written. A digest has 64 bits: in one of 200 million files two of 400,000 are
//! equal by chance.

use std::collections::HashSet;

use crypto::seal;
use primitives::problem::Problem;
use services::Services;

use super::Import;
use crate::chunk::{self, FileChunk};

/// The size of a digest, in bytes.
const DIGEST: usize = 8;

/// The values seen.
#[derive(Debug, Default)]
pub(super) struct SeenValues {
    before: HashSet<[u8; DIGEST]>,
    new: Vec<u8>,
}

impl SeenValues {
    /// Loads the values that earlier steps have seen.
    ///
    /// # Errors
    /// 503.
    pub(super) async fn read(services: &Services, import: &Import) -> Result<Self, Problem> {
        let names: Vec<String> =
            (0..import.progress.seen_pages).map(|page| page_name(import, page)).collect();
        let mut before = HashSet::new();
        for names in names.chunks(50) {
            let bytes = chunk::read(services, import.id.as_str(), names).await?.unwrap_or_default();
            before
                .extend(bytes.chunks_exact(DIGEST).filter_map(|one| <[u8; 8]>::try_from(one).ok()));
        }
        Ok(Self { before, new: Vec::new() })
    }

    /// Whether a value was seen.
    pub(super) fn has(&self, word: &str) -> bool {
        let digest = seal::sha256(word.as_bytes());
        digest.first_chunk::<DIGEST>().is_some_and(|digest| self.before.contains(digest))
    }

    /// Records a value; returns whether it was new.
    pub(super) fn is_new(&mut self, word: &str) -> bool {
        let digest = seal::sha256(word.as_bytes());
        let Some(digest) = digest.first_chunk::<DIGEST>() else { return true };
        let is_new = self.before.insert(*digest);
        if is_new {
            self.new.extend_from_slice(digest);
        }
        is_new
    }

    /// Writes the new values as a page of their own. Returns the number of pages.
    ///
    /// # Errors
    /// `version_conflict` when the import has changed meanwhile; 503.
    pub(super) async fn write(
        &mut self,
        services: &Services,
        import: &Import,
    ) -> Result<u64, Problem> {
        if self.new.is_empty() {
            return Ok(import.progress.seen_pages);
        }
        let bytes = std::mem::take(&mut self.new);
        let name = page_name(import, import.progress.seen_pages);
        let page = FileChunk::new(import.id.as_str(), name, bytes, import.created_at);
        chunk::write_of(services, import, &[page]).await?;
        Ok(import.progress.seen_pages.saturating_add(1))
    }
}

fn page_name(import: &Import, page: u64) -> String {
    format!("SEEN#{:06}#{page:06}", import.runs)
}
