//! Responses with products and variants, for the store's members and for apps.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{Country, Currency, Handle, HsCode, TaxClass};
use core_types::id::{CategoryId, ProductId, StoreId, VariantId};
use core_types::money::{self, Money};
use core_types::rating::Rating;
use core_types::sample_id;
use identity::store::InventoryPolicy;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Image, Product, ProductOption, ProductStatus, Seo, Variant};

/// The price range of a product over its variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PriceRange {
    /// The lowest price.
    pub min: Money,
    /// The highest price.
    pub max: Money,
    /// The compare-at price of the cheapest variant, if it is above its price.
    pub compare_at: Option<Money>,
}

impl PriceRange {
    /// The range of `prices`, which are in ascending order.
    pub(super) fn range_of(prices: &[i64], compare_at: Option<i64>, currency: &Currency) -> Self {
        let money = |amount| Money { amount, currency: currency.clone() };
        let price = |amount: Option<&i64>| money(amount.copied().unwrap_or(0));
        Self {
            min: price(prices.first()),
            max: price(prices.last()),
            compare_at: compare_at.map(money),
        }
    }
}

impl Product {
    /// The price range over its variants.
    pub fn price_range(&self) -> PriceRange {
        PriceRange::range_of(&self.prices, self.compare_at, &self.currency)
    }

    /// The average rating and the number of published reviews.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }
}

core_types::view! {
    /// A product without its variants, as lists contain it.
    ProductSummaryView of product: Product {
        /// The id.
        id: ProductId,
        /// The store.
        store_id: StoreId,
        /// The title that shoppers see.
        title: String,
        /// Its name in URLs.
        handle: Handle,
        /// Sanitized HTML: safe to embed in a page unchanged.
        description: String,
        /// The status: draft, active or archived.
        status: ProductStatus,
        /// The vendor or manufacturer.
        vendor: Option<String>,
        /// The product type, in the merchant's words.
        product_type: Option<String>,
        /// The tags, for search, filters and automated collections.
        tags: Vec<String>,
        /// The options in which its variants differ.
        options: Vec<ProductOption>,
        /// Its images; the first represents it in lists.
        images: Vec<Image>,
        /// The title and the description for search engines.
        seo: Seo,
        /// Key-value pairs that apps and merchants store with it.
        metadata: BTreeMap<String, String>,
        /// Its category.
        category_id: Option<CategoryId>,
        /// The tax class; null for goods without one.
        tax_class: Option<TaxClass>,
        /// The number of variants.
        variants_count: u32,
        /// The price range over its variants that are not discontinued.
        price_range: PriceRange = product.price_range(),
        /// The average rating and the number of published reviews.
        rating: Rating = product.rating(),
        /// When it first became active.
        published_at: Option<Timestamp>,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

/// A product with its variants.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProductView {
    /// The product without its variants.
    #[serde(flatten)]
    pub summary: ProductSummaryView,
    /// Its variants, in their order.
    pub variants: Vec<VariantView>,
}

impl ProductView {
    /// The response for a product and all of its variants.
    pub fn of(product: &Product, variants: &[Variant]) -> Self {
        let variants = variants.iter().map(VariantView::from).collect();
        Self { summary: product.into(), variants }
    }
}

/// The inventory settings of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InventoryView {
    /// Whether its stock is tracked.
    pub tracked: bool,
    /// Whether it is sold beyond its stock; null applies the store's policy.
    pub policy: Option<InventoryPolicy>,
}

core_types::view! {
    /// A variant.
    VariantView of variant: Variant {
        /// The id.
        id: VariantId,
        /// Its product.
        product_id: ProductId,
        /// Its values of the product's options, as one text.
        title: String,
        /// The stock-keeping unit.
        sku: Option<String>,
        /// The price.
        price: Money,
        /// The compare-at price: the price before a reduction, or elsewhere.
        compare_at: Option<Money>,
        /// A value for each of the product's options, in their order.
        options: Vec<String>,
        /// The weight.
        weight_grams: Option<u32>,
        /// GTIN, EAN, UPC or ISBN.
        barcode: Option<String>,
        /// The code of the Harmonized System, for customs.
        hs_code: Option<HsCode>,
        /// The country in which it was made, for customs.
        country_of_origin: Option<Country>,
        /// Whether it is shipped.
        requires_shipping: bool,
        /// Whether tax is levied on it.
        taxable: bool,
        /// The address of its image among the product's; null: the product's first image.
        image_url: Option<String>,
        /// Key-value pairs that apps and merchants store with it.
        metadata: BTreeMap<String, String>,
        /// The inventory settings.
        inventory: InventoryView = InventoryView { tracked: variant.tracked, policy: variant.policy },
        /// Whether it is discontinued: shoppers do not see it, and nobody can order it.
        discontinued: bool,
        /// Its position among the product's variants, from 1.
        position: u32,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

impl Example for ProductSummaryView {
    fn example() -> Self {
        let price = money::sample(129_900);
        let image = "https://images.example.com/mug.png";
        Self {
            id: sample_id!(ProductId),
            store_id: sample_id!(StoreId),
            title: "Blue mug".into(),
            handle: sample("blue-mug"),
            description: "<p>Holds coffee.</p>".into(),
            status: ProductStatus::Active,
            vendor: Some("Blue Bottle".into()),
            product_type: Some("Kitchen".into()),
            tags: vec!["coffee".into()],
            options: Vec::new(),
            images: vec![Image {
                media_id: None,
                url: image.into(),
                alt: "A blue mug".into(),
                width: None,
                height: None,
            }],
            seo: Seo::default(),
            metadata: BTreeMap::new(),
            category_id: Some(sample_id!(CategoryId)),
            tax_class: None,
            variants_count: 1,
            price_range: PriceRange { min: price.clone(), max: price, compare_at: None },
            rating: Rating::of(9, 2),
            published_at: Some(EXAMPLE_TIME),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

impl Example for ProductView {
    fn example() -> Self {
        let variant = VariantView {
            id: sample_id!(VariantId),
            product_id: sample_id!(ProductId),
            title: super::DEFAULT_TITLE.into(),
            sku: Some("MUG-BLUE".into()),
            price: money::sample(129_900),
            compare_at: None,
            options: Vec::new(),
            weight_grams: Some(350),
            barcode: None,
            hs_code: None,
            country_of_origin: None,
            requires_shipping: true,
            taxable: true,
            image_url: None,
            metadata: BTreeMap::new(),
            inventory: InventoryView { tracked: true, policy: None },
            discontinued: false,
            position: 1,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        };
        Self { summary: ProductSummaryView::example(), variants: vec![variant] }
    }
}
