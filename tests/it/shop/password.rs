//! A shop that asks for a password.

use reqwest::Method;
use support::clock::STORE_CACHE;
use support::{Browser, Market, Value, account_theme, json};

use super::{shop, shop_with};

const SECRET: &str = "Open Sesame 7";

/// Changes the settings of the market's shop.
async fn set(market: &Market, shop: Value) -> support::Reply {
    let path = format!("/v1/stores/{}/settings", market.store.id);
    let reply = market.owner.patch(&path).json(json!({ "shop": shop })).await;
    market.gateway.advance(STORE_CACHE);
    reply
}

async fn protect(market: &Market) {
    let settings = json!({
        "password_protected": true, "password": SECRET, "password_message": "Back in <May>",
    });
    let reply = set(market, settings).await.expect(200);
    let shown = json!({
        "password_protected": true, "has_password": true, "password_message": "Back in <May>",
    });
    assert_eq!(*reply.at("/shop"), shown);
}

/// That every page leads to the one that asks.
async fn is_led_away(browser: &mut Browser) {
    for path in [
        "/",
        "/collections/all",
        "/products/nothing",
        "/search?q=x",
        "/cart",
        "/cart.js",
        "/checkout",
        "/account",
        "/account/login",
        "/orders/ord_1",
        "/pages/contact",
        "/policies/privacy",
        "/recommendations/products?product_id=x",
        "/search/suggest.json?q=x",
        "/?section_id=header",
        "/?preview_token=nonsense",
        "/assets/not/one/of/the/files",
        "/media/x/y",
        "/no-such-page",
    ] {
        let request = browser.request(Method::GET, path);
        let led = browser.send(request, path).await.expect(302);
        assert_eq!(led.header("location"), "/password", "{path}");
        assert_eq!(led.header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test]
async fn a_protected_shop_is_shown_to_who_knows_its_password() {
    let (market, mut browser) = shop().await;
    market.stock(1_000, 9).await;
    let open = browser.open("/").await.expect(200);
    assert!(open.header("cache-control").contains("public"));
    protect(&market).await;
    // A page that was kept for everybody is not shown any more.
    is_led_away(&mut browser).await;
    let page = browser.open("/").await.expect(200).shows("Back in &lt;May&gt;");
    assert_eq!(page.path, "/password");
    assert_eq!(page.header("cache-control"), "private, no-store");
    let robots = browser.open("/robots.txt").await.expect(200).lacks("Sitemap");
    assert_eq!(robots.text, "User-agent: *\nDisallow: /\n");
    browser.open("/sitemap.xml").await.expect(200).lacks("<loc>");
    let wrong = browser.submit("/password", &[("password", "Open Sesame")]).await.expect(422);
    wrong.shows("not right").lacks("Open Sesame");
    browser.cookies.insert("shop_access".to_owned(), "9999999999999.forged".to_owned());
    is_led_away(&mut browser).await;
    let page = browser.submit("/password", &[("password", SECRET)]).await.expect(200);
    assert_eq!(page.path, "/");
    assert_eq!(page.header("cache-control"), "private, no-store");
    browser.open("/collections/all").await.expect(200);
    browser.fetch("/cart.js").await.expect(200);
    // Nobody else sees what one visitor has opened.
    is_led_away(&mut market.browser()).await;
    // The API is not affected.
    let front = format!("/v1/storefront/{}/products", market.store.subdomain);
    market.gateway.client().get(&front).await.expect(200);
    // Another password ends what the former one has opened, also if it is the same again.
    set(&market, json!({"password": SECRET})).await.expect(200);
    is_led_away(&mut browser).await;
    set(&market, json!({"password_protected": false})).await.expect(200);
    browser.open("/").await.expect(200);
    assert_eq!(browser.open("/password").await.expect(200).path, "/");
}

#[tokio::test]
async fn passwords_are_guessed_slowly() {
    let (market, mut browser) = shop().await;
    protect(&market).await;
    let mut shown = Vec::new();
    for _ in 0..8 {
        shown.push(browser.submit("/password", &[("password", "wrong")]).await);
    }
    assert!(shown.iter().take(5).all(|page| page.status == 422), "{shown:?}");
    let rejected = shown.pop().unwrap().expect(429).shows("Too many attempts");
    assert!(rejected.header("retry-after").parse::<u32>().is_ok());
    // Another network is not slowed down by it.
    let mut other = market.browser();
    other.submit("/password", &[("password", SECRET)]).await.expect(200);
    let form = other.request(Method::POST, "/password").header("sec-fetch-site", "cross-site");
    other.send(form.form(&[("password", SECRET)]), "/password").await.expect(403);
    market.gateway.advance(std::time::Duration::from_mins(1));
    browser.submit("/password", &[("password", SECRET)]).await.expect(200);
}

#[tokio::test]
async fn a_theme_shows_the_password_page_in_its_own_layout() {
    let (market, mut browser) = shop_with(account_theme).await;
    protect(&market).await;
    let page = browser.open("/").await.expect(200).shows("<body class=\"closed\">");
    page.shows("<h1>Soon</h1>").shows("Back in &lt;May&gt;").shows("action=\"/password\"");
    let page = browser.submit("/password", &[("password", "wrong one")]).await.expect(422);
    page.shows("<li>This password is not right.</li>").lacks("wrong one");
    browser.submit("/password", &[("password", SECRET)]).await.expect(200).shows("Welcome");
}

#[tokio::test]
async fn a_preview_passes_the_password_page() {
    let mut own = String::new();
    let (market, mut browser) = shop_with(|slug| {
        slug.clone_into(&mut own);
        account_theme(slug)
    })
    .await;
    protect(&market).await;
    let path = |rest: &str| format!("/v1/themes/{own}/{rest}");
    let sections = json!({"hero": {"type": "hero"}});
    let draft = json!({"settings": {"heading": "Hello"}, "sections": sections, "order": ["hero"]});
    market.owner.put(&path("editor/draft")).json(draft).await.expect(200);
    let preview = market.owner.post(&path("preview-session")).json(json!({})).await.expect(201);
    let token = preview.str("/preview_token");
    browser.open(&format!("/?preview_token={token}")).await.expect(200).shows("Welcome");
    browser.open("/collections/all").await;
    browser.open("/password").await.expect(200).shows("<h1>Soon</h1>");
    is_led_away(&mut market.browser()).await;
}

#[tokio::test]
async fn a_password_is_set_before_it_is_needed_and_never_returned() {
    let (market, _) = shop().await;
    let missing = set(&market, json!({"password_protected": true})).await.expect(422);
    assert_eq!(missing.field_errors(), [("/shop/password".to_owned(), "required".to_owned())]);
    let weak = set(&market, json!({"password": "short", "password_message": ""})).await.expect(422);
    let pointers: Vec<String> = weak.field_errors().into_iter().map(|(at, _)| at).collect();
    assert_eq!(pointers, ["/shop/password", "/shop/password_message"]);
    protect(&market).await;
    let path = format!("/v1/stores/{}/settings", market.store.id);
    let shown = market.owner.get(&path).await.expect(200);
    assert!(!shown.json.to_string().contains("argon2") && !shown.json.to_string().contains(SECRET));
    let event = market.gateway.events("store.settings_updated").await;
    assert!(!format!("{event:?}").contains("argon2"), "{event:?}");
    let removed = set(&market, json!({"password": null})).await.expect(422);
    assert_eq!(removed.field_errors(), [("/shop/password".to_owned(), "required".to_owned())]);
    let reset = set(&market, Value::Null).await.expect(200);
    assert_eq!(reset.at("/shop/has_password"), false);
}
