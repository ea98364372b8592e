//! Tests of refunds by line and payment, and of their effect on stock.

use primitives::problem::Code;

use super::*;
use crate::order::lines::CancelledLine;
use crate::order::refund::{
    Refund, RefundReason, RestockType, UnusableGiftCard, UnusableGiftCards, WantedLine,
    WantedRefund, WantedShipping,
};
use core_types::id::RefundId;

fn units(order: &Order, quantity: u32, restock_type: RestockType) -> WantedRefund {
    let order_item_id = order.items.first().unwrap().id.clone();
    let line = WantedLine { order_item_id, quantity, restock_type, location_id: None };
    WantedRefund { items: vec![line], ..WantedRefund::default() }
}

fn money(amount: i64) -> Money {
    core_types::money::sample(amount)
}

/// An order paid by two payments: 20,000 and 5,000.
fn paid_twice() -> (Order, PaymentId, PaymentId) {
    let (first, second) = (PaymentId::derive(&["first"]), PaymentId::derive(&["second"]));
    let pay = |order: &Order, payment_id: &PaymentId, amount: i64| {
        let receipt = IncomingPayment { payment_id, provider: "stripe", amount: &money(amount) };
        order.apply_payment(receipt, NOW).unwrap().unwrap().order
    };
    let order = pay(&pay(&order(), &first, 20_000), &second, 5_000);
    (order, first, second)
}

#[test]
fn an_order_that_is_neither_firm_nor_ended_is_not_refundable() {
    let pending = order();
    let rejected = pending.plan_refund(&units(&pending, 99, RestockType::Cancel)).unwrap_err();
    assert_eq!(rejected.code, Code::PaymentNotCaptured);
    let called_off = paid(&pending).cancel(None, true, NOW).unwrap().order;
    assert_eq!(called_off.plan_refund(&WantedRefund::default()).unwrap().amount, money(25_000));
}

#[test]
fn nothing_to_refund_differs_from_nothing_captured() {
    let code = |order: &Order| order.plan_refund(&WantedRefund::default()).unwrap_err().code;
    assert_eq!(code(&order_of("INR", &[(0, 1)], &[])), Code::NothingToRefund, "it was free");
    assert_eq!(code(&order().confirm(NOW).unwrap().order), Code::PaymentNotCaptured);
}

#[test]
fn a_refund_uses_the_named_payment_only() {
    let (order, first, second) = paid_twice();
    let plan = |payment_id: Option<&PaymentId>| {
        let wanted = WantedRefund { payment_id: payment_id.cloned(), ..WantedRefund::default() };
        order.plan_refund(&wanted).unwrap()
    };
    assert_eq!(plan(Some(&second)).to_payments, [(second.clone(), money(5_000))]);
    let both = [(first.clone(), money(20_000)), (second.clone(), money(5_000))];
    assert_eq!(plan(None).to_payments, both);
    let reserved = order.reserve_refund(&plan(Some(&second)), NOW).unwrap();
    let refunded: Vec<_> = reserved.payments.iter().map(|p| p.refunded.amount).collect();
    assert_eq!(refunded, [0, 5_000]);
    let stranger =
        WantedRefund { payment_id: Some(PaymentId::derive(&["no"])), ..WantedRefund::default() };
    assert_eq!(order.plan_refund(&stranger).unwrap_err().code, Code::ValidationFailed);
}

#[test]
fn gift_cards_that_cannot_be_used_are_refunded_last_and_only_as_chosen() {
    let order = paid(&order_of("INR", &[(10_000, 2)], &[3_000, 4_000]));
    let (first, second) = (GiftCardId::derive(&["0"]), GiftCardId::derive(&["1"]));
    let unusable = [UnusableGiftCard { id: first.clone(), status: GiftCardStatus::Disabled }];
    let plan = |amount: i64, choice| {
        let amount = Some(money(amount));
        let wanted =
            WantedRefund { amount, unusable_gift_cards: choice, ..WantedRefund::default() };
        order.plan_refund_without(&wanted, &unusable)
    };
    let some = plan(17_000, None).unwrap();
    assert_eq!(some.to_gift_cards, [(second.clone(), money(4_000))]);
    assert_eq!((some.to_payments[0].1.clone(), some.by_hand.len()), (money(13_000), 0));
    assert_eq!(plan(17_001, None).unwrap_err().code, Code::GiftCardUnusable);
    let by_hand = plan(20_000, Some(UnusableGiftCards::Manual)).unwrap();
    assert_eq!(by_hand.by_hand, [(first.clone(), money(3_000))]);
    let credited = plan(20_000, Some(UnusableGiftCards::Credit)).unwrap();
    assert_eq!(credited.to_gift_cards, [(second, money(4_000)), (first, money(3_000))]);
    for plan in [by_hand, credited] {
        let reserved = order.reserve_refund(&plan, NOW).unwrap();
        assert!(reserved.refundable().is_zero());
        assert!(reserved.gift_cards.iter().all(|card| card.refundable().is_zero()));
    }
}

#[test]
fn only_rejected_parts_are_released() {
    let (order, first, second) = paid_twice();
    let plan = order.plan_refund(&WantedRefund::default()).unwrap();
    let reserved = order.reserve_refund(&plan, NOW).unwrap();
    let reason = (RefundReason::Other, None);
    let mut refund = Refund::of(&order, RefundId::mint(NOW), &plan, reason, NOW);
    let still = [(first.clone(), money(20_000)), (second.clone(), money(5_000))];
    assert_eq!(refund.pending(), still);
    refund.mark(&first, &Ok("rfnd_1".into()));
    assert_eq!(refund.pending(), still[1..]);
    refund.mark(&second, &Err("no".into()));
    assert!(refund.pending().is_empty());
    let next = reserved.refund_rejected(&refund, std::slice::from_ref(&second), NOW);
    let refunded: Vec<_> = next.payments.iter().map(|payment| payment.refunded.amount).collect();
    assert_eq!((refunded, next.refunded), (vec![20_000, 0], money(20_000)));
    let later = NOW.plus(Duration::from_secs(1));
    let changed = refund.changed(later);
    assert_eq!((changed.updated_at, changed.version), (later, refund.version + 1));
}

#[test]
fn units_of_an_ended_order_are_not_cancelled_again() {
    let over = paid(&order()).cancel(None, true, NOW).unwrap().order;
    let rejected = over.plan_refund(&units(&over, 1, RestockType::Cancel)).unwrap_err();
    assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
    let plan = over.plan_refund(&units(&over, 1, RestockType::NoRestock)).unwrap();
    assert_eq!((plan.amount, plan.items[0].restocked), (money(10_000), 0));
    // Nor are those of an order with a late payment: its stock was never committed.
    let id = PaymentId::derive(&["late"]);
    let due = order().outstanding();
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &due };
    let expired = order().expire(NOW.plus(WINDOW)).unwrap().order;
    let late = expired.apply_payment(receipt, NOW).unwrap().unwrap().order;
    let waiting = Order { items: order().items, ..late };
    let rejected = waiting.plan_refund(&units(&waiting, 1, RestockType::Cancel)).unwrap_err();
    assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
}

#[test]
fn returned_units_go_to_the_named_location_and_cancelled_ones_stay() {
    use crate::order::fulfillment::WantedFulfillment;
    let elsewhere = LocationId::derive(&["elsewhere"]);
    let warehouse = LocationId::derive(&["warehouse"]);
    let to = |order: &Order, restock_type| {
        let mut wanted = units(order, 1, restock_type);
        wanted.items[0].location_id = Some(elsewhere.clone());
        let plan = order.plan_refund(&wanted).unwrap();
        let locations: Vec<_> = plan.items[0]
            .restocked_at
            .iter()
            .map(|u| (u.location_id.clone(), u.quantity))
            .collect();
        locations
    };
    let order = paid(&order());
    assert_eq!(to(&order, RestockType::Cancel), [(warehouse.clone(), 1)]);
    assert!(to(&order, RestockType::NoRestock).is_empty());
    let (left, _) = order.fulfill(WantedFulfillment::default(), NOW).unwrap();
    assert_eq!(to(&left, RestockType::Return), [(elsewhere.clone(), 1)]);
    // An untracked variant is put back at no location.
    let mut untracked = left;
    for item in &mut untracked.items {
        (item.tracked, item.location_id, item.allocations) = (false, None, Vec::new());
    }
    assert!(to(&untracked, RestockType::Return).is_empty());
}

#[test]
fn a_shipping_refund_has_its_limit() {
    let mut order = paid(&order());
    order.totals.shipping = money(700);
    order.shipping_refunded = money(200);
    let plan = |shipping| {
        order.plan_refund(&WantedRefund { shipping: Some(shipping), ..WantedRefund::default() })
    };
    assert_eq!(plan(WantedShipping::Full).unwrap().amount, money(500));
    assert_eq!(plan(WantedShipping::Amount(money(500))).unwrap().shipping, money(500));
    let rejected = plan(WantedShipping::Amount(money(501))).unwrap_err();
    assert_eq!(rejected.code, Code::ValidationFailed);
}

#[test]
fn cancelling_refunded_units_owes_no_second_refund() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    for (refunded, owed) in [(0, 2), (1, 1), (2, 0)] {
        let mut refunds = order.clone();
        if refunded > 0 {
            let plan = order.plan_refund(&units(&order, refunded, RestockType::NoRestock)).unwrap();
            refunds = order.reserve_refund(&plan, NOW).unwrap();
        }
        let line = CancelledLine { order_item_id: first.clone(), quantity: 2 };
        let next = refunds.cancel_lines(Some(&[line]), true, None, NOW).unwrap().0.order;
        let item = next.items.first().unwrap();
        assert_eq!((item.waived, item.refundable_cancelled), (owed, owed), "{refunded} refunded");
    }
}

#[test]
fn cancelled_units_are_restocked_unless_written_off() {
    let restocked = |order: &Order| order.items.first().unwrap().restocked();
    let order = order();
    let ended = |order: &Order, restock| order.cancel(None, restock, NOW).unwrap().order;
    assert_eq!(restocked(&order), 0);
    assert_eq!((restocked(&ended(&paid(&order), true)), restocked(&ended(&order, true))), (2, 2));
    assert_eq!(restocked(&ended(&paid(&order), false)), 0);
    assert_eq!(restocked(&ended(&order, false)), 2, "it was only set aside");
}

#[test]
fn units_are_fulfilled_from_their_allocations_only() {
    let (near, far) = (LocationId::derive(&["near"]), LocationId::derive(&["far"]));
    let mut item = order().items.first().unwrap().clone();
    item.quantity = 5;
    item.allocations = vec![Allocation::new(near.clone(), 2), Allocation::new(far.clone(), 3)];
    let at =
        |location_id: &LocationId, quantity| Units { location_id: location_id.clone(), quantity };
    assert_eq!(item.clone().fulfill_units(2, Some(&far)), [at(&far, 2)]);
    assert_eq!(item.clone().fulfill_units(2, None), [at(&near, 2)]);
    assert_eq!(item.clone().fulfill_units(4, None), [at(&near, 2), at(&far, 2)]);
    assert_eq!(item.fulfill_units(2, Some(&near)), [at(&near, 2)]);
    assert_eq!(item.fulfill_units(1, None), [at(&far, 1)], "the first is empty");
    assert_eq!(item.cancel_units(2), [at(&far, 2)]);
}

#[test]
fn a_refund_of_all_that_is_left_covers_the_lines_that_were_paid() {
    let covered = |order: &Order| {
        let plan = order.plan_refund(&WantedRefund::default()).unwrap();
        let lines: Vec<_> = plan.items.iter().map(|line| (line.quantity, line.restocked)).collect();
        (plan.amount.amount, lines)
    };
    let placed = order();
    let paid_order = paid(&placed);
    assert_eq!(covered(&paid_order), (25_000, vec![(2, 0), (1, 0)]));
    let cancelled = paid_order.cancel(None, true, NOW).unwrap().order;
    assert_eq!(covered(&cancelled), (25_000, vec![(2, 0), (1, 0)]));
    let one = paid_order.plan_refund(&units(&paid_order, 1, RestockType::Cancel)).unwrap();
    let partly = paid_order.reserve_refund(&one, NOW).unwrap();
    assert_eq!(covered(&partly), (15_000, vec![(1, 0), (1, 0)]));
    // What was retained is not for any line.
    let fee = Some(money(500));
    let less = WantedRefund { restocking_fee: fee, ..units(&paid_order, 1, RestockType::Cancel) };
    let plan = paid_order.plan_refund(&less).unwrap();
    let retained = paid_order.reserve_refund(&plan, NOW).unwrap();
    assert_eq!(covered(&retained), (15_500, vec![(1, 0), (1, 0)]));
    // Nor can an amount be told to be for one.
    let some = WantedRefund { amount: Some(money(1)), ..WantedRefund::default() };
    let plan = paid_order.plan_refund(&some).unwrap();
    let partly = paid_order.reserve_refund(&plan, NOW).unwrap();
    assert_eq!(covered(&partly), (24_999, vec![]));
    // Units that were cancelled before the payment were not paid.
    let first = placed.items.first().unwrap().id.clone();
    let line = [CancelledLine { order_item_id: first, quantity: 1 }];
    let confirmed = placed.confirm(NOW).unwrap().order;
    let fewer = confirmed.cancel_lines(Some(&line), true, None, NOW).unwrap().0.order;
    assert_eq!(covered(&paid(&fewer)), (15_000, vec![(1, 0), (1, 0)]));
    // The same units, cancelled after it, are refunded as well.
    let later = paid_order.cancel_lines(Some(&line), true, None, NOW).unwrap().0.order;
    assert_eq!(covered(&later), (25_000, vec![(2, 0), (1, 0)]));
}
