//! A store's accounts with its providers.

use support::{STRIPE_KEY_ID, STRIPE_SECRET, Trouble, Value, WEBHOOK_SECRET, json};

use super::connected::{Connected, provider_path, razorpay, stripe};

#[tokio::test]
async fn provider_credentials_are_never_returned() {
    let connected = Connected::bare().await;
    let listed = connected.owner.get("/v1/payments/providers").await.expect(200);
    assert_eq!(listed.data().len(), 1);
    assert_eq!(
        (&listed.data()[0]["id"], &listed.data()[0]["enabled"]),
        (&json!("manual"), &json!(true))
    );
    let path = provider_path("stripe");
    connected.owner.get(&path).await.expect(404).problem("not_found");
    connected.owner.get(&provider_path("paypal")).await.expect(404).problem("unknown_provider");
    let mut wrong = stripe();
    wrong["credentials"]["secret_key"] = "sk_test_of_somebody_else".into();
    connected.owner.put(&path).json(wrong).await.expect(422).problem("credentials_rejected");
    let bare = connected.owner.put(&path).json(json!({"mode": "live"})).await.expect(422);
    assert_eq!(bare.field_errors(), [("/credentials".into(), "required".into())]);
    let mut mixed = stripe();
    mixed["mode"] = "live".into();
    mixed["credentials"]["key_id"] = "rzp_test_1".into();
    let mixed = connected.owner.put(&path).json(mixed).await.expect(422);
    let faults = ["key_id", "publishable_key", "secret_key"];
    let pointers: Vec<_> = mixed.field_errors().into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(pointers, faults.map(|name| format!("/credentials/{name}")));

    let saved = connected.owner.put(&path).json(stripe()).await.expect(200);
    let masked = json!({"key_id": STRIPE_KEY_ID, "last4": "p7dc", "has_webhook_secret": true});
    assert_eq!(*saved.at("/credentials"), masked);
    assert!(saved.str("/webhook_url").ends_with("/payments/stripe/webhook"));
    let everything = Value::from(connected.gateway.items("").await).to_string();
    for text in [saved.text.as_str(), &everything] {
        assert!(!text.contains(STRIPE_SECRET) && !text.contains(WEBHOOK_SECRET));
    }
    connected.owner.post(&format!("{path}/test")).json(json!({})).await.expect(200);
    connected.providers.next([Trouble::Hang]);
    let late = connected.owner.post(&format!("{path}/test")).json(json!({})).await.expect(504);
    late.problem("provider_timeout");
    // What is left out stays; the version guards.
    let stale = connected.owner.put(&path).if_match("\"1\"").json(json!({"enabled": false})).await;
    stale.expect(412).problem("precondition_failed");
    let off = connected.owner.put(&path).json(json!({"enabled": false})).await.expect(200);
    assert_eq!(*off.at("/credentials"), masked);
    let order = connected.order().await;
    connected.begin("stripe", &order).await.expect(409).problem("provider_not_connected");
    let methods = format!("/v1/storefront/{}/payments/methods", connected.store.subdomain);
    let offered = connected.gateway.get(&methods).await.expect(200);
    assert_eq!(offered.data().len(), 1);
    assert_eq!(offered.data()[0]["provider"], "manual");
    connected.owner.delete(&path).await.expect(204);
    connected.owner.get(&path).await.expect(404).problem("not_found");
}

#[tokio::test]
async fn a_webhook_secret_is_set_without_the_keys() {
    let connected = Connected::bare().await;
    let secret = |secret: &str| json!({"credentials": {"webhook_secret": secret}});
    for (provider, mut keys) in [("stripe", stripe()), ("razorpay", razorpay())] {
        let path = provider_path(provider);
        // Keys come first.
        let early = connected.owner.put(&path).json(secret(WEBHOOK_SECRET)).await.expect(422);
        assert_eq!(early.field_errors().len(), 2, "{provider}: {}", early.text);
        keys["credentials"].as_object_mut().unwrap().remove("webhook_secret");
        let saved = connected.owner.put(&path).json(keys.clone()).await.expect(200);
        assert_eq!(*saved.at("/credentials/has_webhook_secret"), json!(false));
        let mut later = secret(WEBHOOK_SECRET);
        later["mode"] = json!("test");
        let later = connected.owner.put(&path).json(later).await.expect(200);
        assert_eq!(*later.at("/credentials/has_webhook_secret"), json!(true));
        assert_eq!(later.at("/credentials/last4"), saved.at("/credentials/last4"));
        assert_eq!(later.at("/verified_at"), saved.at("/verified_at"), "the keys are the same");
        connected.owner.post(&format!("{path}/test")).json(json!({})).await.expect(200);
        // Those of another mode are asked for.
        let mut live = secret(WEBHOOK_SECRET);
        live["mode"] = json!("live");
        assert_eq!(connected.owner.put(&path).json(live).await.expect(422).field_errors().len(), 2);
    }
    // The provider's events are verified by it.
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let intent = begun.str("/provider_order_id");
    connected.providers.pay_stripe(&intent);
    let kind = "payment_intent.succeeded";
    let event = connected.providers.stripe_event(kind, &intent, connected.gateway.now());
    connected.hear(&event).await.expect(200);
    assert_eq!(connected.payment(&begun.str("/payment_id")).await.str("/status"), "captured");
}

#[tokio::test]
async fn changing_the_provider_account_opens_a_new_payment() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let before = connected.begin("stripe", &order).await.expect(201);
    let mut moved = stripe();
    moved["credentials"]["publishable_key"] = "pk_test_of_another_account".into();
    connected.owner.put(&provider_path("stripe")).json(moved).await.expect(200);
    let after = connected.begin("stripe", &order).await.expect(201);
    assert_ne!(after.str("/payment_id"), before.str("/payment_id"));
    assert_ne!(after.str("/provider_order_id"), before.str("/provider_order_id"));
    assert_eq!(after.str("/client/key_id"), "pk_test_of_another_account");
}

#[tokio::test]
async fn razorpay_rejects_partial_captures() {
    let connected = Connected::open_with("manual").await;
    let order = connected.order().await;
    let (id, _) = connected.paid("razorpay", &order).await;
    let part = json!({"amount": {"amount": 100, "currency": "INR"}});
    let rejected = connected.act(&id, "capture", part).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/amount".into(), "not_supported".into())]);
    assert!(connected.providers.calls("/capture").is_empty());
    connected.act(&id, "capture", json!({})).await.expect(200);
}

#[tokio::test]
async fn amounts_use_the_providers_minor_units() {
    // Ariary have five parts; Stripe knows but whole ones.
    let connected = Connected::bare_in("MGA", 1_000).await;
    for (provider, account) in [("razorpay", razorpay()), ("stripe", stripe())] {
        connected.owner.put(&provider_path(provider)).json(account).await.expect(200);
    }
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    assert_eq!((begun.int("/amount/amount"), begun.int("/client/options/amount")), (2_000, 20));
    let call = connected.providers.calls("/v1/payment_intents").remove(0);
    assert!(call.body.contains("amount=20&currency=mga"), "{}", call.body);
    connected.begin("razorpay", &order).await.expect(409).problem("amount_not_supported");
    connected.providers.pay_stripe(&begun.str("/provider_order_id"));
    let id = begun.str("/payment_id");
    let paid = connected.act(&id, "sync", json!({})).await.expect(200);
    assert_eq!(paid.int("/captured/amount"), 2_000);
    let odd = json!({"amount": {"amount": 1_020, "currency": "MGA"}});
    let odd = connected.act(&id, "refunds", odd).await.expect(409);
    odd.problem("amount_not_supported");
    connected.act(&id, "refunds", json!({})).await.expect(201);
    assert_eq!(connected.providers.refunds()[0]["amount"], 20);

    // Dinars have thousandths, and no card counts the last of them: totals are rounded.
    let connected = Connected::bare_in("KWD", 617).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    assert_eq!(begun.int("/client/options/amount"), 1_230);
    for (amount, offered) in [(1_234, 2), (1_230, 2), (3, 1)] {
        let path = format!("/v1/storefront/{}/payments/methods", connected.store.subdomain);
        let path = format!("{path}?currency=KWD&amount={amount}");
        assert_eq!(
            connected.gateway.get(&path).await.expect(200).data().len(),
            offered,
            "{amount}"
        );
    }

    // Crowns have no parts, and Stripe counts them in hundredths all the same.
    let connected = Connected::bare_in("ISK", 500).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    assert_eq!(begun.int("/client/options/amount"), 100_000);
    assert!(
        connected.providers.calls("/v1/payment_intents").remove(0).body.contains("amount=100000&")
    );
}
