//! Many checkouts at once: stock and balances are never spent twice.

use std::time::Duration;

use futures_util::StreamExt;
use support::{Market, Reply, cart, json, race};

use super::IN_FLIGHT;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_parallel_checkouts_for_100_units_make_100_orders() {
    let market = Market::open().await;
    let book = market.stock(100, 100).await;
    let answers: Vec<Reply> = futures_util::stream::iter(0..1_000)
        .map(|_| market.try_order(cart(&[(&book, 1)])))
        .buffer_unordered(IN_FLIGHT)
        .collect()
        .await;
    let placed = answers.iter().filter(|answer| answer.status == 201).count();
    let rejected: Vec<_> = answers.into_iter().filter(|answer| answer.status != 201).collect();
    assert_eq!((placed, rejected.len()), (100, 900));
    for answer in rejected {
        assert_eq!(answer.expect(409).problem("insufficient_stock").at("/items/0/requested"), 1);
    }
    assert_eq!(market.levels(&book).await, [0, 100, 0, 100]);
    assert_eq!(market.gateway.events("order.created").await.len(), 100);
    let orders = market.gateway.items_of("order", "STO#").await;
    let numbers: std::collections::HashSet<_> =
        orders.iter().map(|order| order["number"].as_str().unwrap().to_owned()).collect();
    assert_eq!(numbers.len(), 100, "no two orders share a number");
    market.audit(&book).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_checkouts_never_overdraw_a_gift_card() {
    let market = Market::open().await;
    let book = market.stock(100, 100).await;
    let (card, code) = market.gift_card(1_000).await;
    let answers = race(20, || {
        let mut input = cart(&[(&book, 1)]);
        input["gift_card_codes"] = json!([code]);
        market.try_order(input)
    })
    .await;
    let paid = answers.iter().filter(|answer| {
        answer.status == 201 && answer.json["order"]["financial_status"] == "paid"
    });
    let empty = answers
        .iter()
        .filter(|answer| answer.status == 422 && answer.field_errors()[0].1 == "gift_card_empty");
    assert_eq!((paid.count(), empty.count()), (10, 10));
    assert_eq!(market.balance(&card).await, 0);
    assert_eq!(market.levels(&book).await, [90, 0, 10, 100]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkout_repeated_in_parallel_creates_one_order() {
    let market = Market::open().await;
    let book = market.stock(100, 100).await;
    let client = market.gateway.client();
    let answers = race(5, || {
        let (client, path) = (client.clone(), market.orders_path());
        let input = cart(&[(&book, 1)]);
        async move {
            loop {
                let reply = client.post(&path).key("one").json(input.clone()).await;
                if reply.status != 409 {
                    return reply.expect(201);
                }
                drop(reply.problem("request_in_progress"));
                tokio::time::sleep(Duration::from_millis(400)).await;
            }
        }
    })
    .await;
    assert!(answers.iter().all(|answer| answer.text == answers[0].text));
    assert_eq!(market.levels(&book).await, [99, 1, 0, 100]);
}
