//! From a change to a verified delivery, and every way a receiver can misbehave.

mod apps;
mod boundaries;
mod deliveries;
mod fairness;
mod filters;
mod ordering;
mod outbox;
mod queues;
mod rate_limit;
mod receipts;
mod receivers;
mod records;
mod replays;
mod subscriptions;

use std::time::Duration;

use support::{
    Behaviour, Client, Gateway, Merchant, Received, Receiver, Store, Value, eventually, json,
    service_hmac,
};

pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
pub(crate) const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";
pub(crate) const DELIVERIES: &str = "/v1/operations/webhook-deliveries";

/// A merchant with a store whose events go to a receiver.
pub(crate) struct Watched {
    pub(crate) gateway: Gateway,
    pub(crate) merchant: Merchant,
    pub(crate) store: Store,
    pub(crate) receiver: Receiver,
    pub(crate) subscription: Value,
}

impl Watched {
    pub(crate) async fn by(behaviour: Behaviour) -> Self {
        Self::on(Gateway::start().await, behaviour).await
    }

    pub(crate) async fn on(gateway: Gateway, behaviour: Behaviour) -> Self {
        Self::with(gateway, behaviour, json!({})).await
    }

    /// With these fields of the subscription beside what it needs.
    pub(crate) async fn with(gateway: Gateway, behaviour: Behaviour, fields: Value) -> Self {
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let receiver = Receiver::that(behaviour).await;
        let mut input = json!({"url": receiver.url("/hooks"), "event_types": ["store.updated"]});
        let given = fields.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(given);
        let subscription =
            merchant.at(&store).post(SUBSCRIPTIONS).json(input).await.expect(201).json;
        Self { gateway, merchant, store, receiver, subscription }
    }

    pub(crate) fn owner(&self) -> Client {
        self.merchant.at(&self.store)
    }

    /// Makes an event happen.
    pub(crate) async fn rename(&self, name: &str) {
        let path = format!("/v1/stores/{}", self.store.id);
        self.owner().patch(&path).json(json!({"name": name})).await.expect(200);
    }

    /// As [`Watched::rename`], by somebody who signed in again.
    pub(crate) async fn rename_as(&self, owner: &Client, name: &str) {
        let path = format!("/v1/stores/{}", self.store.id);
        owner.patch(&path).json(json!({"name": name})).await.expect(200);
    }

    pub(crate) async fn deliveries(&self) -> Vec<Value> {
        self.owner().get(DELIVERIES).await.expect(200).data().clone()
    }

    /// The only delivery, once it is in this state.
    pub(crate) async fn delivery_in(&self, status: &str) -> Value {
        eventually(DEADLINE, || async {
            let deliveries = self.deliveries().await;
            deliveries.into_iter().find(|delivery| delivery["status"] == status)
        })
        .await
    }

    pub(crate) async fn attempts(&self, delivery: &Value) -> Vec<Value> {
        let path = format!("{DELIVERIES}/{}/attempts", delivery["id"].as_str().unwrap());
        self.owner().get(&path).await.expect(200).data().clone()
    }

    pub(crate) async fn subscription(&self) -> Value {
        let path = format!("{SUBSCRIPTIONS}/{}", self.subscription["id"].as_str().unwrap());
        self.owner().get(&path).await.expect(200).json
    }

    pub(crate) fn secret(&self) -> &str {
        self.subscription["secret"].as_str().unwrap()
    }
}

/// Whether a secret's signature is on a delivery, as Standard Webhooks' own library computes it.
/// (Its `verify` validates the timestamp by the system's clock, which a test leaves behind.)
fn is_signed_by(received: &Received, secret: &str) -> bool {
    let webhook = standardwebhooks::Webhook::new(secret).unwrap();
    let timestamp = received.header("webhook-timestamp").parse().unwrap();
    let signature = webhook.sign(received.header("webhook-id"), timestamp, &received.body).unwrap();
    received.header("webhook-signature").split(' ').any(|found| found == signature)
}

/// Verifies a delivery with Standard Webhooks' own library and by the rule of
/// docs/conventions.md §10.
fn verify(received: &Received, secret: &str) {
    assert!(is_signed_by(received, secret), "{:?}", received.headers);
    let expected = service_hmac(secret, received.header("x-service-timestamp"), &received.body);
    assert_eq!(received.header("x-service-hmac-sha256"), expected);
    assert_eq!(received.header("webhook-timestamp"), received.header("x-service-timestamp"));
}
