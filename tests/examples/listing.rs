//! What a page of products costs, over 100 products and over 50,000: `cargo run --release -p tests
//! --example listing [sizes…]`.
//!
//! The round trips and capacity units of a request are what the table says it consumed, as in the
//! `Server-Timing` header; the time is this machine's, over the embedded table.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![expect(clippy::print_stdout, reason = "its output is its result")]

use catalogue::product::{Product, ProductStatus, ProductSummary, Seo};
use core_types::fields::{Currency, Handle};
use core_types::id::{ProductId, StoreId, VariantId};
use primitives::clock::Timestamp;
use primitives::fields::FromText;
use support::{Gateway, Merchant, Reply};

/// Products that one transaction writes.
const BATCH: usize = 100;

#[tokio::main]
async fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100, 5_000, 50_000] } else { sizes };
    println!("{:>9}  {:<28} {:>5} {:>9} {:>7}", "products", "page", "trips", "capacity", "ms");
    for size in sizes {
        measure(size).await;
    }
}

async fn measure(size: usize) {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let activate = format!("/v1/stores/{}/activate", store.id);
    merchant.post(&activate).json(support::open_as_is()).await.expect(200);
    fill(&gateway, &StoreId::parse(&store.id).unwrap(), size).await;
    let list = format!("/v1/storefront/{}/products", store.subdomain);
    let first = gateway.get(&list).await.expect(200);
    let next = first.str("/page/next_cursor");
    let admin = merchant.at(&store);
    for (name, path, client) in [
        ("the newest 20", list.clone(), gateway.client()),
        ("the 20 after them", format!("{list}?cursor={next}"), gateway.client()),
        ("the oldest 20", format!("{list}?sort=created_at"), gateway.client()),
        ("the cheapest 20", format!("{list}?sort=price"), gateway.client()),
        ("the dearest 20", format!("{list}?sort=-price"), gateway.client()),
        ("the first 20 by title", format!("{list}?sort=title"), gateway.client()),
        ("the best 20", format!("{list}?sort=best"), gateway.client()),
        ("the newest 100", format!("{list}?limit=100"), gateway.client()),
        ("one product", format!("{list}/product-{}", size.div_euclid(2)), gateway.client()),
        ("the merchant's newest 20", "/v1/products".to_owned(), admin),
    ] {
        // What a process keeps is kept, but not the answer itself.
        client.get(&path).await.expect(200);
        gateway.advance(gateway::response_cache::LIFE);
        let started = gateway.now();
        let reply = client.get(&path).await.expect(200);
        let took = started.until(gateway.now()).as_millis();
        let (trips, capacity) = (reply.trips(), capacity(&reply));
        println!("{size:>9}  {name:<28} {trips:>5} {capacity:>9} {took:>7}");
    }
}

/// Capacity units, from tenths.
fn capacity(reply: &Reply) -> String {
    let tenths = reply.tenths();
    format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10))
}

/// Writes products for sale beside the API, as it would have written them.
async fn fill(gateway: &Gateway, store: &StoreId, size: usize) {
    let app = gateway.app();
    let now = gateway.now();
    let first = now.minus(std::time::Duration::from_secs(u64::try_from(size).unwrap()));
    let numbers: Vec<usize> = (0..size).collect();
    for batch in numbers.chunks(BATCH.div_euclid(3)) {
        let mut write = app.table.write();
        for number in batch {
            let created =
                first.plus(std::time::Duration::from_secs(u64::try_from(*number).unwrap()));
            let product = product(store, *number, created);
            let card = ProductSummary::of(&product, &[]);
            write = write.put(&product.claim(created)).put(&product).put(&card);
        }
        write.commit().await.unwrap();
    }
}

fn product(store: &StoreId, number: usize, created: Timestamp) -> Product {
    let price = i64::try_from(number).unwrap().rem_euclid(9_000).saturating_add(1_000);
    Product {
        id: ProductId::mint(created),
        store_id: store.clone(),
        title: format!("Product {number}"),
        handle: Handle::from_text(&format!("product-{number}")).unwrap(),
        description: "<p>It does what it says, and lasts.</p>".to_owned(),
        status: ProductStatus::Active,
        vendor: Some("Works".to_owned()),
        product_type: Some("Thing".to_owned()),
        tags: vec!["thing".to_owned()],
        options: Vec::new(),
        images: Vec::new(),
        seo: Seo::default(),
        metadata: std::collections::BTreeMap::new(),
        category_id: None,
        tax_class: None,
        variants_count: 1,
        discontinued_count: 0,
        variant_ids: vec![VariantId::mint(created)],
        prices: vec![price],
        compare_at: None,
        on_sale: false,
        currency: Currency::from_text("INR").unwrap(),
        always_sells: false,
        follows_store: false,
        rating_count: 0,
        rating_sum: 0,
        published_at: Some(created),
        created_at: created,
        updated_at: created,
        version: 1,
    }
}
