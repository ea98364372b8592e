//! The records, events and allowed actions of a payment's transitions.

use super::*;
use crate::payment::provider::{Forged, RedirectParameters};
use crate::payment::{
    Action, Attention, PaymentAttempt, PaymentChange, PaymentRefund, RefundState,
};

fn captured() -> Payment {
    super::captured(129_900)
}

fn refund(id: &str, status: RefundState, amount: i64) -> PaymentRefund {
    PaymentRefund {
        id: RefundId::derive(&[id]),
        amount: money::sample(amount),
        status,
        provider_reference: Some("rfnd_1".into()),
        failure_code: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

#[test]
fn each_transition_has_its_topic_also_a_mismatch() {
    let topic = |payment: Payment, transition| {
        let change = PaymentChange { payment, transition, has_gone_back: false };
        change.topic().map(|topic| topic.name)
    };
    for (transition, name) in [
        (Transition::Authorized, Some("payment.authorized")),
        (Transition::Captured, Some("payment.captured")),
        (Transition::Failed, Some("payment.failed")),
        (Transition::Voided, Some("payment.voided")),
        (Transition::Refunded, Some("payment.refunded")),
        (Transition::RefundFailed, None),
        (Transition::RefundAwaited, None),
    ] {
        assert_eq!(topic(captured(), transition), name, "{transition:?}");
    }
    assert_eq!(topic(captured(), Transition::Mismatched), Some("payment.captured"));
    assert_eq!(topic(open(), Transition::Mismatched), Some("payment.authorized"));
}

#[test]
fn attempts_of_the_sweep_are_counted_while_work_is_pending() {
    let tried = |payment: Payment| Payment { tries: 3, tried_at: Some(NOW), ..payment };
    let idle = tried(captured()).changed(NOW);
    assert_eq!((idle.tries, idle.tried_at), (0, None), "what is begun next was not tried yet");
    let pending = Payment { refunds: vec![refund("a", RefundState::Pending, 1)], ..captured() };
    let busy = tried(pending).changed(NOW);
    assert_eq!((busy.tries, busy.tried_at), (3, Some(NOW)));
}

#[test]
fn a_failure_is_recorded_again_if_anything_about_it_is_new() {
    let failed = |code: &str, paid: &str| Observed {
        failure_code: Some(code.into()),
        provider_payment: Some(paid.into()),
        ..observed(ObservedState::Failed, 0)
    };
    let once = after(&open(), &failed("declined", "pay_1"));
    let attempt = once.attempts.last().unwrap();
    assert_eq!((attempt.succeeded, attempt.failure_code.as_deref()), (false, Some("declined")));
    assert!(step(&once, &failed("declined", "pay_1")).is_none());
    assert!(step(&once, &failed("expired", "pay_1")).is_some(), "another reason");
    assert!(step(&once, &failed("declined", "pay_2")).is_some(), "another attempt");
    let before = |change: fn(&mut PaymentAttempt)| {
        let mut known = once.clone();
        known.attempts.iter_mut().for_each(change);
        step(&known, &failed("declined", "pay_1"))
    };
    assert!(before(|attempt| attempt.succeeded = true).is_some(), "that one had worked");
    assert!(before(|attempt| attempt.action = Action::Capture).is_some(), "that was another step");
}

#[test]
fn a_capture_has_a_receipt_and_a_failed_refund_a_reason() {
    let captured_once = captured();
    let receipt = captured_once.receipts.last().unwrap();
    assert_eq!((receipt.action, receipt.amount.amount), (Action::Capture, 129_900));
    assert_eq!(receipt.provider_reference, "pay_1");
    let id = RefundId::derive(&["a"]);
    let begun = captured_once.begin_refund(&id, &money::sample(500), NOW).unwrap();
    let rejected = begun.finish_refund(&id, &Err("closed".into()), NOW).unwrap().payment;
    let attempt = rejected.attempts.last().unwrap();
    assert_eq!((attempt.action, attempt.succeeded), (Action::Refund, false));
    assert_eq!(attempt.failure_code.as_deref(), Some("closed"));
    assert_eq!(rejected.receipts, captured_once.receipts, "nothing went back");
}

#[test]
fn only_the_fifty_newest_receipts_and_attempts_are_stored() {
    let mut payment = captured();
    for nth in 0..60 {
        let id = RefundId::derive(&[&nth.to_string()]);
        let begun = payment.begin_refund(&id, &money::sample(1), NOW).unwrap();
        payment = begun.finish_refund(&id, &Ok(nth.to_string()), NOW).unwrap().payment;
    }
    assert_eq!((payment.receipts.len(), payment.attempts.len()), (50, 50));
    assert_eq!(payment.receipts.last().unwrap().provider_reference, "59");
}

#[test]
fn a_smaller_amount_matches_only_if_a_merchant_captures_it() {
    let held = after(&open(), &observed(ObservedState::Authorized, 129_899));
    for (amount, source, fits) in [
        (129_899, PaymentSource::Admin, true),
        (1, PaymentSource::Admin, true),
        (129_899, PaymentSource::Webhook, false),
        (129_898, PaymentSource::Sync, false),
        (129_901, PaymentSource::Admin, false),
    ] {
        let step = held.observe(&observed(ObservedState::Captured, amount), source, NOW);
        let payment = step.unwrap().unwrap().payment;
        assert_eq!(!payment.awaits_decision(), fits, "{amount} by {source:?}");
    }
}

#[test]
fn a_fully_refunded_payment_has_nothing_refundable() {
    let refunded_all =
        Payment { refunded: money::sample(129_900), status: PaymentStatus::Refunded, ..captured() };
    let more = Observed {
        refunded: Some(money::sample(129_901)),
        ..observed(ObservedState::Captured, 129_900)
    };
    assert!(step(&refunded_all, &more).is_none());
}

#[test]
fn a_payment_is_flagged_once_for_one_reason() {
    let flagged = captured().flagged(Attention::LatePayment, NOW).unwrap();
    assert_eq!(flagged.attention, Some(Attention::LatePayment));
    assert!(flagged.flagged(Attention::LatePayment, NOW).is_none());
    let other = flagged.flagged(Attention::AmountMismatch, NOW).unwrap();
    assert_eq!(other.attention, Some(Attention::AmountMismatch));
}

#[test]
fn a_payment_can_be_voided_until_its_capture() {
    let held = after(&open(), &observed(ObservedState::Authorized, 129_900));
    assert!(open().ensure_voidable().is_ok() && held.ensure_voidable().is_ok());
    let problem = captured().ensure_voidable().unwrap_err();
    assert_eq!(problem.code, Code::InvalidStateTransition);
    assert_eq!(held.allowed_actions(), ["capture", "void", "sync"]);
    assert_eq!(captured().allowed_actions(), ["refund", "sync"]);
}

#[test]
fn our_refund_does_not_hide_one_made_at_the_provider() {
    let id = RefundId::derive(&["a"]);
    let begun = captured().begin_refund(&id, &money::sample(500), NOW).unwrap();
    let ours = begun.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
    let update = Observed {
        refunded: Some(money::sample(700)),
        ..observed(ObservedState::Captured, 129_900)
    };
    assert_eq!(after(&ours, &update).refunded, money::sample(700));
}

#[test]
fn an_unapplied_payment_needs_attention_until_it_is_refunded() {
    let late = Payment { attention: Some(Attention::LatePayment), ..captured() };
    let refund = |payment: &Payment, amount: i64| {
        let id = RefundId::derive(&[&amount.to_string()]);
        let begun = payment.begin_refund(&id, &money::sample(amount), NOW).unwrap();
        let done = begun.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
        let returned = done.finish_refund(&id, &Err("closed".into()), NOW).unwrap().payment;
        (done.attention, returned.attention)
    };
    let flag = Some(Attention::LatePayment);
    assert_eq!(refund(&late, 1), (flag, flag));
    assert_eq!(refund(&late, 129_900), (None, flag));
    let applied = |attention| Payment { attention, is_applied: true, ..captured() };
    assert_eq!(refund(&applied(None), 129_900), (None, None));
    let mismatch = Some(Attention::AmountMismatch);
    assert_eq!(refund(&applied(mismatch), 129_900), (mismatch, mismatch));
}

#[test]
fn a_payment_needs_its_provider_until_nothing_is_pending() {
    let held = after(&open(), &observed(ObservedState::Authorized, 129_900));
    let failed = after(&open(), &observed(ObservedState::Failed, 0));
    let going = Payment { refunds: vec![refund("a", RefundState::Pending, 1)], ..captured() };
    let undecided = super::captured(1);
    for payment in [open(), failed, held, going, undecided] {
        assert!(payment.needs_provider(), "{payment:?}");
        let manual = Payment { provider: ProviderName::Manual, ..payment };
        assert!(!manual.needs_provider());
    }
    assert!(!captured().needs_provider());
    assert!(open().is_open() && !captured().is_open());
}

#[test]
fn a_payment_is_fully_refunded_when_refunds_equal_the_capture() {
    let of = |state, refunded: i64| Observed {
        refunded: Some(money::sample(refunded)),
        ..observed(state, 100)
    };
    assert!(of(ObservedState::Captured, 100).has_all_gone_back());
    assert!(!of(ObservedState::Captured, 99).has_all_gone_back());
    assert!(!of(ObservedState::Authorized, 100).has_all_gone_back());
    let nothing = Observed { amount: None, refunded: None, ..of(ObservedState::Captured, 0) };
    assert!(!nothing.has_all_gone_back());
}

#[test]
fn a_forged_return_is_rejected_by_every_provider() {
    use crate::payment::provider_client::ProviderClient;
    let nothing = RedirectParameters::default();
    for provider_client in [ProviderClient::Razorpay(razorpay()), ProviderClient::Stripe(stripe())]
    {
        assert_eq!(
            provider_client.verify_return(&open(), &nothing),
            Err(Forged),
            "{provider_client:?}"
        );
    }
}

#[test]
fn a_provider_failure_has_a_code_and_may_be_final() {
    use crate::payment::provider::ProviderFailure;
    use primitives::problem::Problem;
    for (failure, code, is_final, answered) in [
        (ProviderFailure::Timeout, "timeout", false, Code::ProviderTimeout),
        (ProviderFailure::Broken("reset".into()), "unreachable", false, Code::ProviderError),
        (ProviderFailure::Unauthorized, "unauthorized", false, Code::ProviderError),
        (ProviderFailure::Busy, "busy", false, Code::ProviderError),
        (ProviderFailure::Rejected("no".into()), "no", true, Code::ProviderError),
    ] {
        assert_eq!((failure.code(), failure.is_final()), (code, is_final));
        let problem = Problem::from(failure.clone());
        assert_eq!(problem.code, answered, "{failure}");
        let is_busy = failure == ProviderFailure::Busy;
        let waits = problem.headers().iter().any(|(name, _)| name == http::header::RETRY_AFTER);
        assert_eq!(waits, is_busy, "{failure}");
    }
    assert_eq!(ProviderFailure::Busy.to_string(), "payment provider: busy");
}

#[test]
fn a_payment_is_written_on_condition_of_its_version() {
    use table::item::Item;
    assert_eq!(Payment { version: 7, ..open() }.version(), 7);
}
