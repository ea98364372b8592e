//! The items of a facet index: its head, its chunks, and the walk that builds it.

use std::collections::BTreeMap;
use std::time::Duration;

use core_types::id::{ProductId, StoreId};
use core_types::key;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::Item;

use super::FacetRow;

/// The most rows of a chunk, and the most bytes of them as JSON (our choice): a chunk is a few kilobytes when packed, and
/// a write of it a few units.
const MOST: (usize, usize) = (64, 128 * 1024);
/// How full the chunks are into which one is split: products are mostly added at the end.
const SPLIT: (usize, usize) = (48, 96 * 1024);
/// How long a walk is trusted to have seen everything (our choice).
const WALKED: Duration = Duration::from_hours(24);
/// How long a walk may take for a step before it is begun again.
const STEP_TIME: Duration = Duration::from_mins(5);

/// The head of a store's facet index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "facets", key = key::facet_head(&self.store_id))]
pub struct FacetHead {
    /// Part of the key.
    pub store_id: StoreId,
    /// The number of products in the index.
    pub products: u64,
    /// When a walk over all products ended; none while the first one builds the index.
    #[serde(default)]
    pub walked_at: Option<Timestamp>,
    /// When a chunk was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each change of a chunk.
    pub version: u64,
}

impl FacetHead {
    pub(super) fn first(store: &StoreId, now: Timestamp) -> Self {
        let store_id = store.clone();
        Self { store_id, products: 0, walked_at: None, updated_at: now, version: 1 }
    }

    /// Whether a walk over all products is due or under way.
    pub(super) fn needs_walk(&self, now: Timestamp) -> bool {
        self.walked_at.is_none_or(|walked| walked.plus(WALKED) < now)
    }
}

/// The products with ids in a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "facet_chunk", key = key::facet_chunk(&self.store_id, &self.first), packed)]
pub struct FacetChunk {
    /// Part of the key.
    pub store_id: StoreId,
    /// The least id of the range; empty for the first chunk.
    pub first: String,
    /// The least id of the next chunk; none for the last one.
    #[serde(default)]
    pub end: Option<String>,
    /// The rows, by ascending ids.
    pub rows: Vec<FacetRow>,
    /// From 1, one more with each write.
    pub version: u64,
}

impl FacetChunk {
    /// The only chunk of a new index.
    pub(super) fn first(store: &StoreId) -> Self {
        let store_id = store.clone();
        Self { store_id, first: String::new(), end: None, rows: Vec::new(), version: 1 }
    }

    /// Whether a product belongs here.
    pub(super) fn covers(&self, id: &ProductId) -> bool {
        self.first.as_str() <= id.as_str()
            && self.end.as_deref().is_none_or(|end| id.as_str() < end)
    }

    /// The chunks in place of this one after these products have changed; a product without a row is removed. None if
    /// nothing changes.
    pub(super) fn with(
        &self,
        changed: &BTreeMap<ProductId, Option<FacetRow>>,
    ) -> Option<Vec<Self>> {
        let mut rows: BTreeMap<&ProductId, &FacetRow> =
            self.rows.iter().map(|row| (&row.id, row)).collect();
        for (id, row) in changed.iter().filter(|(id, _)| self.covers(id)) {
            match row {
                Some(row) => rows.insert(id, row),
                None => rows.remove(id),
            };
        }
        let rows: Vec<FacetRow> = rows.into_values().cloned().collect();
        (rows != self.rows).then(|| self.holding(rows))
    }

    /// This chunk with other rows, split if they are too many.
    fn holding(&self, rows: Vec<FacetRow>) -> Vec<Self> {
        let parts = split(rows);
        let firsts: Vec<String> = parts
            .iter()
            .map(|part| part.first().map(|row| row.id.to_string()).unwrap_or_default())
            .collect();
        let ends = firsts.iter().skip(1).cloned().map(Some).chain([self.end.clone()]);
        let mut chunks: Vec<Self> = parts
            .into_iter()
            .zip(&firsts)
            .zip(ends)
            .map(|((rows, first), end)| Self {
                store_id: self.store_id.clone(),
                first: first.clone(),
                end,
                rows,
                version: 1,
            })
            .collect();
        if let Some(own) = chunks.first_mut() {
            own.first.clone_from(&self.first);
            own.version = self.version.saturating_add(1);
        }
        chunks
    }
}

/// Rows in parts that fit into a chunk: one, unless they are too many.
fn split(rows: Vec<FacetRow>) -> Vec<Vec<FacetRow>> {
    let sizes: Vec<usize> =
        rows.iter().map(|row| serde_json::to_vec(row).map_or(0, |bytes| bytes.len())).collect();
    let all: usize = sizes.iter().fold(0, |all, size| all.saturating_add(*size));
    if rows.len() <= MOST.0 && all <= MOST.1 {
        return vec![rows];
    }
    let (mut parts, mut bytes): (Vec<Vec<FacetRow>>, usize) = (Vec::new(), 0);
    for (row, size) in rows.into_iter().zip(sizes) {
        bytes = bytes.saturating_add(size);
        match parts.last_mut() {
            Some(part) if part.len() < SPLIT.0 && bytes <= SPLIT.1 => part.push(row),
            _ => {
                parts.push(vec![row]);
                bytes = size;
            }
        }
    }
    parts
}

/// A walk over all products of a store, in steps. The stream brings each step's item, which begins the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "facet_walk", key = key::facet_walk(&self.store_id))]
pub struct FacetWalk {
    /// Part of the key.
    pub store_id: StoreId,
    /// The product that was walked last.
    #[serde(default)]
    pub after: Option<ProductId>,
    /// When the last step was made.
    pub updated_at: Timestamp,
    /// From 1, one more with each step.
    pub version: u64,
}

impl FacetWalk {
    pub(super) fn first(store: &StoreId, now: Timestamp) -> Self {
        Self { store_id: store.clone(), after: None, updated_at: now, version: 1 }
    }

    /// The walk before its next step.
    pub(super) fn next(&self, after: Option<ProductId>, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { after, updated_at: now, version, ..self.clone() }
    }

    /// Whether the stream has lost it.
    pub(super) fn is_stuck(&self, now: Timestamp) -> bool {
        self.updated_at.plus(STEP_TIME) < now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facets::FacetVariant;

    fn id(number: usize) -> ProductId {
        ProductId::parse(&format!("prd_{number:032x}")).unwrap()
    }

    fn row(number: usize) -> FacetRow {
        let variant =
            FacetVariant { values: Vec::new(), price: 5, sells_beyond: None, stocked_at: vec![] };
        FacetRow {
            id: id(number),
            title: format!("Product {number}"),
            vendor: None,
            product_type: None,
            tags: Vec::new(),
            category_id: None,
            sku_words: Vec::new(),
            on_sale: false,
            rating: None,
            options: Vec::new(),
            variants: vec![variant],
        }
    }

    /// Applies changes to the chunk that covers each product.
    fn apply(chunks: &mut Vec<FacetChunk>, number: usize, row: Option<FacetRow>) {
        let at = chunks.iter().position(|chunk| chunk.covers(&id(number))).unwrap();
        let Some(after) = chunks[at].with(&BTreeMap::from([(id(number), row)])) else { return };
        chunks.splice(at..=at, after);
    }

    #[test]
    fn chunks_cover_every_id_once_and_stay_small_in_any_order() {
        let forwards: Vec<usize> = (0..1_000).collect();
        let backwards: Vec<usize> = (0..1_000).rev().collect();
        let scattered: Vec<usize> = (0..1_000).map(|n| n * 617 % 1_000).collect();
        for order in [forwards, backwards, scattered] {
            let mut chunks = vec![FacetChunk::first(&StoreId::derive(&["store"]))];
            for number in order {
                apply(&mut chunks, number, Some(row(number)));
            }
            let found: Vec<ProductId> =
                chunks.iter().flat_map(|chunk| &chunk.rows).map(|row| row.id.clone()).collect();
            assert_eq!(found, (0..1_000).map(id).collect::<Vec<_>>());
            assert!(chunks.iter().all(|chunk| (1..=MOST.0).contains(&chunk.rows.len())));
            assert!(chunks.len() < 70, "{} chunks", chunks.len());
            assert!(chunks[0].first.is_empty() && chunks.last().unwrap().end.is_none());
            let joined = chunks.windows(2).all(|two| two[0].end.as_ref() == Some(&two[1].first));
            assert!(joined);
        }
    }

    #[test]
    fn a_change_that_changes_nothing_is_no_write() {
        let mut chunks = vec![FacetChunk::first(&StoreId::derive(&["store"]))];
        apply(&mut chunks, 1, Some(row(1)));
        let one = &chunks[0];
        assert_eq!(one.version, 2);
        assert_eq!(one.with(&BTreeMap::from([(id(1), Some(row(1)))])), None);
        assert_eq!(one.with(&BTreeMap::from([(id(2), None)])), None);
        let gone = one.with(&BTreeMap::from([(id(1), None)])).unwrap();
        assert_eq!((gone.len(), gone[0].rows.len(), gone[0].version), (1, 0, 3));
    }

    #[test]
    fn large_rows_are_split_by_their_bytes() {
        let large = |number: usize| FacetRow { title: "t".repeat(50_000), ..row(number) };
        let parts = split((0..5).map(large).collect());
        let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
        assert_eq!(counts, [1, 1, 1, 1, 1]);
    }
}
