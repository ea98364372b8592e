//! The store as a page of its theme, as the local system shows it.

use std::time::Duration;

use support::clock::STORE_CACHE;
use support::{Reply, ThemeShop, ThemeSource, json, upload, zip};

/// What a page takes at most, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

fn page(shop: &ThemeShop) -> String {
    format!("/_local/shop/{}", shop.store.subdomain)
}

/// The page as anybody sees it, a moment later.
async fn seen(shop: &ThemeShop, rest: &str) -> Reply {
    shop.gateway.advance(STORE_CACHE);
    shop.gateway.client().get(&format!("{}{rest}", page(shop))).await
}

/// The page under a preview, whose token a browser keeps as a cookie.
async fn previewed(shop: &ThemeShop, token: &str) -> Reply {
    let led = seen(shop, &format!("?preview_token={token}")).await.expect(303);
    assert_eq!(led.header("location"), Some(page(shop).as_str()));
    let kept = led.header("set-cookie").expect("a cookie");
    assert!(kept.contains("HttpOnly; SameSite=Lax"), "{kept}");
    assert!(kept.contains(&format!("Path={};", page(shop))), "{kept}");
    let pair = kept.split(';').next().expect("a pair");
    shop.gateway.client().get(&page(shop)).header("cookie", pair).await
}

/// A store that has published a theme whose layout is this.
async fn with_layout(layout: &str) -> ThemeShop {
    let shop = ThemeShop::with_upload().await;
    let source = ThemeSource::new(&shop.slug).version("2.0.0");
    let files = source.files().into_iter().map(|(path, content)| {
        let is_layout = path == "layout/theme.liquid";
        (path, if is_layout { layout.as_bytes().to_vec() } else { content })
    });
    let files: Vec<(String, Vec<u8>)> = files.collect();
    upload(&shop.merchant, zip(&files)).await.expect(201);
    shop.post("install", json!({})).await.expect(201);
    shop.publish("Ahoy <b>there</b>").await;
    shop
}

const LAYOUT: &str = "<html><head>{{ 'theme.css' | asset_url | stylesheet_tag }}</head>\
    <body style='color: {{ settings.color }}'><h1>{{ settings.heading }}</h1>{{ content_for_layout }}\
    <a href='{{ routes.collections_url }}'>all</a></body></html>";

#[tokio::test]
async fn a_rendered_page_follows_publish_and_rollback() {
    let shop = with_layout(LAYOUT).await;
    let first = seen(&shop, "").await.expect(200);
    assert!(first.text.contains("<h1>Ahoy <b>there</b></h1>"), "{}", first.text);
    assert!(first.text.contains("color: #112233"), "{}", first.text);
    assert_eq!(first.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = first.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.ends_with("sandbox"), "{policy}");
    assert!(!policy.contains("script-src"), "{policy}");

    let version = shop.draft("Draft").await;
    let begun = shop.post("preview-session", json!({"draft_version": version})).await.expect(201);
    let token = begun.str("/preview_token");
    let drafted = previewed(&shop, &token).await.expect(200);
    assert!(drafted.text.contains("<h1>Draft</h1>"), "{}", drafted.text);
    let links = format!("{}/collections'", page(&shop));
    assert!(drafted.text.contains(&links), "{}", drafted.text);
    assert_eq!(seen(&shop, "").await.expect(200).text, first.text);
    seen(&shop, "?preview_token=no").await.expect(400);

    shop.post("publish", json!({"draft_version": version})).await.expect(201);
    assert!(seen(&shop, "").await.expect(200).text.contains("<h1>Draft</h1>"));
    shop.post("rollback", json!({"release": 1})).await.expect(201);
    assert_eq!(seen(&shop, "").await.expect(200).text, first.text);

    let style = first.text.split("href=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let style = shop.gateway.client().get(style).await.expect(200);
    assert_eq!(style.text, "body { margin: 0 }");
}

/// Whatever a theme writes into the address of a picture, a style or a link, the token is not in it.
#[tokio::test]
async fn a_previewed_page_does_not_contain_its_preview_token() {
    let layout = "<html><head>{{ 'theme.css' | asset_url | stylesheet_tag }}</head><body>\
        <img src='https://evil.example/{{ routes.root_url | url_encode }}\
        {{ 'theme.css' | asset_url | url_encode }}{{ request.path }}{{ request.origin }}\
        {{ request | json }}{{ shop | json }}{{ canonical_url }}{{ page_title }}'>\
        {{ content_for_layout }}<a href='{{ routes.collections_url }}'>all</a></body></html>";
    let shop = with_layout(layout).await;
    // A draft of another version, whose files nobody else sees.
    let mut source = ThemeSource::new(&shop.slug).version("3.0.0");
    source.css = "body { margin: 3px }".into();
    let files = source.files().into_iter().map(|(path, content)| {
        let is_layout = path == "layout/theme.liquid";
        (path, if is_layout { layout.as_bytes().to_vec() } else { content })
    });
    let files: Vec<(String, Vec<u8>)> = files.collect();
    upload(&shop.merchant, zip(&files)).await.expect(201);
    shop.post("upgrade", json!({"version": "3.0.0"})).await.expect(200);
    let version = shop.draft("Secret").await;
    let begun = shop.post("preview-session", json!({"draft_version": version})).await.expect(201);
    let token = begun.str("/preview_token");
    let drafted = previewed(&shop, &token).await.expect(200);
    let secret = token.strip_prefix("thp_").expect("a token");
    for part in [&token, &secret[..20], &secret[secret.len() - 20..], "preview_token"] {
        assert!(!drafted.text.contains(part), "{part}: {}", drafted.text);
    }
    // Its style is there all the same, for whoever knows its digest.
    let style = drafted.text.split("href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let style = style.expect("a style sheet");
    assert!(style.starts_with(&page(&shop)), "{style}");
    let sheet = shop.gateway.client().get(style).await.expect(200);
    assert_eq!(sheet.text, "body { margin: 3px }");
    assert_eq!(sheet.header("referrer-policy"), Some("no-referrer"));
    let unknown = format!("{}/files/{}", page(&shop), "0".repeat(64));
    shop.gateway.client().get(&unknown).await.expect(404);
    // What is left, or over, is not asked for again.
    let left = seen(&shop, "?preview_token=").await.expect(303);
    assert!(left.header("set-cookie").expect("a cookie").contains("Max-Age=0"));
    let over = shop.gateway.client().get(&page(&shop)).header("cookie", "preview_token=no");
    let over = over.await.expect(400);
    assert!(over.header("set-cookie").expect("a cookie").contains("Max-Age=0"));
}

#[tokio::test]
async fn a_page_without_a_theme_or_store_answers_404() {
    let shop = ThemeShop::with_upload().await;
    let none = seen(&shop, "").await.expect(404);
    assert!(none.text.starts_with("<!DOCTYPE html>") && none.text.contains("style.css"));
    shop.gateway.client().get("/_local/shop/no-such-store").await.expect(404);
}

#[tokio::test]
async fn a_hostile_template_is_stopped_with_a_finding() {
    for (layout, code) in [
        ("{% for i in (1..1000000000) %}{% endfor %}", "too_many_steps"),
        (
            "{% assign s = 'xxxxxxxx' %}{% for i in (1..99) %}{% assign s = s | append: s %}{% endfor %}",
            "memory_exceeded",
        ),
        (
            "{% section 'hero' %}{% for i in (1..200000) %}0123456789012345678901234567890123456789{% endfor %}",
            "output_too_large",
        ),
        ("{% if true %}", "syntax"),
    ] {
        let shop = with_layout(layout).await;
        let answered = tokio::time::timeout(PATIENCE, seen(&shop, "")).await;
        let shown = answered.expect("the page ends in time").expect(422);
        assert!(shown.text.contains(code), "{layout}: {}", shown.text);
        assert!(shown.text.contains("layout/theme.liquid") || code == "syntax", "{}", shown.text);
    }
}
