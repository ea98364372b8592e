//! Codes redeemed: by whom, for how long, and how often.

use std::time::Duration;

use support::{Developer, Gateway, Grant, REDIRECT_URI, Shop, json, race};

use super::read_store;

/// A form that redeems a grant, with one field changed.
fn form<'a>(grant: &'a Grant, name: &str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut form = vec![
        ("grant_type", "authorization_code"),
        ("code", grant.code.as_str()),
        ("redirect_uri", grant.redirect_uri.as_str()),
        ("code_verifier", grant.verifier.as_str()),
    ];
    for field in &mut form {
        if field.0 == name {
            field.1 = value;
        }
    }
    form
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_redeemed_once_by_200_parallel_clients_and_the_replays_revoke_it() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let answers = race(200, || {
        let from = shop.app_server.stranger();
        let input = from.post("/v1/app-store/oauth/token").form(&form(&grant, "", ""));
        let secret = shop.app.client_secret.as_deref().unwrap();
        let input = input.basic(&shop.app.client_id, secret);
        async move { input.await }
    })
    .await;
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    let rejected = answers.iter().filter(|answer| answer.json["error"] == "invalid_grant").count();
    let broken = answers.iter().filter(|answer| answer.status >= 500).count();
    assert_eq!((won.len(), rejected, broken), (1, 199, 0));
    assert_eq!(shop.gateway.events("app.token_issued").await.len(), 1);
    let app = shop.app_server.with_token(&won[0].str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 401);
    shop.refresh(&won[0].str("/refresh_token")).await.expect(400).oauth_error("invalid_grant");
}

#[tokio::test]
async fn invalid_replays_revoke_nothing() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let other = shop.developer.publish_app(&shop.operator, &["read_store"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let path = "/v1/app-store/oauth/token";
    let wrong_verifier = "x".repeat(43);
    let mut texts = std::collections::BTreeSet::new();
    for round in 0..25 {
        let from = shop.app_server.stranger();
        let secret = shop.app.client_secret.as_deref().unwrap();
        let own = |form: Vec<(&str, &str)>| {
            from.post(path).form(&form).basic(&shop.app.client_id, secret)
        };
        let foreign = from
            .post(path)
            .form(&form(&grant, "", ""))
            .basic(&other.client_id, other.client_secret.as_deref().unwrap());
        let replays = [
            foreign.await.expect(400),
            own(form(&grant, "code_verifier", &wrong_verifier)).await.expect(400),
            own(form(&grant, "redirect_uri", "https://app.example.com/other")).await.expect(400),
            own(form(&grant, "code", &format!("{}x", grant.code))).await.expect(400),
        ];
        for replay in replays {
            texts.insert(replay.oauth_error("invalid_grant").text);
        }
        let unauthenticated =
            from.post(path).form(&form(&grant, "", "")).basic(&shop.app.client_id, "no");
        let unauthenticated = unauthenticated.await.expect(401).oauth_error("invalid_client");
        assert!(
            unauthenticated.header("www-authenticate").unwrap().starts_with("Basic"),
            "{round}"
        );
    }
    assert_eq!(texts.len(), 1, "every invalid_grant has the same text");
    let app = shop.app_server.with_token(&token.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 200);
    shop.refresh(&token.str("/refresh_token")).await.expect(200);
}

#[tokio::test]
async fn an_authorization_code_expires_after_exactly_15_minutes() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    shop.gateway.app().clock.stop();
    let (in_time, late) = (shop.authorize().await, shop.authorize().await);
    shop.gateway.advance(Duration::from_millis(899_999));
    shop.redeem(&in_time).await.expect(200);
    shop.gateway.advance(Duration::from_millis(1));
    shop.redeem(&late).await.expect(400).oauth_error("invalid_grant");
    let codes = shop.gateway.items_of("authorization_code", "COD#").await;
    let states: Vec<_> = codes.iter().map(|code| code["state"].as_str().unwrap()).collect();
    assert_eq!(states.iter().filter(|state| **state == "issued").count(), 1, "it is still there");
    assert_eq!(states.len(), 2);
}

#[tokio::test]
async fn the_token_endpoint_follows_rfc_6749() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = "/v1/app-store/oauth/token";
    let (id, secret) = (&shop.app.client_id, shop.app.client_secret.clone().unwrap());
    let client = &shop.app_server;
    let request = |form: &[(&str, &str)]| client.post(path).form(form).basic(id, &secret);
    request(&[]).await.expect(400).oauth_error("invalid_request");
    request(&[("grant_type", "password")]).await.expect(400).oauth_error("unsupported_grant_type");
    request(&[("grant_type", "authorization_code")])
        .await
        .expect(400)
        .oauth_error("invalid_request");
    let twice = [("grant_type", "refresh_token"), ("grant_type", "refresh_token")];
    request(&twice).await.expect(400).oauth_error("invalid_request");
    let both = [("grant_type", "refresh_token"), ("client_secret", secret.as_str())];
    request(&both).await.expect(400).oauth_error("invalid_request");
    let nobody = client.post(path).form(&[("grant_type", "refresh_token")]).await;
    nobody.expect(401).oauth_error("invalid_client");
    let text = client.post(path).header("content-type", "text/plain").body("x").await;
    text.expect(400).oauth_error("invalid_request");
    // As JSON, with the credentials in the body.
    let grant = shop.authorize().await;
    let body = json!({
        "grant_type": "authorization_code", "code": grant.code, "redirect_uri": REDIRECT_URI,
        "code_verifier": grant.verifier, "client_id": id, "client_secret": secret,
    });
    client.post(path).json(body).await.expect(200);
}

#[tokio::test]
async fn a_public_client_authenticates_by_pkce_only() {
    let mut fields = Developer::app_fields(&["read_store"]);
    fields["confidential"] = json!(false);
    let shop = Shop::on(Gateway::start().await, fields).await;
    assert_eq!(shop.app.client_secret, None);
    let grant = shop.authorize().await;
    let mut form = form(&grant, "", "");
    form.push(("client_id", &shop.app.client_id));
    let path = "/v1/app-store/oauth/token";
    let mut with_secret = form.clone();
    with_secret.push(("client_secret", "guess"));
    shop.app_server.post(path).form(&with_secret).await.expect(401).oauth_error("invalid_client");
    let mut bare = form.clone();
    bare.retain(|(name, _)| *name != "code_verifier");
    shop.app_server.post(path).form(&bare).await.expect(400).oauth_error("invalid_grant");
    shop.app_server.post(path).form(&form).await.expect(200);
}

#[tokio::test]
async fn idempotency_keys_do_not_replay_tokens() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let request = || shop.token(&form(&grant, "", "")).key("k");
    let token = request().await.expect(200);
    // Neither to whoever holds the key without the secret, nor as anything but a replay.
    let bare =
        shop.app_server.post("/v1/app-store/oauth/token").form(&form(&grant, "", "")).key("k");
    bare.await.expect(401).oauth_error("invalid_client");
    request().await.expect(400).oauth_error("invalid_grant");
    let app = shop.app_server.with_token(&token.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 401);
}

#[tokio::test]
async fn the_token_endpoint_ignores_unknown_parameters() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let mut fields = form(&grant, "", "");
    fields.extend([("resource", "https://api.example.com"), ("scope", "")]);
    shop.token(&fields).await.expect(200);
}

#[tokio::test]
async fn an_overlong_client_id_is_of_no_client() {
    let gateway = support::Gateway::start().await;
    let long = "c".repeat(3_000);
    let token = gateway.client().post("/v1/app-store/oauth/token");
    let form = [("grant_type", "authorization_code"), ("code", "c"), ("redirect_uri", "r")];
    token.form(&form).basic(&long, "secret").await.expect(401).oauth_error("invalid_client");
    for endpoint in ["revoke", "introspect"] {
        let input = gateway.client().post(&format!("/v1/app-store/oauth/{endpoint}"));
        let input = input.form(&[("token", "t")]).basic(&long, "secret");
        input.await.expect(401).oauth_error("invalid_client");
    }
}
