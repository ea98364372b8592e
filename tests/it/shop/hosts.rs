//! Which shop a request is for.

use super::shop;

#[tokio::test]
async fn a_shop_is_at_its_own_names_alone() {
    let (market, browser) = shop().await;
    let port = market.gateway.system().shop_port().unwrap();
    let name = &market.store.subdomain;
    browser.at(&format!("{name}.localhost:{port}")).open("/robots.txt").await.expect(200);
    browser.at(&format!("{}.localhost", name.to_uppercase())).open("/robots.txt").await.expect(200);
    for other in [
        format!("{name}.example.com"),
        format!("www.{name}.localhost"),
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "no-such-shop.localhost".to_owned(),
        format!("{name}.localhost.example.com"),
    ] {
        browser.at(&other).open("/robots.txt").await.expect(404);
    }
    market.verify("tea.example.org").await;
    browser
        .at("tea.example.org")
        .open("/robots.txt")
        .await
        .expect(200)
        .shows("http://tea.example.org/sitemap.xml");
}

#[tokio::test]
async fn a_former_name_leads_to_the_present_one() {
    let (market, browser) = shop().await;
    let former = market.store.subdomain.clone();
    let path = format!("/v1/stores/{}", market.store.id);
    let next = support::unique("renamed");
    market.owner.patch(&path).json(support::json!({"subdomain": next})).await.expect(200);
    market.gateway.advance(std::time::Duration::from_secs(10));
    let mut old = browser.at(&format!("{former}.localhost:3200"));
    let request = old.request(reqwest::Method::GET, "/products/mug?variant=1");
    let moved = old.send(request, "/products/mug?variant=1").await.expect(308);
    assert_eq!(
        moved.header("location"),
        format!("http://{next}.localhost:3200/products/mug?variant=1")
    );
}

#[tokio::test]
async fn a_shop_that_is_not_open_is_not_shown() {
    let (market, mut browser) = shop().await;
    let draft = market.merchant.open_store().await;
    browser.at(&market.host_of(&draft.subdomain)).open("/robots.txt").await.expect(404);
    browser.open("/robots.txt").await.expect(200).shows("Disallow: /checkout");
}

#[tokio::test]
async fn behind_a_proxy_each_network_has_a_budget_of_its_own() {
    let (_market, mut browser) = shop().await;
    let mut spent = false;
    for number in 0..150 {
        let found = browser.open(&format!("/search?q=w{number}")).await;
        if found.status == 429 {
            spent = true;
            break;
        }
    }
    assert!(spent, "a network's budget ends");
    browser.elsewhere().open("/search?q=elsewhere").await.expect(200);
}
