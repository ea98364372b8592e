//! The members of a product that its first row has, and whether it is on sale.

use serde_json::{Map, Value};

use super::super::cells::{self, Reading};
use super::columns::{Column, slot};
use crate::import::rows::SheetRow;

/// The most tags of one product.
const MAX_TAGS: usize = 250;

/// The members of the product that its first row has.
pub(super) fn head(reading: &mut Reading<'_>, row: &SheetRow) -> Map<String, Value> {
    let mut body = Map::new();
    for (member, column) in [
        ("title", Column::Title),
        ("handle", Column::Handle),
        ("description", Column::Description),
        ("vendor", Column::Vendor),
        ("product_type", Column::Type),
    ] {
        reading.text(&mut body, ("", member), row, slot(column));
    }
    if let Some(Value::String(handle)) = body.get_mut("handle") {
        *handle = handle.to_lowercase();
    }
    reading.code_text(&mut body, ("", "tax_class"), row, slot(Column::TaxClass));
    if let Some(cell) = reading.cell(row, slot(Column::Tags)) {
        let all = cells::words(cell.0).map(str::to_owned).collect();
        body.insert("tags".into(), tags(reading, (row.number, cell.1), all));
    }
    if let Some(status) = status(reading, row) {
        body.insert("status".into(), status.into());
    }
    let mut seo = Map::new();
    for (member, column) in [("title", Column::SeoTitle), ("description", Column::SeoDescription)] {
        reading.text(&mut seo, ("/seo", member), row, slot(column));
    }
    if !seo.is_empty() {
        body.insert("seo".into(), seo.into());
    }
    for (cell, column) in reading.all(row, slot(Column::Included)).collect::<Vec<_>>() {
        if reading.flag(row.number, (cell, column)) == Some(false) {
            let detail = "Markets are not supported. The product is sold wherever the store sells.";
            reading.warn(row.number, column, "market_not_supported", detail);
        }
    }
    body
}

/// The tags of a cell.
pub(super) fn tags(
    reading: &mut Reading<'_>,
    (row, column): (u64, &str),
    all: Vec<String>,
) -> Value {
    reading.source("/tags", row, column);
    if all.len() > MAX_TAGS {
        let detail =
            format!("A product can have at most {MAX_TAGS} tags. The others were ignored.");
        reading.warn(row, column, "too_many_tags", &detail);
    }
    all.into_iter().take(MAX_TAGS).collect()
}

/// The status of the product; none if the row has neither a status nor whether it is published. What is not
/// published, is not for everybody, or is no ordinary product, is not put on sale.
fn status(reading: &mut Reading<'_>, row: &SheetRow) -> Option<&'static str> {
    let published = reading.cell(row, slot(Column::Published));
    let is_hidden = published.map(|cell| reading.flag(row.number, cell) != Some(true));
    let status = reading.cell(row, slot(Column::Status));
    let status = status.map(|cell| imported_status(reading, row.number, cell));
    let status = match (status, is_hidden) {
        (Some("active"), Some(true)) => Some("draft"),
        (None, Some(is_hidden)) => Some(if is_hidden { "draft" } else { "active" }),
        (status, _) => status,
    };
    let gift_card = reading.cell(row, slot(Column::GiftCard));
    match gift_card.map(|cell| (reading.flag(row.number, cell), cell.1)) {
        Some((Some(true), column)) => {
            let detail = "Gift cards cannot be sold as products. This one is imported as a draft; \
                          issue gift cards at `/v1/products/gift-cards`.";
            reading.warn(row.number, column, "gift_card_not_supported", detail);
            Some("draft")
        }
        _ => status,
    }
}

fn imported_status(
    reading: &mut Reading<'_>,
    row: u64,
    (cell, column): (&str, &str),
) -> &'static str {
    match cell.to_ascii_lowercase().as_str() {
        "active" => "active",
        "archived" => "archived",
        "draft" => "draft",
        "unlisted" => {
            let detail = "`unlisted` is not supported. The product is imported as a draft.";
            reading.warn(row, column, "status_not_supported", detail);
            "draft"
        }
        _ => {
            let detail =
                "Must be `active`, `draft` or `archived`. The product is imported as a draft.";
            reading.warn(row, column, "invalid_choice", detail);
            "draft"
        }
    }
}
