//! A receiver that was down for days, and one replay.

use std::collections::BTreeMap;

use support::clock::DAY;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_replay_recovers_a_thousand_missed_events() {
    missed_and_recovered(1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes for minutes"]
async fn one_replay_recovers_ten_thousand_missed_events() {
    missed_and_recovered(10_000).await;
}

/// How many of the deliveries there are in each state.
async fn states(watched: &Watched) -> BTreeMap<String, usize> {
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut found = BTreeMap::new();
    for delivery in watched.gateway.items_of("delivery", "DLV#").await {
        *found.entry(delivery["status"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    found
}

async fn missed_and_recovered(count: usize) {
    let watched = Watched::by(Behaviour::Close).await;
    let events = happen(&watched, count).await;
    eventually(Duration::from_mins(3), || async {
        (states(&watched).await.values().sum::<usize>() == count).then_some(())
    })
    .await;
    // Five days later deliveries are given up, then the receiver, and then what is left for it.
    watched.gateway.advance(DAY * 5 + MINUTE);
    eventually(Duration::from_mins(10), || async {
        watched.gateway.sweep().await;
        watched.gateway.advance(MINUTE * 3);
        let states = states(&watched).await;
        let of = |status| states.get(status).copied().unwrap_or(0);
        (of("exhausted") + of("cancelled") == count).then_some(())
    })
    .await;
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    let path = format!("{SUBSCRIPTIONS}/{}", subscription(&watched));
    eventually(DEADLINE, || async {
        let shown = owner.elsewhere().get(&path).await.expect(200);
        (shown.str("/status") == "disabled_by_system").then_some(())
    })
    .await;
    owner.post(&format!("{path}/enable")).json(json!({})).await.expect(200);
    watched.receiver.now(Behaviour::Keep(200));
    let seen = watched.receiver.requests().len();
    let input = with(recover(&watched), json!({"rate_per_second": 1_000}));
    let begun = owner.post(REPLAYS).json(input).await.expect(202);
    assert_eq!(begun.at("/matched"), &json!(count));
    let id = begun.str("/id");
    let path = format!("{REPLAYS}/{id}");
    let replay = eventually(Duration::from_mins(10), || async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let replay = owner.elsewhere().get(&path).await.expect(200).json;
        replay["finished_at"].is_string().then_some(replay)
    })
    .await;
    assert_eq!((&replay["status"], &replay["matched"]), (&json!("succeeded"), &json!(count)));
    assert_eq!(replay["progress"]["succeeded"], json!(count));
    // Nothing is missing and nothing is wrong: each event came once, as it happened, signed.
    let mut missing = events;
    for request in watched.receiver.requests().split_off(seen) {
        let (event, body) = (request.header("webhook-id").to_owned(), request.json());
        verify(&request, watched.secret());
        assert_eq!(body["id"], event.as_str());
        assert_eq!(body["entity"]["id"], format!("entity-{}", body["data"]["number"]));
        assert_eq!(request.header("x-service-replay-id"), id);
        assert!(missing.remove(&event), "{event} came twice, or was never made");
    }
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(made_by(&watched.gateway, &id).await.len(), count);
    let window = since(&watched);
    let verified = owner.elsewhere().get(&format!("{VERIFY}?since={}", window.as_str().unwrap()));
    let verified = verified.await.expect(200);
    assert_eq!((verified.int("/missing"), verified.int("/orphan")), (0, 0), "{}", verified.text);
}
