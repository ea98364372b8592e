//! What others try: another site's form, a theme's script, a forged address.

use reqwest::Method;
use support::{PASSWORD, Shopper, json};

use super::shop;

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    browser.add(&variant, 1).await;
    for path in ["/cart/add", "/cart/clear.js", "/checkout", "/account/login", "/account/logout"] {
        for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")]
        {
            let request = browser.request(Method::POST, path).header(name, value);
            browser.send(request.form(&[("id", &variant)]), path).await.expect(403);
        }
    }
    let cart = browser.cart().await;
    assert_eq!(cart["item_count"], 1);
}

#[tokio::test]
async fn a_link_of_another_site_changes_nothing() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let sign_in = [("email", &*shopper.email), ("password", PASSWORD)];
    browser.submit("/account/login", &sign_in).await.expect(200);
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 1).await;
    let remove = "/cart/change?line=1&quantity=0";
    for path in [remove, "/cart/clear", "/account/logout"] {
        let link = browser.request(Method::GET, path).header("sec-fetch-site", "cross-site");
        browser.send(link, path).await.expect(303);
        assert!(browser.cookies.contains_key("shop_session"), "{path}");
        let cart = browser.cart().await;
        assert_eq!(cart["item_count"], 1, "{path}");
    }
    // A link of the shop's own page does.
    let link = browser.request(Method::GET, remove).header("sec-fetch-site", "same-origin");
    browser.send(link, remove).await.expect(303);
    assert_eq!(browser.cart().await["item_count"], 0);
}

#[tokio::test]
async fn a_preview_of_nonsense_shows_no_closed_shop() {
    let (market, browser) = shop().await;
    let draft = market.merchant.open_store().await;
    let mut visitor = browser.at(&market.host_of(&draft.subdomain));
    for path in ["/", "/?preview_token=no", "/account/login", "/robots.txt", "/cart.js"] {
        visitor.cookies.insert("shop_preview".to_owned(), "nonsense".to_owned());
        visitor.open(path).await.expect(404).lacks(draft.view["name"].as_str().unwrap());
    }
}

#[tokio::test]
async fn a_script_reads_no_page_with_somebodys_data() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    browser.add(&variant, 1).await;
    let order = browser.order().await;
    browser.add(&variant, 1).await;
    for path in ["/checkout", "/account", "/account/addresses", &order] {
        browser.fetch(path).await.expect(403);
    }
    browser.script("/checkout", &json!({"act": "place"})).await.expect(403);
    for path in ["/checkout", &order] {
        let page = browser.open(path).await.expect(200);
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(page.header("cache-control"), "private, no-store");
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"),
            "{policy}"
        );
    }
}

#[tokio::test]
async fn a_file_of_a_theme_is_no_service_worker() {
    let (_market, mut browser) = shop().await;
    let path = format!("/assets/{}/worker.js", "0".repeat(64));
    let request = browser.request(Method::GET, &path).header("service-worker", "script");
    browser.send(request, &path).await.expect(403);
    browser.fetch(&path).await.expect(404);
}

#[tokio::test]
async fn what_a_shopper_writes_is_text() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    let script = "<script>alert(1)</script>";
    let form = [("id", &*variant), ("properties[Name]", script)];
    browser.submit_once("/cart/add", &form).await.expect(303);
    let fields =
        [("note", script), ("email", "\"><img src=x>"), ("act", "to:shipping"), ("code", script)];
    let page = browser.submit("/checkout", &fields).await;
    page.lacks(script).lacks("<img src=x>").shows("&lt;script&gt;");
    let login = browser.open("/account/login?return_to=/%22%3E%3Cscript%3E").await.expect(200);
    login.lacks("\"><script>");
}

#[tokio::test]
async fn a_permanent_cookie_of_nonsense_harms_nobody() {
    let (market, mut browser) = shop().await;
    for value in
        ["", ".", "crt_1.x", "../../orders", "a b", "crt_00000000000000000000000000000000.%0d%0a"]
    {
        for name in ["shop_cart", "shop_order"] {
            browser.cookies.insert(name.to_owned(), value.to_owned());
        }
        let cart = browser.fetch("/cart.js").await;
        assert!([200, 400, 404, 422].contains(&cart.status), "{value}: {cart:?}");
        browser.open("/checkout").await;
    }
    let variant = market.stock(1000, 9).await;
    browser.cookies.clear();
    browser.script("/cart/add.js", &json!({"id": variant})).await.expect(200);
}

#[tokio::test]
async fn no_path_leads_to_another_site() {
    let (market, mut browser) = shop().await;
    for path in ["//evil.example/?preview_token=", "//evil.example", "//evil.example/cart"] {
        let shown = browser.fetch(path).await.expect(404);
        assert_eq!(shown.header("location"), "", "{path}");
    }
    // A form leads back to a page of the shop alone.
    let sold_out = market.stock(1_000, 0).await;
    let host = browser.host().to_owned();
    for (from, back) in [("//evil.example/x", "/"), ("/products/tea", "/products/tea")] {
        let referer = format!("http://{host}{from}");
        let form = browser.request(Method::POST, "/cart/add").header("referer", referer);
        let form = form.header("sec-fetch-site", "same-origin").form(&[("id", &sold_out)]);
        let shown = browser.send(form, "/cart/add").await.expect(422);
        shown.shows(&format!("<a class=\"button primary\" href=\"{back}\">"));
    }
}

#[tokio::test]
async fn pages_of_one_shop_leave_the_budget_of_another() {
    let (market, browser) = shop().await;
    let other = market.merchant.open_shop().await;
    market.gateway.app().clock.stop();
    let open = || {
        let mut visitor = browser.clone();
        async move { visitor.fetch("/cart.js").await.status }
    };
    // A network has 300 points.
    let statuses = support::race(320, open).await;
    assert!(statuses.contains(&429), "{statuses:?}");
    assert!(statuses.iter().filter(|status| **status == 200).count() >= 290, "{statuses:?}");
    let mut there = browser.at(&market.host_of(&other.subdomain));
    there.fetch("/cart.js").await.expect(200);
}
