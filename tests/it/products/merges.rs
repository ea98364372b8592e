//! Two accounts of one person become one.

use std::time::Duration;

use support::{Market, Placed, Reply, Shopper, Value, cart, eventually, inr, json, race, unique};

/// A market with two accounts of one person: `old` has left traces everywhere.
struct Twins {
    market: Market,
    old: Shopper,
    new: Shopper,
    book: String,
    tee: Reply,
    card: String,
}

fn street(name: &str) -> Value {
    json!({"line1": name, "city": "Berlin", "postal_code": "10115", "country": "DE"})
}

impl Twins {
    async fn bear() -> Self {
        let market = Market::proven().await;
        let owner = &market.owner;
        let settings = format!("/v1/stores/{}/settings", market.store.id);
        let change = json!({"privacy": {"redaction_days": 0}, "reviews": {"auto_publish": true}});
        owner.patch(&settings).json(change).await.expect(200);
        let old = Shopper::register(&market.gateway, &market.store).await;
        let new = Shopper::register(&market.gateway, &market.store).await;
        let input = json!({"title": "Tee", "handle": "tee", "status": "active",
            "variants": [{"price": inr(10_000), "inventory": {"levels": [{"quantity": 9}]}}]});
        let tee = owner.post("/v1/products").json(input).await.expect(201);
        let book = market.stock(1_000, 100).await;
        let card = json!({"initial_value": inr(500), "customer_id": old.id});
        let card = owner.post("/v1/products/gift-cards").key(&unique("c")).json(card).await;
        let card = card.expect(201).str("/id");
        Self { market, old, new, book, tee, card }
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/customers/{}/{rest}", self.new.id)
    }

    /// An order of one of them.
    async fn order(&self, shopper: &Shopper, fields: Value) -> Reply {
        let mut input = cart(&[(&self.book, 1)]);
        for (name, value) in fields.as_object().unwrap() {
            input[name] = value.clone();
        }
        shopper.post(&self.market.orders_path()).json(input).key(&unique("o")).await
    }

    async fn paid(&self, shopper: &Shopper) -> Placed {
        let placed = Placed::of(self.order(shopper, json!({})).await.expect(201));
        self.market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
        placed
    }

    async fn merge(&self) -> Reply {
        let input = json!({"source_id": self.old.id});
        self.market.owner.post(&self.path("merges")).json(input).await
    }

    async fn customer_record(&self, id: &str) -> Reply {
        self.market.owner.get(&format!("/v1/customers/{id}")).await.expect(200)
    }

    /// Once the merge is over.
    async fn merged(&self) -> Reply {
        eventually(Duration::from_secs(40), || async {
            let all = self.market.owner.get(&self.path("merges")).await.expect(200);
            let merge =
                all.json["data"].as_array().unwrap().iter().find(|merge| {
                    merge["source_id"] == self.old.id && merge["status"] == "succeeded"
                });
            if merge.is_none() {
                // What the indexes show late is looked for after a while.
                self.market.gateway.advance(Duration::from_secs(2));
                self.market.gateway.sweep().await;
            }
            merge.map(|_| all.clone())
        })
        .await
    }

    /// What the two have spent and ordered: it is what their orders have brought in.
    async fn audit(&self, id: &str) -> (i64, i64) {
        let orders = self.market.owner.get(&format!("/v1/customers/{id}/orders?limit=100")).await;
        let orders = orders.expect(200).json["data"].as_array().unwrap().clone();
        let paid = orders.iter().filter(|order| order["financial_status"] == "paid");
        let paid = paid.map(|order| order["totals"]["total"]["amount"].as_i64().unwrap()).sum();
        let shown = self.customer_record(id).await;
        let counted = (shown.int("/orders_count"), shown.int("/total_spent/amount"));
        assert_eq!(counted, (i64::try_from(orders.len()).unwrap(), paid));
        counted
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_moves_all_records_to_the_target_customer() {
    let twins = Twins::bear().await;
    let Twins { market, old, new, .. } = &twins;
    let owner = &market.owner;
    for (shopper, streets) in [(old, ["A", "B"]), (new, ["B", "C"])] {
        for name in streets {
            let input = street(name);
            shopper.post("/v1/storefront/customer/addresses").json(input).await.expect(201);
        }
        let wish = json!({"product_id": twins.tee.str("/id")});
        shopper.post("/v1/storefront/customer/wishlist").json(wish).await.expect(201);
    }
    let mug = json!({"title": "Mug", "handle": "mug", "status": "active",
        "variants": [{"price": inr(100)}]});
    let mug = owner.post("/v1/products").json(mug).await.expect(201).str("/id");
    let wish = json!({"product_id": mug});
    old.post("/v1/storefront/customer/wishlist").json(wish).await.expect(201);
    let shop = format!("/v1/storefront/{}", market.store.subdomain);
    for (shopper, handle, rating) in [(old, "tee", 1), (new, "tee", 5), (old, "mug", 3)] {
        let review = json!({"rating": rating, "title": "It is", "body": "So."});
        let path = format!("{shop}/products/{handle}/reviews");
        shopper.post(&path).json(review).await.expect(201);
    }
    let once = json!({"title": "Once", "kind": "percentage", "code": "ONCE",
        "value": {"basis_points": 1_000}, "per_customer_limit": 1});
    owner.post("/v1/discounts").json(once).await.expect(201);
    let discounted = twins.order(old, json!({"discount_codes": ["ONCE"]})).await.expect(201);
    market.act(&discounted.str("/order/id"), "mark-paid", json!({})).await.expect(200);
    twins.paid(old).await;
    twins.paid(new).await;
    let known = json!({"note": "tall", "tags": ["vip"], "metadata": {"erp": "1"}});
    owner.patch(&format!("/v1/customers/{}", old.id)).json(known).await.expect(200);
    let known = json!({"note": "kind", "tags": ["eu"], "name": null});
    owner.patch(&format!("/v1/customers/{}", new.id)).json(known).await.expect(200);
    market.gateway.quiet().await;

    let asked = twins.merge().await.expect(202);
    assert_eq!(asked.str("/customer_id"), new.id);
    old.get("/v1/storefront/customer/me").await.expect(401);
    owner.get(&format!("/v1/customers/{}", old.id)).await.expect(404);
    let all = twins.merged().await;
    assert_eq!((all.data().len(), all.str("/data/0/id")), (1, asked.str("/id")));
    let shown = twins.customer_record(&new.id).await;
    assert_eq!(shown.str("/name"), "Cleo de la Cruz");
    assert_eq!(shown.str("/email"), new.email);
    assert_eq!(shown.str("/note"), "kind\ntall");
    assert_eq!(*shown.at("/tags"), json!(["eu", "vip"]));
    assert_eq!(shown.str("/metadata/erp"), "1");
    assert_eq!(twins.audit(&new.id).await, (3, 2_900));
    let orders = new.get("/v1/storefront/customer/orders").await.expect(200);
    assert_eq!(orders.data().len(), 3);
    let addresses = new.get("/v1/storefront/customer/addresses").await.expect(200);
    let streets = addresses.json["data"].as_array().unwrap().iter();
    let mut streets: Vec<_> = streets.map(|one| one["line1"].as_str().unwrap()).collect();
    streets.sort_unstable();
    assert_eq!(streets, ["A", "B", "C"]);
    let wishes = new.get("/v1/storefront/customer/wishlist").await.expect(200);
    assert_eq!(wishes.data().len(), 2);
    let card = owner.get(&format!("/v1/products/gift-cards/{}", twins.card)).await.expect(200);
    assert_eq!(card.str("/customer_id"), new.id);
    // What the one who stays said of the same thing holds, and counts.
    let reviews = owner.get("/v1/reviews").await.expect(200).json["data"].clone();
    let reviews = reviews.as_array().unwrap();
    assert_eq!(reviews.len(), 2);
    assert!(reviews.iter().all(|review| review["customer_id"] == new.id));
    let tee = owner.get(&format!("/v1/products/{}", twins.tee.str("/id"))).await.expect(200);
    assert_eq!(*tee.at("/rating"), json!({"avg": 5.0, "count": 1}));
    let mugs = reviews.iter().find(|review| review["rating"] == 3).unwrap();
    let hide = format!("/v1/reviews/{}/reject", mugs["id"].as_str().unwrap());
    owner.post(&hide).json(json!({})).await.expect(200);
    // They have used the code.
    let rejected = twins.order(new, json!({"discount_codes": ["ONCE"]})).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "discount_used_by_customer");
    // It is announced once, and asked again it is answered as it is.
    assert_eq!(market.gateway.events("customer.merged").await.len(), 1);
    assert!(market.gateway.events("customer.deleted").await.is_empty());
    let again = twins.merge().await.expect(202);
    assert_eq!((again.str("/id"), again.str("/status")), (asked.str("/id"), "succeeded".into()));
    // The address is free for a new account.
    let known = json!({"email": old.email});
    owner.post("/v1/customers").json(known).await.expect(201);
    assert!(
        market.gateway.items(&format!("STO#{}#CUS#{}", market.store.id, old.id)).await.is_empty()
    );
}

#[tokio::test]
async fn a_merge_is_rejected_with_all_reasons() {
    let twins = Twins::bear().await;
    let owner = &twins.market.owner;
    let request =
        |source: &str| owner.post(&twins.path("merges")).json(json!({"source_id": source}));
    let field_error = |reply: Reply| reply.expect(422).field_errors();
    let at = |code: &str| vec![("/source_id".to_owned(), code.to_owned())];
    assert_eq!(field_error(request(&twins.new.id).await), at("same_customer"));
    let nobody = format!("cus_{}", "0".repeat(32));
    assert_eq!(field_error(request(&nobody).await), at("unknown_customer"));
    let stranger = owner.post(&format!("/v1/customers/{nobody}/merges"));
    stranger.json(json!({"source_id": twins.old.id})).await.expect(404);
    for (id, prefix) in [(&twins.old.id, "old"), (&twins.new.id, "new")] {
        let words: Vec<_> = (0..26).map(|number| format!("{prefix}{number}")).collect();
        let full = json!({"tags": words, "note": "n".repeat(1_500)});
        owner.patch(&format!("/v1/customers/{id}")).json(full).await.expect(200);
    }
    let settings = format!("/v1/stores/{}/settings", twins.market.store.id);
    owner.patch(&settings).json(json!({"privacy": {"redaction_days": 9}})).await.expect(200);
    let forget = format!("/v1/customers/{}/redact", twins.old.id);
    owner.post(&forget).json(json!({})).await.expect(202);
    let before = twins.market.gateway.count().await;
    let rejected = request(&twins.old.id).await.expect(409);
    assert_eq!(
        *rejected.problem("customers_not_mergeable").at("/reasons"),
        json!(["note", "redaction", "tags"])
    );
    assert_eq!(twins.market.gateway.count().await, before);
    twins.old.get("/v1/storefront/customer/me").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_merge_counts_each_order_once() {
    let twins = Twins::bear().await;
    let Twins { market, old, new, .. } = &twins;
    let mut orders = Vec::new();
    for _ in 0..12 {
        orders.push(Placed::of(twins.order(old, json!({})).await.expect(201)));
    }
    for number in 0..4 {
        let input = street(&number.to_string());
        old.post("/v1/storefront/customer/addresses").json(input).await.expect(201);
    }
    twins.paid(new).await;
    twins.merge().await.expect(202);
    let merge = market.gateway.items_of("merge", "STO#").await.remove(0);
    let process = market.gateway.process();
    // Beside the system's own worker, workers that die at any moment; and money arrives.
    let dying = async {
        for moment in 0..40_u64 {
            let worker = process.step_merge(&merge);
            let _ = tokio::time::timeout(Duration::from_millis(moment), worker).await;
        }
    };
    let paying = async {
        for placed in &orders {
            market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
        }
    };
    tokio::join!(dying, paying);
    twins.merged().await;
    assert_eq!(twins.audit(&new.id).await, (13, 13_000));
    let addresses = new.get("/v1/storefront/customer/addresses").await.expect(200);
    assert_eq!(addresses.data().len(), 4);
    let refund = json!({"amount": inr(100)});
    market.act(&orders[0].id, "refund", refund).await.expect(201);
    assert_eq!(twins.customer_record(&new.id).await.int("/total_spent/amount"), 12_900);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_merges_never_form_a_cycle() {
    let twins = Twins::bear().await;
    let Twins { market, old, new, .. } = &twins;
    let third = Shopper::register(&market.gateway, &market.store).await;
    for shopper in [old, new, &third] {
        twins.paid(shopper).await;
    }
    let into = |to: &str, from: &str| {
        let path = format!("/v1/customers/{to}/merges");
        market.owner.post(&path).json(json!({"source_id": from}))
    };
    let circles = [(&new.id, &old.id), (&old.id, &third.id), (&third.id, &new.id)];
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let answers = race(30, || async {
        let at = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % circles.len();
        let (to, from) = circles[at];
        (at, into(to, from).await)
    })
    .await;
    for (_, answer) in &answers {
        assert!([202, 404, 409, 422].contains(&answer.status), "{answer:?}");
    }
    let taken: std::collections::BTreeSet<_> =
        answers.iter().filter(|(_, answer)| answer.status == 202).map(|(at, _)| *at).collect();
    assert!(!taken.is_empty() && taken.len() < 3, "{taken:?}");
    let left = eventually(Duration::from_secs(40), || async {
        market.gateway.advance(Duration::from_secs(2));
        let merges = market.gateway.items_of("merge", "").await;
        let is_over = merges.iter().all(|merge| merge["status"] == "succeeded");
        let all = market.owner.get("/v1/customers").await.expect(200);
        is_over.then(|| all.json["data"].as_array().unwrap().clone())
    })
    .await;
    assert_eq!(left.len(), 3 - taken.len());
    let mut sum = (0, 0);
    for customer in left {
        let (orders, spent) = twins.audit(customer["id"].as_str().unwrap()).await;
        sum = (sum.0 + orders, sum.1 + spent);
    }
    assert_eq!(sum, (3, 3_000));
    assert_eq!(market.gateway.events("customer.merged").await.len(), taken.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merged_customer_is_redacted_with_both_identities() {
    let twins = Twins::bear().await;
    let Twins { market, old, new, .. } = &twins;
    for shopper in [old, new] {
        let input = json!({"email": shopper.email, "shipping_address": street("Kudamm")});
        let placed = twins.order(shopper, input).await.expect(201).str("/order/id");
        market.act(&placed, "mark-paid", json!({})).await.expect(200);
        market.act(&placed, "fulfill", json!({})).await.expect(201);
    }
    market.gateway.quiet().await;
    twins.merge().await.expect(202);
    // It waits for the merge.
    let forget = twins.path("redact");
    market.owner.post(&forget).json(json!({})).await.expect(202);
    eventually(Duration::from_secs(40), || async {
        market.gateway.advance(Duration::from_secs(2));
        let shown = market.owner.get(&twins.path("redaction")).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(())
    })
    .await;
    market.gateway.quiet().await;
    let emails = [&old.email, &new.email].map(|email| email.to_lowercase());
    let named: Vec<_> = market.gateway.everything().await.into_iter().collect();
    let named = named.iter().map(|(item, files)| (item, format!("{item} {files}").to_lowercase()));
    let named = named.filter(|(item, _)| !item["PK"].as_str().unwrap().starts_with("OTP#"));
    let named: Vec<_> = named
        .filter(|(_, text)| {
            emails.iter().any(|email| text.contains(email)) || text.contains("kudamm")
        })
        .map(|(item, _)| format!("{} {}", item["PK"], item["SK"]))
        .collect();
    assert_eq!(named, Vec::<String>::new());
    assert!(market.gateway.items_of("merge", "").await.is_empty());
}
