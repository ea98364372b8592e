//! How payments and orders are reconciled: authorizations that lapse, refunds on the provider's
//! dashboard, two ways to pay one order, and what it all means for a customer's account.

mod authorizations;

use support::clock::MINUTE;
use support::{
    Market, PASSWORD, Placed, Providers, RAZORPAY_KEY_ID, RAZORPAY_SECRET, Reply, STRIPE_KEY_ID,
    STRIPE_SECRET, Shopper, Value, WEBHOOK_SECRET, cart, deliver, inr, json, unique,
};

const PRICE: i64 = 1_000;

/// A store that is paid through both providers, and what it sells.
struct Connected {
    market: Market,
    providers: Providers,
    book: String,
}

/// A payment that was begun: its id, and the provider's reference.
struct Begun {
    id: String,
    reference: String,
}

impl Connected {
    /// Stripe holds the money or takes it; Razorpay takes it.
    async fn open(stripe: &str) -> Self {
        let providers = Providers::start().await;
        let urls = providers.base_urls();
        let market = Market::open_with(|options| options.embedded.payment_base_urls = urls).await;
        let stripe = json!({"capture_method": stripe, "credentials": {
            "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }});
        let razorpay = json!({"credentials": {
            "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }});
        for (provider, account) in [("stripe", stripe), ("razorpay", razorpay)] {
            let path = format!("/v1/payments/providers/{provider}");
            market.owner.put(&path).json(account).await.expect(200);
        }
        let book = market.stock(PRICE, 10).await;
        Self { market, providers, book }
    }

    async fn order(&self) -> Placed {
        self.market.order(cart(&[(&self.book, 1)])).await
    }

    async fn begin(&self, provider: &str, placed: &Placed) -> Begun {
        let subdomain = &self.market.store.subdomain;
        let path = format!("/v1/storefront/{subdomain}/payments/{provider}/order");
        let input = self.market.gateway.client().post(&path).json(json!({"order_id": placed.id}));
        let begun = input.header("x-service-order-token", &placed.token).await.expect(201);
        Begun { id: begun.str("/payment_id"), reference: begun.str("/provider_order_id") }
    }

    /// An order whose money Stripe has promised, or taken.
    async fn paid_by_stripe(&self) -> (Placed, Begun) {
        let placed = self.order().await;
        let begun = self.begin("stripe", &placed).await;
        self.providers.pay_stripe(&begun.reference);
        self.sync(&begun).await;
        (placed, begun)
    }

    async fn act(&self, payment: &Begun, action: &str, fields: Value) -> Reply {
        let path = format!("/v1/payments/{}/{action}", payment.id);
        self.market.owner.post(&path).key(&unique(action)).json(fields).await
    }

    async fn sync(&self, payment: &Begun) -> Reply {
        self.act(payment, "sync", json!({})).await.expect(200)
    }

    async fn payment(&self, payment: &Begun) -> Reply {
        self.market.owner.get(&format!("/v1/payments/{}", payment.id)).await.expect(200)
    }

    async fn hear_stripe(&self, kind: &'static str, payment: &Begun) {
        let now = self.market.gateway.now();
        let event = self.providers.stripe_event(kind, &payment.reference, now);
        let client = self.market.gateway.client();
        deliver(&event, &client, &self.market.store.subdomain).await.expect(200);
    }

    /// Somebody does something on Stripe's own dashboard.
    async fn at_stripe(&self, path: &str, form: &[(&str, &str)]) {
        let client = self.market.gateway.client().at_url(self.providers.url());
        let input = client.post(&format!("/stripe/v1/{path}")).form(form);
        let input = input.header("authorization", &format!("Bearer {STRIPE_SECRET}"));
        input.header("idempotency-key", &unique("dashboard")).await.expect(200);
    }

    async fn refund_at_stripe(&self, payment: &Begun, amount: i64) {
        let (intent, amount) = (payment.reference.as_str(), amount.to_string());
        self.at_stripe("refunds", &[("payment_intent", intent), ("amount", &amount)]).await;
    }

    fn stripe_status(&self, payment: &Begun) -> Value {
        self.providers.payment(&payment.reference)["status"].clone()
    }
}

fn actions(shown: &Reply) -> Vec<String> {
    serde_json::from_value(shown.at("/allowed_actions").clone()).unwrap()
}

fn can(shown: &Reply, action: &str) -> bool {
    actions(shown).iter().any(|known| known == action)
}

/// What the merchant sees that a customer has spent.
async fn spent(market: &Market, shopper: &Shopper) -> i64 {
    let found = market.owner.get(&format!("/v1/customers?email={}", shopper.email)).await;
    found.expect(200).int("/data/0/total_spent/amount")
}

async fn order_of(connected: &Connected, shopper: &Shopper) -> Placed {
    let input = shopper.post(&connected.market.orders_path()).key(&unique("order"));
    Placed::of(input.json(cart(&[(&connected.book, 1)])).await.expect(201))
}

#[tokio::test]
async fn total_spent_follows_provider_payments_and_dashboard_refunds() {
    let connected = Connected::open("automatic").await;
    let market = &connected.market;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let placed = order_of(&connected, &shopper).await;
    assert_eq!(spent(market, &shopper).await, 0);
    let begun = connected.begin("stripe", &placed).await;
    connected.providers.pay_stripe(&begun.reference);
    connected.hear_stripe("payment_intent.succeeded", &begun).await;
    connected.sync(&begun).await;
    assert_eq!(spent(market, &shopper).await, PRICE);
    market.act(&placed.id, "refund", json!({"amount": inr(300)})).await.expect(201);
    assert_eq!(spent(market, &shopper).await, 700);
    connected.refund_at_stripe(&begun, 200).await;
    connected.sync(&begun).await;
    assert_eq!(spent(market, &shopper).await, 500);
    market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(spent(market, &shopper).await, 0);
    // By hand.
    let placed = order_of(&connected, &shopper).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(spent(market, &shopper).await, PRICE);
    // A refund that the provider rejects is not one.
    let placed = order_of(&connected, &shopper).await;
    let begun = connected.begin("stripe", &placed).await;
    connected.providers.pay_stripe(&begun.reference);
    connected.sync(&begun).await;
    connected.providers.next([support::Trouble::Reject(402, "card_declined")]);
    let rejected = connected.act(&begun, "refunds", json!({})).await;
    rejected.expect(502).problem("provider_error");
    assert_eq!(spent(market, &shopper).await, 2 * PRICE);
}

#[tokio::test]
async fn payments_succeed_after_their_customer_is_deleted() {
    let connected = Connected::open("automatic").await;
    let market = &connected.market;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let (first, second) =
        (order_of(&connected, &shopper).await, order_of(&connected, &shopper).await);
    let begun = connected.begin("stripe", &first).await;
    let unheard = order_of(&connected, &shopper).await;
    let paid_unheard = connected.begin("stripe", &unheard).await;
    let input = json!({"current_password": PASSWORD});
    shopper.delete("/v1/storefront/customer/me").json(input).await.expect(202);
    connected.providers.pay_stripe(&begun.reference);
    connected.hear_stripe("payment_intent.succeeded", &begun).await;
    assert_eq!(market.show(&first.id).await.str("/financial_status"), "paid");
    market.act(&first.id, "refund", json!({"amount": inr(300)})).await.expect(201);
    connected.refund_at_stripe(&begun, 200).await;
    connected.sync(&begun).await;
    market.act(&first.id, "cancel", json!({})).await.expect(200);
    market.act(&second.id, "mark-paid", json!({})).await.expect(200);
    market.act(&second.id, "refund", json!({})).await.expect(201);
    // What nobody told is found by the sweep, which is another function.
    connected.providers.pay_stripe(&paid_unheard.reference);
    market.gateway.advance(MINUTE * 31);
    assert_eq!(market.gateway.sweep().await.failures, 0);
    assert_eq!(market.show(&unheard.id).await.str("/financial_status"), "paid");
    let prefix = format!("STO#{}#CUS#{}", market.store.id, shopper.id);
    assert!(market.gateway.items_of("customer", &prefix).await.is_empty(), "it stays gone");
}

#[tokio::test]
async fn a_refund_on_the_providers_dashboard_is_recorded_on_the_order() {
    let connected = Connected::open("automatic").await;
    let market = &connected.market;
    for by_webhook in [false, true] {
        let (placed, begun) = connected.paid_by_stripe().await;
        let learn = async || {
            if by_webhook {
                connected.hear_stripe("charge.refunded", &begun).await;
            } else {
                connected.sync(&begun).await;
            }
        };
        connected.refund_at_stripe(&begun, 400).await;
        learn().await;
        learn().await;
        let order = market.show(&placed.id).await;
        assert_eq!(order.str("/financial_status"), "partially_refunded");
        assert_eq!(*order.at("/refunded_total"), inr(400));
        let path = format!("/v1/orders/{}/refunds", placed.id);
        let listed = market.owner.get(&path).await.expect(200);
        assert_eq!(listed.data().len(), 1);
        let refund = &listed.data()[0];
        assert_eq!(
            (&refund["amount"], &refund["status"], &refund["reason"]),
            (&inr(400), &json!("succeeded"), &json!("other"))
        );
        assert_eq!(refund["transactions"][0]["payment_id"], json!(begun.id));
        let path = format!("/v1/orders/{}/refund/calculate", placed.id);
        let rest = market.owner.post(&path).json(json!({})).await.expect(200);
        assert_eq!(*rest.at("/amount"), inr(600));
        if by_webhook {
            // The rest goes back our way.
            let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
            assert_eq!(*done.at("/refund/amount"), inr(600));
        } else {
            connected.refund_at_stripe(&begun, 600).await;
            learn().await;
            market.act(&placed.id, "cancel", json!({})).await.expect(200);
        }
        let order = market.show(&placed.id).await;
        assert_eq!(
            (order.str("/status"), order.str("/financial_status")),
            ("cancelled".into(), "refunded".into())
        );
        assert_eq!(connected.payment(&begun).await.str("/status"), "refunded");
    }
    for name in ["refund.created", "refund.succeeded", "order.refunded", "payment.refunded"] {
        assert_eq!(market.gateway.events(name).await.len(), 4, "{name}");
    }
    assert_eq!(market.levels(&connected.book).await, [10, 0, 0, 10]);
}

/// A guest's record goes with a redaction. No payment fails because of that.
#[tokio::test]
async fn payments_of_a_guest_without_a_record_are_recorded() {
    let connected = Connected::open("automatic").await;
    let market = &connected.market;
    let mut orders = Vec::new();
    for _ in 0..3 {
        let placed = connected.order().await;
        let begun = connected.begin("stripe", &placed).await;
        connected.providers.pay_stripe(&begun.reference);
        orders.push((placed, begun));
    }
    for guest in market.gateway.items_of("guest", "STO#").await {
        market.gateway.delete_item(&guest).await;
    }
    // By the provider's webhook, the merchant and the sweep.
    connected.hear_stripe("payment_intent.succeeded", &orders[0].1).await;
    connected.sync(&orders[1].1).await;
    market.gateway.advance(MINUTE * 31);
    assert_eq!(market.gateway.sweep().await.failures, 0);
    for (placed, _) in &orders {
        assert_eq!(market.show(&placed.id).await.str("/financial_status"), "paid");
    }
    assert!(market.gateway.items_of("guest", "STO#").await.is_empty());
}
