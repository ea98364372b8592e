//! Property tests: no sequence of actions breaks an order's sums, in any currency.

use proptest::prelude::*;
use table::item::Index;

use super::*;
use crate::dispute::DisputeStatus;
use crate::order::fulfillment::{Fulfillment, FulfillmentLine, WantedFulfillment};
use crate::order::lines::{CancelledLine, ReturnedLine};
use crate::order::refund::{RestockType, WantedLine, WantedRefund};
use crate::payment::{Payment, PaymentDispute};
use core_types::id::DisputeId;

/// An action on an order; one that its status rejects changes nothing.
#[derive(Debug, Clone)]
enum Action {
    Authorize(u8),
    Pay(u8, i64),
    Void(u8),
    Dispute(u8, i64),
    Confirm,
    Fulfill(usize, u32),
    FulfillAll,
    CallBack(usize),
    RefundAmount(i64),
    RefundLine(usize, u32, RestockType),
    CancelLines(usize, u32, bool),
    ReturnLines(usize, u32, bool),
    Cancel(bool),
    Expire,
    Hold,
    Release,
    Close,
    Reopen,
}

fn action() -> impl Strategy<Value = Action> {
    let restock = prop_oneof![
        Just(RestockType::NoRestock),
        Just(RestockType::Cancel),
        Just(RestockType::Return)
    ];
    prop_oneof![
        (0..3_u8).prop_map(Action::Authorize),
        (0..3_u8, 0..20_000_i64).prop_map(|(payment, amount)| Action::Pay(payment, amount)),
        (0..3_u8).prop_map(Action::Void),
        (0..3_u8, 0..20_000_i64).prop_map(|(payment, held)| Action::Dispute(payment, held)),
        Just(Action::Confirm),
        (0..4_usize, 1..9_u32).prop_map(|(line, units)| Action::Fulfill(line, units)),
        Just(Action::FulfillAll),
        (0..4_usize).prop_map(Action::CallBack),
        (0..20_000_i64).prop_map(Action::RefundAmount),
        (0..4_usize, 1..9_u32, restock)
            .prop_map(|(line, units, restock)| Action::RefundLine(line, units, restock)),
        (0..4_usize, 1..9_u32, any::<bool>())
            .prop_map(|(line, units, restock)| Action::CancelLines(line, units, restock)),
        (0..4_usize, 1..9_u32, any::<bool>())
            .prop_map(|(line, units, restock)| Action::ReturnLines(line, units, restock)),
        any::<bool>().prop_map(Action::Cancel),
        Just(Action::Expire),
        Just(Action::Hold),
        Just(Action::Release),
        Just(Action::Close),
        Just(Action::Reopen),
    ]
}

fn apply(order: &Order, parcels: &mut Vec<Fulfillment>, action: &Action) -> Option<Order> {
    let id = |payment: &u8| PaymentId::derive(&["payment", &payment.to_string()]);
    let money = |amount: i64| Money::new(amount, &order.currency).unwrap();
    let item = |line: &usize| order.items.get(*line).map(|item| item.id.clone());
    match action {
        Action::Authorize(payment) => {
            let (id, amount) = (id(payment), order.outstanding());
            let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &amount };
            order.authorize(receipt, NOW).map(|changed| changed.order)
        }
        Action::Pay(payment, amount) => {
            let (id, amount) = (id(payment), money(*amount));
            let receipt = IncomingPayment { payment_id: &id, provider: "stripe", amount: &amount };
            order.apply_payment(receipt, NOW).unwrap().map(|changed| changed.order)
        }
        Action::Void(payment) => order.void_payment(&id(payment), NOW).map(|changed| changed.order),
        Action::Dispute(payment, held) => {
            let payment = disputed(&id(payment), money(*held));
            let change = OrderChange::none(order).and_disputed(&payment, NOW);
            change.is_order_changed().then_some(change.order)
        }
        Action::Confirm => order.confirm(NOW).ok().map(|confirmed| confirmed.order),
        Action::Fulfill(line, quantity) => {
            let line = FulfillmentLine { order_item_id: item(line)?, quantity: *quantity };
            fulfill(
                order,
                parcels,
                WantedFulfillment { items: Some(vec![line]), ..WantedFulfillment::default() },
            )
        }
        Action::FulfillAll => fulfill(order, parcels, WantedFulfillment::default()),
        Action::CallBack(parcel) => {
            let (next, back) = order.cancel_fulfillment(parcels.get(*parcel)?, NOW).ok()?;
            *parcels.get_mut(*parcel)? = back;
            Some(next)
        }
        Action::RefundAmount(amount) => plan_and_reserve(
            order,
            &WantedRefund { amount: Some(money(*amount)), ..WantedRefund::default() },
        ),
        Action::RefundLine(line, quantity, restock_type) => {
            let (quantity, restock_type) = (*quantity, *restock_type);
            let order_item_id = item(line)?;
            let line = WantedLine { order_item_id, quantity, restock_type, location_id: None };
            plan_and_reserve(order, &WantedRefund { items: vec![line], ..WantedRefund::default() })
        }
        Action::CancelLines(line, quantity, restock) => {
            let line = CancelledLine { order_item_id: item(line)?, quantity: *quantity };
            order
                .cancel_lines(Some(&[line]), *restock, None, NOW)
                .ok()
                .map(|(change, _)| change.order)
        }
        Action::ReturnLines(line, quantity, restock) => {
            let (quantity, restock) = (*quantity, *restock);
            let order_item_id = item(line)?;
            let line = ReturnedLine { order_item_id, quantity, restock, location_id: None };
            order.return_lines(&[line], None, NOW).ok().map(|(change, _)| change.order)
        }
        Action::Cancel(restock) => order.cancel(None, *restock, NOW).ok().map(|ended| ended.order),
        Action::Expire => order.expire(NOW.plus(WINDOW)).map(|ended| ended.order),
        Action::Hold => order.held(NOW).ok(),
        Action::Release => order.released(NOW).ok(),
        Action::Close => order.closed(NOW).ok(),
        Action::Reopen => order.reopened(NOW).ok(),
    }
}

fn fulfill(
    order: &Order,
    parcels: &mut Vec<Fulfillment>,
    wanted: WantedFulfillment,
) -> Option<Order> {
    let (next, parcel) = order.fulfill(wanted, NOW).ok()?;
    parcels.push(parcel);
    Some(next)
}

fn plan_and_reserve(order: &Order, wanted: &WantedRefund) -> Option<Order> {
    let plan = order.plan_refund(wanted).ok()?;
    let parts = plan.to_gift_cards.iter().map(|part| &part.1);
    let parts = parts.chain(plan.to_payments.iter().map(|part| &part.1));
    assert_eq!(Money::sum(parts, &order.currency).unwrap(), plan.amount);
    let covered = plan.items.iter().map(|line| &line.amount).chain([&plan.shipping]);
    let covered = order.refund_of(&Money::sum(covered, &order.currency).unwrap());
    assert!(covered.amount <= plan.amount.amount, "lines and shipping are a part of it");
    Some(order.reserve_refund(&plan, NOW).unwrap())
}

/// A payment of which a dispute holds this amount, whatever its status.
fn disputed(id: &PaymentId, held: Money) -> Payment {
    let (id, status) = (id.clone(), DisputeStatus::NeedsResponse);
    let dispute =
        PaymentDispute { id: DisputeId::derive(&[id.as_str()]), status, held, evidence: None };
    let zero = Money::zero(&dispute.held.currency);
    Payment { id, amount: zero, disputes: vec![dispute], ..Payment::sample() }
}

fn check(order: &Order) {
    let sum = |parts: Vec<&Money>| Money::sum(parts, &order.currency).unwrap();
    let lines = sum(order.items.iter().map(|item| &item.total).collect());
    assert_eq!(lines, order.totals.subtotal);
    let paid = order.totals.gift_cards.plus(&order.totals.due).unwrap();
    assert_eq!(paid, order.totals.total);
    let cards = sum(order.gift_cards.iter().map(|card| &card.amount).collect());
    assert_eq!(cards.plus(&order.captured_by_payments()).unwrap(), order.captured);
    assert!(order.refunded.amount <= order.captured.amount, "refunded ≤ captured");
    let parts = vec![&order.refunded];
    let (held, free) = (order.disputed(), order.refundable());
    assert_eq!(sum([parts, vec![&held, &free]].concat()), order.captured, "nothing is lost");
    let through = order.payments.iter().map(OrderPayment::refundable).collect::<Vec<_>>();
    let cards = order.gift_cards.iter().map(GiftCardUse::refundable).collect::<Vec<_>>();
    assert_eq!(sum(through.iter().chain(&cards).collect()), free, "each part of it can go back");
    let back = order.gift_cards.iter().map(|card| &card.refunded);
    let back = back.chain(order.payments.iter().map(|payment| &payment.refunded));
    assert_eq!(sum(back.collect()), order.refunded);
    assert!(order.gift_cards.iter().all(|card| card.refunded.amount <= card.amount.amount));
    assert!(order.payments.iter().all(|one| one.refunded.amount <= one.captured.amount));
    for item in &order.items {
        assert!(item.fulfilled.saturating_add(item.cancelled) <= item.quantity, "{item:?}");
        assert!(item.refunded_amount.amount <= item.total.amount, "{item:?}");
        assert!(item.unsold.saturating_add(item.waived) <= item.quantity, "{item:?}");
        assert!(item.refunded <= item.sold() && item.returned <= item.fulfilled, "{item:?}");
        assert!(item.discarded <= item.cancelled.saturating_add(item.returned), "{item:?}");
        assert!(item.waived <= item.cancelled.saturating_add(item.returned), "{item:?}");
        let at =
            |count: fn(&Allocation) -> u32| -> u32 { item.allocations().iter().map(count).sum() };
        assert_eq!(at(|one| one.quantity), item.quantity, "{item:?}");
        assert_eq!(at(|one| one.fulfilled), item.fulfilled, "{item:?}");
        assert_eq!(at(|one| one.cancelled), item.cancelled, "{item:?}");
        assert_eq!(at(|one| one.returned), item.returned, "{item:?}");
    }
    if order.stock == OrderStock::Released {
        assert_eq!(order.remaining(), 0, "an order that is over holds nothing");
    }
    let waits = order.status == OrderStatus::Open && order.stock == OrderStock::Reserved;
    assert_eq!(order.expires_at.is_some(), waits, "what waits to be paid expires, and only that");
    let marks = order.indexes().into_iter().filter(|(index, _)| *index == Index::Gsi3);
    let marks: Vec<bool> = marks.map(|(_, position)| position.pk.starts_with("DUE#")).collect();
    match (order.expires_at, order.status) {
        (Some(_), _) => assert_eq!(marks, [true], "due while unpaid"),
        (None, OrderStatus::Open) => assert_eq!(marks, [false], "owed while open"),
        (None, _) if order.is_over() => assert_eq!(marks, [true], "its payments are closed"),
        (None, _) => assert!(marks.is_empty(), "neither waits nor is owed"),
    }
}

/// Splits a line over two locations.
fn split(item: &mut OrderItem) {
    let (warehouse, half) = (item.location_id.clone().unwrap(), item.quantity / 2);
    let attic = LocationId::derive(&["attic"]);
    let parts = [(warehouse, item.quantity.saturating_sub(half)), (attic, half)].into_iter();
    let parts = parts.filter(|(_, units)| *units > 0);
    item.allocations = parts.map(|(at, units)| Allocation::new(at, units)).collect();
}

proptest! {
    #[test]
    fn no_sequence_of_operations_breaks_the_sums(
        currency in prop_oneof![Just("JPY"), Just("INR"), Just("KWD")],
        lines in proptest::collection::vec((0..5_000_i64, 1..9_i64), 1..4),
        cards in proptest::collection::vec(1..9_000_i64, 0..3),
        actions in proptest::collection::vec(action(), 0..25),
        is_split in any::<bool>(),
    ) {
        let mut order = order_of(currency, &lines, &cards);
        if is_split {
            order.items.iter_mut().for_each(split);
        }
        let mut parcels = Vec::new();
        check(&order);
        for action in actions {
            if let Some(next) = apply(&order, &mut parcels, &action) {
                prop_assert!(next.version.checked_sub(order.version) == Some(1), "{:?}", action);
                check(&next);
                order = next;
            }
        }
    }
}
