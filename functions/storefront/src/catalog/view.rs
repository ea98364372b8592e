//! Products as shoppers see them: no cost, no exact stock.

use catalogue::product::{Card, Image, ProductOption, Seo, Variant};
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
    /// Its pictures; in a list the first two.
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
    pub fn of(card: Card, store: &Store, base_url: &str) -> Self {
        let range = card.price_range();
        Self {
            id: card.id().clone(),
            price: range.min,
            price_max: range.max,
            compare_at: range.compare_at,
            images: card.images(base_url),
            in_stock: card.is_in_stock(store),
            variants_count: u32::try_from(card.variant_ids.len()).unwrap_or(u32::MAX),
            rating: card.rating(),
            handle: card.handle,
            title: card.title,
            vendor: card.vendor,
            product_type: card.product_type,
            category_id: card.category_id,
            tags: card.tags,
            variants: Some(card.variant_ids.into_iter().map(|id| VariantRef { id }).collect()),
            published_at: card.published_at,
            created_at: card.created_at,
            updated_at: card.updated_at,
            version: card.version,
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
    /// Which of the product's pictures shows it; its first one when it is null.
    image_url: Option<String>,
    /// Whether it can be bought, as was known a moment ago.
    in_stock: bool,
    position: u32,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

impl VariantChoice {
    fn of(variant: Variant, store: &Store) -> Self {
        Self {
            in_stock: variant.is_in_stock(store),
            id: variant.id,
            title: variant.title,
            sku: variant.sku,
            price: variant.price,
            compare_at: variant.compare_at,
            options: variant.options,
            weight_grams: variant.weight_grams,
            barcode: variant.barcode,
            requires_shipping: variant.requires_shipping,
            image_url: variant.image_url,
            position: variant.position,
            created_at: variant.created_at,
            updated_at: variant.updated_at,
            version: variant.version,
        }
    }
}

impl ProductDetail {
    /// The page as it was read.
    pub fn of(page: ProductPage, store: &Store, base_url: &str) -> Self {
        let ProductPage { product, variants, related } = page;
        let choices: Vec<VariantChoice> =
            variants.into_iter().map(|variant| VariantChoice::of(variant, store)).collect();
        let (range, rating) = (product.price_range(), product.rating());
        Self {
            card: ProductCard {
                id: product.id,
                handle: product.handle,
                title: product.title,
                vendor: product.vendor,
                product_type: product.product_type,
                category_id: product.category_id,
                tags: product.tags,
                price: range.min,
                price_max: range.max,
                compare_at: range.compare_at,
                images: product.images,
                in_stock: choices.iter().any(|choice| choice.in_stock),
                // Their names give way to the variants themselves.
                variants: None,
                variants_count: product.variants_count,
                rating,
                published_at: product.published_at,
                created_at: product.created_at,
                updated_at: product.updated_at,
                version: product.version,
            },
            description: product.description,
            options: product.options,
            seo: product.seo,
            choices,
            related: related
                .iter()
                .map(|card| ProductCard::of(Card::clone(card), store, base_url))
                .collect(),
        }
    }
}
