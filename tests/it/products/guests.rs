//! Whose data is it: an address that somebody only gave says nothing about who they are; guests are found,
//! exported and forgotten by theirs.

use std::time::Duration;

use support::{
    Client, Market, Placed, Reply, Shopper, Value, address, cart, eventually, inr, json, unique,
};

fn email_of(who: &str) -> String {
    format!("{}@hotmail.example.com", unique(who))
}

async fn set_days(market: &Market, days: u64) {
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let change = json!({"privacy": {"redaction_days": days}});
    market.owner.patch(&settings).json(change).await.expect(200);
}

async fn order_of_guest(market: &Market, variant: &str, email: &str) -> Placed {
    let mut input = cart(&[(variant, 1)]);
    input["email"] = json!(email);
    input["note"] = json!("The blue door");
    market.order(input).await
}

async fn form(market: &Market, fields: Value) {
    let path = format!("/v1/storefront/{}/forms/contact", market.store.subdomain);
    let client = market.gateway.client();
    client.post(&path).json(json!({"fields": fields})).await.expect(202);
}

async fn card(market: &Market, to: &str) -> String {
    let input =
        json!({"initial_value": inr(500), "recipient": {"email": to, "message": "For you"}});
    let cards = market.owner.post("/v1/products/gift-cards");
    cards.key(&unique("card")).json(input).await.expect(201).str("/id")
}

/// The lines of the file that a request for data is answered with, by kind.
async fn file(market: &Market, asked: Reply) -> Vec<Value> {
    let path = format!("/v1/exports/{}", asked.expect(202).str("/id"));
    let done = eventually(Duration::from_secs(30), || async {
        let shown = market.owner.get(&path).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(shown)
    });
    let done = done.await;
    if done.at("/parts").as_array().is_none_or(Vec::is_empty) {
        return Vec::new();
    }
    let url = done.str("/parts/0/url");
    let path = format!("/v1/{}", url.split_once("/v1/").unwrap().1);
    let text = market.gateway.client().get(&path).await.expect(200).text;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count(lines: &[Value], kind: &str) -> usize {
    lines.iter().filter(|line| line["kind"] == kind).count()
}

async fn over(owner: &Client, market: &Market, path: &str) -> Reply {
    eventually(Duration::from_secs(40), || async {
        let shown = owner.get(path).await.expect(200);
        if shown.str("/status") != "succeeded" {
            market.gateway.sweep().await;
            return None;
        }
        Some(shown)
    })
    .await
}

/// A market in which a victim has left traces as a guest, and an attacker has an account.
struct Attack {
    market: Market,
    victim: String,
    order: Placed,
    card: String,
    attacker: Shopper,
}

impl Attack {
    async fn begin() -> Self {
        let market = Market::proven().await;
        set_days(&market, 0).await;
        let book = market.stock(1_000, 20).await;
        let victim = email_of("o");
        let order = order_of_guest(&market, &book, &victim).await;
        let card = card(&market, &victim).await;
        form(&market, json!({"email": victim, "message": "Where is it?"})).await;
        let attacker = Shopper::register(&market.gateway, &market.store).await;
        // Ordered with the victim's address, and called off.
        let mut input = cart(&[(&book, 1)]);
        input["email"] = json!(victim);
        let placed = attacker.post(&market.orders_path()).key(&unique("own")).json(input).await;
        let own = Placed::of(placed.expect(201));
        let cancel = format!("{}/{}/cancel", market.orders_path(), own.id);
        attacker.post(&cancel).json(json!({})).await.expect(200);
        market.gateway.quiet().await;
        Self { market, victim, order, card, attacker }
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/customers/{}/{rest}", self.attacker.id)
    }
}

#[tokio::test]
async fn a_data_request_excludes_records_of_an_unproven_address() {
    let attack = Attack::begin().await;
    let market = &attack.market;
    let asked = market.owner.post(&attack.path("data-request")).json(json!({})).await;
    let lines = file(market, asked).await;
    assert_eq!(count(&lines, "order"), 1, "their own");
    assert_eq!([count(&lines, "gift_card"), count(&lines, "form_submission")], [0, 0]);
    assert!(!json!(lines).to_string().contains("The blue door"));
}

#[tokio::test]
async fn a_redaction_leaves_records_of_an_unproven_address() {
    let attack = Attack::begin().await;
    let market = &attack.market;
    market.owner.post(&attack.path("redact")).json(json!({})).await.expect(202);
    over(&market.owner, market, &attack.path("redaction")).await;
    let shown = market.show(&attack.order.id).await;
    assert_eq!(
        (shown.str("/email"), shown.str("/note")),
        (attack.victim.clone(), "The blue door".into())
    );
    let card = format!("/v1/products/gift-cards/{}", attack.card);
    let card = market.owner.get(&card).await.expect(200);
    assert_eq!(card.str("/recipient/email"), attack.victim);
    let forms = market.owner.get("/v1/form-submissions").await.expect(200);
    assert_eq!(forms.data().len(), 1);
}

#[tokio::test]
async fn form_submissions_match_a_customer_by_the_exact_address() {
    let market = Market::proven().await;
    let part = format!("{}@hotmail.example.co", unique("o"));
    let shopper = Shopper::register_as(&market.gateway, &market.store, &part).await;
    form(&market, json!({"email": format!("{part}m"), "message": "mine"})).await;
    form(&market, json!({"email": "other@example.com", "message": format!("ask {part}")})).await;
    form(&market, json!({"email": format!(" {} ", part.to_uppercase()), "message": "theirs"}))
        .await;
    let path = format!("/v1/customers/{}/data-request", shopper.id);
    let lines = file(&market, market.owner.post(&path).json(json!({})).await).await;
    assert_eq!(count(&lines, "form_submission"), 1);
    assert!(json!(lines).to_string().contains("theirs"));
}

#[tokio::test]
async fn a_data_request_includes_guest_orders_once_the_address_is_proven() {
    let market = Market::proven().await;
    let book = market.stock(1_000, 20).await;
    let email = email_of("ann");
    order_of_guest(&market, &book, &email).await;
    let made = market.owner.post("/v1/customers").json(json!({"email": email})).await.expect(201);
    let path = format!("/v1/customers/{}/data-request", made.str("/id"));
    let lines = file(&market, market.owner.post(&path).json(json!({})).await).await;
    assert_eq!([count(&lines, "customer"), count(&lines, "order")], [1, 0]);
    // Who signs in by a code has proven it.
    let client = market.gateway.client();
    let at = json!({"subdomain": market.store.subdomain, "email": email});
    let sent = client.post("/v1/storefront/customer/login/otp").json(at).await.expect(202);
    let code = market.gateway.mailbox(&email).code().await;
    let input = json!({"challenge_id": sent.str("/challenge_id"), "code": code});
    client.post("/v1/storefront/customer/login/otp/verify").json(input).await.expect(200);
    let lines = file(&market, market.owner.post(&path).json(json!({})).await).await;
    assert_eq!([count(&lines, "customer"), count(&lines, "order")], [1, 1]);
}

#[tokio::test]
async fn guests_are_exported_and_redacted_by_address() {
    let market = Market::proven().await;
    set_days(&market, 0).await;
    let owner = &market.owner;
    let book = market.stock(1_000, 20).await;
    let (guest, other) = (email_of("o"), email_of("o"));
    let order = order_of_guest(&market, &book, &guest).await;
    let others = order_of_guest(&market, &book, &other).await;
    let card = card(&market, &guest).await;
    form(&market, json!({"email": guest.to_uppercase(), "message": "Where is it?"})).await;
    form(&market, json!({"email": other, "message": "Hello"})).await;
    market.gateway.quiet().await;
    let find = async |email: &str| {
        owner.get("/v1/customers/guests").query(&[("email", email)]).await.expect(200)
    };
    let found = find(&guest.to_uppercase()).await;
    let orders = found.at("/orders").as_array().unwrap();
    assert_eq!(orders.len(), 1);
    assert_eq!(
        (found.str("/orders/0/id"), &orders[0]["unfinished"]),
        (order.id.clone(), &json!(true))
    );
    assert!(found.at("/customer_id").is_null() && found.at("/redaction").is_null());
    let of = json!({"email": guest});
    let lines =
        file(&market, owner.post("/v1/customers/guests/data-request").json(of.clone()).await).await;
    let kinds = ["customer", "order", "gift_card", "form_submission"];
    assert_eq!(kinds.map(|kind| count(&lines, kind)), [0, 1, 1, 1]);
    assert!(!json!(lines).to_string().contains(&other));
    let told = market.gateway.events("customer.data_requested").await;
    assert_eq!(told[0]["data"]["order_ids"], json!([order.id]));
    // While the order is not closed it waits.
    let asked = owner.post("/v1/customers/guests/redact").json(of.clone()).await.expect(202);
    let path = format!("/v1/customers/guests/redactions/{}", asked.str("/id"));
    let waits = eventually(Duration::from_secs(20), || async {
        let shown = owner.get(&path).await.expect(200);
        (*shown.at("/waits_for_orders") == json!(true)).then_some(shown)
    });
    assert_eq!(waits.await.str("/status"), "scheduled");
    assert_eq!(market.show(&order.id).await.str("/email"), guest);
    // It can be called off, and asked for again.
    assert_eq!(owner.delete(&path).await.expect(200).str("/status"), "cancelled");
    market.act(&order.id, "cancel", json!({})).await.expect(200);
    market.gateway.quiet().await;
    owner.post("/v1/customers/guests/redact").json(of.clone()).await.expect(202);
    let done = over(owner, &market, &path).await;
    assert!(done.at("/customer_id").is_null());
    market.gateway.quiet().await;
    let shown = market.show(&order.id).await;
    assert_eq!([shown.at("/email"), shown.at("/note")], [&Value::Null, &Value::Null]);
    assert_eq!(shown.str("/shipping_address/line1"), "");
    let card = owner.get(&format!("/v1/products/gift-cards/{card}")).await.expect(200);
    assert!(card.at("/recipient").is_null());
    assert_eq!(owner.get("/v1/form-submissions").await.expect(200).data().len(), 1);
    assert_eq!(market.show(&others.id).await.str("/email"), other);
    // Nobody is named in the table any more.
    let is_named = |(item, files): &(Value, String)| {
        let text = format!("{item} {files}").to_lowercase();
        text.contains(&guest.to_lowercase())
    };
    let all = market.gateway.everything().await;
    let named: Vec<_> = all.iter().filter(|one| is_named(one)).map(|(item, _)| item).collect();
    assert!(named.is_empty(), "{named:?}");
    for name in ["customer.redaction_requested", "customer.redacted", "order.redacted"] {
        let told = market.gateway.events(name).await;
        assert_eq!(
            told.len(),
            if name == "customer.redaction_requested" { 2 } else { 1 },
            "{name}"
        );
        assert!(told.iter().all(|event| event["data"]["customer_id"].is_null()));
    }
    // A guest can come back, and be forgotten again.
    let again = order_of_guest(&market, &book, &guest).await;
    market.act(&again.id, "cancel", json!({})).await.expect(200);
    market.gateway.quiet().await;
    let asked = owner.post("/v1/customers/guests/redact").json(of).await.expect(202);
    assert_ne!(asked.str("/status"), "succeeded");
    over(owner, &market, &path).await;
    assert!(market.show(&again.id).await.at("/email").is_null());
}

#[tokio::test]
async fn guest_requests_reject_addresses_of_accounts() {
    let market = Market::proven().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let of = json!({"email": shopper.email.to_uppercase()});
    for rest in ["data-request", "redact"] {
        let path = format!("/v1/customers/guests/{rest}");
        let rejected = market.owner.post(&path).json(of.clone()).await.expect(409);
        assert_eq!(rejected.problem("address_has_account").str("/customer_id"), shopper.id);
    }
    let path = "/v1/customers/guests";
    let found = market.owner.get(path).query(&[("email", &shopper.email)]).await.expect(200);
    assert_eq!(found.str("/customer_id"), shopper.id);
    // The redaction of a customer is none of a guest.
    market
        .owner
        .post(&format!("/v1/customers/{}/redact", shopper.id))
        .json(json!({}))
        .await
        .expect(202);
    let customers = format!("/v1/customers/{}/redaction", shopper.id);
    let id = market.owner.get(&customers).await.expect(200).str("/id");
    let path = format!("/v1/customers/guests/redactions/{id}");
    market.owner.get(&path).await.expect(404);
    market.owner.delete(&path).await.expect(404);
}

#[tokio::test]
async fn a_customer_redaction_waits_for_unfinished_guest_orders() {
    let market = Market::proven().await;
    set_days(&market, 0).await;
    let book = market.stock(1_000, 20).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    // Placed without signing in, after the address was proven.
    let order = order_of_guest(&market, &book, &shopper.email).await;
    market.act(&order.id, "mark-paid", json!({})).await.expect(200);
    market.gateway.quiet().await;
    let path = format!("/v1/customers/{}", shopper.id);
    market.owner.post(&format!("{path}/redact")).json(json!({})).await.expect(202);
    let waits = eventually(Duration::from_secs(20), || async {
        let shown = market.owner.get(&format!("{path}/redaction")).await.expect(200);
        (*shown.at("/waits_for_orders") == json!(true)).then_some(shown)
    });
    waits.await;
    let shown = market.show(&order.id).await;
    assert_eq!(shown.str("/shipping_address/line1"), address()["line1"].as_str().unwrap());
    market.act(&order.id, "fulfill", json!({})).await.expect(201);
    market.gateway.quiet().await;
    market.gateway.advance(Duration::from_hours(25));
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    over(&owner, &market, &format!("{path}/redaction")).await;
    let shown = owner.get(&format!("/v1/orders/{}", order.id)).await.expect(200);
    assert!(shown.at("/email").is_null());
}
