//! Amounts that no payment provider can count are rounded, and refunds come to what was paid.

use support::{Reply, Value, json, unique};

use super::connected::{Connected, Order, PRICE, provider_path, stripe};

impl Connected {
    /// Places an order of three units; with this provider, if any.
    async fn three(&self, payment: Option<Value>) -> Reply {
        let shop = format!("/v1/storefront/{}/orders", self.store.subdomain);
        let mut cart = json!({
            "email": "shopper@example.com",
            "items": [{"variant_id": self.variant, "quantity": 3}],
            "shipping_address": {
                "first_name": "Noor", "last_name": "Salem", "line1": "1 Gulf Road",
                "city": "Kuwait City", "postal_code": "13001", "country": "KW",
            },
        });
        if let Some(payment) = payment {
            cart["payment"] = payment;
        }
        self.gateway.client().post(&shop).key(&unique("order")).json(cart).await
    }
}

fn order(placed: &Reply) -> Order {
    Order { id: placed.str("/order/id"), token: placed.str("/order_token") }
}

#[tokio::test]
async fn a_total_in_thousandths_is_rounded_and_refunded_in_full() {
    // Three of 2.337 are 7.011, of which a card takes 7.010.
    let connected = Connected::bare_in("KWD", 2_337).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    let placed = connected.three(Some(json!({"provider": "stripe"}))).await.expect(201);
    assert_eq!(placed.int("/order/totals/subtotal/amount"), 7_011);
    assert_eq!(placed.int("/order/totals/total/amount"), 7_010);
    assert_eq!(*placed.at("/order/totals/rounding"), json!({"amount": -1, "currency": "KWD"}));
    let (id, _) = connected.paid("stripe", &order(&placed)).await;
    assert_eq!(connected.payment(&id).await.int("/captured/amount"), 7_010);

    // Each refund is one that the provider can count, and all of them are what was paid.
    let path = format!("/v1/orders/{}", placed.str("/order/id"));
    let item = connected.owner.get(&path).await.expect(200).str("/items/0/id");
    let mut amounts = Vec::new();
    for _ in 0..3 {
        let one = json!({"items": [{"order_item_id": item, "quantity": 1}]});
        let refund = connected.owner.post(&format!("{path}/refund")).key(&unique("r")).json(one);
        amounts.push(refund.await.expect(201).int("/refund/amount/amount"));
    }
    assert!(amounts.iter().all(|amount| amount % 10 == 0), "{amounts:?}");
    assert_eq!(amounts.iter().sum::<i64>(), 7_010);
    let refunded = connected.owner.get(&path).await.expect(200);
    assert_eq!(refunded.str("/financial_status"), "refunded");
}

#[tokio::test]
async fn an_exact_total_is_rounded_when_it_is_paid_by_card() {
    let connected = Connected::bare_in("KWD", 2_339).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    // Who pays by hand pays exactly.
    let placed = connected.three(Some(json!({"provider": "manual"}))).await.expect(201);
    assert_eq!(placed.int("/order/totals/total/amount"), 7_017);
    assert_eq!(*placed.at("/order/totals/rounding"), Value::Null);
    let begun = connected.begin("stripe", &order(&placed)).await.expect(201);
    assert_eq!(begun.int("/amount/amount"), 7_020);
    let path = format!("/v1/orders/{}", placed.str("/order/id"));
    let rounded = connected.owner.get(&path).await.expect(200);
    assert_eq!(rounded.int("/totals/total/amount"), 7_020);
    assert_eq!(rounded.int("/totals/rounding/amount"), 3);
    // Who has not chosen may choose a card.
    let open = connected.three(None).await.expect(201);
    assert_eq!(open.int("/order/totals/due/amount"), 7_020);
}

#[tokio::test]
async fn an_order_covered_by_gift_cards_needs_no_provider() {
    let connected = Connected::bare_in("KWD", 2_337).await;
    connected.owner.put(&provider_path("manual")).json(json!({"enabled": false})).await.expect(200);
    let card = json!({"initial_value": {"amount": 10_000, "currency": "KWD"}});
    let card = connected.owner.post("/v1/products/gift-cards").key("card").json(card).await;
    let code = card.expect(201).str("/code");
    let shop = format!("/v1/storefront/{}/orders", connected.store.subdomain);
    let cart = json!({
        "email": "shopper@example.com",
        "items": [{"variant_id": connected.variant, "quantity": 3}],
        "gift_card_codes": [code],
        "shipping_address": {
            "first_name": "Noor", "last_name": "Salem", "line1": "1 Gulf Road",
            "city": "Kuwait City", "postal_code": "13001", "country": "KW",
        },
    });
    let placed = connected.gateway.client().post(&shop).key("free").json(cart).await.expect(201);
    assert_eq!(placed.int("/order/totals/due/amount"), 0);
    assert_eq!(placed.int("/order/totals/total/amount"), 7_011, "a card of the store's is exact");
    assert_eq!(placed.str("/order/financial_status"), "paid");
    assert_eq!(*placed.at("/payment_required"), json!(false));
}

#[tokio::test]
async fn a_refund_below_the_providers_minor_unit_names_the_nearest_amounts() {
    let connected = Connected::bare_in("KWD", 2_337).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    let placed = connected.three(Some(json!({"provider": "stripe"}))).await.expect(201);
    let (id, _) = connected.paid("stripe", &order(&placed)).await;
    let path = format!("/v1/orders/{}", placed.str("/order/id"));
    let kwd = |amount: i64| json!({"amount": amount, "currency": "KWD"});
    let amount = json!({"amount": kwd(1_234)});
    let at_order =
        |action: &str| connected.owner.post(&format!("{path}/{action}")).key(&unique("r"));
    for rejected in [
        at_order("refund").json(amount.clone()).await,
        at_order("refund/calculate").json(amount.clone()).await,
        connected.act(&id, "refunds", amount.clone()).await,
    ] {
        let rejected = rejected.expect(409).problem("amount_not_supported");
        assert_eq!(*rejected.at("/step"), kwd(10));
        assert_eq!(*rejected.at("/nearest"), json!([kwd(1_230), kwd(1_240)]));
    }
    let least = at_order("refund").json(json!({"amount": kwd(4)})).await.expect(409);
    assert_eq!(*least.problem("amount_not_supported").at("/nearest"), json!([kwd(10)]));
}

#[tokio::test]
async fn the_total_of_units_that_are_left_is_rounded_again() {
    let connected = Connected::bare_in("KWD", 2_337).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    let placed = connected.three(Some(json!({"provider": "stripe"}))).await.expect(201);
    let path = format!("/v1/orders/{}", placed.str("/order/id"));
    let act = |action: &str, fields: Value| {
        connected.owner.post(&format!("{path}/{action}")).key(&unique("act")).json(fields)
    };
    let item = placed.str("/order/items/0/id");
    let one = json!({"items": [{"order_item_id": item, "quantity": 1}]});
    act("confirm", json!({})).await.expect(200);
    let less = act("lines/cancel", one.clone()).await.expect(200);
    assert_eq!(less.int("/totals/subtotal/amount"), 4_674);
    assert_eq!(
        (less.int("/totals/total/amount"), less.int("/totals/rounding/amount")),
        (4_670, -4)
    );
    connected.paid("stripe", &order(&placed)).await;
    let mut amounts = Vec::new();
    for _ in 0..2 {
        let refund = act("refund", one.clone()).await.expect(201);
        amounts.push(refund.int("/refund/amount/amount"));
    }
    assert_eq!(amounts, [2_340, 2_330]);
    let refunded = connected.owner.get(&path).await.expect(200);
    assert_eq!(refunded.str("/financial_status"), "refunded");
}

#[tokio::test]
async fn a_capture_takes_no_more_than_the_units_that_are_left() {
    let connected = Connected::open_with("manual").await;
    let placed = connected.order().await;
    let begun = connected.begin("stripe", &placed).await.expect(201);
    let id = begun.str("/payment_id");
    connected.providers.pay_stripe(&begun.str("/provider_order_id"));
    connected.act(&id, "sync", json!({})).await.expect(200);
    let path = format!("/v1/orders/{}", placed.id);
    let item = connected.owner.get(&path).await.expect(200).str("/items/0/id");
    let one = json!({"items": [{"order_item_id": item, "quantity": 1}]});
    let cancel = connected.owner.post(&format!("{path}/lines/cancel")).key("cancel").json(one);
    let less = cancel.await.expect(200);
    assert_eq!(less.str("/financial_status"), "authorized");
    assert_eq!(less.int("/totals/total/amount"), PRICE);
    connected.act(&id, "capture", json!({})).await.expect(200);
    let paid = connected.owner.get(&path).await.expect(200);
    assert_eq!(
        (paid.str("/financial_status"), paid.int("/captured_total/amount")),
        ("paid".into(), PRICE)
    );
}

#[tokio::test]
async fn money_for_cancelled_units_is_accepted_and_can_be_refunded() {
    let connected = Connected::open().await;
    let placed = connected.order().await;
    let path = format!("/v1/orders/{}", placed.id);
    let act = |action: &str, fields: Value| {
        connected.owner.post(&format!("{path}/{action}")).key(&unique("act")).json(fields)
    };
    let confirmed = act("confirm", json!({})).await.expect(200);
    let begun = connected.begin("stripe", &placed).await.expect(201);
    let one = json!({"items": [{"order_item_id": confirmed.str("/items/0/id"), "quantity": 1}]});
    act("lines/cancel", one).await.expect(200);
    connected.providers.pay_stripe(&begun.str("/provider_order_id"));
    connected.act(&begun.str("/payment_id"), "sync", json!({})).await.expect(200);
    let paid = connected.owner.get(&path).await.expect(200);
    assert_eq!(
        (paid.str("/financial_status"), paid.int("/captured_total/amount")),
        ("paid".into(), 2 * PRICE)
    );
    assert_eq!(paid.int("/totals/total/amount"), PRICE);
    let refund = act("refund", json!({})).await.expect(201);
    assert_eq!(refund.int("/refund/amount/amount"), 2 * PRICE);
    assert_eq!(refund.int("/refund/lines/0/quantity"), 1);
}
