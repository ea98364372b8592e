//! Stripe: payment intents (<https://docs.stripe.com/api/payment_intents>), refunds, webhooks.
//!
//! A customer's return proves nothing by itself; the intent is loaded. A `POST` that creates an object has an
//! `Idempotency-Key` derived from our ids. A capture and a cancellation have none: an intent has at most one
//! of each, and for a known key Stripe repeats its first failure.

mod disputes;
mod objects;

use std::fmt;

use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use crypto::signature::{constant_time_eq, hmac_sha256_hex};
use http::{HeaderMap, HeaderName, header};
use objects::{charge, intent, refund, refund_id, refund_result};
use primitives::clock::Timestamp;
use serde_json::{Value, json};
use services::Services;

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

/// The most seconds between the time of a signed webhook and now.
const TOLERANCE: i64 = 300;
/// The version of Stripe's API that this module uses.
const VERSION: &str = "2024-06-20";
/// The most refunds of one payment that are searched.
const MAX_REFUNDS: usize = 100;

/// A store's account with Stripe.
#[derive(Clone)]
pub struct Stripe {
    /// The credentials of the account.
    pub credentials: ProviderCredentials,
    /// The capture method.
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

    async fn get(&self, services: &Services, path: &str) -> Result<Value, ProviderFailure> {
        let url = format!("{}{path}", services.config.payment_base_urls.stripe);
        self.authorized(Call::get(url)).send(services).await
    }

    async fn post(
        &self,
        services: &Services,
        path: &str,
        fields: &[(&str, &str)],
        key: Option<&str>,
    ) -> Result<Value, ProviderFailure> {
        let url = format!("{}{path}", services.config.payment_base_urls.stripe);
        let call = self.authorized(Call::form(url, fields));
        let call = match key {
            Some(key) => call.header(HeaderName::from_static("idempotency-key"), key),
            None => call,
        };
        call.send(services).await
    }

    /// Loads a payment after Stripe has rejected its capture or cancellation. It may have been captured or
    /// cancelled before, and what its bank processes cannot be cancelled.
    async fn after_rejection(
        &self,
        services: &Services,
        payment: &Payment,
        wanted: ObservedState,
        failure: ProviderFailure,
    ) -> Result<Observed, ProviderFailure> {
        if !failure.is_final() {
            return Err(failure);
        }
        match self.fetch(services, payment).await {
            Ok(observed) if observed.state == wanted || explains(observed.state, wanted) => {
                Ok(observed)
            }
            _ => Err(failure),
        }
    }
}

/// Whether Stripe rejects to bring a payment in this state to the wanted one.
fn explains(state: ObservedState, wanted: ObservedState) -> bool {
    match state {
        ObservedState::Captured => true,
        ObservedState::Processing => wanted == ObservedState::Voided,
        _ => false,
    }
}

fn segment(reference: &str) -> String {
    url::form_urlencoded::byte_serialize(reference.as_bytes()).collect()
}

fn path_of(payment: &Payment, rest: &str) -> String {
    format!("/v1/payment_intents/{}{rest}", segment(&payment.provider_reference))
}

/// Converts an amount to Stripe's unit.
fn units(amount: &Money) -> Result<i64, ProviderFailure> {
    let counted = ProviderUnits::of_stripe(&amount.currency).count(amount);
    counted.ok_or_else(|| ProviderFailure::Rejected("amount_not_supported".into()))
}

/// A payment intent has one payment, however often it is attempted.
impl Capable for Stripe {
    const CAPABILITIES: Capabilities = Capabilities {
        is_online: true,
        authorizes_anew: false,
        captures_in_part: true,
        has_several_payments: false,
    };
}

impl Provider for Stripe {
    fn name(&self) -> ProviderName {
        ProviderName::Stripe
    }

    /// `POST /v1/payment_intents`.
    async fn create_payment(
        &self,
        services: &Services,
        id: &PaymentId,
        input: &NewPayment,
    ) -> Result<CreatedPayment, ProviderFailure> {
        let amount = units(&input.amount)?.to_string();
        let currency = input.amount.currency.as_str().to_ascii_lowercase();
        let fields = [
            ("amount", amount.as_str()),
            ("currency", &currency),
            ("capture_method", self.capture_method.as_str()),
            ("automatic_payment_methods[enabled]", "true"),
            ("description", &input.order_number),
            ("metadata[payment_id]", id.as_str()),
            ("metadata[order_id]", input.order_id.as_str()),
            ("metadata[store_id]", input.store_id.as_str()),
        ];
        let answer = self.post(services, "/v1/payment_intents", &fields, Some(id.as_str())).await?;
        let broken = || ProviderFailure::Broken("no payment intent".into());
        let reference = text(&answer, "/id").ok_or_else(broken)?;
        let client_secret = text(&answer, "/client_secret").ok_or_else(broken)?;
        Ok(CreatedPayment { reference, client_secret: Some(client_secret) })
    }

    /// The options of Stripe's script.
    fn client_parameters(&self, payment: &Payment, secret: Option<String>) -> ClientParameters {
        let options = json!({
            "payment_intent": payment.provider_reference,
            "amount": ProviderUnits::of_stripe(&payment.amount.currency).count(&payment.amount),
            "currency": payment.amount.currency.as_str().to_ascii_lowercase(),
        });
        ClientParameters {
            key_id: Some(self.credentials.key_id.clone()),
            client_secret: secret,
            options,
        }
    }

    fn verify_return(
        &self,
        payment: &Payment,
        returned: &RedirectParameters,
    ) -> Result<(), Forged> {
        let named = returned.payment_intent.as_deref().ok_or(Forged)?;
        let reference = payment.provider_reference.as_bytes();
        if constant_time_eq(named.as_bytes(), reference) { Ok(()) } else { Err(Forged) }
    }

    /// `Stripe-Signature: t=…,v1=…[,v1=…]` over `t.body`, at most 300 seconds old.
    fn webhook(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<ProviderWebhookEvent, Forged> {
        let secret = self.credentials.webhook_secret.as_deref().ok_or(Forged)?;
        let header = headers.get("stripe-signature").and_then(|value| value.to_str().ok());
        let header = header.ok_or(Forged)?;
        let parts = || header.split(',').filter_map(|part| part.trim().split_once('='));
        let time = parts().find(|(name, _)| *name == "t").map(|(_, time)| time).ok_or(Forged)?;
        let expected = hmac_sha256_hex(secret.as_bytes(), &[time.as_bytes(), b".", body]);
        // All are compared: while a secret is rotated there are several.
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
            "refund" => refund(object),
            "dispute" => disputes::parse(object),
            _ => None,
        });
        let told_at = message.get("created").and_then(disputes::time);
        let dispute = object.and_then(disputes::dispute);
        let dispute = dispute.map(|dispute| ObservedDispute { told_at, ..dispute });
        Ok(ProviderWebhookEvent { event_id, kind, observed, dispute })
    }

    /// `GET /v1/payment_intents/{id}`, with its charge.
    async fn fetch(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        let answer = self.get(services, &path_of(payment, "?expand%5B%5D=latest_charge")).await?;
        intent(&answer).ok_or_else(|| ProviderFailure::Broken("no payment intent".into()))
    }

    /// `POST /v1/payment_intents/{id}/capture`; what is not captured is released.
    async fn capture(
        &self,
        services: &Services,
        payment: &Payment,
        amount: &Money,
    ) -> Result<CaptureResult, ProviderFailure> {
        let amount = units(amount)?.to_string();
        let fields = [("amount_to_capture", amount.as_str())];
        match self.post(services, &path_of(payment, "/capture"), &fields, None).await {
            Ok(answer) => {
                let observed = intent(&answer);
                observed
                    .map(CaptureResult::by_us)
                    .ok_or_else(|| ProviderFailure::Broken("no intent".into()))
            }
            Err(failure) => {
                let wanted = ObservedState::Captured;
                self.after_rejection(services, payment, wanted, failure)
                    .await
                    .map(CaptureResult::before)
            }
        }
    }

    /// `POST /v1/payment_intents/{id}/cancel`.
    async fn void(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        match self.post(services, &path_of(payment, "/cancel"), &[], None).await {
            Ok(answer) => {
                intent(&answer).ok_or_else(|| ProviderFailure::Broken("no intent".into()))
            }
            Err(failure) => {
                self.after_rejection(services, payment, ObservedState::Voided, failure).await
            }
        }
    }

    /// `POST /v1/refunds`. The key includes the payment, because one refund of an order may be divided over
    /// several payments.
    async fn refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
        amount: &Money,
    ) -> Result<RefundResult, ProviderFailure> {
        let key = format!("{id}-{}", payment.id);
        let amount = units(amount)?.to_string();
        let fields = [
            ("payment_intent", payment.provider_reference.as_str()),
            ("amount", &amount),
            ("metadata[refund_id]", id.as_str()),
        ];
        let answer = self.post(services, "/v1/refunds", &fields, Some(&key)).await?;
        refund_result(&answer).ok_or_else(|| ProviderFailure::Broken("no refund".into()))
    }

    /// `GET /v1/refunds?payment_intent=…`.
    async fn fetch_refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
    ) -> Result<Option<RefundResult>, ProviderFailure> {
        let intent = segment(&payment.provider_reference);
        let path = format!("/v1/refunds?payment_intent={intent}&limit={MAX_REFUNDS}");
        let answer = self.get(services, &path).await?;
        let refunds = answer.get("data").and_then(Value::as_array);
        let mut refunds =
            refunds.ok_or_else(|| ProviderFailure::Broken("no refunds".into()))?.iter();
        let is_ours = |refund: &&Value| refund_id(refund).as_ref() == Some(id);
        Ok(refunds.find(is_ours).and_then(refund_result))
    }

    /// `GET /v1/disputes?payment_intent=…`.
    async fn disputes(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Vec<ObservedDispute>, ProviderFailure> {
        let intent = segment(&payment.provider_reference);
        let path = format!("/v1/disputes?payment_intent={intent}&limit={}", disputes::MAX_DISPUTES);
        let answer = self.get(services, &path).await?;
        let listed = answer.get("data").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| ProviderFailure::Broken("no disputes".into()))?;
        Ok(listed.iter().filter_map(disputes::dispute).collect())
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

    /// `POST /v1/disputes/{id}`, with the evidence's id as the idempotency key.
    async fn send_evidence(
        &self,
        services: &Services,
        dispute: &Dispute,
        evidence: &Evidence,
    ) -> Result<ObservedDispute, ProviderFailure> {
        let path = format!("/v1/disputes/{}", segment(&dispute.provider_reference));
        let fields = disputes::form(evidence);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = self.post(services, &path, &fields, Some(evidence.id.as_str())).await?;
        disputes::read(&answer)
    }

    /// `GET /v1/balance`.
    async fn check(&self, services: &Services) -> Result<(), ProviderFailure> {
        self.get(services, "/v1/balance").await.map(drop)
    }
}
