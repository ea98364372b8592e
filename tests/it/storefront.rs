//! The storefront as anybody sees it: the store, its pages, its catalogue.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use support::{Client, Gateway, Merchant, Reply, Store, Value, json, unique};

/// As long as a process shows a store as it was.
const KEPT: Duration = Duration::from_secs(6);

/// An open store, its owner, and somebody who looks.
struct Front {
    gateway: Gateway,
    merchant: Merchant,
    store: Store,
    owner: Client,
    visitor: Client,
}

impl Front {
    async fn open() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let owner = merchant.at(&store);
        let visitor = gateway.client();
        let front = Self { gateway, merchant, store, owner, visitor };
        front.act("activate").await;
        front
    }

    async fn act(&self, action: &str) {
        let path = format!("/v1/stores/{}/{action}", self.store.id);
        self.merchant.post(&path).json(json!({})).await.expect(200);
        self.gateway.advance(KEPT);
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/storefront/{}{rest}", self.store.subdomain)
    }

    async fn get(&self, rest: &str) -> Reply {
        self.visitor.get(&self.path(rest)).await
    }

    async fn location(&self) -> String {
        let list = self.owner.get("/v1/inventory/locations").await.expect(200);
        list.str("/data/0/id")
    }

    /// A product for sale with one variant and this stock; `more` changes it.
    async fn sell(&self, title: &str, price: i64, stock: i64, more: Value) -> Reply {
        let mut ask = json!({
            "title": title, "status": "active",
            "variants": [{
                "price": {"amount": price, "currency": "INR"},
                "inventory": {"tracked": true, "levels": [
                    {"location_id": self.location().await, "quantity": stock}]},
            }],
        });
        for (name, value) in more.as_object().expect("fields") {
            ask[name] = value.clone();
        }
        self.owner.post("/v1/products").json(ask).await.expect(201)
    }

    /// The titles of a list, in its order.
    async fn titles(&self, query: &str) -> Vec<String> {
        titles(&self.get(&format!("/products{query}")).await.expect(200))
    }
}

fn titles(list: &Reply) -> Vec<String> {
    list.data().iter().map(|product| product["title"].as_str().unwrap().to_owned()).collect()
}

/// Walks a list by its cursors; answers with the titles in the order shown.
async fn walk(client: &Client, first: &str) -> Vec<String> {
    let mut shown = Vec::new();
    let mut path = first.to_owned();
    for _ in 0..200 {
        let page = client.get(&path).await.expect(200);
        shown.extend(titles(&page));
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { return shown };
        path = format!("{first}&cursor={cursor}");
    }
    panic!("{first} never ends");
}

#[tokio::test]
async fn a_store_is_looked_up_by_subdomain_by_host_and_by_the_host_asked() {
    let front = Front::open().await;
    let name = &front.store.subdomain;
    let by_name = front.visitor.get(&format!("/v1/storefront/lookup?subdomain={name}")).await;
    let by_name = by_name.expect(200);
    assert_eq!(by_name.str("/store_id"), front.store.id);
    assert_eq!(by_name.str("/storefront_status"), "active");
    assert_eq!(by_name.json.get("moved_to"), None);
    let by_host =
        format!("/v1/storefront/lookup?host={}.shops.example.com:443", name.to_uppercase());
    assert_eq!(front.visitor.get(&by_host).await.expect(200).text, by_name.text);
    let own = front.visitor.get("/v1/storefront/lookup");
    let own = own.header("host", &format!("{name}.shops.example.com")).await.expect(200);
    assert_eq!(own.text, by_name.text);
    // The API's own host is no storefront.
    front.visitor.get("/v1/storefront/lookup").await.expect(400).problem("host_required");
    for unknown in ["subdomain=nobody-here", "host=nobody-here.example.com", "host=127.0.0.1"] {
        let reply = front.visitor.get(&format!("/v1/storefront/lookup?{unknown}")).await;
        reply.expect(404).problem("store_not_found");
    }
    front.visitor.get("/v1/storefront/lookup?shop=x").await.expect(422);
}

#[tokio::test]
async fn a_store_that_is_not_open_is_not_there_and_a_paused_one_is() {
    let front = Front::open().await;
    let draft = front.merchant.open_store().await;
    for path in ["", "/products", "/categories", "/navigation", "/policies"] {
        let path = format!("/v1/storefront/{}{path}", draft.subdomain);
        front.visitor.get(&path).await.expect(404).problem("store_not_found");
    }
    front.act("pause").await;
    assert_eq!(front.get("").await.expect(200).str("/storefront_status"), "paused");
    front.act("close").await;
    front.get("").await.expect(404).problem("store_not_found");
    front.act("reopen").await;
    front.get("/products").await.expect(200);
}

#[tokio::test]
async fn a_store_that_moved_is_found_by_both_names() {
    let front = Front::open().await;
    let new = unique("moved");
    let path = format!("/v1/stores/{}", front.store.id);
    front.merchant.patch(&path).json(json!({"subdomain": new})).await.expect(200);
    front.gateway.advance(KEPT);
    let lookup = |name: &str| format!("/v1/storefront/lookup?subdomain={name}");
    let old = front.visitor.get(&lookup(&front.store.subdomain)).await.expect(200);
    assert_eq!((old.str("/moved_to"), old.str("/subdomain")), (new.clone(), new.clone()));
    let now = front.visitor.get(&lookup(&new)).await.expect(200);
    assert_eq!(now.json.get("moved_to"), None);
    // Links keep leading to the store.
    assert_eq!(front.get("").await.expect(200).str("/store_id"), front.store.id);
}

#[tokio::test]
async fn the_store_page_names_what_a_first_page_needs() {
    let front = Front::open().await;
    let path = |rest: &str| format!("/v1/stores/{}{rest}", front.store.id);
    let menu = json!({"items": [{"title": "Home", "type": "home"}]});
    front.merchant.put(&path("/navigation/main")).json(menu).await.expect(200);
    for (handle, published) in [("refund", true), ("terms", false)] {
        let policy = json!({"title": handle, "body_html": "<p>Text</p>", "published": published});
        front.merchant.put(&path(&format!("/policies/{handle}"))).json(policy).await.expect(200);
    }
    let page = front.get("").await.expect(200);
    assert_eq!(page.at("/navigation"), &json!(["main"]));
    assert_eq!(page.str("/policies/0/handle"), "refund");
    assert_eq!(page.at("/policies").as_array().unwrap().len(), 1);
    assert_eq!(page.at("/payment_methods"), &json!([{"provider": "manual"}]));
    assert!(page.trips() <= 2, "{} trips", page.trips());
    assert_eq!(front.get("/navigation").await.expect(200).data().len(), 1);
    front.get("/navigation/main").await.expect(200);
    front.get("/navigation/footer").await.expect(404).problem("not_found");
    assert_eq!(front.get("/policies").await.expect(200).data().len(), 1);
    assert!(front.get("/policies/refund").await.expect(200).text.contains("<p>Text</p>"));
    front.get("/policies/terms").await.expect(404).problem("not_found");
}

#[tokio::test]
async fn every_page_says_how_long_it_holds_and_is_not_sent_twice() {
    let front = Front::open().await;
    let category = json!({"name": "Kitchen"});
    let category = front.owner.post("/v1/products/categories").json(category).await.expect(201);
    front.sell("Blue Mug", 500, 3, json!({"category_id": category.str("/id")})).await;
    let collection = json!({"title": "All", "kind": "manual", "product_ids": []});
    front.owner.post("/v1/products/collections").json(collection).await.expect(201);
    let path = |rest: &str| format!("/v1/stores/{}{rest}", front.store.id);
    let menu = json!({"items": []});
    front.merchant.put(&path("/navigation/main")).json(menu).await.expect(200);
    let policy = json!({"body_html": "<p>Text</p>"});
    front.merchant.put(&path("/policies/refund")).json(policy).await.expect(200);
    let lookup = format!("/v1/storefront/lookup?subdomain={}", front.store.subdomain);
    let rest = [
        "",
        "/products",
        "/products/blue-mug",
        "/categories",
        "/categories/kitchen",
        "/collections",
        "/navigation",
        "/navigation/main",
        "/policies",
        "/policies/refund",
    ];
    for path in rest.iter().map(|rest| front.path(rest)).chain([lookup]) {
        let fresh = front.visitor.get(&path).await.expect(200);
        assert_eq!(fresh.header("cache-control"), Some("public, max-age=30"), "{path}");
        assert_eq!(fresh.header("access-control-allow-origin"), Some("*"), "{path}");
        let tag = fresh.etag();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".into()] {
            let same = front.visitor.get(&path).header("if-none-match", &known).await.expect(304);
            assert_eq!((same.text.as_str(), same.etag()), ("", tag.clone()), "{path}");
            assert_eq!(same.header("cache-control"), Some("public, max-age=30"), "{path}");
        }
        let other = front.visitor.get(&path).header("if-none-match", "\"x\"").await.expect(200);
        assert_eq!(other.text, fresh.text, "{path}");
    }
    // What changed is sent again.
    let before = front.get("/products").await.expect(200).etag();
    front.sell("Red Mug", 500, 3, json!({})).await;
    let after = front.visitor.get(&front.path("/products"));
    after.header("if-none-match", &before).await.expect(200);
}

#[tokio::test]
async fn only_what_is_for_sale_is_shown_and_never_how_many_there_are() {
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
async fn a_list_is_filtered_by_what_is_asked() {
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
        ("?q=BLUE", vec!["Bowl", "Blue Mug"]),
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
    let beside = front.get("/products/blue-mug").await.expect(200);
    assert_eq!(beside.str("/related/0/title"), "Red Mug", "the same category comes first");
    assert_eq!(beside.at("/related").as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_under_inserts_shows_everything_that_was_there_exactly_once() {
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
async fn cursors_are_for_their_list_and_nothing_else() {
    let front = Front::open().await;
    for number in 0..3 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({})).await;
    }
    let other = front.merchant.open_store().await;
    let activate = format!("/v1/stores/{}/activate", other.id);
    front.merchant.post(&activate).json(json!({})).await.expect(200);
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
async fn a_busy_storefront_costs_few_round_trips() {
    let front = Front::open().await;
    for number in 0..30 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({})).await;
    }
    front.gateway.advance(KEPT);
    let cold = front.get("/products").await.expect(200);
    assert_eq!((cold.data().len(), cold.trips()), (20, 3), "store, page and stock");
    let warm = front.get("/products").await.expect(200);
    assert_eq!(warm.trips(), 2, "the store is kept");
    front.get("/products/mug-1").await.expect(200);
    let page = front.get("/products/mug-2").await.expect(200);
    assert_eq!(page.trips(), 3, "handle, product with variants, stock");
    assert_eq!(page.at("/related").as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn stores_pay_for_their_own_visitors() {
    let front = Front::open().await;
    let other = front.merchant.open_store().await;
    let activate = format!("/v1/stores/{}/activate", other.id);
    front.merchant.post(&activate).json(json!({})).await.expect(200);
    front.gateway.app().clock.stop();
    let available = |reply: &Reply| -> i64 {
        reply.header("x-service-cost-available").unwrap().parse().unwrap()
    };
    for _ in 0..3 {
        front.get("").await.expect(200);
    }
    let here = available(&front.get("").await.expect(200));
    let there = front.visitor.get(&format!("/v1/storefront/{}", other.subdomain)).await;
    assert_eq!((here, available(&there.expect(200))), (296, 299));
}
