//! Quantities of variants, at locations.

use serde_json::{Map, Value};

use super::Record;
use super::cells::{self, Reading};
use crate::import::columns::{Columns, Slot};
use crate::import::rows::Row;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Sku,
    ItemId,
    Location,
    LocationId,
    Available,
    OnHand,
}

/// The names of the columns.
const NAMES: &[(Column, &[&str])] = &[
    (Column::Sku, &["SKU"]),
    (Column::ItemId, &["Item ID"]),
    (Column::Location, &["Location"]),
    (Column::LocationId, &["Location ID"]),
    (Column::Available, &["Available"]),
    (Column::OnHand, &["On hand", "On hand (new)"]),
];

impl Column {
    /// The slot of the column with this name.
    pub(super) fn slot_of(name: &str) -> Option<Slot> {
        cells::slot_of(name, NAMES)
    }
}

/// The record of a row.
pub(super) fn record(columns: &Columns, row: &Row) -> Record {
    let mut reading = Reading::of(columns);
    let mut body = Map::new();
    let is = |column: Column| cells::slot(&column, NAMES);
    for (member, column) in [
        ("sku", Column::Sku),
        ("item_id", Column::ItemId),
        ("location", Column::Location),
        ("location_id", Column::LocationId),
    ] {
        reading.text(&mut body, ("", member), row, is(column));
    }
    for (member, column) in [("available", Column::Available), ("on_hand", Column::OnHand)] {
        if let Some(cell) = reading.cell(row, is(column)) {
            reading.source(&format!("/{member}"), row.number, cell.1);
            let number = reading.number(row.number, cell);
            body.insert(member.into(), number.map_or(Value::from(0), Value::from));
        } else {
            reading.would_come(&format!("/{member}"), row.number, is(column));
        }
    }
    reading.record(row.number, body)
}
