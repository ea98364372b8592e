//! Products of a hundred variants: more than one transaction holds.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Gateway, Market, Removed, Reply, Shopper, Value, cart, inr, json, unique};

use super::{PRODUCTS, kinds, make, owner, path};

/// A product of a hundred variants with SKUs.
fn hundred(title: &str, status: &str) -> Value {
    let values: Vec<String> = (0..100).map(|n| format!("No {n}")).collect();
    let variant = |value: &String| json!({"price": inr(5), "sku": format!("{title} {value}"), "options": [value]});
    json!({
        "title": title, "status": status, "variants": values.iter().map(variant).collect::<Vec<_>>(),
        "options": [{"name": "Number", "values": values}],
    })
}

fn variant(product: &Reply, place: usize) -> String {
    product.str(&format!("/variants/{place}/id"))
}

/// Whether a shopper could order a variant now.
async fn is_sold(market: &Market, variant: &str) -> bool {
    let input = json!({"items": [{"variant_id": variant, "quantity": 1}], "dry_run": true});
    let said = market.try_order(input).await;
    if said.status == 200 {
        return true;
    }
    let expected = ("/items/0/variant_id".to_owned(), "unknown_variant".to_owned());
    assert_eq!(said.expect(422).field_errors(), [expected]);
    false
}

#[tokio::test]
async fn a_rejected_change_of_a_hundred_variants_changes_none() {
    let market = Market::open().await;
    let owner = &market.owner;
    let made = make(owner, hundred("Numbers", "draft")).await;
    make(owner, json!({"title": "Mug", "variants": [{"price": inr(5), "sku": "MUG"}]})).await;
    let before = market.gateway.items_of("sellable", "STO#").await;
    let taken = json!({"status": "active", "handle": "mug"});
    owner.patch(&path(&made)).json(taken).await.expect(409).problem("handle_taken");
    let nowhere = json!({"status": "active", "category_id": format!("cat_{:032x}", 7)});
    let rejected = owner.patch(&path(&made)).json(nowhere).await.expect(422);
    let unknown = ("/category_id".to_owned(), "unknown_category".to_owned());
    assert_eq!(rejected.field_errors(), [unknown]);
    let one = format!("{}/variants/{}", path(&made), variant(&made, 70));
    let taken = json!({"position": 1, "sku": "mug"});
    owner.patch(&one).json(taken).await.expect(409).problem("sku_taken");
    assert_eq!(market.gateway.items_of("sellable", "STO#").await, before);
    assert_eq!(owner.get(&path(&made)).await.expect(200).json, made.json);
    for place in [0, 99] {
        assert!(!is_sold(&market, &variant(&made, place)).await, "#{place}");
    }
    assert_eq!(kinds(&market.gateway, "product.updated").await, 0);
    // What is not rejected reaches all of them, and leaves nothing to do.
    owner.patch(&path(&made)).json(json!({"status": "active"})).await.expect(200);
    for place in [0, 50, 99] {
        assert!(is_sold(&market, &variant(&made, place)).await, "#{place}");
    }
    assert_eq!(market.gateway.items_of("product_remainder", "STO#").await.len(), 0);
}

#[tokio::test]
async fn moving_a_variant_raises_only_its_own_version() {
    let market = Market::open().await;
    let made = make(&market.owner, hundred("Numbers", "active")).await;
    let one = format!("{}/variants/{}", path(&made), variant(&made, 70));
    let moved = market.owner.patch(&one).json(json!({"position": 1})).await.expect(200);
    assert_eq!((moved.int("/position"), moved.int("/version")), (1, 2));
    let shown = market.owner.get(&path(&made)).await.expect(200);
    let expected: Vec<usize> = std::iter::once(70).chain((0..100).filter(|n| *n != 70)).collect();
    for (place, was) in expected.into_iter().enumerate() {
        assert_eq!(variant(&shown, place), variant(&made, was));
        let at = |field: &str| shown.int(&format!("/variants/{place}/{field}"));
        let version = if was == 70 { 2 } else { 1 };
        assert_eq!((at("position"), at("version")), (i64::try_from(place).unwrap() + 1, version));
    }
    let page = format!("/v1/storefront/{}/products/numbers", market.store.subdomain);
    let page = market.gateway.get(&page).await.expect(200);
    assert_eq!((variant(&page, 0), page.int("/variants/1/position")), (variant(&made, 70), 2));
}

#[tokio::test]
async fn the_sweep_completes_deferred_product_work() {
    let market = Market::open().await;
    let made = make(&market.owner, hundred("Numbers", "active")).await;
    let last = variant(&made, 99);
    let sellable = || async {
        let mut items = market.gateway.items_of("sellable", "STO#").await;
        items.retain(|item| item["variant_id"] == last.as_str());
        items.remove(0)
    };
    // As it is between the change and what it leaves to do.
    let behind = json!({"status": "draft", "was_ordered": true});
    market.gateway.change_item(&sellable().await, behind).await;
    market.gateway.leave_deferred_work(&made.str("/id"), None, &[]).await;
    assert!(!is_sold(&market, &last).await);
    assert_eq!(market.gateway.sweep().await.products, 0, "somebody may be at it");
    market.gateway.advance(MINUTE * 2);
    let swept = market.gateway.sweep().await;
    assert_eq!((swept.products, swept.failures), (1, 0));
    assert!(is_sold(&market, &last).await);
    assert_eq!(sellable().await["was_ordered"], true, "orders mark it, and nobody unmarks it");
    assert_eq!(market.gateway.sweep().await.products, 0, "it is done once");
}

#[tokio::test]
async fn the_sweep_deletes_leftovers_of_a_deleted_variant() {
    let market = Market::open().await;
    let large = json!({
        "price": inr(5), "sku": "MUG-L", "barcode": "4006381333931", "options": ["L"]
    });
    let made = make(
        &market.owner,
        json!({
            "title": "Mug", "status": "active", "options": [{"name": "Size", "values": ["S", "L"]}],
            "variants": [{"price": inr(5), "sku": "MUG-S", "options": ["S"]}, large],
        }),
    )
    .await;
    let gateway = &market.gateway;
    let words = || gateway.items_of("word", "STO#");
    let barcodes = || async {
        let items = gateway.items("STO#").await;
        items.iter().filter(|item| item["PK"].as_str().unwrap().contains("#BAR#")).count()
    };
    assert_eq!((words().await.is_empty(), barcodes().await), (false, 1));
    let large = variant(&made, 1);
    let large = Removed { variant: &large, sku: "MUG-L", barcode: "4006381333931" };
    gateway.leave_deferred_work(&made.str("/id"), Some(large), &words().await).await;
    gateway.advance(MINUTE * 2);
    let swept = gateway.sweep().await;
    assert_eq!((swept.products, swept.failures), (1, 0));
    assert_eq!(gateway.items_of("sellable", "STO#").await.len(), 1);
    assert_eq!((words().await.is_empty(), barcodes().await), (false, 0));
    // Its SKU is free again.
    let again = json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "MUG-L"}]});
    make(&market.owner, again).await;
}

#[tokio::test]
async fn a_product_deletion_and_an_order_never_both_succeed() {
    let market = Market::open().await;
    let mut seen = [0, 0];
    for round in 0..6_u64 {
        let made = make(&market.owner, hundred(&unique("Numbers"), "active")).await;
        let last = variant(&made, 99);
        let hard = format!("{}?hard=true", path(&made));
        let remove = async { market.owner.delete(&hard).await };
        let order = async {
            tokio::time::sleep(Duration::from_millis(round.saturating_mul(15))).await;
            market.try_order(cart(&[(&last, 1)])).await
        };
        let (removed, ordered) = tokio::join!(remove, order);
        if removed.status == 204 {
            assert_eq!(ordered.expect(422).field_errors()[0].1, "unknown_variant");
            market.owner.get(&path(&made)).await.expect(404);
            seen[0] += 1;
        } else {
            removed.expect(409).problem("product_has_orders");
            ordered.expect(201);
            let kept = market.owner.get(&path(&made)).await.expect(200);
            assert_eq!(kept.at("/variants").as_array().unwrap().len(), 100);
            seen[1] += 1;
        }
    }
    assert_eq!(seen[0] + seen[1], 6, "{seen:?}");
    let kept = market.gateway.items_of("sellable", "STO#").await;
    assert_eq!(kept.len(), seen[1] * 100);
    assert_eq!(market.gateway.items_of("product_remainder", "STO#").await.len(), 0);
}

#[tokio::test]
async fn hard_delete_removes_a_products_reviews_and_stock() {
    let market = Market::open().await;
    for body in [
        hundred("Numbers", "active"),
        json!({"title": "Numbers", "status": "active", "variants": [
            {"price": inr(5), "sku": "N", "inventory": {"levels": [{"quantity": 3}]}}]}),
    ] {
        let made = make(&market.owner, body).await;
        let shopper = Shopper::register(&market.gateway, &market.store).await;
        let reviews = format!("/v1/storefront/{}/products/numbers/reviews", market.store.subdomain);
        let input = json!({"rating": 4, "title": "Good", "body": "Yes."});
        let review = shopper.post(&reviews).json(input).await.expect(201).str("/id");
        assert_eq!(market.owner.get("/v1/reviews").await.expect(200).data().len(), 1);
        market.owner.delete(&format!("{}?hard=true", path(&made))).await.expect(204);
        assert_eq!(market.owner.get("/v1/reviews").await.expect(200).data().len(), 0);
        let approve = market.owner.post(&format!("/v1/reviews/{review}/approve")).json(json!({}));
        approve.await.expect(404).problem("not_found");
        assert_eq!(of_products(&market.gateway).await, Vec::<Value>::new());
    }
}

/// The items that products are made of, with their unique values and reviews. The search index, which follows
/// the events, is not among them.
async fn of_products(gateway: &Gateway) -> Vec<Value> {
    let kinds =
        ["product", "variant", "sellable", "level", "review", "pointer", "product_remainder"];
    let mut found = gateway.items("STO#").await;
    found.retain(|item| kinds.contains(&item["entity"].as_str().unwrap()));
    for claim in ["sku", "product_handle"] {
        found.extend(gateway.items_of(claim, "UQ#").await);
    }
    found.sort_by_key(Value::to_string);
    found
}

#[tokio::test]
async fn a_product_of_a_hundred_variants_changes_atomically() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, hundred("Numbers", "active")).await;
    assert_eq!(made.at("/variants").as_array().unwrap().len(), 100);
    // A rejection at the very end leaves nothing behind: not one variant, not one SKU.
    let before = of_products(&gateway).await;
    let mut other = hundred("Others", "active");
    other["handle"] = "numbers".into();
    owner.post(PRODUCTS).json(other).await.expect(409).problem("handle_taken");
    assert_eq!(of_products(&gateway).await, before);
    let archived = owner.patch(&path(&made)).json(json!({"status": "archived"})).await.expect(200);
    assert_eq!(archived.str("/status"), "archived");
    let sellables = || async {
        let items = gateway.items("STO#").await;
        items.into_iter().filter(|item| item["entity"] == "sellable").collect::<Vec<_>>()
    };
    let after = sellables().await;
    assert_eq!(after.len(), 100);
    assert!(after.iter().all(|sellable| sellable["status"] == "archived"));
    assert_eq!(kinds(&gateway, "product.archived").await, 1);
    let hard = format!("{}?hard=true", path(&made));
    owner.delete(&hard).await.expect(204);
    owner.get(&path(&made)).await.expect(404);
    assert_eq!(sellables().await.len(), 0);
    assert_eq!(gateway.items("UQ#sto").await.len(), 0);
    assert_eq!(kinds(&gateway, "product.deleted").await, 1);
}
