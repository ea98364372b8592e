//! A table that throttles, loses replies, conflicts or is gone: no acknowledged write is lost, no
//! effect is doubled, and nothing internal is told. The embedded table never does any of it, so a
//! layer before it does, at the calls that a test names (docs/platform.md §1).

mod bulk;

use std::time::Duration;

use delivery::delivery::Delivery;
use delivery::subscription::Subscription;
use emulators::faults::{Fault, Faults};
use gateway::app::App;
use support::{
    Client, Gateway, Market, Merchant, Receiver, Shop, Shopper, cart, inr, json, unique,
};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The same system, with a faulty way to its table.
struct Faulty {
    url: String,
    app: App,
    faults: Faults,
    _tasks: JoinSet<()>,
}

impl Faulty {
    async fn alongside(gateway: &Gateway) -> Self {
        let faults = Faults::planned();
        let app = gateway.system().embedded().app_over(&faults);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = local::routes().into_router(app.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, app, faults, _tasks: tasks }
    }

    /// The same client, over the faulty way.
    fn take(&self, client: &Client) -> Client {
        client.at_url(&self.url)
    }

    /// The next calls of these operations go wrong, in this order.
    fn will(&self, faults: impl IntoIterator<Item = (&'static str, Fault)>) {
        self.faults.will(faults);
    }

    /// How many calls of this operation have come.
    fn came(&self, operation: &str) -> usize {
        self.faults.came(operation)
    }

    /// How many planned faults have not happened.
    fn left(&self) -> usize {
        self.faults.left()
    }
}

const WRITE: &str = "TransactWriteItems";

#[tokio::test]
async fn a_code_redemption_survives_a_lost_reply() {
    let mut shop = Shop::with_published_app(&["read_store"]).await;
    let faulty = Faulty::alongside(&shop.gateway).await;
    let grant = shop.authorize().await;
    shop.app_server = faulty.take(&shop.app_server);
    faulty.will([(WRITE, Fault::LostReply), (WRITE, Fault::LostReply)]);
    let token = shop.redeem(&grant).await.expect(200);
    assert_eq!(faulty.left(), 0);
    let app = shop.gateway.client().with_token(&token.str("/access_token"));
    app.get(&format!("/v1/stores/{}", shop.store.id)).await.expect(200);
    assert_eq!(shop.gateway.events("app.token_issued").await.len(), 1);
}

#[tokio::test]
async fn a_conflicting_transaction_is_retried() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    faulty.will([(WRITE, Fault::Conflict); 5]);
    let input = json!({"name": "A Shop", "subdomain": unique("conflict"), "currency": "INR", "country": "IN"});
    faulty.take(&merchant).post("/v1/stores").json(input).await.expect(201);
    assert_eq!(faulty.left(), 0);
    assert_eq!(gateway.items_of("store", "STO#").await.len(), 1);
}

/// Also where no transaction is written: the record of a key, a bucket, a counter.
#[tokio::test]
async fn a_single_write_that_conflicts_with_a_transaction_is_retried() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    let faulty = Faulty::alongside(&market.gateway).await;
    let owner = faulty.take(&market.owner);
    faulty.will([("PutItem", Fault::Conflict), ("PutItem", Fault::Conflict)]);
    let input = json!({"title": "A Lamp", "variants": [{"price": inr(100)}]});
    owner.post("/v1/products").key("k").json(input).await.expect(201);
    assert_eq!(faulty.left(), 0);
    let client = faulty.take(&market.gateway.client());
    faulty.will([("UpdateItem", Fault::Conflict), ("UpdateItem", Fault::Conflict)]);
    client.post(&market.orders_path()).key("k").json(cart(&[(&book, 1)])).await.expect(201);
    let input = json!({"email": market.merchant.email, "password": support::PASSWORD});
    faulty.will([("UpdateItem", Fault::Conflict); 2]);
    faulty.take(&market.gateway.client()).post("/v1/auth/signin").json(input).await.expect(200);
    assert_eq!(faulty.left(), 0);
}

#[tokio::test]
async fn a_throttled_table_is_a_503_without_internals() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let before = gateway.count().await;
    faulty.will([("BatchGetItem", Fault::Throttled); 3]);
    let reply =
        faulty.take(&merchant).get("/v1/auth/me").await.expect(503).problem("service_unavailable");
    assert_eq!(reply.header("retry-after"), Some("1"));
    for inner in ["hroughput", "hrottl", "DynamoDB", "commerce", "TransactWrite"] {
        assert!(!reply.text.contains(inner), "{}", reply.text);
    }
    // More than there are attempts: a transaction that is cancelled for it is tried again for longer.
    faulty.will([(WRITE, Fault::Throttled); 40]);
    let input = json!({"name": "A Shop", "subdomain": unique("throttled"), "currency": "INR", "country": "IN"});
    faulty.take(&merchant).post("/v1/stores").json(input).await.expect(503);
    assert_eq!(gateway.count().await, before);
}

#[tokio::test]
async fn rate_limits_fail_open_for_reads_and_closed_for_sign_in() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    faulty.will([("UpdateItem", Fault::Throttled); 3]);
    let path = format!("/v1/stores/{}", store.id);
    let reply = faulty.take(&merchant).get(&path).await.expect(200);
    assert_eq!(reply.header("x-service-cost-actual"), Some("0"), "nothing was charged");
    assert_eq!(faulty.left(), 0);
    faulty.will([("UpdateItem", Fault::Throttled); 3]);
    let input = json!({"email": merchant.email, "password": support::PASSWORD});
    faulty.take(&merchant).post("/v1/auth/signin").json(input).await.expect(503);
}

#[tokio::test]
async fn a_lost_reply_charges_a_bucket_once() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let path = format!("/v1/stores/{}", store.id);
    gateway.app().clock.stop();
    let available = |reply: support::Reply| -> i64 {
        reply.header("x-service-cost-available").unwrap().parse().unwrap()
    };
    let client = faulty.take(&merchant);
    let first = available(client.get(&path).await.expect(200));
    faulty.will([("UpdateItem", Fault::LostReply)]);
    let second = available(client.get(&path).await.expect(200));
    assert_eq!((first - second, faulty.left()), (1, 0));
}

#[tokio::test]
async fn a_read_is_charged_concurrently_and_still_rate_limited() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = faulty.take(&merchant);
    // The list is read while its charge is under way; before it, the charge would never end.
    faulty.will([("UpdateItem", Fault::Behind("Query", 1))]);
    let list = client.get("/v1/stores").await.expect(200);
    assert_eq!((list.header("x-service-cost-requested"), faulty.left()), (Some("3"), 0));
    assert_eq!(faulty.came("UpdateItem"), 1, "its first call was answered");
    assert_ne!(list.header("x-service-cost-actual"), Some("0"), "it was charged");
    // What another process has spent is found out beside the read, too.
    gateway.app().clock.stop();
    gateway.advance(Duration::from_mins(1));
    for _ in 0..100 {
        merchant.post("/v1/stores").json(json!({})).await.expect(422);
    }
    faulty.will([("UpdateItem", Fault::Behind("Query", 2))]);
    let rejected = client.get("/v1/stores").await.expect(429).problem("rate_limited");
    assert_eq!(faulty.came("UpdateItem"), 2);
    assert_eq!((rejected.header("x-service-cost-actual"), faulty.left()), (Some("0"), 0));
    assert_eq!(rejected.json["cost"]["available"], 0);
    // And it is remembered, so that nothing is read in vain again.
    let again = client.get("/v1/stores").await.expect(429);
    assert_eq!(again.charges(), 0);
    assert!(again.trips() < rejected.trips(), "{} trips", again.trips());
}

#[tokio::test]
async fn an_idempotency_lease_survives_a_lost_reply() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    faulty.will([("PutItem", Fault::LostReply), (WRITE, Fault::LostReply)]);
    let input = json!({"name": "A Shop", "subdomain": unique("claimed"), "currency": "INR", "country": "IN"});
    let client = faulty.take(&merchant);
    let first = client.post("/v1/stores").json(input.clone()).key("k").await.expect(201);
    assert_eq!(faulty.left(), 0);
    let again = client.post("/v1/stores").json(input).key("k").await.expect(201);
    assert_eq!(again.text, first.text);
    assert_eq!(gateway.items_of("store", "STO#").await.len(), 1);
}

/// Nothing was claimed, and nobody was told: the record of what was done is there all the same.
#[tokio::test]
async fn an_order_whose_reply_was_lost_is_placed_once() {
    let market = Market::open().await;
    let book = market.stock(100, 9).await;
    let faulty = Faulty::alongside(&market.gateway).await;
    let client = faulty.take(&market.gateway.client());
    let order = || client.post(&market.orders_path()).key("k").json(cart(&[(&book, 1)]));
    for fault in [Fault::LostReply, Fault::Conflict, Fault::Throttled] {
        faulty.will([(WRITE, fault)]);
        let placed = order().await.expect(201);
        assert_eq!(faulty.left(), 0, "{fault:?}");
        assert_eq!(faulty.came("PutItem"), 0, "nothing is claimed");
        let again = order().await.expect(201);
        assert_eq!(again.text, placed.text, "{fault:?}");
    }
    assert_eq!(market.levels(&book).await, [8, 1, 0, 9]);
}

#[tokio::test]
async fn an_expired_idempotency_lease_is_taken_over_and_the_slow_original_fails() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let faulty = Faulty::alongside(&gateway).await;
    // The original claims its key and then finds its table too busy to write for a while.
    let input =
        json!({"name": "A Shop", "subdomain": unique("slow"), "currency": "INR", "country": "IN"});
    faulty.will([(WRITE, Fault::Conflict); 8]);
    let slow = faulty.take(&merchant);
    let (original, second) =
        tokio::join!(async { slow.post("/v1/stores").json(input.clone()).key("k").await }, async {
            support::eventually(Duration::from_secs(10), || async {
                let claimed = gateway.items("IDM#").await.len() == 1 && faulty.left() < 8;
                claimed.then_some(())
            })
            .await;
            gateway.advance(Duration::from_secs(31));
            merchant.post("/v1/stores").json(input.clone()).key("k").await
        });
    let second = second.expect(201);
    assert!(matches!(original.status, 409 | 422 | 503), "{}", original.text);
    assert_eq!(gateway.items_of("store", "STO#").await.len(), 1);
    assert_eq!(gateway.events("store.created").await.len(), 1);
    let replay = merchant.post("/v1/stores").json(input).key("k").await.expect(201);
    assert_eq!(replay.text, second.text);
}

#[tokio::test]
async fn a_delivery_with_failing_writes_is_sent_and_recorded_once() {
    for fault in [Fault::LostReply, Fault::Conflict, Fault::Throttled] {
        let gateway = Gateway::start_with(|options| options.has_stream = false).await;
        let faulty = Faulty::alongside(&gateway).await;
        let (merchant, receiver) = (Merchant::sign_up(&gateway).await, Receiver::start().await);
        let store = merchant.open_store().await;
        let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
        let path = "/v1/operations/webhook-subscriptions";
        merchant.at(&store).post(path).json(input).await.expect(201);
        let path = format!("/v1/stores/{}", store.id);
        merchant.at(&store).patch(&path).json(json!({"name": "Once"})).await.expect(200);
        let found = gateway.items_of("webhook_subscription", "STO#").await.remove(0);
        let mut subscription: Subscription = serde_json::from_value(found).unwrap();
        // Known to be prompt, so that the attempt is not claimed.
        subscription.health.recent_ms = vec![1];
        gateway.app().table.write().put(&subscription).commit().await.unwrap();
        let mut events = gateway.all_events().await;
        events.retain(|event| event.name == "store.updated");
        let event = events.remove(0);
        faulty.will([("PutItem", fault), ("PutItem", fault)]);
        let delivery = Delivery::new(&event, &subscription, gateway.now());
        delivery.create(&faulty.app).await.unwrap();
        webhooks::attempt(&faulty.app, &delivery.message()).await.unwrap();
        assert_eq!(faulty.left(), 0, "{fault:?}");
        assert_eq!(receiver.requests().len(), 1, "{fault:?}");
        let stored = gateway.items_of("delivery", "DLV#").await;
        assert_eq!(stored.len(), 1);
        assert_eq!(
            (stored[0]["status"].as_str(), stored[0]["version"].as_u64()),
            (Some("succeeded"), Some(2)),
            "{fault:?}"
        );
        assert_eq!(stored[0]["attempts"].as_array().map(Vec::len), Some(1));
    }
}

const LATE: (&str, Fault) = ("Query", Fault::Stale);

/// Whether a list shows this, as late as its index is.
async fn lists(client: &Client, path: &str, id: &str) -> bool {
    client.get(path).await.expect(200).data().iter().any(|each| each["id"] == id)
}

#[tokio::test]
async fn a_submission_is_decided_by_its_id_before_any_index_has_it() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let faulty = Faulty::alongside(&shop.gateway).await;
    let (developer, operator) = (faulty.take(&shop.developer), faulty.take(&shop.operator));
    faulty.will([LATE; 4]);
    let path = format!("/v1/app-store/developers/apps/{}/submissions", shop.app.id);
    let input = support::Developer::submission_fields("2.0.0");
    let id = developer.post(&path).json(input).await.expect(201).str("/id");
    let queue = "/v1/app-store/submissions";
    let approve = format!("{queue}/{id}/approve");
    operator.post(&approve).json(json!({})).await.expect(200);
    assert!(!lists(&operator, &format!("{queue}?status=approved"), &id).await, "it is behind");
    assert!(lists(&shop.operator, &format!("{queue}?status=approved"), &id).await);
    shop.operator.post(&approve).json(json!({})).await.expect(409);
}

#[tokio::test]
async fn a_review_of_an_app_is_answered_by_its_id_before_any_index_has_it() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    shop.authorize().await;
    let faulty = Faulty::alongside(&shop.gateway).await;
    let (developer, owner) = (faulty.take(&shop.developer), faulty.take(&shop.owner()));
    faulty.will([LATE; 4]);
    let path = format!("/v1/app-store/apps/{}/reviews", shop.app.id);
    let input = json!({"rating": 4, "body": "It does what it says."});
    let id = owner.post(&path).json(input).await.expect(201).str("/id");
    let reply = format!("{path}/{id}/reply");
    developer.post(&reply).json(json!({"body": "Thank you."})).await.expect(200);
    assert!(!lists(&developer, &path, &id).await, "it is behind");
    shop.owner().delete(&format!("{path}/{id}")).await.expect(204);
    shop.developer.post(&reply).json(json!({"body": "A pity."})).await.expect(404);
    assert_eq!(shop.gateway.items_of("pointer", "APP#").await.len(), 0);
}

#[tokio::test]
async fn a_review_of_a_product_is_decided_by_its_id_before_any_index_has_it() {
    let market = Market::open().await;
    let input = json!({"title": "Mug", "handle": "mug", "status": "active", "variants": [{"price": inr(100)}]});
    market.owner.post("/v1/products").json(input).await.expect(201);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let faulty = Faulty::alongside(&market.gateway).await;
    let (shopper, owner) = (faulty.take(&shopper), faulty.take(&market.owner));
    faulty.will([LATE; 8]);
    let path = format!("/v1/storefront/{}/products/mug/reviews", market.store.subdomain);
    let input = json!({"rating": 4, "title": "Good", "body": "Keeps tea warm."});
    let id = shopper.post(&path).json(input).await.expect(201).str("/id");
    for (action, input) in [("reply", json!({"body": "Thank you."})), ("approve", json!({}))] {
        owner.post(&format!("/v1/reviews/{id}/{action}")).json(input).await.expect(200);
    }
    assert!(!lists(&owner, "/v1/reviews", &id).await, "it is behind");
    assert!(lists(&market.owner, "/v1/reviews", &id).await);
}

#[tokio::test]
async fn a_merchants_only_store_is_known_before_any_index_has_it() {
    let gateway = Gateway::start().await;
    let faulty = Faulty::alongside(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = faulty.take(&merchant);
    faulty.will([LATE; 8]);
    let open = async |name: &str| {
        let input =
            json!({"name": "A Shop", "subdomain": name, "currency": "INR", "country": "IN"});
        client.post("/v1/stores").json(input).await.expect(201).str("/id")
    };
    let lamp = || {
        client
            .post("/v1/products")
            .json(json!({"title": "A Lamp", "variants": [{"price": inr(100)}]}))
    };
    let (one, other) = (unique("first"), unique("second"));
    let first = open(&one).await;
    lamp().await.expect(201);
    assert!(!lists(&client, "/v1/stores", &first).await, "it is behind");
    let second = open(&other).await;
    lamp().await.expect(400).problem("store_required");
    // The one that is left is not the newest.
    let delete = client.delete(&format!("/v1/stores/{second}")).json(json!({"confirm": other}));
    delete.await.expect(202);
    faulty.faults.settle().await;
    lamp().await.expect(201);
    assert_eq!(gateway.items_of("product", &format!("STO#{first}")).await.len(), 2);
}

#[tokio::test]
async fn storefront_filters_resolve_new_categories_despite_stale_reads() {
    let market = Market::open().await;
    let cups = json!({"name": "Cups"});
    let picks = json!({"title": "Picks", "kind": "manual", "published": true, "product_ids": []});
    for (kind, noun, operation, input) in [
        ("category", "categories", "Query", cups),
        ("collection", "collections", "BatchGetItem", picks),
    ] {
        let faulty = Faulty::alongside(&market.gateway).await;
        let (owner, visitor) = (faulty.take(&market.owner), faulty.take(&market.gateway.client()));
        faulty.will([(operation, Fault::Stale); 16]);
        let made = owner.post(&format!("/v1/products/{noun}")).json(input).await.expect(201);
        let front = format!("/v1/storefront/{}", market.store.subdomain);
        let handle = made.str("/handle");
        visitor.get(&format!("{front}/{noun}/{handle}")).await.expect(200);
        visitor.get(&format!("{front}/products?{kind}={handle}")).await.expect(200);
    }
}
