//! Handlers that list, add, remove and reorder the products of a collection.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::collection::{
    COLLECTION_UPDATED, Collection, CollectionKind, CollectionProducts, CollectionProductsChange,
    CollectionView, MAX_MEMBERS,
};
use catalogue::product::{self, FieldErrorList, ProductSummaryView};
use core_types::id::{CollectionId, ProductId, StoreId};
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Body, IfMatch, Path};
use primitives::fields::AtMost;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use services::Services;
use table::retry;

use crate::products::of_collection;

/// Counts the products of the list.
pub(super) fn count(members: &CollectionProducts) -> u32 {
    u32::try_from(members.product_ids.len()).unwrap_or(u32::MAX)
}

/// Ensures that the products exist. Field errors point below `pointer`.
pub(super) async fn ensure_products_exist(
    services: &Services,
    store: &StoreId,
    ids: &[ProductId],
    pointer: &str,
) -> Result<(), Problem> {
    let mut field_errors = FieldErrorList::default();
    let mut index: usize = 0;
    for part in ids.chunks(100) {
        let found = product::get_many(services, store, part).await?;
        for id in part {
            if !found.iter().any(|product| product.id == *id) {
                let detail = "There is no such product in the store.";
                field_errors.add(format!("{pointer}/{index}"), "unknown_product", detail);
            }
            index = index.saturating_add(1);
        }
    }
    field_errors.into_result()
}

/// `GET /v1/products/collections/{id}/products` (`listCollectionProducts`): List products of a collection.
///
/// The products of a manual collection come in its own order; those of an automated one come newest first.
/// Products of every status are listed. A page of an automated collection inspects a bounded number of
/// products, so it can be short or empty although its cursor leads to more.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<CollectionId>,
    paging: Paging,
) -> Result<Page<ProductSummaryView>, Problem> {
    let collection = load(&app, &key::collection(&caller.store.id, &id)).await?;
    of_collection(&app, &collection, paging, |_| true).await
}

/// Changes to the products of a manual collection. They are applied in this order: remove, add, reorder.
#[request]
#[derive(Debug)]
pub struct ChangeRequest {
    /// Products to append, at most 1,000. Products that are already in the collection keep their place.
    add: Option<AtMost<ProductId, MAX_MEMBERS>>,
    /// Products to remove, at most 1,000. Products that are not in the collection are ignored.
    remove: Option<AtMost<ProductId, MAX_MEMBERS>>,
    /// The products that come first, in this order. The others follow in their current order.
    reorder: Option<AtMost<ProductId, MAX_MEMBERS>>,
}

/// `POST /v1/products/collections/{id}/products` (`updateCollectionProducts`):
/// Add, remove and reorder products of a collection.
///
/// Products are removed first, then added at the end, then reordered. A collection holds at most 1,000
/// products. The event is `collection.updated`; a request without a difference sends none.
///
/// # Errors
/// `not_found`, `collection_automated`, `precondition_failed`; `unknown_product`, `not_in_collection` and
/// `too_many` as field errors.
pub async fn update_products(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<CollectionId>,
    if_match: IfMatch,
    Body(input): Body<ChangeRequest>,
) -> Result<Json<CollectionView>, Problem> {
    let ids = |list: Option<AtMost<ProductId, MAX_MEMBERS>>| list.map(|l| l.0).unwrap_or_default();
    let change = CollectionProductsChange {
        remove: ids(input.remove),
        add: ids(input.add),
        reorder: ids(input.reorder),
    };
    let store = &caller.store.id;
    ensure_products_exist(&app, store, &change.add, "/add").await?;
    apply(&app, store, &id, if_match, &change).await
}

/// Products to remove from a collection.
#[request]
#[derive(Debug)]
pub struct RemoveRequest {
    /// Products to remove, at most 1,000. Products that are not in the collection are ignored.
    remove: AtMost<ProductId, MAX_MEMBERS>,
}

/// `DELETE /v1/products/collections/{id}/products` (`removeCollectionProducts`):
/// Remove products from a manual collection.
///
/// The request body lists the products. The products themselves are kept. The event is `collection.updated`;
/// a request without a difference sends none.
///
/// # Errors
/// `not_found`, `collection_automated`, `precondition_failed`.
pub async fn remove_products(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<CollectionId>,
    if_match: IfMatch,
    Body(input): Body<RemoveRequest>,
) -> Result<Json<CollectionView>, Problem> {
    let change =
        CollectionProductsChange { remove: input.remove.0, ..CollectionProductsChange::default() };
    apply(&app, &caller.store.id, &id, if_match, &change).await
}

async fn apply(
    services: &Services,
    store: &StoreId,
    id: &CollectionId,
    if_match: IfMatch,
    change: &CollectionProductsChange,
) -> Result<Json<CollectionView>, Problem> {
    let now = services.clock.now();
    retry(|| async {
        let (collection_key, members_key) =
            (key::collection(store, id), key::collection_members(store, id));
        let mut batch = services.table.get_many(&[&collection_key, &members_key]).await?;
        let before: Collection = batch.take(&collection_key)?.ok_or(Code::NotFound)?;
        if_match.check(before.version)?;
        if before.kind == CollectionKind::Automated {
            return Err(Code::CollectionAutomated.into());
        }
        let members: CollectionProducts = batch.take(&members_key)?.ok_or(Code::NotFound)?;
        let Some(members) = members.apply(change)? else { return Ok(before.to_response()) };
        let collection = Collection { products_count: count(&members), ..before.changed(now) };
        services
            .table
            .write()
            .replace(&collection, Code::VersionConflict)
            .replace(&members, Code::VersionConflict)
            .emit(collection.event(&COLLECTION_UPDATED, now))
            .answer(collection.to_response(), now)
            .await
    })
    .await
}
