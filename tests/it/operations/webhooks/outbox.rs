//! Every event, once, whatever stops in between.

use std::time::Duration;

use support::clock::{HOUR, MINUTE};
use support::{Behaviour, Fault, Faults, Gateway, Merchant, Operator, Receiver, eventually, json};

use super::{DEADLINE, SUBSCRIPTIONS, Watched, verify};

#[tokio::test]
async fn a_duplicate_message_makes_no_second_attempt() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Once").await;
    let delivery = watched.delivery_in("succeeded").await;
    // The same message again, and twice at once, after success.
    let items = watched.gateway.items(&format!("DLV#{}", delivery["id"].as_str().unwrap())).await;
    let stored = items.iter().find(|item| item["SK"] == "A").unwrap();
    let (process, batch) = (watched.gateway.process(), [stored, stored]);
    let failed = tokio::join!(process.attempt_batch(&batch), process.attempt_batch(&batch));
    assert_eq!(failed, (0, 0));
    assert_eq!(watched.receiver.requests().len(), 1);
    assert_eq!(watched.attempts(&delivery).await.len(), 1);
}

#[tokio::test]
async fn events_and_deliveries_survive_a_restart() {
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
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    let secret =
        merchant.at(&store).post(SUBSCRIPTIONS).json(input).await.expect(201).str("/secret");
    let path = format!("/v1/stores/{}", store.id);
    merchant.at(&store).patch(&path).json(json!({"name": "Before"})).await.expect(200);
    receiver.wait_for(1).await;
    // Ended as `kill -9` would end it, with a retry in a queue that is in memory.
    drop(first);
    eventually(DEADLINE, || async {
        let lock = std::fs::File::open(data.join("lock")).unwrap();
        lock.try_lock().is_ok().then_some(())
    })
    .await;
    receiver.now(Behaviour::Status(200));
    let second = start().await;
    let token = merchant.token().to_owned();
    second.client().with_token(&token).get("/v1/auth/me").await.expect(200);
    second.advance(5 * MINUTE);
    eventually(DEADLINE, || async {
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
async fn the_sweep_delivers_every_event_once_without_the_stream() {
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
async fn an_operator_manages_any_stores_outbox_without_payloads() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("First").await;
    watched.delivery_in("succeeded").await;
    let operator = Operator::sign_up(&watched.gateway).await;
    let path = "/v1/operations/outbox";
    operator.get(path).await.expect(400).problem("store_required");
    let there = operator.at(&watched.store);
    let own = watched.owner().get(path).await.expect(200);
    let listed = there.get(path).await.expect(200);
    assert_eq!(listed.data(), own.data());
    let verified = there.get(&format!("{path}/verify")).await.expect(200);
    assert_eq!((verified.int("/missing"), verified.int("/orphan")), (0, 0), "{}", verified.text);
    let one = format!("{path}/{}", own.data()[0]["id"].as_str().unwrap());
    assert!(watched.owner().get(&one).await.expect(200).at("/payload").is_object());
    assert!(there.get(&one).await.expect(200).at("/payload").is_null());
    let late = there.post(&format!("{one}/requeue")).json(json!({})).await.expect(409);
    late.problem("invalid_state_transition");
    // Of that store nothing else is an operator's; and who is none sees nothing.
    for closed in ["/v1/operations/audit-log", "/v1/operations/webhook-deliveries", "/v1/orders"] {
        there.get(closed).await.expect(404).problem("store_not_found");
    }
    let stranger = Merchant::sign_up(&watched.gateway).await;
    for path in [path, &one, "/v1/operations/outbox/verify"] {
        let rejected = stranger.at(&watched.store).get(path).await.expect(404);
        rejected.problem("store_not_found");
    }
}

#[tokio::test]
async fn a_discarded_event_is_published_when_it_is_requeued() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let watched = Watched::on(gateway, Behaviour::Status(200)).await;
    watched.rename("Discarded").await;
    let outbox = watched.owner().get("/v1/operations/outbox?status=pending").await.expect(200);
    let event = outbox.data().iter().find(|event| event["type"] == "store.updated").unwrap();
    let path = format!("/v1/operations/outbox/{}", event["id"].as_str().unwrap());
    let act = |what: &'static str| watched.owner().post(&format!("{path}/{what}")).json(json!({}));
    act("requeue").await.expect(409).problem("invalid_state_transition");
    act("discard").await.expect(200);
    act("discard").await.expect(409).problem("invalid_state_transition");
    watched.gateway.advance(MINUTE + Duration::from_secs(1));
    watched.gateway.sweep().await;
    assert!(watched.deliveries().await.is_empty(), "it was discarded");
    act("requeue").await.expect(200);
    watched.gateway.advance(MINUTE + Duration::from_secs(1));
    watched.gateway.sweep().await;
    verify(&watched.receiver.wait_for(1).await[0], watched.secret());
    act("requeue").await.expect(409).problem("invalid_state_transition");
}

#[tokio::test]
async fn an_old_event_is_published_after_an_outage() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let watched = Watched::on(gateway, Behaviour::Status(200)).await;
    watched.rename("Old").await;
    let faults = Faults::planned();
    faults.will([("UpdateItem", Fault::Denied)]);
    let process = watched.gateway.process_over(&faults);
    watched.gateway.advance(2 * HOUR);
    let report = process.sweep().await;
    assert_eq!(faults.left(), 0);
    assert_eq!(report.failures, 1, "the others of its chunk were published: {report:?}");
    let events = watched.gateway.all_events().await;
    assert!(events.iter().all(|event| event.state.as_str() != "failed"), "{events:?}");
    // The next sweep publishes what this one could not.
    watched.gateway.sweep().await;
    watched.receiver.wait_for_event("store.updated").await;
}

/// However many deliveries there should be, a call reads what it is charged, and the next goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outbox_verification_reads_no_more_than_it_charges() {
    const SUBSCRIBED: usize = 24;
    const RENAMED: usize = 50;
    let watched = Watched::by(Behaviour::Status(200)).await;
    let owner = watched.owner();
    for number in 1..SUBSCRIBED {
        let url = watched.receiver.url(&format!("/hooks/{number}"));
        let input = json!({"url": url, "event_types": ["store.updated"]});
        owner.post(SUBSCRIPTIONS).json(input).await.expect(201);
    }
    for number in 0..RENAMED {
        watched.rename(&format!("Name {number}")).await;
    }
    let deliveries = || watched.gateway.items_of("delivery", "DLV#");
    eventually(Duration::from_mins(2), || async {
        (deliveries().await.len() == SUBSCRIBED * RENAMED).then_some(())
    })
    .await;
    watched.gateway.quiet().await;
    let (calls, missing) = walk_outbox(&watched).await;
    assert_eq!(missing, 0);
    assert!(calls > 1, "there are more than one call reads");
    for delivery in deliveries().await {
        watched.gateway.delete_item(&delivery).await;
    }
    let (calls, missing) = walk_outbox(&watched).await;
    assert!(calls > 1 && missing >= SUBSCRIBED * RENAMED, "{missing} in {calls} calls");
}

/// Verifies the outbox from now back to its beginning: in how many calls, and what they miss.
async fn walk_outbox(watched: &Watched) -> (usize, usize) {
    let (mut calls, mut missing, mut path) = (0, 0, "/v1/operations/outbox/verify".to_owned());
    loop {
        watched.gateway.advance(MINUTE);
        let found = watched.owner().get(&path).await.expect(200);
        calls += 1;
        missing += usize::try_from(found.int("/missing")).expect("a count");
        assert_eq!(found.int("/orphan"), 0, "{}", found.text);
        // 100 points are 2,000 units; a page more may have been under way.
        assert!(found.tenths() <= 25_000, "{} tenths", found.tenths());
        let cost = found.header("x-service-cost-actual").and_then(|cost| cost.parse::<u32>().ok());
        assert!(cost >= Some(found.tenths().div_ceil(200).max(100)), "{cost:?}");
        if found.at("/truncated") != true {
            return (calls, missing);
        }
        let from = found.str("/verified_from");
        path = format!("/v1/operations/outbox/verify?since={}&until={from}", found.str("/since"));
        assert!(calls < 20, "it gets on");
    }
}
