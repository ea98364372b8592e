//! The content of rows as the body of a request, with the findings about it.

use core_types::fields::Currency;
use primitives::problem::FieldError;
use serde_json::Value;

use super::response;
use crate::import::ImportKind;
use crate::import::finding::{Finding, Severity};

/// The content of a row, or of several rows of a product.
#[derive(Debug, Clone)]
pub(in crate::import) struct Record {
    /// The first row.
    pub(in crate::import) row: u64,
    /// The body of the equivalent request.
    pub(in crate::import) body: Value,
    /// The findings about it so far.
    pub(in crate::import) findings: Vec<Finding>,
    /// The sources of members of the body: a pointer, a row, a column. None in a file of JSON lines.
    pub(super) sources: Vec<FieldSource>,
    /// Whether a member that its field rejects is left out: in rows, and in lines of an export.
    pub(super) may_leave_out: bool,
    /// Variants that the file has no price for.
    pub(super) unpriced: Unpriced,
    /// The last of its rows, if it adds to the product of a row further up.
    pub(super) addition: Option<u64>,
    /// The number of the record among those of its row.
    pub(in crate::import) number: usize,
    /// The names of its category and of those above it, the topmost first.
    pub(in crate::import) category: Vec<String>,
    /// A row whose warnings another record has told.
    pub(super) warned_row: Option<u64>,
}

/// The settings that the conversion of cells depends on, besides the columns.
#[derive(Debug, Clone)]
pub(in crate::import) struct CellSettings {
    /// The store's currency.
    pub(in crate::import) currency: Currency,
    /// The day on which the import was started, in the store's time zone: `2027-12-31`.
    pub(in crate::import) today: String,
}

/// The relation of a row to other rows of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) enum Relation {
    /// Later rows may belong to it, and name one of these keys.
    Parent(Vec<String>),
    /// It belongs to the row of this key, which is above it.
    ChildOf(String),
}

/// The source of a member of the body: its pointer, and the row and the column that it comes from.
pub(super) type FieldSource = (String, u64, String);

/// Variants that the file has no price for. They are created with the price 0, in a product that is a draft.
#[derive(Debug, Clone, Default)]
pub(super) struct Unpriced {
    pub(super) variants: Vec<usize>,
    /// The status that the file has for the product.
    pub(super) status: Option<Value>,
}

impl Record {
    /// The record of a JSON line; its findings have pointers in place of columns.
    pub(in crate::import) fn line(kind: ImportKind, row: u64, read: Result<Value, String>) -> Self {
        let finding = |detail: &String| Finding::error((row, None), "invalid_json", detail);
        let findings = read.as_ref().err().map(finding).into_iter().collect();
        let (mut body, may_leave_out) =
            read.map(|line| response::request_of(kind, line)).unwrap_or_default();
        let category = if may_leave_out { response::category_of(&mut body) } else { Vec::new() };
        Self { body, findings, may_leave_out, category, ..Self::rejected(row) }
    }

    /// The record of rows that cannot be read at all.
    pub(in crate::import) fn rejected(row: u64) -> Self {
        let unpriced = Unpriced { variants: Vec::new(), status: None };
        let (findings, sources) = (Vec::new(), Vec::new());
        let (body, category) = (Value::Null, Vec::new());
        Self {
            row,
            body,
            findings,
            sources,
            may_leave_out: false,
            unpriced,
            addition: None,
            number: 0,
            category,
            warned_row: None,
        }
    }

    /// The record of a row to which others should belong, and none does.
    pub(in crate::import) fn childless(row: u64) -> Self {
        let detail = "The file has no variation of this product.";
        let finding = Finding::error((row, None), "variations_missing", detail);
        Self { findings: vec![finding], ..Self::rejected(row) }
    }

    /// The record, which adds to the product of a row further up if this last row of it is given.
    pub(in crate::import) fn adding(self, addition: Option<u64>) -> Self {
        Self { addition, ..self }
    }

    /// The record, of which the warnings about a row were told by another one.
    pub(in crate::import) fn with_warnings_of(self, row: Option<u64>) -> Self {
        Self { warned_row: row, ..self }
    }

    /// All findings about it.
    pub(in crate::import) fn into_findings(self) -> Vec<Finding> {
        let is_new = |finding: &Finding| finding.is_error() || Some(finding.row) != self.warned_row;
        self.findings.into_iter().filter(is_new).collect()
    }

    /// Adds a member to the body.
    pub(in crate::import) fn insert(&mut self, member: &str, value: Value) {
        if let Some(body) = self.body.as_object_mut() {
            body.insert(member.to_owned(), value);
        }
    }

    /// Adds a warning about a member of the body, at its place in the file.
    pub(in crate::import) fn warn(&mut self, error: &FieldError) {
        let found = self.finding(error);
        let warning = |found: Finding| Finding { severity: Severity::Warning, ..found };
        self.findings.extend(found.map(warning));
    }

    /// Whether it adds to the product of a row further up.
    pub(in crate::import) const fn is_addition(&self) -> bool {
        self.addition.is_some()
    }

    /// The row that orders it among the records that update one object.
    pub(in crate::import) fn order(&self) -> u64 {
        self.addition.unwrap_or(self.row)
    }

    /// Whether it cannot be imported.
    pub(in crate::import) fn is_rejected(&self) -> bool {
        self.body.is_null() || self.findings.iter().any(Finding::is_error)
    }

    /// Rejects it for these reasons. A cell whose only finding is a warning is among them.
    pub(in crate::import) fn reject(&mut self, reasons: Vec<Finding>) {
        let is_same = |one: &Finding, other: &Finding| {
            (one.row, &one.column, &one.code) == (other.row, &other.column, &other.code)
        };
        self.findings.retain(|known| !reasons.iter().any(|reason| is_same(known, reason)));
        self.findings.extend(reasons);
        if !self.findings.iter().any(Finding::is_error) {
            for finding in &mut self.findings {
                finding.severity = Severity::Error;
            }
        }
    }

    /// The finding for a field error of the body, at its place in the file. None when that cell already
    /// has a finding.
    pub(in crate::import) fn finding(&self, error: &FieldError) -> Option<Finding> {
        let (row, column) = self.source_of(error);
        let known =
            self.findings.iter().any(|finding| (finding.row, &finding.column) == (row, &column));
        let column = column.filter(|column| !column.is_empty());
        let found =
            Finding::error((row, column.as_deref()), error.violation.code, &error.violation.detail);
        (!known || column.is_none()).then_some(found)
    }

    /// The row and the column that a field error of the body is about; the column is empty where the file has
    /// none.
    pub(super) fn source_of(&self, error: &FieldError) -> (u64, Option<String>) {
        let holds = |(pointer, ..): &&FieldSource| {
            let rest = error.pointer.strip_prefix(pointer.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let source = self.sources.iter().filter(holds).max_by_key(|(pointer, ..)| pointer.len());
        match source {
            Some((_, row, column)) => (*row, Some(column.clone())),
            None if self.sources.is_empty() => (self.row, Some(error.pointer.clone())),
            None => (self.row, None),
        }
    }

    /// A finding about the whole record.
    pub(in crate::import) fn error(&self, code: &str, detail: &str) -> Finding {
        Finding::error((self.row, None), code, detail)
    }
}
