//! The catalogue: products, variants, collections and categories.

use support::{Client, Gateway, Merchant, Reply, Shop, Value, json, race};

const PRODUCTS: &str = "/v1/products";
const COLLECTIONS: &str = "/v1/products/collections";
const CATEGORIES: &str = "/v1/products/categories";

async fn owner(gateway: &Gateway) -> Client {
    let merchant = Merchant::sign_up(gateway).await;
    let store = merchant.open_store().await;
    merchant.at(&store)
}

fn inr(amount: i64) -> Value {
    json!({"amount": amount, "currency": "INR"})
}

/// A product with one variant of this price.
fn simple(title: &str, price: i64) -> Value {
    json!({"title": title, "variants": [{"price": inr(price)}]})
}

/// A shirt in two sizes and two colours, without one of the combinations.
fn shirt() -> Value {
    json!({
        "title": "Linen shirt",
        "description": "<p onclick=\"x()\">Light.</p><script>alert(1)</script>",
        "status": "active",
        "vendor": "Acme",
        "tags": ["summer", "Summer", "linen"],
        "options": [
            {"name": "Size", "values": ["S", "M"]},
            {"name": "Colour", "values": ["Blue", "White"]},
        ],
        "variants": [
            {"sku": "SH-S-B", "price": inr(1_000), "compare_at": inr(1_500), "options": ["S", "Blue"]},
            {"sku": "SH-M-B", "price": inr(1_200), "options": ["M", "Blue"]},
            {"sku": "SH-M-W", "price": inr(900), "options": ["M", "White"],
             "inventory": {"tracked": true, "policy": "continue"}},
        ],
        "images": [{"url": "https://images.example.com/shirt.png", "alt": "A shirt"}],
        "metadata": {"season": "2026"},
    })
}

async fn make(owner: &Client, body: Value) -> Reply {
    owner.post(PRODUCTS).json(body).await.expect(201)
}

fn path(reply: &Reply) -> String {
    format!("{PRODUCTS}/{}", reply.str("/id"))
}

async fn kinds(gateway: &Gateway, name: &str) -> usize {
    let events = gateway.items("EVT#").await;
    events.iter().filter(|event| event["name"] == name).count()
}

#[tokio::test]
async fn a_product_is_made_with_its_variants_and_shown() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    assert_eq!(made.str("/handle"), "linen-shirt");
    assert_eq!(made.str("/description"), "<p>Light.</p>");
    assert_eq!(*made.at("/tags"), json!(["summer", "linen"]));
    assert_eq!(made.int("/variants_count"), 3);
    assert_eq!(made.str("/variants/1/title"), "M / Blue");
    assert_eq!(made.int("/price_range/min/amount"), 900);
    assert_eq!(made.int("/price_range/max/amount"), 1_200);
    assert_eq!(made.int("/price_range/compare_at/amount"), 1_500);
    assert!(made.at("/published_at").is_string() && made.etag() == "\"1\"");
    let shown = owner.get(&path(&made)).await.expect(200);
    assert_eq!(shown.json, made.json);
    let listed = owner.get(PRODUCTS).await.expect(200);
    assert_eq!(listed.data()[0]["id"], made.json["id"]);
    assert!(listed.data()[0].get("variants").is_none());
    let events = gateway.items("EVT#").await;
    let event = events.iter().find(|event| event["name"] == "product.created").unwrap();
    let body: Value = serde_json::from_str(event["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["data"]["variants"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn everything_wrong_with_a_product_is_named_at_once() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let body = json!({
        "title": "Shirt",
        "options": [{"name": "Size", "values": ["S", "s", "M"]}, {"name": "size", "values": ["x"]}],
        "variants": [
            {"price": {"amount": 1, "currency": "USD"}, "options": ["S", "x"], "sku": "A"},
            {"price": inr(1), "options": ["L", "x"], "sku": "a"},
            {"price": inr(1), "options": ["S"]},
            {"price": inr(1), "options": ["S", "x"],
             "inventory": {"levels": [{"location_id": format!("loc_{:032x}", 7), "quantity": 1}]}},
        ],
        "images": [{"media_id": format!("med_{:032x}", 7)}],
    });
    let refused = owner.post(PRODUCTS).json(body).await.expect(422).problem("validation_failed");
    let expected = [
        ("/images/0/media_id", "unknown_media"),
        ("/options/0/values/1", "duplicate_value"),
        ("/options/1/name", "duplicate_option"),
        ("/variants/0/price/currency", "currency_mismatch"),
        ("/variants/1/options/0", "unknown_option_value"),
        ("/variants/1/sku", "duplicate_sku"),
        ("/variants/2/options", "option_count_mismatch"),
        ("/variants/3/inventory/levels/0/location_id", "unknown_location"),
        ("/variants/3/options", "duplicate_variant"),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(at, code)| ((*at).to_owned(), (*code).to_owned())).collect();
    assert_eq!(refused.field_errors(), expected);
    assert_eq!(gateway.items("STO#").await.iter().filter(|i| i["entity"] == "product").count(), 0);
}

#[tokio::test]
async fn handles_and_skus_are_unique_within_a_store_and_not_beyond() {
    let gateway = Gateway::start().await;
    let (ann, bob) = (owner(&gateway).await, owner(&gateway).await);
    let body = json!({
        "title": "Mug", "handle": "mug", "variants": [{"price": inr(5), "sku": "MUG"}],
    });
    make(&ann, body.clone()).await;
    make(&bob, body.clone()).await;
    ann.post(PRODUCTS).json(body).await.expect(409).problem("handle_taken");
    let same_sku = json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "mug"}]});
    let refused = ann.post(PRODUCTS).json(same_sku).await.expect(409).problem("sku_taken");
    assert_eq!(refused.str("/sku"), "mug");
    // What follows from a title makes room by itself.
    let second = make(&ann, simple("Mug", 5)).await;
    assert_eq!(second.str("/handle"), "mug-2");
    let renamed = ann.patch(&path(&second)).json(json!({"handle": "mug"})).await;
    renamed.expect(409).problem("handle_taken");
    // An old handle is free at once.
    ann.patch(&path(&second)).json(json!({"handle": "tall-mug"})).await.expect(200);
    make(&ann, json!({"title": "Third", "handle": "mug-2"})).await;
}

#[tokio::test]
async fn a_title_taken_by_20_at_once_makes_20_handles() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let replies = race(20, || async { owner.post(PRODUCTS).json(simple("Mug", 5)).await }).await;
    let mut handles: Vec<_> =
        replies.into_iter().map(|reply| reply.expect(201).str("/handle")).collect();
    handles.sort();
    handles.dedup();
    assert_eq!(handles.len(), 20);
}

#[tokio::test]
async fn one_of_20_products_gets_a_sku() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let body = json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "ONE"}]});
    let replies = race(20, || async { owner.post(PRODUCTS).json(body.clone()).await }).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    assert_eq!(replies.iter().filter(|reply| reply.json["code"] == "sku_taken").count(), 19);
    assert_eq!(kinds(&gateway, "product.created").await, 1);
    let variants = gateway.items("STO#").await;
    assert_eq!(variants.iter().filter(|item| item["entity"] == "variant").count(), 1);
}

#[tokio::test]
async fn a_hundred_variants_are_made_changed_and_removed_as_one() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let values: Vec<String> = (0..100).map(|n| format!("No {n}")).collect();
    let variants: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(n, value)| json!({"price": inr(5), "sku": format!("N{n}"), "options": [value]}))
        .collect();
    let body = |title: &str| {
        json!({
            "title": title, "status": "active", "variants": variants,
            "options": [{"name": "Number", "values": values}],
        })
    };
    let made = make(&owner, body("Numbers")).await;
    assert_eq!(made.at("/variants").as_array().unwrap().len(), 100);
    // A refusal at the very end leaves nothing behind: not one variant, not one SKU.
    let before = gateway.items("").await.len();
    let mut other = body("Others");
    other["handle"] = "numbers".into();
    for (n, variant) in other["variants"].as_array_mut().unwrap().iter_mut().enumerate() {
        variant["sku"] = format!("O{n}").into();
    }
    owner.post(PRODUCTS).json(other).await.expect(409).problem("handle_taken");
    let added = gateway.items("").await.len() - before;
    assert!(added <= 1, "{added} items left over");
    let archived = owner.patch(&path(&made)).json(json!({"status": "archived"})).await.expect(200);
    assert_eq!(archived.str("/status"), "archived");
    let sellables = || async {
        let items = gateway.items("STO#").await;
        items.into_iter().filter(|item| item["entity"] == "sellable").collect::<Vec<_>>()
    };
    let after = sellables().await;
    assert_eq!(after.len(), 100);
    assert!(after.iter().all(|sellable| sellable["status"] == "archived"));
    assert_eq!(kinds(&gateway, "product.archived").await, 1);
    let hard = format!("{}?hard=true", path(&made));
    owner.delete(&hard).await.expect(204);
    owner.get(&path(&made)).await.expect(404);
    assert_eq!(sellables().await.len(), 0);
    assert_eq!(gateway.items("UQ#sto").await.len(), 0);
    assert_eq!(kinds(&gateway, "product.deleted").await, 1);
}

#[tokio::test]
async fn a_patch_changes_what_it_names_and_tells_the_checkout() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let ask = json!({"title": "Linen blouse", "vendor": null, "tags": [], "images": []});
    let changed = owner.patch(&path(&made)).json(ask).if_match("\"1\"").await.expect(200);
    assert_eq!(changed.str("/title"), "Linen blouse");
    assert_eq!(changed.str("/handle"), "linen-shirt");
    assert_eq!((changed.at("/vendor"), changed.int("/version")), (&Value::Null, 2));
    let stale = owner.patch(&path(&made)).json(json!({"title": "x"})).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    let items = gateway.items("STO#").await;
    let sellables: Vec<_> = items.iter().filter(|item| item["entity"] == "sellable").collect();
    assert_eq!(sellables.len(), 3);
    for sellable in sellables {
        assert_eq!(sellable["product_title"], "Linen blouse");
        assert!(sellable["image_url"].is_null());
    }
    // What changes nothing is no new version and no event.
    let same = owner.patch(&path(&made)).json(json!({"title": "Linen blouse"})).await.expect(200);
    assert_eq!((same.int("/version"), kinds(&gateway, "product.updated").await), (2, 1));
}

#[tokio::test]
async fn every_patch_that_is_taken_is_one_version() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let path = path(&made);
    let replies = race(10, || async {
        let vendor = support::unique("vendor");
        owner.patch(&path).json(json!({"vendor": vendor})).await
    })
    .await;
    let done = replies.iter().filter(|reply| reply.status == 200).count();
    let refused = replies.iter().filter(|reply| reply.json["code"] == "version_conflict").count();
    assert_eq!(done + refused, 10);
    let shown = owner.get(&path).await.expect(200);
    assert_eq!(shown.int("/version"), 1 + i64::try_from(done).unwrap());
    assert_eq!(kinds(&gateway, "product.updated").await, done);
}

#[tokio::test]
async fn variants_come_change_and_go_and_the_price_range_follows() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let variants = format!("{}/variants", path(&made));
    let ask = json!({"price": inr(100), "options": ["S", "Blue"]});
    let twin = owner.post(&variants).json(ask).await.expect(422);
    assert_eq!(twin.field_errors(), [("/options".to_owned(), "duplicate_variant".to_owned())]);
    let ask = json!({"price": inr(100), "options": ["S", "White"], "sku": "SH-S-W"});
    let added = owner.post(&variants).json(ask).await.expect(201);
    assert_eq!((added.str("/title"), added.int("/position")), ("S / White".into(), 4));
    let shown = owner.get(&path(&made)).await.expect(200);
    assert_eq!((shown.int("/price_range/min/amount"), shown.int("/version")), (100, 2));
    let one = format!("{variants}/{}", added.str("/id"));
    let ask = json!({"price": inr(5_000), "sku": "NEW", "position": 1});
    let changed = owner.patch(&one).json(ask).await.expect(200);
    assert_eq!((changed.int("/version"), changed.int("/position")), (2, 1));
    let shown = owner.get(&path(&made)).await.expect(200);
    assert_eq!(shown.int("/price_range/max/amount"), 5_000);
    assert_eq!(shown.str("/variants/0/sku"), "NEW");
    // The SKU that was given up is free, the new one is not.
    let taken = json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "NEW"}]});
    owner.post(PRODUCTS).json(taken).await.expect(409).problem("sku_taken");
    make(&owner, json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "SH-S-W"}]})).await;
    owner.delete(&one).if_match("\"1\"").await.expect(412);
    owner.delete(&one).await.expect(204);
    owner.delete(&one).await.expect(404);
    let listed = owner.get(&variants).await.expect(200);
    assert_eq!(listed.data().len(), 3);
    for variant in &listed.data()[..2] {
        owner.delete(&format!("{variants}/{}", variant["id"].as_str().unwrap())).await.expect(204);
    }
    let last = format!("{variants}/{}", listed.data()[2]["id"].as_str().unwrap());
    owner.delete(&last).await.expect(409).problem("last_variant");
}

#[tokio::test]
async fn options_can_grow_but_not_lose_what_was_chosen() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let options = |sizes: &[&str]| json!({"options": [{"name": "Fit", "values": sizes}, {"name": "Colour", "values": ["Blue", "White"]}]});
    let refused = owner.patch(&path(&made)).json(options(&["S"])).await.expect(422);
    assert_eq!(refused.field_errors(), [("/options".to_owned(), "options_in_use".to_owned())]);
    owner.patch(&path(&made)).json(options(&["S", "M", "L"])).await.expect(200);
    // The only variant of a product takes the first value of what it never chose from.
    let mug = make(&owner, simple("Mug", 5)).await;
    let ask = json!({"options": [{"name": "Size", "values": ["Small", "Large"]}]});
    let changed = owner.patch(&path(&mug)).json(ask).await.expect(200);
    assert_eq!(*changed.at("/variants/0/options"), json!(["Small"]));
    assert_eq!(changed.str("/variants/0/title"), "Small");
    let ask = json!({"price": inr(9), "options": ["Large"]});
    owner.post(&format!("{}/variants", path(&mug))).json(ask).await.expect(201);
}

#[tokio::test]
async fn delete_archives_and_only_what_was_never_ordered_is_removed() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    owner.delete(&path(&made)).await.expect(204);
    owner.delete(&path(&made)).await.expect(204);
    assert_eq!(owner.get(&path(&made)).await.expect(200).str("/status"), "archived");
    assert_eq!(kinds(&gateway, "product.archived").await, 1);
    // As a checkout marks it.
    let (store, variant) = (made.str("/store_id"), made.str("/variants/0/id"));
    let key = commerce::key::sellable(
        &commerce::id::StoreId::parse(&store).unwrap(),
        &commerce::id::VariantId::parse(&variant).unwrap(),
    );
    let sellable: commerce::product::Sellable =
        gateway.app().table.get(&key).await.unwrap().unwrap();
    commerce::product::note_ordered(gateway.app(), &[sellable]).await.unwrap();
    let hard = format!("{}?hard=true", path(&made));
    owner.delete(&hard).await.expect(409).problem("product_in_use");
    owner.get(&path(&made)).await.expect(200);
    // A change of the product keeps the mark.
    owner.patch(&path(&made)).json(json!({"title": "Other"})).await.expect(200);
    owner.delete(&hard).await.expect(409).problem("product_in_use");
}

#[tokio::test]
async fn lists_filter_and_a_walk_meets_every_product_once() {
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
async fn a_manual_collection_keeps_its_order() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let mut ids = Vec::new();
    for title in ["a", "b", "c", "d"] {
        ids.push(make(&owner, simple(title, 5)).await.str("/id"));
    }
    let body = json!({"title": "Best", "product_ids": [ids[0], ids[1]]});
    let made = owner.post(COLLECTIONS).json(body).await.expect(201);
    assert_eq!((made.str("/handle"), made.int("/products_count")), ("best".into(), 2));
    let one = format!("{COLLECTIONS}/{}", made.str("/id"));
    let products = format!("{one}/products");
    let ask = json!({"add": [ids[2], ids[3]], "remove": [ids[0]], "reorder": [ids[3]]});
    let changed = owner.post(&products).json(ask).await.expect(200);
    assert_eq!((changed.int("/products_count"), changed.int("/version")), (3, 2));
    let titles = |reply: Reply| {
        let titles = reply.data().iter().map(|product| product["title"].clone());
        titles.collect::<Vec<_>>()
    };
    let listed = titles(owner.get(&products).await.expect(200));
    assert_eq!(listed, ["d", "b", "c"]);
    let first = owner.get(&format!("{products}?limit=2")).await.expect(200);
    let next = first.str("/page/next_cursor");
    let rest = owner.get(&format!("{products}?limit=2&cursor={next}")).await.expect(200);
    assert_eq!(titles(rest), ["c"]);
    // A product that is gone is gone from here too.
    owner.delete(&format!("{PRODUCTS}/{}?hard=true", ids[1])).await.expect(204);
    let filtered = format!("{PRODUCTS}?collection_id={}", made.str("/id"));
    assert_eq!(titles(owner.get(&filtered).await.expect(200)), ["d", "c"]);
    owner.delete(&products).json(json!({"remove": [ids[3]]})).await.expect(200);
    assert_eq!(titles(owner.get(&products).await.expect(200)), ["c"]);
    let unknown = json!({"add": [format!("prd_{:032x}", 1)]});
    let refused = owner.post(&products).json(unknown).await.expect(422);
    assert_eq!(refused.field_errors(), [("/add/0".to_owned(), "unknown_product".to_owned())]);
    owner.delete(&one).await.expect(204);
    owner.get(&one).await.expect(404);
    assert_eq!(kinds(&gateway, "collection.deleted").await, 1);
    owner.post(COLLECTIONS).json(json!({"title": "x", "handle": "best"})).await.expect(201);
}

#[tokio::test]
async fn an_automated_collection_follows_its_rules() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    for (title, price, tag) in [("Mug", 500, "sale"), ("Cup", 900, "sale"), ("Bowl", 400, "new")] {
        let body = json!({"title": title, "tags": [tag], "variants": [{"price": inr(price)}]});
        make(&owner, body).await;
    }
    let rules = json!([
        {"field": "tag", "relation": "equals", "value": "sale"},
        {"field": "price", "relation": "less_than", "value": "600"},
    ]);
    let body = json!({"title": "Cheap sale", "rules": rules, "match": "all"});
    let made = owner.post(COLLECTIONS).json(body).await.expect(201);
    assert_eq!((made.str("/kind"), made.at("/products_count")), ("automated".into(), &Value::Null));
    let one = format!("{COLLECTIONS}/{}", made.str("/id"));
    let count = || async { owner.get(&format!("{one}/products")).await.expect(200).data().len() };
    assert_eq!(count().await, 1);
    owner.patch(&one).json(json!({"match": "any"})).await.expect(200);
    assert_eq!(count().await, 3);
    let ask = json!({"add": []});
    let refused = owner.post(&format!("{one}/products")).json(ask).await;
    refused.expect(409).problem("collection_automated");
    let bad = json!({"title": "x", "rules": [{"field": "on_sale", "relation": "contains", "value": "no"}]});
    let refused = owner.post(COLLECTIONS).json(bad).await.expect(422);
    let expected =
        [("/rules/0/relation", "invalid_relation"), ("/rules/0/value", "invalid_choice")];
    assert_eq!(refused.field_errors(), expected.map(|(at, code)| (at.into(), code.into())));
}

async fn category(owner: &Client, name: &str, parent: Option<&Reply>) -> Reply {
    let parent = parent.map(|parent| parent.str("/id"));
    let body = json!({"name": name, "parent_id": parent});
    owner.post(CATEGORIES).json(body).await.expect(201)
}

#[tokio::test]
async fn categories_are_a_tree() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let home = category(&owner, "Home", None).await;
    let kitchen = category(&owner, "Kitchen", Some(&home)).await;
    let cups = category(&owner, "Cups", Some(&kitchen)).await;
    assert_eq!(*cups.at("/path"), json!([home.str("/id"), kitchen.str("/id")]));
    let one = |reply: &Reply| format!("{CATEGORIES}/{}", reply.str("/id"));
    let under = |reply: &Reply| json!({"parent_id": reply.str("/id")});
    for below in [&home, &kitchen, &cups] {
        let moved = owner.patch(&one(&home)).json(under(below)).await;
        moved.expect(409).problem("cycle");
    }
    owner.delete(&one(&kitchen)).await.expect(409).problem("has_children");
    let moved = owner.patch(&one(&cups)).json(under(&home)).await.expect(200);
    assert_eq!(moved.int("/level"), 2);
    owner.delete(&one(&kitchen)).await.expect(204);
    let listed = owner.get(CATEGORIES).await.expect(200);
    let names: Vec<_> = listed.data().iter().map(|category| category["name"].clone()).collect();
    assert_eq!(names, ["Home", "Cups"]);
    let body = json!({"title": "Mug", "category_id": cups.str("/id")});
    make(&owner, body).await;
    let gone = json!({"title": "Mug", "category_id": kitchen.str("/id")});
    let refused = owner.post(PRODUCTS).json(gone).await.expect(422);
    let expected = [("/category_id".to_owned(), "unknown_category".to_owned())];
    assert_eq!(refused.field_errors(), expected);
}

#[tokio::test]
async fn two_moves_at_once_never_close_a_circle() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    for round in 0..5 {
        let a = category(&owner, &format!("a{round}"), None).await;
        let b = category(&owner, &format!("b{round}"), None).await;
        let put = |what: &Reply, below: &Reply| {
            let path = format!("{CATEGORIES}/{}", what.str("/id"));
            owner.patch(&path).json(json!({"parent_id": below.str("/id")}))
        };
        let (first, second) = tokio::join!(put(&a, &b).into_future(), put(&b, &a).into_future());
        let mut found = [first.status, second.status];
        found.sort_unstable();
        assert_eq!(found, [200, 409]);
    }
}

#[tokio::test]
async fn a_strangers_catalogue_is_like_none_at_all() {
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
async fn an_app_reads_with_one_scope_and_writes_with_another() {
    let shop = Shop::with_published_app(&["read_products"]).await;
    let app = shop.app_client().await;
    make(&shop.owner(), shirt()).await;
    assert_eq!(app.get(PRODUCTS).await.expect(200).data().len(), 1);
    let refused = app.post(PRODUCTS).json(shirt()).await.expect(403).problem("insufficient_scope");
    assert_eq!(refused.str("/required_scope"), "write_products");
}

#[tokio::test]
async fn a_sku_left_over_by_a_creation_that_broke_off_is_given_up() {
    use commerce::id::{ProductId, StoreId, VariantId};
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let store_id = StoreId::parse(&make(&owner, simple("Mug", 5)).await.str("/store_id")).unwrap();
    for number in ["1", "2"] {
        let claim = commerce::product::UniqueSku {
            store_id: store_id.clone(),
            sku: format!("CUP-{number}"),
            product_id: ProductId::derive(&["never made"]),
            variant_id: VariantId::derive(&[number]),
            created_at: gateway.now(),
        };
        gateway.app().table.write().put(&claim).commit().await.unwrap();
    }
    let body = json!({
        "title": "Cup", "options": [{"name": "Size", "values": ["S", "L"]}],
        "variants": [
            {"price": inr(5), "sku": "CUP-1", "options": ["S"]},
            {"price": inr(6), "sku": "CUP-2", "options": ["L"]},
        ],
    });
    // For a minute it may still be on its way.
    owner.post(PRODUCTS).json(body.clone()).await.expect(409).problem("sku_taken");
    gateway.advance(gateway::clock::MINUTE * 2);
    make(&owner, body).await;
}

#[tokio::test]
async fn first_stock_without_a_location_lies_at_the_stores_first_one() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let body = json!({
        "title": "Mug", "variants": [{"price": inr(5), "inventory": {"levels": [{"quantity": 7}]}}],
    });
    let made = make(&owner, body).await;
    assert_eq!(*made.at("/variants/0/inventory/tracked"), json!(true));
    let items = gateway.items("STO#").await;
    let levels: Vec<_> = items.iter().filter(|item| item["entity"] == "level").collect();
    assert_eq!(levels.len(), 1);
    assert_eq!((&levels[0]["available"], &levels[0]["on_hand"]), (&json!(7), &json!(7)));
    let locations = owner.get("/v1/inventory/locations").await.expect(200);
    assert_eq!(locations.data()[0]["id"], levels[0]["location_id"]);
}

#[tokio::test]
async fn a_repeated_request_makes_one_product() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let body = json!({"title": "Mug", "variants": [{"price": inr(5), "sku": "MUG"}]});
    let first = owner.post(PRODUCTS).json(body.clone()).key("k1").await.expect(201);
    let again = owner.post(PRODUCTS).json(body).key("k1").await.expect(201);
    assert_eq!(first.text, again.text);
    assert_eq!(kinds(&gateway, "product.created").await, 1);
}

#[tokio::test]
async fn a_product_page_is_two_round_trips() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    assert_eq!(owner.get(&path(&made)).await.expect(200).trips(), 2);
    assert_eq!(owner.get(PRODUCTS).await.expect(200).trips(), 2);
}
