//! A product as the facet index has it.

use core_types::id::{CategoryId, LocationId, ProductId};
use identity::store::{InventoryPolicy, Store};
use serde::{Deserialize, Serialize};

use crate::product::{Product, SortFields, Variant, sku_words};
use crate::search::Searchable;

/// A visible product: what lists are filtered and sorted by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FacetRow {
    /// The product.
    #[serde(rename = "i")]
    pub id: ProductId,
    /// The title that shoppers see.
    #[serde(rename = "t")]
    pub title: String,
    /// The vendor or manufacturer.
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The product type.
    #[serde(rename = "y", default, skip_serializing_if = "Option::is_none")]
    pub product_type: Option<String>,
    /// The tags.
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its category.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub category_id: Option<CategoryId>,
    /// The words of its SKUs, by which it is found.
    #[serde(rename = "k", default, skip_serializing_if = "Vec::is_empty")]
    pub sku_words: Vec<String>,
    /// Whether any variant costs less than its compare-at price.
    #[serde(rename = "d", default, skip_serializing_if = "std::ops::Not::not")]
    pub on_sale: bool,
    /// The number of published reviews, and the sum of their stars.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<(u64, u64)>,
    /// The names of its options.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Its variants that are not discontinued.
    #[serde(rename = "x")]
    pub variants: Vec<FacetVariant>,
}

/// A variant of a product in the facet index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FacetVariant {
    /// Its value for each of the product's options.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The price, in minor units.
    #[serde(rename = "p")]
    pub price: i64,
    /// Whether it is sold beyond its stock; none if the store's policy applies.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub sells_beyond: Option<bool>,
    /// The locations at which it is available.
    #[serde(rename = "l", default, skip_serializing_if = "Vec::is_empty")]
    pub stocked_at: Vec<LocationId>,
}

impl FacetRow {
    /// The row of a product with its variants; none if shoppers do not see it.
    pub fn of(product: &Product, variants: &[Variant]) -> Option<Self> {
        let offered = variants.iter().filter(|variant| !variant.discontinued);
        let variants_of: Vec<FacetVariant> = offered.map(FacetVariant::from).collect();
        if !product.is_visible() || variants_of.is_empty() {
            return None;
        }
        Some(Self {
            id: product.id.clone(),
            title: product.title.clone(),
            vendor: product.vendor.clone(),
            product_type: product.product_type.clone(),
            tags: product.tags.clone(),
            category_id: product.category_id.clone(),
            sku_words: sku_words(variants),
            on_sale: product.on_sale,
            rating: (product.rating_count > 0)
                .then_some((product.rating_count, product.rating_sum)),
            options: product.options.iter().map(|option| option.name.clone()).collect(),
            variants: variants_of,
        })
    }

    /// The lowest price of its variants, in minor units.
    pub fn price_min(&self) -> i64 {
        self.variants.iter().map(|variant| variant.price).min().unwrap_or(0)
    }
}

impl From<&Variant> for FacetVariant {
    fn from(variant: &Variant) -> Self {
        let by_policy = variant.policy.map(|policy| policy == InventoryPolicy::Continue);
        let sells_beyond = if variant.tracked { by_policy } else { Some(true) };
        Self {
            values: variant.options.clone(),
            price: variant.price.amount,
            sells_beyond,
            stocked_at: variant.stocked_at.clone(),
        }
    }
}

impl FacetVariant {
    /// Whether it can be bought online from this store.
    pub fn is_available(&self, store: &Store) -> bool {
        let by_policy = store.inventory_policy == InventoryPolicy::Continue;
        self.sells_beyond.unwrap_or(by_policy)
            || self.stocked_at.iter().any(|at| store.online_locations.contains(at))
    }
}

impl<'a> From<&'a FacetRow> for SortFields<'a> {
    fn from(row: &'a FacetRow) -> Self {
        Self {
            id: &row.id,
            title: &row.title,
            price: row.price_min(),
            rating: row.rating.unwrap_or_default(),
        }
    }
}

impl<'a> From<&'a FacetRow> for Searchable<'a> {
    fn from(row: &'a FacetRow) -> Self {
        Self {
            title: &row.title,
            vendor: row.vendor.as_deref(),
            product_type: row.product_type.as_deref(),
            tags: &row.tags,
            sku_words: &row.sku_words,
        }
    }
}
