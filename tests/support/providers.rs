//! Payment providers on loopback: a server that speaks as much of Razorpay's and of Stripe's API
//! as a shop needs, after their public documentation, and does what a test wants: it is late, it
//! fails, it refuses, and it says things twice, late, or in somebody else's name.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gateway::clock::Timestamp;
use gateway::config::PaymentBaseUrls;
use gateway::signature::hmac_sha256_hex;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::{Ask, Client};

/// The account's keys, as a merchant types them in.
pub const RAZORPAY_KEY_ID: &str = "rzp_test_1DP5mmOlF5G5ag";
pub const RAZORPAY_SECRET: &str = "thiIsNotTheRealSecret42";
pub const STRIPE_KEY_ID: &str = "pk_test_TYooMQauvdEDq54NiTphI7jx";
pub const STRIPE_SECRET: &str = "sk_test_4eC39HqLyjWDarjtT1zdp7dc";
/// What both sign webhooks with.
pub const WEBHOOK_SECRET: &str = "whsec_from_the_provider_9f2b";

/// How long the shop waits for a provider in a test.
pub const DEADLINE: Duration = Duration::from_millis(400);

/// What happens to a call instead of what it asks for.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// It is never answered, and not done.
    Hang,
    /// It is done, and never answered.
    DoneButLate,
    /// This status, with an error of this code.
    Refuse(u16, &'static str),
}

/// A call as the provider got it.
#[derive(Debug, Clone)]
pub struct ProviderCall {
    pub method: String,
    pub path: String,
    /// Stripe's `Idempotency-Key`, Razorpay's `X-Refund-Idempotency`.
    pub key: Option<String>,
    pub body: String,
}

#[derive(Debug, Default)]
struct Books {
    number: u32,
    calls: Vec<ProviderCall>,
    troubles: VecDeque<Trouble>,
    /// Razorpay's orders: whether they are captured automatically.
    orders: HashMap<String, Value>,
    /// Razorpay's payments and Stripe's intents.
    payments: HashMap<String, Value>,
    refunds: HashMap<String, Value>,
    /// Answers by idempotency key.
    answered: HashMap<String, Value>,
}

type Shared = Arc<Mutex<Books>>;

/// The server. Dropping it ends it.
pub struct Providers {
    url: String,
    books: Shared,
    _task: JoinSet<()>,
}

impl Providers {
    pub async fn start() -> Self {
        let books = Shared::default();
        let router = Router::new()
            .route("/v1/orders", post(order))
            .route("/v1/orders/{id}/payments", get(payments_of_order))
            .route("/v1/payments", get(any_list))
            .route("/v1/payments/{id}/capture", post(capture_payment))
            .route("/v1/payments/{id}/refund", post(refund_payment))
            .route("/v1/balance", get(any_list))
            .route("/v1/payment_intents", post(intent))
            .route("/v1/payment_intents/{id}", get(show_intent))
            .route("/v1/payment_intents/{id}/capture", post(capture_intent))
            .route("/v1/payment_intents/{id}/cancel", post(cancel_intent))
            .route("/v1/refunds", post(refund_intent))
            .layer(axum::middleware::from_fn_with_state(Arc::clone(&books), front_desk))
            .with_state(Arc::clone(&books));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut task = JoinSet::new();
        task.spawn(async move {
            axum::serve(listener, router).await.expect("the providers serve");
        });
        Self { url, books, _task: task }
    }

    /// What a system takes to reach them.
    pub fn base_urls(&self) -> PaymentBaseUrls {
        let (razorpay, stripe) = (self.url.clone(), self.url.clone());
        PaymentBaseUrls { razorpay, stripe, deadline: DEADLINE }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("no test panicked in here")
    }

    /// The next calls get this, one each; then all is well again.
    pub fn next(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.books().troubles.extend(troubles);
    }

    /// The calls so far whose path ends like this.
    pub fn calls(&self, ending: &str) -> Vec<ProviderCall> {
        let mut calls = self.books().calls.clone();
        calls.retain(|call| call.path.ends_with(ending));
        calls
    }

    /// The refunds there are.
    pub fn refunds(&self) -> Vec<Value> {
        self.books().refunds.values().cloned().collect()
    }

    /// A payment or an intent, as the provider sees it.
    pub fn payment(&self, id: &str) -> Value {
        self.books().payments[id].clone()
    }

    /// The customer pays a Razorpay order; the payment's id.
    pub fn pay_razorpay(&self, order: &str) -> String {
        let amount = self.books().orders[order]["amount"].as_i64().unwrap();
        self.pay_razorpay_with(order, amount)
    }

    /// The customer pays another amount than the order's, as no provider should let them.
    pub fn pay_razorpay_with(&self, order: &str, amount: i64) -> String {
        let mut books = self.books();
        let automatic = books.orders[order]["payment"]["capture"] == "automatic";
        let status = if automatic { "captured" } else { "authorized" };
        let currency = books.orders[order]["currency"].clone();
        let id = books.mint("pay_");
        let payment = json!({
            "id": id, "entity": "payment", "amount": amount, "currency": currency,
            "status": status, "order_id": order, "method": "upi", "captured": automatic,
            "amount_refunded": 0, "refund_status": null, "error_code": null,
            "email": "shopper@example.com", "contact": "+919999999999",
        });
        books.payments.insert(id.clone(), payment);
        id
    }

    /// The customer's attempt to pay a Razorpay order fails.
    pub fn fail_razorpay(&self, order: &str) -> String {
        let id = self.pay_razorpay(order);
        let mut books = self.books();
        let payment = books.payments.get_mut(&id).unwrap();
        payment["status"] = "failed".into();
        payment["captured"] = false.into();
        payment["error_code"] = "BAD_REQUEST_ERROR".into();
        drop(books);
        id
    }

    /// What Razorpay's script hands the customer's browser.
    pub fn razorpay_return(order_id: &str, reference: &str, payment: &str) -> Value {
        let parts = [reference.as_bytes(), b"|", payment.as_bytes()];
        json!({
            "order_id": order_id,
            "razorpay_order_id": reference,
            "razorpay_payment_id": payment,
            "razorpay_signature": hmac_sha256_hex(RAZORPAY_SECRET.as_bytes(), &parts),
        })
    }

    /// Razorpay's event about a payment, as it is now.
    pub fn razorpay_event(&self, kind: &str, payment: &str) -> Webhook {
        let body = json!({
            "entity": "event", "account_id": "acc_BFQ7uQEaa7j2z7", "event": kind,
            "contains": ["payment"], "payload": {"payment": {"entity": self.payment(payment)}},
            "created_at": 1_567_674_606,
        });
        let body = body.to_string().into_bytes();
        let signature = hmac_sha256_hex(WEBHOOK_SECRET.as_bytes(), &[&body]);
        let id = self.books().mint("evt");
        let headers = vec![("x-razorpay-signature", signature), ("x-razorpay-event-id", id)];
        Webhook { provider: "razorpay", body, headers }
    }

    /// The customer pays a Stripe intent.
    pub fn pay_stripe(&self, intent: &str) {
        let mut books = self.books();
        let charge = books.mint("ch_");
        let intent = books.payments.get_mut(intent).expect("the intent");
        let amount = intent["amount"].clone();
        let automatic = intent["capture_method"] == "automatic";
        intent["last_payment_error"] = Value::Null;
        intent["latest_charge"] = json!({
            "id": charge, "object": "charge", "amount": amount, "currency": intent["currency"],
            "payment_intent": intent["id"], "captured": automatic, "amount_refunded": 0,
            "amount_captured": if automatic { amount.clone() } else { 0.into() },
            "payment_method_details": {"type": "card"},
        });
        let (status, field) = if automatic {
            ("succeeded", "amount_received")
        } else {
            ("requires_capture", "amount_capturable")
        };
        intent["status"] = status.into();
        intent[field] = amount;
    }

    /// The customer's card is declined.
    pub fn decline_stripe(&self, intent: &str) {
        let mut books = self.books();
        let intent = books.payments.get_mut(intent).expect("the intent");
        intent["status"] = "requires_payment_method".into();
        intent["last_payment_error"] =
            json!({"code": "card_declined", "decline_code": "insufficient_funds"});
    }

    /// Stripe's event about an intent, as it is now, signed at this time.
    pub fn stripe_event(&self, kind: &str, intent: &str, now: Timestamp) -> Webhook {
        let mut object = self.payment(intent);
        if let Some(charge) = object["latest_charge"]["id"].as_str().map(str::to_owned) {
            // Events carry ids where a look-up may be asked to expand them.
            object["latest_charge"] = charge.into();
        }
        let id = self.books().mint("evt_");
        let body = json!({
            "id": id, "object": "event", "type": kind, "api_version": "2024-06-20",
            "created": now.seconds(), "livemode": false, "data": {"object": object},
        });
        Webhook::stripe(body.to_string().into_bytes(), now.seconds(), WEBHOOK_SECRET)
    }
}

/// A webhook on its way.
#[derive(Debug, Clone)]
pub struct Webhook {
    pub provider: &'static str,
    pub body: Vec<u8>,
    pub headers: Vec<(&'static str, String)>,
}

impl Webhook {
    /// A body with Stripe's signature.
    pub fn stripe(body: Vec<u8>, seconds: i64, secret: &str) -> Self {
        let time = seconds.to_string();
        let signature = hmac_sha256_hex(secret.as_bytes(), &[time.as_bytes(), b".", &body]);
        let header = format!("t={time},v1={signature},v0=none");
        Self { provider: "stripe", body, headers: vec![("stripe-signature", header)] }
    }

    /// Sends it to a shop.
    pub fn send(&self, client: &Client, subdomain: &str) -> Ask {
        let path = format!("/v1/storefront/{subdomain}/payments/{}/webhook", self.provider);
        let ask = client.post(&path).header("content-type", "application/json");
        let ask = ask.body(self.body.clone());
        self.headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value))
    }
}

impl Books {
    fn mint(&mut self, prefix: &str) -> String {
        self.number += 1;
        format!("{prefix}{:014}", self.number)
    }
}

/// Who may come in, what they asked for, and what gets in their way.
async fn front_desk(
    State(books): State<Shared>,
    request: axum::extract::Request,
    next: axum::middleware::Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let text = |name: &str| parts.headers.get(name).map(|v| v.to_str().unwrap().to_owned());
    let call = ProviderCall {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        key: text("idempotency-key").or_else(|| text("x-refund-idempotency")),
        body: String::from_utf8(body.to_vec()).expect("a text"),
    };
    let trouble = {
        let mut books = books.lock().unwrap();
        books.calls.push(call.clone());
        books.troubles.pop_front()
    };
    if !is_known(&parts.headers, &call.path) {
        return refuse(401, "authentication_failed");
    }
    match trouble {
        Some(Trouble::Hang) => std::future::pending().await,
        Some(Trouble::Refuse(status, code)) => return refuse(status, code),
        Some(Trouble::DoneButLate) | None => {}
    }
    let is_late = matches!(trouble, Some(Trouble::DoneButLate));
    let known = call.key.as_ref().and_then(|key| {
        books.lock().unwrap().answered.get(&format!("{} {key}", call.path)).cloned()
    });
    let response = if let Some(answer) = known {
        axum::Json(answer).into_response()
    } else {
        let request = axum::extract::Request::from_parts(parts, body.into());
        let response = next.run(request).await;
        remember(&books, &call, response).await
    };
    if is_late {
        std::future::pending::<()>().await;
    }
    response
}

async fn remember(books: &Shared, call: &ProviderCall, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    if let (Some(key), true) = (&call.key, parts.status.is_success()) {
        let answer = serde_json::from_slice(&body).expect("JSON");
        books.lock().unwrap().answered.insert(format!("{} {key}", call.path), answer);
    }
    Response::from_parts(parts, body.into())
}

fn is_known(headers: &HeaderMap, path: &str) -> bool {
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    let stripe = ["/v1/payment_intents", "/v1/refunds", "/v1/balance"];
    let expected = if stripe.iter().any(|prefix| path.starts_with(prefix)) {
        format!("Bearer {STRIPE_SECRET}")
    } else {
        let pair = format!("{RAZORPAY_KEY_ID}:{RAZORPAY_SECRET}");
        format!("Basic {}", BASE64_STANDARD.encode(pair))
    };
    given == Some(&expected)
}

/// Both put the code at `error.code`.
fn refuse(status: u16, code: &str) -> Response {
    let error = json!({"error": {
        "type": "invalid_request_error", "code": code,
        "description": "A sentence that is not for customers.",
        "message": "A sentence that is not for customers.",
    }});
    (StatusCode::from_u16(status).unwrap(), axum::Json(error)).into_response()
}

fn answer(value: &Value) -> Response {
    axum::Json(value.clone()).into_response()
}

fn form(body: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(body.as_bytes()).into_owned().collect()
}

async fn any_list() -> Response {
    answer(&json!({"entity": "collection", "object": "balance", "count": 0, "items": []}))
}

// Razorpay.

async fn order(State(books): State<Shared>, body: String) -> Response {
    let ask: Value = serde_json::from_str(&body).expect("JSON");
    let mut books = books.lock().unwrap();
    let id = books.mint("order_");
    let order = json!({
        "id": id, "entity": "order", "amount": ask["amount"], "amount_paid": 0,
        "amount_due": ask["amount"], "currency": ask["currency"], "receipt": ask["receipt"],
        "status": "created", "attempts": 0, "notes": ask["notes"], "payment": ask["payment"],
    });
    books.orders.insert(id, order.clone());
    answer(&order)
}

async fn payments_of_order(State(books): State<Shared>, Path(id): Path<String>) -> Response {
    let books = books.lock().unwrap();
    let ours = books.payments.values().filter(|payment| payment["order_id"] == id.as_str());
    let items: Vec<Value> = ours.cloned().collect();
    answer(&json!({"entity": "collection", "count": items.len(), "items": items}))
}

async fn capture_payment(
    State(books): State<Shared>,
    Path(id): Path<String>,
    body: String,
) -> Response {
    let ask: Value = serde_json::from_str(&body).expect("JSON");
    let mut books = books.lock().unwrap();
    let Some(payment) = books.payments.get_mut(&id) else { return refuse(400, "bad_id") };
    if payment["status"] != "authorized" || payment["amount"] != ask["amount"] {
        return refuse(400, "BAD_REQUEST_ERROR");
    }
    payment["status"] = "captured".into();
    payment["captured"] = true.into();
    answer(payment)
}

async fn refund_payment(
    State(books): State<Shared>,
    Path(id): Path<String>,
    body: String,
) -> Response {
    let ask: Value = serde_json::from_str(&body).expect("JSON");
    let mut books = books.lock().unwrap();
    let refund_id = books.mint("rfnd_");
    let Some(payment) = books.payments.get_mut(&id) else { return refuse(400, "bad_id") };
    let amount = ask["amount"].as_i64().unwrap();
    let refunded = payment["amount_refunded"].as_i64().unwrap() + amount;
    if payment["captured"] != true || refunded > payment["amount"].as_i64().unwrap() {
        return refuse(400, "BAD_REQUEST_ERROR");
    }
    payment["amount_refunded"] = refunded.into();
    if refunded == payment["amount"].as_i64().unwrap() {
        payment["status"] = "refunded".into();
    }
    let refund = json!({
        "id": refund_id, "entity": "refund", "amount": amount, "payment_id": id,
        "status": "processed", "notes": ask["notes"],
    });
    books.refunds.insert(refund_id, refund.clone());
    answer(&refund)
}

// Stripe.

async fn intent(State(books): State<Shared>, body: String) -> Response {
    let ask = form(&body);
    let mut books = books.lock().unwrap();
    let id = books.mint("pi_");
    let intent = json!({
        "id": id, "object": "payment_intent", "amount": ask["amount"].parse::<i64>().unwrap(),
        "amount_capturable": 0, "amount_received": 0, "currency": ask["currency"],
        "capture_method": ask["capture_method"], "client_secret": format!("{id}_secret_aB3"),
        "status": "requires_payment_method", "latest_charge": null, "last_payment_error": null,
        "metadata": {"order_id": ask["metadata[order_id]"]},
    });
    books.payments.insert(id, intent.clone());
    answer(&intent)
}

async fn show_intent(State(books): State<Shared>, Path(id): Path<String>) -> Response {
    let books = books.lock().unwrap();
    books.payments.get(&id).map_or_else(|| refuse(404, "resource_missing"), answer)
}

async fn capture_intent(
    State(books): State<Shared>,
    Path(id): Path<String>,
    body: String,
) -> Response {
    let ask = form(&body);
    let mut books = books.lock().unwrap();
    let Some(intent) = books.payments.get_mut(&id) else { return refuse(404, "no") };
    if intent["status"] != "requires_capture" {
        return refuse(400, "payment_intent_unexpected_state");
    }
    let amount: i64 = ask["amount_to_capture"].parse().unwrap();
    intent["status"] = "succeeded".into();
    intent["amount_received"] = amount.into();
    intent["amount_capturable"] = 0.into();
    intent["latest_charge"]["captured"] = true.into();
    intent["latest_charge"]["amount_captured"] = amount.into();
    answer(intent)
}

async fn cancel_intent(State(books): State<Shared>, Path(id): Path<String>) -> Response {
    let mut books = books.lock().unwrap();
    let Some(intent) = books.payments.get_mut(&id) else { return refuse(404, "no") };
    if intent["status"] == "succeeded" || intent["status"] == "canceled" {
        return refuse(400, "payment_intent_unexpected_state");
    }
    intent["status"] = "canceled".into();
    intent["amount_capturable"] = 0.into();
    answer(intent)
}

async fn refund_intent(State(books): State<Shared>, body: String) -> Response {
    let ask = form(&body);
    let mut books = books.lock().unwrap();
    let id = books.mint("re_");
    let Some(intent) = books.payments.get_mut(&ask["payment_intent"]) else {
        return refuse(404, "resource_missing");
    };
    let amount: i64 = ask["amount"].parse().unwrap();
    let refunded = intent["latest_charge"]["amount_refunded"].as_i64().unwrap_or(0) + amount;
    if intent["status"] != "succeeded" || refunded > intent["amount_received"].as_i64().unwrap() {
        return refuse(400, "charge_already_refunded");
    }
    intent["latest_charge"]["amount_refunded"] = refunded.into();
    let refund = json!({
        "id": id, "object": "refund", "amount": amount, "status": "succeeded",
        "payment_intent": ask["payment_intent"],
    });
    books.refunds.insert(id, refund.clone());
    answer(&refund)
}
