//! The pages of shops: who is led where, carts, checkout, accounts, and what no page does.

mod accounts;
mod attacks;
mod carts;
mod checkout;
mod costs;
mod hostile;
mod hosts;
mod languages;
mod pages;
mod password;
mod pickups;
mod privacy;
mod profile;
mod races;
mod returns;
mod themed_accounts;

use std::time::Duration;

use support::clock::STORE_CACHE;
use support::{Browser, Market, Value, json};

/// A shop that shows a theme of these files, which are made for its slug.
async fn shop_with(files: impl FnOnce(&str) -> Vec<(String, Vec<u8>)>) -> (Market, Browser) {
    let (market, browser) = shop().await;
    let slug = support::unique("theme");
    support::upload(&market.merchant, support::zip(&files(&slug))).await.expect(201);
    publish(&market, &slug).await;
    (market, browser)
}

/// Installs and publishes a theme.
async fn publish(market: &Market, slug: &str) {
    let act = |action: &str, body: Value| {
        market.owner.post(&format!("/v1/themes/{slug}/{action}")).json(body)
    };
    act("install", json!({})).await.expect(201);
    act("publish", json!({"draft_version": 1})).await.expect(201);
    market.gateway.advance(STORE_CACHE);
}

/// The stream takes a moment, on a busy machine a long one.
const SOON: Duration = Duration::from_secs(30);

/// A shop, and a browser at it.
async fn shop() -> (Market, Browser) {
    let market = Market::open_with(|options| options.shop_port = Some(0)).await;
    let browser = market.browser();
    (market, browser)
}

/// A shop with something at 500.00 in the cart of a browser.
async fn shop_with_cart() -> (Market, Browser, String) {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 1).await;
    (market, browser, variant)
}

/// The code TENTH, for a tenth off.
async fn a_tenth_off(market: &Market) {
    let discount = json!({
        "title": "A tenth", "code": "TENTH", "kind": "percentage",
        "value": {"basis_points": 1_000},
    });
    market.owner.post("/v1/discounts").json(discount).await.expect(201);
}
