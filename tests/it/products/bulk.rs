//! Many products in one request.

use support::{Market, inr, json, unique};

use super::PRODUCTS;

const BULK: &str = "/v1/products/bulk";

#[tokio::test]
async fn bulk_requests_report_one_result_per_operation() {
    let market = Market::open().await;
    let owner = &market.owner;
    let kept = owner.post(PRODUCTS).json(json!({"title": "Kept"})).await.expect(201);
    let gone = owner.post(PRODUCTS).json(json!({"title": "Gone"})).await.expect(201);
    let variant = json!([{"price": inr(500), "sku": "MUG"}]);
    let input = json!({"operations": [
        {"action": "create", "product": {"title": "Mug", "variants": variant}},
        {"action": "create", "product": {"title": "Mug too", "variants": variant}},
        {"action": "create", "product": {"title": 5, "colour": "red"}},
        {"action": "update", "id": kept.str("/id"), "version": 1, "product": {"title": "Renamed"}},
        {"action": "update", "id": kept.str("/id"), "version": 1, "product": {"title": "Again"}},
        {"action": "update", "product": {}},
        {"action": "delete", "id": gone.str("/id")},
        {"action": "delete", "id": format!("prd_{:032x}", 7)},
    ]});
    let done = owner.post(BULK).key(&unique("bulk")).json(input).await.expect(200);
    let statuses: Vec<i64> =
        (0..8).map(|number| done.int(&format!("/results/{number}/status"))).collect();
    assert_eq!(statuses, [201, 409, 422, 200, 412, 422, 204, 404]);
    assert_eq!((done.int("/succeeded"), done.int("/failed")), (3, 5));
    assert_eq!(done.str("/results/0/product/title"), "Mug");
    assert_eq!(done.str("/results/1/problem/code"), "sku_taken");
    let mut field_errors: Vec<String> = (0..2)
        .map(|number| done.str(&format!("/results/2/problem/errors/{number}/pointer")))
        .collect();
    field_errors.sort();
    assert_eq!(field_errors, ["/product/colour", "/product/title"]);
    assert_eq!(done.str("/results/5/problem/errors/0/pointer"), "/id");
    let shown = owner.get(&format!("{PRODUCTS}/{}", kept.str("/id"))).await.expect(200);
    assert_eq!(shown.str("/title"), "Renamed");
    let shown = owner.get(&format!("{PRODUCTS}/{}", gone.str("/id"))).await.expect(200);
    assert_eq!(shown.str("/status"), "archived");
}

#[tokio::test]
async fn a_repeated_bulk_request_applies_each_operation_once() {
    let market = Market::open().await;
    let owner = &market.owner;
    let make =
        |number: i32| json!({"action": "create", "product": {"title": format!("P {number}")}});
    let input = json!({"operations": (0..20).map(make).collect::<Vec<_>>()});
    let key = unique("bulk");
    let first = owner.post(BULK).key(&key).json(input.clone()).await.expect(200);
    // As after a crash before the last write: what was done is known, operation by operation.
    let records = market.gateway.items("IDM#").await;
    assert_eq!(records.len(), 21);
    let whole = records.iter().max_by_key(|record| record.to_string().len()).unwrap();
    market.gateway.delete_item(whole).await;
    let again = owner.post(BULK).key(&key).json(input.clone()).await.expect(200);
    assert_eq!(again.json, first.json);
    owner.post(BULK).json(input).await.expect(400).problem("idempotency_key_required");
    assert_eq!(market.gateway.items_of("product", "STO#").await.len(), 20);
    let none = json!({"operations": []});
    owner.post(BULK).key(&unique("bulk")).json(none).await.expect(422);
}
