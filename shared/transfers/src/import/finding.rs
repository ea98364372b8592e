//! Findings: errors in the rows of a file, and warnings about cells that were read otherwise or not at all.

use core_types::id::ImportId;
use core_types::key;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Element, Item};

use crate::chunk::RETENTION;

primitives::string_enum! {
    /// Whether a finding prevented the import of its record.
    Severity {
        /// The record was not imported.
        Error = "error",
        /// The record was imported without this cell, or with another value.
        Warning = "warning",
    }
}

impl Severity {
    /// The severity of findings that were stored before there were warnings.
    const fn before_warnings() -> Self {
        Self::Error
    }
}

/// An error or a warning about a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImportFinding")]
pub struct Finding {
    /// Whether the record was not imported (`error`), or was imported all the same (`warning`).
    #[serde(default = "Severity::before_warnings")]
    pub severity: Severity,
    /// The row, from 1; row 1 of CSV is the header. Of a product of several rows, the one with the error.
    pub row: u64,
    /// The name of the column; for a JSON line, a JSON Pointer into it. `null` when the row as a whole
    /// has the error.
    pub column: Option<String>,
    /// The code of the field error, or of the problem that an equal request would have got.
    pub code: String,
    /// An explanation for people.
    pub detail: String,
}

/// The place of a finding: a row, and the name of a column.
pub(super) type At<'a> = (u64, Option<&'a str>);

/// The most characters of a column's name, and of a detail.
const MAX_COLUMN: usize = 200;
const MAX_DETAIL: usize = 500;
/// The size of one page in bytes: well below the limit of an item.
const PAGE: usize = 200_000;
/// The most pages written at once: below the limit of a transaction.
const PAGES: usize = 10;

impl Finding {
    /// An error.
    pub(super) fn error((row, column): At<'_>, code: &str, detail: &str) -> Self {
        Self {
            severity: Severity::Error,
            row,
            column: column.map(str::to_owned),
            code: code.to_owned(),
            detail: detail.to_owned(),
        }
    }

    /// A warning.
    pub(super) fn warning(at: At<'_>, code: &str, detail: &str) -> Self {
        Self { severity: Severity::Warning, ..Self::error(at, code, detail) }
    }

    /// Whether it kept its record from being imported.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The finding, truncated to a bounded length.
    pub(super) fn cut(self) -> Self {
        let cut = |text: String, most: usize| match text.char_indices().nth(most) {
            Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
            None => text,
        };
        let column = self.column.map(|column| cut(column, MAX_COLUMN));
        Self { column, detail: cut(self.detail, MAX_DETAIL), ..self }
    }

    /// Its approximate size in bytes.
    fn size(&self) -> usize {
        let column = self.column.as_ref().map_or(0, String::len);
        let texts = self.code.len().saturating_add(self.detail.len()).saturating_add(column);
        texts.saturating_add(64)
    }
}

/// Findings in pages, each of which fits into an item. Findings beyond the last page are dropped.
pub(super) fn paged(findings: Vec<Finding>) -> Vec<Vec<Finding>> {
    let (mut pages, mut page, mut size) = (Vec::new(), Vec::new(), 0_usize);
    for finding in findings {
        let own = finding.size();
        if size.saturating_add(own) > PAGE {
            pages.push(std::mem::take(&mut page));
            size = 0;
        }
        size = size.saturating_add(own);
        page.push(finding);
    }
    pages.push(page);
    pages.retain(|page| !page.is_empty());
    pages.truncate(PAGES);
    pages
}

/// A page of findings.
#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "import_findings", key = key::import_findings(&self.import_id, self.number))]
#[item(forget_at = Some(self.forgotten_at))]
pub struct Findings {
    /// The import.
    pub import_id: ImportId,
    /// The number of the page.
    pub number: u64,
    /// The findings.
    pub findings: Vec<Finding>,
    /// When the import is deleted.
    pub forgotten_at: Timestamp,
    /// The version, from 1.
    pub version: u64,
}

impl Findings {
    /// A page of findings of an import that was created at this time.
    pub fn page(
        import: &ImportId,
        number: u64,
        findings: Vec<Finding>,
        created_at: Timestamp,
    ) -> Self {
        let (import_id, forgotten_at) = (import.clone(), created_at.plus(RETENTION));
        Self { import_id, number, findings, forgotten_at, version: 1 }
    }
}

impl Element for Finding {
    type Container = Findings;

    fn held_by(holder: Findings) -> Vec<Self> {
        holder.findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(column: &str) -> Finding {
        Finding::error((1, Some(column)), "unknown_field", &"x".repeat(1_000)).cut()
    }

    #[test]
    fn a_finding_is_truncated_between_characters() {
        let cut = finding(&"\u{1f375}".repeat(300));
        assert_eq!(cut.column.unwrap().chars().count(), MAX_COLUMN);
        assert_eq!(cut.detail.len(), MAX_DETAIL);
    }

    #[test]
    fn findings_that_were_stored_before_there_were_warnings_are_errors() {
        let stored = r#"{"row":2,"column":null,"code":"required","detail":"x"}"#;
        let finding: Finding = serde_json::from_str(stored).unwrap();
        assert!(finding.is_error());
    }

    #[test]
    fn pages_of_findings_fit_into_items_in_order() {
        let all: Vec<Finding> = (0..2_000).map(|number| finding(&number.to_string())).collect();
        let pages = paged(all.clone());
        for page in &pages {
            assert!(serde_json::to_vec(page).unwrap().len() < 300_000);
        }
        assert_eq!(pages.concat(), all);
        let pages = paged((0..100_000).map(|number| finding(&number.to_string())).collect());
        assert_eq!(pages.len(), PAGES);
        assert_eq!(paged(Vec::new()), Vec::<Vec<Finding>>::new());
    }
}
