//! Drafts: for how long they hold their stock, and what becomes of them after that.

use std::time::Duration;

use support::clock::{DAY, MINUTE, Timestamp};
use support::{Market, Reply, Value, json, unique};

async fn draft(market: &Market, variant: &str, quantity: i64) -> Reply {
    let input = json!({"items": [{"variant_id": variant, "quantity": quantity}], "draft": true});
    market.owner.post("/v1/orders").key(&unique("draft")).json(input).await.expect(201)
}

/// When an order is so old.
fn at(order: &Reply, age: Duration) -> String {
    Timestamp::parse(&order.str("/created_at")).unwrap().plus(age).to_string()
}

/// So much later, the merchant signs in again.
async fn wait(market: &mut Market, by: Duration) {
    market.gateway.advance(by);
    market.gateway.sweep().await;
    market.merchant = market.merchant.sign_in_again().await;
    market.owner = market.merchant.at(&market.store);
}

async fn hold_for(market: &Market, days: Value) {
    let path = format!("/v1/stores/{}/settings", market.store.id);
    let input = json!({"checkout": {"draft_hold_days": days}});
    market.owner.patch(&path).json(input).await.expect(200);
}

#[tokio::test]
async fn a_draft_order_reserves_stock_for_seven_days() {
    let mut market = Market::open().await;
    let book = market.stock(1_000, 3).await;
    let made = draft(&market, &book, 2).await;
    let until = made.str("/stock_held_until");
    assert_eq!(until, at(&made, DAY * 7));
    assert_eq!(market.levels(&book).await, [1, 2, 0, 3]);
    wait(&mut market, DAY * 6).await;
    assert_eq!(market.levels(&book).await, [1, 2, 0, 3]);
    wait(&mut market, DAY + MINUTE).await;
    assert_eq!(market.levels(&book).await, [3, 0, 0, 3]);
    // The draft stays, and takes its stock when it becomes binding.
    let kept = market.show(&made.str("/id")).await;
    assert_eq!(
        (kept.str("/status"), kept.at("/stock_held_until").clone()),
        ("draft".into(), Value::Null)
    );
    assert!(kept.at("/allowed_actions").as_array().unwrap().contains(&json!("confirm")));
    let paid = market.act(&made.str("/id"), "mark-paid", json!({})).await.expect(200);
    assert_eq!(
        (paid.str("/status"), paid.str("/financial_status")),
        ("open".into(), "paid".into())
    );
    assert_eq!(market.levels(&book).await, [1, 0, 2, 3]);
    market.act(&made.str("/id"), "fulfill", json!({})).await.expect(201);
    market.audit(&book).await;
}

#[tokio::test]
async fn a_draft_order_without_available_stock_is_not_confirmed() {
    let mut market = Market::open().await;
    hold_for(&market, json!(1)).await;
    let book = market.stock(1_000, 3).await;
    let made = draft(&market, &book, 2).await;
    let id = made.str("/id");
    wait(&mut market, DAY + MINUTE * 2).await;
    let sold = market.paid(&book, 2).await;
    for action in ["confirm", "mark-paid"] {
        let rejected = market.act(&id, action, json!({})).await.expect(409);
        let rejected = rejected.problem("insufficient_stock");
        assert_eq!(*rejected.at("/items/0/variant_id"), json!(book));
    }
    assert_eq!(market.show(&id).await.str("/status"), "draft");
    market.act(&sold.id, "cancel", json!({})).await.expect(200);
    market.act(&id, "confirm", json!({})).await.expect(200);
    assert_eq!(market.levels(&book).await, [1, 0, 2, 3]);
    // One that was released is cancelled without moving stock.
    let other = draft(&market, &book, 1).await.str("/id");
    wait(&mut market, DAY + MINUTE * 2).await;
    market.act(&other, "cancel", json!({})).await.expect(200);
    assert_eq!(market.levels(&book).await, [1, 0, 2, 3]);
    market.audit(&book).await;
}

#[tokio::test]
async fn draft_orders_reserve_stock_indefinitely_when_the_hold_is_zero() {
    let mut market = Market::open().await;
    hold_for(&market, json!(0)).await;
    let book = market.stock(1_000, 3).await;
    let made = draft(&market, &book, 2).await;
    assert_eq!(*made.at("/stock_held_until"), Value::Null);
    wait(&mut market, DAY * 400).await;
    assert_eq!(market.levels(&book).await, [1, 2, 0, 3]);
    // What is sold beyond its stock is taken again whatever there is.
    hold_for(&market, Value::Null).await;
    let inventory = json!({"policy": "continue", "levels": [{"quantity": 1}]});
    let pen = market.product(500, Some(inventory)).await;
    let made = draft(&market, &pen, 3).await.str("/id");
    assert_eq!(market.levels(&pen).await, [-2, 3, 0, 1]);
    wait(&mut market, DAY * 8).await;
    assert_eq!(market.levels(&pen).await, [1, 0, 0, 1]);
    market.act(&made, "confirm", json!({})).await.expect(200);
    assert_eq!(market.levels(&pen).await, [-2, 0, 3, 1]);
    market.audit(&pen).await;
}
