//! Stock: locations, levels, changes by hand and the ledger.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use commerce::id::{LocationId, StoreId, VariantId};
use commerce::inventory::Level;
use gateway::problem::Code;
use support::{Client, Gateway, Merchant, Reply, Shop, Value, json, race, unique};

const LOCATIONS: &str = "/v1/inventory/locations";
const LEVELS: &str = "/v1/inventory/levels";

static KEY: AtomicU32 = AtomicU32::new(0);

/// A merchant's store with one location.
struct Stock {
    gateway: Gateway,
    owner: Client,
    main: String,
}

impl Stock {
    async fn new() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let owner = merchant.at(&merchant.open_store().await);
        let locations = owner.get(LOCATIONS).await.expect(200);
        let main = locations.data()[0]["id"].as_str().unwrap().to_owned();
        Self { gateway, owner, main }
    }

    async fn location(&self, name: &str) -> String {
        let ask = json!({"name": name, "address": {"country": "IN", "city": "Pune"}});
        self.owner.post(LOCATIONS).json(ask).await.expect(201).str("/id")
    }

    /// A new variant with so many at the main location.
    async fn item(&self, quantity: i64) -> String {
        self.item_of(json!({
            "tracked": true, "levels": [{"location_id": self.main, "quantity": quantity}],
        }))
        .await
    }

    async fn item_of(&self, inventory: Value) -> String {
        let ask = json!({
            "title": unique("Thing"),
            "variants": [{
                "price": {"amount": 1_000, "currency": "INR"}, "inventory": inventory,
            }],
        });
        let product = self.owner.post("/v1/products").json(ask).await.expect(201);
        product.str("/variants/0/id")
    }

    /// An item that can be ordered, and where.
    async fn on_sale(&self, inventory: Value) -> (String, String) {
        let store = self.owner.get("/v1/stores").await.expect(200);
        let (id, subdomain) = (store.str("/data/0/id"), store.str("/data/0/subdomain"));
        self.owner.post(&format!("/v1/stores/{id}/activate")).json(json!({})).await.expect(200);
        let ask = json!({
            "title": "Lamp", "status": "active", "variants": [{
                "price": {"amount": 1_000, "currency": "INR"}, "inventory": inventory,
            }],
        });
        let product = self.owner.post("/v1/products").json(ask).await.expect(201);
        (product.str("/variants/0/id"), format!("/v1/storefront/{subdomain}/orders"))
    }

    /// So many levels at the main location, as if made long ago.
    async fn fill(&self, levels: usize) {
        let store = self.owner.get("/v1/stores").await.expect(200).str("/data/0/id");
        let store = StoreId::parse(&store).unwrap();
        let main = LocationId::parse(&self.main).unwrap();
        let now = self.gateway.app().clock.now();
        for hundred in (0..levels).collect::<Vec<_>>().chunks(100) {
            let write = hundred.iter().fold(self.gateway.app().table.write(), |write, _| {
                let level = Level::open(&store, &VariantId::mint(now), &main, 1, now);
                write.create(&level, Code::VersionConflict)
            });
            write.commit().await.unwrap();
        }
    }

    async fn change(&self, how: &str, changes: Value) -> Reply {
        let ask = json!({"reason": "test", "changes": changes});
        let key = format!("k{}", KEY.fetch_add(1, Ordering::Relaxed));
        self.owner.post(&format!("{LEVELS}/{how}")).json(ask).key(&key).await
    }

    async fn quantities(&self, item: &str, location: &str) -> Value {
        let path = format!("{LEVELS}?item_ids={item}&location_ids={location}");
        let levels = self.owner.get(&path).await.expect(200);
        levels.data().first().map(|level| level["quantities"].clone()).unwrap_or_default()
    }

    async fn verify(&self, item: &str, location: &str) -> Reply {
        let path = format!("{LEVELS}/{item}/{location}/verify");
        let reply = self.owner.get(&path).await.expect(200);
        assert_eq!(*reply.at("/consistent"), json!(true), "{}", reply.text);
        reply
    }
}

fn counts(available: i64, reserved: i64, committed: i64) -> Value {
    json!({
        "available": available, "reserved": reserved, "committed": committed,
        "on_hand": available + reserved + committed,
    })
}

#[tokio::test]
async fn a_store_has_a_first_location_and_gets_more() {
    let stock = Stock::new().await;
    let first = stock.owner.get(LOCATIONS).await.expect(200);
    assert_eq!(first.data().len(), 1, "listed again, it is not made again");
    assert_eq!(first.data()[0]["name"], "Main");
    let ask = json!({
        "name": "Second", "address": {"line1": "1 Dock Road", "city": "Pune", "country": "IN"},
        "fulfills_online_orders": false,
    });
    let second = stock.owner.post(LOCATIONS).json(ask).key("l").await.expect(201);
    assert_eq!((second.int("/priority"), second.int("/version")), (1, 1));
    let path = format!("{LOCATIONS}/{}", second.str("/id"));
    assert_eq!(stock.owner.get(&path).await.expect(200).json, second.json);
    let patch = json!({"priority": 0, "fulfills_online_orders": true, "name": "Two"});
    let changed = stock.owner.patch(&path).json(patch).if_match("\"1\"").await.expect(200);
    assert_eq!((changed.str("/name").as_str(), changed.int("/version")), ("Two", 2));
    let stale = stock.owner.patch(&path).json(json!({"name": "x"})).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    for name in ["location.created", "location.updated"] {
        assert!(!stock.gateway.events(name).await.is_empty(), "{name}");
    }
    let bad = stock.owner.post(LOCATIONS).json(json!({"address": {"country": "XX"}})).await;
    let bad = bad.expect(422);
    assert_eq!(bad.at("/errors").as_array().unwrap().len(), 2, "{}", bad.text);
}

#[tokio::test]
async fn looking_at_a_stores_locations_changes_nothing_about_the_store() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let path = format!("/v1/stores/{}", store.id);
    let before = owner.get(&path).await.expect(200);
    let first = owner.get(LOCATIONS).await.expect(200);
    assert_eq!(first.data().len(), 1);
    assert_eq!(first.data()[0]["name"], "Main");
    let held = owner.patch(&path).json(json!({"name": "Held"})).if_match(&before.etag());
    held.await.expect(200);
    assert_eq!(gateway.events("location.created").await.len(), 1, "it came with the store");
}

#[tokio::test]
async fn the_last_active_location_stays_even_in_a_race() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let only = |id: &str| {
        let ask = stock.owner.post(&format!("{LOCATIONS}/{id}/deactivate")).json(json!({}));
        async move { ask.await }
    };
    let outcomes = tokio::join!(only(&stock.main), only(&second));
    let mut statuses = [outcomes.0.status, outcomes.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", outcomes.0.text, outcomes.1.text);
    let active = stock.owner.get(&format!("{LOCATIONS}?active=true")).await.expect(200);
    assert_eq!(active.data().len(), 1);
    let inactive = stock.owner.get(&format!("{LOCATIONS}?active=false")).await.expect(200);
    let path = format!("{LOCATIONS}/{}", inactive.data()[0]["id"].as_str().unwrap());
    let again = stock.owner.post(&format!("{path}/deactivate")).json(json!({})).await;
    again.expect(409).problem("invalid_state_transition");
    stock.owner.post(&format!("{path}/activate")).json(json!({})).await.expect(200);
}

#[tokio::test]
async fn a_location_with_stock_is_emptied_before_it_goes() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let item = stock.item(7).await;
    let held = json!([{
        "item_id": item, "location_id": stock.main, "quantity": 2,
        "from_state": "available", "to_state": "reserved",
    }]);
    stock.change("move", held).await.expect(200);
    let path = format!("{LOCATIONS}/{}/deactivate", stock.main);
    let refused = stock.owner.post(&path).json(json!({})).await.expect(409);
    refused.problem("location_has_stock");
    let unknown = format!("loc_{}", "0".repeat(32));
    let ask = json!({"move_stock_to": unknown});
    stock.owner.post(&path).json(ask).await.expect(422).problem("validation_failed");
    let ask = json!({"move_stock_to": second});
    let gone = stock.owner.post(&path).json(ask).await.expect(200);
    assert_eq!(*gone.at("/active"), json!(false));
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(0, 0, 0));
    assert_eq!(stock.quantities(&item, &second).await, counts(5, 2, 0));
    stock.verify(&item, &stock.main).await;
    stock.verify(&item, &second).await;
    let late = json!([{"item_id": item, "location_id": stock.main, "delta": 1}]);
    stock.change("adjust", late).await.expect(409).problem("location_inactive");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_order_waits_at_a_location_that_went_while_it_was_placed() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let (item, checkout) = stock
        .on_sale(json!({
            "tracked": true, "levels": [{"location_id": stock.main, "quantity": 30}],
        }))
        .await;
    let orders = race(20, || async {
        let ask = cart(&json!([{"variant_id": item, "quantity": 1}]));
        stock.gateway.client().post(&checkout).json(ask).key(&unique("o")).await
    });
    let path = format!("{LOCATIONS}/{}/deactivate", stock.main);
    let leaving = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        stock.owner.post(&path).json(json!({"move_stock_to": second})).await
    };
    let (orders, gone) = tokio::join!(orders, leaving);
    let placed = orders.iter().filter(|order| order.status == 201).count();
    let placed = i64::try_from(placed).unwrap();
    let of = async |at: &str, what: &str| stock.quantities(&item, at).await[what].as_i64();
    let here = of(&stock.main, "reserved").await.unwrap_or_default();
    let there = of(&second, "reserved").await.unwrap_or_default();
    assert_eq!(here + there, placed);
    let lies = of(&stock.main, "on_hand").await.unwrap()
        + of(&second, "on_hand").await.unwrap_or_default();
    assert_eq!(lies, 30, "no stock is lost");
    let location = stock.owner.get(&format!("{LOCATIONS}/{}", stock.main)).await.expect(200);
    assert_eq!(*location.at("/closing"), json!(false));
    if gone.status == 200 {
        assert_eq!((here, of(&stock.main, "on_hand").await), (0, Some(0)), "{}", gone.text);
    } else {
        gone.expect(409).problem("location_has_stock");
        assert_eq!(*location.at("/active"), json!(true));
    }
    stock.verify(&item, &stock.main).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_location_that_is_being_emptied_sells_nothing_and_may_be_called_back() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let (item, checkout) = stock
        .on_sale(json!({
            "tracked": true, "levels": [
                {"location_id": stock.main, "quantity": 5}, {"location_id": second, "quantity": 5},
            ],
        }))
        .await;
    stock.fill(600).await;
    stock.gateway.app().clock.stop();
    let path = format!("{LOCATIONS}/{}", stock.main);
    let deactivate = || {
        let ask = stock.owner.post(&format!("{path}/deactivate"));
        ask.json(json!({"move_stock_to": second})).key("leave")
    };
    let late = async {
        while *stock.owner.get(&path).await.expect(200).at("/closing") == json!(false) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        stock.gateway.advance(Duration::from_secs(9));
    };
    let (slow, ()) = tokio::join!(deactivate().into_future(), late);
    slow.expect(503).problem("location_emptying");
    let closing = stock.owner.get(&path).await.expect(200);
    assert_eq!(*closing.at("/active"), json!(true));
    assert_eq!(*closing.at("/allowed_actions"), json!(["activate", "deactivate"]));
    let late = json!([{"item_id": item, "location_id": stock.main, "delta": 1}]);
    stock.change("adjust", late).await.expect(409).problem("location_inactive");
    let ask = cart(&json!([{"variant_id": item, "quantity": 1}]));
    let order = stock.gateway.client().post(&checkout).json(ask).key("o").await.expect(201);
    assert_eq!(stock.quantities(&item, &second).await["reserved"], json!(1), "{}", order.text);
    let back = stock.owner.post(&format!("{path}/activate")).json(json!({})).await.expect(200);
    assert_eq!(*back.at("/closing"), json!(false));
    let gone = deactivate().await.expect(200);
    assert_eq!((gone.at("/active"), gone.at("/closing")), (&json!(false), &json!(false)));
    let levels = stock.owner.get(&format!("{LEVELS}?location_ids={}&limit=100", stock.main)).await;
    let levels = levels.expect(200);
    assert!(levels.data().iter().all(|level| level["quantities"]["on_hand"] == 0));
}

#[tokio::test]
async fn a_location_for_which_orders_wait_stays_in_use() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let (item, checkout) = stock
        .on_sale(json!({
            "tracked": true, "levels": [{"location_id": stock.main, "quantity": 5}],
        }))
        .await;
    let ask = cart(&json!([{"variant_id": item, "quantity": 1}]));
    stock.gateway.client().post(&checkout).json(ask).key("o").await.expect(201);
    let path = format!("{LOCATIONS}/{}", stock.main);
    let ask = json!({"move_stock_to": second});
    let refused = stock.owner.post(&format!("{path}/deactivate")).json(ask).await.expect(409);
    refused.problem("location_has_stock");
    let stays = stock.owner.get(&path).await.expect(200);
    assert_eq!((stays.at("/active"), stays.at("/closing")), (&json!(true), &json!(false)));
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(4, 1, 0));
}

#[tokio::test]
async fn a_new_thing_is_not_stocked_where_nothing_may_come() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let path = format!("{LOCATIONS}/{second}/deactivate");
    stock.owner.post(&path).json(json!({})).await.expect(200);
    let variant = json!({
        "price": {"amount": 1_000, "currency": "INR"}, "inventory": {
            "tracked": true, "levels": [{"location_id": second, "quantity": 1}],
        },
    });
    let ask = json!({"title": "Lamp", "variants": [variant.clone()]});
    let refused = stock.owner.post("/v1/products").json(ask).await.expect(422);
    assert_eq!(refused.str("/errors/0/pointer"), "/variants/0/inventory/levels/0/location_id");
    assert_eq!(refused.str("/errors/0/code"), "location_inactive");
    let ask = json!({"title": "Lamp", "options": [{"name": "Size", "values": ["S", "M"]}], "variants": [
        {"price": {"amount": 1_000, "currency": "INR"}, "options": ["S"]},
    ]});
    let product = stock.owner.post("/v1/products").json(ask).await.expect(201).str("/id");
    let mut variant = variant;
    variant["options"] = json!(["M"]);
    let refused = stock.owner.post(&format!("/v1/products/{product}/variants")).json(variant);
    let refused = refused.await.expect(422);
    assert_eq!(refused.str("/errors/0/code"), "location_inactive", "{}", refused.text);
}

#[tokio::test]
async fn stock_is_adjusted_set_and_moved_and_the_ledger_says_how() {
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

#[tokio::test]
async fn a_request_is_carried_out_whole_or_not_at_all() {
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
    let ask = json!({"reason": "r", "dry_run": true, "changes": both(&rich)});
    let path = format!("{LEVELS}/adjust");
    let dry = stock.owner.post(&path).json(ask.clone()).key("dry").await.expect(200);
    assert_eq!((dry.int("/changes/0/quantity_after"), dry.at("/dry_run")), (0, &json!(true)));
    assert_eq!(stock.quantities(&rich, &stock.main).await, counts(10, 0, 0));
    stock.owner.post(&path).json(ask).await.expect(400).problem("idempotency_key_required");
}

#[tokio::test]
async fn an_oversold_item_is_counted_below_nothing_by_orders_alone() {
    let stock = Stock::new().await;
    let item = stock.item_of(json!({"tracked": true, "policy": "continue"})).await;
    let down = json!([{"item_id": item, "location_id": stock.main, "delta": -1}]);
    stock.change("adjust", down).await.expect(409).problem("insufficient_quantity");
}

#[tokio::test]
async fn the_same_key_changes_stock_once() {
    let stock = Stock::new().await;
    let item = stock.item(0).await;
    let ask = json!({
        "reason": "delivery", "changes": [
            {"item_id": item, "location_id": stock.main, "delta": 3},
        ],
    });
    let path = format!("{LEVELS}/adjust");
    let first = stock.owner.post(&path).json(ask.clone()).key("once").await.expect(200);
    let again = stock.owner.post(&path).json(ask).key("once").await.expect(200);
    assert_eq!(first.text, again.text);
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(3, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_adjustments_at_once_add_up() {
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
async fn fifty_counts_of_one_quantity_are_one() {
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
async fn what_is_no_more_gets_no_stock_and_much_that_is_new_gets_all_of_it() {
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
    let refused = stock.change("adjust", json!([change(&gone)])).await.expect(422);
    assert_eq!(refused.str("/errors/0/code"), "unknown_item");
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
async fn an_item_that_goes_while_it_is_stocked_leaves_no_level() {
    let stock = Stock::new().await;
    for round in 0..8 {
        let ask = json!({"title": "Brief", "variants": [{
            "price": {"amount": 1_000, "currency": "INR"}, "inventory": {"tracked": true},
        }]});
        let product = stock.owner.post("/v1/products").json(ask).await.expect(201);
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

#[tokio::test]
async fn what_belongs_to_another_store_is_unknown() {
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
    let ask = json!({
        "reason": "theft", "changes": [
            {"item_id": item, "location_id": stock.main, "delta": -5},
        ],
    });
    let refused = intruder.post(&format!("{LEVELS}/adjust")).json(ask).key("t").await.expect(422);
    assert_eq!(refused.str("/errors/0/code"), "unknown_item");
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(5, 0, 0));
}

#[tokio::test]
async fn an_app_needs_the_scope_of_what_it_touches() {
    let shop = Shop::with_published_app(&["read_inventory", "write_locations"]).await;
    shop.authorize().await;
    let app = shop.app_client().await;
    app.get(LOCATIONS).await.expect(200);
    app.get(&format!("{LEVELS}?item_ids=var_{}", "0".repeat(32))).await.expect(200);
    let ask = json!({"reason": "r", "changes": []});
    let refused = app.post(&format!("{LEVELS}/adjust")).json(ask).key("k").await.expect(403);
    refused.problem("insufficient_scope");
}

/// A cart at the storefront.
fn cart(items: &Value) -> Value {
    json!({
        "email": "shopper@example.com", "items": items,
        "shipping_address": {"line1": "1 MG Road", "city": "Bengaluru", "country": "IN"},
    })
}

#[tokio::test]
async fn what_orders_do_to_stock_is_in_the_ledger_at_every_step() {
    let stock = Stock::new().await;
    let store = stock.owner.get("/v1/stores").await.expect(200);
    let (id, subdomain) = (store.str("/data/0/id"), store.str("/data/0/subdomain"));
    stock.owner.post(&format!("/v1/stores/{id}/activate")).json(json!({})).await.expect(200);
    let ask = json!({
        "title": "Lamp", "status": "active", "variants": [{
            "price": {"amount": 1_000, "currency": "INR"}, "inventory": {
                "tracked": true, "levels": [{"location_id": stock.main, "quantity": 10}],
            },
        }],
    });
    let product = stock.owner.post("/v1/products").json(ask).await.expect(201);
    let item = product.str("/variants/0/id");
    let checkout = format!("/v1/storefront/{subdomain}/orders");
    let order = |quantity: u32| {
        let ask = cart(&json!([{"variant_id": item, "quantity": quantity}]));
        let ask = stock.gateway.client().post(&checkout).json(ask).key(&unique("o"));
        async move { ask.await.expect(201).str("/order/id") }
    };
    let act = |order: &str, action: &str| {
        let ask = stock.owner.post(&format!("/v1/orders/{order}/{action}")).json(json!({}));
        let ask = ask.key(&unique("a"));
        async move { ask.await }
    };
    let after = async |expected: Value| {
        assert_eq!(stock.quantities(&item, &stock.main).await, expected);
        stock.verify(&item, &stock.main).await;
    };
    let (kept, dropped) = (order(2).await, order(3).await);
    after(counts(5, 5, 0)).await;
    assert_eq!(act(&dropped, "cancel").await.status, 200);
    after(counts(8, 2, 0)).await;
    act(&kept, "mark-paid").await.expect(200);
    after(counts(8, 0, 2)).await;
    act(&kept, "fulfill").await.expect(201);
    after(counts(8, 0, 0)).await;
    let ledger = stock.owner.get(&format!("{LEVELS}/{item}/{}/ledger", stock.main)).await;
    let ledger = ledger.expect(200);
    let kinds: Vec<_> = ledger.data().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["fulfilled", "committed", "released", "reserved", "reserved"]);
    assert_eq!(ledger.str("/data/0/order_id"), kept);
    let held = json!([{
        "item_id": item, "location_id": stock.main, "quantity": 1,
        "from_state": "reserved", "to_state": "available",
    }]);
    let _ = order(1).await;
    stock.change("move", held).await.expect(409).problem("insufficient_quantity");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_and_changes_by_hand_at_once_lose_nothing() {
    let stock = Stock::new().await;
    let store = stock.owner.get("/v1/stores").await.expect(200);
    let (id, subdomain) = (store.str("/data/0/id"), store.str("/data/0/subdomain"));
    stock.owner.post(&format!("/v1/stores/{id}/activate")).json(json!({})).await.expect(200);
    let ask = json!({
        "title": "Lamp", "status": "active", "variants": [{
            "price": {"amount": 1_000, "currency": "INR"},
            "inventory": {"tracked": true, "policy": "continue"},
        }],
    });
    let product = stock.owner.post("/v1/products").json(ask).await.expect(201);
    let item = product.str("/variants/0/id");
    let checkout = format!("/v1/storefront/{subdomain}/orders");
    let orders = race(20, || async {
        let ask = cart(&json!([{"variant_id": item, "quantity": 1}]));
        stock.gateway.client().post(&checkout).json(ask).key(&unique("o")).await.expect(201)
    });
    let deliveries = race(10, || async {
        let one = json!([{"item_id": item, "location_id": stock.main, "delta": 2}]);
        stock.change("adjust", one).await.expect(200)
    });
    tokio::join!(orders, deliveries);
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(0, 20, 0));
    assert_eq!(stock.verify(&item, &stock.main).await.int("/movements"), 30);
}
