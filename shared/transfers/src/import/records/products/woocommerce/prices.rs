//! Prices, and sales: a sale of some days is on if the import was started on one of them.

use std::cmp::Ordering;

use primitives::fields::FromText;
use sales::gift_card::LastDay;
use serde_json::{Map, Value};

use super::super::super::cells::Reading;
use super::super::super::record::CellSettings;
use super::super::variants;
use super::columns::{Column, slot};
use crate::import::rows::SheetRow;

/// The code of a sale that was not taken as it is.
const NOT_TAKEN: &str = "sale_not_supported";

/// Adds the price, and the regular one as compare-at price of a sale that is on.
pub(super) fn add(
    reading: &mut Reading<'_>,
    (at, body): (&str, &mut Map<String, Value>),
    row: &SheetRow,
    settings: &CellSettings,
) {
    let currency = &settings.currency;
    let is_on =
        reading.code(row, slot(Column::SalePrice)).is_some() && is_on(reading, row, settings);
    if !is_on {
        variants::price(reading, (at, body), row, (slot(Column::RegularPrice), currency));
        return;
    }
    variants::price(reading, (at, body), row, (slot(Column::SalePrice), currency));
    if let Some(cell) = reading.code(row, slot(Column::RegularPrice)) {
        reading.source(&format!("{at}/compare_at"), row.number, cell.1);
        let money = reading.money(row.number, cell, (currency, "The value was ignored."));
        body.extend(money.map(|money| ("compare_at".to_owned(), money)));
    }
}

/// Whether the sale is on. That it begins or ends is a warning: prices here do not change by themselves.
fn is_on(reading: &mut Reading<'_>, row: &SheetRow, settings: &CellSettings) -> bool {
    for (column, early, code) in [
        (Column::SaleStarts, Ordering::Greater, "begins on"),
        (Column::SaleEnds, Ordering::Less, "ended on"),
    ] {
        let Some((cell, name)) = reading.cell(row, slot(column)) else { continue };
        let Some(day) = day(cell) else {
            let detail = "Must be a date like `2027-12-31`. The regular price was imported.";
            reading.warn(row.number, name, "invalid_date", detail);
            return false;
        };
        if day.cmp(settings.today.as_str()) == early {
            let detail = format!("The sale {code} {day}: the regular price was imported.");
            reading.warn(row.number, name, NOT_TAKEN, &detail);
            return false;
        }
    }
    if let Some((cell, name)) = reading.cell(row, slot(Column::SaleEnds)) {
        let day = day(cell).unwrap_or_default();
        let detail =
            format!("The sale price was imported, and stays after the sale's end on {day}.");
        reading.warn(row.number, name, NOT_TAKEN, &detail);
    }
    true
}

/// The day of a date, which may have a time: `2027-12-31 0:00:00`.
fn day(cell: &str) -> Option<&str> {
    let day = cell.split([' ', 'T']).next()?;
    LastDay::from_text(day).is_ok().then_some(day)
}
