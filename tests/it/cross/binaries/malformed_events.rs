//! Events that nobody means to send.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use runtime_api::{Failure, Function};
use support::{Value, json};

use super::super::samples::samples;
use super::Kind;

/// Bytes of a query that no source sends.
const HUGE: usize = 200_000;

/// A request in payload format 2.0, with what a JSON body takes.
pub(super) fn http_api(method: &str, path: &str) -> Value {
    json!({
        "version": "2.0", "rawPath": path, "rawQueryString": "",
        "headers": {"content-type": "application/json", "host": "api.example.com"},
        "requestContext": {
            "domainName": "a1.execute-api.eu-west-1.amazonaws.com", "stage": "$default",
            "http": {"method": method, "sourceIp": "203.0.113.9"},
        },
        "body": "{}", "isBase64Encoded": false,
    })
}

fn function_url(method: &str, path: &str) -> Value {
    let mut event = http_api(method, path);
    event["requestContext"]["domainName"] = json!("a1.lambda-url.eu-west-1.on.aws");
    event
}

/// In payload format 1.0, with everything that is listed twice.
fn rest_api(method: &str, path: &str) -> Value {
    json!({
        "path": path, "httpMethod": method, "resource": "/{proxy+}",
        "headers": {"accept": "text/html", "x-odd": "b"},
        "multiValueHeaders": {"accept": ["application/json", "text/html"], "x-odd": ["a", "b"]},
        "queryStringParameters": {"limit": "2"},
        "multiValueQueryStringParameters": {"limit": ["1", "2"], "": [""], "none": []},
        "requestContext": {"stage": "prod", "path": format!("/prod{path}"), "httpMethod": method,
            "identity": {"sourceIp": "203.0.113.9"}},
        "body": "{}", "isBase64Encoded": false,
    })
}

fn load_balancer(method: &str, path: &str) -> Value {
    json!({
        "path": path, "httpMethod": method,
        "multiValueHeaders": {"x-forwarded-for": ["192.0.2.7, 203.0.113.9"], "cookie": ["a=1", "b=2"]},
        "multiValueQueryStringParameters": {"q": ["%FF%zz", "%"], "limit": ["1"]},
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
        "body": "", "isBase64Encoded": true,
    })
}

/// The event, with these members.
fn with(mut event: Value, members: Value) -> Value {
    let (Value::Object(event_members), Value::Object(members)) = (&mut event, members) else {
        panic!("objects")
    };
    event_members.extend(members);
    event
}

/// Requests to a path: whoever brings them, and whatever is wrong with them.
fn odd_requests(method: &str, path: &str) -> Vec<(&'static str, Value)> {
    let request = || http_api(method, path);
    let in_base64 =
        |bytes: &[u8]| json!({"body": BASE64_STANDARD.encode(bytes), "isBase64Encoded": true});
    let many = || json!({"multiValueQueryStringParameters": {"a": vec!["b"; HUGE / 4]}});
    let of_method = |method: &str| {
        let mut event = request();
        event["requestContext"]["http"]["method"] = json!(method);
        event
    };
    vec![
        ("a function URL", function_url(method, path)),
        ("a REST API", rest_api(method, path)),
        ("an HTTP API, in format 1.0", with(rest_api(method, path), json!({"version": "1.0"}))),
        ("a load balancer", load_balancer(method, path)),
        ("a body in base64", with(request(), in_base64(b"{\"name\": \"Ann\"}"))),
        ("bytes in base64", with(request(), in_base64(&[0xff, 0, 0xfe, b'{']))),
        ("broken base64", with(request(), json!({"body": "***", "isBase64Encoded": true}))),
        ("base64 cut short", with(request(), json!({"body": "eyJh", "isBase64Encoded": true}))),
        ("a body that is no text", with(request(), json!({"body": {"a": 1}}))),
        ("a body that is nested", with(request(), json!({"body": "[".repeat(100_000)}))),
        ("a body beyond the limit", with(request(), json!({"body": "x".repeat((4 << 20) + 1)}))),
        ("no body", with(request(), json!({"body": null}))),
        (
            "headers beyond ASCII",
            with(
                request(),
                json!({"headers": {
                    "x-odd": "caf\u{e9} \u{1F600}", "authorization": "Bearer \u{ff}\u{0}", "host": "h\u{f6}st",
                    "bad header": "x", "": "x", "x-lines": "a\r\nb: c", "idempotency-key": "\u{1F511}",
                }}),
            ),
        ),
        (
            "repeated headers",
            with(
                request(),
                json!({
                    "headers": {"Accept": "a", "accept": "b", "ACCEPT": "c"},
                    "cookies": ["a=1", "a=2", "caf\u{e9}"],
                }),
            ),
        ),
        (
            "headers that are no texts",
            with(request(), json!({"headers": {"a": 1, "b": [], "c": null}})),
        ),
        ("a huge query", with(request(), json!({"rawQueryString": "a=b&".repeat(HUGE / 4)}))),
        ("a huge query of a REST API", with(rest_api(method, path), many())),
        ("a huge query of a load balancer", with(load_balancer(method, path), many())),
        (
            "a huge parameter",
            with(request(), json!({"rawQueryString": format!("limit={}", "1".repeat(9_000))})),
        ),
        ("a huge header", with(request(), json!({"headers": {"authorization": "x".repeat(HUGE)}}))),
        (
            "an odd query",
            with(request(), json!({"rawQueryString": "%ff%zz&=&&limit=\u{0}&limit=1#x"})),
        ),
        ("an odd path", with(request(), json!({"rawPath": "/%ff/../\u{0}/\u{1F600}//?a#b"}))),
        ("no path", with(request(), json!({"rawPath": ""}))),
        ("a method of its own", of_method("PROPFIND")),
        ("no method", of_method("")),
        ("a method that is none", of_method("GET / HTTP/1.1\r\nhost: x")),
    ]
}

/// What is no request of anybody's. The first three Lambda hands over as they are, what is not JSON it
/// rejects itself, unless it has a fault.
fn others() -> Vec<(&'static str, Vec<u8>)> {
    let json = |value: Value| value.to_string().into_bytes();
    let sample = |function: &str| json(samples(function).swap_remove(0).1);
    vec![
        ("an empty object", json(json!({}))),
        ("null", json(Value::Null)),
        ("an array", json(json!([]))),
        ("a text", json(json!("GET /health"))),
        ("another source", json(json!({"Records": [{"eventSource": "aws:s3", "s3": {}}]}))),
        (
            "a topic",
            json(json!({"Records": [{"EventSource": "aws:sns", "Sns": {"Message": "{}"}}]})),
        ),
        ("no records", json(json!({"Records": []}))),
        ("records that are none", json(json!({"Records": [1, null, "x"]}))),
        ("a record of nothing", json(json!({"Records": [{"eventSource": "aws:dynamodb"}]}))),
        ("a message of nothing", json(json!({"Records": [{"eventSource": "aws:sqs"}]}))),
        ("a request", sample("health")),
        ("a batch of a queue", sample("webhooks")),
        ("a batch of another queue", sample("mail")),
        ("what the schedule sends", sample("dispatcher")),
        ("a method that is no text", json(json!({"httpMethod": 1, "path": {}}))),
        ("a request cut short", br#"{"version": "2.0", "rawPath": "/he"#.to_vec()),
        ("not JSON", b"GET /health HTTP/1.1\r\n\r\n".to_vec()),
        ("not UTF-8", b"{\"rawPath\": \"/\xff\xfe\"}".to_vec()),
        ("nothing", Vec::new()),
    ]
}

/// A family answers every request, whatever is wrong with it, and never with a fault of its own.
pub(super) async fn requests_are_answered(name: &str, binary: &str, function: &Function) {
    for (method, path) in two_of(binary) {
        for (what, event) in odd_requests(&method, &path) {
            let what = format!("{name}: {method} {path}: {what}");
            Kind::Family.validate(&what, &event, function.invoke(&event).await);
        }
    }
}

/// A request that reads, and one that takes a body where there is one. The shops have no table of routes.
fn two_of(binary: &str) -> Vec<(String, String)> {
    let families = local::families();
    let Some((_, routes)) = families.iter().find(|(family, _)| *family == binary) else {
        return [("GET", "/"), ("POST", "/cart/add")].map(|(a, b)| (a.into(), b.into())).into();
    };
    let mut rows: Vec<_> = routes.rows().iter().collect();
    rows.dedup_by_key(|row| row.method.clone());
    rows.truncate(2);
    let request =
        |row: &gateway::routes::Row| (row.method.to_string(), row.path.replace(['{', '}'], ""));
    rows.into_iter().map(request).collect()
}

/// What is no request is rejected by a family, and by the others rejected or answered: messages that nobody
/// can read are reported as failed and end in the dead-letter queue, and whatever is neither stream nor
/// queue makes the dispatcher sweep, as the schedule does.
pub(super) async fn others_are_rejected_or_reported(name: &str, kind: Kind, function: &Function) {
    for (what, event) in others() {
        let outcome = function.invoke_bytes(event).await;
        match (&outcome, kind) {
            (Ok(payload), Kind::Family) => {
                assert_eq!(what, "a request", "{name}: {what}: {payload}");
            }
            (Ok(payload), _) => assert!(payload.is_object(), "{name}: {what}: {payload}"),
            (Err(Failure::Rejected(error)), _) => {
                assert!(error["errorMessage"].is_string(), "{name}: {what}: {error}");
            }
            (Err(cause), _) => panic!("{name}: {what}: {cause}"),
        }
    }
}
