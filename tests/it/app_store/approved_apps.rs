//! What was approved is what merchants get, until another version is.

use support::{Developer, Gateway, Operator, Shop, Value, json, unique};

const NEXT: &str = "https://next.example.com/callback";

/// What a developer would have an approved app be.
fn changes(redirect_uri: &str) -> Value {
    json!({
        "scopes": ["read_store", "write_products"], "redirect_uris": [redirect_uri],
        "app_url": "https://next.example.com", "embedded": false, "require_pkce": false,
    })
}

fn path(app: &str) -> String {
    format!("/v1/app-store/developers/apps/{app}")
}

async fn submit(developer: &Developer, app: &str, version: &str) -> String {
    let input = Developer::submission_fields(version);
    let made = developer.post(&format!("{}/submissions", path(app))).json(input).await;
    made.expect(201).str("/id")
}

async fn approve(operator: &Operator, submission: &str) {
    let path = format!("/v1/app-store/submissions/{submission}/approve");
    operator.post(&path).json(json!({})).await.expect(200);
}

/// An authorization that sends the merchant there: its status.
async fn authorize_to(shop: &Shop, redirect_uri: &str) -> u16 {
    let mut fields = shop.authorize_fields(&support::verifier());
    fields["redirect_uri"] = json!(redirect_uri);
    shop.authorize_with(fields).await.status
}

async fn nothing_has_changed(shop: &Shop) {
    assert_eq!(authorize_to(shop, NEXT).await, 400);
    assert_eq!(authorize_to(shop, support::REDIRECT_URI).await, 200);
    let mut more = shop.authorize_fields(&support::verifier());
    more["scope"] = json!("write_products");
    shop.authorize_with(more).await.expect(400).problem("invalid_scope");
    let mut bare = shop.authorize_fields(&support::verifier());
    bare["code_challenge"] = Value::Null;
    shop.authorize_with(bare).await.expect(400).problem("invalid_request");
    let public = format!("/v1/app-store/apps/{}", shop.app.id);
    let shown = shop.gateway.client().get(&public).await.expect(200);
    assert_eq!(shown.at("/scopes"), &json!(["read_store"]));
    assert_eq!(shown.str("/app_url"), "https://app.example.com");
    assert_eq!(shown.at("/embedded"), true);
}

#[tokio::test]
async fn changes_to_an_approved_app_apply_after_approval() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let own = path(&shop.app.id);
    let changed = shop.developer.patch(&own).json(changes(NEXT)).await.expect(200);
    assert_eq!(changed.at("/scopes"), &json!(["read_store"]));
    assert_eq!(changed.at("/redirect_uris"), &json!([support::REDIRECT_URI]));
    assert_eq!(changed.at("/proposed/redirect_uris"), &json!([NEXT]));
    assert_eq!(changed.at("/proposed/scopes"), &json!(["read_store", "write_products"]));
    nothing_has_changed(&shop).await;
    // Neither does a detour by way of unpublishing change it.
    shop.developer.post(&format!("{own}/unpublish")).json(json!({})).await.expect(200);
    shop.developer.patch(&own).json(json!({"redirect_uris": [NEXT]})).await.expect(200);
    shop.developer.post(&format!("{own}/publish")).json(json!({})).await.expect(200);
    nothing_has_changed(&shop).await;
    // What is reviewed is what was submitted, whatever is proposed meanwhile.
    let submission = submit(&shop.developer, &shop.app.id, "2.0.0").await;
    let later = "https://later.example.com/callback";
    shop.developer.patch(&own).json(json!({"redirect_uris": [later]})).await.expect(200);
    let queue = shop.operator.get("/v1/app-store/submissions").await.expect(200);
    assert_eq!(queue.at("/data/0/configuration/redirect_uris"), &json!([NEXT]));
    nothing_has_changed(&shop).await;
    approve(&shop.operator, &submission).await;
    for (uri, status) in [(support::REDIRECT_URI, 400), (later, 400), (NEXT, 200)] {
        assert_eq!(authorize_to(&shop, uri).await, status, "{uri}");
    }
    let shown = shop.developer.get(&own).await.expect(200);
    assert_eq!(shown.at("/scopes"), &json!(["read_store", "write_products"]));
    assert_eq!(shown.at("/require_pkce"), false);
    assert_eq!(shown.at("/proposed/redirect_uris"), &json!([later]), "not reviewed yet");
    let same = json!({"redirect_uris": [NEXT]});
    let same = shop.developer.patch(&own).json(same).await.expect(200);
    assert_eq!(same.at("/proposed"), &Value::Null, "nothing differs");
}

#[tokio::test]
async fn a_first_approval_applies_the_submitted_configuration() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let operator = Operator::sign_up(&gateway).await;
    let app = developer.create_app(Developer::app_fields(&["read_store"])).await;
    let submission = submit(&developer, &app.id, "1.0.0").await;
    developer.patch(&path(&app.id)).json(changes(NEXT)).await.expect(200);
    approve(&operator, &submission).await;
    let published = developer.post(&format!("{}/publish", path(&app.id))).json(json!({})).await;
    let published = published.expect(200);
    assert_eq!(published.at("/redirect_uris"), &json!([support::REDIRECT_URI]));
    assert_eq!(published.at("/proposed/redirect_uris"), &json!([NEXT]));
}

#[tokio::test]
async fn app_listing_changes_apply_without_review() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let own = path(&shop.app.id);
    let name = unique("Better");
    let text = "It still does one thing, and it does that one thing far better than before.";
    let listing = json!({
        "tagline": "Better than ever.", "description": text, "pricing": "9 a month",
        "icon_url": "https://app.example.com/better.png", "support_url": null,
    });
    let input = json!({"name": name, "listing": listing});
    let changed = shop.developer.patch(&own).json(input).await.expect(200);
    assert_eq!(changed.at("/proposed"), &Value::Null);
    let public = format!("/v1/app-store/apps/{}", shop.app.id);
    let shown = shop.gateway.client().get(&public).await.expect(200);
    assert_eq!((shown.str("/name"), shown.str("/tagline")), (name, "Better than ever.".into()));
    assert_eq!(
        (shown.str("/description"), shown.str("/pricing")),
        (text.into(), "9 a month".into())
    );
    assert_eq!(shown.str("/icon"), "https://app.example.com/better.png");
    assert_eq!(shown.at("/support_url"), &Value::Null);
    assert_eq!(shown.str("/approved_version"), "1.0.0");
    let short = json!({"listing": {"description": "Short.", "category": "finance"}});
    let rejected = shop.developer.patch(&own).json(short).await.expect(422);
    assert!(rejected.text.contains("/listing/category"), "{}", rejected.text);
    let short = json!({"listing": {
        "description": "Short.", "privacy_policy_url": "http://localhost/privacy",
    }});
    let rejected = shop.developer.patch(&own).json(short).await.expect(422);
    assert_eq!(
        rejected.field_errors(),
        [
            ("/listing/description".into(), "too_short".into()),
            ("/listing/privacy_policy_url".into(), "invalid_url".into()),
        ]
    );
    let draft = shop.developer.create_app(Developer::app_fields(&[])).await;
    let input = json!({"listing": {"tagline": "Soon."}});
    let rejected = shop.developer.patch(&path(&draft.id)).json(input).await;
    rejected.expect(409).problem("not_approved");
    let rotate = format!("{own}/secret/rotate");
    shop.developer.post(&rotate).json(json!({})).await.expect(200);
}

#[tokio::test]
async fn requiring_pkce_applies_at_once_and_relaxing_it_needs_review() {
    let mut fields = Developer::app_fields(&["read_store"]);
    fields["require_pkce"] = json!(false);
    let shop = Shop::on(Gateway::start().await, fields).await;
    let mut bare = shop.authorize_fields(&support::verifier());
    bare["code_challenge"] = Value::Null;
    bare["code_challenge_method"] = Value::Null;
    shop.authorize_with(bare.clone()).await.expect(200);
    let own = path(&shop.app.id);
    let submission = submit(&shop.developer, &shop.app.id, "1.1.0").await;
    let stricter = shop.developer.patch(&own).json(json!({"require_pkce": true})).await;
    assert_eq!(stricter.expect(200).at("/require_pkce"), true);
    shop.authorize_with(bare.clone()).await.expect(400).problem("invalid_request");
    // An approval of what was submitted before does not take it back.
    approve(&shop.operator, &submission).await;
    shop.authorize_with(bare.clone()).await.expect(400).problem("invalid_request");
    let laxer = shop.developer.patch(&own).json(json!({"require_pkce": false})).await.expect(200);
    assert_eq!(laxer.at("/require_pkce"), true);
    shop.authorize_with(bare).await.expect(400).problem("invalid_request");
}

#[tokio::test]
async fn an_app_on_loopback_is_published_and_installed_in_a_local_system_alone() {
    for url in ["http://127.0.0.1:4999", "http://app.localhost:4999"] {
        let mut fields = Developer::app_fields(&["read_store"]);
        fields["app_url"] = json!(url);
        fields["redirect_uris"] = json!([format!("{url}/callback")]);
        let local = Gateway::start_with(|options| options.embedded.loopback_apps = true).await;
        let shop = Shop::on(local, fields.clone()).await;
        assert_eq!(authorize_to(&shop, &format!("{url}/callback")).await, 200);

        let deployed = Gateway::start().await;
        let developer = Developer::register(&deployed).await;
        let draft = developer.create_app(fields).await;
        let input = Developer::submission_fields("1.0.0");
        let submitted =
            developer.post(&format!("{}/submissions", path(&draft.id))).json(input).await;
        let rejected = submitted.expect(422);
        assert_eq!(rejected.str("/code"), "checks_failed");
        for check in ["redirect_uris_are_public", "app_url_is_public"] {
            let found = rejected.at("/checks").as_array().unwrap().iter();
            let failed = found.clone().any(|it| it["check"] == check && it["verdict"] == "fail");
            assert!(failed, "{check}: {}", rejected.text);
        }
    }
}
