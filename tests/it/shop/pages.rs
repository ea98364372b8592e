//! Pages of a demo theme: lists with filters, search, sections, and what scripts read.

use std::time::Duration;

use support::clock::STORE_CACHE;
use support::{Browser, Market, Value, eventually, json};

/// A shop with a demo theme, three products, and a collection.
pub async fn shop() -> (Market, Browser) {
    let market = Market::open_with(|options| options.shop_port = Some(0)).await;
    for (title, vendor, amount, inventory) in [
        ("Oak bowl", "Acme", 3000, 4),
        ("Elm bowl", "Bell", 1000, 4),
        ("Ash tray", "Bell", 2000, 0),
    ] {
        let variant = json!({
            "price": {"amount": amount, "currency": "INR"},
            "inventory": {"tracked": true, "policy": "deny", "levels": [{"quantity": inventory}]},
        });
        let product = json!({
            "title": title, "vendor": vendor, "status": "active", "variants": [variant], "tags": ["wood"],
        });
        market.owner.post("/v1/products").json(product).await.expect(201);
    }
    let slug = support::unique("harbor");
    let files = support::demo_theme("harbor", &slug);
    support::upload(&market.merchant, support::zip(&files)).await.expect(201);
    let act = |action: &str, body: Value| {
        market.owner.post(&format!("/v1/themes/{slug}/{action}")).json(body)
    };
    act("install", json!({})).await.expect(201);
    act("publish", json!({"draft_version": 1})).await.expect(201);
    market.gateway.advance(STORE_CACHE);
    let browser = market.browser();
    (market, browser)
}

/// The titles of a list's cards, in order.
fn titles(html: &str) -> Vec<String> {
    let cards = html.split("class=\"card-title\">").skip(1);
    cards.map(|card| card.split('<').next().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_list_is_sorted_filtered_and_counted() {
    let (market, mut browser) = shop().await;
    // The filters follow the products within a moment.
    let page = eventually(super::SOON, || async {
        market.gateway.advance(STORE_CACHE);
        let path = "/collections/all?sort_by=price-descending";
        let page = market.browser().open(path).await.expect(200);
        page.text.contains("Bell (2)").then_some(page)
    })
    .await;
    assert_eq!(titles(&page.text), ["Oak bowl", "Ash tray", "Elm bowl"]);
    let page = page.shows("Bell (2)").shows("Acme (1)").shows("In stock (2)");
    assert!(page.header("vary").starts_with("Cookie"));
    let page = browser.open("/collections/all?filter.p.vendor=Bell&sort_by=title-ascending").await;
    assert_eq!(titles(&page.expect(200).text), ["Ash tray", "Elm bowl"]);
    let both = "/collections/all?filter.p.vendor=Bell&filter.v.availability=1";
    let page = browser.open(both).await.expect(200);
    assert_eq!(titles(&page.text), ["Elm bowl"]);
    let page = browser.open("/collections/all?filter.v.price.gte=15").await.expect(200);
    assert_eq!(titles(&page.text).len(), 2);
    browser.open("/collections/nothing").await.expect(404).shows("There is nothing here");
    browser.open("/products/nothing").await.expect(404).shows("There is nothing here");
    let products = market.owner.get("/v1/products?q=oak").await.expect(200);
    let bowls = json!({
        "title": "Bowls", "kind": "manual", "published": true, "product_ids": [products.str("/data/0/id")],
    });
    market.owner.post("/v1/products/collections").json(bowls).await.expect(201);
    let page = browser.open("/collections/bowls").await.expect(200);
    assert_eq!(titles(&page.text), ["Oak bowl"]);
    // The function counts its requests by the minute.
    market.gateway.advance(Duration::from_mins(2));
    browser.open("/collections/bowls").await.expect(200);
}

#[tokio::test]
async fn a_search_finds_and_suggests() {
    let (_market, mut browser) = shop().await;
    let page = browser.open("/search?q=bowl").await.expect(200);
    assert_eq!(titles(&page.text).len(), 2);
    let page = browser.open("/search?q=%22%3E%3Cscript%3E").await.expect(200);
    page.lacks("\"><script>");
    let found =
        browser.fetch("/search/suggest.json?q=bo&resources[limit]=1").await.expect(200).json();
    let products = found["resources"]["results"]["products"].as_array().unwrap().clone();
    assert_eq!(products.len(), 1, "{found}");
    assert!(products[0]["url"].as_str().unwrap().starts_with("/products/"));
}

#[tokio::test]
async fn a_product_is_bought_from_its_page() {
    let (market, mut browser) = shop().await;
    let page = browser
        .open("/products/oak-bowl")
        .await
        .expect(200)
        .shows("Oak bowl")
        .shows("action=\"/cart/add\"");
    let id = page.input("id");
    let cart = browser.submit("/cart/add", &[("id", &id), ("quantity", "2")]).await.expect(200);
    assert_eq!(cart.path, "/cart");
    let cart = cart.shows("Oak bowl").shows("Cart (2)");
    assert_eq!(cart.header("cache-control"), "private, no-store");
    // What was kept for everybody has no cart of somebody.
    market.browser().open("/products/oak-bowl").await.expect(200).lacks("Cart (2)");
    let sold_out = browser.open("/products/ash-tray").await.expect(200);
    sold_out.shows("disabled");
    let json = browser.fetch("/products/oak-bowl.js").await.expect(200).json();
    assert_eq!((json["title"].clone(), json["price"].clone()), (json!("Oak bowl"), json!(3000)));
    // A cart names a product by its id.
    let product = json["id"].as_str().unwrap().to_owned();
    let led = browser.open(&format!("/products/{product}?variant={id}")).await.expect(200);
    assert_eq!(led.path, format!("/products/oak-bowl?variant={id}"));
}

#[tokio::test]
async fn sections_are_rendered_alone() {
    let (_market, mut browser) = shop().await;
    let page = browser.open("/products/oak-bowl").await.expect(200);
    let id = page.input("id");
    let alone = browser.fetch("/?section_id=header").await.expect(200).shows("Cart");
    alone.lacks("<html");
    let both = browser.fetch("/collections/all?sections=header,no-such").await.expect(200).json();
    assert!(both["header"].as_str().unwrap().contains("Cart"), "{both}");
    assert_eq!(both["no-such"], Value::Null);
    let body = json!({"id": id, "quantity": 3, "sections": "header", "sections_url": "/cart"});
    let added = browser.script("/cart/add.js", &body).await.expect(200).json();
    assert!(added["sections"]["header"].as_str().unwrap().contains("Cart (3)"), "{added}");
    let product = added["product_id"].as_str().unwrap();
    let path = format!("/recommendations/products?product_id={product}");
    let related = browser.fetch(&path);
    assert!(related.await.expect(200).json()["products"].is_array());
}
