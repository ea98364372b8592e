//! Products of WooCommerce's product files. A row is a simple product, a variable one, or a variation, which
//! is below its product and names it by SKU or id. A variation that does not follow its product is read with
//! that product's row, and added to it.

mod attributes;
mod categories;
mod columns;
mod prices;

use core_types::fields::Handle;
use serde_json::{Map, Value, json};

use super::super::cells::{self, Reading};
use super::super::record::{CellSettings, Record, Relation};
use super::assembly::ProductBody;
use super::{head, variants};
use crate::import::columns::{Columns, Slot};
use crate::import::rows::SheetRow;
use columns::{Column, list, slot};

/// The decimals with which weights are converted.
const DECIMALS: usize = 6;
/// The name, among metadata, of the short description of a product that has another one.
const SHORT: &str = "Short description";
/// Units of weight, in hundred-millionths of a gram.
const UNITS: [(Column, i128); 4] = [
    (Column::Kilograms, 100_000_000_000),
    (Column::Grams, 100_000_000),
    (Column::Pounds, 45_359_237_000),
    (Column::Ounces, 2_834_952_313),
];

/// The slot of the column with this name.
pub(in crate::import) fn slot_of(name: &str) -> Option<Slot> {
    Column::slot_of(name).or_else(|| attributes::slot_of(name))
}

/// Whether these are the columns of WooCommerce's files. All of them are read, so that the columns that are
/// stored with an import have them too.
pub(in crate::import) fn has_columns(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name.trim().eq_ignore_ascii_case(wanted));
    has("Type") && has("Name") && has("Regular price") && !has("Title")
}

/// The names of the product that a row belongs to: a variation has the one that it names, and a product its SKU and
/// its id.
pub(super) fn products_of(columns: &Columns, row: &SheetRow) -> Vec<String> {
    let reading = Reading::of(columns);
    let text = |column| reading.code(row, slot(column)).map(|(text, _)| text.to_owned());
    if is_variation(&reading, row) {
        return text(Column::Parent).into_iter().collect();
    }
    let id = text(Column::Id).map(|id| format!("id:{id}"));
    text(Column::Sku).into_iter().chain(id).collect()
}

/// The relation of a row to others: a variable product, or a variation of one.
pub(in crate::import) fn relation(columns: &Columns, row: &SheetRow) -> Option<Relation> {
    let mut keys = products_of(columns, row);
    let kinds = kinds(&Reading::of(columns), row);
    let has = |wanted: &str| kinds.iter().any(|kind| kind == wanted);
    if has("variation") {
        return keys.pop().map(Relation::ChildOf);
    }
    let is_parent = has("variable") || has("variable-subscription");
    (is_parent && !keys.is_empty()).then_some(Relation::Parent(keys))
}

fn is_variation(reading: &Reading<'_>, row: &SheetRow) -> bool {
    kinds(reading, row).iter().any(|kind| kind == "variation")
}

/// The words of a row's type: `simple`, `variable`, `simple, virtual`, …
fn kinds(reading: &Reading<'_>, row: &SheetRow) -> Vec<String> {
    let cell = reading.cell(row, slot(Column::Type)).map_or("", |(cell, _)| cell);
    cells::words(cell).map(str::to_ascii_lowercase).collect()
}

/// The record of a product's rows: a body of `POST /v1/products`.
pub(super) fn record(
    columns: &Columns,
    rows: &[SheetRow],
    settings: &CellSettings,
) -> Option<Record> {
    let first = rows.first()?;
    let mut reading = Reading::of(columns);
    if is_variation(&reading, first) {
        let detail = "No earlier row has a product with this SKU or id.";
        reading.reject(first.number, Some("Parent"), "parent_missing", detail);
        return Some(reading.rejected(first.number));
    }
    let own = rows.get(1..).unwrap_or_default();
    // Its variations are below, and each comes with it.
    if own.is_empty() && matches!(relation(columns, first), Some(Relation::Parent(_))) {
        return None;
    }
    let mut product = ProductBody::of(product_head(&mut reading, first));
    product.options = attributes::options(&mut reading, first, own);
    let metadata = attributes::metadata(&mut reading, first, &product.options);
    product.add_metadata(metadata);
    reading.category = categories::category(&mut reading, first);
    for (number, url) in images(&reading, first).into_iter().enumerate() {
        let column = reading.name(slot(Column::Images));
        reading.source(&product.next_image(), first.number, column);
        let position = i64::try_from(number).ok();
        product.add_image(&mut reading, first.number, position, json!({"url": url}));
    }
    for row in if own.is_empty() { rows } else { own } {
        if is_disabled(&mut reading, row, first)
            || !product.has_room_for_variant(&mut reading, row.number)
        {
            continue;
        }
        let at = product.next_variant();
        let variant = variant(&mut reading, &at, (row, first), settings);
        let values = attributes::values(&mut reading, &at, row, &product.options);
        product.add_variant(&mut reading, row.number, variant, values);
    }
    Some(product.record(reading, first.number))
}

/// The members of the product itself.
fn product_head(reading: &mut Reading<'_>, row: &SheetRow) -> Map<String, Value> {
    let mut body = Map::new();
    reading.text(&mut body, ("", "title"), row, slot(Column::Name));
    if let Some((name, column)) = reading.cell(row, slot(Column::Name)) {
        reading.source("/handle", row.number, column);
        body.insert("handle".into(), Handle::made_of(name, "product").into());
    }
    let description = [Column::Description, Column::ShortDescription];
    let mut description = description.into_iter().filter_map(|one| reading.cell(row, slot(one)));
    let (description, short) = (description.next(), description.next());
    let text = |text: &str| Value::from(text.replace("\\n", "\n"));
    if let Some((html, column)) = description {
        reading.source("/description", row.number, column);
        body.insert("description".into(), text(html));
    }
    if let Some((html, column)) = short {
        reading.source(&format!("/metadata/{SHORT}"), row.number, column);
        body.insert("metadata".into(), json!({SHORT: text(html)}));
    }
    reading.text(&mut body, ("", "vendor"), row, slot(Column::Brands));
    if let Some((class, column)) = reading.code(row, slot(Column::TaxClass))
        && !["standard", "parent"].contains(&class)
    {
        reading.source("/tax_class", row.number, column);
        body.insert("tax_class".into(), class.into());
    }
    if let Some((cell, column)) = reading.cell(row, slot(Column::Tags)) {
        body.insert("tags".into(), head::tags(reading, (row.number, column), list(cell)));
    }
    body.insert("status".into(), status(reading, row).into());
    if let Some((cell, column)) = reading.code(row, slot(Column::SoldIndividually))
        && cell == "1"
    {
        let detail = "Limits per order are not supported. The product is imported without one.";
        reading.warn(row.number, column, "limit_not_supported", detail);
    }
    body
}

/// The status: what is private, hidden, or sold in another way than as goods is not put on sale.
fn status(reading: &mut Reading<'_>, row: &SheetRow) -> &'static str {
    const SOLD: [&str; 5] = ["simple", "variable", "virtual", "downloadable", "variation"];
    let is_published = reading.code(row, slot(Column::Published)).is_some_and(|it| it.0 == "1");
    let column = reading.name(slot(Column::Type));
    if let Some(kind) = kinds(reading, row).iter().find(|kind| !SOLD.contains(&kind.as_str())) {
        let detail = format!(
            "Products of type {kind} are not supported. The product is imported as a draft."
        );
        reading.warn(row.number, column, "product_type_not_supported", &detail);
        return "draft";
    }
    match reading.cell(row, slot(Column::Visibility)) {
        Some(("hidden", column)) => {
            let detail = "This visibility is not supported. The product is imported as a draft.";
            reading.warn(row.number, column, "visibility_not_supported", detail);
            return "draft";
        }
        Some((cell @ ("search" | "catalog"), column)) => {
            let detail = format!(
                "The visibility {cell} is not supported. The product is visible everywhere."
            );
            reading.warn(row.number, column, "visibility_not_supported", &detail);
        }
        _ => {}
    }
    if is_published { "active" } else { "draft" }
}

/// Whether a variation is disabled: it is left out, with a warning.
fn is_disabled(reading: &mut Reading<'_>, row: &SheetRow, first: &SheetRow) -> bool {
    let published = reading.code(row, slot(Column::Published));
    let is_off = row.number != first.number && published.is_some_and(|(cell, _)| cell != "1");
    if is_off {
        let detail = "The variation is disabled, and was not imported.";
        let column = reading.name(slot(Column::Published));
        reading.warn(row.number, column, "variation_disabled", detail);
    }
    is_off
}

/// The addresses of the images.
fn images<'r>(reading: &Reading<'_>, row: &'r SheetRow) -> Vec<&'r str> {
    let cell = reading.cell(row, slot(Column::Images));
    cell.map(|(cell, _)| cells::words(cell).collect()).unwrap_or_default()
}

/// The variant of a row; what a variation leaves out it has from its product.
fn variant(
    reading: &mut Reading<'_>,
    at: &str,
    (row, first): (&SheetRow, &SheetRow),
    settings: &CellSettings,
) -> Map<String, Value> {
    let mut body = Map::new();
    reading.source(at, row.number, "");
    variants::sku(reading, (at, &mut body), row, slot(Column::Sku));
    variants::barcode(reading, (at, &mut body), row, slot(Column::Barcode));
    prices::add(reading, (at, &mut body), row, settings);
    let weight = weight(reading, row).or_else(|| weight(reading, first));
    body.extend(weight.map(|grams| ("weight_grams".to_owned(), grams.into())));
    let is_virtual = kinds(reading, row).iter().any(|kind| kind == "virtual");
    body.insert("requires_shipping".into(), (!is_virtual).into());
    body.insert("taxable".into(), is_taxable(reading, row, first).into());
    if row.number != first.number
        && let Some(url) = images(reading, row).first()
    {
        let column = reading.name(slot(Column::Images));
        reading.source(&format!("{at}/image_url"), row.number, column);
        body.insert("image_url".into(), (*url).into());
    }
    body.extend(inventory(reading, at, row).map(|inventory| ("inventory".to_owned(), inventory)));
    body
}

/// The weight in grams.
fn weight(reading: &mut Reading<'_>, row: &SheetRow) -> Option<i64> {
    let unit = |(column, unit)| reading.code(row, slot(column)).map(|cell| (cell, unit));
    let (cell, unit) = UNITS.into_iter().find_map(unit)?;
    let number = i128::from(reading.rounded(row.number, cell, DECIMALS)?);
    let scale = 100_000_000_i128.saturating_mul(1_000_000);
    let grams = number.saturating_mul(unit).saturating_add(scale / 2).checked_div(scale)?;
    i64::try_from(grams).ok()
}

/// Whether tax is levied: `taxable`, `shipping` (on it alone) or `none`.
fn is_taxable(reading: &mut Reading<'_>, row: &SheetRow, first: &SheetRow) -> bool {
    let cell = reading.cell(row, slot(Column::TaxStatus));
    let cell = cell.or_else(|| reading.cell(first, slot(Column::TaxStatus)));
    if let Some(("shipping", column)) = cell {
        let detail =
            "Separate taxing of shipping is not supported. Neither goods nor shipping are taxed.";
        reading.warn(row.number, column, "tax_status_not_supported", detail);
    }
    cell.is_none_or(|(cell, _)| cell == "taxable")
}

/// The inventory: a quantity is tracked, and so is that there is none.
fn inventory(reading: &mut Reading<'_>, at: &str, row: &SheetRow) -> Option<Value> {
    let stock = reading.code(row, slot(Column::Stock)).filter(|(cell, _)| *cell != "parent");
    let is_out = reading.code(row, slot(Column::InStock)).is_some_and(|(cell, _)| cell == "0");
    if stock.is_none() && !is_out {
        return None;
    }
    let quantity = match stock {
        Some(cell) => {
            reading.source(&format!("{at}/inventory/levels"), row.number, cell.1);
            let quantity = reading.rounded(row.number, cell, 0).unwrap_or(0);
            reading.not_negative(row.number, cell.1, quantity)
        }
        None => 0,
    };
    let backorders = reading.code(row, slot(Column::Backorders)).map_or("0", |(cell, _)| cell);
    let policy = if backorders == "0" { "deny" } else { "continue" };
    Some(json!({"tracked": true, "policy": policy, "levels": [{"quantity": quantity}]}))
}
