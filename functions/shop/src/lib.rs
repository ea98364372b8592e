//! The pages of shops, on an origin of their own: a store's theme, its cart, checkout and accounts.
//!
//! A shop is at a label below the platform's shop domain (`tea.shops.example`), or at a domain that its store has
//! verified. Its pages call the storefront API in this process, with the visitor's credentials, which are cookies
//! that no script can read.

mod access;
mod account;
mod address;
mod ajax;
mod amounts;
mod api;
mod assets;
mod cart;
mod checkout;
mod contact;
mod countries;
mod document;
mod fault;
mod form;
mod frame;
mod look;
mod notices;
mod orders;
mod page_cache;
mod pages;
mod password;
mod paths;
mod policies;
mod seo;
mod shops;
mod theme_cache;
mod totals;
mod values;
mod visit;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use gateway::app::App;

use api::Api;
use page_cache::PageCache;
use shops::Shops;
use theme_cache::ThemeCache;

/// The routes of a shop.
pub fn router(app: App) -> Router {
    let api = storefront::routes().into_router(app.clone());
    router_over(app, api)
}

/// As [`router`], over this router of the storefront API: a local system records what goes through it.
pub fn router_over(app: App, api: Router) -> Router {
    let scheme = if app.config.base_url.starts_with("http:") { "http" } else { "https" };
    let api = Api::new(api);
    let timed = from_fn_with_state(app.clone(), gateway::routes::timed);
    let shops = Arc::new(Shops {
        app,
        api,
        scheme,
        pages: PageCache::default(),
        themes: ThemeCache::default(),
    });
    Router::new()
        .merge(ajax::routes())
        .merge(checkout::routes())
        .merge(orders::routes())
        .merge(account::routes())
        .route("/assets/{sha256}/{name}", get(assets::theme_file))
        .route("/media/{id}", get(assets::media))
        .route("/favicon.ico", get(assets::favicon))
        .route("/shared/{name}", get(assets::shared))
        .route(access::PASSWORD_PAGE, get(password::show).post(password::enter))
        .route("/contact", get(contact::page).post(contact::submit))
        .route("/robots.txt", get(seo::robots))
        .route("/sitemap.xml", get(seo::sitemap))
        .route("/localization", post(pages::localize))
        .fallback(get(pages::show))
        .layer(from_fn(visit::end_session))
        .layer(from_fn(fault::with_page))
        .layer(timed)
        .with_state(shops)
}
