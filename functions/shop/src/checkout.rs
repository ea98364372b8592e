//! The checkout: one page with the steps contact, delivery, shipping, payment and review. Each button sends the whole
//! form, and the cart on the server keeps what it says; nothing is lost by a reload, another tab, or the back button.
//! An address that is half written is no cart's: the page shows it again. It works without a script.

mod customer;
mod fields;
mod offers;
mod summary;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use crypto::seal;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::address::Needs;
use crate::cart::Cart;
use crate::countries::region_needed;
use crate::document::{SCRIPT, STYLE, public_file};
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Navigation;
use crate::notices::Notices;
use crate::policies::Policies;
use crate::shops::Shops;
use crate::values::{text, with};
use crate::visit::{Opened, Visit};
use customer::Customer;
use fields::Act;
use offers::{is_pickup, is_shipped, rates};
use view::Checkout;

pub(crate) use offers::{MANUAL, Offers, sorted};

/// The routes.
pub(crate) fn routes() -> Router<Arc<Shops>> {
    Router::new()
        .route("/checkout", get(show).post(submit))
        .route(STYLE, get(style))
        .route(SCRIPT, get(script))
        .route("/checkout/pay.js", get(pay_script))
}

async fn show(_: Navigation, visit: Visit) -> Response {
    match needs_account(&visit).await {
        Ok(true) => return to_sign_in(),
        Ok(false) => {}
        Err(fault) => return fault.into_response(),
    }
    let mut notices = Notices::default();
    match sold_cart(&visit, &mut notices).await {
        Ok(Some(cart)) => page(&visit, &cart, &Fields::default(), notices, StatusCode::OK).await,
        Ok(None) => Redirect::to("/cart").into_response(),
        Err(fault) => fault.into_response(),
    }
}

/// The visitor's cart, if anything is in it. What is not sold any more is removed, of which the page says something.
async fn sold_cart(visit: &Visit, notices: &mut Notices) -> Result<Option<Cart>, Fault> {
    let Some(cart) = visit.load_cart().await? else { return Ok(None) };
    if !cart.has_unsold() {
        return Ok(Some(cart).filter(|cart| !cart.is_empty()));
    }
    let cart = match visit.replace_lines(&cart, cart.sold_inputs()).await {
        // Another request removes them.
        Err(fault) if fault.is("precondition_failed") => visit.reload_cart(&cart).await?,
        done => done?,
    };
    notices.at("/lines", visit.words().cart_changed);
    Ok(Some(cart).filter(|cart| !cart.is_empty()))
}

/// Whether this visitor signs in before an order: the store sells to customers alone.
async fn needs_account(visit: &Visit) -> Result<bool, Fault> {
    Ok(!visit.has_session() && !visit.settings().await?.checkout.guest_checkout)
}

fn to_sign_in() -> Response {
    see_other("/account/login?return_to=/checkout")
}

/// What the address of a delivery must have; nothing where nothing is delivered.
async fn needs_of(visit: &Visit, cart: &Cart) -> Needs {
    let rate = cart.json.get("shipping_line").unwrap_or(&Value::Null);
    // Of any address, as an order needs it.
    let phone = visit.settings().await.is_ok_and(|settings| settings.checkout.require_phone);
    if !is_shipped(cart) || is_pickup(rate) {
        return Needs { phone, ..Needs::default() };
    }
    Needs { phone, ..Needs::RECIPIENT }
}

/// Notes what the form lacks, each at its field.
async fn note_missing(
    visit: &Visit,
    cart: &Cart,
    (sent, act): (&Fields, &Act),
    notices: &mut Notices,
) {
    if act.is_within_addresses() {
        return;
    }
    let (needs, words) = (needs_of(visit, cart).await, visit.words());
    let country = visit.store().country.as_str();
    let is_order = *act == Act::Place;
    for field in fields::missing(sent, &cart.json, (needs, country), is_order) {
        let of_region = field.region_of.map(|country| region_needed(&country, words));
        notices.first_at(&field.pointer, of_region.unwrap_or(words.required));
    }
}

async fn page(
    visit: &Visit,
    cart: &Cart,
    sent: &Fields,
    notices: Notices,
    status: StatusCode,
) -> Response {
    let (offers, customer, policies, needs) = tokio::join!(
        Offers::load(visit, cart),
        Customer::load(visit, cart),
        Policies::load(visit),
        needs_of(visit, cart),
    );
    let loaded = match offers {
        Ok(offers) => offers.with_first_method(visit, cart).await.map(|cart| (offers, cart)),
        Err(fault) => Err(fault),
    };
    match loaded {
        Ok((offers, cart)) => {
            let key = sent.text("key").map_or_else(seal::random_secret, str::to_owned);
            Checkout {
                visit,
                cart: &cart,
                offers: &offers,
                customer: &customer,
                policies: &policies,
                needs,
                sent,
                notices,
                key: &key,
            }
            .answer(status)
        }
        Err(fault) => fault.into_response(),
    }
}

async fn submit(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let mut notices = Notices::default();
    let cart = match sold_cart(&visit, &mut notices).await {
        Ok(Some(cart)) => cart,
        Ok(None) => return converted(&visit).await,
        Err(fault) => return fault.into_response(),
    };
    match advance(&visit, cart, &sent, notices).await {
        Ok(response) => response,
        Err(fault) => fault.into_response(),
    }
}

/// The answer to a form whose cart is an order by now: a button was pressed twice. The second press leads to the order.
async fn converted(visit: &Visit) -> Response {
    let Some(opened) = visit.cart() else { return Redirect::to("/cart").into_response() };
    let found = visit.cart_call(Method::GET, &opened, "", None).await;
    let order = found.ok().map(|cart| text(&cart.json, "order_id").to_owned());
    match order.filter(|id| !id.is_empty()) {
        Some(id) => Redirect::to(&format!("/orders/{id}")).into_response(),
        None => Redirect::to("/cart").into_response(),
    }
}

/// Stores what the form says, and does what its button means.
async fn advance(
    visit: &Visit,
    cart: Cart,
    sent: &Fields,
    mut notices: Notices,
) -> Result<Response, Fault> {
    let act = Act::of(sent);
    if let Act::Use(id) = &act {
        return delivered_to(visit, cart, (sent, id)).await;
    }
    let (cart, is_saved) = stored(visit, cart, (sent, &act), &mut notices).await?;
    note_missing(visit, &cart, (sent, &act), &mut notices).await;
    let cart = with_code(visit, cart, &act, &mut notices).await?;
    let (cart, chosen) = with_rate(visit, cart).await?;
    if act == Act::Place && chosen.is_some_and(|choice| !is_as_shown(choice, &cart, sent)) {
        notices.at("/shipping_rate_id", visit.words().errors.shipping_added);
    }
    match act {
        Act::Place if is_saved && notices.is_empty() => place(visit, &cart, sent, notices).await,
        _ if notices.is_empty()
            && act.is_within_addresses()
            && (!is_saved || is_half_written(visit, &cart, sent)) =>
        {
            Ok(page(visit, &cart, sent, notices, StatusCode::OK).await)
        }
        _ if notices.is_empty() => {
            let to = format!("/checkout#{}", act.anchor());
            Ok(see_other(&to))
        }
        _ => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(page(visit, &cart, sent, notices, status).await)
        }
    }
}

/// Stores the form with a saved address of the customer in place of the form's.
async fn delivered_to(
    visit: &Visit,
    cart: Cart,
    (sent, id): (&Fields, &str),
) -> Result<Response, Fault> {
    let Some(address) = Customer::load(visit, &cart).await.address(id) else {
        return Ok(see_other("/checkout#delivery"));
    };
    match visit.patch_cart(&cart, fields::body_with(sent, &cart.json, address)).await {
        Ok(cart) => {
            with_rate(visit, cart).await?;
            Ok(see_other("/checkout#delivery"))
        }
        Err(fault) => {
            let mut notices = Notices::default();
            notices.note(&fault, visit.words())?;
            Ok(page(visit, &cart, sent, notices, StatusCode::UNPROCESSABLE_ENTITY).await)
        }
    }
}

/// Stores what the form says; whether all of it is stored. Of addresses that may be half written nothing is said yet.
async fn stored(
    visit: &Visit,
    cart: Cart,
    (sent, act): (&Fields, &Act),
    notices: &mut Notices,
) -> Result<(Cart, bool), Fault> {
    let body = fields::body(sent, &cart.json);
    let fault = match visit.patch_cart(&cart, body.clone()).await {
        Ok(saved) => return Ok((saved, true)),
        Err(fault) => fault,
    };
    let is_of_addresses = fault.fields.iter().any(|(pointer, _)| fields::is_of_address(pointer));
    if !(is_of_addresses && act.is_within_addresses()) {
        notices.note(&fault, visit.words())?;
        return Ok((cart, false));
    }
    match visit.adjust_cart(&cart, fields::without_addresses(body)).await {
        Ok(saved) => Ok((saved, false)),
        Err(fault) => {
            notices.note(&fault, visit.words())?;
            Ok((cart, false))
        }
    }
}

fn is_half_written(visit: &Visit, cart: &Cart, sent: &Fields) -> bool {
    fields::is_half_written(sent, &cart.json, visit.store().country.as_str())
}

fn see_other(to: &str) -> Response {
    Redirect::to(to).into_response()
}

/// Applies or removes a discount code or a gift card.
async fn with_code(
    visit: &Visit,
    cart: Cart,
    act: &Act,
    notices: &mut Notices,
) -> Result<Cart, Fault> {
    let Some(attempts) = fields::codes(act, &cart.json) else { return Ok(cart) };
    let mut last = None;
    for body in attempts {
        match visit.patch_cart(&cart, body).await {
            Ok(next) if matches!(act, Act::Apply(_)) => {
                return applied(visit, (&cart, next), notices).await;
            }
            Ok(next) => return Ok(next),
            Err(fault) if fault.status == StatusCode::UNPROCESSABLE_ENTITY => last = Some(fault),
            Err(fault) => return Err(fault),
        }
    }
    if last.is_some() {
        notices.at("code", visit.words().code_unknown);
    }
    Ok(cart)
}

/// The cart with a code that was added, unless the code does not apply to it: then it is taken back, and its field says why.
async fn applied(
    visit: &Visit,
    (before, after): (&Cart, Cart),
    notices: &mut Notices,
) -> Result<Cart, Fault> {
    let known = before.json.get("discount_codes").cloned().unwrap_or_default();
    let place = known.as_array().map_or(0, Vec::len);
    let Some(fault) = after.fault_at(&format!("/discount_codes/{place}")) else { return Ok(after) };
    let of_field = (text(fault, "pointer"), text(fault, "code"));
    notices.at("code", &visit.words().of_field(of_field, text(fault, "detail")));
    visit.adjust_cart(&after, json!({ "discount_codes": known })).await
}

/// A rate that was chosen for the shopper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// There is no other one.
    Only,
    /// The cheapest of several.
    Cheapest,
}

/// Whether an order with a rate that its page did not show is the one that it showed: there is no other rate, and it adds
/// nothing to the total.
fn is_as_shown(choice: Choice, cart: &Cart, sent: &Fields) -> bool {
    let total = cart.json.pointer("/totals/total/amount").and_then(Value::as_i64);
    let shown = sent.text("total").and_then(|shown| shown.parse::<i64>().ok());
    choice == Choice::Only && shown.is_some() && shown == total
}

/// Chooses the cheapest rate where the cart says that it lacks one, or that the chosen one is none for its address; and
/// whether it did. A pickup is for the shopper to choose.
async fn with_rate(visit: &Visit, cart: Cart) -> Result<(Cart, Option<Choice>), Fault> {
    if !cart.names("/shipping_rate_id") {
        return Ok((cart, None));
    }
    let Ok(rates) = rates(visit, &cart).await else { return Ok((cart, None)) };
    let choice = if rates.len() == 1 { Choice::Only } else { Choice::Cheapest };
    match rates.iter().find(|rate| !is_pickup(rate)) {
        Some(first) => {
            let body = json!({"shipping_rate_id": text(first, "id")});
            Ok((visit.adjust_cart(&cart, body).await?, Some(choice)))
        }
        None => Ok((cart, None)),
    }
}

/// Places the order, and leads to its payment.
async fn place(
    visit: &Visit,
    cart: &Cart,
    sent: &Fields,
    mut notices: Notices,
) -> Result<Response, Fault> {
    // Another tab may have filled the cart with other things at the same price, or begun another cart.
    if sent.text("cart").is_some_and(|shown| shown != cart.digest()) {
        notices.at("/lines", visit.words().cart_changed);
        return Ok(again(visit, cart, notices).await);
    }
    let expected = sent.text("total").and_then(|total| total.parse::<i64>().ok());
    let currency = text(&cart.json, "currency");
    let mut body = json!({});
    if let Some(amount) = expected {
        body = with(body, "expected_total", json!({"amount": amount, "currency": currency}));
    }
    let path = format!("/carts/{}/checkout", crate::paths::segment(&cart.opened.id));
    let call = visit
        .call(Method::POST, &path)
        .header("x-service-cart-token", cart.opened.token.clone())
        .header("idempotency-key", sent.text("key").map(str::to_owned))
        .header("if-match", cart.version())
        .body(body);
    match visit.send(call).await {
        Ok(answer) => Ok(placed(visit, &answer.json())),
        Err(fault) if fault.is("cart_converted") => Ok(converted(visit).await),
        Err(fault) if fault.is("account_required") => Ok(to_sign_in()),
        Err(fault) if fault.is("precondition_failed") => match visit.load_cart().await? {
            Some(cart) => {
                notices.at("/lines", visit.words().cart_changed);
                Ok(again(visit, &cart, notices).await)
            }
            None => Ok(converted(visit).await),
        },
        Err(fault) => {
            notices.note(&fault, visit.words())?;
            let cart = visit.load_cart().await?.unwrap_or_else(|| cart.clone());
            Ok(again(visit, &cart, notices).await)
        }
    }
}

/// The page after an order that was not placed. The next attempt is another one, with a key of its own.
async fn again(visit: &Visit, cart: &Cart, notices: Notices) -> Response {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    page(visit, cart, &Fields::default(), notices, status).await
}

/// Leads to the order: the cart is over, and the order's token opens it for this browser.
fn placed(visit: &Visit, placed: &Value) -> Response {
    let order = placed.get("order").cloned().unwrap_or_default();
    let id = text(&order, "id").to_owned();
    let needs_payment = placed.get("payment_required").and_then(Value::as_bool).unwrap_or(false);
    let to = if needs_payment { format!("/orders/{id}/pay") } else { format!("/orders/{id}") };
    let opened = Opened { id, token: Some(text(placed, "order_token").to_owned()) };
    // The cart's cookie stays: a second press of the button finds its order.
    visit.with_order(see_other(&to), &opened)
}

/// The style sheet with the store's colors. The page that says that there is no shop is read, too.
async fn style(visit: Result<Visit, Response>) -> Response {
    let colors = visit.map(|visit| crate::look::colors_of(visit.store())).unwrap_or_default();
    public_file(
        "text/css; charset=utf-8",
        format!("{}{colors}", include_str!("checkout/style.css")),
    )
}

async fn script() -> Response {
    public_file("text/javascript; charset=utf-8", include_str!("checkout/script.js"))
}

async fn pay_script() -> Response {
    public_file("text/javascript; charset=utf-8", include_str!("checkout/pay.js"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_was_not_shown_is_ordered_only_if_it_is_the_one_and_free() {
        let opened = Opened { id: "crt_1".to_owned(), token: None };
        let cart = Cart { opened, json: json!({"totals": {"total": {"amount": 500}}}) };
        let is_shown =
            |choice, sent: &str| is_as_shown(choice, &cart, &Fields::of_query(sent.as_bytes()));
        assert!(is_shown(Choice::Only, "total=500"));
        assert!(!is_shown(Choice::Only, "total=400") && !is_shown(Choice::Only, ""));
        assert!(!is_shown(Choice::Cheapest, "total=500"));
    }
}
