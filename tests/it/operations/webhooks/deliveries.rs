//! What arrives: signed, with every header, and as its schema says.

use support::{Behaviour, Gateway, eventually, json};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, Watched, is_signed_by, verify};

#[tokio::test]
async fn an_event_is_delivered_signed_with_every_header() {
    let watched = Watched::by(Behaviour::Status(204)).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let path = format!("/v1/stores/{}", watched.store.id);
    let input = watched.owner().patch(&path).json(json!({"name": "Renamed"}));
    input.header("x-request-id", "my-request-1").header("traceparent", trace).await.expect(200);
    let received = watched.receiver.wait_for_event("store.updated").await;
    verify(&received, watched.secret());
    let webhook = standardwebhooks::Webhook::new(watched.secret()).unwrap();
    webhook.verify(&received.body, &received.headers).unwrap();
    let body = received.json();
    assert_eq!(received.header("x-service-event-id"), body["id"]);
    assert_eq!(received.header("webhook-id"), body["id"]);
    assert_eq!(received.header("x-service-event-type"), "store.updated");
    assert_eq!(received.header("x-service-request-id"), "my-request-1");
    assert_eq!(received.header("x-service-trace-id"), "0af7651916cd43dd8448eb211c80319c");
    assert!(received.header("traceparent").contains("0af7651916cd43dd8448eb211c80319c"));
    assert_eq!(received.header("x-service-store-id"), watched.store.id);
    assert_eq!(received.header("x-service-attempt"), "1");
    assert_eq!(received.header("user-agent"), "Service-Webhooks/1");
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(body["data"]["name"], "Renamed");
    assert_eq!(body["entity"]["id"], watched.store.id.as_str());
    let delivery = watched.delivery_in("succeeded").await;
    assert_eq!(received.header("x-service-delivery-id"), delivery["id"]);
    let attempts = watched.attempts(&delivery).await;
    assert_eq!(attempts.len(), 1);
    let frozen = watched.gateway.events("store.updated").await;
    assert_eq!(frozen[0], body, "the event is as it was frozen");
}

#[tokio::test]
async fn every_topics_example_matches_its_schema() {
    let gateway = Gateway::start().await;
    let list = gateway.get("/v1/operations/event-types?limit=100").await.expect(200);
    assert!(list.data().len() >= 15);
    for topic in list.data() {
        let name = topic["type"].as_str().or(topic["name"].as_str()).unwrap();
        let entry =
            gateway.get(&format!("/v1/operations/event-types/{name}")).await.expect(200).json;
        let schema = entry.get("schema").or(entry.get("json_schema")).unwrap();
        let validator = jsonschema::validator_for(schema).unwrap();
        let example = &entry["example"];
        let faults: Vec<_> =
            validator.iter_errors(example).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
}

#[tokio::test]
async fn a_delivered_event_matches_its_schema() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Renamed").await;
    let received = watched.receiver.wait_for_event("store.updated").await;
    let entry =
        watched.gateway.get("/v1/operations/event-types/store.updated").await.expect(200).json;
    let schema = entry.get("schema").or(entry.get("json_schema")).unwrap();
    jsonschema::validate(schema, &received.json()).unwrap();
}

#[tokio::test]
async fn a_rotation_signs_with_both_secrets_until_it_is_promoted() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let path = |action: &str| format!("{SUBSCRIPTIONS}/{id}/secret/{action}");
    watched.owner().post(&path("promote")).await.expect(409).problem("no_secret_rotation");
    let rotated = watched.owner().post(&path("rotate")).json(json!({})).await.expect(200);
    let new = rotated.str("/secret");
    watched.rename("Both").await;
    let both = watched.receiver.wait_for(1).await.remove(0);
    assert_eq!(both.header("webhook-signature").split(' ').count(), 2);
    verify(&both, watched.secret());
    assert!(is_signed_by(&both, &new));
    watched.owner().post(&path("promote")).await.expect(200);
    watched.rename("New alone").await;
    let alone = watched.receiver.wait_for(2).await.remove(1);
    verify(&alone, &new);
    assert_eq!(alone.header("webhook-signature").split(' ').count(), 1);
    // Without a grace the old secret is out at once.
    let bare =
        watched.owner().post(&path("rotate")).json(json!({"grace_seconds": 0})).await.expect(200);
    watched.rename("Newest alone").await;
    verify(&watched.receiver.wait_for(3).await.remove(2), &bare.str("/secret"));
}

#[tokio::test]
async fn test_deliveries_and_redeliveries_are_signed_and_sent() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let test = format!("{SUBSCRIPTIONS}/{id}/test");
    let dry = watched.owner().post(&test).json(json!({"dry_run": true})).await.expect(200);
    assert!(
        dry.text.contains("X-Service-Hmac-SHA256") || dry.text.contains("x-service-hmac-sha256")
    );
    assert_eq!(watched.receiver.requests().len(), 0);
    watched.owner().post(&test).json(json!({"event_type": "store.updated"})).await.expect(202);
    verify(&watched.receiver.wait_for(1).await[0], watched.secret());
    watched.rename("For real").await;
    let first = watched.receiver.wait_for(2).await.remove(1);
    let delivery = first.header("x-service-delivery-id").to_owned();
    eventually(DEADLINE, || async {
        let path = format!("{DELIVERIES}/{delivery}/redeliver");
        let reply = watched.owner().post(&path).json(json!({})).await;
        (reply.status == 202).then_some(())
    })
    .await;
    let again = watched.receiver.wait_for(3).await.remove(2);
    assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(again.body, first.body);
    assert_ne!(again.header("x-service-delivery-id"), delivery);
}

#[tokio::test]
async fn a_custom_headers_value_is_sent_and_never_returned() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let input = json!({"headers": {"x-api-key": "sesame-opens"}});
    watched.owner().patch(&format!("{SUBSCRIPTIONS}/{id}")).json(input).await.expect(200);
    let test = format!("{SUBSCRIPTIONS}/{id}/test");
    let dry = watched.owner().post(&test).json(json!({"dry_run": true})).await.expect(200);
    assert!(!dry.text.contains("sesame-opens"), "{}", dry.text);
    assert_eq!(dry.str("/headers/x-api-key"), "***");
    watched.owner().post(&test).json(json!({})).await.expect(202);
    assert_eq!(watched.receiver.wait_for(1).await[0].header("x-api-key"), "sesame-opens");
}
