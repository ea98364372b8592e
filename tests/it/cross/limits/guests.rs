//! Idempotency keys of callers who have proven nothing.

use support::{Client, Gateway, Market, Shopper, Value, json};

const KEY: &str = "0123456789abcdefghijkl";

fn keyed(client: &Client, path: &str, ask: &Value, key: &str) -> support::Ask {
    client.post(path).json(ask.clone()).header("idempotency-key", key)
}

#[tokio::test]
async fn a_guests_key_has_at_least_22_characters() {
    let market = Market::open().await;
    let (path, client) = (market.orders_path(), market.gateway.client());
    let book = market.stock(500, 5).await;
    let ask = support::cart(&[(&book, 1)]);
    for short in ["k", "cart-1", &KEY[..21]] {
        let reply = keyed(&client, &path, &ask, short).await.expect(400);
        let reply = reply.problem("idempotency_key_too_short");
        assert_eq!(reply.json["minimum"], 22);
        assert!(reply.json.get("errors").is_none());
    }
    keyed(&client, &path, &ask, KEY).await.expect(201);
    // Somebody whose name is known by their credential needs no such key.
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    keyed(&shopper, &path, &ask, "k").await.expect(201);
}

#[tokio::test]
async fn a_guests_order_and_its_token_are_replayed_to_nobody_else() {
    let market = Market::open().await;
    let (path, client) = (market.orders_path(), market.gateway.client());
    let book = market.stock(500, 5).await;
    let ask = support::cart(&[(&book, 1)]);
    let first = keyed(&client, &path, &ask, KEY).await.expect(201);
    let again = keyed(&client, &path, &ask, KEY).await.expect(201);
    assert_eq!(again.text, first.text);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let stranger = keyed(&market.gateway.client(), &path, &ask, KEY).await.expect(201);
    assert_eq!(stranger.header("idempotent-replayed"), None);
    assert_ne!(stranger.str("/order/id"), first.str("/order/id"));
    assert_ne!(stranger.str("/order_token"), first.str("/order_token"));
    // Nor does a made-up token make a guest somebody else.
    let odd =
        keyed(&market.gateway.client(), &path, &ask, "k").header("x-service-order-token", "x");
    odd.await.expect(400).problem("idempotency_key_too_short");
}

#[tokio::test]
async fn every_anonymous_post_binds_its_key_to_the_client() {
    let gateway = Gateway::start().await;
    let merchant = support::Merchant::sign_up(&gateway).await;
    let store = merchant.open_shop().await;
    let asks = [
        ("/v1/auth/signup", json!({"email": "new@example.com", "password": support::PASSWORD})),
        ("/v1/auth/signin", json!({"email": merchant.email, "password": support::PASSWORD})),
        ("/v1/auth/signin/otp", json!({"email": "a@example.com"})),
        ("/v1/auth/password/reset", json!({"email": "b@example.com"})),
        (
            "/v1/storefront/customer/register",
            json!({
                "subdomain": store.subdomain, "email": "c@example.com", "password": support::PASSWORD,
            }),
        ),
        (
            "/v1/storefront/customer/login",
            json!({
                "subdomain": store.subdomain, "email": "d@example.com", "password": support::PASSWORD,
            }),
        ),
        (
            "/v1/storefront/customer/login/otp",
            json!({
                "subdomain": store.subdomain, "email": "e@example.com",
            }),
        ),
    ];
    for (path, ask) in &asks {
        let client = gateway.client();
        let short = keyed(&client, path, ask, "short").await.expect(400);
        short.problem("idempotency_key_too_short");
        let first = keyed(&client, path, ask, KEY).await;
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        if first.status == 401 {
            continue;
        }
        let again = keyed(&client, path, ask, KEY).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}: {}", again.text);
        assert_eq!(again.text, first.text, "{path}");
        let stranger = keyed(&gateway.client(), path, ask, KEY).await;
        assert_eq!(stranger.header("idempotent-replayed"), None, "{path}");
    }
}

#[tokio::test]
async fn a_code_that_signed_somebody_in_signs_in_nobody_else_by_its_key() {
    let gateway = Gateway::start().await;
    let merchant = support::Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let ask = json!({"email": merchant.email});
    let sent = client.post("/v1/auth/signin/otp").json(ask).await.expect(202);
    let code = gateway.mailbox(&merchant.email).code().await;
    let ask = json!({"challenge_id": sent.str("/challenge_id"), "code": code});
    let path = "/v1/auth/signin/otp/verify";
    let first = keyed(&client, path, &ask, KEY).await.expect(200);
    assert_eq!(keyed(&client, path, &ask, KEY).await.expect(200).text, first.text);
    keyed(&gateway.client(), path, &ask, KEY).await.expect(401);
}
