//! The account: its address, its role, its end.

use support::{Client, Gateway, Merchant, OPERATOR_EMAIL, PASSWORD, json, unique};

use super::me;

#[tokio::test]
async fn changing_an_address_requires_the_password_and_resets_verification() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let other = Merchant::sign_up(&gateway).await;
    let token = gateway.mailbox(&merchant.email).token().await;
    let client = gateway.client();
    merchant.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(200);
    client.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(400);
    let view = merchant.get("/v1/auth/me").await.expect(200);
    assert_eq!(view.at("/email_verified"), true);
    let address = format!("{}@example.com", unique("renamed"));
    let bare = json!({"email": address});
    let rejected = merchant.patch("/v1/auth/me").json(bare).await;
    assert!(matches!(rejected.status, 401 | 422), "{}", rejected.text);
    let taken = json!({"email": other.email, "current_password": PASSWORD});
    merchant.patch("/v1/auth/me").json(taken).await.expect(409).problem("email_taken");
    let right = json!({"email": address, "current_password": PASSWORD, "name": "Ann B."});
    let stale = merchant.patch("/v1/auth/me").json(right.clone()).if_match("\"99\"").await;
    stale.expect(412).problem("precondition_failed");
    let view = merchant.patch("/v1/auth/me").json(right).if_match(&view.etag()).await.expect(200);
    assert_eq!(
        (view.str("/email"), view.at("/email_verified").clone()),
        (address.clone(), json!(false))
    );
    let signin = json!({"email": address, "password": PASSWORD});
    client.post("/v1/auth/signin").json(signin).await.expect(200);
}

#[tokio::test]
async fn an_account_that_owns_stores_is_not_deleted() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let input = json!({"current_password": PASSWORD});
    let rejected = merchant.delete("/v1/auth/me").json(input.clone()).await.expect(409);
    rejected.problem("owns_active_stores");
    let path = format!("/v1/stores/{}", store.id);
    merchant.delete(&path).json(json!({"confirm": store.subdomain})).await.expect(202);
    merchant.delete("/v1/auth/me").json(input).await.expect(202);
    assert_eq!(me(&merchant).await, 401);
    let signin = json!({"email": merchant.email, "password": PASSWORD});
    let reply = gateway.client().post("/v1/auth/signin").json(signin).await;
    assert!(matches!(reply.status, 401 | 403), "{}", reply.text);
}

/// Moves the account to another address and proves that one.
async fn move_to(gateway: &Gateway, merchant: &Merchant, address: &str) {
    let input = json!({"email": address, "current_password": PASSWORD});
    merchant.patch("/v1/auth/me").json(input).await.expect(200);
    let token = gateway.mailbox(address).token().await;
    merchant.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(200);
}

#[tokio::test]
async fn operators_are_accounts_with_a_verified_listed_address() {
    let gateway = Gateway::start().await;
    let queue = "/v1/app-store/submissions";
    let is_operator = async |client: &Client| {
        let view = client.get("/v1/auth/me").await.expect(200);
        assert_eq!(view.at("/email_verified"), true);
        let shown = view.at("/operator") == true;
        assert_eq!(client.get(queue).await.status, if shown { 200 } else { 403 });
        shown
    };
    // Whoever signs up with the address and proves another has proven nothing.
    let thief = Merchant::sign_up_as(&gateway, OPERATOR_EMAIL).await;
    thief.get(queue).await.expect(403).problem("operator_required");
    move_to(&gateway, &thief, &format!("{}@example.com", unique("thief"))).await;
    assert!(!is_operator(&thief).await);
    // The role comes with the proven address, however it is written, and goes with it.
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    move_to(&gateway, &merchant, &OPERATOR_EMAIL.to_uppercase()).await;
    assert!(is_operator(&merchant).await);
    move_to(&gateway, &merchant, &format!("{}@example.com", unique("retired"))).await;
    assert!(!is_operator(&merchant).await);
}

#[tokio::test]
async fn an_account_is_deletable_once_its_last_store_is_deleted() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let subdomain = unique("first");
    let input = json!({
        "email": format!("{}@example.com", unique("owner")), "password": PASSWORD,
        "store_name": "First", "subdomain": subdomain,
    });
    let reply = client.post("/v1/auth/signup").json(input).await.expect(201);
    let merchant = client.with_token(&reply.str("/session/access_token"));
    let second = json!({
        "name": "Second", "subdomain": unique("second"), "currency": "INR", "country": "IN",
    });
    let second = merchant.post("/v1/stores").json(second).await.expect(201);
    // What else happens to the account leaves the count alone.
    merchant.patch("/v1/auth/me").json(json!({"name": "Ann B."})).await.expect(200);
    for (id, subdomain) in
        [(reply.str("/store/id"), subdomain), (second.str("/id"), second.str("/subdomain"))]
    {
        let input = json!({"current_password": PASSWORD});
        let rejected = merchant.delete("/v1/auth/me").json(input).await.expect(409);
        rejected.problem("owns_active_stores");
        let delete = merchant.delete(&format!("/v1/stores/{id}"));
        delete.json(json!({"confirm": subdomain})).await.expect(202);
        merchant.patch("/v1/auth/me").json(json!({"name": subdomain})).await.expect(200);
    }
    let input = json!({"current_password": PASSWORD});
    merchant.delete("/v1/auth/me").json(input).await.expect(202);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn account_deletion_and_store_creation_exclude_each_other() {
    let gateway = Gateway::start().await;
    for _ in 0..8 {
        let merchant = Merchant::sign_up(&gateway).await;
        let input = json!({
            "name": "A Shop", "subdomain": unique("last"), "currency": "INR", "country": "IN",
        });
        let delete = merchant.delete("/v1/auth/me").json(json!({"current_password": PASSWORD}));
        let open = merchant.post("/v1/stores").json(input);
        let (gone, opened) = tokio::join!(async { delete.await }, async { open.await });
        match (gone.status, opened.status) {
            (202, 401) => {}
            (409, 201) => drop(gone.problem("owns_active_stores")),
            _ => panic!("{} and {}", gone.text, opened.text),
        }
    }
}
