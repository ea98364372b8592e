//! The sample events of `events/`, through the very code that a Lambda runs: gateway events through
//! `gateway::lambda`, queue and stream batches through their handlers.

use std::fs;
use std::path::PathBuf;

use aws_lambda_events::event::sqs::SqsEvent;
use gateway::lambda::{HttpApiEvent, answer};
use support::{Gateway, Value, json};

fn samples(function: &str) -> Vec<(String, Value)> {
    let directory = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../events")).join(function);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    files.into_iter().map(read).collect()
}

async fn invoke(gateway: &Gateway, event: Value) -> Value {
    let event: HttpApiEvent = serde_json::from_value(event).unwrap();
    serde_json::to_value(answer(gateway.system().router(), event).await).unwrap()
}

#[tokio::test]
async fn every_gateway_event_is_answered_as_api_gateway_takes_it() {
    let gateway = Gateway::start().await;
    let mut seen = 0;
    for (family, _) in local::families() {
        for (name, event) in samples(family) {
            let answer = invoke(&gateway, event).await;
            let status = answer["statusCode"].as_u64().unwrap();
            assert!((200..500).contains(&status), "{family}/{name}: {answer}");
            assert!(answer["headers"]["x-request-id"].is_string(), "{family}/{name}: {answer}");
            assert_eq!(answer["isBase64Encoded"], false, "{family}/{name}");
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen} samples");
}

#[tokio::test]
async fn odd_bytes_and_broken_bodies_are_answered_and_not_an_abort() {
    let gateway = Gateway::start().await;
    let event = |path: &str, body: Value, base64: bool| {
        json!({
            "rawPath": path, "rawQueryString": "",
            "headers": {"x-odd": "caf\u{e9} \u{1F600}", "content-type": "application/json", "bad header": "x"},
            "requestContext": {"http": {"method": "POST", "sourceIp": "203.0.113.9"}},
            "body": body, "isBase64Encoded": base64,
        })
    };
    let signup = "/v1/auth/signup";
    for (event, status) in [
        (event(signup, json!("***"), true), 400),
        (event(signup, json!("{"), false), 400),
        (event(signup, Value::Null, false), 422),
        // The parameter stays whole: the route is found, and asks who is calling.
        (event("/v1/stores/a?b=1#c/activate", json!("{}"), false), 401),
        (event("/v1/stores/%2e%2e/activate", json!("{}"), false), 401),
        (event("", Value::Null, false), 404),
    ] {
        let answer = invoke(&gateway, event.clone()).await;
        assert_eq!(answer["statusCode"], status, "{event}: {answer}");
    }
}

#[tokio::test]
async fn queue_batches_answer_with_exactly_the_messages_that_failed() {
    let gateway = Gateway::start().await;
    let app = gateway.app();
    for (name, event) in samples("webhooks") {
        let count = event["Records"].as_array().unwrap().len();
        let event: SqsEvent = serde_json::from_value(event).unwrap();
        let answer = serde_json::to_value(webhooks::handle(app, event).await).unwrap();
        let failed = answer["batchItemFailures"].as_array().unwrap();
        assert!(failed.len() < count, "{name}: {answer}");
    }
    let poison = json!({"Records": [
        {"messageId": "poison", "body": "not a message"},
        {"messageId": "unknown", "body": json!({"mail_id": format!("mai_{}", "0".repeat(32))}).to_string()},
    ]});
    let event: SqsEvent = serde_json::from_value(poison).unwrap();
    let answer = serde_json::to_value(mail::handle(app, event).await).unwrap();
    assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": "poison"}]}));
}

#[tokio::test]
async fn the_dispatcher_takes_stream_and_schedule() {
    let gateway = Gateway::start().await;
    for (name, event) in samples("dispatcher") {
        let answer = dispatcher::handle(gateway.app(), event).await.unwrap();
        let failed = answer["batchItemFailures"].as_array().map_or(0, Vec::len);
        assert_eq!(failed, 0, "{name}: {answer}");
    }
}
