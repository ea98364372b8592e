//! How many unpaid orders a minute come to their end, whose provider is on another continent:
//! `cargo run -p tests --example sweeping [orders] [milliseconds of latency]`.
//!
//! Each order has a payment that was begun and never paid, so that its provider is asked about it
//! and has it closed before the order expires: two calls, one after the other. The time is this
//! machine's, over the embedded table and queues.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![expect(clippy::print_stdout, reason = "its output is its result")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use gateway::clock::MINUTE;
use support::{
    Gateway, Merchant, Providers, STRIPE_KEY_ID, STRIPE_SECRET, WEBHOOK_SECRET, json, unique,
};

/// Orders, and how long a provider takes for an answer, unless the caller says otherwise.
const ORDERS: u64 = 600;
const LATENCY: u64 = 300;
/// Shoppers at once.
const SHOPPERS: usize = 16;

#[tokio::main]
async fn main() {
    let mut asked = std::env::args().skip(1).filter_map(|text| text.parse::<u64>().ok());
    let (orders, latency) = (asked.next().unwrap_or(ORDERS), asked.next().unwrap_or(LATENCY));
    let providers = Providers::start_with(providers::Options {
        latency: Duration::from_millis(latency),
        deadline: Duration::from_secs(10),
        ..providers::Options::default()
    })
    .await;
    let base_urls = providers.base_urls();
    let change = |options: &mut local::Options| options.embedded.payment_base_urls = base_urls;
    let gateway = Arc::new(Gateway::start_with(change).await);
    fill(&gateway, orders).await;
    gateway.advance(MINUTE * 31);
    let began = gateway.now();
    let report = gateway.sweep().await;
    let seconds = began.until(gateway.now()).as_secs_f64().max(0.001);
    let done = u64::try_from(report.orders).unwrap();
    println!("{done} of {orders} orders in {seconds:.1} s, {} failures", report.failures);
    if done < orders {
        println!("{done} orders a minute: what is left waits for the next sweep");
    } else {
        println!(
            "{:.0} orders a minute",
            seconds.recip() * 60.0 * f64::from(u32::try_from(done).unwrap())
        );
    }
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
    owner.post(&format!("/v1/stores/{}/activate", store.id)).json(json!({})).await.expect(200);
    let account = json!({"credentials": {
        "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
        "webhook_secret": WEBHOOK_SECRET,
    }});
    owner.put("/v1/payments/providers/stripe").json(account).await.expect(200);
    let shop = format!("/v1/storefront/{}", store.subdomain);
    futures_util::stream::iter(0..orders)
        .for_each_concurrent(SHOPPERS, |_| async {
            let ask = json!({
                "email": "shopper@example.com",
                "items": [{"variant_id": variant, "quantity": 1}],
                "payment": {"provider": "stripe"},
                "shipping_address": {
                    "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                    "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
                },
            });
            let client = gateway.client();
            let placed = client.post(&format!("{shop}/orders")).key(&unique("order")).json(ask);
            let placed = placed.await.expect(201);
            let ask = json!({"order_id": placed.str("/order/id")});
            let begin = client.post(&format!("{shop}/payments/stripe/order")).json(ask);
            let token = placed.str("/order_token");
            begin.header("x-service-order-token", &token).await.expect(201);
        })
        .await;
}
