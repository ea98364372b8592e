//! Handlers that list, create, update, archive and delete products.

mod bulk;
mod lookup;

use std::collections::{BTreeMap, HashSet};

use axum::extract::State;
use callers::StoreAccess;
use catalogue::collection::{self, Collection, CollectionKind, Members, Validated};
use catalogue::product::{self, Product, ProductStatus, ProductSummary, ProductView, Variant};
use catalogue::search::Search;
use catalogue::workflows::save_product::{self, CreateRequest, UpdateRequest};
use core_types::fields::MetadataFilter;
use core_types::id::{CollectionId, ProductId, StoreId};
use core_types::key;
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request;
use gateway::request::{Body, IfMatch, Path, Ruled};
use primitives::clock::Timestamp;
use primitives::fields::{Flag, FromText, Text, Violation, Written};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::workflows::ended_orders;
use serde::Serialize;
use services::Services;
use table::{Listed, Query, Scanned};

pub use bulk::bulk;
pub use lookup::ListedProduct;

/// At most 100 product ids, separated by commas. Repeated ids count once.
#[derive(Debug, Clone)]
pub struct ProductIds(Vec<ProductId>);

impl FromText for ProductIds {
    const EXPECTS: &'static str = "ids separated by commas";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let mut ids: Vec<ProductId> = Vec::new();
        for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            let id = ProductId::from_text(id)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.len() > 100 {
            return Err(Violation::new("too_many", "Must be at most 100 ids."));
        }
        Ok(Self(ids))
    }
}

primitives::text_field!(ProductIds);
primitives::string_schema!(ProductIds);

/// Filters of a list of products. A product must match all of them.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only products with this status.
    status: Option<ProductStatus>,
    /// Only products of this collection. A manual collection's products come in its own order.
    collection_id: Option<CollectionId>,
    /// Only products of this vendor. Case is ignored.
    vendor: Option<Text<1, 100>>,
    /// Only products with this tag. Case is ignored.
    tag: Option<Text<1, 40>>,
    /// Search words. Each must be the beginning of a word in the title, SKUs, vendor, type or tags. Case
    /// and accents are ignored; `wi-fi` and `wifi` find each other. Matches in the title come first. Text
    /// without a word matches all products.
    q: Option<Text<0, 100>>,
    /// The product whose variant has this SKU, together with that variant. Case is ignored. Not allowed
    /// with `barcode`, `collection_id`, `ids` or `q`.
    sku: Option<Text<1, 100>>,
    /// Products whose variants have this barcode: one entry for each such variant. Case is ignored. Not
    /// allowed with `collection_id`, `ids` or `q`.
    barcode: Option<Text<1, 64>>,
    /// Only products with this metadata entry, written as `name:text`. Not allowed with `q`.
    metadata: Option<MetadataFilter>,
    /// Only products that were updated at this time or later.
    updated_since: Option<Timestamp>,
    /// Up to 100 product ids, separated by commas. The products come in this order.
    ids: Option<ProductIds>,
}

impl Rules for ListQuery {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let others = ["collection_id", "ids", "q"];
        let clash = |name: &str, others: &[&str]| {
            let other = others.iter().find(|other| given.has(name) && given.has(other))?;
            let detail = format!("Cannot be combined with `{other}`.");
            Some(FieldError::new(format!("/{name}"), "not_combined", detail))
        };
        let sku = clash("sku", &others).or_else(|| clash("sku", &["barcode"]));
        let words = clash("metadata", &["q"]);
        sku.into_iter().chain(clash("barcode", &others)).chain(words).collect()
    }
}

/// The fields of a product that filters read.
struct Facts<'a> {
    status: ProductStatus,
    vendor: Option<&'a str>,
    tags: &'a [String],
    /// `None` for a product summary, which holds no metadata.
    metadata: Option<&'a BTreeMap<String, String>>,
    updated_at: Timestamp,
}

impl<'a> From<&'a Product> for Facts<'a> {
    fn from(product: &'a Product) -> Self {
        let Product { status, vendor, tags, updated_at, .. } = product;
        let (vendor, metadata) = (vendor.as_deref(), Some(&product.metadata));
        Self { status: *status, vendor, tags, metadata, updated_at: *updated_at }
    }
}

impl<'a> From<&'a ProductSummary> for Facts<'a> {
    fn from(summary: &'a ProductSummary) -> Self {
        let ProductSummary { status, vendor, tags, updated_at, .. } = summary;
        let (vendor, metadata) = (vendor.as_deref(), None);
        Self { status: *status, vendor, tags, metadata, updated_at: *updated_at }
    }
}

impl ListQuery {
    fn takes<'a>(&self, product: impl Into<Facts<'a>>) -> bool {
        let product = product.into();
        let same = |wanted: &str, text: &str| wanted.to_lowercase() == text.to_lowercase();
        let vendor = |wanted: &Text<1, 100>| {
            product.vendor.is_some_and(|vendor| same(wanted.as_str(), vendor))
        };
        let tag = |wanted: &Text<1, 40>| product.tags.iter().any(|tag| same(wanted.as_str(), tag));
        self.status.is_none_or(|status| product.status == status)
            && self.vendor.as_ref().is_none_or(vendor)
            && self.tag.as_ref().is_none_or(tag)
            && self
                .metadata
                .as_ref()
                .is_none_or(|kept| product.metadata.is_some_and(|own| kept.takes(own)))
            && self.updated_since.is_none_or(|since| product.updated_at >= since)
    }
}

/// Queries all products of a store, or those with a status, newest first. Both are ordered by creation
/// time, so a paged list returns every product once even if products change meanwhile.
fn everything(store: &StoreId, status: Option<ProductStatus>) -> Query {
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
    let takes = |product: &Product| query.takes(product);
    if query.sku.is_some() || query.barcode.is_some() {
        let (sku, barcode) = (query.sku.as_ref(), query.barcode.as_ref());
        let codes = (sku.map(Text::as_str), barcode.map(Text::as_str));
        return lookup::by_code(&app, store, paging, codes, takes).await;
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
            let all = everything(store, query.status);
            paging.answer(&app, &all, takes, |product| ListedProduct::from(&product)).await
        }
        (Some(collection), None, None) => of_collection(&app, &collection, paging, takes).await,
        (collection, None, Some(search)) => {
            let holds = Membership::of(&app, collection).await?;
            let admits =
                |summary: &ProductSummary| holds.has(summary.id(), summary) && query.takes(summary);
            lookup::by_words(&app, store, paging, &search, admits).await
        }
        (collection, Some(ids), search) => {
            let holds = Membership::of(&app, collection).await?;
            let found = paging.part(ids.0.clone(), ToString::to_string)?;
            let named = match &search {
                None => None,
                Some(search) => Some(lookup::those_with(&app, store, &found.items, search).await?),
            };
            let admits = |product: &Product| {
                named.as_ref().is_none_or(|named| named.contains(&product.id))
                    && holds.has(&product.id, product)
                    && takes(product)
            };
            resolve(&app, store, paging, found, admits).await
        }
    }
}

/// The products that a collection filter admits; all without a collection.
enum Membership {
    Everything,
    Listed(HashSet<ProductId>),
    Validated(Box<Collection>),
}

impl Membership {
    async fn of(services: &Services, collection: Option<Collection>) -> Result<Self, Problem> {
        let Some(collection) = collection else { return Ok(Self::Everything) };
        Ok(match members(services, &collection).await? {
            Some(listed) => Self::Listed(listed.into_iter().collect()),
            None => Self::Validated(Box::new(collection)),
        })
    }

    fn has<'a>(&self, id: &ProductId, product: impl Into<Validated<'a>>) -> bool {
        match self {
            Self::Everything => true,
            Self::Listed(listed) => listed.contains(id),
            Self::Validated(collection) => {
                collection::holds(&collection.rules, collection.mode, product)
            }
        }
    }
}

/// Returns a page of the products of a collection that `takes` accepts.
pub(crate) async fn of_collection<V>(
    services: &Services,
    collection: &Collection,
    paging: Paging,
    takes: impl Fn(&Product) -> bool,
) -> Result<Page<V>, Problem>
where
    V: for<'a> From<&'a Product> + Serialize,
{
    let store = &collection.store_id;
    if collection.kind == CollectionKind::Automated {
        let holds = |product: &Product| {
            collection::holds(&collection.rules, collection.mode, product) && takes(product)
        };
        let all = everything(store, None);
        return paging.answer(services, &all, holds, |product| V::from(&product)).await;
    }
    let listed = members(services, collection).await?.unwrap_or_default();
    let found = paging.part(listed, ToString::to_string)?;
    resolve(services, store, paging, found, takes).await
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
    let members: Option<Members> = services.table.get(&key).await?;
    Ok(Some(members.map(|members| members.product_ids).unwrap_or_default()))
}

/// Loads the products of a page of ids, and returns those that exist and that `takes` accepts.
async fn resolve<V>(
    services: &Services,
    store: &StoreId,
    paging: Paging,
    found: Scanned<ProductId>,
    takes: impl Fn(&Product) -> bool,
) -> Result<Page<V>, Problem>
where
    V: for<'a> From<&'a Product> + Serialize,
{
    Listed::count_read(found.items.len());
    let mut products = product::get_many(services, store, &found.items).await?;
    let found = found.filter_map(|id| {
        let position = products.iter().position(|product| product.id == id)?;
        Some(products.swap_remove(position)).filter(&takes)
    });
    paging.finish(services, found, |product: Product| V::from(&product)).await
}

/// `GET /v1/products/{id}` (`getProduct`): Get a product with its variants.
///
/// The response includes all variants in their order, at most 100. A product of any status is returned.
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
pub async fn remove(
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
