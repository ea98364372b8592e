//! The payment of an order: the provider's own fields in the page, so that nothing of a card reaches this system. Where
//! providers are played, a page of theirs takes the place of their script.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderValue, Method, StatusCode, header};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::shown::ShownOrder;
use super::view;
use crate::checkout::sorted;
use crate::fault::Fault;
use crate::form::{Fields, Query};
use crate::frame::{Navigation, Page};
use crate::paths::segment;
use crate::values::{items, money, text, with};
use crate::visit::Visit;
use crate::words::{Words, fill};

/// Where Stripe's own API is; anything else is a played provider.
const STRIPE: &str = "https://api.stripe.com";
/// Where Razorpay's own API is.
const RAZORPAY: &str = "https://api.razorpay.com";

/// `GET /orders/{id}/pay`: opens the payment, or continues an open one; `?provider=…` pays in another way than was chosen.
pub(super) async fn show(
    _: Navigation,
    Path(id): Path<String>,
    Query(query): Query,
    visit: Visit,
) -> Response {
    // A link of another site changes nothing.
    let wanted = query.text("provider").filter(|_| !visit.is_from_elsewhere);
    match opened(&visit, &id, wanted).await {
        Ok(response) => response,
        Err(fault) => fault.into_response(),
    }
}

fn to_order(id: &str) -> Response {
    Redirect::to(&format!("/orders/{}", segment(id))).into_response()
}

async fn opened(visit: &Visit, id: &str, wanted: Option<&str>) -> Result<Response, Fault> {
    let order = visit.load_order_now(id).await?;
    if !order.json.get("payment_required").and_then(Value::as_bool).unwrap_or(false) {
        return Ok(to_order(id));
    }
    let provider = match wanted {
        Some(wanted) => wanted.to_owned(),
        None => provider(visit, &order).await?,
    };
    let back = format!("{}/orders/{}/return", visit.origin, segment(id));
    let body = json!({ "order_id": id });
    let path = format!("/payments/{}/order", segment(&provider));
    let call = visit.order_call(Method::POST, id, &path).body(body);
    match visit.send(call).await {
        Ok(answer) => Ok(paying(visit, &order, &provider, &answer.json(), &back)),
        Err(fault) if fault.status == StatusCode::CONFLICT => {
            Ok(view::page(visit, &order, Some(fault.said(visit.words())), StatusCode::CONFLICT)
                .await)
        }
        Err(fault) => Err(fault),
    }
}

/// The provider that the shopper has chosen, or else the shop's first.
async fn provider(visit: &Visit, order: &ShownOrder) -> Result<String, Fault> {
    let chosen = text(&order.json, "payment_provider");
    if !chosen.is_empty() {
        return Ok(chosen.to_owned());
    }
    let methods = sorted(items(&visit.get("/payments/methods").await?));
    let first = methods.first().map(|method| text(method, "provider").to_owned());
    first.ok_or_else(Fault::not_found)
}

/// The page on which a payment is made; a manual one needs none.
fn paying(
    visit: &Visit,
    order: &ShownOrder,
    provider: &str,
    payment: &Value,
    back: &str,
) -> Response {
    let urls = &visit.shops.app.config.payment_base_urls;
    match provider {
        "stripe" if urls.stripe == STRIPE => stripe(visit, order, payment, back),
        "razorpay" if urls.razorpay == RAZORPAY => razorpay(visit, order, payment, back),
        "stripe" => played(visit, &urls.stripe, "stripe", payment, back),
        "razorpay" => played(visit, &urls.razorpay, "razorpay", payment, back),
        _ => to_order(&order.id),
    }
}

/// Leads to the page of a played provider, as a bank's page is led to. Not by a redirect: a browser lets a form lead to its
/// own origin alone (`form-action`), and this page follows one.
fn played(visit: &Visit, base: &str, provider: &str, payment: &Value, back: &str) -> Response {
    let root = base.strip_suffix(&format!("/{provider}")).unwrap_or(base);
    let reference = segment(text(payment, "provider_order_id"));
    let back: String = form_urlencoded::byte_serialize(back.as_bytes()).collect();
    let to = format!("{root}/sandbox/{provider}/checkout/{reference}?return_url={back}");
    let words = visit.words();
    let content = html! {
        h1 { (words.payment) }
        p { (words.paid_elsewhere) }
        p { a.button.primary id="to-provider" href=(to) { (words.to_payment) } }
    };
    let mut response = Page::new(visit, words.payment, content).answer(StatusCode::OK);
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={to}")) {
        response.headers_mut().insert(header::REFRESH, refresh);
    }
    response
}

/// A page that loads a provider's script, and the policy that lets it.
fn with_script(
    visit: &Visit,
    order: &ShownOrder,
    (content, script, sources): (Markup, &str, &str),
) -> Response {
    let due = order.json.get("outstanding").cloned().unwrap_or_default();
    let words = visit.words();
    let content = html! {
        h1 { (fill(words.pay_amount, &[("amount", money(&due))])) }
        (content)
        p.error id="pay-error" role="alert" {}
        noscript { p { (words.need_scripts) } }
        p { a href={ "/orders/" (order.id) } { (words.back_to_order) } }
        script src=(script) defer {}
        script src="/checkout/pay.js" defer {}
    };
    let policy = format!(
        "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' https: data:; \
         script-src 'self' {sources}; frame-src {sources}; connect-src 'self' {sources}; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    Page { policy: Some(policy), ..Page::new(visit, words.payment, content) }.answer(StatusCode::OK)
}

fn stripe(visit: &Visit, order: &ShownOrder, payment: &Value, back: &str) -> Response {
    let client = payment.get("client").cloned().unwrap_or_default();
    let content = html! {
        form id="stripe" data-key=(text(&client, "key_id")) data-secret=(text(&client, "client_secret")) data-return=(back) {
            div id="payment-element" {}
            button.primary { (visit.words().pay) }
        }
    };
    let sources = "https://js.stripe.com https://hooks.stripe.com https://api.stripe.com";
    with_script(visit, order, (content, "https://js.stripe.com/v3/", sources))
}

fn razorpay(visit: &Visit, order: &ShownOrder, payment: &Value, back: &str) -> Response {
    let options = payment.pointer("/client/options").cloned().unwrap_or_default();
    let content = html! {
        form id="razorpay" method="post" action=(back) data-options=(options.to_string()) {
            @for name in ["razorpay_order_id", "razorpay_payment_id", "razorpay_signature"] {
                input type="hidden" name=(name);
            }
            button.primary type="button" { (visit.words().pay) }
        }
    };
    let sources = "https://checkout.razorpay.com https://api.razorpay.com https://*.razorpay.com";
    with_script(visit, order, (content, "https://checkout.razorpay.com/v1/checkout.js", sources))
}

/// `GET /orders/{id}/return`: back from Stripe, or from a bank's page.
pub(super) async fn returned(
    _: Navigation,
    Path(id): Path<String>,
    Query(query): Query,
    visit: Visit,
) -> Response {
    verified(&visit, &id, &query).await
}

/// `POST /orders/{id}/return`: what Razorpay's script hands over.
pub(super) async fn returned_by_form(
    _: Navigation,
    Path(id): Path<String>,
    visit: Visit,
    fields: Fields,
) -> Response {
    verified(&visit, &id, &fields).await
}

/// What is said of a return without a payment: whether it was declined, or left.
fn failure(fields: &Fields, words: &Words) -> Option<&'static str> {
    match (fields.text("redirect_status"), fields.text("error")) {
        (Some("failed"), _) | (_, Some("payment_failed")) => Some(words.declined),
        _ if fields.has("error") => Some(words.not_paid),
        _ => None,
    }
}

/// Asks the provider what became of the payment. Nothing that the browser says is believed.
async fn verified(visit: &Visit, id: &str, fields: &Fields) -> Response {
    let names =
        ["razorpay_order_id", "razorpay_payment_id", "razorpay_signature", "payment_intent"];
    let mut body = json!({ "order_id": id });
    for name in names {
        if let Some(value) = fields.text(name) {
            body = with(body, name, value);
        }
    }
    let provider = if fields.has("payment_intent") { "stripe" } else { "razorpay" };
    let is_return = fields.has("payment_intent") || fields.has("razorpay_payment_id");
    if is_return {
        let path = format!("/payments/{provider}/verify");
        let call = visit.order_call(Method::POST, id, &path).body(body);
        if let Err(fault) = visit.send(call).await {
            // The provider's webhook decides it, if it cannot be asked now.
            tracing::warn!(code = %fault.code, "payment not verified at the return");
        }
    }
    let notice = failure(fields, visit.words());
    // The address may be an old one of the browser's history: the order knows whether it is paid by now.
    match (notice, visit.load_order_now(id).await) {
        (Some(notice), Ok(order)) if view::allows(&order.json, "pay") => {
            view::page(visit, &order, Some(notice), StatusCode::OK).await
        }
        _ => to_order(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declined_payment_is_told_from_one_that_was_left() {
        let words = Words::english();
        for (query, said) in [
            ("payment_intent=pi_1&redirect_status=failed", Some(words.declined)),
            ("error=payment_failed", Some(words.declined)),
            ("error=abandoned", Some(words.not_paid)),
            ("payment_intent=pi_1&redirect_status=succeeded", None),
        ] {
            assert_eq!(failure(&Fields::of_query(query.as_bytes()), words), said, "{query}");
        }
    }
}
