//! Idempotency keys of callers who have proven nothing.

use support::{Client, Gateway, Market, Reply, Shopper, Value, json};

const KEY: &str = "0123456789abcdefghijkl";

fn keyed(client: &Client, path: &str, input: &Value, key: &str) -> support::Input {
    client.post(path).json(input.clone()).header("idempotency-key", key)
}

fn is_replayed(reply: &Reply) -> bool {
    reply.header("idempotent-replayed") == Some("true")
}

#[tokio::test]
async fn a_guests_key_has_at_least_22_characters() {
    let market = Market::open().await;
    let (path, client) = (market.orders_path(), market.gateway.client());
    let book = market.stock(500, 5).await;
    let input = support::cart(&[(&book, 1)]);
    for short in ["k", "cart-1", &KEY[..21]] {
        let reply = keyed(&client, &path, &input, short).await.expect(400);
        let reply = reply.problem("idempotency_key_too_short");
        assert_eq!(reply.json["minimum"], 22);
        assert!(reply.json.get("errors").is_none());
    }
    keyed(&client, &path, &input, KEY).await.expect(201);
    // Somebody whose name is known by their credential needs no such key.
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    keyed(&shopper, &path, &input, "k").await.expect(201);
}

#[tokio::test]
async fn a_guests_retry_from_another_network_replays_the_order() {
    let market = Market::open().await;
    let path = market.orders_path();
    let book = market.stock(1_000, 5).await;
    let (card, code) = market.gift_card(800).await;
    let mut input = support::cart(&[(&book, 1)]);
    input["gift_card_codes"] = json!([code]);
    let first = keyed(&market.gateway.client(), &path, &input, KEY).await.expect(201);
    for client in [market.gateway.client(), market.gateway.client()] {
        let again = keyed(&client, &path, &input, KEY).await.expect(201);
        assert_eq!((&again.text, is_replayed(&again)), (&first.text, true));
    }
    assert_eq!(market.balance(&card).await, 0);
    assert_eq!(market.levels(&book).await, [4, 1, 0, 5]);
    assert_eq!(market.gateway.events("order.created").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guests_order_is_placed_once_from_two_networks_at_once() {
    let market = Market::open().await;
    let path = market.orders_path();
    let book = market.stock(1_000, 50).await;
    let (card, code) = market.gift_card(10_000).await;
    let mut input = support::cart(&[(&book, 1)]);
    input["gift_card_codes"] = json!([code]);
    for turn in 0..5 {
        let key = format!("{KEY}-{turn}");
        let answers = support::race(6, || {
            let sent = keyed(&market.gateway.client(), &path, &input, &key);
            async move { sent.await.expect(201) }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.text == answers[0].text));
        assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
    }
    assert_eq!(market.levels(&book).await, [45, 0, 5, 50]);
    assert_eq!(market.balance(&card).await, 5_000);
}

/// Who knows a key and not what was sent with it learns nothing.
#[tokio::test]
async fn a_guests_idempotency_key_replays_only_the_same_body() {
    let market = Market::open().await;
    let path = market.orders_path();
    let book = market.stock(500, 9).await;
    let (mine, other) = (support::cart(&[(&book, 1)]), support::cart(&[(&book, 2)]));
    let (guest, stranger) = (market.gateway.client(), market.gateway.client());
    let first = keyed(&guest, &path, &mine, KEY).await.expect(201);
    let theirs = keyed(&stranger, &path, &other, KEY).await.expect(422);
    let theirs = theirs.problem("idempotency_key_reused");
    assert!(!is_replayed(&first) && !is_replayed(&theirs));
    assert!(!theirs.text.contains(&first.str("/order/id")), "{}", theirs.text);
    let again = keyed(&guest.elsewhere(), &path, &mine, KEY).await.expect(201);
    assert_eq!((&again.text, is_replayed(&again)), (&first.text, true));
    // A cart that was changed is no second order, from whichever network.
    let changed = support::cart(&[(&book, 3)]);
    for client in [&guest, &guest.elsewhere()] {
        let rejected = keyed(client, &path, &changed, KEY).await.expect(422);
        rejected.problem("idempotency_key_reused");
    }
    let odd = json!({"items": []});
    keyed(&guest, &path, &odd, KEY).await.expect(422).problem("idempotency_key_reused");
    assert_eq!(market.gateway.events("order.created").await.len(), 1);
    // Nor does a made-up token make a guest somebody else.
    let odd = keyed(&market.gateway.client(), &path, &mine, "k");
    let odd = odd.header("x-service-order-token", "x");
    odd.await.expect(400).problem("idempotency_key_too_short");
}

/// Where the key is claimed before the effect.
#[tokio::test]
async fn a_guests_form_is_sent_once_from_two_networks() {
    let market = Market::open().await;
    let path = format!("/v1/storefront/{}/forms/contact", market.store.subdomain);
    let input = json!({"fields": {"email": "ann@example.com", "message": "Is it blue?"}});
    let guest = market.gateway.client();
    let first = keyed(&guest, &path, &input, KEY).await;
    assert!(first.status < 300, "{}", first.text);
    let again = keyed(&guest.elsewhere(), &path, &input, KEY).await.expect(first.status);
    assert_eq!((&again.text, is_replayed(&again)), (&first.text, true));
    let other = json!({"fields": {"email": "ann@example.com", "message": "Is it red?"}});
    keyed(&guest, &path, &other, KEY).await.expect(422).problem("idempotency_key_reused");
    let elsewhere = keyed(&guest.elsewhere(), &path, &other, KEY).await.expect(422);
    elsewhere.problem("idempotency_key_reused");
}

#[tokio::test]
async fn sign_in_idempotency_keys_are_scoped_to_the_callers_network() {
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
    for (path, input) in &asks {
        let client = gateway.client();
        let short = keyed(&client, path, input, "short").await.expect(400);
        short.problem("idempotency_key_too_short");
        let first = keyed(&client, path, input, KEY).await;
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        if first.status == 401 {
            continue;
        }
        let again = keyed(&client, path, input, KEY).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}: {}", again.text);
        assert_eq!(again.text, first.text, "{path}");
        let stranger = keyed(&gateway.client(), path, input, KEY).await;
        assert_eq!(stranger.header("idempotent-replayed"), None, "{path}");
    }
}

#[tokio::test]
async fn a_sign_in_response_is_not_replayed_to_another_network() {
    let gateway = Gateway::start().await;
    let merchant = support::Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let input = json!({"email": merchant.email});
    let sent = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
    let code = gateway.mailbox(&merchant.email).code().await;
    let input = json!({"challenge_id": sent.str("/challenge_id"), "code": code});
    let path = "/v1/auth/signin/otp/verify";
    let first = keyed(&client, path, &input, KEY).await.expect(200);
    assert_eq!(keyed(&client, path, &input, KEY).await.expect(200).text, first.text);
    keyed(&gateway.client(), path, &input, KEY).await.expect(401);
}
