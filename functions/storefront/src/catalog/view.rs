//! Responses about products for shoppers: without cost and exact stock.

use catalogue::product::{Image, ProductOption, ProductSummary, Seo, Variant};
use core_types::fields::Handle;
use core_types::id::{CategoryId, ProductId, VariantId};
use core_types::money::Money;
use core_types::rating::Rating;
use identity::store::Store;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::page::ProductPage;

/// A product summary, as in lists.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StorefrontProductSummary {
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
    /// The compare-at price of the cheapest variant, if it is above its price.
    compare_at: Option<Money>,
    /// The images; in a list the first two.
    images: Vec<Image>,
    /// Whether any variant can be bought; eventually consistent in lists.
    in_stock: bool,
    /// The ids of its variants: a product with one can be added to the cart from a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    variants: Option<Vec<VariantRef>>,
    /// The names of its options, in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    option_names: Option<Vec<String>>,
    variants_count: u32,
    rating: Rating,
    published_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

/// A reference to a variant.
#[derive(Debug, Serialize, JsonSchema)]
struct VariantRef {
    id: VariantId,
}

impl StorefrontProductSummary {
    /// The response about a product in a list.
    pub fn of(summary: ProductSummary, store: &Store, base_url: &str) -> Self {
        let range = summary.price_range();
        Self {
            id: summary.id().clone(),
            price: range.min,
            price_max: range.max,
            compare_at: range.compare_at,
            images: summary.images(base_url),
            in_stock: summary.is_in_stock(store),
            variants_count: u32::try_from(summary.variant_ids.len()).unwrap_or(u32::MAX),
            rating: summary.rating(),
            handle: summary.handle,
            title: summary.title,
            vendor: summary.vendor,
            product_type: summary.product_type,
            category_id: summary.category_id,
            tags: summary.tags,
            option_names: Some(summary.option_names),
            variants: Some(summary.variant_ids.into_iter().map(|id| VariantRef { id }).collect()),
            published_at: summary.published_at,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            version: summary.version,
        }
    }
}

/// A product with its variants and related products.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProductDetail {
    #[serde(flatten)]
    summary: StorefrontProductSummary,
    /// Sanitized HTML.
    description: String,
    /// The options that distinguish its variants.
    options: Vec<ProductOption>,
    seo: Seo,
    /// Its variants, in display order.
    #[serde(rename = "variants")]
    choices: Vec<VariantChoice>,
    /// Related products.
    related: Vec<StorefrontProductSummary>,
}

/// A variant of a product.
#[derive(Debug, Serialize, JsonSchema)]
struct VariantChoice {
    id: VariantId,
    title: String,
    sku: Option<String>,
    price: Money,
    compare_at: Option<Money>,
    /// The value for each of the product's options, in the same order.
    options: Vec<String>,
    weight_grams: Option<u32>,
    barcode: Option<String>,
    requires_shipping: bool,
    /// The product's image of this variant; null means the first image.
    image_url: Option<String>,
    /// Whether it can be bought; eventually consistent.
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

/// The options with the values that shoppers can choose: those of variants that are sold.
fn offered(options: Vec<ProductOption>, choices: &[VariantChoice]) -> Vec<ProductOption> {
    let offered = |(place, option): (usize, ProductOption)| {
        let is_chosen =
            |value: &String| choices.iter().any(|choice| choice.options.get(place) == Some(value));
        let values = option.values.into_iter().filter(is_chosen).collect();
        ProductOption { values, ..option }
    };
    options.into_iter().enumerate().map(offered).collect()
}

impl ProductDetail {
    /// The response about a product's page.
    pub fn of(page: ProductPage, store: &Store, base_url: &str) -> Self {
        let ProductPage { product, variants, related } = page;
        let sold = variants.into_iter().filter(|variant| !variant.discontinued);
        let choices: Vec<VariantChoice> =
            sold.map(|variant| VariantChoice::of(variant, store)).collect();
        let (range, rating) = (product.price_range(), product.rating());
        let options = offered(product.options, &choices);
        Self {
            summary: StorefrontProductSummary {
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
                // `choices` has the variants themselves.
                variants: None,
                option_names: None,
                variants_count: u32::try_from(choices.len()).unwrap_or(u32::MAX),
                rating,
                published_at: product.published_at,
                created_at: product.created_at,
                updated_at: product.updated_at,
                version: product.version,
            },
            description: product.description,
            options,
            seo: product.seo,
            choices,
            related: related
                .iter()
                .map(|summary| {
                    StorefrontProductSummary::of(ProductSummary::clone(summary), store, base_url)
                })
                .collect(),
        }
    }
}
