//! Requests that ask for several things, and break off between them.

use std::time::Duration;

use emulators::faults::Fault;
use support::{Market, json, unique};

use super::{Faulty, WRITE};

/// What no attempt has done is done by the next one, and is no operation's answer for a day.
#[tokio::test]
async fn a_retried_bulk_request_completes_its_unfinished_operations() {
    const BULK: &str = "/v1/products/bulk";
    let market = Market::open().await;
    let faulty = Faulty::alongside(&market.gateway).await;
    let owner = faulty.take(&market.owner);
    let title = json!({"title": "Kept"});
    let product = market.owner.post("/v1/products").json(title).await.expect(201);
    let make = |title: &str| json!({"action": "create", "product": {"title": title}});
    let input = json!({"operations": [make("A"), make("B")]});
    let key = unique("bulk");
    faulty.will([(WRITE, Fault::Denied)]);
    let broken = owner.post(BULK).key(&key).json(input.clone()).await;
    assert!(broken.status >= 500, "{}", broken.text);
    assert_eq!(faulty.left(), 0);
    let done = owner.post(BULK).key(&key).json(input).await.expect(200);
    assert_eq!((done.int("/succeeded"), done.int("/failed")), (2, 0), "{}", done.text);

    // The claim of the first cannot be let go either: as after a crash it is there until its lease ends.
    let stale = json!({"action": "update", "id": product.str("/id"), "version": 9, "product": {}});
    let input = json!({"operations": [stale, make("C")]});
    let key = unique("bulk");
    faulty.will([(WRITE, Fault::Denied); 2]);
    let broken = owner.post(BULK).key(&key).json(input.clone()).await;
    assert!(broken.status >= 500, "{}", broken.text);
    assert_eq!(faulty.left(), 0);
    let early = owner.post(BULK).key(&key).json(input.clone()).await.expect(409);
    assert_eq!(early.problem("request_in_progress").header("retry-after"), Some("1"));
    market.gateway.advance(Duration::from_secs(31));
    let done = owner.post(BULK).key(&key).json(input.clone()).await.expect(200);
    let statuses = [done.int("/results/0/status"), done.int("/results/1/status")];
    assert_eq!(statuses, [412, 201], "{}", done.text);
    let again = owner.post(BULK).key(&key).json(input).await.expect(200);
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&done.text, Some("true")));
    assert_eq!(market.gateway.items_of("product", "STO#").await.len(), 4);
}
