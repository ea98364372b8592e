//! Every answer says what it cost and what is left, whoever answered.

use std::time::Duration;

use http::Method;
use lambda::answer;
use support::clock::MINUTE;
use support::{Gateway, Input, Market, Merchant, Reply, Shop, Value, json};

const COST: [&str; 6] = [
    "x-service-cost-requested",
    "x-service-cost-actual",
    "x-service-cost-available",
    "x-service-cost-restore-rate",
    "ratelimit-policy",
    "ratelimit",
];

#[track_caller]
fn says_what_it_cost(reply: &Reply) {
    for name in COST {
        assert!(reply.header(name).is_some(), "{} ({}) lacks {name}", reply.asked, reply.status);
    }
    let number = |name: &str| reply.header(name).unwrap().parse::<u32>().unwrap();
    assert!(number(COST[1]) <= number(COST[0]), "{}", reply.asked);
    let left = format!("r={};", number(COST[2]));
    assert!(reply.header("ratelimit").unwrap().contains(&left), "{}", reply.asked);
}

/// A 429 says when to come again, and what there is to spend.
#[track_caller]
fn says_when(reply: &Reply) {
    says_what_it_cost(reply);
    let wait: i64 = reply.header("retry-after").expect("Retry-After").parse().unwrap();
    assert!(wait >= 1, "{wait}");
    for name in ["requested", "available", "restore_rate", "maximum"] {
        assert!(reply.json["cost"][name].is_u64(), "{}: {}", reply.asked, reply.text);
    }
    let requested = reply.json["cost"]["requested"].to_string();
    assert_eq!(reply.header(COST[0]), Some(&*requested), "{}", reply.asked);
}

#[tokio::test]
async fn every_response_has_rate_limit_headers() {
    let shop = Shop::with_installed_app().await;
    let client = || shop.gateway.client();
    let catalogue = client().get("/v1/app-store/apps").await.expect(200);
    let preflight = |path: &str| -> Input {
        let input = client().request(Method::OPTIONS, path);
        input.header("origin", "https://a.example").header("access-control-request-method", "GET")
    };
    let asks = [
        (client().get("/health"), 200),
        (client().request(Method::HEAD, "/health"), 200),
        (client().get("/v1/app-store/oauth/jwks"), 200),
        (client().get("/v1/app-store/oauth/metadata"), 200),
        (client().get("/v1/nowhere"), 404),
        (client().post("/nowhere").json(json!({})), 404),
        (client().delete("/health"), 405),
        (client().put("/v1/auth/signin").json(json!({})), 405),
        (preflight("/v1/storefront/x/products"), 204),
        (preflight("/v1/stores"), 204),
        (client().get("/v1/stores"), 401),
        (client().get("/v1/storefront/nowhere"), 404),
        (client().post("/v1/auth/signup").json(json!({})), 422),
        (client().post("/v1/auth/signup").body("{"), 400),
        (client().post("/v1/auth/signin").body(vec![b' '; (1 << 20) + 1]), 413),
        (client().post("/v1/app-store/oauth/token").form(&[("grant_type", "x")]), 401),
        (client().post("/v1/app-store/oauth/revoke").form(&[("token", "x")]), 401),
        (shop.merchant.get("/v1/stores"), 200),
        (shop.merchant.get("/v1/stores?limit=0"), 422),
        (shop.owner().get("/v1/products/prd_x"), 404),
        (shop.owner().get("/v1/app-store/submissions"), 403),
        (client().get("/v1/operations/event-types"), 200),
    ];
    for (input, status) in asks {
        let reply = input.await.expect(status);
        says_what_it_cost(&reply);
    }
    says_what_it_cost(&catalogue);
    let front = shop.merchant.open_shop().await;
    let path = format!("/v1/storefront/{}", front.subdomain);
    let page = client().get(&path).await.expect(200);
    let same = client().get(&path).header("if-none-match", &page.etag()).await.expect(304);
    says_what_it_cost(&same);
}

#[tokio::test]
async fn free_requests_have_rate_limit_headers() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let client = gateway.client();
    let fresh = client.get("/health").await.expect(200);
    assert_eq!(fresh.header("x-service-cost-requested"), Some("0"));
    assert_eq!(fresh.header("x-service-cost-available"), Some("300"));
    assert_eq!(fresh.trips(), 0);
    let read = client.get("/v1/storefront/nowhere").await.expect(404);
    assert_eq!(read.header("x-service-cost-available"), Some("298"));
    // What is left is known to the function that was asked; another one knows what it is told.
    let after = client.delete("/v1/storefront/nowhere").await.expect(405);
    assert_eq!(after.header("x-service-cost-requested"), Some("0"));
    assert_eq!(after.header("x-service-cost-available"), Some("298"));
}

#[tokio::test]
async fn every_429_has_retry_after_and_cost() {
    let market = Market::open().await;
    let gateway = &market.gateway;
    gateway.app().clock.stop();
    gateway.advance(MINUTE);
    let reset = json!({"email": "somebody@example.com"});
    for path in ["/v1/auth/signin/otp", "/v1/auth/password/reset", "/v1/auth/email/verify/resend"] {
        let client = gateway.client();
        client.post(path).json(reset.clone()).await.expect(202);
        let again = client.post(path).json(reset.clone()).await.expect(429);
        says_when(&again);
        again.problem("too_many_attempts");
    }
    let client = gateway.client();
    let wrong = json!({"email": "somebody@example.com", "password": "not the password"});
    let mut replies = Vec::new();
    for _ in 0..6 {
        replies.push(client.post("/v1/auth/signin").json(wrong.clone()).await);
    }
    let rejected = replies.pop().unwrap().expect(429);
    says_when(&rejected);
    assert_eq!(rejected.json["cost"]["requested"], 10);

    let client = gateway.client();
    let path = format!("/v1/storefront/{}/gift-cards/balance", market.store.subdomain);
    let input = json!({"code": "ABCD-EFGH-JKMN-PQRS"});
    for _ in 0..5 {
        client.post(&path).json(input.clone()).await.expect(404);
    }
    says_when(&client.post(&path).json(input).await.expect(429));

    // The budget itself: of a merchant, of a network, and at an OAuth endpoint.
    let merchant = Merchant::sign_up(gateway).await;
    gateway.advance(Duration::from_mins(1));
    let limited = async |request: &dyn Fn() -> Input| -> Reply {
        for _ in 0..200 {
            let reply = request().await;
            if reply.status == 429 {
                return reply;
            }
        }
        panic!("200 requests were not too many");
    };
    says_when(&limited(&|| merchant.post("/v1/stores").json(json!({}))).await);
    let client = gateway.client();
    says_when(&limited(&|| client.post("/v1/auth/signup").json(json!({}))).await);
    let client = gateway.client();
    let form = [("grant_type", "x")];
    let reply = limited(&|| client.post("/v1/app-store/oauth/token").form(&form)).await;
    says_when(&reply);
    assert_eq!(reply.json["error"], "temporarily_unavailable");
}

#[tokio::test]
async fn an_undecodable_lambda_event_is_answered_with_every_header() {
    let gateway = Gateway::start().await;
    let event = json!({
        "rawPath": "/v1/auth/signin", "headers": {"x-request-id": "mine"}, "body": "***",
        "isBase64Encoded": true, "requestContext": {"http": {"method": "POST"}},
    });
    let answer =
        answer(gateway.system().router(), serde_json::from_value(event).unwrap()).await.unwrap();
    let answer: Value = serde_json::to_value(answer).unwrap();
    assert_eq!(
        (&answer["statusCode"], &answer["headers"]["x-request-id"]),
        (&json!(400), &json!("mine"))
    );
    for name in COST.into_iter().chain(["x-request-id", "strict-transport-security"]) {
        assert!(answer["headers"][name].is_string(), "{name}: {answer}");
    }
}

#[tokio::test]
async fn x_forwarded_for_is_trusted_behind_a_proxy_only() {
    let alone = Gateway::start_with(|options| options.embedded.trust_proxy = false).await;
    alone.app().clock.stop();
    let left = async |gateway: &Gateway, forwarded: &str| {
        let input = gateway.client().get("/v1/app-store/apps").header("x-forwarded-for", forwarded);
        let reply = input.await.expect(200);
        reply.header("x-service-cost-available").unwrap().parse::<i64>().unwrap()
    };
    assert_eq!(left(&alone, "203.0.113.1").await, 299);
    assert_eq!(left(&alone, "198.51.100.1").await, 298, "a header buys no fresh bucket");

    let behind = Gateway::start().await;
    behind.app().clock.stop();
    assert_eq!(left(&behind, "203.0.113.1").await, 299);
    assert_eq!(left(&behind, "198.51.100.1").await, 299);
    // The proxy adds what it saw to whatever the client has written.
    assert_eq!(left(&behind, "192.0.2.7, 203.0.113.99").await, 298);
    assert_eq!(left(&behind, "203.0.113.1, 192.0.2.7").await, 299);
}
