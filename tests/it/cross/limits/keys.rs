//! Keys of requests whose effect is one transaction: nothing is claimed before it, and it brings the
//! record with it.

use support::clock::DAY;
use support::{Market, Reply, Value, cart, json, race};

fn is_replayed(reply: &Reply) -> bool {
    reply.header("idempotent-replayed") == Some("true")
}

async fn records(market: &Market) -> Vec<Value> {
    market.gateway.items("IDM#").await
}

#[tokio::test]
async fn a_checkout_stores_its_idempotent_response_in_its_transaction() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    let before = records(&market).await.len();
    let client = market.gateway.client();
    let order = |quantity: i64| {
        client.post(&market.orders_path()).key("once").json(cart(&[(&book, quantity)]))
    };
    let placed = order(2).await.expect(201);
    let kept = records(&market).await;
    assert_eq!(kept.len(), before + 1);
    assert!(kept.iter().all(|record| record["state"] == "completed"));
    let again = order(2).await.expect(201);
    assert!(is_replayed(&again) && !is_replayed(&placed));
    assert_eq!((&again.text, again.etag()), (&placed.text, placed.etag()));
    let other = order(3).await.expect(422).problem("idempotency_key_reused");
    assert!(!is_replayed(&other));
    assert_eq!(market.levels(&book).await, [7, 2, 0, 9]);
    market.gateway.advance(DAY);
    let later = order(3).await.expect(201);
    assert!(!is_replayed(&later) && later.str("/order/id") != placed.str("/order/id"));
}

/// What a request that is sent again would be rejected with, or would do once more, is never said or done.
#[tokio::test]
async fn idempotent_responses_are_replayed_after_the_order_has_changed() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    let placed = market.order(cart(&[(&book, 3)])).await;
    let act = |action: &str, key: &str, fields: Value| {
        market.owner.post(&format!("/v1/orders/{}/{action}", placed.id)).key(key).json(fields)
    };
    let one = json!({"items": [{"order_item_id": placed.line(0), "quantity": 1}]});
    let early = act("fulfill", "early", one.clone()).await.expect(409);
    let paid = act("mark-paid", "paid", json!({"method": "cash"})).await.expect(200);
    let sent = act("fulfill", "sent", one.clone()).await.expect(201);
    let left = act("lines/cancel", "left", json!({})).await.expect(200);
    for (action, key, fields, first) in [
        ("fulfill", "early", one.clone(), early),
        ("mark-paid", "paid", json!({"method": "cash"}), paid),
        ("fulfill", "sent", one, sent),
        ("lines/cancel", "left", json!({}), left),
    ] {
        let again = act(action, key, fields).await;
        assert_eq!((again.status, &again.text), (first.status, &first.text), "{action} {key}");
        assert!(is_replayed(&again) && !is_replayed(&first), "{action} {key}");
        let other = act(action, key, json!({"odd": true})).await.expect(422);
        other.problem("idempotency_key_reused");
    }
    assert_eq!(market.levels(&book).await, [8, 0, 0, 8], "one was sent, two were never taken");
    assert_eq!(market.gateway.events("fulfillment.created").await.len(), 1);
    // What changes nothing has a record too: a price is asked for once.
    let input = json!({"items": [{"variant_id": book, "quantity": 1}], "dry_run": true});
    let quoted =
        market.owner.post("/v1/orders").key("quoted").json(input.clone()).await.expect(200);
    let again = market.owner.post("/v1/orders").key("quoted").json(input).await.expect(200);
    assert_eq!((&again.text, is_replayed(&again)), (&quoted.text, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_sent_8_times_at_once_pays_and_fulfils_an_order_once() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    let placed = market.order(cart(&[(&book, 2)])).await;
    let one = json!({"items": [{"order_item_id": placed.line(0), "quantity": 1}]});
    for (action, fields) in [("mark-paid", json!({})), ("fulfill", one)] {
        let answers = race(8, || {
            let path = format!("/v1/orders/{}/{action}", placed.id);
            let input = market.owner.post(&path).key(action).json(fields.clone());
            async move { input.await }
        })
        .await;
        let first = &answers[0];
        assert!(first.status < 300, "{}", first.text);
        for answer in &answers {
            assert_eq!((answer.status, &answer.text), (first.status, &first.text), "{action}");
        }
        let fresh = answers.iter().filter(|answer| !is_replayed(answer)).count();
        assert_eq!(fresh, 1, "{action}");
    }
    assert_eq!(market.levels(&book).await, [7, 0, 1, 8]);
    for (name, times) in [("order.paid", 1), ("payment.captured", 1), ("fulfillment.created", 1)] {
        assert_eq!(market.gateway.events(name).await.len(), times, "{name}");
    }
}
