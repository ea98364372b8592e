//! Mails to shoppers, in a store's own words.

use std::time::Duration;

use support::{Market, Shopper, Value, cart, inr, json, race, unique};

fn path(market: &Market, rest: &str) -> String {
    format!("/v1/stores/{}/notifications{rest}", market.store.id)
}

/// A market whose store reads French, and has a page of its orders.
async fn market() -> Market {
    let market = Market::proven().await;
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(json!({"locale": "fr"})).await.expect(200);
    market.verify("shop.example").await;
    let page = json!({"notifications": {
        "order_status_url": "https://shop.example/orders/{order_id}?token={token}",
    }});
    market.owner.patch(&format!("{store}/settings")).json(page).await.expect(200);
    market
}

async fn say(market: &Market, place: &str, subject: &str, body: &str) {
    let input = json!({"subject": subject, "body": body});
    market.owner.put(&path(market, place)).json(input).await.expect(200);
}

#[tokio::test]
async fn mails_use_the_stores_text_in_the_shoppers_language() {
    let market = market().await;
    let book = market.stock(1_000, 100).await;
    let body = "Merci {{ shop }}\n{% if outstanding %}\u{c0} payer: {{ outstanding }}\n{% else %}Pay\u{e9}\n{% endif %}{{ link }}";
    say(&market, "/order_placed/fr", "Commande {{ order_number }}", body).await;
    say(&market, "/order_placed/de", "Bestellung", "Summe: {{ total }}").await;
    let order = |locale: Option<&str>| {
        let (mut input, email) = (cart(&[(&book, 1)]), format!("{}@example.com", unique("reader")));
        input["email"] = json!(email);
        if let Some(locale) = locale {
            input["locale"] = json!(locale);
        }
        let market = &market;
        async move {
            let placed = market.order(input).await;
            let mail = market.gateway.mailbox(&email).nth(1).await;
            let shown = market.show(&placed.id).await;
            (shown.at("/locale").clone(), shown.str("/number"), mail)
        }
    };
    let (locale, _, mail) = order(Some("de-AT")).await;
    assert_eq!(locale, json!("de-AT"));
    assert_eq!((mail.subject.as_str(), mail.text.trim()), ("Bestellung", "Summe: 10,00 INR"));
    let (locale, number, mail) = order(None).await;
    assert_eq!((locale, mail.subject), (Value::Null, format!("Commande {number}")));
    let words = "\n\u{c0} payer: 10,00 INR\nhttps://shop.example/orders/ord_";
    assert!(mail.text.contains(words), "{}", mail.text);
    let (_, number, mail) = order(Some("en-IN")).await;
    assert_eq!(mail.subject, format!("Your order {number}"));
    assert!(mail.text.contains("\nSee your order:\nhttps://shop.example/"), "{}", mail.text);
    // What was removed is said in the words that are built in.
    market.owner.delete(&path(&market, "/order_placed/fr")).await.expect(200);
    let (_, number, mail) = order(Some("fr")).await;
    assert_eq!(mail.subject, format!("Votre commande {number}"));
    // A gift card comes in the store's language.
    say(&market, "/gift_card/fr", "Un cadeau", "{{ value }}\n{{ message }}\nCode: {{ code }}")
        .await;
    let email = format!("{}@example.com", unique("friend"));
    let card = json!({"initial_value": inr(500), "recipient": {"email": email, "message": "Go to evil.example"}});
    market.owner.post("/v1/products/gift-cards").key(&unique("c")).json(card).await.expect(201);
    let mail = market.gateway.mailbox(&email).nth(1).await;
    assert!(mail.text.starts_with("5,00 INR\n    Go to evil. example\nCode: "), "{}", mail.text);
    // One that is sent later comes in the words that the store has then.
    let email = format!("{}@example.com", unique("friend"));
    let at = market.gateway.now().plus(Duration::from_hours(2));
    let card = json!({"initial_value": inr(500), "recipient": {"email": email, "send_at": at}});
    market.owner.post("/v1/products/gift-cards").key(&unique("c")).json(card).await.expect(201);
    say(&market, "/gift_card/fr", "Une autre carte", "Code: {{ code }}").await;
    market.gateway.advance(Duration::from_hours(2));
    market.gateway.sweep().await;
    assert_eq!(market.gateway.mailbox(&email).nth(1).await.subject, "Une autre carte");
}

#[tokio::test]
async fn a_merchant_manages_notification_texts() {
    let market = market().await;
    let owner = &market.owner;
    let one = path(&market, "/order_shipped/pt-BR");
    owner.get(&one).await.expect(404);
    let input = json!({"subject": "A caminho", "body": "{{ tracking_url }}"});
    let made = owner.put(&one).json(input.clone()).await.expect(200);
    assert_eq!((made.str("/id").as_str(), made.int("/version")), ("order_shipped.pt-br", 1));
    assert_eq!((made.str("/locale").as_str(), made.etag()), ("pt-BR", "\"1\"".to_owned()));
    let again = json!({"subject": "Saiu", "body": "{{ tracking_url }}"});
    let stale = owner.put(&one).header("if-match", "\"2\"").json(again.clone()).await;
    stale.expect(412).problem("precondition_failed");
    let changed = owner.put(&one).header("if-match", "\"1\"").json(again).await.expect(200);
    assert_eq!((changed.str("/subject").as_str(), changed.int("/version")), ("Saiu", 2));
    say(&market, "/order_placed/fr", "Commande", "Merci").await;
    let all = owner.get(&path(&market, "")).await.expect(200);
    let ids: Vec<_> = all.data().iter().map(|text| text["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["order_placed.fr", "order_shipped.pt-br"]);
    assert_eq!(
        owner.get(&path(&market, "/order_shipped/PT-br")).await.expect(200).json,
        changed.json
    );
    owner.delete(&one).await.expect(200);
    owner.delete(&one).await.expect(404);
    market.gateway.quiet().await;
    assert_eq!(market.gateway.events("notification_text.updated").await.len(), 3);
    assert_eq!(market.gateway.events("notification_text.deleted").await.len(), 1);
    owner.put(&path(&market, "/account_closed/fr")).json(input.clone()).await.expect(404);
    owner.put(&path(&market, "/order_placed/french")).json(input).await.expect(404);
}

#[tokio::test]
async fn a_notification_preview_renders_and_writes_nothing() {
    let market = market().await;
    let owner = &market.owner;
    let preview = path(&market, "/order_cancelled/preview");
    let built_in = owner.post(&preview).json(json!({})).await.expect(200);
    assert_eq!(built_in.str("/rendered/subject"), "Votre commande #1001 a été annulée");
    assert!(built_in.str("/wording/body").contains("{% if reason %}"));
    assert_eq!(built_in.str("/placeholders/0/name"), "shop");
    say(&market, "/order_cancelled/fr", "Annul\u{e9}e", "{{ reason }}").await;
    assert_eq!(owner.post(&preview).json(json!({})).await.str("/rendered/subject"), "Annul\u{e9}e");
    let english = json!({"locale": "en"});
    let english = owner.post(&preview).json(english).await.expect(200);
    assert_eq!(english.str("/rendered/subject"), "Your order #1001 was cancelled");
    let before = market.gateway.count().await;
    let given = json!({"body": "Parce que: {{ reason }}"});
    let given = owner.post(&preview).json(given).await.expect(200);
    assert_eq!(given.str("/rendered/text"), "Parce que: Out of stock\n");
    assert_eq!(market.gateway.count().await, before);
    let broken = json!({"subject": "{{ nothing }}", "body": "https://evil.example"});
    let broken = owner.post(&preview).json(broken).await.expect(422);
    let expected = [("/subject", "unknown_placeholder"), ("/body", "link_not_allowed")];
    let mut found = broken.field_errors();
    found.reverse();
    found.sort_by_key(|(at, _)| at != "/subject");
    assert_eq!(found, expected.map(|(at, code)| (at.to_owned(), code.to_owned())));
    let useless = json!({"subject": "Pay", "body": "Now"});
    let useless =
        owner.put(&path(&market, "/payment_requested/fr")).json(useless).await.expect(422);
    assert_eq!(useless.field_errors()[0].1, "placeholder_required");
}

#[tokio::test]
async fn a_notification_has_at_most_20_languages_under_parallel_requests() {
    let market = market().await;
    let turn = std::sync::atomic::AtomicU8::new(0);
    let answers = race(26, || {
        let letter = b'a' + turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let place = format!("/order_placed/x{}", char::from(letter));
        let input = json!({"subject": "S", "body": "B"});
        market.owner.put(&path(&market, &place)).json(input).into_future()
    })
    .await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    let rejected = answers.into_iter().filter(|answer| answer.status != 200);
    for answer in rejected {
        assert!(answer.status == 503 || answer.text.contains("language_limit"), "{answer:?}");
    }
    assert!(done <= 20, "{done}");
    let all = market.owner.get(&format!("{}?limit=100", path(&market, ""))).await.expect(200);
    assert_eq!(all.data().len(), done);
}

#[tokio::test]
async fn built_in_texts_are_in_the_readers_language_then_the_stores() {
    let market = Market::proven().await;
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(json!({"locale": "de-AT"})).await.expect(200);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let named = json!({"subdomain": market.store.subdomain, "email": shopper.email});
    market.gateway.advance(Duration::from_mins(1));
    shopper.stranger().post("/v1/storefront/customer/login/otp").json(named).await.expect(202);
    let mail = market.gateway.mailbox(&shopper.email).nth(2).await;
    assert_eq!(mail.subject, "Ihr Anmeldecode");
    assert!(mail.text.contains("\nCode: ") && mail.text.contains("10 Minuten"), "{}", mail.text);
    assert!(mail.html.unwrap().contains("<html lang=\"de\">"));
    let book = market.stock(1_000, 100).await;
    for (reader, subject, total, language) in [
        (None, "Ihre Bestellung", "Summe: 10,00 INR", "de"),
        (Some("it"), "Ihre Bestellung", "Summe: 10,00 INR", "de"),
        (Some("en-GB"), "Your order", "Total: 10.00 INR", "en"),
        // Its subject is encoded.
        (Some("ja"), "", "合計: 10.00 INR", "ja"),
    ] {
        let (mut input, email) = (cart(&[(&book, 1)]), format!("{}@example.com", unique("reader")));
        input["email"] = json!(email);
        if let Some(reader) = reader {
            input["locale"] = json!(reader);
        }
        let placed = market.order(input).await;
        let number = market.show(&placed.id).await.str("/number");
        let mail = market.gateway.mailbox(&email).nth(1).await;
        assert!(mail.subject.starts_with(subject), "{reader:?}: {}", mail.subject);
        assert!(mail.subject.ends_with(&number), "{reader:?}: {}", mail.subject);
        assert!(mail.text.lines().any(|line| line == total), "{}", mail.text);
        let lang = format!("<html lang=\"{language}\">");
        assert!(mail.html.unwrap().contains(&lang), "{reader:?}");
    }
}
