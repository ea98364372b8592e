//! Refunds of all that is left: they have the lines, the shipping and the tax of it.

use support::{Market, Placed, Reply, Value, cart, inr, json};

use super::taxes::{Shop, at};
use super::with;

/// A German shop with goods of two rates, and shipping.
struct German {
    shop: Shop,
    rate: String,
    bread: String,
    pan: String,
}

impl German {
    async fn open() -> Self {
        let shop = Shop::open().await;
        shop.levy_all(&[
            json!({"name": "MwSt", "country": "DE", "percent": "19"}),
            json!({"name": "MwSt ermäßigt", "country": "DE", "percent": "7", "tax_class": "food"}),
        ])
        .await;
        let rate = shop.ship(json!({"name": "DHL", "kind": "flat", "price": inr(1_000)})).await;
        let bread = shop.variant(2_000, Some("food")).await;
        let pan = shop.variant(10_000, None).await;
        Self { shop, rate, bread, pan }
    }

    const fn market(&self) -> &Market {
        &self.shop.market
    }

    /// Bread, a pan and shipping: 20.00, 100.00 and 10.00, and tax of 22.10.
    async fn order(&self) -> Placed {
        let berlin = at("DE", None, "Berlin", "10115");
        let fields = json!({"shipping_address": berlin, "shipping_rate_id": self.rate});
        self.market().order(with(cart(&[(&self.bread, 1), (&self.pan, 1)]), fields)).await
    }

    async fn paid(&self) -> Placed {
        let placed = self.order().await;
        self.act(&placed, "mark-paid", json!({})).await.expect(200);
        placed
    }

    async fn act(&self, placed: &Placed, action: &str, fields: Value) -> Reply {
        self.market().act(&placed.id, action, fields).await
    }

    /// The amount, the number of lines, the shipping and the tax of the refund of everything.
    async fn refund(&self, placed: &Placed) -> (i64, usize, i64, i64) {
        let planned = self.act(placed, "refund/calculate", json!({})).await.expect(200);
        let done = self.act(placed, "refund", json!({})).await.expect(201);
        assert_eq!(done.str("/order/financial_status"), "refunded");
        let refund = done.at("/refund");
        assert_eq!(figures(&planned.json), figures(refund));
        figures(refund)
    }

    /// The units refunded of each line.
    async fn refunded(&self, placed: &Placed) -> [i64; 2] {
        let order = self.market().show(&placed.id).await;
        [order.int("/items/0/refunded"), order.int("/items/1/refunded")]
    }
}

fn figures(refund: &Value) -> (i64, usize, i64, i64) {
    let lines = |name: &str| refund[name].as_array().unwrap().clone();
    let amount = |money: &Value| money["amount"].as_i64().unwrap();
    let tax = lines("tax_lines").iter().map(|line| amount(&line["amount"])).sum();
    (amount(&refund["amount"]), lines("lines").len(), amount(&refund["shipping"]), tax)
}

#[tokio::test]
async fn a_refund_of_everything_has_lines_shipping_and_tax() {
    let german = German::open().await;
    let placed = german.paid().await;
    assert_eq!(german.refund(&placed).await, (15_210, 2, 1_170, 2_210));
    assert_eq!(german.refunded(&placed).await, [1, 1]);
    let events = german.market().gateway.events("refund.succeeded").await;
    assert_eq!(events.len(), 1);
    // What is left after a part, and that part, are everything.
    let placed = german.paid().await;
    let line = json!({"order_item_id": placed.line(0), "quantity": 1});
    let part = german.act(&placed, "refund", json!({"items": [line]})).await.expect(201);
    assert_eq!(figures(part.at("/refund")), (2_140, 1, 0, 140));
    assert_eq!(german.refund(&placed).await, (13_070, 1, 1_170, 2_070));
    assert_eq!(german.refunded(&placed).await, [1, 1]);
}

#[tokio::test]
async fn the_refund_of_a_cancelled_order_has_lines_shipping_and_tax() {
    let german = German::open().await;
    let placed = german.paid().await;
    let done = german.act(&placed, "cancel", json!({})).await.expect(200);
    assert_eq!(done.str("/financial_status"), "refunded");
    let list = format!("/v1/orders/{}/refunds", placed.id);
    let refunds = german.market().owner.get(&list).await.expect(200);
    assert_eq!(figures(&refunds.data()[0]), (15_210, 2, 1_170, 2_210));
    assert_eq!(german.refunded(&placed).await, [1, 1]);
    // A cancellation without a refund, which follows.
    let placed = german.paid().await;
    german.act(&placed, "cancel", json!({"refund": "none"})).await.expect(200);
    assert_eq!(german.refunded(&placed).await, [0, 0]);
    assert_eq!(german.refund(&placed).await, (15_210, 2, 1_170, 2_210));
}

#[tokio::test]
async fn an_amount_beyond_lines_and_shipping_is_refunded_without_lines() {
    let german = German::open().await;
    // A fee was retained: it comes in addition to the rest of the lines and the shipping.
    let placed = german.paid().await;
    let line = json!({"order_item_id": placed.line(0), "quantity": 1});
    let part = json!({"items": [line], "restocking_fee": inr(100)});
    german.act(&placed, "refund", part).await.expect(201);
    assert_eq!(german.refund(&placed).await, (13_070 + 100, 1, 1_170, 2_070));
    // An amount was refunded: nobody knows for which lines.
    let placed = german.paid().await;
    german.act(&placed, "refund", json!({"amount": inr(100)})).await.expect(201);
    assert_eq!(german.refund(&placed).await, (15_110, 0, 0, 0));
    assert_eq!(german.refunded(&placed).await, [0, 0]);
    // A line was cancelled before the payment: it was never paid.
    let placed = german.order().await;
    german.act(&placed, "confirm", json!({})).await.expect(200);
    let line = json!({"order_item_id": placed.line(1), "quantity": 1});
    german.act(&placed, "lines/cancel", json!({"items": [line]})).await.expect(200);
    german.act(&placed, "mark-paid", json!({})).await.expect(200);
    assert_eq!(german.refund(&placed).await, (3_310, 1, 1_170, 310));
    assert_eq!(german.refunded(&placed).await, [1, 0]);
}
