//! Variants that are not sold any more: discontinued ones, and those whose orders were all cancelled.

use support::{Market, Reply, Value, cart, eventually, inr, json, unique};

/// A product with a red and a blue variant, of which there are so many.
async fn pair(market: &Market, red: i64, blue: i64) -> Reply {
    let variant = |colour: &str, amount: i64, quantity: i64| {
        json!({"options": [colour], "price": inr(amount),
            "inventory": {"levels": [{"quantity": quantity}]}})
    };
    let input = json!({
        "title": "Cap", "handle": unique("cap"), "status": "active",
        "options": [{"name": "Colour", "values": ["Red", "Blue"]}],
        "variants": [variant("Red", 1_000, red), variant("Blue", 2_000, blue)],
    });
    market.owner.post("/v1/products").json(input).await.expect(201)
}

async fn set(market: &Market, product: &Reply, variant: usize, discontinued: bool) -> Reply {
    let path = format!(
        "/v1/products/{}/variants/{}",
        product.str("/id"),
        product.str(&format!("/variants/{variant}/id"))
    );
    market.owner.patch(&path).json(json!({"discontinued": discontinued})).await.expect(200)
}

/// The product as shoppers see it in the list: its variants, its prices, and whether it is in stock.
async fn listed(market: &Market, product: &Reply) -> Option<(usize, i64, i64, bool)> {
    let path = format!("/v1/storefront/{}/products", market.store.subdomain);
    let list = market.gateway.client().get(&path).await.expect(200);
    let id = product.at("/id").clone();
    list.data().iter().find(|one| one["id"] == id).map(|one| {
        (
            one["variants"].as_array().unwrap().len(),
            one["price"]["amount"].as_i64().unwrap(),
            one["price_max"]["amount"].as_i64().unwrap(),
            one["in_stock"].as_bool().unwrap(),
        )
    })
}

async fn expect_listed(
    market: &Market,
    product: &Reply,
    expected: Option<(usize, i64, i64, bool)>,
) {
    eventually(std::time::Duration::from_secs(20), || async {
        market.gateway.advance(std::time::Duration::from_secs(3));
        (listed(market, product).await == expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_discontinued_variant_is_not_sold_but_stays_in_its_orders() {
    let market = Market::open().await;
    let product = pair(&market, 5, 5).await;
    let (red, blue) = (product.str("/variants/0/id"), product.str("/variants/1/id"));
    let placed = market.order(cart(&[(&red, 1)])).await;
    expect_listed(&market, &product, Some((2, 1_000, 2_000, true))).await;
    let gone = set(&market, &product, 0, true).await;
    assert_eq!(*gone.at("/discontinued"), json!(true));
    expect_listed(&market, &product, Some((1, 2_000, 2_000, true))).await;
    let handle = product.str("/handle");
    let page = format!("/v1/storefront/{}/products/{handle}", market.store.subdomain);
    let page = market.gateway.client().get(&page).await.expect(200);
    assert_eq!(page.at("/variants").as_array().unwrap().len(), 1);
    assert_eq!(page.int("/variants_count"), 1);
    assert_eq!(*page.at("/options"), json!([{"name": "Colour", "values": ["Blue"]}]));
    // Nobody orders it any more, not even its merchant; the order that has it goes on.
    let expected = ("/items/0/variant_id".to_owned(), "unknown_variant".to_owned());
    let rejected = market.try_order(cart(&[(&red, 1)])).await.expect(422);
    assert_eq!(rejected.field_errors(), std::slice::from_ref(&expected));
    let items = json!({"items": [{"variant_id": red, "quantity": 1}]});
    let own = market.owner.post("/v1/orders").key(&unique("own")).json(items).await.expect(422);
    assert_eq!(own.field_errors(), [expected]);
    // With a rate as well: whether the rest of the cart is shipped is another matter.
    let zone = json!({
        "name": "Here", "countries": ["IN"],
        "rates": [{"name": "Post", "kind": "by_subtotal", "min": 500, "price": inr(100)}],
    });
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    let zone = market.owner.post(&zones).json(zone).await.expect(201);
    let mut sent = cart(&[(&red, 1)]);
    sent["shipping_rate_id"] = zone.at("/rates/0/id").clone();
    let rejected = market.try_order(sent).await.expect(422);
    let found = rejected.field_errors();
    assert!(!found.iter().any(|(at, _)| at == "/shipping_rate_id"), "{found:?}");
    market.owner.delete(&format!("{zones}/{}", zone.str("/id"))).await.expect(204);
    market.order(cart(&[(&blue, 1)])).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    assert_eq!(market.levels(&red).await, [4, 0, 0, 4]);
    let shown = market.owner.get(&format!("/v1/products/{}", product.str("/id"))).await.expect(200);
    let flags = [0, 1].map(|n| shown.at(&format!("/variants/{n}/discontinued")).clone());
    assert_eq!(flags, [json!(true), json!(false)]);
    assert_eq!(shown.int("/price_range/min/amount"), 2_000);
    // It comes back with its stock.
    set(&market, &product, 0, false).await;
    expect_listed(&market, &product, Some((2, 1_000, 2_000, true))).await;
    market.order(cart(&[(&red, 1)])).await;
}

#[tokio::test]
async fn stock_of_a_discontinued_variant_does_not_make_its_product_available() {
    let market = Market::open().await;
    let product = pair(&market, 5, 0).await;
    expect_listed(&market, &product, Some((2, 1_000, 2_000, true))).await;
    set(&market, &product, 0, true).await;
    expect_listed(&market, &product, Some((1, 2_000, 2_000, false))).await;
    set(&market, &product, 0, false).await;
    expect_listed(&market, &product, Some((2, 1_000, 2_000, true))).await;
    // A product of which every variant is discontinued is hidden.
    set(&market, &product, 0, true).await;
    set(&market, &product, 1, true).await;
    expect_listed(&market, &product, None).await;
    let handle = product.str("/handle");
    let page = format!("/v1/storefront/{}/products/{handle}", market.store.subdomain);
    market.gateway.client().get(&page).await.expect(404).problem("not_found");
}

#[tokio::test]
async fn a_variant_can_be_created_as_discontinued_and_offered_later() {
    let market = Market::open().await;
    let variant = |colour: &str, amount: i64, discontinued: bool| {
        json!({"options": [colour], "price": inr(amount), "discontinued": discontinued,
            "inventory": {"levels": [{"quantity": if discontinued { 5 } else { 0 }}]}})
    };
    let input = json!({
        "title": "Cap", "handle": unique("cap"), "status": "active",
        "options": [{"name": "Colour", "values": ["Red", "Blue"]}],
        "variants": [variant("Red", 1_000, true), variant("Blue", 2_000, false)],
    });
    let product = market.owner.post("/v1/products").json(input).await.expect(201);
    expect_listed(&market, &product, Some((1, 2_000, 2_000, false))).await;
    let red = product.str("/variants/0/id");
    let rejected = market.try_order(cart(&[(&red, 1)])).await.expect(422);
    let expected = ("/items/0/variant_id".to_owned(), "unknown_variant".to_owned());
    assert_eq!(rejected.field_errors(), [expected]);
    // What the stream says of its stock is not lost while it is discontinued.
    market.gateway.settle().await;
    set(&market, &product, 0, false).await;
    expect_listed(&market, &product, Some((2, 1_000, 2_000, true))).await;
}

#[tokio::test]
async fn a_variant_is_deleted_when_its_only_orders_were_cancelled() {
    let market = Market::open().await;
    let product = pair(&market, 5, 5).await;
    let (red, blue) = (product.str("/variants/0/id"), product.str("/variants/1/id"));
    let path = format!("/v1/products/{}/variants/{red}", product.str("/id"));
    let remove = || async { market.owner.delete(&path).await };
    let first = market.order(cart(&[(&red, 1)])).await;
    let second = market.paid(&red, 1).await;
    remove().await.expect(409).problem("product_has_orders");
    market.act(&first.id, "cancel", json!({})).await.expect(200);
    remove().await.expect(409).problem("product_has_orders");
    market.act(&second.id, "cancel", json!({})).await.expect(200);
    remove().await.expect(204);
    assert_eq!(market.show(&first.id).await.str("/items/0/variant_id"), red);
    market.try_order(cart(&[(&red, 1)])).await.expect(422);
    // The whole product as well, and an order that has expired counts as little.
    let hard = format!("/v1/products/{}?hard=true", product.str("/id"));
    let placed = market.order(cart(&[(&blue, 1)])).await;
    market.owner.delete(&hard).await.expect(409).problem("product_has_orders");
    market.gateway.advance(std::time::Duration::from_mins(31));
    market.gateway.sweep().await;
    assert_eq!(market.show(&placed.id).await.str("/status"), "expired");
    market.owner.delete(&hard).await.expect(204);
    let gone: Value =
        market.owner.get(&format!("/v1/products/{}", product.str("/id"))).await.expect(404).json;
    assert_eq!(gone["code"], "not_found");
}

#[tokio::test]
async fn a_sold_variant_whose_order_was_fulfilled_is_not_deleted() {
    let market = Market::open().await;
    let product = pair(&market, 5, 5).await;
    let red = product.str("/variants/0/id");
    let placed = market.paid(&red, 1).await;
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    market.act(&placed.id, "close", json!({})).await.expect(200);
    let path = format!("/v1/products/{}/variants/{red}", product.str("/id"));
    market.owner.delete(&path).await.expect(409).problem("product_has_orders");
}
