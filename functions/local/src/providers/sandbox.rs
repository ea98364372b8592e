//! The actions of people at a provider: a customer pays in its script, a merchant enters an endpoint on its
//! dashboard. They need no authentication, because the server listens on loopback.
//!
//! | Request | Response, or body |
//! | --- | --- |
//! | `POST /sandbox/razorpay/orders/{id}/pay` | what the script gives the browser |
//! | `POST /sandbox/razorpay/orders/{id}/fail` | the error that the script gives the browser |
//! | `POST /sandbox/razorpay/orders/{id}/pay_again` | the second payment, refunded automatically |
//! | `POST /sandbox/razorpay/payments/{id}/lapse` | the uncaptured payment, refunded automatically |
//! | `GET`, `POST /sandbox/{razorpay,stripe}/checkout/{id}?return_url=…` | the customer's page ([`super::pages`]) |
//! | `POST /sandbox/stripe/payment_intents/{id}/pay` | the intent as the browser sees it |
//! | `POST /sandbox/stripe/payment_intents/{id}/fail` | the card error |
//! | `POST /sandbox/stripe/payment_intents/{id}/debit` | the intent; the customer's bank answers later |
//! | `POST /sandbox/stripe/payment_intents/{id}/{settle,return}` | the intent; their bank pays the debit, or not |
//! | `POST /sandbox/razorpay/payments/{id}/dispute` | a bank's dispute; `{"amount", "currency", "inquiry"}` |
//! | `POST /sandbox/stripe/payment_intents/{id}/dispute` | the same |
//! | `POST /sandbox/{razorpay,stripe}/disputes/{id}/{win,lose,close,ask_again,escalate}` | the dispute |
//! | `POST /sandbox/{razorpay,stripe}/webhook_endpoints` | `{"url", "secret"}`, on loopback |

use http::StatusCode;
use primitives::clock::Timestamp;
use serde_json::{Value, json};

use crate::providers::call::{ApiResult, ProviderCall, ProviderRejection};
use crate::providers::disputes::{NewDispute, Verdict};
use crate::providers::ledger::Ledger;
use crate::providers::webhook::Provider;
use crate::providers::{razorpay, stripe};

/// The status of a successful request below `/sandbox`.
pub(crate) fn success(path: &[&str]) -> StatusCode {
    if path.contains(&"webhook_endpoints") { StatusCode::CREATED } else { StatusCode::OK }
}

/// Executes a request below `/sandbox`.
pub(crate) fn act(
    ledger: &mut Ledger,
    call: &ProviderCall,
    path: &[&str],
    now: Timestamp,
) -> ApiResult {
    match (call.method.as_str(), path) {
        ("POST", ["razorpay", "orders", id, "pay"]) => ledger.razorpay.pay(id, None, now),
        ("POST", ["razorpay", "orders", id, "fail"]) => {
            let failed = ledger.razorpay.fail(id, now)?;
            Err(razorpay::payment_failed(&failed))
        }
        ("POST", ["razorpay", "orders", id, "pay_again"]) => ledger.razorpay.pay_again(id, now),
        ("POST", ["razorpay", "payments", id, "lapse"]) => ledger.razorpay.lapse(id, now),
        ("POST", ["stripe", "payment_intents", id, "pay"]) => ledger.stripe.pay(id, now),
        ("POST", ["stripe", "payment_intents", id, "fail"]) => {
            let failed = ledger.stripe.decline(id, now)?;
            Err(stripe::card_declined(&failed))
        }
        ("POST", ["stripe", "payment_intents", id, "debit"]) => ledger.stripe.debit(id, now),
        ("POST", ["stripe", "payment_intents", id, word @ ("settle" | "return")]) => {
            ledger.stripe.end_debit(id, *word == "settle", now)
        }
        ("POST", ["razorpay", "payments", id, "dispute"]) => {
            ledger.razorpay.dispute(id, &NewDispute::parse(&call.body), now)
        }
        ("POST", ["stripe", "payment_intents", id, "dispute"]) => {
            ledger.stripe.dispute(id, &NewDispute::parse(&call.body), now)
        }
        ("POST", [provider @ ("razorpay" | "stripe"), "disputes", id, word]) => {
            match (Verdict::named(word), *provider) {
                (Some(verdict), "razorpay") => ledger.razorpay.decide_dispute(id, verdict, now),
                (Some(verdict), _) => ledger.stripe.decide_dispute(id, verdict, now),
                (None, _) => Err(nothing()),
            }
        }
        ("POST", ["razorpay", "webhook_endpoints"]) => {
            let (url, secret) = endpoint(&call.body);
            ledger.register(Provider::Razorpay, &url, &secret)
        }
        ("POST", ["stripe", "webhook_endpoints"]) => {
            let (url, secret) = endpoint(&call.body);
            ledger.register(Provider::Stripe, &url, &secret)
        }
        _ => Err(nothing()),
    }
}

fn nothing() -> ProviderRejection {
    let error = json!({"code": "not_found", "message": "The sandbox has no such thing."});
    ProviderRejection::new(StatusCode::NOT_FOUND, &error)
}

/// The URL and secret of a request; a missing one is empty, and rejected later.
fn endpoint(body: &str) -> (String, String) {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |name| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("url"), text("secret"))
}
