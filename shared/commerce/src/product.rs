//! Products and their variants: what a store shows, and what it sells.
//!
//! - A [`Product`] holds all a list shows, so that a list is one query: the price range over its
//!   variants, its images, its rating. A [`Variant`] is what is priced, stocked and sold.
//! - A [`Sellable`] is what a checkout needs of a variant, beside its stock; it is written in the
//!   transaction that changes the product or the variant.
//! - Handles and SKUs are unique by items of their own ([`UniqueHandle`], [`UniqueSku`]).
//!
//! A product and its variants are one query ([`load`]).

mod ask;
mod options;
mod sellable;
#[cfg(test)]
pub(crate) mod tests;
mod unique;
mod view;

use std::collections::BTreeMap;

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use gateway::problem::Problem;
use gateway::table::Query;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ask::{ImageAsk, Metadata, OptionAsk, SeoAsk, Sku, Tags};
pub use options::{Faults, slug, variant_title};
pub use sellable::{Sellable, note_ordered};
pub use unique::{UniqueHandle, UniqueSku};
pub use view::{InventoryView, PriceRange, ProductSummary, ProductView, VariantView};

use crate::fields::{Currency, Handle};
use crate::id::{CategoryId, MediaId, ProductId, StoreId, VariantId};
use crate::key::{self, IndexKey};
use crate::money::Money;
use crate::store::{InventoryPolicy, Store};

/// Variants of one product.
pub const MAX_VARIANTS: usize = 100;
/// Options of one product.
pub const MAX_OPTIONS: usize = 3;
/// Images of one product.
pub const MAX_IMAGES: usize = 50;
/// What the only variant of a product without options is called.
pub const DEFAULT_TITLE: &str = "Default";
/// Bytes of a product as JSON (our choice): an item of the table has at most 400 KB, and this
/// leaves room for its keys and counters.
pub const MAX_BYTES: usize = 350_000;

gateway::words! {
    /// Whether a product is sold.
    ProductStatus {
        /// Being written; shoppers do not see it.
        Draft = "draft",
        /// For sale.
        Active = "active",
        /// Put away; shoppers do not see it.
        Archived = "archived",
    }
}

/// What variants of a product differ by: `Size`, with `S`, `M` and `L`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProductOption {
    /// What shoppers read: `Size`.
    pub name: String,
    /// What they choose from, in the order shown.
    pub values: Vec<String>,
}

/// A picture of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// The media it is, if the store holds it.
    pub media_id: Option<MediaId>,
    /// Where it is.
    pub url: String,
    /// What it shows, in words.
    pub alt: String,
}

/// What search engines read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Seo {
    /// The page's title.
    pub title: Option<String>,
    /// The page's description.
    pub description: Option<String>,
}

/// A product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// The id.
    pub id: ProductId,
    /// The store.
    pub store_id: StoreId,
    /// What shoppers read.
    pub title: String,
    /// Its name in URLs, unique within the store.
    pub handle: Handle,
    /// HTML that can be put on a page as it is.
    pub description: String,
    /// Whether it is sold.
    pub status: ProductStatus,
    /// Who makes it.
    pub vendor: Option<String>,
    /// What it is, in the merchant's words.
    pub product_type: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What its variants differ by.
    pub options: Vec<ProductOption>,
    /// Its pictures; the first stands for it in lists.
    pub images: Vec<Image>,
    /// What search engines read.
    pub seo: Seo,
    /// What apps and merchants keep with it.
    pub metadata: BTreeMap<String, String>,
    /// Where it belongs.
    pub category_id: Option<CategoryId>,
    /// How many variants it has.
    pub variants_count: u32,
    /// Its variants, in their order: a list asks for their stock without reading them.
    #[serde(default)]
    pub variant_ids: Vec<VariantId>,
    /// The lowest price of its variants, in minor units.
    pub price_min: i64,
    /// The highest price of its variants, in minor units.
    pub price_max: i64,
    /// The lowest price to compare with, of the variants that have one.
    pub compare_at_min: Option<i64>,
    /// The currency of its prices.
    pub currency: Currency,
    /// Whether some variant can be bought whatever its stock: it is not tracked, or continues to
    /// sell.
    #[serde(default)]
    pub sells_without_stock: bool,
    /// Whether an order ever held it. Counted ([`COUNTED`]).
    #[serde(default)]
    pub was_ordered: bool,
    /// How many published reviews it has. Counted ([`COUNTED`]).
    #[serde(default)]
    pub rating_count: u64,
    /// The stars of these reviews together. Counted ([`COUNTED`]).
    #[serde(default)]
    pub rating_sum: u64,
    /// When it was first for sale.
    pub published_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

/// Attributes of a product that others count in place: a write of the product leaves them alone
/// (`Write::replace_except`).
pub const COUNTED: &[&str] = &["was_ordered", "rating_count", "rating_sum"];

impl Item for Product {
    const KIND: &'static str = "product";
    fn key(&self) -> Key {
        key::product(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        vec![
            key::products_of_store(&self.store_id, self.created_at, &self.id),
            key::products_by_status(
                &self.store_id,
                self.status.as_str(),
                self.created_at,
                &self.id,
            ),
        ]
    }
}

/// A variant of a product: what is priced, stocked and sold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The id.
    pub id: VariantId,
    /// The store.
    pub store_id: StoreId,
    /// The product.
    pub product_id: ProductId,
    /// Its values of the product's options: `M / Blue`; `Default` without options.
    pub title: String,
    /// The stock-keeping unit, unique within the store.
    pub sku: Option<String>,
    /// What it costs.
    pub price: Money,
    /// What it cost before, or elsewhere.
    pub compare_at: Option<Money>,
    /// A value for each of the product's options, in their order.
    pub options: Vec<String>,
    /// What it weighs.
    pub weight_grams: Option<u32>,
    /// GTIN, EAN, UPC or ISBN.
    pub barcode: Option<String>,
    /// Whether it is sent by parcel.
    pub requires_shipping: bool,
    /// Whether its stock is counted.
    pub tracked: bool,
    /// What happens to an order when its stock is short; the store's policy unless said.
    pub policy: Option<InventoryPolicy>,
    /// Its place among the product's variants, from 1.
    pub position: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Variant {
    const KIND: &'static str = "variant";
    fn key(&self) -> Key {
        key::variant(&self.store_id, &self.product_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Variant {
    /// Whether it is sold beyond its stock on this store.
    pub fn continues_selling(&self, store: &Store) -> bool {
        self.policy.unwrap_or(store.inventory_policy) == InventoryPolicy::Continue
    }

    /// The variant at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl Product {
    /// The product at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The product in this state; the first time it is for sale is kept.
    #[must_use]
    pub fn in_status(self, status: ProductStatus, now: Timestamp) -> Self {
        let on_sale = (status == ProductStatus::Active).then_some(now);
        Self { status, published_at: self.published_at.or(on_sale), ..self }
    }

    /// The product with what it says about these variants, which are all it has.
    #[must_use]
    pub fn over(self, variants: &[Variant], store: &Store) -> Self {
        let prices = || variants.iter().map(|variant| variant.price.amount);
        let compared = variants.iter().filter_map(|variant| variant.compare_at.as_ref());
        let free = |variant: &Variant| !variant.tracked || variant.continues_selling(store);
        Self {
            variants_count: u32::try_from(variants.len()).unwrap_or(u32::MAX),
            variant_ids: variants.iter().map(|variant| variant.id.clone()).collect(),
            price_min: prices().min().unwrap_or(0),
            price_max: prices().max().unwrap_or(0),
            compare_at_min: compared.map(|money| money.amount).min(),
            currency: variants
                .first()
                .map_or_else(|| self.currency.clone(), |variant| variant.price.currency.clone()),
            sells_without_stock: variants.iter().any(free),
            ..self
        }
    }

    /// What stands for it in lists.
    pub fn image(&self) -> Option<&Image> {
        self.images.first()
    }

    /// Whether shoppers see it.
    pub fn is_visible(&self) -> bool {
        self.status == ProductStatus::Active
    }

    /// Whether it fits into an item of the table.
    ///
    /// # Errors
    /// `too_large` of the whole request.
    pub fn fits(&self) -> Result<(), Problem> {
        let size = serde_json::to_vec(self).map_err(Problem::internal)?.len();
        if size > MAX_BYTES {
            let detail = format!("A product has at most {MAX_BYTES} bytes in all.");
            return Err(Problem::field("", "too_large", detail));
        }
        Ok(())
    }
}

/// An item of a product's own range of its partition.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "entity", rename_all = "lowercase")]
enum Part {
    Product(Box<Product>),
    Variant(Box<Variant>),
}

impl Item for Part {
    const KIND: &'static str = "product";
    fn key(&self) -> Key {
        match self {
            Self::Product(product) => product.key(),
            Self::Variant(variant) => variant.key(),
        }
    }
    fn version(&self) -> u64 {
        match self {
            Self::Product(product) => product.version,
            Self::Variant(variant) => variant.version,
        }
    }
}

/// A product with its variants in their order, in one query.
pub async fn load(
    app: &App,
    store: &StoreId,
    id: &ProductId,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    let place = key::product(store, id);
    let query = Query::partition(place.pk).begins_with(place.sk);
    let mut product = None;
    let mut variants = Vec::new();
    for part in app.table.all::<Part>(&query, MAX_VARIANTS.saturating_add(1)).await? {
        match part {
            Part::Product(found) => product = Some(*found),
            Part::Variant(variant) => variants.push(*variant),
        }
    }
    variants.sort_by(|a, b| (a.position, &a.id).cmp(&(b.position, &b.id)));
    Ok(product.map(|product| (product, variants)))
}

/// These products in the order asked for, without those that are not there: at most 100 in one
/// round trip.
pub async fn get_many(
    app: &App,
    store: &StoreId,
    ids: &[ProductId],
) -> Result<Vec<Product>, Problem> {
    let keys: Vec<Key> = ids.iter().map(|id| key::product(store, id)).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let found = keys.iter().map(|key| batch.take(key)).collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The product of a handle.
pub async fn find(
    app: &App,
    store: &StoreId,
    handle: &Handle,
) -> Result<Option<ProductId>, Problem> {
    let key = key::unique_product_handle(store, handle.as_str());
    let claim: Option<UniqueHandle> = app.table.get(&key).await?;
    Ok(claim.map(|claim| claim.product_id))
}
