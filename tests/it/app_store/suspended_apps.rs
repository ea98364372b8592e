//! An app that operators have stopped, from every side.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Behaviour, Client, Merchant, Receiver, Reply, Shop, eventually, json};

const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";
const DELIVERIES: &str = "/v1/operations/webhook-deliveries";
const DEADLINE: Duration = Duration::from_secs(20);

async fn suspend(shop: &Shop) -> Reply {
    let path = format!("/v1/app-store/apps/{}/suspend", shop.app.id);
    shop.operator.post(&path).json(json!({"reason": "It sends mail to shoppers."})).await
}

async fn resume(shop: &Shop) -> Reply {
    let path = format!("/v1/app-store/apps/{}/resume", shop.app.id);
    shop.operator.post(&path).json(json!({})).await
}

async fn read_store(shop: &Shop, client: &Client) -> u16 {
    client.get(&format!("/v1/stores/{}", shop.store.id)).await.status
}

#[tokio::test]
async fn a_suspended_apps_tokens_are_rejected_by_the_next_request() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let (access, refresh) = (token.str("/access_token"), token.str("/refresh_token"));
    let app = shop.app_server.with_token(&access);
    let page = shop.embedded_client().await;
    let unused = shop.authorize().await;
    let bridge = "/v1/app-store/bridge/fetch";
    let fetch = json!({"path": format!("/v1/stores/{}", shop.store.id)});
    let mut by_merchant = fetch.clone();
    by_merchant["installation_id"] = json!(grant.installation_id);
    let active = |reply: Reply| reply.expect(200).at("/active").clone();

    let suspended = suspend(&shop).await.expect(200);
    assert_eq!(suspended.str("/status"), "suspended");
    for client in [&app, &page] {
        let rejected = client.get(&format!("/v1/stores/{}", shop.store.id)).await.expect(401);
        rejected.problem("invalid_token");
    }
    page.post(bridge).json(fetch.clone()).await.expect(401).problem("invalid_token");
    let rejected = shop.merchant.post(bridge).json(by_merchant.clone()).await.expect(403);
    rejected.problem("app_suspended");
    shop.redeem(&unused).await.expect(400).oauth_error("invalid_grant");
    shop.refresh(&refresh).await.expect(400).oauth_error("invalid_grant");
    shop.exchange().await.expect(403).oauth_error("app_suspended");
    assert_eq!(active(shop.introspect(&access).await), false);
    assert_eq!(active(shop.introspect(&refresh).await), false);

    let resumed = resume(&shop).await.expect(200);
    assert_eq!(resumed.str("/status"), "published");
    assert_eq!(read_store(&shop, &app).await, 200);
    assert_eq!(read_store(&shop, &page).await, 200);
    assert_eq!(active(shop.introspect(&access).await), true);
    shop.merchant.post(bridge).json(by_merchant).await.expect(200);
    shop.refresh(&refresh).await.expect(200);
    // One round trip, as before.
    let reply = app.get(&format!("/v1/stores/{}", shop.store.id)).await.expect(200);
    assert_eq!(reply.trips(), 1);
}

#[tokio::test]
async fn a_suspended_app_cannot_be_found_or_installed() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    suspend(&shop).await.expect(200);
    let public = shop.gateway.client();
    assert_eq!(public.get("/v1/app-store/apps").await.expect(200).data().len(), 0);
    let path = format!("/v1/app-store/apps/{}", shop.app.id);
    public.get(&path).await.expect(404).problem("not_found");
    public.get(&format!("{path}/reviews")).await.expect(404);
    let fields = shop.authorize_fields(&support::verifier());
    shop.authorize_with(fields).await.expect(403).problem("app_suspended");
    let denied = json!({
        "store_id": shop.store.id, "redirect_uri": support::REDIRECT_URI, "state": "s",
    });
    let denied = shop.merchant.post(&format!("{path}/oauth/deny")).json(denied).await;
    denied.expect(403).problem("app_suspended");
    let install = json!({"store_id": shop.store.id});
    let install = shop.merchant.post(&format!("{path}/install")).json(install).await;
    install.expect(403).problem("app_suspended");
    // Its developer is told why, and can bring it back in no way.
    let own = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    let shown = shop.developer.get(&own).await.expect(200);
    assert_eq!(shown.str("/suspension/reason"), "It sends mail to shoppers.");
    for (action, input) in [
        ("publish", json!({})),
        ("unpublish", json!({})),
        ("submissions", support::Developer::submission_fields("2.0.0")),
    ] {
        let rejected = shop.developer.post(&format!("{own}/{action}")).json(input).await;
        rejected.expect(409).problem("invalid_state_transition");
    }
    let events = shop.gateway.events("app.suspended_by_platform").await;
    assert_eq!(events[0]["data"]["suspension"]["reason"], "It sends mail to shoppers.");
    resume(&shop).await.expect(200);
    assert_eq!(public.get("/v1/app-store/apps").await.expect(200).data().len(), 1);
    assert_eq!(shop.gateway.events("app.resumed_by_platform").await.len(), 1);
    shop.authorize().await;
}

#[tokio::test]
async fn only_operators_suspend_and_resume_apps() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = |action: &str| format!("/v1/app-store/apps/{}/{action}", shop.app.id);
    let why = json!({"reason": "Because."});
    let merchant = Merchant::sign_up(&shop.gateway).await;
    for action in ["suspend", "resume"] {
        let rejected = merchant.post(&path(action)).json(why.clone()).await;
        rejected.expect(403).problem("operator_required");
    }
    let silent = shop.operator.post(&path("suspend")).json(json!({})).await.expect(422);
    assert_eq!(silent.field_errors(), [("/reason".into(), "required".into())]);
    resume(&shop).await.expect(409).problem("invalid_state_transition");
    let own = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    shop.developer.post(&format!("{own}/unpublish")).json(json!({})).await.expect(200);
    let suspended = suspend(&shop).await.expect(200);
    let stale = shop.operator.post(&path("resume")).json(json!({})).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    suspend(&shop).await.expect(409).problem("invalid_state_transition");
    let resumed = shop.operator.post(&path("resume")).json(json!({})).if_match(&suspended.etag());
    assert_eq!(resumed.await.expect(200).str("/status"), "unpublished", "where it was");
    // A suspended app that nobody uses can be given up, and then not brought back.
    suspend(&shop).await.expect(200);
    shop.developer.delete(&own).await.expect(204);
    resume(&shop).await.expect(404).problem("not_found");
    suspend(&shop).await.expect(404).problem("not_found");
    let unknown = "/v1/app-store/apps/app_00000000000000000000000000000000/suspend";
    shop.operator.post(unknown).json(why).await.expect(404).problem("not_found");
}

#[tokio::test]
async fn a_suspended_app_receives_no_webhooks() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let app = shop.app_client().await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    app.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let rename = |name: &'static str| {
        let path = format!("/v1/stores/{}", shop.store.id);
        let input = shop.owner().patch(&path).json(json!({"name": name}));
        async move { input.await.expect(200) }
    };
    rename("Before").await;
    let statuses = || async {
        let list = shop.owner().get(DELIVERIES).await.expect(200);
        let status = |each: &support::Value| each["status"].as_str().unwrap().to_owned();
        list.data().iter().map(status).collect::<Vec<_>>()
    };
    eventually(DEADLINE, || async { (statuses().await == ["retrying"]).then_some(()) }).await;
    suspend(&shop).await.expect(200);
    receiver.now(Behaviour::Status(200));
    let seen = receiver.requests().len();
    rename("Meanwhile").await;
    shop.gateway.advance(2 * MINUTE);
    shop.gateway.sweep().await;
    // What was queued is cancelled, and what happens makes no delivery.
    eventually(DEADLINE, || async { (statuses().await == ["cancelled"]).then_some(()) }).await;
    eventually(DEADLINE, || async {
        let events = shop.gateway.all_events().await;
        events.iter().all(|event| event.state.as_str() == "published").then_some(())
    })
    .await;
    assert_eq!(statuses().await, ["cancelled"]);
    assert_eq!(receiver.requests().len(), seen);
    // Nothing is missing from the outbox, neither now nor when the app is back.
    let missing = || async {
        let verified = shop.owner().get("/v1/operations/outbox/verify").await.expect(200);
        verified.int("/missing")
    };
    assert_eq!(missing().await, 0);
    resume(&shop).await.expect(200);
    assert_eq!(missing().await, 0);
    rename("After").await;
    receiver.wait_for(seen + 1).await;
}
