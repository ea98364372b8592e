//! The Ajax API of themes: `/cart.js`, `/cart/add.js` and the like, as Shopify's documentation describes them, and
//! the forms that post to the same places without `.js`.

mod asked;
mod change;
mod reply;
mod stock;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use http::{HeaderMap, StatusCode, header};
use maud::html;
use serde_json::{Value, json};

use crate::cart::Cart;
use crate::document;
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Page;
use crate::paths::{is_path, segment};
use crate::shops::Shops;
use crate::values::with;
use crate::visit::{CART, Visit};
use crate::words::Words;
pub(crate) use asked::Asked;
use change::Changed;
use reply::Reply;
pub(crate) use reply::error as rejection;

/// The routes.
pub(crate) fn routes() -> Router<Arc<Shops>> {
    Router::new()
        .route("/cart.js", get(show))
        .route("/cart.json", get(show))
        .route("/cart", get(crate::pages::show).post(update))
        .route("/cart/add", post(add))
        .route("/cart/add.js", post(add))
        .route("/cart/change", get(change_by_link).post(change))
        .route("/cart/change.js", post(change))
        .route("/cart/update", post(update))
        .route("/cart/update.js", post(update))
        .route("/cart/clear", get(clear_by_link).post(clear))
        .route("/cart/clear.js", post(clear))
        .route("/cart/{permalink}", get(permalink))
        .route("/products/{handle}", get(product))
        .route("/search/suggest.json", get(crate::pages::suggest_json))
        .route("/search/suggest", get(crate::pages::suggest))
        .route("/recommendations/products", get(crate::pages::recommend))
        .route("/recommendations/products.json", get(recommendations))
}

async fn show(visit: Visit) -> Response {
    if let Err(fault) = visit.charge().await {
        return reply::error(&fault);
    }
    match visit.load_cart().await {
        Ok(cart) => Reply::of(&visit).cart(cart.as_ref()).await,
        Err(fault) => reply::error(&fault),
    }
}

/// `GET /products/{handle}.js` is the product as JSON; without `.js`, the page.
async fn product(
    State(shops): State<Arc<Shops>>,
    Path(handle): Path<String>,
    headers: HeaderMap,
    visit: Visit,
) -> Response {
    let is_wrapped = handle.strip_suffix(".json");
    let json = is_wrapped.or_else(|| handle.strip_suffix(".js"));
    let Some(name) = json else { return crate::pages::show(State(shops), headers, visit).await };
    let found = visit.get(&format!("/products/{}", segment(name))).await;
    match found {
        Ok(product) => {
            let product = crate::pages::product_json(&visit, &product);
            let body = if is_wrapped.is_some() { json!({ "product": product }) } else { product };
            document::json(StatusCode::OK, &body)
        }
        Err(fault) => reply::error(&fault),
    }
}

/// `GET /recommendations/products.json?product_id=…`: related products as JSON.
async fn recommendations(visit: Visit) -> Response {
    match crate::pages::recommended(&visit).await {
        Ok((_, related)) => {
            let json = |product| crate::pages::product_json(&visit, product);
            let products: Vec<Value> = related.iter().map(json).collect();
            document::json(StatusCode::OK, &json!({ "products": products }))
        }
        Err(fault) if fault.is("not_found") => reply::error(&reply::no_product(visit.words())),
        Err(fault) => reply::error(&fault),
    }
}

/// The lines that a request adds: one at the top, or several of `items`.
///
/// # Errors
/// A line without a variant, or with a quantity that is none: nothing is added then.
fn lines(fields: &Fields, words: &Words) -> Result<Vec<Value>, Fault> {
    let items = fields.items("items");
    let items = if items.is_empty() { vec![fields.clone()] } else { items };
    items.iter().map(|item| line(item, words)).collect()
}

fn line(fields: &Fields, words: &Words) -> Result<Value, Fault> {
    let id = fields.text("id").ok_or_else(|| reply::no_variant(words))?;
    let quantity = fields.text("quantity").map_or(Ok(1), |text| reply::quantity(text, words))?;
    if quantity == 0 {
        return Err(reply::no_units(words));
    }
    let filled = fields.within("properties").filter(|(_, value)| !value.trim().is_empty());
    let properties: serde_json::Map<String, Value> =
        filled.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    let line = json!({"variant_id": id, "quantity": quantity});
    let has_properties = !properties.is_empty();
    Ok(if has_properties { with(line, "properties", Value::Object(properties)) } else { line })
}

/// Adds what a request names.
async fn added(visit: &Visit, fields: &Fields) -> Result<(Cart, Vec<Value>), Fault> {
    let lines = lines(fields, visit.words())?;
    let ids: Vec<Value> = lines.iter().filter_map(|line| line.get("variant_id").cloned()).collect();
    let cart = visit.add_lines(lines.clone()).await;
    let cart = cart.map_err(|fault| reply::unknown(fault, visit.words()))?;
    let before = stock::lines_without(&cart, &lines);
    Ok((stock::ensure_in_stock(visit, cart, before).await?, ids))
}

/// Where a form that added nothing leads back to: the page of this shop that it was on.
fn page_of_form(visit: &Visit, headers: &HeaderMap) -> String {
    let from = headers.get(header::REFERER).and_then(|from| from.to_str().ok());
    let path = from.and_then(|from| from.strip_prefix(&visit.origin));
    path.filter(|path| is_path(path)).unwrap_or("/").to_owned()
}

/// The page after a form that did nothing: why, and the way back.
fn not_done(visit: &Visit, fault: &Fault, (title, back): (&str, &str)) -> Response {
    if !fault.status.is_client_error() {
        return fault.clone().into_response();
    }
    let words = visit.words();
    let content = html! {
        h1 { (title) }
        @for sentence in fault.sentences() { p { (sentence) } }
        p { a.button.primary href=(back) { (words.back) } " " a.button.secondary href="/cart" { (words.cart) } }
    };
    fault.with_retry(Page::new(visit, title, content).answer(fault.status))
}

async fn add(asked: Asked, headers: HeaderMap, visit: Visit, fields: Fields) -> Response {
    match (added(&visit, &fields).await, asked) {
        (Ok((cart, ids)), Asked::ByScript) => {
            let is_several = !fields.items("items").is_empty();
            Reply::of(&visit).sections(&fields).lines(&cart, &ids, is_several).await
        }
        (Ok((cart, _)), Asked::ByForm) => led(&visit, &fields, Some(&cart)),
        (Err(fault), Asked::ByScript) => reply::error(&fault),
        (Err(fault), Asked::ByForm) => {
            let back = page_of_form(&visit, &headers);
            not_done(&visit, &fault, (visit.words().not_added, &back))
        }
    }
}

/// Leads a form to the page that it names, or to the cart.
fn led(visit: &Visit, fields: &Fields, cart: Option<&Cart>) -> Response {
    let to = Redirect::to(fields.path("return_to").unwrap_or("/cart")).into_response();
    match cart {
        Some(cart) => visit.with_cookie(to, CART, &cart.opened.written()),
        None => to,
    }
}

/// The answer to a change of the cart.
async fn changed(
    done: Result<Changed, Fault>,
    (asked, visit, fields): (Asked, &Visit, &Fields),
) -> Response {
    match (done, asked) {
        (Ok(Changed { cart, rejected_codes }), Asked::ByScript) => {
            let reply = Reply::of(visit).sections(fields).rejected_codes(rejected_codes);
            reply.cart(cart.as_ref()).await
        }
        (Ok(_), Asked::ByForm) => led(visit, fields, None),
        (Err(fault), Asked::ByScript) => reply::error(&fault),
        (Err(fault), Asked::ByForm) => {
            not_done(visit, &fault, (visit.words().pages.failed, "/cart"))
        }
    }
}

async fn change(asked: Asked, visit: Visit, fields: Fields) -> Response {
    let done = change::line(&visit, &fields).await;
    changed(done.map(Changed::from), (asked, &visit, &fields)).await
}

/// `GET /cart/change?id=…&quantity=0`: the links by which themes without scripts remove a line. A link of another site
/// shows the cart.
async fn change_by_link(visit: Visit) -> Response {
    if visit.is_from_elsewhere {
        return Redirect::to("/cart").into_response();
    }
    let fields = Fields::of_query(visit.query().as_bytes());
    let done = change::line(&visit, &fields).await;
    changed(done.map(Changed::from), (Asked::ByForm, &visit, &fields)).await
}

/// `POST /cart` and `/cart/update`. The cart page's own form has the buttons `update` and `checkout`.
async fn update(asked: Asked, visit: Visit, fields: Fields) -> Response {
    let done = change::all(&visit, &fields, asked).await;
    if done.is_ok() && asked == Asked::ByForm && fields.has("checkout") {
        return Redirect::to("/checkout").into_response();
    }
    changed(done, (asked, &visit, &fields)).await
}

async fn clear(asked: Asked, visit: Visit, fields: Fields) -> Response {
    let done = change::clear(&visit).await;
    changed(done.map(Changed::from), (asked, &visit, &fields)).await
}

/// `GET /cart/clear` shows the cart: a link of another site must not empty it.
async fn clear_by_link(_: Visit) -> Redirect {
    Redirect::to("/cart")
}

/// `GET /cart/{variant}:{quantity},…?discount=…`: a link that fills a cart and leads to the checkout. What the cart had
/// is replaced: the same link twice is the same cart.
async fn permalink(Path(text): Path<String>, visit: Visit) -> Result<Response, Response> {
    let line = |part: &str| {
        let (variant, quantity) = part.split_once(':')?;
        let quantity: u64 = quantity.parse().ok()?;
        Some(json!({"variant_id": variant, "quantity": quantity}))
    };
    let lines: Option<Vec<Value>> = text.split(',').map(line).collect();
    let lines = lines.ok_or_else(|| Fault::not_found().into_response())?;
    let query = Fields::of_query(visit.query().as_bytes());
    let codes = change::codes(query.get("discount").unwrap_or_default());
    let cart = visit.fill_cart(lines, &codes).await.map_err(IntoResponse::into_response)?;
    let to = Redirect::to("/checkout").into_response();
    Ok(visit.with_cookie(to, CART, &cart.opened.written()))
}
