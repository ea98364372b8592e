//! Events that happened together: one item, and each an event of its own.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Client, EventGroup, Market, Receiver, Value, json};

const OUTBOX: &str = "/v1/operations/outbox";
const DELIVERIES: &str = "/v1/operations/webhook-deliveries";

/// A store on which nothing is handed on before a sweep.
async fn still_market() -> Market {
    Market::open_with(|options| options.has_stream = false).await
}

/// What a list shows, page by page.
async fn pages(client: &Client, path: &str, limit: usize) -> Vec<Vec<Value>> {
    let joint = if path.contains('?') { '&' } else { '?' };
    let first = format!("{path}{joint}limit={limit}");
    let (mut pages, mut next) = (Vec::new(), first.clone());
    loop {
        let page = client.get(&next).await.expect(200);
        pages.push(page.data().clone());
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { return pages };
        next = format!("{first}&cursor={cursor}");
    }
}

/// The ids of the newest events of these names.
async fn newest(market: &Market, names: [&str; 2]) -> [String; 2] {
    let events = market.gateway.all_events().await;
    names.map(|name| {
        let found = events.iter().rev().find(|event| event.name == name);
        found.unwrap().id.to_string()
    })
}

async fn status(market: &Market, id: &str) -> String {
    market.owner.get(&format!("{OUTBOX}/{id}")).await.expect(200).str("/status")
}

/// Everything that is due by now, and by when the stream would have had its turn.
async fn sweep(market: &Market) {
    market.gateway.advance(MINUTE + Duration::from_secs(1));
    market.gateway.sweep().await;
}

/// A market, a receiver of what happens to orders and payments, and the group of the events of an order
/// that was paid, with their ids: the order's and the payment's.
async fn paid_order() -> (Market, Receiver, EventGroup, [String; 2]) {
    let (market, receiver) = (still_market().await, Receiver::start().await);
    let types = ["order.paid", "payment.captured"];
    let input = json!({"url": receiver.url("/"), "event_types": types});
    market.owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    let book = market.stock(100, 9).await;
    market.paid(&book, 1).await;
    let ids = newest(&market, types).await;
    let group = market.gateway.events_with(&ids[0]).await;
    assert!(group.events().iter().any(|event| event.id.as_str() == ids[1]), "they are one item");
    (market, receiver, group, ids)
}

#[tokio::test]
async fn pagination_may_split_the_events_of_one_transaction() {
    let market = still_market().await;
    let book = market.stock(100, 9).await;
    let placed = market.paid(&book, 2).await;
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    market.act(&placed.id, "refund", json!({})).await.expect(201);
    let mut groups = market.gateway.event_groups().await;
    groups.retain(|group| group.events().iter().any(|event| event.body.contains(&placed.id)));
    let mut sizes: Vec<usize> = groups.iter().map(|group| group.events().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 2, 2, 4]);
    let payment = market.show(&placed.id).await.str("/payments/0/payment_id");
    for (path, least) in [
        (format!("/v1/orders/{}/events", placed.id), 9),
        (format!("/v1/payments/{payment}/events"), 2),
        (OUTBOX.to_owned(), 10),
        (format!("{OUTBOX}?status=pending"), 10),
        ("/v1/operations/audit-log".to_owned(), 10),
        ("/v1/operations/audit-log?action=refund.created".to_owned(), 1),
    ] {
        let whole = pages(&market.owner, &path, 100).await.concat();
        assert!(whole.len() >= least, "{path}: {whole:?}");
        let ids: Vec<&str> = whole.iter().map(|event| event["id"].as_str().unwrap()).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        sorted.dedup();
        assert_eq!(ids, sorted, "{path}: each once, the newest first");
        for limit in 1..=5 {
            let walked = pages(&market.owner, &path, limit).await;
            assert!(walked.iter().all(|page| page.len() <= limit), "{path} by {limit}");
            assert_eq!(walked.concat(), whole, "{path} by {limit}");
            if !path.contains('?') && !path.contains("payments") {
                let full = walked.iter().filter(|page| page.len() == limit).count();
                assert_eq!(full, whole.len() / limit, "{path} by {limit}: pages are full");
                assert_eq!(walked.len(), whole.len().div_ceil(limit), "{path}: no page is empty");
            }
        }
    }
}

#[tokio::test]
async fn discarding_an_event_leaves_the_others_of_its_transaction() {
    let (market, receiver, group, [paid, captured]) = paid_order().await;
    assert_eq!(paid[..34], captured[..34], "they are one item");
    let act =
        |id: &str, what: &str| market.owner.post(&format!("{OUTBOX}/{id}/{what}")).json(json!({}));
    let discarded = act(&captured, "discard").await.expect(200);
    assert_eq!((discarded.str("/status"), discarded.int("/version")), ("discarded".to_owned(), 2));
    assert_eq!(market.owner.get(&format!("{OUTBOX}/{paid}")).await.int("/version"), 1);
    act(&captured, "discard").await.expect(409).problem("invalid_state_transition");
    sweep(&market).await;
    receiver.wait_for_event("order.paid").await;
    assert_eq!(
        (status(&market, &paid).await, status(&market, &captured).await),
        states("published")
    );
    assert!(receiver.events("payment.captured").is_empty(), "it was discarded");
    act(&paid, "requeue").await.expect(409).problem("invalid_state_transition");
    // It comes back alone.
    act(&captured, "requeue").await.expect(200);
    sweep(&market).await;
    receiver.wait_for_event("payment.captured").await;
    assert_eq!(status(&market, &captured).await, "published");
    // What the stream shows late changes nothing.
    market.gateway.process().publish(&group).await;
    sweep(&market).await;
    assert_eq!(receiver.requests().len(), 2, "each once");
    let verified = market.owner.get(&format!("{OUTBOX}/verify")).await.expect(200);
    assert_eq!((verified.int("/missing"), verified.int("/orphan")), (0, 0), "{}", verified.text);
}

/// The first in this state, the second discarded.
fn states(first: &str) -> (String, String) {
    (first.to_owned(), "discarded".to_owned())
}

#[tokio::test]
async fn late_publishing_skips_a_discarded_event() {
    let (market, _receiver, group, [paid, captured]) = paid_order().await;
    let discard = format!("{OUTBOX}/{captured}/discard");
    market.owner.post(&discard).json(json!({})).await.expect(200);
    // As it was before that, and twice at once.
    let process = market.gateway.process();
    tokio::join!(process.publish(&group), process.publish(&group));
    assert_eq!(
        (status(&market, &paid).await, status(&market, &captured).await),
        states("published")
    );
    let stored = market.gateway.event_groups().await;
    let stored = stored.iter().find(|one| one.events()[0].id == group.events()[0].id).unwrap();
    let versions: Vec<u64> = stored.events().iter().map(|event| event.version).collect();
    assert_eq!(versions, [2, 2], "each moved once");
}

#[tokio::test]
async fn expunging_a_payload_leaves_the_others_of_its_transaction() {
    let (market, receiver, _, [paid, captured]) = paid_order().await;
    sweep(&market).await;
    receiver.wait_for(2).await;
    let deliveries = market.owner.get(DELIVERIES).await.expect(200);
    let of_paid = deliveries.data().iter().find(|one| one["event_id"] == json!(paid)).unwrap();
    let content = format!("{DELIVERIES}/{}/content", of_paid["id"].as_str().unwrap());
    support::eventually(Duration::from_secs(20), || async {
        (market.owner.delete(&content).await.status == 204).then_some(())
    })
    .await;
    let removed = market.owner.get(&format!("{OUTBOX}/{paid}")).await.expect(200);
    let kept = market.owner.get(&format!("{OUTBOX}/{captured}")).await.expect(200);
    assert_eq!(
        (removed.at("/payload_expunged"), removed.at("/payload")),
        (&json!(true), &Value::Null)
    );
    assert_eq!(removed.str("/type"), "order.paid");
    assert_eq!(*kept.at("/payload_expunged"), json!(false));
    assert_eq!(kept.str("/payload/type"), "payment.captured");
    assert_eq!(*kept.at("/payload"), receiver.events("payment.captured")[0].json());
}
