//! Providers that are late, fail or reject, and money that nobody expects.

use support::clock::MINUTE;
use support::{Trouble, json, unique};

use super::connected::{Connected, PRICE};

#[tokio::test]
async fn provider_timeouts_and_errors_are_distinguished_and_recovered() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    connected.providers.next([Trouble::Hang]);
    connected.begin("stripe", &order).await.expect(504).problem("provider_timeout");
    connected.providers.next([Trouble::Reject(500, "api_error")]);
    connected.begin("stripe", &order).await.expect(502).problem("provider_error");
    connected.providers.next([Trouble::Reject(400, "amount_too_small")]);
    let rejected = connected.begin("stripe", &order).await.expect(502);
    assert_eq!(rejected.str("/provider_code"), "amount_too_small");
    assert!(!rejected.text.contains("not for customers"), "the provider's text stays inside");
    // Opened by the provider, which we never heard: opened again, it is the same intent.
    connected.providers.next([Trouble::DoneButLate]);
    connected.begin("stripe", &order).await.expect(504).problem("provider_timeout");
    let begun = connected.begin("stripe", &order).await.expect(201);
    let calls = connected.providers.calls("/v1/payment_intents");
    assert!(calls.iter().all(|call| call.key == calls[0].key));
    let (intent, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    assert_eq!(connected.providers.payments().len(), 1, "there is only one");
    connected.providers.pay_stripe(&intent);
    let fields = json!({"order_id": order.id, "payment_intent": intent});
    connected.providers.next([Trouble::Hang]);
    let late = connected.verify("stripe", fields.clone()).await.expect(504);
    late.problem("provider_timeout");
    assert_eq!(connected.announced().await, (0, 0));
    connected.verify("stripe", fields).await.expect(200);
    // A refund that was done and not heard of is not done twice.
    connected.providers.next([Trouble::DoneButLate]);
    let path = format!("/v1/payments/{id}/refunds");
    let refund = || connected.owner.post(&path).key("one-refund").json(json!({}));
    refund().await.expect(504).problem("provider_timeout");
    assert_eq!(connected.payment(&id).await.int("/refundable/amount"), 0, "it stays reserved");
    let done = refund().await.expect(201);
    assert_eq!(done.str("/refund/status"), "succeeded");
    assert_eq!(connected.providers.refunds().len(), 1);
    assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
}

#[tokio::test]
async fn an_unanswered_capture_is_recorded_when_repeated() {
    let connected = Connected::open_with("manual").await;
    for provider in ["razorpay", "stripe"] {
        let order = connected.order().await;
        let begun = connected.begin(provider, &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        match provider {
            "razorpay" => drop(connected.providers.pay_razorpay(&reference)),
            _ => connected.providers.pay_stripe(&reference),
        }
        let seen = connected.act(&id, "sync", json!({})).await.expect(200);
        assert_eq!(seen.str("/status"), "authorized");
        connected.providers.next([Trouble::DoneButLate]);
        let late = connected.act(&id, "capture", json!({})).await.expect(504);
        late.problem("provider_timeout");
        assert_eq!(connected.payment(&id).await.str("/status"), "authorized");
        // Asked again, the provider says that it was done.
        let captured = connected.act(&id, "capture", json!({})).await.expect(200);
        assert_eq!(captured.str("/status"), "captured");
        assert_eq!(connected.order_as_stored(&order).await["financial_status"], "paid");
    }
    assert_eq!(connected.announced().await, (2, 2));
}

#[tokio::test]
async fn late_and_duplicate_payments_are_refunded() {
    let connected = Connected::open().await;
    // Late: the order was cancelled, and its provider did not answer then.
    let order = connected.order().await;
    let begun = connected.begin("razorpay", &order).await.expect(201);
    let (reference, late) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    let paid = connected.providers.pay_razorpay(&reference);
    connected.gateway.advance(MINUTE * 31);
    connected.begin("stripe", &order).await.expect(409).problem("order_expired");
    connected.providers.next([Trouble::Hang]);
    let path = format!("/v1/orders/{}/cancel", order.id);
    connected.owner.post(&path).key(&unique("cancel")).json(json!({})).await.expect(200);
    assert_eq!(connected.order_as_stored(&order).await["status"], "cancelled");
    assert_eq!(connected.stock().await, (100, 0, 0));
    let webhook = connected.providers.razorpay_event("payment.captured", &paid);
    connected.hear(&webhook).await.expect(200);
    let shown = connected.payment(&late).await;
    assert_eq!(shown.str("/status"), "refunded");
    assert_eq!(connected.order_as_stored(&order).await["status"], "cancelled");
    assert_eq!(connected.stock().await, (100, 0, 0));
    assert_eq!(connected.announced().await, (1, 0));
    assert_eq!(connected.providers.refunds().len(), 1);

    // Twice: by two providers, of which the second does not answer when it is to give it back.
    let order = connected.order().await;
    let first = connected.begin("razorpay", &order).await.expect(201).str("/provider_order_id");
    let begun = connected.begin("stripe", &order).await.expect(201);
    let (intent, second) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
    let paid = connected.providers.pay_razorpay(&first);
    connected
        .hear(&connected.providers.razorpay_event("payment.captured", &paid))
        .await
        .expect(200);
    connected.providers.pay_stripe(&intent);
    let now = connected.gateway.now();
    let event = connected.providers.stripe_event("payment_intent.succeeded", &intent, now);
    connected.providers.next([Trouble::DoneButLate]);
    connected.hear(&event).await.expect(200);
    let shown = connected.payment(&second).await;
    assert_eq!(shown.str("/attention"), "duplicate_payment");
    assert_eq!(shown.str("/status"), "captured");
    connected.gateway.advance(MINUTE * 2);
    connected.gateway.sweep().await;
    assert_eq!(connected.payment(&second).await.str("/status"), "refunded");
    assert_eq!(connected.providers.refunds().len(), 2, "once each");
    let stored = connected.order_as_stored(&order).await;
    assert_eq!(stored["captured"]["amount"], 2 * PRICE);
    assert_eq!(stored["refunded"]["amount"], 0);
}
