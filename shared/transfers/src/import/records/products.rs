//! Products, in the columns of Shopify's product files: its long-standing names, and those since 2025.
//! Files of [`woocommerce`] have columns of their own.

mod assembly;
mod columns;
mod head;
mod variants;
pub(super) mod woocommerce;

use serde_json::{Value, json};

use super::cells::Reading;
use super::record::{CellSettings, Record};
use crate::import::columns::{Columns, Layout};
use crate::import::finding::Finding;
use crate::import::rows::SheetRow;
use assembly::ProductBody;
pub(super) use columns::Column;
use columns::{ONLY_OPTION, OPTIONS, slot};
pub(super) use variants::customs;

/// The required columns that are missing, and a warning for a column without which no product has a price.
pub(super) fn missing(columns: &Columns, row: u64) -> Vec<Finding> {
    if columns.layout() == Layout::WooCommerce {
        return Vec::new();
    }
    let is_missing = |column| columns.first(slot(column)).is_none();
    let title = is_missing(Column::Title).then(|| {
        Finding::error((row, Some("Title")), "missing_column", "This column is required.")
    });
    let price = is_missing(Column::Price).then(|| {
        let detail = "Without this column new products are drafts with the price 0.";
        Finding::warning((row, Some("Variant Price")), "missing_column", detail)
    });
    // A file that cannot be read has its errors alone.
    let price = price.filter(|_| title.is_none());
    title.into_iter().chain(price).collect()
}

/// The handle of a row, or what else names its product: consecutive rows with one of them are one product.
pub(super) fn names(columns: &Columns, row: &SheetRow) -> Vec<String> {
    if columns.layout() == Layout::WooCommerce {
        return woocommerce::products_of(columns, row);
    }
    let reading = Reading::of(columns);
    let handle = reading.cell(row, slot(Column::Handle));
    handle.map(|(handle, _)| handle.to_owned()).into_iter().collect()
}

/// The record of a product's rows: a body of `POST /v1/products`.
pub(super) fn record(
    columns: &Columns,
    rows: &[SheetRow],
    settings: &CellSettings,
) -> Option<Record> {
    if columns.layout() == Layout::WooCommerce {
        return woocommerce::record(columns, rows, settings);
    }
    let first = rows.first()?;
    let mut reading = Reading::of(columns);
    let mut product = ProductBody::of(head::head(&mut reading, first));
    product.options = option_names(&mut reading, first);
    for row in rows {
        let is_variant = row.number == first.number || is_variant(&reading, row);
        if is_variant && product.has_room_for_variant(&mut reading, row.number) {
            let at = product.next_variant();
            let variant = variants::variant(&mut reading, &at, row, &settings.currency);
            let values = option_values(&mut reading, &at, row, product.options.len());
            product.add_variant(&mut reading, row.number, variant, values);
        }
        if let Some((position, image)) = image(&mut reading, &product, row) {
            product.add_image(&mut reading, row.number, position, image);
        }
    }
    Some(product.record(reading, first.number))
}

/// The names of the options; none for a product with a single variant.
fn option_names(reading: &mut Reading<'_>, row: &SheetRow) -> Vec<String> {
    let mut names = Vec::new();
    for number in 0..OPTIONS {
        let Some((name, column)) = reading.cell(row, slot(Column::OptionName(number))) else {
            break;
        };
        let value = reading.cell(row, slot(Column::OptionValue(number))).map(|(value, _)| value);
        if (name, value) == (ONLY_OPTION.0, Some(ONLY_OPTION.1)) {
            break;
        }
        reading.source(&format!("/options/{number}"), row.number, column);
        names.push(name.to_owned());
    }
    names
}

/// Whether a further row has a variant, and not just an image.
fn is_variant(reading: &Reading<'_>, row: &SheetRow) -> bool {
    let columns = [Column::OptionValue(0), Column::Sku, Column::Price];
    columns.into_iter().any(|column| reading.cell(row, slot(column)).is_some())
}

/// The option values of a row's variant.
fn option_values(
    reading: &mut Reading<'_>,
    at: &str,
    row: &SheetRow,
    options: usize,
) -> Vec<(String, String)> {
    let mut option_values = Vec::new();
    for number in 0..options {
        let cell = reading.cell(row, slot(Column::OptionValue(number)));
        let pointer = format!("{at}/options/{number}");
        reading.would_come(&pointer, row.number, slot(Column::OptionValue(number)));
        let (value, column) = cell.unwrap_or_default();
        option_values.push((value.to_owned(), column.to_owned()));
    }
    option_values
}

/// The image of a row, if it has one, with its position.
fn image(
    reading: &mut Reading<'_>,
    product: &ProductBody,
    row: &SheetRow,
) -> Option<(Option<i64>, Value)> {
    let (url, column) = reading.cell(row, slot(Column::ImageUrl))?;
    reading.source(&product.next_image(), row.number, column);
    let position = reading.code(row, slot(Column::ImagePosition));
    let position = position.and_then(|cell| reading.number(row.number, cell));
    let mut image = json!({"url": url});
    if let (Some((alt, _)), Some(image)) =
        (reading.cell(row, slot(Column::ImageAlt)), image.as_object_mut())
    {
        image.insert("alt".into(), alt.into());
    }
    Some((position, image))
}
