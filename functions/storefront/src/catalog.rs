//! The public catalogue: products, categories and collections.

mod faceted;
mod filters;
mod groups;
mod input;
mod page;
mod related;
mod source;
mod values;
mod view;

use axum::extract::State;
use catalogue::product::{ProductSummary, summaries};
use core_types::fields::{Handle, Subdomain};
use core_types::id::ProductId;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Path, Query, Ruled};
use identity::store::Store;
use primitives::problem::Problem;
use serde_json::Value;

use crate::viewer::Viewer;
use faceted::FacetedList;
use input::ListQuery;
use page::ProductPage;
use source::ProductList;
use view::{ProductDetail, StorefrontProductSummary};

pub use faceted::Selection;
pub(crate) use filters::get as get_filters;
pub use filters::{FilteredProducts, filtered_products};
pub(crate) use groups::{get_category, get_collection, list_categories, list_collections};

/// The visible products of these ids, as a list has them: one read for a hundred. What is no product's id is left out.
///
/// # Errors
/// 503.
pub async fn products_by_id(app: &App, store: &Store, ids: &[&str]) -> Result<Vec<Value>, Problem> {
    let ids: Vec<ProductId> = ids.iter().filter_map(|id| ProductId::parse(id)).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = summaries(app, &store.id, &ids).await?;
    let visible = found.into_iter().filter(ProductSummary::is_visible);
    let view = |summary| StorefrontProductSummary::of(summary, store, &app.config.base_url);
    Ok(visible.filter_map(|summary| serde_json::to_value(view(summary)).ok()).collect())
}

/// `GET /v1/storefront/{subdomain}/products` (`listStorefrontProducts`): List products of a storefront.
///
/// A page whose filter matches few products may be shorter than the limit, with more to come.
///
/// # Errors
/// `storefront_not_found`; `not_found` for an unknown category or collection; `validation_failed`;
/// `invalid_cursor`; `too_many_products` for `vendor`, `product_type` or `options` in a store of more than 10,000
/// products.
pub(crate) async fn list(
    caller: Viewer,
    State(app): State<App>,
    Ruled(Query(input)): Ruled<Query<ListQuery>>,
    paging: Paging,
) -> Result<Page<StorefrontProductSummary>, Problem> {
    let store = caller.store();
    let start = paging.start();
    let found = if input.needs_facets() {
        let list = FacetedList::open(&app, store, &Selection::from(&input)).await?;
        list.page(&app, paging.limit(), start.as_ref()).await?
    } else {
        let source = ProductList::open(&app, store, &input, start.as_ref()).await?;
        source.page(&app, paging.limit(), start).await?
    };
    let to_response = |summary: ProductSummary| {
        StorefrontProductSummary::of(summary, store, &app.config.base_url)
    };
    let answer = paging.finish(&app, found, to_response).await?;
    Ok(answer.cached(caller.keeping()))
}

/// `GET /v1/storefront/{subdomain}/products/{handle}` (`getStorefrontProduct`): Get a product of a storefront.
///
/// Its variants and related products are part of the response.
///
/// # Errors
/// `storefront_not_found`; `not_found`, also for a product that is not visible.
pub(crate) async fn get(
    caller: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
) -> Result<Json<ProductDetail>, Problem> {
    let store = caller.store();
    let page = ProductPage::load(&app, store, &handle).await?;
    Ok(Json::new(&ProductDetail::of(page, store, &app.config.base_url)).cached(caller.keeping()))
}
