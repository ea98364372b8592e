//! Razorpay: its orders API (<https://razorpay.com/docs/api/orders>), payments, refunds, webhooks.
//!
//! An order at Razorpay may have several payments, of which at most one is captured. A customer's return is
//! signed with the key secret, a webhook with the webhook secret.

mod disputes;
mod objects;

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use crypto::seal;
use crypto::signature::{constant_time_eq, hmac_sha256_hex};
use http::{HeaderMap, HeaderName, header};
use primitives::clock::Timestamp;
use serde_json::{Value, json};
use services::Services;

use self::objects::{best, observation, refund, refund_id, refund_result};
use super::call::{Call, text};
use super::capabilities::{Capabilities, Capable};
use super::credentials::ProviderCredentials;
use super::provider::{
    CaptureResult, ClientParameters, CreatedPayment, Forged, Provider, ProviderFailure,
    ProviderWebhookEvent, RedirectParameters, RefundResult,
};
use super::units::ProviderUnits;
use super::{CaptureMethod, NewPayment, Observed, ObservedState, Payment};
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, ObservedDispute};

/// The most refunds of one payment that are searched.
const MAX_REFUNDS: usize = 100;
/// The longest receipt that Razorpay accepts, in characters.
const MAX_RECEIPT: usize = 40;

/// A store's account with Razorpay.
#[derive(Clone)]
pub struct Razorpay {
    /// The credentials of the account.
    pub credentials: ProviderCredentials,
    /// The capture method.
    pub capture_method: CaptureMethod,
}

impl fmt::Debug for Razorpay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Razorpay").field("key_id", &self.credentials.key_id).finish_non_exhaustive()
    }
}

impl Razorpay {
    fn authorized(&self, call: Call) -> Call {
        let ProviderCredentials { key_id, secret, .. } = &self.credentials;
        let pair = BASE64_STANDARD.encode(format!("{key_id}:{secret}"));
        call.header(header::AUTHORIZATION, format!("Basic {pair}"))
    }

    async fn get(&self, services: &Services, path: &str) -> Result<Value, ProviderFailure> {
        let url = format!("{}{path}", services.config.payment_base_urls.razorpay);
        self.authorized(Call::get(url)).send(services).await
    }

    fn post(&self, services: &Services, path: &str, body: &Value) -> Call {
        let url = format!("{}{path}", services.config.payment_base_urls.razorpay);
        self.authorized(Call::json(url, body))
    }
}

/// The capture options of an order, with expiry periods in minutes. Automatic capture may take as long as an
/// order waits for its payment. What is not captured manually returns to the customer after five days.
fn capture_options(method: CaptureMethod) -> Value {
    json!({
        "capture": method.as_str(),
        "capture_options": {
            "automatic_expiry_period": 30,
            "manual_expiry_period": 7_200,
            "refund_speed": "normal",
        },
    })
}

/// Escapes a path segment, because references come from the provider and may come from a customer.
fn segment(reference: &str) -> String {
    url::form_urlencoded::byte_serialize(reference.as_bytes()).collect()
}

/// Converts an amount to Razorpay's unit.
fn units(amount: &Money) -> Result<i64, ProviderFailure> {
    let counted = ProviderUnits::of_razorpay(&amount.currency).count(amount);
    counted.ok_or_else(|| ProviderFailure::Rejected("amount_not_supported".into()))
}

/// An order can be paid several times, each time by a payment of its own, and is captured as a whole.
impl Capable for Razorpay {
    const CAPABILITIES: Capabilities = Capabilities {
        is_online: true,
        authorizes_anew: true,
        captures_in_part: false,
        has_several_payments: true,
    };
}

impl Provider for Razorpay {
    fn name(&self) -> ProviderName {
        ProviderName::Razorpay
    }

    /// `POST /v1/orders`. It has no idempotency key; an order whose id was lost is never paid.
    async fn create_payment(
        &self,
        services: &Services,
        id: &PaymentId,
        input: &NewPayment,
    ) -> Result<CreatedPayment, ProviderFailure> {
        let receipt: String = input.order_number.chars().take(MAX_RECEIPT).collect();
        let body = json!({
            "amount": units(&input.amount)?,
            "currency": input.amount.currency,
            "receipt": receipt,
            "notes": {"payment_id": id, "order_id": input.order_id, "store_id": input.store_id},
            "payment": capture_options(self.capture_method),
        });
        let answer = self.post(services, "/v1/orders", &body).send(services).await?;
        let reference =
            text(&answer, "/id").ok_or_else(|| ProviderFailure::Broken("no order".into()))?;
        Ok(CreatedPayment { reference, client_secret: None })
    }

    /// The options of Razorpay's checkout script.
    fn client_parameters(&self, payment: &Payment, _: Option<String>) -> ClientParameters {
        let options = json!({
            "order_id": payment.provider_reference,
            "amount": ProviderUnits::of_razorpay(&payment.amount.currency).count(&payment.amount),
            "currency": payment.amount.currency,
            "receipt": payment.order_number,
            "notes": {"order_id": payment.order_id, "payment_id": payment.id},
        });
        let key_id = Some(self.credentials.key_id.clone());
        ClientParameters { key_id, client_secret: None, options }
    }

    /// HMAC-SHA256, in hex, of `order_id|payment_id` under the key secret.
    fn verify_return(
        &self,
        payment: &Payment,
        returned: &RedirectParameters,
    ) -> Result<(), Forged> {
        let order = returned.razorpay_order_id.as_deref().ok_or(Forged)?;
        let paid = returned.razorpay_payment_id.as_deref().ok_or(Forged)?;
        let signature = returned.razorpay_signature.as_deref().ok_or(Forged)?;
        // The signature is checked over our stored reference, not over the one in the request.
        let parts = [payment.provider_reference.as_bytes(), b"|", paid.as_bytes()];
        let expected = hmac_sha256_hex(self.credentials.secret.as_bytes(), &parts);
        let genuine = constant_time_eq(expected.as_bytes(), signature.as_bytes());
        if genuine && order == payment.provider_reference { Ok(()) } else { Err(Forged) }
    }

    fn webhook(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        _: Timestamp,
    ) -> Result<ProviderWebhookEvent, Forged> {
        let text_of = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let secret = self.credentials.webhook_secret.as_deref().ok_or(Forged)?;
        let signature = text_of("x-razorpay-signature").ok_or(Forged)?;
        let expected = hmac_sha256_hex(secret.as_bytes(), &[body]);
        if !constant_time_eq(expected.as_bytes(), signature.as_bytes()) {
            return Err(Forged);
        }
        let message: Value = serde_json::from_slice(body).map_err(|_| Forged)?;
        let kind = text(&message, "/event").ok_or(Forged)?;
        // The signature does not cover this header. If it is missing or malformed, the event's id is the
        // digest of its body, so that the event is not lost.
        let header_id = text_of("x-razorpay-event-id").filter(|id| (1..=64).contains(&id.len()));
        let digest = || seal::digest(&String::from_utf8_lossy(body));
        let event_id = header_id.map_or_else(digest, str::to_owned);
        let refund = message.pointer("/payload/refund/entity").and_then(refund);
        let observed = message.pointer("/payload/payment/entity").and_then(observation);
        let observed = observed.map(|observed| Observed { refund, ..observed });
        let told_at = message.pointer("/created_at").and_then(disputes::time);
        let dispute = message.pointer("/payload/dispute/entity").and_then(disputes::dispute);
        let dispute = dispute.map(|dispute| ObservedDispute { told_at, ..dispute });
        Ok(ProviderWebhookEvent { event_id, kind, observed, dispute })
    }

    /// `GET /v1/orders/{id}/payments`, of which [`best`] selects one.
    async fn fetch(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        let path = format!("/v1/orders/{}/payments", segment(&payment.provider_reference));
        let answer = self.get(services, &path).await?;
        let items = answer.get("items").and_then(Value::as_array);
        let items = items.ok_or_else(|| ProviderFailure::Broken("no payments".into()))?;
        let dated = |item: &Value| {
            let observed = observation(item)?;
            Some((item.get("created_at").and_then(Value::as_i64).unwrap_or_default(), observed))
        };
        let observed = items.iter().filter_map(dated);
        let observed =
            observed.filter(|(_, observed)| observed.reference == payment.provider_reference);
        let best = best(payment, observed.collect());
        Ok(best.unwrap_or_else(|| Observed::pending(&payment.provider_reference)))
    }

    /// `POST /v1/payments/{id}/capture`. It rejects a payment that is captured already; then the payment is
    /// loaded instead.
    async fn capture(
        &self,
        services: &Services,
        payment: &Payment,
        amount: &Money,
    ) -> Result<CaptureResult, ProviderFailure> {
        let paid = payment.provider_payment.as_deref();
        let paid = paid.ok_or_else(|| ProviderFailure::Rejected("nothing_authorized".into()))?;
        let path = format!("/v1/payments/{}/capture", segment(paid));
        let body = json!({"amount": units(amount)?, "currency": amount.currency});
        match self.post(services, &path, &body).send(services).await {
            Ok(answer) => {
                let observed = observation(&answer);
                observed
                    .map(CaptureResult::by_us)
                    .ok_or_else(|| ProviderFailure::Broken("no payment".into()))
            }
            Err(rejected @ ProviderFailure::Rejected(_)) => {
                match self.fetch(services, payment).await {
                    Ok(observed) if observed.state == ObservedState::Captured => {
                        Ok(CaptureResult::before(observed))
                    }
                    _ => Err(rejected),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// Razorpay cannot void a payment: without a capture, which we no longer make, it returns the money
    /// itself. If the payment was captured in the meantime, returns that.
    async fn void(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        let observed = self.fetch(services, payment).await?;
        if observed.state == ObservedState::Captured {
            return Ok(observed);
        }
        // The payment that we know is voided, even if the customer has tried others.
        let provider_payment = payment.provider_payment.clone().or(observed.provider_payment);
        Ok(Observed { state: ObservedState::Voided, provider_payment, ..observed })
    }

    /// `POST /v1/payments/{id}/refund` with `X-Refund-Idempotency`. The key includes the payment, because one
    /// refund of an order may be divided over several payments.
    async fn refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
        amount: &Money,
    ) -> Result<RefundResult, ProviderFailure> {
        let paid = payment.provider_payment.as_deref();
        let paid = paid.ok_or_else(|| ProviderFailure::Rejected("nothing_captured".into()))?;
        let path = format!("/v1/payments/{}/refund", segment(paid));
        let body = json!({
            "amount": units(amount)?, "speed": "normal", "notes": {"refund_id": id},
        });
        let key = format!("{id}-{}", payment.id);
        let call = self.post(services, &path, &body);
        let call = call.header(HeaderName::from_static("x-refund-idempotency"), key);
        let answer = call.send(services).await?;
        refund_result(&answer).ok_or_else(|| ProviderFailure::Broken("no refund".into()))
    }

    /// `GET /v1/payments/{id}/refunds`.
    async fn fetch_refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
    ) -> Result<Option<RefundResult>, ProviderFailure> {
        let Some(paid) = payment.provider_payment.as_deref() else { return Ok(None) };
        let path = format!("/v1/payments/{}/refunds?count={MAX_REFUNDS}", segment(paid));
        let answer = self.get(services, &path).await?;
        let refunds = answer.get("items").and_then(Value::as_array);
        let mut refunds =
            refunds.ok_or_else(|| ProviderFailure::Broken("no refunds".into()))?.iter();
        let is_ours = |refund: &&Value| refund_id(refund).as_ref() == Some(id);
        Ok(refunds.find(is_ours).and_then(refund_result))
    }

    async fn disputes(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Vec<ObservedDispute>, ProviderFailure> {
        self.disputes_of(services, payment).await
    }

    /// `GET /v1/disputes/{id}`.
    async fn fetch_dispute(
        &self,
        services: &Services,
        dispute: &Dispute,
    ) -> Result<ObservedDispute, ProviderFailure> {
        let path = format!("/v1/disputes/{}", segment(&dispute.provider_reference));
        disputes::read(&self.get(services, &path).await?)
    }

    /// `PATCH /v1/disputes/{id}/contest`. It has no idempotency key: saving a draft can be repeated, and a
    /// dispute is loaded before evidence is submitted again.
    async fn send_evidence(
        &self,
        services: &Services,
        dispute: &Dispute,
        evidence: &Evidence,
    ) -> Result<ObservedDispute, ProviderFailure> {
        let base = &services.config.payment_base_urls.razorpay;
        let reference = segment(&dispute.provider_reference);
        let call = Call::patch(
            format!("{base}/v1/disputes/{reference}/contest"),
            &disputes::contest(dispute, evidence)?,
        );
        disputes::read(&self.authorized(call).send(services).await?)
    }

    /// `GET /v1/payments?count=1`.
    async fn check(&self, services: &Services) -> Result<(), ProviderFailure> {
        self.get(services, "/v1/payments?count=1").await.map(drop)
    }
}
