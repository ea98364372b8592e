//! From the merchant's consent to the first request, and what is rejected on the way.

use support::{Developer, REDIRECT_URI, Shop, Value, json};

use super::read_store;

#[tokio::test]
async fn authorization_gives_store_access_and_stores_only_token_hashes() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    assert_eq!(grant.reply.header("cache-control"), Some("no-store"));
    assert_eq!(grant.reply.str("/state"), "a state / with +&= in it");
    let redirect = url::Url::parse(&grant.reply.str("/redirect_to")).unwrap();
    let pairs: Vec<(String, String)> = redirect.query_pairs().into_owned().collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        pairs,
        [
            pair("from", "service"),
            pair("code", &grant.code),
            pair("state", "a state / with +&= in it"),
            pair("iss", shop.gateway.url()),
        ]
    );
    let token = shop.redeem(&grant).await.expect(200);
    assert_eq!(token.header("cache-control"), Some("no-store"));
    assert_eq!(token.str("/token_type"), "Bearer");
    assert_eq!(token.str("/scope"), "read_store");
    assert!((3_595..=3_600).contains(&token.int("/expires_in")), "{}", token.text);
    let app = shop.app_server.with_token(&token.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 200);
    let everything = Value::from(shop.gateway.items("").await).to_string();
    let secret = shop.app.client_secret.clone().unwrap();
    for raw in [&grant.code, &token.str("/access_token"), &token.str("/refresh_token"), &secret] {
        assert!(!everything.contains(raw.as_str()), "a raw credential is in the table");
    }
    let installation = &shop.gateway.items(&format!("INS#{}", grant.installation_id)).await[0];
    let hashes = installation["configuration"]["token_hashes"].as_object().unwrap();
    assert_eq!(hashes.len(), 1);
}

#[tokio::test]
async fn a_redirect_uri_must_match_exactly() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let before = shop.gateway.count().await;
    let variants = [
        "https://app.example.com/callback",
        "https://app.example.com/callback?from=service&x=1",
        "https://app.example.com/callback?from=Service",
        "https://app.example.com/callback?from=service#",
        "https://app.example.com/callback?from=service#x",
        "https://app.example.com/callback/?from=service",
        "https://app.example.com/Callback?from=service",
        "https://app.example.com//callback?from=service",
        "https://app.example.com/./callback?from=service",
        "https://app.example.com/a/../callback?from=service",
        "https://app.example.com/%63allback?from=service",
        "https://app.example.com/callback?from=servic%65",
        "https://app.example.com/callback%3Ffrom=service",
        "https://app.example.com/callback;x?from=service",
        "https://app.example.com\\callback?from=service",
        "https://app.example.com:443/callback?from=service",
        "https://app.example.com:8443/callback?from=service",
        "https://APP.example.com/callback?from=service",
        "https://app.example.com./callback?from=service",
        "https://app.example.com.evil.example/callback?from=service",
        "https://evil.example/callback?from=service",
        "https://evil.example/https://app.example.com/callback?from=service",
        "https://app.example.com@evil.example/callback?from=service",
        "https://evil.example#@app.example.com/callback?from=service",
        "https://evil.example\\@app.example.com/callback?from=service",
        "https://user@app.example.com/callback?from=service",
        "https://user:pass@app.example.com/callback?from=service",
        "https://sub.app.example.com/callback?from=service",
        "https://app-example.com/callback?from=service",
        "https://app.example.co/callback?from=service",
        "https:/app.example.com/callback?from=service",
        "https:app.example.com/callback?from=service",
        "http://app.example.com/callback?from=service",
        "HTTPS://app.example.com/callback?from=service",
        "ftp://app.example.com/callback?from=service",
        "javascript:alert(1)",
        "data:text/html,x",
        "//app.example.com/callback?from=service",
        "/callback?from=service",
        " https://app.example.com/callback?from=service",
        "https://app.example.com/callback?from=service ",
        "https://app.example.com/callback?from=service\n",
        "\thttps://app.example.com/callback?from=service",
        "https://app.exam\tple.com/callback?from=service",
        "https://app.example.com/callback?from=service%00",
        "https://app.example.com/callback?from=service&",
        "https://аpp.example.com/callback?from=service",
        "https://xn--pp-6cd.example.com/callback?from=service",
        "https://app.example.com/*",
        "https://app.example.com",
        "urn:ietf:wg:oauth:2.0:oob",
        "http://127.0.0.1/callback?from=service",
    ];
    assert!(variants.len() >= 40);
    for variant in variants {
        let mut fields = shop.authorize_fields(&"v".repeat(43));
        fields["redirect_uri"] = json!(variant);
        let rejected =
            shop.authorize_with(fields).await.expect(400).problem("invalid_redirect_uri");
        assert!(
            !rejected.text.contains("evil"),
            "an unregistered URI is echoed: {}",
            rejected.text
        );
        let deny = format!("/v1/app-store/apps/{}/oauth/deny", shop.app.id);
        let denied = json!({"store_id": shop.store.id, "redirect_uri": variant, "state": "s"});
        shop.merchant.post(&deny).json(denied).await.expect(400).problem("invalid_redirect_uri");
    }
    assert_eq!(shop.gateway.count().await, before);
}

#[tokio::test]
async fn every_field_of_an_authorization_request_is_validated() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let verifier = "v".repeat(43);
    for (field, value, status, code) in [
        ("response_type", json!("token"), 400, "unsupported_response_type"),
        ("grant_type", json!("implicit"), 400, "unsupported_grant_type"),
        ("client_id", json!("cli_other"), 400, "invalid_request"),
        ("scope", json!("write_store"), 400, "invalid_scope"),
        ("scope", json!("read_everything"), 400, "invalid_scope"),
        ("code_challenge_method", json!("plain"), 400, "invalid_request"),
        ("code_challenge", Value::Null, 400, "invalid_request"),
        ("code_challenge", json!(""), 400, "invalid_request"),
        ("code_challenge", json!("short"), 400, "invalid_request"),
        ("code_challenge", json!("c".repeat(42)), 400, "invalid_request"),
        ("code_challenge", json!("c".repeat(44)), 400, "invalid_request"),
        ("code_challenge", json!("c".repeat(128)), 400, "invalid_request"),
        ("code_challenge", json!("c".repeat(129)), 400, "invalid_request"),
        ("code_challenge", json!("c".repeat(5_000)), 400, "invalid_request"),
        ("code_challenge", json!(format!("{}~", "c".repeat(42))), 400, "invalid_request"),
        ("code_challenge", json!(format!("{}!", "c".repeat(42))), 400, "invalid_request"),
        ("code_challenge", json!(format!("{}=", "c".repeat(42))), 400, "invalid_request"),
        ("code_challenge", json!(7), 400, "invalid_request"),
        ("code_challenge", json!(["c".repeat(43)]), 400, "invalid_request"),
        ("surprise", json!(1), 422, "validation_failed"),
        ("store_id", json!("sto_00000000000000000000000000000000"), 404, "store_not_found"),
        ("store_id", json!("nonsense"), 404, "store_not_found"),
    ] {
        let mut fields = shop.authorize_fields(&verifier);
        fields[field] = value;
        shop.authorize_with(fields).await.expect(status).problem(code);
    }
    let stranger = support::Merchant::sign_up(&shop.gateway).await;
    let path = format!("/v1/app-store/apps/{}/oauth/authorize", shop.app.id);
    let foreign = stranger.post(&path).json(shop.authorize_fields(&verifier)).await;
    foreign.expect(404).problem("store_not_found");
    let draft = shop.developer.create_app(Developer::app_fields(&["read_store"])).await;
    let path = format!("/v1/app-store/apps/{}/oauth/authorize", draft.id);
    let unpublished = shop.merchant.post(&path).json(shop.authorize_fields(&verifier)).await;
    unpublished.expect(404).problem("app_not_published");
    assert_eq!(shop.gateway.items("COD#").await.len(), 0);
    assert_eq!(shop.gateway.items("INS#").await.len(), 0);
}

#[tokio::test]
async fn deleting_a_store_invalidates_its_app_authorizations() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let (used, unused) = (shop.authorize().await, shop.authorize().await);
    let token = shop.redeem(&used).await.expect(200).str("/access_token");
    let app = shop.app_server.with_token(&token);
    assert_eq!(read_store(&shop, &app).await, 200);
    let delete = shop.merchant.delete(&format!("/v1/stores/{}", shop.store.id));
    delete.json(json!({"confirm": shop.store.subdomain})).await.expect(202);
    // Given up before the code was redeemed or after it: the same.
    let late = shop.redeem(&unused).await.expect(200).str("/access_token");
    for token in [&token, &late] {
        assert_eq!(read_store(&shop, &shop.app_server.with_token(token)).await, 401);
    }
    let again = shop.authorize_with(shop.authorize_fields(&support::verifier())).await;
    again.expect(404).problem("store_not_found");
}

#[tokio::test]
async fn a_denied_authorization_redirects_with_access_denied() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = format!("/v1/app-store/apps/{}/oauth/deny", shop.app.id);
    let input = json!({"store_id": shop.store.id, "redirect_uri": REDIRECT_URI, "state": "s t"});
    let reply = shop.merchant.post(&path).json(input).await.expect(200);
    let begin = format!("{REDIRECT_URI}&error=access_denied&state=s+t&iss=");
    assert!(reply.str("/redirect_to").starts_with(&begin), "{}", reply.text);
}

#[tokio::test]
async fn oauth_requests_take_at_most_three_round_trips() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    assert_eq!(shop.merchant.get("/v1/auth/me").await.expect(200).trips(), 1, "session check");
    let page = shop.app_server.get("/v1/app-store/oauth/authorize");
    let query = [
        ("response_type", "code"),
        ("client_id", &shop.app.client_id),
        ("redirect_uri", REDIRECT_URI),
        ("state", "s"),
        ("code_challenge", &support::challenge(&support::verifier())),
        ("code_challenge_method", "S256"),
    ];
    assert_eq!(page.query(&query).await.expect(200).trips(), 3, "client, app, developer");
    let grant = shop.authorize().await;
    assert!(grant.reply.trips() <= 3, "authorize took {}", grant.reply.trips());
    let token = shop.redeem(&grant).await.expect(200);
    assert!(token.trips() <= 3, "redeem took {}", token.trips());
    let app = shop.app_server.with_token(&token.str("/access_token"));
    let store = app.get(&format!("/v1/stores/{}", shop.store.id)).await.expect(200);
    assert_eq!(store.trips(), 1, "app-token check");
    let list = app.get("/v1/operations/webhook-subscriptions").await.expect(200);
    assert!(list.trips() <= 2, "subscription list took {}", list.trips());
}
