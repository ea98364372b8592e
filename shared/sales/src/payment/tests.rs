//! The transitions of a payment, and the signatures of providers.

mod attempts;

use core_types::id::RefundId;
use core_types::money::{self, Money};
use core_types::provider::ProviderName;
use crypto::seal::SealKey;
use crypto::signature::hmac_sha256_hex;
use http::{HeaderMap, HeaderValue};
use primitives::clock::Timestamp;
use primitives::problem::Code;
use serde_json::{Value, json};

use super::credentials::ProviderCredentials;
use super::provider::{Forged, Provider, Returned};
use super::razorpay::Razorpay;
use super::stripe::Stripe;
use super::{CaptureMethod, Observed, ObservedState, Payment, PaymentStatus, Source, Transition};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A payment that the customer has not paid.
pub(crate) fn open() -> Payment {
    let zero = money::sample(0);
    Payment {
        status: PaymentStatus::Created,
        authorized: zero.clone(),
        captured: zero,
        provider_payment: None,
        is_applied: false,
        attempts: Vec::new(),
        receipts: Vec::new(),
        ..Payment::sample()
    }
}

/// A provider's report of its payment `pay_1`.
pub(crate) fn observed(state: ObservedState, amount: i64) -> Observed {
    Observed {
        state,
        provider_payment: Some("pay_1".into()),
        amount: Some(money::sample(amount)),
        refunded: Some(money::sample(0)),
        ..Observed::pending("order_DaZlswtdcn9UNV")
    }
}

/// A captured payment of this amount, which may not be the requested one.
pub(crate) fn captured(amount: i64) -> Payment {
    after(&open(), &observed(ObservedState::Captured, amount))
}

/// The status and transition after an event; none if it has nothing new.
pub(crate) fn step(payment: &Payment, observed: &Observed) -> Option<(PaymentStatus, Transition)> {
    let step = payment.observe(observed, Source::Webhook, NOW).unwrap()?;
    assert_eq!(step.payment.version, payment.version.saturating_add(1));
    Some((step.payment.status, step.transition))
}

/// The payment after an event.
pub(crate) fn after(payment: &Payment, observed: &Observed) -> Payment {
    payment.observe(observed, Source::Webhook, NOW).unwrap().unwrap().payment
}

#[test]
fn a_payment_only_goes_forward_whatever_the_order_of_its_events() {
    use ObservedState::{Authorized, Captured, Failed, Pending, Voided};
    let created = open();
    let authorized = after(&created, &observed(Authorized, 129_900));
    let captured = after(&authorized, &observed(Captured, 129_900));
    for state in [Pending, Failed, Authorized, Captured, Voided] {
        assert!(step(&captured, &observed(state, 129_900)).is_none(), "{state:?} is old update");
    }
    assert!(step(&authorized, &observed(Failed, 129_900)).is_none());
    assert!(step(&authorized, &observed(Authorized, 129_900)).is_none());
    let to_voided = (PaymentStatus::Voided, Transition::Voided);
    assert_eq!(step(&authorized, &observed(Voided, 0)), Some(to_voided));
    // A capture counts even after the payment was voided.
    let voided = after(&created, &observed(Voided, 0));
    let to_captured = (PaymentStatus::Captured, Transition::Captured);
    assert_eq!(step(&voided, &observed(Captured, 129_900)), Some(to_captured));
    // The voided authorization is nothing new, but another one is; Stripe has no other one.
    let after_void = after(&authorized, &observed(Voided, 0));
    assert!(step(&after_void, &observed(Authorized, 129_900)).is_none());
    let another =
        Observed { provider_payment: Some("pay_2".into()), ..observed(Authorized, 129_900) };
    let to_authorized = (PaymentStatus::Authorized, Transition::Authorized);
    assert_eq!(step(&after_void, &another), Some(to_authorized));
    let of_stripe = Payment { provider: ProviderName::Stripe, ..after_void };
    assert!(step(&of_stripe, &another).is_none());
    // A customer can try again after a failure.
    let failed = after(&created, &observed(Failed, 129_900));
    assert!(step(&failed, &observed(Failed, 129_900)).is_none(), "the same failure is told once");
    assert_eq!(step(&failed, &observed(Captured, 129_900)), Some(to_captured));
}

#[test]
fn another_amount_is_recorded_and_awaits_a_decision_another_currency_is_not() {
    use ObservedState::{Authorized, Captured};
    for (state, amount) in [(Captured, 1), (Captured, 129_901), (Authorized, 129_899)] {
        let payment = after(&open(), &observed(state, amount));
        assert_eq!(step(&open(), &observed(state, amount)).unwrap().1, Transition::Mismatched);
        assert!(payment.awaits_decision(), "{state:?} {amount}");
        assert_eq!(payment.is_acceptable(), state == Captured);
        assert_eq!(payment.authorized, money::sample(amount));
    }
    let usd: Money = serde_json::from_value(json!({"amount": 129_900, "currency": "USD"})).unwrap();
    for amount in [Some(usd), Some(money::sample(0)), None] {
        let observed = Observed { amount, ..observed(Captured, 0) };
        let problem = open().observe(&observed, Source::Webhook, NOW).unwrap_err();
        assert_eq!(problem.code, Code::AmountMismatch, "{observed:?}");
    }
    // A merchant can capture less than was authorized, even if that was another amount than requested.
    let manual = Payment { capture_method: CaptureMethod::Manual, ..open() };
    let less = after(&manual, &observed(Captured, 1));
    assert_eq!((less.captured.clone(), less.awaits_decision()), (money::sample(1), false));
    let other = after(&open(), &observed(Authorized, 129_899));
    let change = other.observe(&observed(Captured, 129_899), Source::Admin, NOW).unwrap().unwrap();
    assert!(!change.payment.awaits_decision());
}

#[test]
fn reports_of_other_payments_of_the_providers_order_are_ignored() {
    use ObservedState::{Authorized, Captured, Voided};
    let another = |state, refunded: i64| Observed {
        provider_payment: Some("pay_2".into()),
        refunded: Some(money::sample(refunded)),
        ..observed(state, 129_900)
    };
    let captured = after(&open(), &observed(Captured, 129_900));
    assert!(step(&captured, &another(Captured, 129_900)).is_none(), "its refund is not ours");
    let held = after(&open(), &observed(Authorized, 129_900));
    assert!(step(&held, &another(Voided, 129_900)).is_none(), "ours is still held");
    // A response has the payment that holds the authorization now; an event is about one payment alone.
    assert!(step(&held, &another(Authorized, 0)).is_none());
    let moved = held.observe(&another(Authorized, 0), Source::Sync, NOW).unwrap().unwrap();
    assert_eq!(moved.payment.provider_payment.as_deref(), Some("pay_2"));
    assert!(step(&held, &another(Captured, 0)).is_some(), "money counts, whatever carries it");
}

#[test]
fn a_capture_and_refunds_since_then_are_one_transition() {
    let both = |refunded: i64| Observed {
        refunded: Some(money::sample(refunded)),
        ..observed(ObservedState::Captured, 129_900)
    };
    for (refunded, status) in
        [(500, PaymentStatus::PartiallyRefunded), (129_900, PaymentStatus::Refunded)]
    {
        let step = open().observe(&both(refunded), Source::Webhook, NOW).unwrap().unwrap();
        assert_eq!((step.transition, step.has_gone_back), (Transition::Captured, true));
        let payment = step.payment;
        assert_eq!((payment.version, payment.status), (open().version + 1, status));
        assert_eq!((payment.captured.amount, payment.refunded.amount), (129_900, refunded));
        assert!(payment.observe(&both(refunded), Source::Sync, NOW).unwrap().is_none());
    }
}

#[test]
fn a_stripe_charge_that_has_not_succeeded_is_ignored() {
    let of = |status: &str, captured: bool| {
        let body = json!({
            "id": "evt_1", "type": "charge.updated",
            "data": {"object": {
                "object": "charge", "id": "ch_1", "payment_intent": "pi_1", "captured": captured,
                "status": status, "amount": 100, "amount_captured": 100, "amount_refunded": 0,
                "currency": "inr",
            }},
        });
        let body = body.to_string().into_bytes();
        let signed = stripe_headers(NOW.seconds(), &body);
        stripe().webhook(&signed, &body, NOW).unwrap().observed.map(|observed| observed.state)
    };
    assert_eq!(of("succeeded", true), Some(ObservedState::Captured));
    for (status, captured) in [("pending", true), ("failed", true), ("succeeded", false)] {
        assert_eq!(of(status, captured), None, "{status}");
    }
}

#[test]
fn refunds_never_exceed_what_was_captured_also_while_they_are_pending() {
    let captured = after(&open(), &observed(ObservedState::Captured, 129_900));
    let ids: Vec<RefundId> = (0..3).map(|_| RefundId::mint(NOW)).collect();
    let code = |result: Result<Payment, primitives::problem::Problem>| result.unwrap_err().code;
    assert_eq!(
        code(open().begin_refund(&ids[0], &money::sample(1), NOW)),
        Code::PaymentNotCaptured
    );
    let one = captured.begin_refund(&ids[0], &money::sample(100_000), NOW).unwrap();
    assert_eq!(one.refundable(), money::sample(29_900));
    let over = one.begin_refund(&ids[1], &money::sample(29_901), NOW);
    assert_eq!(code(over), Code::RefundExceedsCaptured);
    let nothing = one.begin_refund(&ids[1], &money::sample(0), NOW);
    assert_eq!(code(nothing), Code::RefundExceedsCaptured);
    let two = one.begin_refund(&ids[1], &money::sample(29_900), NOW).unwrap();
    let rejected = two.finish_refund(&ids[0], &Err("no".into()), NOW).unwrap();
    assert_eq!(rejected.transition, Transition::RefundFailed);
    assert_eq!(rejected.payment.refundable(), money::sample(100_000));
    let done = rejected.payment.finish_refund(&ids[1], &Ok("rfnd_1".into()), NOW).unwrap().payment;
    assert_eq!(done.status, PaymentStatus::PartiallyRefunded);
    assert!(done.finish_refund(&ids[1], &Ok("rfnd_1".into()), NOW).is_none(), "recorded once");
    assert!(done.finish_refund(&ids[2], &Ok("rfnd_2".into()), NOW).is_none(), "never begun");
    let rest = done.begin_refund(&ids[2], &money::sample(100_000), NOW).unwrap();
    let all = rest.finish_refund(&ids[2], &Ok("rfnd_2".into()), NOW).unwrap().payment;
    assert_eq!((all.status, all.refundable()), (PaymentStatus::Refunded, money::sample(0)));
}

#[test]
fn a_refund_is_awaited_and_may_fail_at_any_time_but_once() {
    let captured = after(&open(), &observed(ObservedState::Captured, 129_900));
    let id = RefundId::mint(NOW);
    let begun = captured.begin_refund(&id, &money::sample(129_900), NOW).unwrap();
    let awaited = begun.await_refund(&id, "rfnd_1", NOW).unwrap();
    assert_eq!((awaited.transition, awaited.topic().is_none()), (Transition::RefundAwaited, true));
    assert!(awaited.payment.await_refund(&id, "rfnd_1", NOW).is_none(), "said twice");
    assert_eq!(awaited.payment.refundable(), money::sample(0));
    let done = awaited.payment.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
    assert_eq!(done.status, PaymentStatus::Refunded);
    assert!(done.await_refund(&id, "rfnd_1", NOW).is_none(), "old update");
    let back = done.finish_refund(&id, &Err("closed".into()), NOW).unwrap().payment;
    assert_eq!((back.status, back.refunded.clone()), (PaymentStatus::Captured, money::sample(0)));
    assert_eq!(back.refundable(), money::sample(129_900));
    for late in [Ok("rfnd_1".into()), Err("closed".into())] {
        assert!(back.finish_refund(&id, &late, NOW).is_none(), "failed for good");
    }
    // An event that includes the refund may be older than its failure; a response is not.
    let counted = Observed {
        refunded: Some(money::sample(129_900)),
        ..observed(ObservedState::Captured, 129_900)
    };
    assert!(step(&back, &counted).is_none());
    assert!(back.observe(&counted, Source::Sync, NOW).unwrap().is_some());
}

#[test]
fn a_refund_made_at_the_provider_is_counted_once() {
    let captured = after(&open(), &observed(ObservedState::Captured, 129_900));
    let update = Observed {
        refunded: Some(money::sample(500)),
        ..observed(ObservedState::Captured, 129_900)
    };
    let counted = after(&captured, &update);
    assert_eq!(counted.refunded, money::sample(500));
    assert!(step(&counted, &update).is_none());
    // Our own refund, which the provider reports before we have recorded it, is nothing new.
    let ours = captured.begin_refund(&RefundId::mint(NOW), &money::sample(500), NOW).unwrap();
    assert!(step(&ours, &update).is_none());
}

#[test]
fn only_an_authorized_amount_can_be_captured() {
    let authorized = after(&open(), &observed(ObservedState::Authorized, 129_900));
    assert_eq!(authorized.capturable(None).unwrap(), money::sample(129_900));
    let of_stripe = Payment { provider: ProviderName::Stripe, ..authorized.clone() };
    let code = |amount: i64| of_stripe.capturable(Some(&money::sample(amount))).map_err(|p| p.code);
    assert_eq!(code(1), Ok(money::sample(1)));
    assert_eq!(code(129_901), Err(Code::AmountExceedsAuthorized));
    assert_eq!(code(0), Err(Code::ValidationFailed));
    let part = authorized.capturable(Some(&money::sample(1))).unwrap_err();
    assert_eq!(part.code, Code::ValidationFailed, "Razorpay takes all or nothing");
    assert_eq!(open().capturable(None).unwrap_err().code, Code::NotCapturable);
    let cash = Payment { provider: ProviderName::Manual, ..open() };
    assert_eq!(cash.capturable(None).unwrap(), money::sample(129_900));
    assert_eq!(cash.allowed_actions(), ["capture", "void"]);
}

fn credentials(key_id: &str) -> ProviderCredentials {
    ProviderCredentials {
        key_id: key_id.into(),
        secret: "the secret".into(),
        webhook_secret: Some("the webhook secret".into()),
    }
}

fn razorpay() -> Razorpay {
    let credentials = credentials("rzp_test_1");
    Razorpay { credentials, capture_method: CaptureMethod::Automatic }
}

fn stripe() -> Stripe {
    Stripe { credentials: credentials("pk_test_1"), capture_method: CaptureMethod::Automatic }
}

fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
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
    let sign = |secret: &str, order: &str, paid: &str| Returned {
        razorpay_order_id: Some(order.into()),
        razorpay_payment_id: Some(paid.into()),
        razorpay_signature: Some(hmac_sha256_hex(
            secret.as_bytes(),
            &[order.as_bytes(), b"|", paid.as_bytes()],
        )),
        payment_intent: None,
    };
    let ours = payment.provider_reference.as_str();
    let verify = |returned: &Returned| razorpay().verify_return(&payment, returned);
    assert_eq!(verify(&sign("the secret", ours, "pay_1")), Ok(()));
    let genuine = sign("the secret", ours, "pay_1");
    let forged = [
        sign("another secret", ours, "pay_1"),
        sign("the secret", "order_another", "pay_1"),
        Returned { razorpay_payment_id: Some("pay_2".into()), ..genuine.clone() },
        Returned { razorpay_order_id: Some("order_another".into()), ..genuine.clone() },
        Returned { razorpay_signature: Some(String::new()), ..genuine.clone() },
        Returned { razorpay_signature: None, ..genuine },
        Returned::default(),
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
    let notice = razorpay().webhook(&signed, &body(), NOW).unwrap();
    assert_eq!((notice.event_id.as_str(), notice.kind.as_str()), ("evt_1", "payment.captured"));
    let observed = notice.observed.unwrap();
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

fn stripe_headers(seconds: i64, body: &[u8]) -> HeaderMap {
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
        let notice = validate(&stripe_headers(NOW.seconds() - age, &body), &body).unwrap();
        assert_eq!(notice.observed.unwrap().amount, Some(money::sample(100)));
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
    let account: super::account::ProviderAccount = serde_json::from_value(account).unwrap();
    let account = account.with_credentials(&key, &credentials("pk_test_1"));
    let stored: Value = serde_json::to_value(&account).unwrap();
    assert!(!stored.to_string().contains("the secret"), "{stored}");
    assert_eq!(account.last4.as_deref(), Some("cret"));
    assert_eq!(account.credentials(&key).unwrap().secret, "the secret");
    let moved =
        super::account::ProviderAccount { provider: ProviderName::Razorpay, ..account.clone() };
    assert!(moved.credentials(&key).is_none(), "another provider");
    let other = core_types::id::StoreId::mint(NOW);
    assert!(
        super::account::ProviderAccount { store_id: other, ..account }.credentials(&key).is_none()
    );
    for text in [format!("{:?}", credentials("pk")), format!("{:?}", stripe())] {
        assert!(!text.contains("secret"), "{text}");
    }
}
