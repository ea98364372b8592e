//! Due work that is handed out to workers: once however often, and all of it.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use support::clock::MINUTE;
use support::{Market, cart, eventually, json};

#[tokio::test]
async fn due_orders_are_queued_in_batches_and_expire_once() {
    let market = Market::open().await;
    let book = market.stock(100, 100).await;
    for _ in 0..23 {
        market.order(cart(&[(&book, 1)])).await;
    }
    market.gateway.advance(MINUTE * 31);
    let app = market.gateway.app();
    // Two runs find the same work, before any worker has begun.
    for run in 1..=2 {
        let report = dispatcher::sweep(app).await;
        assert_eq!((report.queued_jobs, report.failures), (23, 0));
        assert_eq!(
            app.queue(dispatcher::QUEUE).depth().await.unwrap().waiting,
            run * 2,
            "twenty in a batch"
        );
    }
    assert_eq!(market.levels(&book).await, [77, 23, 0, 100], "a run does none of it");
    let report = market.gateway.sweep().await;
    assert_eq!((report.orders, report.failures), (23, 0));
    assert_eq!(market.gateway.events("order.expired").await.len(), 23);
    assert_eq!(market.levels(&book).await, [100, 0, 0, 100]);
    market.audit(&book).await;
    assert_eq!(app.queue(dispatcher::QUEUE).depth().await.unwrap().waiting, 0);
    assert_eq!(market.gateway.sweep().await.queued_jobs, 0, "nothing is due any more");
}

#[tokio::test]
async fn an_unreadable_batch_does_not_affect_others() {
    let market = Market::open().await;
    let message = |id: &str, body: &str| {
        let mut message = SqsMessage::default();
        message.message_id = Some(id.to_owned());
        message.body = Some(body.to_owned());
        message
    };
    let gone = json!({"kind": "orders", "keys": [["STO#nobody", "A"]]}).to_string();
    let mut event = SqsEvent::default();
    event.records = vec![message("odd", "{"), message("gone", &gone)];
    let (response, worked) = dispatcher::work(market.gateway.app(), event).await;
    let failed: Vec<_> =
        response.batch_item_failures.iter().map(|one| one.item_identifier.clone()).collect();
    assert_eq!(failed, ["odd"]);
    assert_eq!((worked.orders, worked.failures), (0, 0));
}

#[tokio::test]
async fn the_local_system_sweeps_on_its_own_schedule() {
    let every = Duration::from_millis(200);
    let market = Market::open_with(|options| options.sweep_every = Some(every)).await;
    let book = market.stock(100, 5).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    market.gateway.advance(MINUTE * 31);
    let is_over =
        || async { (market.show(&placed.id).await.str("/status") == "expired").then_some(()) };
    eventually(Duration::from_mins(1), is_over).await;
    assert_eq!(market.levels(&book).await, [5, 0, 0, 5]);
}
