//! Razorpay: its orders API (<https://razorpay.com/docs/api/orders>), payments, refunds, webhooks.
//!
//! An order of Razorpay's may see several payments of which at most one is captured. A customer's
//! return is signed with the key secret, a webhook with the webhook's own.

mod disputes;

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use core_types::fields::Currency;
use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use crypto::seal;
use crypto::signature::{constant_time_eq, hmac_sha256_hex};
use http::{HeaderMap, HeaderName, header};
use primitives::clock::Timestamp;
use primitives::fields::FromText;
use serde_json::{Value, json};
use services::Services;

use super::call::{Call, text};
use super::credentials::ProviderCredentials;
use super::provider::{
    CaptureResult, Client, Forged, Notice, Opened, Provider, ProviderFailure, RefundNotice,
    RefundResult, Returned,
};
use super::units::ProviderUnits;
use super::{CaptureMethod, Observed, ObservedState, Opening, Payment};
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, ObservedDispute};

/// Refunds of one payment that are looked through.
const MAX_REFUNDS: usize = 100;
/// Longest receipt that Razorpay takes.
const MAX_RECEIPT: usize = 40;

/// A store's account with Razorpay.
#[derive(Clone)]
pub struct Razorpay {
    /// What authenticates us, and what authenticates them.
    pub credentials: ProviderCredentials,
    /// When money is taken.
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

/// What captures may wait for. Automatic capture is given as long as an order waits for its
/// payment; what nobody captures goes back to the customer in five days.
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

/// A path segment: references come from the provider, and once from a customer.
fn segment(reference: &str) -> String {
    url::form_urlencoded::byte_serialize(reference.as_bytes()).collect()
}

/// An amount as Razorpay counts it.
fn units(amount: &Money) -> Result<i64, ProviderFailure> {
    let counted = ProviderUnits::of_razorpay(amount).count(amount);
    counted.ok_or_else(|| ProviderFailure::Rejected("amount_not_supported".into()))
}

impl Provider for Razorpay {
    fn name(&self) -> ProviderName {
        ProviderName::Razorpay
    }

    /// `POST /v1/orders`. It has no idempotency key; an order that nobody was told of is never
    /// paid.
    async fn open(
        &self,
        services: &Services,
        id: &PaymentId,
        input: &Opening,
    ) -> Result<Opened, ProviderFailure> {
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
        Ok(Opened { reference, client_secret: None })
    }

    /// The options of Razorpay's checkout script.
    fn client(&self, payment: &Payment, _: Option<String>) -> Client {
        let options = json!({
            "order_id": payment.provider_reference,
            "amount": ProviderUnits::of_razorpay(&payment.amount).count(&payment.amount),
            "currency": payment.amount.currency,
            "receipt": payment.order_number,
            "notes": {"order_id": payment.order_id, "payment_id": payment.id},
        });
        let key_id = Some(self.credentials.key_id.clone());
        Client { key_id, client_secret: None, options }
    }

    /// HMAC-SHA256, in hex, of `order_id|payment_id` under the key secret.
    fn verify_return(&self, payment: &Payment, returned: &Returned) -> Result<(), Forged> {
        let order = returned.razorpay_order_id.as_deref().ok_or(Forged)?;
        let paid = returned.razorpay_payment_id.as_deref().ok_or(Forged)?;
        let signature = returned.razorpay_signature.as_deref().ok_or(Forged)?;
        // Our own reference is signed for, whatever the customer sent along.
        let parts = [payment.provider_reference.as_bytes(), b"|", paid.as_bytes()];
        let expected = hmac_sha256_hex(self.credentials.secret.as_bytes(), &parts);
        let genuine = constant_time_eq(expected.as_bytes(), signature.as_bytes());
        if genuine && order == payment.provider_reference { Ok(()) } else { Err(Forged) }
    }

    fn webhook(&self, headers: &HeaderMap, body: &[u8], _: Timestamp) -> Result<Notice, Forged> {
        let text_of = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let secret = self.credentials.webhook_secret.as_deref().ok_or(Forged)?;
        let signature = text_of("x-razorpay-signature").ok_or(Forged)?;
        let expected = hmac_sha256_hex(secret.as_bytes(), &[body]);
        if !constant_time_eq(expected.as_bytes(), signature.as_bytes()) {
            return Err(Forged);
        }
        let message: Value = serde_json::from_slice(body).map_err(|_| Forged)?;
        let kind = text(&message, "/event").ok_or(Forged)?;
        // The header is not covered by the signature, so an odd one is no reason to lose the event:
        // then, as when there is none, the event is known by its bytes.
        let named = text_of("x-razorpay-event-id").filter(|id| (1..=64).contains(&id.len()));
        let digest = || seal::digest(&String::from_utf8_lossy(body));
        let event_id = named.map_or_else(digest, str::to_owned);
        let refund = message.pointer("/payload/refund/entity").and_then(refund);
        let observed = message.pointer("/payload/payment/entity").and_then(observation);
        let observed = observed.map(|observed| Observed { refund, ..observed });
        let told_at = message.pointer("/created_at").and_then(disputes::time);
        let dispute = message.pointer("/payload/dispute/entity").and_then(disputes::dispute);
        let dispute = dispute.map(|dispute| ObservedDispute { told_at, ..dispute });
        Ok(Notice { event_id, kind, observed, dispute })
    }

    /// `GET /v1/orders/{id}/payments`, of which one is ours: see [`best`].
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

    /// `POST /v1/payments/{id}/capture`. One that was captured already is rejected; then it is
    /// looked at instead.
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

    /// Razorpay gives nothing up on request: what is not captured goes back by itself, and we no
    /// longer capture it. If it was captured, that is what counts.
    async fn void(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        let observed = self.fetch(services, payment).await?;
        if observed.state == ObservedState::Captured {
            return Ok(observed);
        }
        // It is ours that is given up, whatever else the customer has tried.
        let provider_payment = payment.provider_payment.clone().or(observed.provider_payment);
        Ok(Observed { state: ObservedState::Voided, provider_payment, ..observed })
    }

    /// `POST /v1/payments/{id}/refund` under `X-Refund-Idempotency`. Several payments may have
    /// parts in one refund of ours: the key names the payment as well.
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
    async fn look_up_refund(
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
    async fn look_up_dispute(
        &self,
        services: &Services,
        dispute: &Dispute,
    ) -> Result<ObservedDispute, ProviderFailure> {
        let path = format!("/v1/disputes/{}", segment(&dispute.provider_reference));
        disputes::read(&self.get(services, &path).await?)
    }

    /// `PATCH /v1/disputes/{id}/contest`. Razorpay has no idempotency key for it: a draft is the same
    /// however often it is kept, and what was submitted is looked up before it is sent again.
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

/// What has become of a payment, of all that customers have tried for its order: an order of
/// Razorpay's may see many, and carries the money of one. Of money that was taken, the payment
/// known for it counts, or else what was not refunded, or else the first; of what is held, the
/// known one or else the last. One that Razorpay has refunded by itself (it was made twice, or
/// captured too late) hides no other.
fn best(payment: &Payment, observed: Vec<(i64, Observed)>) -> Option<Observed> {
    let is_ours = |observed: &Observed| {
        payment.provider_payment.is_some() && observed.provider_payment == payment.provider_payment
    };
    let is_taken = !payment.captured.is_zero();
    let rank = |(created, observed): &(i64, Observed)| {
        let (ours, has_gone) = (is_ours(observed), observed.has_all_gone_back());
        let (state, when) = match observed.state {
            ObservedState::Captured if ours && is_taken => (7, 0),
            ObservedState::Captured if !has_gone => (6, created.saturating_neg()),
            ObservedState::Captured => (5, created.saturating_neg()),
            ObservedState::Authorized => (4, *created),
            // What was held is held no more.
            ObservedState::Voided if ours => (3, *created),
            ObservedState::Failed => (2, *created),
            ObservedState::Voided => (1, *created),
            ObservedState::Pending => (0, *created),
        };
        (state, ours, when)
    };
    observed.into_iter().max_by_key(rank).map(|(_, observed)| observed)
}

/// A payment of Razorpay's; none when it belongs to no order. One that was refunded without ever
/// having been captured (it came too late, was made twice, or nobody captured it) brought nothing.
fn observation(entity: &Value) -> Option<Observed> {
    let reference = text(entity, "/order_id")?;
    let was_captured = entity.get("captured").and_then(Value::as_bool).unwrap_or(false);
    let state = match entity.get("status")?.as_str()? {
        "authorized" => ObservedState::Authorized,
        "captured" => ObservedState::Captured,
        "refunded" if was_captured => ObservedState::Captured,
        "refunded" => ObservedState::Voided,
        "failed" => ObservedState::Failed,
        _ => ObservedState::Pending,
    };
    let currency = Currency::from_text(entity.get("currency")?.as_str()?).ok()?;
    let units = ProviderUnits::of_razorpay(&Money::zero(&currency));
    let money = |name| Money::new(units.read(entity.get(name)?.as_i64()?)?, &currency);
    let failed = state == ObservedState::Failed;
    Some(Observed {
        state,
        provider_payment: text(entity, "/id"),
        amount: money("amount"),
        refunded: money("amount_refunded"),
        method: text(entity, "/method"),
        failure_code: failed.then(|| text(entity, "/error_code")).flatten(),
        ..Observed::pending(&reference)
    })
}

/// What an event says about a refund; none when it is not one of ours.
fn refund(entity: &Value) -> Option<RefundNotice> {
    Some(RefundNotice { id: refund_id(entity)?, result: refund_result(entity)? })
}

/// The refund of ours that a refund of Razorpay's is.
fn refund_id(refund: &Value) -> Option<RefundId> {
    RefundId::from_text(refund.pointer("/notes/refund_id")?.as_str()?).ok()
}

/// What has become of a refund.
fn refund_result(refund: &Value) -> Option<RefundResult> {
    let reference = text(refund, "/id")?;
    Some(match refund.get("status").and_then(Value::as_str) {
        Some("processed") => RefundResult::Done(reference),
        Some("failed") => RefundResult::Rejected("refund_failed".into()),
        _ => RefundResult::Pending(reference),
    })
}
