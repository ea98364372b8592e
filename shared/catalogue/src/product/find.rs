//! Reads of products: one with its variants, several, or the one with a handle.

use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId};
use core_types::key;
use primitives::problem::Problem;
use services::Services;
use table::item;
use table::item::{Attributes, FromItem, Item, Key};
use table::{Query, ReadConsistency};

use super::{MAX_VARIANTS, Product, UniqueProductHandle, Variant};

/// An item of the range that [`own_range`] queries.
enum ProductItem {
    Product(Box<Product>),
    Variant(Box<Variant>),
}

impl FromItem for ProductItem {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        match item::kind(&attributes) {
            Product::KIND => Ok(Self::Product(Box::new(item::parse(attributes)?))),
            Variant::KIND => Ok(Self::Variant(Box::new(item::parse(attributes)?))),
            kind => Err(Problem::internal(format!("{kind} among a product's variants"))),
        }
    }
}

/// Loads a product with its variants in order, in one query.
pub async fn load(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    read(services, own_range(store, id)).await
}

/// As [`load`], by an eventually consistent read at half the cost. None also where the read does not
/// show all of the variants that the product lists.
pub async fn get_eventually(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    let found =
        read(services, own_range(store, id).with_consistency(ReadConsistency::Eventual)).await?;
    Ok(found.filter(|(product, variants)| variants.len() == product.variant_ids.len()))
}

/// The query for a product and its variants, without the other items of its partition.
fn own_range(store: &StoreId, id: &ProductId) -> Query {
    let key = key::product(store, id);
    Query::partition(key.pk).begins_with(key.sk)
}

async fn read(
    services: &Services,
    query: Query,
) -> Result<Option<(Product, Vec<Variant>)>, Problem> {
    let mut product = None;
    let mut variants = Vec::new();
    for part in services.table.all::<ProductItem>(&query, MAX_VARIANTS.saturating_add(1)).await? {
        match part {
            ProductItem::Product(found) => product = Some(*found),
            ProductItem::Variant(variant) => variants.push(*variant),
        }
    }
    Ok(product.map(|product| {
        let variants = product.arranged(variants);
        (product, variants)
    }))
}

/// Loads these products, at most 100, in the order of `ids` and in one round trip. Those that do not
/// exist are left out.
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

/// Finds the product with this handle.
pub async fn find(
    services: &Services,
    store: &StoreId,
    handle: &Handle,
) -> Result<Option<ProductId>, Problem> {
    let key = key::unique_product_handle(store, handle.as_str());
    let claim: Option<UniqueProductHandle> = services.table.get(&key).await?;
    Ok(claim.map(|claim| claim.product_id))
}
