//! Chooses the source of a list's product summaries, by its order.
//!
//! - An order of the whole store is an index: a page is one query, however many products there are. With a
//!   filter, the number of scanned products is bounded; then the page ends early, with a cursor.
//! - A manual collection has its own order: a page reads the summaries that it lists.
//! - A search reads the search items of its words: products with the words in their title come first.
//! - Another order of a small collection, or of a search with few results, is sorted in memory. A large one
//!   filters the store's order.

use std::collections::HashSet;

use catalogue::category::Tree;
use catalogue::collection::{
    Collection, CollectionKind, CollectionProducts, UniqueCollectionHandle,
};
use catalogue::product::{ProductSummary, SummaryOrder, summaries};
use catalogue::search::Search;
use core_types::fields::Handle;
use core_types::id::{CategoryId, CollectionId, ProductId, StoreId};
use core_types::key;
use identity::store::Store;
use primitives::problem::{Code, Problem};
use services::Services;
use services::shared_reads::SharedReads;
use table::ReadLimit;
use table::item::Attributes;
use table::{Listed, Scanned, cursor, retry_eventual_first};

use super::input::{Filter, ListQuery, order_of};

/// The maximum number of products that are sorted in memory (our choice): for the first page, and for later
/// pages, because products may have been added since.
const MAX_SORTED: (usize, usize) = (100, 1_000);
/// The number of summaries that one filtered round trip scans (our choice).
const SCANNED_PER_TRIP: usize = 250;
/// The maximum number of such round trips for a page, after a first one of [`FIRST_TRIP_FACTOR`]. Then the
/// page ends early, with a cursor.
const MAX_TRIPS: u32 = 3;
/// The first filtered round trip scans this many times the limit of the page, so that a filter that matches
/// most products costs little.
const FIRST_TRIP_FACTOR: usize = 2;
/// The size of a batch of summaries, and the maximum number of batches for a page.
const BATCH: (usize, usize) = (100, 4);

/// The source of a list of products.
#[derive(Debug)]
pub struct ProductList<'a> {
    store: &'a StoreId,
    filter: Filter<'a>,
    order: ListOrder,
}

#[derive(Debug)]
enum ListOrder {
    /// The order of an index.
    Index(SummaryOrder),
    /// These products, sorted in memory.
    Sorted(Vec<ProductId>, SummaryOrder),
    /// These products, in the merchant's order.
    Listed(Vec<ProductId>),
    /// The results of a search.
    Found(Search),
}

impl<'a> ProductList<'a> {
    /// Opens the requested list, which continues at `start`.
    ///
    /// # Errors
    /// `not_found`: the category is unknown, or the collection is unknown or unpublished.
    pub async fn open(
        services: &Services,
        store: &'a Store,
        input: &ListQuery,
        start: Option<&Attributes>,
    ) -> Result<Self, Problem> {
        let categories = categories(services, &store.id, input.category.as_ref()).await?;
        let collection = members(services, &store.id, input.collection.as_ref()).await?;
        let chosen = collection.as_ref().and_then(|(found, _)| order_of(found.sort_order));
        let sort = input.sort.map(SummaryOrder::from).or(chosen);
        let (automated, members) = match collection {
            None => (None, None),
            Some((collection, members)) => match collection.kind {
                CollectionKind::Automated => (Some(collection), None),
                CollectionKind::Manual => {
                    (None, Some(members.map(|list| list.product_ids).unwrap_or_default()))
                }
            },
        };
        let mut filter = Filter::new(input, store, categories, automated);
        let search = input.q.as_ref().and_then(|q| Search::of(&store.id, q.as_str()));
        // Later pages use the source of the first page, even if there are more products by now.
        let max_sorted = match start {
            None => Some(MAX_SORTED.0),
            Some(position) => (!cursor::is_of_query(position)).then_some(MAX_SORTED.1),
        };
        let order = match (search, members, sort) {
            (Some(search), members, _) if input.sort.is_none() => {
                filter.restrict_to(members);
                filter.clear_terms();
                ListOrder::Found(search)
            }
            (_, Some(listed), None) => ListOrder::Listed(listed),
            (_, Some(listed), Some(sort))
                if max_sorted.is_some_and(|max_sorted| listed.len() <= max_sorted) =>
            {
                ListOrder::Sorted(listed, sort)
            }
            (search, members, sort) => {
                filter.restrict_to(members);
                let sort = sort.unwrap_or(SummaryOrder::Newest);
                let few = match search.zip(max_sorted) {
                    None => None,
                    Some((search, max_sorted)) => {
                        search.matching_if_few(services, max_sorted).await?
                    }
                };
                few.map_or(ListOrder::Index(sort), |few| ListOrder::Sorted(few, sort))
            }
        };
        Ok(Self { store: &store.id, filter, order })
    }

    /// Reads a page from `start` on. It may have fewer than `limit` products with more to come.
    pub async fn page(
        &self,
        services: &Services,
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        match &self.order {
            ListOrder::Index(order) => self.indexed(services, *order, limit, start).await,
            ListOrder::Sorted(ids, order) => {
                Listed::count_read(ids.len());
                let found = summaries(services, self.store, ids).await?;
                let found = found.into_iter().filter(|summary| self.filter.matches(summary));
                cursor::sorted(found, limit, start.as_ref(), |summary| order.key(summary))
            }
            ListOrder::Listed(listed) => self.listed(services, listed, limit, start).await,
            ListOrder::Found(search) => {
                search.page(services, limit, start, |summary| self.filter.matches(summary)).await
            }
        }
    }

    /// Reads a page of an index order.
    async fn indexed(
        &self,
        services: &Services,
        order: SummaryOrder,
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        // The merchant may have changed a collection's order since the page before.
        let (_, sort_key) = order.index().key_names();
        if start.as_ref().is_some_and(|position| !position.contains_key(sort_key)) {
            return Err(Code::InvalidCursor.into());
        }
        let query = order.query(self.store);
        let matches = |summary: &ProductSummary| self.filter.matches(summary);
        if self.filter.is_empty() {
            return services.table.page(&query, limit, start, matches).await;
        }
        let first = query.clone().with_scan_limit(limit.saturating_mul(FIRST_TRIP_FACTOR), 1);
        let mut found = services.table.page(&first, limit, start, matches).await?;
        let missing = limit.saturating_sub(found.items.len());
        if missing > 0 && found.next.is_some() && !ReadLimit::is_reached() {
            let rest = query.with_scan_limit(SCANNED_PER_TRIP, MAX_TRIPS);
            let start = found.next.take();
            found.extend(services.table.page(&rest, missing, start, matches).await?);
        }
        Ok(found)
    }

    /// Reads a page of a manual collection.
    async fn listed(
        &self,
        services: &Services,
        listed: &[ProductId],
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        let keys: Vec<&str> = listed.iter().map(ProductId::as_str).collect();
        let mut next = start.map_or(Ok(0), |position| cursor::resume(&keys, &position))?;
        let mut found = Scanned::at(None);
        // Without a filter, nearly all products match: only invisible ones are left out.
        let size = if self.filter.is_empty() { limit.min(BATCH.0) } else { BATCH.0 };
        for _ in 0..BATCH.1 {
            let batch: Vec<ProductId> = listed.iter().skip(next).take(size).cloned().collect();
            Listed::count_read(batch.len());
            let mut read = summaries(services, self.store, &batch).await?.into_iter().peekable();
            for id in batch {
                if found.items.len() >= limit {
                    break;
                }
                next = next.saturating_add(1);
                let summary = read.next_if(|summary| *summary.id() == id);
                if let Some(summary) = summary.filter(|summary| self.filter.matches(summary)) {
                    found.push(summary, cursor::position_at(&keys, next));
                }
            }
            if found.items.len() >= limit || next >= listed.len() || ReadLimit::is_reached() {
                break;
            }
        }
        found.next = cursor::position_at(&keys, next);
        Ok(found)
    }
}

/// The category of a handle and those below it, if one is given.
///
/// # Errors
/// `not_found`.
pub(super) async fn categories(
    services: &Services,
    store: &StoreId,
    handle: Option<&Handle>,
) -> Result<Option<HashSet<CategoryId>>, Problem> {
    let Some(handle) = handle else { return Ok(None) };
    let tree = Tree::with(services, store, handle).await?;
    let category = tree.find(handle).ok_or(Code::NotFound)?;
    Ok(Some(tree.subtree(&category.id)))
}

/// The published collection of a handle, if one is given, with the product list of a manual one.
///
/// # Errors
/// `not_found`.
pub(super) async fn members(
    services: &Services,
    store: &StoreId,
    handle: Option<&Handle>,
) -> Result<Option<(Collection, Option<CollectionProducts>)>, Problem> {
    match handle {
        None => Ok(None),
        Some(handle) => with_members(services, store, handle).await.map(Some),
    }
}

/// Loads the published collection of a handle.
///
/// # Errors
/// `not_found`.
pub async fn collection(
    services: &Services,
    store: &StoreId,
    handle: &Handle,
) -> Result<Collection, Problem> {
    if SharedReads::has_parts() {
        // The list of its products, which another part shows, needs both.
        return with_members(services, store, handle).await.map(|(found, _)| found);
    }
    let id = collection_id_of(services, store, handle).await?;
    let key = &key::collection(store, &id);
    retry_eventual_first(|consistency| async move {
        published(services.table.get_as(key, consistency).await?)
    })
    .await
}

/// Loads the published collection of a handle, with the product list of a manual one; once for all parts of a request.
async fn with_members(
    services: &Services,
    store: &StoreId,
    handle: &Handle,
) -> Result<(Collection, Option<CollectionProducts>), Problem> {
    let read = read_with_members(services, store, handle);
    SharedReads::get_or_read(&format!("{store}/{handle}"), read).await
}

async fn read_with_members(
    services: &Services,
    store: &StoreId,
    handle: &Handle,
) -> Result<(Collection, Option<CollectionProducts>), Problem> {
    let id = collection_id_of(services, store, handle).await?;
    let (collection, members) =
        (&key::collection(store, &id), &key::collection_members(store, &id));
    retry_eventual_first(|consistency| async move {
        let mut found = services.table.get_many_with(&[collection, members], consistency).await?;
        Ok((published(found.take(collection)?)?, found.take(members)?))
    })
    .await
}

async fn collection_id_of(
    services: &Services,
    store: &StoreId,
    handle: &Handle,
) -> Result<CollectionId, Problem> {
    let claim = key::unique_collection_handle(store, handle.as_str());
    let claim: Option<UniqueCollectionHandle> = services.table.peek(&claim).await?;
    claim.map(|claim| claim.collection_id).ok_or_else(|| Code::NotFound.into())
}

fn published(found: Option<Collection>) -> Result<Collection, Problem> {
    found.filter(|collection| collection.published).ok_or_else(|| Code::NotFound.into())
}
