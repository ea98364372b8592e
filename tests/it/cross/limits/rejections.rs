//! Whoever is rejected before it is handled costs the network they come from.

use std::time::Duration;

use support::{Client, Gateway, Merchant, Reply, Shop, Shopper, json, unique};

/// A session token as it looks, of nobody.
fn forged(number: usize) -> String {
    format!("mst_{number:032}_{}_{}", "0".repeat(32), "0".repeat(43))
}

fn available(reply: &Reply) -> i64 {
    reply.header("x-service-cost-available").unwrap().parse().unwrap()
}

/// Sends requests that are rejected until the network has nothing left; says how many were validated.
async fn exhaust(rejected: impl AsyncFn(usize) -> Reply, status: u16) -> usize {
    for number in 0..200 {
        let reply = rejected(number).await;
        if reply.status == 429 {
            let reply = reply.problem("rate_limited");
            let cost = json!({"requested": 2, "available": 0, "restore_rate": 30, "maximum": 300});
            assert_eq!(reply.json["cost"], cost);
            assert_eq!(reply.header("retry-after"), Some("1"));
            return number;
        }
        let reply = reply.expect(status);
        assert_eq!(reply.header("x-service-cost-requested"), Some("2"));
        assert_eq!(reply.header("x-service-cost-actual"), Some("2"));
    }
    panic!("200 rejections cost nothing");
}

#[tokio::test]
async fn forged_sessions_exhaust_their_networks_budget() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let client = gateway.client();
    let request = async |number| client.with_token(&forged(number)).get("/v1/stores").await;
    assert_eq!(exhaust(request, 401).await, 150, "300 points at 2 each, time standing still");
    // What is known is not read again.
    let known = request(1_000).await.expect(429);
    assert_eq!(known.trips(), 0);
    // Another route, another kind of credential: the same network.
    for token in ["nonsense", "a.b.c", "cst_x"] {
        let client = client.with_token(token);
        client.post("/v1/products").json(json!({})).await.expect(429);
    }
    // Half a second restores 15 points, 7 rejections.
    gateway.advance(Duration::from_millis(500));
    assert_eq!(exhaust(request, 401).await, 7);
    let elsewhere = gateway.client().with_token(&forged(1)).get("/v1/stores").await;
    elsewhere.expect(401);
}

#[tokio::test]
async fn unknown_storefronts_exhaust_the_callers_network_budget() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let paths: [fn(usize) -> String; 3] = [
        |number| format!("/v1/storefront/nowhere-{number}"),
        |number| format!("/v1/storefront/nowhere-{number}/products?limit=100"),
        |number| format!("/v1/storefront/nowhere-{number}/media/med_{number}"),
    ];
    for path in paths {
        let client = gateway.client();
        assert_eq!(exhaust(async |number| client.get(&path(number)).await, 404).await, 150);
        assert_eq!(client.get(&path(1_000)).await.expect(429).trips(), 0);
    }
    let client = gateway.client();
    let tell = async |number: usize| {
        let path = format!("/v1/storefront/nowhere-{number}/payments/stripe/webhook");
        client.post(&path).json(json!({})).await
    };
    assert_eq!(exhaust(tell, 404).await, 150);
    let client = gateway.client();
    let log_in = async |number: usize| {
        let input = json!({"subdomain": format!("nowhere-{number}"), "email": "a@example.com",
            "password": support::PASSWORD});
        client.post("/v1/storefront/customer/login").json(input).await
    };
    assert_eq!(exhaust(log_in, 404).await, 150);
    let client = gateway.client();
    let deep = async |number| client.with_token(&forged(number)).get("/health?deep=1").await;
    assert_eq!(exhaust(deep, 401).await, 150);
    client.get("/health").await.expect(200);
}

#[tokio::test]
async fn early_rejections_are_charged_to_the_callers_network() {
    let shop = Shop::with_installed_app().await;
    let (gateway, app) = (&shop.gateway, shop.app_client().await);
    let subdomain = unique("front");
    let open =
        json!({"name": "A Shop", "subdomain": subdomain, "currency": "INR", "country": "IN"});
    shop.merchant.post("/v1/stores").json(open).await.expect(201);
    gateway.app().clock.stop();
    gateway.advance(Duration::from_mins(1));
    let merchant = &shop.merchant;
    let nowhere = "sto_00000000000000000000000000000000";
    let stranger = |token: &str| gateway.client().with_token(token);
    let large = vec![b' '; (1 << 20) + 1];
    let asks = [
        (gateway.client().get("/v1/stores"), 401),
        (stranger("nonsense").get("/v1/auth/me"), 401),
        (stranger("a.b.c").get("/v1/products"), 401),
        (stranger("nonsense").get("/v1/storefront/customer/me"), 401),
        (stranger("nonsense").post("/v1/app-store/bridge/fetch").json(json!({})), 401),
        (merchant.elsewhere().with_store(nowhere).get("/v1/products"), 404),
        (merchant.elsewhere().get("/v1/products"), 400),
        (merchant.elsewhere().get("/v1/app-store/submissions"), 403),
        (merchant.elsewhere().get("/v1/app-store/developers/apps"), 403),
        (app.elsewhere().get("/v1/products"), 403),
        (merchant.elsewhere().post("/v1/products").body(large), 413),
        (gateway.client().get("/v1/storefront/%ff"), 404),
        (gateway.client().post("/v1/storefront/customer/login").json(json!({})), 400),
    ];
    for (input, status) in asks {
        let reply = input.await.expect(status);
        assert_eq!(available(&reply), 298, "{}: {}", reply.asked, reply.text);
    }
}

#[tokio::test]
async fn bridge_rejections_are_charged_to_the_pages_network() {
    let shop = Shop::with_installed_app().await;
    let fetch = |page: &Client, path: &str| {
        page.post("/v1/app-store/bridge/fetch").json(json!({"path": path}))
    };
    let (page, store) = (shop.embedded_client().await, format!("/v1/stores/{}", shop.store.id));
    let elsewhere = shop.embedded_client().await;
    shop.gateway.app().clock.stop();
    shop.gateway.advance(Duration::from_secs(20));
    let mut rejected = 0;
    while fetch(&page, "/v1/products").await.expect(200).json["status"] == 403 {
        rejected += 1;
        // The app's own budget pays for the bridge; the clock is for the network alone to stand.
        assert!(rejected < 200, "rejections through the bridge cost nothing");
    }
    assert_eq!(rejected, 150);
    let stranger = page.stranger().from_ip(page.ip());
    stranger.get("/v1/stores").await.expect(429);
    // Another page, elsewhere, has nothing to do with it, although the bridge calls for both.
    assert_eq!(fetch(&elsewhere, &store).await.expect(200).json["status"], 200);
    assert_eq!(fetch(&elsewhere, "/v1/products").await.expect(200).json["status"], 403);
    // Nobody but the bridge says where a request was asked for.
    let forged = page.stranger().from_ip(page.ip()).get("/v1/stores");
    forged.header("x-service-bridge-from", "203.0.113.9 9999999999999").await.expect(429);
}

#[tokio::test]
async fn authenticated_callers_are_served_when_their_network_is_exhausted() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_shop().await;
    let shopper = Shopper::register(&gateway, &store).await;
    let front = format!("/v1/storefront/{}", store.subdomain);
    gateway.app().clock.stop();
    gateway.advance(Duration::from_mins(1));
    let burn = async |network: &Client| {
        let client = network.stranger().from_ip(network.ip());
        exhaust(async |number| client.with_token(&forged(number)).get("/v1/stores").await, 401)
            .await
    };
    gateway.get(&front).await.expect(200);
    merchant.get("/v1/stores").await.expect(200);
    assert_eq!(burn(&merchant).await, 150);
    merchant.get("/v1/stores").await.expect(200);
    // Nobody knows this session yet; it waits its second, as the network does.
    let input = json!({"email": merchant.email, "password": support::PASSWORD});
    let reply = gateway.client().post("/v1/auth/signin").json(input).await.expect(200);
    let fresh = merchant.with_token(&reply.str("/session/access_token"));
    fresh.get("/v1/stores").await.expect(429).problem("rate_limited");
    fresh.elsewhere().get("/v1/stores").await.expect(200);
    fresh.get("/v1/stores").await.expect(200);
    // A session that has ended is not let pass for what it was.
    fresh.elsewhere().post("/v1/auth/signout").json(json!({})).await.expect(204);
    fresh.elsewhere().get("/v1/stores").await.expect(401);
    assert_eq!(fresh.get("/v1/stores").await.expect(429).trips(), 0);

    let me = "/v1/storefront/customer/me";
    shopper.get(me).await.expect(200);
    assert_eq!(burn(&shopper).await, 150);
    shopper.get(me).await.expect(200);
    // Of a storefront that is known there is nothing to find out.
    let guest = shopper.stranger().from_ip(shopper.ip());
    guest.get(&front).await.expect(200);
    guest.get("/v1/storefront/nowhere").await.expect(429);
    guest.get("/health").await.expect(200);
}
