//! Where the cards of a list come from, and in which order.
//!
//! - An order of the whole store is an index: a page is one query, however many products there are.
//!   What a filter does not let through is looked past, so far at most; then the page ends early,
//!   with a cursor.
//! - A manual collection has its own order: a page reads the cards it names.
//! - Words lead to products by items of their own: those that hold them in their title come first.
//! - Another order of a small collection, or of what few words lead to, is made here, over all the
//!   cards; a large one is a filter over the store's order.

use catalogue::category::Tree;
use catalogue::collection::{Collection, CollectionKind, Members, UniqueCollectionHandle};
use catalogue::product::{ProductSummary, SummaryOrder, summaries};
use catalogue::search::Search;
use core_types::fields::Handle;
use core_types::id::{CollectionId, ProductId, StoreId};
use core_types::key;
use gateway::app::App;
use gateway::budget::has_read_enough;
use table::item::Attributes;
use gateway::page;
use primitives::problem::{Code, Problem};
use table::{Scanned, retry_eventual_first};
use identity::store::Store;

use super::input::{Filter, ListQuery, order_of};

/// Products of a manual collection, or that words lead to, which are read to be sorted, at most (our
/// choice); and while such a walk goes on, although they have become more.
const SORTED: (usize, usize) = (100, 1_000);
/// Cards that one round trip looks at when only some of them pass (our choice).
const AHEAD: usize = 250;
/// Such round trips for a page at most, after a first one that looks at [`FIRST`]; then it ends early,
/// with a cursor.
const TRIPS: u32 = 3;
/// How many times the cards that a page wants its first round trip looks at when only some pass: a
/// filter that lets most through costs little more than none.
const FIRST: usize = 2;
/// Cards that one batch reads, and batches for a page at most.
const BATCH: (usize, usize) = (100, 4);

/// A list of products.
#[derive(Debug)]
pub struct Source<'a> {
    store: &'a StoreId,
    filter: Filter<'a>,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// As an index has them.
    Index(SummaryOrder),
    /// These, by a key.
    Sorted(Vec<ProductId>, SummaryOrder),
    /// As the merchant has put them.
    Listed(Vec<ProductId>),
    /// As words lead to them.
    Found(Search),
}

impl<'a> Source<'a> {
    /// The list that is asked for, to be gone on with from `start`.
    ///
    /// # Errors
    /// `not_found`: there is no such category or published collection.
    pub async fn open(
        app: &App,
        store: &'a Store,
        input: &ListQuery,
        start: Option<&Attributes>,
    ) -> Result<Self, Problem> {
        let categories = match &input.category {
            None => None,
            Some(handle) => {
                let tree = Tree::with(app, &store.id, handle).await?;
                let category = tree.find(handle).ok_or(Code::NotFound)?;
                Some(tree.subtree(&category.id))
            }
        };
        let collection = match &input.collection {
            None => None,
            Some(handle) => Some(with_members(app, &store.id, handle).await?),
        };
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
        // A walk goes on as it began, however many there are by now.
        let most = match start {
            None => Some(SORTED.0),
            Some(position) => (!page::is_of_query(position)).then_some(SORTED.1),
        };
        let order = match (search, members, sort) {
            (Some(search), members, _) if input.sort.is_none() => {
                filter.keep_to(members);
                filter.leave_words();
                Order::Found(search)
            }
            (_, Some(listed), None) => Order::Listed(listed),
            (_, Some(listed), Some(sort)) if most.is_some_and(|most| listed.len() <= most) => {
                Order::Sorted(listed, sort)
            }
            (search, members, sort) => {
                filter.keep_to(members);
                let sort = sort.unwrap_or(SummaryOrder::Newest);
                let few = match search.zip(most) {
                    None => None,
                    Some((search, most)) => search.few(app, most).await?,
                };
                few.map_or(Order::Index(sort), |few| Order::Sorted(few, sort))
            }
        };
        Ok(Self { store: &store.id, filter, order })
    }

    /// A page of it, from `start` on. It may hold less than `limit` with more to come.
    pub async fn page(
        &self,
        app: &App,
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        match &self.order {
            Order::Index(order) => self.indexed(app, *order, limit, start).await,
            Order::Sorted(ids, order) => {
                page::count_read(ids.len());
                let found = summaries(app, self.store, ids).await?;
                let found = found.into_iter().filter(|summary| self.filter.admits(summary));
                page::sorted(found, limit, start.as_ref(), |summary| order.key(summary))
            }
            Order::Listed(listed) => self.listed(app, listed, limit, start).await,
            Order::Found(search) => {
                search.page(app, limit, start, |summary| self.filter.admits(summary)).await
            }
        }
    }

    /// A page of the store's products in this order.
    async fn indexed(
        &self,
        app: &App,
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
        let admits = |summary: &ProductSummary| self.filter.admits(summary);
        if self.filter.is_empty() {
            return app.table.page(&query, limit, start, admits).await;
        }
        let first = query.clone().looking_ahead(limit.saturating_mul(FIRST), 1);
        let mut found = app.table.page(&first, limit, start, admits).await?;
        let missing = limit.saturating_sub(found.items.len());
        if missing > 0 && found.next.is_some() && !has_read_enough() {
            let rest = query.looking_ahead(AHEAD, TRIPS);
            let start = found.next.take();
            found.extend(app.table.page(&rest, missing, start, admits).await?);
        }
        Ok(found)
    }

    /// A page of a manual collection.
    async fn listed(
        &self,
        app: &App,
        listed: &[ProductId],
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        let keys: Vec<&str> = listed.iter().map(ProductId::as_str).collect();
        let mut next = start.map_or(Ok(0), |position| page::resume(&keys, &position))?;
        let mut found = Scanned::at(None);
        // What is not filtered is shown, but for what has gone from sale.
        let size = if self.filter.is_empty() { limit.min(BATCH.0) } else { BATCH.0 };
        for _ in 0..BATCH.1 {
            let batch: Vec<ProductId> = listed.iter().skip(next).take(size).cloned().collect();
            page::count_read(batch.len());
            let mut shown = summaries(app, self.store, &batch).await?.into_iter().peekable();
            for id in batch {
                if found.items.len() >= limit {
                    break;
                }
                next = next.saturating_add(1);
                let summary = shown.next_if(|summary| *summary.id() == id);
                if let Some(summary) = summary.filter(|summary| self.filter.admits(summary)) {
                    found.push(summary, page::position_at(&keys, next));
                }
            }
            if found.items.len() >= limit || next >= listed.len() || has_read_enough() {
                break;
            }
        }
        found.next = page::position_at(&keys, next);
        Ok(found)
    }
}

/// The published collection of a handle.
///
/// # Errors
/// `not_found`.
pub async fn collection(
    app: &App,
    store: &StoreId,
    handle: &Handle,
) -> Result<Collection, Problem> {
    let id = named(app, store, handle).await?;
    let key = &key::collection(store, &id);
    retry_eventual_first(|consistency| async move {
        published(app.table.get_as(key, consistency).await?)
    })
    .await
}

/// The same, with its list when it is a manual one.
async fn with_members(
    app: &App,
    store: &StoreId,
    handle: &Handle,
) -> Result<(Collection, Option<Members>), Problem> {
    let id = named(app, store, handle).await?;
    let (collection, members) =
        (&key::collection(store, &id), &key::collection_members(store, &id));
    retry_eventual_first(|consistency| async move {
        let mut found = app.table.look(&[collection, members], consistency).await?;
        Ok((published(found.take(collection)?)?, found.take(members)?))
    })
    .await
}

async fn named(app: &App, store: &StoreId, handle: &Handle) -> Result<CollectionId, Problem> {
    let claim = key::unique_collection_handle(store, handle.as_str());
    let claim: Option<UniqueCollectionHandle> = app.table.peek(&claim).await?;
    claim.map(|claim| claim.collection_id).ok_or_else(|| Code::NotFound.into())
}

fn published(found: Option<Collection>) -> Result<Collection, Problem> {
    found.filter(|collection| collection.published).ok_or_else(|| Code::NotFound.into())
}
