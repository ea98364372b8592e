//! Deliveries and their attempts, read and expunged.

use support::clock::{DAY, MINUTE};
use support::{Behaviour, Receiver, eventually, json};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, Watched};

#[tokio::test]
async fn a_page_without_matches_ends_with_a_cursor_and_is_fully_charged() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Sample").await;
    let id = watched.delivery_in("succeeded").await["id"].as_str().unwrap().to_owned();
    watched.gateway.advance(6 * DAY);
    for day in 1..=5 {
        watched.gateway.add_deliveries(&id, DAY * day, 30).await;
    }
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    let mut path = format!("{DELIVERIES}?event_type=none.happened&limit=1");
    let first = owner.get(&path).await.expect(200);
    assert_eq!((first.data().len(), first.json["page"]["has_more"].as_bool()), (0, Some(true)));
    // Of each day keys, and then what they lead to.
    assert!(first.trips() <= 85, "{} round trips", first.trips());
    let cost = |name: &str| first.header(name).unwrap().parse::<u32>().unwrap();
    assert!(cost("x-service-cost-actual") >= cost("x-service-cost-requested"));
    let mut pages = 0;
    loop {
        let reply = owner.get(&path).await.expect(200);
        assert!(reply.data().is_empty());
        pages += 1;
        let Some(cursor) = reply.json["page"]["next_cursor"].as_str() else { break };
        path = format!("{DELIVERIES}?event_type=none.happened&limit=1&cursor={cursor}");
    }
    // Of 150 and one, one is read at once: some 157 queries, 40 a page.
    assert_eq!(pages, 4);
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
async fn expunging_a_delivery_removes_every_recorded_response() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Sample").await;
    let id = watched.delivery_in("succeeded").await["id"].as_str().unwrap().to_owned();
    // Every other answer is too long to be kept with its attempt.
    let answer = |number: u32| "private".repeat(if number.is_multiple_of(2) { 1_000 } else { 1 });
    let answers: Vec<String> = (1..=230).map(answer).collect();
    let kept = watched.gateway.record_attempts(&id, "http://one.example", &answers).await;
    assert_eq!(kept, (50, 115), "the latest are kept");
    let attempts = format!("{DELIVERIES}/{id}/attempts?limit=100");
    let shown = watched.owner().get(&attempts).await.expect(200);
    let lengths: Vec<_> =
        shown.data().iter().filter_map(|one| one["response_body"].as_str().map(str::len)).collect();
    let expected: Vec<_> = (181..=230).map(|n| if n % 2 == 0 { 7_000 } else { 7 }).collect();
    assert_eq!(lengths, expected);
    assert!(shown.data().iter().all(|one| one["url"] == "http://one.example"));
    assert_eq!(shown.data()[49]["response_truncated"], true);
    let path = format!("{DELIVERIES}/{id}/content");
    watched.owner().delete(&path).await.expect(204);
    let left = watched.gateway.items(&format!("DLV#{id}")).await;
    assert_eq!(left.len(), 1, "the delivery alone");
    assert!(!left[0].to_string().contains("private"));
    let shown = watched.owner().get(&attempts).await.expect(200);
    assert_eq!(shown.data().len(), 50);
    assert!(shown.data().iter().all(|one| one["response_body"].is_null()));
    let redeliver = format!("{DELIVERIES}/{id}/redeliver");
    watched.owner().post(&redeliver).await.expect(409).problem("payload_expunged");
}

#[tokio::test]
async fn deliveries_are_listed_by_status_and_subscription() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    // What is to be tried again waits until the clock is moved.
    watched.gateway.app().clock.stop();
    let healthy = Receiver::start().await;
    let input = json!({"url": healthy.url("/"), "event_types": ["store.updated"]});
    let other = watched.owner().post(SUBSCRIPTIONS).json(input).await.expect(201).str("/id");
    for round in 0..3 {
        watched.rename(&format!("Round {round}")).await;
    }
    let failing = watched.subscription["id"].as_str().unwrap();
    let listed = |filter: String| {
        let owner = watched.owner();
        async move {
            let (mut found, mut cursor) = (Vec::new(), String::new());
            loop {
                let path = format!("{DELIVERIES}?limit=1&{filter}{cursor}");
                let reply = owner.get(&path).await.expect(200);
                found.extend(reply.data().clone());
                let Some(next) = reply.json["page"]["next_cursor"].as_str() else { return found };
                cursor = format!("&cursor={next}");
            }
        }
    };
    let count = |filter: String, count: usize| {
        let listed = &listed;
        async move {
            eventually(DEADLINE, || async {
                (listed(filter.clone()).await.len() == count).then_some(())
            })
            .await;
        }
    };
    count("status=retrying".to_owned(), 3).await;
    count("status=succeeded".to_owned(), 3).await;
    count(format!("subscription_id={failing}"), 3).await;
    count(format!("subscription_id={other}&status=succeeded"), 3).await;
    count(format!("subscription_id={other}&status=retrying"), 0).await;
    count(format!("subscription_id={failing}&status=succeeded"), 0).await;
    count("status=exhausted".to_owned(), 0).await;
    // What is in trouble no longer is listed so no longer.
    let one = listed(format!("subscription_id={failing}&status=retrying")).await.remove(0);
    let path = format!("{DELIVERIES}/{}/content", one["id"].as_str().unwrap());
    watched.owner().delete(&path).await.expect(204);
    count("status=retrying".to_owned(), 2).await;
    count(format!("subscription_id={failing}&status=cancelled"), 1).await;
    watched.receiver.now(Behaviour::Status(200));
    watched.gateway.advance(3 * MINUTE);
    watched.gateway.sweep().await;
    count("status=succeeded".to_owned(), 5).await;
    count("status=retrying".to_owned(), 0).await;
}
