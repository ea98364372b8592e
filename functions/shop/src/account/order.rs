//! An order in the account. Paying and cancelling are on the page of the order, which is the platform's.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use serde_json::Value;
use shop_theme::Page;

use super::session::to_sign_in;
use super::themed::{self, Own, Themed};
use crate::frame::Navigation;
use crate::paths::segment;
use crate::values::list;
use crate::visit::Visit;
use crate::words::AccountWords;

/// `GET /account/orders/{id}`.
pub(super) async fn show(_: Navigation, Path(id): Path<String>, visit: Visit) -> Response {
    match shown(&visit, &id).await {
        Ok(response) | Err(response) => response,
    }
}

async fn shown(visit: &Visit, id: &str) -> Result<Response, Response> {
    if !visit.has_session() {
        return Err(to_sign_in(visit));
    }
    let at_platform = format!("/orders/{}", segment(id));
    let to_platform = || Redirect::to(&at_platform).into_response();
    let page = Page::Order(Box::new(Value::Null));
    let Some(theme) = themed::theme(visit, &page).await? else { return Ok(to_platform()) };
    let (me, order) = tokio::join!(visit.own("/me"), visit.load_order(id));
    let me = me?;
    let order = order.map_err(IntoResponse::into_response)?.json;
    let products = themed::products_of(visit, &order).await.map_err(IntoResponse::into_response)?;
    let below = themed::link(&at_platform, action(&order, &visit.words().accounts));
    let own = Own { me, ..Own::default() };
    let page = Themed::new(visit, theme, Page::Order(Box::new(order)));
    let page = page.own(own).products(products).below(&below);
    Ok(page.answer(StatusCode::OK).await.unwrap_or_else(to_platform))
}

/// What the page of the order is for.
fn action(order: &Value, words: &AccountWords) -> &'static str {
    let is_left_to_pay = list(order, "allowed_actions").iter().any(|action| action == "pay");
    if is_left_to_pay { words.pay_or_cancel } else { words.order_status }
}
