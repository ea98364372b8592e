//! Stripe: payment intents, their charges, refunds and disputes (<https://docs.stripe.com/api>).

mod disputes;
mod objects;
mod refunds;

use std::collections::BTreeMap;

use http::StatusCode;
use objects::{Charge, Intent, Refund, Status};
use primitives::clock::Timestamp;
use serde_json::{Value, json};

use crate::providers::call::{ApiRequest, ApiResult, ProviderRejection};
use crate::providers::id::mint;
use crate::providers::webhook::{Event, Provider};

/// The version of the API that is emulated.
const VERSION: &str = "2024-06-20";

/// The objects of the account, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Stripe {
    intents: Vec<Intent>,
    charges: Vec<Charge>,
    refunds: Vec<Refund>,
    disputes: Vec<disputes::Dispute>,
    /// The events that are not queued yet.
    pub(crate) events: Vec<Event>,
}

/// The fields of a form. Names of nested fields include their brackets.
type Form = BTreeMap<String, String>;

fn error(status: StatusCode, kind: &str, code: &str, message: &str) -> ProviderRejection {
    ProviderRejection::new(status, &json!({"type": kind, "code": code, "message": message}))
}

fn reject(code: &str, message: &str) -> ProviderRejection {
    error(StatusCode::BAD_REQUEST, "invalid_request_error", code, message)
}

fn missing(name: &str) -> ProviderRejection {
    reject("parameter_missing", &format!("Missing required param: {name}.")).untried()
}

fn unknown(object: &str, id: &str) -> ProviderRejection {
    let message = format!("No such {object}: '{id}'");
    let kind = "invalid_request_error";
    error(StatusCode::NOT_FOUND, kind, "resource_missing", &message).untried()
}

/// The rejection of an unauthenticated call: 401.
pub(crate) fn unauthorized() -> ProviderRejection {
    let error = json!({"type": "invalid_request_error", "message": "Invalid API Key provided."});
    ProviderRejection::new(StatusCode::UNAUTHORIZED, &error)
}

/// The rejection of an idempotency key that was used with another request.
pub(crate) fn reused_key() -> ProviderRejection {
    let message = "Keys for idempotent requests can only be used with the same parameters they \
                   were first used with.";
    let error = json!({"type": "idempotency_error", "message": message});
    ProviderRejection::new(StatusCode::BAD_REQUEST, &error)
}

/// The error that the browser gets for a declined card.
pub(crate) fn card_declined(intent: &Value) -> ProviderRejection {
    let mut error = intent.get("last_payment_error").cloned().unwrap_or_default();
    if let Some(fields) = error.as_object_mut() {
        fields.insert("payment_intent".to_owned(), as_browser_sees(intent));
    }
    ProviderRejection::new(StatusCode::PAYMENT_REQUIRED, &error)
}

/// An intent without the fields that only the account sees.
fn as_browser_sees(intent: &Value) -> Value {
    let mut intent = intent.clone();
    if let Some(fields) = intent.as_object_mut() {
        for secret in ["amount_capturable", "amount_received", "latest_charge", "metadata"] {
            fields.remove(secret);
        }
    }
    intent
}

/// The minimum amount of a payment, in Stripe's units
/// (<https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>).
fn least(currency: &str) -> i64 {
    match currency {
        "USD" | "AUD" | "BRL" | "CAD" | "CHF" | "EUR" | "INR" | "JPY" | "NZD" | "SGD" => 50,
        "GBP" => 30,
        "BGN" => 100,
        "AED" | "MYR" | "PLN" | "RON" => 200,
        "DKK" => 250,
        "NOK" | "SEK" => 300,
        "HKD" => 400,
        "MXN" | "THB" => 1_000,
        "CZK" => 1_500,
        "HUF" => 17_500,
        _ => 1,
    }
}

/// Parses a positive amount, if the form has one.
fn amount(form: &Form, name: &str) -> Result<Option<i64>, ProviderRejection> {
    let Some(text) = form.get(name) else { return Ok(None) };
    let amount = text.parse().ok().filter(|amount: &i64| *amount > 0);
    let message = format!("Invalid positive integer: {text}");
    let wrong = || reject("parameter_invalid_integer", &message).untried();
    amount.map(Some).ok_or_else(wrong)
}

fn metadata(form: &Form) -> BTreeMap<String, String> {
    let named = |(name, value): (&String, &String)| {
        let name = name.strip_prefix("metadata[")?.strip_suffix(']')?;
        Some((name.to_owned(), value.clone()))
    };
    form.iter().filter_map(named).collect()
}

fn parse(text: &str) -> Form {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

impl Stripe {
    /// Handles a request of the API.
    pub(crate) fn answer(&mut self, input: &ApiRequest<'_>) -> ApiResult {
        let form = parse(if input.method == "GET" { input.query } else { input.body });
        let expands = |(name, value): (&String, &String)| {
            name.starts_with("expand[") && value == "latest_charge"
        };
        let is_expanded = form.iter().any(expands);
        let intent = match (input.method, input.path) {
            ("GET", ["balance"]) => return Ok(balance()),
            ("POST", ["refunds"]) => return self.refund(&form, input.is_pending, input.now),
            ("GET", ["refunds"]) => return Ok(self.refunds_of(&form)),
            ("GET", ["refunds", id]) => {
                let found = self.refunds.iter().find(|refund| refund.id == *id);
                return found.map(Refund::view).ok_or_else(|| unknown("refund", id));
            }
            ("GET", ["disputes"]) => return Ok(self.disputes_of(&form)),
            ("GET", ["disputes", id]) => return self.show_dispute(id),
            ("POST", ["disputes", id]) => return self.answer_dispute(id, &form, input.now),
            ("POST", ["payment_intents"]) => self.open(&form, input.now)?,
            ("GET", ["payment_intents", id]) => self.find(id)?.clone(),
            ("POST", ["payment_intents", id, "capture"]) => self.capture(id, &form, input.now)?,
            ("POST", ["payment_intents", id, "cancel"]) => self.cancel(id, input.now)?,
            (method, path) => {
                let path = path.join("/");
                let message = format!("Unrecognized request URL ({method}: /v1/{path}).");
                let error = json!({"type": "invalid_request_error", "message": message});
                return Err(ProviderRejection::new(StatusCode::NOT_FOUND, &error).untried());
            }
        };
        Ok(if is_expanded { self.expanded(&intent) } else { intent.view() })
    }

    /// All refunds.
    pub(crate) fn refunds(&self) -> Vec<Value> {
        self.refunds.iter().map(Refund::view).collect()
    }

    /// All intents, with their charges.
    pub(crate) fn intents(&self) -> Vec<Value> {
        self.intents.iter().map(|intent| self.expanded(intent)).collect()
    }

    fn expanded(&self, intent: &Intent) -> Value {
        let mut view = intent.view();
        let charge = self.charges.iter().find(|charge| Some(&charge.id) == intent.charge.as_ref());
        if let (Some(fields), Some(charge)) = (view.as_object_mut(), charge) {
            fields.insert("latest_charge".to_owned(), charge.view());
        }
        view
    }

    fn find(&mut self, id: &str) -> Result<&mut Intent, ProviderRejection> {
        self.intents
            .iter_mut()
            .find(|intent| intent.id == id)
            .ok_or_else(|| unknown("payment_intent", id))
    }

    /// `POST /v1/payment_intents`.
    fn open(&mut self, form: &Form, now: Timestamp) -> Result<Intent, ProviderRejection> {
        let amount = amount(form, "amount")?.ok_or_else(|| missing("amount"))?;
        let currency = form.get("currency").ok_or_else(|| missing("currency"))?;
        if amount < least(&currency.to_ascii_uppercase()) {
            let message = "The amount is below the least that is charged in this currency.";
            return Err(reject("amount_too_small", message).untried());
        }
        let id = mint("pi_", 24);
        let method = form.get("capture_method").map_or("automatic_async", String::as_str);
        let intent = Intent {
            amount,
            amount_received: 0,
            currency: currency.to_ascii_lowercase(),
            capture_method: method.to_owned(),
            client_secret: mint(&format!("{id}_secret_"), 25),
            description: form.get("description").cloned(),
            metadata: metadata(form),
            status: Status::RequiresPaymentMethod,
            is_declined: false,
            charge: None,
            canceled_at: None,
            created: now.seconds(),
            id,
        };
        self.intents.push(intent.clone());
        Ok(intent)
    }

    /// The intent, if its status allows payment.
    fn payable(&mut self, id: &str) -> Result<&mut Intent, ProviderRejection> {
        let intent = self.find(id)?;
        if intent.status == Status::RequiresPaymentMethod {
            return Ok(intent);
        }
        let status = intent.view().get("status").cloned().unwrap_or_default();
        let message = format!("This PaymentIntent cannot be confirmed: its status is {status}.");
        Err(reject("payment_intent_unexpected_state", &message))
    }

    /// The customer pays. Returns the intent as the browser sees it.
    pub(crate) fn pay(&mut self, id: &str, now: Timestamp) -> ApiResult {
        let intent = self.payable(id)?;
        let is_held = intent.capture_method == "manual";
        let charge = Charge {
            amount_captured: if is_held { 0 } else { intent.amount },
            is_captured: !is_held,
            ..intent.attempt(now)
        };
        intent.is_declined = false;
        intent.charge = Some(charge.id.clone());
        intent.amount_received = charge.amount_captured;
        intent.status = if is_held { Status::RequiresCapture } else { Status::Succeeded };
        let view = as_browser_sees(&intent.view());
        self.charges.push(charge);
        self.tell("charge.succeeded", id, now);
        let moved = "payment_intent.amount_capturable_updated";
        self.tell(if is_held { moved } else { "payment_intent.succeeded" }, id, now);
        Ok(view)
    }

    /// The customer's card is declined. Returns the intent.
    pub(crate) fn decline(&mut self, id: &str, now: Timestamp) -> ApiResult {
        let intent = self.payable(id)?;
        intent.is_declined = true;
        let charge = Charge { is_declined: true, ..intent.attempt(now) };
        intent.charge = Some(charge.id.clone());
        let view = intent.view();
        self.charges.push(charge);
        self.tell("charge.failed", id, now);
        self.tell("payment_intent.payment_failed", id, now);
        Ok(view)
    }

    /// The customer pays by a SEPA debit: their bank answers days later. Returns the intent as the browser sees
    /// it.
    pub(crate) fn debit(&mut self, id: &str, now: Timestamp) -> ApiResult {
        let intent = self.payable(id)?;
        // Stripe says of the charge of a debit at once that it is captured.
        let charge = Charge {
            amount_captured: intent.amount,
            is_captured: true,
            is_pending: true,
            method: "sepa_debit",
            ..intent.attempt(now)
        };
        intent.is_declined = false;
        intent.charge = Some(charge.id.clone());
        intent.status = Status::Processing;
        let view = as_browser_sees(&intent.view());
        self.charges.push(charge);
        self.tell("charge.pending", id, now);
        self.tell("payment_intent.processing", id, now);
        Ok(view)
    }

    /// The customer's bank pays a debit, or returns it. Returns the intent.
    pub(crate) fn end_debit(&mut self, id: &str, is_paid: bool, now: Timestamp) -> ApiResult {
        let intent = self.find(id)?;
        if intent.status != Status::Processing {
            return Err(reject("payment_intent_unexpected_state", "No debit is processed."));
        }
        intent.is_declined = !is_paid;
        intent.status = if is_paid { Status::Succeeded } else { Status::RequiresPaymentMethod };
        intent.amount_received = if is_paid { intent.amount } else { 0 };
        let view = intent.view();
        for charge in self.charges.iter_mut().filter(|charge| charge.intent == id) {
            charge.is_declined |= charge.is_pending && !is_paid;
            charge.is_pending = false;
        }
        let (charge, moved) = if is_paid {
            ("charge.succeeded", "payment_intent.succeeded")
        } else {
            ("charge.failed", "payment_intent.payment_failed")
        };
        self.tell(charge, id, now);
        self.tell(moved, id, now);
        Ok(view)
    }

    /// `POST /v1/payment_intents/{id}/capture`; the uncaptured rest is released.
    fn capture(
        &mut self,
        id: &str,
        form: &Form,
        now: Timestamp,
    ) -> Result<Intent, ProviderRejection> {
        let intent = self.find(id)?;
        let requested = amount(form, "amount_to_capture")?.unwrap_or(intent.amount);
        if intent.status != Status::RequiresCapture {
            let message = "This PaymentIntent could not be captured because of its status.";
            return Err(reject("payment_intent_unexpected_state", message));
        }
        if requested > intent.amount {
            let message = "The amount to capture is greater than the amount that can be captured.";
            return Err(reject("amount_too_large", message));
        }
        intent.status = Status::Succeeded;
        intent.amount_received = requested;
        let intent = intent.clone();
        let charge = self.charges.iter_mut().find(|charge| charge.carries(id));
        if let Some(charge) = charge {
            charge.is_captured = true;
            charge.amount_captured = requested;
            charge.amount_refunded = charge.released();
        }
        self.tell("charge.captured", id, now);
        self.tell("payment_intent.succeeded", id, now);
        Ok(intent)
    }

    /// `POST /v1/payment_intents/{id}/cancel`.
    fn cancel(&mut self, id: &str, now: Timestamp) -> Result<Intent, ProviderRejection> {
        let intent = self.find(id)?;
        if matches!(intent.status, Status::Processing | Status::Succeeded | Status::Canceled) {
            let message = "You cannot cancel this PaymentIntent because of its status.";
            return Err(reject("payment_intent_unexpected_state", message));
        }
        intent.status = Status::Canceled;
        intent.canceled_at = Some(now.seconds());
        let intent = intent.clone();
        for charge in self.charges.iter_mut().filter(|charge| charge.carries(id)) {
            charge.amount_refunded = charge.released();
        }
        self.tell("payment_intent.canceled", id, now);
        Ok(intent)
    }

    fn tell(&mut self, kind: &'static str, intent: &str, now: Timestamp) {
        let event = self.event_about(kind, intent, now);
        self.events.extend(event);
    }

    /// An event about the current intent, or about its last charge or refund, by the kind of the event.
    /// Events have ids where a request could expand objects.
    pub(crate) fn event_about(
        &self,
        kind: &'static str,
        intent: &str,
        now: Timestamp,
    ) -> Option<Event> {
        let intent = self.intents.iter().find(|known| known.id == intent)?;
        let refund =
            || self.refunds.iter().rfind(|refund| refund.intent == intent.id).map(Refund::view);
        let object = match kind.split('.').next() {
            _ if kind == "charge.refund.updated" => refund(),
            Some("charge") => {
                self.charges.iter().rfind(|charge| charge.intent == intent.id).map(Charge::view)
            }
            Some("refund") => refund(),
            _ => Some(intent.view()),
        };
        Some(event(kind, &object?, now))
    }
}

/// Creates an event about an object.
fn event(kind: &'static str, object: &Value, now: Timestamp) -> Event {
    let id = mint("evt_", 24);
    let body = json!({
        "id": id, "object": "event", "api_version": VERSION, "created": now.seconds(),
        "data": {"object": object}, "livemode": false, "pending_webhooks": 1,
        "request": {"id": null, "idempotency_key": null}, "type": kind,
    });
    Event { provider: Provider::Stripe, id, body: body.to_string().into_bytes() }
}

/// `GET /v1/balance`.
fn balance() -> Value {
    json!({"object": "balance", "available": [], "livemode": false, "pending": []})
}
