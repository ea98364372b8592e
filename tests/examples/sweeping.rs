//! How many unpaid orders a minute come to their end, whose provider is on another continent:
//! `cargo run -p tests --example sweeping [orders] [milliseconds of latency]`.
//!
//! Each order has a payment that was begun and never paid, so that its provider is asked about it
//! and has it closed before the order expires: two calls, one after the other. Measured are one run of
//! the schedule that does it all by itself, and one that hands it out to workers. The time is this
//! machine's, over the embedded table and queues.
#![allow(
    clippy::unwrap_used,
    clippy::float_arithmetic,
    clippy::arithmetic_side_effects,
    reason = "a benchmark fails by panicking"
)]
#![expect(clippy::print_stdout, reason = "its output is its result")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use primitives::clock::MINUTE;
use sales::order::Order;
use sales::payment::ProviderDeadline;
use sales::workflows::expire_order;
use support::{
    Gateway, Merchant, Providers, STRIPE_KEY_ID, STRIPE_SECRET, WEBHOOK_SECRET, json, unique,
};
use table::outbox::{DueKind, SHARDS};

/// Orders, and how long a provider takes for an answer, unless the caller says otherwise.
const ORDERS: u64 = 600;
const LATENCY: u64 = 300;
/// Shoppers at once.
const SHOPPERS: usize = 16;

#[tokio::main]
async fn main() {
    let mut asked = std::env::args().skip(1).filter_map(|text| text.parse::<u64>().ok());
    let (orders, latency) = (asked.next().unwrap_or(ORDERS), asked.next().unwrap_or(LATENCY));
    for is_handed_out in [false, true] {
        measure(orders, Duration::from_millis(latency), is_handed_out).await;
    }
}

async fn measure(orders: u64, latency: Duration, is_handed_out: bool) {
    let deadline = Duration::from_secs(10);
    let options =
        local::providers::Options { latency, deadline, ..local::providers::Options::default() };
    let providers = Providers::start_with(options).await;
    let base_urls = providers.base_urls();
    let change = |options: &mut local::Options| options.embedded.payment_base_urls = base_urls;
    let gateway = Arc::new(Gateway::start_with(change).await);
    fill(&gateway, orders).await;
    gateway.advance(MINUTE * 31);
    let began = gateway.now();
    let done =
        if is_handed_out { gateway.sweep().await.orders } else { by_one_run(&gateway).await };
    let seconds = began.until(gateway.now()).as_secs_f64().max(0.001);
    let done = u32::try_from(done).unwrap();
    let how = if is_handed_out { "handed out to workers" } else { "by one run of the schedule" };
    // There is one run a minute: what it leaves waits for the next.
    let is_all = u64::from(done) == orders;
    let rate = if is_all { f64::from(done) * 60.0 / seconds } else { f64::from(done) };
    println!("{how}: {done} of {orders} orders in {seconds:.1} s, {rate:.0} a minute");
}

/// Processes what is due as one run of the schedule does it that hands nothing out: eight shards at
/// a time, one order of a shard after the other, for as long as a run may ask providers.
async fn by_one_run(gateway: &Gateway) -> usize {
    let app = gateway.app();
    let deadline = &ProviderDeadline::of_sweep(app.clock.now());
    let shard = |shard: char| async move {
        let mut done = 0_usize;
        let keys =
            app.table.keys(&DueKind::Order.query(shard, app.clock.now()), 200).await.unwrap();
        for key in keys {
            let order: Order = app.table.get(&key).await.unwrap().unwrap();
            let outcome = expire_order::process(app, &order, deadline).await;
            let is_over = outcome.unwrap_or(false)
                && app.table.get::<Order>(&key).await.unwrap().unwrap().is_over();
            done = done.saturating_add(usize::from(is_over));
        }
        done
    };
    let shards = futures_util::stream::iter(SHARDS.chars()).map(shard).buffer_unordered(8);
    shards.fold(0_usize, |sum, done| async move { sum.saturating_add(done) }).await
}

/// Orders with a payment that nobody pays.
async fn fill(gateway: &Arc<Gateway>, orders: u64) {
    let merchant = Merchant::sign_up(gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let product = json!({
        "title": "A book", "status": "active",
        "variants": [{
            "price": {"amount": 1_000, "currency": "INR"},
            "inventory": {"levels": [{"quantity": 100_000}]},
        }],
    });
    let product = owner.post("/v1/products").json(product).await.expect(201);
    let variant = product.str("/variants/0/id");
    owner
        .post(&format!("/v1/stores/{}/activate", store.id))
        .json(support::open_as_is())
        .await
        .expect(200);
    let account = json!({"credentials": {
        "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
        "webhook_secret": WEBHOOK_SECRET,
    }});
    owner.put("/v1/payments/providers/stripe").json(account).await.expect(200);
    let shop = format!("/v1/storefront/{}", store.subdomain);
    futures_util::stream::iter(0..orders)
        .for_each_concurrent(SHOPPERS, |_| async {
            let input = json!({
                "email": "shopper@example.com",
                "items": [{"variant_id": variant, "quantity": 1}],
                "payment": {"provider": "stripe"},
                "shipping_address": {
                    "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                    "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
                },
            });
            let client = gateway.client();
            let placed = client.post(&format!("{shop}/orders")).key(&unique("order")).json(input);
            let placed = placed.await.expect(201);
            let input = json!({"order_id": placed.str("/order/id")});
            let begin = client.post(&format!("{shop}/payments/stripe/order")).json(input);
            let token = placed.str("/order_token");
            begin.header("x-service-order-token", &token).await.expect(201);
        })
        .await;
}
