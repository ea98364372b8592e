//! Money that goes back: asked for once, done at once, later, or not at all.

use support::clock::MINUTE;
use support::{Reply, Trouble, Value, Webhook, json, unique};

use super::connected::{Connected, Order, PRICE};

const PROVIDERS: [&str; 2] = ["razorpay", "stripe"];

impl Connected {
    /// A part of a payment is to go back, under this key.
    async fn refund(&self, id: &str, amount: i64, key: &str) -> Reply {
        let path = format!("/v1/payments/{id}/refunds");
        let input = json!({"amount": {"amount": amount, "currency": "INR"}});
        self.owner.post(&path).key(key).json(input).await
    }

    /// What the payment says of its first refund.
    async fn first_refund(&self, id: &str) -> Value {
        let listed = self.owner.get(&format!("/v1/payments/{id}/refunds")).await.expect(200);
        listed.data()[0].clone()
    }

    /// A payment whose money its order did not take, and that nobody has begun to send back.
    async fn paid_late(&self, provider: &str) -> (Order, String, String) {
        let order = self.order().await;
        let (id, carrier) = self.paid(provider, &order).await;
        let late = json!({"is_applied": false, "attention": "late_payment"});
        self.gateway.change_item(&self.gateway.item("payment", &id).await, late).await;
        (order, id, carrier)
    }

    /// What the provider would tell now of the last refund.
    fn refund_event(&self, kind: &'static str, carrier: &str) -> Webhook {
        if carrier.starts_with("pay_") {
            return self.providers.razorpay_event(kind, carrier);
        }
        self.providers.stripe_event(kind, carrier, self.gateway.now())
    }

    async fn sweep_after(&self, minutes: u32) {
        self.gateway.advance(MINUTE * minutes);
        self.gateway.sweep().await;
    }

    /// The amounts and states of a payment's refunds, oldest first.
    async fn refunds(&self, id: &str) -> Vec<(i64, String)> {
        let listed = self.owner.get(&format!("/v1/payments/{id}/refunds")).await.expect(200);
        let entry = |one: &Value| {
            let status = one["status"].as_str().unwrap().to_owned();
            (one["amount"]["amount"].as_i64().unwrap(), status)
        };
        listed.data().iter().map(entry).collect()
    }

    async fn is_due(&self, order: &Order) -> bool {
        let prefix = format!("STO#{}#ORD#{}", self.store.id, order.id);
        let stored = self.gateway.items_of("payment", &prefix).await.remove(0);
        stored["GSI3PK"].as_str().is_some_and(|mark| mark.starts_with("DUE#"))
    }

    async fn refund_of_order(&self, order: &str, refund: &Reply) -> Reply {
        let path = format!("/v1/orders/{order}/refunds/{}", refund.str("/refund/id"));
        self.owner.get(&path).await.expect(200)
    }
}

#[tokio::test]
async fn a_busy_provider_leaves_a_refund_pending() {
    let connected = Connected::open().await;
    let busy = [
        Trouble::Reject(409, "idempotency_key_in_use"),
        Trouble::Reject(429, "rate_limit"),
        Trouble::Reject(429, "lock_timeout"),
        Trouble::Reject(409, "BAD_REQUEST_ERROR"),
        Trouble::Reject(425, "too_early"),
        Trouble::Reject(408, "timeout"),
    ];
    for provider in PROVIDERS {
        let order = connected.order().await;
        let (id, _) = connected.paid(provider, &order).await;
        let before = connected.providers.refunds().len();
        connected.providers.next([Trouble::DoneButLate]);
        connected.refund(&id, 400, "once").await.expect(504).problem("provider_timeout");
        for trouble in busy.clone() {
            connected.providers.next([trouble]);
            let rejected = connected.refund(&id, 400, "once").await.expect(502);
            assert!(rejected.header("retry-after").is_some());
            assert_eq!(rejected.str("/provider_code"), "busy");
            rejected.problem("provider_error");
            assert_eq!(connected.first_refund(&id).await["status"], "pending");
        }
        connected.refund(&id, 400, "once").await.expect(201);
        assert_eq!(connected.providers.refunds().len(), before + 1, "{provider}");
        assert_eq!(connected.payment(&id).await.int("/refunded/amount"), 400);
        // A no is a no.
        connected.providers.next([Trouble::Reject(400, "charge_disputed")]);
        connected.refund(&id, 500, "twice").await.expect(502).problem("provider_error");
        assert_eq!(connected.payment(&id).await.int("/refundable/amount"), 2 * PRICE - 400);
    }
}

#[tokio::test]
async fn an_unanswered_refund_is_searched_once_its_key_may_have_expired() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        let order = connected.order().await;
        let (id, _) = connected.paid(provider, &order).await;
        connected.providers.next([Trouble::DoneButLate]);
        connected.refund(&id, 400, "once").await.expect(504);
        connected.gateway.advance(MINUTE * 11);
        let asked =
            connected.providers.calls(if provider == "stripe" { "/refunds" } else { "/refund" });
        connected.refund(&id, 400, "once").await.expect(201);
        let again =
            connected.providers.calls(if provider == "stripe" { "/refunds" } else { "/refund" });
        let posts = |calls: &[support::ProviderCall]| {
            calls.iter().filter(|call| call.method == "POST").count()
        };
        assert_eq!(posts(&again), posts(&asked), "{provider}");
        // One that the provider never heard of is asked for.
        connected.providers.next([Trouble::Hang]);
        connected.refund(&id, 300, "twice").await.expect(504);
        connected.gateway.advance(MINUTE * 11);
        connected.refund(&id, 300, "twice").await.expect(201);
        assert_eq!(connected.payment(&id).await.int("/refunded/amount"), 700);
    }
    assert_eq!(connected.providers.refunds().len(), 4);
}

#[tokio::test]
async fn a_refund_of_two_payments_uses_two_idempotency_keys() {
    let connected = Connected::open_with("manual").await;
    let order = connected.order().await;
    let (first, _) = connected.paid("stripe", &order).await;
    let part = json!({"amount": {"amount": PRICE, "currency": "INR"}});
    connected.act(&first, "capture", part).await.expect(200);
    let (second, _) = connected.paid("stripe", &order).await;
    connected.act(&second, "capture", json!({})).await.expect(200);
    assert_eq!(connected.order_as_stored(&order).await["captured"]["amount"], 2 * PRICE);
    let path = format!("/v1/orders/{}/refund", order.id);
    let refunded = connected.owner.post(&path).key("all").json(json!({})).await.expect(201);
    assert_eq!(refunded.str("/refund/status"), "succeeded");
    let refunds = connected.providers.refunds();
    let amounts: Vec<i64> = refunds.iter().map(|one| one["amount"].as_i64().unwrap()).collect();
    assert_eq!(amounts, [PRICE, PRICE]);
    let id = refunded.str("/refund/id");
    let keys = connected.providers.calls("/v1/refunds").into_iter().map(|call| call.key.unwrap());
    let mut keys: Vec<String> = keys.collect();
    let mut expected = [format!("{id}-{first}"), format!("{id}-{second}")];
    keys.sort();
    expected.sort();
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn an_uncaptured_remainder_is_not_a_refund() {
    let connected = Connected::open_with("manual").await;
    let order = connected.order().await;
    let (id, intent) = connected.paid("stripe", &order).await;
    let part = json!({"amount": {"amount": PRICE, "currency": "INR"}});
    connected.act(&id, "capture", part).await.expect(200);
    let charge = connected.providers.payment(&intent)["latest_charge"].clone();
    assert_eq!(charge["amount_refunded"], PRICE, "as Stripe shows it");
    connected.act(&id, "sync", json!({})).await.expect(200);
    for kind in ["charge.captured", "charge.refunded", "payment_intent.succeeded"] {
        connected.tell_refund(kind, &intent).await;
    }
    let shown = connected.payment(&id).await;
    assert_eq!((shown.str("/status"), shown.int("/refunded/amount")), ("captured".into(), 0));
    assert!(connected.gateway.events("payment.refunded").await.is_empty());
    connected.refund(&id, PRICE, "all").await.expect(201);
    assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
    // And what does go back on Stripe's own dashboard is seen.
    let order = connected.order().await;
    let (id, intent) = connected.paid("stripe", &order).await;
    let part = json!({"amount": {"amount": PRICE, "currency": "INR"}});
    connected.act(&id, "capture", part).await.expect(200);
    connected.providers.refund_on_dashboard(&intent, 100).expect("a refund");
    connected.tell_refund("charge.refunded", &intent).await;
    assert_eq!(connected.payment(&id).await.int("/refunded/amount"), 100);
}

#[tokio::test]
async fn a_refund_is_pending_until_the_provider_settles_it() {
    let connected = Connected::open().await;
    for (provider, done, failed) in [
        ("razorpay", "refund.processed", "refund.failed"),
        ("stripe", "refund.updated", "charge.refund.updated"),
    ] {
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        connected.providers.next([Trouble::Pending]);
        let begun = connected.refund(&id, 400, "one").await.expect(201);
        assert_eq!(begun.str("/refund/status"), "pending", "{provider}");
        let told = connected.gateway.events("refund.succeeded").await.len();
        connected.tell_refund("refund.created", &carrier).await;
        connected.act(&id, "sync", json!({})).await.expect(200);
        let entry = connected.first_refund(&id).await;
        assert_eq!(entry["status"], "pending");
        let reference = entry["provider_reference"].as_str().unwrap().to_owned();
        let shown = connected.payment(&id).await;
        assert_eq!(shown.int("/refunded/amount"), 0);
        assert_eq!(shown.int("/refundable/amount"), 2 * PRICE - 400);
        connected.providers.finish_refund(&reference, true).expect("it comes through");
        for _ in 0..2 {
            connected.tell_refund(done, &carrier).await;
        }
        assert_eq!(connected.refund_of_order(&order.id, &begun).await.str("/status"), "succeeded");
        assert_eq!(connected.payment(&id).await.int("/refunded/amount"), 400);
        assert_eq!(
            connected.gateway.events("refund.succeeded").await.len(),
            told + 1,
            "{provider}"
        );

        // One that does not come through sets its amount free.
        connected.providers.next([Trouble::Pending]);
        let begun = connected.refund(&id, 500, "two").await.expect(201);
        let last = connected.providers.refunds();
        let is_ours = |one: &&Value| one["status"] == "pending";
        let reference = last.iter().find(is_ours).unwrap()["id"].as_str().unwrap().to_owned();
        connected.providers.finish_refund(&reference, false).expect("it comes back");
        let before = connected.gateway.events("refund.failed").await.len();
        for _ in 0..2 {
            connected.tell_refund(failed, &carrier).await;
        }
        assert_eq!(connected.gateway.events("refund.failed").await.len(), before + 1);
        let refund = connected.refund_of_order(&order.id, &begun).await;
        assert_eq!(refund.str("/status"), "failed");
        let stored = connected.order_as_stored(&order).await;
        assert_eq!(stored["refunded"]["amount"], 400, "{provider}");
        assert_eq!(connected.payment(&id).await.int("/refundable/amount"), 2 * PRICE - 400);
        connected.refund(&id, 500, "three").await.expect(201);
        assert_eq!(connected.payment(&id).await.int("/refunded/amount"), 900);
    }
}

#[tokio::test]
async fn the_last_refund_of_a_cancelled_order_restores_its_discount_use() {
    let connected = Connected::open().await;
    let input = json!({
        "title": "Once", "code": "ONCE", "kind": "percentage", "value": {"basis_points": 1_000},
        "usage_limit": 5, "per_customer_limit": 5,
    });
    let discount = connected.owner.post("/v1/discounts").json(input).await.expect(201);
    let path = format!("/v1/discounts/{}", discount.str("/id"));
    let used = || async { connected.owner.get(&path).await.expect(200).int("/used") };
    let left = 2 * PRICE - PRICE / 5;
    for (provider, done) in [("razorpay", "refund.processed"), ("stripe", "refund.updated")] {
        let order = connected.order_with(json!({"discount_codes": ["ONCE"]})).await;
        let (id, carrier) = connected.paid(provider, &order).await;
        let cancel = format!("/v1/orders/{}/cancel", order.id);
        let input = json!({"refund": "none"});
        connected.owner.post(&cancel).key(&unique("cancel")).json(input).await.expect(200);
        connected.refund(&id, left - 1, &format!("{provider}-most")).await.expect(201);
        assert_eq!(used().await, 1, "{provider}: one is left");
        connected.providers.next([Trouble::Pending]);
        let last = connected.refund(&id, 1, &format!("{provider}-rest")).await.expect(201);
        assert_eq!((last.str("/refund/status"), used().await), ("pending".into(), 1));
        let refunds = connected.providers.refunds();
        let is_ours = |one: &&Value| one["status"] == "pending";
        let reference = refunds.iter().find(is_ours).unwrap()["id"].as_str().unwrap().to_owned();
        connected.providers.finish_refund(&reference, true).expect("it comes through");
        for _ in 0..2 {
            connected.tell_refund(done, &carrier).await;
        }
        assert_eq!(used().await, 0, "{provider}");
        // At once, by the payment's own route.
        let order = connected.order_with(json!({"discount_codes": ["ONCE"]})).await;
        let (id, _) = connected.paid(provider, &order).await;
        let cancel = format!("/v1/orders/{}/cancel", order.id);
        let input = json!({"refund": "none"});
        connected.owner.post(&cancel).key(&unique("cancel")).json(input).await.expect(200);
        connected.refund(&id, left, &format!("{provider}-all")).await.expect(201);
        assert_eq!(used().await, 0, "{provider}");
    }
}

#[tokio::test]
async fn a_refund_returned_by_the_customers_bank_fails() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        let refunded = connected.refund(&id, 2 * PRICE, "all").await.expect(201);
        assert_eq!(refunded.str("/refund/status"), "succeeded");
        assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
        let late = match provider {
            "razorpay" => connected.providers.razorpay_event("refund.processed", &carrier),
            _ => connected.providers.stripe_event(
                "charge.refunded",
                &carrier,
                connected.gateway.now(),
            ),
        };
        let reference = connected.first_refund(&id).await["provider_reference"].clone();
        let reference = reference.as_str().unwrap();
        connected.providers.finish_refund(reference, false).expect("it comes back");
        connected.tell_refund("refund.failed", &carrier).await;
        // An event that is older than that.
        connected.hear(&late).await.expect(200);
        let shown = connected.payment(&id).await;
        assert_eq!(shown.str("/status"), "captured", "{provider}");
        assert_eq!(shown.int("/refundable/amount"), 2 * PRICE);
        assert_eq!(connected.refund_of_order(&order.id, &refunded).await.str("/status"), "failed");
        assert_eq!(connected.order_as_stored(&order).await["financial_status"], "paid");
        connected.refund(&id, 2 * PRICE, "again").await.expect(201);
        assert_eq!(connected.order_as_stored(&order).await["financial_status"], "refunded");
    }
}

fn told(refunds: &[(i64, &str)]) -> Vec<(i64, String)> {
    refunds.iter().map(|(amount, status)| (*amount, (*status).to_owned())).collect()
}

#[tokio::test]
async fn a_failed_refund_of_a_late_payment_is_repeated() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        let (order, id, carrier) = connected.paid_late(provider).await;
        connected.refund(&id, 400, "some").await.expect(201);
        assert!(connected.is_due(&order).await);
        // The bank sends it back; the provider tells that after the rest has gone.
        let reference = connected.first_refund(&id).await["provider_reference"].clone();
        connected
            .providers
            .finish_refund(reference.as_str().unwrap(), false)
            .expect("it comes back");
        let failed = connected.refund_event("refund.failed", &carrier);
        connected.sweep_after(2).await;
        let rest = 2 * PRICE - 400;
        let all = told(&[(400, "succeeded"), (rest, "succeeded")]);
        assert_eq!(connected.refunds(&id).await, all, "{provider}");
        assert!(!connected.is_due(&order).await);
        connected.hear(&failed).await.expect(200);
        let again = told(&[(400, "failed"), (rest, "succeeded"), (400, "succeeded")]);
        assert_eq!(connected.refunds(&id).await, again, "{provider}");
        let shown = connected.payment(&id).await;
        assert_eq!(
            (shown.str("/status"), shown.at("/attention")),
            ("refunded".into(), &json!(null))
        );
        assert!(!connected.is_due(&order).await);
    }
}

#[tokio::test]
async fn a_late_payment_is_refunded_after_its_pending_refund_ends() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        let (order, id, carrier) = connected.paid_late(provider).await;
        connected.providers.next([Trouble::Pending]);
        connected.refund(&id, 400, "some").await.expect(201);
        connected.act(&id, "sync", json!({})).await.expect(200);
        assert_eq!(connected.refunds(&id).await, told(&[(400, "pending")]), "{provider}");
        let reference = connected.first_refund(&id).await["provider_reference"].clone();
        connected.providers.finish_refund(reference.as_str().unwrap(), false).expect("it fails");
        connected.tell_refund("refund.failed", &carrier).await;
        connected.sweep_after(2).await;
        let all = 2 * PRICE;
        assert_eq!(connected.refunds(&id).await, told(&[(400, "failed"), (all, "succeeded")]));
        assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
        // What the bank sends back of that is the merchant's to look at: nothing goes round.
        let last = connected.owner.get(&format!("/v1/payments/{id}/refunds")).await.expect(200);
        let reference = last.str("/data/1/provider_reference");
        connected.providers.finish_refund(&reference, false).expect("it comes back");
        connected.tell_refund("refund.failed", &carrier).await;
        assert_eq!(connected.payment(&id).await.str("/attention"), "late_payment");
        assert!(!connected.is_due(&order).await);
        connected.sweep_after(60).await;
        assert_eq!(connected.refunds(&id).await, told(&[(400, "failed"), (all, "failed")]));
    }
}
