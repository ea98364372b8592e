//! Failover drills: what each finds, what ends it, and whom it leaves alone.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::Duration;

use super::pages::page;
use support::clock::{MINUTE, Timestamp};
use support::{
    CANARY_STORE, Gateway, Market, Merchant, Operator, Receiver, Reply, Value, canary_merchant,
    eventually, json, unique,
};

const DRILLS: &str = "/v1/operations/runtime/failover-drills";
const DEADLINE: Duration = Duration::from_secs(90);

/// A drill of this kind; change it at will.
pub(super) fn drill(kind: &str) -> Value {
    json!({
        "kind": kind, "hypothesis": "Everything arrives in time.", "target": "canary",
        "duration_s": 2, "rto_s": 600, "rpo_events": 0, "confirm": true,
    })
}

fn with(mut drill: Value, fields: Value) -> Value {
    if let (Value::Object(asked), Value::Object(more)) = (&mut drill, fields) {
        asked.extend(more);
    }
    drill
}

struct Trial {
    gateway: Gateway,
    operator: Operator,
}

impl Trial {
    async fn start() -> Self {
        Self::on(Gateway::start().await).await
    }

    async fn on(gateway: Gateway) -> Self {
        let operator = Operator::sign_up(&gateway).await;
        Self { gateway, operator }
    }

    async fn request(&self, drill: Value) -> Reply {
        self.operator.post(DRILLS).key(&unique("drill")).json(drill).await
    }

    async fn begin(&self, drill: Value) -> String {
        let reply = self.request(drill).await.expect(202);
        assert_eq!(reply.str("/status"), "scheduled");
        reply.str("/id")
    }

    async fn show(&self, id: &str) -> Value {
        self.operator.get(&format!("{DRILLS}/{id}")).await.expect(200).json
    }

    /// The drill once it is in one of these states.
    async fn until(&self, id: &str, statuses: &[&str]) -> Value {
        eventually(DEADLINE, || async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let drill = self.show(id).await;
            statuses.contains(&drill["status"].as_str().unwrap()).then_some(drill)
        })
        .await
    }

    /// The drill once it is over, for which the clock is moved on when its fault is.
    async fn over(&self, id: &str, wait: Duration) -> Value {
        self.until(id, &["recovering", "completed", "stopped"]).await;
        if !wait.is_zero() {
            self.gateway.advance(wait);
            self.gateway.sweep().await;
        }
        self.until(id, &["completed", "stopped"]).await
    }
}

fn time(drill: &Value, name: &str) -> Timestamp {
    let text = drill[name].as_str().unwrap_or_else(|| panic!("no {name}: {drill}"));
    Timestamp::parse(text).unwrap()
}

/// Nothing was lost, all arrived, and it is known how long that took.
fn assert_recovered(drill: &Value, seconds: u64) {
    assert_eq!(drill["status"], "completed", "{drill}");
    assert_eq!(
        (&drill["verdict"], &drill["lost_events"]),
        (&json!("passed"), &json!(0)),
        "{drill}"
    );
    assert!(drill["observed_rto_s"].is_u64(), "{drill}");
    let events = &drill["events"];
    assert!(events["made"].as_u64().unwrap() >= 4, "{drill}");
    assert_eq!(events["made"], events["delivered"], "{drill}");
    assert_eq!(events["made"], events["received"], "{drill}");
    let (injected, ended) = (time(drill, "injected_at"), time(drill, "fault_ended_at"));
    assert!(ended <= injected.plus(Duration::from_secs(seconds)), "{drill}");
    assert!(time(drill, "recovered_at") >= ended, "{drill}");
}

#[tokio::test]
async fn events_of_a_stalled_outbox_are_delivered_by_the_sweep() {
    let trial = Trial::start().await;
    let id = trial.begin(drill("outbox_relay_stall")).await;
    let over = trial.over(&id, MINUTE + Duration::from_secs(1)).await;
    assert_recovered(&over, 2);
    assert!(
        over["detected_at"].is_string() && over["observed_rto_s"].as_u64() >= Some(60),
        "{over}"
    );
}

#[tokio::test]
async fn events_of_an_unavailable_queue_are_delivered_by_the_sweep() {
    let trial = Trial::start().await;
    let id = trial.begin(drill("queue_unavailable")).await;
    let over = trial.over(&id, 2 * MINUTE + Duration::from_secs(1)).await;
    assert_recovered(&over, 2);
    assert!(over["detected_at"].is_string(), "{over}");
}

#[tokio::test]
async fn a_recovered_receiver_gets_every_event() {
    let trial = Trial::start().await;
    let id = trial.begin(with(drill("receiver_down"), json!({"duration_s": 5}))).await;
    let over = trial.over(&id, Duration::ZERO).await;
    assert_recovered(&over, 5);
    // What fails on purpose is nobody's incident, and the next drill may begin.
    assert_eq!(trial.gateway.look().await.opened, 0);
    assert!(over["events"]["failed_attempts"].as_u64().unwrap() > 0, "{over}");
    let page = page(&trial.operator, &format!("{DRILLS}/{id}")).await;
    for shown in ["receiver down", "passed", "fault over", "recovery", "0 of at most 0", "<svg"] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(over["detected_at"].is_string(), "{over}");
    let statuses: Vec<&str> = over["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses.first(), Some(&"scheduled"));
    assert_eq!(statuses.last(), Some(&"completed"));
    let listed = trial.operator.get(DRILLS).await.expect(200);
    assert_eq!(listed.data()[0], over);
}

#[tokio::test]
async fn throttled_writes_are_rejected_and_never_acknowledged() {
    let trial = Trial::start().await;
    let id = trial.begin(drill("table_throttled")).await;
    let over = trial.over(&id, Duration::ZERO).await;
    assert_recovered(&over, 2);
    assert!(over["events"]["rejected_writes"].as_u64().unwrap() > 0, "{over}");
}

#[tokio::test]
async fn every_delivery_verifies_during_a_secret_rotation() {
    let trial = Trial::start().await;
    let id = trial.begin(drill("signing_key_rotation")).await;
    let over = trial.over(&id, Duration::ZERO).await;
    assert_recovered(&over, 2);
    assert!(over["detected_at"].is_string(), "{over}");
    let subscription = trial.gateway.items_of("webhook_subscription", "STO#").await.remove(0);
    assert!(subscription["version"].as_u64() >= Some(2), "rotated: {subscription}");
    let now = json!(trial.gateway.now());
    let old = &subscription["rotation"]["expires_at"];
    assert!(old.is_null() || old.as_str() <= now.as_str(), "the old secret signs no more: {old}");
}

#[tokio::test]
async fn a_met_stop_condition_ends_the_fault_within_two_seconds() {
    let trial = Trial::start().await;
    let condition = json!([
        {"metric": "queue_depth", "above": 1_000_000},
        {"metric": "undelivered_events", "above": 0},
    ]);
    let input =
        with(drill("receiver_down"), json!({"duration_s": 300, "stop_conditions": condition}));
    let id = trial.begin(input).await;
    let over = trial.over(&id, Duration::ZERO).await;
    assert_eq!(
        (&over["status"], &over["verdict"]),
        (&json!("stopped"), &json!("failed")),
        "{over}"
    );
    assert!(over["stop_reason"].as_str().unwrap().starts_with("undelivered_events above 0"));
    // It is met when the first event is made while the fault is there.
    let stored = trial.gateway.items("DRL#").await.remove(0);
    let injected = time(&over, "injected_at");
    let made = stored["beats"].as_array().unwrap().iter().map(|beat| time(beat, "made_at"));
    let met = made.filter(|at| *at >= injected).min().unwrap();
    let ended = time(&over, "fault_ended_at");
    assert!(ended <= met.plus(Duration::from_secs(2)), "{} ms", ended.millis() - met.millis());
    assert_eq!(over["lost_events"], 0, "{over}");
    assert!(over["observed_rto_s"].is_u64(), "{over}");
}

#[tokio::test]
async fn aborting_a_drill_ends_its_fault_and_releases_the_canary() {
    let trial = Trial::start().await;
    let id = trial.begin(with(drill("receiver_down"), json!({"duration_s": 300}))).await;
    trial.until(&id, &["injected"]).await;
    trial.request(drill("receiver_down")).await.expect(409).problem("drill_running");
    let load = json!({"duration_s": 1, "requests_per_second": 1});
    let test = trial.operator.post("/v1/operations/runtime/load-tests").json(load).await;
    test.expect(409).problem("drill_running");
    assert_eq!(trial.gateway.items_of("canary_hold", "FLT#").await.len(), 1);
    let abort = || trial.operator.post(&format!("{DRILLS}/{id}/abort")).json(json!({}));
    let asked = trial.gateway.now();
    let aborted = abort().await.expect(200);
    assert_eq!(aborted.str("/status"), "aborted");
    assert!(time(&aborted.json, "fault_ended_at") <= asked.plus(Duration::from_secs(2)));
    assert!(trial.gateway.items_of("canary_hold", "FLT#").await.is_empty());
    let stated = format!("/v1/operations/reliability-evidence/{}", aborted.str("/evidence_ids/0"));
    assert_eq!(trial.operator.get(&stated).await.expect(200).str("/outcome"), "aborted");
    abort().await.expect(409).problem("invalid_state_transition");
    // What was held up arrives, measured or not; and the next drill can begin.
    let next = trial.begin(drill("table_throttled")).await;
    trial.until(&next, &["injected", "recovering", "completed"]).await;
    assert_eq!(trial.show(&id).await["status"], "aborted");
}

#[tokio::test]
async fn a_fault_expires_and_the_sweep_finishes_an_interrupted_drill() {
    let data = std::env::temp_dir().join(format!("drill-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&data).unwrap();
    // The canary's receiver is where it was.
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let start = || {
        let data = data.clone();
        Gateway::start_with(move |options| {
            options.embedded.data = Some(data);
            options.port = Some(port);
        })
    };
    let trial = Trial::on(start().await).await;
    let id = trial.begin(with(drill("receiver_down"), json!({"duration_s": 20}))).await;
    eventually(DEADLINE, || async {
        let drill = trial.show(&id).await;
        (drill["events"]["failed_attempts"].as_u64() > Some(0)).then_some(())
    })
    .await;
    let Trial { gateway, operator } = trial;
    let token = operator.token().to_owned();
    // As `kill -9` ends it, with the runner's message in a queue that is in memory.
    drop(gateway);
    eventually(DEADLINE, || async {
        let lock = std::fs::File::open(data.join("lock")).unwrap();
        lock.try_lock().is_ok().then_some(())
    })
    .await;
    let gateway = start().await;
    let client = gateway.client().with_token(&token);
    let show = || async { client.get(&format!("{DRILLS}/{id}")).await.expect(200).json };
    assert_eq!(show().await["status"], "injected");
    gateway.advance(3 * MINUTE);
    let over = eventually(DEADLINE, || async {
        gateway.sweep().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let drill = show().await;
        (drill["status"] == "completed").then_some(drill)
    })
    .await;
    let lasted = time(&over, "injected_at").until(time(&over, "fault_ended_at"));
    assert_eq!(lasted, Duration::from_secs(20), "by its own time: {over}");
    assert_eq!((&over["lost_events"], &over["verdict"]), (&json!(0), &json!("passed")), "{over}");
    drop(gateway);
    std::fs::remove_dir_all(&data).unwrap();
}

#[tokio::test]
async fn a_drills_dry_run_reports_its_blast_radius_and_writes_nothing() {
    let trial = Trial::start().await;
    let before = trial.gateway.count().await;
    let input = with(drill("receiver_down"), json!({"dry_run": true, "confirm": false}));
    let dry = trial.request(input).await.expect(200);
    assert_eq!(dry.str("/targets/0/store_id"), CANARY_STORE);
    assert_eq!(dry.str("/blast_radius/component"), "webhooks");
    assert_eq!((dry.int("/blast_radius/percent"), dry.at("/drills_allowed")), (2, &json!(true)));
    assert_eq!(trial.gateway.count().await, before);
}

#[tokio::test]
async fn a_drill_is_validated_before_anything_is_written() {
    let trial = Trial::start().await;
    let before = trial.gateway.count().await;
    let rejected = |fields: Value| trial.request(with(drill("receiver_down"), fields));
    rejected(json!({"confirm": false})).await.expect(422).problem("validation_failed");
    for fields in [
        json!({"blast_radius_percent": 11}),
        json!({"blast_radius_percent": 1, "duration_s": 60}),
        json!({"target": "sto_00000000000000000000000000000000"}),
    ] {
        rejected(fields).await.expect(422).problem("blast_radius_exceeded");
    }
    // What that has cost is restored.
    trial.gateway.advance(Duration::from_secs(10));
    for (field, value) in [
        ("duration_s", json!(301)),
        ("duration_s", json!(0)),
        ("kind", json!("meteor")),
        ("rto_s", json!(-1)),
        ("hypothesis", json!("")),
        ("stop_conditions", json!([{"metric": "mood", "above": 1}])),
    ] {
        let reply = rejected(json!({ field: value })).await.expect(422);
        let pointer = reply.str("/errors/0/pointer");
        assert!(pointer.starts_with(&format!("/{field}")), "{pointer}");
    }
    let keyless = trial.operator.post(DRILLS).json(drill("receiver_down")).await;
    keyless.expect(400).problem("idempotency_key_required");
    let unknown = format!("{DRILLS}/drl_{}", "0".repeat(32));
    trial.operator.get(&unknown).await.expect(404);
    trial.operator.post(&format!("{unknown}/abort")).json(json!({})).await.expect(404);
    assert_eq!(trial.gateway.count().await, before);
    // Asked for twice under one key, it is scheduled once.
    let key = unique("drill");
    let request = || trial.operator.post(DRILLS).key(&key).json(drill("table_throttled"));
    let (first, again) = (request().await.expect(202), request().await.expect(202));
    assert_eq!(first.str("/id"), again.str("/id"));
    assert_eq!(trial.gateway.items("DRL#").await.len(), 1);
}

#[tokio::test]
async fn drills_are_rejected_while_an_incident_is_open() {
    let trial = Trial::start().await;
    let input = json!({"title": "Late", "severity": "high", "components": ["api"]});
    let incidents = "/v1/operations/runtime/incidents";
    let opened = trial.operator.post(incidents).key("one").json(input).await.expect(201).str("/id");
    let act = |action: &str| trial.operator.post(&format!("{incidents}/{opened}/{action}"));
    act("acknowledge").json(json!({})).await.expect(200);
    trial.request(drill("receiver_down")).await.expect(409).problem("incident_open");
    assert!(trial.gateway.items("DRL#").await.is_empty());
    act("resolve").json(json!({})).await.expect(200);
    trial.begin(drill("table_throttled")).await;
}

#[tokio::test]
async fn only_operators_run_drills_and_only_where_the_deployment_allows_them() {
    let gateway = Gateway::start_with(|options| options.embedded.drills_allowed = false).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let request = || merchant.post(DRILLS).key(&unique("drill")).json(drill("receiver_down"));
    request().await.expect(403).problem("operator_required");
    merchant.get(DRILLS).await.expect(403).problem("operator_required");
    let trial = Trial::on(gateway).await;
    trial.request(drill("receiver_down")).await.expect(403).problem("drills_disabled");
    let dry = trial.request(with(drill("receiver_down"), json!({"dry_run": true}))).await;
    assert_eq!(dry.expect(200).at("/drills_allowed"), &json!(false));
    assert!(trial.gateway.items("DRL#").await.is_empty());
    assert!(trial.gateway.items("FLT#").await.is_empty());
}

/// The same, once nothing changes any more.
pub(super) async fn others_at_rest(gateway: &Gateway) -> BTreeMap<(String, String), Value> {
    eventually(DEADLINE, || async {
        let found = others(gateway).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        (others(gateway).await == found).then_some(found)
    })
    .await
}

/// What is in the table and is not the canary's, nor about drills, nor a limit.
async fn others(gateway: &Gateway) -> BTreeMap<(String, String), Value> {
    let ours = [
        "DRL#",
        "LDT#",
        "FLT#",
        "EVD#",
        "UQ#EVD#",
        "RLB#",
        "IDM#",
        "THR#",
        "PLC#",
        "MET#",
        "MAI#",
        "DLV#BATCH",
        "UQ#SUB#canary-",
        "INC#",
        "OPS#",
    ];
    let mut found = BTreeMap::new();
    for item in gateway.items("").await {
        let key = |name: &str| item[name].as_str().unwrap().to_owned();
        let (pk, text) = (key("PK"), item.to_string());
        let is_canarys = text.contains(CANARY_STORE) || text.contains(&canary_merchant());
        if !is_canarys && !ours.iter().any(|prefix| pk.starts_with(prefix)) {
            found.insert((pk, key("SK")), item.clone());
        }
    }
    found
}

#[tokio::test]
async fn a_drill_touches_no_other_store() {
    let market = Market::open().await;
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["*"]});
    market.owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    market.stock(1_000, 5).await;
    market.gateway.quiet().await;
    let Market { gateway, owner, store, .. } = market;
    let trial = Trial::on(gateway).await;
    trial.gateway.quiet().await;
    eventually(DEADLINE, || async {
        let items = trial.gateway.items_of("delivery", "DLV#").await;
        items.iter().all(|item| item["status"] == "succeeded").then_some(())
    })
    .await;
    let before = others_at_rest(&trial.gateway).await;
    let received = receiver.requests().len();
    let id = trial.begin(drill("receiver_down")).await;
    let over = trial.over(&id, Duration::ZERO).await;
    assert_recovered(&over, 2);
    let after = others_at_rest(&trial.gateway).await;
    let changed: Vec<_> = after
        .iter()
        .filter(|(key, item)| before.get(*key) != Some(*item))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(before.len(), after.len(), "{changed:?}");
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!(receiver.requests().len(), received);
    // While a fault is there, the others are served as ever.
    let id = trial.begin(with(drill("receiver_down"), json!({"duration_s": 60}))).await;
    trial.until(&id, &["injected"]).await;
    let path = format!("/v1/stores/{}", store.id);
    owner.patch(&path).json(json!({"name": "Untouched"})).await.expect(200);
    receiver.wait_for_event("store.updated").await;
    trial.operator.post(&format!("{DRILLS}/{id}/abort")).json(json!({})).await.expect(200);
}
