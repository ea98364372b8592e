//! Products and their variants.
//!
//! - A [`Product`] holds what its variants share, and aggregates over them: price range, images,
//!   rating. A [`Variant`] is priced, stocked and sold.
//! - A [`ProductSummary`] holds what a storefront's list shows of a product, so that a list is one query.
//! - A [`Sellable`] holds what a checkout needs of a variant, alongside its stock. It is written in the
//!   transaction that changes the product or the variant.
//! - Handles and SKUs are unique by items of their own ([`UniqueProductHandle`], [`UniqueSku`]).
//! - Work that does not fit into the transaction of a change is deferred ([`DeferredWork`]).
//!
//! A product and its variants are one query ([`load`]); the variants also say where they are in stock.

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

use core_types::fields::{Country, Currency, Handle, HsCode, TaxClass};
use core_types::id::{CategoryId, LocationId, MediaId, ProductId, StoreId, VariantId};
use core_types::key;
use core_types::money::Money;
use identity::store::{InventoryPolicy, Store};
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;

pub use barcode::Barcode;
pub use deferred_work::{DeferredWork, RemovedVariant, refresh};
pub use find::{find, get_eventually, get_many, load};
pub use input::{ImageInput, OptionInput, SeoInput, Sku, Tags};
pub use options::{FieldErrorList, variant_title};
pub use outline::Outline;
pub use restock::{restock, restock_product};
pub use sellable::{Sellable, note_ordered};
pub use summary::{ProductSummary, SortFields, SummaryImage, SummaryOrder, summaries};
pub(crate) use summary::{id_of, newest_first, sku_words};
pub use topics::*;
pub use unique::{UniqueProductHandle, UniqueSku};
pub use view::{InventoryView, PriceRange, ProductSummaryView, ProductView, VariantView};

/// The most variants of one product.
pub const MAX_VARIANTS: usize = 100;
/// The most options of one product.
pub const MAX_OPTIONS: usize = 3;
/// The most images of one product.
pub const MAX_IMAGES: usize = 50;
/// The title of the only variant of a product without options.
pub const DEFAULT_TITLE: &str = "Default";
/// The most bytes of a product as JSON (our choice). An item of the table has at most 400 KB; the
/// rest is for its keys and counters.
pub const MAX_BYTES: usize = 350_000;

primitives::string_enum! {
    /// The status of a product.
    ProductStatus {
        /// In preparation; shoppers do not see it.
        Draft = "draft",
        /// For sale.
        Active = "active",
        /// No longer for sale; shoppers do not see it.
        Archived = "archived",
    }
}

/// An option in which variants of a product differ: `Size`, with the values `S`, `M` and `L`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProductOption {
    /// The name that shoppers see: `Size`.
    pub name: String,
    /// The values to choose from, in display order.
    pub values: Vec<String>,
}

/// An image of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// The media of the store; null for an image that is hosted elsewhere.
    pub media_id: Option<MediaId>,
    /// Its address.
    pub url: String,
    /// The alternative text.
    pub alt: String,
    /// Its width in pixels, if it is media that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Its height in pixels, if it is media that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}

impl Image {
    /// The public address of media of a store. It contains the store's id, so renaming the store
    /// does not change it.
    pub fn address(base_url: &str, store: &StoreId, media: &MediaId) -> String {
        format!("{base_url}/v1/storefront/{store}/media/{media}")
    }
}

/// The title and the description for search engines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Seo {
    /// The page's title.
    pub title: Option<String>,
    /// The page's description.
    pub description: Option<String>,
}

/// A product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "product", key = key::product(&self.store_id, &self.id))]
#[item(indexes = vec![ key::products_of_store(&self.store_id, self.created_at, &self.id), key::products_by_status( &self.store_id, self.status.as_str(), self.created_at, &self.id, ), ])]
pub struct Product {
    /// Part of the key.
    pub id: ProductId,
    /// Part of the key.
    pub store_id: StoreId,
    /// The title that shoppers see.
    pub title: String,
    /// Its name in URLs, unique within the store.
    pub handle: Handle,
    /// Sanitized HTML: safe to embed in a page unchanged.
    pub description: String,
    /// The status: draft, active or archived.
    pub status: ProductStatus,
    /// The vendor or manufacturer.
    pub vendor: Option<String>,
    /// The product type, in the merchant's words.
    pub product_type: Option<String>,
    /// The tags, for search, filters and automated collections.
    pub tags: Vec<String>,
    /// The options in which its variants differ.
    pub options: Vec<ProductOption>,
    /// Its images; lists show the first ones.
    pub images: Vec<Image>,
    /// The title and the description for search engines.
    pub seo: Seo,
    /// Key-value pairs that apps and merchants store with it.
    pub metadata: BTreeMap<String, String>,
    /// Its category.
    pub category_id: Option<CategoryId>,
    /// The tax class; null for goods without one.
    #[serde(default)]
    pub tax_class: Option<TaxClass>,
    /// The number of variants.
    pub variants_count: u32,
    /// The number of those that are discontinued.
    #[serde(default)]
    pub discontinued_count: u32,
    /// Its variants, in their order.
    pub variant_ids: Vec<VariantId>,
    /// The distinct prices of its variants, in minor units, ascending.
    pub prices: Vec<i64>,
    /// The compare-at price of its cheapest variant, if it is above the price; in minor units.
    pub compare_at: Option<i64>,
    /// Whether any variant costs less than its compare-at price.
    pub on_sale: bool,
    /// The currency of its prices.
    pub currency: Currency,
    /// Whether any variant can be bought whatever its stock: it is not tracked, or its own policy
    /// is to continue selling.
    pub always_sells: bool,
    /// Whether any tracked variant has no policy of its own, so that the store's applies.
    pub follows_store: bool,
    /// The number of published reviews. Counted ([`COUNTED`]).
    #[serde(default)]
    pub rating_count: u64,
    /// The sum of the stars of these reviews. Counted ([`COUNTED`]).
    #[serde(default)]
    pub rating_sum: u64,
    /// When it first became active.
    pub published_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// Attributes of a product that reviews update in place: a write of the product does not touch them
/// (`Write::replace_except`).
pub const COUNTED: &[&str] = &["rating_count", "rating_sum"];

/// A variant of a product: the unit that is priced, stocked and sold.
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "variant", key = key::variant(&self.store_id, &self.product_id, &self.id))]
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
    /// The price.
    pub price: Money,
    /// The compare-at price: the price before a reduction, or elsewhere.
    pub compare_at: Option<Money>,
    /// A value for each of the product's options, in their order.
    pub options: Vec<String>,
    /// The weight.
    pub weight_grams: Option<u32>,
    /// GTIN, EAN, UPC or ISBN.
    pub barcode: Option<String>,
    /// The code of the Harmonized System, for customs.
    #[serde(default)]
    pub hs_code: Option<HsCode>,
    /// The country in which it was made, for customs.
    #[serde(default)]
    pub country_of_origin: Option<Country>,
    /// Whether it is shipped.
    pub requires_shipping: bool,
    /// Whether tax is levied on it.
    #[serde(default = "is_taxable")]
    pub taxable: bool,
    /// Whether its stock is tracked.
    pub tracked: bool,
    /// Whether it is sold beyond its stock; the store's policy by default.
    pub policy: Option<InventoryPolicy>,
    /// Whether it is discontinued: shoppers do not see it, and nobody can order it. Its orders keep it.
    #[serde(default)]
    pub discontinued: bool,
    /// The address of its image among the product's; none: the product's first image.
    #[serde(default)]
    pub image_url: Option<String>,
    /// Key-value pairs that apps and merchants store with it.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The locations, online or not, at which some of it is available. Updated from its stock, never
    /// by a write of the variant ([`Variant::STOCK`]).
    #[serde(default)]
    pub stocked_at: Vec<LocationId>,
    /// Its position among the product's variants, from 1. It is not stored: the product lists its
    /// variants in order ([`Product::arranged`]).
    #[serde(skip)]
    pub position: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// The value of variants that were stored before the field existed.
const fn is_taxable() -> bool {
    true
}

impl Variant {
    /// Attributes that are updated from its stock ([`restock`](restock())): a write of the variant
    /// does not touch them (`Write::replace_except`).
    pub const STOCK: &[&str] = &["stocked_at"];

    /// Whether it can be bought online: it is not discontinued, and not tracked, sold beyond its stock, or
    /// available at one of the store's online locations.
    pub fn is_in_stock(&self, store: &Store) -> bool {
        let policy = self.policy.unwrap_or(store.inventory_policy);
        let is_there = !self.tracked
            || policy == InventoryPolicy::Continue
            || self.stocked_at.iter().any(|at| store.online_locations.contains(at));
        is_there && !self.discontinued
    }

    /// The compare-at price in minor units, if it is above the price.
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

    /// The product with this status. The first activation sets `published_at`, later ones keep it.
    #[must_use]
    pub fn in_status(self, status: ProductStatus, now: Timestamp) -> Self {
        let on_sale = (status == ProductStatus::Active).then_some(now);
        Self { status, published_at: self.published_at.or(on_sale), ..self }
    }

    /// The product with its aggregates computed over `variants`, which must be all of its variants. Those that are
    /// discontinued count for none of what shoppers see, unless all are.
    #[must_use]
    pub fn with_prices_of(self, variants: &[Variant]) -> Self {
        let offered = || variants.iter().filter(|variant| !variant.discontinued);
        let all_are_gone = offered().next().is_none();
        let counted = || variants.iter().filter(|variant| all_are_gone || !variant.discontinued);
        let prices: BTreeSet<i64> = counted().map(|variant| variant.price.amount).collect();
        let lowest = prices.first().copied();
        let cheapest = counted().filter(|variant| Some(variant.price.amount) == lowest);
        let free = |variant: &Variant| {
            !variant.tracked || variant.policy == Some(InventoryPolicy::Continue)
        };
        let follows = |variant: &Variant| variant.tracked && variant.policy.is_none();
        Self {
            variants_count: u32::try_from(variants.len()).unwrap_or(u32::MAX),
            discontinued_count: u32::try_from(variants.len().saturating_sub(offered().count()))
                .unwrap_or(u32::MAX),
            variant_ids: variants.iter().map(|variant| variant.id.clone()).collect(),
            compare_at: cheapest.filter_map(Variant::reduced_from).min(),
            on_sale: counted().any(|variant| variant.reduced_from().is_some()),
            prices: prices.into_iter().collect(),
            currency: variants
                .first()
                .map_or_else(|| self.currency.clone(), |variant| variant.price.currency.clone()),
            always_sells: offered().any(free),
            follows_store: offered().any(follows),
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

    /// The variants in the product's order, each with its position. Variants that the product does
    /// not list are left out: they are being added or removed.
    pub fn arranged(&self, variants: Vec<Variant>) -> Vec<Variant> {
        let mut found: HashMap<VariantId, Variant> =
            variants.into_iter().map(|variant| (variant.id.clone(), variant)).collect();
        let positions = self.variant_ids.iter().zip(1_u32..);
        let placed = |(id, position): (&VariantId, u32)| {
            found.remove(id).map(|variant| Variant { position, ..variant })
        };
        positions.filter_map(placed).collect()
    }

    /// The variant with its position, if the product lists it.
    pub fn position_of(&self, variant: &Variant) -> Option<Variant> {
        let index = self.variant_ids.iter().position(|id| *id == variant.id)?;
        let position = u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX);
        Some(Variant { position, ..variant.clone() })
    }

    /// The image that represents it in lists.
    pub fn image(&self) -> Option<&Image> {
        self.images.first()
    }

    /// Whether shoppers see it: it is active, and not all of its variants are discontinued.
    pub fn is_visible(&self) -> bool {
        self.status == ProductStatus::Active
            && (self.discontinued_count == 0 || self.discontinued_count < self.variants_count)
    }

    /// Ensures that the product fits into an item of the table.
    ///
    /// # Errors
    /// `too_large`, as a field error of the whole request.
    pub fn ensure_size(&self) -> Result<(), Problem> {
        let size = serde_json::to_vec(self).map_err(Problem::internal)?.len();
        if size > MAX_BYTES {
            let detail = format!("A product must have at most {MAX_BYTES} bytes in total.");
            return Err(Problem::field("", "too_large", detail));
        }
        Ok(())
    }
}
