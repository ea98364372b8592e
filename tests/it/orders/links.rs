//! Links in mails about orders: where a guest sees the order, and where it is paid.

use support::{Client, Gateway, Market, Reply, Value, cart, json, unique};

const STATUS_PAGE: &str = "https://shop.example/orders/{order_id}?token={token}";
const PAYMENT_PAGE: &str = "https://shop.example/pay/{order_id}#{token}";

pub fn link_in(text: &str, begin: &str) -> Option<String> {
    text.lines().find(|line| line.starts_with(begin)).map(str::to_owned)
}

fn token_in(link: &str) -> String {
    link.rsplit(['=', '#']).next().unwrap().to_owned()
}

async fn set(market: &Market, fields: Value) -> Reply {
    let path = format!("/v1/stores/{}/settings", market.store.id);
    market.owner.patch(&path).json(json!({"notifications": fields})).await
}

async fn with_pages() -> Market {
    let market = Market::proven().await;
    market.verify("shop.example").await;
    set(&market, json!({"order_status_url": STATUS_PAGE, "payment_url": PAYMENT_PAGE}))
        .await
        .expect(200);
    market
}

fn mailbox() -> String {
    format!("{}@example.com", unique("guest"))
}

/// What a bearer of a token is answered about an order.
async fn look(market: &Market, client: &Client, order: &str, token: &str) -> Reply {
    let path = format!("{}/{order}", market.orders_path());
    client.get(&path).header("x-service-order-token", token).await
}

async fn order_of(market: &Market, variant: &str, email: &str) -> support::Placed {
    let mut input = cart(&[(variant, 1)]);
    input["email"] = json!(email);
    market.order(input).await
}

/// An order that the merchant makes for somebody.
async fn made(market: &Market, variant: &str, fields: Value) -> Reply {
    let mut input = json!({"items": [{"variant_id": variant, "quantity": 1}]});
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    market.owner.post("/v1/orders").key(&unique("made")).json(input).await.expect(201)
}

/// Everything in the table, as text.
async fn table(gateway: &Gateway) -> String {
    json!(gateway.items("").await).to_string()
}

#[tokio::test]
async fn a_mailed_order_token_reads_only_its_order() {
    let market = with_pages().await;
    let book = market.stock(100, 5).await;
    let email = mailbox();
    let (placed, other) =
        (order_of(&market, &book, &email).await, order_of(&market, &book, &mailbox()).await);
    let mail = market.gateway.mailbox(&email).nth(1).await;
    let begin = format!("https://shop.example/orders/{}?token=", placed.id);
    let link = link_in(&mail.text, &begin).unwrap_or_else(|| panic!("{}", mail.text));
    let token = token_in(&link);
    assert_ne!(token, placed.token, "what came with the checkout is told once");
    let stranger = market.gateway.client();
    let shown = look(&market, &stranger, &placed.id, &token).await.expect(200);
    assert_eq!(shown.str("/id"), placed.id);
    look(&market, &stranger, &placed.id, &placed.token).await.expect(200);
    look(&market, &stranger, &other.id, &token).await.expect(404).problem("not_found");
    look(&market, &stranger, &placed.id, &token[1..]).await.expect(404);
    // Later mails bring the same one.
    market.act(&placed.id, "cancel", json!({"reason": "Gone"})).await.expect(200);
    let told = market.gateway.mailbox(&email).nth(2).await;
    assert_eq!(link_in(&told.text, &begin), Some(link));
    // Neither events nor answers nor anything else in the table says it.
    market.gateway.quiet().await;
    let events = market.owner.get(&format!("/v1/orders/{}/events", placed.id)).await.expect(200);
    let answers = [&shown.text, &market.show(&placed.id).await.text, &events.text];
    assert!(answers.iter().all(|answer| !answer.contains(&token)));
    assert!(!table(&market.gateway).await.contains(&token), "the token is in the table");
    // Another address is another mailbox, whose reader has no token yet.
    let moved = json!({"email": mailbox()});
    market.owner.patch(&format!("/v1/orders/{}", placed.id)).json(moved).await.expect(200);
    look(&market, &stranger, &placed.id, &token).await.expect(404);
}

#[tokio::test]
async fn order_links_require_a_valid_store_page() {
    let market = Market::proven().await;
    market.verify("shop.example").await;
    let book = market.stock(100, 5).await;
    let email = mailbox();
    order_of(&market, &book, &email).await;
    let mail = market.gateway.mailbox(&email).nth(1).await;
    assert!(!mail.text.contains("https://"), "{}", mail.text);
    for (page, code) in [
        ("http://shop.example/{order_id}/{token}", "invalid_url"),
        ("https://{token}.example/{order_id}", "invalid_url"),
        ("https://shop.example/{order_id}", "placeholder_missing"),
        ("https://shop.example/{order_id}/{token}/{email}", "unknown_placeholder"),
    ] {
        let fields = json!({"order_status_url": page, "payment_url": page});
        let rejected = set(&market, fields).await.expect(422);
        let at = |name: &str| (format!("/notifications/{name}"), code.to_owned());
        let mut field_errors = rejected.field_errors();
        field_errors.sort();
        assert_eq!(field_errors, [at("order_status_url"), at("payment_url")], "{page}");
    }
    let saved = set(&market, json!({"order_status_url": STATUS_PAGE})).await.expect(200);
    assert_eq!(saved.str("/notifications/order_status_url"), STATUS_PAGE);
    let cleared = set(&market, json!({"order_status_url": null})).await.expect(200);
    assert_eq!(*cleared.at("/notifications/order_status_url"), json!(null));
}

#[tokio::test]
async fn a_customer_is_mailed_the_order_link() {
    let market = with_pages().await;
    let book = market.stock(100, 5).await;
    let shopper = support::Shopper::register(&market.gateway, &market.store).await;
    let mut input = cart(&[(&book, 1)]);
    input.as_object_mut().unwrap().remove("email");
    let placed = shopper.post(&market.orders_path()).key(&unique("own")).json(input).await;
    let order = placed.expect(201).str("/order/id");
    let mail = market.gateway.mailbox(&shopper.email).nth(2).await;
    let link = link_in(&mail.text, "https://shop.example/orders/").expect("a link");
    look(&market, &market.gateway.client(), &order, &token_in(&link)).await.expect(200);
}

#[tokio::test]
async fn a_confirmed_draft_order_is_paid_through_its_mailed_link() {
    let market = with_pages().await;
    let book = market.stock(100, 5).await;
    let email = mailbox();
    let draft = made(&market, &book, json!({"draft": true, "email": email})).await.str("/id");
    let again = async |key: &str| {
        let path = format!("/v1/orders/{draft}/send-payment-link");
        market.owner.post(&path).key(key).json(json!({})).await
    };
    again("draft").await.expect(409).problem("invalid_state_transition");
    market.act(&draft, "confirm", json!({})).await.expect(200);
    let inbox = market.gateway.mailbox(&email);
    let mail = inbox.nth(1).await;
    assert!(mail.text.contains("Left to pay: 1.00 INR"), "{}", mail.text);
    let begin = format!("https://shop.example/pay/{draft}#");
    let token = token_in(&link_in(&mail.text, &begin).expect("a link"));

    // The same request again mails nothing more; another one does, five times a day at most.
    let (first, repeated) = (again("a").await.expect(200), again("a").await.expect(200));
    assert_eq!(first.text, repeated.text);
    for key in ["b", "c", "d", "e"] {
        again(key).await.expect(200);
    }
    again("f").await.expect(429).problem("mail_limit");
    inbox.nth(6).await;
    let asked = market.gateway.events("order.payment_requested").await;
    assert_eq!(asked.len(), 5);
    assert!(!json!(asked).to_string().contains(&token));

    // Whoever reads the mail pays: by hand here, which the merchant confirms.
    let path = format!("/v1/storefront/{}/payments/manual/order", market.store.subdomain);
    let input = json!({"order_id": draft, "order_token": token});
    market.gateway.client().post(&path).json(input).await.expect(201);
    market.act(&draft, "mark-paid", json!({})).await.expect(200);
    again("late").await.expect(409).problem("order_already_paid");
    market.gateway.quiet().await;
    assert_eq!(inbox.mails().len(), 6);
}

#[tokio::test]
async fn manual_and_paid_orders_send_no_payment_link_automatically() {
    let market = with_pages().await;
    let book = market.stock(100, 9).await;
    let email = mailbox();
    let by_hand = json!({"email": email, "payment": {"provider": "manual"}});
    let paid = json!({"email": email, "mark_paid": {}});
    let nameless = made(&market, &book, json!({})).await.str("/id");
    let by_hand = made(&market, &book, by_hand).await.str("/id");
    let paid = made(&market, &book, paid).await.str("/id");
    market.act(&by_hand, "confirm", json!({})).await.expect(200);
    market.act(&nameless, "confirm", json!({})).await.expect(200);
    let send = async |order: &str| market.act(order, "send-payment-link", json!({})).await;
    send(&nameless).await.expect(409).problem("invalid_state_transition");
    send(&paid).await.expect(409).problem("order_already_paid");
    let gone = made(&market, &book, json!({"email": email})).await.str("/id");
    market.act(&gone, "cancel", json!({})).await.expect(200);
    send(&gone).await.expect(409).problem("invalid_state_transition");
    market.gateway.quiet().await;
    assert!(market.gateway.mailbox(&email).mails().is_empty());
    // Asked for by the merchant, it is sent.
    send(&by_hand).await.expect(200);
    market.gateway.mailbox(&email).nth(1).await;
}

#[tokio::test]
async fn a_payment_link_leads_to_the_shop_and_requires_a_verified_owner() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    let email = mailbox();
    let order = made(&market, &book, json!({"email": email})).await.str("/id");
    let send = async || market.act(&order, "send-payment-link", json!({})).await;
    send().await.expect(403).problem("email_unverified");
    market.merchant.prove(&market.gateway).await;
    send().await.expect(200);
    let mail = market.gateway.mailbox(&email).nth(1).await;
    let page = format!("{}.localhost/orders/{order}?token=", market.store.subdomain);
    assert!(mail.text.contains(&page), "{}", mail.text);
}
