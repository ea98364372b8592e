//! The progress of an import: its position in the file, and what it has counted so far.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Parents;

/// The most images that one import fetches.
pub(super) const MAX_IMAGES: u64 = 10_000;
/// The most bytes of all of them.
const MAX_IMAGE_BYTES: u64 = 2 << 30;
/// After so many failures in a row, a host is not called any more.
const MAX_FAILURES: u32 = 4;
/// The most hosts whose failures are counted.
const MAX_HOSTS: usize = 20;

/// The progress of a run of an import.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunProgress {
    /// The position at which it continues.
    pub place: ImportPosition,
    /// The outcomes of the records.
    pub counts: Counts,
    /// The number of findings.
    pub findings_count: u64,
    /// The number of those that are warnings.
    #[serde(default)]
    pub warnings_count: u64,
    /// The number of pages of findings.
    pub findings_pages: u64,
    /// The progress of fetching the images of its products; none when there are none to fetch.
    #[serde(default, rename = "pictures")]
    pub images: Option<ImageProgress>,
    /// The number of pages of unique values that a dry run has seen.
    pub seen_pages: u64,
    /// The first of the ignored columns.
    pub ignored_columns: Vec<String>,
    /// The number of ignored columns.
    #[serde(default)]
    pub ignored_columns_count: u64,
}

impl RunProgress {
    /// The progress before the first row.
    pub(super) fn begin() -> Self {
        Self { place: ImportPosition::begin(), ..Self::default() }
    }
}

/// The numbers of records by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Created.
    pub created: u64,
    /// Updated from the file.
    pub updated: u64,
    /// Skipped, because they existed.
    pub skipped: u64,
    /// Failed.
    pub failed: u64,
}

impl Counts {
    /// The number of all records.
    pub const fn all(self) -> u64 {
        let right = self.created.saturating_add(self.updated).saturating_add(self.skipped);
        right.saturating_add(self.failed)
    }
}

/// The position in its file at which an import continues.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ImportPosition {
    /// The offset in bytes.
    pub byte: u64,
    /// The row, from 1; the first row of CSV is the header.
    pub row: u64,
    /// The names of the columns, once they are known; empty for ignored columns.
    pub header: Vec<String>,
    /// The delimiter of cells; none before the header was read.
    pub delimiter: Option<char>,
    /// The number of blank rows before it, which do not count towards the limit. None where the progress
    /// was stored before they were counted.
    #[serde(default)]
    pub blank: Option<u64>,
    /// Whether numbers of the file have commas before their decimals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_decimal_commas: bool,
    /// The rows before it that later rows may belong to.
    #[serde(default, skip_serializing_if = "Parents::is_empty")]
    pub parents: Parents,
}

impl ImportPosition {
    /// The position before the first row.
    pub(super) fn begin() -> Self {
        Self { row: 1, blank: Some(0), ..Self::default() }
    }
}

/// The progress of fetching images.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ImageProgress {
    /// The place in the file where it goes on.
    pub place: ImportPosition,
    /// The number of images of the next record that were tried.
    pub tried: usize,
    /// The number of images that were fetched.
    pub fetched: u64,
    /// The number of images that could not be fetched.
    pub failed: u64,
    /// The bytes of the fetched ones.
    pub bytes: u64,
    /// The failures in a row, by host.
    pub failures: BTreeMap<String, u32>,
    /// Whether all images were tried.
    pub is_over: bool,
}

impl ImageProgress {
    /// The progress before the first record.
    pub(super) fn begin() -> Self {
        Self { place: ImportPosition::begin(), ..Self::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.fetched.saturating_add(self.failed) >= MAX_IMAGES || self.bytes >= MAX_IMAGE_BYTES
    }

    pub(super) fn is_skipped(&self, url: &str) -> bool {
        self.failures.get(host(url)).is_some_and(|count| *count >= MAX_FAILURES)
    }

    pub(super) fn count(&mut self, url: &str, fetched: Option<usize>) {
        let host = host(url);
        if let Some(bytes) = fetched {
            self.fetched = self.fetched.saturating_add(1);
            self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
            self.failures.remove(host);
            return;
        }
        self.failed = self.failed.saturating_add(1);
        if self.failures.len() < MAX_HOSTS || self.failures.contains_key(host) {
            let count = self.failures.entry(host.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }
}

/// The host of an address.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_fails_several_times_in_a_row_is_skipped() {
        let mut images = ImageProgress::begin();
        let (bad, good) = ("https://bad.example/a.png?x=1", "https://good.example/a.png");
        for _ in 0..MAX_FAILURES {
            assert!(!images.is_skipped(bad));
            images.count(bad, None);
        }
        images.count(good, None);
        images.count(good, Some(10));
        assert!(images.is_skipped("https://bad.example/other.png"));
        assert!(!images.is_skipped(good) && images.failures.len() == 1);
        assert_eq!((images.fetched, images.failed, images.bytes), (1, 5, 10));
    }
}
