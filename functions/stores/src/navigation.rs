//! Handlers of navigation menus.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::navigation::{
    Items, Menu, MenuView, NAVIGATION_DELETED, NAVIGATION_UPDATED, unknown_targets,
};
use core_types::fields::Handle;
use core_types::id::StoreId;
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadContent, WriteContent};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoContent};
use gateway::request::{Body, IfMatch, Path};
use identity::store;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use table::retry;

use crate::configuration::{save, written};

/// `GET /v1/stores/{id}/navigation/{handle}` (`getMenu`): Get a menu.
///
/// The response has the items of all levels.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadContent>,
    State(app): State<App>,
    Path((_, handle)): Path<(StoreId, Handle)>,
) -> Result<Json<MenuView>, Problem> {
    let key = key::navigation(&caller.store.id, handle.as_str());
    load::<Menu>(&app, &key).await.map(|menu| menu.to_response())
}

/// A menu to create or replace.
#[request]
#[derive(Debug)]
pub struct PutRequest {
    /// The items of the first level, each with its children: at most 200 in total, at most three levels, and
    /// at most 100 KiB.
    items: Items,
}

/// `PUT /v1/stores/{id}/navigation/{handle}` (`setMenu`): Create or replace a menu.
///
/// The menu is created or replaced as a whole; it may be empty. A store has at most 50 menus. The event is
/// `navigation.updated`.
///
/// # Errors
/// `menu_limit`, `precondition_failed`; `unknown_product`, `unknown_collection` and `unknown_category` as
/// field errors of a `ref` with an id that does not exist on the store.
pub async fn put(
    caller: StoreAccess<WriteContent>,
    State(app): State<App>,
    Path((_, handle)): Path<(StoreId, Handle)>,
    if_match: IfMatch,
    Body(input): Body<PutRequest>,
) -> Result<Json<MenuView>, Problem> {
    let store = &caller.store.id;
    let now = app.clock.now();
    let unknown = unknown_targets(&app, store, &input.items).await?;
    if !unknown.is_empty() {
        return Err(Problem::invalid(unknown));
    }
    retry(|| async {
        let present = app.table.get(&key::navigation(store, handle.as_str())).await?;
        let present = present.unwrap_or_else(|| Menu::blank(store, handle.clone(), now));
        if_match.check(present.version)?;
        let menu = present.with(input.items.clone(), now);
        let write = if menu.version == 1 {
            written(store::add_menu(app.table.write(), store, &menu.handle), &menu)
        } else {
            save(&app, store, &menu)
        };
        write.emit(menu.event(&NAVIGATION_UPDATED, now)).answer(menu.to_response(), now).await
    })
    .await
}

/// `DELETE /v1/stores/{id}/navigation/{handle}` (`deleteMenu`): Delete a menu.
///
/// It is no longer returned to storefronts. The event is `navigation.deleted`.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteContent>,
    State(app): State<App>,
    Path((_, handle)): Path<(StoreId, Handle)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let store = &caller.store.id;
    let now = app.clock.now();
    retry(|| async {
        let key = key::navigation(store, handle.as_str());
        let menu: Menu = load(&app, &key).await?;
        if_match.check(menu.version)?;
        store::remove_menu(app.table.write(), store, &handle)
            .delete_unchanged(&menu, Code::VersionConflict)
            .emit(menu.deleted(now).event(&NAVIGATION_DELETED, now))
            .answer(NoContent::default(), now)
            .await
    })
    .await
}
