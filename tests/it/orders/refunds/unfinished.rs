//! What was begun and left: refunds that nobody asks for again, promises that nobody takes, intents
//! of orders that are over. The sweep brings each to its end, once.

use support::clock::{DAY, MINUTE};
use support::{
    RAZORPAY_KEY_ID, RAZORPAY_SECRET, Trouble, WEBHOOK_SECRET, cart, deliver, inr, json,
};

use super::{begun, captured, verify, with_provider};

#[tokio::test]
async fn an_unfinished_refund_is_completed_by_the_sweep() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = captured(&market, &providers, &book).await;
    let path = format!("/v1/orders/{}/refund", placed.id);
    let refund = || market.owner.post(&path).key("left").json(json!({}));
    providers.next([Trouble::DoneButLate]);
    refund().await.expect(504).problem("provider_timeout");
    let status = || async { market.show(&placed.id).await.str("/refunds/0/status") };
    assert_eq!(market.gateway.sweep().await.payments, 0, "whoever began it has a minute");
    market.gateway.advance(MINUTE * 2);
    providers.next([Trouble::Hang]);
    assert_eq!(market.gateway.sweep().await.failures, 1);
    assert_eq!(market.gateway.sweep().await.failures, 0, "it is left alone for a while");
    assert_eq!(status().await, "pending");
    market.gateway.advance(MINUTE * 3);
    tokio::join!(market.gateway.sweep(), market.gateway.sweep());
    assert_eq!(status().await, "succeeded");
    // Who asks again is told.
    let told = refund().await.expect(201);
    assert_eq!(*told.at("/order/refunded_total"), inr(1_000));
    assert_eq!(providers.refunds().len(), 1);
    for event in ["refund.created", "refund.succeeded", "order.refunded", "payment.refunded"] {
        assert_eq!(market.gateway.events(event).await.len(), 1, "{event}");
    }
    market.gateway.advance(DAY);
    assert_eq!(market.gateway.sweep().await.payments, 0, "nothing is left to do");
}

#[tokio::test]
async fn a_refund_rejected_during_the_sweep_can_be_repeated() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = captured(&market, &providers, &book).await;
    providers.next([Trouble::Hang]);
    market.act(&placed.id, "refund", json!({})).await.expect(504);
    market.gateway.advance(MINUTE * 2);
    providers.next([Trouble::Reject(400, "charge_disputed")]);
    market.gateway.sweep().await;
    let shown = market.show(&placed.id).await;
    assert_eq!(*shown.at("/refunds/0/status"), json!("failed"));
    assert_eq!(*shown.at("/refundable"), inr(1_000));
    assert_eq!(market.gateway.events("refund.failed").await.len(), 1);
    market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(providers.refunds().len(), 1);
}

#[tokio::test]
async fn the_sweep_voids_an_unneeded_authorization() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let (placed, intent) = begun(&market, &book).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    providers.pay_stripe(&intent);
    let event = "payment_intent.amount_capturable_updated";
    let event = providers.stripe_event(event, &intent, market.gateway.now());
    providers.next([Trouble::Hang]);
    deliver(&event, &market.gateway.client(), &market.store.subdomain).await.expect(200);
    assert_eq!(providers.payment(&intent)["status"], "requires_capture");
    market.gateway.advance(MINUTE * 2);
    assert_eq!(market.gateway.sweep().await.payments, 1);
    assert_eq!(providers.payment(&intent)["status"], "canceled");
    assert_eq!(market.gateway.events("payment.voided").await.len(), 1);
    assert_eq!(market.show(&placed.id).await.str("/financial_status"), "paid");
    market.gateway.advance(DAY);
    assert_eq!(market.gateway.sweep().await.payments, 0);
}

#[tokio::test]
async fn an_unreported_payment_is_found_before_its_order_expires() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let (paid, intent) = begun(&market, &book).await;
    providers.pay_stripe(&intent);
    let (unpaid, open) = begun(&market, &book).await;
    let never = market.order(cart(&[(&book, 1)])).await;
    market.gateway.advance(MINUTE * 31);
    tokio::join!(market.gateway.sweep(), market.gateway.sweep());
    let shown = market.show(&paid.id).await;
    assert_eq!(
        (shown.str("/status"), shown.str("/financial_status")),
        ("open".into(), "authorized".into())
    );
    for order in [&unpaid, &never] {
        assert_eq!(market.show(&order.id).await.str("/status"), "expired");
    }
    assert_eq!(providers.payment(&open)["status"], "canceled");
    assert_eq!(market.levels(&book).await, [9, 0, 1, 10]);
    for (event, count) in [("order.authorized", 1), ("order.expired", 2), ("payment.voided", 1)] {
        assert_eq!(market.gateway.events(event).await.len(), count, "{event}");
    }
    market.gateway.advance(MINUTE * 2);
    market.gateway.sweep().await;
    market.gateway.advance(DAY);
    assert_eq!(market.gateway.sweep().await.orders, 0, "nothing is left to do");
}

#[tokio::test]
async fn an_unreachable_provider_delays_expiry_for_a_limited_time() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let (placed, intent) = begun(&market, &book).await;
    let status = || async { market.show(&placed.id).await.str("/status") };
    let version = market.show(&placed.id).await.etag();
    market.gateway.advance(MINUTE * 31);
    providers.next([Trouble::Hang]);
    assert_eq!(market.gateway.sweep().await.failures, 1);
    assert_eq!(market.gateway.sweep().await.failures, 0, "it is left alone for a while");
    assert_eq!((status().await, market.show(&placed.id).await.etag()), ("open".into(), version));
    market.gateway.advance(MINUTE * 30);
    providers.next([Trouble::Hang]);
    market.gateway.sweep().await;
    assert_eq!(status().await, "expired");
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
    assert_eq!(providers.payment(&intent)["status"], "requires_payment_method");
    // Nobody can pay for it once the provider is back.
    market.gateway.advance(MINUTE * 2);
    market.gateway.sweep().await;
    assert_eq!(providers.payment(&intent)["status"], "canceled");
    assert_eq!(market.gateway.events("order.expired").await.len(), 1);
}

#[tokio::test]
async fn cancelling_an_order_cancels_its_payments() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    // By its shopper, while it is open with the provider.
    let (placed, intent) = begun(&market, &book).await;
    let path = format!("{}/{}/cancel", market.orders_path(), placed.id);
    let input = market.gateway.client().post(&path).json(json!({}));
    input.header("x-service-order-token", &placed.token).await.expect(200);
    assert_eq!(providers.payment(&intent)["status"], "canceled");
    // By the merchant, while the provider does not answer.
    let (placed, intent) = begun(&market, &book).await;
    providers.pay_stripe(&intent);
    verify(&market, &placed, &intent).await;
    providers.next([Trouble::Hang]);
    let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(
        (done.str("/status"), done.str("/financial_status")),
        ("cancelled".into(), "voided".into())
    );
    assert_eq!(market.show(&placed.id).await.etag(), done.etag());
    assert_eq!(providers.payment(&intent)["status"], "requires_capture");
    market.gateway.advance(MINUTE * 3);
    market.gateway.sweep().await;
    assert_eq!(providers.payment(&intent)["status"], "canceled");
    assert_eq!(market.show(&placed.id).await.str("/financial_status"), "voided");
    assert_eq!(market.gateway.events("payment.voided").await.len(), 2);
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
}

#[tokio::test]
async fn a_disconnected_provider_does_not_block_other_payments_of_an_order() {
    let (market, providers) = with_provider().await;
    let fields = json!({"credentials": {
        "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET, "webhook_secret": WEBHOOK_SECRET,
    }});
    market.owner.put("/v1/payments/providers/razorpay").json(fields).await.expect(200);
    let book = market.stock(1_000, 10).await;
    let razorpay = format!("/v1/storefront/{}/payments/razorpay/order", market.store.subdomain);
    // Payments are asked for in no particular order.
    let mut paid = Vec::new();
    for _ in 0..3 {
        let (placed, _) = begun(&market, &book).await;
        let input = market.gateway.client().post(&razorpay).json(json!({"order_id": placed.id}));
        let other = input.header("x-service-order-token", &placed.token).await.expect(201);
        providers.pay_razorpay(&other.str("/provider_order_id"));
        paid.push(placed);
    }
    let (unpaid, intent) = begun(&market, &book).await;
    market.lose_account("stripe").await;
    market.gateway.advance(MINUTE * 31);
    let report = market.gateway.sweep().await;
    assert_eq!((report.orders, report.failures), (3, 1));
    for placed in &paid {
        let shown = market.show(&placed.id).await;
        let status = (shown.str("/status"), shown.str("/financial_status"));
        assert_eq!(status, ("open".into(), "paid".into()));
    }
    assert_eq!(market.show(&unpaid.id).await.str("/status"), "open", "it waits");
    market.gateway.advance(MINUTE * 30);
    market.gateway.sweep().await;
    assert_eq!(market.show(&unpaid.id).await.str("/status"), "expired", "but not for ever");
    assert_eq!(providers.payment(&intent)["status"], "requires_payment_method");
}

#[tokio::test]
async fn a_failing_refund_does_not_block_other_refunds_of_its_payment() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = captured(&market, &providers, &book).await;
    for amount in [100, 200] {
        providers.next([Trouble::Hang]);
        market.act(&placed.id, "refund", json!({"amount": inr(amount)})).await.expect(504);
    }
    market.gateway.advance(MINUTE * 3);
    providers.next([Trouble::Hang]);
    assert_eq!(market.gateway.sweep().await.failures, 1);
    assert_eq!(providers.refunds().len(), 1);
    market.gateway.advance(MINUTE * 5);
    market.gateway.sweep().await;
    assert_eq!(providers.refunds().len(), 2);
    assert_eq!(*market.show(&placed.id).await.at("/refundable"), inr(700));
}
