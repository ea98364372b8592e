//! Every state takes exactly its own actions.

use gateway::problem::Code;

use super::*;
use crate::order::fulfillment::{FulfillmentLine, Wanted};

fn actions(order: &Order) -> Vec<&'static str> {
    order.allowed_actions()
}

#[test]
fn every_state_lists_exactly_what_it_allows() {
    let open = order();
    assert_eq!(actions(&open), ["update", "confirm", "mark_paid", "cancel", "hold"]);
    let paid = paid(&open);
    let of_paid = ["update", "fulfill", "refund", "cancel", "cancel_lines", "hold", "close"];
    assert_eq!(actions(&paid), of_paid);
    let held = paid.held(NOW).unwrap();
    let of_held = ["update", "refund", "cancel", "cancel_lines", "release", "close"];
    assert_eq!(actions(&held), of_held);
    assert_eq!(actions(&held.released(NOW).unwrap()), actions(&paid));
    let (gone, _) = paid.fulfill(Wanted::default(), NOW).unwrap();
    assert_eq!(actions(&gone), ["update", "refund", "return_lines", "close"]);
    let closed = gone.closed(NOW).unwrap();
    assert_eq!(actions(&closed), ["update", "refund", "return_lines", "reopen"]);
    assert_eq!(actions(&closed.reopened(NOW).unwrap()), actions(&gone));
    let cancelled = open.cancel(None, true, NOW).unwrap().order;
    assert_eq!(actions(&cancelled), ["update"]);
    let expired = open.expire(NOW.plus(WINDOW)).unwrap().order;
    assert_eq!(actions(&expired), ["update"]);
    let paid_cancelled = paid.cancel(None, true, NOW).unwrap().order;
    assert_eq!(actions(&paid_cancelled), ["update", "refund"]);
}

#[test]
fn an_action_that_is_not_listed_is_refused() {
    let expired = order().expire(NOW.plus(WINDOW)).unwrap().order;
    let refused = [
        expired.held(NOW).map(drop),
        expired.released(NOW).map(drop),
        expired.closed(NOW).map(drop),
        expired.reopened(NOW).map(drop),
        expired.cancel(None, true, NOW).map(drop),
        expired.confirm(NOW).map(drop),
        expired.paid_by_hand(&[], None, NOW).map(drop),
    ];
    for outcome in refused {
        assert_eq!(outcome.unwrap_err().code, Code::InvalidStateTransition);
    }
    let refused = expired.fulfill(Wanted::default(), NOW).unwrap_err();
    assert_eq!(refused.code, Code::OrderNotFulfillable);
}

#[test]
fn an_unpaid_order_expires_when_its_window_ends_and_not_before() {
    let order = order_of("INR", &[(1_000, 1)], &[300]);
    let just_before = Timestamp::from_millis(NOW.plus(WINDOW).millis() - 1);
    assert!(order.expire(just_before).is_none());
    let ended = order.expire(NOW.plus(WINDOW)).unwrap();
    let next = &ended.order;
    assert_eq!((next.status, next.stock), (OrderStatus::Expired, StockHold::Released));
    assert_eq!(next.financial_status, FinancialStatus::Expired);
    assert_eq!(next.fulfillment_status, FulfillmentStatus::NotRequired);
    let back: Vec<_> = ended.to_gift_cards.iter().map(|(_, amount)| amount.amount).collect();
    assert_eq!(back, [300]);
    assert!(next.refundable().is_zero() && next.expires_at.is_none());
    assert!(next.expire(NOW.plus(WINDOW)).is_none());
    assert!(paid(&order).expire(NOW.plus(WINDOW)).is_none());
}

#[test]
fn a_confirmed_order_keeps_its_stock_and_waits_for_its_money() {
    let confirmed = order().confirm(NOW).unwrap().order;
    assert_eq!((confirmed.stock, confirmed.expires_at), (StockHold::Committed, None));
    assert_eq!(confirmed.financial_status, FinancialStatus::Pending);
    assert!(confirmed.allows(OrderAction::Fulfill) && confirmed.allows(OrderAction::MarkPaid));
}

#[test]
fn a_draft_becomes_an_order_when_it_is_paid() {
    let store = store("INR");
    let terms = Terms { draft: true, ..Terms::default() };
    let quote = quote_of(&store, &[(100, 1)], Vec::new());
    let draft = Order::place(&store, 7, &quote, Buyer::default(), terms, NOW);
    assert_eq!(actions(&draft), ["update", "confirm", "mark_paid", "cancel"]);
    let paid = draft.paid_by_hand(&[], Some("cash".into()), NOW).unwrap();
    assert_eq!(paid.settled.order.status, OrderStatus::Open);
    assert_eq!(paid.settled.order.financial_status, FinancialStatus::Paid);
    assert_eq!(paid.payment.method.as_deref(), Some("cash"));
}

#[test]
fn lines_leave_by_quantity_and_never_twice() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    let wanted = |quantity| Wanted {
        items: Some(vec![FulfillmentLine { order_item_id: first.clone(), quantity }]),
        ..Wanted::default()
    };
    let refused = order.fulfill(wanted(3), NOW).unwrap_err();
    assert_eq!(refused.code, Code::QuantityExceedsRemaining);
    let (some, fulfillment) = order.fulfill(wanted(1), NOW).unwrap();
    assert_eq!(some.fulfillment_status, FulfillmentStatus::PartiallyFulfilled);
    assert_eq!(order.cancel(None, true, NOW).map(|_| ()).ok(), Some(()));
    assert_eq!(some.cancel(None, true, NOW).unwrap_err().code, Code::AlreadyFulfilled);
    let (all, _) = some.fulfill(Wanted::default(), NOW).unwrap();
    assert_eq!(all.fulfillment_status, FulfillmentStatus::Fulfilled);
    let refused = all.fulfill(Wanted::default(), NOW).unwrap_err();
    assert_eq!(refused.code, Code::NothingToFulfill);
    let (back, called_back) = all.call_back(&fulfillment, NOW).unwrap();
    assert_eq!(back.fulfillment_status, FulfillmentStatus::PartiallyFulfilled);
    assert_eq!(back.call_back(&called_back, NOW).unwrap_err().code, Code::InvalidStateTransition);
}

#[test]
fn a_line_is_named_once_and_must_be_the_orders() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    let line = |id: &OrderItemId| FulfillmentLine { order_item_id: id.clone(), quantity: 1 };
    let stranger = OrderItemId::derive(&["stranger"]);
    let items = Some(vec![line(&first), line(&stranger), line(&first)]);
    let refused = order.fulfill(Wanted { items, ..Wanted::default() }, NOW).unwrap_err();
    let found: Vec<_> =
        refused.errors().iter().map(|e| (e.pointer.as_str(), e.fault.code)).collect();
    let expected =
        [("/items/1/order_item_id", "unknown_order_item"), ("/items/2/order_item_id", "duplicate")];
    assert_eq!(found, expected);
}

#[test]
fn only_what_is_at_a_location_leaves_from_it() {
    let order = paid(&order());
    let elsewhere = Some(LocationId::derive(&["elsewhere"]));
    let wanted = Wanted { location_id: elsewhere.clone(), ..Wanted::default() };
    assert_eq!(order.fulfill(wanted, NOW).unwrap_err().code, Code::NothingToFulfill);
    let first = order.items.first().unwrap().id.clone();
    let items = Some(vec![FulfillmentLine { order_item_id: first, quantity: 1 }]);
    let wanted = Wanted { items, location_id: elsewhere, ..Wanted::default() };
    assert_eq!(order.fulfill(wanted, NOW).unwrap_err().code, Code::InsufficientCommitted);
}
