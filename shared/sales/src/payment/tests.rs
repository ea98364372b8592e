//! The transitions of a payment.

mod attempts;
mod providers;

use core_types::id::RefundId;
use core_types::money::{self, Money};
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use primitives::problem::Code;
use serde_json::json;

use self::providers::{razorpay, stripe, stripe_headers};
use super::provider::Provider;
use super::{
    CaptureMethod, Observed, ObservedState, Payment, PaymentSource, PaymentStatus, Transition,
};

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
    let step = payment.observe(observed, PaymentSource::Webhook, NOW).unwrap()?;
    assert_eq!(step.payment.version, payment.version.saturating_add(1));
    Some((step.payment.status, step.transition))
}

/// The payment after an event.
pub(crate) fn after(payment: &Payment, observed: &Observed) -> Payment {
    payment.observe(observed, PaymentSource::Webhook, NOW).unwrap().unwrap().payment
}

#[test]
fn a_payment_only_moves_forward_in_any_order_of_events() {
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
        let problem = open().observe(&observed, PaymentSource::Webhook, NOW).unwrap_err();
        assert_eq!(problem.code, Code::AmountMismatch, "{observed:?}");
    }
    // A merchant can capture less than was authorized, even if that was another amount than requested.
    let manual = Payment { capture_method: CaptureMethod::Manual, ..open() };
    let less = after(&manual, &observed(Captured, 1));
    assert_eq!((less.captured.clone(), less.awaits_decision()), (money::sample(1), false));
    let other = after(&open(), &observed(Authorized, 129_899));
    let change =
        other.observe(&observed(Captured, 129_899), PaymentSource::Admin, NOW).unwrap().unwrap();
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
    let moved = held.observe(&another(Authorized, 0), PaymentSource::Sync, NOW).unwrap().unwrap();
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
        let step = open().observe(&both(refunded), PaymentSource::Webhook, NOW).unwrap().unwrap();
        assert_eq!((step.transition, step.has_gone_back), (Transition::Captured, true));
        let payment = step.payment;
        assert_eq!((payment.version, payment.status), (open().version + 1, status));
        assert_eq!((payment.captured.amount, payment.refunded.amount), (129_900, refunded));
        assert!(payment.observe(&both(refunded), PaymentSource::Sync, NOW).unwrap().is_none());
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
fn pending_and_completed_refunds_never_exceed_the_captured_amount() {
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
    assert!(back.observe(&counted, PaymentSource::Sync, NOW).unwrap().is_some());
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
