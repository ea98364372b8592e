//! The canary store: who is met by a fault that is injected for it, and who is not.

use std::time::Duration;

use core_types::event::{Event, EventGroup};
use core_types::id::StoreId;
use core_types::key;
use delivery::delivery::{Delivery, QUEUE, Speed};
use delivery::subscription::Subscription;
use gateway::app::App;
use primitives::problem::Code;
use reliability::canary;
use support::clock::{HOUR, MINUTE};
use support::{Gateway, Market, Receiver, Value, cart, eventually, json};
use table::canary::{CanaryHold, Fault, FaultKind};
use table::metered;

const RECEIVER: &str = "/v1/operations/runtime/canary/deliveries";
const EVERY: [FaultKind; 4] = [
    FaultKind::TableThrottled,
    FaultKind::QueueUnavailable,
    FaultKind::ReceiverDown,
    FaultKind::RelayStall,
];

/// Injects a fault for the canary, as the runner does, for so long.
async fn inject(gateway: &Gateway, kind: FaultKind, lasts: Duration) {
    let now = gateway.now();
    let fault = Fault { kind, expires_at: now.plus(lasts) };
    let held_until = now.plus(HOUR);
    let hold = CanaryHold { run_id: "test".into(), fault: Some(fault), held_until, version: 1 };
    gateway.app().table.write().put(&hold).commit().await.unwrap();
}

/// An event of the canary's, and its group as it is stored.
async fn event(gateway: &Gateway) -> (Event, EventGroup) {
    let id = canary::make_event(gateway.app()).await.unwrap();
    let group: EventGroup = gateway.app().table.get(&key::event(&id)).await.unwrap().unwrap();
    (group.event(&id).unwrap().clone(), group)
}

async fn subscription(gateway: &Gateway) -> Subscription {
    canary::subscription(gateway.app()).await.unwrap().unwrap()
}

/// Without a stream: nothing happens between the calls of a test.
async fn still() -> Gateway {
    Gateway::start_with(|options| options.has_stream = false).await
}

fn function(gateway: &Gateway, name: &str) -> App {
    gateway.system().functions().named(name).unwrap().app().clone()
}

#[tokio::test]
async fn the_canary_store_is_created_once_in_parallel() {
    let gateway = still().await;
    let made = support::race(20, || canary::ensure(gateway.app())).await;
    assert!(made.into_iter().all(|store| store.unwrap().id.is_canary()));
    let items = gateway.items(&key::store(&StoreId::canary()).pk).await;
    let mut kinds: Vec<&str> = items.iter().map(|item| item["entity"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["location", "store", "webhook_subscription"]);
    assert_eq!(gateway.items_of("merchant", "MER#").await.len(), 1);
    // Nobody signs in to it, and nobody has its secret.
    let input = json!({"email": "canary@canary.invalid", "password": "correct horse battery"});
    gateway.client().post("/v1/auth/signin").json(input).await.expect(401);
}

#[tokio::test]
async fn other_stores_neither_read_nor_meet_injected_faults() {
    let market = Market::open().await;
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    let hooks = "/v1/operations/webhook-subscriptions";
    market.owner.post(hooks).json(input).await.expect(201);
    let variant = market.stock(1_000, 10).await;
    let path = format!("/v1/stores/{}", market.store.id);
    let trips = |reply: &support::Reply| {
        let timing = reply.header("server-timing").unwrap();
        let (_, rest) = timing.split_once("trips=").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let mut counts = Vec::new();
    for (round, kind) in [None, None].into_iter().chain(EVERY.map(Some)).enumerate() {
        if let Some(kind) = kind {
            inject(&market.gateway, kind, HOUR).await;
        }
        let name = json!({"name": format!("Round {round}")});
        let renamed = market.owner.patch(&path).json(name).await.expect(200);
        let placed = market.try_order(cart(&[(&variant, 1)])).await.expect(201);
        counts.push((trips(&renamed), trips(&placed)));
        receiver.wait_for(round + 1).await;
    }
    // The first looks for what is remembered from then on.
    assert!(counts[1..].iter().all(|count| *count == counts[1]), "{counts:?}");
}

#[tokio::test]
async fn an_injected_throttle_rejects_only_the_canarys_writes() {
    let gateway = still().await;
    let store = canary::ensure(gateway.app()).await.unwrap();
    let (made, group) = event(&gateway).await;
    inject(&gateway, FaultKind::TableThrottled, MINUTE).await;
    let rejected = canary::make_event(gateway.app()).await.unwrap_err();
    assert_eq!(rejected.code, Code::Unavailable);
    // Neither its deliveries are made: they are in its lists.
    let failed = dispatcher::publish(gateway.app(), &group).await.unwrap_err();
    assert_eq!(failed.code, Code::Unavailable);
    assert!(gateway.items_of("delivery", "DLV#").await.is_empty());
    let path = format!("/v1/storefront/{}", store.subdomain.as_str());
    gateway.get(&path).await.expect(200);
    gateway.advance(MINUTE);
    canary::make_event(gateway.app()).await.unwrap();
    dispatcher::publish(gateway.app(), &group).await.unwrap();
    let deliveries = gateway.items_of("delivery", "DLV#").await;
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0]["event_id"], made.id.as_str());
}

#[tokio::test]
async fn an_injected_queue_fault_rejects_only_the_canarys_messages() {
    let gateway = still().await;
    canary::ensure(gateway.app()).await.unwrap();
    let (made, _) = event(&gateway).await;
    let now = gateway.now();
    let its_own = Delivery::new(&made, &subscription(&gateway).await, now).message();
    let other = StoreId::mint(now);
    let others = delivery::delivery::DeliveryMessage { store_id: Some(other), ..its_own.clone() };
    // Delayed, so that nobody works on them.
    let app = gateway.app();
    let waiting = || async { app.queue(QUEUE).depth().await.unwrap() };
    inject(&gateway, FaultKind::QueueUnavailable, MINUTE).await;
    let both = [(its_own.clone(), HOUR), (others, HOUR)];
    app.queue(QUEUE).send(&both).await.unwrap_err();
    assert_eq!(waiting().await.delayed, 1, "the other store's");
    gateway.advance(MINUTE);
    app.queue(QUEUE).send(&[(its_own, HOUR)]).await.unwrap();
    assert_eq!(waiting().await.delayed, 2);
}

#[tokio::test]
async fn a_stalled_outbox_relay_leaves_the_canarys_events_pending() {
    let gateway = still().await;
    canary::ensure(gateway.app()).await.unwrap();
    inject(&gateway, FaultKind::RelayStall, 3 * MINUTE).await;
    let (made, _) = event(&gateway).await;
    gateway.advance(2 * MINUTE);
    assert_eq!(gateway.sweep().await.events, 0);
    let pending = || async {
        let events = gateway.all_events().await;
        let found = events.into_iter().find(|event| event.id == made.id).unwrap();
        found.state.as_str() == "pending"
    };
    assert!(pending().await && gateway.items("DLV#").await.is_empty());
    gateway.advance(MINUTE);
    assert_eq!(gateway.sweep().await.events, 1);
    assert!(!pending().await);
    eventually(Duration::from_secs(30), || async {
        let receipts = gateway.items_of("canary_receipt", "FLT#").await;
        (receipts.len() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_injected_receiver_fault_fails_attempts_on_both_queues() {
    let gateway = still().await;
    canary::ensure(gateway.app()).await.unwrap();
    for (name, speed) in [("Webhooks", Speed::Fast), ("SlowWebhooks", Speed::Slow)] {
        let (made, _) = event(&gateway).await;
        let delivery = Delivery::new(&made, &subscription(&gateway).await, gateway.now());
        delivery.create(gateway.app()).await.unwrap();
        inject(&gateway, FaultKind::ReceiverDown, MINUTE).await;
        let app = function(&gateway, name);
        let (sent, used) =
            metered(gateway.now(), webhooks::attempt_at(&app, &delivery.message(), speed)).await;
        sent.unwrap();
        assert!(used.trips >= 4, "the fault is read: {used:?}");
        let found: Delivery =
            gateway.app().table.get(&key::delivery(&delivery.id)).await.unwrap().unwrap();
        assert_eq!((found.status.as_str(), found.attempt), ("retrying", 1));
        assert_eq!(found.last_error.as_deref(), Some("connect"));
        gateway.advance(MINUTE);
        gateway.advance(2 * MINUTE);
        gateway.sweep().await;
        eventually(Duration::from_secs(30), || async {
            let receipts = gateway.items_of("canary_receipt", "FLT#").await;
            let is_it = |receipt: &Value| receipt["event_id"] == made.id.as_str();
            receipts.iter().any(is_it).then_some(())
        })
        .await;
    }
    // What is not signed, or by somebody else, is not taken in.
    let before = gateway.items_of("canary_receipt", "FLT#").await.len();
    let client = gateway.client();
    let event = format!("evt_{}", "0".repeat(32));
    let seconds = gateway.now().seconds().to_string();
    let forged = client.post(RECEIVER).json(json!({"id": event}));
    forged.await.expect(400).problem("signature_mismatch");
    let forged = client
        .post(RECEIVER)
        .json(json!({"id": event}))
        .header("webhook-id", &event)
        .header("x-service-timestamp", &seconds)
        .header("x-service-hmac-sha256", "AAAA")
        .header("webhook-signature", "v1,AAAA");
    forged.await.expect(400).problem("signature_mismatch");
    assert_eq!(gateway.items_of("canary_receipt", "FLT#").await.len(), before);
}
