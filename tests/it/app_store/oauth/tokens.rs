//! Tokens refreshed, expired, revoked and looked into.

use std::time::Duration;

use support::clock::{DAY, MINUTE};
use support::{Shop, json};

use super::read_store;

#[tokio::test]
async fn reuse_of_a_rotated_refresh_token_revokes_the_grant() {
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
async fn a_client_revokes_and_introspects_only_its_own_tokens() {
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
        let input = shop.app_server.post(path).form(&[("token", access.as_str())]);
        input.basic(&other.client_id, other.client_secret.as_deref().unwrap())
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
async fn introspection_reports_ended_tokens_as_inactive() {
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
async fn a_rotated_refresh_token_is_a_replay_after_ten_minutes() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    shop.gateway.app().clock.stop();
    let first = shop.redeem(&shop.authorize().await).await.expect(200).str("/refresh_token");
    let second = shop.refresh(&first).await.expect(200);
    shop.gateway.advance(10 * MINUTE - Duration::from_millis(1));
    let again = shop.refresh(&first).await.expect(200);
    let app = shop.app_server.with_token(&again.str("/access_token"));
    assert_eq!(read_store(&shop, &app).await, 200);
    shop.gateway.advance(Duration::from_millis(1));
    shop.refresh(&first).await.expect(400).oauth_error("invalid_grant");
    // Whoever came late is a thief, or was robbed: every token of the grant is dead.
    assert_eq!(read_store(&shop, &app).await, 401);
    let rejected = shop.refresh(&second.str("/refresh_token")).await.expect(400);
    rejected.oauth_error("invalid_grant");
}
