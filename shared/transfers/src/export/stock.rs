//! Stock as rows, one for each tracked variant and location, and as lines that an import takes.

use catalogue::inventory::Level;
use catalogue::location::Location;
use catalogue::product::{Product, Variant};
use core_types::fields::{Country, HsCode};
use core_types::id::{LocationId, VariantId};
use serde::Serialize;

use super::columns::ExportRow;

/// The columns.
pub(super) const COLUMNS: &[&str] = &[
    "Handle",
    "Title",
    "Option1 Name",
    "Option1 Value",
    "Option2 Name",
    "Option2 Value",
    "Option3 Name",
    "Option3 Value",
    "SKU",
    "HS Code",
    "COO",
    "Item ID",
    "Location",
    "Location ID",
    "Unavailable",
    "Committed",
    "Available",
    "On hand",
];

/// Shopify's option of a product without options.
const ONLY_OPTION: (&str, &str) = ("Title", "Default Title");

/// The stock of a variant at a location, as a JSON line.
#[derive(Debug, Serialize)]
pub(super) struct LevelLine<'a> {
    item_id: &'a VariantId,
    sku: Option<&'a str>,
    product_handle: &'a str,
    option_values: &'a [String],
    hs_code: Option<&'a HsCode>,
    country_of_origin: Option<&'a Country>,
    location_id: &'a LocationId,
    location: Option<&'a str>,
    available: i64,
}

impl<'a> LevelLine<'a> {
    pub(super) fn of(
        (product, variant): (&'a Product, &'a Variant),
        level: &'a Level,
        location: Option<&'a Location>,
    ) -> Self {
        Self {
            item_id: &variant.id,
            sku: variant.sku.as_deref(),
            product_handle: product.handle.as_str(),
            option_values: &variant.options,
            hs_code: variant.hs_code.as_ref(),
            country_of_origin: variant.country_of_origin.as_ref(),
            location_id: &level.location_id,
            location: location.map(|location| location.name.as_str()),
            available: level.available.max(0),
        }
    }
}

/// The row of a variant's stock at a location.
pub(super) fn row(
    (product, variant): (&Product, &Variant),
    level: &Level,
    location: Option<&Location>,
) -> Vec<String> {
    let mut row = ExportRow::of(COLUMNS)
        .value("Handle", product.handle.as_str())
        .text("Title", &product.title)
        .code("SKU", variant.sku.as_deref())
        .code("HS Code", variant.hs_code.as_ref().map(HsCode::as_str))
        .value("COO", variant.country_of_origin.as_ref().map_or("", Country::as_str))
        .value("Item ID", &variant.id)
        .some("Location", location.map(|location| location.name.as_str()))
        .value("Location ID", &level.location_id)
        .value("Unavailable", level.reserved)
        .value("Committed", level.committed)
        .value("Available", level.available)
        .value("On hand", level.on_hand);
    for ((option, value), number) in product.options.iter().zip(&variant.options).zip(1..) {
        row = row
            .text(&format!("Option{number} Name"), &option.name)
            .text(&format!("Option{number} Value"), value);
    }
    if product.options.is_empty() {
        row = row.text("Option1 Name", ONLY_OPTION.0).text("Option1 Value", ONLY_OPTION.1);
    }
    row.cells()
}
