//! A theme that costs something, sold through the payment providers of its maker's store.

use support::{
    Client, Developer, Faults, Gateway, Merchant, Operator, ProviderOptions, Providers,
    RAZORPAY_KEY_ID, RAZORPAY_SECRET, Reply, STRIPE_KEY_ID, STRIPE_SECRET, Store, ThemeSource,
    Value, WEBHOOK_SECRET, accept, deliver, json, unique, upload,
};

pub(super) const PRICE: i64 = 4_900;

/// A theme that costs something, its maker's store, and a store that wants it.
pub(super) struct Sale {
    pub(super) gateway: Gateway,
    pub(super) providers: Providers,
    pub(super) maker: Client,
    pub(super) seller: Store,
    pub(super) slug: String,
    /// Who wants it.
    pub(super) merchant: Merchant,
    pub(super) buyer: Store,
    pub(super) owner: Client,
}

impl Sale {
    pub(super) async fn open() -> Self {
        Self::open_over(None).await
    }

    /// As [`Sale::open`], with faults between the system and its table.
    pub(super) async fn open_over(planned: Option<Faults>) -> Self {
        let providers = Providers::start_with(ProviderOptions::default()).await;
        let base_urls = providers.base_urls();
        let gateway = Gateway::start_with(|options| {
            options.embedded.payment_base_urls = base_urls;
            options.embedded.planned = planned;
        })
        .await;
        let developer = Developer::register(&gateway).await;
        let operator = Operator::sign_up(&gateway).await;
        let seller = developer.open_shop().await;
        let maker = developer.at(&seller);
        let razorpay = json!({"credentials": {
            "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }});
        let stripe = json!({"capture_method": "manual", "credentials": {
            "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }});
        maker.put("/v1/payments/providers/razorpay").json(razorpay).await.expect(200);
        maker.put("/v1/payments/providers/stripe").json(stripe).await.expect(200);
        let slug = unique("silk");
        let source = ThemeSource::new(&slug).price(PRICE);
        let package = upload(&developer, source.zip()).await.expect(201).str("/package/id");
        accept(&developer, &operator, &package, json!({"seller_store_id": seller.id})).await;
        let merchant = Merchant::sign_up(&gateway).await;
        let buyer = merchant.open_shop().await;
        let owner = merchant.at(&buyer);
        Self { gateway, providers, maker, seller, slug, merchant, buyer, owner }
    }

    pub(super) fn path(&self, rest: &str) -> String {
        format!("/v1/themes/{}/{rest}", self.slug)
    }

    pub(super) async fn install(&self) -> Reply {
        self.owner.post(&self.path("install")).json(json!({})).await
    }

    pub(super) async fn begin(&self, provider: &str) -> Reply {
        let input = self.owner.post(&self.path("purchase")).key(&unique("buy"));
        input.json(json!({"provider": provider})).await
    }

    pub(super) async fn verify(&self, fields: Value) -> Reply {
        self.owner.post(&self.path("purchase/verify")).json(fields).await
    }

    pub(super) async fn licenses(&self) -> Vec<Value> {
        self.owner.get(&self.path("licenses")).await.expect(200).data().clone()
    }

    pub(super) async fn told(&self, name: &str) -> usize {
        self.gateway.events(name).await.len()
    }

    /// What Razorpay's script hands the merchant's browser.
    pub(super) fn returned(begun: &Reply, payment: &str) -> Value {
        let reference = begun.str("/provider_order_id");
        let mut fields = Providers::razorpay_return("x", &reference, payment);
        fields.as_object_mut().unwrap().remove("order_id");
        fields["purchase_id"] = begun.at("/purchase_id").clone();
        fields
    }

    /// Buys the theme through Razorpay; the payment that carries the money.
    pub(super) async fn buy(&self) -> String {
        let begun = self.begin("razorpay").await.expect(201);
        let payment = self.providers.pay_razorpay(&begun.str("/provider_order_id"));
        self.verify(Self::returned(&begun, &payment)).await.expect(200);
        payment
    }

    /// The seller's store is told of something by Razorpay.
    pub(super) async fn notify(&self, kind: &'static str, payment: &str) {
        let event = self.providers.razorpay_event(kind, payment);
        deliver(&event, &self.gateway.client(), &self.seller.subdomain).await.expect(200);
    }
}
