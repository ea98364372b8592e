//! Discounts, as their merchant keeps them.

use support::{Market, Shop, Value, json, unique};

const DISCOUNTS: &str = "/v1/discounts";

fn tenth(code: &str) -> Value {
    json!({
        "title": "A tenth off", "code": code, "kind": "percentage",
        "value": {"basis_points": 1_000},
    })
}

#[tokio::test]
async fn a_merchant_manages_the_lifecycle_of_a_discount() {
    let market = Market::open().await;
    let owner = &market.owner;
    let made = owner.post(DISCOUNTS).json(tenth("welcome-10")).await.expect(201);
    assert_eq!(made.str("/code"), "WELCOME-10");
    assert_eq!((made.str("/status"), made.int("/used")), ("active".into(), 0));
    let one = format!("{DISCOUNTS}/{}", made.str("/id"));
    let input =
        json!({"title": "More", "value": {"basis_points": 2_000}, "minimum": {"quantity": 2}});
    let changed = owner.patch(&one).json(input).await.expect(200);
    assert_eq!((changed.int("/version"), changed.int("/minimum/quantity")), (2, 2));
    let off = owner.post(&format!("{one}/disable")).json(json!({})).await.expect(200);
    assert_eq!(off.str("/status"), "disabled");
    let again = owner.post(&format!("{one}/disable")).json(json!({})).await.expect(409);
    assert_eq!(
        *again.problem("invalid_state_transition").at("/allowed_actions"),
        json!(["enable"])
    );
    let listed = owner.get(&format!("{DISCOUNTS}?status=disabled")).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    let found = owner.get(&format!("{DISCOUNTS}?code=Welcome-10")).await.expect(200);
    assert_eq!(found.data()[0]["id"], made.at("/id").clone());
    assert!(owner.get(&format!("{DISCOUNTS}?code=other")).await.expect(200).data().is_empty());
    owner.post(&format!("{one}/enable")).json(json!({})).await.expect(200);
    owner.delete(&one).await.expect(204);
    owner.get(&one).await.expect(404);
    owner.post(DISCOUNTS).json(tenth("welcome-10")).await.expect(201);
    assert_eq!(market.gateway.events("discount.updated").await.len(), 3);
    assert_eq!(market.gateway.events("discount.deleted").await.len(), 1);
}

#[tokio::test]
async fn all_field_errors_of_a_discount_are_reported_at_once() {
    let market = Market::open().await;
    let nothing = |kind: &str| format!("{kind}_{}", "0".repeat(32));
    let input = json!({
        "title": "X", "kind": "fixed", "value": {"basis_points": 1},
        "applies_to": {"product_ids": [nothing("prd")], "collection_ids": [nothing("col")]},
        "minimum": {"subtotal": {"amount": 1, "currency": "USD"}},
        "starts_at": "2030-01-02T00:00:00Z", "ends_at": "2030-01-01T00:00:00Z",
    });
    let rejected = market.owner.post(DISCOUNTS).json(input).await.expect(422);
    let mut found = rejected.field_errors();
    found.sort();
    let found: Vec<_> = found.iter().map(|(at, code)| (at.as_str(), code.as_str())).collect();
    assert_eq!(
        found,
        [
            ("/applies_to/collection_ids/0", "unknown_collection"),
            ("/applies_to/product_ids/0", "unknown_product"),
            ("/ends_at", "invalid_range"),
            ("/minimum/subtotal/currency", "currency_mismatch"),
            ("/value/amount", "required"),
            ("/value/basis_points", "not_applicable"),
        ]
    );
    market.owner.post(DISCOUNTS).json(tenth("TWICE")).await.expect(201);
    let taken = market.owner.post(DISCOUNTS).json(tenth("twice")).await.expect(409);
    taken.problem("code_taken");
    let one = market.owner.post(DISCOUNTS).json(tenth("OPEN")).await.expect(201);
    let path = format!("{DISCOUNTS}/{}", one.str("/id"));
    let late = market.owner.patch(&path).json(json!({"usage_limit": 5})).await.expect(422);
    assert_eq!(late.field_errors(), [("/usage_limit".into(), "not_applicable".into())]);
}

#[tokio::test]
async fn a_store_has_at_most_25_active_automatic_discounts() {
    let market = Market::open().await;
    let automatic = || json!({"title": unique("auto"), "kind": "free_shipping"});
    let mut last = String::new();
    for _ in 0..25 {
        last = market.owner.post(DISCOUNTS).json(automatic()).await.expect(201).str("/id");
    }
    let rejected = market.owner.post(DISCOUNTS).json(automatic()).await.expect(409);
    assert_eq!(rejected.problem("discount_limit").int("/limit"), 25);
    let one = format!("{DISCOUNTS}/{last}");
    market.owner.post(&format!("{one}/disable")).json(json!({})).await.expect(200);
    market.owner.post(DISCOUNTS).json(automatic()).await.expect(201);
    let full = market.owner.post(&format!("{one}/enable")).json(json!({})).await.expect(409);
    full.problem("discount_limit");
    market.owner.delete(&one).await.expect(204);
}

#[tokio::test]
async fn an_app_needs_write_discounts_to_create_discounts() {
    let shop = Shop::with_published_app(&["read_discounts"]).await;
    let app = shop.app_client().await;
    assert!(app.get(DISCOUNTS).await.expect(200).data().is_empty());
    let rejected = app.post(DISCOUNTS).json(tenth("APP")).await.expect(403);
    rejected.problem("insufficient_scope");
}
