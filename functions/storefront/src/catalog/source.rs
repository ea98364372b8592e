//! Where the products of a list come from, and in which order.
//!
//! The newest and the oldest first are the order of an index: a page is one query, however many
//! products there are. Any other order is made here, over all visible products, and refused where
//! they are more than [`MAX_SORTED`]: a list that is sorted page by page would be a lie. A manual
//! collection has its own order.

use catalogue::category::Tree;
use catalogue::collection::{Collection, CollectionKind, Members, UniqueCollectionHandle};
use catalogue::product::{Product, visible};
use gateway::app::App;
use gateway::budget::has_read_enough;
use gateway::item::{Attributes, Key};
use gateway::page;
use gateway::problem::{Code, Problem};
use gateway::table::Scanned;
use ground::fields::Handle;
use ground::id::{ProductId, StoreId};
use ground::key;
use identity::store::Store;

use super::ask::{Filter, ListQuery, ProductSort};

/// Products that are sorted on request at most (our choice: about 2 MB are read for it).
pub const MAX_SORTED: usize = 1_000;
/// Products that one round trip looks at when only some of them pass.
const AHEAD: usize = 250;
/// Round trips that a page of such a list takes at most; then it ends early, with a cursor.
const TRIPS: u32 = 4;
/// Products that one batch reads.
const BATCH: usize = 100;

/// A list of products.
#[derive(Debug)]
pub struct Source {
    store: StoreId,
    filter: Filter,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// By creation.
    Index { newest_first: bool },
    /// These products, by a key.
    Sorted(Vec<Product>, ProductSort),
    /// As the merchant has put them.
    Listed(Vec<ProductId>),
}

impl Source {
    /// The list that is asked for.
    ///
    /// # Errors
    /// `not_found`: there is no such category or published collection; `validation_failed`: there
    /// are too many products to sort.
    pub async fn open(app: &App, store: &Store, ask: &ListQuery) -> Result<Self, Problem> {
        let categories = match &ask.category {
            None => None,
            Some(handle) => {
                let tree = Tree::load(app, &store.id).await?;
                let category = tree.find(handle).ok_or(Code::NotFound)?;
                Some(tree.subtree(&category.id))
            }
        };
        let collection = match &ask.collection {
            None => None,
            Some(handle) => Some(collection(app, &store.id, handle).await?),
        };
        let chosen =
            collection.as_ref().and_then(|(collection, _)| ProductSort::of(collection.sort_order));
        let sort = ask.sort.or(chosen);
        let (automated, members) = match collection {
            None => (None, None),
            Some((collection, members)) => match collection.kind {
                CollectionKind::Automated => (Some(collection), None),
                CollectionKind::Manual => {
                    (None, Some(members.map(|list| list.product_ids).unwrap_or_default()))
                }
            },
        };
        let filter = Filter::new(ask, categories, automated);
        let order = match (members, sort) {
            (Some(listed), None) => Order::Listed(listed),
            (Some(listed), Some(sort)) => Order::Sorted(read(app, &store.id, &listed).await?, sort),
            (None, None | Some(ProductSort::Newest)) => Order::Index { newest_first: true },
            (None, Some(ProductSort::Oldest)) => Order::Index { newest_first: false },
            (None, Some(sort)) => Order::Sorted(whole(app, &store.id).await?, sort),
        };
        Ok(Self { store: store.id.clone(), filter, order })
    }

    /// A page of it, from `start` on. It may hold less than `limit` with more to come.
    pub async fn page(
        &self,
        app: &App,
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<Product>, Problem> {
        let admits = |product: &Product| self.filter.admits(product);
        match &self.order {
            Order::Index { newest_first } => {
                // The merchant may have changed a collection's order since the page before.
                if start.as_ref().is_some_and(|position| !page::is_of_query(position)) {
                    return Err(Code::InvalidCursor.into());
                }
                let mut query = visible(&self.store);
                if *newest_first {
                    query = query.newest_first();
                }
                if !self.filter.is_empty() {
                    query = query.looking_ahead(AHEAD, TRIPS);
                }
                app.table.page(&query, limit, start, admits).await
            }
            Order::Sorted(products, sort) => {
                let products = products.iter().filter(|product| admits(product));
                let found =
                    page::sorted(products, limit, start.as_ref(), |product| sort.key(product))?;
                Ok(found.filter_map(|product| Some(product.clone())))
            }
            Order::Listed(listed) => self.listed(app, listed, limit, start).await,
        }
    }

    /// A page of a manual collection.
    async fn listed(
        &self,
        app: &App,
        listed: &[ProductId],
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<Scanned<Product>, Problem> {
        let keys: Vec<&str> = listed.iter().map(ProductId::as_str).collect();
        let mut next = start.map_or(Ok(0), |position| page::resume(&keys, &position))?;
        let mut found = Scanned::at(None);
        for _ in 0..TRIPS {
            let batch: Vec<ProductId> = listed.iter().skip(next).take(BATCH).cloned().collect();
            let products = read(app, &self.store, &batch).await?;
            for id in batch {
                if found.items.len() >= limit {
                    break;
                }
                next = next.saturating_add(1);
                let product = products.iter().find(|product| product.id == id);
                if let Some(product) = product.filter(|product| self.filter.admits(product)) {
                    found.push(product.clone(), page::position_at(&keys, next));
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

/// All visible products, to be sorted.
async fn whole(app: &App, store: &StoreId) -> Result<Vec<Product>, Problem> {
    let found = app.table.page(&visible(store).whole(), MAX_SORTED, None, |_| true).await?;
    if found.next.is_some() {
        let detail = format!(
            "More than {MAX_SORTED} products can only be listed by `-created_at` or `created_at`; \
             or name a collection."
        );
        return Err(Problem::field("/sort", "too_many_to_sort", detail));
    }
    Ok(found.items)
}

/// These products, as far as they exist, perhaps a moment old.
async fn read(app: &App, store: &StoreId, ids: &[ProductId]) -> Result<Vec<Product>, Problem> {
    page::count_read(ids.len());
    let keys: Vec<Key> = ids.iter().map(|id| key::product(store, id)).collect();
    let wanted: Vec<&Key> = keys.iter().collect();
    let mut found = app.table.glance(&wanted).await?;
    keys.iter().filter_map(|key| found.take(key).transpose()).collect()
}

/// The published collection of a handle, with its list when it is a manual one.
///
/// # Errors
/// `not_found`.
pub async fn collection(
    app: &App,
    store: &StoreId,
    handle: &Handle,
) -> Result<(Collection, Option<Members>), Problem> {
    let claim = key::unique_collection_handle(store, handle.as_str());
    let claim: UniqueCollectionHandle = app.table.get(&claim).await?.ok_or(Code::NotFound)?;
    let collection_key = key::collection(store, &claim.collection_id);
    let members_key = key::collection_members(store, &claim.collection_id);
    let mut found = app.table.glance(&[&collection_key, &members_key]).await?;
    let collection: Option<Collection> = found.take(&collection_key)?;
    let collection = collection.filter(|collection| collection.published).ok_or(Code::NotFound)?;
    Ok((collection, found.take(&members_key)?))
}
