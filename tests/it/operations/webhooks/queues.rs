//! Events for who would rather poll: into a queue that has been shown to be the subscriber's.

mod confirmation;
mod failures;

use aws_sdk_sqs::types::QueueAttributeName;
use support::clock::{DAY, MINUTE};
use support::{
    Behaviour, Client, Gateway, Merchant, Polled, PolledQueue, Receiver, Shop, Store, Value,
    eventually, json,
};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, is_signed_by, verify};

/// A merchant with a store whose events go to a queue.
struct Queued {
    gateway: Gateway,
    merchant: Merchant,
    store: Store,
    queue: PolledQueue,
    subscription: Value,
}

impl Queued {
    /// Before its queue is confirmed.
    async fn unconfirmed(name: &str, fields: Value) -> (Self, String) {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let queue = PolledQueue::open(&gateway, name).await;
        let mut input =
            json!({"destination": queue.destination(), "event_types": ["store.updated"]});
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let made = merchant.at(&store).post(SUBSCRIPTIONS).json(input).await.expect(201).json;
        let queued = Self { gateway, merchant, store, queue, subscription: made };
        let (challenge, token) = queued.queue.challenge().await;
        verify(&challenge.received, queued.secret());
        (queued, token)
    }

    async fn to(name: &str) -> Self {
        let (queued, token) = Self::unconfirmed(name, json!({})).await;
        queued.confirm(&token).await;
        queued
    }

    fn owner(&self) -> Client {
        self.merchant.at(&self.store)
    }

    fn path(&self) -> String {
        format!("{SUBSCRIPTIONS}/{}", self.subscription["id"].as_str().unwrap())
    }

    fn secret(&self) -> &str {
        self.subscription["secret"].as_str().unwrap()
    }

    async fn confirm(&self, token: &str) -> Value {
        let path = format!("{}/confirm", self.path());
        self.owner().post(&path).json(json!({"token": token})).await.expect(200).json
    }

    async fn rename(&self, name: &str) {
        let path = format!("/v1/stores/{}", self.store.id);
        self.owner().patch(&path).json(json!({"name": name})).await.expect(200);
    }

    async fn deliveries(&self) -> Vec<Value> {
        self.owner().get(DELIVERIES).await.expect(200).data().clone()
    }

    async fn delivery_in(&self, status: &str) -> Value {
        eventually(DEADLINE, || async {
            self.deliveries().await.into_iter().find(|delivery| delivery["status"] == status)
        })
        .await
    }

    async fn attempts(&self, delivery: &Value) -> Vec<Value> {
        let path = format!("{DELIVERIES}/{}/attempts", delivery["id"].as_str().unwrap());
        self.owner().get(&path).await.expect(200).data().clone()
    }
}

fn name_of(polled: &Polled) -> Value {
    polled.received.json()["data"]["name"].clone()
}

#[tokio::test]
async fn an_event_reaches_a_confirmed_queue_signed_and_with_every_header() {
    let fields = json!({"headers": {"x-team": "warehouse"}});
    let (queued, token) = Queued::unconfirmed("orders", fields).await;
    let made = &queued.subscription;
    assert_eq!(made["destination"], queued.queue.destination());
    assert_eq!((&made["url"], &made["status"]), (&json!(queued.queue.url), &json!("unconfirmed")));
    queued.confirm(&token).await;
    queued.rename("Renamed").await;
    let polled = queued.queue.next().await;
    let received = &polled.received;
    verify(received, queued.secret());
    // What is an attribute of its own is enough for the library, and what all headers say.
    let webhook = standardwebhooks::Webhook::new(queued.secret()).unwrap();
    webhook.verify(&received.body, &polled.attributes).unwrap();
    assert_eq!(polled.attributes.len(), 9, "and one with all of them");
    for (name, value) in &polled.attributes {
        assert_eq!(received.headers.get(name), Some(value));
    }
    let frozen = queued.gateway.events("store.updated").await;
    assert_eq!((frozen.len(), &received.json()), (1, &frozen[0]), "as it was frozen");
    for (name, value) in [
        ("Content-Type", "application/json"),
        ("User-Agent", "Service-Webhooks/1"),
        ("X-Service-Event-Type", "store.updated"),
        ("X-Service-Store-Id", &queued.store.id),
        ("X-Service-Attempt", "1"),
        ("X-Service-Timestamp", received.header("webhook-timestamp")),
        ("x-team", "warehouse"),
    ] {
        assert_eq!(received.header(name), value, "{name}");
    }
    let delivery = queued.delivery_in("succeeded").await;
    assert_eq!(received.header("x-service-delivery-id"), delivery["id"]);
    let attempts = queued.attempts(&delivery).await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0]["url"], queued.queue.url.as_str());
    assert_eq!((&attempts[0]["status_code"], &attempts[0]["error"]), (&json!(200), &Value::Null));
    assert!(attempts[0]["response_body"].as_str().unwrap().contains("message_id"));
    let receipt = format!("{DELIVERIES}/{}/receipt", delivery["id"].as_str().unwrap());
    let receipt = queued.owner().get(&receipt).await.expect(200);
    assert_eq!(receipt.at("/claims/delivered"), true);
}

#[tokio::test]
async fn a_fifo_queue_groups_by_entity_and_deduplicates_by_event() {
    let queued = Queued::to("orders.fifo").await;
    assert_eq!(queued.subscription["ordering"], "entity", "unless said otherwise");
    for name in ["First", "Second"] {
        queued.rename(name).await;
        let polled = queued.queue.next().await;
        assert_eq!(name_of(&polled), name);
        assert_eq!(polled.group_id.as_ref(), Some(&queued.store.id));
        assert_eq!(polled.deduplication_id.as_deref(), Some(polled.received.header("webhook-id")));
    }
    // Sent again within five minutes it is taken, and not handed out again.
    let delivery = queued.delivery_in("succeeded").await;
    let again = format!("{DELIVERIES}/{}/redeliver", delivery["id"].as_str().unwrap());
    queued.owner().post(&again).json(json!({})).await.expect(202);
    eventually(DEADLINE, || async {
        let deliveries = queued.deliveries().await;
        let done = deliveries.iter().filter(|one| one["status"] == "succeeded").count();
        (done == 3).then_some(())
    })
    .await;
    assert!(queued.queue.poll().await.is_empty());
}

#[tokio::test]
async fn a_rotated_secret_signs_alongside_the_new_one() {
    let queued = Queued::to("rotated").await;
    let rotate = format!("{}/secret/rotate", queued.path());
    let new = queued.owner().post(&rotate).json(json!({})).await.expect(200).str("/secret");
    queued.rename("Signed twice").await;
    let polled = queued.queue.next().await;
    assert!(is_signed_by(&polled.received, &new));
    // By the old one alone, as the header is that has room for one.
    verify(&polled.received, queued.secret());
}

#[tokio::test]
async fn an_app_receives_the_events_of_its_scopes_in_its_queue() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    shop.authorize().await;
    let app = shop.app_client().await;
    let queue = PolledQueue::open(&shop.gateway, "app-events").await;
    let input = json!({"destination": queue.destination(), "event_types": ["store.updated"]});
    let made = app.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let (_, token) = queue.challenge().await;
    let confirm = format!("{SUBSCRIPTIONS}/{}/confirm", made.str("/id"));
    let input = json!({"token": token});
    assert_eq!(app.post(&confirm).json(input).await.expect(200).str("/status"), "enabled");
    let store = format!("/v1/stores/{}", shop.store.id);
    shop.owner().patch(&store).json(json!({"name": "For the app"})).await.expect(200);
    let polled = queue.next().await;
    verify(&polled.received, &made.str("/secret"));
    assert_eq!(name_of(&polled), "For the app");
}

#[tokio::test]
async fn events_before_the_confirmation_are_replayed_into_the_queue() {
    let (queued, token) = Queued::unconfirmed("late", json!({})).await;
    queued.rename("Missed").await;
    queued.gateway.quiet().await;
    assert!(queued.deliveries().await.is_empty(), "an unconfirmed queue gets the challenge alone");
    queued.confirm(&token).await;
    let input = json!({
        "kind": "missing", "since": queued.store.view["created_at"],
        "subscription_id": queued.subscription["id"],
    });
    let replay = queued.owner().post("/v1/operations/runtime/replays").json(input).await;
    let replay = replay.expect(202).str("/id");
    let polled = queued.queue.next().await;
    verify(&polled.received, queued.secret());
    assert_eq!(name_of(&polled), "Missed");
    assert_eq!(polled.received.header("x-service-replay-id"), replay);
}

#[tokio::test]
async fn test_messages_are_sent_to_confirmed_queues_only() {
    let (queued, token) = Queued::unconfirmed("tests", json!({})).await;
    let test = format!("{}/test", queued.path());
    let shown = queued.owner().post(&test).json(json!({"dry_run": true})).await.expect(200);
    assert_eq!(shown.str("/method"), "SendMessage");
    assert_eq!(shown.str("/url"), queued.queue.url);
    let headers: Value = serde_json::from_str(&shown.str("/headers/headers")).unwrap();
    assert_eq!(headers["webhook-signature"], shown.str("/headers/webhook-signature").as_str());
    let rejected = queued.owner().post(&test).json(json!({})).await.expect(409);
    let rejected = rejected.problem("invalid_state_transition");
    assert_eq!(rejected.str("/current"), "unconfirmed");
    queued.confirm(&token).await;
    queued.owner().post(&test).json(json!({})).await.expect(202);
    let polled = queued.queue.next().await;
    verify(&polled.received, queued.secret());
    assert_eq!(polled.received.header("x-service-test"), "true");
}

#[tokio::test]
async fn characters_that_sqs_rejects_arrive_escaped() {
    let queued = Queued::to("odd").await;
    queued.rename("a\u{fffe}b\u{ffff}c").await;
    let polled = queued.queue.next().await;
    verify(&polled.received, queued.secret());
    let text = String::from_utf8(polled.received.body.clone()).unwrap();
    assert!(text.contains("a\\ufffeb\\uffffc"), "{text}");
    assert_eq!(name_of(&polled), "a\u{fffe}b\u{ffff}c");
}

#[tokio::test]
async fn an_older_subscription_without_a_destination_defaults_to_https() {
    let queued = Queued::to("old").await;
    let mut old = queued.gateway.items_of("webhook_subscription", "STO#").await.remove(0);
    for name in ["destination", "confirmation"] {
        assert!(old.as_object_mut().unwrap().remove(name).is_some(), "{name}");
    }
    queued.gateway.put_item(&old).await;
    let shown = queued.owner().get(&queued.path()).await.expect(200);
    assert_eq!(
        (shown.str("/status").as_str(), shown.str("/destination/type")),
        ("enabled", "https".to_owned())
    );
    // Nothing waits for a confirmation.
    queued.owner().post(&format!("{}/test", queued.path())).json(json!({})).await.expect(202);
}
