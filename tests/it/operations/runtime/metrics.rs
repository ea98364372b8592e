//! What is counted of requests, and that counting writes nothing for a request.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use support::clock::MINUTE;
use support::{Client, Fault, Faults, Gateway, Operator, Store, Value, json, routes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{OVERVIEW, owner};

/// What one family answered, in the last hour.
async fn numbers(operator: &Operator, family: &str) -> Value {
    let overview = operator.get(&format!("{OVERVIEW}?window=1h")).await.expect(200);
    let families = overview.at("/platform/families").as_array().unwrap().clone();
    families.into_iter().find(|one| one["family"] == family).unwrap()
}

/// Renames a store by a request whose body comes so late, by the clock.
async fn slowly(gateway: &Gateway, owner: &Client, store: &Store, late: Duration) {
    let address = gateway.url().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = json!({"name": "Late"}).to_string();
    let head = format!(
        "PATCH /v1/stores/{} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\
         connection: close\r\n\r\n",
        store.id,
        owner.token(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // Whoever asks for the body has begun with the request.
    let mut begun = [0; 12];
    stream.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 100");
    gateway.advance(late);
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn percentiles_errors_and_throttles_match_the_requests_sent() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let (_, store, owner) = owner(&gateway).await;
    // Another process of the same system, on whose way to the table things go wrong.
    let faults = Faults::planned();
    let other = gateway.process_over(&faults).serve().await;
    // What was done to set this up is two hours ago.
    gateway.advance(120 * MINUTE);
    gateway.app().clock.stop();
    let path = format!("/v1/stores/{}", store.id);
    for _ in 0..90 {
        owner.get(&path).await.expect(200);
    }
    for _ in 0..5 {
        owner.elsewhere().get(&format!("/v1/stores/sto_{}", "0".repeat(32))).await.expect(404);
    }
    // Another process meets a table that rejects calls, three times each.
    for _ in 0..3 {
        faults.will([("BatchGetItem", Fault::Throttled); 3]);
        owner.at_url(&other.url).get(&path).await.expect(503);
    }
    for late in [vec![250; 8], vec![3_000; 2]].concat() {
        slowly(&gateway, &owner, &store, Duration::from_millis(late)).await;
    }
    // Both processes write down what they have counted, beside the next request of each.
    gateway.advance(MINUTE);
    owner.get(&path).await.expect(200);
    owner.at_url(&other.url).get(&path).await.expect(200);
    let found = numbers(&operator, "stores").await;
    let expected = json!({
        "family": "stores", "requests": 108, "errors": 3, "rejections": 5, "throttled": 0,
        "table_throttles": 9, "latency_ms": {"p50": 0, "p95": 255, "p99": 3_071},
    });
    assert_eq!(found, expected);
    // Those of the series add up to the same, and five minutes are the last five alone.
    let overview = operator.get(&format!("{OVERVIEW}?window=1h")).await.expect(200);
    let points = overview.at("/platform/series").as_array().unwrap().clone();
    let errors: u64 = points.iter().map(|point| point["errors"].as_u64().unwrap()).sum();
    assert_eq!(errors, 3);
    gateway.advance(10 * MINUTE);
    let later = operator.get(&format!("{OVERVIEW}?window=5m")).await.expect(200);
    let stores = later
        .at("/platform/families")
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["family"] == "stores")
        .unwrap();
    assert_eq!((&stores["requests"], &stores["latency_ms"]["p50"]), (&json!(0), &json!(null)));
    let day = operator.get(&format!("{OVERVIEW}?window=24h")).await.expect(200);
    assert!(day.at("/platform/families/3/requests").as_u64().unwrap() > 108, "{}", day.text);
}

#[tokio::test]
async fn rate_limited_requests_are_counted() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let (_, store, _) = owner(&gateway).await;
    gateway.advance(120 * MINUTE);
    gateway.app().clock.stop();
    let visitor = gateway.client();
    let path = format!("/v1/storefront/lookup?subdomain={}", store.subdomain);
    let mut statuses = Vec::new();
    while statuses.len() < 1_000 && statuses.iter().filter(|it| **it == 429).count() < 3 {
        statuses.push(visitor.get(&path).await.status);
    }
    let throttled = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!(throttled, 3);
    gateway.advance(MINUTE);
    visitor.elsewhere().get(&path).await;
    let found = numbers(&operator, "storefront").await;
    assert_eq!(found["throttled"], 3);
    assert_eq!(found["requests"], statuses.len());
}

#[tokio::test]
async fn request_metrics_are_written_once_a_minute() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let (_, store, owner) = owner(&gateway).await;
    gateway.app().clock.stop();
    let visitor = gateway.client();
    let path = format!("/v1/stores/{}", store.id);
    visitor.get("/health").await.expect(200);
    owner.get(&path).await.expect(200);
    gateway.advance(2 * MINUTE);
    visitor.get("/health").await.expect(200);
    owner.get(&path).await.expect(200);
    let written = async || gateway.written_keys().await;
    written().await;
    for _ in 0..500 {
        visitor.get("/health").await.expect(200);
    }
    assert_eq!(written().await, Vec::<String>::new());
    for _ in 0..500 {
        owner.get(&path).await.expect(200);
    }
    let others = written().await;
    assert!(others.iter().all(|key| key.starts_with("RLB#")), "budgets alone: {others:?}");
    // When the minute is over: one write for each process.
    gateway.advance(MINUTE);
    visitor.get("/health").await.expect(200);
    visitor.get("/health").await.expect(200);
    let day = gateway.now().minus(MINUTE).day();
    assert_eq!(written().await, [format!("MET#RUN#health#{day}")]);
    let minutes = gateway.items_of("minute", "MET#RUN#health").await;
    let latest = minutes.iter().max_by_key(|minute| minute["at"].as_str().unwrap().to_owned());
    let latest = latest.unwrap();
    assert_eq!((&latest["count"], &latest["version"]), (&json!(501), &json!(1)));
    assert!(latest["ttl"].is_u64());
    // Of a request it is no part: neither a round trip nor capacity.
    gateway.advance(MINUTE);
    let alongside = visitor.get("/health").await.expect(200);
    assert_eq!((alongside.trips(), alongside.tenths()), (0, 0));
}

#[tokio::test]
async fn requests_of_every_family_are_counted() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    gateway.advance(120 * MINUTE);
    let mut paths = BTreeMap::new();
    for route in routes().into_iter().filter(|route| route.method == Method::GET) {
        paths.entry(route.family).or_insert(route.path);
    }
    let request = async |times: usize| {
        for path in paths.values() {
            for _ in 0..times {
                gateway.client().get(path).await;
            }
        }
    };
    gateway.app().clock.stop();
    request(3).await;
    gateway.advance(MINUTE);
    request(1).await;
    for family in paths.keys() {
        let found = numbers(&operator, family).await;
        assert_eq!(found["requests"], 3, "{found}");
    }
}
