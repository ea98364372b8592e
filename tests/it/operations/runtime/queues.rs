//! Queues as SQS tells of them; dead letters, listed and sent again.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Gateway, Operator, Receiver, delivery_message, eventually, json, race};

use super::{DEADLINE, INCIDENTS, QUEUES, SUBSCRIPTIONS, incidents, operator, owner, place, send};

const POISON: &str = "not a message";

#[tokio::test(flavor = "multi_thread")]
async fn a_poison_message_opens_one_incident_until_it_is_purged() {
    let gateway =
        Gateway::start_with(|options| options.embedded.visibility = Duration::from_secs(1)).await;
    let operator = Operator::sign_up(&gateway).await;
    let empty = operator.get(QUEUES).await.expect(200);
    let names: Vec<_> = (0..4).map(|n| empty.str(&format!("/queues/{n}/name"))).collect();
    assert_eq!(names, ["webhooks", "slow-webhooks", "mail", "due"]);
    assert_eq!(empty.int("/queues/0/dead_letters"), 0);
    send(&gateway, false, POISON).await;
    let of_webhooks = format!("{QUEUES}/webhooks");
    let is_dead = || async {
        let queue = operator.get(&of_webhooks).await.expect(200);
        let is_settled = (queue.int("/waiting"), queue.int("/in_flight")) == (0, 0);
        (is_settled && queue.int("/dead_letters") == 1).then_some(queue)
    };
    let queue = eventually(DEADLINE, is_dead).await;
    assert_eq!((queue.int("/waiting"), queue.int("/in_flight")), (0, 0));
    // Listed as often as one likes: it stays.
    for _ in 0..2 {
        let list = operator.get(&format!("{of_webhooks}/dlq")).await.expect(200);
        assert_eq!((list.str("/queue"), list.int("/total")), ("webhooks".to_owned(), 1));
        assert_eq!(list.str("/dead_letters/0/body"), POISON);
        assert!(list.int("/dead_letters/0/receive_count") >= 1);
        assert!(list.str("/dead_letters/0/sent_at").ends_with('Z'));
    }
    // However many look at the same moment.
    let looked = race(8, || gateway.look()).await;
    assert_eq!(looked.iter().map(|seen| seen.opened).sum::<usize>(), 1);
    assert_eq!(looked.iter().map(|seen| seen.failures).sum::<usize>(), 0);
    assert_eq!(gateway.look().await.opened, 0);
    let found = incidents(&operator).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["rule"], &found[0]["subject"]),
        (&json!("dead_letters"), &json!("webhooks"))
    );
    assert_eq!((&found[0]["status"], &found[0]["store_id"]), (&json!("open"), &json!(null)));
    assert_eq!(gateway.events("incident.opened").await.len(), 1);
    // Sent again, it is still not understood.
    let redrive = format!("{of_webhooks}/dlq/redrive");
    let moved = operator.post(&redrive).key("again").json(json!({"max": 5})).await.expect(202);
    assert_eq!((moved.int("/moved"), moved.int("/remaining")), (1, 0));
    let again = operator.post(&redrive).key("again").json(json!({"max": 5})).await.expect(202);
    assert_eq!(again.json, moved.json, "the same key moves nothing more");
    eventually(DEADLINE, is_dead).await;
    // Gone, and five minutes later it is over.
    gateway.purge_dead_letters("webhooks").await;
    let seen = gateway.look().await;
    assert_eq!((seen.dead_letters, seen.resolved), (Some(0), 0));
    gateway.advance(5 * MINUTE - Duration::from_secs(5));
    assert_eq!(gateway.look().await.resolved, 0, "not yet");
    gateway.advance(Duration::from_secs(5));
    assert_eq!(gateway.look().await.resolved, 1);
    let path = format!("{INCIDENTS}/{}", found[0]["id"].as_str().unwrap());
    let over = operator.get(&path).await.expect(200);
    assert_eq!(over.str("/status"), "resolved");
    let last = over.at("/timeline").as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["kind"], &last["actor"]), (&json!("resolved"), &json!(null)));
    assert_eq!(gateway.events("incident.resolved").await.len(), 1);
    assert_eq!(place(&gateway, "dead_letters", "webhooks").await, None);
}

#[tokio::test]
async fn redriven_dead_letters_are_rate_limited_and_processed_once() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let operator = operator(&gateway).await;
    let (_, store, owner) = owner(&gateway).await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url("/hooks"), "event_types": ["store.updated"]});
    owner.post(SUBSCRIPTIONS).json(hook).await.expect(201);
    let path = format!("/v1/stores/{}", store.id);
    owner.patch(&path).json(json!({"name": "Renamed"})).await.expect(200);
    // Its delivery is made, and its message lost; then it turns up in the dead-letter queue, many times.
    let mute = gateway.process_without_queues();
    for group in gateway.event_groups().await {
        mute.publish(&group).await;
    }
    let stored = gateway.items_of("delivery", "DLV#").await;
    assert_eq!(stored.len(), 1);
    let message = delivery_message(&stored[0]);
    for _ in 0..15 {
        send(&gateway, true, &message).await;
    }
    let listed = operator.get(&format!("{QUEUES}/webhooks/dlq?limit=12")).await.expect(200);
    assert_eq!(listed.at("/dead_letters").as_array().unwrap().len(), 12);
    assert_eq!(listed.at("/dead_letters/0/body/delivery_id"), &stored[0]["id"]);
    let redrive = format!("{QUEUES}/webhooks/dlq/redrive");
    gateway.app().clock.stop();
    let now = gateway.now();
    let moved = operator.post(&redrive).json(json!({"max": 12, "rate": 4})).await.expect(202);
    assert_eq!((moved.int("/moved"), moved.int("/remaining")), (12, 3));
    let last = now.plus(Duration::from_secs(2)).to_string();
    assert_eq!((moved.int("/rate_per_second"), moved.str("/done_at")), (4, last));
    receiver.wait_for(1).await;
    // All of them have come up, and one attempt was made.
    eventually(DEADLINE, || async {
        let queue = operator.get(&format!("{QUEUES}/webhooks")).await.expect(200);
        let left = queue.int("/waiting") + queue.int("/in_flight") + queue.int("/delayed");
        (left == 0).then_some(())
    })
    .await;
    assert_eq!(receiver.requests().len(), 1);
}

#[tokio::test]
async fn the_dead_letters_of_every_queue_are_listed_and_redriven() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let queues = operator.get(QUEUES).await.expect(200);
    let queues = queues.at("/queues").as_array().unwrap();
    assert_eq!(queues.len(), 5, "{queues:?}");
    for queue in queues.iter().map(|queue| queue["name"].as_str().unwrap()) {
        gateway.send_to_queue(queue, true, POISON).await;
        let path = format!("{QUEUES}/{queue}/dlq");
        let listed = operator.get(&path).await.expect(200);
        assert_eq!((listed.str("/queue").as_str(), listed.int("/total")), (queue, 1));
        assert_eq!(listed.str("/dead_letters/0/body"), POISON);
        let again = || async {
            let redrive = operator.post(&format!("{path}/redrive")).json(json!({"max": 1}));
            let moved = redrive.await.expect(202);
            (moved.int("/moved") == 1).then_some(moved)
        };
        // What was just looked at is back in a moment.
        assert_eq!(eventually(DEADLINE, again).await.int("/remaining"), 0);
    }
}

#[tokio::test]
async fn only_operators_access_queues() {
    let gateway = Gateway::start().await;
    let (_, _, owner) = owner(&gateway).await;
    for path in [QUEUES, "/v1/operations/runtime/queues/mail"] {
        owner.get(path).await.expect(403).problem("operator_required");
    }
    let redrive = format!("{QUEUES}/webhooks/dlq/redrive");
    send(&gateway, true, POISON).await;
    owner.post(&redrive).json(json!({})).await.expect(403).problem("operator_required");
    let operator = Operator::sign_up(&gateway).await;
    operator.get(&format!("{QUEUES}/nothing")).await.expect(404).problem("not_found");
    let odd = operator.post(&redrive).json(json!({"max": 0, "rate": 1_000})).await.expect(422);
    let fields: Vec<String> = odd.field_errors().into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["/max", "/rate"]);
    let left = operator.get(&format!("{QUEUES}/webhooks")).await.expect(200);
    assert_eq!(left.int("/dead_letters"), 1, "nothing was moved");
}
