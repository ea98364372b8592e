//! Categories and collections of a storefront.

use axum::extract::State;
use catalogue::category::{Category, CategoryView, Tree};
use catalogue::collection::{Collection, CollectionKind};
use catalogue::product::Seo;
use core_types::fields::{Handle, Subdomain};
use core_types::id::CollectionId;
use core_types::key;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::Path;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use table::Query;
use table::item::Index;

use super::source;

use crate::viewer::Viewer;

/// A category with the tree below it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CategoryBranch {
    #[serde(flatten)]
    category: CategoryView,
    /// The categories below it, in their order.
    children: Vec<CategoryBranch>,
}

impl CategoryBranch {
    fn of(category: &Category, tree: &Tree) -> Self {
        let children = tree.children(Some(&category.id));
        Self {
            category: CategoryView::of(category, tree),
            children: children.map(|child| Self::of(child, tree)).collect(),
        }
    }
}

/// `GET /v1/storefront/{subdomain}/categories` (`listStorefrontCategories`): List categories of a storefront.
///
/// Categories of the first level come with the tree below each.
///
/// # Errors
/// `storefront_not_found`.
pub(crate) async fn list_categories(
    caller: Viewer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<CategoryBranch>, Problem> {
    let tree = Tree::get_eventually(&app, &caller.store().id).await?;
    let branches =
        tree.children(None).map(|category| CategoryBranch::of(category, &tree)).collect();
    let id = |branch: &CategoryBranch| branch.category.id.to_string();
    Ok(paging.slice(&app, branches, id).await?.cached(caller.keeping()))
}

/// `GET /v1/storefront/{subdomain}/categories/{handle}` (`getStorefrontCategory`): Get a category of a storefront.
///
/// The tree below it is part of the response.
///
/// # Errors
/// `storefront_not_found`, `not_found`.
pub(crate) async fn get_category(
    caller: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
) -> Result<Json<CategoryBranch>, Problem> {
    let tree = Tree::with(&app, &caller.store().id, &handle).await?;
    let category = tree.find(&handle).ok_or(Code::NotFound)?;
    Ok(Json::new(&CategoryBranch::of(category, &tree)).cached(caller.keeping()))
}

/// A collection as shoppers see it: without the rules that select its products.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CollectionPage {
    id: CollectionId,
    handle: Handle,
    title: String,
    /// Sanitized HTML.
    description: String,
    image_url: Option<String>,
    seo: Seo,
    /// The number of products in a manual collection; null for an automated one.
    products_count: Option<u32>,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

impl From<&Collection> for CollectionPage {
    fn from(collection: &Collection) -> Self {
        let is_manual = collection.kind == CollectionKind::Manual;
        Self {
            id: collection.id.clone(),
            handle: collection.handle.clone(),
            title: collection.title.clone(),
            description: collection.description.clone(),
            image_url: collection.image_url.clone(),
            seo: collection.seo.clone(),
            products_count: is_manual.then_some(collection.products_count),
            created_at: collection.created_at,
            updated_at: collection.updated_at,
            version: collection.version,
        }
    }
}

/// `GET /v1/storefront/{subdomain}/collections` (`listStorefrontCollections`): List collections of a storefront.
///
/// Published collections come newest first.
///
/// # Errors
/// `storefront_not_found`, `invalid_cursor`.
pub(crate) async fn list_collections(
    caller: Viewer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<CollectionPage>, Problem> {
    let query = Query::index(Index::Gsi1, key::collections_in(&caller.store().id)).newest_first();
    let answer = paging
        .query(
            &app,
            &query,
            |collection: &Collection| collection.published,
            |collection| CollectionPage::from(&collection),
        )
        .await?;
    Ok(answer.cached(caller.keeping()))
}

/// `GET /v1/storefront/{subdomain}/collections/{handle}` (`getStorefrontCollection`):
/// Get a collection of a storefront.
///
/// Its products are `…/products?collection={handle}`.
///
/// # Errors
/// `storefront_not_found`; `not_found`, also for an unpublished collection.
pub(crate) async fn get_collection(
    caller: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
) -> Result<Json<CollectionPage>, Problem> {
    let collection = source::collection(&app, &caller.store().id, &handle).await?;
    Ok(Json::new(&CollectionPage::from(&collection)).cached(caller.keeping()))
}
