//! Money of gift cards that nobody can use, restocking fees, and where the money of a cancelled order went.

use std::time::Duration;

use support::{Market, Placed, Reply, Value, cart, inr, json};

const CARDS: &str = "/v1/products/gift-cards";

/// An order of two books at 1,000 each that a gift card of `on_card` pays, and the merchant's till the rest.
async fn by_card(market: &Market, on_card: i64) -> (Placed, String) {
    let book = market.stock(1_000, 10).await;
    let (card, code) = market.gift_card(on_card).await;
    let mut input = cart(&[(&book, 2)]);
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    if on_card < 2_000 {
        market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    }
    (placed, card)
}

async fn switch(market: &Market, card: &str, how: &str) -> Reply {
    market.owner.post(&format!("{CARDS}/{card}/{how}")).json(json!({})).await
}

/// Tender and amount of each part.
fn parts(list: &Value) -> Vec<(String, i64)> {
    let of = |part: &Value| {
        (part["tender"].as_str().unwrap().to_owned(), part["amount"]["amount"].as_i64().unwrap())
    };
    list.as_array().unwrap().iter().map(of).collect()
}

#[tokio::test]
async fn a_disabled_gift_card_is_enabled_again() {
    let market = Market::open().await;
    let (card, code) = market.gift_card(5_000).await;
    let early = switch(&market, &card, "enable").await.expect(409);
    let early = early.problem("invalid_state_transition");
    assert_eq!(*early.at("/allowed_actions"), json!(["disable"]));
    switch(&market, &card, "disable").await.expect(200);
    let enabled = switch(&market, &card, "enable").await.expect(200);
    assert_eq!(
        (enabled.str("/status"), enabled.at("/disabled_at").clone()),
        ("active".into(), Value::Null)
    );
    assert_eq!(market.gateway.events("gift_card.enabled").await.len(), 1);
    let book = market.stock(1_000, 10).await;
    let mut input = cart(&[(&book, 2)]);
    input["gift_card_codes"] = json!([code]);
    market.order(input).await;
    assert_eq!(market.balance(&card).await, 3_000);
}

#[tokio::test]
async fn refunds_of_a_disabled_gift_card_go_to_the_payment_or_need_a_choice() {
    let market = Market::open().await;
    let (placed, card) = by_card(&market, 500).await;
    switch(&market, &card, "disable").await.expect(200);
    // 1,500 were paid otherwise: that is where a refund of 1,200 goes.
    let plan =
        market.act(&placed.id, "refund/calculate", json!({"amount": inr(1_200)})).await.expect(200);
    let suggested = plan.at("/suggested_transactions").as_array().unwrap().clone();
    assert_eq!((suggested.len(), &suggested[0]["gift_card_id"]), (1, &Value::Null));
    let done = market.act(&placed.id, "refund", json!({"amount": inr(1_200)})).await.expect(201);
    assert_eq!(*done.at("/refund/transactions/0/gift_card_id"), Value::Null);
    assert_eq!(market.balance(&card).await, 0);
    // Of the last 800, 300 were paid otherwise.
    for action in ["refund", "refund/calculate", "cancel"] {
        let rejected = market.act(&placed.id, action, json!({})).await.expect(409);
        let rejected = rejected.problem("gift_card_unusable");
        assert_eq!(*rejected.at("/choices"), json!(["credit", "manual"]), "{action}");
        let cards = rejected.at("/gift_cards");
        assert_eq!(cards[0]["gift_card_id"], json!(card));
        assert_eq!((&cards[0]["status"], &cards[0]["amount"]), (&json!("disabled"), &inr(500)));
    }
    assert_eq!(*market.show(&placed.id).await.at("/refunded_total"), inr(1_200));
    let by_hand = json!({"unusable_gift_cards": "manual"});
    let done = market.act(&placed.id, "cancel", by_hand).await.expect(200);
    assert_eq!(done.str("/financial_status"), "refunded");
    assert_eq!(parts(done.at("/returned")), [("manual".into(), 500), ("payment".into(), 300)]);
    assert_eq!(*done.at("/refund/transactions/0/manual"), json!(true));
    assert_eq!(market.balance(&card).await, 0, "it was returned by hand");
}

#[tokio::test]
async fn a_disabled_gift_card_is_credited_although_a_payment_has_money() {
    let market = Market::open().await;
    let (placed, card) = by_card(&market, 800).await;
    switch(&market, &card, "disable").await.expect(200);
    let part = |choice: Value| json!({"amount": inr(100), "unusable_gift_cards": choice});
    let plan = market.act(&placed.id, "refund/calculate", part(json!("credit"))).await.expect(200);
    assert_eq!(*plan.at("/suggested_transactions/0/gift_card_id"), json!(card));
    let done = market.act(&placed.id, "refund", part(json!("credit"))).await.expect(201);
    assert_eq!(*done.at("/refund/transactions/0/gift_card_id"), json!(card));
    assert_eq!(market.balance(&card).await, 100);
    // Any other refund goes to the payment, as long as it has money.
    for choice in [Value::Null, json!("manual")] {
        let done = market.act(&placed.id, "refund", part(choice)).await.expect(201);
        assert_eq!(*done.at("/refund/transactions/0/gift_card_id"), Value::Null);
    }
    let credit = json!({"unusable_gift_cards": "credit"});
    let done = market.act(&placed.id, "cancel", credit).await.expect(200);
    assert_eq!(parts(done.at("/returned")), [("gift_card".into(), 700), ("payment".into(), 1_000)]);
    assert_eq!(market.balance(&card).await, 800);
}

#[tokio::test]
async fn an_expired_gift_card_is_credited_on_request() {
    let mut market = Market::open().await;
    let (placed, card) = by_card(&market, 2_000).await;
    let day = market.gateway.now().to_string()[..10].to_owned();
    let path = format!("{CARDS}/{card}");
    market.owner.patch(&path).json(json!({"expires_on": day})).await.expect(200);
    market.gateway.advance(Duration::from_hours(48));
    market.merchant = market.merchant.sign_in_again().await;
    market.owner = market.merchant.at(&market.store);
    let rejected = market.act(&placed.id, "cancel", json!({})).await.expect(409);
    let rejected = rejected.problem("gift_card_unusable");
    assert_eq!(*rejected.at("/gift_cards/0/status"), json!("expired"));
    assert_eq!(market.show(&placed.id).await.str("/status"), "open", "nothing was cancelled");
    let credit = json!({"unusable_gift_cards": "credit"});
    let done = market.act(&placed.id, "cancel", credit).await.expect(200);
    assert_eq!(parts(done.at("/returned")), [("gift_card".into(), 2_000)]);
    assert_eq!(market.balance(&card).await, 2_000);
    market.owner.patch(&path).json(json!({"expires_on": null})).await.expect(200);
    assert_eq!(market.owner.get(&path).await.expect(200).str("/status"), "active");
}

#[tokio::test]
async fn a_cancellation_reports_every_returned_amount() {
    let market = Market::open().await;
    let (placed, card) = by_card(&market, 500).await;
    let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(parts(done.at("/returned")), [("gift_card".into(), 500), ("payment".into(), 1_500)]);
    assert_eq!(*done.at("/returned/0/gift_card_id"), json!(card));
    // An unpaid order returns what its gift card was to pay.
    let book = market.stock(1_000, 10).await;
    let (other, code) = market.gift_card(300).await;
    let mut input = cart(&[(&book, 1)]);
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(
        (parts(done.at("/returned")), done.at("/refund").clone()),
        (vec![("gift_card".into(), 300)], Value::Null)
    );
    assert_eq!(market.balance(&other).await, 300);
    // One that is not refunded returns nothing.
    let (placed, card) = by_card(&market, 500).await;
    let done = market.act(&placed.id, "cancel", json!({"refund": "none"})).await.expect(200);
    assert_eq!(*done.at("/returned"), json!([]));
    assert_eq!(market.balance(&card).await, 0);
}

#[tokio::test]
async fn a_restocking_fee_is_deducted_from_the_refund() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 3).await;
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let line = |quantity: i64| json!([{"order_item_id": placed.line(0), "quantity": quantity, "restock_type": "return"}]);
    let input = json!({"items": line(2), "restocking_fee": inr(150)});
    let plan = market.act(&placed.id, "refund/calculate", input.clone()).await.expect(200);
    assert_eq!(
        (plan.at("/amount").clone(), plan.at("/restocking_fee").clone()),
        (inr(1_850), inr(150))
    );
    assert_eq!(plan.int("/lines/0/amount/amount"), 2_000);
    let done = market.act(&placed.id, "refund", input).await.expect(201);
    assert_eq!(
        (done.at("/refund/amount").clone(), done.at("/refund/restocking_fee").clone()),
        (inr(1_850), inr(150))
    );
    assert_eq!(*done.at("/order/refundable"), inr(1_150));
    assert_eq!(market.levels(&book).await, [9, 0, 0, 9]);
    let event = market.gateway.events("refund.created").await.pop().unwrap();
    assert_eq!(event["data"]["restocking_fee"], inr(150));
    // Units that were returned before their refund.
    market
        .act(
            &placed.id,
            "lines/return",
            json!({"items": [{"order_item_id": placed.line(0), "quantity": 1}]}),
        )
        .await
        .expect(200);
    for (fields, at, code) in [
        (
            json!({"items": line(1), "restocking_fee": inr(1_001)}),
            "/restocking_fee/amount",
            "out_of_range",
        ),
        (json!({"amount": inr(5), "restocking_fee": inr(1)}), "/restocking_fee", "not_applicable"),
        (json!({"restocking_fee": inr(1)}), "/restocking_fee", "not_applicable"),
        (
            json!({"items": line(1), "restocking_fee": {"amount": 1, "currency": "USD"}}),
            "/restocking_fee/currency",
            "currency_mismatch",
        ),
    ] {
        let rejected = market.act(&placed.id, "refund", fields).await.expect(422);
        assert_eq!(rejected.field_errors(), [(at.to_owned(), code.to_owned())]);
    }
    let all = json!({"items": line(1), "restocking_fee": inr(1_000)});
    market.act(&placed.id, "refund", all).await.expect(409).problem("nothing_to_refund");
    let input = json!({"items": line(1), "restocking_fee": inr(100)});
    let done = market.act(&placed.id, "refund", input).await.expect(201);
    assert_eq!(
        (done.at("/refund/amount").clone(), done.at("/order/refundable").clone()),
        (inr(900), inr(250))
    );
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
}
