//! Products made: what is rejected, and what is unique.

use support::clock::{DAY, MINUTE};
use support::{Gateway, Market, Merchant, Value, inr, json, race, unique};

use super::{PRODUCTS, kinds, make, owner, path, shirt, simple};

#[tokio::test]
async fn a_product_is_created_with_its_variants() {
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
    assert!(made.at("/price_range/compare_at").is_null(), "the cheapest is compared with nothing");
    assert!(made.at("/published_at").is_string() && made.etag() == "\"1\"");
    let shown = owner.get(&path(&made)).await.expect(200);
    assert_eq!(shown.json, made.json);
    let listed = owner.get(PRODUCTS).await.expect(200);
    assert_eq!(listed.data()[0]["id"], made.json["id"]);
    assert!(listed.data()[0].get("variants").is_none());
    let body = gateway.events("product.created").await.remove(0);
    assert_eq!(body["data"]["variants"].as_array().unwrap().len(), 3);
}

/// As the document's example has it.
#[tokio::test]
async fn a_product_is_created_and_stocked_by_one_request() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let places = owner.get("/v1/inventory/locations").await.expect(200);
    let size = |size: &str, quantity: u32| {
        let level = json!({"location_id": places.str("/data/0/id"), "quantity": quantity});
        json!({
            "options": [size], "sku": format!("APRON-{size}"), "price": inr(129_900),
            "inventory": {"tracked": true, "levels": [level]},
        })
    };
    let apron = json!({
        "title": "Waxed apron", "status": "active", "vendor": "Kiln & Loom",
        "description": "Waxed canvas, with two pockets.", "product_type": "Aprons",
        "tags": ["kitchen"], "options": [{"name": "Size", "values": ["S", "M"]}],
        "variants": [size("S", 5), size("M", 8)],
    });
    let made = make(&owner, apron).await;
    let levels = owner.get("/v1/inventory/levels").await.expect(200);
    let counts = levels.data().iter().map(|level| level["quantities"]["available"].as_i64());
    assert_eq!(counts.map(Option::unwrap).sum::<i64>(), 13);
    let change = json!({
        "title": "Waxed canvas apron", "tags": ["kitchen", "gifts"],
        "metadata": {"season": "autumn"},
    });
    let changed = owner.patch(&path(&made)).json(change).await.expect(200);
    assert_eq!(changed.str("/handle"), "waxed-apron", "addresses stay");
    assert_eq!((changed.int("/version"), changed.int("/variants_count")), (2, 2));
}

#[tokio::test]
async fn all_field_errors_of_a_product_are_reported_at_once() {
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
    let rejected = owner.post(PRODUCTS).json(body).await.expect(422).problem("validation_failed");
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
    assert_eq!(rejected.field_errors(), expected);
    assert_eq!(gateway.items("STO#").await.iter().filter(|i| i["entity"] == "product").count(), 0);
}

#[tokio::test]
async fn handles_and_skus_are_unique_per_store() {
    let gateway = Gateway::start().await;
    let (ann, bob) = (owner(&gateway).await, owner(&gateway).await);
    let body = json!({
        "title": "Mug", "handle": "mug", "variants": [{"price": inr(5), "sku": "MUG"}],
    });
    make(&ann, body.clone()).await;
    make(&bob, body.clone()).await;
    ann.post(PRODUCTS).json(body).await.expect(409).problem("handle_taken");
    let same_sku = json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "mug"}]});
    let rejected = ann.post(PRODUCTS).json(same_sku).await.expect(409).problem("sku_taken");
    assert_eq!(rejected.str("/sku"), "mug");
    // What follows from a title makes room by itself.
    let second = make(&ann, simple("Mug", 5)).await;
    assert_eq!(second.str("/handle"), "mug-2");
    let renamed = ann.patch(&path(&second)).json(json!({"handle": "mug"})).await;
    renamed.expect(409).problem("handle_taken");
    // An old handle is free at once.
    ann.patch(&path(&second)).json(json!({"handle": "tall-mug"})).await.expect(200);
    make(&ann, json!({"title": "Third", "handle": "mug-2"})).await;
}

/// A title makes a handle, with letters of Latin in ASCII; a given handle is kept as it is.
#[tokio::test]
async fn handles_accept_any_script() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_shop().await;
    let owner = merchant.at(&store);
    for (title, handle) in
        [("Fűszerőrlő", "fuszerorlo"), ("Łódź", "lodz"), ("日本茶", "日本茶"), ("☕", "product")]
    {
        let made = make(&owner, json!({"title": title})).await;
        assert_eq!(made.str("/handle"), handle, "{title}");
    }
    let long = "ő".repeat(255);
    for (given, stored) in
        [("Café", "café"), ("緑茶", "緑茶"), ("हिन्दी", "हिन्दी"), (&long, long.as_str())]
    {
        let input = json!({"title": "Tea", "handle": given, "status": "active"});
        let made = make(&owner, input).await;
        assert_eq!(made.str("/handle"), stored, "{given}");
        let path = format!("/v1/storefront/{}/products/{given}", store.subdomain);
        let shown = gateway.client().get(&path).await.expect(200);
        assert_eq!(shown.str("/handle"), stored, "{given}");
    }
    let again = json!({"title": "Tea", "handle": "cafe\u{301}", "variants": [{"price": inr(5)}]});
    owner.post(PRODUCTS).json(again).await.expect(409).problem("handle_taken");
    for wrong in ["a b", "a/b", "a--b", &"ő".repeat(256)] {
        let input = json!({"title": "Tea", "handle": wrong, "variants": [{"price": inr(5)}]});
        let rejected = owner.post(PRODUCTS).json(input).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/handle".into(), "invalid_handle".into())]);
    }
}

#[tokio::test]
async fn parallel_products_of_one_title_get_distinct_handles() {
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
async fn one_of_20_parallel_products_gets_a_sku() {
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
async fn a_sku_of_an_aborted_creation_is_released() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let store = make(&owner, simple("Mug", 5)).await.str("/store_id");
    for sku in ["CUP-1", "CUP-2"] {
        gateway.claim_sku(&store, sku).await;
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
    gateway.advance(MINUTE * 2);
    make(&owner, body).await;
}

#[tokio::test]
async fn initial_stock_defaults_to_the_stores_first_location() {
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
async fn a_repeated_idempotency_key_creates_one_product() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let body = json!({"title": "Mug", "variants": [{"price": inr(5), "sku": "MUG"}]});
    let first = owner.post(PRODUCTS).json(body.clone()).key("k1").await.expect(201);
    let again = owner.post(PRODUCTS).json(body).key("k1").await.expect(201);
    assert_eq!(first.text, again.text);
    assert_eq!(kinds(&gateway, "product.created").await, 1);
}

#[tokio::test]
async fn image_urls_survive_a_subdomain_change() {
    let market = Market::open().await;
    let bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let upload = market.owner.post("/v1/media").header("content-type", "image/png").body(bytes);
    let media = upload.await.expect(201).str("/id");
    let body = json!({"title": "Mug", "status": "active", "images": [{"media_id": media}]});
    let made = make(&market.owner, body).await;
    let url = made.str("/images/0/url");
    let path = url.strip_prefix(market.gateway.url()).expect("a URL of ours").to_owned();
    assert_eq!(market.gateway.get(&path).await.expect(200).bytes, bytes);
    let renamed = json!({"subdomain": unique("renamed")});
    market.owner.patch(&format!("/v1/stores/{}", market.store.id)).json(renamed).await.expect(200);
    market.gateway.advance(DAY * 91);
    assert_eq!(market.gateway.get(&path).await.expect(200).bytes, bytes);
    let other = format!("/v1/storefront/sto_{:032x}/media/{media}", 7);
    market.gateway.get(&other).await.expect(404).problem("storefront_not_found");
}

#[tokio::test]
async fn a_products_compare_at_price_comes_from_its_cheapest_variant() {
    let market = Market::open().await;
    let made = |title: &'static str, prices: Vec<(i64, Option<i64>)>| {
        let variant = |(number, (price, before)): (usize, &(i64, Option<i64>))| {
            json!({"price": inr(*price), "compare_at": before.map(inr),
                "options": [number.to_string()]})
        };
        let values: Vec<String> = (0..prices.len()).map(|number| number.to_string()).collect();
        let variants: Vec<Value> = prices.iter().enumerate().map(variant).collect();
        json!({"title": title, "status": "active", "variants": variants,
            "options": [{"name": "Size", "values": values}]})
    };
    let rule = json!({"field": "on_sale", "relation": "equals", "value": "true"});
    let sale = json!({"title": "Sale", "rules": [rule], "published": true});
    market.owner.post("/v1/products/collections").json(sale).await.expect(201);
    for (title, prices, shown) in [
        ("Dear reduced", vec![(500, None), (900, Some(1_000))], Value::Null),
        ("Cheap reduced", vec![(500, Some(700)), (900, Some(950))], json!(700)),
        ("Not reduced", vec![(500, Some(500)), (900, Some(800))], Value::Null),
        ("Two alike", vec![(500, Some(800)), (500, Some(600))], json!(600)),
    ] {
        let made = make(&market.owner, made(title, prices)).await;
        assert_eq!(
            made.at("/price_range/compare_at").get("amount").unwrap_or(&Value::Null),
            &shown,
            "{title}"
        );
    }
    let list = |query: &str| {
        let path = format!("/v1/storefront/{}/products?sort=title{query}", market.store.subdomain);
        let input = market.gateway.client().get(&path);
        async move {
            let list = input.await.expect(200);
            list.data()
                .iter()
                .map(|card| card["title"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        }
    };
    let on_sale = list("&collection=sale").await;
    assert_eq!(on_sale, ["Cheap reduced", "Dear reduced", "Two alike"]);
    // A price between those of two variants is nobody's.
    assert_eq!(list("&min_price=600&max_price=800").await, [""; 0]);
    assert_eq!(list("&min_price=501").await.len(), 3);
    assert_eq!(list("&max_price=500").await.len(), 4);
    assert_eq!(list("&min_price=900&max_price=900").await.len(), 3);
}
