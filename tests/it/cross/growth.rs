//! A page costs the same however much lies behind it. What lists show of products is in
//! `storefront::product_summaries`.

use std::time::Duration;

use core_types::id::{DeliveryId, OrderId, StoreId};
use core_types::key;
use delivery::delivery::Delivery;
use sales::order::Order;
use support::{Behaviour, Market, Receiver, Reply, cart, eventually, json};
use table::item::Item;

const DEADLINE: Duration = Duration::from_secs(30);
const DELIVERIES: &str = "/v1/operations/webhook-deliveries";
/// Items that one transaction writes.
const TOGETHER: usize = 100;
const FEW: usize = 100;
const MANY: usize = 5_000;
/// What a test takes minutes to write: those are asked for by name (`just growth`).
const A_GREAT_MANY: usize = 100_000;

/// A store where nothing is written but what a test asks for.
async fn quiet_market() -> Market {
    Market::open_with(|options| options.has_stream = false).await
}

/// Writes items of these numbers beside the API.
async fn fill<T: Item>(
    market: &Market,
    numbers: std::ops::Range<usize>,
    make: impl Fn(usize) -> T,
) {
    let numbers: Vec<usize> = numbers.collect();
    for part in numbers.chunks(TOGETHER) {
        let table = &market.gateway.app().table;
        let write = part.iter().fold(table.write(), |write, number| write.put(&make(*number)));
        write.commit().await.unwrap();
    }
}

/// Trips and tenths of a unit of the first page of a list and of the second.
async fn costs(market: &Market, path: &str) -> [(u32, u32); 2] {
    let first = full_page(market, path).await;
    let next = format!("{path}?cursor={}", first.str("/page/next_cursor"));
    let second = full_page(market, &next).await;
    [first, second].map(|page| (page.trips(), page.tenths()))
}

/// A page of twenty: an index may tell of an item a moment before an eventually consistent read finds it.
async fn full_page(market: &Market, path: &str) -> Reply {
    eventually(DEADLINE, || async {
        let page = market.owner.get(path).await.expect(200);
        (page.data().len() == 20).then_some(page)
    })
    .await
}

#[tokio::test]
async fn a_page_of_orders_costs_the_same_over_five_thousand_as_over_a_hundred() {
    orders_cost_the_same_over(MANY).await;
}

#[tokio::test]
#[ignore = "writes for minutes"]
async fn a_page_of_orders_costs_the_same_over_a_hundred_thousand() {
    orders_cost_the_same_over(A_GREAT_MANY).await;
}

async fn orders_cost_the_same_over(many: usize) {
    let market = quiet_market().await;
    let book = market.stock(100, 9).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    let (store, id) = (StoreId::parse(&market.store.id), OrderId::parse(&placed.id));
    let key = key::order(&store.unwrap(), &id.unwrap());
    let one: Order = market.gateway.app().table.get(&key).await.unwrap().unwrap();
    let make = |number: usize| {
        let after = Duration::from_millis(u64::try_from(number).unwrap());
        let created_at = one.created_at.plus(after);
        Order { id: OrderId::mint(created_at), created_at, expires_at: None, ..one.clone() }
    };
    fill(&market, 0..FEW, make).await;
    let few = costs(&market, "/v1/orders").await;
    // Session, account and store 3; 21 keys 1; 20 orders 10.
    assert_eq!(few, [(3, 140); 2]);
    fill(&market, FEW..many, make).await;
    assert_eq!(costs(&market, "/v1/orders").await, few);
}

#[tokio::test]
async fn a_page_of_deliveries_costs_the_same_over_five_thousand_as_over_a_hundred() {
    deliveries_cost_the_same_over(MANY).await;
}

#[tokio::test]
#[ignore = "writes for minutes"]
async fn a_page_of_deliveries_costs_the_same_over_a_hundred_thousand() {
    deliveries_cost_the_same_over(A_GREAT_MANY).await;
}

async fn deliveries_cost_the_same_over(many: usize) {
    let market = Market::open().await;
    let receiver = Receiver::that(Behaviour::Status(200)).await;
    let input = json!({"url": receiver.url("/"), "event_types": ["product.created"]});
    market.owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    market.stock(100, 9).await;
    let id = eventually(DEADLINE, || async {
        let page = market.owner.get(DELIVERIES).await.expect(200);
        let ended = page.data().iter().find(|one| one["status"] == "succeeded")?;
        Some(DeliveryId::parse(ended["id"].as_str()?).unwrap())
    })
    .await;
    let key = key::delivery(&id);
    let one: Delivery = market.gateway.app().table.get(&key).await.unwrap().unwrap();
    // None is older than its store: the list begins there.
    let make =
        |number: usize| Delivery { id: DeliveryId::derive(&[&number.to_string()]), ..one.clone() };
    fill(&market, 1..FEW, make).await;
    let few = costs(&market, DELIVERIES).await;
    // Session, account and store 3; 21 keys 1; 20 deliveries 10.
    assert_eq!(few, [(3, 140); 2]);
    fill(&market, FEW..many, make).await;
    assert_eq!(costs(&market, DELIVERIES).await, few);
}

#[tokio::test]
async fn the_stream_of_the_table_does_not_grow_with_orders() {
    const ORDERS: usize = 150;
    let data = std::env::temp_dir().join(format!("grown-{}", uuid::Uuid::now_v7()));
    let kept = data.clone();
    let market = Market::open_with(move |options| options.embedded.data = Some(kept)).await;
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/orders"), "event_types": ["order.created"]});
    market.owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    let book = market.stock(100, 500).await;
    for _ in 0..ORDERS {
        market.order(cart(&[(&book, 1)])).await;
    }
    eventually(DEADLINE, || async { (receiver.requests().len() >= ORDERS).then_some(()) }).await;
    let emulators = market.gateway.system().embedded().emulators();
    // Each order is dozens of writes. What is read is kept until there are 128 records of it.
    let length = emulators.stream_length().unwrap();
    assert!(length < 2 * 128, "{length} records");
    drop(market);
    std::fs::remove_dir_all(data).unwrap();
}
