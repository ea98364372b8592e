//! What a request about a cart costs the table, exactly, while the process knows the store.

use benches::costs::operations::{CART_CHANGE, CART_READ};
use support::{address, json};

use super::{cost, quiet_market};

#[tokio::test]
async fn a_cart_costs_known_capacity_units_and_trips() {
    let market = quiet_market().await;
    let (book, pen) = (market.stock(1_000, 9).await, market.stock(50, 9).await);
    let client = market.gateway.client();
    let carts = format!("/v1/storefront/{}/carts", market.store.subdomain);
    let input = json!({"lines": [{"variant_id": book, "quantity": 1}], "email": "ann@example.com",
        "shipping_address": address()});
    let made = client.post(&carts).json(input).await.expect(201);
    let (path, token) = (format!("{carts}/{}", made.str("/cart/id")), made.str("/cart_token"));
    let header = "x-service-cart-token";
    market.gateway.app().clock.stop();
    let read = client.get(&path).header(header, &token).await.expect(200);
    let note = json!({"note": "Ring twice"});
    let changed = client.patch(&path).header(header, &token).json(note).await.expect(200);
    let lines = json!({"lines": [{"variant_id": pen, "quantity": 1}]});
    let add = client.post(&format!("{path}/lines")).header(header, &token).json(lines);
    let added = add.await.expect(200);
    let units = |tenths: u64| u32::try_from(tenths).unwrap();
    let (reading, writing) = (units(CART_CHANGE.reads), units(CART_CHANGE.writes));
    assert_eq!(
        [cost("read", &read), cost("change", &changed), cost("add", &added)],
        [
            // The cart; at half the price store, settings, account, zones, rates, discounts, sellable, level.
            ("read", units(CART_READ.reads), 2),
            // The same, and one item of up to a kilobyte in a transaction.
            ("change", reading + writing, 3),
            // Another sellable and level.
            ("add", reading + 10 + writing, 3),
        ]
    );
}
