//! Mails to people whom a store may not know: where they lead, how many there are, and who asks for them.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Gateway, Market, Merchant, Reply, Value, cart, inr, json, unique};

const EVIL: &str = "https://evil.example.net/orders/{order_id}?token={token}";

fn stranger() -> String {
    format!("{}@example.com", unique("stranger"))
}

async fn set(market: &Market, notifications: Value) -> Reply {
    let path = format!("/v1/stores/{}/settings", market.store.id);
    market.owner.patch(&path).json(json!({"notifications": notifications})).await
}

async fn ordered(market: &Market, variant: &str, email: &str) -> String {
    let mut input = cart(&[(variant, 1)]);
    input["email"] = json!(email);
    market.order(input).await.id
}

#[tokio::test]
async fn mailed_links_require_a_verified_host() {
    let market = Market::proven().await;
    let book = market.stock(100, 9).await;
    let page = "https://shop.example.com/orders/{order_id}?token={token}";
    let loopback = "http://localhost/{order_id}?{token}";
    for evil in [EVIL, page, loopback, "https://shop.example.com.evil.net/{order_id}?{token}"] {
        let rejected = set(&market, json!({"order_status_url": evil, "payment_url": evil})).await;
        let at = |name: &str| (format!("/notifications/{name}"), "host_not_verified".to_owned());
        let mut faults = rejected.expect(422).field_errors();
        faults.sort();
        assert_eq!(faults, [at("order_status_url"), at("payment_url")], "{evil}");
    }
    market.verify("shop.example.com").await;
    set(&market, json!({"order_status_url": EVIL})).await.expect(422);
    set(&market, json!({"order_status_url": page})).await.expect(200);
    let to = stranger();
    ordered(&market, &book, &to).await;
    let mail = market.gateway.mailbox(&to).nth(1).await;
    assert!(mail.text.contains("https://shop.example.com/orders/ord_"), "{}", mail.text);
    // A host that is the store's no more is led to no more, and the setting can be kept or changed.
    let domain = format!("/v1/stores/{}/domains/shop.example.com", market.store.id);
    market.owner.delete(&domain).await.expect(204);
    let to = stranger();
    let order = ordered(&market, &book, &to).await;
    let mail = market.gateway.mailbox(&to).nth(1).await;
    assert!(!mail.text.contains("shop.example.com"), "{}", mail.text);
    let asked = market.act(&order, "send-payment-link", json!({})).await;
    asked.expect(200);
    let mail = market.gateway.mailbox(&to).nth(2).await;
    assert!(!mail.text.contains("shop.example.com"), "{}", mail.text);
    set(&market, json!({"delivery_confirmation": false})).await.expect(200);
    set(&market, json!({"order_status_url": page})).await.expect(422);
    set(&market, json!({"order_status_url": null})).await.expect(200);
}

#[tokio::test]
async fn tracking_links_are_mailed_for_carrier_and_verified_hosts_only() {
    let market = Market::proven().await;
    let book = market.stock(100, 9).await;
    market.verify("shop.example.com").await;
    for (url, is_mailed) in [
        ("https://evil.example.net/track", false),
        ("https://www.dhl.com/en/track?id=AB1", true),
        ("https://dhl.com.evil.net/track", false),
        ("https://shop.example.com/track/AB1", true),
    ] {
        let to = stranger();
        let order = ordered(&market, &book, &to).await;
        market.act(&order, "mark-paid", json!({})).await.expect(200);
        let tracking = json!({
            "tracking": {"number": "AB1", "company": "DHL", "url": url}, "notify_customer": true,
        });
        market.act(&order, "fulfill", tracking).await.expect(201);
        let inbox = market.gateway.mailbox(&to);
        inbox.nth(2).await;
        let all = inbox.mails();
        let shipped =
            all.iter().find(|mail| mail.text.contains("AB1")).expect("the number is told");
        assert_eq!(shipped.text.contains(url), is_mailed, "{url}: {}", shipped.text);
    }
}

#[tokio::test]
async fn the_sender_name_identifies_a_store() {
    let market = Market::proven().await;
    let book = market.stock(100, 9).await;
    set(&market, json!({"sender_name": "Account Security"})).await.expect(200);
    let to = stranger();
    ordered(&market, &book, &to).await;
    let mail = market.gateway.mailbox(&to).nth(1).await;
    assert_eq!(mail.from, "\"Account Security - shop on Commerce\" <no-reply@example.com>");
}

#[tokio::test]
async fn names_are_validated_alike_on_every_route() {
    let gateway = Gateway::start().await;
    let evil = "A Shop\n\nYour account is locked";
    let sign_up = |name: &str, store_name: &str| {
        let input = json!({
            "email": stranger(), "password": support::PASSWORD, "name": name,
            "store_name": store_name, "subdomain": unique("shop"),
        });
        gateway.client().post("/v1/auth/signup").json(input)
    };
    let rejected = sign_up("Ann", evil).await.expect(422);
    let invalid = |at: &str| (at.to_owned(), "invalid_characters".to_owned());
    assert_eq!(rejected.field_errors(), [invalid("/store_name")]);
    assert_eq!(sign_up(evil, "Shop").await.expect(422).field_errors(), [invalid("/name")]);
    // Letters that are displayed as nothing are no name.
    for blank in ["\u{3164}", "\u{ffa0} \u{200b}", "\u{2800}", "\u{301}"] {
        let rejected = sign_up(blank, blank).await.expect(422);
        assert_eq!(
            rejected.field_errors(),
            [invalid("/name"), invalid("/store_name")],
            "{blank:?}"
        );
    }
    sign_up("Ann", "Shop").await.expect(201);
    let merchant = Merchant::sign_up(&gateway).await;
    let shop = merchant.open_shop().await;
    let at = |reply: Reply| reply.expect(422).field_errors();
    let name = json!({"name": evil});
    assert_eq!(at(merchant.patch("/v1/auth/me").json(name.clone()).await), [invalid("/name")]);
    let one = format!("/v1/stores/{}", shop.id);
    assert_eq!(at(merchant.patch(&one).json(name).await), [invalid("/name")]);
    let input = json!({"email": stranger(), "name": evil});
    let made = merchant.at(&shop).post("/v1/customers").json(input).await;
    assert_eq!(at(made), [invalid("/name")]);
    let input = json!({
        "subdomain": shop.subdomain, "email": stranger(), "password": support::PASSWORD, "name": evil,
    });
    let registered = gateway.client().post("/v1/storefront/customer/register").json(input).await;
    assert_eq!(at(registered), [invalid("/name")]);
}

/// A gift card by mail.
async fn send(market: &Market, to: &str) -> Reply {
    let input = json!({"initial_value": inr(500), "recipient": {"email": to}});
    market.owner.post("/v1/products/gift-cards").json(input).key(&unique("card")).await
}

async fn invite(owner: &support::Client, store: &str) -> Reply {
    let input = json!({"email": stranger(), "role": "read_only"});
    owner.post(&format!("/v1/stores/{store}/members")).json(input).await
}

/// How many of these have a mail.
fn mailed(gateway: &Gateway, strangers: &[String]) -> usize {
    strangers.iter().filter(|one| !gateway.mailbox(one).mails().is_empty()).count()
}

#[tokio::test]
async fn a_new_store_has_a_daily_mail_limit_for_unknown_recipients() {
    let market = Market::proven().await;
    let gateway = &market.gateway;
    let book = market.stock(100, 100).await;
    gateway.stop_within_a_day(MINUTE * 5);
    // Cards, invitations and orders are counted together.
    for _ in 0..20 {
        send(&market, &stranger()).await.expect(201);
        invite(&market.owner, &market.store.id).await.expect(201);
        gateway.advance(Duration::from_millis(500));
    }
    let strangers: Vec<_> = (0..12).map(|_| stranger()).collect();
    for to in &strangers {
        ordered(&market, &book, to).await;
    }
    gateway.quiet().await;
    assert_eq!(mailed(gateway, &strangers), 10);
    let full = send(&market, &stranger()).await.expect(429).problem("mail_limit");
    assert_eq!(full.int("/limit"), 50);
    invite(&market.owner, &market.store.id).await.expect(429).problem("mail_limit");
    // What was not sent is there to be seen.
    let kept = gateway.items_of("mail", "MAI#").await;
    let because = |mail: &Value| {
        let text = |name: &str| mail[name].as_str().unwrap_or_default().to_owned();
        (text("state"), text("withheld_for"))
    };
    let withheld: Vec<_> = kept.iter().map(because).collect();
    assert_eq!(withheld, vec![("withheld".into(), "mail_limit".into()); 2]);
    let shown = market.owner.get(&format!("/v1/stores/{}/mail-usage", market.store.id)).await;
    let shown = shown.expect(200);
    let numbers = ["/limit", "/sent", "/withheld"].map(|name| shown.int(name));
    assert_eq!(numbers, [50, 50, 2], "{}", shown.text);
    // Who has an account there has proven the address.
    let shopper = support::Shopper::register(gateway, &market.store).await;
    let mut input = cart(&[(&book, 1)]);
    input.as_object_mut().unwrap().remove("email");
    shopper.post(&market.orders_path()).key(&unique("own")).json(input).await.expect(201);
    gateway.mailbox(&shopper.email).nth(2).await;
    // The next day has room for more: the store is older.
    gateway.advance(Duration::from_hours(24));
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    let usage = format!("/v1/stores/{}/mail-usage", market.store.id);
    let shown = owner.get(&usage).await.expect(200);
    assert_eq!(["/limit", "/sent", "/withheld"].map(|name| shown.int(name)), [60, 0, 0]);
}

#[tokio::test]
async fn a_merchants_stores_share_a_daily_mail_limit() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    merchant.prove(&gateway).await;
    gateway.stop_within_a_day(MINUTE * 5);
    let mut sent = 0;
    let mut rejected = None;
    for _ in 0..4 {
        let store = merchant.open_store().await;
        for _ in 0..30 {
            gateway.advance(Duration::from_millis(500));
            let reply = invite(&merchant, &store.id).await;
            if reply.status != 201 {
                rejected = Some(reply);
                break;
            }
            sent += 1;
        }
    }
    assert_eq!(sent, 100);
    assert_eq!(rejected.expect("a rejection").expect(429).problem("mail_limit").int("/limit"), 100);
}

/// Asks for a sign-in code and for a new password of a customer's account.
async fn ask_for_codes(market: &Market, email: &str) {
    let input = json!({"email": email, "subdomain": market.store.subdomain});
    for path in ["login/otp", "password/reset"] {
        let path = format!("/v1/storefront/customer/{path}");
        market.gateway.client().post(&path).json(input.clone()).await.expect(202);
    }
}

/// An account that a merchant made proves nothing about whose its address is.
#[tokio::test]
async fn a_merchant_created_customer_counts_as_an_unknown_recipient() {
    let market = Market::open().await;
    let gateway = &market.gateway;
    let to = stranger();
    market.owner.post("/v1/customers").json(json!({"email": to})).await.expect(201);
    ask_for_codes(&market, &to).await;
    gateway.quiet().await;
    let mails = gateway.mailbox(&to).mails();
    assert!(mails.is_empty(), "{mails:?}");
    market.merchant.prove(gateway).await;
    let counted = async || -> i64 {
        let days = gateway.items("THR#stranger_mails_to").await;
        days.iter().map(|day| day["used"].as_i64().unwrap()).sum()
    };
    let to = stranger();
    market.owner.post("/v1/customers").json(json!({"email": to})).await.expect(201);
    ask_for_codes(&market, &to).await;
    gateway.mailbox(&to).nth(2).await;
    assert_eq!(counted().await, 2);
    // Whoever has proven their address is not counted.
    let shopper = support::Shopper::register(gateway, &market.store).await;
    assert_eq!(counted().await, 3);
    ask_for_codes(&market, &shopper.email).await;
    gateway.mailbox(&shopper.email).nth(3).await;
    assert_eq!(counted().await, 3);
}
