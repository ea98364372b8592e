//! Money that has gone back before anybody was told that it had come, and money of other payments
//! for the same provider's order.

use support::clock::MINUTE;
use support::{Providers, Value, WEBHOOK_SECRET, Webhook, json};

use super::connected::{Connected, Order, PRICE};

/// The ways in which a store learns what has become of a payment.
const WAYS: [&str; 4] = ["webhook", "verify", "sync", "sweep"];

/// A payment that the shopper has begun.
struct Begun {
    order: Order,
    id: String,
    reference: String,
}

impl Connected {
    async fn begun(&self, provider: &str) -> Begun {
        let order = self.order().await;
        let begun = self.begin(provider, &order).await.expect(201);
        let (id, reference) = (begun.str("/payment_id"), begun.str("/provider_order_id"));
        Begun { order, id, reference }
    }

    /// The store learns what has become of a payment, and of what carries its money.
    async fn learn(&self, way: &str, provider: &str, begun: &Begun, carrier: &str) {
        let Begun { order, id, reference } = begun;
        match (way, provider) {
            ("webhook", "razorpay") => self.tell_refund("refund.processed", carrier).await,
            ("webhook", _) => self.tell_refund("charge.refunded", carrier).await,
            ("verify", "razorpay") => {
                let fields = Providers::razorpay_return(&order.id, reference, carrier);
                drop(self.verify(provider, fields).await.expect(200));
            }
            ("verify", _) => {
                let fields = json!({"order_id": order.id, "payment_intent": reference});
                drop(self.verify(provider, fields).await.expect(200));
            }
            ("sync", _) => drop(self.act(id, "sync", json!({})).await.expect(200)),
            _ => {
                self.gateway.advance(MINUTE * 31);
                self.gateway.sweep().await;
            }
        }
    }

    async fn told(&self, names: &[&str]) -> Vec<usize> {
        let mut counts = Vec::new();
        for name in names {
            counts.push(self.gateway.events(name).await.len());
        }
        counts
    }
}

#[tokio::test]
async fn a_capture_and_its_external_refunds_are_recorded_together() {
    let names = [
        "payment.captured",
        "payment.refunded",
        "order.paid",
        "refund.succeeded",
        "order.refunded",
    ];
    let connected = Connected::open().await;
    for (round, way) in WAYS.into_iter().enumerate() {
        for (turn, provider) in ["razorpay", "stripe"].into_iter().enumerate() {
            let begun = connected.begun(provider).await;
            let carrier = if provider == "razorpay" {
                connected.providers.pay_razorpay(&begun.reference)
            } else {
                connected.providers.pay_stripe(&begun.reference);
                begun.reference.clone()
            };
            // Two refunds on the provider's dashboard, and nobody has said a word.
            connected.providers.refund_on_dashboard(&carrier, 300).expect("a refund");
            connected.providers.refund_on_dashboard(&carrier, 200).expect("a refund");
            connected.learn(way, provider, &begun, &carrier).await;
            let known = connected.payment(&begun.id).await;
            let place = format!("{provider} by {way}: {}", known.text);
            assert_eq!(known.str("/status"), "partially_refunded", "{place}");
            assert_eq!(known.int("/captured/amount"), 2 * PRICE, "{place}");
            assert_eq!(known.int("/refunded/amount"), 500, "{place}");
            let stored = connected.order_as_stored(&begun.order).await;
            assert_eq!(stored["financial_status"], "partially_refunded", "{place}");
            assert_eq!(stored["captured"]["amount"], 2 * PRICE, "{place}");
            assert_eq!(stored["refunded"]["amount"], 500, "{place}");
            let refunds = format!("/v1/orders/{}/refunds", begun.order.id);
            assert_eq!(connected.owner.get(&refunds).await.expect(200).data().len(), 1, "{place}");
            let times = round * 2 + turn + 1;
            assert_eq!(connected.told(&names).await, vec![times; 5], "{place}");
            // Told again, it is no news.
            for way in ["webhook", "verify", "sync"] {
                connected.learn(way, provider, &begun, &carrier).await;
            }
            assert_eq!(connected.told(&names).await, vec![times; 5], "{place}");
        }
    }
}

#[tokio::test]
async fn a_refund_of_more_than_its_provider_has_left_records_what_is_left() {
    let connected = Connected::open().await;
    for provider in ["razorpay", "stripe"] {
        for way in ["orders", "payments", "cancel"] {
            let order = connected.order().await;
            let (id, carrier) = connected.paid(provider, &order).await;
            connected.providers.refund_on_dashboard(&carrier, 300).expect("a refund");
            let path = match way {
                "payments" => format!("/v1/payments/{id}/refunds"),
                "orders" => format!("/v1/orders/{}/refund", order.id),
                _ => format!("/v1/orders/{}/cancel", order.id),
            };
            let request = || connected.owner.post(&path).key("all").json(json!({}));
            let rejected = request().await.expect(409);
            assert_eq!(rejected.int("/refundable/amount"), 2 * PRICE - 300, "{provider}");
            assert!(rejected.str("/refund_id").starts_with("ref_"), "{}", rejected.text);
            assert_eq!(request().await.expect(409).text, rejected.text);
            rejected.problem("refund_exceeds_captured");
            let stored = connected.order_as_stored(&order).await;
            assert_eq!(stored["refunded"]["amount"], 300, "{provider}: {way}");
            assert_eq!(stored["status"] == "cancelled", way == "cancel", "{provider}");
            let path = format!("/v1/orders/{}/refund", order.id);
            let request = connected.owner.post(&path).key("rest").json(json!({}));
            let done = request.await.expect(201);
            assert_eq!(done.int("/refund/amount/amount"), 2 * PRICE - 300, "{provider}: {way}");
            assert_eq!(connected.payment(&id).await.str("/status"), "refunded");
        }
    }
}

#[tokio::test]
async fn an_unreported_and_fully_refunded_capture_is_recorded_as_refunded() {
    let connected = Connected::open().await;
    for (provider, way) in [("razorpay", "webhook"), ("stripe", "webhook"), ("razorpay", "sync")] {
        let begun = connected.begun(provider).await;
        let carrier = if provider == "razorpay" {
            connected.providers.pay_razorpay(&begun.reference)
        } else {
            connected.providers.pay_stripe(&begun.reference);
            begun.reference.clone()
        };
        connected.providers.refund_on_dashboard(&carrier, 2 * PRICE).expect("a refund");
        connected.learn(way, provider, &begun, &carrier).await;
        assert_eq!(connected.payment(&begun.id).await.str("/status"), "refunded", "{provider}");
        let stored = connected.order_as_stored(&begun.order).await;
        assert_eq!(stored["financial_status"], "refunded", "{provider}");
    }
    // Late money that has gone back already is no more to be done about.
    let begun = connected.begun("razorpay").await;
    let path = format!("/v1/orders/{}/cancel", begun.order.id);
    connected.owner.post(&path).key("cancel").json(json!({})).await.expect(200);
    let paid = connected.providers.pay_razorpay(&begun.reference);
    connected.providers.refund_on_dashboard(&paid, 2 * PRICE).expect("a refund");
    let before = connected.providers.refunds().len();
    connected.learn("webhook", "razorpay", &begun, &paid).await;
    let known = connected.payment(&begun.id).await;
    assert_eq!((known.str("/status"), known.at("/attention")), ("refunded".into(), &json!(null)));
    assert_eq!(connected.providers.refunds().len(), before);
}

#[tokio::test]
async fn a_razorpay_payment_refunded_before_capture_is_voided() {
    for capture in ["automatic", "manual"] {
        for way in WAYS {
            let connected = Connected::open_with(capture).await;
            let begun = connected.begun("razorpay").await;
            // Authorized too late, or never captured: it goes back by itself.
            let paid = if capture == "manual" {
                let paid = connected.providers.pay_razorpay(&begun.reference);
                connected.providers.lapse_payment(&paid).expect("it lapses");
                paid
            } else {
                let gone =
                    connected.providers.pay_order_again(&begun.reference).expect("it goes back");
                gone["id"].as_str().unwrap().to_owned()
            };
            assert_eq!(connected.providers.payment(&paid)["status"], "refunded");
            assert_eq!(connected.providers.payment(&paid)["captured"], false);
            connected.learn(way, "razorpay", &begun, &paid).await;
            let known = connected.payment(&begun.id).await;
            assert_eq!(known.str("/status"), "voided", "{capture} by {way}: {}", known.text);
            assert_eq!(known.int("/captured/amount"), 0);
            assert_eq!(connected.announced().await, (0, 0), "{capture} by {way}");
            let stored = connected.order_as_stored(&begun.order).await;
            let (status, stock) = match way {
                "sweep" => ("expired", (100, 0, 0)),
                _ => ("pending", (98, 2, 0)),
            };
            assert_eq!(stored["financial_status"], status, "{capture} by {way}");
            assert_eq!(connected.stock().await, stock);
            assert!(connected.gateway.events("refund.succeeded").await.is_empty());
            if way != "sweep" {
                // The shopper pays after all.
                let (id, _) = connected.paid("stripe", &begun.order).await;
                let paid = connected.payment(&id).await.str("/status");
                assert_eq!(paid, if capture == "manual" { "authorized" } else { "captured" });
            }
        }
    }
}

#[tokio::test]
async fn a_lapsed_razorpay_authorization_commits_no_stock() {
    for way in ["webhook", "sync"] {
        let connected = Connected::open_with("manual").await;
        let begun = connected.begun("razorpay").await;
        let paid = connected.providers.pay_razorpay(&begun.reference);
        connected.act(&begun.id, "sync", json!({})).await.expect(200);
        assert_eq!(connected.stock().await, (98, 0, 2));
        connected.providers.lapse_payment(&paid).expect("it lapses");
        connected.learn(way, "razorpay", &begun, &paid).await;
        assert_eq!(connected.payment(&begun.id).await.str("/status"), "voided", "{way}");
        assert_eq!(connected.stock().await, (98, 2, 0), "{way}");
    }
}

/// Razorpay's event about a payment, with its payment changed.
fn altered(event: &Webhook, change: impl FnOnce(&mut Value)) -> Webhook {
    let mut body: Value = serde_json::from_slice(&event.body).unwrap();
    change(&mut body);
    let body = body.to_string().into_bytes();
    Webhook::razorpay(body, &support::unique("evt"), WEBHOOK_SECRET)
}

#[tokio::test]
async fn a_second_payment_of_a_razorpay_order_does_not_affect_the_first() {
    let connected = Connected::open().await;
    for is_known in [true, false] {
        let begun = connected.begun("razorpay").await;
        let paid = connected.providers.pay_razorpay(&begun.reference);
        if is_known {
            connected.act(&begun.id, "sync", json!({})).await.expect(200);
        }
        connected.gateway.advance(MINUTE);
        let second = connected.providers.pay_order_again(&begun.reference).expect("it goes back");
        let second = second["id"].as_str().unwrap().to_owned();
        for kind in ["payment.authorized", "refund.created", "refund.processed"] {
            connected.hear(&connected.providers.razorpay_event(kind, &second)).await.expect(200);
        }
        // As Razorpay tells it where it had captured the second one for a moment.
        let event = connected.providers.razorpay_event("refund.processed", &second);
        let taken = altered(&event, |body| {
            body["payload"]["payment"]["entity"]["captured"] = true.into();
        });
        connected.hear(&taken).await.expect(200);
        let part = altered(&event, |body| {
            let payment = &mut body["payload"]["payment"]["entity"];
            payment["captured"] = true.into();
            payment["status"] = "captured".into();
            payment["amount_refunded"] = 500.into();
        });
        if is_known {
            connected.hear(&part).await.expect(200);
        }
        // The shopper comes back from the second one.
        let fields = Providers::razorpay_return(&begun.order.id, &begun.reference, &second);
        let verified = connected.verify("razorpay", fields).await.expect(200);
        assert_eq!(verified.str("/payment/status"), "captured", "{is_known}");
        let synced = connected.act(&begun.id, "sync", json!({})).await.expect(200);
        assert_eq!(synced.str("/status"), "captured");
        assert_eq!(synced.str("/provider_payment"), paid);
        assert_eq!(synced.int("/refunded/amount"), 0);
        let stored = connected.order_as_stored(&begun.order).await;
        assert_eq!(stored["financial_status"], "paid", "{is_known}");
        assert_eq!(stored["refunded"]["amount"], 0);
    }
    assert_eq!(connected.announced().await, (2, 2));
    assert!(connected.gateway.events("payment.refunded").await.is_empty());
}

#[tokio::test]
async fn only_the_succeeded_charge_of_an_intent_counts() {
    let connected = Connected::open().await;
    let begun = connected.begun("stripe").await;
    let now = connected.gateway.now();
    connected.providers.decline_stripe(&begun.reference);
    let declined = connected.providers.stripe_event("charge.failed", &begun.reference, now);
    connected.hear(&declined).await.expect(200);
    let forge = |kind: &'static str, change: &dyn Fn(&mut Value)| {
        let event = connected.providers.stripe_event(kind, &begun.reference, now);
        let mut body: Value = serde_json::from_slice(&event.body).unwrap();
        body["id"] = support::unique("evt").into();
        change(&mut body["data"]["object"]);
        Webhook::stripe(body.to_string().into_bytes(), now.seconds(), WEBHOOK_SECRET)
    };
    // A bank debit is captured while it is pending, and may fail yet.
    for status in ["pending", "failed"] {
        let webhook = forge("charge.updated", &|charge| {
            charge["captured"] = true.into();
            charge["amount_captured"] = charge["amount"].clone();
            charge["status"] = status.into();
        });
        connected.hear(&webhook).await.expect(200);
    }
    assert_eq!(connected.announced().await, (0, 0));
    connected.providers.pay_stripe(&begun.reference);
    connected.act(&begun.id, "sync", json!({})).await.expect(200);
    // What goes back of another charge of the intent is not what was taken by this one.
    let other = forge("charge.refunded", &|charge| {
        charge["id"] = "ch_of_an_earlier_attempt".into();
        charge["amount_refunded"] = charge["amount"].clone();
        charge["refunded"] = true.into();
    });
    connected.hear(&other).await.expect(200);
    let known = connected.payment(&begun.id).await;
    assert_eq!((known.str("/status"), known.int("/refunded/amount")), ("captured".into(), 0));
    assert_eq!(connected.order_as_stored(&begun.order).await["financial_status"], "paid");
    assert_eq!(connected.announced().await, (1, 1));
}
