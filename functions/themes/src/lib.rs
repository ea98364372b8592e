//! `/v1/themes` — the theme platform: the catalogue, packages and their submission, installation, the
//! editor with its drafts and previews, releases, and purchases.

mod catalogue;
mod editor;
mod install;
mod on_store;
mod packages;
mod previews;
mod purchases;
mod releases;
mod submissions;
mod upload;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    marketplace().merge(store_routes()).merge(release_routes())
}

/// Routes of the catalogue and of packages.
fn marketplace() -> Routes {
    Routes::default()
        .open_to_any_origin(callers::cross_origin::is_open)
        .get("/v1/themes", Cost::List, catalogue::list)
        .get("/v1/themes/{slug}", Cost::READ, catalogue::get)
        .post_large("/v1/themes/packages/upload", Cost::PACKAGE, packages::upload)
        .get("/v1/themes/packages", Cost::List, packages::list)
        .get("/v1/themes/packages/submissions", Cost::List, submissions::list_all)
        .get("/v1/themes/packages/{id}", Cost::READ, packages::get)
        .post("/v1/themes/packages/{id}/submit", Cost::WRITE, submissions::submit)
        .post("/v1/themes/packages/{id}/withdraw", Cost::WRITE, submissions::withdraw)
        .post("/v1/themes/packages/{id}/approve", Cost::WRITE, submissions::approve)
        .post("/v1/themes/packages/{id}/reject", Cost::WRITE, submissions::reject)
}

/// Routes of a theme on a store.
fn store_routes() -> Routes {
    Routes::default()
        .get("/v1/themes/{slug}/schema", Cost::READ, catalogue::schema)
        .post("/v1/themes/{slug}/install", Cost::WRITE, install::install)
        .post("/v1/themes/{slug}/uninstall", Cost::WRITE, install::uninstall)
        .post("/v1/themes/{slug}/upgrade", Cost::WRITE, install::upgrade)
        .get("/v1/themes/{slug}/editor", Cost::READ, editor::get)
        .put("/v1/themes/{slug}/editor/draft", Cost::WRITE, editor::put_draft)
        .delete("/v1/themes/{slug}/editor/draft", Cost::WRITE, editor::delete_draft)
        .post("/v1/themes/{slug}/preview-session", Cost::WRITE, previews::create)
        .get("/v1/themes/{slug}/preview-session/{id}", Cost::READ, previews::get)
        .delete("/v1/themes/{slug}/preview-session/{id}", Cost::WRITE, previews::delete)
        .existence_check("/v1/themes/{slug}/install", on_store::ensure_offered)
        .existence_check("/v1/themes/{slug}/uninstall", on_store::ensure_installed)
        .existence_check("/v1/themes/{slug}/upgrade", on_store::ensure_installed)
        .existence_check("/v1/themes/{slug}/editor/draft", on_store::ensure_installed)
        .existence_check("/v1/themes/{slug}/preview-session", on_store::ensure_installed)
}

fn release_routes() -> Routes {
    Routes::default()
        .post("/v1/themes/{slug}/publish", Cost::WRITE, releases::publish)
        .get("/v1/themes/{slug}/releases", Cost::List, releases::list)
        .get("/v1/themes/{slug}/releases/{number}", Cost::READ, releases::get)
        .post("/v1/themes/{slug}/rollback", Cost::WRITE, releases::rollback)
        .post("/v1/themes/{slug}/purchase", Cost::CHECKOUT, purchases::purchase)
        .post("/v1/themes/{slug}/purchase/verify", Cost::WRITE, purchases::verify)
        .get("/v1/themes/{slug}/licenses", Cost::List, purchases::licenses)
        .existence_check("/v1/themes/{slug}/publish", on_store::ensure_installed)
        .existence_check("/v1/themes/{slug}/rollback", on_store::ensure_installed)
        .existence_check("/v1/themes/{slug}/purchase", on_store::ensure_offered)
        .existence_check("/v1/themes/{slug}/purchase/verify", on_store::ensure_offered)
}
