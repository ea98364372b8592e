//! Products and variants as their store's owner and apps see them.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{Currency, Handle, TaxClass};
use core_types::id::{CategoryId, ProductId, StoreId, VariantId};
use core_types::money::{self, Money};
use core_types::rating::Rating;
use core_types::sample_id;
use identity::store::InventoryPolicy;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Image, Product, ProductOption, ProductStatus, Seo, Variant};

/// What a product costs, over its variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PriceRange {
    /// The lowest price.
    pub min: Money,
    /// The highest price.
    pub max: Money,
    /// What the cheapest variant is compared with, where that is more than it costs.
    pub compare_at: Option<Money>,
}

impl PriceRange {
    /// The range of these prices, the lowest of which is the first.
    pub(super) fn over(prices: &[i64], compare_at: Option<i64>, currency: &Currency) -> Self {
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
    /// What it costs, over its variants.
    pub fn price_range(&self) -> PriceRange {
        PriceRange::over(&self.prices, self.compare_at, &self.currency)
    }

    /// What reviews say, in one line.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }
}

core_types::view! {
    /// A product as lists show it: all but its variants.
    ProductSummaryView of product: Product {
        /// The id.
        id: ProductId,
        /// The store.
        store_id: StoreId,
        /// What shoppers read.
        title: String,
        /// Its name in URLs.
        handle: Handle,
        /// HTML that can be put on a page as it is.
        description: String,
        /// Whether it is sold.
        status: ProductStatus,
        /// Who makes it.
        vendor: Option<String>,
        /// What it is, in the merchant's words.
        product_type: Option<String>,
        /// Words to find it by.
        tags: Vec<String>,
        /// What its variants differ by.
        options: Vec<ProductOption>,
        /// Its pictures; the first stands for it in lists.
        images: Vec<Image>,
        /// What search engines read.
        seo: Seo,
        /// What apps and merchants keep with it.
        metadata: BTreeMap<String, String>,
        /// Where it belongs.
        category_id: Option<CategoryId>,
        /// What it is taxed as; none when it is nothing particular.
        tax_class: Option<TaxClass>,
        /// How many variants it has.
        variants_count: u32,
        /// What it costs, over its variants.
        price_range: PriceRange = product.price_range(),
        /// What reviews say, in one line.
        rating: Rating = product.rating(),
        /// When it was first for sale.
        published_at: Option<Timestamp>,
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}

/// A product with its variants.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProductView {
    /// All but its variants.
    #[serde(flatten)]
    pub summary: ProductSummaryView,
    /// Its variants, in their order.
    pub variants: Vec<VariantView>,
}

impl ProductView {
    /// The product with these variants, which are all it has.
    pub fn of(product: &Product, variants: &[Variant]) -> Self {
        let variants = variants.iter().map(VariantView::from).collect();
        Self { summary: product.into(), variants }
    }
}

/// How a variant is stocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InventoryView {
    /// Whether its stock is counted.
    pub tracked: bool,
    /// What happens to an order when its stock is short; the store's policy when it is null.
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
        /// What it costs.
        price: Money,
        /// What it cost before, or elsewhere.
        compare_at: Option<Money>,
        /// A value for each of the product's options, in their order.
        options: Vec<String>,
        /// What it weighs.
        weight_grams: Option<u32>,
        /// GTIN, EAN, UPC or ISBN.
        barcode: Option<String>,
        /// Whether it is sent by parcel.
        requires_shipping: bool,
        /// Which of the product's pictures shows it; its first one when it is null.
        image_url: Option<String>,
        /// What apps and merchants keep with it.
        metadata: BTreeMap<String, String>,
        /// How it is stocked.
        inventory: InventoryView = InventoryView { tracked: variant.tracked, policy: variant.policy },
        /// Its place among the product's variants, from 1.
        position: u32,
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
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
            images: vec![Image { media_id: None, url: image.into(), alt: "A blue mug".into() }],
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
            requires_shipping: true,
            image_url: None,
            metadata: BTreeMap::new(),
            inventory: InventoryView { tracked: true, policy: None },
            position: 1,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        };
        Self { summary: ProductSummaryView::example(), variants: vec![variant] }
    }
}
