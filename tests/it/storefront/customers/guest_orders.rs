//! Orders of guests, which become those of the account that proves their address.

use std::time::Duration;

use support::{Gateway, Market, Placed, Shopper, Value, cart, eventually, json, race, unique};

use super::at;

fn mailbox() -> String {
    format!("{}@example.com", unique("guest"))
}

async fn as_guest(market: &Market, variant: &str, email: &str) -> Placed {
    let mut input = cart(&[(variant, 1)]);
    input["email"] = json!(email);
    market.order(input).await
}

/// The sweep hands out what is due, and the runner takes it.
async fn settle(gateway: &Gateway) {
    gateway.advance(Duration::from_secs(61));
    gateway.sweep().await;
    let done = || async { gateway.items_of("guest_orders", "STO#").await.is_empty().then_some(()) };
    eventually(Duration::from_secs(30), done).await;
    gateway.quiet().await;
}

async fn listed(shopper: &Shopper) -> Vec<String> {
    let orders = shopper.get(&at("/orders")).await.expect(200);
    let mut ids: Vec<_> =
        orders.data().iter().map(|order| order["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn sorted<const N: usize>(orders: [&Placed; N]) -> Vec<String> {
    let mut ids = orders.map(|placed| placed.id.clone()).to_vec();
    ids.sort();
    ids
}

/// What is counted for an account: orders, and what was spent.
async fn counted(market: &Market, id: &str) -> (i64, i64) {
    let prefix = format!("STO#{}#CUS#{id}", market.store.id);
    let account = market.gateway.items_of("customer", &prefix).await.remove(0);
    let number = |value: &Value| value.as_i64().unwrap();
    (number(&account["orders_count"]), number(&account["total_spent"]["amount"]))
}

async fn left(market: &Market) -> usize {
    market.gateway.items_of("guest_orders", "STO#").await.len()
}

/// A code for an account of this address, asked for again.
async fn sign_in_by_code(market: &Market, email: &str) {
    let client = market.gateway.client();
    let input = json!({"subdomain": market.store.subdomain, "email": email});
    let asked = client.post(&at("/login/otp")).json(input).await.expect(202);
    market.gateway.sweep().await;
    market.gateway.quiet().await;
    let code = market.gateway.mailbox(email).code().await;
    let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    client.post(&at("/login/otp/verify")).json(input).await.expect(200);
}

#[tokio::test]
async fn guest_orders_are_linked_to_the_account_that_proves_the_address() {
    let market = Market::open().await;
    let book = market.stock(100, 20).await;
    let email = mailbox();
    let paid = as_guest(&market, &book, &email.to_uppercase()).await;
    market.act(&paid.id, "mark-paid", json!({})).await.expect(200);
    let open = as_guest(&market, &book, &email).await;
    let others = as_guest(&market, &book, &mailbox()).await;
    // Placed signed in to another account, with the same address for its mails.
    let other = Shopper::register(&market.gateway, &market.store).await;
    let mut input = cart(&[(&book, 1)]);
    input["email"] = json!(email);
    let own = other.post(&market.orders_path()).key(&unique("own")).json(input).await.expect(201);

    let shopper = Shopper::register_as(&market.gateway, &market.store, &email).await;
    assert!(listed(&shopper).await.is_empty(), "it is done later");
    settle(&market.gateway).await;
    assert_eq!(listed(&shopper).await, sorted([&paid, &open]));
    assert_eq!(counted(&market, &shopper.id).await, (2, 100));
    assert_eq!(listed(&other).await, [own.str("/order/id")]);
    shopper.get(&at(&format!("/orders/{}", others.id))).await.expect(404);
    // What came with the checkout still shows it, and the merchant sees whose it is.
    market.look(&open).await.expect(200);
    let found = market.owner.get(&format!("/v1/orders?customer_id={}", shopper.id)).await;
    assert_eq!(found.expect(200).data().len(), 2);
    assert_eq!(left(&market).await, 0);
    // From now on its money is counted as any customer's.
    market.act(&open.id, "mark-paid", json!({})).await.expect(200);
    market.act(&paid.id, "refund", json!({})).await.expect(201);
    assert_eq!(counted(&market, &shopper.id).await, (2, 100));
    // No key says whose orders they are.
    let keys: Vec<String> = market.gateway.items("STO#").await.iter().map(keys_of).collect();
    assert!(keys.iter().all(|key| !key.to_lowercase().contains(&email) || key.contains("#CEM#")));
}

fn keys_of(item: &Value) -> String {
    let all = item.as_object().unwrap().iter();
    let keys = all.filter(|(name, _)| name.ends_with("PK") || name.ends_with("SK"));
    keys.map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn guest_orders_are_linked_when_the_address_is_proven_later() {
    let market = Market::proven().await;
    let book = market.stock(100, 20).await;
    // The merchant has made the account: whoever signs in by a code has proven the address.
    let email = mailbox();
    let made = market.owner.post("/v1/customers").json(json!({"email": email})).await.expect(201);
    let placed = as_guest(&market, &book, &email).await;
    settle(&market.gateway).await;
    assert_eq!(counted(&market, &made.str("/id")).await, (0, 0));
    sign_in_by_code(&market, &email).await;
    settle(&market.gateway).await;
    assert_eq!(counted(&market, &made.str("/id")).await, (1, 0));
    // The merchant corrects the address of an order: it is that guest's.
    let typo = as_guest(&market, &book, &mailbox()).await;
    let path = format!("/v1/orders/{}", typo.id);
    market.owner.patch(&path).json(json!({"email": email})).await.expect(200);
    market.gateway.advance(Duration::from_mins(1));
    sign_in_by_code(&market, &email).await;
    settle(&market.gateway).await;
    assert_eq!(counted(&market, &made.str("/id")).await, (2, 0));
    let found = market.owner.get(&format!("/v1/orders?customer_id={}", made.str("/id"))).await;
    let mut ids: Vec<_> = found.expect(200).data().iter().map(|o| o["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(json!(ids), json!(sorted([&placed, &typo])));
}

#[tokio::test]
async fn an_email_change_links_guest_orders_of_the_new_address() {
    let market = Market::open().await;
    let book = market.stock(100, 20).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let to = mailbox();
    let placed = as_guest(&market, &book, &to).await;
    let input = json!({"email": to, "current_password": support::PASSWORD});
    let asked = shopper.patch(&at("/me")).json(input).await.expect(202);
    let code = market.gateway.mailbox(&to).code().await;
    let id = asked.str("/email_change/challenge_id");
    let input = json!({"challenge_id": id, "code": code});
    shopper.post(&at("/login/otp/verify")).json(input).await.expect(200);
    settle(&market.gateway).await;
    let mut moved = shopper.clone();
    moved.email = to;
    let moved = moved.log_in_again(&market.store).await;
    assert_eq!(listed(&moved).await, [placed.id]);
    assert_eq!(counted(&market, &moved.id).await, (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_linking_counts_each_guest_order_once() {
    let market = Market::open().await;
    let book = market.stock(100, 20).await;
    let email = mailbox();
    let mut placed = Vec::new();
    for _ in 0..6 {
        placed.push(as_guest(&market, &book, &email).await);
    }
    let shopper = Shopper::register_as(&market.gateway, &market.store, &email).await;
    let id = shopper.id.clone();
    assert_eq!(left(&market).await, 1);
    market.gateway.advance(Duration::from_secs(20));

    let work = market.gateway.items_of("guest_orders", "STO#").await.remove(0);
    let process = market.gateway.process();
    // Cut off wherever it is by then, again and again: what it has done stays, and is due.
    for millis in [1, 3, 6, 10, 15] {
        let step = process.take_step_of(&work);
        let _ = tokio::time::timeout(Duration::from_millis(millis), step).await;
    }
    // By several at once, while the orders are paid.
    let payments = async {
        for order in &placed[..3] {
            market.act(&order.id, "mark-paid", json!({})).await.expect(200);
        }
    };
    let joining = race(6, || process.take_step_of(&work));
    let ((), _) = tokio::join!(payments, joining);
    // What is left, if the races left something, the sweep finds.
    settle(&market.gateway).await;
    assert_eq!((counted(&market, &id).await, left(&market).await), ((6, 300), 0));
    let path = format!("/v1/orders?customer_id={id}");
    let merchant = market.merchant.sign_in_again().await.at(&market.store);
    assert_eq!(merchant.get(&path).await.expect(200).data().len(), 6);
}
