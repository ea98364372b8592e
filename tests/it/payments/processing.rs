//! Payments that their provider processes for days, as bank debits are.

use std::time::Duration;

use support::clock::{DAY, HOUR};
use support::{Reply, Value, json, unique};

use super::connected::{Connected, Order, PRICE};

/// How long an order waits for a payment that is processed.
const WINDOW: Duration = DAY.saturating_mul(14);

/// An order that its shopper pays by a debit: the payment, and the intent.
struct Debit {
    order: Order,
    payment: String,
    intent: String,
}

impl Debit {
    async fn of(connected: &Connected) -> Self {
        Self::begin(connected, connected.order().await).await
    }

    async fn begin(connected: &Connected, order: Order) -> Self {
        let begun = connected.begin("stripe", &order).await.expect(201);
        let intent = begun.str("/provider_order_id");
        connected.providers.debit_stripe(&intent);
        Self { order, payment: begun.str("/payment_id"), intent }
    }

    async fn hear(&self, connected: &Connected, kind: &'static str) {
        let event = connected.providers.stripe_event(kind, &self.intent, connected.gateway.now());
        connected.hear(&event).await.expect(200);
    }

    async fn order(&self, connected: &Connected) -> Reply {
        connected.owner.get(&format!("/v1/orders/{}", self.order.id)).await.expect(200)
    }

    /// The status of the payment, and the statuses of the order.
    async fn statuses(&self, connected: &Connected) -> [String; 3] {
        let payment = connected.payment(&self.payment).await;
        let order = self.order(connected).await;
        [payment.str("/status"), order.str("/status"), order.str("/financial_status")]
    }
}

#[tokio::test]
async fn an_order_waits_for_a_processing_bank_debit() {
    let mut connected = Connected::open().await;
    let debit = Debit::of(&connected).await;
    debit.hear(&connected, "payment_intent.processing").await;
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    assert_eq!(connected.gateway.events("payment.processing").await.len(), 1);
    // It is shown to the shopper, and neither paid twice nor cancelled.
    let path = format!("/v1/storefront/{}/orders/{}", connected.store.subdomain, debit.order.id);
    let client = connected.gateway.client();
    let shown =
        client.get(&path).header("x-service-order-token", &debit.order.token).await.expect(200);
    assert_eq!(shown.str("/financial_status"), "processing");
    let again = connected.begin("stripe", &debit.order).await.expect(409);
    let again = again.problem("invalid_state_transition");
    assert_eq!(again.str("/financial_status"), "processing");
    let at_store = |action: &str| format!("/v1/orders/{}/{action}", debit.order.id);
    for action in ["cancel", "mark-paid"] {
        let rejected = connected
            .owner
            .post(&at_store(action))
            .key(&unique(action))
            .json(json!({}))
            .await
            .expect(409);
        rejected.problem("invalid_state_transition");
    }
    // A charge that is pending, and the same news again, change nothing.
    debit.hear(&connected, "charge.pending").await;
    debit.hear(&connected, "payment_intent.processing").await;
    connected.act(&debit.payment, "sync", json!({})).await.expect(200);
    assert_eq!(connected.gateway.events("payment.processing").await.len(), 1);
    connected.wait(DAY * 5).await;
    connected.gateway.sweep().await;
    assert_eq!(connected.stock().await, (98, 2, 0), "its units are not sold again");
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    connected.providers.end_stripe_debit(&debit.intent, true);
    debit.hear(&connected, "payment_intent.succeeded").await;
    assert_eq!(debit.statuses(&connected).await, ["captured", "open", "paid"]);
    let payment = connected.payment(&debit.payment).await;
    assert_eq!(
        (payment.int("/captured/amount"), payment.at("/attention")),
        (PRICE * 2, &Value::Null)
    );
    assert_eq!(connected.stock().await, (98, 0, 2));
    assert_eq!(connected.announced().await, (1, 1));
}

#[tokio::test]
async fn a_returned_bank_debit_lets_the_shopper_pay_again() {
    let mut connected = Connected::open().await;
    connected.merchant.prove(&connected.gateway).await;
    let debit = Debit::of(&connected).await;
    debit.hear(&connected, "payment_intent.processing").await;
    connected.wait(DAY * 3).await;
    connected.providers.end_stripe_debit(&debit.intent, false);
    debit.hear(&connected, "payment_intent.payment_failed").await;
    assert_eq!(debit.statuses(&connected).await, ["failed", "open", "failed"]);
    // Stripe's events may arrive in any order.
    let late =
        connected.providers.stripe_event("charge.failed", &debit.intent, connected.gateway.now());
    connected.hear(&late).await.expect(200);
    assert_eq!(debit.statuses(&connected).await, ["failed", "open", "failed"]);
    // The shopper pays by card, within the usual window.
    let begun = connected.begin("stripe", &debit.order).await.expect(201);
    assert_eq!(begun.str("/payment_id"), debit.payment);
    connected.providers.pay_stripe(&debit.intent);
    connected.act(&debit.payment, "sync", json!({})).await.expect(200);
    assert_eq!(debit.statuses(&connected).await, ["captured", "open", "paid"]);
    // It was confirmed once: when the debit was on its way.
    let mailbox = connected.gateway.mailbox(&debit.order(&connected).await.str("/email"));
    mailbox.nth(1).await;
    connected.gateway.quiet().await;
    assert_eq!(mailbox.mails().len(), 1);
    // Another order whose debit came back ends as unpaid ones do.
    let unpaid = Debit::of(&connected).await;
    let (kind, now) = ("payment_intent.processing", connected.gateway.now());
    let outdated = connected.providers.stripe_event(kind, &unpaid.intent, now);
    unpaid.hear(&connected, kind).await;
    connected.providers.end_stripe_debit(&unpaid.intent, false);
    unpaid.hear(&connected, "payment_intent.payment_failed").await;
    connected.hear(&outdated).await.expect(200);
    assert_eq!(unpaid.statuses(&connected).await, ["failed", "open", "failed"]);
    connected.wait(HOUR).await;
    connected.gateway.sweep().await;
    assert_eq!(unpaid.statuses(&connected).await, ["voided", "expired", "expired"]);
}

#[tokio::test]
async fn an_unreported_bank_debit_is_found_before_its_order_expires() {
    let mut connected = Connected::open().await;
    let debit = Debit::of(&connected).await;
    connected.wait(HOUR).await;
    connected.gateway.sweep().await;
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    // Its bank takes longer than it should: the order waits on, and the provider is asked once a day.
    connected.wait(WINDOW + HOUR).await;
    connected.gateway.sweep().await;
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    connected.providers.end_stripe_debit(&debit.intent, true);
    connected.wait(HOUR).await;
    connected.gateway.sweep().await;
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    connected.wait(DAY).await;
    connected.gateway.sweep().await;
    assert_eq!(debit.statuses(&connected).await, ["captured", "open", "paid"]);
    assert_eq!(connected.announced().await, (1, 1));
}

#[tokio::test]
async fn a_bank_debit_paid_after_its_order_ended_is_refunded() {
    let mut connected = Connected::open().await;
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let (payment, intent) = (begun.str("/payment_id"), begun.str("/provider_order_id"));
    connected.providers.debit_stripe(&intent);
    // The store has not heard of it yet.
    let path = format!("/v1/orders/{}/cancel", order.id);
    connected.owner.post(&path).key(&unique("cancel")).json(json!({})).await.expect(200);
    let debit = Debit { order, payment, intent };
    assert_eq!(debit.order(&connected).await.str("/status"), "cancelled");
    connected.providers.end_stripe_debit(&debit.intent, true);
    connected.wait(DAY).await;
    connected.gateway.sweep().await;
    let payment = connected.payment(&debit.payment).await;
    assert_eq!(payment.int("/refunded/amount"), PRICE * 2, "{}", payment.text);
    let attempts = payment.at("/attempts").as_array().unwrap();
    let last = attempts.last().unwrap();
    assert_eq!((&last["action"], &last["source"]), (&json!("refund"), &json!("automatic")));
    // The order says what became of the money.
    let order = debit.order(&connected).await;
    assert_eq!(
        (order.str("/status"), order.str("/financial_status")),
        ("cancelled".into(), "refunded".into())
    );
    let unapplied = order.at("/unapplied_payments");
    assert_eq!(unapplied[0]["payment_id"], json!(debit.payment));
    assert_eq!(unapplied[0]["refunded"]["amount"], json!(PRICE * 2));
    assert_eq!(order.int("/captured_total/amount"), 0);
    let path = format!("/v1/orders/{}/refunds", debit.order.id);
    let refunds = connected.owner.get(&path).await.expect(200);
    let refund = refunds.data()[0].clone();
    assert_eq!((refunds.data().len(), &refund), (1, &order.at("/refunds")[0]));
    assert_eq!(
        (&refund["status"], &refund["amount"]["amount"]),
        (&json!("succeeded"), &json!(PRICE * 2))
    );
    assert_eq!(refund["transactions"][0]["payment_id"], json!(debit.payment));
    let shown = connected.owner.get(&format!("{path}/{}", refund["id"].as_str().unwrap())).await;
    assert_eq!(shown.expect(200).json, refund);
}

#[tokio::test]
async fn the_sweep_updates_the_bank_debit_of_an_order_without_expiry() {
    let mut connected = Connected::open().await;
    let order = connected.order().await;
    let path = format!("/v1/orders/{}/confirm", order.id);
    connected.owner.post(&path).key(&unique("confirm")).json(json!({})).await.expect(200);
    let debit = Debit::begin(&connected, order).await;
    debit.hear(&connected, "payment_intent.processing").await;
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    connected.providers.end_stripe_debit(&debit.intent, true);
    connected.wait(DAY + HOUR).await;
    connected.gateway.sweep().await;
    assert_eq!(debit.statuses(&connected).await, ["captured", "open", "paid"]);
    assert_eq!(connected.announced().await, (1, 1));
}

#[tokio::test]
async fn a_late_failure_of_an_earlier_attempt_does_not_fail_a_bank_debit() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let begun = connected.begin("stripe", &order).await.expect(201);
    let intent = begun.str("/provider_order_id");
    connected.providers.decline_stripe(&intent);
    let (kind, now) = ("payment_intent.payment_failed", connected.gateway.now());
    let late = connected.providers.stripe_event(kind, &intent, now);
    connected.providers.debit_stripe(&intent);
    let debit = Debit { order, payment: begun.str("/payment_id"), intent };
    debit.hear(&connected, "payment_intent.processing").await;
    connected.hear(&late).await.expect(200);
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    connected.providers.end_stripe_debit(&debit.intent, false);
    debit.hear(&connected, kind).await;
    assert_eq!(debit.statuses(&connected).await, ["failed", "open", "failed"]);
}

#[tokio::test]
async fn a_store_with_a_processing_bank_debit_is_not_deleted() {
    let mut connected = Connected::open().await;
    let debit = Debit::of(&connected).await;
    debit.hear(&connected, "payment_intent.processing").await;
    connected.wait(DAY * 3).await;
    let path = format!("/v1/stores/{}", connected.store.id);
    let delete = || {
        let confirm = json!({"confirm": connected.store.subdomain});
        connected.owner.delete(&path).json(confirm)
    };
    let rejected = delete().await.expect(409).problem("open_orders");
    assert_eq!(rejected.int("/open_orders"), 1);
    connected.providers.end_stripe_debit(&debit.intent, false);
    debit.hear(&connected, "payment_intent.payment_failed").await;
    connected.wait(HOUR).await;
    connected.gateway.sweep().await;
    let path = format!("/v1/stores/{}", connected.store.id);
    let confirm = json!({"confirm": connected.store.subdomain});
    connected.owner.delete(&path).json(confirm).await.expect(202);
}

#[tokio::test]
async fn an_unreported_bank_debit_failure_lets_the_shopper_pay_again() {
    let mut connected = Connected::open().await;
    let debit = Debit::of(&connected).await;
    debit.hear(&connected, "payment_intent.processing").await;
    connected.providers.end_stripe_debit(&debit.intent, false);
    connected.wait(DAY + HOUR).await;
    connected.gateway.sweep().await;
    assert_eq!(debit.statuses(&connected).await, ["failed", "open", "failed"]);
    let begun = connected.begin("stripe", &debit.order).await.expect(201);
    assert_eq!(begun.str("/payment_id"), debit.payment);
}

#[tokio::test]
async fn voiding_an_unreported_bank_debit_is_rejected_and_records_it() {
    let connected = Connected::open().await;
    let debit = Debit::of(&connected).await;
    let rejected = connected.act(&debit.payment, "void", json!({})).await.expect(409);
    let rejected = rejected.problem("invalid_state_transition");
    assert_eq!(rejected.str("/current"), "processing");
    assert_eq!(debit.statuses(&connected).await, ["processing", "open", "processing"]);
    connected.providers.end_stripe_debit(&debit.intent, true);
    debit.hear(&connected, "payment_intent.succeeded").await;
    assert_eq!(debit.statuses(&connected).await, ["captured", "open", "paid"]);
}
