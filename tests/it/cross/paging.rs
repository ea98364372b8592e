//! Walks through lists that change meanwhile, what lists cost, and answers that are kept: by those
//! who asked (`ETag`) and by the idempotency record.

use std::collections::BTreeSet;

use support::clock::MINUTE;
use support::{Client, Market, Reply, Shopper, Value, address, inr, json};

const ADDRESSES: &str = "/v1/storefront/customer/addresses";
const CATEGORIES: &str = "/v1/products/categories";
const COLLECTIONS: &str = "/v1/products/collections";
const LOCATIONS: &str = "/v1/inventory/locations";
const PRODUCTS: &str = "/v1/products";

fn ids(reply: &Reply) -> Vec<String> {
    reply.data().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// Walks a list, and does something after each page with the ids it has shown.
async fn walk(
    client: &Client,
    path: &str,
    limit: usize,
    after: impl AsyncFn(&[String]),
) -> Vec<String> {
    let joint = if path.contains('?') { '&' } else { '?' };
    let first = format!("{path}{joint}limit={limit}");
    let (mut seen, mut page) = (Vec::new(), client.get(&first).await.expect(200));
    loop {
        let shown = ids(&page);
        seen.extend(shown.clone());
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { return seen };
        after(&shown).await;
        page = client.get(&format!("{first}&cursor={cursor}")).await.expect(200);
    }
}

/// A walk in which every item is deleted once it was shown, but for those of the last page.
async fn walk_deleting(client: &Client, path: &str, limit: usize, deleter: &Client, item: &str) {
    let expected = ids(&client.get(path).await.expect(200));
    assert!(expected.len() > limit, "{path}");
    let delete = async |shown: &[String]| {
        for id in shown {
            deleter.delete(&item.replace("{id}", id)).await.expect(204);
        }
    };
    assert_eq!(walk(client, path, limit, delete).await, expected, "{path}");
}

/// A product of so many variants, with its answer.
async fn product(owner: &Client, title: &str, variants: usize) -> Reply {
    let sizes: Vec<String> = (0..variants).map(|number| format!("S{number}")).collect();
    let variant = |size: &String| json!({"price": inr(500), "options": [size]});
    let input = json!({
        "title": title, "status": "active", "options": [{"name": "Size", "values": sizes}],
        "variants": sizes.iter().map(variant).collect::<Vec<_>>(),
    });
    owner.post(PRODUCTS).json(input).await.expect(201)
}

#[tokio::test]
async fn deleting_items_during_pagination_skips_no_others() {
    let market = Market::open().await;
    let (owner, store) = (&market.owner, &market.store);
    let made = product(owner, "Mug", 4).await;
    let variants = format!("{PRODUCTS}/{}/variants", made.str("/id"));
    // The last variant of a product stays.
    walk_deleting(owner, &variants, 1, owner, &format!("{variants}/{{id}}")).await;
    for name in ["e", "b", "d", "a", "c"] {
        owner.post(CATEGORIES).json(json!({"name": name})).await.expect(201);
        let place = json!({"name": name, "address": {"country": "IN"}});
        owner.post(LOCATIONS).json(place).await.expect(201);
        let menu = format!("/v1/stores/{}/navigation/{name}", store.id);
        let items = json!([{"title": "Home", "type": "home"}]);
        owner.put(&menu).json(json!({"items": items})).await.expect(200);
    }
    let visitor = market.gateway.client();
    let menus = format!("/v1/storefront/{}/navigation", store.subdomain);
    let menu = format!("/v1/stores/{}/navigation/{{id}}", store.id);
    walk_deleting(&visitor, &menus, 2, owner, &menu).await;
    walk_deleting(owner, CATEGORIES, 2, owner, &format!("{CATEGORIES}/{{id}}")).await;
    // Locations go from the list of those in use; the last one in use stays.
    let in_use = format!("{LOCATIONS}?active=true");
    let expected = ids(&owner.get(&in_use).await.expect(200));
    let close = async |shown: &[String]| {
        for id in shown {
            let close = owner.post(&format!("{LOCATIONS}/{id}/deactivate")).json(json!({}));
            close.await.expect(200);
        }
    };
    assert_eq!(walk(owner, &in_use, 2, close).await, expected);
}

#[tokio::test]
async fn pagination_lists_each_address_once_despite_changes() {
    let market = Market::open().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    for _ in 0..5 {
        shopper.post(ADDRESSES).json(address()).await.expect(201);
    }
    let expected = ids(&shopper.get(ADDRESSES).await.expect(200));
    // Another default is another first address, for the next walk.
    let prefer_last = async |_: &[String]| {
        let named = format!("{ADDRESSES}/{}", expected[4]);
        shopper.patch(&named).json(json!({"is_default": true})).await.expect(200);
    };
    assert_eq!(walk(&shopper, ADDRESSES, 1, prefer_last).await, expected);
    assert_eq!(ids(&shopper.get(ADDRESSES).await.expect(200))[0], expected[4]);
    walk_deleting(&shopper, ADDRESSES, 2, &shopper, &format!("{ADDRESSES}/{{id}}")).await;
}

#[tokio::test]
async fn removing_collection_products_during_pagination_skips_no_others() {
    let market = Market::open().await;
    let (owner, store) = (&market.owner, &market.store);
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(product(owner, &format!("Mug {number}"), 1).await.str("/id"));
    }
    let input = json!({"title": "Best", "product_ids": made});
    let best = owner.post(COLLECTIONS).json(input).await.expect(201).str("/id");
    let members = format!("{COLLECTIONS}/{best}/products");
    let visitor = market.gateway.client();
    let shop = format!("/v1/storefront/{}/products?collection=best", store.subdomain);
    for (client, path) in [
        (owner, members.clone()),
        (owner, format!("{PRODUCTS}?collection_id={best}")),
        (&visitor, shop),
    ] {
        for limit in [1, 2] {
            let remove = async |shown: &[String]| {
                owner.delete(&members).json(json!({"remove": shown})).await.expect(200);
            };
            assert_eq!(walk(client, &path, limit, remove).await, made, "{path}");
            let again = json!({"add": made, "reorder": made});
            owner.post(&members).json(again).await.expect(200);
        }
    }
    // A cursor of a list in its own order is none of a sorted one.
    let first = owner.get(&format!("{members}?limit=2")).await.expect(200);
    let cursor = first.str("/page/next_cursor");
    let elsewhere = owner.get(&format!("{PRODUCTS}?limit=2&cursor={cursor}")).await;
    elsewhere.expect(400).problem("invalid_cursor");
}

#[tokio::test]
async fn pagination_lists_each_level_of_an_item_once() {
    let market = Market::open().await;
    let owner = &market.owner;
    let item = market.stock(500, 3).await;
    for name in ["b", "c"] {
        let place = json!({"name": name, "address": {"country": "IN"}});
        owner.post(LOCATIONS).json(place).await.expect(201);
    }
    let path = format!("/v1/inventory/levels?item_ids={item}");
    let expected = ids(&owner.get(&path).await.expect(200));
    assert_eq!(walk(owner, &path, 1, async |_| {}).await, expected);
}

fn points(reply: &Reply) -> [u32; 2] {
    ["requested", "actual"]
        .map(|name| reply.header(&format!("x-service-cost-{name}")).unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_list_is_charged_for_the_items_it_reads() {
    let market = Market::open().await;
    let owner = &market.owner;
    let search = format!("{PRODUCTS}?q=zzz&limit=100");
    assert_eq!(points(&owner.get(&search).await.expect(200)), [16, 7]);
    for number in 0..210 {
        if number % 50 == 0 {
            market.gateway.advance(MINUTE);
        }
        let input = json!({
            "title": format!("Mug {number}"), "status": "active",
            "variants": [{"price": inr(500 + number)}],
        });
        owner.post(PRODUCTS).json(input).await.expect(201);
    }
    let none = owner.get(&search).await.expect(200);
    assert_eq!((none.data().len(), points(&none)), (0, [16, 7]), "words lead nowhere");
    let none = owner.get(&format!("{PRODUCTS}?vendor=nobody&limit=100")).await.expect(200);
    assert_eq!((none.data().len(), points(&none)), (0, [11, 11]));
    let none = owner.get(&format!("{PRODUCTS}?status=draft&limit=100")).await.expect(200);
    assert_eq!(points(&none), [11, 1], "an index holds no draft");
    let visitor = market.gateway.client();
    let shop = format!("/v1/storefront/{}/products?limit=10", market.store.subdomain);
    for (query, expected) in [
        ("", [2, 2]),
        ("&sort=created_at", [2, 2]),
        ("&sort=price", [2, 2]),
        ("&sort=-price", [2, 2]),
        ("&q=zzz", [7, 7]),
        ("&tag=none", [2, 2]),
    ] {
        let reply = visitor.get(&format!("{shop}{query}")).await.expect(200);
        assert_eq!(points(&reply), expected, "{query}");
    }
}

/// Asks again for what somebody has seen, and demands that it is sent as it is now.
async fn sent_again(client: &Client, path: &str, seen: &Reply) -> Reply {
    let now = client.get(path).header("if-none-match", &seen.etag()).await.expect(200);
    assert_ne!(now.text, seen.text, "{path}");
    now
}

#[tokio::test]
async fn an_etag_changes_with_changes_that_keep_the_version() {
    let market = Market::open().await;
    let owner = &market.owner;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let mut named = Vec::new();
    for _ in 0..2 {
        let made = shopper.post(ADDRESSES).json(address()).await.expect(201);
        named.push(format!("{ADDRESSES}/{}", made.str("/id")));
    }
    let (a, b) = (shopper.get(&named[0]).await.expect(200), shopper.get(&named[1]).await);
    let customer = "/v1/storefront/customer/me";
    let me = shopper.get(customer).await.expect(200);
    shopper.patch(&named[1]).json(json!({"is_default": true})).await.expect(200);
    assert_eq!(sent_again(&shopper, &named[0], &a).await.at("/is_default"), false);
    assert_eq!(sent_again(&shopper, &named[1], &b).await.at("/is_default"), true);
    sent_again(&shopper, customer, &me).await;
    // A version is what a writer names.
    let change = json!({"city": "Pune"});
    let changed = shopper.patch(&named[0]).json(change.clone()).if_match(&a.etag());
    changed.await.expect(200);
    shopper.patch(&named[0]).json(change).if_match(&a.etag()).await.expect(412);

    let made = product(owner, "Mug", 1).await;
    let path = format!("{PRODUCTS}/{}", made.str("/id"));
    let reviews = format!("/v1/storefront/{}/products/mug/reviews", market.store.subdomain);
    let before = owner.get(&path).await.expect(200);
    let review = json!({"rating": 4, "title": "Good", "body": "Keeps tea warm."});
    let review = shopper.post(&reviews).json(review).await.expect(201).str("/id");
    owner.post(&format!("/v1/reviews/{review}/approve")).json(json!({})).await.expect(200);
    let rated = sent_again(owner, &path, &before).await;
    assert_eq!(rated.int("/rating/count"), 1);
}

/// So many characters that no algorithm makes much shorter, each out of `letters`.
fn noise(letters: &[char], length: usize) -> String {
    let draws = std::iter::repeat_with(crypto::seal::random_bytes::<2>);
    let letter = |draw: [u8; 2]| letters[usize::from(u16::from_be_bytes(draw)) % letters.len()];
    draws.map(letter).take(length).collect()
}

/// Letters of one byte, which hold the most for their bytes, and such of four.
fn letters() -> [Vec<char>; 2] {
    let plain =
        |letter: &char| letter.is_ascii_alphanumeric() || "!$'()*+,-.:;=@_~".contains(*letter);
    [('!'..='~').filter(plain).collect(), ('\u{20000}'..='\u{2a6df}').collect()]
}

/// Demands that the second answer is the first one, kept.
fn replayed(first: &Reply, again: &Reply) {
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!((again.status, again.etag()), (first.status, first.etag()));
    assert!(again.text == first.text, "it is kept whole");
}

#[tokio::test]
async fn the_largest_menu_is_replayed_by_its_idempotency_key() {
    let market = Market::open().await;
    let [narrow, wide] = letters();
    let item = |_| {
        let url = format!("/{}", noise(&narrow, 1_023));
        json!({"title": noise(&wide, 100), "type": "link", "url": url})
    };
    let mut items: Vec<Value> = (0..200).map(item).collect();
    let path = format!("/v1/stores/{}/navigation/main", market.store.id);
    let put = |items: &[Value]| {
        market.owner.put(&path).json(json!({"items": items})).key(&items.len().to_string())
    };
    let first = loop {
        let reply = put(&items).await;
        if reply.status == 200 {
            break reply;
        }
        assert_eq!(
            reply.expect(422).field_errors(),
            [("/items".to_owned(), "too_long".to_owned())]
        );
        items.truncate(items.len() - 10);
    };
    assert!(first.text.len() > 80_000, "{}", first.text.len());
    replayed(&first, &put(&items).await);
}

#[tokio::test]
async fn the_largest_product_is_replayed_by_its_idempotency_key() {
    let market = Market::open().await;
    let [narrow, wide] = letters();
    let sizes: Vec<String> = (0..100).map(|_| noise(&wide, 60)).collect();
    let variant = |size: &String| {
        json!({
            "price": inr(500), "options": [size], "sku": noise(&narrow, 60),
            "barcode": noise(&narrow, 64),
        })
    };
    let image = |_| {
        let url = format!("https://images.example.com/{}", noise(&narrow, 1_900));
        json!({"url": url, "alt": noise(&wide, 250)})
    };
    let tags: BTreeSet<String> = (0..250).map(|_| noise(&wide, 40)).collect();
    let entry = |number: i32| (number.to_string(), json!(noise(&wide, 500)));
    let mut input = json!({
        "title": noise(&wide, 200), "handle": "largest", "tags": tags,
        "options": [{"name": "Size", "values": sizes}],
        "variants": sizes.iter().map(variant).collect::<Vec<_>>(),
        "images": (0..50).map(image).collect::<Vec<_>>(),
        "metadata": Value::Object((0..30).map(entry).collect()),
    });
    // As much more as fits.
    let create = |input: &Value| {
        market
            .owner
            .post(PRODUCTS)
            .json(input.clone())
            .key(&input["description"].as_str().unwrap()[..99])
    };
    let mut length = 65_000;
    let first = loop {
        input["description"] = json!(noise(&narrow, length));
        let reply = create(&input).await;
        if reply.status == 201 {
            break reply;
        }
        assert_eq!(reply.expect(422).field_errors(), [(String::new(), "too_large".to_owned())]);
        length -= 5_000;
    };
    assert!(first.text.len() > 390_000, "{}", first.text.len());
    replayed(&first, &create(&input).await);
}
