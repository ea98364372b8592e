//! What a request about a cart costs the table, exactly, while the process knows the store.

use benches::costs::operations::{CART_CHANGE, CART_READ};
use support::{Gateway, Market, Merchant, address, json};

use super::{Held, line};

#[tokio::test]
async fn a_cart_costs_known_capacity_units_and_trips() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_shop().await;
    let owner = merchant.at(&store);
    let market = Market { gateway, merchant, store, owner };
    let (book, pen) = (market.stock(1_000, 9).await, market.stock(50, 9).await);
    let input = json!({"lines": [line(&book, 1)], "email": "ann@example.com",
        "shipping_address": address()});
    let cart = Held::of_guest(&market, input).await;
    market.gateway.app().clock.stop();
    let read = cart.get().await.expect(200);
    let changed = cart.patch(json!({"note": "Ring twice"})).await.expect(200);
    let added = cart.add(json!([line(&pen, 1)])).await.expect(200);
    let costs = [("read", &read), ("change", &changed), ("add", &added)]
        .map(|(name, reply)| (name, reply.tenths(), reply.trips()));
    let units = |tenths: u64| u32::try_from(tenths).unwrap();
    let (reading, writing) = (units(CART_CHANGE.reads), units(CART_CHANGE.writes));
    assert_eq!(
        costs,
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
