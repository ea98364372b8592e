//! Rows as requests: what a row says is put into the words of the API, and judged as a request of those is.

mod cells;
mod customers;
mod products;
mod stock;

use gateway::problem::FieldError;
use ground::fields::Currency;
use serde_json::Value;

use super::finding::Finding;
use super::sheet::Row;
use super::{ImportKind, Place};

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
    header: &'a [String],
    currency: &'a Currency,
}

impl<'a> Format<'a> {
    pub(super) fn of(kind: ImportKind, place: &'a Place, currency: &'a Currency) -> Self {
        Self { kind, header: &place.header, currency }
    }

    /// The columns that are not read.
    pub(super) fn ignored(&self) -> Vec<String> {
        let is_known = |name: &str| match self.kind {
            ImportKind::Products => products::Column::of(name).is_some(),
            ImportKind::Customers => customers::Column::of(name).is_some(),
            ImportKind::Inventory => stock::Column::of(name).is_some(),
        };
        self.header.iter().filter(|name| !is_known(name)).cloned().collect()
    }

    /// Columns without one of which nothing can be read.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let has = |names: &[&str]| {
            let same = |name: &String| names.iter().any(|one| one.eq_ignore_ascii_case(name));
            self.header.iter().any(same)
        };
        let needed: &[&[&'static str]] = match self.kind {
            ImportKind::Products => &[&["Title"]],
            ImportKind::Customers => &[&["Email"]],
            ImportKind::Inventory => {
                &[&["SKU", "Item ID"], &["Available", "On hand", "On hand (new)"]]
            }
        };
        let absent = needed.iter().filter(|names| !has(names));
        absent.filter_map(|names| names.first().copied()).collect()
    }

    /// How many of these rows, which follow each other, are one record's; none when it may go on behind
    /// them.
    pub(super) fn rows_of_record(&self, rows: &[Row], is_all: bool) -> Option<usize> {
        if self.kind != ImportKind::Products {
            return (!rows.is_empty()).then_some(1);
        }
        products::rows_of_record(self.header, rows, is_all)
    }

    /// What these rows ask for.
    pub(super) fn record(&self, rows: &[Row]) -> Option<Record> {
        match self.kind {
            ImportKind::Products => products::record(self.header, rows, self.currency),
            ImportKind::Customers => rows.first().map(|row| customers::record(self.header, row)),
            ImportKind::Inventory => rows.first().map(|row| stock::record(self.header, row)),
        }
    }
}
