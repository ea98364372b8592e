//! Rows as requests: the cells of a row become the body of a request of the API, and are validated like
//! one.

mod cells;
mod customers;
mod products;
mod stock;

use core_types::fields::Currency;
use primitives::problem::FieldError;
use serde_json::Value;

use super::ImportKind;
use super::columns::Columns;
use super::finding::Finding;
use super::rows::Row;

/// The content of a row, or of several rows of a product.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// The first row.
    pub(super) row: u64,
    /// The body of the equivalent request.
    pub(super) body: Value,
    /// Findings about cells that have no place in the body.
    pub(super) faults: Vec<Finding>,
    /// The sources of members of the body: a pointer, a row, a column.
    sources: Vec<(String, u64, String)>,
}

impl Record {
    /// The record of a JSON line; its findings have pointers in place of columns.
    pub(super) fn line(row: u64, read: Result<Value, String>) -> Self {
        let fault =
            |detail: String| Finding { row, column: None, code: "invalid_json".into(), detail };
        let faults = read.as_ref().err().cloned().map(fault).into_iter().collect();
        Self { row, body: read.unwrap_or_default(), faults, sources: Vec::new() }
    }

    /// The record of rows that cannot be read at all.
    pub(super) const fn rejected(row: u64) -> Self {
        Self { row, body: Value::Null, faults: Vec::new(), sources: Vec::new() }
    }

    /// The finding for a field error of the body, at its place in the file. None when that cell already
    /// has a finding.
    pub(super) fn finding(&self, error: &FieldError) -> Option<Finding> {
        let holds = |(pointer, ..): &&(String, u64, String)| {
            let rest = error.pointer.strip_prefix(pointer.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let source = self.sources.iter().filter(holds).max_by_key(|(pointer, ..)| pointer.len());
        let (row, column) = match source {
            Some((_, row, column)) => (*row, Some(column.clone())),
            None if self.sources.is_empty() => (self.row, Some(error.pointer.clone())),
            None => (self.row, None),
        };
        let known = self.faults.iter().any(|fault| (fault.row, &fault.column) == (row, &column));
        let column = column.filter(|column| !column.is_empty());
        let (code, detail) = (error.fault.code.to_owned(), error.fault.detail.to_string());
        (!known || column.is_none()).then_some(Finding { row, column, code, detail })
    }

    /// A finding about the whole record.
    pub(super) fn wrong(&self, code: &str, detail: &str) -> Finding {
        let (code, detail) = (code.to_owned(), detail.to_owned());
        Finding { row: self.row, column: None, code, detail }
    }
}

/// The column names of a kind of import, and the conversion of rows to records.
#[derive(Debug)]
pub(super) struct Format<'a> {
    kind: ImportKind,
    columns: &'a Columns,
    currency: &'a Currency,
}

impl<'a> Format<'a> {
    pub(super) const fn of(kind: ImportKind, columns: &'a Columns, currency: &'a Currency) -> Self {
        Self { kind, columns, currency }
    }

    /// The columns of these names.
    pub(super) fn columns(kind: ImportKind, names: &[String]) -> Columns {
        let of = match kind {
            ImportKind::Products => products::Column::slot_of,
            ImportKind::Customers => customers::Column::slot_of,
            ImportKind::Inventory => stock::Column::slot_of,
        };
        Columns::of(names, of)
    }

    /// The required columns that are missing.
    pub(super) fn missing(kind: ImportKind, names: &[String]) -> Vec<&'static str> {
        let has = |wanted: &[&str]| {
            let same = |name: &String| wanted.iter().any(|one| one.eq_ignore_ascii_case(name));
            names.iter().any(same)
        };
        let needed: &[&[&'static str]] = match kind {
            ImportKind::Products => &[&["Title"]],
            ImportKind::Customers => &[&["Email"]],
            ImportKind::Inventory => {
                &[&["SKU", "Item ID"], &["Available", "On hand", "On hand (new)"]]
            }
        };
        let absent = needed.iter().filter(|names| !has(names));
        absent.filter_map(|names| names.first().copied()).collect()
    }

    /// The handle that the rows of one record share; none where each row is a record.
    pub(super) fn handle(kind: ImportKind, columns: &Columns, row: &Row) -> Option<String> {
        (kind == ImportKind::Products).then(|| products::handle(columns, row)).flatten()
    }

    /// The record of these rows.
    pub(super) fn record(&self, rows: &[Row]) -> Option<Record> {
        match self.kind {
            ImportKind::Products => products::record(self.columns, rows, self.currency),
            ImportKind::Customers => rows.first().map(|row| customers::record(self.columns, row)),
            ImportKind::Inventory => rows.first().map(|row| stock::record(self.columns, row)),
        }
    }
}
