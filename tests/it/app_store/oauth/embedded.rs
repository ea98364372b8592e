//! Tokens exchanged for a session.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Shop, json};

use super::read_store;

#[tokio::test]
async fn an_embedded_token_ends_with_its_session_or_after_five_minutes() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    shop.exchange().await.expect(403).oauth_error("installation_inactive");
    shop.authorize().await;
    let reply = shop.exchange().await.expect(200);
    assert!((295..=300).contains(&reply.int("/expires_in")), "{}", reply.text);
    assert_eq!(reply.str("/issued_token_type"), "urn:ietf:params:oauth:token-type:access_token");
    let page = shop.merchant.stranger().with_token(&reply.str("/access_token"));
    assert_eq!(read_store(&shop, &page).await, 200);
    let other_session = shop.merchant.sign_in_again().await;
    let input = json!({"app_id": shop.app.id, "store_id": shop.store.id});
    let second =
        other_session.post("/v1/app-store/oauth/token-exchange").json(input).await.expect(200);
    let second = shop.merchant.stranger().with_token(&second.str("/access_token"));
    other_session.post("/v1/auth/signout").await.expect(204);
    assert_eq!(read_store(&shop, &second).await, 401, "its session is over");
    assert_eq!(read_store(&shop, &page).await, 200, "the other's is not");
    shop.gateway.advance(5 * MINUTE + Duration::from_secs(10));
    assert_eq!(read_store(&shop, &page).await, 401);
}

#[tokio::test]
async fn token_exchange_rejects_foreign_or_invalid_parameters() {
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
        ("store_id", json!("sto_00000000000000000000000000000000"), 404, "store_not_found"),
        ("app_id", json!("app_00000000000000000000000000000000"), 403, "installation_inactive"),
    ] {
        let mut input = base.clone();
        input[field] = value;
        let reply = shop.merchant.post(path).json(input).await.expect(status);
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
