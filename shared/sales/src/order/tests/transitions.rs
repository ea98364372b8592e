//! Tests of the actions that each status allows.

use primitives::problem::Code;

use super::*;
use crate::order::fulfillment::{Fulfillment, FulfillmentLine, WantedFulfillment};

fn actions(order: &Order) -> Vec<&'static str> {
    order.allowed_actions()
}

#[test]
fn every_status_lists_exactly_its_allowed_actions() {
    let open = order();
    assert_eq!(actions(&open), ["update", "confirm", "mark_paid", "cancel", "hold"]);
    let paid = paid(&open);
    let of_paid = ["update", "fulfill", "refund", "cancel", "cancel_lines", "hold", "close"];
    assert_eq!(actions(&paid), of_paid);
    let held = paid.held(NOW).unwrap();
    let of_held = ["update", "refund", "cancel", "cancel_lines", "release", "close"];
    assert_eq!(actions(&held), of_held);
    assert_eq!(actions(&held.released(NOW).unwrap()), actions(&paid));
    let (fulfilled, _) = paid.fulfill(WantedFulfillment::default(), NOW).unwrap();
    assert_eq!(actions(&fulfilled), ["update", "refund", "return_lines", "close"]);
    let closed = fulfilled.closed(NOW).unwrap();
    assert_eq!(actions(&closed), ["update", "refund", "return_lines", "reopen"]);
    assert_eq!(actions(&closed.reopened(NOW).unwrap()), actions(&fulfilled));
    let cancelled = open.cancel(None, true, NOW).unwrap().order;
    assert_eq!(actions(&cancelled), ["update"]);
    let expired = open.expire(NOW.plus(WINDOW)).unwrap().order;
    assert_eq!(actions(&expired), ["update"]);
    let paid_cancelled = paid.cancel(None, true, NOW).unwrap().order;
    assert_eq!(actions(&paid_cancelled), ["update", "refund"]);
}

#[test]
fn an_action_that_is_not_listed_is_rejected() {
    let expired = order().expire(NOW.plus(WINDOW)).unwrap().order;
    let rejected = [
        expired.held(NOW).map(drop),
        expired.released(NOW).map(drop),
        expired.closed(NOW).map(drop),
        expired.reopened(NOW).map(drop),
        expired.cancel(None, true, NOW).map(drop),
        expired.confirm(NOW).map(drop),
        expired.pay_manually(&[], None, NOW).map(drop),
    ];
    for outcome in rejected {
        assert_eq!(outcome.unwrap_err().code, Code::InvalidStateTransition);
    }
    let rejected = expired.fulfill(WantedFulfillment::default(), NOW).unwrap_err();
    assert_eq!(rejected.code, Code::OrderNotFulfillable);
}

#[test]
fn an_unpaid_order_expires_at_the_end_of_its_window() {
    let order = order_of("INR", &[(1_000, 1)], &[300]);
    let just_before = Timestamp::from_millis(NOW.plus(WINDOW).millis() - 1);
    assert!(order.expire(just_before).is_none());
    let ended = order.expire(NOW.plus(WINDOW)).unwrap();
    let next = &ended.order;
    assert_eq!((next.status, next.stock), (OrderStatus::Expired, OrderStock::Released));
    assert_eq!(next.financial_status, FinancialStatus::Expired);
    assert_eq!(next.fulfillment_status, FulfillmentStatus::NotRequired);
    let back: Vec<_> = ended.cards.iter().map(|(_, amount)| amount.amount).collect();
    assert_eq!(back, [300]);
    assert!(next.refundable().is_zero() && next.expires_at.is_none());
    assert!(next.expire(NOW.plus(WINDOW)).is_none());
    assert!(paid(&order).expire(NOW.plus(WINDOW)).is_none());
}

#[test]
fn a_confirmed_order_commits_its_stock_before_payment() {
    let confirmed = order().confirm(NOW).unwrap().order;
    assert_eq!((confirmed.stock, confirmed.expires_at), (OrderStock::Committed, None));
    assert_eq!(confirmed.financial_status, FinancialStatus::Pending);
    assert!(confirmed.allows(OrderAction::Fulfill) && confirmed.allows(OrderAction::MarkPaid));
}

#[test]
fn a_draft_opens_when_it_is_paid() {
    let store = store("INR");
    let terms = OrderTerms { draft: true, ..OrderTerms::default() };
    let quote = quote_of(&store, &[(100, 1)], Vec::new());
    let draft = Order::place(&store, 7, &quote, Buyer::default(), terms, NOW);
    assert_eq!(actions(&draft), ["update", "confirm", "mark_paid", "cancel"]);
    let paid = draft.pay_manually(&[], Some("cash".into()), NOW).unwrap();
    assert_eq!(paid.order.status, OrderStatus::Open);
    assert_eq!(paid.order.financial_status, FinancialStatus::Paid);
    assert_eq!(paid.payments[0].payment.method.as_deref(), Some("cash"));
}

#[test]
fn lines_are_fulfilled_by_quantity_and_never_twice() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    let wanted = |quantity| WantedFulfillment {
        items: Some(vec![FulfillmentLine { order_item_id: first.clone(), quantity }]),
        ..WantedFulfillment::default()
    };
    let rejected = order.fulfill(wanted(3), NOW).unwrap_err();
    assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
    let (some, fulfillment) = order.fulfill(wanted(1), NOW).unwrap();
    assert_eq!(some.fulfillment_status, FulfillmentStatus::PartiallyFulfilled);
    assert_eq!(order.cancel(None, true, NOW).map(|_| ()).ok(), Some(()));
    assert_eq!(some.cancel(None, true, NOW).unwrap_err().code, Code::AlreadyFulfilled);
    let (all, _) = some.fulfill(WantedFulfillment::default(), NOW).unwrap();
    assert_eq!(all.fulfillment_status, FulfillmentStatus::Fulfilled);
    let rejected = all.fulfill(WantedFulfillment::default(), NOW).unwrap_err();
    assert_eq!(rejected.code, Code::NothingToFulfill);
    let (back, cancelled) = all.cancel_fulfillment(&fulfillment, NOW).unwrap();
    assert_eq!(back.fulfillment_status, FulfillmentStatus::PartiallyFulfilled);
    assert_eq!(
        back.cancel_fulfillment(&cancelled, NOW).unwrap_err().code,
        Code::InvalidStateTransition
    );
}

#[test]
fn a_line_must_belong_to_the_order_and_be_named_once() {
    let order = paid(&order());
    let first = order.items.first().unwrap().id.clone();
    let line = |id: &OrderItemId| FulfillmentLine { order_item_id: id.clone(), quantity: 1 };
    let stranger = OrderItemId::derive(&["stranger"]);
    let items = Some(vec![line(&first), line(&stranger), line(&first)]);
    let rejected = order
        .fulfill(WantedFulfillment { items, ..WantedFulfillment::default() }, NOW)
        .unwrap_err();
    let found: Vec<_> =
        rejected.errors().iter().map(|e| (e.pointer.as_str(), e.violation.code)).collect();
    let expected =
        [("/items/1/order_item_id", "unknown_order_item"), ("/items/2/order_item_id", "duplicate")];
    assert_eq!(found, expected);
}

#[test]
fn a_location_ships_only_its_own_units() {
    let order = paid(&order());
    let elsewhere = Some(LocationId::derive(&["elsewhere"]));
    let wanted =
        WantedFulfillment { location_id: elsewhere.clone(), ..WantedFulfillment::default() };
    assert_eq!(order.fulfill(wanted, NOW).unwrap_err().code, Code::NothingToFulfill);
    let first = order.items.first().unwrap().id.clone();
    let items = Some(vec![FulfillmentLine { order_item_id: first, quantity: 1 }]);
    let wanted =
        WantedFulfillment { items, location_id: elsewhere, ..WantedFulfillment::default() };
    assert_eq!(order.fulfill(wanted, NOW).unwrap_err().code, Code::InsufficientCommitted);
}

#[test]
fn an_address_can_change_until_fulfilment_or_the_end() {
    use crate::order::update::OrderUpdate as Update;
    let address = |line1: &str| -> identity::address::PostalAddress {
        let address = serde_json::json!({
            "first_name": "Ann", "last_name": "Ray", "line1": line1,
            "city": "Delhi", "region": "DL", "postal_code": "110001", "country": "IN",
        });
        serde_json::from_value(address).unwrap()
    };
    let to = |line1| Update { shipping_address: Some(address(line1)), ..Update::default() };
    let order = paid(&order()).updated(to("1 Road"), NOW).unwrap().unwrap();
    assert!(order.updated(to("1 Road"), NOW).unwrap().is_none(), "that is where it goes");
    let moved = order.updated(to("2 Road"), NOW).unwrap().unwrap();
    assert_eq!(moved.shipping_address, Some(address("2 Road")));
    let (left, _) = order.fulfill(WantedFulfillment::default(), NOW).unwrap();
    let over = order.cancel(None, true, NOW).unwrap().order;
    for order in [left, over] {
        let rejected = order.updated(to("2 Road"), NOW).unwrap_err();
        assert_eq!(rejected.code, Code::InvalidStateTransition);
        assert!(order.updated(to("1 Road"), NOW).unwrap().is_none());
        let note = Update { note: Some(Some("n".into())), ..Update::default() };
        assert_eq!(order.updated(note, NOW).unwrap().unwrap().note.as_deref(), Some("n"));
    }
}

#[test]
fn closing_sets_a_time_and_ends_a_hold_and_reopening_clears_it() {
    let held = paid(&order()).held(NOW).unwrap();
    let closed = held.closed(NOW).unwrap();
    assert_eq!((closed.closed_at, closed.on_hold), (Some(NOW), false));
    assert_eq!(closed.reopened(NOW).unwrap().closed_at, None);
}

#[test]
fn a_fulfilment_lists_exactly_its_allowed_actions() {
    let order = paid(&order());
    let (_, shipped) = order.fulfill(WantedFulfillment::default(), NOW).unwrap();
    assert_eq!(shipped.allowed_actions(), ["update", "deliver", "cancel"]);
    let later = NOW.plus(Duration::from_secs(1));
    let delivered = shipped.delivered(later).unwrap();
    assert_eq!(delivered.allowed_actions(), ["update"]);
    assert_eq!((delivered.delivered_at, delivered.updated_at), (Some(later), later));
    assert_eq!(delivered.version, shipped.version + 1);
    assert_eq!(delivered.delivered(NOW).unwrap_err().code, Code::InvalidStateTransition);
    let tracking = crate::order::fulfillment::Tracking {
        number: Some("AB1".into()),
        company: None,
        url: None,
    };
    let tracked = delivered.tracked(tracking.clone(), NOW).unwrap();
    assert_eq!(tracked.tracking, tracking);
    let (left, of_it) = order.fulfill(WantedFulfillment::default(), NOW).unwrap();
    let (_, cancelled) = left.cancel_fulfillment(&of_it, later).unwrap();
    assert_eq!(cancelled.cancelled_at, Some(later));
    assert!(cancelled.allowed_actions().is_empty());
    assert!(cancelled.tracked(tracking, NOW).is_err() && cancelled.delivered(NOW).is_err());
}

#[test]
fn cancelling_a_fulfilment_reopens_its_order_unless_units_were_returned() {
    use crate::order::lines::ReturnedLine;
    let order = paid(&order());
    let (left, fulfillment) = order.fulfill(WantedFulfillment::default(), NOW).unwrap();
    let closed = left.closed(NOW).unwrap();
    let (open, _) = closed.cancel_fulfillment(&fulfillment, NOW).unwrap();
    assert_eq!((open.status, open.closed_at), (OrderStatus::Open, None));
    assert_eq!(open.items, order.items);
    let line = ReturnedLine {
        order_item_id: left.items[0].id.clone(),
        quantity: 1,
        restock: true,
        location_id: None,
    };
    let back = left.return_lines(&[line], None, NOW).unwrap().0.order;
    assert_eq!(
        back.cancel_fulfillment(&fulfillment, NOW).unwrap_err().code,
        Code::InvalidStateTransition
    );
}

#[test]
fn nothing_left_to_fulfil_differs_from_not_firm() {
    let code = |order: &Order| order.fulfill(WantedFulfillment::default(), NOW).unwrap_err().code;
    assert_eq!(code(&order()), Code::OrderNotFulfillable);
    let paid = paid(&order());
    assert_eq!(code(&paid.held(NOW).unwrap()), Code::OrderNotFulfillable);
    let (left, _) = paid.fulfill(WantedFulfillment::default(), NOW).unwrap();
    assert_eq!(code(&left), Code::NothingToFulfill);
    assert_eq!(code(&left.closed(NOW).unwrap()), Code::OrderNotFulfillable);
    let all = left
        .items
        .iter()
        .map(|item| FulfillmentLine { order_item_id: item.id.clone(), quantity: item.quantity });
    let exactly = WantedFulfillment { items: Some(all.collect()), ..WantedFulfillment::default() };
    assert!(paid.fulfill(exactly, NOW).is_ok());
}

#[test]
fn a_fulfilment_without_locations_uses_those_of_its_lines() {
    use table::item::Item;
    let order = paid(&order());
    let (left, fulfillment) = order.fulfill(WantedFulfillment::default(), NOW).unwrap();
    let locations = format!("{:?}", fulfillment.restock_locations(&left));
    assert!(locations.contains(LocationId::derive(&["warehouse"]).as_str()), "{locations}");
    let of_old = Fulfillment { taken: Vec::new(), version: 7, ..fulfillment };
    let (back, _) = left.cancel_fulfillment(&of_old, NOW).unwrap();
    assert_eq!(back.items, order.items);
    assert_eq!(of_old.version(), 7);
}
