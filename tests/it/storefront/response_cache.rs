//! What everybody looks at is read once in two seconds, and is nobody's own.

use std::time::Duration;

use http::Method;
use support::clock::RESPONSE_CACHE;
use support::{Client, Gateway, Market, Reply, cart, inr, json, unique};

use super::Front;

/// A moment before what is kept has to be read again.
const ALMOST: Duration = RESPONSE_CACHE.saturating_sub(Duration::from_millis(1));

/// An open store with a product, whose clock stands still, and where nothing is written but what a
/// test asks for.
async fn still() -> Front {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let front = Front::open_on(gateway).await;
    front.sell("Mug", 500, 3, json!({})).await;
    front.gateway.app().clock.stop();
    front
}

fn number(reply: &Reply, header: &str) -> u32 {
    reply.header(header).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_cached_page_is_read_once_and_charged_to_each_caller() {
    let front = still().await;
    let path = front.path("/products");
    let first = front.visitor.get(&path).await.expect(200);
    assert!(first.trips() > 0);
    assert_eq!(first.header("age"), None);
    front.gateway.advance(ALMOST);
    let other = front.gateway.client();
    let mut left = 300;
    for _ in 0..3 {
        let again = other.get(&path).header("x-request-id", "mine").await.expect(200);
        assert_eq!((again.trips(), again.header("age")), (0, Some("1")));
        assert_eq!((&again.text, again.etag()), (&first.text, first.etag()));
        assert_eq!(again.header("cache-control"), Some("public, max-age=30"));
        assert_eq!(again.header("content-type"), first.header("content-type"));
        assert_eq!(again.header("access-control-allow-origin"), Some("*"));
        // What is the caller's own.
        assert_eq!(again.header("x-request-id"), Some("mine"));
        for cost in ["x-service-cost-requested", "x-service-cost-actual"] {
            assert_eq!(again.header(cost), first.header(cost), "{cost}");
        }
        assert_eq!(number(&again, "x-service-cost-actual"), 2);
        let before = std::mem::replace(&mut left, number(&again, "x-service-cost-available"));
        assert_eq!(left, before - 2, "it is paid for as if it had been read");
    }
    assert_ne!(first.header("x-request-id"), Some("mine"));
    let head = other.request(Method::HEAD, &path).await.expect(200);
    assert_eq!((head.trips(), head.text.as_str(), head.etag()), (0, "", first.etag()));
    assert_eq!(head.header("age"), Some("1"));
    let known = other.get(&path).header("if-none-match", &first.etag()).await.expect(304);
    assert_eq!((known.trips(), known.text.as_str(), known.etag()), (0, "", first.etag()));
    assert_eq!(known.header("age"), Some("1"));
    front.gateway.advance(RESPONSE_CACHE - ALMOST);
    let fresh = other.get(&path).await.expect(200);
    assert!(fresh.trips() > 0);
    assert_eq!((fresh.header("age"), &fresh.text), (None, &first.text));
}

#[tokio::test]
async fn equivalent_queries_share_a_cached_response() {
    let front = still().await;
    let get = async |query: &str| front.get(&format!("/products{query}")).await.expect(200);
    let first = get("?limit=2&tag=a%20b").await;
    assert!(first.trips() > 0);
    for same in ["?tag=a%20b&limit=2", "?tag=a+b&limit=2", "?limit=2&tag=%61+b"] {
        let again = get(same).await;
        assert_eq!((again.trips(), &again.text), (0, &first.text), "{same}");
    }
    for other in ["?limit=3&tag=a%20b", "?limit=2&tag=a", "?limit=2"] {
        assert_eq!(get(other).await.header("age"), None, "{other}");
    }
    // A question that is at fault is rejected, whatever is kept.
    front.get("/products?limit=2&tag=a%20b&tag=a%20b").await.expect(422);
    front.get("/products?limit=2&tag=a%20b&cursor=x").await.expect(400);
}

#[tokio::test]
async fn parallel_requests_of_a_page_share_one_read() {
    let front = still().await;
    front.gateway.advance(RESPONSE_CACHE);
    let path = front.path("/products/mug");
    let replies = support::race(20, || {
        let input = front.gateway.client().get(&path);
        async move { input.await.expect(200) }
    })
    .await;
    let readers = replies.iter().filter(|reply| reply.header("age").is_none());
    assert_eq!(readers.count(), 1);
    assert!(replies.iter().all(|reply| reply.text == replies[0].text));
}

/// What the list shows as the price of its first product, and how old it is.
async fn first_listed_price(gateway: &Gateway, list: &str) -> (i64, Option<String>) {
    let reply = gateway.client().get(list).await.expect(200);
    (reply.int("/data/0/price/amount"), reply.header("age").map(str::to_owned))
}

#[tokio::test]
async fn cached_pages_lag_two_seconds_and_checkout_bypasses_the_cache() {
    let market = Market::open_with(|options| options.has_stream = false).await;
    let (gateway, owner) = (&market.gateway, &market.owner);
    let inventory = json!({"levels": [{"quantity": 10}]});
    let input = json!({
        "title": unique("Mug"), "status": "active",
        "variants": [{"price": inr(500), "inventory": inventory}],
    });
    let made = owner.post("/v1/products").json(input).await.expect(201);
    let variant = made.str("/variants/0/id");
    let change = format!("/v1/products/{}/variants/{variant}", made.str("/id"));
    let price =
        |client: &Client, amount: i64| client.patch(&change).json(json!({"price": inr(amount)}));
    let list = format!("/v1/storefront/{}/products", market.store.subdomain);
    gateway.app().clock.stop();
    assert_eq!(first_listed_price(gateway, &list).await, (500, None));
    let alongside = gateway.alongside().await;
    price(&owner.at_url(&alongside.url), 700).await.expect(200);
    assert_eq!(first_listed_price(gateway, &list).await, (500, Some("0".into())));
    gateway.advance(ALMOST);
    let placed = market.order(cart(&[(&variant, 1)])).await;
    assert_eq!(placed.reply.at("/order/totals/total"), &inr(700));
    // The order was written by this instance, which so forgot what it had kept.
    assert_eq!(first_listed_price(gateway, &list).await, (700, None));
    price(&owner.at_url(&alongside.url), 900).await.expect(200);
    gateway.advance(ALMOST);
    assert_eq!(first_listed_price(gateway, &list).await, (700, Some("1".into())));
    gateway.advance(RESPONSE_CACHE - ALMOST);
    assert_eq!(first_listed_price(gateway, &list).await, (900, None));
}

#[tokio::test]
async fn a_write_invalidates_the_cached_pages_of_its_process() {
    let front = still().await;
    let made = front.get("/products").await.expect(200).str("/data/0/id");
    for title in ["Cup", "Bowl"] {
        assert_eq!(front.get("/products").await.expect(200).header("age"), Some("0"));
        let path = format!("/v1/products/{made}");
        front.owner.patch(&path).json(json!({"title": title})).await.expect(200);
        let page = front.get("/products").await.expect(200);
        assert_eq!((page.str("/data/0/title").as_str(), page.header("age")), (title, None));
    }
    // Another store's are none of its business.
    let other = front.merchant.open_store().await;
    let input = json!({"title": "Jar", "variants": [{"price": inr(1)}]});
    front.merchant.at(&other).post("/v1/products").json(input).await.expect(201);
    assert_eq!(front.get("/products").await.expect(200).header("age"), Some("0"));
}

#[tokio::test]
async fn authenticated_and_not_found_responses_are_not_cached() {
    let front = still().await;
    let path = front.path("/products");
    front.visitor.get(&path).await.expect(200);
    let token = "t".repeat(43);
    for (name, value) in [
        ("authorization", "Bearer something"),
        ("cookie", "__Host-session=something"),
        ("x-service-order-token", token.as_str()),
        ("x-service-bridge", "request"),
    ] {
        for _ in 0..2 {
            let reply = front.visitor.get(&path).header(name, value).await.expect(200);
            assert_eq!(reply.header("age"), None, "{name}");
            assert!(reply.trips() > 0, "{name}");
        }
    }
    assert_eq!(front.visitor.get(&path).await.expect(200).header("age"), Some("0"));
    // Neither is what names nothing: it is there as soon as another instance has made it.
    let missing = front.path("/products/cup");
    front.visitor.get(&missing).await.expect(404).problem("not_found");
    let alongside = front.gateway.alongside().await;
    let input = json!({"title": "Cup", "status": "active", "variants": [{"price": inr(1)}]});
    front.owner.at_url(&alongside.url).post("/v1/products").json(input).await.expect(201);
    front.visitor.get(&missing).await.expect(200);
    // What nobody may keep is read each time.
    for path in ["/payments/methods", "/products/mug/reviews"] {
        for _ in 0..2 {
            let reply = front.get(path).await.expect(200);
            assert_eq!(reply.header("age"), None, "{path}");
            assert!(reply.trips() > 0, "{path}");
        }
    }
}
