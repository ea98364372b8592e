//! The pages of the local system below `/_local/`: what it has, what happens in it, and how it is used. They
//! are rendered here, with one style sheet and one script of their own, and load nothing from other hosts. A
//! deployment has none of them.
//!
//! What they show of stores they request from the API, as the demo's accounts. No budget is charged for that.

mod activity;
mod desk;
mod documents;
mod events;
mod guard;
mod layout;
mod mail;
mod operations;
mod paths;
mod reference;
mod sell;
mod site;
mod start;
mod store;

use std::sync::Arc;

use crate::activity::Activity;
use axum::Router;
use axum::response::Redirect;
use axum::routing::{get, post};
use desk::Desk;
pub use paths::START;
pub(crate) use paths::STYLE;
use paths::{ACTIVITY, DOCUMENTS, EVENTS, MAIL, OPERATIONS, REFERENCE, SCRIPT, SELL, TOKENS};
use site::Site;
pub(crate) use site::Whereabouts;

/// The routes of the pages, over this API.
pub(crate) fn router(api: Router, activity: Arc<Activity>, whereabouts: Whereabouts) -> Router {
    let is_public = whereabouts.is_public;
    // With another method the root is the API's, as in a deployment.
    let root = get(|| async { Redirect::temporary(START) }).fallback_service(api.clone());
    let unknown = get(layout::not_found).fallback_service(api.clone());
    let site = Arc::new(Site { desk: Desk::new(api), activity, whereabouts });
    let start = || async { Redirect::temporary(START) };
    let open = Router::new()
        .route("/", root)
        .route("/_local", get(start))
        .route(START, get(start::show))
        .route(STYLE, get(layout::style))
        .route(SCRIPT, get(layout::script))
        .route(REFERENCE, get(reference::show))
        .route(&format!("{REFERENCE}/{{operation}}"), get(reference::show_operation))
        .route("/_local/docs", get(|| async { Redirect::temporary(REFERENCE) }))
        .route(DOCUMENTS, get(documents::index))
        .route(&format!("{DOCUMENTS}{{name}}"), get(documents::show))
        .route("/_local/shop/{subdomain}", get(start::lead_to_shop))
        .route("/_local/{*path}", unknown);
    let private = Router::new()
        .route(TOKENS, post(start::create_token))
        .route(MAIL, get(mail::list))
        .route(&format!("{MAIL}/{{id}}"), get(mail::show))
        .route(&format!("{MAIL}/{{id}}/html"), get(mail::html))
        .route(ACTIVITY, get(activity::list))
        .route(&format!("{ACTIVITY}/{{request_id}}"), get(activity::show))
        .route(EVENTS, get(events::show))
        .route(SELL, get(sell::show))
        .route("/_local/store/{noun}", get(store::show))
        .route(OPERATIONS, get(operations::index))
        .route(&format!("{OPERATIONS}/{{*path}}"), get(operations::show));
    let private = private.layer(axum::middleware::from_fn(guard::admit));
    // The start page has passwords and addresses.
    let named = axum::middleware::from_fn_with_state(Arc::clone(&site), guard::admit_name);
    let all = if is_public { open } else { open.merge(private).layer(named) };
    all.with_state(site)
}
