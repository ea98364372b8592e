//! Rows as requests: the cells of a row become the body of a request of the API, and are validated like
//! one. A cell that its field rejects costs that cell, and not its row ([`Record::spare`]).

mod cells;
mod customers;
mod layout;
mod notation;
mod parts;
mod products;
mod record;
mod response;
mod stock;

use super::ImportKind;
use super::columns::{Columns, Layout};
use super::finding::Finding;
use super::rows::SheetRow;
use products::woocommerce;

pub(super) use notation::{Decimals, has_decimal_comma};
pub(super) use record::{CellSettings, Record, Relation};

/// The column names of a kind of import, and the conversion of rows to records.
#[derive(Debug)]
pub(super) struct Format<'a> {
    kind: ImportKind,
    columns: &'a Columns,
    settings: &'a CellSettings,
}

impl<'a> Format<'a> {
    pub(super) const fn of(
        kind: ImportKind,
        columns: &'a Columns,
        settings: &'a CellSettings,
    ) -> Self {
        Self { kind, columns, settings }
    }

    /// The columns of these names.
    pub(super) fn columns(kind: ImportKind, names: &[String]) -> Columns {
        match kind {
            ImportKind::Products if woocommerce::has_columns(names) => {
                Columns::of(names, woocommerce::slot_of).in_layout(Layout::WooCommerce)
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

    /// The keys of which the rows of one record share one; empty where each row is a record.
    pub(super) fn shared_keys(kind: ImportKind, columns: &Columns, row: &SheetRow) -> Vec<String> {
        match kind {
            ImportKind::Products => products::names(columns, row),
            ImportKind::Customers => customers::identifier(columns, row).into_iter().collect(),
            ImportKind::Inventory => Vec::new(),
        }
    }

    /// The relation of a row to other rows of the file.
    pub(super) fn relation(
        kind: ImportKind,
        columns: &Columns,
        row: &SheetRow,
    ) -> Option<Relation> {
        let is_woocommerce = columns.layout() == Layout::WooCommerce;
        (kind == ImportKind::Products && is_woocommerce)
            .then(|| woocommerce::relation(columns, row))
            .flatten()
    }

    /// Whether a row belongs to the record whose rows share one of these keys.
    pub(super) fn continues(
        kind: ImportKind,
        columns: &Columns,
        keys: &[String],
        row: &SheetRow,
    ) -> bool {
        let is_same = Self::shared_keys(kind, columns, row).iter().any(|key| keys.contains(key));
        is_same && (kind != ImportKind::Customers || customers::is_further_address(columns, row))
    }

    /// The records of these rows: one, but for stock with a column for each location.
    pub(super) fn records(&self, rows: &[SheetRow]) -> Vec<Record> {
        let record = match (self.kind, rows.first()) {
            (ImportKind::Products, _) => products::record(self.columns, rows, self.settings),
            (ImportKind::Customers, _) => customers::record(self.columns, rows),
            (ImportKind::Inventory, Some(row)) => return stock::records(self.columns, row),
            (ImportKind::Inventory, None) => None,
        };
        record.into_iter().collect()
    }
}
