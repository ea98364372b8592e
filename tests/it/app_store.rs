//! The app platform around OAuth: catalogue, submissions, reviews, installations, numbers.

mod account_deletion;
mod approved_apps;
mod bridge;
mod limits;
mod oauth;
mod submissions;
mod suspended_apps;

use std::time::Duration;

use support::{Developer, Gateway, Merchant, Shop, eventually, json, race};

#[tokio::test]
async fn only_published_apps_are_in_the_catalogue() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let draft = shop.developer.create_app(Developer::app_fields(&[])).await;
    let client = shop.gateway.client();
    let list = client.get("/v1/app-store/apps").await.expect(200);
    assert_eq!(list.data().len(), 1);
    assert_eq!(list.str("/data/0/id"), shop.app.id);
    assert_eq!(list.str("/data/0/installs_bucket"), "<10");
    let secret = shop.app.client_secret.clone().unwrap();
    assert!(!list.text.contains(&secret) && !list.text.contains("redirect_uris"), "{}", list.text);
    let view = client.get(&format!("/v1/app-store/apps/{}", shop.app.id)).await.expect(200);
    assert!(view.text.contains("View the store's own data"), "{}", view.text);
    client.get(&format!("/v1/app-store/apps/{}", draft.id)).await.expect(404);
    for (query, count) in
        [("category=marketing", 1), ("category=finance", 0), ("q=an%20APP", 1), ("q=zzz", 0)]
    {
        let list = client.get(&format!("/v1/app-store/apps?{query}")).await.expect(200);
        assert_eq!(list.data().len(), count, "{query}");
    }
    let path = format!("/v1/app-store/developers/apps/{}/unpublish", shop.app.id);
    shop.developer.post(&path).json(json!({})).await.expect(200);
    client.get(&format!("/v1/app-store/apps/{}", shop.app.id)).await.expect(404);
}

#[tokio::test]
async fn a_submission_is_checked_by_the_service_and_approved_by_an_operator() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let operator = support::Operator::sign_up(&gateway).await;
    let mut fields = Developer::app_fields(&["read_store"]);
    fields["redirect_uris"] = json!(["http://127.0.0.1:4000/callback"]);
    let app = developer.create_app(fields).await;
    let path = |rest: &str| format!("/v1/app-store/developers/apps/{}{rest}", app.id);
    developer.post(&path("/publish")).json(json!({})).await.expect(409).problem("not_approved");
    let before = gateway.items_of("submission", "APP#").await.len();
    let input = Developer::submission_fields("1.0.0");
    let rejected = developer.post(&path("/submissions")).json(input.clone()).await.expect(422);
    let rejected = rejected.problem("checks_failed");
    assert!(rejected.text.contains("\"fail\""), "{}", rejected.text);
    assert_eq!(gateway.items_of("submission", "APP#").await.len(), before);
    let mend = json!({"redirect_uris": [support::REDIRECT_URI]});
    developer.patch(&path("")).json(mend).await.expect(200);
    let answers = race(10, || {
        let send = developer.post(&path("/submissions")).json(input.clone());
        async move { send.await }
    })
    .await;
    let open = answers.iter().filter(|answer| answer.status == 201).count();
    let rejected = answers.iter().filter(|answer| answer.status == 409).count();
    assert_eq!((open, rejected), (1, 9));
    let submission = answers.iter().find(|answer| answer.status == 201).unwrap().str("/id");
    let stranger = Merchant::sign_up(&gateway).await;
    let approve = format!("/v1/app-store/submissions/{submission}/approve");
    stranger.post(&approve).json(json!({})).await.expect(403).problem("operator_required");
    let queue = operator.get("/v1/app-store/submissions").await.expect(200);
    assert_eq!(queue.str("/data/0/id"), submission);
    operator.post(&approve).json(json!({})).await.expect(200);
    operator.post(&approve).json(json!({})).await.expect(409).problem("invalid_state_transition");
    developer.post(&path("/publish")).json(json!({})).await.expect(200);
    let same = developer.post(&path("/submissions")).json(input).await;
    assert!(matches!(same.status, 409 | 422), "the version is not greater: {}", same.text);
}

#[tokio::test]
async fn a_store_reviews_an_app_once_and_only_when_installed() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = format!("/v1/app-store/apps/{}/reviews", shop.app.id);
    let review = json!({"rating": 4, "body": "It does what it says."});
    shop.owner().post(&path).json(review.clone()).await.expect(403).problem("not_installed");
    shop.authorize().await;
    let answers = race(20, || {
        let send = shop.owner().post(&path).json(review.clone());
        async move { send.await }
    })
    .await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let rejected =
        answers.iter().filter(|answer| answer.json["code"] == "already_reviewed").count();
    assert_eq!((made, rejected), (1, 19));
    let list = shop.gateway.client().get(&path).await.expect(200);
    assert_eq!((list.data().len(), list.int("/rating/count")), (1, 1));
    let id = list.str("/data/0/id");
    let reply = format!("{path}/{id}/reply");
    shop.developer.post(&reply).json(json!({"body": "Thank you."})).await.expect(200);
    let other = Developer::register(&shop.gateway).await;
    other.post(&reply).json(json!({"body": "Me too."})).await.expect(404);
    let edit = format!("{path}/{id}");
    shop.owner().patch(&edit).json(json!({"rating": 2})).await.expect(200);
    let list = shop.gateway.client().get(&path).await.expect(200);
    assert_eq!(list.at("/rating/avg").as_f64(), Some(2.0));
    shop.owner().delete(&edit).await.expect(204);
    let list = shop.gateway.client().get(&path).await.expect(200);
    assert_eq!((list.data().len(), list.int("/rating/count")), (0, 0));
}

#[tokio::test]
async fn an_installation_waits_for_consent_only_when_scopes_are_requested() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let path = format!("/v1/app-store/apps/{}/install", shop.app.id);
    let input = json!({"store_id": shop.store.id});
    let pending = shop.merchant.post(&path).json(input.clone()).await.expect(201);
    assert_eq!(pending.str("/installation/status"), "pending");
    assert_eq!(pending.at("/authorize/required"), true);
    let grant = shop.authorize().await;
    assert_eq!(grant.installation_id, pending.str("/installation/id"));
    shop.merchant.post(&path).json(input.clone()).await.expect(409).problem("already_installed");
    let bare = shop.developer.publish_app(&shop.operator, &[]).await;
    let bare_path = format!("/v1/app-store/apps/{}/install", bare.id);
    let active = shop.merchant.post(&bare_path).json(input).await.expect(201);
    assert_eq!(active.str("/installation/status"), "active");
    let list = shop.owner().get("/v1/app-store/installations").await.expect(200);
    assert_eq!(list.data().len(), 2);
    let log = format!("/v1/app-store/installations/{}/access-log", grant.installation_id);
    let log = shop.owner().get(&log).await.expect(200);
    let types: Vec<_> = log.data().iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["app.authorized", "app.installed"]);
}

#[tokio::test]
async fn both_client_secrets_work_for_a_day_after_a_rotation() {
    let mut shop = Shop::with_published_app(&["read_store"]).await;
    let path = format!("/v1/app-store/developers/apps/{}/secret/rotate", shop.app.id);
    let old = shop.app.client_secret.clone();
    let rotated = shop.developer.post(&path).json(json!({})).await.expect(200);
    let new = Some(rotated.str("/client_secret"));
    assert_ne!(old, new);
    for secret in [&old, &new] {
        shop.app.client_secret.clone_from(secret);
        shop.redeem(&shop.authorize().await).await.expect(200);
    }
    shop.gateway.advance(Duration::from_hours(24));
    shop.merchant = shop.merchant.sign_in_again().await;
    shop.app.client_secret.clone_from(&old);
    shop.redeem(&shop.authorize().await).await.expect(401).oauth_error("invalid_client");
    shop.app.client_secret = new;
    shop.redeem(&shop.authorize().await).await.expect(200);
}

#[tokio::test]
async fn the_dashboard_counts_each_event_once() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let grant = shop.authorize().await;
    shop.redeem(&grant).await.expect(200);
    shop.uninstall(&grant.installation_id).await.expect(200);
    let totals = eventually(Duration::from_secs(20), || async {
        let reply = shop.developer.get("/v1/app-store/partners/dashboard").await.expect(200);
        let totals = reply.at("/totals").clone();
        // Events are published each on its own: what happened last may be counted first.
        let counted = ["installs", "token_exchanges", "uninstalls"];
        counted.iter().all(|event| totals[event] == 1).then_some(totals)
    })
    .await;
    assert_eq!((&totals["apps"], &totals["active_installs"]), (&json!(1), &json!(0)));
    shop.gateway.sweep().await;
    let again = shop.developer.get("/v1/app-store/partners/dashboard").await.expect(200);
    assert_eq!(again.at("/totals"), &totals);
    let merchant = Merchant::sign_up(&shop.gateway).await;
    merchant
        .get("/v1/app-store/partners/dashboard")
        .await
        .expect(404)
        .problem("developer_profile_not_found");
}
