//! `ordering: entity`: what happened to an entity arrives as it happened.

use std::collections::BTreeMap;
use std::time::Duration;

use support::clock::MINUTE;
use support::{Behaviour, Gateway, Market, Options, Receiver, Value, eventually, json};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, Watched};

const ENTITIES: usize = 10;
const CHANGES: usize = 20;

/// The versions of each entity, as they came.
fn versions(receiver: &Receiver) -> BTreeMap<String, Vec<u64>> {
    let mut found = BTreeMap::<String, Vec<u64>>::new();
    for request in receiver.requests() {
        let entity = request.json()["entity"].clone();
        let id = entity["id"].as_str().unwrap().to_owned();
        found.entry(id).or_default().push(entity["version"].as_u64().unwrap());
    }
    found
}

/// Moves the clock and sweeps, whenever nothing is being attempted, until every delivery is done.
async fn drain(gateway: &Gateway, count: usize) {
    eventually(Duration::from_mins(4), || async {
        let deliveries = gateway.items_of("delivery", "DLV#").await;
        let in_state = |state: &str| deliveries.iter().filter(|one| one["status"] == state).count();
        if in_state("succeeded") == count {
            return Some(());
        }
        if in_state("delivering") == 0 {
            gateway.advance(MINUTE);
            gateway.sweep().await;
        }
        None
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_an_entity_arrive_in_order_under_load_and_failures() {
    let market = Market::open().await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let input = json!({
        "url": receiver.url("/"), "event_types": ["product.updated"], "ordering": "entity"
    });
    market.owner.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let mut products = Vec::new();
    for _ in 0..ENTITIES {
        let input =
            json!({"title": support::unique("Thing"), "variants": [{"price": support::inr(1)}]});
        products.push(market.owner.post("/v1/products").json(input).await.expect(201).str("/id"));
    }
    for change in 0..CHANGES {
        // What this costs is restored within the second.
        market.gateway.advance(Duration::from_secs(1));
        let rename = |id: &String| {
            let input = json!({"title": format!("Change {change}")});
            let owner = market.owner.clone();
            let path = format!("/v1/products/{id}");
            async move { owner.patch(&path).json(input).await.expect(200) }
        };
        futures_util::future::join_all(products.iter().map(rename)).await;
        if change == CHANGES / 2 {
            // From now on one in three fails, in every way that is tried again.
            let broken = [Behaviour::Status(500), Behaviour::Status(200), Behaviour::Status(200)];
            let closed = [Behaviour::Close, Behaviour::Status(200), Behaviour::Status(200)];
            receiver.next((0..40).flat_map(|_| broken.clone().into_iter().chain(closed.clone())));
            receiver.now(Behaviour::Status(200));
        }
    }
    let all = ENTITIES * CHANGES;
    let made = || async {
        let made = market.gateway.items_of("delivery", "DLV#").await.len();
        (made == all).then_some(())
    };
    eventually(DEADLINE, made).await;
    drain(&market.gateway, all).await;
    let arrived = versions(&receiver);
    assert_eq!(arrived.len(), ENTITIES);
    for (entity, versions) in arrived {
        assert!(versions.is_sorted(), "{entity}: {versions:?}");
        let mut distinct = versions;
        distinct.dedup();
        assert_eq!(distinct.len(), CHANGES, "{entity}: {distinct:?}");
    }
    assert!(
        market.gateway.items_of("delivery_place", "WHS#").await.is_empty(),
        "ordering keys are empty"
    );
}

async fn ordered(options: impl FnOnce(&mut Options), behaviour: Behaviour) -> Watched {
    let gateway = Gateway::start_with(options).await;
    Watched::with(gateway, behaviour, json!({"ordering": "entity"})).await
}

/// The deliveries as the table has them, in the order of what happened.
async fn stored(watched: &Watched) -> Vec<Value> {
    let mut deliveries = watched.gateway.items_of("delivery", "DLV#").await;
    deliveries.sort_by_key(|delivery| delivery["lane"]["order"].as_str().map(str::to_owned));
    deliveries
}

#[tokio::test]
async fn the_sweep_sends_the_deliveries_of_an_ordering_key_in_order() {
    let watched = ordered(|options| options.has_stream = false, Behaviour::Status(200)).await;
    for name in ["First", "Second", "Third"] {
        watched.rename(name).await;
    }
    watched.gateway.advance(MINUTE + Duration::from_secs(1));
    // Every message is lost, those for the deliveries and those to the next in their ordering key.
    let mute = watched.gateway.process_without_queues();
    mute.sweep().await;
    let deliveries = stored(&watched).await;
    assert_eq!(deliveries.len(), 3);
    for delivery in deliveries.iter().rev() {
        tokio::join!(mute.attempt(delivery), mute.attempt(delivery));
    }
    let names = || -> Vec<String> {
        let requests = watched.receiver.requests();
        requests.iter().map(|one| one.json()["data"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(), ["First"]);
    let waiting = watched.deliveries().await;
    let held = waiting.iter().filter(|one| one["held_by"] == "entity").count();
    assert_eq!(held, 2, "{waiting:?}");
    // The first has ended and nobody was told: the others are due.
    eventually(DEADLINE, || async {
        watched.gateway.advance(MINUTE);
        watched.gateway.sweep().await;
        (names().len() == 3).then_some(())
    })
    .await;
    assert_eq!(names(), ["First", "Second", "Third"]);
    drain(&watched.gateway, 3).await;
    assert_eq!(watched.receiver.requests().len(), 3);
}

#[tokio::test]
async fn events_are_published_in_order_of_occurrence() {
    let watched = ordered(|options| options.has_stream = false, Behaviour::Status(200)).await;
    for name in ["First", "Second", "Third"] {
        watched.rename(name).await;
    }
    let events = watched.gateway.all_events().await;
    let third = events.iter().find(|event| event.body.contains("\"Third\"")).unwrap();
    let third = watched.gateway.events_with(third.id.as_str()).await;
    watched.gateway.process().publish(&third).await;
    let received = watched.receiver.wait_for(3).await;
    let names: Vec<_> = received.iter().map(|one| one.json()["data"]["name"].clone()).collect();
    assert_eq!(names, ["First", "Second", "Third"]);
}

#[tokio::test]
async fn an_ordering_key_continues_after_an_exhausted_or_cancelled_delivery() {
    let watched = ordered(|_| {}, Behaviour::Status(500)).await;
    for name in ["First", "Second", "Third"] {
        watched.rename(name).await;
    }
    let names = || -> Vec<String> {
        let requests = watched.receiver.requests();
        requests.iter().map(|one| one.json()["data"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let all_there = || async { (stored(&watched).await.len() == 3).then_some(()) };
    eventually(DEADLINE, all_there).await;
    let first = stored(&watched).await[0]["id"].clone();
    // The first takes all of its schedule, and nobody overtakes it.
    eventually(Duration::from_mins(2), || async {
        let deliveries = stored(&watched).await;
        let head = deliveries.iter().find(|one| one["id"] == first).unwrap();
        if head["status"] == "exhausted" {
            return Some(());
        }
        if !deliveries.iter().any(|one| one["status"] == "delivering") {
            watched.gateway.advance(Duration::from_hours(1));
            watched.gateway.sweep().await;
        }
        None
    })
    .await;
    let until_then: Vec<_> = names().into_iter().take(10).collect();
    assert_eq!(until_then, vec!["First"; 10]);
    // The second is cancelled by its owner, and the third is sent.
    let second = stored(&watched).await[1]["id"].clone();
    let owner = || async { watched.merchant.sign_in_again().await.at(&watched.store) };
    let path = format!("{DELIVERIES}/{}/content", second.as_str().unwrap());
    eventually(DEADLINE, || async {
        let reply = owner().await.delete(&path).await;
        (reply.status == 204).then_some(())
    })
    .await;
    watched.receiver.now(Behaviour::Status(200));
    eventually(DEADLINE, || async {
        watched.gateway.advance(MINUTE);
        watched.gateway.sweep().await;
        let third = &stored(&watched).await[2];
        (third["status"] == "succeeded").then_some(())
    })
    .await;
    assert_eq!(names().last().unwrap(), "Third");
    // What is recovered stands in its ordering key again: the event before it does, too.
    watched.receiver.now(Behaviour::Status(500));
    let id = watched.subscription["id"].as_str().unwrap();
    let input = json!({"since": watched.gateway.now().minus(Duration::from_hours(24 * 13))});
    let path = format!("{SUBSCRIPTIONS}/{id}/recover");
    let recovered = owner().await.post(&path).json(input).await.expect(202);
    assert_eq!(recovered.int("/matched"), 1, "the expunged one has nothing to send");
    assert_eq!(recovered.int("/skipped/payload_expunged"), 1);
    let all_made = || async { (stored(&watched).await.len() == 4).then_some(()) };
    eventually(DEADLINE, all_made).await;
    watched.rename_as(&owner().await, "Fourth").await;
    eventually(DEADLINE, || async {
        let fourth = stored(&watched).await.into_iter().nth(4)?;
        (fourth["held_by"] == "entity").then_some(())
    })
    .await;
    assert!(!names().contains(&"Fourth".to_owned()));
    watched.receiver.now(Behaviour::Status(200));
    eventually(DEADLINE, || async {
        watched.gateway.advance(MINUTE);
        watched.gateway.sweep().await;
        names().contains(&"Fourth".to_owned()).then_some(())
    })
    .await;
}
