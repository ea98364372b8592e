//! The checkout, by forms alone.

mod faults;
pub mod payments;

use std::sync::atomic::{AtomicUsize, Ordering};

use support::{ADDRESS_FIELDS, Market, PASSWORD, Review, Shopper, inr, json, race, with_address};

use super::{shop, shop_with_cart};

/// Rates for India, and a discount.
pub async fn with_rates(market: &Market) {
    let store = format!("/v1/stores/{}", market.store.id);
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [
            {"name": "Express", "kind": "flat", "price": inr(29_900)},
            {"name": "Standard", "kind": "flat", "price": inr(9900)},
        ],
    });
    market.owner.post(&format!("{store}/shipping-zones")).json(zone).await.expect(201);
    super::a_tenth_off(market).await;
}

#[tokio::test]
async fn a_guest_orders_without_a_script() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 2).await;
    let page = browser.open("/checkout").await.expect(200).shows("1,000.00").lacks("Standard");
    assert!(page.text.contains("Shipping rates are shown once there is an address"));
    let review = Review::of(&mut browser).await.without("cart");
    // The cheapest rate is chosen.
    let page = review.page.clone().shows("Express").shows("Standard").shows("1,099.00");
    assert_eq!(page.input("total"), "109900");
    let code = review.with("code", "TENTH").with("act", "apply");
    let coded = code.place(&mut browser).await.expect(200).shows("TENTH").shows("999.00");
    let coded = coded.shows("Discount: A tenth");
    // A total of before is not charged.
    let old = review.place(&mut browser).await.expect(422).shows("The total has changed");
    assert_ne!(old.input("key"), page.input("key"));
    let review = review.renewed(coded).with("note", "Ring twice");
    let done = review.place(&mut browser).await.expect(200);
    let done = done.shows("Your order is placed").shows("999.00");
    let order = market.show(&done.order()).await.expect(200);
    assert_eq!(order.at("/totals/total/amount"), 99_900);
    assert_eq!(order.str("/shipping_address/city"), "Bengaluru");
    assert_eq!(order.str("/note"), "Ring twice");
    // A second press of the button, and the back button, lead to the same order.
    let again = review.place(&mut browser).await.expect(200);
    assert_eq!(again.path, done.path);
}

#[tokio::test]
async fn a_checkout_has_the_language_and_the_color_of_its_store() {
    let (market, mut browser, _) = shop_with_cart().await;
    with_rates(&market).await;
    let plain = browser.open("/checkout").await.expect(200).shows("href=\"/checkout/style.css\"");
    plain.shows("<html lang=\"en\">");
    let change = json!({"locale": "de-AT", "branding": {"primary_color": "#FFDD00"}});
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(change).await.expect(200);
    market.gateway.advance(support::clock::STORE_CACHE);
    let page = browser.open("/checkout").await.expect(200);
    let page = page.shows("<html lang=\"de\">").shows("Kasse").shows("zahlungspflichtig bestellen");
    let page = page.lacks("Checkout<").lacks("Order and pay");
    let style = page.quoted_after("href=\"/checkout/style.css?v=");
    let style = format!("/checkout/style.css?v={style}");
    // Black is read on yellow, and yellow is not read on white.
    browser.fetch(&style).await.expect(200).shows("--fill:#ffdd00;--on-fill:#000000;");
    browser.open("/account/login").await.expect(200).shows("Anmelden").lacks("lang=\"en\"");
    let wrong = with_address(&[("email", "nobody"), ("act", "place")]);
    let page = browser.submit("/checkout", &wrong).await.expect(422);
    page.shows("Bitte geben Sie eine E-Mail-Adresse an").lacks("Please");
    let path = browser.order().await;
    let page = browser.open(&path).await.expect(200).shows("Ihre Bestellung ist eingegangen");
    page.shows("Noch zu zahlen").lacks("Deliver");
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_nothing_is_lost() {
    let (market, mut browser, _) = shop_with_cart().await;
    let mut wrong =
        with_address(&[("email", "not an address"), ("note", "Ring twice"), ("act", "place")]);
    wrong.retain(|(name, _)| *name != "ship[postal_code]");
    wrong.push(("ship[postal_code]", "ABC"));
    let page = browser.submit("/checkout", &wrong).await.expect(422);
    let page = page.shows("id=\"email-error\"").shows("id=\"ship-postal_code-error\"");
    page.shows("not an address")
        .shows("value=\"ABC\"")
        .shows("value=\"12 MG Road\"")
        .shows("Ring twice");
    assert_eq!(market.owner.get("/v1/orders").await.expect(200).data().len(), 0);
}

#[tokio::test]
async fn codes_are_discounts_or_gift_cards() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    let (_, card) = market.gift_card(10_000).await;
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 1).await;
    let page =
        browser.submit("/checkout", &[("code", "NOTHING"), ("act", "apply")]).await.expect(422);
    page.shows("neither a discount code nor a gift card");
    browser
        .submit("/checkout", &[("code", "TENTH"), ("act", "apply")])
        .await
        .expect(200)
        .shows("450.00");
    let page = browser.submit("/checkout", &[("code", &card), ("act", "apply")]).await.expect(200);
    let page = page.shows("Gift card …").shows("350.00");
    // The code of a gift card is on no page.
    let page = page.lacks(&card);
    let remove = format!("card:{}", page.quoted_after("value=\"card:"));
    // It pays for its part of an order.
    let mut other = market.browser();
    other.add(&variant, 1).await;
    other.submit("/checkout", &[("code", &card), ("act", "apply")]).await.expect(200);
    let path = other.order().await;
    other.open(&path).await.expect(200).shows("Gift cards");
    // The steps of a checkout are more than a network's burst.
    market.gateway.advance(std::time::Duration::from_secs(30));
    browser.submit("/checkout", &[("act", &remove)]).await.expect(200).lacks("Gift card …");
    browser.submit("/checkout", &[("act", "code:TENTH")]).await.expect(200).lacks("TENTH");
}

#[tokio::test]
async fn an_order_is_shown_to_its_shopper_alone() {
    let (market, mut browser, _) = shop_with_cart().await;
    let path = browser.order().await;
    let token = browser.cookies["shop_order"].split('.').nth(1).unwrap().to_owned();
    let mut other = market.browser();
    other.open(&path).await.expect(404).shows("not shown here");
    other.open(&format!("{path}/pay")).await.expect(404);
    // The link of a mail opens it, and leaves no token in the address.
    let shown = other.open(&format!("{path}?token={token}")).await.expect(200);
    assert_eq!(shown.path, path);
    shown.shows("Cancel the order");
    other.open(&path).await.expect(200).shows("Do you want to cancel this order?");
    let done = other.submit(&format!("{path}/cancel"), &[]).await.expect(200);
    done.shows("This order was cancelled").lacks("Cancel the order");
    let again = other.submit(&format!("{path}/cancel"), &[]).await;
    again.lacks("resource");
}

#[tokio::test]
async fn two_tabs_place_one_order() {
    let (market, mut browser, variant) = shop_with_cart().await;
    let review = Review::of(&mut browser).await.without("cart");
    market.gateway.advance(std::time::Duration::from_secs(30));
    let turn = AtomicUsize::new(0);
    // Each tab has a key, and each button is pressed three times.
    let press = || {
        let even = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let key = if even { "a-key-of-the-first-tab" } else { "a-key-of-the-second-tab" };
        let (mut tab, review) = (browser.clone(), review.with("key", key));
        async move { review.place(&mut tab).await }
    };
    let shown = race(6, press).await;
    let orders = market.owner.get("/v1/orders").await.expect(200);
    assert_eq!(orders.data().len(), 1, "{}", orders.text);
    for shown in shown {
        assert!(shown.path.starts_with("/orders/") || shown.status == 422, "{shown:?}");
    }
    market.audit(&variant).await;
}

#[tokio::test]
async fn a_country_is_chosen_before_the_rest_of_an_address() {
    let (_market, mut browser, _) = shop_with_cart().await;
    // What the script sends when a country is the first thing that is chosen.
    let first = [
        ("act", "to:delivery"),
        ("email", "ann@example.com"),
        ("ship[country]", "GB"),
        ("bill_choice", "same"),
        ("note", "Ring twice"),
    ];
    let page = browser.submit("/checkout", &first).await.expect(200);
    let page = page.shows("<option value=\"GB\" selected>").shows("Postcode");
    page.shows("ann@example.com").shows("Ring twice").lacks("class=\"error\"");
    // Half an address, with a code: what is typed stays, and nothing is red yet.
    let half = [
        ("act", "to:delivery"),
        ("email", "ann@example.com"),
        ("ship[country]", "US"),
        ("ship[line1]", "1 Main Street"),
        ("bill_choice", "other"),
        ("bill[country]", "CA"),
    ];
    let page = browser.submit("/checkout", &half).await.expect(200);
    let page = page.shows("<option value=\"US\" selected>").shows("ZIP code");
    let page = page.shows("value=\"1 Main Street\"").shows("<option value=\"CA\" selected>");
    page.lacks("class=\"error\"").lacks("aria-invalid");
    // Who goes on to the shipping is told what lacks.
    let mut on = half;
    on[0] = ("act", "to:shipping");
    browser.submit("/checkout", &on).await.expect(422).shows("ship-city-error");
}

#[tokio::test]
async fn enter_in_the_field_of_a_code_applies_it() {
    let (market, mut browser, _) = shop_with_cart().await;
    with_rates(&market).await;
    let page = browser.open("/checkout").await.expect(200);
    // Enter presses the first button of the form.
    let first = page.text.split("<button").nth(1).unwrap();
    let act = first.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
    let enter = [("act", act), ("email", "ann@example.com"), ("code", "TENTH")];
    browser.submit("/checkout", &enter).await.expect(200).shows("450.00");
}

#[tokio::test]
async fn a_browser_keeps_its_last_orders_and_finds_the_unpaid_one() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.open("/cart").await.expect(200).lacks("is not paid yet");
    let mut paths = Vec::new();
    for _ in 0..2 {
        browser.add(&variant, 1).await;
        paths.push(browser.order().await);
        market.gateway.advance(std::time::Duration::from_secs(30));
    }
    for path in &paths {
        browser.open(path).await.expect(200);
    }
    // A token that does not open the order replaces none that does.
    browser.open(&format!("{}?token=garbage", paths[0])).await.expect(200);
    browser.open(&paths[1]).await.expect(200);
    market.gateway.advance(std::time::Duration::from_secs(30));
    for page in ["/cart", "/checkout"] {
        let page = browser.open(page).await.expect(200).shows("is not paid yet");
        page.shows(&format!("href=\"{}\"", paths[1]));
    }
    let mut other = market.browser();
    other.open(&format!("{}?token=garbage", paths[0])).await.expect(404);
    assert!(!other.cookies.contains_key("shop_order"));
    // Whoever signs out leaves nothing of an order to the next one at this browser.
    browser.submit("/account/logout", &[]).await;
    for path in &paths {
        browser.open(path).await.expect(404);
    }
}

#[tokio::test]
async fn a_store_without_guests_asks_to_sign_in_and_leads_back() {
    let (market, mut browser) = shop().await;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let change = json!({"checkout": {"guest_checkout": false}});
    market.owner.patch(&settings).json(change).await.expect(200);
    market.gateway.advance(support::clock::STORE_CACHE);
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 1).await;
    let page = browser.open("/checkout").await.expect(200);
    assert_eq!(page.path, "/account/login?return_to=/checkout");
    // Also whoever had the page open before.
    let last =
        [("email", "ann@example.com"), ("key", "a-key"), ("payment", "manual"), ("act", "place")];
    let page = browser.submit("/checkout", &with_address(&last)).await.expect(200);
    assert_eq!(page.path, "/account/login?return_to=/checkout");
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD), ("return_to", "/checkout")];
    let page = browser.submit("/account/login", &right).await.expect(200);
    assert_eq!(page.path, "/checkout");
    page.shows("You are signed in.").shows("500.00");
}

#[tokio::test]
async fn a_customers_saved_address_fills_the_checkout() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD)];
    browser.submit("/account/login", &right).await.expect(200);
    browser.submit("/account/addresses", &ADDRESS_FIELDS).await.expect(200);
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 1).await;
    let page = browser.open("/checkout").await.expect(200).shows(&shopper.email);
    let page = page.shows("Deliver to a saved address");
    let act = format!("use:{}", page.quoted_after("value=\"use:"));
    let page = browser.submit("/checkout", &[("act", &act), ("bill_choice", "same")]).await;
    page.expect(200).shows("value=\"12 MG Road\"").lacks("class=\"error\"");
}
