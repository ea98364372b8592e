//! Steps that are cut off, and steps that are taken twice.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_and_repeated_import_steps_create_each_product_once() {
    let market = Market::open().await;
    let owner = &market.owner;
    let mut file =
        "Handle,Title,Variant SKU,Variant Price,Variant Inventory Tracker,Variant Inventory Qty\n"
            .to_owned();
    for number in 0..600 {
        let _ = writeln!(file, "p-{number},Product {number},S-{number},1,shopify,3");
    }
    let id = asked(owner, json!({"kind": "products"})).await;
    begin(owner, &id, file.as_bytes(), 10_000).await;
    let process = market.gateway.process();
    // Beside the system's own worker, workers that die at any moment.
    for moment in 0..40_u64 {
        let worker = process.step_import(&id);
        let _ = tokio::time::timeout(Duration::from_millis(moment * 5), worker).await;
    }
    let path = format!("{IMPORTS}/{id}");
    let done = eventually(Duration::from_mins(2), || async {
        // A message whose step came second sends no other: the sweep does.
        market.gateway.sweep().await;
        let shown = owner.get(&path).await.expect(200);
        (shown.str("/status") != "running").then_some(shown)
    })
    .await;
    let found = findings(owner, &done).await;
    assert_eq!(done.str("/status"), "succeeded", "{found:?}");
    assert_eq!(done.int("/progress/created"), 600);
    let count = |kind: &'static str| async { market.gateway.items_of(kind, "").await.len() };
    assert_eq!(count("product").await, 600);
    assert_eq!(count("variant").await, 600);
    assert_eq!(count("level").await, 600);
    assert_eq!(market.gateway.events("product.created").await.len(), 600);
    assert!(market.gateway.items(&format!("FIL#{id}")).await.is_empty());
}
