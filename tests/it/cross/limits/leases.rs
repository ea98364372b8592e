//! Budgets are spent from leases: few writes, and never more than there is.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Client, Gateway, Merchant, Reply, Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const ME: &str = "/v1/auth/me";
const STORES: &str = "/v1/stores";

/// A merchant whose bucket is full, with the clock standing still.
async fn rested(gateway: &Gateway) -> Merchant {
    let merchant = Merchant::sign_up(gateway).await;
    gateway.app().clock.stop();
    gateway.advance(MINUTE);
    merchant
}

/// A request of ten points, which is rejected for its body.
async fn spend_ten(client: &Client) -> Reply {
    client.post(STORES).json(json!({})).await
}

fn available(reply: &Reply) -> i64 {
    reply.header("x-service-cost-available").unwrap().parse().unwrap()
}

/// How many microseconds the merchant's bucket lacks, as the table has it.
async fn lacking(gateway: &Gateway, merchant: &Merchant) -> i64 {
    let items: Vec<Value> = gateway.items(&format!("RLB#merchant#{}#-", merchant.id)).await;
    assert_eq!(items.len(), 1);
    items[0]["tat"].as_i64().unwrap() - gateway.now().millis() * 1_000
}

#[tokio::test]
async fn a_hundred_reads_of_a_warm_process_write_their_bucket_eight_times() {
    let gateway = Gateway::start().await;
    let merchant = rested(&gateway).await;
    let mut writing = Vec::new();
    for number in 1..=100 {
        let reply = merchant.get(ME).await.expect(200);
        assert_eq!((available(&reply), reply.trips()), (1_000 - number, 1));
        assert!(reply.charges() <= 1);
        if reply.charges() == 1 {
            writing.push(number);
        }
    }
    assert_eq!(writing, [1, 2, 3, 5, 9, 17, 33, 65]);
}

#[tokio::test]
async fn unused_list_points_are_refunded_in_memory() {
    let gateway = Gateway::start().await;
    let merchant = rested(&gateway).await;
    let mut charges = 0;
    for number in 1..=16 {
        let list = merchant.get("/v1/stores?limit=100").await.expect(200);
        assert_eq!(list.header("x-service-cost-requested"), Some("11"));
        assert_eq!(list.header("x-service-cost-actual"), Some("1"));
        assert_eq!(available(&list), 1_000 - number);
        charges += list.charges();
    }
    assert_eq!(charges, 5, "and nothing is written to give back");
}

#[tokio::test]
async fn requests_of_a_rate_limited_client_write_nothing() {
    let gateway = Gateway::start().await;
    let merchant = rested(&gateway).await;
    let mut charges = 0;
    for _ in 0..100 {
        charges += spend_ten(&merchant).await.expect(422).charges();
    }
    assert!(charges <= 36, "{charges}");
    for _ in 0..20 {
        let rejected = spend_ten(&merchant).await.expect(429);
        assert_eq!((rejected.charges(), rejected.header("retry-after")), (0, Some("1")));
        assert_eq!(merchant.get(STORES).await.expect(429).charges(), 0);
    }
    // It is over when it was said to be.
    gateway.advance(Duration::from_millis(99));
    assert_eq!(spend_ten(&merchant).await.expect(429).charges(), 0);
    gateway.advance(Duration::from_millis(1));
    spend_ten(&merchant).await.expect(422);
    spend_ten(&merchant).await.expect(429);
}

#[tokio::test]
async fn unused_leased_points_are_returned_with_the_next_write() {
    let gateway = Gateway::start().await;
    let other = Merchant::sign_up(&gateway).await;
    let merchant = rested(&gateway).await;
    for _ in 0..30 {
        spend_ten(&merchant).await.expect(422);
    }
    assert_eq!(lacking(&gateway, &merchant).await, 3_190_000, "30 times 10 points, and 19 more");
    gateway.advance(Duration::from_millis(999));
    let early = other.get(STORES).await.expect(200);
    assert_eq!(early.charges(), 1);
    assert_eq!(lacking(&gateway, &merchant).await, 3_190_000 - 999_000);
    gateway.advance(Duration::from_millis(1));
    // Its own, and what another has left.
    let ending = other.get("/v1/stores?limit=100").await.expect(200);
    assert_eq!(ending.charges(), 2);
    assert_eq!(lacking(&gateway, &merchant).await, 3_000_000 - 1_000_000);
    let next = spend_ten(&merchant).await.expect(422);
    assert_eq!(available(&next), 790);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_share_a_bucket_never_exceed_its_budget() {
    let gateway = Gateway::start().await;
    let merchant = rested(&gateway).await;
    let mut serving = JoinSet::new();
    let mut clients = Vec::new();
    for _ in 0..4 {
        let embedded = gateway.system().embedded();
        let app = embedded.app_alongside();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        clients.push(merchant.at_url(&format!("http://{}", listener.local_addr().unwrap())));
        let router = local::routes().into_router(app);
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
    }
    // Each goes on until it is rejected.
    let spend = async || -> usize {
        let admitted = clients.iter().map(async |client| {
            let mut admitted = 0;
            while spend_ten(client).await.status == 422 {
                admitted += 1;
            }
            admitted
        });
        futures_util::future::join_all(admitted).await.into_iter().sum()
    };
    let admitted = spend().await;
    // Each may be left with less than one of them costs.
    assert!((96..=100).contains(&admitted), "{admitted}");
    gateway.advance(Duration::from_secs(1));
    let later = admitted + spend().await;
    assert!((admitted + 6..=110).contains(&later), "{later}");
}
