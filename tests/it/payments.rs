//! Payments through providers that behave, and through providers that do not.

use std::sync::Arc;

use gateway::clock::MINUTE;
use support::{
    Client, Gateway, Merchant, Providers, RAZORPAY_KEY_ID, RAZORPAY_SECRET, Reply, STRIPE_KEY_ID,
    STRIPE_SECRET, Store, Trouble, Value, WEBHOOK_SECRET, Webhook, json, race, unique,
};

const PRICE: i64 = 129_900;

/// A store that takes payments, and its only product.
struct Till {
    gateway: Gateway,
    providers: Providers,
    store: Store,
    owner: Client,
    variant: String,
}

/// An order of two pieces, and what its shopper may show.
#[derive(Clone)]
struct Order {
    id: String,
    token: String,
}

fn razorpay() -> Value {
    json!({"credentials": {
        "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET, "webhook_secret": WEBHOOK_SECRET,
    }})
}

fn stripe() -> Value {
    json!({"credentials": {
        "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
        "webhook_secret": WEBHOOK_SECRET,
    }})
}

impl Till {
    /// With both providers connected, capturing automatically.
    async fn open() -> Self {
        Self::open_with("automatic").await
    }

    async fn open_with(capture_method: &str) -> Self {
        let till = Self::bare().await;
        for (provider, mut fields) in [("razorpay", razorpay()), ("stripe", stripe())] {
            fields["capture_method"] = capture_method.into();
            let saved = till.owner.put(&provider_path(provider)).json(fields).await.expect(200);
            assert!(saved.at("/verified_at").is_string(), "the provider was asked");
        }
        till
    }

    /// Without a provider but cash.
    async fn bare() -> Self {
        let providers = Providers::start().await;
        let base_urls = providers.base_urls();
        let gateway =
            Gateway::start_with(|options| options.embedded.payment_base_urls = base_urls).await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let owner = merchant.at(&store);
        let price = json!({"amount": PRICE, "currency": "INR"});
        let product = json!({
            "title": "A book", "status": "active",
            "variants": [{"price": price, "inventory": {"levels": [{"quantity": 100}]}}],
        });
        let product = owner.post("/v1/products").json(product).await.expect(201);
        let variant = product.str("/variants/0/id");
        let activate = format!("/v1/stores/{}/activate", store.id);
        owner.post(&activate).json(json!({})).await.expect(200);
        Self { gateway, providers, store, owner, variant }
    }

    async fn order(&self) -> Order {
        let path = format!("/v1/storefront/{}/orders", self.store.subdomain);
        let ask = json!({
            "email": "shopper@example.com",
            "items": [{"variant_id": self.variant, "quantity": 2}],
            "shipping_address": {
                "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                "city": "Bengaluru", "postal_code": "560001", "country": "IN",
            },
        });
        let placed = self.gateway.client().post(&path).key(&unique("order")).json(ask).await;
        let placed = placed.expect(201);
        Order { id: placed.str("/order/id"), token: placed.str("/order_token") }
    }

    fn path(&self, provider: &str, rest: &str) -> String {
        format!("/v1/storefront/{}/payments/{provider}/{rest}", self.store.subdomain)
    }

    /// The shopper begins to pay.
    async fn begin(&self, provider: &str, order: &Order) -> Reply {
        let ask = json!({"order_id": order.id});
        let client = self.gateway.client();
        let ask = client.post(&self.path(provider, "order")).json(ask);
        ask.header("x-service-order-token", &order.token).await
    }

    /// The shopper comes back from the provider.
    async fn verify(&self, provider: &str, fields: Value) -> Reply {
        self.gateway.client().post(&self.path(provider, "verify")).json(fields).await
    }

    async fn hear(&self, webhook: &Webhook) -> Reply {
        webhook.send(&self.gateway.client(), &self.store.subdomain).await
    }

    async fn payment(&self, id: &str) -> Reply {
        self.owner.get(&format!("/v1/payments/{id}")).await.expect(200)
    }

    async fn act(&self, id: &str, action: &str, fields: Value) -> Reply {
        let path = format!("/v1/payments/{id}/{action}");
        self.owner.post(&path).key(&unique(action)).json(fields).await
    }

    async fn order_as_stored(&self, order: &Order) -> Value {
        let prefix = format!("STO#{}#ORD#{}", self.store.id, order.id);
        self.gateway.items_of("order", &prefix).await.remove(0)
    }

    /// Available, reserved, committed.
    async fn stock(&self) -> (i64, i64, i64) {
        let prefix = format!("STO#{}#INV#{}", self.store.id, self.variant);
        let mut levels = self.gateway.items(&prefix).await;
        levels.retain(|item| item["SK"].as_str().is_some_and(|key| key.starts_with("LVL#")));
        let of = |name: &str| levels[0][name].as_i64().unwrap();
        (of("available"), of("reserved"), of("committed"))
    }

    /// How often each of the events was told that settling once tells once.
    async fn settled(&self) -> (usize, usize) {
        let paid = self.gateway.events("order.paid").await.len();
        (self.gateway.events("payment.captured").await.len(), paid)
    }
}

fn provider_path(provider: &str) -> String {
    format!("/v1/payments/providers/{provider}")
}

#[tokio::test]
async fn razorpay_from_order_to_refund() {
    let till = Till::open().await;
    let order = till.order().await;
    assert_eq!(till.stock().await, (98, 2, 0));
    let begun = till.begin("razorpay", &order).await.expect(201);
    assert_eq!(begun.int("/amount/amount"), 2 * PRICE);
    assert_eq!(begun.str("/status"), "created");
    assert_eq!(begun.str("/client/key_id"), RAZORPAY_KEY_ID);
    assert_eq!(begun.header("cache-control"), Some("no-store"));
    let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    assert_eq!(begun.str("/client/options/order_id"), reference);
    // Asked again, it is the same payment, and the provider is not asked.
    let again = till.begin("razorpay", &order).await.expect(201);
    assert_eq!(again.text, begun.text);
    let opened = till.providers.calls("/v1/orders");
    assert_eq!(opened.len(), 1);
    let sent: Value = serde_json::from_str(&opened[0].body).unwrap();
    assert_eq!((&sent["amount"], &sent["currency"]), (&json!(2 * PRICE), &json!("INR")));
    assert_eq!(sent["receipt"], till.order_as_stored(&order).await["number"]);
    assert_eq!(sent["payment"]["capture"], "automatic");

    let paid = till.providers.pay_razorpay(&reference);
    let fields = Providers::razorpay_return(&order.id, &reference, &paid);
    let verified = till.verify("razorpay", fields.clone()).await.expect(200);
    assert_eq!(verified.str("/payment/status"), "captured");
    assert_eq!(verified.str("/order/financial_status"), "paid");
    assert_eq!(till.stock().await, (98, 0, 2));
    let again = till.verify("razorpay", fields).await.expect(200);
    assert_eq!(again.json, verified.json);
    let late = till.begin("razorpay", &order).await.expect(409);
    late.problem("order_already_paid");

    let shown = till.payment(&id).await;
    assert_eq!(shown.str("/provider_payment"), paid);
    assert_eq!(shown.str("/receipts/0/action"), "capture");
    assert_eq!(shown.str("/method"), "upi");
    assert_eq!(*shown.at("/allowed_actions"), json!(["refund", "sync"]));
    let part = json!({"amount": {"amount": 900, "currency": "INR"}, "reason": "defective"});
    let refunded = till.act(&id, "refunds", part).await.expect(201);
    assert_eq!(refunded.str("/refund/status"), "succeeded");
    assert_eq!(refunded.str("/order/financial_status"), "partially_refunded");
    let over = json!({"amount": {"amount": 2 * PRICE, "currency": "INR"}});
    let over = till.act(&id, "refunds", over).await.expect(409);
    assert_eq!(over.int("/refundable/amount"), 2 * PRICE - 900);
    over.problem("refund_exceeds_captured");
    till.act(&id, "refunds", json!({})).await.expect(201);
    let shown = till.payment(&id).await;
    assert_eq!(shown.str("/status"), "refunded");
    assert_eq!(shown.int("/refunded/amount"), 2 * PRICE);
    assert_eq!(till.providers.refunds().len(), 2);
    let listed = till.owner.get(&format!("/v1/payments/{id}/refunds")).await.expect(200);
    assert_eq!(listed.data().len(), 2);
    let keys: Vec<_> =
        till.providers.calls("/refund").into_iter().map(|call| call.key.unwrap()).collect();
    let ids: Vec<_> = listed.data().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(keys, ids, "the provider deduplicates on our refund ids");

    let events = till.owner.get(&format!("/v1/payments/{id}/events")).await.expect(200);
    let names: Vec<_> = events.data().iter().map(|event| event["type"].clone()).collect();
    let expected = ["refunded", "refunded", "captured", "created"];
    assert_eq!(names, expected.map(|verb| json!(format!("payment.{verb}"))));
}

#[tokio::test]
async fn stripe_from_intent_to_partial_capture_void_and_refund() {
    let till = Till::open_with("manual").await;
    let order = till.order().await;
    let begun = till.begin("stripe", &order).await.expect(201);
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    assert_eq!(begun.str("/client/client_secret"), format!("{intent}_secret_aB3"));
    let call = till.providers.calls("/v1/payment_intents").remove(0);
    assert_eq!(call.key.as_deref(), Some(id.as_str()), "opened once per payment");
    assert!(call.body.contains("currency=inr") && call.body.contains("capture_method=manual"));
    let again = till.begin("stripe", &order).await.expect(201);
    assert_eq!(again.text, begun.text, "the client secret is kept, sealed");
    let stored = Value::from(till.gateway.items("STO#").await).to_string();
    assert!(!stored.contains("_secret_aB3"));

    till.providers.decline_stripe(&intent);
    let fields = json!({"order_id": order.id, "payment_intent": intent});
    let declined = till.verify("stripe", fields.clone()).await.expect(200);
    assert_eq!(declined.str("/payment/status"), "failed");
    let shown = till.payment(&id).await;
    assert_eq!(shown.str("/attempts/0/failure_code"), "insufficient_funds");

    till.providers.pay_stripe(&intent);
    let verified = till.verify("stripe", fields).await.expect(200);
    assert_eq!(verified.str("/payment/status"), "authorized");
    assert_eq!(verified.str("/order/financial_status"), "authorized");
    let over = json!({"amount": {"amount": 2 * PRICE + 1, "currency": "INR"}});
    till.act(&id, "capture", over).await.expect(409).problem("amount_exceeds_authorized");
    let keyless = till.owner.post(&format!("/v1/payments/{id}/capture")).json(json!({})).await;
    keyless.expect(400).problem("idempotency_key_required");
    let captured = till.act(&id, "capture", json!({})).await.expect(200);
    assert_eq!(captured.str("/status"), "captured");
    assert_eq!(till.order_as_stored(&order).await["financial_status"], "paid");
    till.act(&id, "capture", json!({})).await.expect(409).problem("not_capturable");
    till.act(&id, "void", json!({})).await.expect(409).problem("invalid_state_transition");
    till.act(&id, "refunds", json!({})).await.expect(201);
    assert_eq!(till.payment(&id).await.str("/status"), "refunded");

    // Another order: authorized, and given up.
    let order = till.order().await;
    let begun = till.begin("stripe", &order).await.expect(201);
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    till.providers.pay_stripe(&intent);
    till.act(&id, "sync", json!({})).await.expect(200);
    let voided = till.act(&id, "void", json!({})).await.expect(200);
    assert_eq!(voided.str("/status"), "voided");
    assert_eq!(till.providers.payment(&intent)["status"], "canceled");
    assert_eq!(till.gateway.events("payment.voided").await.len(), 1);
    till.act(&id, "refunds", json!({})).await.expect(409).problem("payment_not_captured");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verification_webhooks_and_sync_that_race_settle_once() {
    for provider in ["razorpay", "stripe"] {
        let till = Arc::new(Till::open().await);
        let order = till.order().await;
        let begun = till.begin(provider, &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        let now = till.gateway.now();
        let (fields, webhooks) = if provider == "razorpay" {
            let paid = till.providers.pay_razorpay(&reference);
            let kinds = ["payment.captured", "order.paid", "payment.authorized"];
            let webhooks = kinds.map(|kind| till.providers.razorpay_event(kind, &paid));
            (Providers::razorpay_return(&order.id, &reference, &paid), webhooks)
        } else {
            till.providers.pay_stripe(&reference);
            let kinds = ["payment_intent.succeeded", "payment_intent.succeeded", "charge.any"];
            let webhooks = kinds.map(|kind| till.providers.stripe_event(kind, &reference, now));
            (json!({"order_id": order.id, "payment_intent": reference}), webhooks)
        };
        let number = std::sync::atomic::AtomicUsize::new(0);
        let answers = race(40, || {
            let (till, id, fields) = (Arc::clone(&till), id.clone(), fields.clone());
            let turn = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let webhook = webhooks[turn % 3].clone();
            async move {
                match turn % 4 {
                    0 => till.verify(provider, fields).await,
                    1 | 2 => till.hear(&webhook).await,
                    _ => till.act(&id, "sync", json!({})).await,
                }
            }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:#?}");
        assert_eq!(till.settled().await, (1, 1), "{provider}");
        assert_eq!(till.stock().await, (98, 0, 2), "{provider}");
        let stored = till.order_as_stored(&order).await;
        assert_eq!(stored["captured"]["amount"], 2 * PRICE, "{provider}");
        let shown = till.payment(&id).await;
        assert_eq!(shown.str("/status"), "captured");
        assert_eq!(shown.at("/receipts").as_array().unwrap().len(), 1);
        assert!(till.providers.refunds().is_empty());
    }
}

#[tokio::test]
async fn a_webhook_is_handled_once_and_only_if_the_provider_has_signed_it() {
    let till = Till::open().await;
    let order = till.order().await;
    let begun = till.begin("razorpay", &order).await.expect(201);
    let reference = begun.str("/provider_order_id");
    let paid = till.providers.pay_razorpay(&reference);
    let genuine = till.providers.razorpay_event("payment.captured", &paid);
    let before = till.gateway.count().await;
    let mut altered = genuine.clone();
    altered.body.push(b' ');
    let mut unsigned = genuine.clone();
    unsigned.headers.remove(0);
    let mut misplaced = genuine.clone();
    misplaced.provider = "stripe";
    for forged in [altered, unsigned, misplaced] {
        till.hear(&forged).await.expect(400).problem("signature_mismatch");
    }
    let mut cash = genuine.clone();
    cash.provider = "manual";
    till.hear(&cash).await.expect(404).problem("unknown_provider");
    let elsewhere = genuine.send(&till.gateway.client(), "no-such-shop").await;
    elsewhere.expect(404).problem("store_not_found");
    assert_eq!(till.gateway.count().await, before, "nothing was written");

    for _ in 0..3 {
        let heard = till.hear(&genuine).await.expect(200);
        assert_eq!(heard.json, json!({"received": true}));
    }
    // The same words under other ids: the header is not signed.
    let mut renamed = genuine.clone();
    renamed.headers[1].1 = "evt_of_nobody".to_owned();
    till.hear(&renamed).await.expect(200);
    // Older news after newer.
    let late = till.providers.razorpay_event("payment.authorized", &paid);
    till.hear(&late).await.expect(200);
    assert_eq!(till.settled().await, (1, 1));
    assert_eq!(till.gateway.items("PEV#").await.len(), 3);
    let kept = Value::from(till.gateway.items("PEV#").await).to_string();
    assert!(!kept.contains("shopper@example.com"), "bodies are sealed");
}

#[tokio::test]
async fn stripes_signature_is_fresh_and_its_own() {
    let till = Till::open().await;
    let order = till.order().await;
    let begun = till.begin("stripe", &order).await.expect(201);
    let intent = begun.str("/provider_order_id");
    till.providers.pay_stripe(&intent);
    let now = till.gateway.now();
    let genuine = till.providers.stripe_event("payment_intent.succeeded", &intent, now);
    let resigned = |seconds: i64, secret: &str| {
        Webhook::stripe(genuine.body.clone(), now.seconds() + seconds, secret)
    };
    let before = till.gateway.count().await;
    for forged in [
        resigned(-400, WEBHOOK_SECRET),
        resigned(400, WEBHOOK_SECRET),
        resigned(0, "another secret"),
        resigned(0, STRIPE_SECRET),
    ] {
        till.hear(&forged).await.expect(400).problem("signature_mismatch");
    }
    assert_eq!(till.gateway.count().await, before);
    till.hear(&genuine).await.expect(200);
    assert_eq!(till.settled().await, (1, 1));
}

#[tokio::test]
async fn a_return_that_was_not_signed_settles_nothing() {
    let till = Till::open().await;
    let (order, other) = (till.order().await, till.order().await);
    let reference = till.begin("razorpay", &order).await.expect(201).str("/provider_order_id");
    let foreign = till.begin("razorpay", &other).await.expect(201).str("/provider_order_id");
    let paid = till.providers.pay_razorpay(&foreign);
    let before = till.gateway.count().await;
    let mut forged = Providers::razorpay_return(&order.id, &reference, &paid);
    forged["razorpay_signature"] = "0".repeat(64).into();
    till.verify("razorpay", forged).await.expect(400).problem("signature_mismatch");
    // Another order's genuine return.
    let stolen = Providers::razorpay_return(&order.id, &foreign, &paid);
    till.verify("razorpay", stolen).await.expect(400).problem("signature_mismatch");
    let intent = json!({"order_id": order.id, "payment_intent": "pi_1"});
    till.verify("stripe", intent).await.expect(404).problem("not_found");
    let bare = till.verify("razorpay", json!({"order_id": order.id})).await.expect(422);
    assert_eq!(bare.field_errors().len(), 3);
    assert_eq!(till.gateway.count().await, before);
    assert_eq!(till.settled().await, (0, 0));
}

#[tokio::test]
async fn another_amount_than_was_asked_for_settles_nothing_and_is_marked() {
    let till = Till::open().await;
    let order = till.order().await;
    let begun = till.begin("razorpay", &order).await.expect(201);
    let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    let paid = till.providers.pay_razorpay_with(&reference, 100);
    let fields = Providers::razorpay_return(&order.id, &reference, &paid);
    till.verify("razorpay", fields).await.expect(409).problem("amount_mismatch");
    let webhook = till.providers.razorpay_event("payment.captured", &paid);
    till.hear(&webhook).await.expect(200);
    let shown = till.payment(&id).await;
    assert_eq!(
        (shown.str("/status"), shown.str("/attention")),
        ("created".into(), "amount_mismatch".into())
    );
    assert_eq!(till.settled().await, (0, 0));
    assert_eq!(till.stock().await, (98, 2, 0));
}

#[tokio::test]
async fn providers_that_are_late_or_fail_are_told_from_each_other_and_nothing_is_lost() {
    let till = Till::open().await;
    let order = till.order().await;
    till.providers.next([Trouble::Hang]);
    till.begin("stripe", &order).await.expect(504).problem("provider_timeout");
    till.providers.next([Trouble::Refuse(500, "api_error")]);
    till.begin("stripe", &order).await.expect(502).problem("provider_error");
    till.providers.next([Trouble::Refuse(400, "amount_too_small")]);
    let refused = till.begin("stripe", &order).await.expect(502);
    assert_eq!(refused.str("/provider_code"), "amount_too_small");
    assert!(!refused.text.contains("not for customers"), "the provider's text stays inside");
    // Opened by the provider, which we never heard: opened again, it is the same intent.
    till.providers.next([Trouble::DoneButLate]);
    till.begin("stripe", &order).await.expect(504).problem("provider_timeout");
    let begun = till.begin("stripe", &order).await.expect(201);
    let calls = till.providers.calls("/v1/payment_intents");
    assert!(calls.iter().all(|call| call.key == calls[0].key));
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    assert_eq!(intent, "pi_00000000000001", "there is only one");
    till.providers.pay_stripe(&intent);
    let fields = json!({"order_id": order.id, "payment_intent": intent});
    till.providers.next([Trouble::Hang]);
    let late = till.verify("stripe", fields.clone()).await.expect(504);
    late.problem("provider_timeout");
    assert_eq!(till.settled().await, (0, 0));
    till.verify("stripe", fields).await.expect(200);
    // A refund that was done and not heard of is not done twice.
    till.providers.next([Trouble::DoneButLate]);
    let path = format!("/v1/payments/{id}/refunds");
    let refund = || till.owner.post(&path).key("one-refund").json(json!({}));
    refund().await.expect(504).problem("provider_timeout");
    assert_eq!(till.payment(&id).await.int("/refundable/amount"), 0, "it stays reserved");
    let done = refund().await.expect(201);
    assert_eq!(done.str("/refund/status"), "succeeded");
    assert_eq!(till.providers.refunds().len(), 1);
    assert_eq!(till.payment(&id).await.str("/status"), "refunded");
}

#[tokio::test]
async fn a_capture_that_was_done_and_not_heard_of_is_found_by_sync() {
    let till = Till::open_with("manual").await;
    for provider in ["razorpay", "stripe"] {
        let order = till.order().await;
        let begun = till.begin(provider, &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        match provider {
            "razorpay" => drop(till.providers.pay_razorpay(&reference)),
            _ => till.providers.pay_stripe(&reference),
        }
        let seen = till.act(&id, "sync", json!({})).await.expect(200);
        assert_eq!(seen.str("/status"), "authorized");
        till.providers.next([Trouble::DoneButLate]);
        let late = till.act(&id, "capture", json!({})).await.expect(504);
        late.problem("provider_timeout");
        assert_eq!(till.payment(&id).await.str("/status"), "authorized");
        // Asked again, the provider says that it was done.
        let captured = till.act(&id, "capture", json!({})).await.expect(200);
        assert_eq!(captured.str("/status"), "captured");
        assert_eq!(till.order_as_stored(&order).await["financial_status"], "paid");
    }
    assert_eq!(till.settled().await, (2, 2));
}

#[tokio::test]
async fn money_that_comes_too_late_or_twice_goes_back() {
    let till = Till::open().await;
    // Late: the order has expired.
    let order = till.order().await;
    let begun = till.begin("razorpay", &order).await.expect(201);
    let (reference, late) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    let paid = till.providers.pay_razorpay(&reference);
    till.gateway.advance(MINUTE * 31);
    till.begin("stripe", &order).await.expect(409).problem("order_expired");
    till.gateway.sweep().await;
    assert_eq!(till.order_as_stored(&order).await["status"], "expired");
    assert_eq!(till.stock().await, (100, 0, 0));
    let webhook = till.providers.razorpay_event("payment.captured", &paid);
    till.hear(&webhook).await.expect(200);
    let shown = till.payment(&late).await;
    assert_eq!(shown.str("/status"), "refunded");
    assert_eq!(till.order_as_stored(&order).await["status"], "expired");
    assert_eq!(till.stock().await, (100, 0, 0));
    assert_eq!(till.settled().await, (1, 0));
    assert_eq!(till.providers.refunds().len(), 1);

    // Twice: by two providers, of which the second does not answer when it is to give it back.
    let order = till.order().await;
    let first = till.begin("razorpay", &order).await.expect(201).str("/provider_order_id");
    let begun = till.begin("stripe", &order).await.expect(201);
    let (intent, second) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    let paid = till.providers.pay_razorpay(&first);
    till.hear(&till.providers.razorpay_event("payment.captured", &paid)).await.expect(200);
    till.providers.pay_stripe(&intent);
    let now = till.gateway.now();
    let event = till.providers.stripe_event("payment_intent.succeeded", &intent, now);
    till.providers.next([Trouble::DoneButLate]);
    till.hear(&event).await.expect(200);
    let shown = till.payment(&second).await;
    assert_eq!(shown.str("/attention"), "duplicate_payment");
    assert_eq!(shown.str("/status"), "captured");
    till.act(&second, "sync", json!({})).await.expect(200);
    assert_eq!(till.payment(&second).await.str("/status"), "refunded");
    assert_eq!(till.providers.refunds().len(), 2, "once each");
    let stored = till.order_as_stored(&order).await;
    assert_eq!(stored["captured"]["amount"], 2 * PRICE);
    assert_eq!(stored["refunded"]["amount"], 0);
}

#[tokio::test]
async fn credentials_go_in_and_never_come_out() {
    let till = Till::bare().await;
    let listed = till.owner.get("/v1/payments/providers").await.expect(200);
    assert_eq!(listed.data().len(), 1);
    assert_eq!(
        (&listed.data()[0]["id"], &listed.data()[0]["enabled"]),
        (&json!("manual"), &json!(true))
    );
    let path = provider_path("stripe");
    till.owner.get(&path).await.expect(404).problem("unknown_provider");
    till.owner.get(&provider_path("paypal")).await.expect(404).problem("unknown_provider");
    let mut wrong = stripe();
    wrong["credentials"]["secret_key"] = "sk_test_of_somebody_else".into();
    till.owner.put(&path).json(wrong).await.expect(422).problem("credentials_rejected");
    let bare = till.owner.put(&path).json(json!({"mode": "live"})).await.expect(422);
    assert_eq!(bare.field_errors(), [("/credentials".into(), "required".into())]);
    let mut mixed = stripe();
    mixed["mode"] = "live".into();
    mixed["credentials"]["key_id"] = "rzp_test_1".into();
    let mixed = till.owner.put(&path).json(mixed).await.expect(422);
    let faults = ["key_id", "publishable_key", "secret_key"];
    let pointers: Vec<_> = mixed.field_errors().into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(pointers, faults.map(|name| format!("/credentials/{name}")));

    let saved = till.owner.put(&path).json(stripe()).await.expect(200);
    let masked = json!({"key_id": STRIPE_KEY_ID, "last4": "p7dc", "has_webhook_secret": true});
    assert_eq!(*saved.at("/credentials"), masked);
    assert!(saved.str("/webhook_url").ends_with("/payments/stripe/webhook"));
    let everything = Value::from(till.gateway.items("").await).to_string();
    for text in [saved.text.as_str(), &everything] {
        assert!(!text.contains(STRIPE_SECRET) && !text.contains(WEBHOOK_SECRET));
    }
    till.owner.post(&format!("{path}/test")).json(json!({})).await.expect(200);
    till.providers.next([Trouble::Hang]);
    let late = till.owner.post(&format!("{path}/test")).json(json!({})).await.expect(504);
    late.problem("provider_timeout");
    // What is left out stays; the version guards.
    let stale = till.owner.put(&path).if_match("\"1\"").json(json!({"enabled": false})).await;
    stale.expect(412).problem("precondition_failed");
    let off = till.owner.put(&path).json(json!({"enabled": false})).await.expect(200);
    assert_eq!(*off.at("/credentials"), masked);
    let order = till.order().await;
    till.begin("stripe", &order).await.expect(404).problem("unknown_provider");
    let methods = format!("/v1/storefront/{}/payments/methods", till.store.subdomain);
    let offered = till.gateway.get(&methods).await.expect(200);
    assert_eq!(offered.data().len(), 1);
    assert_eq!(offered.data()[0]["provider"], "manual");
    till.owner.delete(&path).await.expect(204);
    till.owner.get(&path).await.expect(404).problem("unknown_provider");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_that_is_begun_by_many_at_once_is_one() {
    let till = Arc::new(Till::open().await);
    for provider in ["razorpay", "stripe"] {
        let order = till.order().await;
        let answers = race(12, || {
            let (till, order) = (Arc::clone(&till), order.clone());
            async move { till.begin(provider, &order).await.expect(201) }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.text == answers[0].text), "{provider}");
        let listed = till.owner.get(&format!("/v1/payments?order_id={}", order.id)).await;
        assert_eq!(listed.expect(200).data().len(), 1);
    }
    assert_eq!(till.gateway.events("payment.created").await.len(), 2);
    assert_eq!(till.gateway.items("UQ#PRF#").await.len(), 2);
}

#[tokio::test]
async fn cash_is_taken_when_the_merchant_says_so() {
    let till = Till::bare().await;
    let told = json!({"instructions": "Transfer to IBAN 42."});
    till.owner.put(&provider_path("manual")).json(told).await.expect(200);
    let order = till.order().await;
    let begun = till.begin("manual", &order).await.expect(201);
    assert_eq!(begun.str("/client/options/instructions"), "Transfer to IBAN 42.");
    let id = begun.str("/payment_id");
    let back = till.verify("manual", json!({"order_id": order.id})).await.expect(200);
    assert_eq!(back.str("/payment/status"), "created", "coming back is no proof of money");
    let captured = till.act(&id, "capture", json!({})).await.expect(200);
    assert_eq!(captured.str("/status"), "captured");
    assert_eq!(till.stock().await, (98, 0, 2));
    assert_eq!(till.settled().await, (1, 1));
}

#[tokio::test]
async fn an_order_is_paid_by_who_may_see_it_and_nobody_else() {
    let till = Till::open().await;
    let (order, other) = (till.order().await, till.order().await);
    let before = till.gateway.count().await;
    let path = till.path("stripe", "order");
    let ask = json!({"order_id": order.id});
    let client = till.gateway.client();
    client.post(&path).json(ask.clone()).await.expect(404).problem("not_found");
    let wrong = client.post(&path).json(ask.clone());
    wrong.header("x-service-order-token", &other.token).await.expect(404).problem("not_found");
    let unknown = json!({"order_id": format!("ord_{}", "0".repeat(32))});
    let unknown = client.post(&path).json(unknown);
    unknown.header("x-service-order-token", &order.token).await.expect(404).problem("not_found");
    let provider = till.begin("paypal", &order).await.expect(404);
    provider.problem("unknown_provider");
    assert_eq!(till.gateway.count().await, before);
    // One key, two shoppers: nobody gets the other's answer.
    let mine = client.post(&path).json(ask.clone()).key("k");
    let mine = mine.header("x-service-order-token", &order.token).await.expect(201);
    assert!(mine.at("/client/client_secret").is_string());
    let theirs = till.gateway.client().post(&path).json(ask).key("k");
    theirs.await.expect(404).problem("not_found");
    let stranger = Merchant::sign_up(&till.gateway).await;
    let shop = stranger.open_store().await;
    let foreign = format!("/v1/payments/{}", mine.str("/payment_id"));
    stranger.at(&shop).get(&foreign).await.expect(404).problem("not_found");
    let listed = till.owner.get(&format!("/v1/payments?order_id={}", order.id)).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    let none = till.owner.get("/v1/payments?status=captured").await.expect(200);
    assert!(none.data().is_empty());
}
