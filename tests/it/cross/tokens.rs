//! Credentials are rejected where another is expected, and forged ones everywhere.

use crypto::token;
use emulators::forgeries::{forgeries, misfits};
use support::{Shop, Value, json};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// The claims of a token, read without verifying it.
fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

#[tokio::test]
async fn forged_and_malformed_tokens_are_rejected() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let token = shop.redeem(&shop.authorize().await).await.expect(200).str("/access_token");
    let path = format!("/v1/stores/{}", shop.store.id);
    let client = shop.app_server.stranger();
    client.with_token(&token).get(&path).await.expect(200);
    let jwks = client.get("/v1/app-store/oauth/jwks").await.expect(200).json;
    // Also tokens that our own key signed, but that say what ours never do.
    let keys = shop.gateway.app().secrets.signing_keys().await.unwrap();
    let mut forged = forgeries(&token, &claims(&token), &jwks);
    forged.extend(misfits(&claims(&token), &keys));
    let mut sent = 0;
    for (name, odd) in forged {
        // What no header can carry, or what HTTP itself trims to the valid token, is tested below
        // HTTP.
        let sendable = odd.bytes().all(|b| (0x21..0x7f).contains(&b)) && !odd.is_empty();
        if !sendable || odd == token {
            continue;
        }
        sent += 1;
        let reply = client.stranger().with_token(&odd).get(&path).await;
        assert_eq!(reply.status, 401, "{name}: {}", reply.text);
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"), "{name}");
    }
    assert!(sent >= 60, "only {sent} forgeries");
}

#[tokio::test]
async fn tokens_signed_with_receipt_keys_grant_no_access() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let token = shop.redeem(&shop.authorize().await).await.expect(200).str("/access_token");
    let client = shop.app_server.stranger();
    let jwks = client.get("/v1/app-store/oauth/jwks").await.expect(200).json;
    let published: Vec<_> =
        jwks["keys"].as_array().unwrap().iter().map(|key| &key["kid"]).collect();
    assert_eq!(published.len(), 4, "two of app tokens, two of receipts: {jwks}");
    let keys = shop.gateway.app().secrets.receipt_keys().await.unwrap();
    assert!(published.contains(&&json!(keys.current_kid())), "a receipt can be verified");
    // To the letter what an app token is, but for the key.
    let same = serde_json::from_value(claims(&token)).unwrap();
    let forged = token::sign(&keys, &same).unwrap();
    let path = format!("/v1/stores/{}", shop.store.id);
    client.with_token(&token).get(&path).await.expect(200);
    client.with_token(&forged).get(&path).await.expect(401).problem("invalid_token");
    let statement = token::sign_statement(&keys, "receipt+jwt", &claims(&token)).unwrap();
    client.with_token(&statement).get(&path).await.expect(401).problem("invalid_token");
    assert!(token::sign_statement(&keys, "at+jwt", &claims(&token)).is_err());
}

#[tokio::test]
async fn each_credential_is_rejected_where_another_is_expected() {
    let shop = Shop::with_installed_app().await;
    let app = shop.app_client().await;
    let page = shop.embedded_client().await;
    for path in
        ["/v1/auth/me", "/v1/auth/sessions", "/v1/stores", "/v1/app-store/developers/register"]
    {
        app.get(path).await.expect(401);
        page.get(path).await.expect(401);
    }
    let fetch = json!({"path": format!("/v1/stores/{}", shop.store.id)});
    let plain = app.post("/v1/app-store/bridge/fetch").json(fetch.clone()).await;
    plain.expect(401).problem("invalid_token");
    page.post("/v1/app-store/bridge/fetch").json(fetch).await.expect(200);
    // A code, a refresh token and a client secret are no bearer tokens.
    let grant = shop.authorize().await;
    let refresh = shop.redeem(&grant).await.expect(200).str("/refresh_token");
    let secret = shop.app.client_secret.clone().unwrap();
    for odd in [&grant.code, &refresh, &secret, &shop.app.client_id] {
        let path = format!("/v1/stores/{}", shop.store.id);
        shop.app_server.with_token(odd).get(&path).await.expect(401);
    }
    let basic = shop.app_server.get("/v1/auth/me").header("authorization", "Basic YTpi");
    basic.await.expect(401).problem("unauthenticated");
}

#[tokio::test]
async fn an_app_token_is_limited_to_its_store() {
    let shop = Shop::with_installed_app().await;
    let app = shop.app_client().await;
    let other = shop.merchant.open_store().await;
    let foreign =
        app.get(&format!("/v1/stores/{}", other.id)).await.expect(404).problem("not_found");
    let unknown = app.get("/v1/stores/sto_00000000000000000000000000000000").await.expect(404);
    let same = |reply: &support::Reply| {
        let mut body = reply.json.clone();
        body["request_id"] = Value::Null;
        body["instance"] = Value::Null;
        body
    };
    assert_eq!(same(&foreign), same(&unknown));
    let list = "/v1/operations/webhook-subscriptions";
    app.get(list).store(&other.id).await.expect(404);
    app.get(&format!("{list}?store_id={}", other.id)).await.expect(404);
}

#[tokio::test]
async fn the_bridge_is_limited_to_the_tokens_scopes() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let page = shop.embedded_client().await;
    let store = format!("/v1/stores/{}", shop.store.id);
    let bridge = "/v1/app-store/bridge/fetch";
    let read = page.post(bridge).json(json!({"method": "GET", "path": store})).await.expect(200);
    assert_eq!(read.int("/status"), 200);
    assert_eq!(read.str("/body/id"), shop.store.id);
    assert_eq!(read.str("/request_id"), read.header("x-request-id").unwrap());
    assert_eq!(read.int("/cost/requested"), 1);
    let write = json!({"method": "PATCH", "path": store, "body": {"name": "Taken over"}});
    let rejected = page.post(bridge).json(write).await.expect(200);
    assert_eq!(
        (rejected.int("/status"), rejected.str("/body/code")),
        (403, "insufficient_scope".into())
    );
    for (path, code) in [
        ("https://evil.example/v1/stores", "absolute_url_rejected"),
        ("//evil.example/", "absolute_url_rejected"),
        ("/v1/auth/me", "path_not_allowed"),
        ("/v1/stores/../auth/me", "path_not_allowed"),
        ("/v1/app-store/oauth/token", "path_not_allowed"),
        ("/v1/app-store/bridge/fetch", "path_not_allowed"),
        ("/health", "path_not_allowed"),
    ] {
        page.post(bridge).json(json!({"path": path})).await.expect(400).problem(code);
    }
    let header = json!({"path": store, "headers": {"Authorization": "Bearer x"}});
    let rejected = page.post(bridge).json(header).await.expect(422);
    assert_eq!(
        rejected.field_errors(),
        [("/headers/Authorization".into(), "header_not_allowed".into())]
    );
    // A merchant may act for their own installation only.
    let input = json!({"path": store, "installation_id": grant.installation_id});
    let own = shop.merchant.post(bridge).json(input.clone()).await.expect(200);
    assert_eq!(own.int("/status"), 200);
    let stranger = support::Merchant::sign_up(&shop.gateway).await;
    stranger.post(bridge).json(input).await.expect(404).problem("not_found");
}
