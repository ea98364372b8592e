//! A store that takes payments through the providers of a test.

use std::time::Duration;

use support::{
    Client, Faults, Gateway, Merchant, ProviderOptions, Providers, RAZORPAY_KEY_ID,
    RAZORPAY_SECRET, Reply, STRIPE_KEY_ID, STRIPE_SECRET, Store, Value, WEBHOOK_SECRET, Webhook,
    deliver, json, unique,
};

pub const PRICE: i64 = 129_900;
/// How long a provider is waited for where the system is deployed.
const PATIENCE: Duration = Duration::from_secs(10);

/// A store that takes payments, and its only product.
pub struct Connected {
    pub gateway: Gateway,
    pub providers: Providers,
    pub store: Store,
    pub merchant: Merchant,
    pub owner: Client,
    pub variant: String,
}

/// An order of two chunks, and what its shopper may show.
#[derive(Clone)]
pub struct Order {
    pub id: String,
    pub token: String,
}

pub fn razorpay() -> Value {
    json!({"credentials": {
        "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET, "webhook_secret": WEBHOOK_SECRET,
    }})
}

pub fn stripe() -> Value {
    json!({"credentials": {
        "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
        "webhook_secret": WEBHOOK_SECRET,
    }})
}

impl Connected {
    /// With both providers connected, capturing automatically.
    pub async fn open() -> Self {
        Self::open_with("automatic").await
    }

    pub async fn open_with(capture_method: &str) -> Self {
        Self::bare().await.connect(capture_method).await
    }

    /// As [`Connected::open_with`], for a race: providers are waited for as long as they are deployed.
    pub async fn open_to_many(capture_method: &str) -> Self {
        let options = ProviderOptions { deadline: PATIENCE, ..ProviderOptions::default() };
        let connected = Self::with(options, None, "INR", PRICE).await;
        connected.connect(capture_method).await
    }

    /// As [`Connected::open`], with these faults between the system and its table.
    pub async fn open_over(faults: &Faults) -> Self {
        let planned = Some(faults.clone());
        let connected = Self::with(ProviderOptions::default(), planned, "INR", PRICE).await;
        connected.connect("automatic").await
    }

    async fn connect(self, capture_method: &str) -> Self {
        let connected = self;
        for (provider, mut fields) in [("razorpay", razorpay()), ("stripe", stripe())] {
            fields["capture_method"] = capture_method.into();
            let saved =
                connected.owner.put(&provider_path(provider)).json(fields).await.expect(200);
            assert!(saved.at("/verified_at").is_string(), "the provider was asked");
        }
        connected
    }

    /// Without a provider but cash.
    pub async fn bare() -> Self {
        Self::bare_in("INR", PRICE).await
    }

    /// Without a provider but cash, in this currency; what its product costs.
    pub async fn bare_in(currency: &str, price: i64) -> Self {
        Self::with(ProviderOptions::default(), None, currency, price).await
    }

    async fn with(
        options: ProviderOptions,
        planned: Option<Faults>,
        currency: &str,
        price: i64,
    ) -> Self {
        let clock = options.clock.clone();
        let providers = Providers::start_with(options).await;
        let base_urls = providers.base_urls();
        let gateway = Gateway::start_with(|options| {
            options.embedded.payment_base_urls = base_urls;
            options.embedded.clock = clock;
            options.embedded.planned = planned;
        })
        .await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let owner = merchant.at(&store);
        if currency != "INR" {
            let path = format!("/v1/stores/{}", store.id);
            owner.patch(&path).json(json!({"currency": currency})).await.expect(200);
        }
        let product = json!({
            "title": "A book", "status": "active",
            "variants": [{
                "price": {"amount": price, "currency": currency},
                "inventory": {"levels": [{"quantity": 100}]},
            }],
        });
        let product = owner.post("/v1/products").json(product).await.expect(201);
        let variant = product.str("/variants/0/id");
        let activate = format!("/v1/stores/{}/activate", store.id);
        owner.post(&activate).json(support::open_as_is()).await.expect(200);
        Self { gateway, providers, store, merchant, owner, variant }
    }

    /// Moves the clock so far that nobody is signed in any more, and signs in again.
    pub async fn wait(&mut self, by: Duration) {
        self.gateway.advance(by);
        self.merchant = self.merchant.sign_in_again().await;
        self.owner = self.merchant.at(&self.store);
    }

    pub async fn order(&self) -> Order {
        self.order_with(json!({})).await
    }

    /// An order with further fields.
    pub async fn order_with(&self, fields: Value) -> Order {
        let path = format!("/v1/storefront/{}/orders", self.store.subdomain);
        let mut input = json!({
            "email": "shopper@example.com",
            "items": [{"variant_id": self.variant, "quantity": 2}],
            "shipping_address": {
                "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
            },
        });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let placed = self.gateway.client().post(&path).key(&unique("order")).json(input).await;
        let placed = placed.expect(201);
        Order { id: placed.str("/order/id"), token: placed.str("/order_token") }
    }

    pub fn path(&self, provider: &str, rest: &str) -> String {
        format!("/v1/storefront/{}/payments/{provider}/{rest}", self.store.subdomain)
    }

    /// The shopper begins to pay.
    pub async fn begin(&self, provider: &str, order: &Order) -> Reply {
        let input = json!({"order_id": order.id});
        let client = self.gateway.client();
        let input = client.post(&self.path(provider, "order")).json(input);
        input.header("x-service-order-token", &order.token).await
    }

    /// The shopper comes back from the provider.
    pub async fn verify(&self, provider: &str, fields: Value) -> Reply {
        self.gateway.client().post(&self.path(provider, "verify")).json(fields).await
    }

    pub async fn hear(&self, webhook: &Webhook) -> Reply {
        deliver(webhook, &self.gateway.client(), &self.store.subdomain).await
    }

    /// The shopper pays all of an order, and the store is told; the payment, and what carries the
    /// money: Razorpay's payment, Stripe's intent.
    pub async fn paid(&self, provider: &str, order: &Order) -> (String, String) {
        let begun = self.begin(provider, order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        let carrier = if provider == "razorpay" {
            self.providers.pay_razorpay(&reference)
        } else {
            self.providers.pay_stripe(&reference);
            reference
        };
        self.act(&id, "sync", json!({})).await.expect(200);
        (id, carrier)
    }

    /// The provider tells of the last refund of what carries a payment's money.
    pub async fn tell_refund(&self, kind: &'static str, carrier: &str) {
        let webhook = if carrier.starts_with("pay_") {
            self.providers.razorpay_event(kind, carrier)
        } else {
            self.providers.stripe_event(kind, carrier, self.gateway.now())
        };
        self.hear(&webhook).await.expect(200);
    }

    pub async fn payment(&self, id: &str) -> Reply {
        self.owner.get(&format!("/v1/payments/{id}")).await.expect(200)
    }

    pub async fn act(&self, id: &str, action: &str, fields: Value) -> Reply {
        let path = format!("/v1/payments/{id}/{action}");
        self.owner.post(&path).key(&unique(action)).json(fields).await
    }

    pub async fn order_as_stored(&self, order: &Order) -> Value {
        let prefix = format!("STO#{}#ORD#{}", self.store.id, order.id);
        self.gateway.items_of("order", &prefix).await.remove(0)
    }

    /// Available, reserved, committed.
    pub async fn stock(&self) -> (i64, i64, i64) {
        let prefix = format!("STO#{}#INV#{}", self.store.id, self.variant);
        let mut levels = self.gateway.items(&prefix).await;
        levels.retain(|item| item["SK"].as_str().is_some_and(|key| key.starts_with("LVL#")));
        let of = |name: &str| levels[0][name].as_i64().unwrap();
        (of("available"), of("reserved"), of("committed"))
    }

    /// How often each of the events was told that one payment tells once.
    pub async fn announced(&self) -> (usize, usize) {
        let paid = self.gateway.events("order.paid").await.len();
        (self.gateway.events("payment.captured").await.len(), paid)
    }
}

pub fn provider_path(provider: &str) -> String {
    format!("/v1/payments/providers/{provider}")
}
