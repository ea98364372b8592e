//! Products as shoppers see them: no cost, no exact stock.

use catalogue::product::{Card, Image, Product, ProductOption, Seo, Variant};
use gateway::clock::Timestamp;
use ground::fields::Handle;
use ground::id::{CategoryId, ProductId, VariantId};
use ground::money::Money;
use ground::rating::Rating;
use identity::store::Store;
use schemars::JsonSchema;
use serde::Serialize;

use super::page::ProductPage;

/// A product as lists show it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProductCard {
    id: ProductId,
    handle: Handle,
    title: String,
    vendor: Option<String>,
    product_type: Option<String>,
    category_id: Option<CategoryId>,
    tags: Vec<String>,
    /// The lowest price of its variants.
    price: Money,
    /// The highest price of its variants.
    price_max: Money,
    /// What the cheapest variant is compared with, where that is more than it costs.
    compare_at: Option<Money>,
    /// Its pictures; in a list the first ones.
    images: Vec<Image>,
    /// Whether some variant of it can be bought now; a list may be a moment behind.
    in_stock: bool,
    /// Its variants: with one, a list can offer to buy it at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    variants: Option<Vec<VariantRef>>,
    variants_count: u32,
    rating: Rating,
    published_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

/// A variant, by name alone.
#[derive(Debug, Serialize, JsonSchema)]
struct VariantRef {
    id: VariantId,
}

impl ProductCard {
    /// The card as a list shows it.
    pub fn of(card: &Card, store: &Store, base_url: &str) -> Self {
        let range = card.price_range();
        let variant = |id: &VariantId| VariantRef { id: id.clone() };
        Self {
            id: card.id().clone(),
            handle: card.handle.clone(),
            title: card.title.clone(),
            vendor: card.vendor.clone(),
            product_type: card.product_type.clone(),
            category_id: card.category_id.clone(),
            tags: card.tags.clone(),
            price: range.min,
            price_max: range.max,
            compare_at: range.compare_at,
            images: card.images(base_url),
            in_stock: card.is_in_stock(store),
            variants: Some(card.variant_ids.iter().map(variant).collect()),
            variants_count: u32::try_from(card.variant_ids.len()).unwrap_or(u32::MAX),
            rating: card.rating(),
            published_at: card.published_at,
            created_at: card.created_at,
            updated_at: card.updated_at,
            version: card.version,
        }
    }

    /// The product itself, without the names of its variants.
    fn whole(product: &Product, in_stock: bool) -> Self {
        let range = product.price_range();
        Self {
            id: product.id.clone(),
            handle: product.handle.clone(),
            title: product.title.clone(),
            vendor: product.vendor.clone(),
            product_type: product.product_type.clone(),
            category_id: product.category_id.clone(),
            tags: product.tags.clone(),
            price: range.min,
            price_max: range.max,
            compare_at: range.compare_at,
            images: product.images.clone(),
            in_stock,
            variants: None,
            variants_count: product.variants_count,
            rating: product.rating(),
            published_at: product.published_at,
            created_at: product.created_at,
            updated_at: product.updated_at,
            version: product.version,
        }
    }
}

/// A product on its own page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProductDetail {
    #[serde(flatten)]
    card: ProductCard,
    /// HTML that can be put on a page as it is.
    description: String,
    /// What its variants differ by.
    options: Vec<ProductOption>,
    seo: Seo,
    /// Its variants, in their order; instead of their names alone.
    #[serde(rename = "variants")]
    choices: Vec<VariantChoice>,
    /// Other products a shopper may like.
    related: Vec<ProductCard>,
}

/// A variant to choose.
#[derive(Debug, Serialize, JsonSchema)]
struct VariantChoice {
    id: VariantId,
    title: String,
    sku: Option<String>,
    price: Money,
    compare_at: Option<Money>,
    /// A value for each of the product's options, in their order.
    options: Vec<String>,
    weight_grams: Option<u32>,
    barcode: Option<String>,
    requires_shipping: bool,
    /// Whether it can be bought, as was known a moment ago.
    in_stock: bool,
    position: u32,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

impl ProductDetail {
    /// The page as it was read.
    pub fn of(page: &ProductPage, store: &Store, base_url: &str) -> Self {
        let ProductPage { product, variants, related } = page;
        let choice = |variant: &Variant| VariantChoice {
            id: variant.id.clone(),
            title: variant.title.clone(),
            sku: variant.sku.clone(),
            price: variant.price.clone(),
            compare_at: variant.compare_at.clone(),
            options: variant.options.clone(),
            weight_grams: variant.weight_grams,
            barcode: variant.barcode.clone(),
            requires_shipping: variant.requires_shipping,
            in_stock: variant.is_in_stock(store),
            position: variant.position,
            created_at: variant.created_at,
            updated_at: variant.updated_at,
            version: variant.version,
        };
        let choices: Vec<VariantChoice> = variants.iter().map(choice).collect();
        let in_stock = choices.iter().any(|choice| choice.in_stock);
        Self {
            // The names of the variants give way to the variants themselves.
            card: ProductCard::whole(product, in_stock),
            description: product.description.clone(),
            options: product.options.clone(),
            seo: product.seo.clone(),
            choices,
            related: related.iter().map(|other| ProductCard::of(other, store, base_url)).collect(),
        }
    }
}
