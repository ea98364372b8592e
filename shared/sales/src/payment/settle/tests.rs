//! What a settlement does besides settling.

use gateway::clock::DAY;
use gateway::item::Item;

use super::*;
use crate::order::tests::{order, paid};
use crate::payment::tests::{NOW, after, open, seen};
use crate::payment::{ObservedState, RefundState};
use ground::id::{PaymentId, RefundId, StoreId};
use ground::money;

#[test]
fn an_order_that_is_paid_lets_other_promises_go_and_one_paid_in_part_keeps_them() {
    let order = order();
    let (payment_id, other) = (PaymentId::derive(&["one"]), PaymentId::derive(&["other"]));
    let due = order.outstanding();
    let promise = Receipt { payment_id: &other, provider: "stripe", amount: &due };
    let promised = order.authorize(promise, NOW).unwrap().order;
    let held = after(&open(), &seen(ObservedState::Authorized, 129_900));
    for (amount, kept) in [(24_999, true), (25_000, false)] {
        let amount = money::sample(amount);
        let receipt = Receipt { payment_id: &payment_id, provider: "stripe", amount: &amount };
        let settled = promised.settle_payment(receipt, NOW).unwrap().unwrap();
        let (settled, spared) = let_others_go(settled, std::slice::from_ref(&held), NOW);
        assert_eq!((spared.is_empty(), !settled.order.authorized().is_zero()), (kept, kept));
    }
}

#[test]
fn a_refund_at_the_desk_is_the_one_that_was_not_known_before() {
    let refund = |id: &str| PaymentRefund {
        id: RefundId::derive(&[id]),
        amount: money::sample(1),
        status: RefundState::Succeeded,
        provider_reference: None,
        failure_code: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    };
    let with = |refunds: Vec<PaymentRefund>| Payment { refunds, ..open() };
    let (before, after) = (with(vec![refund("a")]), with(vec![refund("a"), refund("b")]));
    assert_eq!(at_desk(&before, &after).map(|new| new.id.clone()), Some(refund("b").id));
    assert!(at_desk(&after, &after).is_none());
}

#[test]
fn a_providers_event_is_kept_for_thirty_days() {
    let event = ProviderEvent {
        provider: ProviderName::Stripe,
        event_id: "evt_1".into(),
        store_id: StoreId::derive(&["s"]),
        payment_id: None,
        kind: "charge.updated".into(),
        sealed_body: String::new(),
        created_at: NOW,
        version: 7,
    };
    assert_eq!((event.forget_at(), event.version()), (Some(NOW.plus(30 * DAY)), 7));
}

#[test]
fn a_refund_at_the_desk_and_the_payment_before_it_are_one_version_of_the_order() {
    let paid = paid(&order());
    let id = paid.payments.first().unwrap().payment_id.clone();
    let amount = money::sample(500);
    let open = order();
    let due = open.outstanding();
    let receipt = Receipt { payment_id: &id, provider: "razorpay", amount: &due };
    let settled = open.settle_payment(receipt, NOW).unwrap().unwrap();
    let refund = RefundId::derive(&["desk"]);
    let (settled, done) = settled.and_refunded(&id, &refund, &amount, NOW);
    let done = done.unwrap();
    assert_eq!((settled.order.version, done.order.version), (2, 2));
    assert_eq!((&settled.order.refunded, &done.order.refunded), (&amount, &amount));
    assert_eq!(settled.outcome, Outcome::Paid);
}
