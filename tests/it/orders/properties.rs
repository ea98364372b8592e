//! Lines of one variant that differ by their properties: each is a line of its own, over the same stock.

use std::time::Duration;

use support::{Market, Placed, Reply, Value, address, cart, inr, json, unique};

/// A line of a variant with these properties.
fn line(variant: &str, quantity: i64, properties: Value) -> Value {
    let mut line = json!({"variant_id": variant, "quantity": quantity});
    if !properties.is_null() {
        line["properties"] = properties;
    }
    line
}

fn of(lines: &[Value]) -> Value {
    json!({"email": "shopper@example.com", "shipping_address": address(), "items": lines})
}

fn ann() -> Value {
    json!({"Engraving": "Ann"})
}

fn units(placed: &Placed, place: usize, quantity: i64) -> Value {
    json!({"order_item_id": placed.line(place), "quantity": quantity})
}

/// Quantity and properties of each line.
fn lines(order: &Value) -> Vec<(i64, Value)> {
    let items = order["items"].as_array().unwrap().iter();
    items.map(|item| (item["quantity"].as_i64().unwrap(), item["properties"].clone())).collect()
}

#[tokio::test]
async fn only_lines_with_equal_properties_are_merged() {
    let market = Market::open().await;
    let ring = market.stock(1_000, 20).await;
    let (plain, engraved) = (|n| line(&ring, n, Value::Null), |n| line(&ring, n, ann()));
    let empty = line(&ring, 1, json!({}));
    let placed = market.order(of(&[engraved(1), plain(2), engraved(3), empty])).await;
    assert_eq!(lines(placed.reply.at("/order")), [(4, ann()), (3, json!({}))]);
    let placed = market.order(of(&[plain(2), engraved(1), plain(1), engraved(3)])).await;
    assert_eq!(lines(placed.reply.at("/order")), [(3, json!({})), (4, ann())]);
    assert_eq!(lines(&market.show(&placed.id).await.json), [(3, json!({})), (4, ann())]);
    assert_eq!(lines(&market.look(&placed).await.json), [(3, json!({})), (4, ann())]);
    let event = market.gateway.events("order.created").await.pop().unwrap();
    assert_eq!(lines(&event["data"]), [(3, json!({})), (4, ann())]);
    assert_eq!(market.levels(&ring).await, [6, 14, 0, 20]);
    // What is left suffices for one of the two lines, not for both.
    let mut dry = of(&[engraved(4), plain(3)]);
    dry["dry_run"] = json!(true);
    let quote = market.try_order(dry.clone()).await.expect(200);
    let available = |n: usize| quote.at(&format!("/availability/{n}/available")).clone();
    assert_eq!((available(0), available(1)), (json!(true), json!(false)));
    assert_eq!(*quote.at("/availability/0/properties"), ann());
    let rejected = market.try_order(of(&[engraved(4), plain(3)])).await.expect(409);
    let rejected = rejected.problem("insufficient_stock");
    assert_eq!(*rejected.at("/items/0/pointer"), json!("/items/1"));
    let wrong = market.try_order(of(&[line(&ring, 1, json!({"Engraving": 5}))])).await;
    let wrong = wrong.expect(422).field_errors();
    assert_eq!(wrong[0].0, "/items/0/properties/Engraving");
    let long = |n: usize| {
        let texts = (0..50).map(|m| (format!("{n}-{m}"), json!("\u{1f48d}".repeat(100))));
        line(&ring, 1, Value::Object(texts.collect()))
    };
    let large = market.try_order(of(&(0..8).map(long).collect::<Vec<_>>())).await.expect(422);
    assert_eq!(large.field_errors(), [("/items".into(), "too_large".into())]);
    market.audit(&ring).await;
}

#[tokio::test]
async fn lines_of_one_variant_are_fulfilled_and_refunded_separately() {
    let market = Market::open().await;
    let ring = market.stock(1_000, 10).await;
    let placed = market.order(of(&[line(&ring, 3, ann()), line(&ring, 4, Value::Null)])).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(market.levels(&ring).await, [3, 0, 7, 10]);
    let both = json!({"items": [units(&placed, 0, 2), units(&placed, 1, 1)]});
    let first = market.act(&placed.id, "fulfill", both).await.expect(201);
    assert_eq!(market.levels(&ring).await, [3, 0, 4, 7]);
    let counts =
        |order: &Reply, name: &str| [0, 1].map(|n| order.int(&format!("/items/{n}/{name}")));
    let order = market.show(&placed.id).await;
    assert_eq!((counts(&order, "fulfilled"), counts(&order, "remaining")), ([2, 1], [1, 3]));
    let path = format!("fulfillments/{}/cancel", first.str("/fulfillment/id"));
    market.act(&placed.id, &path, json!({})).await.expect(200);
    assert_eq!(market.levels(&ring).await, [3, 0, 7, 10]);
    market.act(&placed.id, "fulfill", json!({"items": [units(&placed, 0, 2)]})).await.expect(201);
    let back = json!({"items": [units(&placed, 0, 1)]});
    let back = market.act(&placed.id, "lines/return", back).await.expect(200);
    assert_eq!(counts(&back, "returned"), [1, 0]);
    assert_eq!(market.levels(&ring).await, [4, 0, 5, 9]);
    // One unit of each comes back with its money: one was fulfilled, the other was not. Both are of one level.
    let with = |mut line: Value, kind: &str| {
        line["restock_type"] = json!(kind);
        line
    };
    let both = [with(units(&placed, 0, 2), "return"), with(units(&placed, 1, 3), "cancel")];
    let done = market.act(&placed.id, "refund", json!({"items": both})).await.expect(201);
    assert_eq!(*done.at("/refund/amount"), inr(5_000));
    let order = market.show(&placed.id).await;
    assert_eq!((counts(&order, "refunded"), counts(&order, "cancelled")), ([2, 3], [0, 3]));
    assert_eq!((counts(&order, "returned"), counts(&order, "remaining")), ([2, 0], [1, 1]));
    assert_eq!(market.levels(&ring).await, [8, 0, 2, 10]);
    market.act(&placed.id, "lines/cancel", json!({})).await.expect(200);
    assert_eq!(market.levels(&ring).await, [10, 0, 0, 10]);
    market.audit(&ring).await;
}

#[tokio::test]
async fn an_order_of_40_lines_of_one_variant_is_one_transaction() {
    let market = Market::open().await;
    let ring = market.stock(100, 80).await;
    let lines = |count: usize| {
        of(&(0..count)
            .map(|n| line(&ring, 1, json!({"Engraving": n.to_string()})))
            .collect::<Vec<_>>())
    };
    let placed = market.order(lines(40)).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", json!({"items": [units(&placed, 7, 1)]})).await.expect(201);
    assert_eq!(market.levels(&ring).await, [40, 0, 39, 79]);
    let expired = market.order(lines(40)).await;
    assert_eq!(market.levels(&ring).await, [0, 40, 39, 79]);
    market.gateway.advance(Duration::from_mins(31));
    market.gateway.sweep().await;
    assert_eq!(market.show(&expired.id).await.str("/status"), "expired");
    assert_eq!(market.levels(&ring).await, [40, 0, 39, 79]);
    let rejected = market.try_order(lines(41)).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/items".into(), "too_many".into())]);
    market.audit(&ring).await;
}

#[tokio::test]
async fn properties_are_mailed_and_redacted() {
    let market = Market::proven().await;
    let ring = market.stock(1_000, 10).await;
    let email = format!("{}@example.com", unique("engraved"));
    let mut input = of(&[line(&ring, 2, ann())]);
    input["email"] = json!(email);
    let placed = market.order(input).await;
    let mail = market.gateway.mailbox(&email).nth(1).await;
    assert!(mail.text.contains("2 x Thing"), "{}", mail.text);
    assert!(mail.text.contains("(Engraving: Ann)"), "{}", mail.text);
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let redacted = market.gateway.redacted_order(&placed.id).await;
    let properties = redacted["items"][0].get("properties");
    assert!(properties.is_none_or(|left| *left == json!({})), "{redacted}");
}

#[tokio::test]
async fn a_merchants_draft_order_keeps_line_properties() {
    let market = Market::open().await;
    let ring = market.stock(1_000, 10).await;
    let mut input = cart(&[]);
    input["items"] = json!([line(&ring, 1, ann()), line(&ring, 1, json!({"Engraving": "Bob"}))]);
    input["draft"] = json!(true);
    let made = market.owner.post("/v1/orders").key(&unique("made")).json(input).await.expect(201);
    assert_eq!(lines(&made.json), [(1, ann()), (1, json!({"Engraving": "Bob"}))]);
    assert_eq!(market.levels(&ring).await, [8, 2, 0, 10]);
    market.act(&made.str("/id"), "cancel", json!({})).await.expect(200);
    assert_eq!(market.levels(&ring).await, [10, 0, 0, 10]);
}
