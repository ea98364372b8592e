//! The signatures of providers, and their sealed credentials.

use crypto::seal::SealKey;
use crypto::signature::hmac_sha256_hex;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::{NOW, ObservedState, Provider, ProviderName, money, open};
use crate::payment::CaptureMethod;
use crate::payment::credentials::ProviderCredentials;
use crate::payment::provider::{Forged, RedirectParameters};
use crate::payment::razorpay::Razorpay;
use crate::payment::stripe::Stripe;

pub(super) fn credentials(key_id: &str) -> ProviderCredentials {
    ProviderCredentials {
        key_id: key_id.into(),
        secret: "the secret".into(),
        webhook_secret: Some("the webhook secret".into()),
    }
}

pub(super) fn razorpay() -> Razorpay {
    let credentials = credentials("rzp_test_1");
    Razorpay { credentials, capture_method: CaptureMethod::Automatic }
}

pub(super) fn stripe() -> Stripe {
    Stripe { credentials: credentials("pk_test_1"), capture_method: CaptureMethod::Automatic }
}

pub(super) fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| {
            (http::HeaderName::from_static(name), HeaderValue::try_from(value).unwrap())
        })
        .collect()
}

#[test]
fn a_return_from_razorpay_is_signed_for_its_order_and_payment() {
    let payment = open();
    let sign = |secret: &str, order: &str, paid: &str| RedirectParameters {
        razorpay_order_id: Some(order.into()),
        razorpay_payment_id: Some(paid.into()),
        razorpay_signature: Some(hmac_sha256_hex(
            secret.as_bytes(),
            &[order.as_bytes(), b"|", paid.as_bytes()],
        )),
        payment_intent: None,
    };
    let ours = payment.provider_reference.as_str();
    let verify = |returned: &RedirectParameters| razorpay().verify_return(&payment, returned);
    assert_eq!(verify(&sign("the secret", ours, "pay_1")), Ok(()));
    let genuine = sign("the secret", ours, "pay_1");
    let forged = [
        sign("another secret", ours, "pay_1"),
        sign("the secret", "order_another", "pay_1"),
        RedirectParameters { razorpay_payment_id: Some("pay_2".into()), ..genuine.clone() },
        RedirectParameters { razorpay_order_id: Some("order_another".into()), ..genuine.clone() },
        RedirectParameters { razorpay_signature: Some(String::new()), ..genuine.clone() },
        RedirectParameters { razorpay_signature: None, ..genuine },
        RedirectParameters::default(),
    ];
    for returned in forged {
        assert_eq!(verify(&returned), Err(Forged), "{returned:?}");
    }
}

fn body() -> Vec<u8> {
    json!({
        "event": "payment.captured",
        "payload": {"payment": {"entity": {
            "id": "pay_1", "order_id": "order_1", "status": "captured", "amount": 100,
            "currency": "INR", "amount_refunded": 0, "method": "upi",
        }}},
    })
    .to_string()
    .into_bytes()
}

#[test]
fn a_razorpay_webhook_is_signed_over_its_body() {
    let signature = hmac_sha256_hex(b"the webhook secret", &[&body()]);
    let signed = headers(&[
        ("x-razorpay-signature", signature.clone()),
        ("x-razorpay-event-id", "evt_1".into()),
    ]);
    let event = razorpay().webhook(&signed, &body(), NOW).unwrap();
    assert_eq!((event.event_id.as_str(), event.kind.as_str()), ("evt_1", "payment.captured"));
    let observed = event.observed.unwrap();
    assert_eq!((observed.state, observed.reference.as_str()), (ObservedState::Captured, "order_1"));
    let altered = [body(), b" ".to_vec()].concat();
    assert_eq!(razorpay().webhook(&signed, &altered, NOW).unwrap_err(), Forged);
    assert_eq!(razorpay().webhook(&HeaderMap::new(), &body(), NOW).unwrap_err(), Forged);
    let mut without = razorpay();
    without.credentials.webhook_secret = None;
    assert_eq!(without.webhook(&signed, &body(), NOW).unwrap_err(), Forged);
    // Without an id in the header, the event's id is the digest of its body.
    let bare = headers(&[("x-razorpay-signature", signature)]);
    let id = |body: &[u8]| razorpay().webhook(&bare, body, NOW).unwrap().event_id;
    assert_eq!(id(&body()), id(&body()));
}

pub(super) fn stripe_headers(seconds: i64, body: &[u8]) -> HeaderMap {
    let time = seconds.to_string();
    let v1 = hmac_sha256_hex(b"the webhook secret", &[time.as_bytes(), b".", body]);
    headers(&[("stripe-signature", format!("t={time},v1={},v1={v1}", "0".repeat(64)))])
}

#[test]
fn a_stripe_webhook_is_signed_and_recent() {
    let body = json!({
        "id": "evt_1", "type": "payment_intent.succeeded",
        "data": {"object": {
            "object": "payment_intent", "id": "pi_1", "status": "succeeded", "amount": 100,
            "amount_received": 100, "currency": "inr", "latest_charge": "ch_1",
        }},
    })
    .to_string()
    .into_bytes();
    let validate = |headers: &HeaderMap, body: &[u8]| stripe().webhook(headers, body, NOW);
    for age in [-300, 0, 300] {
        let event = validate(&stripe_headers(NOW.seconds() - age, &body), &body).unwrap();
        assert_eq!(event.observed.unwrap().amount, Some(money::sample(100)));
    }
    for age in [-301, 301, 86_400] {
        let result = validate(&stripe_headers(NOW.seconds() - age, &body), &body);
        assert_eq!(result.unwrap_err(), Forged, "{age} seconds old");
    }
    let signed = stripe_headers(NOW.seconds(), &body);
    assert_eq!(validate(&signed, b"{}").unwrap_err(), Forged);
    for header in ["", "t=1", "v1=abc", "t=x,v1=y", "t=1767225600,v0=abc"] {
        let headers = headers(&[("stripe-signature", header.to_owned())]);
        assert_eq!(validate(&headers, &body).unwrap_err(), Forged, "{header}");
    }
}

#[test]
fn an_amount_that_stripe_releases_at_a_capture_is_no_refund() {
    // The example of Stripe's documentation: 203.00 captured of 206.75.
    let of = |refunded: i64| {
        let body = json!({
            "id": "evt_1", "type": "charge.captured",
            "data": {"object": {
                "object": "charge", "id": "ch_1", "payment_intent": "pi_1", "captured": true,
                "status": "succeeded",
                "amount": 20_675, "amount_captured": 20_300, "amount_refunded": refunded,
                "currency": "inr",
            }},
        });
        let body = body.to_string().into_bytes();
        let signed = stripe_headers(NOW.seconds(), &body);
        stripe().webhook(&signed, &body, NOW).unwrap().observed.unwrap().refunded
    };
    assert_eq!(of(375), Some(money::sample(0)));
    assert_eq!(of(0), Some(money::sample(0)));
    assert_eq!(of(1_375), Some(money::sample(1_000)));
}

#[test]
fn credentials_are_sealed_for_one_store_and_provider() {
    let key = SealKey::generate();
    let payment = open();
    let account = json!({
        "store_id": payment.store_id, "provider": "stripe", "mode": "test",
        "capture_method": "automatic", "enabled": true, "created_at": NOW, "updated_at": NOW,
        "version": 1,
    });
    let account: crate::payment::account::ProviderAccount =
        serde_json::from_value(account).unwrap();
    let account = account.with_credentials(&key, &credentials("pk_test_1"));
    let stored: Value = serde_json::to_value(&account).unwrap();
    assert!(!stored.to_string().contains("the secret"), "{stored}");
    assert_eq!(account.last4.as_deref(), Some("cret"));
    assert_eq!(account.credentials(&key).unwrap().secret, "the secret");
    let moved = crate::payment::account::ProviderAccount {
        provider: ProviderName::Razorpay,
        ..account.clone()
    };
    assert!(moved.credentials(&key).is_none(), "another provider");
    let other = core_types::id::StoreId::mint(NOW);
    assert!(
        crate::payment::account::ProviderAccount { store_id: other, ..account }
            .credentials(&key)
            .is_none()
    );
    for text in [format!("{:?}", credentials("pk")), format!("{:?}", stripe())] {
        assert!(!text.contains("secret"), "{text}");
    }
}
