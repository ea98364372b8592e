//! The pages of a theme.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Map, Value};

use crate::Shops;
use crate::ajax::is_path;
use crate::cart::Cart;
use crate::fault::Fault;
use crate::form::Fields;
use crate::visit::Visit;

#[derive(Default)]
pub(crate) struct PageCache {}

pub(crate) async fn show(State(_): State<Arc<Shops>>, _: Visit) -> Response {
    Fault::not_found().into_response()
}

/// `POST /localization`: a shop has one country and language so far; the form leads back.
pub(crate) async fn localize(_: Visit, sent: Fields) -> Redirect {
    let back = sent.text("return_to").filter(|to| is_path(to)).unwrap_or("/");
    Redirect::to(back)
}

pub(crate) async fn suggest(_: Visit) -> Response {
    Fault::not_found().into_response()
}

pub(crate) async fn suggest_json(_: Visit) -> Response {
    Fault::not_found().into_response()
}

pub(crate) async fn recommend(_: Visit) -> Response {
    Fault::not_found().into_response()
}

pub(crate) async fn cart_json(_: &Visit, cart: Option<&Cart>) -> Value {
    cart.map(|cart| cart.json.clone()).unwrap_or_default()
}

pub(crate) async fn sections(
    _: &Visit,
    _: &str,
    _: &[String],
    _: Option<&Cart>,
) -> Option<Map<String, Value>> {
    None
}

pub(crate) fn product_json(product: &Value) -> Value {
    product.clone()
}
