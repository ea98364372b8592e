//! Updates of facet indexes, as the table's stream reports changed products.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::facets;
use core_types::id::{ProductId, StoreId};
use futures_util::StreamExt;
use primitives::problem::Problem;
use services::Services;

use crate::PARALLEL;

/// What a batch of the stream changes in the index of a store.
#[derive(Debug, Default)]
struct Changes {
    products: BTreeSet<ProductId>,
    /// Whether its walk makes a step.
    walks: bool,
    /// The records that say so.
    sequences: Vec<String>,
}

/// The products of stream records, by store.
#[derive(Debug, Default)]
pub(crate) struct ChangedFacets(BTreeMap<StoreId, Changes>);

impl ChangedFacets {
    /// Adds a product, with the record that names it.
    pub(crate) fn note(&mut self, store: StoreId, product: ProductId, sequence: String) {
        let changes = self.0.entry(store).or_default();
        changes.products.insert(product);
        changes.sequences.push(sequence);
    }

    /// Adds a step of a store's walk.
    pub(crate) fn walk(&mut self, store: StoreId, sequence: String) {
        let changes = self.0.entry(store).or_default();
        changes.walks = true;
        changes.sequences.push(sequence);
    }

    /// Updates the indexes of the stores, each once. Returns the records of those that failed.
    pub(crate) async fn apply(self, services: &Services) -> Vec<(String, Problem)> {
        let apply = |(store, changes): (StoreId, Changes)| async move {
            let problem = update(services, &store, &changes).await.err();
            let failed = |problem: Problem| {
                let sequences = changes.sequences.into_iter();
                sequences.map(move |sequence| (sequence, problem.clone())).collect::<Vec<_>>()
            };
            problem.map(failed).unwrap_or_default()
        };
        let outcomes = futures_util::stream::iter(self.0).map(apply).buffer_unordered(PARALLEL);
        outcomes.collect::<Vec<_>>().await.into_iter().flatten().collect()
    }
}

async fn update(services: &Services, store: &StoreId, changes: &Changes) -> Result<(), Problem> {
    if !changes.products.is_empty() {
        facets::refresh(services, store, &changes.products).await?;
    }
    if changes.walks {
        facets::step(services, store).await?;
    }
    Ok(())
}
