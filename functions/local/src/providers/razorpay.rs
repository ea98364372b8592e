//! Razorpay: orders, payments, refunds and disputes (<https://razorpay.com/docs/api>).

mod disputes;
mod objects;
mod refunds;

use crypto::signature::hmac_sha256_hex;
use http::StatusCode;
use objects::{Order, Payment, Refund, Status};
use primitives::clock::Timestamp;
use serde_json::{Value, json};

use crate::providers::call::{ApiRequest, ApiResult, ProviderRejection};
use crate::providers::id::mint;
use crate::providers::keys::RAZORPAY_SECRET;
use crate::providers::webhook::{Event, Provider};

/// The id of the account.
const ACCOUNT: &str = "acc_BFQ7uQEaa7j2z7";
/// The minimum amount of an order in rupees, in paise.
const MIN_AMOUNT: i64 = 100;
/// Characters of a receipt at most.
const MAX_RECEIPT: usize = 40;

/// The objects of the account, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Razorpay {
    orders: Vec<Order>,
    payments: Vec<Payment>,
    refunds: Vec<Refund>,
    disputes: Vec<disputes::Dispute>,
    /// The events that are not queued yet.
    pub(crate) events: Vec<Event>,
}

/// The rejection of an invalid request: 400.
pub(crate) fn reject(description: &str, reason: &str) -> ProviderRejection {
    let is_known = reason != "NA";
    let error = json!({
        "code": "BAD_REQUEST_ERROR",
        "description": description,
        "source": if is_known { "business" } else { "NA" },
        "step": if is_known { "payment_initiation" } else { "NA" },
        "reason": reason,
        "metadata": {},
    });
    ProviderRejection::new(StatusCode::BAD_REQUEST, &error)
}

/// The rejection of an unauthenticated call: 401.
pub(crate) fn unauthorized() -> ProviderRejection {
    let status = StatusCode::UNAUTHORIZED;
    ProviderRejection { status, ..reject("Authentication failed", "NA") }
}

fn unknown() -> ProviderRejection {
    reject("The id provided does not exist", "input_validation_failed")
}

/// The error that the script gives the browser when a payment has failed.
pub(crate) fn payment_failed(payment: &Value) -> ProviderRejection {
    let of = |name: &str| payment.get(name).cloned().unwrap_or_default();
    let error = json!({
        "code": of("error_code"),
        "description": of("error_description"),
        "source": of("error_source"),
        "step": of("error_step"),
        "reason": of("error_reason"),
        "metadata": {"payment_id": of("id"), "order_id": of("order_id")},
    });
    ProviderRejection::new(StatusCode::BAD_REQUEST, &error)
}

/// A list, the newest item first, of at most the query's `count`.
fn collection(mut items: Vec<Value>, query: &str) -> Value {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let count = pairs.find(|(name, _)| name == "count").and_then(|(_, count)| count.parse().ok());
    items.reverse();
    items.truncate(count.unwrap_or(10).min(100));
    json!({"entity": "collection", "count": items.len(), "items": items})
}

/// Parses the JSON of a request.
fn parse(body: &str) -> Result<Value, ProviderRejection> {
    let parsed = serde_json::from_str(if body.is_empty() { "{}" } else { body });
    parsed.map_err(|_| reject("The request body is not valid JSON.", "input_validation_failed"))
}

fn field(input: &Value, name: &str) -> Value {
    input.get(name).cloned().unwrap_or_default()
}

/// The notes of a request: an object, or an empty list.
fn notes(input: &Value) -> Value {
    input.get("notes").filter(|notes| notes.is_object()).cloned().unwrap_or_else(|| json!([]))
}

fn amount(input: &Value) -> Result<i64, ProviderRejection> {
    let wrong = || reject("The amount must be an integer.", "input_validation_failed");
    input.get("amount").and_then(Value::as_i64).ok_or_else(wrong)
}

impl Razorpay {
    /// Handles a request of the API.
    pub(crate) fn answer(&mut self, input: &ApiRequest<'_>) -> ApiResult {
        match (input.method, input.path) {
            ("POST", ["orders"]) => self.open(input),
            ("GET", ["orders", id]) => self.order(id).map(|order| order.view()),
            ("GET", ["orders", id, "payments"]) => self.payments_of(id, input.query),
            ("GET", ["payments"]) => Ok(collection(self.payments(), input.query)),
            ("GET", ["payments", id]) => self.payment(id).ok_or_else(unknown),
            ("POST", ["payments", id, "capture"]) => self.capture(id, input),
            ("POST", ["payments", id, "refund"]) => {
                self.refund(id, &parse(input.body)?, input.is_pending, input.now)
            }
            ("GET", ["payments", id, "refunds"]) => {
                let ours = self.refunds.iter().filter(|refund| refund.payment_id == *id);
                Ok(collection(ours.map(Refund::view).collect(), input.query))
            }
            ("GET", ["refunds", id]) => {
                let found = self.refunds.iter().find(|refund| refund.id == *id);
                found.map(Refund::view).ok_or_else(unknown)
            }
            ("GET", ["disputes"]) => Ok(self.list_disputes(input.query)),
            ("GET", ["disputes", id]) => self.show_dispute(id),
            ("PATCH", ["disputes", id, "contest"]) => {
                self.contest(id, &parse(input.body)?, input.now)
            }
            _ => Err(ProviderRejection {
                status: StatusCode::NOT_FOUND,
                ..reject("The requested URL was not found on the server.", "NA")
            }),
        }
    }

    /// All refunds.
    pub(crate) fn refunds(&self) -> Vec<Value> {
        self.refunds.iter().map(Refund::view).collect()
    }

    /// All orders.
    pub(crate) fn orders(&self) -> Vec<Value> {
        self.orders.iter().map(Order::view).collect()
    }

    /// All payments.
    pub(crate) fn payments(&self) -> Vec<Value> {
        self.payments.iter().map(Payment::view).collect()
    }

    fn payment(&self, id: &str) -> Option<Value> {
        self.payments.iter().find(|payment| payment.id == id).map(Payment::view)
    }

    fn order(&mut self, id: &str) -> Result<&mut Order, ProviderRejection> {
        self.orders.iter_mut().find(|order| order.id == id).ok_or_else(unknown)
    }

    fn payments_of(&mut self, id: &str, query: &str) -> ApiResult {
        self.order(id)?;
        let ours = self.payments.iter().filter(|payment| payment.order_id == id);
        Ok(collection(ours.map(Payment::view).collect(), query))
    }

    /// `POST /v1/orders`.
    fn open(&mut self, input: &ApiRequest<'_>) -> ApiResult {
        let (now, input) = (input.now, parse(input.body)?);
        let invalid = |text| Err(reject(text, "input_validation_failed"));
        let amount = amount(&input)?;
        let Some(currency) = input.get("currency").and_then(Value::as_str) else {
            return invalid("The currency field is required.");
        };
        if amount < if currency == "INR" { MIN_AMOUNT } else { 1 } {
            let text = "Order amount less than minimum amount allowed";
            return Err(reject(text, "amount_less_than_minimum_amount"));
        }
        let receipt = field(&input, "receipt");
        if receipt.as_str().is_some_and(|text| text.chars().count() > MAX_RECEIPT) {
            return invalid("The receipt may not be greater than 40 characters.");
        }
        let capture = input.pointer("/payment/capture").and_then(Value::as_str);
        let order = Order {
            id: mint("order_", 14),
            amount,
            amount_paid: 0,
            currency: currency.to_owned(),
            receipt,
            notes: notes(&input),
            attempts: 0,
            is_captured_automatically: capture == Some("automatic"),
            created_at: now.seconds(),
        };
        let view = order.view();
        self.orders.push(order);
        Ok(view)
    }

    /// The order, if it may be paid: at most one payment of an order does not fail.
    fn payable(&mut self, id: &str) -> Result<&mut Order, ProviderRejection> {
        let carries =
            |payment: &&Payment| payment.order_id == id && payment.status != Status::Failed;
        if self.payments.iter().any(|payment| carries(&payment)) {
            let text = "Payment already done for this order.";
            return Err(reject(text, "input_validation_failed"));
        }
        self.order(id)
            .map_err(|rejection| ProviderRejection { status: StatusCode::NOT_FOUND, ..rejection })
    }

    fn attempt(
        &mut self,
        id: &str,
        amount: Option<i64>,
        now: Timestamp,
    ) -> Result<Payment, ProviderRejection> {
        let order = self.payable(id)?;
        order.attempts = order.attempts.saturating_add(1);
        Ok(Payment {
            id: mint("pay_", 14),
            order_id: order.id.clone(),
            amount: amount.unwrap_or(order.amount),
            amount_refunded: 0,
            currency: order.currency.clone(),
            status: Status::Authorized,
            is_captured: false,
            notes: order.notes.clone(),
            created_at: now.seconds(),
        })
    }

    /// The customer pays. Returns what the script gives the browser.
    pub(crate) fn pay(&mut self, order: &str, amount: Option<i64>, now: Timestamp) -> ApiResult {
        let payment = self.attempt(order, amount, now)?;
        let id = payment.id.clone();
        let parts = [order.as_bytes(), b"|", id.as_bytes()];
        let signature = hmac_sha256_hex(RAZORPAY_SECRET.as_bytes(), &parts);
        self.payments.push(payment);
        self.tell("payment.authorized", &id, now);
        if self.order(order)?.is_captured_automatically {
            self.take(&id, now);
        }
        Ok(json!({
            "razorpay_payment_id": id, "razorpay_order_id": order,
            "razorpay_signature": signature,
        }))
    }

    /// The customer's attempt fails. Returns the failed payment.
    pub(crate) fn fail(&mut self, order: &str, now: Timestamp) -> ApiResult {
        let payment = Payment { status: Status::Failed, ..self.attempt(order, None, now)? };
        let (id, view) = (payment.id.clone(), payment.view());
        self.payments.push(payment);
        self.tell("payment.failed", &id, now);
        Ok(view)
    }

    /// `POST /v1/payments/{id}/capture`.
    fn capture(&mut self, id: &str, input: &ApiRequest<'_>) -> ApiResult {
        let (now, input) = (input.now, parse(input.body)?);
        let found = self.payments.iter().find(|payment| payment.id == id);
        let payment = found.ok_or_else(unknown)?;
        let invalid = |text| Err(reject(text, "input_validation_failed"));
        match payment.status {
            Status::Authorized => {}
            Status::Captured | Status::Refunded => {
                return invalid("This payment has already been captured");
            }
            Status::Failed => {
                return invalid("Only payments which have been authorized can be captured");
            }
        }
        if amount(&input)? != payment.amount {
            return invalid("Capture amount must be equal to the amount authorized");
        }
        self.take(id, now);
        self.payment(id).ok_or_else(unknown)
    }

    /// Captures an authorized payment, which pays its order.
    fn take(&mut self, id: &str, now: Timestamp) {
        let Some(payment) = self.payments.iter_mut().find(|payment| payment.id == id) else {
            return;
        };
        payment.status = Status::Captured;
        payment.is_captured = true;
        let (order, amount) = (payment.order_id.clone(), payment.amount);
        if let Ok(order) = self.order(&order) {
            order.amount_paid = amount;
        }
        self.tell("payment.captured", id, now);
        self.tell("order.paid", id, now);
    }

    fn tell(&mut self, kind: &'static str, payment: &str, now: Timestamp) {
        let event = self.event_about(kind, payment, now);
        self.events.extend(event);
    }

    /// An event about the current payment, with its order or its last refund, by the kind of the event.
    pub(crate) fn event_about(
        &self,
        kind: &'static str,
        payment: &str,
        now: Timestamp,
    ) -> Option<Event> {
        let refund = self.refunds.iter().rfind(|refund| refund.payment_id == payment);
        self.event_with(kind, payment, refund, now)
    }

    fn event_with(
        &self,
        kind: &'static str,
        payment: &str,
        refund: Option<&Refund>,
        now: Timestamp,
    ) -> Option<Event> {
        let payment = self.payments.iter().find(|known| known.id == payment)?;
        let of_order = || self.orders.iter().find(|order| order.id == payment.order_id);
        let about = ("payment", payment.view());
        let parts = match kind.split('.').next() {
            Some("order") => vec![about, ("order", of_order()?.view())],
            Some("refund") => vec![("refund", refund?.view()), about],
            _ => vec![about],
        };
        Some(event_of(kind, parts, now))
    }
}

/// Creates an event about these entities.
fn event_of(kind: &'static str, parts: Vec<(&str, Value)>, now: Timestamp) -> Event {
    let contains: Vec<String> = parts.iter().map(|(name, _)| (*name).to_owned()).collect();
    let entity = |(name, view): (&str, Value)| (name.to_owned(), json!({ "entity": view }));
    let payload: serde_json::Map<String, Value> = parts.into_iter().map(entity).collect();
    let body = json!({
        "entity": "event", "account_id": ACCOUNT, "event": kind, "contains": contains,
        "payload": payload, "created_at": now.seconds(),
    });
    let body = body.to_string().into_bytes();
    Event { provider: Provider::Razorpay, id: mint("evt_", 14), body }
}
