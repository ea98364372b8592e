//! People ask what a store knows of them, and to be forgotten.

use std::time::Duration;

use support::clock::MINUTE;
use support::{
    Client, Market, Placed, Receiver, Reply, Shopper, Value, cart, eventually, inr, json, unique,
};

/// What names one person, and nobody else.
struct Marks {
    name: &'static str,
    street: &'static str,
    city: &'static str,
    phone: &'static str,
    told: &'static str,
}

const MARKS: Marks = Marks {
    name: "Quetzalina",
    street: "Xylophon-Allee 77",
    city: "Zwiebelstadt",
    phone: "+4930555777",
    told: "leave it with the neighbour Wolkenstein",
};

impl Marks {
    /// Who is still named by an item.
    fn in_text(&self, email: &str, text: &str) -> Vec<String> {
        let all = [self.name, self.street, self.city, self.phone, self.told, email];
        let text = text.to_lowercase();
        all.iter().filter(|mark| text.contains(&mark.to_lowercase())).map(|s| (*s).into()).collect()
    }

    fn address(&self) -> Value {
        json!({
            "first_name": self.name, "last_name": "Ostrander", "line1": self.street,
            "city": self.city, "postal_code": "10115", "country": "DE", "phone": self.phone,
        })
    }
}

/// A market in which somebody has left traces everywhere.
struct Traces {
    market: Market,
    shopper: Shopper,
    orders: Vec<Placed>,
}

impl Traces {
    async fn leave(days: u64) -> Self {
        let market = Market::proven().await;
        let owner = &market.owner;
        let settings = format!("/v1/stores/{}/settings", market.store.id);
        let change =
            json!({"privacy": {"redaction_days": days}, "reviews": {"auto_publish": true}});
        owner.patch(&settings).json(change).await.expect(200);
        let email = format!("{}@mail.example", unique("quetz"));
        let shopper = Shopper::register_as(&market.gateway, &market.store, &email).await;
        let me = "/v1/storefront/customer/me";
        let known = json!({"name": MARKS.name, "phone": MARKS.phone});
        shopper.patch(me).json(known).await.expect(200);
        let mut address = MARKS.address();
        address["is_default"] = json!(true);
        shopper.post("/v1/storefront/customer/addresses").json(address).await.expect(201);
        let one = format!("/v1/customers/{}", shopper.id);
        owner
            .patch(&one)
            .json(json!({"note": MARKS.told, "tags": [MARKS.name], "metadata": {"as": MARKS.name}}))
            .await
            .expect(200);
        let input = json!({
            "title": "Tee", "handle": "tee", "status": "active",
            "variants": [{"price": inr(10_000), "inventory": {"levels": [{"quantity": 9}]}}],
        });
        let tee = owner.post("/v1/products").json(input).await.expect(201);
        let variant = tee.str("/variants/0/id");
        let mut orders = Vec::new();
        for number in 0..2 {
            let mut input = cart(&[(&variant, 1 + number)]);
            input["email"] = json!(email);
            input["shipping_address"] = MARKS.address();
            input["billing_address"] = MARKS.address();
            input["note"] = json!(MARKS.told);
            input["metadata"] = json!({"for": MARKS.name});
            input["items"][0]["metadata"] = json!({"engraving": MARKS.name});
            let placed = shopper.post(&market.orders_path()).json(input).key(&unique("o"));
            orders.push(Placed::of(placed.await.expect(201)));
        }
        // Before they had an account; the address is not proven again.
        let mut input = cart(&[(&variant, 1)]);
        input["email"] = json!(email);
        input["shipping_address"] = MARKS.address();
        orders.push(market.order(input).await);
        for placed in &orders {
            market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
            let parcel = json!({"tracking": {
                "number": MARKS.phone, "company": "Post",
                "url": "https://post.example/Quetzalina",
            }});
            market.act(&placed.id, "fulfill", parcel).await.expect(201);
        }
        let refund = json!({"amount": inr(100), "note": MARKS.told});
        market.act(&orders[0].id, "refund", refund).await.expect(201);
        let review = json!({
            "rating": 5, "title": "Good", "body": "Soft.", "order_item_id": orders[0].line(0),
        });
        let shop = format!("/v1/storefront/{}", market.store.subdomain);
        let reviews = format!("{shop}/products/tee/reviews");
        shopper.post(&reviews).json(review).await.expect(201);
        let wish = json!({"product_id": tee.str("/id")});
        shopper.post("/v1/storefront/customer/wishlist").json(wish).await.expect(201);
        let form = json!({"fields": {
            "email": email.to_uppercase(), "name": MARKS.name, "message": MARKS.told,
        }});
        shopper.post(&format!("{shop}/forms/contact")).json(form).await.expect(202);
        let card = json!({
            "initial_value": inr(500), "note": MARKS.name,
            "recipient": {"email": email, "message": MARKS.told},
        });
        owner.post("/v1/products/gift-cards").key(&unique("c")).json(card).await.expect(201);
        for kind in ["customers", "orders"] {
            let input = json!({"kind": kind, "format": "jsonl"});
            let id = owner.post("/v1/exports").json(input).await.expect(202).str("/id");
            over(&market, &format!("/v1/exports/{id}")).await;
        }
        market.gateway.quiet().await;
        Self { market, shopper, orders }
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/customers/{}/{rest}", self.shopper.id)
    }

    /// Which items still name the person. What is sealed cannot be read; a code that was mailed is
    /// forgotten by itself in a day, after which `is_later` looks at those as well.
    async fn named_in(&self, is_later: bool) -> Vec<(String, Vec<String>)> {
        let all = self.market.gateway.everything().await.into_iter();
        let named = all.map(|(item, files)| {
            let key = format!("{} {}", item["PK"], item["SK"]);
            (key, MARKS.in_text(&self.shopper.email, &format!("{item} {files}")))
        });
        let is_looked_at = |key: &str| is_later || !key.starts_with("\"OTP#");
        named.filter(|(key, found)| !found.is_empty() && is_looked_at(key)).collect()
    }

    /// Moves the clock; the merchant signs in again.
    async fn advance(&self, by: Duration) -> Client {
        self.market.gateway.advance(by);
        self.market.merchant.sign_in_again().await.at(&self.market.store)
    }

    /// Once the redaction is over.
    async fn redacted(&self, owner: &Client) -> Reply {
        let path = self.path("redaction");
        eventually(Duration::from_secs(40), || async {
            let shown = owner.get(&path).await.expect(200);
            if shown.str("/status") != "succeeded" {
                self.market.gateway.sweep().await;
                return None;
            }
            Some(shown)
        })
        .await
    }
}

async fn over(market: &Market, path: &str) -> Reply {
    eventually(Duration::from_secs(30), || async {
        let shown = market.owner.get(path).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(shown)
    })
    .await
}

/// What of an order is money, units or state.
fn sums(order: &Reply) -> Value {
    let mut items = order.json["items"].clone();
    items.as_array_mut().unwrap().iter_mut().for_each(|line| line["metadata"] = json!({}));
    let names = [
        "id",
        "number",
        "totals",
        "status",
        "financial_status",
        "fulfillment_status",
        "refunded_total",
        "payments",
        "discounts",
        "shipping_line",
        "customer_id",
        "created_at",
    ];
    let sums: Value =
        names.iter().map(|name| (name.to_string(), order.json[*name].clone())).collect();
    json!([sums, items])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redaction_erases_personal_data_and_leaves_order_totals() {
    let traces = Traces::leave(0).await;
    let (market, owner) = (&traces.market, &traces.market.owner);
    assert!(traces.named_in(false).await.len() > 15, "{:?}", traces.named_in(false).await);
    let mut before = Vec::new();
    for placed in &traces.orders {
        before.push(sums(&market.show(&placed.id).await));
    }
    let asked = owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    assert!(["scheduled", "running"].contains(&asked.str("/status").as_str()));
    let done = traces.redacted(owner).await;
    assert_eq!(done.str("/customer_id"), traces.shopper.id);
    market.gateway.quiet().await;
    assert_eq!(traces.named_in(false).await, Vec::new());
    // The sums are what they were.
    for (placed, before) in traces.orders.iter().zip(before) {
        let shown = market.show(&placed.id).await;
        assert_eq!(sums(&shown), before);
        assert_eq!(*shown.at("/email"), Value::Null);
        assert_eq!(shown.str("/shipping_address/country"), "DE");
        assert_eq!(shown.str("/shipping_address/line1"), "");
        market.look(placed).await.expect(404);
    }
    // Nothing of it comes out again.
    for kind in ["customers", "orders"] {
        let input = json!({"kind": kind, "format": "jsonl"});
        let id = owner.post("/v1/exports").json(input).await.expect(202).str("/id");
        over(market, &format!("/v1/exports/{id}")).await;
    }
    assert_eq!(traces.named_in(false).await, Vec::new());
    traces.shopper.get("/v1/storefront/customer/me").await.expect(401);
    owner.get(&format!("/v1/customers/{}", traces.shopper.id)).await.expect(404);
    // It is announced, once; and asked again it is answered as it is.
    for name in ["customer.redaction_requested", "customer.deleted", "customer.redacted"] {
        assert_eq!(market.gateway.events(name).await.len(), 1, "{name}");
    }
    assert_eq!(market.gateway.events("order.redacted").await.len(), 3);
    let again = owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    assert_eq!(again.str("/status"), "succeeded");
    let late = owner.delete(&traces.path("redaction")).await.expect(409);
    late.problem("invalid_state_transition");
    // A refund is possible afterwards, and mails nobody.
    market.act(&traces.orders[1].id, "refund", json!({"amount": inr(100)})).await.expect(201);
    // The address is free for a new account.
    let known = json!({"email": traces.shopper.email});
    owner.post("/v1/customers").json(known).await.expect(201);
}

#[tokio::test]
async fn a_scheduled_gift_card_is_not_mailed_to_a_redacted_customer() {
    let traces = Traces::leave(0).await;
    let (gateway, owner) = (&traces.market.gateway, &traces.market.owner);
    let input = json!({"initial_value": inr(500), "recipient": {
        "email": traces.shopper.email, "message": MARKS.told,
        "send_at": gateway.now().plus(Duration::from_hours(2)),
    }});
    let card =
        owner.post("/v1/products/gift-cards").key(&unique("c")).json(input).await.expect(201);
    owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    traces.redacted(owner).await;
    assert_eq!(gateway.items_of("mail", "MAI#").await.len(), 1, "it waits for its time");
    traces.advance(Duration::from_hours(2)).await;
    gateway.sweep().await;
    gateway.quiet().await;
    assert!(gateway.items_of("mail", "MAI#").await.is_empty(), "done with");
    let mails = gateway.mailbox(&traces.shopper.email).mails();
    assert!(mails.iter().all(|mail| !mail.text.contains(&card.str("/code"))));
}

#[tokio::test]
async fn a_scheduled_redaction_can_be_cancelled() {
    let traces = Traces::leave(3).await;
    let (market, owner) = (&traces.market, &traces.market.owner);
    let path = traces.path("redaction");
    owner.get(&path).await.expect(404);
    owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    market.gateway.sweep().await;
    let waiting = owner.get(&path).await.expect(200);
    assert_eq!((waiting.str("/status").as_str(), waiting.int("/version")), ("scheduled", 1));
    assert_eq!(owner.delete(&path).await.expect(200).str("/status"), "cancelled");
    assert_eq!(market.gateway.events("customer.redaction_cancelled").await.len(), 1);
    let owner = &traces.advance(Duration::from_hours(4 * 24)).await;
    market.gateway.sweep().await;
    owner.get(&format!("/v1/customers/{}", traces.shopper.id)).await.expect(200);
    // Asked for again it waits again; then the sweep begins it.
    let again = owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    assert_eq!((again.str("/status").as_str(), again.int("/version")), ("scheduled", 3));
    let owner = &traces.advance(Duration::from_hours(3 * 24 + 1)).await;
    traces.redacted(owner).await;
    market.gateway.quiet().await;
    assert_eq!(traces.named_in(true).await, Vec::new());
}

#[tokio::test]
async fn a_redaction_waits_for_unfulfilled_orders() {
    let traces = Traces::leave(0).await;
    let (market, owner) = (&traces.market, &traces.market.owner);
    let book = market.stock(1_000, 10).await;
    let mut input = cart(&[(&book, 1)]);
    input.as_object_mut().unwrap().remove("email");
    let placed = traces.shopper.post(&market.orders_path()).json(input).key(&unique("o"));
    let placed = Placed::of(placed.await.expect(201));
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    let waits = eventually(Duration::from_secs(20), || async {
        let shown = owner.get(&traces.path("redaction")).await.expect(200);
        (*shown.at("/waits_for_orders") == json!(true)).then_some(shown)
    });
    assert_eq!(waits.await.str("/status"), "scheduled");
    traces.shopper.get("/v1/storefront/customer/me").await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    market.gateway.quiet().await;
    let owner = &traces.advance(Duration::from_hours(25)).await;
    traces.redacted(owner).await;
    let shown = owner.get(&format!("/v1/orders/{}", placed.id)).await.expect(200);
    assert_eq!(*shown.at("/email"), Value::Null);
}

#[tokio::test]
async fn a_deleted_account_is_redacted_through_its_orders() {
    let traces = Traces::leave(0).await;
    let owner = &traces.market.owner;
    owner.delete(&format!("/v1/customers/{}", traces.shopper.id)).await.expect(202);
    traces.market.gateway.quiet().await;
    owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    traces.redacted(owner).await;
    traces.market.gateway.quiet().await;
    assert_eq!(traces.named_in(false).await, Vec::new());
    let nobody = format!("/v1/customers/cus_{}/redact", "0".repeat(32));
    owner.post(&nobody).json(json!({})).await.expect(404);
}

#[tokio::test]
async fn a_data_request_exports_all_records_of_a_customer() {
    let traces = Traces::leave(0).await;
    let (market, owner) = (&traces.market, &traces.market.owner);
    let receiver = Receiver::start().await;
    let subscribe = json!({"url": receiver.url("/in"), "event_types": ["customer.data_requested"]});
    owner.post("/v1/operations/webhook-subscriptions").json(subscribe).await.expect(201);
    let asked = owner.post(&traces.path("data-request")).json(json!({})).await.expect(202);
    let told = receiver.wait_for_event("customer.data_requested").await.json();
    assert_eq!(told["data"]["export_id"], asked.str("/id"));
    assert_eq!(told["data"]["id"], traces.shopper.id);
    let export = over(market, &format!("/v1/exports/{}", asked.str("/id"))).await;
    assert_eq!(export.str("/kind"), "customer");
    let url = export.str("/parts/0/url");
    let path = format!("/v1/{}", url.split_once("/v1/").unwrap().1);
    let file = market.gateway.client().get(&path).await.expect(200).text;
    let lines: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    let kinds = [
        ("customer", 1),
        ("address", 1),
        ("wish", 1),
        ("session", 1),
        ("order", 3),
        ("fulfillment", 3),
        ("refund", 1),
        ("payment", 3),
        ("gift_card", 1),
        ("review", 1),
        ("form_submission", 1),
        ("guest", 1),
    ];
    for (kind, many) in kinds {
        assert_eq!(count(kind), many, "{kind}: {file}");
    }
    assert_eq!(export.int("/done"), 18);
    assert_eq!(MARKS.in_text(&traces.shopper.email, &file).len(), 6);
    // What others have is not in it.
    let other = Shopper::register(&market.gateway, &market.store).await;
    assert!(!file.contains(&other.email));
    owner
        .post(&format!("/v1/customers/cus_{}/data-request", "0".repeat(32)))
        .json(json!({}))
        .await
        .expect(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_redaction_completes_once() {
    let traces = Traces::leave(1).await;
    let (market, owner) = (&traces.market, &traces.market.owner);
    let asked = owner.post(&traces.path("redact")).json(json!({})).await.expect(202);
    let (redaction, process) = (asked.str("/id"), market.gateway.process());
    let owner = &traces.advance(Duration::from_hours(24)).await;
    // Beside the system's own worker, workers that die at any moment.
    for moment in 0..60_u64 {
        let worker = process.step_redaction(&redaction);
        let _ = tokio::time::timeout(Duration::from_millis(moment), worker).await;
    }
    // The last one may have died with the message of the next step: the sweep takes that a minute later.
    market.gateway.advance(MINUTE * 2);
    traces.redacted(owner).await;
    market.gateway.quiet().await;
    assert_eq!(traces.named_in(false).await, Vec::new());
    for name in ["customer.deleted", "customer.redacted"] {
        assert_eq!(market.gateway.events(name).await.len(), 1, "{name}");
    }
    assert_eq!(market.gateway.events("order.redacted").await.len(), 3);
}
