//! What customers change of their own account.

use std::time::Duration;

use reqwest::Method;
use support::{Browser, Market, PASSWORD, Shopper, json, unique};

use super::shop;

const PAGE: &str = "/account/profile";

async fn signed_in() -> (Market, Browser, Shopper) {
    let (market, mut browser) = shop().await;
    market.merchant.prove(&market.gateway).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD)];
    browser.submit("/account/login", &right).await.expect(200).shows("Your details");
    (market, browser, shopper)
}

/// The code in the last of so many mails to an address.
async fn code(market: &Market, email: &str, mails: usize) -> String {
    let text = market.gateway.mailbox(email).nth(mails).await.text;
    let code = text.lines().find_map(|line| line.strip_prefix("Code: "));
    code.unwrap_or_else(|| panic!("{text}")).trim().to_owned()
}

#[tokio::test]
async fn a_customer_changes_name_phone_and_news() {
    let (market, mut browser, shopper) = signed_in().await;
    let page = browser.open(PAGE).await.expect(200).shows(&shopper.email);
    assert_eq!(page.input("act"), "details");
    let details = [
        ("act", "details"),
        ("name", "Ada King"),
        ("phone", "+91 98765 43210"),
        ("accepts_marketing", "yes"),
    ];
    let page = browser.submit(PAGE, &details).await.expect(200).shows("Your details are saved.");
    page.shows("value=\"Ada King\"").shows("value=\"+91 98765 43210\"");
    browser.open("/account").await.expect(200).shows("Hello Ada King");
    let path = format!("/v1/customers/{}", shopper.id);
    let stored = market.owner.get(&path).await.expect(200);
    assert_eq!(stored.str("/name"), "Ada King");
    assert_eq!(*stored.at("/accepts_marketing"), json!(true));
    // What is rejected stays in the form, and nothing of it is saved.
    let wrong = [("act", "details"), ("name", "Somebody <else>"), ("phone", "none")];
    let page = browser.submit(PAGE, &wrong).await.expect(422);
    page.shows("Please enter a telephone number.").shows("Somebody &lt;else&gt;");
    assert_eq!(market.owner.get(&path).await.expect(200).str("/name"), "Ada King");
    browser.submit(PAGE, &[("act", "details")]).await.expect(200);
    let stored = market.owner.get(&path).await.expect(200);
    assert_eq!((stored.at("/name"), stored.at("/phone")), (&json!(null), &json!(null)));
    assert_eq!(*stored.at("/accepts_marketing"), json!(false));
    // A link of another site says nothing.
    let told = "/account/profile?done=password";
    for (site, is_said) in [("same-origin", true), ("cross-site", false)] {
        let link = browser.request(Method::GET, told);
        let link = link.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
        let page = browser.send(link.header("sec-fetch-site", site), told).await.expect(200);
        assert_eq!(page.text.contains("Your new password is set."), is_said, "{site}");
    }
}

#[tokio::test]
async fn a_customer_changes_the_address_by_password_and_code() {
    let (market, mut browser, shopper) = signed_in().await;
    let email = format!("{}@example.com", unique("moved"));
    let change = |password| [("act", "email"), ("email", &*email), ("password", password)];
    let page = browser.submit(PAGE, &change("not the password")).await.expect(422);
    page.shows("This password is not right").shows(&format!("value=\"{email}\""));
    let page = browser.submit(PAGE, &change(PASSWORD)).await.expect(200);
    let page = page.shows("Enter the code that was mailed").shows(&email);
    let page = page.shows("name=\"act\" value=\"confirm\"");
    let challenge = page.input("challenge_id");
    let sent = code(&market, &email, 1).await;
    let with = |code| {
        [("act", "confirm"), ("email", &*email), ("challenge_id", &*challenge), ("code", code)]
    };
    let page = browser.submit(PAGE, &with("000000")).await.expect(422);
    let page = page.shows("This code is not right");
    assert_eq!(page.input("challenge_id"), challenge);
    let other = shopper.log_in_again(&market.store).await;
    let right = with(&sent);
    let page = browser.submit(PAGE, &right).await.expect(200);
    page.shows("Your e-mail address was changed.").shows(&email);
    let path = format!("/v1/customers/{}", shopper.id);
    assert_eq!(market.owner.get(&path).await.expect(200).str("/email"), email);
    browser.open("/account").await.expect(200).shows(&email);
    // All other sessions have ended.
    other.get("/v1/storefront/customer/me").await.expect(401);
}

#[tokio::test]
async fn a_customer_changes_the_password() {
    let (market, mut browser, shopper) = signed_in().await;
    let change = |old, new| [("act", "password"), ("password", old), ("new_password", new)];
    let page = browser.submit(PAGE, &change("wrong", "a lamp that is blue")).await.expect(422);
    page.shows("This password is not right");
    let page = browser.submit(PAGE, &change(PASSWORD, "short")).await.expect(422);
    page.shows("8 characters").lacks("value=\"short\"");
    let page = browser.submit(PAGE, &change(PASSWORD, "a lamp that is blue")).await.expect(200);
    page.shows("Your new password is set.");
    browser.open("/account").await.expect(200).shows(&shopper.email);
    let mut other = market.browser();
    let with = |password| [("email", &*shopper.email), ("password", password)];
    other.submit("/account/login", &with(PASSWORD)).await.expect(422);
    other.submit("/account/login", &with("a lamp that is blue")).await.expect(200);
}

#[tokio::test]
async fn an_account_without_a_password_proves_itself_by_codes() {
    let (market, mut browser) = shop().await;
    market.merchant.prove(&market.gateway).await;
    let email = format!("{}@example.com", unique("made"));
    market.owner.post("/v1/customers").json(json!({"email": email})).await.expect(201);
    let page = browser.submit("/account/login/code", &[("email", &email)]).await.expect(200);
    let (challenge, sent) = (page.input("challenge_id"), code(&market, &email, 1).await);
    let right = [("challenge_id", &*challenge), ("code", &*sent)];
    browser.submit("/account/login/verify", &right).await.expect(200);
    market.gateway.advance(Duration::from_secs(90));
    // A first password.
    let page = browser.submit(PAGE, &[("act", "password")]).await.expect(200);
    let (challenge, sent) = (page.input("challenge_id"), code(&market, &email, 2).await);
    let first = [
        ("act", "password"),
        ("challenge_id", &*challenge),
        ("code", &*sent),
        ("new_password", "a lamp that is blue"),
    ];
    let wrong = [first[0], first[1], ("code", "000000"), first[3]];
    let page = browser.submit(PAGE, &wrong).await.expect(422).shows("This code is not right");
    assert_eq!(page.input("challenge_id"), challenge);
    let page = browser.submit(PAGE, &first).await.expect(200).shows("Your new password is set.");
    page.shows("Your password");
}

#[tokio::test]
async fn an_address_without_a_password_moves_by_two_codes() {
    let (market, mut browser) = shop().await;
    market.merchant.prove(&market.gateway).await;
    let email = format!("{}@example.com", unique("made"));
    market.owner.post("/v1/customers").json(json!({"email": email})).await.expect(201);
    let page = browser.submit("/account/login/code", &[("email", &email)]).await.expect(200);
    let (challenge, sent) = (page.input("challenge_id"), code(&market, &email, 1).await);
    let right = [("challenge_id", &*challenge), ("code", &*sent)];
    browser.submit("/account/login/verify", &right).await.expect(200);
    market.gateway.advance(Duration::from_secs(90));
    let new = format!("{}@example.com", unique("moved"));
    // What is no address, and the present one, bring no code.
    let page = browser.submit(PAGE, &[("act", "email"), ("email", "ada@example")]).await;
    page.expect(422).shows("value=\"ada@example\"").lacks("challenge_id");
    let page = browser.submit(PAGE, &[("act", "email"), ("email", &email)]).await.expect(200);
    page.lacks("challenge_id").lacks("was changed");
    let page = browser.submit(PAGE, &[("act", "email"), ("email", &new)]).await.expect(200);
    // A second code comes only a minute later. The page says so.
    let early = browser.submit(PAGE, &[("act", "email"), ("email", &new)]).await.expect(429);
    early.shows("Too many attempts").shows(&format!("value=\"{new}\""));
    let (challenge, sent) = (page.input("challenge_id"), code(&market, &email, 2).await);
    assert_eq!(page.input("email"), new);
    let proof =
        [("act", "email"), ("email", &*new), ("challenge_id", &*challenge), ("code", &*sent)];
    let page = browser.submit(PAGE, &proof).await.expect(200);
    let (challenge, sent) = (page.input("challenge_id"), code(&market, &new, 1).await);
    let confirmed =
        [("act", "confirm"), ("email", &*new), ("challenge_id", &*challenge), ("code", &*sent)];
    browser.submit(PAGE, &confirmed).await.expect(200).shows("Your e-mail address was changed.");
    browser.open("/account").await.expect(200).shows(&new);
}

#[tokio::test]
async fn a_sign_in_leads_back_to_the_page_of_a_form() {
    let (_market, mut browser, shopper) = signed_in().await;
    for form in ["/account/data-request", "/account/delete", PAGE, "/account/addresses/adr_1"] {
        browser.cookies.insert("shop_session".to_owned(), "over".to_owned());
        let page = browser.submit(form, &[]).await.expect(200).shows("Sign in");
        let target = page.input("return_to");
        assert_eq!(target, form);
        let right = [("email", &*shopper.email), ("password", PASSWORD), ("return_to", &*target)];
        let page = browser.submit("/account/login", &right).await.expect(200);
        assert_eq!(page.path, target, "{form}");
    }
}
