//! Replays: what was missed comes again, once, whatever stops in between.

mod interrupted;
mod late_reads;
mod recovery;
mod validation;

use std::collections::BTreeSet;
use std::time::Duration;

use support::clock::{HOUR, MINUTE, Timestamp};
use support::{Behaviour, Client, Gateway, Merchant, Receiver, Value, eventually, json};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, Watched, verify};

const REPLAYS: &str = "/v1/operations/runtime/replays";
const VERIFY: &str = "/v1/operations/outbox/verify";

fn since(watched: &Watched) -> Value {
    watched.store.view["created_at"].clone()
}

fn subscription(watched: &Watched) -> &str {
    watched.subscription["id"].as_str().unwrap()
}

/// What asks for all that has happened on the store.
fn range(watched: &Watched) -> Value {
    json!({"kind": "range", "since": since(watched), "event_types": ["store.updated"]})
}

fn recover(watched: &Watched) -> Value {
    json!({"kind": "recover", "subscription_id": subscription(watched), "since": since(watched)})
}

fn with(mut input: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields") };
    input.as_object_mut().unwrap().extend(fields);
    input
}

/// The replay of this id, once it is over.
async fn over(owner: &Client, id: &str) -> Value {
    in_time(owner, id, |replay| replay["finished_at"].is_string()).await
}

/// The replay of this id, once it is so.
async fn in_time(owner: &Client, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let path = format!("{REPLAYS}/{id}");
    eventually(Duration::from_mins(2), || async {
        let replay = owner.elsewhere().get(&path).await.expect(200).json;
        // Looking has a price.
        tokio::time::sleep(Duration::from_millis(50)).await;
        is_so(&replay).then_some(replay)
    })
    .await
}

/// Has so many events happen on the store, each about an entity of its own; answers with their ids.
async fn happen(watched: &Watched, count: usize) -> BTreeSet<String> {
    let ids = watched.gateway.process().announce(&watched.store, count).await;
    watched.gateway.settle().await;
    ids.into_iter().collect()
}

/// The deliveries that a replay made, as the table has them.
async fn made_by(gateway: &Gateway, id: &str) -> Vec<Value> {
    let mut deliveries = gateway.items_of("delivery", "DLV#").await;
    deliveries.retain(|delivery| delivery["replay_id"] == id);
    deliveries
}

#[tokio::test]
async fn failed_events_are_replayed_by_new_deliveries_with_their_event_ids() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    for name in ["First", "Second"] {
        watched.rename(name).await;
    }
    let owner = watched.owner();
    let retried = eventually(DEADLINE, || async {
        let path = format!("{DELIVERIES}?status=retrying");
        let retried = owner.get(&path).await.expect(200).data().clone();
        (retried.len() == 2).then_some(retried)
    })
    .await;
    watched.receiver.now(Behaviour::Status(200));
    let seen = watched.receiver.requests().len();
    let begun = owner.post(REPLAYS).json(recover(&watched)).await.expect(202);
    assert_eq!((begun.str("/status").as_str(), begun.int("/matched")), ("queued", 2));
    assert_eq!(begun.int("/estimate/seconds"), 1);
    assert!(begun.int("/estimate/cost/write_units") > 0);
    let id = begun.str("/id");
    let replay = over(&owner, &id).await;
    assert_eq!((&replay["status"], &replay["matched"]), (&json!("succeeded"), &json!(2)));
    let progress = &replay["progress"];
    assert_eq!(
        (&progress["sent"], &progress["succeeded"], &progress["failed"], &progress["unfinished"]),
        (&json!(2), &json!(2), &json!(0), &json!(0)),
    );
    let again = watched.receiver.requests().split_off(seen);
    assert_eq!(again.len(), 2, "and what was retried is not");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let events: BTreeSet<_> = retried.iter().map(|one| text(&one["event_id"])).collect();
    let sent: BTreeSet<_> = again.iter().map(|one| one.header("webhook-id").to_owned()).collect();
    assert_eq!(sent, events);
    for request in &again {
        verify(request, watched.secret());
        assert_eq!(request.header("x-service-replay-id"), id);
        assert_eq!(request.header("x-service-attempt"), "1");
    }
    let path = format!("{DELIVERIES}?replay_id={id}");
    let new = owner.get(&path).await.expect(200).data().clone();
    assert_eq!(new.len(), 2);
    for old in &retried {
        let path = format!("{DELIVERIES}/{}", text(&old["id"]));
        let old = owner.get(&path).await.expect(200).json;
        let new = new.iter().find(|new| new["id"] == old["replayed_by"]).unwrap();
        assert_eq!((&new["event_id"], &new["redelivery_of"]), (&old["event_id"], &old["id"]));
        assert_eq!(old["status"], "cancelled");
    }
    let finished = watched.gateway.events("replay.finished").await;
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["data"]["progress"]["succeeded"], 2);
    // What was sent again is not what has failed any more.
    let dry = with(recover(&watched), json!({"dry_run": true}));
    assert_eq!(owner.post(REPLAYS).json(dry).await.expect(200).int("/matched"), 0);
    let listed = owner.get(REPLAYS).await.expect(200).data().clone();
    assert_eq!(listed.iter().map(|one| text(&one["id"])).collect::<Vec<_>>(), [id]);
    let none = owner.get(&format!("{REPLAYS}?status=failed")).await.expect(200);
    assert!(none.data().is_empty());
}

#[tokio::test]
async fn a_replay_ends_with_its_deliveries_or_after_an_hour() {
    let watched = Watched::by(Behaviour::Status(410)).await;
    watched.rename("Gone").await;
    watched.delivery_in("exhausted").await;
    let enable = format!("{SUBSCRIPTIONS}/{}/enable", subscription(&watched));
    eventually(DEADLINE, || async {
        let reply = watched.owner().elsewhere().post(&enable).json(json!({})).await;
        (reply.status == 200).then_some(())
    })
    .await;
    watched.receiver.now(Behaviour::Status(500));
    let begun = watched.owner().post(REPLAYS).json(recover(&watched)).await.expect(202);
    let id = begun.str("/id");
    let all_made = |replay: &Value| replay["progress"]["sent"] == 1;
    let replay = in_time(&watched.owner(), &id, all_made).await;
    assert_eq!(replay["status"], "running", "it is retried");
    watched.gateway.advance(HOUR + MINUTE);
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    eventually(DEADLINE, || async {
        watched.gateway.process().take_step("replay", &id).await.unwrap();
        let replay = owner.elsewhere().get(&format!("{REPLAYS}/{id}")).await.expect(200).json;
        (replay["status"] == "failed").then_some(())
    })
    .await;
    let replay = over(&owner, &id).await;
    assert_eq!(replay["progress"]["unfinished"], 1, "it goes on by itself");
    assert!(watched.gateway.items("RPL#").await.iter().all(|item| item["GSI3PK"].is_null()));
}

#[tokio::test]
async fn a_replays_dry_run_counts_and_writes_nothing() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    happen(&watched, 7).await;
    watched.gateway.quiet().await;
    let before = (watched.gateway.count().await, watched.gateway.items("DLV#").await.len());
    let input = with(range(&watched), json!({"dry_run": true, "rate_per_second": 2}));
    let plan = watched.owner().post(REPLAYS).json(input.clone()).await.expect(200);
    assert_eq!((plan.int("/matched"), plan.at("/has_more")), (7, &json!(false)));
    assert_eq!((plan.int("/estimate/seconds"), plan.at("/dry_run")), (4, &json!(true)));
    let most = with(input, json!({"max_count": 5}));
    let plan = watched.owner().post(REPLAYS).json(most).await.expect(200);
    assert_eq!((plan.int("/matched"), plan.at("/has_more")), (5, &json!(true)));
    let after = (watched.gateway.count().await, watched.gateway.items("DLV#").await.len());
    assert_eq!(after, before);
    assert!(watched.owner().get(REPLAYS).await.expect(200).data().is_empty());
}

#[tokio::test]
async fn a_range_replay_respects_its_subscription_and_max_count() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let other = Receiver::start().await;
    let input = json!({"url": other.url("/"), "event_types": ["store.*"]});
    watched.owner().post(SUBSCRIPTIONS).json(input).await.expect(201);
    let events = happen(&watched, 12).await;
    watched.receiver.wait_for(12).await;
    other.wait_for(12).await;
    let input = with(range(&watched), json!({"subscription_id": subscription(&watched)}));
    let most = with(input, json!({"max_count": 10}));
    let begun = watched.owner().post(REPLAYS).json(most).await.expect(202);
    let replay = over(&watched.owner(), &begun.str("/id")).await;
    assert_eq!((&replay["progress"]["sent"], &replay["has_more"]), (&json!(10), &json!(true)));
    assert_eq!((watched.receiver.requests().len(), other.requests().len()), (22, 12));
    let begun = watched.owner().post(REPLAYS).json(range(&watched)).await.expect(202);
    assert_eq!(begun.int("/matched"), 24, "twelve events for two");
    over(&watched.owner(), &begun.str("/id")).await;
    assert_eq!((watched.receiver.requests().len(), other.requests().len()), (34, 24));
    let known = |receiver: &Receiver| -> BTreeSet<String> {
        let requests = receiver.requests();
        requests.iter().map(|one| one.header("webhook-id").to_owned()).collect()
    };
    assert_eq!((known(&watched.receiver), known(&other)), (events.clone(), events));
}

#[tokio::test]
async fn a_replay_creates_missing_deliveries() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let disable = format!("{SUBSCRIPTIONS}/{}/disable", subscription(&watched));
    let enable = format!("{SUBSCRIPTIONS}/{}/enable", subscription(&watched));
    watched.owner().post(&disable).json(json!({})).await.expect(200);
    watched.rename("While it is off").await;
    watched.gateway.quiet().await;
    let off = watched.owner().post(REPLAYS).json(recover(&watched)).await.expect(409);
    off.problem("invalid_state_transition");
    watched.owner().post(&enable).json(json!({})).await.expect(200);
    watched.rename("While it is on").await;
    watched.delivery_in("succeeded").await;
    let input = json!({"kind": "missing", "since": since(&watched)});
    let begun = watched.owner().post(REPLAYS).json(input.clone()).await.expect(202);
    let id = begun.str("/id");
    assert_eq!(over(&watched.owner(), &id).await["status"], "succeeded");
    let requests = watched.receiver.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].json()["data"]["name"], "While it is off");
    assert_eq!(requests[1].header("x-service-replay-id"), id);
    watched.gateway.advance(Duration::from_secs(2));
    let dry = with(input, json!({"dry_run": true}));
    assert_eq!(watched.owner().post(REPLAYS).json(dry).await.expect(200).int("/matched"), 0);
}

#[tokio::test]
async fn one_replay_runs_at_a_time_and_cancelling_stops_it() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    happen(&watched, 60).await;
    watched.receiver.wait_for(60).await;
    let owner = watched.owner();
    let slow = with(range(&watched), json!({"rate_per_second": 1}));
    let id = owner.post(REPLAYS).json(slow.clone()).await.expect(202).str("/id");
    owner.post(REPLAYS).json(slow.clone()).await.expect(409).problem("replay_running");
    in_time(&owner, &id, |replay| replay["progress"]["sent"].as_u64() >= Some(5)).await;
    let path = format!("{REPLAYS}/{id}/cancel");
    let cancelled = owner.post(&path).json(json!({})).await.expect(200);
    assert_eq!(cancelled.str("/status"), "cancelled");
    let stated = owner.get("/v1/operations/reliability-evidence").await.expect(200);
    let stated = stated.data();
    assert_eq!((stated.len(), &stated[0]["outcome"]), (1, &json!("cancelled")));
    assert_eq!(stated[0]["subject"], id.as_str());
    owner.post(&path).json(json!({})).await.expect(409).problem("invalid_state_transition");
    let made = made_by(&watched.gateway, &id).await.len();
    assert!((5..=10).contains(&made), "{made} of ten seconds");
    // Whatever message comes, nothing more is made; and another may begin.
    watched.gateway.advance(MINUTE * 5);
    watched.gateway.process().take_step("replay", &id).await.unwrap();
    watched.gateway.sweep().await;
    let second = owner.post(REPLAYS).json(slow).await.expect(202).str("/id");
    let path = format!("{REPLAYS}/{second}/cancel");
    owner.post(&path).json(json!({})).await.expect(200);
    assert_eq!(made_by(&watched.gateway, &id).await.len(), made);
}

#[tokio::test]
async fn a_replay_respects_its_rate() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    happen(&watched, 24).await;
    watched.receiver.wait_for(24).await;
    let input = with(range(&watched), json!({"rate_per_second": 6}));
    let begun = watched.owner().post(REPLAYS).json(input).await.expect(202);
    assert_eq!(begun.int("/estimate/seconds"), 4);
    let replay = over(&watched.owner(), &begun.str("/id")).await;
    assert_eq!(replay["progress"]["succeeded"], 24, "{replay}");
    let time = |one: &Value, name: &str| Timestamp::parse(one[name].as_str()?);
    let made = made_by(&watched.gateway, &begun.str("/id")).await;
    let mut begun: Vec<_> = made.iter().map(|one| time(one, "last_attempt_at").unwrap()).collect();
    begun.sort();
    let took = begun[0].until(begun[23]);
    assert!(took >= Duration::from_secs(3), "24 at 6 a second began within {took:?}");
    // Queues count whole seconds: a second's may come at its end, beside the next one's.
    for window in begun.windows(13) {
        assert!(window[0].until(window[12]) >= Duration::from_millis(900), "{begun:?}");
    }
}

#[tokio::test]
async fn a_replay_counts_expunged_and_expired_events_as_skipped() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    for name in ["Removed", "Forgotten", "Kept"] {
        watched.rename(name).await;
    }
    watched.receiver.wait_for(3).await;
    let owner = watched.owner();
    let deliveries = eventually(DEADLINE, || async {
        let deliveries = watched.deliveries().await;
        let done = deliveries.iter().filter(|one| one["status"] == "succeeded").count();
        (done == 3).then_some(deliveries)
    })
    .await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let ids: Vec<String> = deliveries.iter().map(|one| text(&one["id"])).collect();
    owner.delete(&format!("{DELIVERIES}/{}/content", ids[0])).await.expect(204);
    watched.gateway.forget_event(&text(&deliveries[1]["event_id"])).await;
    let input = json!({"kind": "delivery", "delivery_ids": ids});
    let begun = owner.post(REPLAYS).json(input).await.expect(202);
    assert_eq!(begun.int("/matched"), 1);
    let replay = over(&owner, &begun.str("/id")).await;
    assert_eq!(replay["status"], "partial");
    let skipped =
        json!({"payload_expunged": 1, "expired": 1, "in_flight": 0, "not_deliverable": 0});
    assert_eq!(replay["skipped"], skipped);
    assert_eq!(watched.receiver.requests().len(), 4);
    let dry = with(range(&watched), json!({"dry_run": true}));
    let plan = owner.post(REPLAYS).json(dry).await.expect(200);
    assert_eq!((plan.int("/matched"), plan.int("/skipped/payload_expunged")), (1, 1));
}

#[tokio::test]
async fn outbox_verification_reports_missing_and_orphaned_deliveries() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    for name in ["First", "Second", "Third"] {
        watched.rename(name).await;
    }
    watched.receiver.wait_for(3).await;
    let deliveries = eventually(DEADLINE, || async {
        let deliveries = watched.deliveries().await;
        let done = deliveries.iter().filter(|one| one["status"] == "succeeded").count();
        (done == 3).then_some(deliveries)
    })
    .await;
    let owner = watched.owner();
    let whole = owner.get(VERIFY).await.expect(200);
    assert_eq!((whole.int("/missing"), whole.int("/orphan")), (0, 0), "{}", whole.text);
    assert_eq!((whole.int("/deliveries"), whole.at("/truncated")), (3, &json!(false)));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    watched.gateway.forget_delivery(&text(&deliveries[0]["id"])).await;
    watched.gateway.forget_event(&text(&deliveries[1]["event_id"])).await;
    let found = owner.get(VERIFY).await.expect(200);
    assert_eq!((found.int("/missing"), found.int("/orphan")), (1, 1), "{}", found.text);
    let gap = json!([{
        "event_id": deliveries[0]["event_id"], "subscription_id": watched.subscription["id"],
    }]);
    assert_eq!(found.at("/gaps"), &gap);
    assert_eq!(found.at("/orphans"), &json!([deliveries[1]["id"]]));
    // Before both there is neither.
    let until = text(&watched.store.view["created_at"]);
    let before = owner.get(&format!("{VERIFY}?until={until}")).await.expect(200);
    assert_eq!((before.int("/missing"), before.int("/orphan")), (0, 0), "{}", before.text);
    let wide = owner.get(&format!("{VERIFY}?since=2020-01-01T00:00:00Z")).await.expect(422);
    assert_eq!(wide.field_errors(), [("/since".to_owned(), "range_too_wide".to_owned())]);
    // The gap is closed by a replay of what is missing.
    let input = json!({"kind": "missing", "since": since(&watched)});
    let begun = owner.post(REPLAYS).json(input).await.expect(202);
    assert_eq!((begun.int("/matched"), begun.at("/skipped/expired")), (1, &json!(0)));
    assert_eq!(over(&owner, &begun.str("/id")).await["status"], "succeeded");
    let closed = owner.get(VERIFY).await.expect(200);
    assert_eq!((closed.int("/missing"), closed.int("/orphan")), (0, 1), "{}", closed.text);
}

/// Nobody but who answers for the store.
#[tokio::test]
async fn a_replay_is_hidden_from_other_stores() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Mine").await;
    watched.receiver.wait_for(1).await;
    let id = watched.owner().post(REPLAYS).json(range(&watched)).await.expect(202).str("/id");
    let (path, cancel) = (format!("{REPLAYS}/{id}"), format!("{REPLAYS}/{id}/cancel"));
    let stranger = Merchant::sign_up(&watched.gateway).await;
    let own = stranger.open_store().await;
    let there = stranger.at(&watched.store);
    there.get(REPLAYS).await.expect(404).problem("store_not_found");
    there.post(REPLAYS).json(range(&watched)).await.expect(404).problem("store_not_found");
    let here = stranger.at(&own);
    here.get(&path).await.expect(404).problem("not_found");
    here.post(&cancel).json(json!({})).await.expect(404).problem("not_found");
    assert!(here.get(REPLAYS).await.expect(200).data().is_empty());
    let foreign = here.post(REPLAYS).json(recover(&watched)).await.expect(404);
    foreign.problem("not_found");
    let operator = support::Operator::sign_up(&watched.gateway).await;
    assert_eq!(operator.at(&watched.store).get(&path).await.expect(200).str("/id"), id);
}
