//! Tests of a payment's further effects on its order: superseded authorizations and external refunds.

use super::*;
use crate::order::ORDER_REFUNDED;
use crate::order::tests::{order, paid};
use crate::payment::tests::{NOW, after, observed, open};
use crate::payment::{ObservedState, RefundState};
use core_types::id::{PaymentId, RefundId};
use core_types::money;

#[test]
fn a_full_payment_supersedes_other_authorizations_and_a_partial_one_keeps_them() {
    let order = order();
    let (payment_id, other) = (PaymentId::derive(&["one"]), PaymentId::derive(&["other"]));
    let due = order.outstanding();
    let promise = IncomingPayment { payment_id: &other, provider: "stripe", amount: &due };
    let promised = order.authorize(promise, NOW).unwrap().order;
    let held = after(&open(), &observed(ObservedState::Authorized, 129_900));
    for (amount, kept) in [(24_999, true), (25_000, false)] {
        let amount = money::sample(amount);
        let receipt =
            IncomingPayment { payment_id: &payment_id, provider: "stripe", amount: &amount };
        let change = promised.apply_payment(receipt, NOW).unwrap().unwrap();
        let (change, superseded) = supersede(change, std::slice::from_ref(&held), NOW);
        assert_eq!((superseded.is_empty(), !change.order.authorized().is_zero()), (kept, kept));
        assert_eq!(change.payments.is_empty(), kept);
    }
}

#[test]
fn an_external_refund_is_one_that_the_payment_did_not_have() {
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
    assert_eq!(external_refund(&before, &after).map(|new| new.id.clone()), Some(refund("b").id));
    assert!(external_refund(&after, &after).is_none());
}

#[test]
fn an_external_refund_and_the_payment_before_it_are_one_version_of_the_order() {
    let paid = paid(&order());
    let id = paid.payments.first().unwrap().payment_id.clone();
    let amount = money::sample(500);
    let open = order();
    let due = open.outstanding();
    let receipt = IncomingPayment { payment_id: &id, provider: "razorpay", amount: &due };
    let change = open.apply_payment(receipt, NOW).unwrap().unwrap();
    let refund = RefundId::derive(&["external"]);
    let change = change.and_externally_refunded(&id, &refund, &amount, NOW);
    assert_eq!((change.order.version, &change.order.refunded), (2, &amount));
    assert!(change.refund.as_ref().is_some_and(|change| change.refund.amount == amount));
    assert!(change.announces(&ORDER_PAID) && change.announces(&ORDER_REFUNDED));
}
