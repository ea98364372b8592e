//! A process's cache of related products.
//!
//! The pages of a store show the same few related products again and again. So the store's candidates are
//! cached for [`CANDIDATES`], and product summaries as long as the store itself ([`CACHE_TIME`]): related
//! products may be that much older than their page. The products of requested handles are cached, too.
//! Checkouts do not use this cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catalogue::product::{Outline, ProductSummary, UniqueProductHandle};
use catalogue::related_products::{Candidate, RelatedProducts};
use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId};
use core_types::key;
use identity::storefront::CACHE_TIME;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;

/// The time for which a store's candidates are cached (our choice): a new product may become related this much later.
const CANDIDATES: Duration = Duration::from_secs(30);
/// The maximum number of related products of a product.
const MAX_RELATED: usize = 4;
/// The maximum number of batches of [`MAX_RELATED`] that are read, because some products may not be visible
/// any more.
const MAX_BATCHES: usize = 2;

/// The maximum number of cached handles; beyond it the cache is cleared (our choice).
const MAX_HANDLES: usize = 500;

/// A cached product summary and when it expires; none for a product that does not exist.
type CachedSummary = (Timestamp, Option<Arc<ProductSummary>>);

/// The probable product of a handle, and the attributes by which related products are found.
pub type ProductHint = (ProductId, Outline);

/// A store's candidates for related products, with cached summaries and handles.
#[derive(Debug)]
pub struct RelatedProductsCache {
    candidates: RelatedProducts,
    summaries: Mutex<HashMap<ProductId, CachedSummary>>,
    handles: Mutex<HashMap<Handle, ProductHint>>,
}

impl RelatedProductsCache {
    /// Loads a store's shelf: half a read unit, if it is not cached.
    pub async fn of(services: &Services, store: &StoreId) -> Result<Arc<Self>, Problem> {
        let now = services.clock.now();
        if let Some(cached) = services.cache.get(store.as_str(), now) {
            return Ok(cached);
        }
        let key = key::related_products(store);
        let found: Option<RelatedProducts> =
            services.table.get_many_eventually(&[&key]).await?.take(&key)?;
        let candidates = found.unwrap_or_else(|| RelatedProducts::empty(store));
        let (summaries, handles) = (Mutex::default(), Mutex::default());
        let cache = Arc::new(Self { candidates, summaries, handles });
        services.cache.insert(store.as_str(), Arc::clone(&cache), now, CANDIDATES);
        Ok(cache)
    }

    /// Returns the probable product of a handle: half a read unit, if it is not cached.
    pub async fn find_by_handle(
        &self,
        services: &Services,
        handle: &Handle,
    ) -> Result<Option<ProductHint>, Problem> {
        if let Some(cached) = self.candidates.find_by_handle(handle) {
            return Ok(Some((cached.id.clone(), cached.outline.clone())));
        }
        if let Some(cached) = self.handles().get(handle) {
            return Ok(Some(cached.clone()));
        }
        let key = key::unique_product_handle(&self.candidates.store_id, handle.as_str());
        let claim: Option<UniqueProductHandle> =
            services.table.get_many_eventually(&[&key]).await?.take(&key)?;
        let hint = claim.map(|claim| (claim.product_id, claim.outline));
        if let Some(hint) = &hint {
            let mut handles = self.handles();
            if handles.len() >= MAX_HANDLES {
                handles.clear();
            }
            handles.insert(handle.clone(), hint.clone());
        }
        Ok(hint)
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<Handle, ProductHint>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the visible products that have most in common with this one.
    pub async fn related_to(
        &self,
        services: &Services,
        product: &ProductId,
        outline: &Outline,
    ) -> Result<Vec<Arc<ProductSummary>>, Problem> {
        let limit = MAX_RELATED.saturating_mul(MAX_BATCHES);
        let closest = self.candidates.closest_to(product, outline, limit);
        let mut related = Vec::new();
        for part in closest.chunks(MAX_RELATED) {
            related.extend(
                self.summaries(services, part)
                    .await?
                    .into_iter()
                    .filter(|summary| summary.is_visible()),
            );
            if related.len() >= MAX_RELATED {
                break;
            }
        }
        related.truncate(MAX_RELATED);
        Ok(related)
    }

    /// Returns the product summaries of these candidates that exist. Reads those not cached in one
    /// round trip.
    async fn summaries(
        &self,
        services: &Services,
        of: &[&Candidate],
    ) -> Result<Vec<Arc<ProductSummary>>, Problem> {
        let now = services.clock.now();
        let unknown: Vec<&ProductId> = {
            let cached = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = |id: &ProductId| cached.get(id).is_some_and(|(until, _)| now < *until);
            of.iter().map(|candidate| &candidate.id).filter(|id| !is_known(id)).collect()
        };
        let store = &self.candidates.store_id;
        let keys: Vec<Key> = unknown.iter().map(|id| key::summary(store, id)).collect();
        let mut found =
            services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        let mut cached = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, key) in unknown.into_iter().zip(&keys) {
            let summary: Option<ProductSummary> = found.take(key)?;
            cached.insert(id.clone(), (now.plus(CACHE_TIME), summary.map(Arc::new)));
        }
        let summary = |candidate: &&Candidate| cached.get(&candidate.id)?.1.clone();
        Ok(of.iter().filter_map(summary).collect())
    }
}
