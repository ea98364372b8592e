//! Whose stock it is, and who may touch it.

use support::{Merchant, Shop, json};

use super::{LEVELS, LOCATIONS, Stock, counts};

#[tokio::test]
async fn another_stores_inventory_is_not_found() {
    let stock = Stock::new().await;
    let item = stock.item(5).await;
    let intruder = Merchant::sign_up(&stock.gateway).await;
    let intruder = intruder.at(&intruder.open_store().await);
    let zeroes = "0".repeat(32);
    for path in [
        format!("{LOCATIONS}/{}", stock.main),
        format!("{LEVELS}/{item}/{}/ledger", stock.main),
        format!("{LEVELS}/{item}/{}/verify", stock.main),
    ] {
        intruder.get(&path).await.expect(404).problem("not_found");
    }
    let unknown = format!("{LOCATIONS}/loc_{zeroes}");
    intruder.get(&unknown).await.expect(404).problem("not_found");
    let listed = format!("{LEVELS}?item_ids={item}&location_ids={}", stock.main);
    assert!(intruder.get(&listed).await.expect(200).data().is_empty());
    let input = json!({
        "reason": "theft", "changes": [
            {"item_id": item, "location_id": stock.main, "delta": -5},
        ],
    });
    let rejected =
        intruder.post(&format!("{LEVELS}/adjust")).json(input).key("t").await.expect(422);
    assert_eq!(rejected.str("/errors/0/code"), "unknown_item");
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(5, 0, 0));
}

#[tokio::test]
async fn an_app_needs_write_inventory_to_adjust_stock() {
    let shop = Shop::with_published_app(&["read_inventory", "write_locations"]).await;
    shop.authorize().await;
    let app = shop.app_client().await;
    app.get(LOCATIONS).await.expect(200);
    app.get(&format!("{LEVELS}?item_ids=var_{}", "0".repeat(32))).await.expect(200);
    let input = json!({"reason": "r", "changes": []});
    let rejected = app.post(&format!("{LEVELS}/adjust")).json(input).key("k").await.expect(403);
    rejected.problem("insufficient_scope");
}
