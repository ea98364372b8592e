//! Quantities of variants, at locations. The columns are those of Shopify's inventory files since 2023.

use serde_json::{Map, Value};

use super::Record;
use super::cells::{self, Reading};
use crate::import::columns::{Columns, Slot};
use crate::import::finding::Finding;
use crate::import::rows::Row;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Sku,
    ItemId,
    Handle,
    OptionValue(usize),
    Location,
    LocationId,
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
    (Column::Available, &["Available", "Available (not editable)"]),
    (Column::OnHand, &["On hand", "On hand (current)"]),
    (Column::OnHandNew, &["On hand (new)"]),
];

/// The quantities of a row, by preference: what was counted last, then what can be sold.
const QUANTITIES: [(Column, &str); 3] =
    [(Column::OnHandNew, "on_hand"), (Column::Available, "available"), (Column::OnHand, "on_hand")];
/// The cell of an item that a location does not stock.
const NOT_STOCKED: &str = "not stocked";
/// The option value of a product without options.
const ONLY_VALUE: &str = "Default Title";
/// The most options of a product.
const OPTIONS: usize = 3;

impl Column {
    /// The slot of the column with this name.
    pub(super) fn slot_of(name: &str) -> Option<Slot> {
        cells::slot_of(name, NAMES)
    }
}

fn slot(column: Column) -> Slot {
    cells::slot(&column, NAMES)
}

/// The required columns that are missing, each of which stands for those that would do as well.
pub(super) fn missing(columns: &Columns, row: u64) -> Vec<Finding> {
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

/// The record of a row; none for an item that its location does not stock.
pub(super) fn record(columns: &Columns, row: &Row) -> Option<Record> {
    let mut reading = Reading::of(columns);
    let mut body = Map::new();
    reading.code_text(&mut body, ("", "sku"), row, slot(Column::Sku));
    reading.code_text(&mut body, ("", "item_id"), row, slot(Column::ItemId));
    reading.text(&mut body, ("", "location"), row, slot(Column::Location));
    reading.code_text(&mut body, ("", "location_id"), row, slot(Column::LocationId));
    if let Some((handle, column)) = reading.cell(row, slot(Column::Handle)) {
        reading.source("/product_handle", row.number, column);
        body.insert("product_handle".into(), handle.into());
        body.insert("option_values".into(), option_values(&mut reading, row));
    }
    let quantity = QUANTITIES.into_iter().find_map(|(column, member)| {
        let cell = reading.code(row, slot(column))?;
        Some((cell, member))
    });
    match quantity {
        Some(((cell, _), _)) if cell.eq_ignore_ascii_case(NOT_STOCKED) => return None,
        Some((cell, member)) => {
            reading.source(&format!("/{member}"), row.number, cell.1);
            match reading.quantity(row.number, cell) {
                Some(number) => {
                    body.insert(member.into(), number.into());
                }
                None => reading.escalate(),
            }
        }
        None => {
            let known = QUANTITIES.into_iter().find(|(column, _)| reading.has(slot(*column)));
            if let Some((column, _)) = known {
                reading.would_come("/available", row.number, slot(column));
            }
        }
    }
    Some(reading.record(row.number, body))
}

/// The values by which a product's variant is found.
fn option_values(reading: &mut Reading<'_>, row: &Row) -> Value {
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
