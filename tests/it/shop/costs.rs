//! What each page of a shop costs the table: after every cache has expired, and to the next visitor.

use std::time::Duration;

use support::clock::HOUR;
use support::{Browser, Market, PASSWORD, Review, Shopper, Shown, eventually, json};

use super::pages;

/// Longer than pages and responses are cached, and shorter than a store is.
const NEXT: Duration = Duration::from_secs(3);

/// Round trips and tenths of a read unit.
type Cost = (u32, u32);

/// A page with its costs: cold and warm.
type Row = (&'static str, Cost, Cost);

fn cost(shown: &Shown) -> Cost {
    let number = |name: &str| {
        let timing = shown.header("server-timing");
        let (_, rest) = timing.split_once(name).unwrap_or_else(|| panic!("no {name}: {timing}"));
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    };
    (number("trips="), number("tenths="))
}

/// What pages cost: an order is written, and a cart that something is added to.
const EXPECTED: [Row; 15] = [
    ("home", (7, 40), (1, 5)),
    ("collection", (10, 70), (4, 35)),
    ("all products", (8, 45), (2, 10)),
    ("filtered collection", (10, 65), (4, 30)),
    ("product", (9, 55), (1, 5)),
    ("search", (10, 60), (4, 25)),
    ("suggestions", (9, 55), (3, 20)),
    ("policy", (7, 40), (1, 5)),
    ("cart add", (3, 65), (5, 80)),
    ("cart.js", (4, 60), (3, 55)),
    ("cart", (9, 90), (3, 55)),
    ("checkout", (7, 120), (4, 100)),
    ("order placed", (9, 470), (9, 470)),
    ("order", (3, 25), (2, 20)),
    ("account", (10, 90), (4, 55)),
];

/// Opens a page as a new visitor after an hour, and as another one soon after.
async fn row(market: &Market, name: &'static str, path: &str) -> Row {
    market.gateway.advance(HOUR);
    let cold = market.browser().open(path).await.expect(200);
    market.gateway.advance(NEXT);
    let warm = market.browser().open(path).await.expect(200);
    (name, cost(&cold), cost(&warm))
}

/// As [`row`], by a visitor with cookies.
async fn own(market: &Market, browser: &mut Browser, name: &'static str, path: &str) -> Row {
    market.gateway.advance(HOUR);
    let cold = browser.open(path).await.expect(200);
    market.gateway.advance(NEXT);
    let warm = browser.open(path).await.expect(200);
    (name, cost(&cold), cost(&warm))
}

#[tokio::test]
async fn a_page_of_a_shop_takes_at_most_four_round_trips_of_a_warm_process() {
    let (market, _) = pages::shop().await;
    let products = market.owner.get("/v1/products").await.expect(200);
    let ids: Vec<String> = (0..3).map(|n| products.str(&format!("/data/{n}/id"))).collect();
    let bowls = json!({"title": "Bowls", "kind": "manual", "published": true, "product_ids": ids});
    market.owner.post("/v1/products/collections").json(bowls).await.expect(201);
    let policy = json!({"title": "Refunds", "body_html": "<p>Text</p>", "published": true});
    let path = format!("/v1/stores/{}/policies/refund", market.store.id);
    market.merchant.put(&path).json(policy).await.expect(200);
    eventually(super::SOON, || async {
        market.gateway.advance(NEXT);
        let page = market.browser().open("/collections/all").await.expect(200);
        page.text.contains("Bell (2)").then_some(())
    })
    .await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    market.gateway.app().clock.stop();
    let mut found = vec![
        row(&market, "home", "/").await,
        row(&market, "collection", "/collections/bowls").await,
        row(&market, "all products", "/collections/all").await,
        row(&market, "filtered collection", "/collections/bowls?filter.p.vendor=Bell").await,
        row(&market, "product", "/products/oak-bowl").await,
        row(&market, "search", "/search?q=bowl").await,
        row(&market, "suggestions", "/search/suggest.json?q=bo").await,
        row(&market, "policy", "/policies/refund").await,
    ];
    let mut browser = market.browser();
    let page = browser.open("/products/oak-bowl").await.expect(200);
    let id = page.input("id");
    let added = browser.script("/cart/add.js", &json!({"id": id, "quantity": 1})).await.expect(200);
    market.gateway.advance(NEXT);
    let again = browser.script("/cart/add.js", &json!({"id": id, "quantity": 1})).await.expect(200);
    found.push(("cart add", cost(&added), cost(&again)));
    found.push(own(&market, &mut browser, "cart.js", "/cart.js").await);
    found.push(own(&market, &mut browser, "cart", "/cart").await);
    found.push(own(&market, &mut browser, "checkout", "/checkout").await);
    let review = Review::of(&mut browser).await;
    let placed = browser.submit_once("/checkout", &review.fields()).await.expect(303);
    found.push(("order placed", cost(&placed), cost(&placed)));
    let order = placed.header("location").to_owned();
    found.push(own(&market, &mut browser, "order", &order).await);
    let mut browser = market.browser();
    let form = [("customer[email]", &*shopper.email), ("customer[password]", PASSWORD)];
    browser.submit("/account/login", &form).await.expect(200);
    found.push(own(&market, &mut browser, "account", "/account").await);
    let found: Vec<Row> = found;
    assert_eq!(found, EXPECTED, "{found:#?}");
}
