//! Cards: what a storefront's lists show of a product, and what they filter and sort it by.
//!
//! - A card is a small item beside the product, written in the transaction that changes it; a
//!   product of a few variants makes one of less than a kilobyte, without descriptions. A card lies
//!   in the list indexes while the product is for sale: each order is an index of its own, so that
//!   it costs the same over any number of products.
//! - *Rating*: whoever counts a review writes it here too, in the same transaction.
//! - *Stock*: a card says at which locations some variant can be sold ([`ProductSummary::stocked_at`]), which
//!   the table's stream keeps ([`restock`](super::restock)); a list reads no stock.

mod order;
mod place;

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
use crate::words::words;

pub use order::SummaryOrder;
pub(crate) use order::{id_of, newest_first};
use place::Place;

/// Pictures that a list shows of a product (our choice).
const IMAGES: usize = 2;
/// Words of SKUs that a product is found by (our choice).
const SKU_WORDS: usize = 32;
/// Attributes that are not the product's: its writes leave them alone.
const STOCK: &[&str] = &["stocked_at", "stock_version"];

/// What is written by itself: by the product's category, by who counts a review or looks at its
/// stock.
const IN_PLACE: &[&str] = &[
    "PK",
    "category_id",
    "rating_count",
    "rating_sum",
    "stocked_at",
    "stock_version",
    "updated_at",
];

/// What lists show of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductSummary {
    /// Whose it is: an index row holds the key anyway.
    #[serde(rename = "PK")]
    place: Place,
    /// What shoppers read.
    pub title: String,
    /// Its name in URLs.
    pub handle: Handle,
    /// Whether it is sold.
    pub status: ProductStatus,
    /// Who makes it.
    pub vendor: Option<String>,
    /// What it is, in the merchant's words.
    pub product_type: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The words of its variants' SKUs, folded: each once, the first ones.
    #[serde(default)]
    pub sku_words: Vec<String>,
    /// Its first pictures.
    pub images: Vec<SummaryImage>,
    /// Where it belongs.
    pub category_id: Option<CategoryId>,
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
    /// Whether some variant can be bought whatever its stock.
    pub always_sells: bool,
    /// Whether some variant leaves it to the store whether to sell beyond its stock.
    pub follows_store: bool,
    /// The locations at which some variant can be sold, of whatever kind they are.
    #[serde(default)]
    pub stocked_at: Vec<LocationId>,
    /// Counts looks at its stock.
    #[serde(default)]
    pub stock_version: u64,
    /// How many published reviews it has.
    pub rating_count: u64,
    /// The stars of these reviews together.
    pub rating_sum: u64,
    /// When it was first for sale.
    pub published_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The product's.
    pub version: u64,
}

/// A picture as a card keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryImage {
    /// The media it is, if the store holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_id: Option<MediaId>,
    /// Where it is; where the store's own media are follows from their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// What it shows, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    alt: String,
}

impl From<&Image> for SummaryImage {
    fn from(image: &Image) -> Self {
        let url = image.media_id.is_none().then(|| image.url.clone());
        Self { media_id: image.media_id.clone(), url, alt: image.alt.clone() }
    }
}

impl Item for ProductSummary {
    const KIND: &'static str = "card";
    const PACKING: Option<Packing> = Some(Packing { plain: IN_PLACE, text: None });
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
            key::summaries_by_price(store, &SummaryOrder::Cheapest.key(self)),
            key::summaries_by_title(store, &SummaryOrder::Title.key(self)),
            key::summaries_by_rating(store, &SummaryOrder::Best.key(self)),
        ]
    }
}

impl ProductSummary {
    /// The card of a product with these variants, of whose stock nothing is known yet.
    pub fn of(product: &Product, variants: &[Variant]) -> Self {
        Self {
            sku_words: sku_words(variants),
            place: Place::new(&product.store_id, &product.id),
            title: product.title.clone(),
            handle: product.handle.clone(),
            status: product.status,
            vendor: product.vendor.clone(),
            product_type: product.product_type.clone(),
            tags: product.tags.clone(),
            images: product.images.iter().take(IMAGES).map(SummaryImage::from).collect(),
            category_id: product.category_id.clone(),
            variant_ids: product.variant_ids.clone(),
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

    /// The card of a product that begins with stock at these locations.
    #[must_use]
    pub fn stocked(self, at: impl IntoIterator<Item = LocationId>) -> Self {
        let mut stocked_at: Vec<LocationId> = at.into_iter().collect();
        stocked_at.sort();
        stocked_at.dedup();
        Self { stocked_at, ..self }
    }

    /// The product.
    pub fn id(&self) -> &ProductId {
        &self.place.product
    }

    /// The store.
    pub fn store_id(&self) -> &StoreId {
        &self.place.store
    }

    /// Whether shoppers see it.
    pub fn is_visible(&self) -> bool {
        self.status == ProductStatus::Active
    }

    /// Whether some variant can be bought at this store as it is now.
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

    /// What it costs, over its variants.
    pub fn price_range(&self) -> PriceRange {
        PriceRange::over(&self.prices, self.compare_at, &self.currency)
    }

    /// What reviews say, in one line.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }

    /// Its first pictures, those that the store holds at their public addresses.
    pub fn images(&self, base_url: &str) -> Vec<Image> {
        let image = |image: &SummaryImage| Image {
            url: match (&image.media_id, &image.url) {
                (Some(id), _) => Image::address(base_url, self.store_id(), id),
                (None, url) => url.clone().unwrap_or_default(),
            },
            media_id: image.media_id.clone(),
            alt: image.alt.clone(),
        };
        self.images.iter().map(image).collect()
    }

    /// Adds the card to a write that changes its product: what it knows of its stock stays, and it
    /// must have the rating that the product was read with.
    pub fn put_into(&self, write: Write) -> Write {
        let counted = Condition::new("rating_count = :count AND rating_sum = :sum")
            .value(":count", self.rating_count)
            .value(":sum", self.rating_sum);
        write.replace_except(self, STOCK, counted, Code::VersionConflict)
    }

    /// Counts so many reviews more with so many stars together; the product may not change meanwhile.
    #[must_use]
    pub(crate) fn rated(&self, count: i64, stars: i64) -> Change {
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

/// The first words of the SKUs of these variants.
fn sku_words(variants: &[Variant]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in variants.iter().filter_map(|variant| variant.sku.as_deref()).flat_map(words) {
        if found.len() < SKU_WORDS && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The cards of these products, as far as they exist, in the order asked for; perhaps a moment old.
pub async fn summaries(
    services: &Services,
    store: &StoreId,
    ids: &[ProductId],
) -> Result<Vec<ProductSummary>, Problem> {
    let keys: Vec<Key> = ids.iter().map(|id| key::summary(store, id)).collect();
    let mut found = services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    keys.iter().filter_map(|key| found.take(key).transpose()).collect()
}
