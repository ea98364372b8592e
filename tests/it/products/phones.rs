//! Customers whom a store knows by their telephone number alone.

use std::time::Duration;

use support::{Client, Market, Reply, Shopper, Value, cart, eventually, inr, json, race, unique};

const CUSTOMERS: &str = "/v1/customers";

async fn create(owner: &Client, input: Value) -> Reply {
    owner.post(CUSTOMERS).json(input).await
}

#[tokio::test]
async fn a_customer_without_an_email_is_identified_by_phone_number() {
    let market = Market::open().await;
    let owner = &market.owner;
    let input = json!({"phone": "080 5550 1234", "name": "Asha Rao", "tags": ["walk-in"],
        "address": {"line1": "1 High Street", "city": "Pune", "region": "MH", "postal_code": "411001", "country": "IN"}});
    let made = create(owner, input).await.expect(201);
    assert!(made.at("/email").is_null());
    assert_eq!(made.str("/phone_e164"), "+918055501234");
    let told = market.gateway.events("customer.created").await;
    assert!(told[0]["data"]["email"].is_null());
    // The number is theirs, however it is written.
    let twin = create(owner, json!({"phone": "+91 80 5550 1234"})).await.expect(409);
    twin.problem("phone_taken");
    // Who has an address claims no number: a household has one.
    let of_house =
        json!({"phone": "+91 80 5550 1234", "email": format!("{}@example.com", unique("a"))});
    create(owner, of_house).await.expect(201);
    // Something has to identify them.
    let none = create(owner, json!({"name": "Nobody"})).await.expect(422);
    assert_eq!(
        (none.str("/errors/0/pointer"), none.str("/errors/0/code")),
        ("/email".into(), "required".into())
    );
    let local = create(owner, json!({"phone": "12345"})).await.expect(422);
    assert_eq!(
        (local.str("/errors/0/pointer"), local.str("/errors/0/code")),
        ("/phone".into(), "invalid_phone".into())
    );
    // They are found, and listed.
    let found = owner.get(&format!("{CUSTOMERS}?q=08055501234")).await.expect(200);
    assert_eq!(found.data().len(), 2);
    let found = owner.get(&format!("{CUSTOMERS}?q=asha")).await.expect(200);
    assert_eq!(found.data()[0]["id"], json!(made.str("/id")));
    // An order of theirs, which nobody is mailed about.
    let book = market.stock(1_000, 5).await;
    let input = json!({"items": [{"variant_id": book, "quantity": 1}], "customer_id": made.str("/id"), "mark_paid": {}});
    let placed = owner.post("/v1/orders").key(&unique("o")).json(input).await.expect(201);
    assert!(placed.at("/email").is_null());
    let shown = owner.get(&format!("{CUSTOMERS}/{}", made.str("/id"))).await.expect(200);
    assert_eq!((shown.int("/orders_count"), shown.at("/total_spent")), (1, &inr(1_000)));
    market.gateway.quiet().await;
    assert!(market.gateway.items_of("mail", "MAI#").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_imported_customers_with_a_phone_number_is_created() {
    let market = Market::open().await;
    for written in ["+91 98200 12345", "098200 12346"] {
        let made = race(4, || create(&market.owner, json!({"phone": written}))).await;
        let statuses: Vec<u16> = made.iter().map(|reply| reply.status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
    }
    assert_eq!(market.owner.get(CUSTOMERS).await.expect(200).data().len(), 2);
}

#[tokio::test]
async fn a_phone_number_change_and_a_first_email_are_unique_in_the_store() {
    let market = Market::proven().await;
    let owner = &market.owner;
    let made = create(owner, json!({"phone": "+91 98200 12345"})).await.expect(201);
    let one = format!("{CUSTOMERS}/{}", made.str("/id"));
    let other = create(owner, json!({"phone": "+91 98200 99999"})).await.expect(201);
    let change = json!({"phone": "+91 98200 99999"});
    owner.patch(&one).json(change).await.expect(409).problem("phone_taken");
    let cleared = owner.patch(&one).json(json!({"phone": null})).await.expect(422);
    assert_eq!(cleared.str("/errors/0/pointer"), "/email");
    owner.patch(&one).json(json!({"phone": "+91 98200 54321"})).await.expect(200);
    // The former number is free.
    create(owner, json!({"phone": "+91 98200 12345"})).await.expect(201);
    // An address of somebody else's is not theirs.
    let taken = format!("{}@example.com", unique("taken"));
    create(owner, json!({"email": taken})).await.expect(201);
    owner.patch(&one).json(json!({"email": taken})).await.expect(409).problem("email_taken");
    let email = format!("{}@example.com", unique("asha"));
    let changed = owner.patch(&one).json(json!({"email": email})).await.expect(200);
    assert_eq!(changed.str("/email"), email);
    // It is claimed, and the number is released.
    create(owner, json!({"email": email})).await.expect(409).problem("email_taken");
    create(owner, json!({"phone": "+91 98200 54321"})).await.expect(201);
    // Afterwards it is the customer's to change.
    owner.patch(&one).json(json!({"email": email.to_uppercase()})).await.expect(200);
    let moved = owner.patch(&one).json(json!({"email": "other@example.com"})).await.expect(422);
    assert_eq!(moved.str("/errors/0/code"), "immutable");
    owner.patch(&one).json(json!({"phone": null})).await.expect(200);
    // They sign in by a code, as any customer whom the store has created.
    let client = market.gateway.client();
    let at = json!({"subdomain": market.store.subdomain, "email": email});
    let sent = client.post("/v1/storefront/customer/login/otp").json(at).await.expect(202);
    let code = market.gateway.mailbox(&email).code().await;
    let input = json!({"challenge_id": sent.str("/challenge_id"), "code": code});
    let path = "/v1/storefront/customer/login/otp/verify";
    let session = client.post(path).json(input).await.expect(200);
    assert_eq!(session.str("/customer/id"), made.str("/id"));
    // Who is deleted leaves the number to others.
    owner.delete(&format!("{CUSTOMERS}/{}", other.str("/id"))).await.expect(202);
    create(owner, json!({"phone": "+91 98200 99999"})).await.expect(201);
}

async fn done(owner: &Client, path: &str) -> Reply {
    eventually(Duration::from_secs(40), || async {
        let shown = owner.get(path).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(shown)
    })
    .await
}

#[tokio::test]
async fn a_customer_without_an_email_is_merged_exported_and_redacted() {
    let market = Market::proven().await;
    let owner = &market.owner;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let at_once = json!({"privacy": {"redaction_days": 0}});
    owner.patch(&settings).json(at_once).await.expect(200);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let called = create(owner, json!({"phone": "+91 98200 12345"})).await.expect(201).str("/id");
    // Nobody could sign in to what remains.
    let merges = format!("{CUSTOMERS}/{called}/merges");
    let lost = owner.post(&merges).json(json!({"source_id": shopper.id})).await.expect(409);
    assert_eq!(*lost.problem("customers_not_mergeable").at("/reasons"), json!(["email"]));
    let merges = format!("{CUSTOMERS}/{}/merges", shopper.id);
    owner.post(&merges).json(json!({"source_id": called})).await.expect(202);
    let shown = owner.get(&format!("{CUSTOMERS}/{}", shopper.id)).await.expect(200);
    assert_eq!(shown.str("/phone_e164"), "+919820012345");
    // The number is free again; its next customer is exported, and forgotten.
    let next = create(owner, json!({"phone": "+91 98200 12345"})).await.expect(201).str("/id");
    let path = format!("{CUSTOMERS}/{next}");
    let asked = owner.post(&format!("{path}/data-request")).json(json!({})).await.expect(202);
    done(owner, &format!("/v1/exports/{}", asked.str("/id"))).await;
    owner.post(&format!("{path}/redact")).json(json!({})).await.expect(202);
    eventually(Duration::from_secs(40), || async {
        market.gateway.sweep().await;
        let shown = owner.get(&format!("{path}/redaction")).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(())
    })
    .await;
    owner.get(&path).await.expect(404);
    create(owner, json!({"phone": "+91 98200 12345"})).await.expect(201);
    // Who orders at the counter is no guest.
    let book = market.stock(100, 5).await;
    market.order(cart(&[(&book, 1)])).await;
    assert_eq!(owner.get("/v1/customers/guests").await.expect(200).data().len(), 1);
}
