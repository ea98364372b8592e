//! Collections and categories.

use support::clock::MINUTE;
use support::{Gateway, Market, Reply, Value, inr, json};

use super::{CATEGORIES, COLLECTIONS, PRODUCTS, category, kinds, make, owner, path, simple};

#[tokio::test]
async fn a_manual_collection_keeps_its_sort_order() {
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
    let input = json!({"add": [ids[2], ids[3]], "remove": [ids[0]], "reorder": [ids[3]]});
    let changed = owner.post(&products).json(input).await.expect(200);
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
    // Both filters hold: of these products, those in the collection.
    let both = format!("{filtered}&ids={},{}", ids[0], ids[2]);
    assert_eq!(titles(owner.get(&both).await.expect(200)), ["c"]);
    owner.delete(&products).json(json!({"remove": [ids[3]]})).await.expect(200);
    assert_eq!(titles(owner.get(&products).await.expect(200)), ["c"]);
    let unknown = json!({"add": [format!("prd_{:032x}", 1)]});
    let rejected = owner.post(&products).json(unknown).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/add/0".to_owned(), "unknown_product".to_owned())]);
    owner.delete(&one).await.expect(204);
    owner.get(&one).await.expect(404);
    assert_eq!(kinds(&gateway, "collection.deleted").await, 1);
    owner.post(COLLECTIONS).json(json!({"title": "x", "handle": "best"})).await.expect(201);
}

#[tokio::test]
async fn an_automated_collection_follows_its_rules() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let mut ids = Vec::new();
    for (title, price, tag) in
        [("Mug", 500, "sale"), ("Cup", 900, "sale"), ("Bowl", 400, "new"), ("Pot", 900, "new")]
    {
        let body = json!({"title": title, "tags": [tag], "variants": [{"price": inr(price)}]});
        ids.push(make(&owner, body).await.str("/id"));
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
    let id = made.str("/id");
    let both = format!("{PRODUCTS}?collection_id={id}&ids={},{}", ids[0], ids[3]);
    let found = owner.get(&both).await.expect(200);
    assert_eq!((found.data().len(), found.str("/data/0/id")), (1, ids[0].clone()));
    let input = json!({"add": []});
    let rejected = owner.post(&format!("{one}/products")).json(input).await;
    rejected.expect(409).problem("collection_automated");
    let bad = json!({"title": "x", "rules": [{"field": "on_sale", "relation": "contains", "value": "no"}]});
    let rejected = owner.post(COLLECTIONS).json(bad).await.expect(422);
    let expected =
        [("/rules/0/relation", "invalid_relation"), ("/rules/0/value", "invalid_rule_value")];
    assert_eq!(rejected.field_errors(), expected.map(|(at, code)| (at.into(), code.into())));
}

#[tokio::test]
async fn categories_form_a_tree_without_cycles() {
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
    let rejected = owner.post(PRODUCTS).json(gone).await.expect(422);
    let expected = [("/category_id".to_owned(), "unknown_category".to_owned())];
    assert_eq!(rejected.field_errors(), expected);
}

#[tokio::test]
async fn the_sweep_removes_a_deleted_category_from_its_products() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let cups = category(&owner, "Cups", None).await;
    let mugs = category(&owner, "Mugs", None).await;
    let product = |title: &str, status: &str, place: &Reply| {
        make(&owner, json!({"title": title, "status": status, "category_id": place.str("/id")}))
    };
    let mut lost = Vec::new();
    for status in ["active", "draft", "archived"] {
        lost.push(product(status, status, &cups).await);
    }
    let kept = product("Kept", "active", &mugs).await;
    let moved = product("Moved", "active", &cups).await;
    owner.delete(&format!("{CATEGORIES}/{}", cups.str("/id"))).await.expect(204);
    let input = json!({"category_id": mugs.str("/id")});
    owner.patch(&path(&moved)).json(input).await.expect(200);
    let updates = kinds(&gateway, "product.updated").await;
    let early = gateway.sweep().await;
    assert_eq!(early.categories, 0, "the index may be behind");
    gateway.advance(MINUTE * 2);
    let swept = gateway.sweep().await;
    assert_eq!((swept.categories, swept.failures), (1, 0));
    for product in &lost {
        let shown = owner.get(&path(product)).await.expect(200);
        assert_eq!((shown.at("/category_id"), shown.int("/version")), (&Value::Null, 2));
        assert!(shown.str("/updated_at") > product.str("/updated_at"));
        owner
            .patch(&path(product))
            .json(json!({"vendor": "x"}))
            .if_match("\"1\"")
            .await
            .expect(412);
        owner
            .patch(&path(product))
            .json(json!({"vendor": "x"}))
            .if_match("\"2\"")
            .await
            .expect(200);
    }
    for (product, version) in [(&kept, 1), (&moved, 2)] {
        let shown = owner.get(&path(product)).await.expect(200);
        assert_eq!((shown.str("/category_id"), shown.int("/version")), (mugs.str("/id"), version));
    }
    assert_eq!(kinds(&gateway, "product.updated").await, updates + lost.len());
    assert_eq!(gateway.sweep().await.categories, 0, "it is done once");
}

#[tokio::test]
async fn parallel_category_moves_never_create_a_cycle() {
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
async fn collection_rules_reject_categories_of_other_stores() {
    let (market, other) = (Market::open().await, Market::open().await);
    let category = async |market: &Market| {
        let input = json!({"name": "Cups"});
        market.owner.post("/v1/products/categories").json(input).await.expect(201).str("/id")
    };
    let (own, foreign) = (category(&market).await, category(&other).await);
    let rule = |id: &str| json!({"field": "category_id", "relation": "equals", "value": id});
    let rules = json!([rule(&own), rule(&foreign)]);
    let field_errors = [("/rules/1/value".into(), "unknown_category".into())];
    let path = "/v1/products/collections";
    let input = json!({"title": "Cups", "rules": rules});
    let rejected = market.owner.post(path).json(input).await.expect(422);
    assert_eq!(rejected.field_errors(), field_errors);
    let input = json!({"title": "Cups", "rules": [rule(&own)]});
    let made = market.owner.post(path).json(input).await.expect(201);
    let one = format!("{path}/{}", made.str("/id"));
    let input = json!({"rules": rules});
    let rejected = market.owner.patch(&one).json(input.clone()).await.expect(422);
    assert_eq!(rejected.field_errors(), field_errors);
    market.owner.patch(&one).json(json!({"rules": [rule(&own)]})).await.expect(200);
    let missing = format!("{path}/col_{}", "0".repeat(32));
    market.owner.patch(&missing).json(input).await.expect(404);
}
