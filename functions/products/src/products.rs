//! Handlers that list, create, update, archive and delete products.

mod bulk;
mod filter;
mod lookup;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::collection::{self, Collection, CollectionKind, CollectionProducts};
use catalogue::product::{self, Product, ProductStatus, ProductSummary, ProductView, Variant};
use catalogue::search::Search;
use catalogue::workflows::save_product::{self, CreateRequest, UpdateRequest};
use core_types::id::{ProductId, StoreId};
use core_types::key;
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request;
use gateway::request::{Body, IfMatch, Path, Ruled};
use primitives::fields::{Flag, Text, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::workflows::ended_orders;
use serde::Serialize;
use services::Services;
use table::{Listed, Query, Scanned};

pub use bulk::bulk;
pub use filter::ListQuery;
pub use lookup::ListedProduct;

use filter::MembershipFilter;

/// Queries all products of a store, or those with a status, newest first. Both are ordered by creation
/// time, so a paged list returns every product once even if products change meanwhile.
fn all_products(store: &StoreId, status: Option<ProductStatus>) -> Query {
    let all = match status {
        None => key::list::products_of_store(store),
        Some(status) => key::list::products_by_status(store, status.as_str()),
    };
    Query::list(all).newest_first()
}

/// `GET /v1/products` (`listProducts`): List products of a store.
///
/// Products come newest first unless `ids`, `q` or a manual collection gives another order. Variants are
/// left out, except those found by `sku` or `barcode`. A page inspects a bounded number of products, so a
/// filtered page can be short or empty although `next_cursor` leads to more.
///
/// # Errors
/// `invalid_cursor`; `not_found` for an unknown collection; `validation_failed`.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Ruled(request::Query(query)): Ruled<request::Query<ListQuery>>,
    paging: Paging,
) -> Result<Page<ListedProduct>, Problem> {
    let store = &caller.store.id;
    let matches = |product: &Product| query.matches(product);
    if query.sku.is_some() || query.barcode.is_some() {
        let (sku, barcode) = (query.sku.as_ref(), query.barcode.as_ref());
        let codes = (sku.map(Text::as_str), barcode.map(Text::as_str));
        return lookup::by_code(&app, store, paging, codes, matches).await;
    }
    let collection = match &query.collection_id {
        None => None,
        Some(id) => {
            let found: Option<Collection> = app.table.get(&key::collection(store, id)).await?;
            Some(found.ok_or(Code::NotFound)?)
        }
    };
    let search = query.q.as_ref().and_then(|q| Search::of(store, q.as_str()));
    match (collection, &query.ids, search) {
        (None, None, None) => {
            let all = all_products(store, query.status);
            paging.query(&app, &all, matches, |product| ListedProduct::from(&product)).await
        }
        (Some(collection), None, None) => of_collection(&app, &collection, paging, matches).await,
        (collection, None, Some(search)) => {
            let membership = MembershipFilter::of(&app, collection).await?;
            let matches = |summary: &ProductSummary| {
                membership.contains(summary.id(), summary) && query.matches(summary)
            };
            lookup::by_words(&app, store, paging, &search, matches).await
        }
        (collection, Some(ids), search) => {
            let membership = MembershipFilter::of(&app, collection).await?;
            let found = paging.slice_unfinished(ids.0.clone(), ToString::to_string)?;
            let found_by_words = match &search {
                None => None,
                Some(search) => {
                    Some(lookup::matching_ids(&app, store, &found.items, search).await?)
                }
            };
            let matches = |product: &Product| {
                found_by_words
                    .as_ref()
                    .is_none_or(|found_by_words| found_by_words.contains(&product.id))
                    && membership.contains(&product.id, product)
                    && matches(product)
            };
            resolve(&app, store, paging, found, matches).await
        }
    }
}

/// Returns a page of the products of a collection that `matches` accepts.
pub(crate) async fn of_collection<V>(
    services: &Services,
    collection: &Collection,
    paging: Paging,
    matches: impl Fn(&Product) -> bool,
) -> Result<Page<V>, Problem>
where
    V: for<'a> From<&'a Product> + Serialize,
{
    let store = &collection.store_id;
    if collection.kind == CollectionKind::Automated {
        let matches = |product: &Product| {
            collection::matches_rules(&collection.rules, collection.mode, product)
                && matches(product)
        };
        let all = all_products(store, None);
        return paging.query(services, &all, matches, |product| V::from(&product)).await;
    }
    let listed = members(services, collection).await?.unwrap_or_default();
    let found = paging.slice_unfinished(listed, ToString::to_string)?;
    resolve(services, store, paging, found, matches).await
}

/// Loads the product ids of a manual collection; `None` for an automated one.
async fn members(
    services: &Services,
    collection: &Collection,
) -> Result<Option<Vec<ProductId>>, Problem> {
    if collection.kind == CollectionKind::Automated {
        return Ok(None);
    }
    let key = key::collection_members(&collection.store_id, &collection.id);
    let members: Option<CollectionProducts> = services.table.get(&key).await?;
    Ok(Some(members.map(|members| members.product_ids).unwrap_or_default()))
}

/// Loads the products of a page of ids, and returns those that exist and that `matches` accepts.
async fn resolve<V>(
    services: &Services,
    store: &StoreId,
    paging: Paging,
    found: Scanned<ProductId>,
    matches: impl Fn(&Product) -> bool,
) -> Result<Page<V>, Problem>
where
    V: for<'a> From<&'a Product> + Serialize,
{
    Listed::count_read(found.items.len());
    let mut products = product::get_many(services, store, &found.items).await?;
    let found = found.filter_map(|id| {
        let position = products.iter().position(|product| product.id == id)?;
        Some(products.swap_remove(position)).filter(&matches)
    });
    paging.finish(services, found, |product: Product| V::from(&product)).await
}

/// `GET /v1/products/{id}` (`getProduct`): Get a product with its variants.
///
/// The response includes all variants in their order, at most 100. A product of any status is returned.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
) -> Result<Json<ProductView>, Problem> {
    let found = product::load(&app, &caller.store.id, &id).await?;
    let (product, variants) = found.ok_or(Code::NotFound)?;
    Ok(to_response(&ProductView::of(&product, &variants)))
}

/// `POST /v1/products` (`createProduct`): Create a product with its variants.
///
/// The product is a draft unless `status` says otherwise. Without `variants` it gets one variant with a
/// price of zero. A missing handle is derived from the title and made unique. Field errors are reported
/// together. The `product.created` event is sent.
///
/// # Errors
/// `handle_taken`, `sku_taken`, `validation_failed`.
pub async fn create(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<Created<ProductView>, Problem> {
    let now = app.clock.now();
    let planned = (ProductId::mint(now), input);
    save_product::create(&app, &caller.store, planned, now, &answering(created)).await
}

/// `PATCH /v1/products/{id}` (`updateProduct`): Update a product.
///
/// Omitted fields keep their values. Lists such as `tags`, `options` and `images` are replaced as a whole.
/// Variants are updated by their own operations. The event is `product.updated`, or `product.archived` when
/// the status becomes `archived`. An update without a difference sends no event.
///
/// # Errors
/// `not_found`, `handle_taken`, `precondition_failed`; `options_in_use`, `unknown_category` as field errors.
pub async fn update(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<ProductView>, Problem> {
    let at = (&id, if_match.0);
    save_product::change(&app, &caller.store, at, input, &answering(to_response)).await
}

/// Whether to archive or delete the product.
#[request]
#[derive(Debug)]
pub struct RemoveQuery {
    /// Whether to delete the product permanently instead of archiving it. Only a product without orders,
    /// other than cancelled or expired ones, can be deleted. The default is `false`.
    #[deserr(default)]
    hard: Written<Flag>,
}

/// `DELETE /v1/products/{id}` (`deleteProduct`): Archive or delete a product.
///
/// The product is archived unless `hard` is `true`. Archiving keeps its variants and their stock, and sends
/// `product.archived`. With `hard=true` the product, its variants and their stock are deleted permanently,
/// and `product.deleted` is sent.
///
/// # Errors
/// `not_found`, `precondition_failed`; `product_has_orders` when `hard` is set and a variant has
/// orders that were neither cancelled nor expired.
pub async fn delete(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
    if_match: IfMatch,
    request::Query(query): request::Query<RemoveQuery>,
) -> Result<NoContent, Problem> {
    let store = &caller.store.id;
    if query.hard.0.0 {
        let have_ended = |ordered: Vec<Variant>| ended_orders::ensure(&app, ordered);
        let (at, completion) = ((&id, if_match.0), answering(no_content));
        return save_product::remove(&app, store, at, have_ended, &completion).await;
    }
    save_product::archive(&app, store, &id, if_match.0, &answering(no_content)).await
}

/// 200 with a product.
pub(crate) fn to_response(product: &ProductView) -> Json<ProductView> {
    Json::new(product).version(product.summary.version)
}

/// 201 with a new product.
pub(crate) fn created(product: &ProductView) -> Created<ProductView> {
    Created::new(product).version(product.summary.version)
}

/// 204 after a product was archived or deleted.
pub(crate) fn no_content(_: &ProductView) -> NoContent {
    NoContent::default()
}
