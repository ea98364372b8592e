//! Disputes: the reports of a provider about a payment, from any source and in any order.

mod polling;

use std::time::Duration;

use support::{Merchant, NewDispute, Reply, Trouble, Verdict, Webhook, json, unique};

use super::connected::{Connected, Order, PRICE, razorpay, stripe};

const PROVIDERS: [&str; 2] = ["razorpay", "stripe"];
const PAID: i64 = 2 * PRICE;

/// The provider's name of an event of a dispute.
fn kind(dispute: &str, what: &str) -> &'static str {
    match (dispute.starts_with("disp_"), what) {
        (true, "created") => "payment.dispute.created",
        (true, "reviewed") => "payment.dispute.under_review",
        (true, "asked") => "payment.dispute.action_required",
        (true, "won") => "payment.dispute.won",
        (true, "lost") => "payment.dispute.lost",
        (true, _) => "payment.dispute.closed",
        (false, "created") => "charge.dispute.created",
        (false, "reviewed" | "asked") => "charge.dispute.updated",
        (false, _) => "charge.dispute.closed",
    }
}

fn part(amount: i64) -> NewDispute {
    NewDispute { amount: Some(amount), ..NewDispute::default() }
}

impl Connected {
    /// The provider's webhook about a dispute, with its current state.
    pub fn telling(&self, what: &str, dispute: &str) -> Webhook {
        self.providers.disputed(kind(dispute, what), dispute, self.gateway.now())
    }

    pub async fn tell(&self, what: &str, dispute: &str) {
        self.hear(&self.telling(what, dispute)).await.expect(200);
    }

    pub async fn disputes(&self, query: &str) -> Reply {
        self.owner.get(&format!("/v1/payments/disputes{query}")).await.expect(200)
    }

    /// A payment that is disputed, as the store knows: its id, the order, the provider's id of the
    /// dispute, and ours.
    pub async fn disputed(&self, provider: &str) -> (String, Order, String, String) {
        let order = self.order().await;
        let (id, carrier) = self.paid(provider, &order).await;
        let dispute = self.providers.dispute(&carrier, &NewDispute::default());
        self.tell("created", &dispute).await;
        let known = self.disputes(&format!("?payment_id={id}")).await;
        (id, order, dispute, known.str("/data/0/id"))
    }

    async fn order_view(&self, order: &Order) -> Reply {
        self.owner.get(&format!("/v1/orders/{}", order.id)).await.expect(200)
    }

    async fn counted(&self, names: &[&str]) -> Vec<usize> {
        let mut counts = Vec::new();
        for name in names {
            counts.push(self.gateway.events(&format!("dispute.{name}")).await.len());
        }
        counts
    }

    async fn give_back(&self, payment: &str, amount: i64) -> Reply {
        let amount = json!({"amount": {"amount": amount, "currency": "INR"}});
        self.act(payment, "refunds", amount).await
    }
}

/// The disputed and the refundable amount of a payment.
fn sums(payment: &Reply) -> (i64, i64) {
    (payment.int("/disputed/amount"), payment.int("/refundable/amount"))
}

#[tokio::test]
async fn a_dispute_holds_its_amount_until_it_is_won() {
    let connected = Connected::open().await;
    for (round, provider) in PROVIDERS.into_iter().enumerate() {
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        let dispute = connected.providers.dispute(&carrier, &NewDispute::default());
        let told = connected.telling("created", &dispute);
        for _ in 0..2 {
            connected.hear(&told).await.expect(200);
        }
        connected.tell("created", &dispute).await;
        assert_eq!(connected.counted(&["created", "updated"]).await, [round + 1, 0], "{provider}");

        let listed = connected.disputes(&format!("?payment_id={id}")).await;
        assert_eq!(listed.data().len(), 1);
        let path = format!("/v1/payments/disputes/{}", listed.str("/data/0/id"));
        let shown = connected.owner.get(&path).await.expect(200);
        assert_eq!(shown.json, listed.data()[0]);
        assert_eq!(shown.str("/payment_id"), id);
        assert_eq!(shown.str("/order_id"), order.id);
        assert_eq!(shown.str("/provider_reference"), dispute);
        assert_eq!(
            (shown.str("/type"), shown.str("/status")),
            ("chargeback".into(), "needs_response".into())
        );
        assert_eq!((shown.int("/amount/amount"), shown.int("/held/amount")), (PAID, PAID));
        assert_eq!(shown.at("/allowed_actions"), &json!(["submit_evidence"]));
        assert!(
            shown.at("/due_by").is_string() && !shown.str("/reason").is_empty(),
            "{}",
            shown.text
        );

        let payment = connected.payment(&id).await;
        assert_eq!(sums(&payment), (PAID, 0), "{provider}");
        assert_eq!(payment.str("/status"), "captured");
        let on_order = connected.order_view(&order).await;
        assert_eq!(on_order.str("/financial_status"), "paid", "a dispute is no refund");
        assert_eq!(on_order.int("/disputed_total/amount"), PAID);
        assert_eq!(on_order.int("/payments/0/disputed/amount"), PAID);
        assert_eq!(on_order.int("/refundable/amount"), 0);
        let rejected = connected.give_back(&id, 1).await.expect(409);
        assert_eq!(rejected.int("/disputed/amount"), PAID);
        rejected.problem("payment_disputed");
        let refund = format!("/v1/orders/{}/refund", order.id);
        let whole = connected.owner.post(&refund).key(&unique("refund")).json(json!({})).await;
        assert!(
            ["invalid_state_transition", "payment_disputed"]
                .contains(&whole.expect(409).str("/code").as_str())
        );
        assert_eq!(connected.providers.refunds().len(), round, "nobody was asked");

        connected.providers.validate(&dispute, Verdict::Win);
        connected.tell("won", &dispute).await;
        let over = connected.owner.get(&path).await.expect(200);
        assert_eq!((over.str("/status"), over.int("/held/amount")), ("won".into(), 0));
        assert!(over.at("/closed_at").is_string());
        assert_eq!(over.at("/allowed_actions"), &json!([]));
        assert_eq!(sums(&connected.payment(&id).await), (0, PAID));
        assert_eq!(connected.order_view(&order).await.int("/disputed_total/amount"), 0);
        connected.give_back(&id, PAID).await.expect(201);
        assert_eq!(connected.order_view(&order).await.str("/financial_status"), "refunded");
        let counts = connected.counted(&["created", "updated", "won", "lost", "closed"]).await;
        assert_eq!(counts, [round + 1, 0, round + 1, 0, 0], "{provider}");
    }
}

#[tokio::test]
async fn a_lost_dispute_reduces_the_refundable_amount() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let (id, carrier) = connected.paid("razorpay", &order).await;
    let dispute = connected.providers.dispute(&carrier, &part(500));
    connected.tell("created", &dispute).await;
    assert_eq!(sums(&connected.payment(&id).await), (500, PAID - 500));
    connected.give_back(&id, 300).await.expect(201);
    connected.give_back(&id, PAID - 300).await.expect(409).problem("payment_disputed");
    connected.give_back(&id, PAID).await.expect(409).problem("refund_exceeds_captured");
    connected.providers.validate(&dispute, Verdict::Lose);
    connected.tell("lost", &dispute).await;
    assert_eq!(sums(&connected.payment(&id).await), (500, PAID - 800));
    assert_eq!(connected.counted(&["lost"]).await, [1]);
    // Cancelled, the order gives back what there is.
    let cancel = format!("/v1/orders/{}/cancel", order.id);
    let cancelled = connected.owner.post(&cancel).key("cancel").json(json!({})).await.expect(200);
    assert_eq!(cancelled.int("/refunded_total/amount"), PAID - 500, "{}", cancelled.text);
    let shown = connected.order_view(&order).await;
    assert_eq!(shown.str("/financial_status"), "partially_refunded");
    assert_eq!((shown.int("/disputed_total/amount"), shown.int("/refundable/amount")), (500, 0));
    assert_eq!(sums(&connected.payment(&id).await), (500, 0));
}

#[tokio::test]
async fn dispute_webhooks_are_applied_in_any_order() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        for turns in orders {
            let order = connected.order().await;
            let (id, carrier) = connected.paid(provider, &order).await;
            let dispute = connected.providers.dispute(&carrier, &NewDispute::default());
            let created = connected.telling("created", &dispute);
            connected.gateway.advance(Duration::from_secs(2));
            connected.providers.validate(&dispute, Verdict::Lose);
            let lost = connected.telling("lost", &dispute);
            // The bank has thought better of it.
            connected.gateway.advance(Duration::from_secs(2));
            connected.providers.validate(&dispute, Verdict::Win);
            let won = connected.telling("won", &dispute);
            let told = [created, lost, won];
            for turn in turns.into_iter().chain(turns) {
                connected.hear(&told[turn]).await.expect(200);
            }
            let known = connected.disputes(&format!("?payment_id={id}")).await;
            assert_eq!(known.str("/data/0/status"), "won", "{provider} {turns:?}");
            assert_eq!(sums(&connected.payment(&id).await), (0, PAID), "{provider} {turns:?}");
            assert_eq!(connected.order_view(&order).await.int("/disputed_total/amount"), 0);
        }
    }
    assert_eq!(connected.counted(&["created", "won"]).await, [12, 12]);
}

#[tokio::test]
async fn disputes_of_other_payments_or_currencies_hold_nothing() {
    for provider in PROVIDERS {
        let connected = Connected::open().await;
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        // Another store's account is told.
        let other = Merchant::sign_up(&connected.gateway).await;
        let store = other.open_store().await;
        let keys = if provider == "razorpay" { razorpay() } else { stripe() };
        let path = format!("/v1/payments/providers/{provider}");
        other.at(&store).put(&path).json(keys).await.expect(200);
        let dispute = connected.providers.dispute(&carrier, &NewDispute::default());
        let told = connected.telling("created", &dispute);
        support::deliver(&told, &connected.gateway.client(), &store.subdomain).await.expect(200);
        assert!(other.at(&store).get("/v1/payments/disputes").await.expect(200).data().is_empty());
        assert_eq!(sums(&connected.payment(&id).await), (0, PAID), "{provider}");
        // Nobody knows the payment.
        let mut body: support::Value = serde_json::from_slice(&told.body).unwrap();
        let text = body.to_string().replace("order_", "order_X").replace("pi_", "pi_X");
        body = serde_json::from_str(&text).unwrap();
        let body = body.to_string().into_bytes();
        let unknown = match provider {
            "razorpay" => Webhook::razorpay(body, &unique("evt"), support::WEBHOOK_SECRET),
            _ => Webhook::stripe(body, connected.gateway.now().seconds(), support::WEBHOOK_SECRET),
        };
        connected.hear(&unknown).await.expect(200);
        assert!(connected.disputes("").await.data().is_empty(), "{provider}");

        let usd = NewDispute { currency: Some("USD".into()), ..NewDispute::default() };
        let usd = if provider == "stripe" {
            NewDispute { currency: Some("usd".into()), ..usd }
        } else {
            usd
        };
        let foreign = connected.providers.dispute(&carrier, &usd);
        connected.tell("created", &foreign).await;
        let known = connected.disputes(&format!("?payment_id={id}")).await;
        assert_eq!(known.str("/data/0/amount/currency"), "USD", "{provider}");
        assert_eq!(known.at("/data/0/held"), &json!({"amount": 0, "currency": "INR"}));
        assert_eq!(sums(&connected.payment(&id).await), (0, PAID), "{provider}");
        connected.providers.validate(&foreign, Verdict::Win);
        connected.tell("won", &foreign).await;
        connected.providers.validate(&dispute, Verdict::Win);
        assert_eq!(connected.disputes("?status=won").await.data().len(), 1);
        let of_nobody =
            connected.disputes("?payment_id=pay_00000000000170008000000000000000").await;
        assert!(of_nobody.data().is_empty());
        connected
            .owner
            .get("/v1/payments/disputes/dsp_00000000000170008000000000000000")
            .await
            .expect(404)
            .problem("not_found");
        let path = format!("/v1/payments/disputes/{}", known.str("/data/0/id"));
        other.at(&store).get(&path).await.expect(404).problem("not_found");
        for one in connected.gateway.items("STO#").await {
            let key = one["PK"].as_str().unwrap_or_default();
            assert!(!key.contains(&format!("{}#DSP#", store.id)), "{key}");
        }
        if provider == "razorpay" {
            // A second payment for the same order, which went back by itself.
            let reference = connected.payment(&id).await.str("/provider_reference");
            let second = connected.providers.pay_order_again(&reference).expect("it goes back");
            let second = second["id"].as_str().unwrap();
            let none_of_ours = connected.providers.dispute(second, &NewDispute::default());
            connected.tell("created", &none_of_ours).await;
            let known = connected.disputes(&format!("?payment_id={id}")).await;
            assert_eq!(known.data().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_dispute_records_its_unreported_capture() {
    let connected = Connected::open().await;
    for (round, provider) in PROVIDERS.into_iter().enumerate() {
        let order = connected.order().await;
        let begun = connected.begin(provider, &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        let carrier = if provider == "razorpay" {
            connected.providers.pay_razorpay(&reference)
        } else {
            connected.providers.pay_stripe(&reference);
            reference
        };
        let dispute = connected.providers.dispute(&carrier, &part(700));
        let told = connected.telling("created", &dispute);
        // Told again when the provider could not be asked about the payment.
        connected.providers.next([Trouble::Hang]);
        connected.hear(&told).await.expect(504).problem("provider_timeout");
        assert_eq!(connected.counted(&["created"]).await, [round]);
        connected.hear(&told).await.expect(200);
        assert_eq!(sums(&connected.payment(&id).await), (700, PAID - 700), "{provider}");
        let shown = connected.order_view(&order).await;
        assert_eq!(shown.str("/financial_status"), "paid");
        assert_eq!(shown.int("/disputed_total/amount"), 700);
        assert_eq!(connected.announced().await, (round + 1, round + 1));
    }
}

#[tokio::test]
async fn a_dispute_holds_the_amount_of_a_failed_refund() {
    let connected = Connected::open().await;
    let order = connected.order().await;
    let (id, carrier) = connected.paid("razorpay", &order).await;
    connected.providers.next([Trouble::Pending]);
    connected.give_back(&id, 1_000).await.expect(201);
    let dispute = connected.providers.dispute(&carrier, &NewDispute::default());
    connected.tell("created", &dispute).await;
    assert_eq!(sums(&connected.payment(&id).await), (PAID - 1_000, 0), "the rest is held");
    let refund = connected.providers.refunds()[0]["id"].as_str().unwrap().to_owned();
    connected.providers.finish_refund(&refund, false).expect("it ends");
    connected.tell_refund("refund.failed", &carrier).await;
    assert_eq!(sums(&connected.payment(&id).await), (PAID, 0));
    let shown = connected.order_view(&order).await;
    assert_eq!(
        (shown.int("/disputed_total/amount"), shown.int("/refunded_total/amount")),
        (PAID, 0)
    );
    // The merchant gives the money back at the provider, whatever is held.
    connected.providers.refund_on_dashboard(&carrier, PAID).expect("a refund");
    connected.act(&id, "sync", json!({})).await.expect(200);
    assert_eq!(sums(&connected.payment(&id).await), (0, 0));
    let shown = connected.order_view(&order).await;
    assert_eq!(shown.str("/financial_status"), "refunded");
    assert_eq!(
        (shown.int("/disputed_total/amount"), shown.int("/refunded_total/amount")),
        (0, PAID)
    );
}

#[tokio::test]
async fn an_inquiry_holds_nothing_until_it_becomes_a_chargeback() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        let asked = NewDispute { is_inquiry: true, ..NewDispute::default() };
        let dispute = connected.providers.dispute(&carrier, &asked);
        connected.tell("created", &dispute).await;
        let known = connected.disputes(&format!("?payment_id={id}")).await;
        assert_eq!(known.str("/data/0/type"), "inquiry", "{provider}");
        assert_eq!(known.str("/data/0/status"), "needs_response");
        assert_eq!(sums(&connected.payment(&id).await), (0, PAID));
        connected.give_back(&id, 100).await.expect(201);
        connected.gateway.advance(Duration::from_secs(2));
        connected.providers.validate(&dispute, Verdict::Escalate);
        connected.tell("created", &dispute).await;
        let known = connected.disputes(&format!("?payment_id={id}")).await;
        assert_eq!(known.str("/data/0/type"), "chargeback", "{provider}");
        assert_eq!(sums(&connected.payment(&id).await), (PAID - 100, 0));
        let other = connected.order().await;
        let (id, carrier) = connected.paid(provider, &other).await;
        let dispute = connected.providers.dispute(&carrier, &asked);
        connected.tell("created", &dispute).await;
        connected.providers.validate(&dispute, Verdict::Close);
        connected.tell("closed", &dispute).await;
        let known = connected.disputes(&format!("?payment_id={id}")).await;
        assert_eq!(known.str("/data/0/status"), "closed", "{provider}");
    }
    assert_eq!(connected.counted(&["created", "updated", "closed"]).await, [4, 2, 2]);
}

#[tokio::test]
async fn the_owner_is_mailed_of_a_dispute_once_at_a_verified_address() {
    let connected = Connected::open().await;
    let owner = connected.owner.get("/v1/auth/me").await.expect(200).str("/email");
    let subject = "is disputed";
    let mailbox = connected.gateway.mailbox(&owner);
    let about =
        || mailbox.mails().into_iter().filter(|mail| mail.subject.contains(subject)).count();
    let (_, _, dispute, _) = connected.disputed("stripe").await;
    connected.gateway.quiet().await;
    assert_eq!(about(), 0, "nobody has proven the address");
    let token = mailbox.token_of("Confirm your e-mail address").await;
    let verify = connected.owner.post("/v1/auth/email/verify").json(json!({"token": token}));
    verify.await.expect(200);
    connected.providers.validate(&dispute, Verdict::Win);
    connected.tell("won", &dispute).await;
    let (_, order, other, id) = connected.disputed("razorpay").await;
    connected.tell("created", &other).await;
    let mail = support::eventually(Duration::from_secs(20), || async {
        mailbox.mails().into_iter().find(|mail| mail.subject.contains(subject))
    })
    .await;
    let number = connected.order_view(&order).await.str("/number");
    assert!(mail.subject.contains(&number), "{mail:?}");
    assert!(mail.text.contains(&id) && mail.text.contains("2598.00 INR"), "{}", mail.text);
    connected.gateway.quiet().await;
    assert_eq!(about(), 1);
}
