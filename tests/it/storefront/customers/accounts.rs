//! Accounts: made, signed in to, changed, given up.

use support::clock::{DAY, MINUTE};
use support::{Merchant, PASSWORD, json, race};

use super::{Front, address, at, me, without_ids};

#[tokio::test]
async fn registration_creates_the_account_when_the_code_is_verified() {
    let front = Front::open().await;
    let client = front.gateway.client();
    let input = json!({
        "subdomain": front.store.subdomain, "email": "Cleo@Example.com", "password": PASSWORD,
        "name": "Cleo", "accepts_marketing": true,
    });
    let asked = client.post(&at("/register")).json(input).await.expect(202);
    assert_eq!(front.gateway.items_of("customer", "STO#").await.len(), 0);
    let login = json!({
        "store_id": front.store.id, "email": "cleo@example.com", "password": PASSWORD,
    });
    let early = client.post(&at("/login")).json(login.clone()).await;
    early.expect(401).problem("invalid_credentials");

    let code = front.gateway.mailbox("cleo@example.com").code().await;
    let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let made = client.post(&at("/login/otp/verify")).json(input.clone()).await.expect(201);
    assert_eq!(made.str("/token_type"), "Bearer");
    assert_eq!(made.int("/expires_in"), 86_400);
    assert_eq!(made.str("/customer/email"), "Cleo@Example.com");
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let again = client.post(&at("/login/otp/verify")).json(input).await.expect(401);
    again.problem("invalid_or_expired_code");
    let created = front.gateway.events("customer.created").await;
    assert_eq!(created.len(), 1);
    assert_eq!(created[0]["data"]["accepts_marketing"], true);

    let session = client.post(&at("/login")).json(login).await.expect(200);
    let shopper = client.with_token(&session.str("/access_token"));
    let shown = shopper.get(&at("/me")).await.expect(200);
    assert_eq!(shown.str("/id"), made.str("/customer/id"));
    assert!(!shown.text.contains("argon2"));
}

#[tokio::test]
async fn account_requests_do_not_reveal_registered_addresses() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let client = || front.gateway.client();
    for (path, fields) in [
        ("/register", json!({"password": "another long password"})),
        ("/login", json!({"password": "not the password"})),
        ("/login/otp", json!({})),
        ("/password/reset", json!({})),
    ] {
        let request = |email: &str| {
            let mut input = fields.clone();
            input["email"] = json!(email);
            input["subdomain"] = json!(front.store.subdomain);
            input
        };
        let known = client().post(&at(path)).json(request(&shopper.email)).await;
        let unknown = client().post(&at(path)).json(request("nobody@example.com")).await;
        assert_eq!(known.status, unknown.status, "{path}");
        assert_eq!(without_ids(&known), without_ids(&unknown), "{path}");
        assert_eq!(known.trips(), unknown.trips(), "{path}: the same work");
    }
    // Only the owner learns of it, and the password stays what it is.
    let mailbox = front.gateway.mailbox(&shopper.email);
    let mail = mailbox.nth(2).await;
    assert_eq!(mail.subject, "You already have an account");
    shopper.log_in_again(&front.store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_verifications_of_a_code_create_one_account() {
    let front = Front::open().await;
    let client = front.gateway.client();
    let input = json!({
        "subdomain": front.store.subdomain, "email": "race@example.com", "password": PASSWORD,
    });
    let asked = client.post(&at("/register")).json(input).await.expect(202);
    let code = front.gateway.mailbox("race@example.com").code().await;
    let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let answers = race(50, || {
        let (client, input) = (front.gateway.client(), input.clone());
        async move { client.post(&at("/login/otp/verify")).json(input).await }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 49);
    assert_eq!(front.gateway.items_of("customer", "STO#").await.len(), 1);
    assert_eq!(front.gateway.events("customer.created").await.len(), 1);
}

#[tokio::test]
async fn customer_logins_require_a_store_and_limit_password_guesses() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let client = shopper.stranger();
    let input = json!({"email": shopper.email, "password": PASSWORD});
    client.post(&at("/login")).json(input.clone()).await.expect(400).problem("store_required");
    let mut elsewhere = input.clone();
    elsewhere["subdomain"] = json!("no-such-shop");
    client.post(&at("/login")).json(elsewhere).await.expect(404).problem("storefront_not_found");
    let mut wrong = input;
    wrong["subdomain"] = json!(front.store.subdomain);
    wrong["password"] = json!("not the password");
    let mut rejected = Vec::new();
    for _ in 0..7 {
        rejected.push(client.post(&at("/login")).json(wrong.clone()).await.status);
    }
    assert_eq!(rejected, [401, 401, 401, 401, 401, 429, 429]);
    // Somebody else's guesses do not keep the owner out.
    shopper.log_in_again(&front.store).await;
}

#[tokio::test]
async fn a_customer_token_is_valid_for_one_store_and_one_day() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let other = Merchant::sign_up(&front.gateway).await;
    let other_store = other.open_shop().await;
    let review = json!({"rating": 5, "title": "Good", "body": "Good."});
    let elsewhere = format!("/v1/storefront/{}/products/x/reviews", other_store.subdomain);
    let foreign = shopper.post(&elsewhere).json(review).await;
    foreign.expect(401).problem("unauthenticated");
    for path in ["/v1/auth/me", "/v1/stores", "/v1/customers"] {
        shopper.get(path).await.expect(401);
    }
    for path in ["/me", "/addresses", "/wishlist", "/orders"] {
        other.get(&at(path)).await.expect(401);
    }
    front.gateway.advance(DAY);
    assert_eq!(me(&shopper).await, 401);
}

#[tokio::test]
async fn customer_logout_ends_one_session_or_all() {
    let front = Front::open().await;
    let one = front.shopper().await;
    let (two, three) = (one.log_in_again(&front.store).await, one.log_in_again(&front.store).await);
    one.post(&at("/logout")).json(json!({})).await.expect(204);
    assert_eq!([me(&one).await, me(&two).await, me(&three).await], [401, 200, 200]);
    two.post(&at("/logout")).json(json!({"all": true})).await.expect(204);
    assert_eq!([me(&two).await, me(&three).await], [401, 401]);
}

#[tokio::test]
async fn a_logout_or_password_change_invalidates_pending_codes() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let other = shopper.log_in_again(&front.store).await;
    let client = shopper.stranger();
    let input = json!({"subdomain": front.store.subdomain, "email": shopper.email});
    // Once as somebody who signs in, once as somebody who forgot that they have an account.
    let mut challenges = Vec::new();
    let mut register = input.clone();
    register["password"] = json!("a long enough password");
    for (path, input) in [("/login/otp", input.clone()), ("/register", register)] {
        let before = front.gateway.mailbox(&shopper.email).mails().len();
        let asked = client.stranger().post(&at(path)).json(input).await.expect(202);
        let mail = front.gateway.mailbox(&shopper.email).nth(before + 1).await;
        let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
        challenges.push(json!({"challenge_id": asked.str("/challenge_id"), "code": code}));
    }
    other.post(&at("/logout")).json(json!({"all": true})).await.expect(204);
    for challenge in challenges {
        let late = client.post(&at("/login/otp/verify")).json(challenge).await.expect(401);
        late.problem("invalid_or_expired_code");
    }
    let shopper = shopper.log_in_again(&front.store).await;
    client.post(&at("/password/reset")).json(input).await.expect(202);
    let token = front.gateway.mailbox(&shopper.email).token().await;
    let change = json!({
        "current_password": PASSWORD, "new_password": "a quite new password",
        "revoke_other_sessions": false,
    });
    shopper.post(&at("/password/update")).json(change).await.expect(200);
    let update = json!({"token": token, "new_password": "yet another password"});
    let late = client.post(&at("/password/update")).json(update).await.expect(400);
    late.problem("invalid_or_expired_token");
}

#[tokio::test]
async fn a_customer_password_changes_by_reset_token_or_session() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let other = shopper.log_in_again(&front.store).await;
    let client = shopper.stranger();
    let input = json!({"subdomain": front.store.subdomain, "email": shopper.email});
    let reset = client.post(&at("/password/reset")).json(input).await.expect(202);
    assert_eq!(reset.json, json!({"expires_in": 1800}));
    let token = front.gateway.mailbox(&shopper.email).token().await;
    let update = json!({"token": token, "new_password": "a quite new password"});
    // A customer's token is nothing to a merchant's account.
    let wrong_route = client.post("/v1/auth/password/update").json(update.clone()).await;
    wrong_route.expect(400).problem("invalid_or_expired_token");
    let done = client.post(&at("/password/update")).json(update.clone()).await.expect(200);
    assert_eq!(done.json, json!({"updated": true, "sessions_revoked": 2}));
    assert_eq!([me(&shopper).await, me(&other).await], [401, 401]);
    let again = client.post(&at("/password/update")).json(update).await.expect(400);
    again.problem("invalid_or_expired_token");

    let login = |password: &str| {
        let input = json!({
            "subdomain": front.store.subdomain, "email": shopper.email, "password": password,
        });
        client.post(&at("/login")).json(input)
    };
    login(PASSWORD).await.expect(401);
    let session = login("a quite new password").await.expect(200);
    let shopper = client.with_token(&session.str("/access_token"));
    let input = json!({"current_password": "wrong", "new_password": "yet another password"});
    shopper.post(&at("/password/update")).json(input).await.expect(401);
    let input = json!({
        "current_password": "a quite new password", "new_password": "yet another password",
    });
    shopper.post(&at("/password/update")).json(input).await.expect(200);
    assert_eq!(me(&shopper).await, 200);
    client.post(&at("/password/update")).json(json!({"new_password": "x"})).await.expect(401);
}

#[tokio::test]
async fn a_customer_updates_and_deletes_their_account() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let product = front.product("Mug").await;
    let shown = shopper.get(&at("/me")).await.expect(200);
    let change = json!({"phone": "+91 22 5550 1234", "accepts_marketing": true});
    let changed = shopper.patch(&at("/me")).json(change.clone()).if_match(&shown.etag()).await;
    let changed = changed.expect(200);
    assert_eq!(changed.int("/version"), 2);
    let stale = shopper.patch(&at("/me")).json(json!({"name": "X"})).if_match(&shown.etag()).await;
    stale.expect(412).problem("precondition_failed");
    let same = shopper.patch(&at("/me")).json(change).await.expect(200);
    assert_eq!(same.int("/version"), 2);
    assert_eq!(front.gateway.events("customer.updated").await.len(), 1);

    shopper.post(&at("/addresses")).json(address("One")).await.expect(201);
    let wish = json!({"product_id": product.str("/id")});
    shopper.post(&at("/wishlist")).json(wish).await.expect(201);
    let alone = shopper.delete(&at("/me")).json(json!({})).await.expect(422);
    assert_eq!(alone.field_errors(), [("/current_password".into(), "required".into())]);
    let gone = shopper.delete(&at("/me")).json(json!({"current_password": PASSWORD})).await;
    gone.expect(202);
    assert_eq!(me(&shopper).await, 401);
    let partition = format!("STO#{}#CUS#{}", front.store.id, shopper.id);
    assert_eq!(front.gateway.items(&partition).await.len(), 0);
    let deleted = front.gateway.events("customer.deleted").await;
    assert_eq!(deleted.len(), 1);
    assert!(!deleted[0].to_string().contains(&shopper.email));
    // The address is free again.
    front.gateway.advance(MINUTE * 2);
    let input = json!({
        "subdomain": front.store.subdomain, "email": shopper.email, "password": PASSWORD,
    });
    shopper.stranger().post(&at("/register")).json(input).await.expect(202);
    let mail = front.gateway.mailbox(&shopper.email).nth(3).await;
    assert_eq!(mail.subject, "Confirm your new account");
}

#[tokio::test]
async fn a_merchant_searches_customers() {
    let front = Front::open().await;
    let (one, two) = (front.shopper().await, front.shopper().await);
    two.patch(&at("/me")).json(json!({"name": "Zoe Zander"})).await.expect(200);
    let list = |query: &str| front.owner.get(&format!("/v1/customers{query}")).into_future();
    let all = list("").await.expect(200);
    assert_eq!(all.data().len(), 2);
    assert!(!all.text.contains("password"));
    let found = list(&format!("?email={}", one.email.to_uppercase())).await.expect(200);
    assert_eq!(found.str("/data/0/id"), one.id);
    assert_eq!(found.int("/data/0/orders_count"), 0);
    assert_eq!(found.int("/data/0/total_spent/amount"), 0);
    assert_eq!(list("?email=nobody@example.com").await.expect(200).data().len(), 0);
    let found = list("?q=zander").await.expect(200);
    assert_eq!((found.data().len(), found.str("/data/0/id")), (1, two.id.clone()));
    assert_eq!(list("?tag=vip").await.expect(200).data().len(), 0);
    let since = front.gateway.now().plus(MINUTE);
    assert_eq!(list(&format!("?updated_since={since}")).await.expect(200).data().len(), 0);
    let walk = list("?limit=1").await.expect(200);
    assert_eq!(walk.at("/page/has_more"), true);
    let other = Merchant::sign_up(&front.gateway).await;
    other.open_store().await;
    assert_eq!(other.get("/v1/customers").await.expect(200).data().len(), 0);
}
