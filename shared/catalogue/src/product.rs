//! Products and their variants: what a store shows, and what it sells.
//!
//! - A [`Product`] holds all that is said of it over its variants: the price range, its images, its
//!   rating. A [`Variant`] is what is priced, stocked and sold.
//! - A [`ProductSummary`] is what a storefront's list shows of a product, so that a list is one query.
//! - A [`Sellable`] is what a checkout needs of a variant, beside its stock; it is written in the
//!   transaction that changes the product or the variant.
//! - Handles and SKUs are unique by items of their own ([`UniqueProductHandle`], [`UniqueSku`]).
//! - What a change cannot do in one transaction it leaves to do ([`DeferredWork`]).
//!
//! A product and its variants are one query ([`load`]), and what can be bought of it is on them.

mod barcode;
mod deferred_work;
mod find;
mod input;
mod options;
mod outline;
mod restock;
mod sellable;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
mod topics;
mod unique;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use core_types::fields::{Currency, Handle, TaxClass};
use core_types::id::{CategoryId, LocationId, MediaId, ProductId, StoreId, VariantId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use identity::store::{InventoryPolicy, Store};
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

pub use barcode::Barcode;
pub use deferred_work::{DeferredWork, RemovedVariant, refresh};
pub use find::{find, get_eventually, get_many, load};
pub use input::{ImageInput, OptionInput, SeoInput, Sku, Tags};
pub use options::{Faults, slug, variant_title};
pub use outline::Outline;
pub use restock::{restock, restock_product};
pub use sellable::{Sellable, note_ordered};
pub use summary::{ProductSummary, SummaryImage, SummaryOrder, summaries};
pub(crate) use summary::{id_of, newest_first};
pub use topics::*;
pub use unique::{UniqueProductHandle, UniqueSku};
pub use view::{InventoryView, PriceRange, ProductSummaryView, ProductView, VariantView};

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

primitives::string_enum! {
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

impl Image {
    /// Where media of a store are for everybody, whatever the store is called.
    pub fn address(base_url: &str, store: &StoreId, media: &MediaId) -> String {
        format!("{base_url}/v1/storefront/{store}/media/{media}")
    }
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
    /// Part of the key.
    pub id: ProductId,
    /// Part of the key.
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
    /// Its pictures; the first ones stand for it in lists.
    pub images: Vec<Image>,
    /// What search engines read.
    pub seo: Seo,
    /// What apps and merchants keep with it.
    pub metadata: BTreeMap<String, String>,
    /// Where it belongs.
    pub category_id: Option<CategoryId>,
    /// What it is taxed as; none when it is nothing particular.
    #[serde(default)]
    pub tax_class: Option<TaxClass>,
    /// How many variants it has.
    pub variants_count: u32,
    /// Its variants, in their order.
    pub variant_ids: Vec<VariantId>,
    /// The prices of its variants, in minor units: each once, the lowest first.
    pub prices: Vec<i64>,
    /// What its cheapest variant is compared with, where that is more than it costs.
    pub compare_at: Option<i64>,
    /// Whether some variant costs less than what it is compared with.
    pub on_sale: bool,
    /// The currency of its prices.
    pub currency: Currency,
    /// Whether some variant can be bought whatever its stock: it is not tracked, or told to go on
    /// selling.
    pub always_sells: bool,
    /// Whether some variant leaves it to the store whether to sell beyond its stock.
    pub follows_store: bool,
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
    /// From 1, one more with each write.
    pub version: u64,
}

/// Attributes of a product that others count in place: a write of the product leaves them alone
/// (`Write::replace_except`).
pub const COUNTED: &[&str] = &["rating_count", "rating_sum"];

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
    /// Part of the key.
    pub id: VariantId,
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
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
    /// Which of the product's pictures shows it; its first one unless said.
    #[serde(default)]
    pub image_url: Option<String>,
    /// What apps and merchants keep with it.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The locations at which it can be sold, of whatever kind they are. Stock says so, and no write
    /// of the variant ([`Variant::STOCK`]).
    #[serde(default)]
    pub stocked_at: Vec<LocationId>,
    /// Its place among the product's variants, from 1. It is not kept with the variant: the product
    /// lists its variants in their order ([`Product::arranged`]).
    #[serde(skip)]
    pub position: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
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
    /// Attributes that its stock keeps ([`restock`](restock())): a write of the variant leaves them
    /// alone (`Write::replace_except`).
    pub const STOCK: &[&str] = &["stocked_at"];

    /// Whether it can be bought at this store as it is now.
    pub fn is_in_stock(&self, store: &Store) -> bool {
        let policy = self.policy.unwrap_or(store.inventory_policy);
        !self.tracked
            || policy == InventoryPolicy::Continue
            || self.stocked_at.iter().any(|at| store.online_locations.contains(at))
    }

    /// What it is compared with, where that is more than it costs; in minor units.
    pub fn reduced_from(&self) -> Option<i64> {
        let compared = self.compare_at.as_ref().map(|money| money.amount);
        compared.filter(|before| *before > self.price.amount)
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
    pub fn over(self, variants: &[Variant]) -> Self {
        let prices: BTreeSet<i64> = variants.iter().map(|variant| variant.price.amount).collect();
        let lowest = prices.first().copied();
        let cheapest = variants.iter().filter(|variant| Some(variant.price.amount) == lowest);
        let free = |variant: &Variant| {
            !variant.tracked || variant.policy == Some(InventoryPolicy::Continue)
        };
        let follows = |variant: &Variant| variant.tracked && variant.policy.is_none();
        Self {
            variants_count: u32::try_from(variants.len()).unwrap_or(u32::MAX),
            variant_ids: variants.iter().map(|variant| variant.id.clone()).collect(),
            compare_at: cheapest.filter_map(Variant::reduced_from).min(),
            on_sale: variants.iter().any(|variant| variant.reduced_from().is_some()),
            prices: prices.into_iter().collect(),
            currency: variants
                .first()
                .map_or_else(|| self.currency.clone(), |variant| variant.price.currency.clone()),
            always_sells: variants.iter().any(free),
            follows_store: variants.iter().any(follows),
            ..self
        }
    }

    /// The lowest price of its variants, in minor units.
    pub fn price_min(&self) -> i64 {
        self.prices.first().copied().unwrap_or(0)
    }

    /// The highest price of its variants, in minor units.
    pub fn price_max(&self) -> i64 {
        self.prices.last().copied().unwrap_or(0)
    }

    /// These variants in the product's order, each with its position. What the product does not list
    /// is left out: it is being added or removed.
    pub fn arranged(&self, variants: Vec<Variant>) -> Vec<Variant> {
        let mut found: HashMap<VariantId, Variant> =
            variants.into_iter().map(|variant| (variant.id.clone(), variant)).collect();
        let positions = self.variant_ids.iter().zip(1_u32..);
        let placed = |(id, position): (&VariantId, u32)| {
            found.remove(id).map(|variant| Variant { position, ..variant })
        };
        positions.filter_map(placed).collect()
    }

    /// A variant with its position, if the product lists it.
    pub fn position_of(&self, variant: &Variant) -> Option<Variant> {
        let place = self.variant_ids.iter().position(|id| *id == variant.id)?;
        let position = u32::try_from(place.saturating_add(1)).unwrap_or(u32::MAX);
        Some(Variant { position, ..variant.clone() })
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
