//! What providers tell by themselves, and what customers bring back from them.

use std::sync::Arc;

use support::{Providers, STRIPE_SECRET, Value, WEBHOOK_SECRET, Webhook, deliver, json, race};

use super::connected::{Connected, PRICE};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_webhooks_and_syncs_pay_once() {
    for provider in ["razorpay", "stripe"] {
        let connected = Arc::new(Connected::open_to_many("automatic").await);
        let order = connected.order().await;
        let begun = connected.begin(provider, &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        let now = connected.gateway.now();
        let (fields, webhooks) = if provider == "razorpay" {
            let paid = connected.providers.pay_razorpay(&reference);
            let kinds = ["payment.captured", "order.paid", "payment.authorized"];
            let webhooks = kinds.map(|kind| connected.providers.razorpay_event(kind, &paid));
            (Providers::razorpay_return(&order.id, &reference, &paid), webhooks)
        } else {
            connected.providers.pay_stripe(&reference);
            let kinds = ["payment_intent.succeeded", "payment_intent.succeeded", "charge.any"];
            let webhooks =
                kinds.map(|kind| connected.providers.stripe_event(kind, &reference, now));
            (json!({"order_id": order.id, "payment_intent": reference}), webhooks)
        };
        let number = std::sync::atomic::AtomicUsize::new(0);
        let answers = race(40, || {
            let (connected, id, fields) = (Arc::clone(&connected), id.clone(), fields.clone());
            let turn = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let webhook = webhooks[turn % 3].clone();
            async move {
                match turn % 4 {
                    0 => connected.verify(provider, fields).await,
                    1 | 2 => connected.hear(&webhook).await,
                    _ => connected.act(&id, "sync", json!({})).await,
                }
            }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:#?}");
        assert_eq!(connected.announced().await, (1, 1), "{provider}");
        assert_eq!(connected.stock().await, (98, 0, 2), "{provider}");
        let stored = connected.order_as_stored(&order).await;
        assert_eq!(stored["captured"]["amount"], 2 * PRICE, "{provider}");
        let shown = connected.payment(&id).await;
        assert_eq!(shown.str("/status"), "captured");
        assert_eq!(shown.at("/receipts").as_array().unwrap().len(), 1);
        assert!(connected.providers.refunds().is_empty());
    }
}

#[tokio::test]
async fn a_provider_webhook_is_handled_once_if_its_signature_is_valid() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let begun = connected.begin("razorpay", &order).await.expect(201);
    let reference = begun.str("/provider_order_id");
    let paid = connected.providers.pay_razorpay(&reference);
    let genuine = connected.providers.razorpay_event("payment.captured", &paid);
    let before = connected.gateway.count().await;
    let mut altered = genuine.clone();
    altered.body.push(b' ');
    let mut unsigned = genuine.clone();
    unsigned.headers.remove(0);
    let mut misplaced = genuine.clone();
    misplaced.provider = "stripe";
    for forged in [altered, unsigned, misplaced] {
        connected.hear(&forged).await.expect(400).problem("signature_mismatch");
    }
    let mut cash = genuine.clone();
    cash.provider = "manual";
    connected.hear(&cash).await.expect(404).problem("not_found");
    let elsewhere = deliver(&genuine, &connected.gateway.client(), "no-such-shop").await;
    elsewhere.expect(404).problem("storefront_not_found");
    assert_eq!(connected.gateway.count().await, before, "nothing was written");

    for _ in 0..3 {
        let heard = connected.hear(&genuine).await.expect(200);
        assert_eq!(heard.json, json!({"received": true}));
    }
    // The same words under other ids: the header is not signed.
    let mut renamed = genuine.clone();
    renamed.headers[1].1 = "evt_of_nobody".to_owned();
    connected.hear(&renamed).await.expect(200);
    // Older news after newer.
    let late = connected.providers.razorpay_event("payment.authorized", &paid);
    connected.hear(&late).await.expect(200);
    assert_eq!(connected.announced().await, (1, 1));
    assert_eq!(connected.gateway.items("PEV#").await.len(), 3);
    let kept = Value::from(connected.gateway.items("PEV#").await).to_string();
    assert!(!kept.contains("shopper@example.com"), "bodies are sealed");
}

#[tokio::test]
async fn a_stripe_signature_must_be_recent_and_valid() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let intent = begun.str("/provider_order_id");
    connected.providers.pay_stripe(&intent);
    let now = connected.gateway.now();
    let genuine = connected.providers.stripe_event("payment_intent.succeeded", &intent, now);
    let resigned = |seconds: i64, secret: &str| {
        Webhook::stripe(genuine.body.clone(), now.seconds() + seconds, secret)
    };
    let before = connected.gateway.count().await;
    for forged in [
        resigned(-400, WEBHOOK_SECRET),
        resigned(400, WEBHOOK_SECRET),
        resigned(0, "another secret"),
        resigned(0, STRIPE_SECRET),
    ] {
        connected.hear(&forged).await.expect(400).problem("signature_mismatch");
    }
    assert_eq!(connected.gateway.count().await, before);
    connected.hear(&genuine).await.expect(200);
    assert_eq!(connected.announced().await, (1, 1));
}

#[tokio::test]
async fn a_return_without_a_valid_signature_pays_nothing() {
    let connected = Connected::open().await;
    let (order, other) = (connected.order().await, connected.order().await);
    let reference = connected.begin("razorpay", &order).await.expect(201).str("/provider_order_id");
    let foreign = connected.begin("razorpay", &other).await.expect(201).str("/provider_order_id");
    let paid = connected.providers.pay_razorpay(&foreign);
    let before = connected.gateway.count().await;
    let mut forged = Providers::razorpay_return(&order.id, &reference, &paid);
    forged["razorpay_signature"] = "0".repeat(64).into();
    connected.verify("razorpay", forged).await.expect(400).problem("signature_mismatch");
    // Another order's genuine return.
    let stolen = Providers::razorpay_return(&order.id, &foreign, &paid);
    connected.verify("razorpay", stolen).await.expect(400).problem("signature_mismatch");
    let intent = json!({"order_id": order.id, "payment_intent": "pi_1"});
    connected.verify("stripe", intent).await.expect(404).problem("not_found");
    let bare = connected.verify("razorpay", json!({"order_id": order.id})).await.expect(422);
    assert_eq!(bare.field_errors().len(), 3);
    assert_eq!(connected.gateway.count().await, before);
    assert_eq!(connected.announced().await, (0, 0));
}

#[tokio::test]
async fn a_late_webhook_does_not_reauthorize_a_voided_payment() {
    let connected = Connected::open_with("manual").await;
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    connected.providers.pay_stripe(&intent);
    let now = connected.gateway.now();
    let kind = "payment_intent.amount_capturable_updated";
    let late = connected.providers.stripe_event(kind, &intent, now);
    connected.act(&id, "sync", json!({})).await.expect(200);
    connected.act(&id, "void", json!({})).await.expect(200);
    connected.hear(&late).await.expect(200);
    assert_eq!(connected.payment(&id).await.str("/status"), "voided");

    // Razorpay holds the money a few days longer, whatever anybody says.
    let order = connected.order().await;
    let (id, paid) = connected.paid("razorpay", &order).await;
    let late = connected.providers.razorpay_event("payment.authorized", &paid);
    connected.act(&id, "void", json!({})).await.expect(200);
    connected.hear(&late).await.expect(200);
    assert_eq!(connected.act(&id, "sync", json!({})).await.expect(200).str("/status"), "voided");
    assert_eq!(connected.gateway.events("payment.authorized").await.len(), 2);
    assert_eq!(connected.gateway.events("payment.voided").await.len(), 2);
}
