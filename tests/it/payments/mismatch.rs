//! Another amount than was asked for, and captures that race.

use std::sync::Arc;

use support::clock::MINUTE;
use support::{Providers, Reply, json, race};

use super::connected::{Connected, Order, PRICE};

/// What the test's orders come to.
const DUE: i64 = 2 * PRICE;

impl Connected {
    /// A shopper pays another amount than Razorpay was told, and comes back; the payment's id, and
    /// what the shopper brings.
    async fn paid_otherwise(&self, order: &Order, amount: i64) -> (String, support::Value) {
        let begun = self.begin("razorpay", order).await.expect(201);
        let reference = begun.str("/provider_order_id");
        let paid = self.providers.pay_razorpay_with(&reference, amount);
        let fields = Providers::razorpay_return(&order.id, &reference, &paid);
        let rejected = self.verify("razorpay", fields.clone()).await.expect(409);
        assert_eq!(rejected.int("/expected/amount"), DUE);
        assert_eq!(rejected.int("/received/amount"), amount);
        rejected.problem("amount_mismatch");
        let webhook = self.providers.razorpay_event("payment.captured", &paid);
        self.hear(&webhook).await.expect(200);
        (begun.str("/payment_id"), fields)
    }

    async fn accept(&self, id: &str) -> Reply {
        self.act(id, "accept", json!({})).await
    }
}

#[tokio::test]
async fn a_mismatched_amount_pays_nothing_until_it_is_accepted() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let (id, fields) = connected.paid_otherwise(&order, 100).await;
    let shown = connected.payment(&id).await;
    assert_eq!(
        (shown.str("/status"), shown.str("/attention")),
        ("captured".into(), "amount_mismatch".into())
    );
    assert_eq!(shown.int("/captured/amount"), 100);
    assert_eq!(*shown.at("/allowed_actions"), json!(["accept", "refund", "sync"]));
    connected.act(&id, "void", json!({})).await.expect(409).problem("invalid_state_transition");
    connected.act(&id, "sync", json!({})).await.expect(409).problem("amount_mismatch");
    connected.verify("razorpay", fields.clone()).await.expect(409).problem("amount_mismatch");
    assert_eq!(connected.announced().await, (1, 0), "it was taken, and pays nothing");
    assert_eq!(connected.stock().await, (98, 2, 0));
    assert_eq!(connected.order_as_stored(&order).await["financial_status"], "pending");

    let path = format!("/v1/payments/{id}/accept");
    let keyless = connected.owner.post(&path).json(json!({})).await;
    keyless.expect(400).problem("idempotency_key_required");
    let stale = connected.owner.post(&path).key("stale").if_match("\"1\"").json(json!({})).await;
    stale.expect(412).problem("precondition_failed");
    let connected = Arc::new(connected);
    let answers = race(8, || {
        let (connected, id) = (Arc::clone(&connected), id.clone());
        async move { connected.accept(&id).await }
    })
    .await;
    let taken: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(taken.len(), 1, "{answers:#?}");
    assert_eq!(*taken[0].at("/attention"), json!(null));
    let stored = connected.order_as_stored(&order).await;
    assert_eq!(stored["financial_status"], "partially_paid");
    assert_eq!(stored["captured"]["amount"], 100);
    assert_eq!(connected.stock().await, (98, 0, 2), "the order is firm");
    connected.accept(&id).await.expect(409).problem("invalid_state_transition");
    connected.verify("razorpay", fields).await.expect(200);
    // The shopper pays the rest.
    let rest = connected.begin("stripe", &order).await.expect(201);
    assert_eq!(rest.int("/amount/amount"), DUE - 100);
    connected.providers.pay_stripe(&rest.str("/provider_order_id"));
    connected.act(&rest.str("/payment_id"), "sync", json!({})).await.expect(200);
    assert_eq!(connected.order_as_stored(&order).await["financial_status"], "paid");
    // And a refund of all of it goes back by both.
    let path = format!("/v1/orders/{}/refund", order.id);
    connected.owner.post(&path).key("refund").json(json!({})).await.expect(201);
    assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
    assert_eq!(connected.order_as_stored(&order).await["financial_status"], "refunded");
}

#[tokio::test]
async fn a_mismatched_amount_is_refunded_by_the_merchant() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let (id, _) = connected.paid_otherwise(&order, 100).await;
    connected.act(&id, "refunds", json!({})).await.expect(201);
    let shown = connected.payment(&id).await;
    assert_eq!((shown.str("/status"), shown.at("/attention")), ("refunded".into(), &json!(null)));
    assert_eq!(connected.order_as_stored(&order).await["financial_status"], "pending");
    connected.accept(&id).await.expect(409).problem("invalid_state_transition");
    let (paid, _) = connected.paid("stripe", &order).await;
    assert_eq!(connected.payment(&paid).await.str("/status"), "captured");

    // What is too much goes back before the rest is taken.
    let order = connected.order().await;
    let (id, _) = connected.paid_otherwise(&order, DUE + 500).await;
    let rejected = connected.accept(&id).await.expect(409);
    assert_eq!(rejected.int("/excess/amount"), 500);
    assert_eq!(rejected.int("/outstanding/amount"), DUE);
    rejected.problem("amount_exceeds_outstanding");
    let excess = json!({"amount": {"amount": 500, "currency": "INR"}});
    connected.act(&id, "refunds", excess).await.expect(201);
    connected.accept(&id).await.expect(200);
    let stored = connected.order_as_stored(&order).await;
    assert_eq!(stored["financial_status"], "paid");
    assert_eq!(stored["captured"]["amount"], DUE);
    let synced = connected.act(&id, "sync", json!({})).await.expect(200);
    assert_eq!(synced.int("/refunded/amount"), 500);
    assert_eq!(connected.order_as_stored(&order).await["refunded"]["amount"], 0);
}

#[tokio::test]
async fn an_unaccepted_mismatched_amount_is_refunded_when_its_order_ends() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let (id, _) = connected.paid_otherwise(&order, 100).await;
    connected.gateway.advance(MINUTE * 31);
    assert_eq!(connected.gateway.sweep().await.failures, 0);
    assert_eq!(connected.order_as_stored(&order).await["status"], "expired");
    connected.gateway.advance(MINUTE * 2);
    connected.gateway.sweep().await;
    let shown = connected.payment(&id).await;
    assert_eq!((shown.str("/status"), shown.at("/attention")), ("refunded".into(), &json!(null)));
    assert_eq!(connected.stock().await, (100, 0, 0));
    // At once, when it is cancelled, and when it has ended before.
    let order = connected.order().await;
    let (id, _) = connected.paid_otherwise(&order, 100).await;
    let path = format!("/v1/orders/{}/cancel", order.id);
    connected.owner.post(&path).key("cancel").json(json!({})).await.expect(200);
    assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
    let order = connected.order().await;
    let begun = connected.begin("razorpay", &order).await.expect(201);
    let path = format!("/v1/orders/{}/cancel", order.id);
    connected.owner.post(&path).key("another").json(json!({})).await.expect(200);
    let paid = connected.providers.pay_razorpay_with(&begun.str("/provider_order_id"), 100);
    let webhook = connected.providers.razorpay_event("payment.captured", &paid);
    connected.hear(&webhook).await.expect(200);
    assert_eq!(connected.payment(&begun.str("/payment_id")).await.str("/status"), "refunded");
}

#[tokio::test]
async fn a_mismatched_authorization_is_voided_or_captured() {
    let connected = Connected::open_with("manual").await;
    for (action, status, money) in
        [("void", "voided", "pending"), ("capture", "captured", "partially_paid")]
    {
        let order = connected.order().await;
        let begun = connected.begin("razorpay", &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        connected.providers.pay_razorpay_with(&reference, 100);
        connected.act(&id, "sync", json!({})).await.expect(409).problem("amount_mismatch");
        let shown = connected.payment(&id).await;
        assert_eq!(
            (shown.str("/status"), shown.str("/attention")),
            ("authorized".into(), "amount_mismatch".into())
        );
        assert_eq!(connected.order_as_stored(&order).await["financial_status"], "pending");
        let done = connected.act(&id, action, json!({})).await.expect(200);
        assert_eq!((done.str("/status"), done.at("/attention")), (status.into(), &json!(null)));
        assert_eq!(connected.order_as_stored(&order).await["financial_status"], money);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_parallel_captures_of_a_payment_succeeds() {
    for provider in ["razorpay", "stripe", "manual"] {
        let connected = Arc::new(Connected::open_to_many("manual").await);
        let order = connected.order().await;
        let id = match provider {
            "manual" => connected.begin("manual", &order).await.expect(201).str("/payment_id"),
            _ => connected.paid(provider, &order).await.0,
        };
        let answers = race(8, || {
            let (connected, id) = (Arc::clone(&connected), id.clone());
            async move { connected.act(&id, "capture", json!({})).await }
        })
        .await;
        let won = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!(won, 1, "{provider}: {answers:#?}");
        for lost in answers.into_iter().filter(|answer| answer.status != 200) {
            assert_eq!(lost.str("/current"), "captured", "{provider}");
            lost.expect(409).problem("not_capturable");
        }
        assert_eq!(connected.announced().await, (1, 1), "{provider}");
        assert_eq!(connected.payment(&id).await.at("/receipts").as_array().unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_parallel_captures_of_two_payments_succeeds() {
    let connected = Arc::new(Connected::open_to_many("manual").await);
    let order = connected.order().await;
    let (held, intent) = connected.paid("stripe", &order).await;
    let cash = connected.begin("manual", &order).await;
    // The order is promised: no other payment may be begun.
    cash.expect(409).problem("order_already_paid");
    // Cash that was begun before the promise, and is there after it.
    let order = connected.order().await;
    let cash = connected.begin("manual", &order).await.expect(201).str("/payment_id");
    let (second, _) = connected.paid("stripe", &order).await;
    let ids = [cash, second];
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let answers = race(2, || {
        let (connected, ids) = (Arc::clone(&connected), ids.clone());
        let nth = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move { connected.act(&ids[nth], "capture", json!({})).await }
    })
    .await;
    let won = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(won, 1, "{answers:#?}");
    let lost = answers.into_iter().find(|answer| answer.status != 200).unwrap();
    assert!(["order_already_paid", "not_capturable"].contains(&lost.str("/code").as_str()));
    let stored = connected.order_as_stored(&order).await;
    assert_eq!(stored["captured"]["amount"], DUE);
    assert_eq!(stored["refunded"]["amount"], 0);
    assert_eq!(connected.payment(&held).await.str("/status"), "authorized");
    assert_eq!(connected.providers.payment(&intent)["status"], "requires_capture");
}
