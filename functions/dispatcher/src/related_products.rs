//! Rebuilding of a store's candidates for related products, as its products change.
//!
//! - *Rebuilt whole*: a store's item is rebuilt from the index, not changed by what happened. So an
//!   omission is repaired by the next change of any product of the store, and a repetition changes
//!   nothing.
//! - *The index is eventually consistent*: the products of the events, and the candidates that the index
//!   does not name, are read from the table itself, which decides.
//! - *Two at once*: the item is read first and written at its next version; the slower one builds it
//!   again from the current products.
//! - *After the events*: they are published by then. An item that cannot be rebuilt is logged and left
//!   unchanged. A page loads the products that the item names before it shows them; so at worst the
//!   newest product is not among the related ones until another product changes.

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

/// The number of products that one batch reads.
const BATCH: usize = 100;

/// The products of published events, by store.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedProducts(BTreeMap<StoreId, BTreeSet<ProductId>>);

impl ChangedProducts {
    /// Adds the product of an event, if it is about one.
    pub(crate) fn note(&mut self, event: &Event) {
        if let (Some(store), Some(product)) = (&event.store_id, ProductId::parse(&event.entity_id))
        {
            self.0.entry(store.clone()).or_default().insert(product);
        }
    }

    /// Adds the products of another set.
    pub(crate) fn extend(&mut self, other: Self) {
        for (store, products) in other.0 {
            self.0.entry(store).or_default().extend(products);
        }
    }

    /// Updates the facet indexes of the stores concerned, as the stream does for changes that it brings.
    pub(crate) async fn index(&self, services: &Services) {
        for (store, products) in &self.0 {
            if let Err(problem) = catalogue::facets::refresh(services, store, products).await {
                tracing::warn!(cause = %problem, store = store.as_str(), "facet index not updated");
            }
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
