//! Developers who give their account up.

use support::{Developer, Gateway, PASSWORD, Reply, Shop, json};

async fn leave(developer: &Developer) -> Reply {
    developer.delete("/v1/auth/me").json(json!({"current_password": PASSWORD})).await
}

#[tokio::test]
async fn a_developer_with_apps_cannot_delete_the_account() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let app = shop.app_server.with_token(&token.str("/access_token"));
    let own = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    let rejected = leave(&shop.developer).await.expect(409).problem("owns_apps");
    assert_eq!(rejected.at("/app_ids"), &json!([shop.app.id]));
    shop.developer.post(&format!("{own}/unpublish")).json(json!({})).await.expect(200);
    shop.developer.delete(&own).await.expect(409).problem("app_installed");
    leave(&shop.developer).await.expect(409).problem("owns_apps");
    assert_eq!(app.get(&format!("/v1/stores/{}", shop.store.id)).await.status, 200);
    shop.uninstall(&grant.installation_id).await.expect(200);
    leave(&shop.developer).await.expect(409).problem("owns_apps");
    shop.developer.delete(&own).await.expect(204);
    leave(&shop.developer).await.expect(202);
    assert_eq!(app.get(&format!("/v1/stores/{}", shop.store.id)).await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parallel_account_deletion_leaves_no_app_without_its_developer() {
    let gateway = Gateway::start().await;
    for _ in 0..6 {
        let developer = Developer::register(&gateway).await;
        let fields = Developer::app_fields(&[]);
        let make = developer.post("/v1/app-store/developers/apps").json(fields);
        let (made, left) = tokio::join!(make, leave(&developer));
        let apps = gateway.items_of("app", "APP#").await;
        let owned = apps.iter().any(|app| app["owner_id"] == developer.id);
        assert_eq!(made.status == 201, owned, "{}", made.text);
        assert!(!(made.status == 201 && left.status == 202), "an app without a developer");
        assert!(made.status < 500 && left.status < 500, "{} {}", made.text, left.text);
    }
}
