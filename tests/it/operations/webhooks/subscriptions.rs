//! Subscriptions: how many, and to what.

use support::{Behaviour, Gateway, Merchant, eventually, json, outgoing};

use super::{DEADLINE, SUBSCRIPTIONS, Watched};

#[tokio::test]
async fn a_store_has_at_most_50_subscriptions() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let answers = support::race(70, || {
        let input = json!({"url": watched.receiver.url("/x"), "event_types": ["*"]});
        let owner = watched.owner();
        async move { owner.post(SUBSCRIPTIONS).json(input).await.status }
    })
    .await;
    let made = answers.iter().filter(|status| **status == 201).count();
    let full = answers.iter().filter(|status| **status == 409).count();
    assert_eq!((made, full), (49, 21), "one was there");
}

#[tokio::test]
async fn a_subscription_cannot_target_this_service() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let url = format!("{}/v1/storefront/x", watched.gateway.url());
    let fault = [("/url".to_owned(), "own_host".to_owned())];
    let input = json!({"url": url, "event_types": ["store.updated"]});
    let rejected = watched.owner().post(SUBSCRIPTIONS).json(input).await.expect(422);
    assert_eq!(rejected.field_errors(), fault);
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    let rejected = watched.owner().patch(&path).json(json!({"url": url})).await.expect(422);
    assert_eq!(rejected.field_errors(), fault);
    assert_eq!(
        watched.owner().get(&path).await.expect(200).str("/url"),
        watched.receiver.url("/hooks")
    );
}

#[tokio::test]
async fn an_invalid_subscription_reports_every_field_error() {
    let gateway = Gateway::start_with(|options| options.embedded.egress = outgoing::strict()).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let before = gateway.count().await;
    let input =
        json!({"url": "nonsense", "event_types": ["order.eaten", "*"], "secret": "short", "x": 1});
    let reply = merchant.at(&store).post(SUBSCRIPTIONS).json(input).await.expect(422);
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
        let input = json!({"url": url, "event_types": ["*"]});
        let reply = merchant.at(&store).post(SUBSCRIPTIONS).json(input).await.expect(422);
        assert_eq!(reply.field_errors(), [("/url".to_owned(), code.to_owned())], "{url}");
    }
    assert_eq!(gateway.count().await, before);
}

#[tokio::test]
async fn a_disabled_subscription_receives_no_events() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    watched.rename("While it is on").await;
    watched.delivery_in("succeeded").await;
    let switch = |to: &'static str| watched.owner().post(&format!("{path}/{to}")).json(json!({}));
    assert_eq!(switch("disable").await.expect(200).str("/status"), "disabled");
    switch("disable").await.expect(409).problem("invalid_state_transition");
    watched.rename("While it is off").await;
    assert_eq!(switch("enable").await.expect(200).str("/status"), "enabled");
    switch("enable").await.expect(409).problem("invalid_state_transition");
    watched.rename("On again").await;
    eventually(DEADLINE, || async {
        let received = watched.receiver.requests();
        received.iter().any(|one| one.json()["data"]["name"] == "On again").then_some(())
    })
    .await;
    let received = watched.receiver.requests();
    assert!(received.iter().all(|one| one.json()["data"]["name"] != "While it is off"));
    eventually(DEADLINE, || async {
        let stats = watched.owner().get(&format!("{path}/stats")).await.expect(200);
        (stats.int("/by_status/succeeded") == 2).then_some(())
    })
    .await;
    let stats = watched.owner().get(&format!("{path}/stats")).await.expect(200);
    assert_eq!((stats.str("/health").as_str(), stats.int("/window_seconds")), ("healthy", 86_400));
}
