//! The variant of a row.

use core_types::fields::Currency;
use serde_json::{Map, Value, json};

use super::super::cells::Reading;
use super::columns::{Column, slot};
use crate::import::columns::Slot;
use crate::import::rows::SheetRow;

/// The consequence for a product with an unreadable price.
const UNPRICED: &str = "A new product is imported as a draft, with the price 0.";
/// The consequence for a variant of which it is unclear whether it is discontinued.
const DISCONTINUED: &str = "The variant is imported as discontinued.";
/// The consequence for another cell that is no amount.
const LEFT_OUT: &str = "The value was ignored.";

/// The variant of a row.
pub(super) fn variant(
    reading: &mut Reading<'_>,
    at: &str,
    row: &SheetRow,
    currency: &Currency,
) -> Map<String, Value> {
    let mut body = Map::new();
    reading.source(at, row.number, "");
    sku(reading, (at, &mut body), row, slot(Column::Sku));
    barcode(reading, (at, &mut body), row, slot(Column::Barcode));
    customs(reading, (at, &mut body), row, (slot(Column::HsCode), slot(Column::Origin)));
    reading.text(&mut body, (at, "image_url"), row, slot(Column::VariantImage));
    price(reading, (at, &mut body), row, (slot(Column::Price), currency));
    if let Some(cell) = reading.code(row, slot(Column::CompareAt)) {
        reading.source(&format!("{at}/compare_at"), row.number, cell.1);
        // Shopify writes 0 for none.
        let money = reading.money(row.number, cell, (currency, LEFT_OUT));
        let money = money.filter(|money| money.get("amount") != Some(&json!(0)));
        body.extend(money.map(|money| ("compare_at".to_owned(), money)));
    }
    if let Some(cell) = reading.code(row, slot(Column::Grams)) {
        reading.source(&format!("{at}/weight_grams"), row.number, cell.1);
        let grams = reading.rounded(row.number, cell, 0);
        body.extend(grams.map(|grams| ("weight_grams".to_owned(), grams.into())));
    }
    for (member, column) in
        [("requires_shipping", Column::RequiresShipping), ("taxable", Column::Taxable)]
    {
        if let Some(cell) = reading.cell(row, slot(column)) {
            let flag = reading.flag(row.number, cell);
            body.extend(flag.map(|flag| (member.to_owned(), flag.into())));
        }
    }
    if let Some(cell) = reading.cell(row, slot(Column::Discontinued)) {
        // What may not be on sale is not put on sale.
        let flag = reading.flag_or(row.number, cell, DISCONTINUED).unwrap_or(true);
        body.insert("discontinued".into(), flag.into());
    }
    body.extend(inventory(reading, at, row).map(|inventory| ("inventory".to_owned(), inventory)));
    body
}

/// Adds the price. Without one the variant costs 0, and its product is a draft.
pub(super) fn price(
    reading: &mut Reading<'_>,
    (at, body): (&str, &mut Map<String, Value>),
    row: &SheetRow,
    (column, currency): (Slot, &Currency),
) {
    let cell = reading.code(row, column);
    match cell {
        Some((_, name)) => reading.source(&format!("{at}/price"), row.number, name),
        None => reading.would_come(&format!("{at}/price"), row.number, column),
    }
    let price = cell.and_then(|cell| reading.money(row.number, cell, (currency, UNPRICED)));
    if cell.is_none() && reading.has(column) {
        let name = reading.name(column).to_owned();
        let detail = format!("The variant has no price. {UNPRICED}");
        reading.warn(row.number, &name, "required", &detail);
    }
    if price.is_none() {
        let number = at.rsplit('/').next().and_then(|number| number.parse().ok());
        reading.unpriced.variants.extend::<Option<usize>>(number);
    }
    let price = price.unwrap_or_else(|| json!({"amount": 0, "currency": currency}));
    body.insert("price".into(), price);
}

/// Adds the SKU. One that a spreadsheet may have rounded is imported with a warning: it may be right.
pub(super) fn sku(
    reading: &mut Reading<'_>,
    (at, body): (&str, &mut Map<String, Value>),
    row: &SheetRow,
    column: Slot,
) {
    reading.code_text(body, (at, "sku"), row, column);
    if let Some((cell, name)) = reading.code(row, column)
        && is_power_of_ten(cell)
    {
        let detail = "A spreadsheet may have rounded this number. It was imported unchanged.";
        reading.warn(row.number, name, "rounded_number", detail);
    }
}

/// Adds the barcode. A spreadsheet may have left `5.90123E+12` of it, which is another one.
pub(super) fn barcode(
    reading: &mut Reading<'_>,
    (at, body): (&str, &mut Map<String, Value>),
    row: &SheetRow,
    column: Slot,
) {
    reading.code_text(body, (at, "barcode"), row, column);
    let Some((cell, name)) = reading.code(row, column) else { return };
    if is_power_of_ten(cell) {
        body.remove("barcode");
        let detail = "A spreadsheet has rounded this number. The value was ignored.";
        reading.warn(row.number, name, "rounded_number", detail);
    }
}

/// Adds what customs ask for: the HS code, and the country of origin.
pub(in crate::import::records) fn customs(
    reading: &mut Reading<'_>,
    (at, body): (&str, &mut Map<String, Value>),
    row: &SheetRow,
    (code, origin): (Slot, Slot),
) {
    reading.code_text(body, (at, "hs_code"), row, code);
    if let Some((cell, column)) = reading.code(row, origin) {
        reading.source(&format!("{at}/country_of_origin"), row.number, column);
        body.insert("country_of_origin".into(), cell.to_uppercase().into());
    }
}

/// Whether a spreadsheet has written a long number in powers of ten.
fn is_power_of_ten(text: &str) -> bool {
    let Some((number, power)) = text.split_once(['e', 'E']) else { return false };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let number = number.replacen(['.', ','], "", 1);
    is_digits(&number) && power.strip_prefix('+').is_some_and(is_digits)
}

/// The inventory of a variant; none when the tracker cell is empty: its stock is not tracked then. A file
/// without trackers tracks what it has a quantity for.
fn inventory(reading: &mut Reading<'_>, at: &str, row: &SheetRow) -> Option<Value> {
    let at = format!("{at}/inventory");
    let tracker =
        if reading.has(slot(Column::Tracker)) { Column::Tracker } else { Column::Quantity };
    reading.cell(row, slot(tracker))?;
    let mut body = Map::new();
    body.insert("tracked".into(), true.into());
    if let Some((cell, column)) = reading.cell(row, slot(Column::Policy)) {
        reading.source(&format!("{at}/policy"), row.number, column);
        let word = match cell.to_ascii_lowercase().as_str() {
            "true" | "continue" => "continue".to_owned(),
            "false" | "deny" => "deny".to_owned(),
            other => other.to_owned(),
        };
        body.insert("policy".into(), word.into());
    }
    if let Some(cell) = reading.code(row, slot(Column::Quantity)) {
        reading.source(&format!("{at}/levels"), row.number, cell.1);
        let quantity = reading.quantity(row.number, cell);
        let levels = quantity.map(|quantity| json!([{"quantity": quantity}]));
        body.extend(levels.map(|levels| ("levels".to_owned(), levels)));
    }
    Some(body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_barcodes_are_recognized() {
        for text in ["5.9E+12", "5,90123E+12", "4e+12"] {
            assert!(is_power_of_ten(text), "{text}");
        }
        for text in ["4006381333931", "E12", "AB-E+1", "12E4", ""] {
            assert!(!is_power_of_ten(text), "{text}");
        }
    }
}
