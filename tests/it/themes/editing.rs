//! Drafts: whole, checked, and never written over unseen.

use support::{Merchant, Shop, ThemeShop, ThemeSource, json, race, unique, upload};

#[tokio::test]
async fn one_of_two_parallel_draft_saves_is_rejected() {
    let shop = ThemeShop::open().await;
    let path = shop.path("editor/draft");
    let save = |heading: String| {
        let (owner, path) = (shop.owner.elsewhere(), path.clone());
        async move {
            let input = json!({"settings": {"heading": heading}});
            owner.put(&path).if_match("\"v1\"").json(input).await
        }
    };
    let names = std::sync::atomic::AtomicU32::new(0);
    let next = || names.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let replies = race(2, || save(format!("Editor {}", next()))).await;
    let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    let told = replies.iter().find(|reply| reply.status == 412).unwrap();
    assert_eq!(told.int("/current_version"), 2);
    let saved = replies.iter().find(|reply| reply.status == 200).unwrap();
    let editor = shop.get("editor").await.expect(200);
    assert_eq!(editor.at("/draft"), saved.at("/draft"));
    assert_eq!(editor.header("etag"), Some("\"2\""));
}

#[tokio::test]
async fn a_draft_save_compares_the_version_in_the_body() {
    let shop = ThemeShop::open().await;
    let path = shop.path("editor/draft");
    let stale = json!({"settings": {}, "version": 7});
    let told = shop.owner.put(&path).json(stale).await.expect(409);
    assert_eq!(told.int("/current_version"), 1);
    told.problem("draft_conflict");
    let input = json!({"settings": {}, "version": 1});
    assert_eq!(shop.owner.put(&path).json(input).await.expect(200).int("/draft/version"), 2);
}

#[tokio::test]
async fn all_invalid_theme_settings_are_reported_by_pointer() {
    let shop = ThemeShop::open().await;
    let path = shop.path("editor/draft");
    let input = json!({
        "settings": {"color": "red; } body { display: none", "wide": "yes",
            "link": "javascript:alert(1)"},
        "sections": {"a": {"type": "nothing"}}, "order": ["a", "b"],
    });
    let rejected = shop.owner.put(&path).json(input).await.expect(422);
    let pointers: Vec<&str> = rejected
        .at("/errors")
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["pointer"].as_str().unwrap())
        .collect();
    for place in ["/settings/color", "/settings/wide", "/settings/link", "/sections/a/type"] {
        assert!(pointers.contains(&place), "{place} is not among {pointers:?}");
    }
    let editor = shop.get("editor").await.expect(200);
    assert_eq!(editor.int("/draft/version"), 1, "nothing is written");
}

#[tokio::test]
async fn a_draft_over_256_kib_is_rejected() {
    let shop = ThemeShop::open().await;
    let path = shop.path("editor/draft");
    let input = json!({"settings": {"heading": "x".repeat(256 * 1024)}});
    let rejected = shop.owner.put(&path).json(input).await.expect(413);
    assert_eq!(rejected.int("/limit"), 262_144);
    rejected.problem("body_too_large");
}

#[tokio::test]
async fn a_deleted_draft_rejects_saves_of_its_old_version() {
    let shop = ThemeShop::open().await;
    let path = shop.path("editor/draft");
    shop.owner.delete(&path).if_match("\"9\"").await.expect(412).problem("precondition_failed");
    shop.owner.delete(&path).await.expect(204);
    assert!(shop.get("editor").await.expect(200).at("/draft").is_null());
    shop.owner.delete(&path).await.expect(409).problem("no_draft");
    shop.post("preview-session", json!({})).await.expect(409).problem("no_draft");
    shop.post("publish", json!({"draft_version": 1})).await.expect(409).problem("no_draft");
    // Who still has the first open is told.
    let stale = shop.owner.put(&path).if_match("\"1\"").json(json!({})).await.expect(412);
    assert_eq!(stale.int("/current_version"), 2);
    let anew = shop.owner.put(&path).if_match("\"2\"").json(json!({})).await.expect(200);
    assert_eq!(anew.int("/draft/version"), 3);
}

#[tokio::test]
async fn an_app_needs_write_themes_to_save_drafts() {
    let shop = Shop::with_published_app(&["read_themes"]).await;
    let slug = unique("linen");
    upload(&shop.merchant, ThemeSource::new(&slug).zip()).await.expect(201);
    shop.authorize().await;
    let (owner, app) = (shop.owner(), shop.app_client().await);
    let path = |rest: &str| format!("/v1/themes/{slug}/{rest}");
    owner.post(&path("install")).json(json!({})).await.expect(201);
    let editor = app.get(&path("editor")).await.expect(200);
    assert_eq!(editor.at("/permissions"), &json!(["read"]));
    let rejected = app.put(&path("editor/draft")).json(json!({})).await.expect(403);
    rejected.problem("insufficient_scope");
    let begun = owner.post(&path("preview-session")).json(json!({})).await.expect(201).str("/id");
    app.get(&path(&format!("preview-session/{begun}"))).await.expect(200);
}

#[tokio::test]
async fn another_stores_private_theme_is_not_found() {
    let shop = ThemeShop::open().await;
    shop.publish("Hello").await;
    let stranger = Merchant::sign_up(&shop.gateway).await;
    let store = stranger.open_shop().await;
    let other = stranger.at(&store);
    for rest in ["editor", "schema", "releases/1"] {
        other.get(&shop.path(rest)).await.expect(404);
    }
    other.post(&shop.path("install")).json(json!({})).await.expect(404).problem("not_found");
    assert!(other.get(&shop.path("releases")).await.expect(200).data().is_empty());
}
