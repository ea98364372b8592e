//! The list of a store's guests, and what changes it.

use std::time::Duration;

use support::{Market, Placed, Reply, Shopper, Value, cart, eventually, inr, json, race, unique};

const GUESTS: &str = "/v1/customers/guests";

fn email_of(who: &str) -> String {
    format!("{}@example.com", unique(who))
}

async fn order(market: &Market, variant: &str, email: &str) -> Placed {
    let mut input = cart(&[(variant, 1)]);
    input["email"] = json!(email);
    market.order(input).await
}

async fn listed(market: &Market, query: &str) -> Vec<Value> {
    market.owner.get(&format!("{GUESTS}{query}")).await.expect(200).data().clone()
}

fn emails(guests: &[Value]) -> Vec<&str> {
    guests.iter().map(|guest| guest["email"].as_str().unwrap()).collect()
}

/// The orders and the spending of a guest; none if they are not listed.
async fn counted(market: &Market, email: &str) -> Option<(i64, i64)> {
    let all = listed(market, "").await;
    let guest = all.iter().find(|guest| guest["email"] == email)?;
    let number = |value: &Value| value.as_i64().unwrap();
    Some((number(&guest["orders_count"]), number(&guest["total_spent"]["amount"])))
}

#[tokio::test]
async fn guests_are_listed_newest_first_with_their_order_totals() {
    let market = Market::open().await;
    let book = market.stock(1_000, 20).await;
    let (ann, bea) = (email_of("ann"), email_of("bea"));
    let mut input = cart(&[(&book, 1)]);
    input.as_object_mut().unwrap().remove("email");
    let phone = "+49 30 1234567";
    input["customer"] = json!({"email": ann.to_uppercase(), "first_name": "Ann",
        "last_name": "Árbol", "phone": phone});
    let first = market.order(input.clone()).await;
    market.gateway.advance(Duration::from_secs(5));
    order(&market, &book, &bea).await;
    market.gateway.advance(Duration::from_secs(5));
    input["customer"]["email"] = json!(ann);
    let again = market.order(input).await;
    // Who is signed in is no guest.
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let own = shopper.post(&market.orders_path()).key(&unique("own")).json(cart(&[(&book, 1)]));
    own.await.expect(201);
    // Neither is somebody without an address.
    let input = json!({"items": [{"variant_id": book, "quantity": 1}]});
    market.owner.post("/v1/orders").key(&unique("o")).json(input).await.expect(201);

    let guests = listed(&market, "").await;
    assert_eq!(emails(&guests), [&bea, &ann]);
    let guest = &guests[1];
    assert_eq!((&guest["name"], &guest["phone"]), (&json!("Ann Árbol"), &json!(phone)));
    assert_eq!(guest["phone_e164"], "+49301234567");
    assert_eq!((&guest["orders_count"], &guest["total_spent"]), (&json!(2), &inr(0)));
    let (first_at, again_at) = (
        market.show(&first.id).await.str("/created_at"),
        market.show(&again.id).await.str("/created_at"),
    );
    assert_eq!(
        (guest["first_order_at"].as_str(), guest["last_order_at"].as_str()),
        (Some(first_at.as_str()), Some(again_at.as_str()))
    );
    // Paid and refunded, as a customer's orders are counted.
    market.act(&first.id, "mark-paid", json!({})).await.expect(200);
    market.act(&again.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(counted(&market, &ann).await, Some((2, 2_000)));
    market.act(&first.id, "refund", json!({})).await.expect(201);
    assert_eq!(counted(&market, &ann).await, Some((2, 1_000)));
    // Pages, and filters.
    let page = market.owner.get(&format!("{GUESTS}?limit=1")).await.expect(200);
    assert_eq!(emails(page.data()), [&bea]);
    let next = format!("{GUESTS}?limit=1&cursor={}", page.str("/page/next_cursor"));
    let page = market.owner.get(&next).await.expect(200);
    assert_eq!(
        (emails(page.data()), page.at("/page/has_more")),
        (vec![ann.as_str()], &json!(false))
    );
    for q in ["ARBOL", &ann[..8], "030 1234567"] {
        assert_eq!(emails(&listed(&market, &format!("?q={q}")).await), [&ann], "{q}");
    }
    assert!(listed(&market, "?q=nobody").await.is_empty());
    let since = format!("?updated_since={again_at}");
    assert_eq!(emails(&listed(&market, &since).await), [&ann]);
    // With an address: the guest, and what else the store has of it.
    let found = market.owner.get(GUESTS).query(&[("email", &bea.to_uppercase())]).await.expect(200);
    assert_eq!((emails(found.data()), found.data().len()), (vec![bea.as_str()], 1));
    assert_eq!(found.at("/orders").as_array().map(Vec::len), Some(1));
    let none = market.owner.get(GUESTS).query(&[("email", &email_of("no"))]).await.expect(200);
    assert!(none.data().is_empty() && none.at("/orders").as_array().is_some_and(Vec::is_empty));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_orders_of_a_guest_are_each_counted() {
    let market = Market::open().await;
    let book = market.stock(1_000, 20).await;
    let email = email_of("ann");
    race(2, || order(&market, &book, &email)).await;
    assert_eq!(counted(&market, &email).await, Some((2, 0)));
    let placed = race(4, || order(&market, &book, &email)).await;
    let pay = async |order: &Placed| {
        market.act(&order.id, "mark-paid", json!({})).await.expect(200);
    };
    futures_util::future::join_all(placed.iter().map(pay)).await;
    assert_eq!(counted(&market, &email).await, Some((6, 4_000)));
}

#[tokio::test]
async fn changing_the_email_of_an_order_moves_it_to_another_guest() {
    let market = Market::open().await;
    let book = market.stock(1_000, 20).await;
    let (typo, right) = (email_of("typo"), email_of("right"));
    let placed = order(&market, &book, &typo).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    order(&market, &book, &typo).await;
    let path = format!("/v1/orders/{}", placed.id);
    let change = json!({"email": right});
    market.owner.patch(&path).json(change.clone()).await.expect(200);
    assert_eq!(counted(&market, &typo).await, Some((1, 0)));
    assert_eq!(counted(&market, &right).await, Some((1, 1_000)));
    // The same again changes nothing, and spelt in another way neither.
    market.owner.patch(&path).json(change).await.expect(200);
    let change = json!({"email": right.to_uppercase(), "note": "Ring"});
    market.owner.patch(&path).json(change).await.expect(200);
    market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(counted(&market, &right).await, Some((1, 0)));
    // The last order takes its guest along, and an order without an address gets one.
    let orders = market.owner.get("/v1/orders").await.expect(200);
    let other = orders.data().iter().find(|one| one["id"] != json!(placed.id)).unwrap();
    let path = format!("/v1/orders/{}", other["id"].as_str().unwrap());
    market.owner.patch(&path).json(json!({"email": right})).await.expect(200);
    assert_eq!(counted(&market, &typo).await, None);
    assert_eq!(counted(&market, &right).await, Some((2, 0)));
    assert!(market.gateway.items_of("guest", "STO#").await.len() == 1);
}

async fn settle(market: &Market) {
    market.gateway.advance(Duration::from_secs(61));
    market.gateway.sweep().await;
    eventually(Duration::from_secs(30), || async {
        market.gateway.items_of("guest_orders", "STO#").await.is_empty().then_some(())
    })
    .await;
    market.gateway.quiet().await;
}

#[tokio::test]
async fn a_guest_who_has_joined_an_account_is_not_listed() {
    let market = Market::open().await;
    let book = market.stock(1_000, 20).await;
    let email = email_of("ann");
    let paid = order(&market, &book, &email).await;
    market.act(&paid.id, "mark-paid", json!({})).await.expect(200);
    order(&market, &book, &email).await;
    let other = email_of("bea");
    order(&market, &book, &other).await;
    Shopper::register_as(&market.gateway, &market.store, &email).await;
    settle(&market).await;
    assert_eq!(emails(&listed(&market, "").await), [&other]);
    // Its money is the account's from now on.
    market.act(&paid.id, "refund", json!({})).await.expect(201);
    let found = market.owner.get(&format!("/v1/customers?email={email}")).await.expect(200);
    let account = &found.data()[0];
    assert_eq!((&account["orders_count"], &account["total_spent"]), (&json!(2), &inr(0)));
    assert_eq!(market.gateway.items_of("guest", "STO#").await.len(), 1);
}

async fn over(market: &Market, path: &str) -> Reply {
    eventually(Duration::from_secs(40), || async {
        let shown = market.owner.get(path).await.expect(200);
        market.gateway.sweep().await;
        (shown.str("/status") == "succeeded").then_some(shown)
    })
    .await
}

#[tokio::test]
async fn a_redacted_guest_is_not_listed() {
    let market = Market::proven().await;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let at_once = json!({"privacy": {"redaction_days": 0}});
    market.owner.patch(&settings).json(at_once).await.expect(200);
    let book = market.stock(1_000, 20).await;
    let email = email_of("ann");
    for _ in 0..2 {
        let placed = order(&market, &book, &email).await;
        market.act(&placed.id, "cancel", json!({})).await.expect(200);
    }
    // What is cancelled was ordered all the same.
    assert_eq!(counted(&market, &email).await, Some((2, 0)));
    market.gateway.quiet().await;
    let input = json!({"email": email});
    let asked = market.owner.post(&format!("{GUESTS}/redact")).json(input).await.expect(202);
    over(&market, &format!("{GUESTS}/redactions/{}", asked.str("/id"))).await;
    assert!(listed(&market, "").await.is_empty());
    assert!(market.gateway.items_of("guest", "STO#").await.is_empty());
    // Who comes back begins anew.
    order(&market, &book, &email).await;
    assert_eq!(counted(&market, &email).await, Some((1, 0)));
}
