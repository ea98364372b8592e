//! Products listed and found, by whom they concern.

use support::{Gateway, Shop, json};

use super::{CATEGORIES, COLLECTIONS, PRODUCTS, category, make, owner, path, shirt, simple};

#[tokio::test]
async fn product_lists_filter_and_paginate_without_duplicates() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let mut ids = Vec::new();
    for n in 0..25 {
        let body = json!({
            "title": format!("Thing {n}"), "vendor": if n % 2 == 0 { "Even" } else { "Odd" },
            "status": if n < 10 { "active" } else { "draft" }, "tags": [format!("t{}", n % 5)],
        });
        ids.push(make(&owner, body).await.str("/id"));
    }
    let list = |query: &str| {
        let (owner, path) = (owner.clone(), format!("{PRODUCTS}?{query}"));
        async move { owner.get(&path).await.expect(200).data().len() }
    };
    assert_eq!(list("status=active&limit=100").await, 10);
    assert_eq!(list("vendor=even&limit=100").await, 13);
    assert_eq!(list("tag=T3&limit=100").await, 5);
    assert_eq!(list("q=thing%2024").await, 1);
    assert_eq!(list("updated_since=2099-01-01T00:00:00.000Z").await, 0);
    let two = format!("{PRODUCTS}?ids={},{}", ids[7], ids[3]);
    let found = owner.get(&two).await.expect(200);
    let shown: Vec<_> = found.data().iter().map(|product| product["id"].clone()).collect();
    assert_eq!(shown, [ids[7].as_str(), ids[3].as_str()]);
    let (mut met, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = owner.get(&format!("{PRODUCTS}?limit=7{cursor}")).await.expect(200);
        met.extend(page.data().iter().map(|product| product["id"].as_str().unwrap().to_owned()));
        // What changes or comes meanwhile disturbs nothing.
        owner.patch(&format!("{PRODUCTS}/{}", ids[pages])).json(json!({"vendor": "x"})).await;
        make(&owner, simple("Late", 1)).await;
        pages += 1;
        match page.json["page"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    met.sort();
    ids.sort();
    assert_eq!(met, ids);
}

#[tokio::test]
async fn another_stores_catalogue_is_not_found() {
    let gateway = Gateway::start().await;
    let (ann, bob) = (owner(&gateway).await, owner(&gateway).await);
    let product = make(&ann, shirt()).await;
    let body = json!({"title": "Best"});
    let collection = ann.post(COLLECTIONS).json(body).await.expect(201).str("/id");
    let tree = category(&ann, "Home", None).await.str("/id");
    let (id, variant) = (product.str("/id"), product.str("/variants/0/id"));
    let none = format!("{:032x}", 9);
    for (theirs, unknown) in [
        (format!("{PRODUCTS}/{id}"), format!("{PRODUCTS}/prd_{none}")),
        (
            format!("{PRODUCTS}/{id}/variants/{variant}"),
            format!("{PRODUCTS}/prd_{none}/variants/var_{none}"),
        ),
        (format!("{COLLECTIONS}/{collection}"), format!("{COLLECTIONS}/col_{none}")),
        (format!("{CATEGORIES}/{tree}"), format!("{CATEGORIES}/cat_{none}")),
    ] {
        for path in [theirs, unknown] {
            bob.patch(&path).json(json!({})).await.expect(404).problem("not_found");
            bob.delete(&path).await.expect(404).problem("not_found");
        }
    }
    assert_eq!(bob.get(PRODUCTS).await.expect(200).data().len(), 0);
    assert_eq!(ann.get(&format!("{PRODUCTS}/{id}")).await.expect(200).int("/version"), 1);
}

#[tokio::test]
async fn an_app_needs_write_products_to_create_products() {
    let shop = Shop::with_published_app(&["read_products"]).await;
    let app = shop.app_client().await;
    make(&shop.owner(), shirt()).await;
    assert_eq!(app.get(PRODUCTS).await.expect(200).data().len(), 1);
    let rejected = app.post(PRODUCTS).json(shirt()).await.expect(403).problem("insufficient_scope");
    assert_eq!(rejected.str("/required_scope"), "write_products");
}

#[tokio::test]
async fn reading_a_product_takes_two_round_trips_and_a_list_three() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    assert_eq!(owner.get(&path(&made)).await.expect(200).trips(), 2);
    assert_eq!(owner.get(PRODUCTS).await.expect(200).trips(), 3, "caller, keys, products");
}
