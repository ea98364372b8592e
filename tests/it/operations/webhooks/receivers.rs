//! Receivers that fail, lie, stall or are gone.

use std::time::Duration;

use support::clock::{DAY, MINUTE};
use support::{Behaviour, Gateway, Merchant, Names, Receiver, Value, eventually, json, outgoing};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, Watched, verify};

#[tokio::test]
async fn a_failing_delivery_is_retried_by_schedule_until_exhausted() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    watched.rename("Again").await;
    let delivery = watched.delivery_in("retrying").await;
    let slots = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 86_400];
    for (made, slot) in slots.into_iter().enumerate() {
        // The slot, its jitter, and the minute in which a queue message would have carried it; the
        // breaker opens at the tenth failure in a row, which is the last here.
        watched.gateway.advance(Duration::from_secs(slot + slot / 4) + 2 * MINUTE);
        eventually(DEADLINE, || async {
            watched.gateway.sweep().await;
            (watched.receiver.requests().len() >= made + 2).then_some(())
        })
        .await;
        let status = if made + 2 == 10 { "exhausted" } else { "retrying" };
        eventually(DEADLINE, || async {
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

/// A service that stood still for a week, with its queues emptied: its receivers are not at fault.
#[tokio::test]
async fn a_delivery_that_was_never_attempted_is_attempted_after_an_outage_of_any_length() {
    for fields in [json!({}), json!({"ordering": "entity"})] {
        let gateway = Gateway::start_with(|options| options.has_stream = false).await;
        let watched = Watched::with(gateway, Behaviour::Status(200), fields).await;
        for name in ["First", "Second"] {
            watched.rename(name).await;
        }
        watched.gateway.advance(2 * MINUTE);
        watched.gateway.process_without_queues().sweep().await;
        assert_eq!(watched.receiver.requests().len(), 0);
        watched.gateway.advance(7 * DAY);
        watched.gateway.sweep().await;
        let received = watched.receiver.wait_for(2).await;
        let mut names: Vec<_> =
            received.iter().map(|one| one.json()["data"]["name"].to_string()).collect();
        names.sort();
        assert_eq!(names, ["\"First\"", "\"Second\""]);
        let owner = watched.merchant.sign_in_again().await.at(&watched.store);
        let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
        let shown = owner.get(&path).await.expect(200);
        assert_eq!(shown.json["health"], "healthy");
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
    eventually(DEADLINE, || async {
        (watched.subscription().await["status"] == "disabled_by_system").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_misbehaving_receiver_is_cut_off_or_read_no_further() {
    let watched = Watched::by(Behaviour::Drip(Duration::from_millis(100))).await;
    let hanging = Receiver::that(Behaviour::Hang).await;
    let flooding = Receiver::that(Behaviour::BigBody(4 << 20)).await;
    let healthy = Receiver::start().await;
    for receiver in [&hanging, &flooding, &healthy] {
        let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
        watched.owner().post(SUBSCRIPTIONS).json(input).await.expect(201);
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
    let mut longest = Vec::new();
    for delivery in watched.deliveries().await {
        let attempts = watched.attempts(&delivery).await;
        longest
            .extend(attempts.iter().filter_map(|one| one["response_body"].as_str().map(str::len)));
    }
    assert_eq!(longest.into_iter().max(), Some(16 * 1024));
}

#[tokio::test]
async fn dns_rebinding_reaches_no_blocked_address() {
    let canary = Receiver::start().await;
    let names = Names::default();
    // The policy of production, but for the port that the canary listens on.
    let egress = outgoing::public(&names);
    let gateway = Gateway::start_with(|options| options.embedded.egress = egress).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    names.teach_turns("rebinding.example.com", &[&["93.184.215.14"], &["127.0.0.1"]]);
    names.teach("mixed.example.com", &["93.184.215.14", "127.0.0.1"]);
    names.teach("inside.example.com", &["10.0.0.7"]);
    let url = |host: &str| format!("http://{host}:{}/", canary.port());
    let request = |host: &str| json!({"url": url(host), "event_types": ["store.updated"]});
    for host in ["mixed.example.com", "inside.example.com"] {
        let reply = owner.post(SUBSCRIPTIONS).json(request(host)).await.expect(422);
        assert_eq!(reply.field_errors(), [("/url".to_owned(), "blocked_address".to_owned())]);
    }
    owner.post(SUBSCRIPTIONS).json(request("rebinding.example.com")).await.expect(201);
    let path = format!("/v1/stores/{}", store.id);
    owner.patch(&path).json(json!({"name": "Bait"})).await.expect(200);
    eventually(DEADLINE, || async {
        let list = owner.get(DELIVERIES).await.expect(200);
        list.data().iter().any(|delivery| delivery["status"] == "blocked").then_some(())
    })
    .await;
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_pooled_connection_is_not_reused_for_a_blocked_address() {
    let names = Names::default();
    names.teach("hooks.example.com", &["127.0.0.1"]);
    let egress = outgoing::named(&names);
    let gateway = Gateway::start_with(|options| {
        options.embedded.egress = egress;
        options.has_stream = false;
    })
    .await;
    let receiver = Receiver::that(Behaviour::Keep(200)).await;
    let url = format!("http://hooks.example.com:{}/", receiver.port());
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let input = json!({"url": url, "event_types": ["store.updated"]});
    owner.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let path = format!("/v1/stores/{}", store.id);
    for name in ["First", "Second", "Third"] {
        owner.patch(&path).json(json!({"name": name})).await.expect(200);
    }
    gateway.advance(MINUTE + Duration::from_secs(1));
    let mute = gateway.process_without_queues();
    mute.sweep().await;
    let pending = gateway.items_of("delivery", "DLV#").await;
    let [first, second, third] = pending.as_slice() else { panic!("{pending:?}") };
    let status = async |delivery: &Value| {
        let path = format!("{DELIVERIES}/{}", delivery["id"].as_str().unwrap());
        owner.get(&path).await.expect(200).str("/status")
    };
    // One after the other, by one worker: the second finds the connection of the first.
    for delivery in [first, second] {
        mute.attempt(delivery).await;
        assert_eq!(status(delivery).await, "succeeded");
    }
    assert_eq!((receiver.requests().len(), receiver.connections()), (2, 1));
    names.teach("hooks.example.com", &["10.0.0.7"]);
    mute.attempt(third).await;
    assert_eq!(status(third).await, "blocked");
    assert_eq!((receiver.requests().len(), receiver.connections()), (2, 1));
}

#[tokio::test]
async fn a_dead_receivers_circuit_opens_and_one_probe_closes_it() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    for round in 0..12 {
        watched.rename(&format!("Round {round}")).await;
    }
    eventually(DEADLINE, || async {
        (watched.subscription().await["health"] == "circuit_open").then_some(())
    })
    .await;
    let tried = watched.receiver.requests().len();
    assert!((10..=12).contains(&tried), "{tried} requests before the circuit opened");
    watched.rename("While it is open").await;
    watched.receiver.now(Behaviour::Status(200));
    watched.gateway.advance(10 * MINUTE);
    eventually(DEADLINE, || async {
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
