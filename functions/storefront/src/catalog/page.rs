//! Loads a product's page: one query, if the process has its related products cached.
//!
//! The product, its variants and their stock are one range of its partition. The product of a handle is found
//! in the store's [`RelatedProductsCache`], or by the handle's lookup item. Either also has the attributes by
//! which related products are found, so that they are read at the same time. Both may be outdated, and only
//! decide what to read: the product read must be visible and have the handle.

use std::sync::Arc;

use catalogue::product::{self, Product, ProductSummary, Variant};
use core_types::fields::Handle;
use identity::store::Store;
use primitives::problem::{Code, Problem};
use services::Services;

use super::related::RelatedProductsCache;

/// A product with its variants and related products.
#[derive(Debug)]
pub struct ProductPage {
    /// The product, which is visible.
    pub product: Product,
    /// Its variants, in their order.
    pub variants: Vec<Variant>,
    /// Related products.
    pub related: Vec<Arc<ProductSummary>>,
}

impl ProductPage {
    /// Loads the page of a handle. If eventually consistent reads do not find it, it is read again by
    /// strongly consistent ones.
    ///
    /// # Errors
    /// `not_found`, also for a product that is not visible.
    pub async fn load(
        services: &Services,
        store: &Store,
        handle: &Handle,
    ) -> Result<Self, Problem> {
        let cache = RelatedProductsCache::of(services, &store.id).await?;
        if let Some((id, outline)) = cache.find_by_handle(services, handle).await? {
            let (found, related) = tokio::try_join!(
                product::get_eventually(services, &store.id, &id),
                cache.related_to(services, &id, &outline),
            )?;
            let is_current = |product: &Product| product.is_visible() && product.handle == *handle;
            if let Some((product, variants)) = found.filter(|(product, _)| is_current(product)) {
                return Ok(Self { product, variants, related });
            }
        }
        let id = product::find(services, &store.id, handle).await?.ok_or(Code::NotFound)?;
        let found = product::load(services, &store.id, &id).await?;
        let found = found.filter(|(product, _)| product.is_visible());
        let (product, variants) = found.ok_or(Code::NotFound)?;
        let related = cache.related_to(services, &id, &product.outline()).await?;
        Ok(Self { product, variants, related })
    }
}
