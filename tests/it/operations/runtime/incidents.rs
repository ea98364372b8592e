//! Incidents: their life, who sees them, and the rules that open them.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Behaviour, Client, Gateway, Operator, Receiver, Shop, eventually, json};

use super::{DEADLINE, INCIDENTS, OVERVIEW, SUBSCRIPTIONS, incidents, owner, place, send};

#[tokio::test]
async fn an_operator_takes_an_incident_from_open_to_closed() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let input = json!({
        "title": "Payments are slow", "severity": "medium", "components": ["payments", "api", "api"],
        "description": "The provider answers late.",
    });
    let opened = operator.post(INCIDENTS).key("one").json(input.clone()).await.expect(201);
    let again = operator.post(INCIDENTS).key("one").json(input).await.expect(201);
    assert_eq!(again.json, opened.json);
    assert_eq!(opened.at("/components"), &json!(["api", "payments"]));
    assert_eq!(opened.at("/allowed_actions"), &json!(["acknowledge", "mitigate", "resolve"]));
    let path = format!("{INCIDENTS}/{}", opened.str("/id"));
    let act = |action: &str| operator.post(&format!("{path}/{action}"));
    let early = act("close").json(json!({})).await.expect(409);
    let early = early.problem("invalid_state_transition");
    assert_eq!(early.str("/current"), "open");
    let stale = act("acknowledge").json(json!({})).if_match("\"7\"").await;
    stale.expect(412).problem("precondition_failed");
    let seen = act("acknowledge").json(json!({"message": "On it."})).await.expect(200);
    assert_eq!((seen.str("/status"), seen.int("/version")), ("acknowledged".to_owned(), 2));
    act("acknowledge").json(json!({})).await.expect(409);
    let patch = json!({"severity": "high", "title": "Payments fail"});
    operator.patch(&path).json(patch.clone()).await.expect(200);
    let same = operator.patch(&path).json(patch).await.expect(200);
    assert_eq!(same.int("/version"), 3, "what changes nothing is not written");
    act("timeline").json(json!({"message": "The provider was called."})).await.expect(200);
    act("mitigate").json(json!({})).await.expect(200);
    act("resolve").json(json!({"rca": "A certificate had expired."})).await.expect(200);
    act("mitigate").json(json!({})).await.expect(409);
    let closed = act("close").json(json!({"message": "Learned."})).await.expect(200);
    assert_eq!(closed.str("/rca"), "A certificate had expired.");
    assert_eq!((closed.str("/status"), closed.int("/version")), ("closed".to_owned(), 7));
    let kinds: Vec<&str> = closed
        .at("/timeline")
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["kind"].as_str().unwrap())
        .collect();
    let expected = ["opened", "acknowledged", "changed", "note", "mitigated", "resolved", "closed"];
    assert_eq!(kinds, expected);
    assert_eq!(closed.at("/timeline/1/actor"), &json!(format!("merchant:{}", operator.id)));
    for (topic, count) in [
        ("incident.opened", 1),
        ("incident.acknowledged", 1),
        ("incident.updated", 2),
        ("incident.mitigated", 1),
        ("incident.resolved", 1),
        ("incident.closed", 1),
    ] {
        assert_eq!(gateway.events(topic).await.len(), count, "{topic}");
    }
    let listed =
        operator.get(&format!("{INCIDENTS}?status=closed&severity=high")).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    let none = operator.get(&format!("{INCIDENTS}?status=open")).await.expect(200);
    assert!(none.data().is_empty());
}

#[tokio::test]
async fn incidents_are_opened_by_operators_and_read_by_their_store() {
    let gateway = Gateway::start().await;
    let (_, store, owner) = owner(&gateway).await;
    let operator = Operator::sign_up(&gateway).await;
    let before = gateway.count().await;
    let input = json!({"title": "T", "severity": "low", "components": ["api"]});
    owner.post(INCIDENTS).json(input).await.expect(403).problem("operator_required");
    let odd = json!({
        "title": "", "severity": "bad", "components": ["nothing"], "extra": 1,
        "store_id": format!("sto_{}", "0".repeat(32)),
    });
    let odd = operator.post(INCIDENTS).json(odd).await.expect(422);
    let mut fields: Vec<String> = odd.field_errors().into_iter().map(|(field, _)| field).collect();
    fields.sort();
    assert_eq!(fields, ["/components/0", "/extra", "/severity", "/store_id", "/title"]);
    assert_eq!(gateway.count().await, before);
    // One that concerns a store is its owner's to read, and to nobody else's.
    let input = json!({
        "title": "T", "severity": "low", "components": ["webhooks"], "store_id": store.id,
    });
    let made = operator.post(INCIDENTS).json(input).await.expect(201);
    let path = format!("{INCIDENTS}/{}", made.str("/id"));
    owner.get(&path).await.expect(200);
    assert_eq!(incidents(&owner).await.len(), 1);
    let act = owner.post(&format!("{path}/resolve")).json(json!({})).await;
    act.expect(403).problem("operator_required");
    let (_, _, other) = super::owner(&gateway).await;
    other.get(&path).await.expect(404).problem("not_found");
    assert!(incidents(&other).await.is_empty());
    // An operator who names a store sees what its owner does.
    assert_eq!(incidents(&operator.with_store(&store.id)).await.len(), 1);
}

#[tokio::test]
async fn an_app_reads_the_incidents_of_its_store_with_the_scope() {
    let shop = Shop::with_published_app(&["read_operations"]).await;
    let input = json!({
        "title": "T", "severity": "low", "components": ["webhooks"], "store_id": shop.store.id,
    });
    shop.operator.post(INCIDENTS).json(input).await.expect(201);
    let app = shop.app_client().await;
    assert_eq!(incidents(&app).await.len(), 1);
    let overview = app.get(OVERVIEW).await.expect(200);
    assert_eq!(overview.str("/store_id"), shop.store.id);
    assert_eq!(overview.at("/platform"), &json!(null));
}

#[tokio::test]
async fn outbox_lag_opens_an_incident_that_resolves_when_published() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let operator = super::operator(&gateway).await;
    let (_, _, owner) = owner(&gateway).await;
    assert_eq!(gateway.look().await.opened, 0);
    gateway.advance(2 * MINUTE - Duration::from_secs(30));
    assert_eq!(gateway.look().await.opened, 0, "not late yet");
    gateway.advance(Duration::from_secs(40));
    let seen = gateway.look().await;
    assert_eq!(seen.opened, 1);
    let lag = seen.outbox_lag_seconds.unwrap();
    assert!((130..160).contains(&lag), "{lag}");
    let clients: [&Client; 2] = [&operator, &owner];
    for client in clients {
        let overview = client.get(OVERVIEW).await.expect(200);
        assert!(overview.int("/outbox/lag_seconds") >= 130, "{}", overview.text);
    }
    assert_eq!(incidents(&operator).await[0]["rule"], "outbox_lag");
    assert!(incidents(&owner).await.is_empty(), "it is the platform's");
    let mut resolved = 0;
    for _ in 0..6 {
        gateway.advance(MINUTE);
        gateway.sweep().await;
        resolved += gateway.look().await.resolved;
    }
    assert_eq!(resolved, 1);
    assert_eq!(incidents(&operator).await[0]["status"], "resolved");
    assert_eq!(owner.get(OVERVIEW).await.expect(200).int("/outbox/lag_seconds"), 0);
}

#[tokio::test]
async fn a_failing_receiver_opens_an_incident_visible_to_its_store_only() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let (_, store, owner) = owner(&gateway).await;
    let (_, _, other) = super::owner(&gateway).await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let hook = json!({"url": receiver.url("/hooks"), "event_types": ["store.updated"]});
    owner.post(SUBSCRIPTIONS).json(hook).await.expect(201);
    let path = format!("/v1/stores/{}", store.id);
    for number in 0..3 {
        owner.patch(&path).json(json!({"name": format!("Name {number}")})).await.expect(200);
    }
    let numbers = eventually(DEADLINE, || async {
        let overview = owner.get(&format!("{OVERVIEW}?window=1h")).await.expect(200);
        (overview.int("/deliveries/failed") >= 3).then_some(overview)
    })
    .await;
    assert_eq!(numbers.int("/deliveries/success_percent"), 0);
    assert_eq!(numbers.int("/deliveries/attempts"), numbers.int("/deliveries/failed"));
    assert!(numbers.at("/deliveries/latency_ms/p95").is_u64());
    let seen = gateway.look().await;
    assert_eq!((seen.opened, seen.delivery_success_percent), (2, Some(0)), "store and platform");
    assert_eq!(gateway.look().await.opened, 0);
    let own = incidents(&owner).await;
    assert_eq!(own.len(), 1);
    assert_eq!(
        (&own[0]["rule"], &own[0]["store_id"]),
        (&json!("delivery_success"), &json!(store.id))
    );
    let of_own = format!("{INCIDENTS}/{}", own[0]["id"].as_str().unwrap());
    owner.get(&of_own).await.expect(200);
    other.get(&of_own).await.expect(404).problem("not_found");
    assert!(incidents(&other).await.is_empty());
    let all = incidents(&operator).await;
    let of_platform = all.iter().find(|one| one["store_id"].is_null()).unwrap();
    let of_platform = format!("{INCIDENTS}/{}", of_platform["id"].as_str().unwrap());
    owner.get(&of_platform).await.expect(404).problem("not_found");
    let overview = owner.get(OVERVIEW).await.expect(200);
    assert_eq!(overview.at("/open_incidents").as_array().unwrap().len(), 1);
    let others = other.get(OVERVIEW).await.expect(200);
    assert_eq!((others.int("/deliveries/attempts"), others.at("/platform")), (0, &json!(null)));
    let all = operator.get(OVERVIEW).await.expect(200);
    assert_eq!(all.at("/open_incidents").as_array().unwrap().len(), 2);
    // It is up again: its failures are forgotten, and the rules hold for five minutes.
    receiver.now(Behaviour::Status(200));
    gateway.advance(17 * MINUTE);
    assert_eq!(gateway.look().await.resolved, 0);
    gateway.advance(5 * MINUTE);
    assert_eq!(gateway.look().await.resolved, 2);
    assert_eq!(incidents(&owner).await[0]["status"], "resolved");
    assert!(gateway.items("INC#OPEN").await.is_empty());
}

#[tokio::test]
async fn a_replayed_authorization_code_opens_an_incident() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let operator = &shop.operator;
    let grant = shop.authorize().await;
    shop.redeem(&grant).await.expect(200);
    assert_eq!(shop.gateway.look().await.code_replays, Some(0));
    shop.redeem(&grant).await.expect(400).oauth_error("invalid_grant");
    let seen = shop.gateway.look().await;
    assert_eq!((seen.code_replays, seen.opened), (Some(1), 1));
    let found = incidents(operator).await;
    assert_eq!((found.len(), &found[0]["rule"]), (1, &json!("code_replays")));
}

#[tokio::test]
async fn an_incident_resolved_too_early_is_opened_again() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    send(&gateway, true, "not a message").await;
    assert_eq!(gateway.look().await.opened, 1);
    let first = incidents(&operator).await[0].clone();
    let path = format!("{INCIDENTS}/{}", first["id"].as_str().unwrap());
    operator.post(&format!("{path}/acknowledge")).json(json!({})).await.expect(200);
    assert_eq!(gateway.look().await.opened, 0, "somebody is at it");
    operator.post(&format!("{path}/resolve")).json(json!({})).await.expect(200);
    assert_eq!(place(&gateway, "dead_letters", "webhooks").await, None);
    assert_eq!(gateway.look().await.opened, 1);
    let all = incidents(&operator).await;
    assert_eq!((all.len(), &all[0]["status"]), (2, &json!("open")));
    // Trouble that comes back within five minutes is the same trouble.
    gateway.purge_dead_letters("webhooks").await;
    gateway.look().await;
    gateway.advance(4 * MINUTE);
    send(&gateway, true, "not a message").await;
    gateway.look().await;
    gateway.purge_dead_letters("webhooks").await;
    gateway.advance(2 * MINUTE);
    gateway.look().await;
    gateway.advance(4 * MINUTE);
    assert_eq!(gateway.look().await.resolved, 0, "calm for four minutes");
    gateway.advance(MINUTE);
    assert_eq!(gateway.look().await.resolved, 1);
    assert_eq!(incidents(&operator).await.len(), 2);
}
