//! What becomes of customers' data: a copy of it, and the end of an account.

use std::time::Duration;

use support::{Market, PASSWORD, Shopper, Value, eventually, json, unique};

use super::shop;

/// The store's exports, newest first.
async fn exports(market: &Market) -> Vec<Value> {
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    let list = owner.get("/v1/exports").await.expect(200);
    list.at("/data").as_array().unwrap().clone()
}

#[tokio::test]
async fn a_customer_requests_a_copy_of_their_data() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD)];
    browser.submit("/account/login", &right).await.expect(200).shows("Request a copy");
    let page = browser.submit("/account/data-request", &[]).await.expect(200);
    page.shows("has your request of");
    let made = exports(&market).await;
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(made[0]["kind"], "customer");
    assert_eq!(
        (&made[0]["customer_id"], &made[0]["created_by"]),
        (&json!(shopper.id), &json!(shopper.id))
    );
    // A request within a day is the same one.
    let path = "/v1/storefront/customer/me/data-request";
    let again = shopper.post(path).json(json!({})).await.expect(202);
    assert_eq!(again.str("/export_id"), made[0]["id"].as_str().unwrap());
    let events = market.gateway.events("customer.data_requested").await;
    assert_eq!(events.len(), 1, "{events:?}");
    // Somebody else's is another one.
    let second = Shopper::register(&market.gateway, &market.store).await;
    let mut other = market.browser();
    let right = [("email", &*second.email), ("password", PASSWORD)];
    other.submit("/account/login", &right).await.expect(200);
    other.submit("/account/data-request", &[]).await.expect(200).shows("has your request of");
    assert_eq!(exports(&market).await.len(), 2);
    // The sweep writes the file, without anybody's help.
    let id = again.str("/export_id");
    market.gateway.advance(Duration::from_secs(90));
    market.gateway.sweep().await;
    let path_of = format!("/v1/exports/{id}");
    eventually(Duration::from_secs(30), || async {
        let shown = market.owner.get(&path_of).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(())
    })
    .await;
    market.gateway.advance(Duration::from_hours(24));
    let later = shopper.log_in_again(&market.store).await;
    let later = later.post(path).json(json!({})).await.expect(202);
    assert_ne!(later.str("/export_id"), id);
    assert_eq!(exports(&market).await.len(), 3);
    market.gateway.client().post(path).json(json!({})).await.expect(401);
}

#[tokio::test]
async fn an_account_is_deleted_by_its_password() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD)];
    browser.submit("/account/login", &right).await.expect(200);
    let page = browser.submit("/account/delete", &[("password", "wrong")]).await.expect(422);
    page.shows("This password is not right");
    let page = browser.submit("/account/delete", &[("password", PASSWORD)]).await.expect(200);
    page.shows("Your account was deleted.");
    assert!(!browser.cookies.contains_key("shop_session"));
    market.owner.get(&format!("/v1/customers/{}", shopper.id)).await.expect(404);
}

#[tokio::test]
async fn an_account_without_a_password_is_deleted_by_a_code() {
    let (market, mut browser) = shop().await;
    market.merchant.prove(&market.gateway).await;
    let email = format!("{}@example.com", unique("made"));
    let made = market.owner.post("/v1/customers").json(json!({"email": email})).await.expect(201);
    let page = browser.open("/account/login/code").await.expect(200).shows("Sign in with a code");
    assert_eq!(page.input("return_to"), "/account");
    let page = browser.submit("/account/login/code", &[("email", &email)]).await.expect(200);
    let challenge = page.input("challenge_id");
    let code = market.gateway.mailbox(&email).code().await;
    let right = [("challenge_id", &*challenge), ("code", &*code)];
    browser.submit("/account/login/verify", &right).await.expect(200);
    market.gateway.advance(Duration::from_secs(90));
    let page = browser
        .submit("/account/delete", &[])
        .await
        .expect(200)
        .shows("Enter the code that was mailed");
    let challenge = page.input("challenge_id");
    let wrong = [("challenge_id", &*challenge), ("code", "000000")];
    browser.submit("/account/delete", &wrong).await.expect(422).shows("This code is not right");
    let mailbox = market.gateway.mailbox(&email);
    let text = mailbox.nth(2).await.text;
    let code = text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
    let right = [("challenge_id", &*challenge), ("code", code)];
    browser.submit("/account/delete", &right).await.expect(200);
    market.owner.get(&format!("/v1/customers/{}", made.str("/id"))).await.expect(404);
}
