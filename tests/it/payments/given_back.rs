//! Money that goes back: asked for once, done at once, later, or not at all.

use support::{Reply, Trouble, Value, json};

use super::till::{PRICE, Till};

const PROVIDERS: [&str; 2] = ["razorpay", "stripe"];

impl Till {
    /// A part of a payment is to go back, under this key.
    async fn give_back(&self, id: &str, amount: i64, key: &str) -> Reply {
        let path = format!("/v1/payments/{id}/refunds");
        let ask = json!({"amount": {"amount": amount, "currency": "INR"}});
        self.owner.post(&path).key(key).json(ask).await
    }

    /// What the payment says of its first refund.
    async fn first_refund(&self, id: &str) -> Value {
        let listed = self.owner.get(&format!("/v1/payments/{id}/refunds")).await.expect(200);
        listed.data()[0].clone()
    }

    async fn refund_of_order(&self, order: &str, refund: &Reply) -> Reply {
        let path = format!("/v1/orders/{order}/refunds/{}", refund.str("/refund/id"));
        self.owner.get(&path).await.expect(200)
    }
}

#[tokio::test]
async fn a_provider_that_is_busy_has_refused_nothing() {
    let till = Till::open().await;
    let busy = [
        Trouble::Refuse(409, "idempotency_key_in_use"),
        Trouble::Refuse(429, "rate_limit"),
        Trouble::Refuse(429, "lock_timeout"),
        Trouble::Refuse(409, "BAD_REQUEST_ERROR"),
        Trouble::Refuse(425, "too_early"),
        Trouble::Refuse(408, "timeout"),
    ];
    for provider in PROVIDERS {
        let order = till.order().await;
        let (id, _) = till.paid(provider, &order).await;
        let before = till.providers.refunds().len();
        till.providers.next([Trouble::DoneButLate]);
        till.give_back(&id, 400, "once").await.expect(504).problem("provider_timeout");
        for trouble in busy.clone() {
            till.providers.next([trouble]);
            let refused = till.give_back(&id, 400, "once").await.expect(502);
            assert!(refused.header("retry-after").is_some());
            assert_eq!(refused.str("/provider_code"), "busy");
            refused.problem("provider_error");
            assert_eq!(till.first_refund(&id).await["status"], "pending");
        }
        till.give_back(&id, 400, "once").await.expect(201);
        assert_eq!(till.providers.refunds().len(), before + 1, "{provider}");
        assert_eq!(till.payment(&id).await.int("/refunded/amount"), 400);
        // A no is a no.
        till.providers.next([Trouble::Refuse(400, "charge_disputed")]);
        till.give_back(&id, 500, "twice").await.expect(502).problem("provider_error");
        assert_eq!(till.payment(&id).await.int("/refundable/amount"), 2 * PRICE - 400);
    }
}

#[tokio::test]
async fn a_refund_whose_answer_was_lost_is_looked_for_when_its_key_may_be_forgotten() {
    let till = Till::open().await;
    for provider in PROVIDERS {
        let order = till.order().await;
        let (id, _) = till.paid(provider, &order).await;
        till.providers.next([Trouble::DoneButLate]);
        till.give_back(&id, 400, "once").await.expect(504);
        till.gateway.advance(gateway::clock::MINUTE * 11);
        let asked = till.providers.calls(if provider == "stripe" { "/refunds" } else { "/refund" });
        till.give_back(&id, 400, "once").await.expect(201);
        let again = till.providers.calls(if provider == "stripe" { "/refunds" } else { "/refund" });
        let posts = |calls: &[support::ProviderCall]| {
            calls.iter().filter(|call| call.method == "POST").count()
        };
        assert_eq!(posts(&again), posts(&asked), "{provider}");
        // One that the provider never heard of is asked for.
        till.providers.next([Trouble::Hang]);
        till.give_back(&id, 300, "twice").await.expect(504);
        till.gateway.advance(gateway::clock::MINUTE * 11);
        till.give_back(&id, 300, "twice").await.expect(201);
        assert_eq!(till.payment(&id).await.int("/refunded/amount"), 700);
    }
    assert_eq!(till.providers.refunds().len(), 4);
}

#[tokio::test]
async fn a_refund_through_two_payments_is_asked_for_under_two_keys() {
    let till = Till::open_with("manual").await;
    let order = till.order().await;
    let (first, _) = till.paid("stripe", &order).await;
    let part = json!({"amount": {"amount": PRICE, "currency": "INR"}});
    till.act(&first, "capture", part).await.expect(200);
    let (second, _) = till.paid("stripe", &order).await;
    till.act(&second, "capture", json!({})).await.expect(200);
    assert_eq!(till.order_as_stored(&order).await["captured"]["amount"], 2 * PRICE);
    let path = format!("/v1/orders/{}/refund", order.id);
    let refunded = till.owner.post(&path).key("all").json(json!({})).await.expect(201);
    assert_eq!(refunded.str("/refund/status"), "succeeded");
    let refunds = till.providers.refunds();
    let amounts: Vec<i64> = refunds.iter().map(|one| one["amount"].as_i64().unwrap()).collect();
    assert_eq!(amounts, [PRICE, PRICE]);
    let id = refunded.str("/refund/id");
    let keys = till.providers.calls("/v1/refunds").into_iter().map(|call| call.key.unwrap());
    let mut keys: Vec<String> = keys.collect();
    let mut expected = [format!("{id}-{first}"), format!("{id}-{second}")];
    keys.sort();
    expected.sort();
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn what_was_held_and_not_taken_has_not_gone_back() {
    let till = Till::open_with("manual").await;
    let order = till.order().await;
    let (id, intent) = till.paid("stripe", &order).await;
    let part = json!({"amount": {"amount": PRICE, "currency": "INR"}});
    till.act(&id, "capture", part).await.expect(200);
    let charge = till.providers.payment(&intent)["latest_charge"].clone();
    assert_eq!(charge["amount_refunded"], PRICE, "as Stripe shows it");
    till.act(&id, "sync", json!({})).await.expect(200);
    for kind in ["charge.captured", "charge.refunded", "payment_intent.succeeded"] {
        till.tell_refund(kind, &intent).await;
    }
    let shown = till.payment(&id).await;
    assert_eq!((shown.str("/status"), shown.int("/refunded/amount")), ("captured".into(), 0));
    assert!(till.gateway.events("payment.refunded").await.is_empty());
    till.give_back(&id, PRICE, "all").await.expect(201);
    assert_eq!(till.payment(&id).await.str("/status"), "refunded");
    // And what does go back at Stripe's own desk is seen.
    let order = till.order().await;
    let (id, intent) = till.paid("stripe", &order).await;
    let part = json!({"amount": {"amount": PRICE, "currency": "INR"}});
    till.act(&id, "capture", part).await.expect(200);
    till.providers.refund_at_desk(&intent, 100).expect("a refund");
    till.tell_refund("charge.refunded", &intent).await;
    assert_eq!(till.payment(&id).await.int("/refunded/amount"), 100);
}

#[tokio::test]
async fn a_refund_that_the_provider_takes_its_time_with_is_pending_until_it_says_more() {
    let till = Till::open().await;
    for (provider, done, failed) in [
        ("razorpay", "refund.processed", "refund.failed"),
        ("stripe", "refund.updated", "charge.refund.updated"),
    ] {
        let order = till.order().await;
        let (id, carrier) = till.paid(provider, &order).await;
        till.providers.next([Trouble::Pending]);
        let begun = till.give_back(&id, 400, "one").await.expect(201);
        assert_eq!(begun.str("/refund/status"), "pending", "{provider}");
        let told = till.gateway.events("refund.succeeded").await.len();
        till.tell_refund("refund.created", &carrier).await;
        till.act(&id, "sync", json!({})).await.expect(200);
        let entry = till.first_refund(&id).await;
        assert_eq!(entry["status"], "pending");
        let reference = entry["provider_reference"].as_str().unwrap().to_owned();
        let shown = till.payment(&id).await;
        assert_eq!(shown.int("/refunded/amount"), 0);
        assert_eq!(shown.int("/refundable/amount"), 2 * PRICE - 400);
        till.providers.settle_refund(&reference, true).expect("it comes through");
        for _ in 0..2 {
            till.tell_refund(done, &carrier).await;
        }
        assert_eq!(till.refund_of_order(&order.id, &begun).await.str("/status"), "succeeded");
        assert_eq!(till.payment(&id).await.int("/refunded/amount"), 400);
        assert_eq!(till.gateway.events("refund.succeeded").await.len(), told + 1, "{provider}");

        // One that does not come through sets its amount free.
        till.providers.next([Trouble::Pending]);
        let begun = till.give_back(&id, 500, "two").await.expect(201);
        let last = till.providers.refunds();
        let is_ours = |one: &&Value| one["status"] == "pending";
        let reference = last.iter().find(is_ours).unwrap()["id"].as_str().unwrap().to_owned();
        till.providers.settle_refund(&reference, false).expect("it comes back");
        let before = till.gateway.events("refund.failed").await.len();
        for _ in 0..2 {
            till.tell_refund(failed, &carrier).await;
        }
        assert_eq!(till.gateway.events("refund.failed").await.len(), before + 1);
        let refund = till.refund_of_order(&order.id, &begun).await;
        assert_eq!(refund.str("/status"), "failed");
        let stored = till.order_as_stored(&order).await;
        assert_eq!(stored["refunded"]["amount"], 400, "{provider}");
        assert_eq!(till.payment(&id).await.int("/refundable/amount"), 2 * PRICE - 400);
        till.give_back(&id, 500, "three").await.expect(201);
        assert_eq!(till.payment(&id).await.int("/refunded/amount"), 900);
    }
}

#[tokio::test]
async fn a_refund_that_comes_back_from_the_customers_bank_has_failed_after_all() {
    let till = Till::open().await;
    for provider in PROVIDERS {
        let order = till.order().await;
        let (id, carrier) = till.paid(provider, &order).await;
        let refunded = till.give_back(&id, 2 * PRICE, "all").await.expect(201);
        assert_eq!(refunded.str("/refund/status"), "succeeded");
        assert_eq!(till.payment(&id).await.str("/status"), "refunded");
        let late = match provider {
            "razorpay" => till.providers.razorpay_event("refund.processed", &carrier),
            _ => till.providers.stripe_event("charge.refunded", &carrier, till.gateway.now()),
        };
        let reference = till.first_refund(&id).await["provider_reference"].clone();
        let reference = reference.as_str().unwrap();
        till.providers.settle_refund(reference, false).expect("it comes back");
        till.tell_refund("refund.failed", &carrier).await;
        // An event that is older than that.
        till.hear(&late).await.expect(200);
        let shown = till.payment(&id).await;
        assert_eq!(shown.str("/status"), "captured", "{provider}");
        assert_eq!(shown.int("/refundable/amount"), 2 * PRICE);
        assert_eq!(till.refund_of_order(&order.id, &refunded).await.str("/status"), "failed");
        assert_eq!(till.order_as_stored(&order).await["financial_status"], "paid");
        till.give_back(&id, 2 * PRICE, "again").await.expect(201);
        assert_eq!(till.order_as_stored(&order).await["financial_status"], "refunded");
    }
}
