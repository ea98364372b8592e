//! Lists of products: filtered, sorted, walked.

use std::collections::{BTreeSet, HashMap};

use support::clock::RESPONSE_CACHE;
use support::{Reply, Value, json};

use super::{CACHE_TIME, Front, related, titles, walk};

#[tokio::test]
async fn storefront_lists_contain_active_products_without_quantities() {
    let front = Front::open().await;
    let shown = front.sell("Blue Mug", 500, 7_654_321, json!({})).await;
    front.sell("Draft", 500, 3, json!({"status": "draft"})).await;
    let archived = front.sell("Archived", 500, 3, json!({})).await;
    let path = format!("/v1/products/{}", archived.str("/id"));
    front.owner.patch(&path).json(json!({"status": "archived"})).await.expect(200);
    let list = front.get("/products").await.expect(200);
    assert_eq!(titles(&list), ["Blue Mug"]);
    for hidden in ["draft", "archived", "unknown"] {
        front.get(&format!("/products/{hidden}")).await.expect(404).problem("not_found");
    }
    let page = front.get("/products/blue-mug").await.expect(200);
    assert_eq!(page.str("/id"), shown.str("/id"));
    assert_eq!(page.at("/variants/0/price"), &json!({"amount": 500, "currency": "INR"}));
    assert_eq!(page.at("/variants/0/in_stock"), &json!(true));
    assert_eq!(page.at("/related"), &json!([]));
    for reply in [&list, &page] {
        assert!(!reply.text.contains("7654321"), "{}", reply.text);
    }
}

#[tokio::test]
async fn product_lists_support_every_filter_and_sort_order() {
    let front = Front::open().await;
    let category = |name: &str, parent: Value| {
        front.owner.post("/v1/products/categories").json(json!({"name": name, "parent_id": parent}))
    };
    let kitchen = category("Kitchen", Value::Null).await.expect(201).str("/id");
    let mugs = category("Mugs", json!(kitchen)).await.expect(201).str("/id");
    let blue = front.sell("Blue Mug", 500, 3, json!({"category_id": mugs, "tags": ["Sale"]})).await;
    let red = front.sell("Red Mug", 700, 0, json!({"category_id": mugs})).await;
    front.sell("Bowl", 900, 2, json!({"category_id": kitchen, "vendor": "Blue Works"})).await;
    front.sell("Spade", 1_500, 1, json!({})).await;
    let manual = json!({"title": "Picks", "kind": "manual", "published": true,
        "product_ids": [red.str("/id"), blue.str("/id")]});
    front.owner.post("/v1/products/collections").json(manual).await.expect(201);
    let rule = json!({"field": "price", "relation": "less_than", "value": "800"});
    let automated = json!({"title": "Cheap", "kind": "automated", "rules": [rule],
        "match": "all", "sort_order": "price", "published": true});
    front.owner.post("/v1/products/collections").json(automated).await.expect(201);
    for (query, expected) in [
        ("", vec!["Spade", "Bowl", "Red Mug", "Blue Mug"]),
        ("?sort=created_at", vec!["Blue Mug", "Red Mug", "Bowl", "Spade"]),
        ("?sort=price", vec!["Blue Mug", "Red Mug", "Bowl", "Spade"]),
        ("?sort=-price", vec!["Spade", "Bowl", "Red Mug", "Blue Mug"]),
        ("?sort=title", vec!["Blue Mug", "Bowl", "Red Mug", "Spade"]),
        ("?q=mug", vec!["Red Mug", "Blue Mug"]),
        ("?q=BLUE", vec!["Blue Mug", "Bowl"]),
        ("?q=mug+blue", vec!["Blue Mug"]),
        ("?tag=sale", vec!["Blue Mug"]),
        ("?category=kitchen", vec!["Bowl", "Red Mug", "Blue Mug"]),
        ("?category=mugs&in_stock=true", vec!["Blue Mug"]),
        ("?in_stock=false", vec!["Red Mug"]),
        ("?in_stock=true&limit=2", vec!["Spade", "Bowl"]),
        ("?min_price=600&max_price=900", vec!["Bowl", "Red Mug"]),
        ("?min_price=5000", vec![]),
        ("?collection=picks", vec!["Red Mug", "Blue Mug"]),
        ("?collection=picks&sort=price", vec!["Blue Mug", "Red Mug"]),
        ("?collection=picks&in_stock=true", vec!["Blue Mug"]),
        ("?collection=cheap", vec!["Blue Mug", "Red Mug"]),
        ("?collection=cheap&sort=-created_at", vec!["Red Mug", "Blue Mug"]),
    ] {
        assert_eq!(front.titles(query).await, expected, "{query}");
    }
    for (query, pointer, code) in [
        ("?min_price=2&max_price=1", "/max_price", "below_min_price"),
        ("?min_price=x", "/min_price", "out_of_range"),
        ("?sort=color", "/sort", "invalid_choice"),
        ("?colour=red", "/colour", "unknown_field"),
    ] {
        let reply = front.get(&format!("/products{query}")).await.expect(422);
        assert_eq!(reply.field_errors(), [(pointer.to_owned(), code.to_owned())], "{query}");
    }
    for unknown in ["?category=garden", "?collection=garden"] {
        front.get(&format!("/products{unknown}")).await.expect(404).problem("not_found");
    }
    let tree = front.get("/categories").await.expect(200);
    assert_eq!(tree.str("/data/0/children/0/handle"), "mugs");
    assert_eq!(front.get("/categories/mugs").await.expect(200).at("/level"), &json!(2));
    assert_eq!(front.get("/collections").await.expect(200).data().len(), 2);
    assert_eq!(front.get("/collections/picks").await.expect(200).str("/title"), "Picks");
    let alongside = front.alongside("blue-mug", 3).await;
    assert_eq!(related(&alongside), ["Red Mug", "Spade", "Bowl"], "the same category comes first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pagination_during_inserts_returns_each_existing_product_once() {
    let front = Front::open().await;
    let mut present = BTreeSet::new();
    for number in 0..25 {
        let title = format!("There {number:02}");
        front.sell(&title, 500 + number, 1, json!({})).await;
        present.insert(title);
    }
    for query in ["limit=4", "limit=4&sort=created_at", "limit=4&sort=price", "limit=4&q=there"] {
        let path = front.path(&format!("/products?{query}"));
        let inserts = async {
            for number in 0..12 {
                let title = format!("New {number} {query}");
                front.sell(&title, 400 + number * 20, 1, json!({})).await;
            }
        };
        let ((), shown) = tokio::join!(inserts, walk(&front.visitor, &path));
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for title in &shown {
            *counts.entry(title).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count == 1), "{query}: {counts:?}");
        for title in &present {
            assert!(counts.contains_key(title.as_str()), "{query}: {title} is missing");
        }
    }
}

#[tokio::test]
async fn a_cursor_is_valid_for_its_own_list_only() {
    let front = Front::open().await;
    for number in 0..3 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({})).await;
    }
    let other = front.merchant.open_store().await;
    let activate = format!("/v1/stores/{}/activate", other.id);
    front.merchant.post(&activate).json(support::open_as_is()).await.expect(200);
    let first = front.get("/products?limit=1").await.expect(200);
    let cursor = first.str("/page/next_cursor");
    let mut tampered = cursor.clone().into_bytes();
    tampered[5] ^= 1;
    let tampered = String::from_utf8_lossy(&tampered).into_owned();
    for path in [
        front.path(&format!("/products?limit=1&cursor={tampered}")),
        front.path(&format!("/products?limit=1&q=mug&cursor={cursor}")),
        front.path(&format!("/products?limit=1&sort=price&cursor={cursor}")),
        front.path(&format!("/collections?limit=1&cursor={cursor}")),
        format!("/v1/storefront/{}/products?limit=1&cursor={cursor}", other.subdomain),
    ] {
        front.visitor.get(&path).await.expect(400).problem("invalid_cursor");
    }
    // Another visitor may go on where this one stopped: a public list is everybody's.
    let elsewhere = front.gateway.client();
    let path = front.path(&format!("/products?limit=1&cursor={cursor}"));
    assert_eq!(titles(&elsewhere.get(&path).await.expect(200)), ["Mug 1"]);
}

#[tokio::test]
async fn a_warm_storefront_takes_one_round_trip_per_page() {
    let front = Front::open().await;
    for number in 0..30 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({})).await;
    }
    front.gateway.advance(CACHE_TIME);
    let cold = front.get("/products").await.expect(200);
    assert_eq!((cold.data().len(), cold.trips()), (20, 2), "store and page");
    // Longer than the answer itself is.
    front.gateway.advance(RESPONSE_CACHE);
    let warm = front.get("/products").await.expect(200);
    assert_eq!(warm.trips(), 1, "the store is kept");
    assert!(warm.tenths() <= 30, "{} tenths", warm.tenths());
    front.has_candidates(30).await;
    front.gateway.advance(CACHE_TIME);
    let cold = front.get("/products/mug-2").await.expect(200);
    assert_eq!(cold.trips(), 4, "store; candidates; product and those beside it");
    assert_eq!(related(&cold), ["Mug 29", "Mug 28", "Mug 27", "Mug 26"]);
    assert_eq!(cold.at("/related/0/in_stock"), &json!(true));
    let warm = front.get("/products/mug-1").await.expect(200);
    assert_eq!(related(&warm), related(&cold));
    assert_eq!((warm.trips(), warm.tenths()), (1, 5), "the product with its variants");
}

#[tokio::test]
async fn a_search_reserves_five_more_points_than_a_list() {
    let front = Front::open().await;
    for number in 0..12 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({})).await;
    }
    let cost = |reply: &Reply| -> [String; 2] {
        let header = |name| reply.header(name).unwrap().to_owned();
        [header("x-service-cost-requested"), header("x-service-cost-actual")]
    };
    let catalogue = "/v1/app-store/apps";
    let shop = front.path("/products");
    for (client, path, query, expected) in [
        (&front.visitor, shop.as_str(), "", ["3", "3"]),
        (&front.visitor, &shop, "&q=", ["3", "3"]),
        (&front.visitor, &shop, "&q=mug", ["8", "8"]),
        (&front.visitor, &shop, "&q=bowl", ["8", "7"]),
        (&front.owner, "/v1/products", "&q=bowl", ["8", "7"]),
        (&front.owner, "/v1/customers", "&q=bowl", ["8", "6"]),
        (&front.visitor, catalogue, "&q=bowl", ["8", "6"]),
    ] {
        let reply = client.get(&format!("{path}?limit=20{query}")).await;
        assert_eq!(cost(&reply.expect(200)), expected, "{path} {query}");
    }
}
