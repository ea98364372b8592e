//! One store's receivers, or one host, cost the others nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use support::clock::MINUTE;
use support::{
    Behaviour, Gateway, PERMITS_OF_STORE, PERMITS_TO_HOST, Receiver, Value, eventually, json, race,
};

use super::{DEADLINE, SUBSCRIPTIONS, Watched};

/// For what takes a few cut-off attempts.
const PATIENCE: Duration = Duration::from_mins(2);
/// As many as a store may have.
const HANGING: usize = 50;

impl Watched {
    /// Another subscription of the store's.
    async fn also(&self, receiver: &Receiver) -> Value {
        let input = json!({"url": receiver.url("/also"), "event_types": ["store.updated"]});
        self.owner().post(SUBSCRIPTIONS).json(input).await.expect(201).json
    }

    /// The deliveries to a subscription as the table has them.
    async fn stored_for(&self, subscription: &Value) -> Vec<Value> {
        let mut items = self.gateway.items_of("delivery", "DLV#").await;
        items.retain(|item| item["subscription_id"] == subscription["id"]);
        items
    }

    /// How long the receiver took, as it is remembered.
    async fn recent_ms(&self) -> Vec<u64> {
        let items = self.gateway.items_of("webhook_subscription", "STO#").await;
        let found = items.iter().find(|item| item["id"] == self.subscription["id"]).unwrap();
        let recent = found["health"]["recent_ms"].as_array().unwrap();
        recent.iter().filter_map(Value::as_u64).collect()
    }

    async fn until_prompt(&self) {
        self.rename("Prompt").await;
        let is_prompt = || async { (self.recent_ms().await.len() == 1).then_some(()) };
        eventually(DEADLINE, is_prompt).await;
        self.until_no_permit_is_taken().await;
    }

    async fn permits_taken(&self) -> usize {
        let items = self.gateway.items("PLC#").await;
        let slots = |item: &Value| {
            let names = item.as_object().unwrap().keys();
            names.filter(|name| is_slot(name)).count()
        };
        items.iter().map(slots).sum()
    }

    async fn until_no_permit_is_taken(&self) {
        eventually(DEADLINE, || async { (self.permits_taken().await == 0).then_some(()) }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_hanging_receivers_do_not_block_another_store() {
    let hanging = Watched::by(Behaviour::Hang).await;
    for _ in 1..HANGING {
        hanging.also(&hanging.receiver).await;
    }
    let other = support::Merchant::sign_up(&hanging.gateway).await;
    let store = other.open_store().await;
    let healthy = Receiver::start().await;
    let input = json!({"url": healthy.url("/"), "event_types": ["store.updated"]});
    other.at(&store).post(SUBSCRIPTIONS).json(input).await.expect(201);
    for round in 0..4 {
        hanging.rename(&format!("Round {round}")).await;
    }
    // As many hang as may.
    let most = PERMITS_OF_STORE;
    hanging.receiver.wait_for(most).await;
    let is_put_off = |item: &&Value| item["held_by"] == "concurrency" && item["attempt"] == 0;
    let put_off = eventually(DEADLINE, || async {
        let items = hanging.gateway.items_of("delivery", "DLV#").await;
        items.iter().find(is_put_off).cloned()
    })
    .await;
    assert_eq!(put_off["status"], "pending");
    let path = format!("/v1/stores/{}", store.id);
    for round in 0..3 {
        let name = format!("Healthy {round}");
        other.at(&store).patch(&path).json(json!({"name": name})).await.expect(200);
        healthy.wait_for(round + 1).await;
        // On each of the two queues.
        let items = hanging.gateway.items_of("delivery", "DLV#").await;
        let is_under_way = |item: &&Value| {
            item["status"] == "delivering" && item["store_id"] == hanging.store.id.as_str()
        };
        let under_way = items.iter().filter(is_under_way).count();
        assert!(under_way <= 2 * most, "{under_way} under way");
    }
    assert_eq!(healthy.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_slower_than_five_seconds_moves_to_the_slow_queue() {
    let watched = Watched::by(Behaviour::Delay(Duration::from_secs(7), 200)).await;
    watched.rename("First").await;
    let done = |count: usize| {
        let watched = &watched;
        move || async move {
            let mut items = watched.stored_for(&watched.subscription).await;
            items.retain(|item| item["status"] == "succeeded");
            (items.len() == count).then_some(items)
        }
    };
    // Cut off, and answered when it is tried again.
    let first = eventually(PATIENCE, done(1)).await.remove(0);
    assert_eq!(first["attempt"], 2);
    let attempts = watched.attempts(&first).await;
    let attempt = |number: u32| attempts.iter().find(|one| one["number"] == number).unwrap();
    assert_eq!(attempt(1)["error"], "timeout");
    assert_eq!(attempt(2)["status_code"], 200);
    // From then on it has its time at once.
    watched.rename("Second").await;
    let both = eventually(PATIENCE, done(2)).await;
    let attempts: BTreeSet<_> = both.iter().filter_map(|item| item["attempt"].as_u64()).collect();
    assert_eq!(attempts, BTreeSet::from([1, 2]));
    eventually(DEADLINE, || async {
        let recent = watched.recent_ms().await;
        (recent.len() == 3 && recent.iter().all(|millis| *millis >= 5_000)).then_some(())
    })
    .await;
    // What fails there is tried again there.
    watched.receiver.now(Behaviour::Status(500));
    watched.rename("Third").await;
    watched.delivery_in("retrying").await;
    // And who answers soon again is back after as many answers as are remembered of the others.
    watched.receiver.now(Behaviour::Status(200));
    for name in ["Fourth", "Fifth"] {
        watched.rename(name).await;
    }
    eventually(PATIENCE, || async {
        let recent = watched.recent_ms().await;
        let slow = recent.iter().filter(|millis| **millis >= 5_000).count();
        (slow <= 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_delivery_without_a_permit_is_deferred_unless_its_receiver_is_prompt() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.until_prompt().await;
    let permits = watched.gateway.permits_of_store(&watched.store);
    for _ in 0..PERMITS_OF_STORE {
        assert!(permits.take().await.is_some());
    }
    let unknown = Receiver::start().await;
    let subscription = watched.also(&unknown).await;
    watched.rename("Crowded").await;
    watched.receiver.wait_for(2).await;
    let put_off = eventually(DEADLINE, || async {
        let mut found = watched.stored_for(&subscription).await;
        found.retain(|item| item["held_by"] == "concurrency");
        found.pop()
    })
    .await;
    assert_eq!((&put_off["attempt"], &put_off["status"]), (&json!(0), &json!("pending")));
    let shown = watched.deliveries().await;
    assert!(shown.iter().any(|one| one["held_by"] == "concurrency"), "{shown:?}");
    assert_eq!(unknown.connections(), 0);
    // Whoever held the places never came back: they are free when their time has passed.
    watched.gateway.advance(2 * MINUTE);
    eventually(DEADLINE, || async {
        watched.gateway.sweep().await;
        let found = watched.stored_for(&subscription).await;
        (found[0]["status"] == "succeeded").then_some(())
    })
    .await;
    assert_eq!(unknown.requests().len(), 1);
    // It took places of its own, beside those that nobody gave back, and has left them.
    let host = watched.gateway.permits_to_host(&host_of(&unknown));
    eventually(DEADLINE, || async {
        let item = host.stored(&watched.gateway).await?;
        (!item.as_object().unwrap().keys().any(|name| is_slot(name))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_host_without_free_permits_consumes_no_store_permits() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let permits = watched.gateway.permits_to_host(&host_of(&watched.receiver));
    for _ in 0..PERMITS_TO_HOST {
        assert!(permits.take().await.is_some());
    }
    watched.rename("Crowded").await;
    eventually(DEADLINE, || async {
        let found = watched.stored_for(&watched.subscription).await;
        found.iter().any(|item| item["held_by"] == "concurrency").then_some(())
    })
    .await;
    let all_held = || async { (watched.permits_taken().await == PERMITS_TO_HOST).then_some(()) };
    eventually(DEADLINE, all_held).await;
    assert_eq!(watched.receiver.connections(), 0);
    watched.gateway.advance(2 * MINUTE);
    eventually(DEADLINE, || async {
        watched.gateway.sweep().await;
        let found = watched.stored_for(&watched.subscription).await;
        found.iter().any(|item| item["status"] == "succeeded").then_some(())
    })
    .await;
    assert_eq!(watched.receiver.requests().len(), 1);
}

fn host_of(receiver: &Receiver) -> String {
    format!("127.0.0.1:{}", receiver.port())
}

fn is_slot(name: &str) -> bool {
    name.strip_prefix('s').is_some_and(|rest| rest.parse::<u32>().is_ok())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_receiver_needs_permits_before_its_attempt_ends() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.until_prompt().await;
    watched.receiver.now(Behaviour::Hang);
    watched.rename("Late").await;
    let late = || async { (watched.recent_ms().await.get(1) == Some(&1_001)).then_some(()) };
    eventually(DEADLINE, late).await;
    assert_eq!(watched.permits_taken().await, 0, "it was begun as a prompt one");
    watched.rename("Counted").await;
    // One of the store, one of the host.
    eventually(DEADLINE, || async { (watched.permits_taken().await == 2).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permits_are_never_exceeded_and_a_late_release_frees_no_other_permit() {
    let gateway = Gateway::start().await;
    let permits = gateway.permits_to_host("hooks.example.com");
    let most = PERMITS_TO_HOST;
    let mut held: Vec<_> = race(2 * most, || permits.take()).await.into_iter().flatten().collect();
    assert!(held.len() <= most, "{}", held.len());
    // Whoever lost every race found others at it; one by one the rest is found.
    held.extend(permits.take_all().await);
    assert_eq!(held.len(), most);
    let back = held.pop().unwrap();
    permits.release(back.clone()).await;
    let again = permits.take().await.unwrap();
    assert!(permits.take().await.is_none());
    // All are lost; their places are taken by others, whom a late return costs nothing.
    gateway.advance(MINUTE + Duration::from_secs(1));
    assert_eq!(permits.take_all().await.len(), most);
    for lapsed in held.into_iter().chain([back, again]) {
        permits.release(lapsed).await;
    }
    assert!(permits.take().await.is_none());
}

#[tokio::test]
async fn changing_the_path_keeps_the_circuit_and_changing_the_host_resets_it() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    for round in 0..10 {
        watched.rename(&format!("Round {round}")).await;
    }
    let is_open =
        || async { (watched.subscription().await["health"] == "circuit_open").then_some(()) };
    eventually(DEADLINE, is_open).await;
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    let url = watched.receiver.url("/another/path");
    let moved = watched.owner().patch(&path).json(json!({"url": url})).await.expect(200).json;
    assert_eq!((&moved["url"], &moved["health"]), (&json!(url), &json!("circuit_open")));
    assert!(moved["stats"]["consecutive_failures"].as_u64().unwrap() >= 10);
    let another = Receiver::start().await;
    let input = json!({"url": another.url("/")});
    let moved = watched.owner().patch(&path).json(input).await.expect(200).json;
    assert_eq!(
        (&moved["health"], &moved["stats"]["consecutive_failures"]),
        (&json!("healthy"), &json!(0))
    );
}

#[tokio::test]
async fn both_queues_skip_expired_deliveries_of_an_ordering_key() {
    for is_slow in [false, true] {
        keeps_the_order_and_forgets_what_is_gone(is_slow).await;
    }
}

async fn keeps_the_order_and_forgets_what_is_gone(is_slow: bool) {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let ordered = json!({"ordering": "entity"});
    let watched = Watched::with(gateway, Behaviour::Status(200), ordered).await;
    for name in ["First", "Second", "Third"] {
        watched.rename(name).await;
    }
    watched.gateway.advance(MINUTE + Duration::from_secs(1));
    watched.gateway.process_without_queues().sweep().await;
    let mut deliveries = watched.stored_for(&watched.subscription).await;
    deliveries.sort_by_key(|item| item["lane"]["order"].as_str().map(str::to_owned));
    let [first, second, _] = deliveries.as_slice() else { panic!("{deliveries:?}") };
    // As time-to-live would, which leaves its position.
    watched.gateway.delete_item(first).await;
    if is_slow {
        watched.gateway.function("SlowWebhooks").attempt_slowly(second).await;
    } else {
        watched.gateway.function("Webhooks").attempt(second).await;
    }
    let received = watched.receiver.wait_for(2).await;
    let names: Vec<_> = received.iter().map(|one| one.json()["data"]["name"].clone()).collect();
    assert_eq!(names, ["Second", "Third"]);
    eventually(DEADLINE, || async {
        watched.gateway.items_of("delivery_place", "WHS#").await.is_empty().then_some(())
    })
    .await;
}
