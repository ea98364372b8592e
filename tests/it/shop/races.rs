//! Carts that several tabs of one browser change at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use support::{Browser, json, race, with_address};

use super::shop;

/// The units of a variant in the cart.
async fn units(browser: &mut Browser, variant: &str) -> i64 {
    let cart = browser.fetch("/cart.js").await.expect(200).json();
    let lines = cart["items"].as_array().unwrap();
    let line = lines.iter().find(|line| line["variant_id"] == variant);
    line.map_or(0, |line| line["quantity"].as_i64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_beyond_the_stock_are_taken_back_alone() {
    let (market, mut browser) = shop().await;
    let (scarce, plenty) = (market.stock(1_000, 2).await, market.stock(1_000, 90).await);
    browser.submit_once("/cart/add", &[("id", &plenty)]).await.expect(303);
    market.gateway.advance(std::time::Duration::from_mins(1));
    let turn = AtomicUsize::new(0);
    let add = || {
        let is_scarce = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let id = if is_scarce { scarce.clone() } else { plenty.clone() };
        let mut tab = browser.elsewhere();
        async move {
            let body = json!({"id": id, "quantity": 1});
            (is_scarce, tab.script("/cart/add.js", &body).await.status)
        }
    };
    let outcomes = race(12, add).await;
    let added = |scarce: bool| {
        let of = outcomes.iter().filter(|(is, status)| *is == scarce && *status == 200);
        i64::try_from(of.count()).unwrap()
    };
    let (kept, other) = (units(&mut browser, &scarce).await, units(&mut browser, &plenty).await);
    assert!(kept <= 2, "{kept} of two: {outcomes:?}");
    // Whatever was rejected left the other tab's units alone.
    assert_eq!(other, 1 + added(false), "{outcomes:?}");
    let known = [200, 409, 422, 429];
    assert!(outcomes.iter().all(|(_, status)| known.contains(status)), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_has_the_lines_that_its_page_showed() {
    for _ in 0..4 {
        let (market, mut browser) = shop().await;
        let (shown, other) = (market.stock(1_000, 9).await, market.stock(1_000, 9).await);
        browser.submit_once("/cart/add", &[("id", &shown)]).await.expect(303);
        let step = with_address(&[("email", "asha@example.com"), ("act", "to:shipping")]);
        let page = browser.submit("/checkout", &step).await.expect(200);
        let (key, total, cart) = (page.input("key"), page.input("total"), page.input("cart"));
        let last = with_address(&[
            ("email", "asha@example.com"),
            ("key", &key),
            ("total", &total),
            ("cart", &cart),
            ("payment", "manual"),
            ("act", "place"),
        ]);
        // Another tab puts something else of the same price in its place.
        let (mut tab, mut buyer) = (browser.elsewhere(), browser.clone());
        let swap = json!({"updates": {shown.clone(): 0}});
        let more = json!({"id": other, "quantity": 1});
        let (placed, ()) = tokio::join!(buyer.submit("/checkout", &last), async {
            tab.script("/cart/add.js", &more).await;
            tab.script("/cart/update.js", &swap).await;
        });
        let orders = market.owner.get("/v1/orders").await.expect(200);
        match orders.data().first() {
            Some(order) => {
                let lines = order["items"].as_array().unwrap();
                assert_eq!(lines.len(), 1, "{lines:?}");
                assert_eq!(lines[0]["variant_id"], *shown, "{lines:?}");
            }
            None => {
                placed.expect(422).shows("The cart has changed");
            }
        }
    }
}
