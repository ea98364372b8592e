//! The columns of Shopify's product files.

use super::super::cells;
use crate::import::columns::Slot;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import::records) enum Column {
    Handle,
    Title,
    Description,
    Vendor,
    Type,
    Tags,
    Published,
    Status,
    GiftCard,
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
    Taxable,
    Discontinued,
    Barcode,
    HsCode,
    Origin,
    ImageUrl,
    ImagePosition,
    ImageAlt,
    VariantImage,
    SeoTitle,
    SeoDescription,
    TaxClass,
    Included,
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
    (Column::GiftCard, &["Gift Card"]),
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
    (Column::Taxable, &["Variant Taxable", "Charge tax", "Taxable"]),
    (Column::Discontinued, &["Variant Discontinued"]),
    (Column::Barcode, &["Variant Barcode", "Barcode"]),
    (Column::HsCode, &["Variant HS Code", "HS Code"]),
    (Column::Origin, &["Variant Country of Origin", "Country of origin", "COO"]),
    (Column::ImageUrl, &["Image Src", "Product image URL"]),
    (Column::ImagePosition, &["Image Position"]),
    (Column::ImageAlt, &["Image Alt Text"]),
    (Column::VariantImage, &["Variant Image", "Variant image URL"]),
    (Column::SeoTitle, &["SEO Title"]),
    (Column::SeoDescription, &["SEO Description"]),
    (Column::TaxClass, &["Variant Tax Code", "Tax code"]),
    (Column::Included, &[]),
];

/// The beginning of the columns that say in which markets a product is sold: `Included / Canada`.
const INCLUDED: &str = "included / ";
/// Shopify's option of a product without options.
pub(super) const ONLY_OPTION: (&str, &str) = ("Title", "Default Title");
/// The most options of a product.
pub(super) const OPTIONS: usize = 3;

impl Column {
    /// The slot of the column with this name.
    pub(in crate::import::records) fn slot_of(name: &str) -> Option<Slot> {
        let is_included = name.to_ascii_lowercase().starts_with(INCLUDED);
        if is_included { Some(slot(Self::Included)) } else { cells::slot_of(name, NAMES) }
    }
}

pub(super) fn slot(column: Column) -> Slot {
    let slot = cells::slot(&column, NAMES);
    Slot { is_repeated: column == Column::Included, ..slot }
}
