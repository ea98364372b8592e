//! From a change to a verified delivery, and every way a receiver can misbehave.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use gateway::clock::{DAY, HOUR, MINUTE};
use gateway::egress::{Egress, Policy, Ports};
use gateway::signature::{SigningSecret, service_hmac};
use std::sync::Arc;
use support::{
    Behaviour, Client, Gateway, Merchant, Names, Received, Receiver, Shop, Store, Value,
    eventually, json,
};
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_secs(30);
const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";
const DELIVERIES: &str = "/v1/operations/webhook-deliveries";

/// A merchant with a store whose events go to a receiver.
struct Watched {
    gateway: Gateway,
    merchant: Merchant,
    store: Store,
    receiver: Receiver,
    subscription: Value,
}

impl Watched {
    async fn by(behaviour: Behaviour) -> Self {
        Self::on(Gateway::start().await, behaviour).await
    }

    async fn on(gateway: Gateway, behaviour: Behaviour) -> Self {
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let receiver = Receiver::that(behaviour).await;
        let ask = json!({"url": receiver.url("/hooks"), "event_types": ["store.updated"]});
        let subscription = merchant.at(&store).post(SUBSCRIPTIONS).json(ask).await.expect(201).json;
        Self { gateway, merchant, store, receiver, subscription }
    }

    fn owner(&self) -> Client {
        self.merchant.at(&self.store)
    }

    /// Makes an event happen.
    async fn rename(&self, name: &str) {
        let path = format!("/v1/stores/{}", self.store.id);
        self.owner().patch(&path).json(json!({"name": name})).await.expect(200);
    }

    async fn deliveries(&self) -> Vec<Value> {
        self.owner().get(DELIVERIES).await.expect(200).data().clone()
    }

    /// The only delivery, once it is in this state.
    async fn delivery_in(&self, status: &str) -> Value {
        eventually(PATIENCE, || async {
            let deliveries = self.deliveries().await;
            deliveries.into_iter().find(|delivery| delivery["status"] == status)
        })
        .await
    }

    async fn attempts(&self, delivery: &Value) -> Vec<Value> {
        let path = format!("{DELIVERIES}/{}/attempts", delivery["id"].as_str().unwrap());
        self.owner().get(&path).await.expect(200).data().clone()
    }

    async fn subscription(&self) -> Value {
        let path = format!("{SUBSCRIPTIONS}/{}", self.subscription["id"].as_str().unwrap());
        self.owner().get(&path).await.expect(200).json
    }

    fn secret(&self) -> &str {
        self.subscription["secret"].as_str().unwrap()
    }
}

/// Whether a secret's signature is on a delivery, as Standard Webhooks' own library computes it.
/// (Its `verify` judges the timestamp by the system's clock, which a test leaves behind.)
fn is_signed_by(received: &Received, secret: &str) -> bool {
    let webhook = standardwebhooks::Webhook::new(secret).unwrap();
    let timestamp = received.header("webhook-timestamp").parse().unwrap();
    let signature = webhook.sign(received.header("webhook-id"), timestamp, &received.body).unwrap();
    received.header("webhook-signature").split(' ').any(|found| found == signature)
}

/// Verifies a delivery with Standard Webhooks' own library and by the interface's rule.
fn verify(received: &Received, secret: &str) {
    assert!(is_signed_by(received, secret), "{:?}", received.headers);
    let secret: SigningSecret = secret.parse().unwrap();
    let timestamp = received.header("x-service-timestamp").parse().unwrap();
    let expected = service_hmac(&secret, timestamp, &received.body);
    assert_eq!(received.header("x-service-hmac-sha256"), expected);
    assert_eq!(received.header("webhook-timestamp"), received.header("x-service-timestamp"));
}

#[tokio::test]
async fn a_change_arrives_signed_and_with_every_header() {
    let watched = Watched::by(Behaviour::Status(204)).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let path = format!("/v1/stores/{}", watched.store.id);
    let ask = watched.owner().patch(&path).json(json!({"name": "Renamed"}));
    ask.header("x-request-id", "my-request-1").header("traceparent", trace).await.expect(200);
    let received = watched.receiver.wait_for_event("store.updated").await;
    verify(&received, watched.secret());
    let webhook = standardwebhooks::Webhook::new(watched.secret()).unwrap();
    webhook.verify(&received.body, &received.headers).unwrap();
    let body = received.json();
    assert_eq!(received.header("x-service-event-id"), body["id"]);
    assert_eq!(received.header("webhook-id"), body["id"]);
    assert_eq!(received.header("x-service-event-type"), "store.updated");
    assert_eq!(received.header("x-service-request-id"), "my-request-1");
    assert_eq!(received.header("x-service-trace-id"), "0af7651916cd43dd8448eb211c80319c");
    assert!(received.header("traceparent").contains("0af7651916cd43dd8448eb211c80319c"));
    assert_eq!(received.header("x-service-store-id"), watched.store.id);
    assert_eq!(received.header("x-service-attempt"), "1");
    assert_eq!(received.header("user-agent"), "Service-Webhooks/1");
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(body["data"]["name"], "Renamed");
    assert_eq!(body["entity"]["id"], watched.store.id.as_str());
    let delivery = watched.delivery_in("succeeded").await;
    assert_eq!(received.header("x-service-delivery-id"), delivery["id"]);
    let attempts = watched.attempts(&delivery).await;
    assert_eq!(attempts.len(), 1);
    let frozen = watched.gateway.events("store.updated").await;
    assert_eq!(frozen[0], body, "the event is as it was frozen");
}

#[tokio::test]
async fn every_topic_of_the_catalogue_has_a_schema_that_its_example_meets() {
    let gateway = Gateway::start().await;
    let list = gateway.get("/v1/operations/event-types?limit=100").await.expect(200);
    assert!(list.data().len() >= 15);
    for topic in list.data() {
        let name = topic["type"].as_str().or(topic["name"].as_str()).unwrap();
        let entry =
            gateway.get(&format!("/v1/operations/event-types/{name}")).await.expect(200).json;
        let schema = entry.get("schema").or(entry.get("json_schema")).unwrap();
        let validator = jsonschema::validator_for(schema).unwrap();
        let example = &entry["example"];
        let faults: Vec<_> =
            validator.iter_errors(example).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
}

#[tokio::test]
async fn what_is_delivered_meets_its_schema() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Renamed").await;
    let received = watched.receiver.wait_for_event("store.updated").await;
    let entry =
        watched.gateway.get("/v1/operations/event-types/store.updated").await.expect(200).json;
    let schema = entry.get("schema").or(entry.get("json_schema")).unwrap();
    jsonschema::validate(schema, &received.json()).unwrap();
}

#[tokio::test]
async fn an_app_hears_of_its_own_uninstallation_by_its_webhook_url() {
    let receiver = Receiver::start().await;
    let mut fields = support::Developer::app_fields(&["read_store"]);
    fields["webhook_url"] = json!(receiver.url("/app"));
    let shop = Shop::on(Gateway::start().await, fields).await;
    let secret = shop.app.view["webhook_secret"].as_str().unwrap().to_owned();
    let grant = shop.authorize().await;
    verify(&receiver.wait_for_event("app.authorized").await, &secret);
    shop.uninstall(&grant.installation_id).await.expect(200);
    let received = receiver.wait_for_event("app.uninstalled").await;
    verify(&received, &secret);
    assert_eq!(received.json()["data"]["status"], "uninstalled");
}

#[tokio::test]
async fn an_app_subscribes_to_what_its_scopes_read_and_loses_it_with_the_installation() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let grant = shop.authorize().await;
    let app = shop.app_client().await;
    let receiver = Receiver::start().await;
    let ask = |types: Value| json!({"url": receiver.url("/"), "event_types": types});
    let made = app.post(SUBSCRIPTIONS).json(ask(json!(["store.*"]))).await.expect(201);
    let refused =
        app.post(SUBSCRIPTIONS).json(ask(json!(["navigation.updated"]))).await.expect(403);
    assert_eq!(refused.problem("insufficient_scope").str("/required_scope"), "read_content");
    let unknown =
        app.post(SUBSCRIPTIONS).json(ask(json!(["store.*", "order.eaten"]))).await.expect(422);
    assert_eq!(unknown.field_errors(), [("/event_types/1".into(), "unknown_event_type".into())]);
    // The merchant's own subscriptions are none of its business.
    let own = shop.owner().post(SUBSCRIPTIONS).json(ask(json!(["*"]))).await.expect(201);
    assert_eq!(app.get(SUBSCRIPTIONS).await.expect(200).data().len(), 1);
    let path = format!("{SUBSCRIPTIONS}/{}", own.str("/id"));
    app.get(&path).await.expect(404).problem("not_found");
    let list = shop.owner().get(SUBSCRIPTIONS).await.expect(200);
    assert_eq!(list.data().len(), 2);
    assert!(!list.text.contains(&own.str("/secret")), "a secret is shown once");
    shop.uninstall(&grant.installation_id).await.expect(200);
    let left = shop.owner().get(SUBSCRIPTIONS).await.expect(200);
    assert_eq!(left.data().len(), 1, "{} is gone", made.str("/id"));
}

#[tokio::test]
async fn a_duplicate_message_makes_no_second_attempt() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Once").await;
    let delivery = watched.delivery_in("succeeded").await;
    // The same message again, and twice at once, after success.
    let items = watched.gateway.items(&format!("DLV#{}", delivery["id"].as_str().unwrap())).await;
    let stored = items.iter().find(|item| item["SK"] == "A").unwrap();
    let stored: commerce::delivery::Delivery = serde_json::from_value(stored.clone()).unwrap();
    let body = serde_json::to_string(&stored.message()).unwrap();
    let mut message = SqsMessage::default();
    message.message_id = Some("duplicate".to_owned());
    message.body = Some(body);
    let mut batch = SqsEvent::default();
    batch.records = vec![message.clone(), message];
    let app = watched.gateway.app();
    let (first, second) =
        tokio::join!(webhooks::handle(app, batch.clone()), webhooks::handle(app, batch));
    assert!(first.batch_item_failures.is_empty() && second.batch_item_failures.is_empty());
    assert_eq!(watched.receiver.requests().len(), 1);
    assert_eq!(watched.attempts(&delivery).await.len(), 1);
}

#[tokio::test]
async fn a_failing_receiver_is_tried_again_by_the_schedule_until_exhausted() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    watched.rename("Again").await;
    let delivery = watched.delivery_in("retrying").await;
    let slots = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 86_400];
    for (made, slot) in slots.into_iter().enumerate() {
        // The slot, its jitter, and the minute in which a queue message would have carried it; the
        // breaker opens at the tenth failure in a row, which is the last here.
        watched.gateway.advance(Duration::from_secs(slot + slot / 4) + 2 * MINUTE);
        eventually(PATIENCE, || async {
            watched.gateway.sweep().await;
            (watched.receiver.requests().len() >= made + 2).then_some(())
        })
        .await;
        let status = if made + 2 == 10 { "exhausted" } else { "retrying" };
        eventually(PATIENCE, || async {
            let owner = watched.merchant.sign_in_again().await.at(&watched.store);
            let path = format!("{DELIVERIES}/{}", delivery["id"].as_str().unwrap());
            let reply = owner.get(&path).await.expect(200);
            (reply.json["status"] == status && reply.json["attempts"] == made + 2).then_some(())
        })
        .await;
    }
    let requests = watched.receiver.requests();
    assert_eq!(requests.len(), 10);
    let ids: std::collections::BTreeSet<_> =
        requests.iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 1, "the event's id stays");
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(request.header("x-service-attempt"), (number + 1).to_string());
        verify(request, watched.secret());
    }
}

#[tokio::test]
async fn redirects_are_not_followed_and_410_disables_at_once() {
    let elsewhere = Receiver::start().await;
    let watched = Watched::by(Behaviour::Redirect(elsewhere.url("/"))).await;
    watched.rename("Moved").await;
    let delivery = watched.delivery_in("retrying").await;
    let attempts = watched.attempts(&delivery).await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0]["status_code"].as_u64(), Some(302));
    assert_eq!(elsewhere.connections(), 0);
    watched.receiver.now(Behaviour::Status(410));
    watched.rename("Gone").await;
    eventually(PATIENCE, || async {
        (watched.subscription().await["status"] == "disabled_by_system").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_drips_hangs_or_floods_is_cut_off_and_the_others_go_on() {
    let watched = Watched::by(Behaviour::Drip(Duration::from_millis(100))).await;
    let hanging = Receiver::that(Behaviour::Hang).await;
    let flooding = Receiver::that(Behaviour::BigBody(4 << 20)).await;
    let healthy = Receiver::start().await;
    for receiver in [&hanging, &flooding, &healthy] {
        let ask = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
        watched.owner().post(SUBSCRIPTIONS).json(ask).await.expect(201);
    }
    watched.rename("Under load").await;
    healthy.wait_for_event("store.updated").await;
    flooding.wait_for_event("store.updated").await;
    let outcome = |url: String| {
        let watched = &watched;
        async move {
            eventually(Duration::from_secs(40), || async {
                let deliveries = watched.gateway.items_of("delivery", "DLV#").await;
                let subscriptions = watched.gateway.items_of("webhook_subscription", "STO#").await;
                let id = &subscriptions.iter().find(|found| found["url"] == url.as_str())?["id"];
                let found =
                    deliveries.iter().find(|delivery| &delivery["subscription_id"] == id)?;
                let status = found["status"].as_str()?.to_owned();
                (!matches!(status.as_str(), "pending" | "delivering")).then_some(status)
            })
            .await
        }
    };
    assert_eq!(
        outcome(flooding.url("/")).await,
        "succeeded",
        "2xx is success, the rest is not read"
    );
    assert_eq!(outcome(healthy.url("/")).await, "succeeded");
    assert_eq!(outcome(watched.receiver.url("/hooks")).await, "retrying");
    assert_eq!(outcome(hanging.url("/")).await, "retrying");
    let attempts = watched.gateway.items_of("delivery_attempt", "DLV#").await;
    let longest =
        attempts.iter().filter_map(|attempt| attempt["response_body"].as_str()).map(str::len);
    assert!(longest.max().unwrap_or(0) <= 16 * 1024);
}

#[tokio::test]
async fn a_rotation_signs_with_both_secrets_until_it_is_promoted() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let path = |action: &str| format!("{SUBSCRIPTIONS}/{id}/secret/{action}");
    watched.owner().post(&path("promote")).await.expect(409).problem("no_secret_rotation");
    let rotated = watched.owner().post(&path("rotate")).json(json!({})).await.expect(200);
    let new = rotated.str("/secret");
    watched.rename("Both").await;
    let both = watched.receiver.wait_for(1).await.remove(0);
    assert_eq!(both.header("webhook-signature").split(' ').count(), 2);
    verify(&both, watched.secret());
    assert!(is_signed_by(&both, &new));
    watched.owner().post(&path("promote")).await.expect(200);
    watched.rename("New alone").await;
    let alone = watched.receiver.wait_for(2).await.remove(1);
    verify(&alone, &new);
    assert_eq!(alone.header("webhook-signature").split(' ').count(), 1);
    // Without a grace the old secret is out at once.
    let bare =
        watched.owner().post(&path("rotate")).json(json!({"grace_seconds": 0})).await.expect(200);
    watched.rename("Newest alone").await;
    verify(&watched.receiver.wait_for(3).await.remove(2), &bare.str("/secret"));
}

#[tokio::test]
async fn a_test_delivery_and_a_redelivery_are_real_ones() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let test = format!("{SUBSCRIPTIONS}/{id}/test");
    let dry = watched.owner().post(&test).json(json!({"dry_run": true})).await.expect(200);
    assert!(
        dry.text.contains("X-Service-Hmac-SHA256") || dry.text.contains("x-service-hmac-sha256")
    );
    assert_eq!(watched.receiver.requests().len(), 0);
    watched.owner().post(&test).json(json!({"event_type": "store.updated"})).await.expect(202);
    verify(&watched.receiver.wait_for(1).await[0], watched.secret());
    watched.rename("For real").await;
    let first = watched.receiver.wait_for(2).await.remove(1);
    let delivery = first.header("x-service-delivery-id").to_owned();
    eventually(PATIENCE, || async {
        let path = format!("{DELIVERIES}/{delivery}/redeliver");
        let reply = watched.owner().post(&path).json(json!({})).await;
        (reply.status == 202).then_some(())
    })
    .await;
    let again = watched.receiver.wait_for(3).await.remove(2);
    assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(again.body, first.body);
    assert_ne!(again.header("x-service-delivery-id"), delivery);
}

#[tokio::test]
async fn a_store_has_at_most_50_subscriptions_however_they_race() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let answers = support::race(70, || {
        let ask = json!({"url": watched.receiver.url("/x"), "event_types": ["*"]});
        let owner = watched.owner();
        async move { owner.post(SUBSCRIPTIONS).json(ask).await.status }
    })
    .await;
    let made = answers.iter().filter(|status| **status == 201).count();
    let full = answers.iter().filter(|status| **status == 409).count();
    assert_eq!((made, full), (49, 21), "one was there");
}

#[tokio::test]
async fn subscriptions_are_judged_whole() {
    let gateway =
        Gateway::start_with(|options| options.embedded.egress = Egress::new(Policy::strict()))
            .await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let before = gateway.count().await;
    let ask =
        json!({"url": "nonsense", "event_types": ["order.eaten", "*"], "secret": "short", "x": 1});
    let reply = merchant.at(&store).post(SUBSCRIPTIONS).json(ask).await.expect(422);
    let fields: Vec<String> =
        reply.field_errors().into_iter().map(|(pointer, _)| pointer).collect();
    for pointer in ["/event_types/0", "/secret", "/x"] {
        assert!(fields.iter().any(|found| found == pointer), "{pointer} in {fields:?}");
    }
    for (url, code) in [
        ("http://hooks.example.com/", "invalid_url"),
        ("https://user@hooks.example.com/", "invalid_url"),
        ("https://hooks.example.com:22/", "invalid_url"),
        ("https://127.0.0.1/", "blocked_address"),
        ("https://2130706433/", "blocked_address"),
        ("https://[::ffff:127.0.0.1]/", "blocked_address"),
        ("https://169.254.169.254/latest/meta-data", "blocked_address"),
        ("https://localhost/", "blocked_address"),
    ] {
        let ask = json!({"url": url, "event_types": ["*"]});
        let reply = merchant.at(&store).post(SUBSCRIPTIONS).json(ask).await.expect(422);
        assert_eq!(reply.field_errors(), [("/url".to_owned(), code.to_owned())], "{url}");
    }
    assert_eq!(gateway.count().await, before);
}

#[tokio::test]
async fn a_name_that_rebinds_between_create_and_delivery_reaches_nobody() {
    let canary = Receiver::start().await;
    let names = Names::default();
    // The policy of production, but for the port that the canary listens on.
    let policy = Policy { allow_http: true, allow_loopback: false, ports: Ports::Any };
    let resolver = Arc::new(names.clone());
    let gateway = Gateway::start_with(|options| {
        options.embedded.egress = Egress::with_resolver(policy, resolver);
    })
    .await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    names.teach_turns("rebinding.example.com", &[&["93.184.215.14"], &["127.0.0.1"]]);
    names.teach("mixed.example.com", &["93.184.215.14", "127.0.0.1"]);
    names.teach("inside.example.com", &["10.0.0.7"]);
    let url = |host: &str| format!("http://{host}:{}/", canary.port());
    let ask = |host: &str| json!({"url": url(host), "event_types": ["store.updated"]});
    for host in ["mixed.example.com", "inside.example.com"] {
        let reply = owner.post(SUBSCRIPTIONS).json(ask(host)).await.expect(422);
        assert_eq!(reply.field_errors(), [("/url".to_owned(), "blocked_address".to_owned())]);
    }
    owner.post(SUBSCRIPTIONS).json(ask("rebinding.example.com")).await.expect(201);
    let path = format!("/v1/stores/{}", store.id);
    owner.patch(&path).json(json!({"name": "Bait"})).await.expect(200);
    eventually(PATIENCE, || async {
        let list = owner.get(DELIVERIES).await.expect(200);
        list.data().iter().any(|delivery| delivery["status"] == "blocked").then_some(())
    })
    .await;
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_dead_receivers_circuit_opens_and_one_probe_closes_it() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    for round in 0..12 {
        watched.rename(&format!("Round {round}")).await;
    }
    eventually(PATIENCE, || async {
        (watched.subscription().await["health"] == "circuit_open").then_some(())
    })
    .await;
    let tried = watched.receiver.requests().len();
    assert!((10..=12).contains(&tried), "{tried} requests before the circuit opened");
    watched.rename("While it is open").await;
    watched.receiver.now(Behaviour::Status(200));
    watched.gateway.advance(10 * MINUTE);
    eventually(PATIENCE, || async {
        watched.gateway.sweep().await;
        let deliveries = watched.gateway.items_of("delivery", "DLV#").await;
        let done = deliveries.iter().filter(|delivery| delivery["status"] == "succeeded").count();
        watched.gateway.advance(MINUTE);
        (done == 13).then_some(())
    })
    .await;
    assert_eq!(
        watched
            .merchant
            .sign_in_again()
            .await
            .at(&watched.store)
            .get(SUBSCRIPTIONS)
            .await
            .expect(200)
            .data()[0]["health"],
        "healthy"
    );
}

#[tokio::test]
async fn events_and_deliveries_survive_a_stop_and_a_start() {
    let data = std::env::temp_dir().join(format!("restart-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&data).unwrap();
    let receiver = Receiver::that(Behaviour::Status(503)).await;
    let start = || {
        let data = data.clone();
        Gateway::start_with(move |options| options.embedded.data = Some(data))
    };
    let first = start().await;
    let merchant = Merchant::sign_up(&first).await;
    let store = merchant.open_store().await;
    let ask = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    let secret = merchant.at(&store).post(SUBSCRIPTIONS).json(ask).await.expect(201).str("/secret");
    let path = format!("/v1/stores/{}", store.id);
    merchant.at(&store).patch(&path).json(json!({"name": "Before"})).await.expect(200);
    receiver.wait_for(1).await;
    // Ended as `kill -9` would end it, with a retry in a queue that is in memory.
    drop(first);
    eventually(PATIENCE, || async {
        let lock = std::fs::File::open(data.join("lock")).unwrap();
        lock.try_lock().is_ok().then_some(())
    })
    .await;
    receiver.now(Behaviour::Status(200));
    let second = start().await;
    let token = merchant.token().to_owned();
    second.client().with_token(&token).get("/v1/auth/me").await.expect(200);
    second.advance(5 * MINUTE);
    eventually(PATIENCE, || async {
        second.sweep().await;
        (receiver.requests().len() >= 2).then_some(())
    })
    .await;
    let received = receiver.requests().pop().unwrap();
    assert_eq!(received.json()["data"]["name"], "Before");
    verify(&received, &secret);
    drop(second);
    std::fs::remove_dir_all(&data).unwrap();
}

#[tokio::test]
async fn without_its_stream_the_sweep_alone_delivers_everything_once() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let watched = Watched::on(gateway, Behaviour::Status(200)).await;
    watched.rename("First").await;
    watched.gateway.sweep().await;
    assert_eq!(watched.receiver.connections(), 0, "the stream has a minute before the sweep");
    watched.gateway.advance(MINUTE + Duration::from_secs(1));
    watched.gateway.sweep().await;
    verify(&watched.receiver.wait_for(1).await[0], watched.secret());
    watched.delivery_in("succeeded").await;
    for pause in [MINUTE, 2 * HOUR, 9 * HOUR] {
        watched.gateway.advance(pause);
        watched.gateway.sweep().await;
    }
    assert_eq!(watched.receiver.requests().len(), 1, "nothing is sent twice");
}

#[tokio::test]
async fn the_outbox_is_the_audit_trail_and_can_be_verified() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("First").await;
    watched.delivery_in("succeeded").await;
    let outbox = watched.owner().get("/v1/operations/outbox").await.expect(200);
    let event = outbox.data().iter().find(|event| event["type"] == "store.updated").unwrap();
    assert_eq!(event["state"].as_str().or(event["status"].as_str()), Some("published"), "{event}");
    let verified = watched.owner().get("/v1/operations/outbox/verify").await.expect(200);
    assert_eq!((verified.int("/missing"), verified.int("/orphan")), (0, 0), "{}", verified.text);
    let audit = watched.owner().get("/v1/operations/audit-log").await.expect(200);
    let entry = audit.data().iter().find(|entry| entry["action"] == "store.updated").unwrap();
    assert_eq!(entry["actor"], format!("merchant:{}", watched.merchant.id));
}

#[tokio::test]
async fn scopes_that_were_taken_back_stop_what_was_queued_recovered_or_redelivered() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let app = shop.app_client().await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let ask = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    let made = app.post(SUBSCRIPTIONS).json(ask).await.expect(201);
    let store = format!("/v1/stores/{}", shop.store.id);
    shop.owner().patch(&store).json(json!({"name": "Readable"})).await.expect(200);
    let delivery = in_state(&shop.owner(), "retrying").await;
    // The merchant grants less from now on, and the receiver has healed.
    let mut fields = shop.authorize_fields(&support::verifier());
    fields["scopes"] = json!(["write_webhooks"]);
    shop.authorize_with(fields).await.expect(200);
    receiver.now(Behaviour::Status(200));
    let seen = receiver.requests().len();
    shop.gateway.advance(2 * MINUTE);
    shop.gateway.sweep().await;
    let ended = in_state(&shop.owner(), "cancelled").await;
    assert_eq!(ended["id"], delivery["id"]);
    let items = shop.gateway.items_of("delivery", "DLV#").await;
    assert_eq!(items[0]["last_error"], "insufficient_scope");
    let redeliver = format!("{DELIVERIES}/{}/redeliver", delivery["id"].as_str().unwrap());
    shop.owner().post(&redeliver).json(json!({})).await.expect(202);
    let recover = format!("{SUBSCRIPTIONS}/{}/recover", made.str("/id"));
    let since = json!({"since": shop.store.view["created_at"]});
    let recovered = shop.owner().post(&recover).json(since).await.expect(202);
    assert!(recovered.int("/matched") >= 1);
    eventually(PATIENCE, || async {
        let items = shop.gateway.items_of("delivery", "DLV#").await;
        let done = items.iter().all(|delivery| delivery["status"] == "cancelled");
        (done && items.len() == 2).then_some(())
    })
    .await;
    assert_eq!(receiver.requests().len(), seen);
    // Granted anew, what was missed can be recovered.
    shop.authorize().await;
    let since = json!({"since": shop.store.view["created_at"]});
    shop.owner().post(&recover).json(since).await.expect(202);
    receiver.wait_for(seen + 2).await;
}

/// The store's delivery in this state, once there is one.
async fn in_state(owner: &Client, status: &str) -> Value {
    eventually(PATIENCE, || async {
        let list = owner.get(DELIVERIES).await.expect(200);
        list.data().iter().find(|delivery| delivery["status"] == status).cloned()
    })
    .await
}

#[tokio::test]
async fn an_uninstallation_gives_back_no_place_that_a_deletion_has_given_back() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let app = shop.app_client().await;
    let receiver = Receiver::start().await;
    let ask = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    shop.owner().post(SUBSCRIPTIONS).json(ask.clone()).await.expect(201);
    let made = app.post(SUBSCRIPTIONS).json(ask).await.expect(201);
    let gateway = shop.gateway.app();
    let store = commerce::id::StoreId::parse(&shop.store.id).unwrap();
    let app_id = commerce::id::AppId::parse(&shop.app.id).unwrap();
    let query = gateway::table::Query::partition(commerce::key::store(&store).pk)
        .begins_with(commerce::key::SUBSCRIPTIONS);
    let known: Vec<commerce::subscription::Subscription> =
        gateway.table.all(&query, 60).await.unwrap();
    app.delete(&format!("{SUBSCRIPTIONS}/{}", made.str("/id"))).await.expect(204);
    let late = || {
        commerce::subscription::remove_of_app(gateway.table.write(), &store, &app_id, &known)
            .commit()
    };
    let refused = late().await.unwrap_err();
    assert_eq!(refused.code, gateway::problem::Code::VersionConflict);
    let counters = shop.gateway.items_of("webhook_subscription_count", "STO#").await;
    assert_eq!(counters[0]["count"], 1);
}

#[tokio::test]
async fn a_custom_header_is_sent_and_never_shown() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let ask = json!({"headers": {"x-api-key": "sesame-opens"}});
    watched.owner().patch(&format!("{SUBSCRIPTIONS}/{id}")).json(ask).await.expect(200);
    let test = format!("{SUBSCRIPTIONS}/{id}/test");
    let dry = watched.owner().post(&test).json(json!({"dry_run": true})).await.expect(200);
    assert!(!dry.text.contains("sesame-opens"), "{}", dry.text);
    assert_eq!(dry.str("/headers/x-api-key"), "***");
    watched.owner().post(&test).json(json!({})).await.expect(202);
    assert_eq!(watched.receiver.wait_for(1).await[0].header("x-api-key"), "sesame-opens");
}

#[tokio::test]
async fn an_app_that_moves_its_webhook_url_hears_again_after_it_was_given_up() {
    let gone = Receiver::that(Behaviour::Status(410)).await;
    let mut fields = support::Developer::app_fields(&["read_store"]);
    fields["webhook_url"] = json!(gone.url("/app"));
    let shop = Shop::on(Gateway::start().await, fields).await;
    let grant = shop.authorize().await;
    let status = || async {
        let items = shop.gateway.items_of("webhook_subscription", "APP#").await;
        items[0]["status"].as_str().unwrap().to_owned()
    };
    eventually(PATIENCE, || async { (status().await == "disabled_by_system").then_some(()) }).await;
    let fresh = Receiver::start().await;
    let path = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    let ask = json!({"webhook_url": fresh.url("/app")});
    shop.developer.patch(&path).json(ask).await.expect(200);
    assert_eq!(status().await, "enabled");
    shop.uninstall(&grant.installation_id).await.expect(200);
    let secret = shop.app.view["webhook_secret"].as_str().unwrap();
    verify(&fresh.wait_for_event("app.uninstalled").await, secret);
}

/// A way to the table on which every transaction fails, as often as `failures` says.
async fn failing_writes(table: String, failures: Arc<AtomicUsize>) -> (String, JoinSet<()>) {
    let http = reqwest::Client::new();
    let forward = move |headers: http::HeaderMap, body: axum::body::Bytes| {
        let (table, http, failures) = (table.clone(), http.clone(), Arc::clone(&failures));
        async move {
            let target = headers.get("x-amz-target").and_then(|value| value.to_str().ok());
            let is_write = target.is_some_and(|target| target.ends_with("TransactWriteItems"));
            let take = |left: usize| left.checked_sub(1);
            if is_write && failures.fetch_update(SeqCst, SeqCst, take).is_ok() {
                let kind = "com.amazonaws.dynamodb.v20120810#AccessDeniedException";
                let body = json!({"__type": kind, "message": "no"}).to_string();
                return (http::StatusCode::BAD_REQUEST, body.into_bytes().into());
            }
            let sent = http.post(&table).headers(headers).body(body).send().await.unwrap();
            (sent.status(), sent.bytes().await.unwrap())
        }
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().fallback(forward);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (endpoint, tasks)
}

#[tokio::test]
async fn an_outage_gives_up_no_event_however_old_it_is() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let watched = Watched::on(gateway, Behaviour::Status(200)).await;
    watched.rename("Old").await;
    let embedded = watched.gateway.system().embedded();
    let failures = Arc::new(AtomicUsize::new(1));
    let table = embedded.emulators().dynamodb_endpoint().to_owned();
    let (endpoint, _tasks) = failing_writes(table, Arc::clone(&failures)).await;
    let app = embedded.app_with_table_at(&endpoint);
    watched.gateway.advance(2 * HOUR);
    let report = dispatcher::sweep(&app).await;
    assert_eq!(failures.load(SeqCst), 0);
    assert_eq!(report.failures, 1, "the others of its chunk were published: {report:?}");
    let events = watched.gateway.items_of("event", "EVT#").await;
    assert!(events.iter().all(|event| event["state"] != "failed"), "{events:?}");
    // The next sweep publishes what this one could not.
    watched.gateway.sweep().await;
    watched.receiver.wait_for_event("store.updated").await;
}

#[tokio::test]
async fn a_filter_that_passes_nothing_ends_the_page_with_a_cursor_and_is_charged_in_full() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Sample").await;
    let id = watched.delivery_in("succeeded").await["id"].as_str().unwrap().to_owned();
    let app = watched.gateway.app();
    let key = commerce::key::delivery(&commerce::id::DeliveryId::parse(&id).unwrap());
    let sample: commerce::delivery::Delivery = app.table.get(&key).await.unwrap().unwrap();
    watched.gateway.advance(6 * DAY);
    for day in 1..=5_u32 {
        let more = (0..30).map(|number| commerce::delivery::Delivery {
            id: commerce::id::DeliveryId::derive(&[&day.to_string(), &number.to_string()]),
            created_at: sample.created_at.plus(DAY * day),
            ..sample.clone()
        });
        let write = more.fold(app.table.write(), |write, delivery| write.put(&delivery));
        write.commit().await.unwrap();
    }
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    let mut path = format!("{DELIVERIES}?status=cancelled&limit=1");
    let first = owner.get(&path).await.expect(200);
    assert_eq!((first.data().len(), first.json["page"]["has_more"].as_bool()), (0, Some(true)));
    assert!(first.trips() <= 45, "{} round trips", first.trips());
    assert_eq!(first.header("x-service-cost-actual"), first.header("x-service-cost-requested"));
    let mut pages = 0;
    loop {
        let reply = owner.get(&path).await.expect(200);
        assert!(reply.data().is_empty());
        pages += 1;
        let Some(cursor) = reply.json["page"]["next_cursor"].as_str() else { break };
        path = format!("{DELIVERIES}?status=cancelled&limit=1&cursor={cursor}");
    }
    // Of 150 and one, two are read at once: some 81 queries, 40 a page.
    assert_eq!(pages, 3);
    let mut found = std::collections::BTreeSet::new();
    path = format!("{DELIVERIES}?status=succeeded&limit=7");
    loop {
        let reply = owner.get(&path).await.expect(200);
        let new = reply.data().iter().all(|one| found.insert(one["id"].to_string()));
        assert!(new, "nothing comes twice");
        let Some(cursor) = reply.json["page"]["next_cursor"].as_str() else { break };
        path = format!("{DELIVERIES}?status=succeeded&limit=7&cursor={cursor}");
    }
    assert_eq!(found.len(), 151);
}

#[tokio::test]
async fn every_recorded_answer_goes_with_a_deliverys_content() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Sample").await;
    let id = watched.delivery_in("succeeded").await["id"].as_str().unwrap().to_owned();
    let app = watched.gateway.app();
    let id = commerce::id::DeliveryId::parse(&id).unwrap();
    let key = commerce::key::attempt(&id, 1);
    let sample: commerce::delivery::Attempt = app.table.get(&key).await.unwrap().unwrap();
    for chunk in (1..=230_u32).collect::<Vec<_>>().chunks(50) {
        let write = chunk.iter().fold(app.table.write(), |write, number| {
            let sample = commerce::delivery::Attempt { number: *number, ..sample.clone() };
            write.put(&sample.with_response(b"private", false))
        });
        write.commit().await.unwrap();
    }
    let path = format!("{DELIVERIES}/{id}/content");
    watched.owner().delete(&path).await.expect(204);
    let attempts = watched.gateway.items_of("delivery_attempt", "DLV#").await;
    assert_eq!(attempts.len(), 230);
    assert!(attempts.iter().all(|attempt| attempt.get("response_body").is_none()));
    let redeliver = format!("{DELIVERIES}/{id}/redeliver");
    watched.owner().post(&redeliver).await.expect(409).problem("payload_expunged");
}
