//! Product summaries: what a storefront's lists show of a product, and filter and sort it by.
//!
//! - A summary is a small item alongside the product, written in the transaction that changes it. With a
//!   few variants it has less than a kilobyte; it has no description. It is in the list indexes while
//!   the product is active. Each sort order has its own index, so that a page of a list costs the same
//!   over any number of products.
//! - *Rating*: the transaction that counts a review updates the summary too.
//! - *Stock*: [`ProductSummary::stocked_at`] has the locations at which any variant is available. The
//!   consumer of the table's stream updates it ([`restock`](super::restock())); a list reads no stock.

mod order;
mod partition;

use core_types::fields::{Currency, Handle};
use core_types::id::{CategoryId, LocationId, MediaId, ProductId, StoreId, VariantId};
use core_types::key::{self, IndexKey};
use core_types::rating::Rating;
use identity::store::{InventoryPolicy, Store};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key, Packing};
use table::{Change, Condition, Write};

use super::{Image, PriceRange, Product, ProductStatus, Variant};
use crate::words::{index_words, words};

pub use order::{SortFields, SummaryOrder};
pub(crate) use order::{id_of, newest_first};
use partition::SummaryPartition;

/// The most images of a product in a list (our choice).
const IMAGES: usize = 2;
/// The most words of SKUs that a product is found by (our choice).
const SKU_WORDS: usize = 32;
/// Attributes that are updated from stock: writes of the product do not touch them.
const STOCK: &[&str] = &["stocked_at", "stock_version"];

/// Attributes that are updated on their own, so they are not packed: by a change of the category, by
/// the count of a review, or by [`restock`](super::restock()).
const IN_PLACE: &[&str] = &[
    "PK",
    "category_id",
    "rating_count",
    "rating_sum",
    "stocked_at",
    "stock_version",
    "updated_at",
];

/// The data of a product that lists show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductSummary {
    /// Store and product, as part of the key, which every index row holds anyway.
    #[serde(rename = "PK")]
    place: SummaryPartition,
    /// The title that shoppers see.
    pub title: String,
    /// Its name in URLs.
    pub handle: Handle,
    /// The status: draft, active or archived.
    pub status: ProductStatus,
    /// The vendor or manufacturer.
    pub vendor: Option<String>,
    /// The product type, in the merchant's words.
    pub product_type: Option<String>,
    /// The tags, for search, filters and automated collections.
    pub tags: Vec<String>,
    /// The distinct words of its variants' SKUs, folded; the first 32.
    #[serde(default)]
    pub sku_words: Vec<String>,
    /// Its first images.
    pub images: Vec<SummaryImage>,
    /// Its category.
    pub category_id: Option<CategoryId>,
    /// Its variants that are not discontinued, in their order.
    pub variant_ids: Vec<VariantId>,
    /// The names of its options, in their order: of a line of a cart, the title of its variant has the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub option_names: Vec<String>,
    /// The distinct prices of its variants, in minor units, ascending.
    pub prices: Vec<i64>,
    /// The compare-at price of its cheapest variant, if it is above the price; in minor units.
    pub compare_at: Option<i64>,
    /// Whether any variant costs less than its compare-at price.
    pub on_sale: bool,
    /// The currency of its prices.
    pub currency: Currency,
    /// Whether any variant can be bought whatever its stock.
    pub always_sells: bool,
    /// Whether any tracked variant has no policy of its own, so that the store's applies.
    pub follows_store: bool,
    /// The locations, online or not, at which any variant is available.
    #[serde(default)]
    pub stocked_at: Vec<LocationId>,
    /// Counts updates of `stocked_at`.
    #[serde(default)]
    pub stock_version: u64,
    /// The number of published reviews.
    pub rating_count: u64,
    /// The sum of the stars of these reviews.
    pub rating_sum: u64,
    /// When it first became active.
    pub published_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The product's version.
    pub version: u64,
}

/// An image as a summary stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryImage {
    /// The media of the store; none for an image that is hosted elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_id: Option<MediaId>,
    /// The address of an image that is hosted elsewhere; that of media follows from their id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The alternative text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    alt: String,
    /// The width in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    /// The height in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
}

impl From<&Image> for SummaryImage {
    fn from(image: &Image) -> Self {
        let url = image.media_id.is_none().then(|| image.url.clone());
        let Image { media_id, alt, width, height, .. } = image.clone();
        Self { media_id, url, alt, width, height }
    }
}

impl Item for ProductSummary {
    const KIND: &'static str = "card";
    const PACKING: Option<Packing> = Some(Packing { plain: IN_PLACE, text: None, keyed: false });
    fn key(&self) -> Key {
        key::summary(self.store_id(), self.id())
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        if !self.is_visible() {
            return Vec::new();
        }
        let (store, id) = (self.store_id(), self.id());
        vec![
            key::summaries_by_time(store, id),
            key::summaries_by_price(store, &SummaryOrder::PriceAscending.key(self)),
            key::summaries_by_title(store, &SummaryOrder::Title.key(self)),
            key::summaries_by_rating(store, &SummaryOrder::BestRated.key(self)),
        ]
    }
}

impl ProductSummary {
    /// The summary of a product with these variants, without stock.
    pub fn of(product: &Product, variants: &[Variant]) -> Self {
        Self {
            sku_words: sku_words(variants),
            place: SummaryPartition::new(&product.store_id, &product.id),
            title: product.title.clone(),
            handle: product.handle.clone(),
            status: product.status,
            vendor: product.vendor.clone(),
            product_type: product.product_type.clone(),
            tags: product.tags.clone(),
            images: product.images.iter().take(IMAGES).map(SummaryImage::from).collect(),
            category_id: product.category_id.clone(),
            variant_ids: offered(product, variants),
            option_names: product.options.iter().map(|option| option.name.clone()).collect(),
            prices: product.prices.clone(),
            compare_at: product.compare_at,
            on_sale: product.on_sale,
            currency: product.currency.clone(),
            always_sells: product.always_sells,
            follows_store: product.follows_store,
            stocked_at: Vec::new(),
            stock_version: 0,
            rating_count: product.rating_count,
            rating_sum: product.rating_sum,
            published_at: product.published_at,
            created_at: product.created_at,
            updated_at: product.updated_at,
            version: product.version,
        }
    }

    /// The summary of a new product with first stock at these locations.
    #[must_use]
    pub fn stocked(self, at: impl IntoIterator<Item = LocationId>) -> Self {
        let mut stocked_at: Vec<LocationId> = at.into_iter().collect();
        stocked_at.sort();
        stocked_at.dedup();
        Self { stocked_at, ..self }
    }

    /// The product's id.
    pub fn id(&self) -> &ProductId {
        &self.place.product
    }

    /// The store's id.
    pub fn store_id(&self) -> &StoreId {
        &self.place.store
    }

    /// Whether shoppers see it: it is active, and not all of its variants are discontinued.
    pub fn is_visible(&self) -> bool {
        self.status == ProductStatus::Active && !self.variant_ids.is_empty()
    }

    /// Whether any variant can be bought online from this store.
    pub fn is_in_stock(&self, store: &Store) -> bool {
        let by_policy = store.inventory_policy == InventoryPolicy::Continue;
        self.always_sells
            || (self.follows_store && by_policy)
            || self.stocked_at.iter().any(|at| store.online_locations.contains(at))
    }

    /// The lowest price of its variants, in minor units.
    pub fn price_min(&self) -> i64 {
        self.prices.first().copied().unwrap_or(0)
    }

    /// The price range over its variants.
    pub fn price_range(&self) -> PriceRange {
        PriceRange::range_of(&self.prices, self.compare_at, &self.currency)
    }

    /// The average rating and the number of published reviews.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }

    /// Its first images; media of the store have their public addresses.
    pub fn images(&self, base_url: &str) -> Vec<Image> {
        let image = |image: &SummaryImage| Image {
            url: match (&image.media_id, &image.url) {
                (Some(id), _) => Image::address(base_url, self.store_id(), id),
                (None, url) => url.clone().unwrap_or_default(),
            },
            media_id: image.media_id.clone(),
            alt: image.alt.clone(),
            width: image.width,
            height: image.height,
        };
        self.images.iter().map(image).collect()
    }

    /// Adds the summary to a write that changes its product. The stock attributes stay, and the
    /// stored rating must be the one that the product was read with.
    pub fn put_into(&self, write: Write) -> Write {
        let counted = Condition::new("rating_count = :count AND rating_sum = :sum")
            .value(":count", self.rating_count)
            .value(":sum", self.rating_sum);
        write.replace_except(self, STOCK, counted, Code::VersionConflict)
    }

    /// The update that adds `count` reviews with `stars` stars in total, both possibly negative. Its
    /// condition is that version and rating are still the ones that were read.
    #[must_use]
    pub(crate) fn add_reviews(&self, count: i64, stars: i64) -> Change {
        let after = Self {
            rating_count: self.rating_count.saturating_add_signed(count),
            rating_sum: self.rating_sum.saturating_add_signed(stars),
            ..self.clone()
        };
        let change = match after.indexes().pop().filter(|_| self.is_visible()) {
            None => Change::new("SET rating_count = :count, rating_sum = :sum"),
            Some((index, key)) => {
                Change::new("SET rating_count = :count, rating_sum = :sum, #best = :best")
                    .name("#best", index.key_names().1)
                    .value(":best", key.sk)
            }
        };
        change
            .only_if("#version = :version AND rating_count = :before AND rating_sum = :stars")
            .name("#version", "version")
            .value(":version", self.version)
            .value(":before", self.rating_count)
            .value(":stars", self.rating_sum)
            .value(":count", after.rating_count)
            .value(":sum", after.rating_sum)
    }
}

/// The ids of the variants that are not discontinued, in the product's order.
fn offered(product: &Product, variants: &[Variant]) -> Vec<VariantId> {
    let is_gone =
        |id: &&VariantId| variants.iter().any(|variant| variant.id == **id && variant.discontinued);
    product.variant_ids.iter().filter(|id| !is_gone(id)).cloned().collect()
}

/// The first distinct words of the SKUs of these variants.
pub(crate) fn sku_words(variants: &[Variant]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let skus = || variants.iter().filter_map(|variant| variant.sku.as_deref());
    // What is joined, or part of a word, comes after the words of every SKU.
    for word in skus().flat_map(words).chain(skus().flat_map(index_words)) {
        if found.len() < SKU_WORDS && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Loads the summaries of these products, in the order of `ids`; those that do not exist are left out.
/// The read is eventually consistent.
pub async fn summaries(
    services: &Services,
    store: &StoreId,
    ids: &[ProductId],
) -> Result<Vec<ProductSummary>, Problem> {
    let keys: Vec<Key> = ids.iter().map(|id| key::summary(store, id)).collect();
    let mut found = services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    keys.iter().filter_map(|key| found.take(key).transpose()).collect()
}
