//! Stripe: payment intents (<https://docs.stripe.com/api/payment_intents>), refunds, webhooks.
//!
//! A customer's return proves nothing by itself; the intent is looked up. Every `POST` carries an
//! `Idempotency-Key` that follows from our ids.

use std::fmt;

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::request::FromText;
use gateway::signature::{constant_time_eq, hmac_sha256_hex};
use http::{HeaderMap, HeaderName, header};
use serde_json::{Value, json};

use super::account::Credentials;
use super::call::{Call, text};
use super::provider::{Client, Failure, Forged, Notice, Opened, Provider, Returned};
use super::{CaptureMethod, Observed, ObservedState, Opening, Payment, ProviderName};
use crate::fields::Currency;
use crate::id::{PaymentId, RefundId};
use crate::money::Money;

/// How old a signed webhook may be, in seconds.
const TOLERANCE: i64 = 300;
/// The version of Stripe's API that this module speaks.
const VERSION: &str = "2024-06-20";
/// Currencies without minor units that Stripe counts in hundredths all the same.
const HUNDREDTHS: [&str; 2] = ["ISK", "UGX"];

/// A store's account with Stripe.
#[derive(Clone)]
pub struct Stripe {
    /// What authenticates us, and what authenticates them.
    pub credentials: Credentials,
    /// When money is taken.
    pub capture_method: CaptureMethod,
}

impl fmt::Debug for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stripe").field("key_id", &self.credentials.key_id).finish_non_exhaustive()
    }
}

impl Stripe {
    fn authorized(&self, call: Call) -> Call {
        call.header(header::AUTHORIZATION, format!("Bearer {}", self.credentials.secret))
            .header(HeaderName::from_static("stripe-version"), VERSION)
    }

    async fn get(&self, app: &App, path: &str) -> Result<Value, Failure> {
        let url = format!("{}{path}", app.config.payment_base_urls.stripe);
        self.authorized(Call::get(url)).send(app).await
    }

    async fn post(
        &self,
        app: &App,
        path: &str,
        fields: &[(&str, &str)],
        key: &str,
    ) -> Result<Value, Failure> {
        let url = format!("{}{path}", app.config.payment_base_urls.stripe);
        let call = self.authorized(Call::form(url, fields));
        call.header(HeaderName::from_static("idempotency-key"), key).send(app).await
    }

    /// What became of a payment after Stripe refused to move it: somebody else may have.
    async fn after_refusal(
        &self,
        app: &App,
        payment: &Payment,
        wanted: ObservedState,
        failure: Failure,
    ) -> Result<Observed, Failure> {
        if !failure.is_final() {
            return Err(failure);
        }
        match self.fetch(app, payment).await {
            Ok(seen) if seen.state == wanted || seen.state == ObservedState::Captured => Ok(seen),
            _ => Err(failure),
        }
    }
}

fn path_of(payment: &Payment, rest: &str) -> String {
    let reference = payment.provider_reference.as_bytes();
    let segment: String = url::form_urlencoded::byte_serialize(reference).collect();
    format!("/v1/payment_intents/{segment}{rest}")
}

/// An amount as Stripe counts it.
fn units(amount: &Money) -> String {
    let is_odd = HUNDREDTHS.contains(&amount.currency.as_str());
    amount.amount.saturating_mul(if is_odd { 100 } else { 1 }).to_string()
}

/// An amount as Stripe has counted it.
fn money(object: &Value, name: &str) -> Option<Money> {
    let code = object.get("currency")?.as_str()?.to_ascii_uppercase();
    let currency = Currency::from_text(&code).ok()?;
    let is_odd = HUNDREDTHS.contains(&currency.as_str());
    let amount = object.get(name)?.as_i64()?.checked_div(if is_odd { 100 } else { 1 })?;
    Money::new(amount, &currency)
}

impl Provider for Stripe {
    fn name(&self) -> ProviderName {
        ProviderName::Stripe
    }

    /// `POST /v1/payment_intents`.
    async fn open(&self, app: &App, id: &PaymentId, ask: &Opening) -> Result<Opened, Failure> {
        let (amount, currency) =
            (units(&ask.amount), ask.amount.currency.as_str().to_ascii_lowercase());
        let fields = [
            ("amount", amount.as_str()),
            ("currency", &currency),
            ("capture_method", self.capture_method.as_str()),
            ("automatic_payment_methods[enabled]", "true"),
            ("description", &ask.order_number),
            ("metadata[payment_id]", id.as_str()),
            ("metadata[order_id]", ask.order_id.as_str()),
            ("metadata[store_id]", ask.store_id.as_str()),
        ];
        let answer = self.post(app, "/v1/payment_intents", &fields, id.as_str()).await?;
        let broken = || Failure::Broken("no payment intent".into());
        let reference = text(&answer, "/id").ok_or_else(broken)?;
        let client_secret = text(&answer, "/client_secret").ok_or_else(broken)?;
        Ok(Opened { reference, client_secret: Some(client_secret) })
    }

    /// What Stripe's script takes.
    fn client(&self, payment: &Payment, secret: Option<String>) -> Client {
        let options = json!({
            "payment_intent": payment.provider_reference,
            "amount": payment.amount.amount,
            "currency": payment.amount.currency,
        });
        Client { key_id: Some(self.credentials.key_id.clone()), client_secret: secret, options }
    }

    fn verify_return(&self, payment: &Payment, returned: &Returned) -> Result<(), Forged> {
        let named = returned.payment_intent.as_deref().ok_or(Forged)?;
        let reference = payment.provider_reference.as_bytes();
        if constant_time_eq(named.as_bytes(), reference) { Ok(()) } else { Err(Forged) }
    }

    /// `Stripe-Signature: t=…,v1=…[,v1=…]` over `t.body`, at most 300 seconds old.
    fn webhook(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Notice, Forged> {
        let secret = self.credentials.webhook_secret.as_deref().ok_or(Forged)?;
        let header = headers.get("stripe-signature").and_then(|value| value.to_str().ok());
        let header = header.ok_or(Forged)?;
        let parts = || header.split(',').filter_map(|part| part.trim().split_once('='));
        let time = parts().find(|(name, _)| *name == "t").map(|(_, time)| time).ok_or(Forged)?;
        let expected = hmac_sha256_hex(secret.as_bytes(), &[time.as_bytes(), b".", body]);
        // All are compared: during a rotation there are several.
        let genuine = parts()
            .filter(|(name, _)| *name == "v1")
            .filter(|(_, signature)| constant_time_eq(expected.as_bytes(), signature.as_bytes()))
            .count();
        let seconds: i64 = time.parse().map_err(|_| Forged)?;
        if genuine == 0 || now.seconds().saturating_sub(seconds).saturating_abs() > TOLERANCE {
            return Err(Forged);
        }
        let message: Value = serde_json::from_slice(body).map_err(|_| Forged)?;
        let kind = text(&message, "/type").ok_or(Forged)?;
        let event_id = text(&message, "/id").ok_or(Forged)?;
        let object = message.pointer("/data/object");
        let observed = object.and_then(|object| match object.get("object")?.as_str()? {
            "payment_intent" => intent(object),
            "charge" => charge(object),
            _ => None,
        });
        Ok(Notice { event_id, kind, observed })
    }

    /// `GET /v1/payment_intents/{id}`, with its charge.
    async fn fetch(&self, app: &App, payment: &Payment) -> Result<Observed, Failure> {
        let answer = self.get(app, &path_of(payment, "?expand%5B%5D=latest_charge")).await?;
        intent(&answer).ok_or_else(|| Failure::Broken("no payment intent".into()))
    }

    /// `POST /v1/payment_intents/{id}/capture`; what is not taken is let go of.
    async fn capture(
        &self,
        app: &App,
        payment: &Payment,
        amount: &Money,
    ) -> Result<Observed, Failure> {
        let key = format!("{}-capture-{}", payment.id, amount.amount);
        let fields = [("amount_to_capture", &*units(amount))];
        match self.post(app, &path_of(payment, "/capture"), &fields, &key).await {
            Ok(answer) => intent(&answer).ok_or_else(|| Failure::Broken("no intent".into())),
            Err(failure) => {
                self.after_refusal(app, payment, ObservedState::Captured, failure).await
            }
        }
    }

    /// `POST /v1/payment_intents/{id}/cancel`.
    async fn void(&self, app: &App, payment: &Payment) -> Result<Observed, Failure> {
        let key = format!("{}-cancel", payment.id);
        match self.post(app, &path_of(payment, "/cancel"), &[], &key).await {
            Ok(answer) => intent(&answer).ok_or_else(|| Failure::Broken("no intent".into())),
            Err(failure) => self.after_refusal(app, payment, ObservedState::Voided, failure).await,
        }
    }

    /// `POST /v1/refunds`.
    async fn refund(
        &self,
        app: &App,
        payment: &Payment,
        id: &RefundId,
        amount: &Money,
    ) -> Result<String, Failure> {
        let fields = [
            ("payment_intent", payment.provider_reference.as_str()),
            ("amount", &*units(amount)),
            ("metadata[refund_id]", id.as_str()),
        ];
        let answer = self.post(app, "/v1/refunds", &fields, id.as_str()).await?;
        match answer.get("status").and_then(Value::as_str) {
            Some("failed" | "canceled") => Err(Failure::Refused("refund_failed".into())),
            _ => text(&answer, "/id").ok_or_else(|| Failure::Broken("no refund".into())),
        }
    }

    /// `GET /v1/balance`.
    async fn check(&self, app: &App) -> Result<(), Failure> {
        self.get(app, "/v1/balance").await.map(drop)
    }
}

/// A payment intent.
fn intent(object: &Value) -> Option<Observed> {
    let failure = object.get("last_payment_error").filter(|error| error.is_object());
    let code = |name: &str| failure.and_then(|error| error.get(name)?.as_str());
    let (state, amount) = match object.get("status")?.as_str()? {
        "requires_capture" => (ObservedState::Authorized, money(object, "amount_capturable")),
        "succeeded" => (ObservedState::Captured, money(object, "amount_received")),
        "canceled" => (ObservedState::Voided, None),
        "requires_payment_method" if failure.is_some() => (ObservedState::Failed, None),
        _ => (ObservedState::Pending, None),
    };
    let charge = object.get("latest_charge");
    let expanded = charge.filter(|charge| charge.is_object());
    let charge_id = charge.and_then(Value::as_str).map(str::to_owned);
    Some(Observed {
        reference: text(object, "/id")?,
        state,
        provider_payment: expanded.and_then(|charge| text(charge, "/id")).or(charge_id),
        amount,
        refunded: expanded.and_then(|charge| money(charge, "amount_refunded")),
        method: expanded.and_then(|charge| text(charge, "/payment_method_details/type")),
        failure_code: code("decline_code").or_else(|| code("code")).map(str::to_owned),
    })
}

/// A charge that an event is about: that it was captured, and how much of it went back.
fn charge(object: &Value) -> Option<Observed> {
    let captured = object.get("captured")?.as_bool()?;
    captured.then_some(())?;
    let reference = text(object, "/payment_intent")?;
    Some(Observed {
        state: ObservedState::Captured,
        provider_payment: text(object, "/id"),
        amount: money(object, "amount_captured"),
        refunded: money(object, "amount_refunded"),
        method: text(object, "/payment_method_details/type"),
        ..Observed::pending(&reference)
    })
}
