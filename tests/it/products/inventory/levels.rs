//! Levels, and the ledger of what changed them manually.

use std::collections::BTreeSet;
use std::time::Duration;

use support::{Value, json, race};

use super::{LEVELS, Stock, counts};

#[tokio::test]
async fn the_ledger_records_adjust_set_and_move_changes() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let item = stock.item(10).await;
    let adjusted = stock
        .change(
            "adjust",
            json!([
                {"item_id": item, "location_id": stock.main, "delta": 5},
                {"item_id": item, "location_id": stock.main, "delta": -2, "change_from": 10},
                {"item_id": item, "location_id": second, "state": "on_hand", "delta": 4},
            ]),
        )
        .await
        .expect(200);
    assert_eq!(adjusted.at("/changes").as_array().unwrap().len(), 2, "equal changes are merged");
    assert_eq!(adjusted.at("/ledger_ids").as_array().unwrap().len(), 2);
    let change = adjusted.at("/changes").as_array().unwrap();
    let main = change.iter().find(|change| change["location_id"] == *stock.main).unwrap();
    assert_eq!((main["delta"].as_i64(), main["quantity_after"].as_i64()), (Some(3), Some(13)));
    let at_main = |quantity: i64, compare: Value| {
        json!([{
            "item_id": item, "location_id": stock.main, "quantity": quantity,
            "compare_quantity": compare,
        }])
    };
    let stale = stock.change("set", at_main(20, json!(10))).await.expect(409);
    assert_eq!(stale.int("/actual"), 13);
    stale.problem("stale_quantity");
    stock.change("set", at_main(20, json!(13))).await.expect(200);
    stock.change("set", at_main(21, json!(null))).await.expect(200);
    let silent = json!([{"item_id": item, "location_id": stock.main, "quantity": 1}]);
    let silent = stock.change("set", silent).await.expect(422);
    assert_eq!(silent.str("/errors/0/pointer"), "/changes/0/compare_quantity");
    assert_eq!(silent.str("/errors/0/code"), "required");
    let across = json!([{
        "item_id": item, "from_location": stock.main, "to_location": second, "quantity": 21,
    }]);
    stock.change("move", across.clone()).await.expect(200);
    stock.change("move", across).await.expect(409).problem("insufficient_quantity");
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(0, 0, 0));
    assert_eq!(stock.quantities(&item, &second).await, counts(25, 0, 0));
    stock.verify(&item, &stock.main).await;
    let verified = stock.verify(&item, &second).await;
    assert_eq!(verified.int("/movements"), 2);
    let path = format!("{LEVELS}/{item}/{}/ledger", stock.main);
    let ledger = stock.owner.get(&path).await.expect(200);
    let kinds: Vec<_> = ledger.data().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["moved", "set", "set", "adjusted"]);
    assert_eq!(ledger.int("/opening"), 10);
    assert_eq!(ledger.str("/data/3/reason"), "test");
    assert_eq!(stock.gateway.events("inventory.adjusted").await.len(), 4);
}

/// A ledger of any length is added up, as many movements at once as one answer can read.
#[tokio::test]
async fn a_long_ledger_is_verified_page_by_page() {
    let stock = Stock::new().await;
    let item = stock.item(10).await;
    let change = json!([{"item_id": item, "location_id": stock.main, "delta": 3}]);
    for _ in 0..7 {
        stock.change("adjust", change.clone()).await.expect(200);
    }
    let path = format!("{LEVELS}/{item}/{}/verify", stock.main);
    let page = |cursor: Option<String>| {
        let cursor = cursor.map_or(String::new(), |cursor| format!("&cursor={cursor}"));
        stock.owner.get(&format!("{path}?max_movements=3{cursor}"))
    };
    let first = page(None).await.expect(200);
    assert_eq!((first.at("/consistent"), first.int("/movements")), (&json!(null), 3));
    assert_eq!(first.int("/expected/available"), 19);
    let cursor = first.str("/page/next_cursor");
    let second = page(Some(cursor.clone())).await.expect(200);
    assert_eq!((second.at("/consistent"), second.int("/movements")), (&json!(null), 6));
    // What is written behind the cursor is met by the pages that are still to come.
    stock.change("adjust", change.clone()).await.expect(200);
    let third = page(Some(second.str("/page/next_cursor"))).await.expect(200);
    assert_eq!((third.at("/consistent"), third.int("/movements")), (&json!(true), 8));
    assert_eq!(*third.at("/page/has_more"), json!(false));
    assert_eq!(third.at("/expected"), third.at("/actual"));
    let whole = stock.verify(&item, &stock.main).await;
    assert_eq!(whole.int("/movements"), 8);
    let short = stock.owner.get(&format!("{path}?max_movements=7")).await.expect(200);
    assert_eq!(*short.at("/consistent"), json!(null));
    let more = stock.owner.get(&format!("{path}?max_movements=9")).await.expect(200);
    assert_eq!(*more.at("/consistent"), json!(true));
    for most in ["0", "200001"] {
        let rejected = stock.owner.get(&format!("{path}?max_movements={most}")).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/max_movements".into(), "out_of_range".into())]);
    }
    // Its cursor is another list's as little as another list's is its.
    let ledger = format!("{LEVELS}/{item}/{}/ledger?cursor={cursor}", stock.main);
    stock.owner.get(&ledger).await.expect(400).problem("invalid_cursor");
}

#[tokio::test]
async fn an_inventory_request_applies_all_changes_or_none() {
    let stock = Stock::new().await;
    let (rich, poor) = (stock.item(10).await, stock.item(1).await);
    let untracked = stock.item_of(json!({"tracked": false})).await;
    let unknown = format!("var_{}", "0".repeat(32));
    let both = |second: &str| {
        json!([
            {"item_id": rich, "location_id": stock.main, "delta": -5},
            {"item_id": second, "location_id": stock.main, "delta": -5},
        ])
    };
    let short = stock.change("adjust", both(&poor)).await.expect(409);
    assert_eq!(short.str("/item_id"), poor);
    short.problem("insufficient_quantity");
    stock.change("adjust", both(&untracked)).await.expect(409).problem("item_not_tracked");
    let missing = stock.change("adjust", both(&unknown)).await.expect(422);
    assert_eq!(missing.str("/errors/0/pointer"), "/changes/1/item_id");
    assert_eq!(missing.str("/errors/0/code"), "unknown_item");
    assert_eq!(stock.quantities(&rich, &stock.main).await, counts(10, 0, 0));
    let committed = json!([{
        "item_id": rich, "location_id": stock.main, "state": "committed", "delta": 1,
    }]);
    stock.change("adjust", committed).await.expect(422);
    let input = json!({"reason": "r", "dry_run": true, "changes": both(&rich)});
    let path = format!("{LEVELS}/adjust");
    let dry = stock.owner.post(&path).json(input.clone()).key("dry").await.expect(200);
    assert_eq!((dry.int("/changes/0/quantity_after"), dry.at("/dry_run")), (0, &json!(true)));
    assert_eq!(stock.quantities(&rich, &stock.main).await, counts(10, 0, 0));
    stock.owner.post(&path).json(input).await.expect(400).problem("idempotency_key_required");
}

#[tokio::test]
async fn a_manual_adjustment_never_makes_stock_negative() {
    let stock = Stock::new().await;
    let item = stock.item_of(json!({"tracked": true, "policy": "continue"})).await;
    let down = json!([{"item_id": item, "location_id": stock.main, "delta": -1}]);
    stock.change("adjust", down).await.expect(409).problem("insufficient_quantity");
}

#[tokio::test]
async fn a_repeated_idempotency_key_adjusts_stock_once() {
    let stock = Stock::new().await;
    let item = stock.item(0).await;
    let input = json!({
        "reason": "delivery", "changes": [
            {"item_id": item, "location_id": stock.main, "delta": 3},
        ],
    });
    let path = format!("{LEVELS}/adjust");
    let first = stock.owner.post(&path).json(input.clone()).key("once").await.expect(200);
    let again = stock.owner.post(&path).json(input).key("once").await.expect(200);
    assert_eq!(first.text, again.text);
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(3, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_parallel_adjustments_add_up() {
    let stock = Stock::new().await;
    let item = stock.item(0).await;
    let answers = race(200, || async {
        loop {
            let one = json!([{"item_id": item, "location_id": stock.main, "delta": 1}]);
            let answer = stock.change("adjust", one).await;
            if answer.status != 429 {
                return answer;
            }
            // The budget is not what is tested here.
            stock.gateway.advance(Duration::from_secs(10));
        }
    })
    .await;
    let mut after: Vec<i64> = answers
        .into_iter()
        .map(|answer| answer.expect(200).int("/changes/0/quantity_after"))
        .collect();
    after.sort_unstable();
    assert_eq!(after, (1..=200).collect::<Vec<_>>(), "each answer saw its own");
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(200, 0, 0));
    assert_eq!(stock.verify(&item, &stock.main).await.int("/movements"), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_fifty_parallel_compare_and_sets_succeeds() {
    let stock = Stock::new().await;
    let item = stock.item(5).await;
    let answers = race(50, || async {
        let count = json!([{
            "item_id": item, "location_id": stock.main, "quantity": 9, "compare_quantity": 5,
        }]);
        stock.change("set", count).await
    })
    .await;
    let set = answers.iter().filter(|answer| answer.status == 200).count();
    let stale = answers.iter().filter(|answer| answer.json["code"] == "stale_quantity").count();
    assert_eq!((set, stale), (1, 49));
}

#[tokio::test]
async fn levels_are_listed_by_items_and_by_locations() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let mut items = Vec::new();
    for quantity in [1, 2, 3] {
        items.push(stock.item(quantity).await);
    }
    let more = json!([{"item_id": items[0], "location_id": second, "delta": 9}]);
    stock.change("adjust", more).await.expect(200);
    let by_items = format!("{LEVELS}?item_ids={}", items.join(","));
    assert_eq!(stock.owner.get(&by_items).await.expect(200).data().len(), 4);
    let both = format!("{LEVELS}?location_ids={},{second}&limit=2", stock.main);
    for list in [both, format!("{LEVELS}?limit=2")] {
        let (mut path, mut seen) = (list.clone(), BTreeSet::new());
        loop {
            let page = stock.owner.get(&path).await.expect(200);
            seen.extend(page.data().iter().map(|level| level["id"].to_string()));
            let Some(cursor) = page.at("/page/next_cursor").as_str() else { break };
            path = format!("{list}&cursor={cursor}");
        }
        assert_eq!(seen.len(), 4, "{list}");
    }
    stock.owner.get(&format!("{LEVELS}?item_ids=nonsense")).await.expect(422);
}

#[tokio::test]
async fn deleted_variants_reject_stock_and_new_ones_accept_bulk_levels() {
    let stock = Stock::new().await;
    let gone = {
        let product = stock.owner.post("/v1/products");
        let product = product.json(json!({
            "title": "Brief", "variants": [{
                "price": {"amount": 1_000, "currency": "INR"}, "inventory": {"tracked": true},
            }],
        }));
        let product = product.await.expect(201);
        stock
            .owner
            .delete(&format!("/v1/products/{}?hard=true", product.str("/id")))
            .await
            .expect(204);
        product.str("/variants/0/id")
    };
    let change = |item: &str| json!({"item_id": item, "location_id": stock.main, "delta": 3});
    let rejected = stock.change("adjust", json!([change(&gone)])).await.expect(422);
    assert_eq!(rejected.str("/errors/0/code"), "unknown_item");
    let mut items = Vec::new();
    for _ in 0..45 {
        items.push(stock.item_of(json!({"tracked": true})).await);
    }
    let changes: Value = items.iter().map(|item| change(item)).collect();
    let done = stock.change("adjust", changes).await.expect(200);
    assert_eq!(done.at("/ledger_ids").as_array().unwrap().len(), 45);
    for item in [&items[0], &items[44]] {
        assert_eq!(stock.quantities(item, &stock.main).await, counts(3, 0, 0));
        stock.verify(item, &stock.main).await;
    }
}

/// However the two meet, nothing is stocked that is no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_variant_deleted_during_an_adjustment_leaves_no_level() {
    let stock = Stock::new().await;
    for round in 0..8 {
        let input = json!({"title": "Brief", "variants": [{
            "price": {"amount": 1_000, "currency": "INR"}, "inventory": {"tracked": true},
        }]});
        let product = stock.owner.post("/v1/products").json(input).await.expect(201);
        let item = product.str("/variants/0/id");
        let change = json!([{"item_id": item, "location_id": stock.main, "delta": 3}]);
        let path = format!("/v1/products/{}?hard=true", product.str("/id"));
        let going = async {
            tokio::time::sleep(Duration::from_millis(round)).await;
            stock.owner.delete(&path).await
        };
        let (changed, gone) = tokio::join!(stock.change("adjust", change), going);
        assert!(matches!(changed.status, 200 | 422), "{}", changed.text);
        gone.expect(204);
        assert_eq!(stock.quantities(&item, &stock.main).await, Value::Null);
    }
}
