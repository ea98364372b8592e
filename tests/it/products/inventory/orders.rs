//! What orders do to stock.

use support::{Value, json, race, unique};

use super::{LEVELS, Stock, cart, counts};

#[tokio::test]
async fn the_ledger_records_every_stock_change_of_an_order() {
    let stock = Stock::new().await;
    let store = stock.owner.get("/v1/stores").await.expect(200);
    let (id, subdomain) = (store.str("/data/0/id"), store.str("/data/0/subdomain"));
    stock
        .owner
        .post(&format!("/v1/stores/{id}/activate"))
        .json(support::open_as_is())
        .await
        .expect(200);
    let input = json!({
        "title": "Lamp", "status": "active", "variants": [{
            "price": {"amount": 1_000, "currency": "INR"}, "inventory": {
                "tracked": true, "levels": [{"location_id": stock.main, "quantity": 10}],
            },
        }],
    });
    let product = stock.owner.post("/v1/products").json(input).await.expect(201);
    let item = product.str("/variants/0/id");
    let checkout = format!("/v1/storefront/{subdomain}/orders");
    let order = |quantity: u32| {
        let input = cart(&json!([{"variant_id": item, "quantity": quantity}]));
        let input = stock.gateway.client().post(&checkout).json(input).key(&unique("o"));
        async move { input.await.expect(201).str("/order/id") }
    };
    let act = |order: &str, action: &str| {
        let input = stock.owner.post(&format!("/v1/orders/{order}/{action}")).json(json!({}));
        let input = input.key(&unique("a"));
        async move { input.await }
    };
    let after = async |expected: Value| {
        assert_eq!(stock.quantities(&item, &stock.main).await, expected);
        stock.verify(&item, &stock.main).await;
    };
    let (kept, dropped) = (order(2).await, order(3).await);
    after(counts(5, 5, 0)).await;
    assert_eq!(act(&dropped, "cancel").await.status, 200);
    after(counts(8, 2, 0)).await;
    act(&kept, "mark-paid").await.expect(200);
    after(counts(8, 0, 2)).await;
    act(&kept, "fulfill").await.expect(201);
    after(counts(8, 0, 0)).await;
    let ledger = stock.owner.get(&format!("{LEVELS}/{item}/{}/ledger", stock.main)).await;
    let ledger = ledger.expect(200);
    let kinds: Vec<_> = ledger.data().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["fulfilled", "committed", "released", "reserved", "reserved"]);
    assert_eq!(ledger.str("/data/0/order_id"), kept);
    let held = json!([{
        "item_id": item, "location_id": stock.main, "quantity": 1,
        "from_state": "reserved", "to_state": "available",
    }]);
    let _ = order(1).await;
    stock.change("move", held).await.expect(409).problem("insufficient_quantity");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_orders_and_adjustments_lose_no_stock_change() {
    let stock = Stock::new().await;
    let store = stock.owner.get("/v1/stores").await.expect(200);
    let (id, subdomain) = (store.str("/data/0/id"), store.str("/data/0/subdomain"));
    stock
        .owner
        .post(&format!("/v1/stores/{id}/activate"))
        .json(support::open_as_is())
        .await
        .expect(200);
    let input = json!({
        "title": "Lamp", "status": "active", "variants": [{
            "price": {"amount": 1_000, "currency": "INR"},
            "inventory": {"tracked": true, "policy": "continue"},
        }],
    });
    let product = stock.owner.post("/v1/products").json(input).await.expect(201);
    let item = product.str("/variants/0/id");
    let checkout = format!("/v1/storefront/{subdomain}/orders");
    let orders = race(20, || async {
        let input = cart(&json!([{"variant_id": item, "quantity": 1}]));
        stock.gateway.client().post(&checkout).json(input).key(&unique("o")).await.expect(201)
    });
    let deliveries = race(10, || async {
        let one = json!([{"item_id": item, "location_id": stock.main, "delta": 2}]);
        stock.change("adjust", one).await.expect(200)
    });
    tokio::join!(orders, deliveries);
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(0, 20, 0));
    assert_eq!(stock.verify(&item, &stock.main).await.int("/movements"), 30);
}
