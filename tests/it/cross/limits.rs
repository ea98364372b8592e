//! Idempotency keys and budgets.

mod boundaries;
mod guests;
mod headers;
mod keys;
mod leases;
mod rejections;
mod size;
mod unread_bodies;

use std::cell::Cell;
use std::time::Duration;

use base64::Engine;
use support::clock::{DAY, MINUTE};
use support::{Gateway, Merchant, Value, eventually, json, race, unique};

fn store_fields() -> Value {
    json!({"name": "A Shop", "subdomain": unique("keyed"), "currency": "INR", "country": "IN"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_sent_50_times_at_once_has_one_effect_and_equal_answers() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let fields = store_fields();
    let is_done = Cell::new(false);
    let answers = race(50, || {
        let (merchant, fields, is_done) = (merchant.clone(), fields.clone(), &is_done);
        async move {
            loop {
                let reply = merchant.post("/v1/stores").json(fields.clone()).key("one").await;
                // In a run with faults, one of the 50 may be told to come back.
                if reply.status == 503 && support::is_troubled() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
                if reply.status != 409 {
                    is_done.set(true);
                    return reply;
                }
                assert_eq!(reply.header("retry-after"), Some("1"));
                let reply = reply.problem("request_in_progress");
                drop(reply);
                // The clock of the test does not move: the merchant's budget pays for twice 50 requests,
                // however long the first of them takes.
                eventually(Duration::from_secs(20), || async { is_done.get().then_some(()) }).await;
            }
        }
    })
    .await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.text), (201, &answers[0].text));
    }
    let replayed = |answer: &&support::Reply| answer.header("idempotent-replayed") == Some("true");
    assert_eq!(answers.iter().filter(replayed).count(), 49);
    assert_eq!(gateway.items_of("store", "STO#").await.len(), 1);
    assert_eq!(gateway.events("store.created").await.len(), 1);
}

#[tokio::test]
async fn an_idempotency_key_is_bound_to_one_request_and_caller() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let fields = store_fields();
    let first = merchant.post("/v1/stores").json(fields.clone()).key("k").await.expect(201);
    let other = merchant.post("/v1/stores").json(store_fields()).key("k").await.expect(422);
    other.problem("idempotency_key_reused");
    let again = merchant.post("/v1/stores").json(fields.clone()).key("k").await.expect(201);
    assert_eq!(again.text, first.text);
    assert_eq!(again.etag(), first.etag());
    // A rejection is kept too, and a caller's keys are their own.
    let stranger = Merchant::sign_up(&gateway).await;
    let taken = stranger.post("/v1/stores").json(fields.clone()).key("k").await.expect(409);
    let kept = stranger.post("/v1/stores").json(fields.clone()).key("k").await.expect(409);
    assert_eq!(taken.text, kept.text);
    assert_eq!(kept.header("idempotent-replayed"), Some("true"));
    for odd in ["", "sp ace", &"x".repeat(256)] {
        let reply = merchant.post("/v1/stores").json(fields.clone()).key(odd).await.expect(400);
        reply.problem("idempotency_key_invalid");
    }
    gateway.advance(DAY);
    let later = merchant.sign_in_again().await;
    let fresh = later.post("/v1/stores").json(store_fields()).key("k").await.expect(201);
    assert_ne!(fresh.str("/id"), first.str("/id"));
    let records = Value::from(gateway.items("IDM#").await).to_string();
    assert!(!records.contains(&first.str("/id")), "answers are sealed at rest");
}

#[tokio::test]
async fn an_idempotent_response_with_a_secret_is_replayed_in_full() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let input = json!({"email": "once@example.com", "password": support::PASSWORD});
    let first = client.post("/v1/auth/signup").json(input.clone()).key("s").await.expect(201);
    let again = client.post("/v1/auth/signup").json(input).key("s").await.expect(201);
    assert_eq!(first.text, again.text);
    client.with_token(&again.str("/session/access_token")).get("/v1/auth/me").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_requests_never_exceed_the_budget_and_its_restore_rate() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    gateway.app().clock.stop();
    gateway.advance(MINUTE);
    let path = format!("/v1/stores/{}", store.id);
    let owner = merchant.at(&store);
    // Writes that are rejected for their body cost ten points all the same.
    let answers = race(500, || {
        let input = owner.patch(&path).json(json!({"surprise": 1}));
        async move { input.await }
    })
    .await;
    let admitted = answers.iter().filter(|answer| answer.status == 422).count();
    let limited: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert_eq!(
        (admitted, limited.len()),
        (100, 400),
        "1,000 points at 10 each, time standing still"
    );
    let reply = limited[0].clone().problem("rate_limited");
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(
        reply.json["cost"],
        json!({
            "requested": 10, "available": 0, "restore_rate": 100, "maximum": 1000,
        })
    );
    // One second restores 100 points: ten writes and no more.
    gateway.advance(Duration::from_secs(1));
    let answers = race(40, || {
        let input = owner.patch(&path).json(json!({"surprise": 1}));
        async move { input.await.status }
    })
    .await;
    assert_eq!(answers.iter().filter(|status| **status == 422).count(), 10);
}

#[tokio::test]
async fn responses_report_requested_and_actual_cost() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    gateway.app().clock.stop();
    let list = merchant.get("/v1/stores?limit=100").await.expect(200);
    assert_eq!(list.header("x-service-cost-requested"), Some("11"));
    assert_eq!(list.header("x-service-cost-actual"), Some("1"), "refunded to what was returned");
    assert_eq!(list.header("x-service-cost-restore-rate"), Some("100"));
    let policy = "\"merchant\";q=1000;w=10;service-unit=\"cost\"";
    assert_eq!(list.header("ratelimit-policy"), Some(policy));
    let available = |reply: &support::Reply| -> i64 {
        reply.header("x-service-cost-available").unwrap().parse().unwrap()
    };
    let next = merchant.get("/v1/stores?limit=100").await.expect(200);
    assert_eq!(available(&list) - available(&next), 1);
    let public = gateway.client().get("/v1/app-store/apps").await.expect(200);
    assert!(public.header("ratelimit").unwrap().starts_with("\"public\";r="));
    let limits = merchant.open_store().await;
    let limits = merchant.at(&limits).get("/v1/operations/rate-limits").await.expect(200);
    assert!(limits.text.contains("checkout"), "{}", limits.text);
}

#[tokio::test]
async fn pagination_lists_each_item_once_and_rejects_foreign_cursors() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mut opened = Vec::new();
    for _ in 0..7 {
        opened.push(merchant.open_store().await.id);
    }
    let mut seen = Vec::new();
    let mut path = "/v1/stores?limit=3".to_owned();
    let mut cursors = Vec::new();
    loop {
        let page = merchant.get(&path).await.expect(200);
        seen.extend(page.data().iter().map(|store| store["id"].as_str().unwrap().to_owned()));
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { break };
        assert!(page.header("link").unwrap().contains("rel=\"next\""));
        cursors.push(cursor.to_owned());
        path = format!("/v1/stores?limit=3&cursor={cursor}");
    }
    seen.sort();
    opened.sort();
    assert_eq!(seen, opened);
    let plain = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(&cursors[0]).unwrap();
    assert!(!String::from_utf8_lossy(&plain).contains("sto_"), "a cursor shows no key");
    let stranger = Merchant::sign_up(&gateway).await;
    let cursor = &cursors[0];
    let foreign = stranger.get(&format!("/v1/stores?cursor={cursor}")).await;
    foreign.expect(400).problem("invalid_cursor");
    let mut tampered = cursor.clone().into_bytes();
    tampered[3] ^= 1;
    for odd in [String::from_utf8_lossy(&tampered).into_owned(), "x".into(), String::new()] {
        let reply = merchant.get(&format!("/v1/stores?cursor={odd}")).await;
        reply.expect(400).problem("invalid_cursor");
    }
    for limit in ["0", "101", "x", "-1"] {
        merchant.get(&format!("/v1/stores?limit={limit}")).await.expect(422);
    }
}
