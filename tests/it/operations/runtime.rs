//! How the platform is doing: queues, numbers, incidents, and the rules that open them.

mod incidents;
mod metrics;
mod queues;

use std::time::Duration;

use support::clock::MINUTE;
use support::{Client, Gateway, Merchant, Operator, Store, Value};

const DEADLINE: Duration = Duration::from_mins(1);
const INCIDENTS: &str = "/v1/operations/runtime/incidents";
const OVERVIEW: &str = "/v1/operations/runtime/overview";
const QUEUES: &str = "/v1/operations/runtime/queues";
const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";

/// A merchant with a store of their own.
async fn owner(gateway: &Gateway) -> (Merchant, Store, Client) {
    let merchant = Merchant::sign_up(gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    (merchant, store, owner)
}

/// The operator of a system without a stream: the mail that proves the address comes by the sweep.
async fn operator(gateway: &Gateway) -> Operator {
    let sweeping = async {
        loop {
            gateway.advance(MINUTE);
            gateway.sweep().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        operator = Operator::sign_up(gateway) => operator,
        () = sweeping => unreachable!("it sweeps until the operator is there"),
    }
}

/// Puts a message on the queue of deliveries, or on its dead-letter queue, as nobody of us would.
async fn send(gateway: &Gateway, is_dead: bool, body: &str) {
    gateway.send_to_queue("webhooks", is_dead, body).await;
}

/// The incidents that this caller is shown, the newest first.
async fn incidents(client: &Client) -> Vec<Value> {
    client.get(INCIDENTS).await.expect(200).data().clone()
}

/// What the place of the unresolved incident of a rule holds.
async fn place(gateway: &Gateway, rule: &str, subject: &str) -> Option<Value> {
    let place = format!("{rule}#{subject}");
    let mut items = gateway.items("INC#OPEN").await;
    items.retain(|item| item["SK"] == place.as_str());
    items.pop()
}
