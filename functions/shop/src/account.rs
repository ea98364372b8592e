//! A customer's account: sign-in by password or mailed code, orders, addresses, details, and what becomes of their data. Pages that
//! the theme has templates for are rendered by it, without its scripts ([`themed`]); the others are the platform's.

mod address_form;
mod addresses;
mod done;
mod errors;
mod inputs;
mod new_password;
mod order;
mod privacy;
mod profile;
mod quiet;
mod register;
mod session;
mod sign_in;
mod themed;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use maud::html;
use shop_theme::Page;

use crate::frame::Navigation;
use crate::shops::Shops;
use crate::values::items;
use crate::visit::Visit;
use themed::{Own, Themed};

/// The routes.
pub(crate) fn routes() -> Router<Arc<Shops>> {
    Router::new()
        .route("/account", get(show).post(register::submit))
        .route("/account/login", get(sign_in::show).post(sign_in::submit))
        .route("/account/login/code", get(sign_in::show_code).post(sign_in::mail_code))
        .route("/account/login/verify", post(sign_in::verify))
        .route("/account/recover", get(new_password::show_recovery).post(new_password::recover))
        .route("/account/reset", get(new_password::reset).post(new_password::set))
        .route("/account/reset/{token}", get(new_password::follow_reset))
        .route("/account/activate", get(new_password::activate).post(new_password::set_first))
        .route("/account/activate/{token}", get(new_password::follow_activation))
        .route("/account/register", get(register::show).post(register::submit))
        .route("/account/logout", get(sign_in::sign_out).post(sign_in::sign_out))
        .route("/account/orders/{id}", get(order::show))
        .route("/account/addresses", get(addresses::show).post(addresses::add))
        .route("/account/profile", get(profile::show).post(profile::change))
        .route("/account/privacy", get(privacy::show))
        // A sign-in leads back to where a form was sent, when the session has ended meanwhile.
        .route("/account/addresses/{id}", get(addresses::show).post(addresses::change))
        .route("/account/data-request", get(privacy::show).post(privacy::request_copy))
        .route("/account/delete", get(privacy::show).post(privacy::delete))
}

/// `GET /account`.
async fn show(_: Navigation, visit: Visit) -> Response {
    match account(&visit).await {
        Ok(response) | Err(response) => response,
    }
}

async fn account(visit: &Visit) -> Result<Response, Response> {
    if !visit.has_session() {
        return Err(session::to_sign_in(visit));
    }
    let theme = themed::theme(visit, &Page::Account).await?;
    let Some(theme) = theme else {
        let (me, orders) = tokio::join!(visit.own("/me"), visit.own("/orders?limit=50"));
        return Ok(view::account(visit, &me?, &orders?));
    };
    let (me, orders, addresses) = tokio::join!(
        visit.own("/me"),
        visit.own("/orders?limit=100"),
        visit.own_part("/addresses?limit=50"),
    );
    let (me, orders) = (me?, orders?);
    let own = Own { me, orders: items(&orders), addresses: items(&addresses?) };
    let words = &visit.words().accounts;
    let below = html! {
        (themed::link("/account/profile", words.details_below))
        (themed::link("/account/privacy", words.data_below))
    };
    let page = Themed::new(visit, theme, Page::Account).own(own.clone()).below(&below);
    match page.answer(StatusCode::OK).await {
        Some(response) => Ok(response),
        None => Ok(view::account(visit, &own.me, &orders)),
    }
}
