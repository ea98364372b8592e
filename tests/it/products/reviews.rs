//! Reviews of products where the store has rules of its own for them.

use support::{Market, Reply, Shopper, Value, cart, json, unique};

/// A market, and a shopper at a product of it.
struct Counter {
    market: Market,
    shopper: Shopper,
    variant: String,
    path: String,
}

impl Counter {
    async fn open(rules: Value) -> Self {
        let market = Market::open().await;
        let settings = format!("/v1/stores/{}/settings", market.store.id);
        let change = market.owner.patch(&settings).json(json!({"reviews": rules})).await;
        assert_eq!(*change.expect(200).at("/reviews"), rules);
        let shopper = Shopper::register(&market.gateway, &market.store).await;
        let input = json!({
            "title": "Mug", "handle": "mug", "status": "active",
            "variants": [{"price": {"amount": 10_000, "currency": "INR"}}],
        });
        let product = market.owner.post("/v1/products").json(input).await.expect(201);
        let path = format!("/v1/storefront/{}/products/mug/reviews", market.store.subdomain);
        Self { variant: product.str("/variants/0/id"), market, shopper, path }
    }

    async fn review(&self, line: Option<&str>) -> Reply {
        let mut input = json!({"rating": 4, "title": "Good", "body": "Keeps tea warm."});
        if let Some(line) = line {
            input["order_item_id"] = json!(line);
        }
        self.shopper.post(&self.path).json(input).await
    }

    /// An order of the shopper's: its id and its line's.
    async fn order(&self) -> (String, String) {
        let mut input = cart(&[(&self.variant, 1)]);
        input.as_object_mut().unwrap().remove("email");
        let input = self.shopper.post(&self.market.orders_path()).json(input).key(&unique("order"));
        let placed = input.await.expect(201);
        (placed.str("/order/id"), placed.str("/order/items/0/id"))
    }
}

#[tokio::test]
async fn a_store_can_require_a_purchase_for_reviews() {
    let rules = json!({"purchase_required": true, "auto_publish": false});
    let counter = Counter::open(rules).await;
    let before = counter.market.gateway.count().await;
    counter.review(None).await.expect(403).problem("purchase_required");
    let unknown = "itm_00000000000000000000000000000000";
    counter.review(Some(unknown)).await.expect(403).problem("purchase_required");
    assert_eq!(counter.market.gateway.count().await, before);
    // To order is not to buy: the order has to be paid.
    let (order, line) = counter.order().await;
    counter.review(Some(&line)).await.expect(403).problem("purchase_required");
    counter.market.act(&order, "mark-paid", json!({})).await.expect(200);
    counter.review(None).await.expect(403).problem("purchase_required");
    let written = counter.review(Some(&line)).await.expect(201);
    assert_eq!(
        (written.str("/status"), written.at("/verified_purchase")),
        ("pending".into(), &json!(true))
    );
    counter.review(Some(&line)).await.expect(409).problem("already_reviewed");
    // Somebody else's purchase is nobody's.
    let other = Shopper::register(&counter.market.gateway, &counter.market.store).await;
    let input = json!({"rating": 1, "title": "Bad", "body": "No.", "order_item_id": line});
    other.post(&counter.path).json(input).await.expect(403).problem("purchase_required");
    assert_eq!(counter.market.gateway.events("review.created").await.len(), 1);
    // Back at the default, anybody may say something, but an unpaid order proves no purchase.
    let settings = format!("/v1/stores/{}/settings", counter.market.store.id);
    counter.market.owner.patch(&settings).json(json!({"reviews": null})).await.expect(200);
    let (_, unpaid) = counter.order().await;
    let rejected = counter.review(Some(&unpaid)).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/order_item_id".into(), "unknown_order_item".into())]);
    assert_eq!(*counter.review(None).await.expect(201).at("/verified_purchase"), json!(false));
}

#[tokio::test]
async fn auto_published_reviews_count_in_the_rating() {
    let rules = json!({"purchase_required": false, "auto_publish": true});
    let counter = Counter::open(rules).await;
    let written = counter.review(None).await.expect(201);
    assert_eq!(written.str("/status"), "approved");
    let shown = counter.market.gateway.client().get(&counter.path).await.expect(200);
    assert_eq!((shown.data().len(), shown.int("/rating/count")), (1, 1));
    // It can be taken back like any other.
    let reject = format!("/v1/reviews/{}/reject", written.str("/id"));
    counter.market.owner.post(&reject).json(json!({})).await.expect(200);
    let hidden = counter.market.gateway.client().get(&counter.path).await.expect(200);
    assert_eq!((hidden.data().len(), hidden.int("/rating/count")), (0, 0));
}
