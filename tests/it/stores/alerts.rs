//! The mails that tell a store's owner of something new.

use support::{Market, Shopper, cart, json};

async fn wants_alerts(market: &Market) {
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let input = json!({"notifications": {"owner_alerts": true}});
    market.owner.patch(&settings).json(input).await.expect(200);
}

#[tokio::test]
async fn the_owner_is_told_of_new_orders() {
    let market = Market::proven().await;
    let owner = market.gateway.mailbox(&market.merchant.email);
    let book = market.stock(1_000, 10).await;
    market.order(cart(&[(&book, 1)])).await;
    market.gateway.quiet().await;
    // By default a store does not want it.
    let before = owner.mails().len();
    assert!(owner.mails().iter().all(|mail| !mail.subject.contains("New order")));
    wants_alerts(&market).await;
    let mut input = cart(&[(&book, 2)]);
    input["note"] = json!("Ring twice\nSee https://evil.example/now");
    let placed = market.order(input).await;
    let mail = owner.nth(before + 1).await;
    let number = market.show(&placed.id).await.str("/number");
    assert_eq!(mail.subject, format!("New order {number}: 20.00 INR"));
    for shown in [
        "    2 x ",
        "Total: 20.00 INR\n",
        "Payment: 20.00 INR is left to pay\n",
        "Customer: shopper@example.com\n",
        "Ship to:\n\n    ",
        "Note:\n\n    Ring twice\n    See https: //evil. example/now\n",
        &placed.id,
    ] {
        assert!(mail.text.contains(shown), "{shown}: {}", mail.text);
    }
    // The shopper has theirs as well, and nothing more comes of it.
    market.gateway.mailbox("shopper@example.com").nth(2).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.gateway.quiet().await;
    assert_eq!(owner.mails().len(), before + 1);
    // It does not depend on the shopper's mail.
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let input = json!({"notifications": {"order_confirmation": false}});
    market.owner.patch(&settings).json(input).await.expect(200);
    market.order(cart(&[(&book, 1)])).await;
    assert!(owner.nth(before + 2).await.subject.starts_with("New order"));
    assert_eq!(market.gateway.mailbox("shopper@example.com").mails().len(), 2);
}

#[tokio::test]
async fn the_owner_is_told_of_messages_and_requests_for_data() {
    let market = Market::proven().await;
    wants_alerts(&market).await;
    market.gateway.quiet().await;
    let owner = market.gateway.mailbox(&market.merchant.email);
    let before = owner.mails().len();
    let visitor = market.gateway.client();
    let path = format!("/v1/storefront/{}/forms/contact", market.store.subdomain);
    let bot = json!({"fields": {"message": "Buy!", "_gotcha": "x"}});
    visitor.post(&path).json(bot).await.expect(202);
    let input =
        json!({"fields": {"email": "ada@example.com", "message": "Is it blue?\nwww.evil.example"}});
    let sent = visitor.post(&path).json(input).await.expect(202);
    let news = format!("/v1/storefront/{}/forms/newsletter", market.store.subdomain);
    let sign_up = json!({"fields": {"email": "ada@example.com"}});
    visitor.post(&news).json(sign_up).await.expect(202);
    let mail = owner.nth(before + 1).await;
    assert!(mail.text.contains(&sent.str("/id")), "{}", mail.text);
    assert_eq!(mail.subject, "New message: contact");
    assert!(
        mail.text.contains(
            "email:\n\n    ada@example.com\n\nmessage:\n\n    Is it blue?\n    www. evil. example\n"
        ),
        "{}",
        mail.text
    );
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let path = "/v1/storefront/customer/me/data-request";
    let asked = shopper.post(path).json(json!({})).await.expect(202);
    // A second request is the same one.
    shopper.post(path).json(json!({})).await.expect(202);
    let mail = owner.nth(before + 2).await;
    assert_eq!(mail.subject, "A customer requests their data");
    assert!(mail.text.contains(&asked.str("/export_id")), "{}", mail.text);
    market.gateway.quiet().await;
    assert_eq!(owner.mails().len(), before + 2);
}

#[tokio::test]
async fn an_unproven_address_is_told_nothing() {
    let market = Market::open().await;
    wants_alerts(&market).await;
    let owner = market.gateway.mailbox(&market.merchant.email);
    let before = owner.mails().len();
    let book = market.stock(1_000, 10).await;
    market.order(cart(&[(&book, 1)])).await;
    market.gateway.quiet().await;
    assert_eq!(owner.mails().len(), before);
}

#[tokio::test]
async fn many_messages_hold_back_no_alert_about_an_order() {
    let market = Market::proven().await;
    wants_alerts(&market).await;
    let owner = market.gateway.mailbox(&market.merchant.email);
    let path = format!("/v1/storefront/{}/forms/contact", market.store.subdomain);
    let message = json!({"fields": {"message": "Hello"}});
    for _ in 0..52 {
        let visitor = market.gateway.client().elsewhere();
        visitor.post(&path).json(message.clone()).await.expect(202);
    }
    market.gateway.quiet().await;
    let about =
        |what: &str| owner.mails().iter().filter(|mail| mail.subject.contains(what)).count();
    assert_eq!(about("New message"), 50);
    let book = market.stock(1_000, 10).await;
    market.order(cart(&[(&book, 1)])).await;
    market.gateway.quiet().await;
    assert_eq!(about("New order"), 1);
}
