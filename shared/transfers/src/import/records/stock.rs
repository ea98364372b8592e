//! Quantities of variants, at locations. The columns are those of Shopify's inventory files since 2023, or those of
//! its files of available quantities: a column for each location.

use serde_json::{Map, Value};

use super::cells::{self, Reading};
use super::products;
use super::record::Record;
use crate::import::columns::{Columns, Layout, Slot};
use crate::import::finding::Finding;
use crate::import::rows::SheetRow;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Sku,
    ItemId,
    Handle,
    OptionValue(usize),
    Location,
    LocationId,
    HsCode,
    Origin,
    Available,
    OnHand,
    OnHandNew,
}

/// The names of the columns.
const NAMES: &[(Column, &[&str])] = &[
    (Column::Sku, &["SKU"]),
    (Column::ItemId, &["Item ID"]),
    (Column::Handle, &["Handle"]),
    (Column::OptionValue(0), &["Option1 Value"]),
    (Column::OptionValue(1), &["Option2 Value"]),
    (Column::OptionValue(2), &["Option3 Value"]),
    (Column::Location, &["Location"]),
    (Column::LocationId, &["Location ID"]),
    (Column::HsCode, &["HS Code"]),
    (Column::Origin, &["COO"]),
    (Column::Available, &["Available", "Available (not editable)"]),
    (Column::OnHand, &["On hand", "On hand (current)"]),
    (Column::OnHandNew, &["On hand (new)"]),
];

/// The quantities of a row, by preference: what was counted last, then what can be sold.
const QUANTITIES: [(Column, &str); 3] =
    [(Column::OnHandNew, "on_hand"), (Column::Available, "available"), (Column::OnHand, "on_hand")];
/// The cell of an item that a location does not stock.
const NOT_STOCKED: &str = "not stocked";
/// Columns that a file with a column for each location has besides. They tell people what a row is.
const TOLD: [&str; 2] = ["Title", "Option1 Name"];
/// Columns of such a file that are no locations either.
const UNREAD: [&str; 2] = ["Option2 Name", "Option3 Name"];
const TOLD_SLOT: Slot = Slot { index: NAMES.len(), is_repeated: true };
const LOCATION_SLOT: Slot = Slot { index: NAMES.len() + 1, is_repeated: true };
/// The most characters of a location's name.
const MAX_LOCATION: usize = 100;
/// The option value of a product without options.
const ONLY_VALUE: &str = "Default Title";
/// The most options of a product.
const OPTIONS: usize = 3;

impl Column {
    /// The slot of the column with this name.
    pub(super) fn slot_of(name: &str) -> Option<Slot> {
        cells::slot_of(name, NAMES)
    }

    /// The slot of the column with this name in a file with a column for each location.
    pub(super) fn slot_by_location(name: &str) -> Option<Slot> {
        let is_in = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        match Self::slot_of(name) {
            Some(known) => Some(known),
            None if is_in(&TOLD) => Some(TOLD_SLOT),
            None if name.is_empty() || is_in(&UNREAD) || name.chars().count() > MAX_LOCATION => {
                None
            }
            None => Some(LOCATION_SLOT),
        }
    }
}

/// Whether a file with these columns has one for each location: it has those of a product, and none of a
/// location or a quantity. All of them are read, so that the columns that are stored with an import have
/// them too.
pub(super) fn has_locations(names: &[String]) -> bool {
    let has = |wanted: &&str| names.iter().any(|name| name.trim().eq_ignore_ascii_case(wanted));
    let is_single = |(column, own): &(Column, &[&str])| {
        let is_of_rows = !matches!(
            column,
            Column::Sku
                | Column::ItemId
                | Column::Handle
                | Column::OptionValue(_)
                | Column::HsCode
                | Column::Origin
        );
        is_of_rows && own.iter().any(&has)
    };
    ["Handle", "SKU"].iter().chain(&TOLD).all(has) && !NAMES.iter().any(is_single)
}

/// The names of the locations that have a column.
pub(super) fn locations(columns: &Columns) -> Vec<String> {
    columns.names(LOCATION_SLOT)
}

fn slot(column: Column) -> Slot {
    cells::slot(&column, NAMES)
}

/// The required columns that are missing, each of which stands for those that would do as well.
pub(super) fn missing(columns: &Columns, row: u64) -> Vec<Finding> {
    if columns.first(LOCATION_SLOT).is_some() {
        return Vec::new();
    }
    let items: &[Column] = &[Column::Sku, Column::ItemId, Column::Handle];
    let quantities: &[Column] = &[Column::Available, Column::OnHand, Column::OnHandNew];
    let needed = [("SKU", items), ("Available", quantities)];
    let is_missing = |(_, any): &(&str, &[Column])| {
        any.iter().all(|column| columns.first(slot(*column)).is_none())
    };
    let missing = needed.into_iter().filter(is_missing);
    let detail = "This column is required.";
    missing.map(|(name, _)| Finding::error((row, Some(name)), "missing_column", detail)).collect()
}

/// The records of a row: one for each location that stocks the item.
pub(super) fn records(columns: &Columns, row: &SheetRow) -> Vec<Record> {
    if columns.layout() != Layout::StockByLocation {
        return record(columns, row).into_iter().collect();
    }
    let reading = Reading::of(columns);
    let stocked = reading.all(row, LOCATION_SLOT).filter(|(cell, _)| is_stocked(cell));
    let record = |(number, cell)| Record { number, ..at_location(columns, row, cell) };
    stocked.enumerate().map(record).collect()
}

/// The record of what a location has available.
fn at_location(columns: &Columns, row: &SheetRow, (cell, location): (&str, &str)) -> Record {
    let mut reading = Reading::of(columns);
    let mut body = item(&mut reading, row);
    reading.source("/location", row.number, location);
    body.insert("location".into(), location.into());
    let cell = (crate::csv::plain_code(cell), location);
    quantity(&mut reading, &mut body, row, (cell, "available"));
    reading.record(row.number, body)
}

/// The record of a row; none for an item that its location does not stock.
fn record(columns: &Columns, row: &SheetRow) -> Option<Record> {
    let mut reading = Reading::of(columns);
    let mut body = item(&mut reading, row);
    reading.text(&mut body, ("", "location"), row, slot(Column::Location));
    reading.code_text(&mut body, ("", "location_id"), row, slot(Column::LocationId));
    let found = QUANTITIES.into_iter().find_map(|(column, member)| {
        let cell = reading.code(row, slot(column))?;
        Some((cell, member))
    });
    match found {
        Some(((cell, _), _)) if !is_stocked(cell) => return None,
        Some(found) => quantity(&mut reading, &mut body, row, found),
        None => {
            let known = QUANTITIES.into_iter().find(|(column, _)| reading.has(slot(*column)));
            if let Some((column, _)) = known {
                reading.would_come("/available", row.number, slot(column));
            }
        }
    }
    Some(reading.record(row.number, body))
}

fn is_stocked(cell: &str) -> bool {
    !crate::csv::plain_code(cell).eq_ignore_ascii_case(NOT_STOCKED)
}

/// The members by which the item of a row is found.
fn item(reading: &mut Reading<'_>, row: &SheetRow) -> Map<String, Value> {
    let mut body = Map::new();
    reading.code_text(&mut body, ("", "sku"), row, slot(Column::Sku));
    reading.code_text(&mut body, ("", "item_id"), row, slot(Column::ItemId));
    if let Some((handle, column)) = reading.cell(row, slot(Column::Handle)) {
        reading.source("/product_handle", row.number, column);
        body.insert("product_handle".into(), handle.into());
        body.insert("option_values".into(), option_values(reading, row));
    }
    let columns = (slot(Column::HsCode), slot(Column::Origin));
    products::customs(reading, ("", &mut body), row, columns);
    body
}

/// Adds a quantity. Without it the row sets nothing, and is rejected.
fn quantity(
    reading: &mut Reading<'_>,
    body: &mut Map<String, Value>,
    row: &SheetRow,
    (cell, member): ((&str, &str), &str),
) {
    reading.source(&format!("/{member}"), row.number, cell.1);
    match reading.quantity(row.number, cell) {
        Some(number) => {
            body.insert(member.into(), number.into());
        }
        None => reading.escalate(),
    }
}

/// The values by which a product's variant is found.
fn option_values(reading: &mut Reading<'_>, row: &SheetRow) -> Value {
    let mut values = Vec::new();
    for number in 0..OPTIONS {
        let Some((value, column)) = reading.cell(row, slot(Column::OptionValue(number))) else {
            break;
        };
        reading.source(&format!("/option_values/{number}"), row.number, column);
        values.push(value);
    }
    if values == [ONLY_VALUE] {
        values.clear();
    }
    values.into()
}
