//! Accounts of customers.

use support::{PASSWORD, Shopper, json};

use super::shop;

#[tokio::test]
async fn a_customer_signs_in_and_takes_the_cart_along() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let variant = market.stock(1000, 9).await;
    browser.add(&variant, 1).await;
    browser.open("/account").await.expect(200).shows("Sign in");
    let wrong = [("email", &*shopper.email), ("password", "not the password")];
    browser.submit("/account/login", &wrong).await.expect(422).shows("Incorrect email or password");
    let right = [("customer[email]", &*shopper.email), ("customer[password]", PASSWORD)];
    let page = browser.submit("/account/login", &right).await.expect(200);
    page.shows(&shopper.email).shows("There are no orders yet");
    // The cart is the customer's by now, and is opened by the session alone.
    assert!(!browser.cookies["shop_cart"].contains('.'));
    let cart = browser.cart().await;
    assert_eq!(cart["item_count"], 1);
    let path = browser.order().await;
    let number = market.show(path.trim_start_matches("/orders/")).await.expect(200).str("/number");
    browser.open("/account").await.expect(200).shows(&number);
    browser.cookies.remove("shop_order");
    browser.open(&path).await.expect(200);
    browser.submit("/account/logout", &[]).await;
    assert!(!browser.cookies.contains_key("shop_session"));
    browser.open(&path).await.expect(404);
}

#[tokio::test]
async fn a_mailed_code_signs_in_and_registers() {
    let market = support::Market::open_with(|options| options.shop_port = Some(0)).await;
    market.merchant.prove(&market.gateway).await;
    let mut browser = market.browser();
    let email = format!("{}@example.com", support::unique("fresh"));
    let fields =
        [("email", &*email), ("password", PASSWORD), ("first_name", "Ada"), ("last_name", "King")];
    let page =
        browser.submit("/account/register", &fields).await.expect(200).shows("Enter the code");
    let challenge = page.input("challenge_id");
    let wrong = [("challenge_id", &*challenge), ("code", "000000")];
    browser.submit("/account/login/verify", &wrong).await.expect(422).shows("not right");
    let code = market.gateway.mailbox(&email).code().await;
    let right = [("challenge_id", &*challenge), ("code", &*code)];
    browser.submit("/account/login/verify", &right).await.expect(200).shows("Hello Ada King");
    let weak = [("email", "a@example.com"), ("password", "short")];
    market.browser().submit("/account/register", &weak).await.expect(422).shows("8 characters");
}

#[tokio::test]
async fn a_mailed_code_signs_a_customer_in_who_ordered_as_a_guest() {
    let market = support::Market::open_with(|options| options.shop_port = Some(0)).await;
    market.merchant.prove(&market.gateway).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let book = market.stock(1000, 9).await;
    let mut cart = support::cart(&[(&book, 1)]);
    cart["email"] = json!(shopper.email);
    market.order(cart).await;
    let mut browser = market.browser();
    market.gateway.quiet().await;
    let before = market.gateway.mailbox(&shopper.email).mails().len();
    let page = browser.submit("/account/login/code", &[("email", &*shopper.email)]).await;
    let challenge = page.expect(200).input("challenge_id");
    let mail = market.gateway.mailbox(&shopper.email).nth(before + 1).await;
    let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: "));
    let code = code.expect("a code").trim().to_owned();
    let right = [("challenge_id", &*challenge), ("code", &*code)];
    browser.submit("/account/login/verify", &right).await.expect(200).shows(&shopper.email);
    browser.open("/account").await.expect(200).shows("Hello");
}

#[tokio::test]
async fn addresses_are_kept() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right =
        [("email", &*shopper.email), ("password", PASSWORD), ("return_to", "/account/addresses")];
    browser.submit("/account/login", &right).await.expect(200).shows("Add an address");
    let page = browser.submit("/account/addresses", &support::ADDRESS_FIELDS).await.expect(200);
    let page = page.shows("12 MG Road");
    let id = page
        .text
        .split("/account/addresses/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let wrong = [("ship[line1]", "1 Main"), ("ship[country]", "IN"), ("ship[postal_code]", "ABC")];
    browser.submit("/account/addresses", &wrong).await.expect(422).shows("ship-postal_code-error");
    let path = format!("/account/addresses/{id}");
    browser.submit(&path, &[("act", "delete")]).await.expect(200).lacks("12 MG Road");
}

#[tokio::test]
async fn an_ended_session_leads_to_the_sign_in() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right =
        [("email", &*shopper.email), ("password", PASSWORD), ("return_to", "//evil.example")];
    let page = browser.submit("/account/login", &right).await.expect(200);
    assert_eq!(page.path, "/account");
    let everywhere = json!({"all": true});
    shopper.post("/v1/storefront/customer/logout").json(everywhere).await.expect(204);
    browser.open("/account/addresses").await.expect(200).shows("Sign in");
    assert!(!browser.cookies.contains_key("shop_session"));
}
