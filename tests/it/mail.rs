//! The mails of a store to its customers: whom they are from, and where answers go.

use support::{Letter, Market, Shopper, Value, cart, inr, json, unique};

/// The platform's address: the only one that mail may come from.
const PLATFORM: &str = "no-reply@example.com";

fn from(name: &str) -> String {
    format!("{name} <{PLATFORM}>")
}

/// An order of somebody new, and the mail that confirms it.
async fn confirmed(market: &Market, variant: &str) -> Letter {
    let email = format!("{}@example.com", unique("buyer"));
    let mut ask = cart(&[(variant, 1)]);
    ask["email"] = json!(email);
    market.order(ask).await;
    market.gateway.mailbox(&email).nth(1).await
}

async fn configure(market: &Market, store: Value, sender_name: Value) {
    let path = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&path).json(store).await.expect(200);
    let ask = json!({"notifications": {"sender_name": sender_name}});
    market.owner.patch(&format!("{path}/settings")).json(ask).await.expect(200);
}

#[tokio::test]
async fn a_stores_mails_are_under_its_name_and_answers_go_to_it() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    // Nothing chosen: the store's name, and no place for answers but the sender's.
    configure(&market, json!({"name": "Lotus Tea"}), Value::Null).await;
    let letter = confirmed(&market, &book).await;
    assert_eq!((letter.from, letter.reply_to), (from("\"Lotus Tea\""), None));
    // Chosen.
    let contact = json!({"contact": {"email": "hello@lotus.example"}});
    configure(&market, contact, json!("Lotus \"Post\", Pune <x@y.co>")).await;
    let letter = confirmed(&market, &book).await;
    assert_eq!(letter.reply_to.as_deref(), Some("hello@lotus.example"));
    assert!(letter.from.ends_with(&format!(" <{PLATFORM}>")), "{}", letter.from);
    let name = letter.from.trim_end_matches(&format!(" <{PLATFORM}>"));
    assert!(!name.contains(['@', '<', '\n']), "quoted or encoded: {name}");
    configure(&market, json!({}), json!("Lotus Post")).await;
    let mine = |letter: Letter| {
        assert_eq!(letter.from, from("\"Lotus Post\""), "{}", letter.subject);
        assert_eq!(letter.reply_to.as_deref(), Some("hello@lotus.example"), "{}", letter.subject);
    };
    mine(confirmed(&market, &book).await);
    // A gift card, and everything about an account.
    let recipient = format!("{}@example.com", unique("friend"));
    let ask = json!({"initial_value": inr(500), "recipient": {"email": recipient}});
    let cards = "/v1/products/gift-cards";
    market.owner.post(cards).json(ask).key(&unique("card")).await.expect(201);
    mine(market.gateway.mailbox(&recipient).nth(1).await);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let mailbox = market.gateway.mailbox(&shopper.email);
    let at = json!({"subdomain": market.store.subdomain, "email": shopper.email});
    let client = market.gateway.client();
    let reset = client.post("/v1/storefront/customer/password/reset").json(at.clone());
    reset.await.expect(202);
    mailbox.nth(2).await;
    let token = mailbox.token().await;
    let ask = json!({"token": token, "new_password": "kq7#vTzm-another"});
    client.post("/v1/storefront/customer/password/update").json(ask).await.expect(200);
    mailbox.nth(3).await;
    client.post("/v1/storefront/customer/login/otp").json(at).await.expect(202);
    mailbox.nth(4).await;
    mailbox.letters().into_iter().for_each(mine);
    // The platform's own mails stay its own.
    let owner = market.gateway.mailbox(&market.merchant.email).nth(1).await;
    assert_eq!((owner.from, owner.reply_to), (from("Commerce"), None));
}

#[tokio::test]
async fn no_name_begins_another_header() {
    let market = Market::open().await;
    let path = format!("/v1/stores/{}", market.store.id);
    for evil in ["A\r\nBcc: all@example.com", "A\nB", "A\tB", "A\u{85}B", "A\0B"] {
        let ask = json!({"notifications": {"sender_name": evil}});
        let refused = market.owner.patch(&format!("{path}/settings")).json(ask).await.expect(422);
        let at = "/notifications/sender_name".to_owned();
        assert_eq!(refused.field_errors(), [(at, "invalid_characters".to_owned())], "{evil:?}");
        let refused = market.owner.patch(&path).json(json!({"name": evil})).await.expect(422);
        let at = "/name".to_owned();
        assert_eq!(refused.field_errors(), [(at, "invalid_characters".to_owned())], "{evil:?}");
        let ask = json!({"contact": {"email": format!("{evil}@example.com")}});
        market.owner.patch(&path).json(ask).await.expect(422);
    }
}
