//! What becomes of tokens when the installation ends or rests.

use support::{Shop, json};

use super::read_store;

#[tokio::test]
async fn an_uninstalled_apps_token_is_rejected_by_the_next_request() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let unused = shop.authorize().await;
    let app = shop.app_server.with_token(&token.str("/access_token"));
    let page = shop.embedded_client().await;
    assert_eq!(read_store(&shop, &app).await, 200);
    shop.uninstall(&grant.installation_id).await.expect(200);
    for dead in [&app, &page] {
        let rejected = dead.get(&format!("/v1/stores/{}", shop.store.id)).await.expect(401);
        rejected.problem("invalid_token");
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
async fn a_suspended_installation_rejects_its_tokens_until_it_is_resumed() {
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
