//! The pages about the demo: its accounts and its store.

use std::time::Duration;

use support::{Client, Gateway, Providers, Receiver, Reply, eventually, json};

use super::page;

async fn demo() -> (Gateway, Providers) {
    let providers = Providers::start().await;
    let gateway = Gateway::start_with(|options| {
        options.embedded.payment_base_urls = providers.base_urls();
    })
    .await;
    gateway.seed_demo(&providers).await;
    (gateway, providers)
}

async fn token(client: &Client, who: &str) -> String {
    let reply = client.post("/_local/tokens").form(&[("who", who)]).await.expect(200);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    reply.str("/access_token")
}

/// The points that are left to a caller, and those of a full budget.
fn points(reply: &Reply) -> (u32, u32) {
    let number = |name: &str| reply.header(name).unwrap().parse::<u32>().unwrap();
    let policy = reply.header("ratelimit-policy").unwrap();
    let full = policy.split("q=").nth(1).unwrap().split(';').next().unwrap();
    (number("x-service-cost-available"), full.parse().unwrap())
}

#[tokio::test]
async fn the_demo_and_its_pages_leave_the_budget_to_its_merchant() {
    let (gateway, _providers) = demo().await;
    gateway.app().clock.stop();
    let client = gateway.client();
    for path in ["/_local/", "/_local/store/orders", "/_local/activity/events"] {
        page(&client, path).await;
    }
    let input = json!({"email": "demo@example.com", "password": "demo-merchant-1"});
    let session = client.post("/v1/auth/signin").json(input).await.expect(200);
    let owner = client.with_token(&session.str("/session/access_token"));
    let listed = owner.get("/v1/orders").await.expect(200);
    let (left, full) = points(&listed);
    let cost: u32 = listed.header("x-service-cost-actual").unwrap().parse().unwrap();
    assert_eq!(left, full - cost);
}

#[tokio::test]
async fn the_start_page_signs_accounts_in_and_ticks_off_what_was_done() {
    let (gateway, _providers) = demo().await;
    let client = gateway.client();
    let start = page(&client, "/_local/").await.text;
    for part in [
        "demo@example.com",
        "operator@example.com",
        "http://demo-store.localhost",
        "0 of 3 done",
        "quickstart#first-calls",
        "/_local/docs/example-app",
        "/_local/docs/cli",
        "Stores of the demo",
    ] {
        assert!(start.contains(part), "{part}");
    }
    let merchant = client.with_token(&token(&client, "merchant").await);
    merchant.get("/v1/auth/me").await.expect(200);
    let operator = client.with_token(&token(&client, "operator").await);
    operator.get("/v1/operations/runtime/overview").await.expect(200);
    let customer = client.with_token(&token(&client, "customer").await);
    customer.get("/v1/storefront/customer/addresses").await.expect(200);
    let start = page(&client, "/_local/").await.text;
    assert!(start.contains("1 of 3 done") && !start.contains("mst_"));
    let products = client.get("/v1/storefront/demo-store/products?limit=1").await.expect(200);
    let cart = json!({
        "email": "guest@example.com", "payment": {"provider": "manual"},
        "items": [{"variant_id": products.str("/data/0/variants/0/id"), "quantity": 1}],
        "shipping_address": support::address(),
    });
    let orders = "/v1/storefront/demo-store/orders";
    let order = client.post(orders).key("one").json(cart).await.expect(201).str("/order/id");
    let paid = format!("/v1/orders/{order}/mark-paid");
    merchant.post(&paid).key("two").json(json!({})).await.expect(200);
    assert!(page(&client, "/_local/").await.text.contains("2 of 3 done"));
    let orders = page(&client, "/_local/store/orders").await.text;
    assert!(orders.contains("#1001") && orders.contains("guest@example.com"));
    assert!(orders.contains(&format!("/_local/reference/getOrder?id={order}&amp;as=merchant")));
}

#[tokio::test]
async fn the_reference_is_prefilled_with_what_the_demo_store_has() {
    let (gateway, _providers) = demo().await;
    let client = gateway.client();
    let products = client.get("/v1/storefront/demo-store/products?limit=1").await.expect(200);
    let (product, variant) = (products.str("/data/0/id"), products.str("/data/0/variants/0/id"));
    let order = page(&client, "/_local/reference/placeOrder").await.text;
    assert!(order.contains(&variant));
    let shown = page(&client, "/_local/reference/getProduct").await.text;
    assert!(shown.contains(&format!("value=\"{product}\"")));
    let sign_in = page(&client, "/_local/reference/signIn").await.text;
    let form = sign_in.split("<textarea").nth(1).unwrap().split("</textarea>").next().unwrap();
    assert!(form.contains("demo@example.com") && form.contains("demo-merchant-1"), "{form}");
    assert!(!form.contains("totp"), "{form}");
    let subscribe = page(&client, "/_local/reference/createWebhookSubscription").await.text;
    let form = subscribe.split("<textarea").nth(1).unwrap();
    assert!(form.contains("http://127.0.0.1:4242/") && form.contains("loopback"), "{form}");
    let deleted = page(&client, "/_local/reference/deleteProduct").await.text;
    assert!(!deleted.contains(&product));
}

#[tokio::test]
async fn errors_of_operators_pages_are_pages() {
    let (gateway, _providers) = demo().await;
    let client = gateway.client();
    let missing = client.get("/_local/operations/runtime/load-tests/nothing").await.expect(404);
    assert!(missing.text.contains("<h1>") && missing.text.contains("/_local/assets/style.css"));
    let overview = client.get("/_local/operations/runtime/overview?window=5m").await.expect(200);
    assert!(overview.text.contains("href=\"/_local/operations\""));
}

#[tokio::test]
async fn the_webhooks_page_tests_and_redelivers_and_names_deleted_receivers() {
    let (gateway, _providers) = demo().await;
    let client = gateway.client();
    let merchant = client.with_token(&token(&client, "merchant").await);
    let receiver = Receiver::start().await;
    let url = receiver.url("/hooks");
    let input = json!({"url": url, "event_types": ["store.updated"]});
    let hook = merchant.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    let hook = format!("/v1/operations/webhook-subscriptions/{}", hook.str("/id"));
    let shown = page(&client, "/_local/store/webhooks").await.text;
    assert!(shown.contains(&format!("data-post=\"{hook}/test\"")), "{shown}");
    let store = merchant.get("/v1/stores").await.expect(200).str("/data/0/id");
    let renamed = json!({"name": "Renamed"});
    merchant.patch(&format!("/v1/stores/{store}")).json(renamed).await.expect(200);
    receiver.wait_for(1).await;
    let delivered = || async {
        let shown = page(&client, "/_local/store/webhooks").await.text;
        (shown.contains("succeeded") && shown.contains("/redeliver\"")).then_some(())
    };
    eventually(Duration::from_secs(30), delivered).await;
    merchant.delete(&hook).await.expect(204);
    for path in ["/_local/store/webhooks", "/_local/activity/events"] {
        let shown = page(&client, path).await.text;
        let is_named = shown.contains("deleted subscription") && shown.contains(&url);
        assert!(is_named && !shown.contains("/redeliver\""), "{path}: {shown}");
    }
}

#[tokio::test]
async fn an_incident_is_a_page_with_its_state() {
    let (gateway, _providers) = demo().await;
    let client = gateway.client();
    let operator = client.with_token(&token(&client, "operator").await);
    let input = json!({"title": "Late webhooks", "severity": "high", "components": ["webhooks"]});
    let made = operator.post("/v1/operations/runtime/incidents").json(input).await.expect(201);
    let path = format!("/_local/operations/runtime/incidents/{}", made.str("/id"));
    assert!(page(&client, "/_local/operations").await.text.contains(&path));
    let shown = page(&client, &path).await.text;
    for part in ["Late webhooks", "open", "acknowledgeIncident?id="] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}
