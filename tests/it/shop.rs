//! The pages of shops: who is led where, carts, checkout, accounts, and what no page does.

mod accounts;
mod attacks;
mod carts;
mod checkout;
mod costs;
mod hosts;
mod pages;

use std::time::Duration;

use support::{Browser, Market};

/// The stream takes a moment, on a busy machine a long one.
const SOON: Duration = Duration::from_secs(30);

/// A shop, and a browser at it.
async fn shop() -> (Market, Browser) {
    let market = Market::open_with(|options| options.shop_port = Some(0)).await;
    let browser = market.browser();
    (market, browser)
}
