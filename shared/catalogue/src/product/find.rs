//! Products read: one with its variants, several, those for sale, the one of a handle.

use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId};
use core_types::key;
use primitives::problem::Problem;
use services::Services;
use table::item;
use table::item::{Attributes, FromItem, Item, Key};
use table::{Query, ReadConsistency};

use super::{MAX_VARIANTS, Product, UniqueProductHandle, Variant};

/// An item of a product's own range of its partition.
enum Part {
    Product(Box<Product>),
    Variant(Box<Variant>),
}

impl FromItem for Part {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        match item::kind(&attributes) {
            Product::KIND => Ok(Self::Product(Box::new(item::parse(attributes)?))),
            Variant::KIND => Ok(Self::Variant(Box::new(item::parse(attributes)?))),
            kind => Err(Problem::internal(format!("{kind} among a product's variants"))),
        }
    }
}

/// A product with its variants in their order, in one query.
pub async fn load(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    read(services, own_range(store, id)).await
}

/// As [`load`], at half the price and perhaps a moment old: none also where some of the variants are
/// too new for it.
pub async fn get_eventually(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    let found = read(services, own_range(store, id).seen(ReadConsistency::Eventual)).await?;
    Ok(found.filter(|(product, variants)| variants.len() == product.variant_ids.len()))
}

/// A product and its variants, and nothing else of its partition.
fn own_range(store: &StoreId, id: &ProductId) -> Query {
    let place = key::product(store, id);
    Query::partition(place.pk).begins_with(place.sk)
}

async fn read(
    services: &Services,
    query: Query,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    let mut product = None;
    let mut variants = Vec::new();
    for part in services.table.all::<Part>(&query, MAX_VARIANTS.saturating_add(1)).await? {
        match part {
            Part::Product(found) => product = Some(*found),
            Part::Variant(variant) => variants.push(*variant),
        }
    }
    Ok(product.map(|product| {
        let variants = product.arranged(variants);
        (product, variants)
    }))
}

/// These products in the order asked for, without those that are not there: at most 100 in one
/// round trip.
pub async fn get_many(
    services: &Services,
    store: &StoreId,
    ids: &[ProductId],
) -> Result<Vec<Product>, Problem> {
    let keys: Vec<Key> = ids.iter().map(|id| key::product(store, id)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let found = keys.iter().map(|key| batch.take(key)).collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The product of a handle.
pub async fn find(
    services: &Services,
    store: &StoreId,
    handle: &Handle,
) -> Result<Option<ProductId>, Problem> {
    let key = key::unique_product_handle(store, handle.as_str());
    let claim: Option<UniqueProductHandle> = services.table.get(&key).await?;
    Ok(claim.map(|claim| claim.product_id))
}
