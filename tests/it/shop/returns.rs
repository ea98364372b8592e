//! Payments whose browser comes back from the provider several times, or never.

use support::{Market, race};

use super::checkout::payments::{choose, to_bank, with_stripe};

/// The orders of the only guest, and what they have spent.
async fn guest(market: &Market) -> (i64, i64) {
    let guests = market.owner.get("/v1/customers/guests").await.expect(200);
    assert_eq!(guests.data().len(), 1);
    (guests.int("/data/0/orders_count"), guests.int("/data/0/total_spent/amount"))
}

#[tokio::test]
async fn a_payment_whose_browser_did_not_come_back_is_seen_on_the_order() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let id = browser.cookies["shop_order"].split('.').next().unwrap().to_owned();
    let path = format!("/orders/{id}");
    browser.open(&path).await.expect(200).shows("left to pay");
    choose(&mut browser, &bank, "pay").await;
    // Asked a moment ago.
    browser.open(&path).await.expect(200).shows("left to pay");
    market.gateway.advance(std::time::Duration::from_secs(6));
    browser.open(&path).await.expect(200).shows("Thank you for your order").lacks("left to pay");
    assert_eq!(market.show(&id).await.expect(200).str("/financial_status"), "paid");
}

#[tokio::test]
async fn a_paid_order_is_not_paid_again() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let id = browser.cookies["shop_order"].split('.').next().unwrap().to_owned();
    choose(&mut browser, &bank, "pay").await;
    market.gateway.advance(std::time::Duration::from_secs(6));
    let page = browser.open(&format!("/orders/{id}/pay")).await.expect(200);
    assert_eq!(page.path, format!("/orders/{id}"));
    page.shows("Thank you for your order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn returns_at_once_record_one_payment() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let id = browser.cookies["shop_order"].split('.').next().unwrap().to_owned();
    let back = choose(&mut browser, &bank, "pay").await;
    let open = || {
        let (mut tab, back) = (browser.clone(), back.clone());
        async move { tab.open(&back).await }
    };
    for shown in race(8, open).await {
        shown.expect(200).shows("Thank you for your order");
    }
    let order = market.show(&id).await.expect(200);
    assert_eq!(order.str("/financial_status"), "paid");
    assert_eq!(order.int("/captured_total/amount"), order.int("/totals/total/amount"));
    assert_eq!(guest(&market).await, (1, order.int("/totals/total/amount")));
}
