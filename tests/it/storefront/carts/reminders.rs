//! Carts that customers leave: they are reminded once, if they accept marketing.

use std::time::Duration;

use support::{Market, Shopper, Value, address, eventually, json};

use super::{HEADER, Held, line};

const HOUR: Duration = Duration::from_hours(1);
const SOON: Duration = Duration::from_secs(40);
const PAGE: &str = "https://shop.example.com/cart/{cart_id}#{token}";

/// A store that reminds, and a customer who accepts marketing.
async fn shop() -> (Market, Shopper) {
    let market = Market::proven().await;
    market.verify("shop.example.com").await;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let page = json!({"notifications": {"cart_url": PAGE}});
    market.merchant.patch(&settings).json(page).await.expect(200);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    accept(&shopper, true).await;
    (market, shopper)
}

async fn accept(shopper: &Shopper, accepts: bool) {
    let input = json!({"accepts_marketing": accepts});
    shopper.patch("/v1/storefront/customer/me").json(input).await.expect(200);
}

/// The reminders that were mailed.
fn reminders(market: &Market, shopper: &Shopper) -> Vec<String> {
    let mails = market.gateway.mailbox(&shopper.email).mails();
    let about = |text: &String| text.contains("/cart/crt_");
    mails.into_iter().map(|mail| mail.text).filter(about).collect()
}

/// The sweep, until nothing that it began is on its way.
async fn sweep(market: &Market) {
    market.gateway.sweep().await;
    let is_due = |item: &Value| {
        let due = item["GSI3PK"].as_str().unwrap_or_default();
        let at = item["GSI3SK"].as_str().unwrap_or_default();
        due.starts_with("DUE#RUN") && at <= market.gateway.now().to_string().as_str()
    };
    let nothing = || async {
        let items = market.gateway.items("STO#").await;
        (!items.iter().any(is_due)).then_some(())
    };
    eventually(SOON, nothing).await;
    market.gateway.quiet().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_customer_is_reminded_once_of_a_cart_that_they_left() {
    let (market, shopper) = shop().await;
    let book = market.stock(1_000, 9).await;
    let cart = Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 2)]})).await;
    market.gateway.advance(HOUR / 2);
    cart.patch(json!({"note": "thinking"})).await.expect(200);
    market.gateway.advance(HOUR * 3 / 4);
    sweep(&market).await;
    assert!(market.gateway.events("cart.abandoned").await.is_empty(), "it is in use");
    market.gateway.advance(HOUR / 2);
    for _ in 0..3 {
        sweep(&market).await;
        market.gateway.advance(HOUR);
    }
    let told = market.gateway.events("cart.abandoned").await;
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&told[0]["data"]["id"], &told[0]["data"]["customer_id"]),
        (&json!(cart.id), &json!(shopper.id))
    );
    assert!(!told[0].to_string().contains(&shopper.email));
    let mails = reminders(&market, &shopper);
    assert_eq!(mails.len(), 1, "{mails:?}");
    // The link brings it back, without a session.
    let link = mails[0].split_whitespace().find(|word| word.contains("/cart/crt_")).unwrap();
    let (page, token) = link.split_once('#').unwrap();
    assert!(page.ends_with(&cart.id), "{link}");
    let visitor = market.gateway.client();
    let shown = visitor.get(&cart.path).header(HEADER, token).await.expect(200);
    assert_eq!(shown.int("/lines/0/quantity"), 2);
    // Once it was changed, it may be left again.
    let again = visitor.patch(&cart.path).header(HEADER, token);
    again.json(json!({"shipping_address": address()})).await.expect(200);
    market.gateway.advance(HOUR * 2);
    sweep(&market).await;
    assert_eq!(market.gateway.events("cart.abandoned").await.len(), 2);
    assert_eq!(reminders(&market, &shopper).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_reminded_who_does_not_accept_marketing() {
    let (market, shopper) = shop().await;
    let book = market.stock(1_000, 9).await;
    // A guest's cart with the address of somebody who accepts.
    let input =
        json!({"lines": [line(&book, 1)], "email": shopper.email, "accepts_marketing": true});
    Held::of_guest(&market, input).await;
    // A customer who has withdrawn.
    let cart = Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 2)]})).await;
    accept(&shopper, false).await;
    // An order.
    let other = Shopper::register(&market.gateway, &market.store).await;
    accept(&other, true).await;
    let input = json!({"lines": [line(&book, 1)], "shipping_address": address()});
    let ordered = Held::of_customer(&market, &other, input).await;
    ordered.check_out(json!({})).await.expect(201);
    market.gateway.advance(HOUR * 2);
    sweep(&market).await;
    sweep(&market).await;
    assert!(market.gateway.events("cart.abandoned").await.is_empty());
    assert!(reminders(&market, &shopper).is_empty() && reminders(&market, &other).is_empty());
    assert_eq!(cart.get().await.expect(200).int("/version"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_words_the_reminder_of_a_cart_itself() {
    let (market, shopper) = shop().await;
    let path = format!("/v1/stores/{}/notifications/cart_abandoned/en", market.store.id);
    let body = "{{ items }} things wait:\n{% for line in lines %}{{ line.quantity }} of {{ line.title }}\n\
        {% endfor %}{{ link }}";
    // Without its link a reminder brings nothing back.
    let without = json!({"subject": "Still there", "body": "Come back."});
    let rejected = market.owner.put(&path).json(without).await.expect(422);
    assert_eq!(rejected.field_errors()[0].0, "/body");
    let text = json!({"subject": "Still there", "body": body});
    market.owner.put(&path).json(text).await.expect(200);
    let book = market.stock(1_000, 9).await;
    Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 2)]})).await;
    market.gateway.advance(HOUR * 2);
    sweep(&market).await;
    let mails = reminders(&market, &shopper);
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0].contains("2 things wait:") && mails[0].contains("2 of "), "{mails:?}");
}
