//! Buying a theme: what grants a licence, and what grants nothing.

use support::clock::{DAY, HOUR, MINUTE};
use support::{Merchant, RAZORPAY_KEY_ID, Trouble, deliver, json, race};

use super::sale::{PRICE, Sale};

#[tokio::test]
async fn a_paid_theme_is_installed_after_payment() {
    let sale = Sale::open().await;
    let rejected = sale.install().await.expect(402);
    assert_eq!(rejected.int("/price/amount"), PRICE);
    rejected.problem("license_required");
    let input = sale.owner.post(&sale.path("purchase")).json(json!({"provider": "razorpay"}));
    input.await.expect(400).problem("idempotency_key_required");
    let begun = sale.begin("razorpay").await.expect(201);
    assert_eq!((begun.int("/amount/amount"), begun.str("/status")), (PRICE, "created".into()));
    assert_eq!(begun.str("/client/key_id"), RAZORPAY_KEY_ID);
    assert_eq!(begun.header("cache-control"), Some("no-store"));
    sale.install().await.expect(402).problem("license_required");

    // Coming back without having paid grants nothing.
    let reference = begun.str("/provider_order_id");
    let early = sale.verify(Sale::returned(&begun, "pay_nothing")).await.expect(409);
    early.problem("invalid_state_transition");
    let payment = sale.providers.pay_razorpay(&reference);
    let granted = sale.verify(Sale::returned(&begun, &payment)).await.expect(200);
    assert_eq!(granted.str("/license/theme"), sale.slug);
    assert_eq!(granted.str("/license/store_id"), sale.buyer.id);
    let again = sale.verify(Sale::returned(&begun, &payment)).await.expect(200);
    assert_eq!(again.json, granted.json);
    assert_eq!(sale.told("theme.licensed").await, 1);
    sale.begin("razorpay").await.expect(409).problem("already_licensed");
    sale.install().await.expect(201);
    let listed = sale.licenses().await;
    assert_eq!((listed.len(), &listed[0]["active"]), (1, &json!(true)));
    // To its maker it costs nothing.
    sale.maker.post(&sale.path("install")).json(json!({})).await.expect(201);
    let input =
        sale.maker.post(&sale.path("purchase")).key("own").json(json!({"provider": "razorpay"}));
    input.await.expect(409).problem("theme_is_free");
}

#[tokio::test]
async fn a_forged_payment_return_grants_no_license() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    let payment = sale.providers.pay_razorpay(&begun.str("/provider_order_id"));
    let honest = Sale::returned(&begun, &payment);
    let with = |name: &str, value: &str| {
        let mut fields = honest.clone();
        fields[name] = json!(value);
        fields
    };
    for forged in [
        with("razorpay_signature", &"0".repeat(64)),
        with("razorpay_payment_id", "pay_other"),
        with("razorpay_order_id", "order_other"),
        json!({"purchase_id": honest["purchase_id"]}),
        json!({"purchase_id": honest["purchase_id"], "payment_intent": "pi_1"}),
    ] {
        sale.verify(forged).await.expect(400).problem("signature_mismatch");
    }
    let unknown = format!("tpu_{}", "0".repeat(32));
    sale.verify(with("purchase_id", &unknown)).await.expect(404).problem("not_found");
    // Somebody else's purchase is none.
    let stranger = Merchant::sign_up(&sale.gateway).await;
    let store = stranger.open_shop().await;
    let path = sale.path("purchase/verify");
    stranger.at(&store).post(&path).json(honest.clone()).await.expect(404).problem("not_found");
    assert!(sale.licenses().await.is_empty());
    sale.install().await.expect(402);
    sale.verify(honest).await.expect(200);
}

#[tokio::test]
async fn a_theme_payment_with_a_wrong_amount_is_refunded() {
    let sale = Sale::open().await;
    for amount in [PRICE - 1, PRICE + 1] {
        let begun = sale.begin("razorpay").await.expect(201);
        let reference = begun.str("/provider_order_id");
        let payment = sale.providers.pay_razorpay_with(&reference, amount);
        let rejected = sale.verify(Sale::returned(&begun, &payment)).await.expect(409);
        assert_eq!(rejected.int("/expected/amount"), PRICE);
        assert_eq!(rejected.int("/received/amount"), amount);
        rejected.problem("amount_mismatch");
        assert!(sale.licenses().await.is_empty());
        sale.install().await.expect(402);
        let back = sale.providers.payment(&payment);
        assert_eq!(back["amount_refunded"], amount, "{back}");
    }
}

#[tokio::test]
async fn a_second_payment_for_a_theme_is_refunded() {
    let sale = Sale::open().await;
    let first = sale.begin("razorpay").await.expect(201);
    let second = sale.begin("razorpay").await.expect(201);
    let one = sale.providers.pay_razorpay(&first.str("/provider_order_id"));
    let two = sale.providers.pay_razorpay(&second.str("/provider_order_id"));
    let granted = sale.verify(Sale::returned(&first, &one)).await.expect(200);
    let rejected = sale.verify(Sale::returned(&second, &two)).await.expect(409);
    rejected.problem("already_licensed");
    assert_eq!(sale.providers.payment(&two)["amount_refunded"], PRICE);
    assert_eq!(sale.providers.payment(&one)["amount_refunded"], 0);
    // What carried the first buys nothing for the second.
    let mixed = sale.verify(Sale::returned(&second, &one)).await;
    assert_eq!(mixed.status, 409, "{}", mixed.text);
    let listed = sale.licenses().await;
    assert_eq!(listed[0]["purchase_id"], *granted.at("/license/purchase_id"));
    assert_eq!(sale.told("theme.licensed").await, 1);
    // That the second has gone back is told, and ends nothing.
    sale.notify("refund.processed", &two).await;
    assert_eq!(sale.licenses().await[0]["active"], true);
}

#[tokio::test]
async fn parallel_payment_returns_grant_one_license() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    let payment = sale.providers.pay_razorpay(&begun.str("/provider_order_id"));
    let fields = Sale::returned(&begun, &payment);
    let replies = race(8, || {
        let (owner, path) = (sale.owner.elsewhere(), sale.path("purchase/verify"));
        let fields = fields.clone();
        async move { owner.post(&path).json(fields).await }
    })
    .await;
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.json == replies[0].json));
    assert_eq!(sale.told("theme.licensed").await, 1);
}

#[tokio::test]
async fn a_provider_webhook_grants_the_license_before_the_return() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    let payment = sale.providers.pay_razorpay(&begun.str("/provider_order_id"));
    let event = sale.providers.razorpay_event("payment.captured", &payment);
    // Told at another store, it is nobody's.
    let visitor = sale.gateway.client();
    deliver(&event, &visitor, &sale.buyer.subdomain)
        .await
        .expect(409)
        .problem("provider_not_connected");
    for _ in 0..2 {
        deliver(&event, &visitor, &sale.seller.subdomain).await.expect(200);
    }
    assert_eq!(sale.told("theme.licensed").await, 1);
    sale.install().await.expect(201);
    sale.verify(Sale::returned(&begun, &payment)).await.expect(200);
}

#[tokio::test]
async fn a_refunded_purchase_ends_the_license_for_new_installs() {
    let sale = Sale::open().await;
    let payment = sale.buy().await;
    sale.install().await.expect(201);
    sale.owner.post(&sale.path("publish")).json(json!({"draft_version": 1})).await.expect(201);
    // A part of it ends nothing.
    sale.providers.refund_on_dashboard(&payment, 100).unwrap();
    sale.notify("refund.processed", &payment).await;
    assert_eq!(sale.licenses().await[0]["active"], true);
    sale.providers.refund_on_dashboard(&payment, PRICE - 100).unwrap();
    sale.notify("refund.processed", &payment).await;
    let ended = sale.licenses().await.remove(0);
    assert_eq!((&ended["active"], &ended["end"]), (&json!(false), &json!("refunded")));
    assert_eq!(sale.told("theme.license_ended").await, 1);
    // What is installed stays, and is edited and published as before.
    sale.owner.get(&sale.path("editor")).await.expect(200);
    sale.owner.post(&sale.path("publish")).json(json!({"draft_version": 1})).await.expect(201);
    sale.owner.post(&sale.path("upgrade")).json(json!({})).await.expect(402);
    let other = Merchant::sign_up(&sale.gateway).await;
    let store = other.open_shop().await;
    let path = sale.path("install");
    other.at(&store).post(&path).json(json!({})).await.expect(402).problem("license_required");
    // Paid for again, it is licensed again.
    sale.buy().await;
    let again = sale.licenses().await.remove(0);
    assert_eq!((&again["active"], &again["id"]), (&json!(true), &ended["id"]));
}

#[tokio::test]
async fn theme_purchases_on_stripe_use_automatic_capture() {
    let sale = Sale::open().await;
    let manual = sale.begin("manual").await.expect(422);
    assert_eq!(manual.field_errors(), [("/provider".into(), "invalid_choice".into())]);
    let begun = sale.begin("stripe").await.expect(201);
    let intent = begun.str("/provider_order_id");
    let call = sale.providers.calls("/v1/payment_intents").remove(0);
    assert!(call.body.contains("capture_method=automatic"), "{}", call.body);
    sale.providers.pay_stripe(&intent);
    let fields = json!({"purchase_id": begun.str("/purchase_id"), "payment_intent": intent});
    sale.verify(fields).await.expect(200);
    sale.install().await.expect(201);
}

#[tokio::test]
async fn a_seller_without_a_payment_provider_cannot_sell_themes() {
    let sale = Sale::open().await;
    let switched = json!({"enabled": false});
    for provider in ["razorpay", "stripe"] {
        let path = format!("/v1/payments/providers/{provider}");
        sale.maker.put(&path).json(switched.clone()).await.expect(200);
        sale.begin(provider).await.expect(409).problem("provider_not_connected");
    }
    assert!(sale.providers.calls("/v1/orders").is_empty());
}

#[tokio::test]
async fn a_failed_provider_call_is_retried_under_the_same_key() {
    let sale = Sale::open().await;
    sale.providers.next([Trouble::Reject(500, "server_error")]);
    let begin = || {
        let input = sale.owner.post(&sale.path("purchase")).key("once");
        input.json(json!({"provider": "razorpay"}))
    };
    begin().await.expect(502).problem("provider_error");
    let begun = begin().await.expect(201);
    assert_eq!(begin().await.expect(201).text, begun.text);
    assert_eq!(sale.providers.calls("/v1/orders").len(), 2);
}

#[tokio::test]
async fn a_bank_debit_grants_the_license_when_it_settles() {
    let sale = Sale::open().await;
    let begun = sale.begin("stripe").await.expect(201);
    let intent = begun.str("/provider_order_id");
    sale.providers.debit_stripe(&intent);
    sale.gateway.advance(HOUR * 2);
    for _ in 0..3 {
        sale.gateway.sweep().await;
        sale.gateway.advance(MINUTE * 10);
    }
    assert_eq!(sale.providers.payment(&intent)["status"], "processing");
    assert!(sale.providers.calls(&format!("/v1/payment_intents/{intent}/cancel")).is_empty());
    sale.providers.end_stripe_debit(&intent, true);
    sale.gateway.advance(DAY);
    sale.gateway.sweep().await;
    assert_eq!(sale.told("theme.licensed").await, 1);
}
