//! Uploads: what is stored of a file is the file, whatever was sent.

use futures_util::future::join_all;

use super::*;

/// Bytes that are stored of an import's file.
async fn stored(market: &Market, id: &str) -> usize {
    let chunks = market.gateway.stored(&format!("FIL#{id}")).await;
    chunks.iter().map(|chunk| chunk.bytes).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chunks_of_uploads_beyond_the_limit_are_removed() {
    let market = Market::open().await;
    let owner = &market.owner;
    let id = asked(owner, json!({"kind": "products"})).await;
    let part = |number: usize| format!("{IMPORTS}/{id}/parts/{number}");
    let bytes = vec![b'x'; 4 << 20];
    let put = |number: usize| {
        owner.put(&part(number)).header("content-type", "text/csv").body(bytes.as_slice())
    };
    for number in 1..=11 {
        put(number).await.expect(200);
    }
    // There is room for one more part, and eight come at once, with the merchant's whole budget.
    market.gateway.advance(Duration::from_mins(1));
    let answers = join_all((12..20).map(|number| async move { put(number).await.status })).await;
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|status| [200, 413, 409, 422].contains(status)), "{answers:?}");
    let stored = stored(&market, &id).await;
    assert!((12 * bytes.len()..12 * bytes.len() + 100_000).contains(&stored), "{stored}");
}

#[tokio::test]
async fn a_reuploaded_part_replaces_the_previous_one() {
    let market = Market::open().await;
    let owner = &market.owner;
    let id = asked(owner, json!({"kind": "customers"})).await;
    let path = format!("{IMPORTS}/{id}/parts/1");
    for file in ["Email\nold@example.com\n", "Email\nold@example.com\n", "Email\nnew@example.com\n"]
    {
        owner.put(&path).header("content-type", "text/csv").body(file).await.expect(200);
        assert_eq!(market.gateway.items(&format!("FIL#{id}")).await.len(), 1);
    }
    owner.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
    let done = ended(owner, &id, SOON).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("succeeded", 1));
    let path = "/v1/customers?email=new@example.com";
    assert_eq!(owner.get(path).await.expect(200).data().len(), 1);
}

#[tokio::test]
async fn a_store_has_at_most_five_unstarted_imports() {
    let market = Market::open().await;
    let owner = &market.owner;
    let input = json!({"kind": "customers"});
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(asked(owner, input.clone()).await);
    }
    let rejected = owner.post(IMPORTS).json(input.clone()).await.expect(409);
    assert_eq!(rejected.problem("import_limit").int("/limit"), 5);
    owner.post(&format!("{IMPORTS}/{}/cancel", ids[0])).json(json!({})).await.expect(200);
    asked(owner, input.clone()).await;
    owner.post(IMPORTS).json(input.clone()).await.expect(409).problem("import_limit");
    // One that was started waits no more, unless it was a dry run: that can be started again.
    let file = format!("Email\n{}@example.com\n", unique("one"));
    begin(owner, &ids[1], file.as_bytes(), 1 << 20).await;
    asked(owner, input.clone()).await;
    ended(owner, &ids[1], SOON).await;
    owner.post(IMPORTS).json(input).await.expect(409).problem("import_limit");
    // Files that are never started are deleted with their import, and then count no more.
    market.gateway.advance(Duration::from_hours(24 * 7));
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    asked(&owner, json!({"kind": "customers"})).await;
}

#[tokio::test]
async fn uploads_cost_a_point_per_64_kib() {
    let market = Market::open().await;
    let id = asked(&market.owner, json!({"kind": "products"})).await;
    let part = format!("{IMPORTS}/{id}/parts/1");
    for (length, points) in [(1, "11"), (64 << 10, "11"), ((64 << 10) + 1, "12"), (4 << 20, "74")] {
        let put = market.owner.put(&part).body(vec![b'x'; length]).await.expect(200);
        assert_eq!(put.header("x-service-cost-actual"), Some(points), "{length}");
    }
    // Bytes that are no picture cost as much: they were read.
    let upload = market.owner.post("/v1/media").body(vec![b'x'; 1 << 20]).await;
    assert_eq!(upload.header("x-service-cost-actual"), Some("26"), "{}", upload.text);
}
