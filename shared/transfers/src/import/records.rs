//! Rows as requests: what a row says is put into the words of the API, and validated as a request of those is.

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

/// What a row, or several of a product, ask for.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// The first row.
    pub(super) row: u64,
    /// The body of the request that asks for the same.
    pub(super) body: Value,
    /// What could not be put into one.
    pub(super) faults: Vec<Finding>,
    /// Where members of the body come from: a pointer, a row, a column.
    sources: Vec<(String, u64, String)>,
}

impl Record {
    /// A JSON line: its pointers are its columns.
    pub(super) fn line(row: u64, read: Result<Value, String>) -> Self {
        let fault =
            |detail: String| Finding { row, column: None, code: "invalid_json".into(), detail };
        let faults = read.as_ref().err().cloned().map(fault).into_iter().collect();
        Self { row, body: read.unwrap_or_default(), faults, sources: Vec::new() }
    }

    /// Of rows that nothing is known of but that they cannot be read.
    pub(super) const fn rejected(row: u64) -> Self {
        Self { row, body: Value::Null, faults: Vec::new(), sources: Vec::new() }
    }

    /// A fault of the body where the file has it. One of something that could not be read is none: it
    /// has been found already.
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

    /// A fault of all of it.
    pub(super) fn wrong(&self, code: &str, detail: &str) -> Finding {
        let (code, detail) = (code.to_owned(), detail.to_owned());
        Finding { row: self.row, column: None, code, detail }
    }
}

/// How the columns of a kind of file are called, and how rows become records.
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

    /// Columns without one of which nothing can be read.
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

    /// What the rows of one record have in common; none where a row is one.
    pub(super) fn handle(kind: ImportKind, columns: &Columns, row: &Row) -> Option<String> {
        (kind == ImportKind::Products).then(|| products::handle(columns, row)).flatten()
    }

    /// What these rows ask for.
    pub(super) fn record(&self, rows: &[Row]) -> Option<Record> {
        match self.kind {
            ImportKind::Products => products::record(self.columns, rows, self.currency),
            ImportKind::Customers => rows.first().map(|row| customers::record(self.columns, row)),
            ImportKind::Inventory => rows.first().map(|row| stock::record(self.columns, row)),
        }
    }
}
