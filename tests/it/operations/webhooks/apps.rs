//! What apps hear, for as long as they may.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Behaviour, Client, Gateway, Receiver, Shop, Value, eventually, json};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, verify};

#[tokio::test]
async fn an_app_is_notified_of_its_uninstallation_at_its_webhook_url() {
    let receiver = Receiver::start().await;
    let mut fields = support::Developer::app_fields(&["read_store"]);
    fields["webhook_url"] = json!(receiver.url("/app"));
    let shop = Shop::on(Gateway::start().await, fields).await;
    let secret = shop.app.view["webhook_secret"].as_str().unwrap().to_owned();
    let grant = shop.authorize().await;
    verify(&receiver.wait_for_event("app.authorized").await, &secret);
    shop.uninstall(&grant.installation_id).await.expect(200);
    let received = receiver.wait_for_event("app.uninstalled").await;
    verify(&received, &secret);
    assert_eq!(received.json()["data"]["status"], "uninstalled");
}

#[tokio::test]
async fn an_apps_subscriptions_require_its_scopes_and_end_with_the_installation() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let grant = shop.authorize().await;
    let app = shop.app_client().await;
    let receiver = Receiver::start().await;
    let request = |types: Value| json!({"url": receiver.url("/"), "event_types": types});
    let made = app.post(SUBSCRIPTIONS).json(request(json!(["store.*"]))).await.expect(201);
    let rejected =
        app.post(SUBSCRIPTIONS).json(request(json!(["navigation.updated"]))).await.expect(403);
    assert_eq!(rejected.problem("insufficient_scope").str("/required_scope"), "read_content");
    let unknown =
        app.post(SUBSCRIPTIONS).json(request(json!(["store.*", "order.eaten"]))).await.expect(422);
    assert_eq!(unknown.field_errors(), [("/event_types/1".into(), "unknown_event_type".into())]);
    // The merchant's own subscriptions are none of its business.
    let own = shop.owner().post(SUBSCRIPTIONS).json(request(json!(["*"]))).await.expect(201);
    assert_eq!(app.get(SUBSCRIPTIONS).await.expect(200).data().len(), 1);
    let path = format!("{SUBSCRIPTIONS}/{}", own.str("/id"));
    app.get(&path).await.expect(404).problem("not_found");
    let list = shop.owner().get(SUBSCRIPTIONS).await.expect(200);
    assert_eq!(list.data().len(), 2);
    assert!(!list.text.contains(&own.str("/secret")), "a secret is shown once");
    shop.uninstall(&grant.installation_id).await.expect(200);
    let left = shop.owner().get(SUBSCRIPTIONS).await.expect(200);
    assert_eq!(left.data().len(), 1, "{} is gone", made.str("/id"));
}

#[tokio::test]
async fn revoked_scopes_cancel_pending_and_replayed_deliveries() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let app = shop.app_client().await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    let made = app.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let store = format!("/v1/stores/{}", shop.store.id);
    shop.owner().patch(&store).json(json!({"name": "Readable"})).await.expect(200);
    let delivery = in_state(&shop.owner(), "retrying").await;
    // The merchant grants less from now on, and the receiver has healed.
    let mut fields = shop.authorize_fields(&support::verifier());
    fields["scopes"] = json!(["write_webhooks"]);
    shop.authorize_with(fields).await.expect(200);
    receiver.now(Behaviour::Status(200));
    let seen = receiver.requests().len();
    shop.gateway.advance(2 * MINUTE);
    shop.gateway.sweep().await;
    let ended = in_state(&shop.owner(), "cancelled").await;
    assert_eq!(ended["id"], delivery["id"]);
    let items = shop.gateway.items_of("delivery", "DLV#").await;
    assert_eq!(items[0]["last_error"], "insufficient_scope");
    let redeliver = format!("{DELIVERIES}/{}/redeliver", delivery["id"].as_str().unwrap());
    shop.owner().post(&redeliver).json(json!({})).await.expect(202);
    let recover = format!("{SUBSCRIPTIONS}/{}/recover", made.str("/id"));
    let since = json!({"since": shop.store.view["created_at"]});
    // There is nothing that it may still be told.
    let recovered = shop.owner().post(&recover).json(since).await.expect(202);
    assert_eq!(recovered.int("/matched"), 0);
    assert!(recovered.int("/skipped/not_deliverable") >= 1);
    eventually(DEADLINE, || async {
        let items = shop.gateway.items_of("delivery", "DLV#").await;
        let done = items.iter().all(|delivery| delivery["status"] == "cancelled");
        (done && items.len() == 2).then_some(())
    })
    .await;
    let replay = format!("/v1/operations/runtime/replays/{}", recovered.str("/id"));
    let is_over = || async {
        let shown = shop.owner().get(&replay).await.expect(200);
        (shown.str("/status") == "failed").then_some(())
    };
    eventually(DEADLINE, is_over).await;
    assert_eq!(receiver.requests().len(), seen);
    // Granted anew, what was missed can be recovered.
    shop.authorize().await;
    let since = json!({"since": shop.store.view["created_at"]});
    let recovered = shop.owner().post(&recover).json(since).await.expect(202);
    assert_eq!(recovered.int("/matched"), 1, "two deliveries of one event are sent again as one");
    receiver.wait_for(seen + 1).await;
    let items = shop.gateway.items_of("delivery", "DLV#").await;
    let old = items.iter().filter(|delivery| delivery["replay_id"].is_null());
    assert!(old.clone().all(|delivery| delivery["replayed_by"].is_string()), "{items:?}");
    assert_eq!((old.count(), items.len()), (2, 3));
}

/// The store's delivery in this state, once there is one.
async fn in_state(owner: &Client, status: &str) -> Value {
    eventually(DEADLINE, || async {
        let list = owner.get(DELIVERIES).await.expect(200);
        list.data().iter().find(|delivery| delivery["status"] == status).cloned()
    })
    .await
}

#[tokio::test]
async fn changing_an_apps_webhook_url_enables_its_disabled_subscription() {
    let gone = Receiver::that(Behaviour::Status(410)).await;
    let mut fields = support::Developer::app_fields(&["read_store"]);
    fields["webhook_url"] = json!(gone.url("/app"));
    let shop = Shop::on(Gateway::start().await, fields).await;
    let grant = shop.authorize().await;
    let status = || async {
        let items = shop.gateway.items_of("webhook_subscription", "APP#").await;
        items[0]["status"].as_str().unwrap().to_owned()
    };
    eventually(DEADLINE, || async { (status().await == "disabled_by_system").then_some(()) }).await;
    let fresh = Receiver::start().await;
    let path = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    let input = json!({"webhook_url": fresh.url("/app")});
    shop.developer.patch(&path).json(input).await.expect(200);
    assert_eq!(status().await, "enabled");
    shop.uninstall(&grant.installation_id).await.expect(200);
    let secret = shop.app.view["webhook_secret"].as_str().unwrap();
    verify(&fresh.wait_for_event("app.uninstalled").await, secret);
}

#[tokio::test]
async fn a_late_response_of_the_former_url_does_not_disable_the_new_one() {
    let former = Receiver::that(Behaviour::Delay(Duration::from_millis(1_500), 410)).await;
    let shop = Shop::with_published_app(&["read_store"]).await;
    let input = json!({"url": former.url("/"), "event_types": ["store.updated"]});
    let owner = shop.owner();
    let made = owner.post(SUBSCRIPTIONS).json(input).await.expect(201).str("/id");
    let rename = async |name: &str| {
        let path = format!("/v1/stores/{}", shop.store.id);
        owner.patch(&path).json(json!({"name": name})).await.expect(200);
    };
    rename("Before").await;
    former.wait_for(1).await;
    let fresh = Receiver::start().await;
    let path = format!("{SUBSCRIPTIONS}/{made}");
    owner.patch(&path).json(json!({"url": fresh.url("/")})).await.expect(200);
    let answered = || async {
        let listed = owner.get(&format!("{DELIVERIES}?subscription_id={made}")).await.expect(200);
        (listed.at("/data/0/last_status_code") == 410).then_some(())
    };
    eventually(DEADLINE, answered).await;
    // By the third, what came of the first has long been told.
    for count in 1..=3 {
        rename(&format!("After {count}")).await;
        fresh.wait_for(count).await;
    }
    let known = owner.get(&path).await.expect(200);
    assert_eq!(known.at("/status"), "enabled");
    assert_eq!(known.at("/stats/consecutive_failures"), 0);
}

#[tokio::test]
async fn an_app_cannot_change_a_subscription_beyond_its_scopes() {
    let shop = Shop::with_published_app(&["read_orders", "write_webhooks"]).await;
    let app = shop.app_client().await;
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["order.created"]});
    let made = app.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let one = format!("{SUBSCRIPTIONS}/{}", made.str("/id"));
    app.patch(&one).json(json!({"description": "Mine"})).await.expect(200);
    let verifier = support::verifier();
    let mut fields = shop.authorize_fields(&verifier);
    fields["scopes"] = json!(["write_webhooks"]);
    let code = shop.authorize_with(fields).await.expect(200).str("/code");
    let redeemed = shop.token(&[
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", support::REDIRECT_URI),
        ("code_verifier", &verifier),
    ]);
    let token = redeemed.await.expect(200).str("/access_token");
    let app = shop.app_server.with_token(&token);
    let patch = app.patch(&one).json(json!({"url": receiver.url("/other")})).await;
    let mut rejected = vec![patch];
    for action in ["secret/rotate", "test", "disable"] {
        rejected.push(app.post(&format!("{one}/{action}")).json(json!({})).await);
    }
    for reply in rejected {
        let rejected = reply.expect(403).problem("insufficient_scope");
        assert_eq!(rejected.str("/required_scope"), "read_orders");
    }
    // What it may no longer change it may still remove.
    app.delete(&one).await.expect(204);
}
