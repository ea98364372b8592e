//! Units of an order that are cancelled, or come back, whatever becomes of their money.

use support::{Market, Placed, Reply, Value, cart, inr, json, race, unique};

/// So many units of the first line.
fn first(placed: &Placed, quantity: i64) -> Value {
    json!({"order_item_id": placed.line(0), "quantity": quantity})
}

fn some(placed: &Placed, quantity: i64) -> Value {
    json!({"items": [first(placed, quantity)]})
}

fn allows(reply: &Reply, action: &str) -> bool {
    reply.at("/allowed_actions").as_array().unwrap().contains(&json!(action))
}

async fn back_room(market: &Market) -> String {
    let input = json!({"name": "Back room", "address": {"country": "IN"}});
    market.owner.post("/v1/inventory/locations").json(input).await.expect(201).str("/id")
}

/// The store's only location goes out of use; what is there moves to this one.
async fn close_first(market: &Market, room: &str) -> String {
    let all = market.owner.get("/v1/inventory/locations").await.expect(200);
    let mut ids = all.data().iter().map(|one| one["id"].as_str().unwrap().to_owned());
    let main = ids.find(|id| id != room).unwrap();
    let path = format!("/v1/inventory/locations/{main}/deactivate");
    let gone = market.owner.post(&path).json(json!({"move_stock_to": room})).await.expect(200);
    assert_eq!(*gone.at("/active"), json!(false));
    main
}

#[tokio::test]
async fn the_unfulfilled_units_of_a_refunded_order_can_be_cancelled() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 2).await;
    market.act(&placed.id, "fulfill", some(&placed, 1)).await.expect(201);
    market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(market.levels(&book).await, [8, 0, 1, 9]);
    let before = market.show(&placed.id).await;
    assert!(allows(&before, "cancel_lines") && allows(&before, "return_lines"));
    let path = format!("/v1/orders/{}/lines/cancel", placed.id);
    let cancel = || {
        let input = json!({"reason": "Not wanted any more"});
        market.owner.post(&path).key("the-rest").if_match(&before.etag()).json(input)
    };
    let keyless = market.owner.post(&path).json(json!({})).await.expect(400);
    keyless.problem("idempotency_key_required");
    let done = cancel().await.expect(200);
    assert_eq!(done.str("/fulfillment_status"), "fulfilled");
    assert_eq!(done.str("/financial_status"), "refunded");
    assert_eq!((done.int("/items/0/cancelled"), done.int("/items/0/remaining")), (1, 0));
    assert_eq!(done.int("/lines/0/restocked_at/0/quantity"), 1);
    assert!(!allows(&done, "cancel_lines"));
    assert_eq!(cancel().await.expect(200).text, done.text, "the same request, the same answer");
    assert_eq!(market.levels(&book).await, [9, 0, 0, 9]);
    let none = market.act(&placed.id, "lines/cancel", json!({})).await.expect(409);
    none.problem("invalid_state_transition");
    let back = market.act(&placed.id, "lines/return", some(&placed, 1)).await.expect(200);
    assert_eq!((back.int("/items/0/returned"), back.int("/items/0/restocked")), (1, 2));
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
    for event in ["order.lines_cancelled", "order.lines_returned"] {
        let events = market.gateway.events(event).await;
        assert_eq!(events.len(), 1, "{event}");
        assert_eq!(events[0]["data"]["lines"][0]["quantity"], json!(1));
    }
    market.audit(&book).await;
}

#[tokio::test]
async fn cancelled_and_returned_units_reduce_the_amount_due() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.order(cart(&[(&book, 4)])).await;
    let early = market.act(&placed.id, "lines/cancel", some(&placed, 1)).await.expect(409);
    early.problem("invalid_state_transition");
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    let less = market.act(&placed.id, "lines/cancel", some(&placed, 1)).await.expect(200);
    assert_eq!((less.int("/outstanding/amount"), less.int("/refundable/amount")), (3_000, 0));
    assert_eq!(less.str("/financial_status"), "pending");
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    // Of three that came, one was rejected on delivery, and it is broken.
    let mut broken = some(&placed, 1);
    broken["items"][0]["restock_type"] = json!("no_restock");
    let back = market.act(&placed.id, "lines/return", broken).await.expect(200);
    assert_eq!(back.int("/outstanding/amount"), 2_000);
    assert_eq!((back.int("/items/0/returned"), back.int("/items/0/restocked")), (1, 1));
    assert_eq!(market.levels(&book).await, [7, 0, 0, 7]);
    let paid = market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(paid.str("/financial_status"), "paid");
    assert_eq!(paid.int("/captured_total/amount"), 2_000);
    // One of the two that were paid comes back with its money: the broken one is spoken for.
    let mut line = first(&placed, 1);
    line["restock_type"] = json!("no_restock");
    let input = json!({"items": [line]});
    let refund = market.act(&placed.id, "refund", input).await.expect(201);
    assert_eq!(*refund.at("/order/refundable"), inr(1_000));
    assert_eq!(market.levels(&book).await, [7, 0, 0, 7]);
    market.audit(&book).await;
}

#[tokio::test]
async fn cancelling_units_leaves_the_financial_status_voided_or_paid() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.order(cart(&[(&book, 2)])).await;
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    let gone = market.act(&placed.id, "lines/cancel", json!({})).await.expect(200);
    assert_eq!(gone.str("/financial_status"), "voided");
    assert_eq!(gone.str("/fulfillment_status"), "not_required");
    assert_eq!(*gone.at("/outstanding"), inr(0));
    let late = market.act(&placed.id, "mark-paid", json!({})).await.expect(409);
    late.problem("order_already_paid");
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
    let (card, code) = market.gift_card(1_000).await;
    let mut input = cart(&[(&book, 2)]);
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    let half = market.act(&placed.id, "lines/cancel", some(&placed, 1)).await.expect(200);
    assert_eq!(half.str("/financial_status"), "paid");
    assert_eq!(market.gateway.events("order.paid").await.len(), 1);
    market.act(&placed.id, "lines/cancel", json!({})).await.expect(200);
    let refund = market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(refund.str("/order/financial_status"), "refunded");
    assert_eq!(market.balance(&card).await, 1_000);
    market.audit(&book).await;
}

#[tokio::test]
async fn no_more_units_are_cancelled_or_returned_than_remain() {
    let market = Market::open().await;
    let (book, pen) = (market.stock(1_000, 10).await, market.stock(500, 10).await);
    let placed = market.order(cart(&[(&book, 3), (&pen, 1)])).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", some(&placed, 1)).await.expect(201);
    for (action, most) in [("lines/cancel", 2), ("lines/return", 1)] {
        let over = market.act(&placed.id, action, some(&placed, most + 1)).await.expect(409);
        let over = over.problem("quantity_exceeds_remaining");
        assert_eq!(*over.at("/items/0/remaining"), json!(most), "{action}");
        let twice = json!({"items": [first(&placed, 1), first(&placed, 1)]});
        let twice = market.act(&placed.id, action, twice).await.expect(422);
        let field_error = ("/items/1/order_item_id".into(), "duplicate".into());
        assert_eq!(twice.field_errors(), [field_error], "{action}");
        let none = market.act(&placed.id, action, json!({"items": []})).await.expect(422);
        assert_eq!(none.field_errors(), [("/items".into(), "too_few".into())], "{action}");
    }
    let called_off = json!({"items": [{
        "order_item_id": placed.line(0), "quantity": 1, "restock_type": "cancel",
    }]});
    let odd = market.act(&placed.id, "lines/return", called_off).await.expect(422);
    assert_eq!(odd.field_errors(), [("/items/0/restock_type".into(), "invalid_choice".into())]);
    let mut lost = some(&placed, 2);
    lost["restock"] = json!(false);
    let done = market.act(&placed.id, "lines/cancel", lost).await.expect(200);
    assert_eq!((done.int("/items/0/cancelled"), done.int("/items/0/restocked")), (2, 0));
    assert_eq!(market.levels(&book).await, [7, 0, 0, 7]);
    market.act(&placed.id, "lines/return", some(&placed, 1)).await.expect(200);
    assert_eq!(market.levels(&book).await, [8, 0, 0, 8]);
    // All three units of the line can still be refunded, and move nothing any more.
    let line = |restock_type: &str, quantity: i64| {
        json!({"items": [{
            "order_item_id": placed.line(0), "quantity": quantity, "restock_type": restock_type,
        }]})
    };
    market.act(&placed.id, "refund", line("cancel", 3)).await.expect(409);
    market.act(&placed.id, "refund", line("cancel", 2)).await.expect(201);
    let rest = market.act(&placed.id, "refund", line("return", 1)).await.expect(201);
    assert_eq!(*rest.at("/order/refundable"), inr(500));
    assert_eq!(market.levels(&book).await, [8, 0, 0, 8]);
    assert_eq!(market.levels(&pen).await, [9, 0, 1, 10]);
    market.audit(&book).await;
    market.audit(&pen).await;
}

#[tokio::test]
async fn units_are_not_restocked_at_an_inactive_location() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let room = back_room(&market).await;
    let placed = market.paid(&book, 3).await;
    let parcel = market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let main = close_first(&market, &room).await;
    let mut back = some(&placed, 1);
    back["items"][0]["restock_type"] = json!("return");
    let field_error = [("/items/0/location_id".into(), "location_inactive".into())];
    for action in ["lines/return", "refund", "refund/calculate"] {
        let rejected = market.act(&placed.id, action, back.clone()).await.expect(422);
        assert_eq!(rejected.field_errors(), field_error, "{action}");
        let mut named = back.clone();
        named["items"][0]["location_id"] = json!(main);
        let rejected = market.act(&placed.id, action, named).await.expect(422);
        assert_eq!(rejected.field_errors(), field_error, "{action}");
    }
    let path = format!("fulfillments/{}/cancel", parcel.str("/fulfillment/id"));
    let rejected = market.act(&placed.id, &path, json!({})).await.expect(409);
    assert_eq!(*rejected.problem("location_inactive").at("/location_id"), json!(main));
    assert_eq!(market.levels(&book).await, [7, 0, 0, 7]);
    back["items"][0]["location_id"] = json!(room);
    market.act(&placed.id, "lines/return", back.clone()).await.expect(200);
    market.act(&placed.id, "refund", back.clone()).await.expect(201);
    assert_eq!(market.levels(&book).await, [8, 0, 0, 8], "it had come back before the refund");
    market.act(&placed.id, "refund", back).await.expect(201);
    assert_eq!(market.levels(&book).await, [9, 0, 0, 9]);
    // In use again, it takes back what left from there.
    let open = format!("/v1/inventory/locations/{main}/activate");
    market.owner.post(&open).json(json!({})).await.expect(200);
    market.act(&placed.id, "lines/return", some(&placed, 1)).await.expect(200);
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
    market.audit(&book).await;
}

#[tokio::test]
async fn parallel_cancellations_cancel_units_once() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 3).await;
    let path = format!("/v1/orders/{}/lines/cancel", placed.id);
    let answers = race(20, || {
        let input = market.owner.post(&path).key(&unique("off")).json(some(&placed, 2));
        async move { input.await }
    })
    .await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(done, 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        answer.expect(409).problem("quantity_exceeds_remaining");
    }
    assert_eq!(market.levels(&book).await, [9, 0, 1, 10]);
    assert_eq!(market.gateway.events("order.lines_cancelled").await.len(), 1);
    market.audit(&book).await;
}

#[tokio::test]
async fn untracked_units_are_cancelled_and_returned_without_stock() {
    let market = Market::open().await;
    let service = market.product(700, Some(json!({"tracked": false}))).await;
    let placed = market.paid(&service, 2).await;
    market.act(&placed.id, "lines/cancel", some(&placed, 1)).await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let back = market.act(&placed.id, "lines/return", some(&placed, 1)).await.expect(200);
    assert_eq!(*back.at("/lines/0/restocked_at"), json!([]));
    assert_eq!(*back.at("/items/0/allocations"), json!([]));
}

#[tokio::test]
async fn order_quantities_are_validated_at_their_bounds() {
    let market = Market::open().await;
    let service = market.product(7, Some(json!({"tracked": false}))).await;
    let over = market.try_order(cart(&[(&service, 1_000)])).await.expect(422);
    assert_eq!(over.field_errors(), [("/items/0/quantity".into(), "out_of_range".into())]);
    let mut input = cart(&[(&service, 999)]);
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(market.gift_card(1).await.1);
    }
    input["gift_card_codes"] = json!(codes);
    let over = market.try_order(input.clone()).await.expect(422);
    assert_eq!(over.field_errors(), [("/gift_card_codes".into(), "too_many".into())]);
    input["gift_card_codes"] = json!(codes[..3]);
    let placed = market.order(input).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    for action in ["lines/cancel", "lines/return", "fulfill", "refund"] {
        for quantity in [0, 1_000] {
            let rejected = market.act(&placed.id, action, some(&placed, quantity)).await;
            let field_error = ("/items/0/quantity".into(), "out_of_range".into());
            assert_eq!(rejected.expect(422).field_errors(), [field_error], "{action} {quantity}");
        }
    }
    market.act(&placed.id, "fulfill", some(&placed, 998)).await.expect(201);
    market.act(&placed.id, "lines/cancel", some(&placed, 1)).await.expect(200);
    let over = market.act(&placed.id, "refund", json!({"amount": inr(6_994)})).await.expect(409);
    let over = over.problem("refund_exceeds_captured");
    assert_eq!(*over.at("/refundable"), inr(6_993));
    let all = market.act(&placed.id, "refund", some(&placed, 999)).await.expect(201);
    assert_eq!(*all.at("/refund/amount"), inr(6_993));
    let none = market.act(&placed.id, "refund", json!({"amount": inr(1)})).await.expect(409);
    none.problem("nothing_to_refund");
}
