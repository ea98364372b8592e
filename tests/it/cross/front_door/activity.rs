//! The latest requests, and the way of events.

use std::time::Duration;

use support::{Gateway, Market, Merchant, Receiver, json};

use super::{PAGES, page};

/// Requests that are stored.
const CAPACITY: usize = 500;

#[tokio::test]
async fn secrets_of_requests_appear_on_no_page() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let merchant = Merchant::sign_up(&gateway).await;
    let token = merchant.token().to_owned();
    let (password, code, card) = ("hunter-twenty-two", "918273", "4242 4242 4242 4242");
    let input = json!({"email": "x@example.com", "password": password, "totp": code});
    let rejected = client.post("/v1/auth/signin").json(input).await;
    let input =
        json!({"name": format!("Card {card}"), "subdomain": "Not One", "password": password});
    let named = merchant.post("/v1/stores").key("a-key-of-mine").json(input).await;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", "grant-code-55"),
        ("client_secret", "s3cr3t-99"),
    ];
    let exchanged = client.post("/v1/app-store/oauth/token").form(&form).await;
    let misspelt =
        json!({"email": "x@example.com", "passwrod": "hunter-one", "passwd": ["hunter-two"]});
    let misspelt = client.post("/v1/auth/signin").json(json!([misspelt])).await;
    let signed = "/v1/orders?code=query-code-7&token=query-token-8";
    let listed = merchant.get(signed).header("cookie", "session=biscuit-3").await;
    let mut paths: Vec<String> = PAGES.map(str::to_owned).into();
    for reply in [&rejected, &named, &exchanged, &misspelt, &listed] {
        paths.push(format!("/_local/activity/{}", reply.header("x-request-id").unwrap()));
    }
    let secrets = [
        password,
        code,
        card,
        "4242424242424242",
        &token,
        "a-key-of-mine",
        "grant-code-55",
        "s3cr3t-99",
        "hunter-one",
        "hunter-two",
        "query-code-7",
        "query-token-8",
        "biscuit-3",
    ];
    for path in paths {
        let shown = page(&client, &path).await.text;
        for secret in secrets {
            assert!(!shown.contains(secret), "{secret} on {path}");
        }
    }
    let request =
        page(&client, &format!("/_local/activity/{}", named.header("x-request-id").unwrap())).await;
    for part in ["Repeat it", "$TOKEN", "$(uuidgen)", "/subdomain", &named.str("/code")] {
        assert!(request.text.contains(part), "{part}");
    }
}

#[tokio::test]
async fn the_latest_requests_are_listed_filtered_and_followed() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    client.get("/health").await.expect(200);
    client.get("/v1/orders").await.expect(401);
    let rows = |text: &str| text.matches("<tr>").count();
    // The head of the table is a row, too.
    let all = page(&client, "/_local/activity").await.text;
    assert_eq!(rows(&all), 3);
    assert!(all.contains("/health") && all.contains("/v1/orders"));
    let failed = page(&client, "/_local/activity?status=4").await.text;
    assert!(rows(&failed) == 2 && !failed.contains("</span> /health"));
    let health = page(&client, "/_local/activity?path=health").await.text;
    assert!(rows(&health) == 2 && !health.contains("</span> /v1/orders"));
    client.get("/v1/storefront/demo-store/media/med_1").await;
    let hidden = page(&client, "/_local/activity?shops=hide").await.text;
    assert!(hidden.contains("/v1/orders") && !hidden.contains("med_1"));
    for part in ["Round trips to the table", "Capacity units", "budget"] {
        assert!(all.contains(part), "{part}");
    }
    let newer = client.get("/_local/activity?after=2&shops=hide").await.expect(200);
    assert_eq!((newer.text.as_str(), newer.header("x-newest")), ("", Some("3")));
    let newer = client.get("/_local/activity?after=1&shops=hide").await.expect(200);
    assert_eq!((rows(&newer.text), newer.header("x-newest")), (1, Some("3")));
    let newest = client.get("/_local/activity?after=3").await.expect(200);
    assert_eq!(newest.text, "");
    client.get("/_local/activity/req_nothing").await.expect(404);
}

#[tokio::test]
async fn only_the_latest_requests_are_stored_and_large_bodies_are_not() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let large = client.post("/v1/auth/signin").json(json!({"email": "x".repeat(20_000)})).await;
    let first = format!("/_local/activity/{}", large.header("x-request-id").unwrap());
    let shown = page(&client, &first).await.text;
    assert!(shown.contains("too large to keep") && !shown.contains("xxxxxxxx"));
    for _ in 0..CAPACITY {
        client.get("/health").await.expect(200);
    }
    client.get(&first).await.expect(404);
    let all = page(&client, "/_local/activity").await.text;
    assert_eq!(all.matches("<tr>").count(), CAPACITY + 1);
}

#[tokio::test]
async fn a_request_shows_what_the_log_says_of_it() {
    let market = Market::open().await;
    let listed = market.owner.get("/v1/orders").await.expect(200);
    let path = format!("/_local/activity/{}", listed.header("x-request-id").unwrap());
    let shown = page(&market.gateway.client(), &path).await.text;
    let timing = listed.header("server-timing").unwrap();
    let trips = timing.split("trips=").nth(1).unwrap().split('"').next().unwrap();
    assert!(shown.contains(&format!("<dt>Round trips</dt><dd>{trips}</dd>")), "{timing}");
    assert!(shown.contains(&format!("Copy {}", market.store.id)));
}

#[tokio::test]
async fn what_a_delivery_waits_for_is_among_the_events() {
    let providers = support::Providers::start().await;
    let gateway = Gateway::start_with(|options| {
        options.embedded.payment_base_urls = providers.base_urls();
    })
    .await;
    gateway.seed_demo(&providers).await;
    let client = gateway.client();
    let receiver = Receiver::start().await;
    let input = json!({"email": "demo@example.com", "password": "demo-merchant-1"});
    let session = client.post("/v1/auth/signin").json(input).await.expect(200);
    let owner = client.with_token(&session.str("/session/access_token"));
    // A port on which nothing listens.
    let closed = "http://127.0.0.1:9/hooks";
    for url in [receiver.url("/hooks"), closed.to_owned()] {
        let input = json!({"url": url, "event_types": ["product.created"]});
        owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    }
    owner.post("/v1/products").json(json!({"title": "Kettle"})).await.expect(201);
    receiver.wait_for(1).await;
    let waits = || async {
        let text = client.get("/_local/activity/events").await.expect(200).text;
        let is_there = text.contains(closed) && text.contains("next attempt at");
        (is_there && text.contains("answered 2")).then_some(text)
    };
    let text = support::eventually(Duration::from_secs(20), waits).await;
    assert!(text.contains("product.created") && text.contains(&receiver.url("/hooks")));
    let hooks = page(&client, "/_local/store/webhooks").await.text;
    assert!(hooks.contains(closed) && hooks.contains("getWebhookSubscription?id=whs_"));
    assert!(hooks.contains("merchant <button") && hooks.contains("Open in reference"));
    let all = owner.get("/v1/operations/webhook-subscriptions").await.expect(200);
    for it in all.json["data"].as_array().unwrap() {
        let path = format!("/v1/operations/webhook-subscriptions/{}", it["id"].as_str().unwrap());
        owner.delete(&path).await.expect(204);
    }
    let text = page(&client, "/_local/activity/events").await.text;
    assert!(text.contains("No subscription now") && text.contains("deleted subscription"));
}
