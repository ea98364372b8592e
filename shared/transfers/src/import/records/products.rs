//! Products, in the columns of Shopify's product files: its long-standing names, and those since 2025.

use core_types::fields::Currency;
use serde_json::{Map, Value, json};

use super::Record;
use super::cells::{self, Reading};
use crate::import::columns::{Columns, Slot};
use crate::import::rows::Row;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Handle,
    Title,
    Description,
    Vendor,
    Type,
    Tags,
    Published,
    Status,
    OptionName(usize),
    OptionValue(usize),
    Sku,
    Grams,
    Tracker,
    Quantity,
    Policy,
    Price,
    CompareAt,
    RequiresShipping,
    Barcode,
    ImageUrl,
    ImagePosition,
    ImageAlt,
    VariantImage,
    SeoTitle,
    SeoDescription,
    TaxClass,
}

/// The names of the columns.
const NAMES: &[(Column, &[&str])] = &[
    (Column::Handle, &["Handle", "URL handle"]),
    (Column::Title, &["Title"]),
    (Column::Description, &["Body (HTML)", "Body HTML", "Description"]),
    (Column::Vendor, &["Vendor"]),
    (Column::Type, &["Type", "Custom Product Type"]),
    (Column::Tags, &["Tags"]),
    (Column::Published, &["Published", "Published on online store"]),
    (Column::Status, &["Status"]),
    (Column::OptionName(0), &["Option1 Name"]),
    (Column::OptionValue(0), &["Option1 Value"]),
    (Column::OptionName(1), &["Option2 Name"]),
    (Column::OptionValue(1), &["Option2 Value"]),
    (Column::OptionName(2), &["Option3 Name"]),
    (Column::OptionValue(2), &["Option3 Value"]),
    (Column::Sku, &["Variant SKU", "SKU"]),
    (Column::Grams, &["Variant Grams", "Weight value (grams)"]),
    (Column::Tracker, &["Variant Inventory Tracker", "Inventory tracker"]),
    (Column::Quantity, &["Variant Inventory Qty", "Inventory quantity"]),
    (Column::Policy, &["Variant Inventory Policy", "Continue selling when out of stock"]),
    (Column::Price, &["Variant Price", "Price"]),
    (Column::CompareAt, &["Variant Compare At Price", "Compare-at price"]),
    (Column::RequiresShipping, &["Variant Requires Shipping", "Requires shipping"]),
    (Column::Barcode, &["Variant Barcode", "Barcode"]),
    (Column::ImageUrl, &["Image Src", "Product image URL"]),
    (Column::ImagePosition, &["Image Position"]),
    (Column::ImageAlt, &["Image Alt Text"]),
    (Column::VariantImage, &["Variant Image", "Variant image URL"]),
    (Column::SeoTitle, &["SEO Title"]),
    (Column::SeoDescription, &["SEO Description"]),
    (Column::TaxClass, &["Variant Tax Code"]),
];

/// Shopify's option of a product without options.
const ONLY_OPTION: (&str, &str) = ("Title", "Default Title");
/// The placeholder for an option value that a row leaves out.
const NOT_CHOSEN: &str = "?";
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

/// The handle of a row: consecutive rows with one handle are one product.
pub(super) fn handle(columns: &Columns, row: &Row) -> Option<String> {
    let reading = Reading::of(columns);
    reading.cell(row, slot(Column::Handle)).map(|(handle, _)| handle.to_owned())
}

/// The record of a product's rows: a body of `POST /v1/products`.
pub(super) fn record(columns: &Columns, rows: &[Row], currency: &Currency) -> Option<Record> {
    let first = rows.first()?;
    let mut reading = Reading::of(columns);
    let mut body = head(&mut reading, first);
    let names = option_names(&mut reading, first);
    let mut values: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    let (mut variants, mut images) = (Vec::new(), Vec::new());
    for row in rows {
        if row.number == first.number || is_variant(&reading, row) {
            let at = format!("/variants/{}", variants.len());
            let mut variant = variant(&mut reading, &at, row, currency);
            let option_values = option_values(&mut reading, &at, row, names.len());
            for (known, value) in values.iter_mut().zip(&option_values) {
                // A missing value is the variant's error, not the option's.
                let value = if value.is_empty() { NOT_CHOSEN } else { value };
                if !known.iter().any(|one| one == value) {
                    known.push(value.to_owned());
                }
            }
            if !names.is_empty() {
                variant.insert("options".into(), option_values.into());
            }
            variants.push(variant);
        }
        images.extend(image(&mut reading, images.len(), row));
    }
    images.sort_by_key(|(position, _)| *position);
    let mut images: Vec<Value> = images.into_iter().map(|(_, image)| image).collect();
    add_pictures(&mut images, &variants);
    if !names.is_empty() {
        let option =
            |(name, values): (String, Vec<String>)| json!({"name": name, "values": values});
        body.insert("options".into(), names.into_iter().zip(values).map(option).collect());
    }
    body.insert("variants".into(), variants.into_iter().map(Value::Object).collect());
    if !images.is_empty() {
        body.insert("images".into(), images.into());
    }
    Some(reading.record(first.number, body))
}

/// Appends the images of variants that are not among the product's.
fn add_pictures(images: &mut Vec<Value>, variants: &[Map<String, Value>]) {
    for url in variants.iter().filter_map(|variant| variant.get("image_url")) {
        if !images.iter().any(|image| image.get("url") == Some(url)) {
            images.push(json!({"url": url}));
        }
    }
}

/// The members of the product that its first row has.
fn head(reading: &mut Reading<'_>, row: &Row) -> Map<String, Value> {
    let mut body = Map::new();
    for (member, column) in [
        ("title", Column::Title),
        ("handle", Column::Handle),
        ("description", Column::Description),
        ("vendor", Column::Vendor),
        ("product_type", Column::Type),
        ("tax_class", Column::TaxClass),
    ] {
        reading.text(&mut body, ("", member), row, slot(column));
    }
    if let Some((cell, column)) = reading.cell(row, slot(Column::Tags)) {
        reading.source("/tags", row.number, column);
        let tags = cell.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        body.insert("tags".into(), tags.collect());
    }
    if let Some((cell, column)) = reading.cell(row, slot(Column::Status)) {
        reading.source("/status", row.number, column);
        body.insert("status".into(), cell.to_ascii_lowercase().into());
    } else if let Some(cell) = reading.cell(row, slot(Column::Published)) {
        let published = reading.flag(row.number, cell) == Some(true);
        body.insert("status".into(), if published { "active" } else { "draft" }.into());
    }
    let mut seo = Map::new();
    for (member, column) in [("title", Column::SeoTitle), ("description", Column::SeoDescription)] {
        reading.text(&mut seo, ("/seo", member), row, slot(column));
    }
    if !seo.is_empty() {
        body.insert("seo".into(), seo.into());
    }
    body
}

/// The names of the options; none for a product with a single variant.
fn option_names(reading: &mut Reading<'_>, row: &Row) -> Vec<String> {
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
fn is_variant(reading: &Reading<'_>, row: &Row) -> bool {
    let columns = [Column::OptionValue(0), Column::Sku, Column::Price];
    columns.into_iter().any(|column| reading.cell(row, slot(column)).is_some())
}

/// The option values of a row's variant.
fn option_values(reading: &mut Reading<'_>, at: &str, row: &Row, options: usize) -> Vec<String> {
    let mut option_values = Vec::new();
    for number in 0..options {
        let cell = reading.cell(row, slot(Column::OptionValue(number)));
        let pointer = format!("{at}/options/{number}");
        reading.would_come(&pointer, row.number, slot(Column::OptionValue(number)));
        option_values.push(cell.map(|(value, _)| value.to_owned()).unwrap_or_default());
    }
    option_values
}

/// The variant of a row.
fn variant(
    reading: &mut Reading<'_>,
    at: &str,
    row: &Row,
    currency: &Currency,
) -> Map<String, Value> {
    let mut body = Map::new();
    reading.source(at, row.number, "");
    for (member, column) in
        [("sku", Column::Sku), ("barcode", Column::Barcode), ("image_url", Column::VariantImage)]
    {
        reading.text(&mut body, (at, member), row, slot(column));
    }
    for (member, column) in [("price", Column::Price), ("compare_at", Column::CompareAt)] {
        if let Some(cell) = reading.cell(row, slot(column)) {
            reading.source(&format!("{at}/{member}"), row.number, cell.1);
            body.insert(member.into(), reading.money(row.number, cell, currency));
        } else {
            reading.would_come(&format!("{at}/{member}"), row.number, slot(column));
        }
    }
    if let Some(cell) = reading.cell(row, slot(Column::Grams)) {
        reading.source(&format!("{at}/weight_grams"), row.number, cell.1);
        let grams = reading.number(row.number, cell).unwrap_or(0);
        body.insert("weight_grams".into(), grams.into());
    }
    if let Some(cell) = reading.cell(row, slot(Column::RequiresShipping)) {
        let flag = reading.flag(row.number, cell);
        body.extend(flag.map(|flag| ("requires_shipping".to_owned(), flag.into())));
    }
    body.extend(inventory(reading, at, row).map(|inventory| ("inventory".to_owned(), inventory)));
    body
}

/// The inventory of a variant; none when the tracker cell is empty: its stock is not tracked then.
fn inventory(reading: &mut Reading<'_>, at: &str, row: &Row) -> Option<Value> {
    let at = format!("{at}/inventory");
    reading.cell(row, slot(Column::Tracker))?;
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
    if let Some(cell) = reading.cell(row, slot(Column::Quantity)) {
        reading.source(&format!("{at}/levels"), row.number, cell.1);
        let quantity = reading.number(row.number, cell).unwrap_or(0);
        body.insert("levels".into(), json!([{"quantity": quantity}]));
    }
    Some(body.into())
}

/// The image of a row, if it has one, with its position.
fn image(reading: &mut Reading<'_>, count: usize, row: &Row) -> Option<(i64, Value)> {
    let (url, column) = reading.cell(row, slot(Column::ImageUrl))?;
    reading.source(&format!("/images/{count}"), row.number, column);
    let position = reading.cell(row, slot(Column::ImagePosition));
    let position = position.and_then(|cell| reading.number(row.number, cell));
    let behind = i64::try_from(count).unwrap_or(i64::MAX).saturating_add(1);
    let mut image = json!({"url": url});
    if let (Some((alt, _)), Some(image)) =
        (reading.cell(row, slot(Column::ImageAlt)), image.as_object_mut())
    {
        image.insert("alt".into(), alt.into());
    }
    Some((position.unwrap_or(behind), image))
}
