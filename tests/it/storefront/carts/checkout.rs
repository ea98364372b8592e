//! The order of a cart: at its totals, and once.

use std::collections::BTreeSet;

use support::{Market, Reply, Value, address, inr, json, race, unique};

use super::{Held, can, line};

/// A store that sends within India, levies tax, and has discounts; its rates.
async fn shop() -> (Market, Vec<String>) {
    let market = Market::open().await;
    let store = format!("/v1/stores/{}", market.store.id);
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [
            {"name": "Express", "kind": "flat", "price": inr(29_900)},
            {"name": "Standard", "kind": "flat", "price": inr(9_900), "free_over": inr(50_000)},
            {"name": "At the shop", "kind": "pickup", "price": inr(0)},
        ],
    });
    let zone = market.owner.post(&format!("{store}/shipping-zones")).json(zone).await.expect(201);
    let gst = json!({"name": "GST", "country": "IN", "basis_points": 1_775});
    market.owner.post(&format!("{store}/tax-rates")).json(gst).await.expect(201);
    for fields in [
        json!({"code": "TENTH", "kind": "percentage", "value": {"basis_points": 1_003}}),
        json!({"code": "LESS", "kind": "fixed", "value": {"amount": inr(777)}}),
        json!({"kind": "percentage", "value": {"basis_points": 333},
            "minimum": {"subtotal": inr(20_000)}}),
    ] {
        let mut input = json!({"title": unique("Discount")});
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        market.owner.post("/v1/discounts").json(input).await.expect(201);
    }
    let rates = (0..3).map(|n| zone.str(&format!("/rates/{n}/id"))).collect();
    (market, rates)
}

/// The next of a fixed sequence of numbers below `below`.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[tokio::test]
async fn the_total_of_an_order_is_that_of_its_cart() {
    let (market, rates) = shop().await;
    let mut state = 42;
    let mut variants = Vec::new();
    for _ in 0..6 {
        variants
            .push(market.stock(i64::try_from(draw(&mut state, 40_000)).unwrap() + 1, 900).await);
    }
    let (_, card) = market.gift_card(1_000_000).await;
    for round in 0..24 {
        let mut lines = Vec::new();
        for variant in &variants {
            if draw(&mut state, 2) == 0 {
                lines.push(line(variant, i64::try_from(draw(&mut state, 7)).unwrap() + 1));
            }
        }
        if lines.is_empty() {
            lines.push(line(&variants[0], 1));
        }
        let rate = &rates[usize::try_from(draw(&mut state, 3)).unwrap()];
        let mut input = json!({"lines": lines, "email": "ann@example.com",
            "shipping_address": address(), "shipping_rate_id": rate});
        match draw(&mut state, 3) {
            0 => input["discount_codes"] = json!(["tenth"]),
            1 => input["discount_codes"] = json!(["less"]),
            _ => {}
        }
        if draw(&mut state, 3) == 0 {
            input["add_gift_card_codes"] = json!([card]);
        }
        let cart = Held::of_guest(&market, input).await;
        let shown = cart.get().await.expect(200);
        assert!(can(&shown, "checkout"), "{round}: {}", shown.text);
        let total = shown.at("/totals/total").clone();
        let placed = cart.check_out(json!({"expected_total": total})).await.expect(201);
        assert_eq!(placed.at("/order/totals"), shown.at("/totals"), "{round}");
        assert_eq!(placed.at("/order/discounts"), shown.at("/discounts"), "{round}");
        assert_eq!(placed.at("/order/shipping_line"), shown.at("/shipping_line"), "{round}");
        let taxes = |reply: &Reply, lines: &str, within: &str| -> Vec<Value> {
            let lines = reply.at(lines).as_array().unwrap().iter();
            lines
                .map(|line| line.pointer(&format!("{within}/tax_lines")).unwrap().clone())
                .collect()
        };
        assert_eq!(taxes(&placed, "/order/items", ""), taxes(&shown, "/lines", "/merchandise"));
    }
}

#[tokio::test]
async fn a_cart_becomes_an_order_with_all_that_it_has() {
    let (market, rates) = shop().await;
    let book = market.stock(10_000, 9).await;
    let engraved = json!({"variant_id": book, "quantity": 2, "properties": {"Text": "Ann"},
        "metadata": {"gift": "yes"}});
    let input = json!({"lines": [engraved], "email": "ann@example.com", "locale": "de",
        "contact": {"first_name": "Ann", "last_name": "Lee", "phone": "080 5550 1234"},
        "shipping_address": address(), "shipping_rate_id": rates[0], "note": "Ring twice",
        "metadata": {"campaign": "spring"}, "payment": {"provider": "manual"}});
    let cart = Held::of_guest(&market, input).await;
    let wrong = json!({"expected_total": inr(1)});
    cart.check_out(wrong).await.expect(409).problem("price_changed");
    let placed = cart.check_out(json!({})).await.expect(201);
    let order = market.show(&placed.str("/order/id")).await;
    assert_eq!(order.str("/items/0/properties/Text"), "Ann");
    assert_eq!(order.str("/items/0/metadata/gift"), "yes");
    assert_eq!(
        (order.str("/note"), order.str("/metadata/campaign")),
        ("Ring twice".into(), "spring".into())
    );
    assert_eq!(
        (order.str("/contact/first_name"), order.str("/locale")),
        ("Ann".into(), "de".into())
    );
    let token = placed.str("/order_token");
    let path = format!("{}/{}", market.orders_path(), order.str("/id"));
    let seen = market.gateway.client().get(&path).header("x-service-order-token", &token).await;
    seen.expect(200);
    let converted = cart.get().await.expect(200);
    assert_eq!(
        (converted.str("/status"), converted.str("/order_id")),
        ("converted".into(), order.str("/id"))
    );
    assert_eq!(converted.at("/allowed_actions"), &json!([]));
    let stored = market.gateway.item("cart", &cart.id).await.to_string();
    assert!(!stored.contains("ann@example.com") && !stored.contains("MG Road"), "{stored}");
    for reply in [
        cart.patch(json!({"note": "more"})).await,
        cart.add(json!([line(&book, 1)])).await,
        cart.check_out(json!({})).await,
        cart.opened(cart.client.delete(&cart.path)).await,
    ] {
        let rejected = reply.expect(409).problem("cart_converted");
        assert_eq!(rejected.str("/order_id"), order.str("/id"));
    }
    let told = market.gateway.events("cart.converted").await;
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&told[0]["data"]["id"], &told[0]["data"]["lines"][0]["quantity"]),
        (&json!(cart.id), &json!(2))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cart_is_converted_once_whatever_races() {
    let market = Market::open().await;
    // The last one: whoever loses finds no stock either.
    let book = market.stock(1_000, 1).await;
    let input = json!({"lines": [line(&book, 1)], "email": "ann@example.com",
        "shipping_address": address()});
    let cart = Held::of_guest(&market, input).await;
    let answers = race(8, || cart.check_out(json!({}))).await;
    let mut orders = BTreeSet::new();
    let mut placed = 0;
    for answer in answers {
        if answer.status == 201 {
            placed += 1;
            orders.insert(answer.str("/order/id"));
        } else {
            orders.insert(answer.expect(409).problem("cart_converted").str("/order_id"));
        }
    }
    assert_eq!((placed, orders.len()), (1, 1));
    assert_eq!(market.levels(&book).await, [0, 1, 0, 1]);
    assert_eq!(market.gateway.events("order.created").await.len(), 1);
    assert_eq!(market.gateway.events("cart.converted").await.len(), 1);
}

#[tokio::test]
async fn a_repeated_checkout_with_its_key_is_answered_alike() {
    let market = Market::open().await;
    let book = market.stock(1_000, 5).await;
    let input = json!({"lines": [line(&book, 1)], "email": "ann@example.com",
        "shipping_address": address()});
    let cart = Held::of_guest(&market, input).await;
    let path = format!("{}/checkout", cart.path);
    let without = cart.opened(cart.client.post(&path)).json(json!({})).await;
    without.expect(400).problem("idempotency_key_required");
    let key = unique("a-key-that-nobody-guesses");
    let mut texts = BTreeSet::new();
    for _ in 0..3 {
        let placed = cart.opened(cart.client.post(&path)).key(&key).json(json!({}));
        texts.insert(placed.await.expect(201).text);
    }
    assert_eq!(texts.len(), 1);
    assert_eq!(market.levels(&book).await, [4, 1, 0, 5]);
}
