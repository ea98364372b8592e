//! The page on which a customer pays at a played provider: it takes the place of the provider's own fields in the shop,
//! and leads back as a bank's page does. `/sandbox/{stripe,razorpay}/checkout/{id}?return_url=…`

use axum::response::{Html, IntoResponse, Redirect, Response};
use form_urlencoded::{Serializer, parse};
use http::{StatusCode, header};
use maud::{DOCTYPE, Markup, html};
use primitives::clock::Timestamp;
use serde_json::Value;

use crate::providers::ledger::Ledger;

/// Nothing but the page itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";
const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:2rem auto;padding:0 1rem;\
     color:#1b1d20;background:#fff}button{font:inherit;font-weight:600;display:block;width:100%;padding:.8rem;margin:.6rem 0;\
     border:1px solid #1f4fbf;border-radius:.5rem;background:#fff;color:#1f4fbf;cursor:pointer}\
     button:first-of-type{background:#1f4fbf;color:#fff}p{color:#565d66}:focus-visible{outline:3px solid #1f4fbf;outline-offset:2px}";

/// Whether a path below `/sandbox` is this page's: the provider, and the id of the intent or the order.
pub(super) fn is_checkout<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
    match path {
        [provider @ ("stripe" | "razorpay"), "checkout", id] => Some((provider, id)),
        _ => None,
    }
}

/// Answers a request of the page: a choice, or the choices.
pub(super) fn answer(
    ledger: &mut Ledger,
    (provider, id): (&str, &str),
    (query, body): (&str, &str),
    now: Timestamp,
) -> Response {
    let value = |text: &str, name: &str| {
        let mut pairs = parse(text.as_bytes()).filter(|(key, _)| key == name);
        pairs.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let back = value(query, "return_url");
    let is_url = ["http://", "https://"].iter().any(|scheme| back.starts_with(scheme));
    let known = match provider {
        "stripe" => ledger.stripe.intents(),
        _ => ledger.razorpay.orders(),
    };
    let Some(due) = known.into_iter().find(|one| one.get("id").is_some_and(|it| it == id)) else {
        return page(StatusCode::NOT_FOUND, &html! { h1 { "There is no such payment" } });
    };
    match value(body, "choice").as_str() {
        "" if is_url => choices(provider, &due),
        "" => page(StatusCode::BAD_REQUEST, &html! { h1 { "The shop has named no way back" } }),
        "3ds" => confirmation(),
        choice => match chosen(ledger, (provider, id), choice, now) {
            Ok(pairs) => {
                let joint = if back.contains('?') { '&' } else { '?' };
                let pairs = Serializer::new(String::new()).extend_pairs(pairs).finish();
                Redirect::to(&format!("{back}{joint}{pairs}")).into_response()
            }
            Err(detail) => page(
                StatusCode::CONFLICT,
                &html! { h1 { "This payment cannot be made any more" } p { (detail) } p { a href=(back) { "Back to the shop" } } },
            ),
        },
    }
}

/// Does what the customer has chosen. Returns the parameters of the way back.
fn chosen(
    ledger: &mut Ledger,
    (provider, id): (&str, &str),
    choice: &str,
    now: Timestamp,
) -> Result<Vec<(&'static str, String)>, String> {
    let intent = || ("payment_intent", id.to_owned());
    let status = |word: &str| vec![intent(), ("redirect_status", word.to_owned())];
    let failed = |rejection: crate::providers::ProviderRejection| rejection.body.to_string();
    match (provider, choice) {
        ("stripe", "pay") => {
            ledger.stripe.pay(id, now).map(|_| status("succeeded")).map_err(failed)
        }
        ("stripe", "debit") => {
            ledger.stripe.debit(id, now).map(|_| status("succeeded")).map_err(failed)
        }
        ("stripe", "decline") => {
            ledger.stripe.decline(id, now).map(|_| status("failed")).map_err(failed)
        }
        ("razorpay", "pay") => {
            let paid = ledger.razorpay.pay(id, None, now).map_err(failed)?;
            let names = ["razorpay_order_id", "razorpay_payment_id", "razorpay_signature"];
            let text = |name: &str| paid.get(name).and_then(Value::as_str).unwrap_or_default();
            Ok(names.into_iter().map(|name| (name, text(name).to_owned())).collect())
        }
        ("razorpay", "decline") => {
            ledger.razorpay.fail(id, now).map_err(failed)?;
            Ok(vec![("error", "payment_failed".to_owned())])
        }
        _ => Ok(vec![("error", "abandoned".to_owned())]),
    }
}

fn choices(provider: &str, due: &Value) -> Response {
    let amount = due.get("amount").and_then(Value::as_i64).unwrap_or_default();
    let currency = due.get("currency").and_then(Value::as_str).unwrap_or_default().to_uppercase();
    let is_stripe = provider == "stripe";
    let content = html! {
        h1 { "A played payment" }
        p { "No money moves. In a deployment the provider's own fields are in the shop's page. To pay: "
            strong { (amount) " " (currency) } ", in minor units." }
        form method="post" {
            button name="choice" value="pay" { "Pay" }
            button name="choice" value="3ds" { "Pay with 3-D Secure" }
            button name="choice" value="decline" { "Pay with a card that is declined" }
            @if is_stripe { button name="choice" value="debit" { "Pay by bank debit, which takes days" } }
            button name="choice" value="abandon" { "Leave without paying" }
        }
    };
    page(StatusCode::OK, &content)
}

/// The page of the customer's bank.
fn confirmation() -> Response {
    let content = html! {
        h1 { "Your bank asks: is it you?" }
        form method="post" {
            button name="choice" value="pay" { "Approve" }
            button name="choice" value="decline" { "Reject" }
        }
    };
    page(StatusCode::OK, &content)
}

fn page(status: StatusCode, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Played payment" }
                link rel="icon" href="data:,";
                style { (maud::PreEscaped(STYLE)) }
            }
            body { main { (content) } }
        }
    };
    let headers = [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CACHE_CONTROL, "no-store")];
    (status, headers, Html(page.into_string())).into_response()
}
