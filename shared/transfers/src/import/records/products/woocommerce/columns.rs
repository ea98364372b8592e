//! The columns of WooCommerce's product files.

use super::super::super::cells;
use crate::import::columns::Slot;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Column {
    Id,
    Type,
    Sku,
    Barcode,
    Name,
    Published,
    Visibility,
    ShortDescription,
    Description,
    SaleStarts,
    SaleEnds,
    TaxStatus,
    TaxClass,
    InStock,
    Stock,
    Backorders,
    SoldIndividually,
    Kilograms,
    Grams,
    Pounds,
    Ounces,
    SalePrice,
    RegularPrice,
    Categories,
    Tags,
    Brands,
    Images,
    Parent,
}

/// The names of the columns.
pub(super) const NAMES: &[(Column, &[&str])] = &[
    (Column::Id, &["ID"]),
    (Column::Type, &["Type"]),
    (Column::Sku, &["SKU"]),
    (Column::Barcode, &["GTIN, UPC, EAN, or ISBN"]),
    (Column::Name, &["Name"]),
    (Column::Published, &["Published"]),
    (Column::Visibility, &["Visibility in catalog"]),
    (Column::ShortDescription, &["Short description"]),
    (Column::Description, &["Description"]),
    (Column::SaleStarts, &["Date sale price starts"]),
    (Column::SaleEnds, &["Date sale price ends"]),
    (Column::TaxStatus, &["Tax status"]),
    (Column::TaxClass, &["Tax class"]),
    (Column::InStock, &["In stock?"]),
    (Column::Stock, &["Stock"]),
    (Column::Backorders, &["Backorders allowed?"]),
    (Column::SoldIndividually, &["Sold individually?"]),
    (Column::Kilograms, &["Weight (kg)"]),
    (Column::Grams, &["Weight (g)"]),
    (Column::Pounds, &["Weight (lbs)"]),
    (Column::Ounces, &["Weight (oz)"]),
    (Column::SalePrice, &["Sale price"]),
    (Column::RegularPrice, &["Regular price"]),
    (Column::Categories, &["Categories"]),
    (Column::Tags, &["Tags"]),
    (Column::Brands, &["Brands"]),
    (Column::Images, &["Images"]),
    (Column::Parent, &["Parent"]),
];

impl Column {
    /// The slot of the column with this name.
    pub(in crate::import) fn slot_of(name: &str) -> Option<Slot> {
        cells::slot_of(name, NAMES)
    }
}

pub(in crate::import::records) fn slot(column: Column) -> Slot {
    cells::slot(&column, NAMES)
}

/// The values of a cell between commas. A comma within a value is behind a backslash, and names of terms have
/// `&` as HTML writes it.
pub(super) fn list(cell: &str) -> Vec<String> {
    const COMMA: char = '\u{1}';
    let marked = cell.replace("\\,", &COMMA.to_string());
    let values = marked.split(',').map(|value| value.replace(COMMA, ",").replace("&amp;", "&"));
    values.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
}
