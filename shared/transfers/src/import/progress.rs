//! The progress of an import: the counts of its records so far, and its position in the file.

use serde::{Deserialize, Serialize};

use super::Parents;

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
