//! What is counted works up to its number, and not one further.

use std::time::Duration;

use support::clock::{DAY, MINUTE};
use support::{Gateway, Market, Merchant, json, unique};

const MIB: usize = 1 << 20;

#[tokio::test]
async fn bodies_are_limited_to_one_mebibyte_and_files_to_four() {
    let market = Market::open().await;
    // JSON may have blanks around it.
    let body = |size: usize| {
        let mut body = json!({"name": "A Shop"}).to_string().into_bytes();
        body.resize(size, b' ');
        body
    };
    let path = format!("/v1/stores/{}", market.store.id);
    let rename = |size: usize| {
        let input = market.merchant.patch(&path).header("content-type", "application/json");
        input.body(body(size))
    };
    rename(MIB).await.expect(200);
    let rejected = rename(MIB + 1).await.expect(413).problem("body_too_large");
    assert_eq!(rejected.json["limit"], MIB);
    let upload = |size: usize| {
        let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        image.resize(size, 7);
        market.owner.post("/v1/media").header("content-type", "image/png").body(image)
    };
    upload(4 * MIB).await.expect(201);
    let rejected = upload(4 * MIB + 1).await.expect(413).problem("body_too_large");
    assert_eq!(rejected.json["limit"], 4 * MIB);
}

#[tokio::test]
async fn json_is_limited_to_64_levels() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    // The object itself is the first level.
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        let input = merchant.post("/v1/stores").header("content-type", "application/json");
        input.body(format!("{{\"name\":{open}{close}}}"))
    };
    nested(64).await.expect(422).problem("validation_failed");
    nested(65).await.expect(400).problem("invalid_json");
}

#[tokio::test]
async fn a_list_limit_is_1_to_100() {
    let market = Market::open().await;
    let paths = [
        "/v1/products",
        "/v1/orders",
        "/v1/customers",
        "/v1/stores",
        "/v1/operations/event-types",
        "/v1/operations/webhook-deliveries",
        "/v1/app-store/apps",
        "/v1/auth/sessions",
    ];
    for path in paths {
        for (limit, status) in [("0", 422), ("1", 200), ("100", 200), ("101", 422)] {
            let reply = market.owner.get(&format!("{path}?limit={limit}")).await.expect(status);
            if status == 422 {
                let fault = ("/limit".to_owned(), "out_of_range".to_owned());
                assert_eq!(reply.field_errors(), [fault], "{}", reply.asked);
            } else {
                assert_eq!(reply.at("/page/limit").to_string(), limit);
            }
        }
    }
}

#[tokio::test]
async fn an_idempotency_key_has_1_to_255_characters() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let open = |key: &str| {
        let input = json!({"name": "A Shop", "subdomain": unique("b"), "currency": "INR",
            "country": "IN"});
        merchant.post("/v1/stores").json(input).header("idempotency-key", key)
    };
    open("k").await.expect(201);
    open(&"k".repeat(255)).await.expect(201);
    for odd in [String::new(), "k".repeat(256)] {
        open(&odd).await.expect(400).problem("idempotency_key_invalid");
    }
    let guest = |key: &str| {
        let input = json!({"email": format!("{}@example.com", unique("g")),
            "password": support::PASSWORD});
        gateway.client().post("/v1/auth/signup").json(input).header("idempotency-key", key)
    };
    guest(&"k".repeat(22)).await.expect(201);
    guest(&"k".repeat(21)).await.expect(400).problem("idempotency_key_too_short");
    guest(&"k".repeat(255)).await.expect(201);
    guest(&"k".repeat(256)).await.expect(400).problem("idempotency_key_invalid");
}

#[tokio::test]
async fn an_idempotency_key_expires_after_24_hours() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let merchant = Merchant::sign_up(&gateway).await;
    let open = |merchant: &Merchant, name: &str| {
        let input = json!({"name": name, "subdomain": "once", "currency": "INR", "country": "IN"});
        merchant.post("/v1/stores").json(input).key("k")
    };
    open(&merchant, "A Shop").await.expect(201);
    gateway.advance(DAY - Duration::from_millis(1));
    let merchant = merchant.sign_in_again().await;
    let replayed = open(&merchant, "A Shop").await.expect(201);
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    open(&merchant, "Another").await.expect(422).problem("idempotency_key_reused");
    gateway.advance(Duration::from_millis(1));
    let again = open(&merchant, "Another").await.expect(409).problem("subdomain_taken");
    assert_eq!(again.header("idempotent-replayed"), None);
}

#[tokio::test]
async fn a_budget_has_its_documented_capacity_and_restore_rate() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    gateway.app().clock.stop();
    gateway.advance(MINUTE);
    let client = gateway.client();
    let public = async || client.get("/v1/app-store/apps?limit=100").await.status;
    let own = async || merchant.post("/v1/stores").json(json!({})).await.status;
    // 11 points each, of which 10 come back: the last that fits is the 290th.
    for _ in 0..290 {
        assert_eq!(public().await, 200);
    }
    assert_eq!(public().await, 429, "10 points left");
    gateway.advance(Duration::from_millis(34));
    assert_eq!(public().await, 200, "11 points");
    assert_eq!(public().await, 429);
    for _ in 0..100 {
        assert_eq!(own().await, 422);
    }
    assert_eq!(own().await, 429, "1,000 points at 10 each");
    gateway.advance(Duration::from_millis(99));
    assert_eq!(own().await, 429);
    gateway.advance(Duration::from_millis(1));
    assert_eq!(own().await, 422);
    assert_eq!(own().await, 429);
}
