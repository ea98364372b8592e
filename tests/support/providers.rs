//! Payment providers for a test: the server that `local` plays them with, and what a test does with
//! it.

use std::ops::Deref;

use crypto::signature::hmac_sha256_hex;
use local::providers::{NewDispute, Options, RAZORPAY_SECRET, Verdict, WEBHOOK_SECRET, Webhook};
use primitives::clock::Timestamp;
use serde_json::{Value, json};

use crate::{Client, Gateway, Input};

/// The server; what it rejects ends the test. Dropping it ends it.
pub struct Providers(local::providers::Providers);

impl Deref for Providers {
    type Target = local::providers::Providers;

    fn deref(&self) -> &local::providers::Providers {
        &self.0
    }
}

impl Providers {
    pub async fn start() -> Self {
        Self::start_with(Options::default()).await
    }

    pub async fn start_with(options: Options) -> Self {
        Self(local::providers::Providers::start(options).await.expect("a free port"))
    }

    /// A payment or an intent, as the provider sees it.
    pub fn payment(&self, id: &str) -> Value {
        let mut payments = self.payments();
        payments.retain(|payment| payment["id"] == id);
        payments.remove(0)
    }

    /// The customer pays a Razorpay order; the payment's id.
    pub fn pay_razorpay(&self, order: &str) -> String {
        paid(&self.pay_order(order, None).expect("it is paid"))
    }

    /// The customer pays another amount than the order's, as no provider should let them.
    pub fn pay_razorpay_with(&self, order: &str, amount: i64) -> String {
        paid(&self.pay_order(order, Some(amount)).expect("it is paid"))
    }

    /// What Razorpay's script hands the customer's browser, with the shop's own order.
    pub fn razorpay_return(order_id: &str, reference: &str, payment: &str) -> Value {
        let parts = [reference.as_bytes(), b"|", payment.as_bytes()];
        json!({
            "order_id": order_id,
            "razorpay_order_id": reference,
            "razorpay_payment_id": payment,
            "razorpay_signature": hmac_sha256_hex(RAZORPAY_SECRET.as_bytes(), &parts),
        })
    }

    /// Razorpay's event about a payment, as it is now.
    pub fn razorpay_event(&self, kind: &'static str, payment: &str) -> Webhook {
        let event = self.0.razorpay_event(kind, payment).expect("a payment");
        event.sign(WEBHOOK_SECRET, Timestamp::from_millis(0))
    }

    /// A bank disputes what carries a payment's money; the provider's id of the dispute.
    pub fn dispute(&self, carrier: &str, input: &NewDispute) -> String {
        let dispute = self.open_dispute(carrier, input).expect("it is disputed");
        dispute["id"].as_str().expect("an id").to_owned()
    }

    /// A bank goes on with a dispute.
    pub fn validate(&self, dispute: &str, verdict: Verdict) {
        self.decide_dispute(dispute, verdict).expect("it goes on");
    }

    /// A provider's event about a dispute, as it is now, signed at this time.
    pub fn disputed(&self, kind: &'static str, dispute: &str, now: Timestamp) -> Webhook {
        self.dispute_event(kind, dispute).expect("a dispute").sign(WEBHOOK_SECRET, now)
    }

    /// The customer pays a Stripe intent.
    pub fn pay_stripe(&self, intent: &str) {
        self.pay_intent(intent).expect("it is paid");
    }

    /// The customer pays a Stripe intent by a debit, which is processed for days.
    pub fn debit_stripe(&self, intent: &str) {
        self.debit_intent(intent).expect("it is processed");
    }

    /// The customer's bank pays a debit, or returns it.
    pub fn end_stripe_debit(&self, intent: &str, is_paid: bool) {
        self.end_debit(intent, is_paid).expect("it was processed");
    }

    /// The customer's card is declined.
    pub fn decline_stripe(&self, intent: &str) {
        self.decline_intent(intent).expect("it is declined");
    }

    /// Stripe's event about an intent, as it is now, signed at this time.
    pub fn stripe_event(&self, kind: &'static str, intent: &str, now: Timestamp) -> Webhook {
        self.0.stripe_event(kind, intent).expect("an intent").sign(WEBHOOK_SECRET, now)
    }
}

fn paid(handed_back: &Value) -> String {
    handed_back["razorpay_payment_id"].as_str().expect("a payment").to_owned()
}

/// The subdomain of the demo store.
pub const DEMO_SUBDOMAIN: &str = local::demo::SUBDOMAIN;

impl Gateway {
    /// Makes the demo store, connected to these providers.
    pub async fn seed_demo(&self, providers: &Providers) {
        local::demo::seed(self.system(), Some(&**providers)).await.expect("the demo is made");
    }
}

/// A webhook, sent to a shop.
pub fn deliver(webhook: &Webhook, client: &Client, subdomain: &str) -> Input {
    let path = format!("/v1/storefront/{subdomain}/payments/{}/webhook", webhook.provider);
    let input = client.post(&path).header("content-type", "application/json");
    let input = input.body(webhook.body.clone());
    webhook.headers.iter().fold(input, |input, (name, value)| input.header(name, value))
}
