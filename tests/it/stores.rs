//! Stores: their states, their subdomains, what they say of themselves.

mod alerts;
mod branding;
mod domains;
mod members;
mod notifications;
mod readiness;
mod shipping;

use support::clock::{DAY, MINUTE};
use support::{Client, Gateway, Market, Merchant, Value, cart, json, race, unique};

fn fields(subdomain: &str) -> Value {
    json!({"name": "A Shop", "subdomain": subdomain, "currency": "INR", "country": "IN"})
}

#[tokio::test]
async fn a_subdomain_is_claimed_once_by_50_parallel_merchants() {
    let gateway = Gateway::start().await;
    let mut merchants = Vec::new();
    for _ in 0..5 {
        merchants.push(Merchant::sign_up(&gateway).await);
    }
    let subdomain = unique("raced");
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers = race(50, || {
        let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % merchants.len();
        let input = merchants[place].post("/v1/stores").json(fields(&subdomain));
        async move { input.await }
    })
    .await;
    let opened = answers.iter().filter(|answer| answer.status == 201).count();
    let taken = answers.iter().filter(|answer| answer.json["code"] == "subdomain_taken").count();
    assert_eq!((opened, taken), (1, 49));
    assert_eq!(gateway.events("store.created").await.len(), 1);
}

#[tokio::test]
async fn a_stores_region_and_time_zone_are_normalized() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let open = |place: Value| {
        let mut input = fields(&unique("placed"));
        for (name, value) in place.as_object().unwrap() {
            input[name] = value.clone();
        }
        merchant.post("/v1/stores").json(input)
    };
    let wrong = open(json!({"timezone": "Europe/Pariss"})).await.expect(422);
    assert_eq!(wrong.field_errors(), [("/timezone".into(), "invalid_timezone".into())]);
    let made = open(json!({"country": "BR", "region": "Sao Paulo", "timezone": "europe/paris"}));
    let made = made.await.expect(201);
    assert_eq!((made.str("/region"), made.str("/timezone")), ("SP".into(), "Europe/Paris".into()));
    open(json!({"country": "XK"})).await.expect(201);
}

#[tokio::test]
async fn a_store_allows_only_valid_status_transitions() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let path = |action: &str| format!("/v1/stores/{}/{action}", store.id);
    for (action, expected) in [
        ("pause", None),
        ("reopen", None),
        ("activate", Some("active")),
        ("activate", None),
        ("pause", Some("paused")),
        ("activate", Some("active")),
        ("close", Some("closed")),
        ("activate", None),
        ("reopen", Some("paused")),
    ] {
        let as_is = if action == "activate" { support::open_as_is() } else { json!({}) };
        let reply = merchant.post(&path(action)).json(as_is).await;
        if let Some(status) = expected {
            assert_eq!(reply.expect(200).str("/status"), status);
            continue;
        }
        let rejected = reply.expect(409).problem("invalid_state_transition");
        assert!(rejected.at("/allowed_actions").as_array().is_some(), "{action}");
    }
    let delete = merchant.delete(&format!("/v1/stores/{}", store.id));
    delete.json(json!({"confirm": "another"})).await.expect(422);
    let delete = merchant.delete(&format!("/v1/stores/{}", store.id));
    delete.json(json!({"confirm": store.subdomain})).await.expect(202);
    merchant.get(&format!("/v1/stores/{}", store.id)).await.expect(404).problem("not_found");
    assert_eq!(merchant.get("/v1/stores").await.expect(200).data().len(), 0);
    // The grace ends: whoever holds the store's data is told to remove it, once.
    gateway.advance(31 * DAY);
    gateway.sweep().await;
    gateway.sweep().await;
    assert_eq!(gateway.events("store.redacted").await.len(), 1);
}

#[tokio::test]
async fn a_renamed_store_keeps_its_old_subdomain_reserved() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let path = format!("/v1/stores/{}", store.id);
    let moved = unique("moved");
    let view = merchant.patch(&path).json(json!({"subdomain": moved})).await.expect(200);
    assert_eq!((view.str("/subdomain"), view.int("/version")), (moved, 2));
    let other = Merchant::sign_up(&gateway).await;
    let taken = other.post("/v1/stores").json(fields(&store.subdomain)).await.expect(409);
    taken.problem("subdomain_taken");
    merchant.patch(&path).json(json!({"subdomain": store.subdomain})).await.expect(200);
    let stale = merchant.patch(&path).json(json!({"name": "Stale"})).if_match("\"1\"").await;
    assert_eq!(stale.expect(412).problem("precondition_failed").int("/current_version"), 3);
}

#[tokio::test]
async fn parallel_store_updates_each_raise_the_version_once() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let path = format!("/v1/stores/{}", store.id);
    let answers = race(20, || {
        let input = merchant.patch(&path).json(json!({"name": unique("name")}));
        async move { input.await }
    })
    .await;
    let won = answers.iter().filter(|answer| answer.status == 200).count();
    let lost = answers.iter().filter(|answer| answer.json["code"] == "version_conflict").count();
    assert_eq!(won + lost, 20);
    let view = merchant.get(&path).await.expect(200);
    assert_eq!(view.int("/version"), i64::try_from(won).unwrap() + 1);
    assert_eq!(gateway.events("store.updated").await.len(), won);
}

#[tokio::test]
async fn a_merchants_only_store_is_the_default() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let path = "/v1/operations/webhook-subscriptions";
    let list = async || merchant.get(path).await;
    list().await.expect(400).problem("store_required");
    let first = merchant.open_store().await;
    list().await.expect(200);
    let second = merchant.open_store().await;
    list().await.expect(400).problem("store_required");
    for (store, left) in [(first, 200), (second, 400)] {
        let delete = merchant.delete(&format!("/v1/stores/{}", store.id));
        delete.json(json!({"confirm": store.subdomain})).await.expect(202);
        list().await.expect(left);
    }
}

#[tokio::test]
async fn the_remaining_store_is_the_default_in_every_family() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    merchant.open_store().await;
    let newest = merchant.open_store().await;
    let delete = merchant.delete(&format!("/v1/stores/{}", newest.id));
    delete.json(json!({"confirm": newest.subdomain})).await.expect(202);
    for path in [
        "/v1/products",
        "/v1/orders",
        "/v1/payments",
        "/v1/themes?installed=true",
        "/v1/app-store/installations",
        "/v1/operations/outbox",
    ] {
        merchant.get(path).await.expect(200);
    }
}

#[tokio::test]
async fn a_default_store_from_a_stale_index_is_verified() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let path = "/v1/operations/webhook-subscriptions";
    merchant.get(path).await.expect(200);
    // The store is given up or somebody else's, and its entry in the index is the old one.
    let stored = gateway.item("store", &store.id).await;
    let other = Merchant::sign_up(&gateway).await;
    for change in [json!({"owner_id": other.id}), json!({"status": "deleted"})] {
        gateway.change_item(&stored, change).await;
        merchant.get(path).await.expect(400).problem("store_required");
        gateway.change_item(&stored, json!({"owner_id": merchant.id})).await;
    }
}

#[tokio::test]
async fn a_store_deletion_is_replayed_only_under_its_idempotency_key() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let path = format!("/v1/stores/{}", store.id);
    let confirm = json!({"confirm": store.subdomain});
    let delete = |client: &Client, key: &str| client.delete(&path).json(confirm.clone()).key(key);
    let first = delete(&merchant, "give-up").await.expect(202);
    let again = delete(&merchant, "give-up").await.expect(202);
    assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &first.json));
    assert_eq!(gateway.events("store.deleted").await.len(), 1);
    // Without the key, under another, with another body, or from somebody else: no such store.
    let absent = merchant.get(&path).await.expect(404);
    for key in ["another", "another"] {
        assert_eq!(delete(&merchant, key).await.expect(404).json["code"], absent.json["code"]);
    }
    merchant.delete(&path).json(confirm.clone()).await.expect(404).problem("not_found");
    let other = json!({"confirm": "another"});
    merchant.delete(&path).json(other).await.expect(404).problem("not_found");
    let other = Merchant::sign_up(&gateway).await;
    delete(&other, "give-up").await.expect(404).problem("not_found");
    delete(&gateway.client(), "give-up").await.expect(401);
    for action in ["activate", "pause", "close", "reopen"] {
        merchant.post(&format!("{path}/{action}")).json(json!({})).await.expect(404);
    }
    merchant.get(&format!("{path}/settings")).await.expect(404);
    merchant.at(&store).get("/v1/products").await.expect(404);
    assert_eq!(gateway.events("store.deleted").await.len(), 1);
    // The record lasts a day; the session lives on by being used.
    for _ in 0..3 {
        gateway.advance(DAY / 3 + MINUTE);
        merchant.get("/v1/stores").await.expect(200);
    }
    delete(&merchant, "give-up").await.expect(404).problem("not_found");
}

/// What makes the first price of a store.
fn priced(what: &str) -> (&'static str, Value) {
    let price = json!({"amount": 100, "currency": "INR"});
    match what {
        "gift card" => ("/v1/products/gift-cards", json!({"initial_value": price})),
        _ => ("/v1/products", json!({"title": "Mug", "variants": [{"price": price}]})),
    }
}

#[tokio::test]
async fn a_draft_stores_currency_is_locked_by_its_first_price() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    for what in ["product", "gift card"] {
        let store = merchant.open_store().await;
        let path = format!("/v1/stores/{}", store.id);
        let set = |currency: &str| merchant.patch(&path).json(json!({"currency": currency}));
        assert_eq!(set("EUR").await.expect(200).str("/currency"), "EUR");
        assert_eq!(set("INR").await.expect(200).int("/version"), 3);
        let (at, input) = priced(what);
        let make = || merchant.at(&store).post(at).json(input.clone()).key(&unique("make"));
        make().await.expect(201);
        let locked = set("EUR").await.expect(409).problem("currency_locked");
        assert_eq!(locked.str("/currency"), "INR", "{what}");
        assert_eq!(set("INR").await.expect(200).str("/currency"), "INR");
        // The mark is no write of the store, and none of its writes takes it away.
        let rename = merchant.patch(&path).json(json!({"name": "B Shop"})).if_match("\"3\"");
        rename.await.expect(200);
        set("EUR").await.expect(409).problem("currency_locked");
        make().await.expect(201);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_currency_change_and_a_first_price_never_both_succeed() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    for round in 0..6 {
        let store = merchant.open_store().await;
        let path = format!("/v1/stores/{}", store.id);
        let (at, input) = priced(if round % 2 == 0 { "product" } else { "gift card" });
        let next = std::sync::atomic::AtomicUsize::new(0);
        let answers = race(6, || {
            let turn = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let input = match turn % 2 {
                0 => merchant.patch(&path).json(json!({"currency": "EUR"})),
                _ => merchant.at(&store).post(at).json(input.clone()).key(&unique("make")),
            };
            async move { (turn % 2 == 1, input.await) }
        })
        .await;
        let made = answers.iter().filter(|(makes, answer)| *makes && answer.status == 201).count();
        let moved = answers.iter().any(|(makes, answer)| !makes && answer.status == 200);
        assert!(made == 0 || !moved, "{made} prices and another currency");
        assert!(made > 0 || moved, "somebody wins");
        let codes = ["version_conflict", "currency_locked", "validation_failed"];
        for (_, answer) in answers.iter().filter(|(_, answer)| answer.status >= 300) {
            assert!(codes.iter().any(|code| answer.json["code"] == *code), "{}", answer.text);
        }
        let currency = merchant.get(&path).await.expect(200).str("/currency");
        assert_eq!(currency, if moved { "EUR" } else { "INR" });
    }
}

async fn put(client: &Client, path: &str, body: Value) -> support::Reply {
    client.put(path).json(body).await
}

#[tokio::test]
async fn store_content_is_validated_and_sanitized() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let menu = format!("/v1/stores/{}/navigation/main", store.id);
    merchant.get(&menu).await.expect(404).problem("not_found");
    let good = json!({"items": [
        {"title": "Home", "type": "home"},
        {"title": "More", "type": "link", "url": "/more", "children": [
            {"title": "Blog", "type": "link", "url": "https://blog.example.com/"}]},
    ]});
    put(&merchant, &menu, good).await.expect(200);
    let bad = json!({"items": [
        {"title": "Evil", "type": "link", "url": "javascript:alert(1)"},
        {"title": "", "type": "nothing"},
    ]});
    let rejected = put(&merchant, &menu, bad).await.expect(422);
    let pointers: Vec<String> = rejected.field_errors().into_iter().map(|(at, _)| at).collect();
    for at in ["/items/0/url", "/items/1/title", "/items/1/type"] {
        assert!(pointers.iter().any(|found| found == at), "{at} in {pointers:?}");
    }
    let policy = format!("/v1/stores/{}/policies/privacy", store.id);
    let body = "<p onclick=\"x()\">Hi<script>alert(1)</script> <a href=\"javascript:x\">y</a></p>";
    let saved =
        put(&merchant, &policy, json!({"title": "Privacy", "body_html": body})).await.expect(200);
    let html = saved.str("/body_html");
    assert!(html.contains("Hi") && !html.contains("script") && !html.contains("onclick"), "{html}");
    merchant.get(&format!("/v1/stores/{}/policies/cookies", store.id)).await.expect(404);
    let settings = format!("/v1/stores/{}/settings", store.id);
    let before = merchant.get(&settings).await.expect(200);
    assert_eq!(before.int("/checkout/payment_window_minutes"), 30);
    let change = json!({"checkout": {"payment_window_minutes": 60}});
    let after = merchant.patch(&settings).json(change).await.expect(200);
    assert_eq!(after.int("/checkout/payment_window_minutes"), 60);
    let out = json!({"checkout": {"payment_window_minutes": 4}});
    let rejected = merchant.patch(&settings).json(out).await.expect(422);
    let at = "/checkout/payment_window_minutes".to_owned();
    assert_eq!(rejected.field_errors(), [(at, "out_of_range".to_owned())]);
    assert_eq!(gateway.events("store.settings_updated").await.len(), 1);
}

#[tokio::test]
async fn an_old_open_order_blocks_store_deletion() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    let path = format!("/v1/stores/{}", market.store.id);
    let delete = || {
        let confirm = json!({"confirm": market.store.subdomain});
        market.owner.delete(&path).json(confirm)
    };
    // Not paid yet: the shopper may be paying at this moment.
    let unpaid = market.order(cart(&[(&book, 1)])).await;
    let rejected = delete().await.expect(409).problem("open_orders");
    assert_eq!(rejected.int("/open_orders"), 1);
    let cancel = json!({"reason": "customer_request"});
    market.act(&unpaid.id, "cancel", cancel.clone()).await.expect(200);
    // Paid, never sent, and long ago.
    let owed = market.paid(&book, 1).await;
    market.gateway.add_closed_orders(&owed.id, 2_100).await;
    let rejected = delete().await.expect(409).problem("open_orders");
    assert_eq!(rejected.int("/open_orders"), 1);
    market.act(&owed.id, "cancel", cancel.clone()).await.expect(200);
    // A manual payment may take a week.
    let mut input = cart(&[(&book, 1)]);
    input["payment"] = json!({"provider": "manual"});
    let by_transfer = market.order(input).await;
    market.gateway.advance(2 * DAY);
    market.gateway.sweep().await;
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    let confirm = json!({"confirm": market.store.subdomain});
    let rejected = owner.delete(&path).json(confirm.clone()).await.expect(409);
    assert_eq!(rejected.problem("open_orders").int("/open_orders"), 1);
    let cancelled = owner.post(&format!("/v1/orders/{}/cancel", by_transfer.id));
    cancelled.key("cancelled").json(cancel).await.expect(200);
    owner.delete(&path).json(confirm).await.expect(202);
}
