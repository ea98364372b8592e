//! The sample events of `events/`, through the very code that a Lambda runs: requests through
//! `lambda`, queue and stream batches through their handlers.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use aws_lambda_events::event::sqs::SqsEvent;
use lambda::answer;
use support::{Gateway, Market, Value, json};

/// The sample events of a function, by name.
pub(super) fn samples(function: &str) -> Vec<(String, Value)> {
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

/// An event as the local system gets it: it is served at no name of another site.
fn at_home(mut event: Value) -> Value {
    for pointer in
        ["/headers/host", "/headers/Host", "/multiValueHeaders/host/0", "/multiValueHeaders/Host/0"]
    {
        if let Some(host) = event.pointer_mut(pointer) {
            *host = json!("localhost");
        }
    }
    event
}

async fn invoke(gateway: &Gateway, event: Value) -> Value {
    let event = at_home(event);
    serde_json::to_value(
        answer(gateway.system().router(), serde_json::from_value(event).unwrap()).await.unwrap(),
    )
    .unwrap()
}

#[tokio::test]
async fn sample_requests_are_answered_in_their_sources_format() {
    let gateway = Gateway::start().await;
    let mut seen = BTreeMap::new();
    for (family, _) in local::families() {
        for (name, event) in samples(family) {
            let is_a = |pointer: &str, part: &str| {
                event.pointer(pointer).and_then(Value::as_str).is_some_and(|it| it.contains(part))
            };
            let (source, id) = if event["requestContext"]["elb"].is_object() {
                ("a load balancer", "/multiValueHeaders/x-request-id/0")
            } else if event["version"].is_null() {
                ("a REST API", "/multiValueHeaders/x-request-id/0")
            } else if is_a("/requestContext/domainName", "lambda-url") {
                ("a function URL", "/headers/x-request-id")
            } else {
                ("an HTTP API", "/headers/x-request-id")
            };
            let answer = invoke(&gateway, event).await;
            let status = answer["statusCode"].as_u64().unwrap();
            assert!((200..500).contains(&status), "{family}/{name}: {answer}");
            assert!(answer.pointer(id).is_some_and(Value::is_string), "{family}/{name}: {answer}");
            assert_eq!(answer["isBase64Encoded"], false, "{family}/{name}");
            *seen.entry(source).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen["an HTTP API"] >= 10, "{seen:?}");
}

/// What is asked, how it came, and what is answered do not depend on who brought it.
#[tokio::test]
async fn responses_are_equal_across_lambda_event_sources() {
    let market = Market::open().await;
    let path = format!("/v1/storefront/{}/products", market.store.subdomain);
    let http = |domain: &str| {
        json!({
            "version": "2.0", "rawPath": path, "rawQueryString": "limit=1&q=%20&q=",
            "requestContext": {"domainName": domain, "http": {"method": "GET", "sourceIp": "203.0.113.9"}},
        })
    };
    let one = json!({"limit": "1", "q": ""});
    let all = json!({"limit": ["1"], "q": [" ", ""]});
    let encoded = json!({"limit": ["1"], "q": ["%20", ""]});
    let mut answers = Vec::new();
    for event in [
        http("a1.execute-api.eu-west-1.amazonaws.com"),
        http("a1.lambda-url.eu-west-1.on.aws"),
        json!({"httpMethod": "GET", "path": path, "queryStringParameters": one,
            "multiValueQueryStringParameters": all,
            "requestContext": {"httpMethod": "GET", "stage": "prod",
                "identity": {"sourceIp": "203.0.113.9"}}}),
        json!({"httpMethod": "GET", "path": path, "multiValueQueryStringParameters": encoded,
            "multiValueHeaders": {"x-forwarded-for": ["203.0.113.9"]},
            "requestContext": {"elb": {"targetGroupArn": "arn:x"}}}),
    ] {
        let answer = invoke(&market.gateway, event).await;
        // Of two values the second is one too many.
        assert_eq!(answer["statusCode"], 422, "{answer}");
        let mut problem: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        problem["request_id"].take();
        answers.push(problem);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
}

#[tokio::test]
async fn an_unknown_lambda_event_is_rejected_without_a_crash() {
    let gateway = Gateway::start().await;
    for event in [json!(null), json!({}), json!({"Records": [{"eventSource": "aws:s3"}]})] {
        assert!(
            answer(gateway.system().router(), serde_json::from_value(event).unwrap())
                .await
                .is_err()
        );
    }
    let (_, health) = samples("health").into_iter().find(|(name, _)| name == "health").unwrap();
    assert_eq!(invoke(&gateway, health).await["statusCode"], 200);
}

#[tokio::test]
async fn malformed_bytes_and_bodies_are_answered_without_a_crash() {
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
async fn queue_batches_report_exactly_the_failed_messages() {
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
    for (name, event) in samples("runner") {
        let event: SqsEvent = serde_json::from_value(event).unwrap();
        let last = event.records[1].message_id.clone();
        let answer = serde_json::to_value(runner::handle(app, event).await).unwrap();
        assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": last}]}), "{name}");
    }
}

#[tokio::test]
async fn the_dispatcher_handles_stream_and_schedule_events() {
    let gateway = Gateway::start().await;
    for (name, event) in samples("dispatcher") {
        let answer = dispatcher::handle(gateway.app(), event).await.unwrap();
        let failed = answer["batchItemFailures"].as_array().map_or(0, Vec::len);
        assert_eq!(failed, 0, "{name}: {answer}");
    }
}

#[tokio::test]
async fn an_issuer_with_a_path_has_its_metadata_below_the_well_known_location() {
    let gateway = Gateway::start_with(|options| {
        options.base_url = Some("https://example.com/api".to_owned());
    })
    .await;
    // Nothing listens at that address: the function is handed the event of a proxy that does.
    let get = async |below: &str| {
        let path = format!("/.well-known/oauth-authorization-server{below}");
        let event = json!({"rawPath": path, "requestContext": {"http": {"method": "GET"}}});
        let reply = invoke(&gateway, event).await;
        let body = reply["body"].as_str().unwrap_or_default();
        (reply["statusCode"].clone(), serde_json::from_str::<Value>(body).unwrap_or_default())
    };
    let (status, below) = get("/api").await;
    assert_eq!((status, &below["issuer"]), (json!(200), &json!("https://example.com/api")));
    let page = "https://example.com/api/v1/app-store/oauth/authorize";
    assert_eq!(below["authorization_endpoint"], page);
    assert_eq!(get("").await, (json!(200), below));
    for other in ["/ap", "/api2", "/API", "/api/", "/api/v2"] {
        let (status, problem) = get(other).await;
        assert_eq!((status, &problem["code"]), (json!(404), &json!("not_found")), "{other}");
    }
}
