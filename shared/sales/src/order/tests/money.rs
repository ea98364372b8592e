//! Tests of carts, prices, payments and refunds.

use core_types::id::RefundId;
use primitives::problem::Code;

use super::*;
use crate::order::refund::{
    Refund, RefundPlan, RefundReason, RestockType, WantedLine, WantedRefund,
};

fn amount(order: &Order, amount: i64) -> Money {
    Money::new(amount, &order.currency).unwrap()
}

#[test]
fn lines_of_one_variant_are_merged_at_the_first() {
    let lines = merge([line("a", 2), line("b", 1), line("a", 3)]).unwrap();
    let found: Vec<_> = lines.iter().map(|line| (line.quantity, line.position)).collect();
    assert_eq!(found, [(5, 0), (1, 1)]);
}

#[test]
fn empty_and_too_large_carts_are_rejected_with_their_pointer() {
    let field_errors = |lines: Vec<LineInput>| {
        let problem = merge(lines).unwrap_err();
        let violation = problem.errors().first().unwrap().clone();
        (violation.pointer, violation.violation.code)
    };
    assert_eq!(field_errors(Vec::new()), ("/items".into(), "empty_cart"));
    let many = (0..=MAX_LINES).map(|n| line(&n.to_string(), 1)).collect();
    assert_eq!(field_errors(many), ("/items".into(), "too_many"));
    let heavy = vec![line("b", 1), line("a", 600), line("a", 400)];
    assert_eq!(field_errors(heavy), ("/items/1/quantity".into(), "out_of_range"));
}

#[test]
fn a_variant_that_is_not_on_sale_is_unknown() {
    let store = store("INR");
    let mut hidden = offer(&store, "a", 100, 1);
    if let Some(sellable) = &mut hidden.sellable {
        sellable.status = ProductStatus::Draft;
    }
    let lines = || merge([line("a", 1), line("b", 1)]).unwrap();
    let offers = || vec![hidden.clone(), OfferedVariant::default()];
    let problem = price(&store, lines(), offers(), Vec::new(), false).unwrap_err();
    let codes: Vec<_> = problem.errors().iter().map(|error| error.violation.code).collect();
    assert_eq!(codes, ["unknown_variant", "unknown_variant"]);
    // The merchant may order a draft product, but no unknown one.
    let problem = price(&store, lines(), offers(), Vec::new(), true).unwrap_err();
    assert_eq!(problem.errors().len(), 1);
}

#[test]
fn every_line_without_stock_is_reported() {
    let store = store("INR");
    let lines = merge([line("a", 2), line("b", 1), line("c", 9)]).unwrap();
    let offers = vec![offer(&store, "a", 1, 1), offer(&store, "b", 1, 1), offer(&store, "c", 1, 8)];
    let quote = price(&store, lines, offers, Vec::new(), false).unwrap();
    let available: Vec<_> = quote.lines.iter().map(|line| line.is_available).collect();
    assert_eq!(available, [false, true, false]);
    assert_eq!(quote.ensure_stock().unwrap_err().code, Code::InsufficientStock);
}

#[test]
fn an_overselling_variant_is_always_available() {
    let store =
        Store { inventory_policy: identity::store::InventoryPolicy::Continue, ..store("INR") };
    let offers = vec![offer(&store, "a", 1, 0)];
    let lines = merge([line("a", 2)]).unwrap();
    let quote = price(&store, lines, offers, Vec::new(), false).unwrap();
    quote.ensure_stock().unwrap();
}

#[test]
fn an_unexpected_total_is_rejected() {
    let store = store("INR");
    let quote = quote_of(&store, &[(100, 2)], Vec::new());
    quote.ensure_total(None).unwrap();
    quote.ensure_total(Money::new(200, &store.currency).as_ref()).unwrap();
    let rejected = quote.ensure_total(Money::new(199, &store.currency).as_ref()).unwrap_err();
    assert_eq!(rejected.code, Code::PriceChanged);
}

#[test]
fn gift_cards_pay_in_order_up_to_the_amount_due() {
    let order = order_of("INR", &[(1_000, 1)], &[300, 500, 900]);
    let uses: Vec<_> = order.gift_cards.iter().map(|card| card.amount.amount).collect();
    assert_eq!(uses, [300, 500, 200]);
    assert_eq!((order.totals.gift_cards.amount, order.totals.due.amount), (1_000, 0));
    assert_eq!(order.financial_status, FinancialStatus::Paid);
    assert_eq!((order.stock, order.expires_at), (OrderStock::Committed, None));
    // The third card is not used if two suffice.
    let order = order_of("INR", &[(1_000, 1)], &[600, 600, 900]);
    assert_eq!(order.gift_cards.len(), 2);
}

#[test]
fn a_free_order_is_paid_at_once() {
    let order = order_of("INR", &[(0, 1)], &[]);
    assert_eq!(
        (order.financial_status, order.stock),
        (FinancialStatus::Paid, OrderStock::Committed)
    );
}

#[test]
fn a_payment_pays_an_order_once() {
    let order = order();
    let id = PaymentId::derive(&["one"]);
    let due = order.outstanding();
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &due };
    let change = order.apply_payment(receipt, NOW).unwrap().unwrap();
    assert!(change.announces(&ORDER_PAID));
    let next = change.order;
    assert_eq!((next.financial_status, next.stock), (FinancialStatus::Paid, OrderStock::Committed));
    assert_eq!((next.expires_at, next.version), (None, 2));
    assert!(next.apply_payment(receipt, NOW).unwrap().is_none());
}

#[test]
fn an_authorization_makes_an_order_firm_and_its_capture_pays_it() {
    let order = order();
    let id = PaymentId::derive(&["one"]);
    let due = order.outstanding();
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &due };
    let promised = order.authorize(receipt, NOW).unwrap().order;
    assert_eq!(promised.financial_status, FinancialStatus::Authorized);
    assert!(promised.is_firm() && promised.allows(OrderAction::Capture));
    assert!(promised.authorize(receipt, NOW).is_none());
    assert!(promised.expire(NOW.plus(WINDOW)).is_none());
    let part = amount(&order, 1_000);
    let some =
        promised.apply_payment(IncomingPayment { amount: &part, ..receipt }, NOW).unwrap().unwrap();
    assert!(some.announces(&ORDER_UPDATED));
    assert_eq!(some.order.financial_status, FinancialStatus::PartiallyPaid);
    let later = NOW.plus(WINDOW);
    let voided = promised.void_payment(&id, later).unwrap().order;
    assert!(voided.authorized().is_zero() && !voided.allows(OrderAction::Capture));
    assert_eq!((voided.stock, voided.expires_at), (OrderStock::Reserved, Some(later.plus(WINDOW))));
    assert!(voided.is_payable(later) && !voided.allows(OrderAction::Fulfill));
    let confirmed = order.confirm(NOW).unwrap().order.authorize(receipt, NOW).unwrap().order;
    assert!(confirmed.void_payment(&id, NOW).unwrap().order.is_firm(), "the merchant's word");
}

#[test]
fn a_late_payment_is_recorded_without_moving_stock() {
    let expired = order().expire(NOW.plus(WINDOW)).unwrap().order;
    let id = PaymentId::derive(&["late"]);
    let due = expired.totals.due.clone();
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &due };
    let late = expired.apply_payment(receipt, NOW.plus(WINDOW)).unwrap().unwrap();
    assert!(late.announces(&ORDER_UPDATED) && late.stock.is_none());
    assert_eq!((late.order.status, late.order.stock), (OrderStatus::Expired, OrderStock::Released));
    assert!(late.order.allows(OrderAction::Refund));
}

#[test]
fn gift_cards_are_refunded_first() {
    let order = paid(&order_of("INR", &[(1_000, 1)], &[300]));
    let wanted = WantedRefund { amount: Some(amount(&order, 500)), ..WantedRefund::default() };
    let plan = order.plan_refund(&wanted).unwrap();
    let parts = |plan: &crate::order::refund::RefundPlan| {
        let cards: Vec<_> = plan.to_gift_cards.iter().map(|(_, part)| part.amount).collect();
        let payments: Vec<_> = plan.to_payments.iter().map(|(_, part)| part.amount).collect();
        (cards, payments)
    };
    assert_eq!(parts(&plan), (vec![300], vec![200]));
    let next = order.reserve_refund(&plan, NOW).unwrap();
    assert_eq!(next.financial_status, FinancialStatus::PartiallyRefunded);
    let rest = next.plan_refund(&WantedRefund::default()).unwrap();
    assert_eq!(parts(&rest), (Vec::new(), vec![500]));
    let done = next.reserve_refund(&rest, NOW).unwrap();
    assert_eq!(done.financial_status, FinancialStatus::Refunded);
    assert_eq!(done.plan_refund(&WantedRefund::default()).unwrap_err().code, Code::NothingToRefund);
}

#[test]
fn no_more_than_the_captured_amount_is_refunded() {
    let unpaid = order().plan_refund(&WantedRefund::default()).unwrap_err();
    assert_eq!(unpaid.code, Code::PaymentNotCaptured);
    let order = paid(&order());
    let wanted = WantedRefund { amount: Some(amount(&order, 25_001)), ..WantedRefund::default() };
    assert_eq!(order.plan_refund(&wanted).unwrap_err().code, Code::RefundExceedsCaptured);
}

#[test]
fn refundable_units_depend_on_the_restock_type() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    let wanted = |quantity, restock_type| WantedRefund {
        items: vec![WantedLine {
            order_item_id: first.clone(),
            quantity,
            restock_type,
            location_id: None,
        }],
        ..WantedRefund::default()
    };
    // Nothing is fulfilled, so nothing can be returned, but units can be cancelled.
    let rejected = order.plan_refund(&wanted(1, RestockType::Return)).unwrap_err();
    assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
    let plan = order.plan_refund(&wanted(1, RestockType::Cancel)).unwrap();
    assert_eq!(plan.amount.amount, 10_000);
    let next = order.reserve_refund(&plan, NOW).unwrap();
    assert_eq!(next.items.first().unwrap().remaining(), 1);
    let rejected = next.plan_refund(&wanted(2, RestockType::NoRestock)).unwrap_err();
    assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
}

#[test]
fn the_refunds_of_all_units_add_up_to_the_line() {
    for quantity in [1_u32, 3, 7, 13] {
        let mut item = order().items.first().unwrap().clone();
        item.quantity = quantity;
        item.total = Money { amount: 1_000, ..item.total };
        let mut sum = 0;
        for _ in 0..quantity {
            sum += item.worth(1).amount;
            item.refunded += 1;
        }
        assert_eq!(sum, 1_000, "{quantity}");
    }
}

#[test]
fn a_rejected_refund_can_be_repeated() {
    let order = paid(&order_of("INR", &[(1_000, 1)], &[300]));
    let plan = order.plan_refund(&WantedRefund::default()).unwrap();
    let reserved = order.reserve_refund(&plan, NOW).unwrap();
    let id = core_types::id::RefundId::mint(NOW);
    let reason = (crate::order::refund::RefundReason::Other, None);
    let mut refund = crate::order::refund::Refund::of(&order, id, &plan, reason, NOW);
    let payment = plan.to_payments.first().unwrap().0.clone();
    refund.mark(&payment, &Err("no".into()));
    assert_eq!(refund.status, crate::order::refund::RefundStatus::Failed);
    let next = reserved.refund_rejected(&refund, &[payment], NOW);
    assert_eq!((next.refunded.amount, next.refundable().amount), (300, 700));
}

#[test]
fn a_repeated_refund_moves_no_stock_twice() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    let wanted = |quantity| WantedRefund {
        items: vec![WantedLine {
            order_item_id: first.clone(),
            quantity,
            restock_type: RestockType::Cancel,
            location_id: None,
        }],
        ..WantedRefund::default()
    };
    let reject = |order: &Order, plan: &RefundPlan| {
        let reserved = order.reserve_refund(plan, NOW).unwrap();
        let reason = (RefundReason::Other, None);
        let mut refund = Refund::of(order, RefundId::mint(NOW), plan, reason, NOW);
        let payment = plan.to_payments.first().unwrap().0.clone();
        refund.mark(&payment, &Err("no".into()));
        reserved.refund_rejected(&refund, &[payment], NOW)
    };
    let moved = |plan: &RefundPlan| plan.items.first().unwrap().restocked;
    let plan = order.plan_refund(&wanted(1)).unwrap();
    assert_eq!(moved(&plan), 1);
    let next = reject(&order, &plan);
    let line = next.items.first().unwrap();
    assert_eq!((line.remaining(), line.refunded, line.refundable_cancelled), (1, 0, 1));
    let plan = next.plan_refund(&wanted(2)).unwrap();
    assert_eq!(moved(&plan), 1, "the other unit");
    let next = reject(&next, &plan);
    let plan = next.plan_refund(&wanted(2)).unwrap();
    assert_eq!(moved(&plan), 0);
    let done = next.reserve_refund(&plan, NOW).unwrap();
    let line = done.items.first().unwrap();
    assert_eq!((line.cancelled, line.refunded, line.refundable_cancelled), (2, 2, 0));
    let rejected = done.plan_refund(&wanted(1)).unwrap_err();
    assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
}
