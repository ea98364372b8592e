//! The page of an order: its state, what is left to pay, and its payment. A guest opens it by the token of the link in
//! the mails, or by the cookie of the checkout; a customer by their session.

mod pay;
mod recent;
mod shown;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use http::{Method, StatusCode};
use serde_json::json;

use crate::form::Query;
use crate::frame::Navigation;
use crate::paths::segment;
use crate::shops::Shops;
use crate::visit::{Opened, Visit};

/// The routes.
pub(crate) fn routes() -> Router<Arc<Shops>> {
    Router::new()
        .route("/orders/{id}", get(show))
        .route("/orders/{id}/pay", get(pay::show))
        .route("/orders/{id}/return", get(pay::returned).post(pay::returned_by_form))
        .route("/orders/{id}/cancel", post(cancel))
}

/// `GET /orders/{id}`. A token in the URL that opens the order moves to a cookie, so that it is in no history, referrer or
/// picture of the screen.
async fn show(
    _: Navigation,
    Path(id): Path<String>,
    Query(query): Query,
    visit: Visit,
) -> Response {
    if let Some(token) = query.text("token") {
        let opened = Opened { id: id.clone(), token: Some(token.to_owned()) };
        let to = Redirect::to(&format!("/orders/{}", segment(&id))).into_response();
        return match visit.is_opened(&opened).await {
            Ok(true) => visit.with_order(to, &opened),
            Ok(false) => to,
            Err(fault) => fault.into_response(),
        };
    }
    match visit.load_order_now(&id).await {
        Ok(order) => view::page(&visit, &order, None, StatusCode::OK).await,
        Err(fault) if fault.is("not_found") => unknown(&visit),
        Err(fault) => fault.into_response(),
    }
}

/// The page for an order that this browser may not see.
fn unknown(visit: &Visit) -> Response {
    let words = visit.words();
    let content = maud::html! {
        h1 { (words.not_shown) }
        p { (words.open_link) }
        p { a.button.secondary href={ "/account/login?return_to=" (visit.location) } { (words.sign_in) } }
    };
    crate::frame::Page::new(visit, words.order, content).answer(StatusCode::NOT_FOUND)
}

async fn cancel(_: Navigation, Path(id): Path<String>, visit: Visit) -> Response {
    let path = format!("/orders/{}/cancel", segment(&id));
    let call = visit.order_call(Method::POST, &id, &path).body(json!({}));
    match visit.send(call).await {
        Ok(_) => Redirect::to(&format!("/orders/{}", segment(&id))).into_response(),
        Err(fault) if fault.status == StatusCode::CONFLICT => match visit.load_order(&id).await {
            Ok(order) => {
                view::page(&visit, &order, Some(fault.said(visit.words())), StatusCode::CONFLICT)
                    .await
            }
            Err(fault) => fault.into_response(),
        },
        Err(fault) => fault.into_response(),
    }
}
