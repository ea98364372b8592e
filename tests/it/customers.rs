//! Customers: their accounts, address books and wishlists, and what they write.

use std::time::Duration;

use gateway::clock::{DAY, MINUTE};
use support::{Client, Gateway, Merchant, PASSWORD, Reply, Shopper, Store, Value, json, race};

const CUSTOMER: &str = "/v1/storefront/customer";

fn at(path: &str) -> String {
    format!("{CUSTOMER}{path}")
}

/// An open store, and its owner.
struct Front {
    gateway: Gateway,
    store: Store,
    owner: Client,
}

impl Front {
    async fn open() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        Self { gateway, store, owner }
    }

    async fn shopper(&self) -> Shopper {
        Shopper::register(&self.gateway, &self.store).await
    }

    /// A product for sale.
    async fn product(&self, title: &str) -> Reply {
        let ask = json!({
            "title": title, "status": "active",
            "variants": [{"price": {"amount": 129_900, "currency": "INR"}}],
        });
        self.owner.post("/v1/products").json(ask).await.expect(201)
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/storefront/{}{rest}", self.store.subdomain)
    }
}

async fn me(client: &Client) -> u16 {
    client.get(&at("/me")).await.status
}

fn without_ids(reply: &Reply) -> Value {
    let mut body = reply.json.clone();
    for name in ["request_id", "challenge_id"] {
        body[name] = json!(null);
    }
    body
}

#[tokio::test]
async fn an_account_is_made_by_the_code_that_was_mailed_and_not_before() {
    let front = Front::open().await;
    let client = front.gateway.client();
    let ask = json!({
        "subdomain": front.store.subdomain, "email": "Cleo@Example.com", "password": PASSWORD,
        "name": "Cleo", "accepts_marketing": true,
    });
    let asked = client.post(&at("/register")).json(ask).await.expect(202);
    assert_eq!(front.gateway.items_of("customer", "STO#").await.len(), 0);
    let login = json!({
        "store_id": front.store.id, "email": "cleo@example.com", "password": PASSWORD,
    });
    let early = client.post(&at("/login")).json(login.clone()).await;
    early.expect(401).problem("invalid_credentials");

    let code = front.gateway.mailbox("cleo@example.com").code().await;
    let ask = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let made = client.post(&at("/login/otp/verify")).json(ask.clone()).await.expect(201);
    assert_eq!(made.str("/token_type"), "Bearer");
    assert_eq!(made.int("/expires_in"), 86_400);
    assert_eq!(made.str("/customer/email"), "Cleo@Example.com");
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let again = client.post(&at("/login/otp/verify")).json(ask).await.expect(401);
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
async fn a_stranger_does_not_learn_who_shops_where() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let client = || front.gateway.client();
    for (path, fields) in [
        ("/register", json!({"password": "another long password"})),
        ("/login", json!({"password": "not the password"})),
        ("/login/otp", json!({})),
        ("/password/reset", json!({})),
    ] {
        let ask = |email: &str| {
            let mut ask = fields.clone();
            ask["email"] = json!(email);
            ask["subdomain"] = json!(front.store.subdomain);
            ask
        };
        let known = client().post(&at(path)).json(ask(&shopper.email)).await;
        let unknown = client().post(&at(path)).json(ask("nobody@example.com")).await;
        assert_eq!(known.status, unknown.status, "{path}");
        assert_eq!(without_ids(&known), without_ids(&unknown), "{path}");
        assert_eq!(known.trips(), unknown.trips(), "{path}: the same work");
    }
    // Only the owner learns of it, and the password stays what it is.
    let mailbox = front.gateway.mailbox(&shopper.email);
    let letter = mailbox.nth(2).await;
    assert_eq!(letter.subject, "You already have an account");
    shopper.log_in_again(&front.store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_made_once_by_50_parallel_right_codes() {
    let front = Front::open().await;
    let client = front.gateway.client();
    let ask = json!({
        "subdomain": front.store.subdomain, "email": "race@example.com", "password": PASSWORD,
    });
    let asked = client.post(&at("/register")).json(ask).await.expect(202);
    let code = front.gateway.mailbox("race@example.com").code().await;
    let ask = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let answers = race(50, || {
        let (client, ask) = (front.gateway.client(), ask.clone());
        async move { client.post(&at("/login/otp/verify")).json(ask).await }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 49);
    assert_eq!(front.gateway.items_of("customer", "STO#").await.len(), 1);
    assert_eq!(front.gateway.events("customer.created").await.len(), 1);
}

#[tokio::test]
async fn guesses_are_counted_and_a_login_names_its_store() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let client = shopper.stranger();
    let ask = json!({"email": shopper.email, "password": PASSWORD});
    client.post(&at("/login")).json(ask.clone()).await.expect(400).problem("store_required");
    let mut elsewhere = ask.clone();
    elsewhere["subdomain"] = json!("no-such-shop");
    client.post(&at("/login")).json(elsewhere).await.expect(404).problem("store_not_found");
    let mut wrong = ask;
    wrong["subdomain"] = json!(front.store.subdomain);
    wrong["password"] = json!("not the password");
    let mut refused = Vec::new();
    for _ in 0..7 {
        refused.push(client.post(&at("/login")).json(wrong.clone()).await.status);
    }
    assert_eq!(refused, [401, 401, 401, 401, 401, 429, 429]);
    // Somebody else's guesses do not keep the owner out.
    shopper.log_in_again(&front.store).await;
}

#[tokio::test]
async fn a_token_opens_its_own_store_for_a_day_and_nothing_else() {
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
async fn a_session_ends_by_log_out_and_all_of_them_by_all() {
    let front = Front::open().await;
    let one = front.shopper().await;
    let (two, three) = (one.log_in_again(&front.store).await, one.log_in_again(&front.store).await);
    one.post(&at("/logout")).json(json!({})).await.expect(204);
    assert_eq!([me(&one).await, me(&two).await, me(&three).await], [401, 200, 200]);
    two.post(&at("/logout")).json(json!({"all": true})).await.expect(204);
    assert_eq!([me(&two).await, me(&three).await], [401, 401]);
}

#[tokio::test]
async fn a_code_or_link_does_not_outlive_what_made_it_needless() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let other = shopper.log_in_again(&front.store).await;
    let client = shopper.stranger();
    let ask = json!({"subdomain": front.store.subdomain, "email": shopper.email});
    // Once as somebody who signs in, once as somebody who forgot that they have an account.
    let mut challenges = Vec::new();
    let mut register = ask.clone();
    register["password"] = json!("a long enough password");
    for (path, ask) in [("/login/otp", ask.clone()), ("/register", register)] {
        let before = front.gateway.mailbox(&shopper.email).letters().len();
        let asked = client.stranger().post(&at(path)).json(ask).await.expect(202);
        let letter = front.gateway.mailbox(&shopper.email).nth(before + 1).await;
        let code = letter.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
        challenges.push(json!({"challenge_id": asked.str("/challenge_id"), "code": code}));
    }
    other.post(&at("/logout")).json(json!({"all": true})).await.expect(204);
    for challenge in challenges {
        let late = client.post(&at("/login/otp/verify")).json(challenge).await.expect(401);
        late.problem("invalid_or_expired_code");
    }
    let shopper = shopper.log_in_again(&front.store).await;
    client.post(&at("/password/reset")).json(ask).await.expect(202);
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
async fn a_password_changes_by_token_once_and_by_session() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let other = shopper.log_in_again(&front.store).await;
    let client = shopper.stranger();
    let ask = json!({"subdomain": front.store.subdomain, "email": shopper.email});
    let reset = client.post(&at("/password/reset")).json(ask).await.expect(202);
    assert_eq!(reset.json, json!({"expires_in": 1800}));
    let token = front.gateway.mailbox(&shopper.email).token().await;
    let update = json!({"token": token, "new_password": "a quite new password"});
    // A customer's token is nothing to a merchant's account.
    let wrong_door = client.post("/v1/auth/password/update").json(update.clone()).await;
    wrong_door.expect(400).problem("invalid_or_expired_token");
    let done = client.post(&at("/password/update")).json(update.clone()).await.expect(200);
    assert_eq!(done.json, json!({"updated": true, "sessions_revoked": 2}));
    assert_eq!([me(&shopper).await, me(&other).await], [401, 401]);
    let again = client.post(&at("/password/update")).json(update).await.expect(400);
    again.problem("invalid_or_expired_token");

    let login = |password: &str| {
        let ask = json!({
            "subdomain": front.store.subdomain, "email": shopper.email, "password": password,
        });
        client.post(&at("/login")).json(ask)
    };
    login(PASSWORD).await.expect(401);
    let session = login("a quite new password").await.expect(200);
    let shopper = client.with_token(&session.str("/access_token"));
    let ask = json!({"current_password": "wrong", "new_password": "yet another password"});
    shopper.post(&at("/password/update")).json(ask).await.expect(401);
    let ask = json!({
        "current_password": "a quite new password", "new_password": "yet another password",
    });
    shopper.post(&at("/password/update")).json(ask).await.expect(200);
    assert_eq!(me(&shopper).await, 200);
    client.post(&at("/password/update")).json(json!({"new_password": "x"})).await.expect(401);
}

#[tokio::test]
async fn an_account_is_changed_and_given_up_with_all_it_holds() {
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
    let ask = json!({
        "subdomain": front.store.subdomain, "email": shopper.email, "password": PASSWORD,
    });
    shopper.stranger().post(&at("/register")).json(ask).await.expect(202);
    let letter = front.gateway.mailbox(&shopper.email).nth(3).await;
    assert_eq!(letter.subject, "Confirm your new account");
}

fn address(line: &str) -> Value {
    json!({
        "first_name": "Cleo", "last_name": "Cruz", "line1": line, "city": "Mumbai",
        "region": "Maharashtra", "postal_code": "400001", "country": "IN",
    })
}

async fn defaults(shopper: &Shopper) -> Vec<String> {
    let list = shopper.get(&at("/addresses?limit=100")).await.expect(200);
    let first = list.data().first().map(|address| address["is_default"] == true);
    assert_ne!(first, Some(false), "the default comes first");
    let of_default = list.data().iter().filter(|address| address["is_default"] == true);
    of_default.map(|address| address["line1"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_address_book_has_one_default_which_moves_to_the_newest() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let path = at("/addresses");
    let one = shopper.post(&path).json(address("One")).await.expect(201);
    assert_eq!(one.at("/is_default"), true);
    let two = shopper.post(&path).json(address("Two")).await.expect(201);
    assert_eq!(two.at("/is_default"), false);
    let mut third = address("Three");
    third["is_default"] = json!(true);
    let three = shopper.post(&path).json(third).await.expect(201);
    assert_eq!(defaults(&shopper).await, ["Three"]);

    let no_id = shopper.patch(&path).json(json!({"city": "Pune"})).await.expect(400);
    no_id.problem("id_required");
    let in_body = json!({"id": one.str("/id"), "city": "Pune", "region": null});
    let changed = shopper.patch(&path).json(in_body).await.expect(200);
    assert_eq!((changed.str("/city"), changed.int("/version")), ("Pune".to_owned(), 2));
    assert_eq!(changed.at("/region"), &json!(null));
    let in_query = shopper.patch(&path).query(&[("id", &one.str("/id"))]);
    in_query.json(json!({"is_default": true})).await.expect(200);
    assert_eq!(defaults(&shopper).await, ["One"]);
    let none = json!({"is_default": false});
    let by_path = format!("{path}/{}", one.str("/id"));
    let refused = shopper.patch(&by_path).json(none).await.expect(422);
    assert_eq!(refused.field_errors(), [("/is_default".into(), "default_required".into())]);
    let stale = shopper.patch(&by_path).json(json!({"city": "X"})).if_match("\"1\"").await;
    stale.expect(412);

    shopper.delete(&path).query(&[("id", &one.str("/id"))]).await.expect(204);
    assert_eq!(defaults(&shopper).await, ["Three"]);
    shopper.delete(&path).json(json!({"id": three.str("/id")})).await.expect(204);
    assert_eq!(defaults(&shopper).await, ["Two"]);
    shopper.delete(&format!("{path}/{}", two.str("/id"))).await.expect(204);
    shopper.delete(&path).query(&[("id", &two.str("/id"))]).await.expect(404);
    assert!(defaults(&shopper).await.is_empty());
    shopper.post(&path).json(address("Four")).await.expect(201);
    assert_eq!(defaults(&shopper).await, ["Four"]);
}

#[tokio::test]
async fn an_address_is_judged_and_somebody_elses_is_not_there() {
    let front = Front::open().await;
    let (shopper, other) = (front.shopper().await, front.shopper().await);
    let path = at("/addresses");
    let bad = json!({"line1": "", "country": "XX", "is_default": 7, "planet": "Mars"});
    let refused = shopper.post(&path).json(bad).await.expect(422);
    let pair = |pointer: &str, code: &str| (pointer.to_owned(), code.to_owned());
    assert_eq!(
        refused.field_errors(),
        [
            pair("/city", "required"),
            pair("/country", "invalid_country"),
            pair("/is_default", "invalid_type"),
            pair("/line1", "too_short"),
            pair("/planet", "unknown_field"),
        ]
    );
    let own = shopper.post(&path).json(address("One")).await.expect(201);
    let named = format!("{path}/{}", own.str("/id"));
    shopper.get(&named).await.expect(200);
    let before = front.gateway.count().await;
    other.get(&named).await.expect(404);
    other.patch(&named).json(json!({"city": "X"})).await.expect(404);
    other.delete(&named).await.expect(404);
    shopper.get(&format!("{path}/adr_x")).await.expect(404);
    assert_eq!(front.gateway.count().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_takes_50_addresses_of_60_parallel_ones_and_has_one_default() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let add = || {
        let shopper = shopper.clone();
        async move {
            // Crowded out is not refused: whoever is, asks again.
            loop {
                let reply = shopper.post(&at("/addresses")).json(address("A")).await;
                match reply.status {
                    429 => tokio::time::sleep(Duration::from_millis(300)).await,
                    409 if reply.json["code"] == "version_conflict" => {}
                    _ => return reply,
                }
            }
        }
    };
    let answers = race(60, add).await;
    let limit = answers.iter().filter(|answer| answer.json["code"] == "address_limit").count();
    let added = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((added, limit), (50, 10));
    assert_eq!(front.gateway.items_of("address", "STO#").await.len(), 50);
    front.gateway.advance(Duration::from_secs(10));
    assert_eq!(defaults(&shopper).await.len(), 1);
}

#[tokio::test]
async fn a_replayed_key_adds_an_address_once() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let add = || shopper.post(&at("/addresses")).json(address("One")).key("k-1");
    let (first, second) = (add().await.expect(201), add().await.expect(201));
    assert_eq!(first.str("/id"), second.str("/id"));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(front.gateway.items_of("address", "STO#").await.len(), 1);
}

#[tokio::test]
async fn a_wish_is_made_once_and_shows_its_product() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let path = at("/wishlist");
    let mug = front.product("Mug").await;
    let draft = json!({
        "title": "Hidden", "variants": [{"price": {"amount": 1, "currency": "INR"}}],
    });
    let draft = front.owner.post("/v1/products").json(draft).await.expect(201);
    let wish = json!({"product_id": mug.str("/id")});
    let made = shopper.post(&path).json(wish.clone()).await.expect(201);
    assert_eq!(made.str("/product/title"), "Mug");
    shopper.post(&path).json(wish.clone()).await.expect(200);
    let with_variant =
        json!({"product_id": mug.str("/id"), "variant_id": mug.str("/variants/0/id")});
    shopper.post(&path).json(with_variant).await.expect(201);
    for id in [draft.str("/id"), "prd_00000000000000000000000000000000".to_owned()] {
        shopper.post(&path).json(json!({"product_id": id})).await.expect(404);
    }
    let list = shopper.get(&path).await.expect(200);
    assert_eq!(list.data().len(), 2);
    assert_eq!(list.int("/data/0/product/price/amount"), 129_900);
    let named = format!("{path}/{}", mug.str("/id"));
    shopper.get(&named).await.expect(200);
    shopper.delete(&path).await.expect(400).problem("id_required");
    shopper.delete(&named).await.expect(204);
    shopper.delete(&named).await.expect(404);
    shopper.get(&named).await.expect(404);
    assert!(shopper.get(&path).await.expect(200).data().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_of_25_parallel_ones_is_made_once() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let wish = json!({"product_id": front.product("Mug").await.str("/id")});
    let answers = race(25, || {
        let (shopper, wish) = (shopper.clone(), wish.clone());
        async move { shopper.post(&at("/wishlist")).json(wish).await }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 24);
    let customers = front.gateway.items_of("customer", "STO#").await;
    assert_eq!(customers[0]["wishes_count"], 1);
}

#[tokio::test]
async fn a_review_is_shown_and_counted_once_the_store_approves_it() {
    let front = Front::open().await;
    let (shopper, other) = (front.shopper().await, front.shopper().await);
    let product = front.product("Mug").await;
    let path = front.path(&format!("/products/{}/reviews", product.str("/handle")));
    let ask = json!({"rating": 4, "title": "Good", "body": "Keeps tea warm."});
    let written = shopper.post(&path).json(ask.clone()).await.expect(201);
    assert_eq!(written.str("/status"), "pending");
    assert_eq!(written.str("/author"), "Cleo C.");
    let again = shopper.post(&path).json(ask.clone()).await.expect(409);
    again.problem("already_reviewed");
    front.gateway.client().post(&path).json(ask.clone()).await.expect(401);
    let not_bought = json!({
        "rating": 4, "title": "Good", "body": "x",
        "order_item_id": "itm_00000000000000000000000000000000",
    });
    let refused = shopper.post(&path).json(not_bought).await.expect(422);
    assert_eq!(refused.field_errors(), [("/order_item_id".into(), "unknown_order_item".into())]);
    other.post(&path).json(json!({"rating": 5, "title": "T", "body": "B"})).await.expect(201);

    let visitor = front.gateway.client();
    assert!(visitor.get(&path).await.expect(200).data().is_empty());
    let pending = front.owner.get("/v1/reviews?status=pending").await.expect(200);
    assert_eq!(pending.data().len(), 2);
    let act = |id: &str, action: &str| {
        front.owner.post(&format!("/v1/reviews/{id}/{action}")).json(json!({}))
    };
    let id = written.str("/id");
    act(&id, "approve").await.expect(200);
    let twice = act(&id, "approve").await.expect(409).problem("invalid_state_transition");
    assert_eq!(twice.at("/allowed_actions"), &json!(["reject", "reply"]));
    let reply = json!({"body": "Thank you!"});
    front.owner.post(&format!("/v1/reviews/{id}/reply")).json(reply).await.expect(200);
    let shown = visitor.get(&path).await.expect(200);
    assert_eq!(shown.data().len(), 1);
    assert_eq!(shown.str("/data/0/reply/body"), "Thank you!");
    assert_eq!(shown.int("/rating/count"), 1);
    assert!(!shown.text.contains(&shopper.id), "a customer's id is nobody else's business");
    assert_eq!(front.owner.get("/v1/reviews").await.expect(200).data().len(), 2);
    assert_eq!(front.owner.get("/v1/reviews?status=approved").await.expect(200).data().len(), 1);

    act(&id, "reject").await.expect(200);
    let hidden = visitor.get(&path).await.expect(200);
    assert_eq!((hidden.data().len(), hidden.int("/rating/count")), (0, 0));
    for name in ["created", "approved", "rejected", "replied"] {
        let count = front.gateway.events(&format!("review.{name}")).await.len();
        assert_eq!(count, if name == "created" { 2 } else { 1 }, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_review_counts_once_for_25_parallel_approvals() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let product = front.product("Mug").await;
    let path = front.path(&format!("/products/{}/reviews", product.str("/handle")));
    let ask = json!({"rating": 4, "title": "Good", "body": "Good."});
    let id = shopper.post(&path).json(ask).await.expect(201).str("/id");
    let approve = format!("/v1/reviews/{id}/approve");
    let answers = race(25, || front.owner.post(&approve).json(json!({})).into_future()).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 24);
    let shown = front.owner.get(&format!("/v1/products/{}", product.str("/id"))).await.expect(200);
    assert_eq!(shown.int("/rating/count"), 1);
    assert_eq!(front.gateway.events("review.approved").await.len(), 1);
}

#[tokio::test]
async fn forms_take_json_and_html_and_bots_are_told_nothing() {
    let front = Front::open().await;
    let visitor = front.gateway.client();
    let path = front.path("/forms/contact");
    let ask = json!({"fields": {"email": "a@example.com", "message": "Hello", "age": 7}});
    let sent = visitor.post(&path).json(ask).await.expect(202);
    let html = visitor.post(&path).form(&[("email", "b@example.com"), ("_gotcha", "")]);
    html.await.expect(202);
    let bot = json!({"fields": {"message": "Buy!", "_gotcha": "x"}});
    let trapped = visitor.post(&path).json(bot).await.expect(202);
    let keys = |reply: &Reply| reply.json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&sent), keys(&trapped));
    assert_eq!(front.gateway.events("form.submitted").await.len(), 2);

    let list = |query: &str| front.owner.get(&format!("/v1/form-submissions{query}")).into_future();
    assert_eq!(list("").await.expect(200).data().len(), 3);
    assert_eq!(list("?form=newsletter").await.expect(200).data().len(), 0);
    let spam = list("?status=spam").await.expect(200);
    assert_eq!((spam.data().len(), spam.int("/data/0/spam_score")), (1, 100));
    assert!(!spam.text.contains("_gotcha"));
    let later = "?since=2999-01-01T00:00:00Z";
    assert_eq!(list(later).await.expect(200).data().len(), 0);
    assert_eq!(list("?since=2020-01-01T00:00:00Z").await.expect(200).data().len(), 3);

    let named = format!("/v1/form-submissions/{}", sent.str("/id"));
    let shown = front.owner.get(&named).await.expect(200);
    assert_eq!(shown.at("/fields/age"), "7");
    let read = front.owner.patch(&named).json(json!({"status": "read"})).if_match(&shown.etag());
    assert_eq!(read.await.expect(200).str("/status"), "read");
    front.owner.delete(&named).if_match(&shown.etag()).await.expect(412);
    front.owner.delete(&named).await.expect(204);
    front.owner.get(&named).await.expect(404);
}

#[tokio::test]
async fn a_form_is_bounded() {
    let front = Front::open().await;
    let visitor = front.gateway.client();
    let path = front.path("/forms/contact");
    let before = front.gateway.count().await;
    let many: serde_json::Map<_, _> = (0..51).map(|n| (format!("f{n}"), json!("x"))).collect();
    for (ask, code) in [
        (json!({"fields": many}), "too_many"),
        (json!({"fields": {}}), "required"),
        (json!({"fields": {"a": [1]}}), "invalid_type"),
        (json!({}), "required"),
        (json!({"fields": {"a": "b"}, "extra": 1}), "unknown_field"),
    ] {
        let refused = visitor.post(&path).json(ask).await.expect(422);
        assert_eq!(refused.field_errors()[0].1, code, "{}", refused.text);
    }
    let long = json!({"fields": {"a": "x".repeat(10 * 1024)}});
    visitor.post(&path).json(long).await.expect(413).problem("body_too_large");
    visitor.post(&front.path("/forms/No%20Form")).json(json!({})).await.expect(404);
    assert_eq!(front.gateway.count().await, before);
    // Ten points each of a public budget of 300: somebody who floods is stopped.
    let flood =
        race(60, || visitor.post(&path).json(json!({"fields": {"a": "b"}})).into_future()).await;
    assert!(flood.iter().any(|answer| answer.status == 429));
}

#[tokio::test]
async fn the_store_finds_its_customers() {
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

#[tokio::test]
async fn a_customer_without_orders_has_an_empty_list() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    assert!(shopper.get(&at("/orders")).await.expect(200).data().is_empty());
    let none = at("/orders/ord_00000000000000000000000000000000");
    shopper.get(&none).await.expect(404).problem("not_found");
}

/// An order of one unit of a product, placed by a signed-in customer.
async fn order(front: &Front, shopper: &Shopper, product: &Reply, key: &str) -> Reply {
    let ask = json!({
        "items": [{"variant_id": product.str("/variants/0/id"), "quantity": 1}],
        "shipping_address": address("1 Main Street"),
    });
    shopper.post(&front.path("/orders")).json(ask).key(key).await.expect(201)
}

#[tokio::test]
async fn a_customer_sees_their_orders_and_reviews_each_purchase_once() {
    let front = Front::open().await;
    let (shopper, other) = (front.shopper().await, front.shopper().await);
    let ask = json!({
        "title": "Mug", "status": "active",
        "variants": [{
            "price": {"amount": 129_900, "currency": "INR"}, "inventory": {"tracked": false},
        }],
    });
    let product = front.owner.post("/v1/products").json(ask).await.expect(201);
    let placed = order(&front, &shopper, &product, "k-1").await;
    let orders = shopper.get(&at("/orders")).await.expect(200);
    assert_eq!(orders.data().len(), 1);
    assert_eq!(orders.str("/data/0/id"), placed.str("/order/id"));
    let named = at(&format!("/orders/{}", placed.str("/order/id")));
    shopper.get(&named).await.expect(200);
    other.get(&named).await.expect(404);
    assert!(other.get(&at("/orders")).await.expect(200).data().is_empty());
    let customers = front.owner.get(&format!("/v1/customers?email={}", shopper.email)).await;
    assert_eq!(customers.expect(200).int("/data/0/orders_count"), 1);

    let path = front.path(&format!("/products/{}/reviews", product.str("/handle")));
    let review = |line: Option<String>| json!({"rating": 5, "title": "Good", "body": "Good.", "order_item_id": line});
    let line = placed.str("/order/items/0/id");
    let written = shopper.post(&path).json(review(Some(line.clone()))).await.expect(201);
    assert_eq!(written.at("/verified_purchase"), true);
    let again = shopper.post(&path).json(review(Some(line.clone()))).await.expect(409);
    again.problem("already_reviewed");
    other.post(&path).json(review(Some(line))).await.expect(422);
    let second = order(&front, &shopper, &product, "k-2").await;
    let line = second.str("/order/items/0/id");
    shopper.post(&path).json(review(Some(line))).await.expect(201);
}
