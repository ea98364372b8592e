//! Limits of lists inside bodies: so many are taken, one more is rejected, and named.

use support::{Client, Market, Reply, Value, cart, inr, json, unique};

const PRODUCTS: &str = "/v1/products";

/// So many elements.
fn many(count: usize, element: impl Fn(usize) -> Value) -> Value {
    (0..count).map(element).collect()
}

/// An object of so many texts.
fn entries(count: usize) -> Value {
    let entry = |number: usize| (format!("n{number}"), json!("x"));
    Value::Object((0..count).map(entry).collect())
}

#[track_caller]
fn too_many(reply: Reply, pointer: &str) {
    let reply = reply.expect(422).problem("validation_failed");
    assert_eq!(reply.field_errors(), [(pointer.to_owned(), "too_many".to_owned())]);
}

/// So many values of a field.
type Values<'a> = &'a dyn Fn(usize) -> Value;

/// A product where `field` is `value`.
async fn product(owner: &Client, field: &str, value: Value) -> Reply {
    let mut input = json!({"title": unique("Thing")});
    input[field] = value;
    owner.post(PRODUCTS).json(input).await
}

#[tokio::test]
async fn a_product_takes_250_tags_50_images_and_50_metadata_entries() {
    let market = Market::open().await;
    let owner = &market.owner;
    let image = |n: usize| json!({"url": format!("https://images.example.com/{n}")});
    let cases: [(&str, usize, Values<'_>); 3] = [
        ("tags", 250, &|count| many(count, |n| json!(format!("t{n}")))),
        ("images", 50, &|count| many(count, image)),
        ("metadata", 50, &entries),
    ];
    for (field, most, value) in cases {
        let made = product(owner, field, value(most)).await.expect(201);
        let kept = made.at(&format!("/{field}"));
        let count = kept.as_array().map_or_else(|| kept.as_object().unwrap().len(), Vec::len);
        assert_eq!(count, most, "{field}");
        too_many(product(owner, field, value(most + 1)).await, &format!("/{field}"));
        let path = format!("{PRODUCTS}/{}", made.str("/id"));
        owner.patch(&path).json(json!({field: value(most)})).await.expect(200);
        too_many(
            owner.patch(&path).json(json!({field: value(most + 1)})).await,
            &format!("/{field}"),
        );
    }
}

#[tokio::test]
async fn a_product_takes_three_options_and_a_hundred_variants() {
    let market = Market::open().await;
    let owner = &market.owner;
    let of_options = |count: usize| {
        let option = |n: usize| json!({"name": format!("Option {n}"), "values": ["x"]});
        let variant = json!({"price": inr(1), "options": vec!["x"; count]});
        json!({"title": "Options", "options": many(count, option), "variants": [variant]})
    };
    let made = owner.post(PRODUCTS).json(of_options(3)).await.expect(201);
    assert_eq!(made.at("/options").as_array().unwrap().len(), 3);
    let rejected = owner.post(PRODUCTS).json(of_options(4)).await.expect(422);
    let too_many_of = |pointer: &str| (pointer.to_owned(), "too_many".to_owned());
    let expected = ["/options", "/variants/0/options"].map(too_many_of);
    assert_eq!(rejected.field_errors(), expected);
    let of_variants = |count: usize| {
        let values: Vec<String> = (0..100).map(|n| format!("S{n}")).collect();
        let variant = |n: usize| json!({"price": inr(1), "options": [values[n % 100]]});
        json!({
            "title": "Variants", "options": [{"name": "Size", "values": values}],
            "variants": many(count, variant),
        })
    };
    let made = owner.post(PRODUCTS).json(of_variants(100)).await.expect(201);
    assert_eq!(made.int("/variants_count"), 100);
    too_many(owner.post(PRODUCTS).json(of_variants(101)).await, "/variants");
    let variants = format!("{PRODUCTS}/{}/variants", made.str("/id"));
    let more = json!({"price": inr(1), "options": ["S1"]});
    owner.post(&variants).json(more).await.expect(409).problem("variant_limit");
}

#[tokio::test]
async fn a_collection_takes_twenty_rules() {
    let market = Market::open().await;
    let rule =
        |n: usize| json!({"field": "price", "relation": "less_than", "value": (n + 1).to_string()});
    let request = |count: usize| {
        json!({
            "title": unique("Rules"), "kind": "automated", "rules": many(count, rule),
        })
    };
    let path = "/v1/products/collections";
    let made = market.owner.post(path).json(request(20)).await.expect(201);
    too_many(market.owner.post(path).json(request(21)).await, "/rules");
    let path = format!("{path}/{}", made.str("/id"));
    market.owner.patch(&path).json(json!({"rules": many(20, rule)})).await.expect(200);
    too_many(market.owner.patch(&path).json(json!({"rules": many(21, rule)})).await, "/rules");
}

#[tokio::test]
async fn a_menu_takes_200_items_three_deep() {
    let market = Market::open().await;
    let path = format!("/v1/stores/{}/navigation/main", market.store.id);
    let put = |items: Value| market.owner.put(&path).json(json!({"items": items}));
    let home = json!({"title": "Home", "type": "home"});
    put(many(200, |_| home.clone())).await.expect(200);
    too_many(put(many(201, |_| home.clone())).await, "/items");
    let below = |children: Value| {
        let mut item = home.clone();
        item["children"] = json!([children]);
        item
    };
    let three = below(below(home.clone()));
    put(json!([three.clone()])).await.expect(200);
    let rejected = put(json!([below(three)])).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "too_deep", "{}", rejected.text);
    // Those below count too.
    let pair = || below(home.clone());
    put(many(100, |_| pair())).await.expect(200);
    too_many(put(many(101, |_| pair())).await, "/items");
}

#[tokio::test]
async fn an_adjustment_takes_45_changes() {
    let market = Market::open().await;
    let owner = &market.owner;
    let places = owner.get("/v1/inventory/locations").await.expect(200);
    let place = places.str("/data/0/id");
    let values: Vec<String> = (0..46).map(|n| format!("S{n}")).collect();
    let variant = |value: &String| {
        json!({
            "price": inr(1), "options": [value],
            "inventory": {"tracked": true, "levels": [{"location_id": place, "quantity": 5}]},
        })
    };
    let input = json!({
        "title": "Many", "options": [{"name": "Size", "values": values}],
        "variants": values.iter().map(variant).collect::<Vec<_>>(),
    });
    let made = owner.post(PRODUCTS).json(input).await.expect(201);
    let adjust = |count: usize| {
        let change = |n: usize| {
            let item = made.str(&format!("/variants/{n}/id"));
            json!({"item_id": item, "location_id": place, "delta": 1})
        };
        let input = json!({"reason": "count", "changes": many(count, change)});
        owner.post("/v1/inventory/levels/adjust").key(&unique("adjust")).json(input)
    };
    let done = adjust(45).await.expect(200);
    assert_eq!(done.at("/changes").as_array().unwrap().len(), 45);
    too_many(adjust(46).await, "/changes");
}

#[tokio::test]
async fn a_cart_takes_40_lines_of_999_and_three_gift_cards() {
    let market = Market::open().await;
    let values: Vec<String> = (0..41).map(|n| format!("S{n}")).collect();
    let variant = |value: &String| json!({"price": inr(1), "options": [value], "inventory": {"tracked": false}});
    let input = json!({
        "title": "Many", "status": "active", "options": [{"name": "Size", "values": values}],
        "variants": values.iter().map(variant).collect::<Vec<_>>(),
    });
    let made = market.owner.post(PRODUCTS).json(input).await.expect(201);
    let ids: Vec<String> = (0..41).map(|n| made.str(&format!("/variants/{n}/id"))).collect();
    let of = |count: usize| {
        let lines: Vec<(&str, i64)> = ids[..count].iter().map(|id| (id.as_str(), 1)).collect();
        cart(&lines)
    };
    let placed = market.try_order(of(40)).await.expect(201);
    assert_eq!(placed.at("/order/items").as_array().unwrap().len(), 40);
    too_many(market.try_order(of(41)).await, "/items");
    let of_quantity = |quantity: i64| market.try_order(cart(&[(&ids[0], quantity)]));
    of_quantity(999).await.expect(201);
    let rejected = of_quantity(1_000).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/items/0/quantity".into(), "out_of_range".into())]);
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(market.gift_card(1).await.1);
    }
    let with_cards = |count: usize| {
        let mut input = cart(&[(&ids[0], 9)]);
        input["gift_card_codes"] = json!(codes[..count]);
        market.try_order(input)
    };
    too_many(with_cards(4).await, "/gift_card_codes");
    with_cards(3).await.expect(201);
}

#[tokio::test]
async fn a_form_takes_50_fields_and_names_of_100_characters() {
    let market = Market::open().await;
    let path = format!("/v1/storefront/{}/forms/contact", market.store.subdomain);
    let send = |fields: Value| {
        let visitor = market.gateway.client();
        let input = visitor.post(&path).json(json!({"fields": fields}));
        async move { input.await }
    };
    send(entries(50)).await.expect(202);
    too_many(send(entries(51)).await, "/fields");
    send(json!({("n".repeat(100)): "x"})).await.expect(202);
    let rejected = send(json!({("n".repeat(101)): "x"})).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "invalid_length", "{}", rejected.text);
}

#[tokio::test]
async fn a_collection_takes_a_thousand_products_and_a_list_a_hundred_items() {
    let market = Market::open().await;
    let id = |n: usize| json!(format!("prd_{n:032x}"));
    let input = json!({"title": "All", "kind": "manual", "product_ids": many(1_001, id)});
    too_many(market.owner.post("/v1/products/collections").json(input).await, "/product_ids");
    let list =
        |limit: u32| market.owner.get("/v1/products").query(&[("limit", &limit.to_string())]);
    list(1).await.expect(200);
    list(100).await.expect(200);
    for limit in [0, 101] {
        let rejected = list(limit).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/limit".into(), "out_of_range".into())]);
    }
}
