//! What a page of a list costs, in any order, over any number of products; and what its cards say.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Copy, Gateway, Reply, Value, eventually, json, unique};

use super::{CACHE_TIME, Front, SOON, titles, walk};

/// Every order of a list.
const ORDERS: [&str; 6] = ["-created_at", "created_at", "price", "-price", "title", "best"];

impl Front {
    /// Products for sale, from this number to that, as alike as they can be; written beside the API.
    async fn fill(&self, made: &Reply, from: usize, to: usize) {
        let location = self.location().await;
        let copy = |number: usize| Copy {
            later: Duration::from_millis(u64::try_from(number).unwrap()),
            title: format!("Product {number:05}"),
            handle: format!("product-{number:05}"),
            // As long as each other.
            price: Some(1_001 + i64::try_from(number % 890 * 10).unwrap()),
            tag: format!("t{}", number % 50 + 10),
            stocked_at: vec![location.clone()],
        };
        let copies: Vec<Copy> = (from..to).map(copy).collect();
        self.gateway.list_copies(&made.str("/id"), &copies).await;
        self.gateway.advance(CACHE_TIME);
        self.get("").await.expect(200);
    }

    /// What the first and the second page of a list cost, the store being known: trips and tenths of a
    /// unit.
    async fn costs(&self, query: &str) -> Vec<(u32, u32)> {
        let mut costs = Vec::new();
        let mut path = self.path(&format!("/products?{query}"));
        for _ in 0..2 {
            let page = self.gateway.client().get(&path).await.expect(200);
            assert_eq!(page.data().len(), 20, "{path}");
            costs.push((page.trips(), page.tenths()));
            path = format!("{path}&cursor={}", page.str("/page/next_cursor"));
        }
        costs
    }
}

/// An open store with one product, where no stream writes besides.
async fn quiet() -> (Front, Reply) {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let front = Front::open_on(gateway).await;
    let made = front.sell("A first one", 500, 1, json!({})).await;
    (front, made)
}

#[tokio::test]
async fn every_sort_order_costs_the_same_over_ten_thousand_products() {
    every_sort_order_costs_the_same_over(10_000).await;
}

#[tokio::test]
#[ignore = "writes for minutes: `just growth`"]
async fn every_sort_order_costs_the_same_over_a_hundred_thousand_products() {
    every_sort_order_costs_the_same_over(100_000).await;
}

async fn every_sort_order_costs_the_same_over(many: usize) {
    let (front, made) = quiet().await;
    front.fill(&made, 0, 100).await;
    let mut few = Vec::new();
    for order in ORDERS {
        few.push(front.costs(&format!("sort={order}")).await);
    }
    for (order, costs) in ORDERS.iter().zip(&few) {
        for (trips, tenths) in costs {
            assert_eq!(*trips, 1, "{order}");
            assert!((5..=30).contains(tenths), "{order}: {tenths} tenths of a unit");
        }
    }
    front.fill(&made, 100, many).await;
    for (order, few) in ORDERS.iter().zip(few) {
        assert_eq!(front.costs(&format!("sort={order}")).await, few, "{order}");
    }
}

#[tokio::test]
async fn reverse_sort_orders_list_the_same_products_backwards() {
    let (front, made) = quiet().await;
    front.fill(&made, 0, 60).await;
    for (order, reverse) in [("created_at", "-created_at"), ("price", "-price")] {
        let path = |order: &str| front.path(&format!("/products?limit=7&sort={order}"));
        let forwards = walk(&front.gateway.client(), &path(order)).await;
        let mut backwards = walk(&front.gateway.client(), &path(reverse)).await;
        backwards.reverse();
        assert_eq!((forwards.len(), &forwards), (61, &backwards), "{order}");
    }
    let by_title = walk(&front.visitor, &front.path("/products?limit=7&sort=title")).await;
    assert!(by_title.is_sorted() && by_title.len() == 61, "{by_title:?}");
}

#[tokio::test]
async fn a_small_collection_is_sorted_in_a_large_store() {
    let (front, made) = quiet().await;
    let mut members = vec![made.str("/id")];
    for number in 0..21 {
        let made = front.sell(&format!("Pick {number:02}"), 900 - number * 10, 1, json!({})).await;
        members.push(made.str("/id"));
    }
    front.fill(&made, 0, 1_100).await;
    let picks = json!({"title": "Picks", "kind": "manual", "published": true,
        "sort_order": "price", "product_ids": members});
    front.owner.post("/v1/products/collections").json(picks).await.expect(201);
    let path = front.path("/products?collection=picks&limit=10");
    let mut expected = vec!["A first one".to_owned()];
    expected.extend((0..21).rev().map(|number| format!("Pick {number:02}")));
    assert_eq!(walk(&front.visitor, &path).await, expected);
    let dear = front.get("/products?collection=picks&sort=-price&limit=1").await.expect(200);
    assert_eq!(titles(&dear), ["Pick 00"]);
    // What few have is found in any order, page by page, and the pages have an end.
    let path = front.path("/products?sort=title&tag=t17&limit=30");
    let tagged = walk(&front.gateway.client(), &path).await;
    let expected: Vec<String> = (7..1_100).step_by(50).map(|n| format!("Product {n:05}")).collect();
    assert_eq!(tagged, expected);
}

#[tokio::test]
async fn sort_best_lists_the_highest_rated_products_first() {
    let front = Front::open().await;
    for title in ["Bad", "Good", "Unknown"] {
        front.sell(title, 500, 1, json!({})).await;
    }
    for (handle, stars) in [("bad", 1), ("good", 5)] {
        let shopper = support::Shopper::register(&front.gateway, &front.store).await;
        let input = json!({"rating": stars, "title": "So", "body": "It is."});
        let path = front.path(&format!("/products/{handle}/reviews"));
        let review = shopper.post(&path).json(input).await.expect(201).str("/id");
        let approve = format!("/v1/reviews/{review}/approve");
        front.owner.post(&approve).json(json!({})).await.expect(200);
    }
    assert_eq!(front.titles("?sort=best").await, ["Good", "Unknown", "Bad"]);
    // A product that is changed keeps its rating, and so does one that was away.
    let good = front.get("/products/good").await.expect(200);
    let path = format!("/v1/products/{}", good.str("/id"));
    for change in [json!({"title": "Gut"}), json!({"status": "draft"}), json!({"status": "active"})]
    {
        front.owner.patch(&path).json(change).await.expect(200);
    }
    let list = front.get("/products?sort=best").await.expect(200);
    assert_eq!((titles(&list)[0].as_str(), list.int("/data/0/rating/count")), ("Gut", 1));
}

/// Moves the stock of a variant by so many.
async fn adjust(front: &Front, variant: &str, delta: i64) {
    let change = json!({"item_id": variant, "location_id": front.location().await, "delta": delta});
    let input = json!({"reason": "count", "changes": [change]});
    let path = "/v1/inventory/levels/adjust";
    front.owner.post(path).key(&unique("adjust")).json(input).await.expect(200);
}

/// Waits until the products in stock are these.
async fn has_in_stock(front: &Front, expected: &[&str]) {
    eventually(SOON, || async {
        let path = front.path("/products?in_stock=true");
        let list = front.gateway.client().get(&path).await.expect(200);
        (titles(&list) == expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn product_lists_follow_stock_changes() {
    let front = Front::open().await;
    let mug = front.sell("Mug", 500, 2, json!({})).await.str("/variants/0/id");
    let levels = |quantity: i64| json!({"tracked": true, "levels": [{"quantity": quantity}]});
    let price = json!({"amount": 500, "currency": "INR"});
    let variant = |size: &str, quantity: i64| -> Value {
        json!({"price": price, "options": [size], "inventory": levels(quantity)})
    };
    let sizes = json!({"options": [{"name": "Size", "values": ["S", "M", "L"]}],
        "variants": [variant("S", 1), variant("M", 0)]});
    let shirt = front.sell("Shirt", 500, 0, sizes).await;
    let [small, medium] = [0, 1].map(|place| shirt.str(&format!("/variants/{place}/id")));
    assert_eq!(front.titles("?in_stock=true").await, ["Shirt", "Mug"]);
    adjust(&front, &mug, -2).await;
    has_in_stock(&front, &["Shirt"]).await;
    // One of two is enough.
    adjust(&front, &medium, 4).await;
    adjust(&front, &small, -1).await;
    adjust(&front, &mug, 1).await;
    has_in_stock(&front, &["Shirt", "Mug"]).await;
    // Its own page says which one.
    let path = front.path("/products/shirt");
    eventually(SOON, || async {
        let page = front.gateway.client().get(&path).await.expect(200);
        let said = [0, 1].map(|place| page.at(&format!("/variants/{place}/in_stock")) == true);
        (said == [false, true]).then_some(())
    })
    .await;
    adjust(&front, &medium, -4).await;
    has_in_stock(&front, &["Mug"]).await;
    assert_eq!(front.titles("?in_stock=false").await, ["Shirt"]);
    // A new variant brings stock, and takes it with it.
    let variants = format!("/v1/products/{}/variants", shirt.str("/id"));
    let large = front.owner.post(&variants).json(variant("L", 1)).await.expect(201).str("/id");
    has_in_stock(&front, &["Shirt", "Mug"]).await;
    front.owner.delete(&format!("{variants}/{large}")).await.expect(204);
    has_in_stock(&front, &["Mug"]).await;
    // What is not for sale is not listed, whatever happens to its stock, and knows of it when it is.
    let path = format!("/v1/products/{}", shirt.str("/id"));
    front.owner.patch(&path).json(json!({"status": "draft"})).await.expect(200);
    adjust(&front, &small, 7).await;
    front.owner.patch(&path).json(json!({"status": "active"})).await.expect(200);
    has_in_stock(&front, &["Shirt", "Mug"]).await;
}

#[tokio::test]
async fn a_deleted_category_is_removed_from_product_summaries() {
    let front = Front::open().await;
    let path = "/v1/products/categories";
    let made = front.owner.post(path).json(json!({"name": "Cups"})).await.expect(201).str("/id");
    front.sell("Mug", 500, 1, json!({"category_id": made})).await;
    front.owner.delete(&format!("{path}/{made}")).await.expect(204);
    front.gateway.advance(MINUTE * 2);
    front.gateway.sweep().await;
    let list = front.get("/products").await.expect(200);
    assert_eq!((list.at("/data/0/category_id"), list.int("/data/0/version")), (&Value::Null, 2));
}
