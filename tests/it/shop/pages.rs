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
    // A menu leads to a category as to a collection.
    let category = json!({"name": "Trays", "handle": "trays"});
    let category = market.owner.post("/v1/products/categories").json(category).await.expect(201);
    let tray = market.owner.get("/v1/products?q=tray").await.expect(200).str("/data/0/id");
    let change = json!({"category_id": category.str("/id")});
    market.owner.patch(&format!("/v1/products/{tray}")).json(change).await.expect(200);
    market.gateway.advance(STORE_CACHE);
    let page = browser.open("/collections/trays").await.expect(200).shows("<h1>Trays</h1>");
    assert_eq!(titles(&page.text), ["Ash tray"]);
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
async fn suggestions_have_collections_and_pages() {
    let (market, mut browser) = shop().await;
    let bowls =
        json!({"title": "Bowls of oak", "kind": "manual", "published": true, "product_ids": []});
    market.owner.post("/v1/products/collections").json(bowls).await.expect(201);
    let policy =
        json!({"title": "Our oak", "body_html": "<p>From Spessart.</p>", "published": true});
    let path = format!("/v1/stores/{}/policies/refund", market.store.id);
    market.owner.put(&path).json(policy).await.expect(200);
    market.gateway.advance(STORE_CACHE);
    let titles = |json: &Value, kind: &str| -> Vec<String> {
        let all = json["resources"]["results"][kind].as_array().unwrap().iter();
        all.map(|one| one["title"].as_str().unwrap().to_owned()).collect()
    };
    let all = browser.fetch("/search/suggest.json?q=OA").await.expect(200).json();
    assert_eq!(titles(&all, "products"), ["Oak bowl"], "{all}");
    assert_eq!(titles(&all, "collections"), ["Bowls of oak"]);
    assert_eq!(titles(&all, "pages"), ["Our oak"]);
    let path = "/search/suggest.json?q=oa&resources[type]=collection,page&resources[limit]=1";
    let some = browser.fetch(path).await.expect(200).json();
    assert_eq!((titles(&some, "products").len(), titles(&some, "collections").len()), (0, 1));
    // The limit is that of all kinds together, unless it is for each.
    assert_eq!(titles(&some, "pages").len(), 0);
    let each = format!("{path}&resources[limit_scope]=each");
    assert_eq!(titles(&browser.fetch(&each).await.expect(200).json(), "pages").len(), 1);
    let path = "/search/suggest?q=oak&section_id=predictive-search";
    let section = browser.fetch(path).await.expect(200);
    section
        .shows("/products/oak-bowl")
        .shows("/collections/bowls-of-oak")
        .shows("/policies/refund");
}

#[tokio::test]
async fn options_that_no_variant_has_are_not_for_sale() {
    let (market, mut browser) = shop().await;
    let variant = |size: &str, color: &str| json!({"price": {"amount": 900, "currency": "INR"}, "options": [size, color]});
    let cap = json!({
        "title": "Cap", "status": "active",
        "options": [{"name": "Size", "values": ["S", "L"]}, {"name": "Colour", "values": ["Red", "Blue"]}],
        "variants": [variant("S", "Red"), variant("S", "Blue"), variant("L", "Red")],
    });
    market.owner.post("/v1/products").json(cap).await.expect(201);
    let page = browser.open("/products/cap").await.expect(200);
    let id = |place: usize| -> String {
        let mark = "data-value-id=\"";
        let found = page.text.split(mark).nth(place).expect("a value");
        found.split('"').next().unwrap_or_default().to_owned()
    };
    let section = "template--product__main";
    // S, L, Red, Blue.
    let (small, large, red, blue) = (id(1), id(2), id(3), id(4));
    let path = |size: &str, color: &str| {
        format!("/products/cap?section_id={section}&option_values={size},{color}")
    };
    let there = browser.fetch(&path(&large, &red)).await.expect(200);
    there.shows("data-variant=\"var_").shows("Add to the cart");
    let missing = browser.fetch(&path(&large, &blue)).await.expect(200);
    missing.shows("data-variant=\"\"").shows("Unavailable").lacks("Add to the cart");
    browser.fetch(&path(&small, &blue)).await.expect(200).shows("Add to the cart");
    // Dawn's scripts ask where a variant can be picked up.
    browser.fetch("/variants/var_1/?section_id=header").await.expect(200).shows("Cart");
    browser.open("/variants/var_1").await.expect(404);
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
    let path =
        format!("/recommendations/products.json?product_id={product}&limit=1&intent=related");
    let related = browser.fetch(&path).await.expect(200).json();
    assert!(related["products"].as_array().unwrap().len() <= 1, "{related}");
    let unknown = browser.fetch("/recommendations/products.json?product_id=prd_nothing").await;
    assert_eq!(unknown.expect(404).json()["status"], 404);
}

#[tokio::test]
async fn a_list_is_sorted_before_its_filters_are_indexed() {
    let market = Market::open_with(|options| {
        options.shop_port = Some(0);
        options.has_stream = false;
    })
    .await;
    for (title, amount) in [("Oak bowl", 3000), ("Elm bowl", 1000), ("Ash tray", 2000)] {
        let variant = json!({"price": {"amount": amount, "currency": "INR"}});
        let product = json!({"title": title, "status": "active", "variants": [variant]});
        market.owner.post("/v1/products").json(product).await.expect(201);
    }
    market.gateway.advance(STORE_CACHE);
    let mut browser = market.browser();
    for (order, names) in [
        ("title-ascending", ["Ash tray", "Elm bowl", "Oak bowl"]),
        ("price-descending", ["Oak bowl", "Ash tray", "Elm bowl"]),
    ] {
        let page = browser.open(&format!("/collections/all?sort_by={order}")).await.expect(200);
        let places = names.map(|name| page.text.find(name).expect(name));
        assert!(places.is_sorted(), "{order}: {places:?}");
    }
    browser.open("/collections/all?sort_by=best-selling").await.expect(200).shows("Oak bowl");
}
