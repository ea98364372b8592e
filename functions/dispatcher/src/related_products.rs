//! The candidates for related products, rebuilt as products change.
//!
//! - *Whole each time*: a store's item is rebuilt from the index, not changed by what happened, so that
//!   whatever was missed is mended by the next change of any product of the store. Rebuilding it
//!   twice is rebuilding it once.
//! - *The index is a moment behind*: the products that the events are about, and the candidates
//!   that the index does not name, are read from the table itself, and that decides.
//! - *Two at once*: the item is read first and written at its next version; whoever was slower
//!   builds again from what is there by then.
//! - *After the events*: they are published by then, and an item that cannot be rebuilt is logged
//!   and left as it was. A page reads what the item names before it shows it, so that at worst the
//!   newest product is not beside others until another one changes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use catalogue::product::{ProductSummary, SummaryOrder};
use catalogue::related_products::{MAX_CANDIDATES, RelatedProducts};
use core_types::event::Event;
use core_types::id::{ProductId, StoreId};
use core_types::key;
use futures_util::StreamExt;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Key;
use table::retry;

use crate::PARALLEL;

/// Products that one batch reads.
const BATCH: usize = 100;

/// The products that published events are about, by store.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedProducts(BTreeMap<StoreId, BTreeSet<ProductId>>);

impl ChangedProducts {
    /// Notes an event, if it is about a product.
    pub(crate) fn note(&mut self, event: &Event) {
        if let (Some(store), Some(product)) = (&event.store_id, ProductId::parse(&event.entity_id))
        {
            self.0.entry(store.clone()).or_default().insert(product);
        }
    }

    /// Notes what others have noted.
    pub(crate) fn extend(&mut self, other: Self) {
        for (store, products) in other.0 {
            self.0.entry(store).or_default().extend(products);
        }
    }

    /// Rebuilds the items of the stores concerned, each once.
    pub(crate) async fn rebuild(self, services: &Services) {
        let rebuild = |(store, products): (StoreId, BTreeSet<ProductId>)| async move {
            let outcome = retry(|| rebuild(services, &store, &products)).await;
            if let Err(problem) = outcome {
                tracing::warn!(cause = %problem, store = store.as_str(), "related products not rebuilt");
            }
        };
        futures_util::stream::iter(self.0).for_each_concurrent(PARALLEL, rebuild).await;
    }
}

async fn rebuild(
    services: &Services,
    store: &StoreId,
    changed: &BTreeSet<ProductId>,
) -> Result<(), Problem> {
    let key = key::related_products(store);
    let present = services.table.get_many(&[&key]).await?.take(&key)?;
    let before = present.unwrap_or_else(|| RelatedProducts::empty(store));
    let newest = SummaryOrder::Newest.query(store);
    let mut summaries: Vec<ProductSummary> = services.table.all(&newest, MAX_CANDIDATES).await?;
    let listed: HashSet<ProductId> = summaries.iter().map(|summary| summary.id().clone()).collect();
    let candidates = before.products.iter().map(|candidate| &candidate.id);
    let unlisted = candidates.filter(|id| !listed.contains(id));
    let doubtful: BTreeSet<&ProductId> = changed.iter().chain(unlisted).collect();
    summaries.retain(|summary| !doubtful.contains(summary.id()));
    let keys: Vec<Key> = doubtful.iter().map(|id| key::summary(store, id)).collect();
    for part in keys.chunks(BATCH) {
        let mut found = services.table.get_many(&part.iter().collect::<Vec<_>>()).await?;
        for key in part {
            summaries.extend(found.take::<ProductSummary>(key)?);
        }
    }
    let Some(after) = before.with_products(&summaries) else { return Ok(()) };
    services.table.write().create_or_replace(&after, Code::VersionConflict).commit().await
}
