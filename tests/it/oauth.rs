//! Authorize, redeem, refresh, revoke: what a code and a token may do, and how often.

use std::time::Duration;

use gateway::clock::{DAY, MINUTE};
use support::{Client, Developer, Gateway, Grant, REDIRECT_URI, Shop, Value, json, race};

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

/// The store, read by an app.
async fn read_store(shop: &Shop, app: &Client) -> u16 {
    app.get(&format!("/v1/stores/{}", shop.store.id)).await.status
}

#[tokio::test]
async fn an_authorized_app_reads_the_store_with_its_token_and_nothing_raw_is_stored() {
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_redeemed_once_by_200_parallel_clients_and_the_replays_revoke_it() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let answers = race(200, || {
        let from = shop.app_server.stranger();
        let ask = from.post("/v1/app-store/oauth/token").form(&form(&grant, "", ""));
        let secret = shop.app.client_secret.as_deref().unwrap();
        let ask = ask.basic(&shop.app.client_id, secret);
        async move { ask.await }
    })
    .await;
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    let refused = answers.iter().filter(|answer| answer.json["error"] == "invalid_grant").count();
    let broken = answers.iter().filter(|answer| answer.status >= 500).count();
    assert_eq!((won.len(), refused, broken), (1, 199, 0));
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
async fn a_code_lives_until_the_last_millisecond_of_its_15_minutes() {
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
async fn a_redirect_uri_matches_byte_for_byte_or_not_at_all() {
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
        let refused = shop.authorize_with(fields).await.expect(400).problem("invalid_redirect_uri");
        assert!(!refused.text.contains("evil"), "an unregistered URI is echoed: {}", refused.text);
        let deny = format!("/v1/app-store/apps/{}/oauth/deny", shop.app.id);
        let denied = json!({"store_id": shop.store.id, "redirect_uri": variant, "state": "s"});
        shop.merchant.post(&deny).json(denied).await.expect(400).problem("invalid_redirect_uri");
    }
    assert_eq!(shop.gateway.count().await, before);
}

#[tokio::test]
async fn an_authorization_request_is_judged_whole() {
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
        ("code_challenge", json!("short"), 422, "validation_failed"),
        ("surprise", json!(1), 422, "validation_failed"),
        ("store_id", json!("sto_00000000000000000000000000000000"), 404, "store_not_owned"),
        ("store_id", json!("nonsense"), 404, "store_not_owned"),
    ] {
        let mut fields = shop.authorize_fields(&verifier);
        fields[field] = value;
        shop.authorize_with(fields).await.expect(status).problem(code);
    }
    let stranger = support::Merchant::sign_up(&shop.gateway).await;
    let path = format!("/v1/app-store/apps/{}/oauth/authorize", shop.app.id);
    let foreign = stranger.post(&path).json(shop.authorize_fields(&verifier)).await;
    foreign.expect(404).problem("store_not_owned");
    let draft = shop.developer.create_app(Developer::app_fields(&["read_store"])).await;
    let path = format!("/v1/app-store/apps/{}/oauth/authorize", draft.id);
    let unpublished = shop.merchant.post(&path).json(shop.authorize_fields(&verifier)).await;
    unpublished.expect(404).problem("app_not_published");
    assert_eq!(shop.gateway.items("COD#").await.len(), 0);
    assert_eq!(shop.gateway.items("INS#").await.len(), 0);
}

#[tokio::test]
async fn a_merchant_who_denies_is_sent_back_with_the_error() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = format!("/v1/app-store/apps/{}/oauth/deny", shop.app.id);
    let ask = json!({"store_id": shop.store.id, "redirect_uri": REDIRECT_URI, "state": "s t"});
    let reply = shop.merchant.post(&path).json(ask).await.expect(200);
    let begin = format!("{REDIRECT_URI}&error=access_denied&state=s+t&iss=");
    assert!(reply.str("/redirect_to").starts_with(&begin), "{}", reply.text);
}

#[tokio::test]
async fn the_token_endpoint_speaks_rfc_6749() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = "/v1/app-store/oauth/token";
    let (id, secret) = (&shop.app.client_id, shop.app.client_secret.clone().unwrap());
    let client = &shop.app_server;
    let ask = |form: &[(&str, &str)]| client.post(path).form(form).basic(id, &secret);
    ask(&[]).await.expect(400).oauth_error("invalid_request");
    ask(&[("grant_type", "password")]).await.expect(400).oauth_error("unsupported_grant_type");
    ask(&[("grant_type", "authorization_code")]).await.expect(400).oauth_error("invalid_request");
    let twice = [("grant_type", "refresh_token"), ("grant_type", "refresh_token")];
    ask(&twice).await.expect(400).oauth_error("invalid_request");
    let both = [("grant_type", "refresh_token"), ("client_secret", secret.as_str())];
    ask(&both).await.expect(400).oauth_error("invalid_request");
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
async fn a_public_client_proves_itself_by_pkce_alone() {
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
async fn a_refresh_token_rotates_and_its_reuse_ends_the_grant() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let first = shop.redeem(&shop.authorize().await).await.expect(200);
    let (r1, t1) = (first.str("/refresh_token"), first.str("/access_token"));
    let second = shop.refresh(&r1).await.expect(200);
    // The answer was lost: the predecessor works until its successor is used.
    let repeat = shop.refresh(&r1).await.expect(200);
    let narrowed = shop
        .token(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", &repeat.str("/refresh_token")),
            ("scope", "read_store"),
        ])
        .await
        .expect(200);
    assert_eq!(narrowed.str("/scope"), "read_store");
    for token in [&t1, &second.str("/access_token"), &narrowed.str("/access_token")] {
        assert_eq!(read_store(&shop, &shop.app_server.with_token(token)).await, 200);
    }
    let more = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &narrowed.str("/refresh_token")),
        ("scope", "write_products"),
    ];
    shop.token(&more).await.expect(400).oauth_error("invalid_scope");
    // Now the successor has been used: whoever holds the predecessor is a thief.
    shop.refresh(&r1).await.expect(400).oauth_error("invalid_grant");
    for token in [&t1, &narrowed.str("/access_token")] {
        assert_eq!(read_store(&shop, &shop.app_server.with_token(token)).await, 401);
    }
    shop.refresh(&narrowed.str("/refresh_token")).await.expect(400).oauth_error("invalid_grant");
}

#[tokio::test]
async fn tokens_expire_and_grants_end_after_90_days() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let first = shop.redeem(&shop.authorize().await).await.expect(200);
    let app = shop.app_server.with_token(&first.str("/access_token"));
    shop.gateway.advance(Duration::from_secs(3_590));
    assert_eq!(read_store(&shop, &app).await, 200);
    shop.gateway.advance(Duration::from_secs(11));
    assert_eq!(read_store(&shop, &app).await, 401);
    let second = shop.refresh(&first.str("/refresh_token")).await.expect(200);
    shop.gateway.advance(90 * DAY);
    shop.refresh(&second.str("/refresh_token")).await.expect(400).oauth_error("invalid_grant");
}

#[tokio::test]
async fn revocation_and_introspection_are_for_the_own_client() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let token = shop.redeem(&shop.authorize().await).await.expect(200);
    let (access, refresh) = (token.str("/access_token"), token.str("/refresh_token"));
    let described = shop.introspect(&access).await.expect(200);
    assert_eq!(described.at("/active"), true);
    assert_eq!(described.str("/scope"), "read_store");
    assert_eq!(described.str("/store_id"), shop.store.id);
    assert_eq!(shop.introspect(&refresh).await.expect(200).at("/active"), true);
    // Another client learns nothing and revokes nothing.
    let other = shop.developer.publish_app(&shop.operator, &["read_store"]).await;
    let foreign = |path: &str| {
        let ask = shop.app_server.post(path).form(&[("token", access.as_str())]);
        ask.basic(&other.client_id, other.client_secret.as_deref().unwrap())
    };
    let nothing = foreign("/v1/app-store/oauth/introspect").await.expect(200);
    assert_eq!(nothing.json, json!({"active": false}));
    foreign("/v1/app-store/oauth/revoke").await.expect(200);
    let app = shop.app_server.with_token(&access);
    assert_eq!(read_store(&shop, &app).await, 200);
    assert_eq!(shop.revoke(&access).await.expect(200).json, json!({}));
    assert_eq!(read_store(&shop, &app).await, 401);
    assert_eq!(shop.introspect(&access).await.expect(200).json, json!({"active": false}));
    shop.revoke("unknown").await.expect(200);
    let next = shop.refresh(&refresh).await.expect(200);
    shop.revoke(&next.str("/refresh_token")).await.expect(200);
    let app = shop.app_server.with_token(&next.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 401, "the grant is over");
}

#[tokio::test]
async fn an_uninstalled_apps_token_is_refused_by_the_next_request() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let unused = shop.authorize().await;
    let app = shop.app_server.with_token(&token.str("/access_token"));
    let page = shop.embedded_client().await;
    assert_eq!(read_store(&shop, &app).await, 200);
    shop.uninstall(&grant.installation_id).await.expect(200);
    for dead in [&app, &page] {
        let refused = dead.get(&format!("/v1/stores/{}", shop.store.id)).await.expect(401);
        refused.problem("invalid_token");
    }
    shop.refresh(&token.str("/refresh_token")).await.expect(400).oauth_error("invalid_grant");
    shop.redeem(&unused).await.expect(400).oauth_error("invalid_grant");
    shop.uninstall(&grant.installation_id).await.expect(409).problem("invalid_state_transition");
    // Installed again, the old tokens stay dead and new ones work.
    let again = shop.redeem(&shop.authorize().await).await.expect(200);
    assert_eq!(read_store(&shop, &app).await, 401);
    let app = shop.app_server.with_token(&again.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 200);
    assert_eq!(shop.gateway.events("app.uninstalled").await.len(), 1);
}

#[tokio::test]
async fn a_suspended_installation_refuses_its_tokens_until_it_is_resumed() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let app = shop.app_server.with_token(&token.str("/access_token"));
    let path =
        |action: &str| format!("/v1/app-store/installations/{}/{action}", grant.installation_id);
    let owner = shop.owner();
    owner.post(&path("suspend")).json(json!({"reason": "Looking into it."})).await.expect(200);
    assert_eq!(read_store(&shop, &app).await, 401);
    shop.refresh(&token.str("/refresh_token")).await.expect(400).oauth_error("invalid_grant");
    owner.post(&path("resume")).await.expect(200);
    assert_eq!(read_store(&shop, &app).await, 200);
    owner.post(&path("tokens/revoke")).await.expect(200);
    assert_eq!(read_store(&shop, &app).await, 401);
    let stranger = support::Merchant::sign_up(&shop.gateway).await;
    let store = stranger.open_store().await;
    stranger.at(&store).post(&path("suspend")).await.expect(404).problem("not_found");
}

#[tokio::test]
async fn an_embedded_token_dies_with_its_session_and_after_five_minutes() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    shop.exchange().await.expect(403).oauth_error("installation_inactive");
    shop.authorize().await;
    let reply = shop.exchange().await.expect(200);
    assert!((295..=300).contains(&reply.int("/expires_in")), "{}", reply.text);
    assert_eq!(reply.str("/issued_token_type"), "urn:ietf:params:oauth:token-type:access_token");
    let page = shop.merchant.stranger().with_token(&reply.str("/access_token"));
    assert_eq!(read_store(&shop, &page).await, 200);
    let other_session = shop.merchant.sign_in_again().await;
    let ask = json!({"app_id": shop.app.id, "store_id": shop.store.id});
    let second =
        other_session.post("/v1/app-store/oauth/token-exchange").json(ask).await.expect(200);
    let second = shop.merchant.stranger().with_token(&second.str("/access_token"));
    other_session.post("/v1/auth/signout").await.expect(204);
    assert_eq!(read_store(&shop, &second).await, 401, "its session is over");
    assert_eq!(read_store(&shop, &page).await, 200, "the other's is not");
    shop.gateway.advance(5 * MINUTE + Duration::from_secs(10));
    assert_eq!(read_store(&shop, &page).await, 401);
}

#[tokio::test]
async fn token_exchange_refuses_what_is_not_the_sessions_own() {
    let shop = Shop::with_installed_app().await;
    let path = "/v1/app-store/oauth/token-exchange";
    let base = json!({"app_id": shop.app.id, "store_id": shop.store.id});
    let other = support::Merchant::sign_up(&shop.gateway).await;
    for (field, value, status, error) in [
        ("grant_type", json!("client_credentials"), 400, "unsupported_grant_type"),
        ("subject_token", json!(other.token()), 400, "invalid_request"),
        (
            "subject_token_type",
            json!("urn:ietf:params:oauth:token-type:saml2"),
            400,
            "invalid_request",
        ),
        ("client_id", json!(shop.app.client_id), 400, "invalid_request"),
        ("scope", json!("write_store"), 400, "invalid_scope"),
        ("installation_id", json!("ins_00000000000000000000000000000000"), 400, "invalid_target"),
        ("store_id", json!("sto_00000000000000000000000000000000"), 404, "store_not_owned"),
        ("app_id", json!("app_00000000000000000000000000000000"), 403, "installation_inactive"),
    ] {
        let mut ask = base.clone();
        ask[field] = value;
        let reply = shop.merchant.post(path).json(ask).await.expect(status);
        reply.oauth_error(error);
    }
    let full = json!({
        "client_id": shop.app.client_id, "store_id": shop.store.id, "scope": "read_store",
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": shop.merchant.token(),
        "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
    });
    shop.merchant.post(path).json(full).await.expect(200);
    shop.merchant.stranger().post(path).json(base).await.expect(401).oauth_error("invalid_token");
}

#[tokio::test]
async fn an_idempotency_key_replays_no_token() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let ask = || shop.token(&form(&grant, "", "")).key("k");
    let token = ask().await.expect(200);
    // Neither to whoever holds the key without the secret, nor as anything but a replay.
    let bare =
        shop.app_server.post("/v1/app-store/oauth/token").form(&form(&grant, "", "")).key("k");
    bare.await.expect(401).oauth_error("invalid_client");
    ask().await.expect(400).oauth_error("invalid_grant");
    let app = shop.app_server.with_token(&token.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 401);
}

#[tokio::test]
async fn introspection_knows_what_killed_a_token() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let page = shop.embedded_client().await;
    let other = shop.merchant.sign_in_again().await;
    let active = |reply: support::Reply| reply.expect(200).at("/active").clone();
    assert_eq!(active(shop.introspect(page.token()).await), true);
    shop.merchant.post("/v1/auth/signout").await.expect(204);
    assert_eq!(active(shop.introspect(page.token()).await), false);
    let refresh = token.str("/refresh_token");
    assert_eq!(active(shop.introspect(&refresh).await), true);
    let path = format!("/v1/app-store/installations/{}/uninstall", grant.installation_id);
    other.at(&shop.store).post(&path).json(json!({})).await.expect(200);
    assert_eq!(active(shop.introspect(&refresh).await), false);
    assert_eq!(active(shop.introspect(&token.str("/access_token")).await), false);
}

#[tokio::test]
async fn a_form_may_hold_what_this_server_does_not_know() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let mut fields = form(&grant, "", "");
    fields.extend([("resource", "https://api.example.com"), ("scope", "")]);
    shop.token(&fields).await.expect(200);
}

#[tokio::test]
async fn the_round_trips_are_as_designed() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    assert_eq!(shop.merchant.get("/v1/auth/me").await.expect(200).trips(), 1, "session check");
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
