//! The mails of a store to its customers: whom they are from, and where answers go.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Gateway, Mail, Market, Merchant, Shopper, Value, cart, inr, json, unique};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The platform's address: the only one that mail may come from.
const PLATFORM: &str = "no-reply@example.com";

fn from(name: &str) -> String {
    format!("{name} <{PLATFORM}>")
}

/// What a reader sees of a store.
fn from_shop(name: &str) -> String {
    from(&format!("\"{name} - shop on Commerce\""))
}

/// An order of somebody new, and the mail that confirms it.
async fn confirmed(market: &Market, variant: &str) -> Mail {
    let email = format!("{}@example.com", unique("buyer"));
    let mut input = cart(&[(variant, 1)]);
    input["email"] = json!(email);
    market.order(input).await;
    market.gateway.mailbox(&email).nth(1).await
}

async fn configure(market: &Market, store: Value, sender_name: Value) {
    let path = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&path).json(store).await.expect(200);
    let input = json!({"notifications": {"sender_name": sender_name}});
    market.owner.patch(&format!("{path}/settings")).json(input).await.expect(200);
}

#[tokio::test]
async fn store_mails_have_its_sender_name_and_reply_to() {
    let market = Market::proven().await;
    let book = market.stock(100, 10).await;
    // Nothing chosen: the store's name, and no place for answers but the sender's.
    configure(&market, json!({"name": "Lotus Tea"}), Value::Null).await;
    let mail = confirmed(&market, &book).await;
    assert_eq!((mail.from, mail.reply_to), (from_shop("Lotus Tea"), None));
    // Chosen.
    let contact = json!({"contact": {"email": "hello@lotus.example"}});
    configure(&market, contact, Value::Null).await;
    let mail = confirmed(&market, &book).await;
    assert_eq!(mail.reply_to.as_deref(), Some("hello@lotus.example"));
    configure(&market, json!({}), json!("Lotus Post")).await;
    let mine = |mail: Mail| {
        assert_eq!(mail.from, from_shop("Lotus Post"), "{}", mail.subject);
        assert_eq!(mail.reply_to.as_deref(), Some("hello@lotus.example"), "{}", mail.subject);
    };
    mine(confirmed(&market, &book).await);
    // A gift card, and everything about an account.
    let recipient = format!("{}@example.com", unique("friend"));
    let input = json!({"initial_value": inr(500), "recipient": {"email": recipient}});
    let cards = "/v1/products/gift-cards";
    market.owner.post(cards).json(input).key(&unique("card")).await.expect(201);
    mine(market.gateway.mailbox(&recipient).nth(1).await);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let mailbox = market.gateway.mailbox(&shopper.email);
    let at = json!({"subdomain": market.store.subdomain, "email": shopper.email});
    let client = market.gateway.client();
    let reset = client.post("/v1/storefront/customer/password/reset").json(at.clone());
    reset.await.expect(202);
    mailbox.nth(2).await;
    let token = mailbox.token().await;
    let input = json!({"token": token, "new_password": "kq7#vTzm-another"});
    client.post("/v1/storefront/customer/password/update").json(input).await.expect(200);
    mailbox.nth(3).await;
    client.post("/v1/storefront/customer/login/otp").json(at).await.expect(202);
    mailbox.nth(4).await;
    mailbox.mails().into_iter().for_each(mine);
    // The platform's own mails stay its own.
    let owner = market.gateway.mailbox(&market.merchant.email).nth(1).await;
    assert_eq!((owner.from, owner.reply_to), (from("Commerce"), None));
}

#[tokio::test]
async fn names_cannot_inject_mail_headers() {
    let market = Market::open().await;
    let path = format!("/v1/stores/{}", market.store.id);
    for evil in ["A\r\nBcc: all@example.com", "A\nB", "A\tB", "A\u{85}B", "A\0B"] {
        let input = json!({"notifications": {"sender_name": evil}});
        let rejected =
            market.owner.patch(&format!("{path}/settings")).json(input).await.expect(422);
        let at = "/notifications/sender_name".to_owned();
        assert_eq!(rejected.field_errors(), [(at, "invalid_characters".to_owned())], "{evil:?}");
        let rejected = market.owner.patch(&path).json(json!({"name": evil})).await.expect(422);
        let at = "/name".to_owned();
        assert_eq!(rejected.field_errors(), [(at, "invalid_characters".to_owned())], "{evil:?}");
        let input = json!({"contact": {"email": format!("{evil}@example.com")}});
        market.owner.patch(&path).json(input).await.expect(422);
    }
}

/// A gift card by mail.
async fn send(market: &Market, to: &str, message: &str) -> support::Reply {
    let input = json!({"initial_value": inr(500), "recipient": {"email": to, "message": message}});
    market.owner.post("/v1/products/gift-cards").json(input).key(&unique("card")).await
}

#[tokio::test]
async fn a_store_with_an_unverified_owner_sends_no_mail() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    let stranger = format!("{}@example.com", unique("stranger"));
    let name = json!({"notifications": {"sender_name": "PayPal Security"}});
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    market.owner.patch(&settings).json(name).await.expect(200);
    let before = market.gateway.count().await;
    send(&market, &stranger, "Hello").await.expect(403).problem("email_unverified");
    assert_eq!(market.gateway.count().await, before);
    // A card without a recipient is nobody's mail.
    let input = json!({"initial_value": inr(500)});
    market.owner.post("/v1/products/gift-cards").json(input).key(&unique("card")).await.expect(201);
    // The order is placed, and not announced.
    let mut input = cart(&[(&book, 1)]);
    input["email"] = json!(stranger);
    let order = market.order(input).await;
    market.act(&order.id, "mark-paid", json!({})).await.expect(200);
    market.act(&order.id, "fulfill", json!({"notify_customer": true})).await.expect(201);
    market.gateway.quiet().await;
    assert!(market.gateway.mailbox(&stranger).mails().is_empty());
    market.merchant.prove(&market.gateway).await;
    send(&market, &stranger, "Hello").await.expect(201);
    let mail = market.gateway.mailbox(&stranger).nth(1).await;
    assert_eq!(mail.from, from_shop("PayPal Security"));
}

#[tokio::test]
async fn gift_card_mails_are_limited_to_ten_a_day_per_recipient() {
    let market = Market::proven().await;
    market.gateway.app().clock.stop();
    let to = format!("{}@example.com", unique("friend"));
    for place in 1..=10 {
        // Another case is the same mailbox.
        let to = if place % 2 == 0 { to.to_uppercase() } else { to.clone() };
        send(&market, &to, "Hello").await.expect(201);
    }
    let before = market.gateway.count().await;
    let full = send(&market, &to, "Hello").await.expect(429).problem("mail_limit");
    assert_eq!(full.int("/limit"), 10);
    assert_eq!(market.gateway.count().await, before, "no card either");
    let wait: u64 = full.header("retry-after").unwrap().parse().unwrap();
    // Whoever else it is goes on, and so does tomorrow.
    send(&market, &format!("{}@example.com", unique("friend")), "Hello").await.expect(201);
    market.gateway.advance(std::time::Duration::from_secs(wait));
    let again = market.merchant.sign_in_again().await;
    let input = json!({"initial_value": inr(500), "recipient": {"email": to}});
    let again = again.at(&market.store).post("/v1/products/gift-cards").json(input);
    again.key(&unique("card")).await.expect(201);
}

#[tokio::test]
async fn gift_card_mails_are_limited_to_fifty_a_day_per_store() {
    let market = Market::proven().await;
    market.gateway.stop_within_a_day(MINUTE);
    for _ in 0..50 {
        let reply = send(&market, &format!("{}@example.com", unique("friend")), "Hello").await;
        reply.expect(201);
        // The budget of the merchant is another matter.
        market.gateway.advance(std::time::Duration::from_millis(200));
    }
    let full = send(&market, "one-more@example.com", "Hello").await.expect(429);
    assert_eq!(full.problem("mail_limit").int("/limit"), 50);
    let input = json!({"initial_value": inr(500)});
    market.owner.post("/v1/products/gift-cards").json(input).key(&unique("card")).await.expect(201);
}

/// Somebody asks for an account at a store with an address that may be anybody's.
async fn register(gateway: &Gateway, subdomain: &str, email: &str) {
    let input = json!({"subdomain": subdomain, "email": email, "password": support::PASSWORD});
    let path = "/v1/storefront/customer/register";
    gateway.client().post(path).json(input).await.expect(202);
}

#[tokio::test]
async fn a_store_with_an_unverified_owner_registers_no_customers() {
    let market = Market::open().await;
    let gateway = &market.gateway;
    let stranger = format!("{}@example.com", unique("stranger"));
    let input = json!({
        "subdomain": market.store.subdomain, "email": stranger, "password": support::PASSWORD,
    });
    let path = "/v1/storefront/customer/register";
    let before = gateway.count().await;
    let rejected = gateway.client().post(path).json(input).await;
    rejected.expect(403).problem("owner_unverified");
    assert_eq!(gateway.count().await, before);
    gateway.quiet().await;
    assert!(gateway.mailbox(&stranger).mails().is_empty());
    // Whoever proves their own address has customers.
    market.merchant.prove(gateway).await;
    let shopper = Shopper::register(gateway, &market.store).await;
    assert_eq!(gateway.mailbox(&shopper.email).mails().len(), 1);
}

#[tokio::test]
async fn a_recipient_is_mailed_ten_sign_up_codes_a_day_across_stores() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let stranger = format!("{}@example.com", unique("stranger"));
    for place in 0..12 {
        let merchant = Merchant::sign_up(&gateway).await;
        merchant.prove(&gateway).await;
        let shop = merchant.open_shop().await;
        // Another case is the same mailbox.
        let to = if place % 2 == 0 { stranger.to_uppercase() } else { stranger.clone() };
        register(&gateway, &shop.subdomain, &to).await;
    }
    gateway.quiet().await;
    let got = |to: &str| gateway.mailbox(to).mails().len();
    assert_eq!(got(&stranger), 10);
}

#[tokio::test]
async fn a_store_words_fifty_codes_a_day_to_strangers() {
    let market = Market::proven().await;
    market.gateway.stop_within_a_day(MINUTE);
    let text = json!({"subject": "Welcome", "body": "Hello\nCode: {{ code }}"});
    let path =
        format!("/v1/stores/{}/notifications/customer_registration_code/en", market.store.id);
    market.owner.put(&path).json(text).await.expect(200);
    let strangers: Vec<_> = (0..52).map(|_| format!("{}@example.com", unique("new"))).collect();
    for stranger in &strangers {
        register(&market.gateway, &market.store.subdomain, stranger).await;
    }
    let mut subjects = Vec::new();
    for stranger in &strangers {
        subjects.push(market.gateway.mailbox(stranger).nth(1).await.subject);
    }
    let count = |subject: &str| subjects.iter().filter(|one| *one == subject).count();
    // The others have a code as well, in the platform's text.
    assert_eq!([count("Welcome"), count("Confirm your new account")], [50, 2]);
    // Gift cards and orders have a day of their own.
    let friend = format!("{}@example.com", unique("friend"));
    send(&market, &friend, "Hello").await.expect(201);
}

#[tokio::test]
async fn a_sender_name_cannot_resemble_an_address() {
    let market = Market::proven().await;
    let path = format!("/v1/stores/{}", market.store.id);
    for evil in [
        "PayPal Security <security@paypal.com>",
        "security@paypal.com",
        "\"PayPal",
        "PayPal \u{ff20} Home",
        "PayPal\u{202e}",
        "Pay\u{200b}Pal",
    ] {
        let input = json!({"notifications": {"sender_name": evil}});
        let rejected =
            market.owner.patch(&format!("{path}/settings")).json(input).await.expect(422);
        let at = "/notifications/sender_name".to_owned();
        assert_eq!(rejected.field_errors(), [(at, "invalid_characters".to_owned())], "{evil:?}");
    }
    // The store's name stands in for it, without what would make it an address.
    let name = json!({"name": "PayPal <security@paypal.com>"});
    market.owner.patch(&path).json(name).await.expect(200);
    let to = format!("{}@example.com", unique("friend"));
    send(&market, &to, "Hello").await.expect(201);
    let mail = market.gateway.mailbox(&to).nth(1).await;
    assert_eq!(mail.from, from_shop("PayPal security paypal. com"));
}

#[tokio::test]
async fn merchant_texts_in_mails_contain_no_links() {
    let market = Market::proven().await;
    let name = json!({"name": "Shop www.evil.example"});
    market.owner.patch(&format!("/v1/stores/{}", market.store.id)).json(name).await.expect(200);
    let to = format!("{}@example.com", unique("friend"));
    let message = "Verify at https://evil.example/login\nor evil.example. It is 3.50. Bye.";
    send(&market, &to, message).await.expect(201);
    let mail = market.gateway.mailbox(&to).nth(1).await;
    assert!(!mail.text.contains("evil.example") && !mail.text.contains("https://"));
    assert!(mail.text.contains("It is 3.50. Bye."), "{}", mail.text);
}

/// A mail server that puts off so many mails, takes what comes after them, and hands it on.
async fn mail_server(mut put_off: usize) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let (taken, mails) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (read, mut write) = stream.into_split();
            let mut lines = BufReader::new(read).lines();
            let mut mail: Option<String> = None;
            let _ = write.write_all(b"220 mail.example ESMTP\r\n").await;
            while let Ok(Some(line)) = lines.next_line().await {
                let reply: &[u8] = match (&mut mail, line.as_str()) {
                    (Some(_), ".") if put_off > 0 => {
                        put_off -= 1;
                        mail = None;
                        b"451 later\r\n"
                    }
                    (Some(text), ".") => {
                        let _ = taken.send(std::mem::take(text));
                        mail = None;
                        b"250 taken\r\n"
                    }
                    (Some(text), line) => {
                        text.push_str(line);
                        text.push('\n');
                        continue;
                    }
                    (None, "DATA") => {
                        mail = Some(String::new());
                        b"354 go on\r\n"
                    }
                    (None, "QUIT") => b"221 bye\r\n",
                    (None, _) => b"250 mail.example\r\n",
                };
                let _ = write.write_all(reply).await;
            }
        }
    });
    tasks.detach_all();
    (url, mails)
}

#[tokio::test]
async fn deferred_mail_is_sent_through_the_configured_server() {
    let (url, mut mails) = mail_server(1).await;
    let gateway = Gateway::start_with(|options| {
        options.embedded.mail.directory = None;
        options.embedded.mail_server = Some(url);
    })
    .await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mut taken = None;
    for _ in 0..300 {
        taken = mails.try_recv().ok();
        if taken.is_some() {
            break;
        }
        // What was put off is due again in a while.
        gateway.advance(Duration::from_secs(30));
        gateway.sweep().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mail = taken.expect("a mail");
    assert!(mail.contains(&format!("To: {}", merchant.email)), "{mail}");
    assert!(mail.contains("From: Commerce <no-reply@example.com>"), "{mail}");
}
