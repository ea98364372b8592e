//! A store's facet index in a process.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use core_types::id::StoreId;
use core_types::key;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item;
use table::item::{Attributes, FromItem, Item};
use table::{Query, ReadConsistency};

use super::update::{begin, ensure_walk};
use super::{FacetChunk, FacetHead, FacetRow};
use crate::search::{Rank, rank, tokens};
use crate::words::Term;

/// The most products of a store whose lists are filtered by the index (our choice).
pub const MAX_PRODUCTS: usize = 10_000;
/// The most items that are read of an index. Chunks are a quarter full at least, and a few are emptied later.
const MAX_ITEMS: usize = MAX_PRODUCTS / 16 + 100;
/// How long an index is returned without checking whether it is current (our choice).
const CHECKED: Duration = Duration::from_secs(1);
/// How long an index stays in memory between two checks.
const CACHED: Duration = Duration::from_mins(10);
/// After this time an eventually consistent read has seen a change (our choice, generously).
const SETTLED: Duration = Duration::from_secs(2);

/// The visible products of a store.
#[derive(Debug)]
pub struct FacetIndex {
    /// The rows, by ascending ids.
    pub rows: Vec<FacetRow>,
    /// The words of each row, once somebody searches.
    words: OnceLock<Vec<BTreeMap<String, Rank>>>,
    /// The version of the head that was read with them.
    version: u64,
    /// Whether the last change was long enough ago for the read to have all of it.
    is_settled: bool,
}

impl FacetIndex {
    /// The rows that have all terms of a query, each with its rank.
    pub fn search(&self, query: &[Term]) -> impl Iterator<Item = (&FacetRow, Rank)> {
        let words = self.words.get_or_init(|| self.rows.iter().map(tokens).collect());
        let found = self.rows.iter().zip(words);
        found.filter_map(|(row, words)| Some((row, rank(words, query)?)))
    }
}

/// Marks an index as checked a moment ago.
struct Checked;

/// An item of an index.
enum Part {
    Head(FacetHead),
    Chunk(FacetChunk),
    Walk,
}

impl FromItem for Part {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        Ok(match item::kind(&attributes) {
            FacetHead::KIND => Self::Head(item::parse(attributes)?),
            FacetChunk::KIND => Self::Chunk(item::parse(attributes)?),
            _ => Self::Walk,
        })
    }
}

/// The facet index of a store: half a unit for each 4 KB of it, or half a unit if the process has it and it is still
/// current. A store that has none yet begins to get one.
///
/// # Errors
/// `too_many_products`; 503 until the index of an older store is built.
pub async fn load(services: &Services, store: &StoreId) -> Result<Arc<FacetIndex>, Problem> {
    let (now, name) = (services.clock.now(), store.as_str());
    let cached: Option<Arc<FacetIndex>> = services.cache.get(name, now);
    if let Some(index) = &cached {
        let is_checked = services.cache.get::<Checked>(name, now).is_some();
        if is_checked || (index.is_settled && is_current(services, store, index).await?) {
            keep(services, store, index, !is_checked);
            return Ok(Arc::clone(index));
        }
    }
    let index = Arc::new(read(services, store).await?);
    keep(services, store, &index, true);
    Ok(index)
}

/// Caches an index, as checked just now or as before.
fn keep(services: &Services, store: &StoreId, index: &Arc<FacetIndex>, is_fresh: bool) {
    if is_fresh {
        let (now, name) = (services.clock.now(), store.as_str());
        services.cache.insert(name, Arc::clone(index), now, CACHED);
        services.cache.insert(name, Arc::new(Checked), now, CHECKED);
    }
}

async fn is_current(
    services: &Services,
    store: &StoreId,
    index: &FacetIndex,
) -> Result<bool, Problem> {
    let key = key::facet_head(store);
    let head: Option<FacetHead> = services.table.get_as(&key, ReadConsistency::Eventual).await?;
    Ok(head.is_some_and(|head| head.version == index.version))
}

async fn read(services: &Services, store: &StoreId) -> Result<FacetIndex, Problem> {
    let query = Query::partition(key::facets(store)).with_consistency(ReadConsistency::Eventual);
    let parts: Vec<Part> = services.table.all(&query, MAX_ITEMS).await?;
    let is_cut = parts.len() >= MAX_ITEMS;
    let (mut head, mut rows): (_, Vec<FacetRow>) = (None, Vec::new());
    for part in parts {
        match part {
            Part::Head(found) => head = Some(found),
            Part::Chunk(chunk) => rows.extend(chunk.rows),
            Part::Walk => {}
        }
    }
    let now = services.clock.now();
    let Some(head) = head else {
        begin(services, store).await?;
        return Err(being_built());
    };
    if head.walked_at.is_none() {
        ensure_walk(services, store).await?;
        return Err(being_built());
    }
    if is_cut || rows.len() > MAX_PRODUCTS {
        return Err(Code::TooManyProducts.into());
    }
    // A chunk that is being split may be read before and after.
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    rows.dedup_by(|one, other| one.id == other.id);
    let is_settled = head.updated_at.plus(SETTLED) <= now;
    Ok(FacetIndex { rows, words: OnceLock::new(), version: head.version, is_settled })
}

fn being_built() -> Problem {
    Problem::unavailable("the facet index of the store is being built")
}
