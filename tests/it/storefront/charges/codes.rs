//! Who may use a discount, how often, and what whoever may not is told.

use std::time::Duration;

use support::{Market, Placed, Reply, Shopper, Value, cart, inr, json, race, unique};

use super::{DISCOUNTS, discount, field_error, used, with};

#[tokio::test]
async fn each_rejected_discount_code_has_its_own_error_code() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let now = market.gateway.now();
    let tenth = json!({"basis_points": 1_000});
    let coded = |code: &str, fields: Value| {
        let base = json!({"code": code, "value": tenth});
        let (market, fields) = (&market, with(base, fields));
        async move { discount(market, fields).await }
    };
    let off = coded("OFF", json!({})).await;
    market.owner.post(&format!("{DISCOUNTS}/{off}/disable")).json(json!({})).await.expect(200);
    coded("LATER", json!({"starts_at": now.plus(Duration::from_hours(1))})).await;
    coded("FIRST", json!({"first_order_only": true})).await;
    coded("LARGE", json!({"minimum": {"subtotal": inr(100_000)}})).await;
    let pen = market.owner.post("/v1/products").key(&unique("p"));
    let pen = pen.json(json!({"title": "Pen", "variants": [{"price": inr(1)}]})).await.expect(201);
    coded("PENS", json!({"applies_to": {"product_ids": [pen.str("/id")]}})).await;
    coded("ONE", json!({})).await;
    coded("TWO", json!({})).await;
    coded("SOON-OVER", json!({"ends_at": now.plus(Duration::from_mins(30))})).await;
    let before = market.gateway.items_of("order", "").await.len();
    let rejected = |codes: Value| {
        let input = with(cart(&[(&book, 1)]), json!({"discount_codes": codes}));
        let market = &market;
        async move { market.try_order(input).await.expect(422).field_errors() }
    };
    for (code, why) in [
        ("NOBODYS", "unknown_discount_code"),
        ("off", "discount_disabled"),
        ("later", "discount_not_started"),
        ("first", "discount_not_first_order"),
        ("large", "discount_minimum_not_met"),
        ("pens", "discount_not_applicable"),
    ] {
        assert_eq!(rejected(json!([code])).await, [("/discount_codes/0".into(), why.into())]);
    }
    let both = rejected(json!(["one", "two", "ONE"])).await;
    let codes: Vec<_> = both.iter().map(|(at, code)| (at.as_str(), code.as_str())).collect();
    assert_eq!(
        codes,
        [("/discount_codes/1", "not_combinable"), ("/discount_codes/2", "duplicate")]
    );
    market.gateway.advance(Duration::from_hours(1));
    let over = rejected(json!(["soon-over"])).await;
    assert_eq!(over[0].1, "discount_expired");
    assert_eq!(market.gateway.items_of("order", "").await.len(), before);
}

#[tokio::test]
async fn discount_code_guesses_are_rate_limited() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    discount(&market, json!({"code": "RIGHT", "value": {"basis_points": 1_000}})).await;
    let client = market.gateway.client();
    let request = |code: &str| {
        let cart = with(cart(&[(&book, 1)]), json!({"discount_codes": [code], "dry_run": true}));
        client.post(&market.orders_path()).key(&unique("try")).json(cart)
    };
    for n in 0..5 {
        request(&format!("WRONG{n}")).await.expect(422);
    }
    request("RIGHT").await.expect(429).problem("too_many_attempts");
    let elsewhere = market.gateway.client();
    let cart = with(cart(&[(&book, 1)]), json!({"discount_codes": ["RIGHT"], "dry_run": true}));
    elsewhere.post(&market.orders_path()).key(&unique("try")).json(cart).await.expect(200);
}

#[tokio::test]
async fn a_usage_limit_holds_for_1000_parallel_orders() {
    let market = Market::open().await;
    let book = market.stock(1_000, 2_000).await;
    let input = json!({"code": "HUNDRED", "value": {"basis_points": 1_000}, "usage_limit": 100});
    let id = discount(&market, input).await;
    let answers = race(1_000, || {
        market.try_order(with(cart(&[(&book, 1)]), json!({"discount_codes": ["HUNDRED"]})))
    })
    .await;
    let placed = answers.iter().filter(|answer| answer.status == 201).count();
    let rejected = answers
        .iter()
        .filter(|answer| answer.status == 422 && field_error(answer).1 == "discount_used_up");
    assert_eq!((placed, rejected.count()), (100, 900));
    assert_eq!(used(&market, &id).await, 100);
    let orders = market.gateway.items_of("order", "").await;
    assert_eq!(orders.len(), 100);
}

#[tokio::test]
async fn a_per_customer_limit_holds_for_fifty_parallel_orders() {
    let market = Market::open().await;
    let book = market.stock(1_000, 500).await;
    let input = json!({"code": "TWICE", "value": {"basis_points": 1_000}, "per_customer_limit": 2});
    let id = discount(&market, input).await;
    let guest = |email: &str| {
        let fields = json!({"discount_codes": ["TWICE"], "email": email});
        market.try_order(with(cart(&[(&book, 1)]), fields))
    };
    // A guest is known by their address, however it is written.
    let answers = race(50, || guest("Guest@Example.com")).await;
    let placed: Vec<&Reply> = answers.iter().filter(|answer| answer.status == 201).collect();
    let rejected = answers.iter().filter(|answer| {
        answer.status == 422 && field_error(answer).1 == "discount_used_by_customer"
    });
    assert_eq!((placed.len(), rejected.count()), (2, 48));
    guest("guest@example.com").await.expect(422);
    guest("other@example.com").await.expect(201);
    assert_eq!(used(&market, &id).await, 3);
    let first = Placed::of(placed[0].clone());
    market.act(&first.id, "cancel", json!({})).await.expect(200);
    assert_eq!(used(&market, &id).await, 2, "what is called off unpaid gives it back");
    guest("guest@example.com").await.expect(201);
    market.gateway.advance(Duration::from_hours(1));
    market.gateway.sweep().await;
    assert_eq!(used(&market, &id).await, 0, "and so does what expires");
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let fields = json!({"discount_codes": ["TWICE"], "email": "guest@example.com"});
    let order = || {
        let input = with(cart(&[(&book, 1)]), fields.clone());
        shopper.post(&market.orders_path()).key(&unique("o")).json(input)
    };
    let statuses = [order().await.status, order().await.status, order().await.status];
    assert_eq!(statuses, [201, 201, 422]);
    let shop = format!("{}/{}/cancel", market.orders_path(), first.id);
    shopper.post(&shop).json(json!({})).await.expect(404);
}

/// Refunds that providers make one after the other are in `payments::refunds`.
#[tokio::test]
async fn a_cancelled_order_restores_its_discount_use_when_fully_refunded() {
    let market = Market::open().await;
    let book = market.stock(1_000, 500).await;
    let input = json!({"code": "ONCE", "value": {"basis_points": 1_000}, "usage_limit": 1,
        "per_customer_limit": 1});
    let id = discount(&market, input).await;
    let order = || async {
        let input = with(cart(&[(&book, 2)]), json!({"discount_codes": ["ONCE"]}));
        let placed = market.order(input).await;
        market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
        assert_eq!(used(&market, &id).await, 1);
        placed.id
    };
    let whole = order().await;
    market.act(&whole, "cancel", json!({})).await.expect(200);
    assert_eq!(used(&market, &id).await, 0, "cancelled and refunded at once");
    let later = order().await;
    market.act(&later, "cancel", json!({"refund": "none"})).await.expect(200);
    assert_eq!(used(&market, &id).await, 1, "nothing is refunded yet");
    market.act(&later, "refund", json!({"amount": inr(1_000)})).await.expect(201);
    assert_eq!(used(&market, &id).await, 1, "800 are left");
    market.act(&later, "refund", json!({})).await.expect(201);
    assert_eq!(used(&market, &id).await, 0);
    // A refund alone cancels nothing: the goods are still to be sent.
    let kept = order().await;
    market.act(&kept, "refund", json!({})).await.expect(201);
    assert_eq!(used(&market, &id).await, 1);
    market.act(&kept, "cancel", json!({})).await.expect(200);
    assert_eq!(used(&market, &id).await, 0, "nothing was left to refund");
    let card = market.gift_card(1_800).await.1;
    let fields = json!({"discount_codes": ["ONCE"], "gift_card_codes": [card]});
    let placed = market.order(with(cart(&[(&book, 2)]), fields)).await;
    market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(used(&market, &id).await, 0, "paid by its gift card");
}

#[tokio::test]
async fn a_first_order_discount_applies_to_one_of_forty_parallel_orders() {
    let (market, app) = Market::with_app(&["write_orders"]).await;
    let book = market.stock(1_000, 500).await;
    discount(&market, json!({"first_order_only": true, "value": {"basis_points": 5_000}})).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let answers = race(40, || async {
        let input =
            json!({"items": [{"variant_id": book, "quantity": 1}], "customer_id": shopper.id});
        app.post("/v1/orders").key(&unique("o")).json(input).await.expect(201)
    })
    .await;
    let cheap = answers.iter().filter(|answer| answer.int("/totals/discount/amount") > 0);
    assert_eq!(cheap.count(), 1);
    let again = shopper.post(&market.orders_path()).key(&unique("o")).json(cart(&[(&book, 1)]));
    assert_eq!(again.await.expect(201).int("/order/totals/discount/amount"), 0);
    let guest = market.order(cart(&[(&book, 1)])).await;
    assert_eq!(guest.reply.int("/order/totals/discount/amount"), 0);
}
