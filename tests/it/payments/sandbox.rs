//! The payment providers of this machine as a person uses them: paid over HTTP, and telling the
//! store by themselves.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use support::{
    Client, Gateway, Market, Placed, Providers, RAZORPAY_KEY_ID, RAZORPAY_SECRET, Reply,
    STRIPE_KEY_ID, STRIPE_SECRET, Value, WEBHOOK_SECRET, address, cart, eventually, inr, json,
    unique,
};

const SOON: Duration = Duration::from_secs(20);

fn credentials(provider: &str) -> Value {
    match provider {
        "razorpay" => json!({
            "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }),
        _ => json!({
            "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }),
    }
}

/// What the customer of an open payment pays at the provider, or fails to.
fn at_provider(provider: &str, reference: &str, act: &str) -> String {
    let thing = if provider == "razorpay" { "orders" } else { "payment_intents" };
    format!("/sandbox/{provider}/{thing}/{reference}/{act}")
}

/// A store that is paid through both, and their sandbox.
struct Connected {
    market: Market,
    sandbox: Client,
    book: String,
    _providers: Providers,
}

impl Connected {
    async fn open(capture_method: &str) -> Self {
        let providers = Providers::start().await;
        let urls = providers.base_urls();
        let market = Market::open_with(|options| options.embedded.payment_base_urls = urls).await;
        let sandbox = market.gateway.client().at_url(providers.url());
        for provider in ["razorpay", "stripe"] {
            let path = format!("/v1/payments/providers/{provider}");
            let credentials = credentials(provider);
            let input = json!({"credentials": credentials, "capture_method": capture_method});
            let saved = market.owner.put(&path).json(input).await.expect(200);
            let input = json!({"url": saved.str("/webhook_url"), "secret": WEBHOOK_SECRET});
            let path = format!("/sandbox/{provider}/webhook_endpoints");
            sandbox.post(&path).json(input).await.expect(201);
        }
        let book = market.stock(50_000, 10).await;
        Self { market, sandbox, book, _providers: providers }
    }

    /// An order whose shopper has begun to pay: the order, the payment, the provider's reference.
    async fn begin(&self, provider: &str) -> (Placed, String, String) {
        let placed = self.market.order(cart(&[(&self.book, 1)])).await;
        let subdomain = &self.market.store.subdomain;
        let path = format!("/v1/storefront/{subdomain}/payments/{provider}/order");
        let input = self.market.gateway.client().post(&path).json(json!({"order_id": placed.id}));
        let begun = input.header("x-service-order-token", &placed.token).await.expect(201);
        (placed, begun.str("/payment_id"), begun.str("/provider_order_id"))
    }

    async fn act(&self, provider: &str, reference: &str, act: &str) -> Reply {
        self.sandbox.post(&at_provider(provider, reference, act)).json(json!({})).await
    }

    /// Waits until a payment is in this state, which nobody has asked the provider about.
    async fn announced(&self, payment: &str, status: &str) -> Reply {
        let path = format!("/v1/payments/{payment}");
        eventually(SOON, || async {
            let shown = self.market.owner.get(&path).await.expect(200);
            (shown.str("/status") == status).then_some(shown)
        })
        .await
    }
}

#[tokio::test]
async fn an_order_is_paid_by_provider_webhooks_alone() {
    let connected = Connected::open("automatic").await;
    for provider in ["razorpay", "stripe"] {
        let (placed, payment, reference) = connected.begin(provider).await;
        connected.act(provider, "no_such_thing", "pay").await.expect(404);
        let declined = connected.act(provider, &reference, "fail").await;
        assert!([400, 402].contains(&declined.status), "{}", declined.text);
        connected.announced(&payment, "failed").await;
        let paid = connected.act(provider, &reference, "pay").await.expect(200);
        if provider == "razorpay" {
            assert_eq!(paid.str("/razorpay_order_id"), reference);
            assert_eq!(paid.str("/razorpay_signature").len(), 64);
        } else {
            assert_eq!(paid.str("/status"), "succeeded");
            assert!(paid.json.get("metadata").is_none(), "{}", paid.text);
        }
        connected.announced(&payment, "captured").await;
        let order = connected.market.show(&placed.id).await;
        assert_eq!(order.str("/financial_status"), "paid");
        connected.act(provider, &reference, "pay").await.expect(400);
        connected.market.act(&placed.id, "refund", json!({"amount": inr(100)})).await.expect(201);
        let order = connected.market.show(&placed.id).await;
        assert_eq!(order.str("/financial_status"), "partially_refunded");
    }
    let paid = connected.market.gateway.events("order.paid").await;
    assert_eq!(paid.len(), 2);
}

#[tokio::test]
async fn a_sandbox_dispute_is_reported_to_the_store() {
    let connected = Connected::open("automatic").await;
    for provider in ["razorpay", "stripe"] {
        let (_, payment, reference) = connected.begin(provider).await;
        let paid = connected.act(provider, &reference, "pay").await.expect(200);
        connected.announced(&payment, "captured").await;
        let carrier = match provider {
            "razorpay" => format!("payments/{}", paid.str("/razorpay_payment_id")),
            _ => format!("payment_intents/{reference}"),
        };
        let path = format!("/sandbox/{provider}/{carrier}/dispute");
        let dispute = connected.sandbox.post(&path).json(json!({"amount": 700})).await.expect(200);
        let held = |amount: i64| {
            let (owner, path) = (&connected.market.owner, format!("/v1/payments/{payment}"));
            eventually(SOON, move || {
                let path = path.clone();
                async move {
                    let shown = owner.get(&path).await.expect(200);
                    (shown.int("/disputed/amount") == amount).then_some(())
                }
            })
        };
        held(700).await;
        let path =
            |word: &str| format!("/sandbox/{provider}/disputes/{}/{word}", dispute.str("/id"));
        connected.sandbox.post(&path("forgive")).json(json!({})).await.expect(404);
        connected.sandbox.post(&path("win")).json(json!({})).await.expect(200);
        held(0).await;
    }
}

#[tokio::test]
async fn sandbox_authorizations_and_captures_each_send_provider_webhooks() {
    let connected = Connected::open("manual").await;
    for provider in ["razorpay", "stripe"] {
        let (_, payment, reference) = connected.begin(provider).await;
        connected.act(provider, &reference, "pay").await.expect(200);
        connected.announced(&payment, "authorized").await;
        let path = format!("/v1/payments/{payment}/capture");
        let input = connected.market.owner.post(&path).key(&unique("capture")).json(json!({}));
        input.await.expect(200);
        let kinds: &[&str] = match provider {
            "razorpay" => &["payment.authorized", "payment.captured", "order.paid"],
            _ => &[
                "charge.succeeded",
                "payment_intent.amount_capturable_updated",
                "charge.captured",
                "payment_intent.succeeded",
            ],
        };
        eventually(SOON, || async {
            let heard = connected.market.gateway.items("PEV#").await;
            let is_heard = |kind: &&str| heard.iter().any(|item| item["kind"] == **kind);
            kinds.iter().all(is_heard).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn sandbox_webhooks_are_sent_to_localhost_only() {
    let connected = Connected::open("automatic").await;
    for url in ["https://example.com/hook", "http://10.0.0.1/", "", "http://localhost.example/"] {
        let input = json!({"url": url, "secret": "s"});
        let path = "/sandbox/stripe/webhook_endpoints";
        connected.sandbox.post(path).json(input).await.expect(400);
    }
    connected.sandbox.get("/sandbox/stripe/webhook_endpoints").await.expect(404);
    connected.sandbox.post("/razorpay/v1/orders").json(json!({})).await.expect(401);
    connected.sandbox.get("/stripe/v1/balance").await.expect(401);
}

#[tokio::test]
async fn sandbox_providers_replay_idempotent_responses() {
    let connected = Connected::open("automatic").await;
    let (stripe, pair) = (STRIPE_SECRET, format!("{RAZORPAY_KEY_ID}:{RAZORPAY_SECRET}"));
    let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
    let intent = |amount: &'static str, key: &'static str| {
        let input = connected.sandbox.post("/stripe/v1/payment_intents");
        let input = input.header("authorization", &format!("Bearer {stripe}"));
        input.header("idempotency-key", key).form(&[("amount", amount), ("currency", "inr")])
    };
    let first = intent("500", "one").await.expect(200);
    assert_eq!(intent("500", "one").await.expect(200).json, first.json);
    let other = intent("600", "one").await.expect(400);
    assert_eq!(other.str("/error/type"), "idempotency_error");
    assert_ne!(intent("500", "two").await.expect(200).str("/id"), first.str("/id"));
    // A rejection is remembered too: the intent is paid by then, and the key still says no.
    let capture = || {
        let path = format!("/stripe/v1/payment_intents/{}/capture", first.str("/id"));
        let input =
            connected.sandbox.post(&path).header("authorization", &format!("Bearer {stripe}"));
        input.header("idempotency-key", "take").form(&[])
    };
    let early = capture().await.expect(400);
    connected.act("stripe", &first.str("/id"), "pay").await.expect(200);
    assert_eq!(capture().await.expect(400).json, early.json);

    let order = json!({"amount": 500, "currency": "INR", "payment": {"capture": "automatic"}});
    let input = connected.sandbox.post("/razorpay/v1/orders").header("authorization", &basic);
    let order = input.json(order).await.expect(200).str("/id");
    let paid =
        connected.act("razorpay", &order, "pay").await.expect(200).str("/razorpay_payment_id");
    let refund = |amount: i64| {
        let input = connected.sandbox.post(&format!("/razorpay/v1/payments/{paid}/refund"));
        let input =
            input.header("authorization", &basic).header("x-refund-idempotency", "refund-one");
        input.json(json!({ "amount": amount }))
    };
    let first = refund(100).await.expect(200);
    assert_eq!(refund(100).await.expect(200).json, first.json);
    assert_eq!(refund(200).await.expect(400).str("/error/code"), "BAD_REQUEST_ERROR");
}

/// Somebody buys the demo store's first product, and pays.
async fn buy(client: &Client, sandbox: &Client, provider: &str) {
    let shop = format!("/v1/storefront/{}", support::DEMO_SUBDOMAIN);
    let products = client.get(&format!("{shop}/products?limit=1")).await.expect(200);
    let product = format!("{shop}/products/{}", products.str("/data/0/handle"));
    let variant = client.get(&product).await.expect(200).str("/variants/0/id");
    let input = json!({
        "email": "shopper@example.com", "shipping_address": address(),
        "items": [{"variant_id": variant, "quantity": 1}], "payment": {"provider": provider},
    });
    let input = client.post(&format!("{shop}/orders")).key(&unique("demo")).json(input);
    let placed = Placed::of(input.await.expect(201));
    let path = format!("{shop}/payments/{provider}/order");
    let input = client.post(&path).json(json!({"order_id": placed.id}));
    let begun = input.header("x-service-order-token", &placed.token).await.expect(201);
    let path = at_provider(provider, &begun.str("/provider_order_id"), "pay");
    sandbox.post(&path).json(json!({})).await.expect(200);
    let path = format!("{shop}/orders/{}", placed.id);
    eventually(SOON, || async {
        let input = client.get(&path).header("x-service-order-token", &placed.token);
        let shown = input.await.expect(200);
        (shown.str("/financial_status") == "paid").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_store_takes_payments_on_any_port_after_a_restart() {
    let data = std::env::temp_dir().join(format!("demo-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&data).unwrap();
    for _ in 0..2 {
        let providers = Providers::start().await;
        let urls = providers.base_urls();
        let gateway = Gateway::start_with(|options| {
            options.embedded.data = Some(data.clone());
            options.embedded.payment_base_urls = urls;
        })
        .await;
        gateway.seed_demo(&providers).await;
        let client = gateway.client();
        let sandbox = client.at_url(providers.url());
        for provider in ["razorpay", "stripe"] {
            buy(&client, &sandbox, provider).await;
        }
        drop(gateway);
        eventually(SOON, || async {
            let lock = std::fs::File::open(data.join("lock")).unwrap();
            lock.try_lock().is_ok().then_some(())
        })
        .await;
    }
    std::fs::remove_dir_all(&data).unwrap();
}
