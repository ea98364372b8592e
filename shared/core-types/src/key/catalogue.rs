//! Keys of the catalogue: products, stock, collections and the content of stores.

use primitives::clock::Timestamp;
use table::item::Key;

use super::{IndexKey, gsi1, gsi2, gsi4, gsi7, list};
use crate::id::{
    CategoryId, CollectionId, CustomerId, FormSubmissionId, LocationId, MediaId, MovementId,
    ProductId, ReviewId, StoreId, VariantId,
};

// The catalogue: a product and its variants are one query; what a checkout needs of a variant lies
// with its stock, so that a cart is one batch.

/// A product.
pub fn product(store: &StoreId, id: &ProductId) -> Key {
    Key::new(format!("STO#{store}#PRD#{id}"), "A")
}
/// A variant, in its product's partition.
pub fn variant(store: &StoreId, product: &ProductId, id: &VariantId) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), format!("{VARIANTS}{id}"))
}
/// The prefix of variants' sort keys. Together with the product's own key it selects the product and
/// its variants, without its reviews.
pub const VARIANTS: &str = "A#VAR#";
/// The deferred work of the product change that produced this version.
pub fn product_deferred_work(store: &StoreId, product: &ProductId, version: u64) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), format!("RST#{version:010}"))
}
/// A store's products, by creation.
pub fn products_of_store(store: &StoreId, created: Timestamp, id: &ProductId) -> IndexKey {
    list::products_of_store(store).entry(format!("{created}#{id}"))
}
/// A store's products of a status, by creation: a change of a product never moves it during a walk.
pub fn products_by_status(
    store: &StoreId,
    status: &str,
    created: Timestamp,
    id: &ProductId,
) -> IndexKey {
    list::products_by_status(store, status).entry(format!("{created}#{id}"))
}
/// A product's summary, in its partition. Its sort key `CRD` is outside the range of keys that begin with
/// `A`.
pub fn summary(store: &StoreId, product: &ProductId) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), "CRD")
}
/// The store and product of the summary in this partition.
pub fn summary_of(partition: &str) -> Option<(StoreId, ProductId)> {
    let (store, product) = partition.strip_prefix("STO#")?.split_once("#PRD#")?;
    Some((StoreId::parse(store)?, ProductId::parse(product)?))
}
/// The partition of the published product summaries, in each of their sort orders.
pub fn summaries_in(store: &StoreId) -> String {
    format!("STO#{store}#CRD")
}
/// The published product summaries by creation, which is the order of ids: a change of a product never moves
/// it during a walk.
pub fn summaries_by_time(store: &StoreId, id: &ProductId) -> IndexKey {
    gsi1(summaries_in(store), id.as_str())
}
/// The published product summaries, by price.
pub fn summaries_by_price(store: &StoreId, price: &str) -> IndexKey {
    gsi2(summaries_in(store), price)
}
/// The published product summaries, by title.
pub fn summaries_by_title(store: &StoreId, title: &str) -> IndexKey {
    gsi4(summaries_in(store), title)
}
/// The published product summaries, by rating.
pub fn summaries_by_rating(store: &StoreId, rating: &str) -> IndexKey {
    gsi7(summaries_in(store), rating)
}
/// The partition of a store's search words that begin with the same character as this one.
pub fn search_words(store: &StoreId, word: &str) -> String {
    let first: String = word.chars().take(1).collect();
    format!("STO#{store}#TOK#{first}")
}
/// A search word of a product. The better rank sorts first, and within a word the newest product.
pub fn search_word(store: &StoreId, (rank, word): (&str, &str), newest_first: &str) -> Key {
    Key::new(search_words(store, word), format!("{rank}#{word}#{newest_first}"))
}
/// The variants that carry a barcode: several may.
pub fn barcode_variants(store: &StoreId, barcode: &str) -> String {
    format!("STO#{store}#BAR#{barcode}")
}
/// A variant that carries a barcode.
pub fn barcode(store: &StoreId, barcode: &str, variant: &VariantId) -> Key {
    Key::new(barcode_variants(store, barcode), variant.as_str())
}
/// The candidates for the related products of a store's product pages.
pub fn related_products(store: &StoreId) -> Key {
    Key::new(format!("SHF#{store}"), "A")
}
/// The partition of a store's facet index.
pub fn facets(store: &StoreId) -> String {
    format!("STO#{store}#FCT")
}
/// The head of a store's facet index.
pub fn facet_head(store: &StoreId) -> Key {
    Key::new(facets(store), "A")
}
/// The chunk of a facet index whose products have this id or a later one.
pub fn facet_chunk(store: &StoreId, first: &str) -> Key {
    Key::new(facets(store), format!("{FACET_CHUNKS}{first}"))
}
/// The prefix of the sort keys of the chunks of a facet index.
pub const FACET_CHUNKS: &str = "F#";
/// The walk over a store's products that builds its facet index.
pub fn facet_walk(store: &StoreId) -> Key {
    Key::new(facets(store), "W")
}
/// The uniqueness item of a product's handle.
pub fn unique_product_handle(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("UQ#{store}#HDL#{handle}"), "U")
}
/// The uniqueness item of a variant's SKU.
pub fn unique_sku(store: &StoreId, sku: &str) -> Key {
    Key::new(format!("UQ#{store}#SKU#{sku}"), "U")
}
/// The sellable of a variant, in the partition of its stock levels.
pub fn sellable(store: &StoreId, variant: &VariantId) -> Key {
    Key::new(format!("STO#{store}#INV#{variant}"), "A")
}
/// A variant's stock at a location.
pub fn level(store: &StoreId, variant: &VariantId, location: &LocationId) -> Key {
    Key::new(format!("STO#{store}#INV#{variant}"), format!("LVL#{location}"))
}
/// The prefix of the sort keys of stock levels.
pub const LEVELS: &str = "LVL#";
/// A location's stock levels, by variant.
pub fn levels_of_location(store: &StoreId, location: &LocationId, variant: &VariantId) -> IndexKey {
    list::levels_of_location(store, location).entry(variant.as_str())
}
/// A movement of stock: the ledger of a level.
pub fn movement(
    store: &StoreId,
    variant: &VariantId,
    location: &LocationId,
    id: &MovementId,
) -> Key {
    Key::new(movements_of(store, variant), format!("{location}#{id}"))
}
/// The partition of a variant's movements, apart from that of its levels, so that the writes are spread over
/// two partitions.
pub fn movements_of(store: &StoreId, variant: &VariantId) -> String {
    format!("STO#{store}#MOV#{variant}")
}
/// A stock location.
pub fn location(store: &StoreId, id: &LocationId) -> Key {
    Key::new(format!("STO#{store}"), format!("LOC#{id}"))
}
/// The prefix of the sort keys of locations.
pub const LOCATIONS: &str = "LOC#";
/// A collection.
pub fn collection(store: &StoreId, id: &CollectionId) -> Key {
    Key::new(format!("STO#{store}#COL#{id}"), "A")
}
/// The products of a manual collection, in their order.
pub fn collection_members(store: &StoreId, id: &CollectionId) -> Key {
    Key::new(format!("STO#{store}#COL#{id}"), "MBR")
}
/// A store's collections, by creation.
pub fn collections_of_store(store: &StoreId, created: Timestamp, id: &CollectionId) -> IndexKey {
    list::collections_of_store(store).entry(format!("{created}#{id}"))
}
/// The partition of a store's collections.
pub fn collections_in(store: &StoreId) -> String {
    format!("STO#{store}#COL")
}
/// The uniqueness item of a collection's handle.
pub fn unique_collection_handle(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("UQ#{store}#COLHDL#{handle}"), "U")
}
/// A category.
pub fn category(store: &StoreId, id: &CategoryId) -> Key {
    Key::new(format!("STO#{store}"), format!("{CATEGORIES}{id}"))
}
/// The item that serializes changes of a store's category tree.
pub fn category_tree(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "CTR#CAT")
}
/// The remaining work for a deleted category.
pub fn category_drain(store: &StoreId, id: &CategoryId) -> Key {
    Key::new(format!("STO#{store}#CATDEL#{id}"), "A")
}
/// The prefix of the sort keys of categories.
pub const CATEGORIES: &str = "CAT#";

// Content of customers, and content of storefronts.

/// A form submission.
pub fn form_submission(store: &StoreId, id: &FormSubmissionId) -> Key {
    Key::new(format!("STO#{store}"), format!("FRM#{id}"))
}
/// The prefix of the sort keys of form submissions.
pub const FORM_SUBMISSIONS: &str = "FRM#";
/// Form submissions of a status, by time.
pub fn form_submissions_by_status(
    store: &StoreId,
    status: &str,
    at: Timestamp,
    id: &FormSubmissionId,
) -> IndexKey {
    list::form_submissions_by_status(store, status).entry(format!("{at}#{id}"))
}
/// The prefix of the sort keys of product reviews.
pub const PRODUCT_REVIEWS: &str = "REV#";
/// A product review; its key allows one per purchase line, or one per customer without one.
pub fn product_review(
    store: &StoreId,
    product: &ProductId,
    customer: &CustomerId,
    line: &str,
) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), format!("REV#{customer}#{line}"))
}
/// Reviews of a status on a store, by time.
pub fn reviews_by_status(store: &StoreId, status: &str, at: Timestamp, id: &ReviewId) -> IndexKey {
    list::reviews_by_status(store, status).entry(format!("{at}#{id}"))
}
/// The approved reviews of a product, by time.
pub fn approved_reviews_of_product(
    store: &StoreId,
    product: &ProductId,
    at: Timestamp,
    id: &ReviewId,
) -> IndexKey {
    list::approved_reviews_of_product(store, product).entry(format!("{at}#{id}"))
}
/// A review by its id; also all reviews of a store by time, because ids sort by time.
pub fn review_by_id(store: &StoreId, id: &ReviewId) -> IndexKey {
    list::reviews_of_store(store).entry(id.as_str())
}
/// The partition of all reviews of a store, in the index by review id.
pub fn reviews_on(store: &StoreId) -> String {
    format!("STO#{store}#REVID")
}
/// The lookup item of a review, for moderation, which does not name the product.
pub fn review_pointer(store: &StoreId, id: &ReviewId) -> Key {
    Key::new(format!("STO#{store}"), format!("RID#{id}"))
}
/// An image or other media.
pub fn media(store: &StoreId, id: &MediaId) -> Key {
    Key::new(format!("STO#{store}"), format!("MED#{id}"))
}
/// The prefix of the sort keys of media.
pub const MEDIA: &str = "MED#";
/// The metadata of content-addressed bytes.
pub fn blob(sha256: &str) -> Key {
    Key::new(format!("BLB#{sha256}"), "A")
}
/// A chunk of content-addressed bytes, written by one upload.
pub fn blob_chunk(sha256: &str, upload: &str, number: u32) -> Key {
    Key::new(format!("BLB#{sha256}"), format!("CHK#{upload}#{number:03}"))
}
/// A navigation menu.
pub fn navigation(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("NAV#{handle}"))
}
/// A policy page.
pub fn policy(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("POL#{handle}"))
}
/// A wish: an entry of a customer's wishlist.
pub fn wish(store: &StoreId, customer: &CustomerId, product: &ProductId, variant: &str) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("WSH#{product}#{variant}"))
}
/// The prefix of the sort keys of wishes.
pub const WISHES: &str = "WSH#";
