//! What a request costs the table, exactly: units as DynamoDB counts them, and round trips.
//!
//! A write in a transaction is two units for each kilobyte of its item, and one for each row of an
//! index that it puts, changes or removes. So what is written often is packed into one kilobyte, and
//! its lists hold keys alone, whose rows never change (docs/data-model.md §13).

mod carts;
mod deliveries;
mod themes;
mod units;

use std::collections::BTreeMap;

use benches::costs::operations::{CHECKOUT, FULFIL, MARK_PAID, Operation, REFUND, SWEEP};
use core_types::event::EventGroup;
use support::{Gateway, Market, Reply, Shop, Value, cart, json, unique};
use table::metered;

/// An operation, its tenths of a unit, and its round trips.
type Cost = (&'static str, u32, u32);

fn cost(name: &'static str, reply: &Reply) -> Cost {
    (name, reply.tenths(), reply.trips())
}

/// A store whose customers are not written to.
async fn quiet_market() -> Market {
    quiet_market_with(|_| {}).await
}

/// The same, on a system with other options.
async fn quiet_market_with(change: impl FnOnce(&mut local::Options)) -> Market {
    let market = Market::open_with(change).await;
    let quiet = json!({"notifications": {"order_confirmation": false}});
    let path = format!("/v1/stores/{}/settings", market.store.id);
    market.merchant.patch(&path).json(quiet).await.expect(200);
    market
}

#[tokio::test]
async fn an_order_of_one_line_costs_known_capacity_units() {
    let market = quiet_market().await;
    let book = market.stock(100, 9).await;
    // The first order of a variant marks it as ordered.
    market.order(cart(&[(&book, 1)])).await;
    let mut input = cart(&[(&book, 1)]);
    input["email"] = json!("newcomer@example.com");
    let first = market.order(input).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    let paid = market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let silently = json!({"notify_customer": false});
    let fulfilled = market.act(&placed.id, "fulfill", silently).await.expect(201);
    let refunded = market.act(&placed.id, "refund", json!({})).await.expect(201);
    let found = [
        cost("checkout", &placed.reply),
        cost("mark paid", &paid),
        cost("fulfil", &fulfilled),
        cost("refund", &refunded),
    ];
    assert_eq!(
        found,
        [
            // Read at half the price: store, settings, account, sellable, level. The counter.
            // Order 2 + 3 rows (it is a guest's), level 2, movement 2, event 2 + 3 rows, record 2, the guest 2.
            ("checkout", 230, 3),
            // Session, account, store; the order at an eventually consistent read. Order 2 + 2 (it is due no
            // more, and owed), payment 2 + 1 row, level 2, movement 2, two events in 5, record 2, the guest 2.
            ("mark paid", 235, 3),
            // The same reads. Order 2, level 2, movement 2, fulfilment 2, two events in 5, record 2.
            ("fulfil", 185, 3),
            // The same reads. Order 2, payment 2, refund 2, record 2; four events are more than one
            // kilobyte: 4 + 3 rows. The guest 2.
            ("refund", 205, 3),
        ]
    );
    // A guest's first order lists them: one row.
    assert_eq!(cost("checkout", &first.reply), ("checkout", 240, 3));
    assert_priced(&found, &[CHECKOUT, MARK_PAID, FULFIL, REFUND]);
}

#[tokio::test]
async fn notifications_add_no_cost_to_the_request() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    market.order(cart(&[(&book, 1)])).await;
    let told = market.order(cart(&[(&book, 1)])).await;
    market.act(&told.id, "mark-paid", json!({})).await.expect(200);
    let notice = json!({"notify_customer": true});
    let shipped = market.act(&told.id, "fulfill", notice).await.expect(201);
    let quiet = json!({"notifications": {"order_confirmation": false}});
    let path = format!("/v1/stores/{}/settings", market.store.id);
    market.merchant.patch(&path).json(quiet).await.expect(200);
    let untold = market.order(cart(&[(&book, 1)])).await;
    market.act(&untold.id, "mark-paid", json!({})).await.expect(200);
    let silently = json!({"notify_customer": false});
    let silent = market.act(&untold.id, "fulfill", silently).await.expect(201);
    assert_eq!(cost("checkout", &told.reply), cost("checkout", &untold.reply));
    // To be told of a shipment, the settings are read.
    assert!(shipped.tenths() <= silent.tenths() + 10, "{} {}", shipped.tenths(), silent.tenths());
}

/// What docs/costs.md computes with is what was counted.
fn assert_priced(found: &[Cost], priced: &[Operation]) {
    let found: Vec<u64> = found.iter().map(|(_, tenths, _)| u64::from(*tenths)).collect();
    assert_eq!(found, priced.iter().map(Operation::units).collect::<Vec<_>>());
}

#[tokio::test]
async fn sign_up_and_app_authorization_cost_known_capacity_units() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let input = json!({
        "email": format!("{}@example.com", unique("owner")), "password": support::PASSWORD,
        "store_name": "A Shop", "subdomain": unique("shop"), "currency": "INR", "country": "IN",
    });
    let signed_up = shop.gateway.client().post("/v1/auth/signup").json(input).await.expect(201);
    let first = shop.authorize().await;
    let again = shop.authorize().await;
    let redeemed = shop.redeem(&again).await.expect(200);
    let found = [
        cost("sign-up with store", &signed_up),
        cost("authorize for the first time", &first.reply),
        cost("authorize", &again.reply),
        cost("redeem", &redeemed),
    ];
    assert_eq!(
        found,
        [
            // Address, account, session, subdomain, location 2 each; store 2 + 2; the events of account,
            // store and location in 5.
            ("sign-up with store", 190, 1),
            // Session, account, store; at half the price: app, installation. App 2, installation 2 + 1,
            // code 2, two events in 5.
            ("authorize for the first time", 160, 3),
            // The same without the installation's row, and with one event.
            ("authorize", 150, 3),
            // Client, code; at half the price: installation, app. Code with its grant, installation,
            // token and refresh token 2 each, and an event.
            ("redeem", 160, 3),
        ]
    );
}

/// What one write of an item costs each partition that it lies in: of the table, in a transaction,
/// and of each index. What is put anew, changed or counted on costs the same.
fn partitions(item: &support::Stored) -> Vec<(String, u32)> {
    let kilobytes = |bytes: usize| u32::try_from(bytes.div_ceil(1024).max(1)).unwrap();
    let base = (item.text("PK"), kilobytes(item.bytes).saturating_mul(2));
    let rows = table::item::Index::ALL.into_iter().filter_map(|index| {
        let partition = item.get(index.key_names().0)?;
        let units = if index.is_keys_only() { 1 } else { kilobytes(item.bytes) };
        Some((format!("{} {partition}", index.name()), units))
    });
    std::iter::once(base).chain(rows).collect()
}

/// By calculation: a partition takes 1,000 write units a second.
#[tokio::test]
async fn no_partition_is_full_below_three_hundred_orders_a_second() {
    let market = quiet_market().await;
    let book = market.stock(100, 9).await;
    market.order(cart(&[(&book, 1)])).await;
    let before = market.gateway.stored("").await;
    market.order(cart(&[(&book, 1)])).await;
    let mut units: BTreeMap<String, u32> = BTreeMap::new();
    let after = market.gateway.stored("").await;
    let written = after.iter().filter(|item| !before.contains(item));
    for (partition, cost) in written.flat_map(partitions) {
        let sum = units.entry(partition).or_default();
        *sum = sum.saturating_add(cost);
    }
    assert!(units.len() > 10, "{units:?}");
    let full = units.iter().filter(|(_, units)| **units > 1_000 / 300);
    assert_eq!(full.collect::<Vec<_>>(), Vec::new(), "of {units:?}");
}

#[tokio::test]
async fn events_of_one_transaction_share_an_item_without_list_keys() {
    let market = Market::open_with(|options| options.has_stream = false).await;
    let book = market.stock(100, 9).await;
    let placed = market.paid(&book, 2).await;
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    market.act(&placed.id, "refund", json!({})).await.expect(201);
    let mut items = market.gateway.stored("EVT#").await;
    let timeline = format!("STO#{}#ENT#{}", market.store.id, placed.id);
    items.retain(|item| item.get("GSI6PK") == Some(&timeline));
    items.sort_by_key(|item| item.text("GSI6SK"));
    let held = |item: &support::Stored| item.json["events"].as_array().map_or(0, Vec::len);
    // Placed; paid, and its payment captured; fulfilled, with a fulfilment; refunded, of which the
    // order, the payment and twice the refund tell.
    assert_eq!(items.iter().map(held).collect::<Vec<_>>(), [1, 2, 2, 4]);
    for (item, most) in items.iter().zip([1_024, 1_024, 1_024, 1_280]) {
        assert!(item.bytes <= most, "{} has {} bytes", item.json["bodies"], item.bytes);
        let lists: Vec<&Value> =
            ["GSI1PK", "GSI2PK", "GSI4PK"].iter().filter_map(|name| item.json.get(name)).collect();
        assert!(lists.is_empty(), "{lists:?}");
    }
    let path = format!("/v1/orders/{}/events?limit=100", placed.id);
    let timeline = market.owner.get(&path).await.expect(200);
    assert_eq!(timeline.data().len(), 9, "{}", timeline.text);
    // Nobody subscribed: subscriptions are asked for, and then it is one write for both.
    let groups = market.gateway.event_groups().await;
    let is_paid = |group: &&EventGroup| group.events().iter().any(|one| one.name == "order.paid");
    let paid = groups.iter().find(is_paid).unwrap();
    let (app, now) = (market.gateway.app(), market.gateway.now());
    let (published, used) = metered(now, dispatcher::publish(app, paid)).await;
    published.unwrap();
    // A unit to find no subscription; the item 1, its mark 1.
    assert_eq!((used.trips, used.capacity_tenths), (2, 10 + 20));
}

/// What docs/costs.md counts with: the schedule asks for what is due of each kind, and looks at the platform.
#[tokio::test]
async fn an_idle_minute_costs_the_documented_capacity_units() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let app = gateway.app();
    let now = app.clock.now();
    let (_, swept) = metered(now, dispatcher::sweep(app)).await;
    let (_, looked) = metered(now, dispatcher::run_watch(app)).await;
    // A query for each kind and shard, and the batches of deliveries: a position, and four shards.
    assert_eq!((swept.trips, swept.capacity_tenths), (160 + 5, 800 + 50));
    assert_eq!((looked.trips, looked.capacity_tenths), (21, 140));
    assert_eq!(swept.capacity_tenths + looked.capacity_tenths, SWEEP.units());
}
