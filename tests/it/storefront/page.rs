//! A product's page, and what is in stock.

use support::clock::{MINUTE, RESPONSE_CACHE};
use support::{Gateway, Reply, Value, eventually, json};

use super::{CACHE_TIME, CHOSEN, Front, SOON, related};

/// An open store where no stream writes besides.
async fn quiet() -> Front {
    Front::open_on(Gateway::start_with(|options| options.has_stream = false).await).await
}

impl Front {
    /// Has the sweep do what is due, as if nobody had looked for two minutes.
    async fn swept(&self) {
        self.gateway.advance(MINUTE * 2);
        self.gateway.sweep().await;
    }
}

#[tokio::test]
async fn related_products_are_active_products() {
    let front = Front::open().await;
    front.sell("Mug", 500, 1, json!({"tags": ["blue"]})).await;
    assert_eq!(related(&front.get("/products/mug").await.expect(200)), [""; 0]);
    let mut others = Vec::new();
    for number in 0..6 {
        others.push(front.sell(&format!("Cup {number}"), 500, number, json!({})).await);
    }
    front.has_candidates(7).await;
    let page = front.get("/products/mug").await.expect(200);
    assert_eq!(related(&page), ["Cup 5", "Cup 4", "Cup 3", "Cup 2"]);
    // What is put away is gone as soon as its card is read again, and another is there for it.
    let path = |number: usize| format!("/v1/products/{}", others[number].str("/id"));
    front.owner.delete(&path(5)).await.expect(204);
    front.gateway.advance(CACHE_TIME);
    let page = front.get("/products/mug").await.expect(200);
    assert_eq!(related(&page), ["Cup 4", "Cup 3", "Cup 2", "Cup 1"]);
    front.owner.delete(&format!("{}?hard=true", path(4))).await.expect(204);
    front.has_candidates(5).await;
    let page = front.get("/products/mug").await.expect(200);
    assert_eq!(related(&page), ["Cup 3", "Cup 2", "Cup 1", "Cup 0"]);
    let in_stock = |place: usize| page.at(&format!("/related/{place}/in_stock")).clone();
    assert_eq!([in_stock(2), in_stock(3)], [true, false].map(Value::from));
    // What changes moves it; what comes back is there again.
    front.owner.patch(&path(0)).json(json!({"tags": ["blue"]})).await.expect(200);
    front.owner.patch(&path(5)).json(json!({"status": "active"})).await.expect(200);
    eventually(SOON, || async {
        front.gateway.advance(CHOSEN);
        let page = front.gateway.client().get(&front.path("/products/mug")).await.expect(200);
        (related(&page) == ["Cup 0", "Cup 5", "Cup 3", "Cup 2"]).then_some(())
    })
    .await;
    // Another store's are never beside it.
    let items = front.gateway.items_of("shelf", "SHF#").await;
    assert_eq!(items.len(), 1);
}

#[tokio::test]
async fn the_sweep_updates_related_products_without_the_stream() {
    let front = quiet().await;
    for title in ["Mug", "Cup", "Bowl"] {
        front.sell(title, 500, 1, json!({})).await;
    }
    let page = front.get("/products/mug").await.expect(200);
    assert_eq!(related(&page), [""; 0]);
    front.swept().await;
    assert_eq!(related(&front.get("/products/mug").await.expect(200)), ["Bowl", "Cup"]);
}

#[tokio::test]
async fn a_product_page_contains_all_current_variants() {
    let front = quiet().await;
    let location = front.location().await;
    let variant = |size: usize| {
        let levels = json!([{"location_id": location, "quantity": size.rem_euclid(2)}]);
        json!({
            "price": {"amount": 500, "currency": "INR"}, "options": [format!("No {size}")],
            "inventory": {"tracked": true, "levels": levels},
        })
    };
    let sizes: Vec<String> = (0..60).map(|size| format!("No {size}")).collect();
    let options = json!([{"name": "Size", "values": sizes}]);
    let variants: Vec<Value> = (0..55).map(variant).collect();
    let more = json!({"options": options, "variants": variants});
    let made = front.sell("Shirt", 500, 1, more).await;
    front.gateway.app().clock.stop();
    let shown = |page: &Reply| -> Vec<(String, bool)> {
        let one = |choice: &Value| {
            let title = choice["title"].as_str().unwrap().to_owned();
            (title, choice["in_stock"].as_bool().unwrap())
        };
        page.at("/variants").as_array().unwrap().iter().map(one).collect()
    };
    let expected = |count: usize| -> Vec<(String, bool)> {
        (0..count).map(|size| (format!("No {size}"), size.rem_euclid(2) == 1)).collect()
    };
    let page = front.get("/products/shirt").await.expect(200);
    assert_eq!(shown(&page), expected(55));
    assert_eq!(page.trips(), 4, "store, candidates, handle, and all there is of the product");
    // One that is added is there at once, and one that is removed is not; where the handle leads is known.
    let path = format!("/v1/products/{}/variants", made.str("/id"));
    let added = front.owner.post(&path).json(variant(55)).await.expect(201);
    let page = front.get("/products/shirt").await.expect(200);
    assert_eq!((shown(&page), page.trips()), (expected(56), 1));
    front.owner.delete(&format!("{path}/{}", added.str("/id"))).await.expect(204);
    assert_eq!(shown(&front.get("/products/shirt").await.expect(200)), expected(55));
    // Under a new handle too; the old one leads nowhere.
    let rename = json!({"handle": "blouse"});
    front.owner.patch(&format!("/v1/products/{}", made.str("/id"))).json(rename).await.expect(200);
    assert_eq!(shown(&front.get("/products/blouse").await.expect(200)), expected(55));
    front.get("/products/shirt").await.expect(404).problem("not_found");
}

#[tokio::test]
async fn a_handle_resolves_to_its_current_product() {
    let front = quiet().await;
    let (mug, cup) =
        (front.sell("Mug", 500, 1, json!({})).await, front.sell("Cup", 500, 1, json!({})).await);
    front.swept().await;
    let page = front.get("/products/mug").await.expect(200);
    assert_eq!((page.str("/id"), related(&page)), (mug.str("/id"), vec!["Cup".to_owned()]));
    for (product, handle) in [(&mug, "tumbler"), (&cup, "mug")] {
        let path = format!("/v1/products/{}", product.str("/id"));
        front.owner.patch(&path).json(json!({"handle": handle})).await.expect(200);
    }
    // The candidates that are known still say otherwise.
    for (handle, product) in [("mug", &cup), ("tumbler", &mug)] {
        let page = front.get(&format!("/products/{handle}")).await.expect(200);
        assert_eq!(page.str("/id"), product.str("/id"), "{handle}");
    }
    front.get("/products/cup").await.expect(404).problem("not_found");
}

/// A product as a shop has them: a description, a choice of four, a picture, words to find it by.
fn choice(title: &str) -> Value {
    let colours = ["Natural", "Indigo", "Rust", "Moss"];
    let variant = |(number, colour): (usize, &&str)| {
        json!({
            "price": {"amount": 49_900, "currency": "INR"}, "options": [colour],
            "sku": format!("{title}-{number}"),
            "inventory": {"tracked": true, "levels": [{"quantity": 9}]},
        })
    };
    json!({
        "title": title, "description": format!("<p>{}</p>", "Made in small batches. ".repeat(13)),
        "vendor": "Demo Works", "product_type": "Textiles", "tags": ["textile", "natural"],
        "options": [{"name": "Colour", "values": colours}],
        "images": [{"url": "https://images.example.com/runner.png", "alt": title}],
        "variants": colours.iter().enumerate().map(variant).collect::<Vec<_>>(),
    })
}

#[tokio::test]
async fn a_product_page_costs_half_a_unit_plus_uncached_related_products() {
    let front = quiet().await;
    for number in 0..8 {
        let title = format!("Runner {number}");
        front.sell(&title, 0, 0, choice(&title)).await;
    }
    front.swept().await;
    front.gateway.app().clock.stop();
    let store_is_known = async || drop(front.get("").await.expect(200));
    let costs = async |handle: &str| {
        let page = front.get(&format!("/products/{handle}")).await.expect(200);
        assert_eq!(related(&page).len(), 4);
        (page.trips(), page.tenths())
    };
    store_is_known().await;
    // The candidates; the product with its four variants; four cards.
    assert_eq!(costs("runner-0").await, (3, 30));
    // Others have the same beside them.
    assert_eq!(costs("runner-1").await, (1, 5));
    front.gateway.advance(CACHE_TIME);
    store_is_known().await;
    assert_eq!(costs("runner-0").await, (2, 25), "the candidates are kept for longer than cards");
    // One that is no candidate yet: where its handle leads to, as well.
    front.sell("Runner 8", 0, 0, choice("Runner 8")).await;
    assert_eq!(costs("runner-8").await, (2, 10));
    front.gateway.advance(RESPONSE_CACHE);
    assert_eq!(costs("runner-8").await, (1, 5));
    front.gateway.advance(CHOSEN);
    let cold = front.get("/products/runner-0").await.expect(200);
    assert_eq!((cold.trips(), cold.tenths()), (4, 35), "and the store itself");
}

#[tokio::test]
async fn a_price_change_reaches_the_page_at_once_and_related_products_later() {
    let front = quiet().await;
    let mug = front.sell("Mug", 500, 1, json!({})).await;
    front.sell("Cup", 500, 1, json!({})).await;
    front.swept().await;
    let alongside =
        async || front.get("/products/cup").await.expect(200).int("/related/0/price/amount");
    assert_eq!(alongside().await, 500);
    let path = format!("/v1/products/{}/variants/{}", mug.str("/id"), mug.str("/variants/0/id"));
    let dearer = json!({"price": {"amount": 900, "currency": "INR"}});
    front.owner.patch(&path).json(dearer).await.expect(200);
    let page = front.get("/products/mug").await.expect(200);
    assert_eq!((page.int("/price/amount"), page.int("/variants/0/price/amount")), (900, 900));
    front.gateway.advance(CACHE_TIME);
    assert_eq!(alongside().await, 900);
}

#[tokio::test]
async fn availability_follows_the_stores_inventory_policy() {
    let front = Front::open().await;
    let tracked = |policy: Value| {
        json!({"variants": [{
            "price": {"amount": 500, "currency": "INR"},
            "inventory": {"tracked": true, "policy": policy},
        }]})
    };
    front.sell("Follows", 500, 0, tracked(Value::Null)).await;
    front.sell("Stops", 500, 0, tracked(json!("deny"))).await;
    front.sell("Goes on", 500, 0, tracked(json!("continue"))).await;
    let policy = |policy: &str| {
        let path = format!("/v1/stores/{}", front.store.id);
        front.merchant.patch(&path).json(json!({"inventory_policy": policy}))
    };
    for (said, sold) in [("deny", &["Goes on"][..]), ("continue", &["Goes on", "Follows"])] {
        policy(said).await.expect(200);
        front.gateway.advance(CACHE_TIME);
        assert_eq!(front.titles("?in_stock=true").await, sold, "{said}");
        let page = front.get("/products/follows").await.expect(200);
        assert_eq!(page.at("/in_stock"), &json!(said == "continue"));
    }
    front.has_candidates(3).await;
    let page = front.get("/products/stops").await.expect(200);
    let on_sale = ["/related/0/in_stock", "/related/1/in_stock"].map(|at| page.at(at).clone());
    assert_eq!(
        (related(&page), on_sale),
        (vec!["Goes on".to_owned(), "Follows".to_owned()], [true, true].map(Value::from),)
    );
}

/// Makes the store one of ten locations; answers with the last one, from which orders go out last.
async fn ten_locations(front: &Front) -> String {
    let mut last = front.location().await;
    for number in 1..10 {
        let address = json!({"line1": "1 MG Road", "city": "Pune", "region": "MH",
            "postal_code": "411001", "country": "IN"});
        let name = format!("Shop {number}");
        let input = json!({"name": name, "address": address, "priority": 500 + number});
        let made = front.owner.post("/v1/inventory/locations").json(input).await.expect(201);
        last = made.str("/id");
    }
    front.gateway.advance(CACHE_TIME);
    last
}

/// A product of a hundred variants whose stock is counted, with some of the last at a location.
fn hundred(title: &str, stock: Option<&str>) -> Value {
    let values: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let variant = |value: &String| {
        let levels = stock.filter(|_| value == "99");
        let levels: Vec<Value> =
            levels.iter().map(|at| json!({"location_id": at, "quantity": 1})).collect();
        json!({"price": {"amount": 500, "currency": "INR"}, "options": [value],
            "inventory": {"tracked": true, "levels": levels}})
    };
    json!({
        "title": title, "status": "active", "options": [{"name": "Number", "values": values}],
        "variants": values.iter().map(variant).collect::<Vec<_>>(),
    })
}

#[tokio::test]
async fn stock_of_many_variants_at_many_locations_takes_few_round_trips() {
    let front = Front::open().await;
    let last = ten_locations(&front).await;
    for number in 0..4 {
        let input = hundred(&format!("Shirt {number}"), (number == 0).then_some(last.as_str()));
        front.owner.post("/v1/products").json(input).await.expect(201);
    }
    front.sell("Mug", 500, 0, json!({})).await;
    front.sell("Cup", 500, 1, json!({})).await;
    front.has_candidates(6).await;
    let list = front.get("/products?limit=100").await.expect(200);
    assert!(list.trips() <= 2, "store and page: {}", list.trips());
    let said = |list: &Reply| -> Vec<(String, bool)> {
        let one = |card: &Value| {
            let title = card["title"].as_str().unwrap().to_owned();
            (title, card["in_stock"].as_bool().unwrap())
        };
        list.data().iter().map(one).collect()
    };
    let of = |titles: &[&str], has: bool| -> Vec<(String, bool)> {
        titles.iter().map(|title| ((*title).to_owned(), has)).collect()
    };
    let none = of(&["Mug", "Shirt 3", "Shirt 2", "Shirt 1"], false);
    let expected = [of(&["Cup"], true), none.clone(), of(&["Shirt 0"], true)].concat();
    assert_eq!(said(&list), expected);
    let filtered = front.get("/products?in_stock=false&limit=100").await.expect(200);
    assert_eq!(said(&filtered), none);
    assert!(filtered.trips() <= 2, "{}", filtered.trips());
    // Its own page tells all thousand levels, and reads none.
    for (handle, has) in [("shirt-0", true), ("shirt-1", false)] {
        let page = front.get(&format!("/products/{handle}")).await.expect(200);
        assert_eq!(page.at("/in_stock"), &json!(has), "{handle}");
        assert_eq!(page.at("/variants/98/in_stock"), &json!(false));
        assert_eq!(page.at("/variants/99/in_stock"), &json!(has));
        assert!(page.trips() <= 4 && page.tenths() <= 150, "{} {}", page.trips(), page.tenths());
    }
}
