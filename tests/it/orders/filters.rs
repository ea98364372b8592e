//! The filters of a list of orders.

use std::time::Duration;

use support::{Market, Placed, Reply, Shopper, Value, cart, json};

/// Orders of three guests, a minute apart, and one of a customer.
async fn orders() -> (Market, Vec<Placed>, Shopper) {
    let market = Market::open().await;
    let book = market.stock(1_000, 100).await;
    let mut placed = Vec::new();
    for (email, first_name, last_name) in [
        ("ann@example.com", "Ann", "Müller"),
        ("bo@example.com", "Bo", "Smith"),
        ("Ann@Example.com", "Anna", "Mueller"),
    ] {
        let mut input = cart(&[(&book, 1)]);
        input["email"] = json!(email);
        input["shipping_address"]["first_name"] = json!(first_name);
        input["shipping_address"]["last_name"] = json!(last_name);
        placed.push(market.order(input).await);
        market.gateway.advance(Duration::from_mins(1));
    }
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let mut input = cart(&[(&book, 1)]);
    input.as_object_mut().unwrap().remove("email");
    let path = format!("/v1/storefront/{}/orders", market.store.subdomain);
    shopper.post(&path).key("own").json(input).await.expect(201);
    (market, placed, shopper)
}

async fn listed(market: &Market, filter: &str) -> Vec<String> {
    let reply: Reply = market.owner.get(&format!("/v1/orders?{filter}")).await.expect(200);
    reply.data().iter().map(|order| order["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn orders_are_listed_by_filter_and_search() {
    let (market, placed, shopper) = orders().await;
    let ids: Vec<&str> = placed.iter().map(|order| order.id.as_str()).collect();
    assert_eq!(listed(&market, "email=ANN@example.com").await, [ids[2], ids[0]]);
    let own = listed(&market, &format!("email={}", shopper.email)).await;
    assert_eq!(own.len(), 1);
    assert!(!ids.contains(&&*own[0]));
    assert!(listed(&market, "email=nobody@example.com").await.is_empty());

    // Names match by the beginnings of words, without accents.
    assert_eq!(listed(&market, "name=ann%20muller").await, [ids[0]]);
    assert_eq!(listed(&market, "name=ann").await, [ids[2], ids[0]]);
    assert_eq!(listed(&market, "q=smith").await, [ids[1]]);
    assert_eq!(listed(&market, "q=bo@example.com").await, [ids[1]]);
    assert!(listed(&market, "q=bo%20muller").await.is_empty());

    // What a text writes as one word a query may write as several, and the other way round.
    let path = format!("/v1/orders/{}", ids[0]);
    market.owner.patch(&path).json(json!({"tags": ["WiFi", "e-mail"]})).await.expect(200);
    for words in ["wi-fi", "wifi", "email", "e-mail", "e%20mail"] {
        assert_eq!(listed(&market, &format!("q={words}")).await, [ids[0]], "{words}");
    }

    let path = format!("/v1/orders/{}", ids[1]);
    market.owner.patch(&path).json(json!({"tags": ["Wholesale"]})).await.expect(200);
    assert_eq!(listed(&market, "tag=wholesale").await, [ids[1]]);
    assert_eq!(listed(&market, "q=whole&tag=wholesale").await, [ids[1]]);
    assert!(listed(&market, "tag=whole").await.is_empty());

    let at = |order: &Placed| order.reply.str("/order/created_at");
    let range = format!("created_since={}&created_before={}", at(&placed[1]), at(&placed[2]));
    assert_eq!(listed(&market, &range).await, [ids[1]]);
    let since = format!("created_since={}&email=ann@example.com", at(&placed[1]));
    assert_eq!(listed(&market, &since).await, [ids[2]]);
    let wrong = market.owner.get("/v1/orders?created_since=yesterday").await.expect(422);
    assert_eq!(wrong.field_errors(), [("/created_since".to_owned(), "invalid_time".to_owned())]);
    let number = placed[0].reply.at("/order/number");
    let number = Value::as_str(number).unwrap().trim_start_matches('#');
    assert_eq!(listed(&market, &format!("number={number}&email=ann@example.com")).await, [ids[0]]);
    assert!(listed(&market, &format!("number={number}&email=bo@example.com")).await.is_empty());
}
