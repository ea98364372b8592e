//! Filters of whole lists: by options, vendor, type, price and stock, with the number of products of each value.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use support::clock::MINUTE;
use support::facets::{FacetChunk, FacetHead, FacetRow, FacetVariant};
use support::facets::{LocationId, ProductId, StoreId};
use support::{Copy, Gateway, Reply, Value, eventually, json, unique};

use super::{CACHE_TIME, Front, SOON, titles, walk};

/// As long as a process returns filters without reading.
const FRESH: Duration = Duration::from_secs(3);

impl Front {
    /// A product with options and a variant for each: values, price, stock.
    async fn sell_in(
        &self,
        title: &str,
        vendor: &str,
        tags: &[&str],
        variants: &[(&str, &str, i64, i64)],
    ) -> Reply {
        let location = self.location().await;
        let values = |place: fn(&(&str, &str, i64, i64)) -> String| {
            variants.iter().map(place).collect::<BTreeSet<_>>()
        };
        let variant = |(colour, size, price, stock): &(&str, &str, i64, i64)| {
            json!({
                "options": [colour, size], "price": {"amount": price, "currency": "INR"},
                "inventory": {"tracked": true, "policy": "deny", "levels": [
                    {"location_id": location, "quantity": stock}]},
            })
        };
        let input = json!({
            "title": title, "status": "active", "vendor": vendor, "tags": tags,
            "options": [
                {"name": "Colour", "values": values(|variant| variant.0.to_owned())},
                {"name": "Size", "values": values(|variant| variant.1.to_owned())},
            ],
            "variants": variants.iter().map(variant).collect::<Vec<_>>(),
        });
        self.owner.post("/v1/products").json(input).await.expect(201)
    }

    /// The filters of a list, as they are now.
    async fn filters(&self, query: &str) -> Reply {
        self.gateway.advance(FRESH);
        self.get(&format!("/product-filters?{query}")).await
    }

    /// Waits until a list has so many products.
    async fn has_indexed(&self, query: &str, count: i64) -> Reply {
        eventually(SOON, || async {
            let filters = self.filters(query).await;
            let is_there = filters.status == 200 && filters.int("/products_count") == count;
            is_there.then_some(filters)
        })
        .await
    }
}

/// The values of a filter with their counts.
fn counts(values: &Value) -> BTreeMap<String, i64> {
    let pair = |value: &Value| {
        (value["value"].as_str().unwrap().to_owned(), value["count"].as_i64().unwrap())
    };
    values.as_array().expect("values").iter().map(pair).collect()
}

fn expected<const N: usize>(pairs: [(&str, i64); N]) -> BTreeMap<String, i64> {
    pairs.into_iter().map(|(value, count)| (value.to_owned(), count)).collect()
}

#[tokio::test]
async fn options_price_and_stock_hold_for_one_variant() {
    let front = Front::open().await;
    let shirt = [("Blue", "S", 1_000, 3), ("Blue", "M", 1_000, 0), ("Red", "M", 1_500, 2)];
    front.sell_in("Shirt", "Acme", &["new"], &shirt).await;
    front.sell_in("Hat", "Bell", &["new", "sale"], &[("blue", "M", 2_000, 1)]).await;
    front.sell("Mug", 3_000, 0, json!({"vendor": "Bell"})).await;
    let all = front.has_indexed("", 3).await;
    assert_eq!(counts(all.at("/options/0/values")), expected([("Blue", 2), ("Red", 1)]));
    assert_eq!(counts(all.at("/options/1/values")), expected([("M", 2), ("S", 1)]));
    assert_eq!(counts(all.at("/vendors")), expected([("Acme", 1), ("Bell", 2)]));
    assert_eq!((all.int("/availability/in_stock"), all.int("/availability/out_of_stock")), (2, 1));
    assert_eq!((all.int("/price/min/amount"), all.int("/price/max/amount")), (1_000, 3_000));
    for (query, found) in [
        ("options=Colour:Blue", vec!["Hat", "Shirt"]),
        ("options=colour:BLUE,size:s", vec!["Shirt"]),
        ("options=Colour:Blue,Colour:Red", vec!["Hat", "Shirt"]),
        ("options=Colour:Blue,Size:M", vec!["Hat", "Shirt"]),
        ("options=Colour:Blue,Size:M&in_stock=true", vec!["Hat"]),
        ("options=Colour:Blue,Size:M&in_stock=false", vec!["Shirt"]),
        ("options=Colour:Red&max_price=1200", vec![]),
        ("options=Material:Wool", vec![]),
        ("vendor=bell", vec!["Mug", "Hat"]),
        ("vendor=Bell,Acme&sort=price", vec!["Shirt", "Hat", "Mug"]),
        ("vendor=Bell&q=hat", vec!["Hat"]),
        ("vendor=Bell&tag=sale", vec!["Hat"]),
    ] {
        let list = front.get(&format!("/products?{query}")).await.expect(200);
        assert_eq!(titles(&list), found, "{query}");
        let filters = front.filters(query).await.expect(200);
        assert_eq!(filters.int("/products_count"), i64::try_from(found.len()).unwrap(), "{query}");
    }
    // A count is under all filters but its own.
    let blue = front.filters("options=Colour:Blue").await.expect(200);
    assert_eq!(counts(blue.at("/options/0/values")), expected([("Blue", 2), ("Red", 1)]));
    assert_eq!(counts(blue.at("/vendors")), expected([("Acme", 1), ("Bell", 1)]));
    assert!(blue.at("/options/0/values/0/selected") == &json!(true));
    // What a form leaves empty filters nothing.
    let all = front.filters("vendor=&product_type=,").await.expect(200);
    assert_eq!(all.int("/products_count"), front.filters("").await.int("/products_count"));
    let page = walk(&front.visitor, &front.path("/products?vendor=Bell,Acme&limit=1")).await;
    assert_eq!(page, ["Mug", "Hat", "Shirt"]);
    for (query, pointer, code) in [
        ("options=Colour", "/options", "invalid_option"),
        ("min_price=5&max_price=4", "/max_price", "below_min_price"),
    ] {
        for path in ["products", "product-filters"] {
            let reply = front.get(&format!("/{path}?{query}")).await.expect(422);
            assert_eq!(
                (reply.str("/errors/0/pointer"), reply.str("/errors/0/code")),
                (pointer.into(), code.into())
            );
        }
    }
    front.get("/product-filters?collection=none").await.expect(404);
}

#[tokio::test]
async fn a_manual_collection_keeps_its_order_when_filtered() {
    let front = Front::open().await;
    let mut members = Vec::new();
    for title in ["One", "Two", "Three"] {
        members.push(front.sell(title, 500, 1, json!({"vendor": "Acme"})).await.str("/id"));
    }
    front.sell("Four", 500, 1, json!({"vendor": "Acme"})).await;
    members.swap(0, 1);
    let picks = json!({"title": "Picks", "kind": "manual", "published": true,
        "sort_order": "manual", "product_ids": members});
    front.owner.post("/v1/products/collections").json(picks).await.expect(201);
    front.has_indexed("", 4).await;
    front.has_indexed("collection=picks", 3).await;
    let path = front.path("/products?collection=picks&vendor=Acme&limit=2");
    assert_eq!(walk(&front.visitor, &path).await, ["Two", "One", "Three"]);
}

/// A store that has products and no index, as before the index existed.
#[tokio::test]
async fn an_older_store_gets_its_index_when_filters_are_first_requested() {
    let front = Front::open().await;
    for number in 0..60 {
        front.sell(&format!("Old {number:02}"), 500, 1, json!({"vendor": "Acme"})).await;
    }
    front.has_indexed("", 60).await;
    for kind in ["facets", "facet_chunk", "facet_walk"] {
        for item in front.gateway.items_of(kind, "STO#").await {
            front.gateway.delete_item(&item).await;
        }
    }
    front.gateway.advance(MINUTE * 20);
    assert_eq!(front.get("/product-filters").await.status, 503);
    let filters = front.has_indexed("", 60).await;
    assert_eq!(counts(filters.at("/vendors")), expected([("Acme", 60)]));
}

/// What filters say by a plain computation over the pages of all products.
fn computed(
    products: &[Value],
    colour: Option<&str>,
    max: Option<i64>,
    in_stock: Option<bool>,
) -> (i64, BTreeMap<String, i64>) {
    let meets = |variant: &Value| {
        colour.is_none_or(|colour| variant["options"][0] == colour)
            && max.is_none_or(|max| variant["price"]["amount"].as_i64().unwrap() <= max)
    };
    let (mut count, mut sizes) = (0, BTreeMap::new());
    for product in products {
        let variants = product["variants"].as_array().unwrap();
        let admitted = |size: Option<&Value>| {
            let found = variants.iter().filter(|variant| meets(variant));
            let found =
                found.filter(|variant| size.is_none_or(|size| variant["options"][1] == *size));
            let stocked: Vec<bool> = found.map(|variant| variant["in_stock"] == true).collect();
            match in_stock {
                None => !stocked.is_empty(),
                Some(true) => stocked.contains(&true),
                Some(false) => !stocked.is_empty() && !stocked.contains(&true),
            }
        };
        count += i64::from(admitted(None));
        let own: BTreeSet<String> = variants
            .iter()
            .map(|variant| variant["options"][1].as_str().unwrap().to_owned())
            .collect();
        for size in own {
            *sizes.entry(size.clone()).or_default() += i64::from(admitted(Some(&json!(size))));
        }
    }
    (count, sizes)
}

#[tokio::test]
async fn filters_follow_two_hundred_random_changes() {
    let front = Front::open().await;
    let (colours, sizes) = (["Blue", "Red", "Green"], ["S", "M"]);
    let mut products = Vec::new();
    for number in 0..8_usize {
        let variants: Vec<(&str, &str, i64, i64)> = (0..3)
            .map(|place| (colours[(number + place) % 3], sizes[(number + place) % 2], 1_000, 2))
            .collect();
        products.push(front.sell_in(&format!("Product {number}"), "Acme", &["a"], &variants).await);
    }
    let location = front.location().await;
    let mut seed: u64 = 42;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..10 {
        for _ in 0..20 {
            let place = usize::try_from(random(8)).unwrap();
            let product = &products[place];
            let (id, chosen) = (product.str("/id"), random(3));
            let variant = product.str(&format!("/variants/{chosen}/id"));
            let path = format!("/v1/products/{id}");
            let reply = match random(5) {
                0 => {
                    let price = json!({"amount": 500 * (1 + random(4)), "currency": "INR"});
                    front
                        .owner
                        .patch(&format!("{path}/variants/{variant}"))
                        .json(json!({"price": price}))
                        .await
                }
                1 => {
                    let status =
                        ["active", "archived", "draft"][usize::try_from(random(3)).unwrap()];
                    front.owner.patch(&path).json(json!({"status": status})).await
                }
                2 => {
                    front
                        .owner
                        .patch(&path)
                        .json(json!({"tags": [format!("t{}", random(4))]}))
                        .await
                }
                3 => {
                    front
                        .owner
                        .patch(&path)
                        .json(json!({"vendor": format!("V{}", random(3))}))
                        .await
                }
                _ => {
                    let change = json!({"item_id": variant, "location_id": location,
                        "quantity": random(2), "compare_quantity": null});
                    let input = json!({"reason": "count", "changes": [change]});
                    let set = front.owner.post("/v1/inventory/levels/set");
                    set.key(&unique("set")).json(input).await
                }
            };
            assert!((200..300).contains(&reply.status), "{}", reply.text);
        }
        eventually(SOON, || async {
            front.gateway.advance(CACHE_TIME);
            let mut shown = Vec::new();
            for product in &products {
                let page = front.get(&format!("/products/{}", product.str("/handle"))).await;
                shown.extend((page.status == 200).then(|| page.at("").clone()));
            }
            for (query, colour, max, in_stock) in [
                ("", None, None, None),
                ("options=Colour:Blue", Some("Blue"), None, None),
                ("options=Colour:Red&in_stock=true", Some("Red"), None, Some(true)),
                ("max_price=1000&in_stock=false", None, Some(1_000), Some(false)),
                ("options=Colour:Green&max_price=1500", Some("Green"), Some(1_500), None),
            ] {
                let found = front.filters(query).await;
                if found.status != 200 {
                    return None;
                }
                let (count, sizes) = computed(&shown, colour, max, in_stock);
                let of_size = found.at("/options").as_array().and_then(|options| {
                    options
                        .iter()
                        .find(|option| option["name"] == "Size")
                        .map(|size| counts(&size["values"]))
                });
                if found.int("/products_count") != count || of_size.unwrap_or_default() != sizes {
                    println!("round {round}, {query}: {count} {sizes:?} and not {}", found.text);
                    return None;
                }
            }
            Some(())
        })
        .await;
    }
}

/// A store where no stream writes, with an index of so many products: each of four variants, as different as products are.
async fn indexed(many: usize) -> (Front, Reply) {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let front = Front::open_on(gateway).await;
    let made = front.sell("A first one", 500, 1, json!({})).await;
    let location = front.location().await;
    let copy = |number: usize| Copy {
        later: Duration::from_millis(u64::try_from(number).unwrap() * 37_000),
        title: format!("{} {} {number}", WORDS[number % 7], WORDS[number * 5 % 11]),
        handle: format!("product-{number:05}"),
        price: None,
        tag: format!("t{}", number % 9),
        stocked_at: vec![location.clone()],
    };
    front.gateway.list_copies(&made.str("/id"), &(0..many).map(copy).collect::<Vec<_>>()).await;
    let store = StoreId::parse(&front.store.id).unwrap();
    let at = vec![LocationId::parse(&location).unwrap()];
    let mut rows: Vec<FacetRow> = front
        .gateway
        .items_of("card", "STO#")
        .await
        .iter()
        .enumerate()
        .map(|(number, card)| row(number, card, &at))
        .collect();
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    let firsts: Vec<String> =
        rows.iter().skip(48).step_by(48).map(|row| row.id.to_string()).collect();
    let begin = std::iter::once(String::new()).chain(firsts.clone());
    let ends = firsts.into_iter().map(Some).chain([None]);
    let table = &front.gateway.app().table;
    for ((part, first), end) in rows.chunks(48).zip(begin).zip(ends) {
        let chunk =
            FacetChunk { store_id: store.clone(), first, end, rows: part.to_vec(), version: 1 };
        table.write().put(&chunk).commit().await.unwrap();
    }
    let now = front.gateway.now();
    let head = FacetHead {
        store_id: store,
        products: u64::try_from(rows.len()).unwrap(),
        walked_at: Some(now),
        updated_at: now,
        version: 1,
    };
    table.write().put(&head).commit().await.unwrap();
    front.gateway.advance(CACHE_TIME);
    front.get("").await.expect(200);
    (front, made)
}

const WORDS: [&str; 11] = [
    "Linen", "Oak", "Nordic", "Classic", "Bamboo", "Soft", "Urban", "Shirt", "Lamp", "Backpack",
    "Scarf",
];

fn row(number: usize, card: &Value, at: &[LocationId]) -> FacetRow {
    let (_, id) = card["PK"].as_str().unwrap().split_once("#PRD#").unwrap();
    let variant = |place: usize| FacetVariant {
        values: vec![
            ["Blue", "Red", "Navy"][(number + place / 2) % 3].into(),
            ["S", "M"][place % 2].into(),
        ],
        price: 1_000 + i64::try_from(number % 9 * 500).unwrap(),
        sells_beyond: None,
        stocked_at: if (number + place).is_multiple_of(5) { vec![] } else { at.to_vec() },
    };
    FacetRow {
        id: ProductId::parse(id).unwrap(),
        title: card["title"].as_str().unwrap().into(),
        vendor: Some(["Acme", "Bell & Co", "Nordwind", "Harbour"][number % 4].into()),
        product_type: Some(WORDS[7 + number % 4].into()),
        tags: vec![format!("t{}", number % 9)],
        category_id: None,
        sku_words: vec![format!("sku{}", number * 7_919 % 100_000)],
        on_sale: false,
        rating: None,
        options: vec!["Colour".into(), "Size".into()],
        variants: (0..4).map(variant).collect(),
    }
}

#[tokio::test]
async fn a_filtered_page_reads_the_index_once_and_a_summary_for_each_product() {
    for (many, cold) in [(500, 130), (5_000, 500)] {
        let (front, _) = indexed(many).await;
        front.gateway.app().clock.stop();
        let path = front.path("/products?options=Colour:Blue,Size:M&in_stock=true&limit=16");
        let first = front.visitor.get(&path).await.expect(200);
        println!("{many}: {} tenths in {} trips", first.tenths(), first.trips());
        assert_eq!((first.data().len(), first.trips()), (16, 2));
        assert!(first.tenths() <= cold, "{} tenths", first.tenths());
        // Within a second nothing but the products is read; afterwards the head as well.
        let other = format!("{path}&sort=title");
        let warm = front.visitor.get(&other).await.expect(200);
        assert_eq!((warm.tenths(), warm.trips()), (80, 1));
        front.gateway.advance(FRESH);
        let later = front.visitor.get(&path).await.expect(200);
        assert_eq!((later.tenths(), later.trips()), (85, 2));
        let filters = front.path("/product-filters?options=Colour:Blue");
        let filters = front.visitor.get(&filters).await.expect(200);
        assert_eq!((filters.tenths(), filters.trips()), (0, 0));
    }
}

#[tokio::test]
async fn a_product_change_costs_the_index_the_same_in_every_store() {
    let mut costs = Vec::new();
    for many in [100, 1_000] {
        let (front, made) = indexed(many).await;
        let price = json!({"price": {"amount": 700, "currency": "INR"}});
        let path =
            format!("/v1/products/{}/variants/{}", made.str("/id"), made.str("/variants/0/id"));
        front.owner.patch(&path).json(price).await.expect(200);
        let (tenths, trips) = front.gateway.index(&front.store.id, &made.str("/id")).await;
        println!("{many}: {tenths} tenths in {trips} trips");
        assert!(tenths <= 160, "{tenths} tenths");
        costs.push(trips);
    }
    assert_eq!(costs[0], costs[1]);
}
