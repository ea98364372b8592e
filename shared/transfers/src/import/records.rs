//! Rows as requests: the cells of a row become the body of a request of the API, and are validated like
//! one. A cell that its field rejects costs that cell, and not its row ([`Record::spare`]).

mod cells;
mod customers;
mod layout;
mod notation;
mod parts;
mod products;
mod response;
mod stock;

use core_types::fields::Currency;
use primitives::problem::FieldError;
use serde_json::Value;

use super::ImportKind;
use super::columns::{Columns, Layout};
use super::finding::{Finding, Severity};
use super::rows::Row;
use products::woocommerce;

/// The content of a row, or of several rows of a product.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// The first row.
    pub(super) row: u64,
    /// The body of the equivalent request.
    pub(super) body: Value,
    /// The findings about it so far.
    pub(super) faults: Vec<Finding>,
    /// The sources of members of the body: a pointer, a row, a column. None in a file of JSON lines.
    sources: Vec<Source>,
    /// Whether a member that its field rejects is left out: in rows, and in lines of an export.
    is_spared: bool,
    /// Variants that the file has no price for.
    unpriced: Unpriced,
    /// The last of its rows, if it adds to the product of a row further up.
    addition: Option<u64>,
    /// The number of the record among those of its row.
    pub(super) number: usize,
    /// The names of its category and of those above it, the topmost first.
    pub(super) category: Vec<String>,
    /// A row whose warnings another record has told.
    told: Option<u64>,
}

/// What the conversion of cells depends on, besides the columns.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// The store's currency.
    pub(super) currency: Currency,
    /// The day on which the import was started, in the store's time zone: `2027-12-31`.
    pub(super) today: String,
}

/// How a row belongs to others of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relation {
    /// Later rows may belong to it, and name this key.
    Parent(String),
    /// It belongs to the row of this key, which is above it.
    ChildOf(String),
}

/// The source of a member of the body: its pointer, and the row and the column that it comes from.
type Source = (String, u64, String);

/// Variants that the file has no price for. They are created with the price 0, in a product that is a draft.
#[derive(Debug, Clone, Default)]
struct Unpriced {
    variants: Vec<usize>,
    /// The status that the file has for the product.
    status: Option<Value>,
}

impl Record {
    /// The record of a JSON line; its findings have pointers in place of columns.
    pub(super) fn line(kind: ImportKind, row: u64, read: Result<Value, String>) -> Self {
        let fault = |detail: &String| Finding::error((row, None), "invalid_json", detail);
        let faults = read.as_ref().err().map(fault).into_iter().collect();
        let (body, is_spared) =
            read.map(|line| response::request_of(kind, line)).unwrap_or_default();
        Self { body, faults, is_spared, ..Self::rejected(row) }
    }

    /// The record of rows that cannot be read at all.
    pub(super) fn rejected(row: u64) -> Self {
        let unpriced = Unpriced { variants: Vec::new(), status: None };
        let (faults, sources) = (Vec::new(), Vec::new());
        let (body, category) = (Value::Null, Vec::new());
        Self {
            row,
            body,
            faults,
            sources,
            is_spared: false,
            unpriced,
            addition: None,
            number: 0,
            category,
            told: None,
        }
    }

    /// The record of a row to which others should belong, and none does.
    pub(super) fn childless(row: u64) -> Self {
        let detail = "The file has no variation of this product.";
        let fault = Finding::error((row, None), "variations_missing", detail);
        Self { faults: vec![fault], ..Self::rejected(row) }
    }

    /// The record, which adds to the product of a row further up if this last row of it is given.
    pub(super) fn adding(self, addition: Option<u64>) -> Self {
        Self { addition, ..self }
    }

    /// The record, of which the warnings about a row were told by another one.
    pub(super) fn told(self, row: Option<u64>) -> Self {
        Self { told: row, ..self }
    }

    /// All findings about it.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        let is_new = |fault: &Finding| fault.is_error() || Some(fault.row) != self.told;
        self.faults.into_iter().filter(is_new).collect()
    }

    /// Adds a member to the body.
    pub(super) fn insert(&mut self, member: &str, value: Value) {
        if let Some(body) = self.body.as_object_mut() {
            body.insert(member.to_owned(), value);
        }
    }

    /// Adds a warning about a member of the body, at its place in the file.
    pub(super) fn warn(&mut self, error: &FieldError) {
        let found = self.finding(error);
        let warning = |found: Finding| Finding { severity: Severity::Warning, ..found };
        self.faults.extend(found.map(warning));
    }

    /// Whether it adds to the product of a row further up.
    pub(super) const fn is_addition(&self) -> bool {
        self.addition.is_some()
    }

    /// The row that orders it among the records that update one object.
    pub(super) fn order(&self) -> u64 {
        self.addition.unwrap_or(self.row)
    }

    /// Whether it cannot be imported.
    pub(super) fn is_rejected(&self) -> bool {
        self.body.is_null() || self.faults.iter().any(Finding::is_error)
    }

    /// Rejects it for these reasons. A cell whose only finding is a warning is among them.
    pub(super) fn reject(&mut self, reasons: Vec<Finding>) {
        let is_same = |one: &Finding, other: &Finding| {
            (one.row, &one.column, &one.code) == (other.row, &other.column, &other.code)
        };
        self.faults.retain(|known| !reasons.iter().any(|reason| is_same(known, reason)));
        self.faults.extend(reasons);
        if !self.faults.iter().any(Finding::is_error) {
            for fault in &mut self.faults {
                fault.severity = Severity::Error;
            }
        }
    }

    /// The finding for a field error of the body, at its place in the file. None when that cell already
    /// has a finding.
    pub(super) fn finding(&self, error: &FieldError) -> Option<Finding> {
        let holds = |(pointer, ..): &&Source| {
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
        let found = Finding::error((row, column.as_deref()), error.fault.code, &error.fault.detail);
        (!known || column.is_none()).then_some(found)
    }

    /// A finding about the whole record.
    pub(super) fn wrong(&self, code: &str, detail: &str) -> Finding {
        Finding::error((self.row, None), code, detail)
    }
}

/// The column names of a kind of import, and the conversion of rows to records.
#[derive(Debug)]
pub(super) struct Format<'a> {
    kind: ImportKind,
    columns: &'a Columns,
    setting: &'a Setting,
}

impl<'a> Format<'a> {
    pub(super) const fn of(kind: ImportKind, columns: &'a Columns, setting: &'a Setting) -> Self {
        Self { kind, columns, setting }
    }

    /// The columns of these names.
    pub(super) fn columns(kind: ImportKind, names: &[String]) -> Columns {
        match kind {
            ImportKind::Products if woocommerce::has_columns(names) => {
                Columns::of(names, woocommerce::Column::slot_of).in_layout(Layout::WooCommerce)
            }
            ImportKind::Products => Columns::of(names, products::Column::slot_of),
            ImportKind::Customers => Columns::of(names, customers::Column::slot_of),
            ImportKind::Inventory if stock::has_locations(names) => {
                Columns::of(names, stock::Column::slot_by_location)
                    .in_layout(Layout::StockByLocation)
            }
            ImportKind::Inventory => Columns::of(names, stock::Column::slot_of),
        }
    }

    /// The findings about the columns of these names: an error for each required one that is missing, or
    /// for a file of another kind.
    pub(super) fn findings(
        kind: ImportKind,
        columns: &Columns,
        names: &[String],
        row: u64,
    ) -> Vec<Finding> {
        if let Some(detail) = layout::other_kind(kind, names) {
            return vec![Finding::error((row, None), "unknown_layout", detail)];
        }
        match kind {
            ImportKind::Products => products::missing(columns, row),
            ImportKind::Customers => customers::missing(columns, row),
            ImportKind::Inventory => stock::missing(columns, row),
        }
    }

    /// The names of the locations that are columns.
    pub(super) fn locations(columns: &Columns) -> Vec<String> {
        if columns.layout() == Layout::StockByLocation {
            stock::locations(columns)
        } else {
            Vec::new()
        }
    }

    /// What the rows of one record share; none where each row is a record.
    pub(super) fn shared_key(kind: ImportKind, columns: &Columns, row: &Row) -> Option<String> {
        match kind {
            ImportKind::Products => products::handle(columns, row),
            ImportKind::Customers => customers::identifier(columns, row),
            ImportKind::Inventory => None,
        }
    }

    /// How a row belongs to others of the file.
    pub(super) fn relation(kind: ImportKind, columns: &Columns, row: &Row) -> Option<Relation> {
        let is_woocommerce = columns.layout() == Layout::WooCommerce;
        (kind == ImportKind::Products && is_woocommerce)
            .then(|| woocommerce::relation(columns, row))
            .flatten()
    }

    /// Whether a row belongs to the record whose rows share this key.
    pub(super) fn continues(kind: ImportKind, columns: &Columns, key: &str, row: &Row) -> bool {
        let is_same = Self::shared_key(kind, columns, row).as_deref() == Some(key);
        is_same && (kind != ImportKind::Customers || customers::is_further_address(columns, row))
    }

    /// The records of these rows: one, but for stock with a column for each location.
    pub(super) fn records(&self, rows: &[Row]) -> Vec<Record> {
        let record = match (self.kind, rows.first()) {
            (ImportKind::Products, _) => products::record(self.columns, rows, self.setting),
            (ImportKind::Customers, _) => customers::record(self.columns, rows),
            (ImportKind::Inventory, Some(row)) => return stock::records(self.columns, row),
            (ImportKind::Inventory, None) => None,
        };
        record.into_iter().collect()
    }
}
