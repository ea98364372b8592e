//! Products: the list, one product, and making, changing and removing them.

pub(crate) mod ask;
mod create;
mod update;
pub(crate) mod write;

use axum::extract::State;
use catalogue::collection::{self, Collection, CollectionKind, Members};
use catalogue::product::{self, Product, ProductStatus, ProductSummary, ProductView};
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::page::{self, Paging};
use gateway::problem::{Code, Problem};
use gateway::reply::{Json, Page};
use gateway::request::{self, Fault, FromText, Path, Text, request};
use gateway::table::{Query, Scanned};
use ground::id::{CollectionId, ProductId, StoreId};
use ground::key;
use ground::scope::ReadProducts;
use platform::caller::StoreAccess;

pub use create::create;
pub(crate) use create::derived;
pub(crate) use update::close;
pub use update::{remove, update};

/// Ids of products, separated by commas: at most 100.
#[derive(Debug, Clone)]
pub struct ProductIds(Vec<ProductId>);

impl FromText for ProductIds {
    const EXPECTS: &'static str = "ids separated by commas";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let mut ids: Vec<ProductId> = Vec::new();
        for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            let id = ProductId::from_text(id)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.len() > 100 {
            return Err(Fault::new("too_many", "Must be at most 100 ids."));
        }
        Ok(Self(ids))
    }
}

gateway::text_field!(ProductIds);
gateway::string_schema!(ProductIds);

/// Which products to list.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Whether they are sold.
    status: Option<ProductStatus>,
    /// The collection they are in, in its order.
    collection_id: Option<CollectionId>,
    /// Who makes them; without case.
    vendor: Option<Text<1, 100>>,
    /// A tag of theirs; without case.
    tag: Option<Text<1, 40>>,
    /// Words that all stand in their title, handle, vendor, type or tags.
    q: Option<Text<1, 100>>,
    /// Those that changed at this time or later.
    updated_since: Option<Timestamp>,
    /// These, in this order; with a collection, those of them that are in it.
    ids: Option<ProductIds>,
}

impl ListQuery {
    fn takes(&self, product: &Product) -> bool {
        let same = |wanted: &str, text: &str| wanted.to_lowercase() == text.to_lowercase();
        let vendor = |wanted: &Text<1, 100>| {
            product.vendor.as_deref().is_some_and(|vendor| same(wanted.as_str(), vendor))
        };
        let tag = |wanted: &Text<1, 40>| product.tags.iter().any(|tag| same(wanted.as_str(), tag));
        self.status.is_none_or(|status| product.status == status)
            && self.vendor.as_ref().is_none_or(vendor)
            && self.tag.as_ref().is_none_or(tag)
            && self.updated_since.is_none_or(|since| product.updated_at >= since)
            && self.q.as_ref().is_none_or(|words| mentions(product, words.as_str()))
    }
}

/// Whether every one of these words stands somewhere in what a product is found by.
fn mentions(product: &Product, words: &str) -> bool {
    let parts = [product.title.as_str(), product.handle.as_str()].into_iter();
    let parts = parts.chain(product.vendor.as_deref()).chain(product.product_type.as_deref());
    let parts: Vec<String> =
        parts.chain(product.tags.iter().map(String::as_str)).map(str::to_lowercase).collect();
    let words = words.to_lowercase();
    words.split_whitespace().all(|word| parts.iter().any(|part| part.contains(word)))
}

/// All products of a store, or those of a status, the newest first. Both go by creation, so that
/// a walk meets every product once, however it changes meanwhile.
fn everything(store: &StoreId, status: Option<ProductStatus>) -> Query {
    let (since, any) = (Timestamp::from_millis(0), ProductId::derive(&[]));
    let entry = match status {
        None => key::products_of_store(store, since, &any),
        Some(status) => key::products_by_status(store, status.as_str(), since, &any),
    };
    Query::partition_of(entry).newest_first()
}

/// `GET /v1/products`: the store's products, the newest first. Filters but `status` are judged
/// over a bounded number of products a page: it may be shorter than asked for, with more to come.
///
/// # Errors
/// `invalid_cursor`; `not_found` for an unknown collection.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    paging: Paging,
    request::Query(query): request::Query<ListQuery>,
) -> Result<Page<ProductSummary>, Problem> {
    let store = &caller.store.id;
    let takes = |product: &Product| query.takes(product);
    let collection = match &query.collection_id {
        None => None,
        Some(id) => {
            let found: Option<Collection> = app.table.get(&key::collection(store, id)).await?;
            Some(found.ok_or(Code::NotFound)?)
        }
    };
    match (collection, &query.ids) {
        (None, None) => {}
        (None, Some(ids)) => {
            let found = paging.part(ids.0.clone(), ToString::to_string)?;
            return resolve(&app, store, paging, found, takes).await;
        }
        (Some(collection), None) => return of_collection(&app, &collection, paging, takes).await,
        (Some(collection), Some(ids)) => {
            let listed = members(&app, &collection).await?;
            let holds = |product: &Product| match &listed {
                Some(listed) => listed.contains(&product.id),
                None => collection::holds(&collection.rules, collection.mode, product),
            };
            let found = paging.part(ids.0.clone(), ToString::to_string)?;
            let both = |product: &Product| holds(product) && takes(product);
            return resolve(&app, store, paging, found, both).await;
        }
    }
    let all = everything(store, query.status);
    paging.answer(&app, &all, takes, |product| ProductSummary::from(&product)).await
}

/// A page of the products of a collection that `takes` lets through.
pub(crate) async fn of_collection(
    app: &App,
    collection: &Collection,
    paging: Paging,
    takes: impl Fn(&Product) -> bool,
) -> Result<Page<ProductSummary>, Problem> {
    let store = &collection.store_id;
    if collection.kind == CollectionKind::Automated {
        let holds = |product: &Product| {
            collection::holds(&collection.rules, collection.mode, product) && takes(product)
        };
        let all = everything(store, None);
        return paging.answer(app, &all, holds, |product| ProductSummary::from(&product)).await;
    }
    let listed = members(app, collection).await?.unwrap_or_default();
    let found = paging.part(listed, ToString::to_string)?;
    resolve(app, store, paging, found, takes).await
}

/// The products that a manual collection lists; none of an automated one.
async fn members(app: &App, collection: &Collection) -> Result<Option<Vec<ProductId>>, Problem> {
    if collection.kind == CollectionKind::Automated {
        return Ok(None);
    }
    let key = key::collection_members(&collection.store_id, &collection.id);
    let members: Option<Members> = app.table.get(&key).await?;
    Ok(Some(members.map(|members| members.product_ids).unwrap_or_default()))
}

/// Reads the products of a page of ids, and answers with those that are there and let through.
async fn resolve(
    app: &App,
    store: &StoreId,
    paging: Paging,
    found: Scanned<ProductId>,
    takes: impl Fn(&Product) -> bool,
) -> Result<Page<ProductSummary>, Problem> {
    page::count_read(found.items.len());
    let mut products = product::get_many(app, store, &found.items).await?;
    let found = found.filter_map(|id| {
        let position = products.iter().position(|product| product.id == id)?;
        Some(products.swap_remove(position)).filter(&takes)
    });
    paging.finish(app, found, |product: Product| ProductSummary::from(&product)).await
}

/// `GET /v1/products/{id}`: one product with its variants.
///
/// # Errors
/// `not_found`.
pub async fn show(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
) -> Result<Json<ProductView>, Problem> {
    let found = product::load(&app, &caller.store.id, &id).await?;
    let (product, variants) = found.ok_or(Code::NotFound)?;
    Ok(write::shown(&product, &variants))
}
