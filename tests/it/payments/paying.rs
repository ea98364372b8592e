//! From the opening of a payment to its capture, its refund or its end.

use std::sync::Arc;

use support::{Market, Merchant, Providers, RAZORPAY_KEY_ID, Value, cart, json, race};

use super::connected::{Connected, PRICE, provider_path};

#[tokio::test]
async fn a_razorpay_payment_is_captured_and_refunded() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    assert_eq!(connected.stock().await, (98, 2, 0));
    let begun = connected.begin("razorpay", &order).await.expect(201);
    assert_eq!(begun.int("/amount/amount"), 2 * PRICE);
    assert_eq!(begun.str("/status"), "created");
    assert_eq!(begun.str("/client/key_id"), RAZORPAY_KEY_ID);
    assert_eq!(begun.header("cache-control"), Some("no-store"));
    let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    assert_eq!(begun.str("/client/options/order_id"), reference);
    // Asked again, it is the same payment, and the provider is not asked.
    let again = connected.begin("razorpay", &order).await.expect(201);
    assert_eq!(again.text, begun.text);
    let opened = connected.providers.calls("/v1/orders");
    assert_eq!(opened.len(), 1);
    let sent: Value = serde_json::from_str(&opened[0].body).unwrap();
    assert_eq!((&sent["amount"], &sent["currency"]), (&json!(2 * PRICE), &json!("INR")));
    assert_eq!(sent["receipt"], connected.order_as_stored(&order).await["number"]);
    assert_eq!(sent["payment"]["capture"], "automatic");

    let paid = connected.providers.pay_razorpay(&reference);
    let fields = Providers::razorpay_return(&order.id, &reference, &paid);
    let verified = connected.verify("razorpay", fields.clone()).await.expect(200);
    assert_eq!(verified.str("/payment/status"), "captured");
    assert_eq!(verified.str("/order/financial_status"), "paid");
    assert_eq!(connected.stock().await, (98, 0, 2));
    let again = connected.verify("razorpay", fields).await.expect(200);
    assert_eq!(again.json, verified.json);
    let late = connected.begin("razorpay", &order).await.expect(409);
    late.problem("order_already_paid");

    let shown = connected.payment(&id).await;
    assert_eq!(shown.str("/provider_payment"), paid);
    assert_eq!(shown.str("/receipts/0/action"), "capture");
    assert_eq!(shown.str("/method"), "upi");
    assert_eq!(*shown.at("/allowed_actions"), json!(["refund", "sync"]));
    let part = json!({"amount": {"amount": 900, "currency": "INR"}, "reason": "defective"});
    let refunded = connected.act(&id, "refunds", part).await.expect(201);
    assert_eq!(refunded.str("/refund/status"), "succeeded");
    assert_eq!(refunded.str("/order/financial_status"), "partially_refunded");
    let over = json!({"amount": {"amount": 2 * PRICE, "currency": "INR"}});
    let over = connected.act(&id, "refunds", over).await.expect(409);
    assert_eq!(over.int("/refundable/amount"), 2 * PRICE - 900);
    over.problem("refund_exceeds_captured");
    connected.act(&id, "refunds", json!({})).await.expect(201);
    let shown = connected.payment(&id).await;
    assert_eq!(shown.str("/status"), "refunded");
    assert_eq!(shown.int("/refunded/amount"), 2 * PRICE);
    assert_eq!(connected.providers.refunds().len(), 2);
    let listed = connected.owner.get(&format!("/v1/payments/{id}/refunds")).await.expect(200);
    assert_eq!(listed.data().len(), 2);
    let keys: Vec<_> =
        connected.providers.calls("/refund").into_iter().map(|call| call.key.unwrap()).collect();
    let ids: Vec<_> = listed.data().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect();
    let ids: Vec<_> = ids.iter().map(|refund| format!("{refund}-{id}")).collect();
    assert_eq!(keys, ids, "the provider deduplicates on our ids");

    let events = connected.owner.get(&format!("/v1/payments/{id}/events")).await.expect(200);
    let names: Vec<_> = events.data().iter().map(|event| event["type"].clone()).collect();
    let expected = ["refunded", "refunded", "captured", "created"];
    assert_eq!(names, expected.map(|verb| json!(format!("payment.{verb}"))));
}

#[tokio::test]
async fn a_stripe_payment_is_captured_or_voided() {
    let connected = Connected::open_with("manual").await;
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    let secret = begun.str("/client/client_secret");
    assert!(secret.starts_with(&format!("{intent}_secret_")));
    let call = connected.providers.calls("/v1/payment_intents").remove(0);
    assert_eq!(call.key.as_deref(), Some(id.as_str()), "opened once per payment");
    assert!(call.body.contains("currency=inr") && call.body.contains("capture_method=manual"));
    let again = connected.begin("stripe", &order).await.expect(201);
    assert_eq!(again.text, begun.text, "the client secret is kept, sealed");
    let stored = Value::from(connected.gateway.items("STO#").await).to_string();
    assert!(!stored.contains(&secret));

    connected.providers.decline_stripe(&intent);
    let fields = json!({"order_id": order.id, "payment_intent": intent});
    let declined = connected.verify("stripe", fields.clone()).await.expect(200);
    assert_eq!(declined.str("/payment/status"), "failed");
    let shown = connected.payment(&id).await;
    assert_eq!(shown.str("/attempts/0/failure_code"), "insufficient_funds");

    connected.providers.pay_stripe(&intent);
    let verified = connected.verify("stripe", fields).await.expect(200);
    assert_eq!(verified.str("/payment/status"), "authorized");
    assert_eq!(verified.str("/order/financial_status"), "authorized");
    let over = json!({"amount": {"amount": 2 * PRICE + 1, "currency": "INR"}});
    connected.act(&id, "capture", over).await.expect(409).problem("amount_exceeds_authorized");
    let keyless = connected.owner.post(&format!("/v1/payments/{id}/capture")).json(json!({})).await;
    keyless.expect(400).problem("idempotency_key_required");
    let captured = connected.act(&id, "capture", json!({})).await.expect(200);
    assert_eq!(captured.str("/status"), "captured");
    assert_eq!(connected.order_as_stored(&order).await["financial_status"], "paid");
    connected.act(&id, "capture", json!({})).await.expect(409).problem("not_capturable");
    connected.act(&id, "void", json!({})).await.expect(409).problem("invalid_state_transition");
    connected.act(&id, "refunds", json!({})).await.expect(201);
    assert_eq!(connected.payment(&id).await.str("/status"), "refunded");

    // Another order: authorized, and given up.
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    connected.providers.pay_stripe(&intent);
    connected.act(&id, "sync", json!({})).await.expect(200);
    let voided = connected.act(&id, "void", json!({})).await.expect(200);
    assert_eq!(voided.str("/status"), "voided");
    assert_eq!(connected.providers.payment(&intent)["status"], "canceled");
    assert_eq!(connected.gateway.events("payment.voided").await.len(), 1);
    connected.act(&id, "refunds", json!({})).await.expect(409).problem("payment_not_captured");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_requests_open_one_payment() {
    let connected = Arc::new(Connected::open_to_many("automatic").await);
    for provider in ["razorpay", "stripe"] {
        let order = connected.order().await;
        let answers = race(12, || {
            let (connected, order) = (Arc::clone(&connected), order.clone());
            async move { connected.begin(provider, &order).await.expect(201) }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.text == answers[0].text), "{provider}");
        let listed = connected.owner.get(&format!("/v1/payments?order_id={}", order.id)).await;
        assert_eq!(listed.expect(200).data().len(), 1);
    }
    assert_eq!(connected.gateway.events("payment.created").await.len(), 2);
    assert_eq!(connected.gateway.items("UQ#PRF#").await.len(), 2);
}

#[tokio::test]
async fn a_manual_payment_is_captured_by_the_merchant() {
    let connected = Connected::bare().await;
    let told = json!({"instructions": "Transfer to IBAN 42."});
    connected.owner.put(&provider_path("manual")).json(told).await.expect(200);
    let order = connected.order().await;
    let begun = connected.begin("manual", &order).await.expect(201);
    assert_eq!(begun.str("/client/options/instructions"), "Transfer to IBAN 42.");
    let id = begun.str("/payment_id");
    let back = connected.verify("manual", json!({"order_id": order.id})).await.expect(200);
    assert_eq!(back.str("/payment/status"), "created", "coming back is no proof of money");
    let captured = connected.act(&id, "capture", json!({})).await.expect(200);
    assert_eq!(captured.str("/status"), "captured");
    assert_eq!(connected.stock().await, (98, 0, 2));
    assert_eq!(connected.announced().await, (1, 1));
}

#[tokio::test]
async fn opening_a_payment_requires_access_to_its_order() {
    let connected = Connected::open().await;
    let (order, other) = (connected.order().await, connected.order().await);
    let before = connected.gateway.count().await;
    let path = connected.path("stripe", "order");
    let input = json!({"order_id": order.id});
    let client = connected.gateway.client();
    client.post(&path).json(input.clone()).await.expect(404).problem("not_found");
    let wrong = client.post(&path).json(input.clone());
    wrong.header("x-service-order-token", &other.token).await.expect(404).problem("not_found");
    let unknown = json!({"order_id": format!("ord_{}", "0".repeat(32))});
    let unknown = client.post(&path).json(unknown);
    unknown.header("x-service-order-token", &order.token).await.expect(404).problem("not_found");
    let provider = connected.begin("paypal", &order).await.expect(404);
    provider.problem("unknown_provider");
    assert_eq!(connected.gateway.count().await, before);
    // One key, two shoppers: nobody gets the other's answer.
    let mine = client.post(&path).json(input.clone()).key("k");
    let mine = mine.header("x-service-order-token", &order.token).await.expect(201);
    assert!(mine.at("/client/client_secret").is_string());
    let theirs = connected.gateway.client().post(&path).json(input).key("k");
    theirs.await.expect(404).problem("not_found");
    let stranger = Merchant::sign_up(&connected.gateway).await;
    let shop = stranger.open_store().await;
    let foreign = format!("/v1/payments/{}", mine.str("/payment_id"));
    stranger.at(&shop).get(&foreign).await.expect(404).problem("not_found");
    let listed =
        connected.owner.get(&format!("/v1/payments?order_id={}", order.id)).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    let none = connected.owner.get("/v1/payments?status=captured").await.expect(200);
    assert!(none.data().is_empty());
}

/// An order's id follows from its number, and a payment's leads to its order: nothing else is written
/// for that, and nothing else read.
#[tokio::test]
async fn order_numbers_and_payment_ids_resolve_without_a_lookup_item() {
    let market = Market::open().await;
    let numbers = market.gateway.order_numbers(&market.store.id).await;
    let book = market.stock(100, 9).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    assert_eq!(placed.id, numbers.order(1_001));
    assert_ne!(placed.id, numbers.guessed(1_001), "nobody else can tell it");
    let path = format!("/v1/storefront/{}/payments/manual/order", market.store.subdomain);
    let input = json!({"order_id": placed.id, "order_token": placed.token});
    let begun = market.gateway.client().post(&path).json(input).await.expect(201);
    let other = market.paid(&book, 1).await;
    let listed = market.owner.get("/v1/payments").await.expect(200);
    let order_of = |one: &Value| numbers.order_of(one["id"].as_str().unwrap());
    let orders: Vec<_> = listed.data().iter().map(order_of).collect();
    assert_eq!(orders, [other.id.clone(), placed.id.clone()]);
    let shown = market.owner.get(&format!("/v1/payments/{}", begun.str("/payment_id"))).await;
    let shown = shown.expect(200);
    assert_eq!((shown.str("/order_id"), shown.trips()), (placed.id.clone(), 2));
    // The same order, and the same store's next: there is no such payment, and no such order.
    for nobodys in [1_001, 1_003].map(|number| numbers.no_payment_of(number)) {
        for rest in ["", "/refunds", "/events"] {
            let missing = market.owner.get(&format!("/v1/payments/{nobodys}{rest}")).await;
            missing.expect(404).problem("not_found");
        }
        market
            .owner
            .post(&format!("/v1/payments/{nobodys}/void"))
            .key("k")
            .json(json!({}))
            .await
            .expect(404);
    }
    // Another store finds none of it.
    let stranger = Merchant::sign_up(&market.gateway).await;
    let shop = stranger.open_store().await;
    let payment = begun.str("/payment_id");
    for path in [format!("/v1/orders/{}", placed.id), format!("/v1/payments/{payment}")] {
        stranger.at(&shop).get(&path).await.expect(404);
    }
    for nobody in [&None, &Some("no token")] {
        let path = format!("{}/{}", market.orders_path(), placed.id);
        let input = market.gateway.client().get(&path);
        let input =
            nobody.iter().fold(input, |input, token| input.header("x-service-order-token", token));
        input.await.expect(404);
    }
    // Its secret is the store's alone.
    let secret = numbers.secret();
    let shown = market.owner.get(&format!("/v1/stores/{}", market.store.id)).await.expect(200);
    assert!(secret.len() == 43 && !shown.text.contains(secret));
    let events = market.gateway.stored("EVT#").await;
    assert!(events.iter().all(|event| !event.json.to_string().contains(secret)));
}
