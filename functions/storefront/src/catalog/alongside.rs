//! What a process knows for a while of the products beside others.
//!
//! The pages of a store show the same few products beside each other over and over. So the store's
//! candidates are kept for [`CANDIDATES`], and the cards of those that were shown as long as the
//! store itself ([`CACHE_TIME`]): what stands beside a product may be so much older than its page. So is
//! where the handles lead of which pages were shown. A checkout knows nothing of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catalogue::product::{Outline, ProductSummary, UniqueProductHandle};
use catalogue::related_products::{Candidate, RelatedProducts};
use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId};
use core_types::key;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::Key;
use primitives::problem::Problem;
use identity::storefront::CACHE_TIME;

/// How long a process chooses among the same candidates (our choice): a new product may be beside
/// others so much later.
const CANDIDATES: Duration = Duration::from_secs(30);
/// Products shown beside a product.
const SHOWN: usize = 4;
/// How many times as many are read for it at most, because some may have gone from sale.
const ROUNDS: usize = 2;

/// Handles of other products that are remembered; of one more all are forgotten (our choice).
const HANDLES: usize = 500;

/// A card, if the product is there, and until when that is known.
type Known = (Timestamp, Option<Arc<ProductSummary>>);

/// Which product has probably a handle, and what it is likened by.
pub type Hint = (ProductId, Outline);

/// The candidates of a store, the cards of those that were shown, and where other handles lead.
#[derive(Debug)]
pub struct Shelf {
    candidates: RelatedProducts,
    summaries: Mutex<HashMap<ProductId, Known>>,
    handles: Mutex<HashMap<Handle, Hint>>,
}

impl Shelf {
    /// A store's: half a unit, where it is not kept.
    pub async fn of(app: &App, store: &StoreId) -> Result<Arc<Self>, Problem> {
        let now = app.clock.now();
        if let Some(kept) = app.cache.get(store.as_str(), now) {
            return Ok(kept);
        }
        let key = key::related_products(store);
        let found: Option<RelatedProducts> =
            app.table.get_many_eventually(&[&key]).await?.take(&key)?;
        let candidates = found.unwrap_or_else(|| RelatedProducts::empty(store));
        let (summaries, handles) = (Mutex::default(), Mutex::default());
        let shelf = Arc::new(Self { candidates, summaries, handles });
        app.cache.keep(store.as_str(), Arc::clone(&shelf), now, CANDIDATES);
        Ok(shelf)
    }

    /// Which product has probably this handle: half a unit, where it is not known.
    pub async fn named(&self, app: &App, handle: &Handle) -> Result<Option<Hint>, Problem> {
        if let Some(known) = self.candidates.named(handle) {
            return Ok(Some((known.id.clone(), known.outline.clone())));
        }
        if let Some(known) = self.handles().get(handle) {
            return Ok(Some(known.clone()));
        }
        let key = key::unique_product_handle(&self.candidates.store_id, handle.as_str());
        let claim: Option<UniqueProductHandle> =
            app.table.get_many_eventually(&[&key]).await?.take(&key)?;
        let hint = claim.map(|claim| (claim.product_id, claim.outline));
        if let Some(hint) = &hint {
            let mut handles = self.handles();
            if handles.len() >= HANDLES {
                handles.clear();
            }
            handles.insert(handle.clone(), hint.clone());
        }
        Ok(hint)
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<Handle, Hint>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The products that have most in common with this one, for sale as far as is known.
    pub async fn alongside(
        &self,
        app: &App,
        product: &ProductId,
        outline: &Outline,
    ) -> Result<Vec<Arc<ProductSummary>>, Problem> {
        let most = SHOWN.saturating_mul(ROUNDS);
        let closest = self.candidates.closest_to(product, outline, most);
        let mut shown = Vec::new();
        for part in closest.chunks(SHOWN) {
            shown.extend(
                self.summaries(app, part).await?.into_iter().filter(|summary| summary.is_visible()),
            );
            if shown.len() >= SHOWN {
                break;
            }
        }
        shown.truncate(SHOWN);
        Ok(shown)
    }

    /// The cards of these candidates, as far as they are there: those that are not known in one
    /// round trip.
    async fn summaries(
        &self,
        app: &App,
        of: &[&Candidate],
    ) -> Result<Vec<Arc<ProductSummary>>, Problem> {
        let now = app.clock.now();
        let unknown: Vec<&ProductId> = {
            let known = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = |id: &ProductId| known.get(id).is_some_and(|(until, _)| now < *until);
            of.iter().map(|candidate| &candidate.id).filter(|id| !is_known(id)).collect()
        };
        let store = &self.candidates.store_id;
        let keys: Vec<Key> = unknown.iter().map(|id| key::summary(store, id)).collect();
        let mut found = app.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        let mut known = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, key) in unknown.into_iter().zip(&keys) {
            let summary: Option<ProductSummary> = found.take(key)?;
            known.insert(id.clone(), (now.plus(CACHE_TIME), summary.map(Arc::new)));
        }
        let summary = |candidate: &&Candidate| known.get(&candidate.id)?.1.clone();
        Ok(of.iter().filter_map(summary).collect())
    }
}
