//! From an upload to what shoppers see, in one walk.

use support::{ThemeShop, ThemeSource, json};

#[tokio::test]
async fn a_theme_goes_from_upload_to_publish_and_rollback() {
    let shop = ThemeShop::with_upload().await;
    shop.storefront_theme().await.expect(404).problem("not_found");
    let installed = shop.post("install", json!({})).await.expect(201);
    assert_eq!(installed.str("/installation/theme"), shop.slug);
    assert_eq!(installed.str("/installation/version"), "1.0.0");
    assert_eq!(installed.str("/installation/status"), "installed");
    assert_eq!(installed.str("/draft/settings/heading"), "Hello");

    let schema = shop.get("schema").await.expect(200);
    assert_eq!(schema.str("/settings_schema/0/settings/0/id"), "color");
    assert_eq!(schema.str("/sections/0/type"), "hero");
    let tag = schema.header("etag").unwrap().to_owned();
    let known = shop.owner.get(&shop.path("schema")).header("if-none-match", &tag).await;
    assert_eq!((known.status, known.text.as_str()), (304, ""));

    let input = json!({
        "settings": {"heading": "Summer", "color": "#ff0000"},
        "sections": {"top": {"type": "hero", "settings": {"title": "Sun"}}}, "order": ["top"],
    });
    let path = shop.path("editor/draft");
    let saved = shop.owner.put(&path).if_match("\"1\"").json(input).await.expect(200);
    assert_eq!(saved.int("/draft/version"), 2);
    assert_eq!(saved.str("/draft/settings/heading"), "Summer");
    assert_eq!(*saved.at("/draft/settings/wide"), json!(false), "a default fills what is left out");

    let preview = shop.post("preview-session", json!({})).await.expect(201);
    let token = preview.str("/preview_token");
    assert_eq!(preview.int("/draft_version"), 2);
    let visitor = shop.gateway.client();
    let seen = visitor.get(&shop.front("theme")).header("x-service-preview-token", &token).await;
    let seen = seen.expect(200);
    assert_eq!(seen.str("/settings/heading"), "Summer");
    assert_eq!(seen.header("cache-control"), Some("private, no-store"));
    shop.storefront_theme().await.expect(404);

    let published = shop.post("publish", json!({"draft_version": 2, "message": "Sun"})).await;
    let published = published.expect(201);
    assert_eq!(published.int("/release/number"), 1);
    let digest = published.str("/release/content_sha256");
    assert_eq!(seen.str("/content_sha256"), digest, "what was previewed is what is published");
    let shown = shop.storefront_theme().await.expect(200);
    assert_eq!((shown.int("/release"), shown.str("/content_sha256")), (1, digest.clone()));
    assert_eq!(shown.str("/sections/top/settings/title"), "Sun");
    assert_eq!(shown.header("cache-control"), Some("public, max-age=30"));
    let page = visitor.get(&format!("/v1/storefront/{}", shop.store.subdomain)).await.expect(200);
    assert_eq!(page.at("/theme"), &json!({"slug": shop.slug, "release": 1}));
    assert_eq!(page.str("/theme_settings/heading"), "Summer");
    let lookup = format!("/v1/storefront/lookup?subdomain={}", shop.store.subdomain);
    let lookup = visitor.get(&lookup).await.expect(200);
    assert_eq!(lookup.at("/theme"), page.at("/theme"));

    assert_eq!(shop.publish("Winter").await.int("/release/number"), 2);
    assert_eq!(shop.storefront_theme().await.expect(200).str("/settings/heading"), "Winter");
    let back = shop.post("rollback", json!({"release": 1})).await.expect(201);
    assert_eq!((back.int("/release/number"), back.int("/release/rolled_back_from")), (3, 1));
    assert_eq!(back.str("/release/content_sha256"), digest);
    let again = shop.storefront_theme().await.expect(200);
    assert_eq!((again.int("/release"), again.str("/content_sha256")), (3, digest));
    assert_eq!(again.at("/settings"), shown.at("/settings"));
    assert_eq!(again.at("/files"), shown.at("/files"));
}

#[tokio::test]
async fn theme_files_are_served_by_digest_and_cached_for_a_year() {
    let shop = ThemeShop::open().await;
    shop.publish("Hello").await;
    let shown = shop.storefront_theme().await.expect(200);
    let files = shown.at("/files").as_array().unwrap().clone();
    assert_eq!(files.len(), 7);
    let css = files.iter().find(|file| file["path"] == "assets/theme.css").unwrap();
    let path = shop.front(&format!("theme/files/{}", css["sha256"].as_str().unwrap()));
    assert!(css["url"].as_str().unwrap().ends_with(&path));
    let visitor = shop.gateway.client();
    let file = visitor.get(&path).await.expect(200);
    assert_eq!(file.text, "body { margin: 0 }");
    assert_eq!(file.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let tag = file.header("etag").unwrap().to_owned();
    assert_eq!(visitor.get(&path).header("if-none-match", &tag).await.status, 304);
    let unknown = shop.front(&format!("theme/files/{}", "0".repeat(64)));
    visitor.get(&unknown).await.expect(404).problem("not_found");
    visitor.get(&shop.front("theme/files/x")).await.expect(404).problem("not_found");

    // A page that was made of the release before may still name its files.
    let next = ThemeSource { css: "body { margin: 1px }".into(), ..ThemeSource::new(&shop.slug) };
    shop.upload(&next.version("1.1.0")).await.expect(201);
    shop.post("upgrade", json!({})).await.expect(200);
    shop.publish("Hello").await;
    let after = shop.storefront_theme().await.expect(200);
    assert!(!after.text.contains(css["sha256"].as_str().unwrap()));
    visitor.get(&path).await.expect(200);
}

#[tokio::test]
async fn an_upgrade_reports_schema_changes_and_keeps_the_live_release() {
    let shop = ThemeShop::open().await;
    shop.publish("Kept").await;
    let mut next = ThemeSource::new(&shop.slug).version("1.1.0");
    let settings = next.schema[1]["settings"].as_array_mut().unwrap();
    settings.push(json!({"type": "text", "id": "tagline", "label": "Tagline", "default": "New"}));
    shop.upload(&next).await.expect(201);
    let plan = shop.post("upgrade", json!({"dry_run": true})).await.expect(200);
    assert_eq!((plan.str("/from"), plan.str("/to")), ("1.0.0".into(), "1.1.0".into()));
    let added = json!({"place": "settings.tagline", "change": "added"});
    assert!(plan.at("/schema_diff/changes").as_array().unwrap().contains(&added), "{}", plan.text);
    assert_eq!(plan.str("/installation/version"), "1.0.0");
    assert_eq!(shop.get("editor").await.expect(200).str("/schema_version"), "1.0.0");

    let done = shop.post("upgrade", json!({})).await.expect(200);
    assert_eq!(done.str("/installation/version"), "1.1.0");
    assert_eq!(done.str("/draft/settings/heading"), "Kept");
    assert_eq!(done.str("/draft/settings/tagline"), "New");
    let editor = shop.get("editor").await.expect(200);
    assert_eq!(editor.str("/schema_version"), "1.1.0");
    assert_eq!(editor.str("/published/theme_version"), "1.0.0");
    assert_eq!(shop.storefront_theme().await.expect(200).str("/version"), "1.0.0");
    let version = editor.int("/draft/version");
    shop.post("publish", json!({"draft_version": version})).await.expect(201);
    assert_eq!(shop.storefront_theme().await.expect(200).str("/version"), "1.1.0");
    // Back to what was, files and all.
    shop.post("rollback", json!({"release": 1})).await.expect(201);
    assert_eq!(shop.storefront_theme().await.expect(200).str("/version"), "1.0.0");
}

#[tokio::test]
async fn a_published_theme_cannot_be_uninstalled() {
    let shop = ThemeShop::open().await;
    shop.post("install", json!({})).await.expect(409).problem("already_installed");
    shop.publish("First").await;
    shop.post("uninstall", json!({})).await.expect(409).problem("theme_is_published");
    // Another theme takes its place.
    let other = support::unique("wool");
    shop.upload(&ThemeSource::new(&other)).await.expect(201);
    let of_other = |rest: &str| format!("/v1/themes/{other}/{rest}");
    let input = json!({"keep_settings_from": shop.slug});
    let installed = shop.owner.post(&of_other("install")).json(input).await.expect(201);
    assert_eq!(installed.str("/draft/settings/heading"), "First");
    let input = json!({"draft_version": 1});
    shop.owner.post(&of_other("publish")).json(input).await.expect(201);
    let listed = shop.owner.get("/v1/themes?installed=true").await.expect(200);
    assert_eq!(listed.data().len(), 2);
    let gone = shop.post("uninstall", json!({})).await.expect(200);
    assert_eq!(gone.str("/installation/status"), "uninstalled");
    for rest in ["editor", "schema"] {
        let reply = shop.get(rest).await;
        assert_eq!(reply.status == 404, rest == "editor", "{rest}: {}", reply.text);
    }
    shop.post("uninstall", json!({})).await.expect(404).problem("theme_not_installed");
    shop.owner.put(&shop.path("editor/draft")).json(json!({})).await.expect(404);
    let listed = shop.owner.get("/v1/themes?installed=true").await.expect(200);
    assert_eq!(listed.data().len(), 1);
    // Its releases are numbered on, and what was arranged can be taken over.
    let input = json!({"keep_settings_from": shop.slug});
    let back = shop.post("install", input).await.expect(201);
    assert_eq!(back.str("/draft/settings/heading"), "First");
    assert_eq!(shop.publish("Second").await.int("/release/number"), 2);
    let events = shop.gateway.all_events().await;
    let named = |name: &str| events.iter().filter(|event| event.name == name).count();
    assert_eq!((named("theme.installed"), named("theme.uninstalled")), (3, 1));
    assert_eq!(named("theme.published"), 3);
}

#[tokio::test]
async fn a_store_has_at_most_twenty_themes() {
    let shop = ThemeShop::open().await;
    let mut rejected = 0;
    for _ in 0..20 {
        let slug = support::unique("more");
        shop.upload(&ThemeSource::new(&slug)).await.expect(201);
        shop.gateway.advance(std::time::Duration::from_secs(2));
        let reply = shop.owner.post(&format!("/v1/themes/{slug}/install")).json(json!({})).await;
        if reply.status == 409 {
            assert_eq!(reply.int("/limit"), 20);
            reply.problem("theme_limit");
            rejected += 1;
        }
    }
    assert_eq!(rejected, 1);
}
