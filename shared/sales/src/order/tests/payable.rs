//! Tests of the payments that an order accepts, of its expiry, and of its statuses.

use super::*;
use crate::order::fulfillment::WantedFulfillment;
use crate::order::lines::CancelledLine;

fn money(amount: i64) -> Money {
    core_types::money::sample(amount)
}

fn authorized(order: &Order, id: &PaymentId) -> Order {
    let due = order.outstanding();
    let receipt = IncomingPayment { payment_id: id, provider: "stripe", amount: &due };
    order.authorize(receipt, NOW).unwrap().order
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

#[test]
fn an_order_accepts_at_most_its_total_while_an_amount_is_outstanding() {
    let open = order();
    assert!(
        open.accepts_amount(&money(0))
            && open.accepts_amount(&money(25_000))
            && !open.accepts_amount(&money(25_001))
    );
    let paid = paid(&open);
    assert!(paid.accepts_amount(&money(0)) && !paid.accepts_amount(&money(1)));
    let confirmed = open.confirm(NOW).unwrap().order;
    let line = CancelledLine { order_item_id: open.items[0].id.clone(), quantity: 1 };
    let fewer = confirmed.cancel_lines(Some(&[line]), true, None, NOW).unwrap().0.order;
    assert_eq!(fewer.outstanding(), money(15_000));
    assert!(fewer.accepts_amount(&money(25_000)), "somebody may be paying all of it");
    let none = confirmed.cancel_lines(None, true, None, NOW).unwrap().0.order;
    assert!(
        none.outstanding().is_zero()
            && none.accepts_amount(&money(0))
            && !none.accepts_amount(&money(1))
    );
    assert_eq!(none.financial_status, FinancialStatus::Voided);
}

#[test]
fn an_order_is_payable_while_it_is_open_unpaid_and_not_expired() {
    let open = order();
    let last = Timestamp::from_millis(NOW.plus(WINDOW).millis() - 1);
    assert!(open.is_payable(NOW) && open.is_payable(last) && !open.is_payable(NOW.plus(WINDOW)));
    assert!(Order { expires_at: None, ..open.clone() }.is_payable(NOW.plus(WINDOW)));
    let draft = Order { status: OrderStatus::Draft, ..open.clone() };
    let authorized = authorized(&open, &PaymentId::derive(&["one"]));
    for order in [draft, authorized, paid(&open)] {
        assert!(!order.is_payable(NOW), "{:?} {:?}", order.status, order.financial_status);
    }
}

#[test]
fn the_financial_status_of_an_ended_order_follows_its_payments() {
    let cancelled = |order: &Order| order.cancel(None, true, NOW).unwrap().order;
    let status = |order: &Order| order.financial_status;
    assert_eq!(status(&cancelled(&order())), FinancialStatus::Voided);
    let with_card = order_of("INR", &[(1_000, 1)], &[300]);
    assert_eq!(status(&cancelled(&with_card)), FinancialStatus::Voided, "it was set aside");
    assert_eq!(status(&cancelled(&paid(&order()))), FinancialStatus::Paid);
    let free = order_of("INR", &[(0, 1)], &[]);
    assert_eq!(status(&cancelled(&free)), FinancialStatus::Paid);
    let by_card = order_of("INR", &[(1_000, 1)], &[1_000]);
    assert_eq!(status(&cancelled(&by_card)), FinancialStatus::Paid);
    let expired = order().expire(NOW.plus(WINDOW)).unwrap().order;
    assert_eq!(status(&expired), FinancialStatus::Expired);
    let id = PaymentId::derive(&["late"]);
    let due = expired.totals.due.clone();
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &due };
    let late = expired.apply_payment(receipt, NOW).unwrap().unwrap().order;
    assert_eq!(status(&late), FinancialStatus::Paid);
}

#[test]
fn ending_an_order_voids_authorizations_and_leaves_paid_cards_to_refunds() {
    let id = PaymentId::derive(&["one"]);
    let ended = authorized(&order(), &id).cancel(None, true, NOW).unwrap();
    assert!(ended.order.authorized().is_zero());
    let paid = paid(&order_of("INR", &[(1_000, 1)], &[300]));
    assert!(paid.cancel(None, true, NOW).unwrap().cards.is_empty());
    let by_card = order_of("INR", &[(1_000, 1)], &[1_000]);
    assert!(by_card.cancel(None, true, NOW).unwrap().cards.is_empty());
}

#[test]
fn a_newly_paid_order_is_unfulfilled() {
    let order = Order { version: 7, ..order() };
    let later = NOW.plus(minutes(1));
    let next = order.changed(later);
    assert_eq!((next.updated_at, next.version, order.version()), (later, 8, 7));
    assert_eq!(paid(&order).fulfillment_status, FulfillmentStatus::Unfulfilled);
}

#[test]
fn an_authorized_order_lists_exactly_its_allowed_actions() {
    let authorized = authorized(&order(), &PaymentId::derive(&["one"]));
    let expected = ["update", "capture", "fulfill", "cancel", "cancel_lines", "hold", "close"];
    assert_eq!(authorized.allowed_actions(), expected);
    let (left, _) = authorized.fulfill(WantedFulfillment::default(), NOW).unwrap();
    assert!(left.allows(OrderAction::Capture) && !left.allows(OrderAction::Cancel));
}

#[test]
fn an_order_with_fulfilled_units_stays_firm_without_its_authorization() {
    let id = PaymentId::derive(&["one"]);
    let authorized = authorized(&order(), &id);
    let line = CancelledLine { order_item_id: authorized.items[0].id.clone(), quantity: 2 };
    let fewer = authorized.cancel_lines(Some(&[line]), true, None, NOW).unwrap().0.order;
    let none = authorized.cancel_lines(None, true, None, NOW).unwrap().0.order;
    let (left, _) = authorized.fulfill(WantedFulfillment::default(), NOW).unwrap();
    for (order, firm) in [(authorized, false), (fewer, false), (none, true), (left, true)] {
        let lapsed = order.void_payment(&id, NOW).unwrap();
        assert_eq!(lapsed.order.is_firm(), firm, "{:?}", order.fulfillment_status);
        assert!(lapsed.announces(&ORDER_UPDATED));
    }
}

#[test]
fn only_a_voided_uncaptured_payment_can_be_authorized_again() {
    let id = PaymentId::derive(&["one"]);
    let order = order();
    let due = order.outstanding();
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &due };
    let authorized = authorized(&order, &id);
    let voided = authorized.void_payment(&id, NOW).unwrap().order;
    assert!(voided.void_payment(&id, NOW).is_none());
    assert_eq!(voided.authorize(receipt, NOW).unwrap().order.payments.len(), 1);
    let mut taken = voided;
    taken.payments[0].captured = money(1);
    assert!(taken.authorize(receipt, NOW).is_none());
}

#[test]
fn the_expiry_is_extended_and_never_shortened() {
    let order = order();
    let wait = |window: Option<Duration>, after: u64| {
        order.with_payment_window(window, NOW.plus(minutes(after))).map(|next| {
            assert_eq!(next.version, order.version + 1);
            (next.expires_at, next.payment_window)
        })
    };
    let until = |minutes_more| Some(NOW.plus(minutes(minutes_more)));
    assert_eq!(order.payment_window, Some(WINDOW.as_secs()));
    assert_eq!(wait(Some(minutes(60)), 0), Some((until(60), Some(3_600))));
    assert_eq!(wait(Some(minutes(20)), 0), None);
    assert_eq!(wait(Some(minutes(20)), 10), None, "until the same moment");
    assert_eq!(wait(Some(minutes(20)), 11), Some((until(31), Some(1_200))));
    assert_eq!(wait(Some(minutes(30)), 5), None, "it waits for that already");
    assert_eq!(wait(None, 0), Some((None, None)), "for ever");
    assert!(paid(&order).with_payment_window(None, NOW).is_none());
    let draft = Order { status: OrderStatus::Draft, ..order.clone() };
    assert!(draft.with_payment_window(None, NOW).is_none());
}

#[test]
fn a_failed_payment_is_recorded_once_while_payment_is_awaited() {
    let failed = order().payment_failed(NOW).unwrap();
    assert_eq!((failed.payment_failed, failed.financial_status), (true, FinancialStatus::Failed));
    assert!(failed.payment_failed(NOW).is_none());
    let authorized = authorized(&order(), &PaymentId::derive(&["one"]));
    let expired = order().expire(NOW.plus(WINDOW)).unwrap().order;
    for order in [paid(&order()), authorized, expired] {
        assert!(order.payment_failed(NOW).is_none(), "{:?}", order.financial_status);
    }
    assert!(!paid(&failed).payment_failed);
}

#[test]
fn gift_cards_of_an_unpaid_order_are_no_revenue() {
    let with_card = order_of("INR", &[(1_000, 1)], &[300]);
    assert_eq!((with_card.captured.amount, with_card.net_revenue()), (300, 0));
    assert_eq!(paid(&with_card).net_revenue(), 1_000);
    assert_eq!(order_of("INR", &[(1_000, 1)], &[1_000]).net_revenue(), 1_000);
    let confirmed = with_card.confirm(NOW).unwrap().order;
    assert_eq!(confirmed.net_revenue(), 0);
    let id = PaymentId::derive(&["part"]);
    let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &money(200) };
    let partly = with_card.apply_payment(receipt, NOW).unwrap().unwrap().order;
    assert_eq!(partly.net_revenue(), 500);
}

#[test]
fn an_authorization_is_not_captured_once_nothing_is_outstanding() {
    let authorized = authorized(&order(), &PaymentId::derive(&["one"]));
    let none = authorized.cancel_lines(None, true, None, NOW).unwrap().0.order;
    assert!(!none.authorized().is_zero() && none.outstanding().is_zero());
    assert!(authorized.allows(OrderAction::Capture) && !none.allows(OrderAction::Capture));
}
