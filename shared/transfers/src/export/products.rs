//! Products as rows, in the columns of Shopify's product files, which an import can read.

use catalogue::category::Tree;
use catalogue::product::{Product, ProductStatus, ProductView, Variant};
use core_types::fields::{Country, HsCode, TaxClass};
use identity::store::InventoryPolicy;
use serde::Serialize;

use super::columns::ExportRow;

/// The columns. Those of the product itself are filled in its first row only.
pub(super) const COLUMNS: &[&str] = &[
    "Handle",
    "Title",
    "Body (HTML)",
    "Vendor",
    "Type",
    "Tags",
    "Published",
    "Option1 Name",
    "Option1 Value",
    "Option2 Name",
    "Option2 Value",
    "Option3 Name",
    "Option3 Value",
    "Variant SKU",
    "Variant Grams",
    "Variant Inventory Tracker",
    "Variant Inventory Policy",
    "Variant Price",
    "Variant Compare At Price",
    "Variant Requires Shipping",
    "Variant Taxable",
    "Variant Barcode",
    "Variant HS Code",
    "Variant Country of Origin",
    "Image Src",
    "Image Position",
    "Image Alt Text",
    "Variant Image",
    "SEO Title",
    "SEO Description",
    "Variant Tax Code",
    "Status",
    "Variant Discontinued",
];

/// A product as a JSON line. Its category has the names of those above it and its own, because another store
/// has other ids.
#[derive(Debug, Serialize)]
pub(super) struct ProductLine<'a> {
    #[serde(flatten)]
    product: ProductView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    category: Vec<&'a str>,
}

impl<'a> ProductLine<'a> {
    pub(super) fn of(product: &Product, variants: &[Variant], tree: &'a Tree) -> Self {
        let category = product.category_id.as_ref().and_then(|id| tree.get(id));
        let path = category.map(|own| tree.ancestors(own).into_iter().chain([own]));
        let names = path.into_iter().flatten().map(|category| category.name.as_str());
        Self { product: ProductView::of(product, variants), category: names.collect() }
    }
}

/// Shopify's option of a product without options.
const ONLY_OPTION: (&str, &str) = ("Title", "Default Title");
/// Shopify's name for its own inventory tracking.
const TRACKER: &str = "shopify";

/// The rows of a product: one per variant or image, whichever are more.
pub(super) fn rows(product: &Product, variants: &[Variant]) -> Vec<Vec<String>> {
    let count = variants.len().max(product.images.len());
    let row = |number: usize| {
        let mut row = ExportRow::of(COLUMNS).value("Handle", product.handle.as_str());
        if number == 0 {
            row = head(row, product);
        }
        if let Some(it) = variants.get(number) {
            row = variant(row, it, product, number == 0);
        }
        if let Some(image) = product.images.get(number) {
            row = row
                .text("Image Src", &image.url)
                .value("Image Position", number.saturating_add(1))
                .text("Image Alt Text", &image.alt);
        }
        row.cells()
    };
    (0..count).map(row).collect()
}

fn head(row: ExportRow, product: &Product) -> ExportRow {
    row.text("Title", &product.title)
        .text("Body (HTML)", &product.description)
        .some("Vendor", product.vendor.as_deref())
        .some("Type", product.product_type.as_deref())
        .text("Tags", &product.tags.join(", "))
        .value("Published", yes_or_no(product.status == ProductStatus::Active))
        .some("SEO Title", product.seo.title.as_deref())
        .some("SEO Description", product.seo.description.as_deref())
        .some("Variant Tax Code", product.tax_class.as_ref().map(TaxClass::as_str))
        .value("Status", product.status)
}

fn variant(row: ExportRow, variant: &Variant, product: &Product, is_first: bool) -> ExportRow {
    let mut row = row;
    for (place, option) in product.options.iter().enumerate() {
        let number = place.saturating_add(1);
        if is_first {
            row = row.text(&format!("Option{number} Name"), &option.name);
        }
        let value = variant.options.get(place).map(String::as_str);
        row = row.some(&format!("Option{number} Value"), value);
    }
    if product.options.is_empty() {
        row = row.text("Option1 Name", ONLY_OPTION.0).text("Option1 Value", ONLY_OPTION.1);
    }
    let policy = variant.policy.map(|policy| match policy {
        InventoryPolicy::Deny => "deny",
        InventoryPolicy::Continue => "continue",
    });
    let amount = |money: &core_types::money::Money| money.decimal();
    row.code("Variant SKU", variant.sku.as_deref())
        .value("Variant Grams", variant.weight_grams.map(|it| it.to_string()).unwrap_or_default())
        .value("Variant Inventory Tracker", if variant.tracked { TRACKER } else { "" })
        .value("Variant Inventory Policy", policy.unwrap_or_default())
        .value("Variant Price", amount(&variant.price))
        .value(
            "Variant Compare At Price",
            variant.compare_at.as_ref().map(amount).unwrap_or_default(),
        )
        .value("Variant Requires Shipping", yes_or_no(variant.requires_shipping))
        .value("Variant Taxable", yes_or_no(variant.taxable))
        .value("Variant Discontinued", yes_or_no(variant.discontinued))
        .code("Variant Barcode", variant.barcode.as_deref())
        .code("Variant HS Code", variant.hs_code.as_ref().map(HsCode::as_str))
        .value(
            "Variant Country of Origin",
            variant.country_of_origin.as_ref().map_or("", Country::as_str),
        )
        .some("Variant Image", variant.image_url.as_deref())
}

fn yes_or_no(flag: bool) -> &'static str {
    if flag { "TRUE" } else { "FALSE" }
}
