//! One way through all of it, over processes: what a merchant sets up, a shopper orders, and the
//! merchant's own server is told.

use crypto::signature::{SigningSecret, service_hmac};
use emulators::aws::REGION;
use support::{Deployed, PASSWORD, Receiver, cart, inr, json, unique};

use super::super::samples::samples;
use super::logs::as_it_is_read;

/// Batches until the queue has what the stream brought: more than there are.
const MOST: usize = 20;

#[tokio::test]
#[ignore = "needs the functions' binaries"]
async fn an_order_is_placed_and_its_webhook_arrives_over_real_processes() {
    let deployed = Deployed::start().await;
    let receiver = Receiver::start().await;
    let guest = deployed.client();
    let health = guest.get("/health").await.expect(200);
    assert_eq!(health.str("/region"), REGION);

    let email = format!("{}@example.com", unique("merchant"));
    let input = json!({"email": email, "password": PASSWORD, "name": "Ann Example"});
    let session = guest.post("/v1/auth/signup").json(input).await.expect(201);
    let merchant = guest.with_token(&session.str("/session/access_token"));
    let subdomain = unique("shop");
    let input =
        json!({"name": "A Shop", "subdomain": subdomain, "currency": "INR", "country": "IN"});
    let store = merchant.post("/v1/stores").json(input).await.expect(201).str("/id");
    merchant
        .post(&format!("/v1/stores/{store}/activate"))
        .json(support::open_as_is())
        .await
        .expect(200);
    let owner = merchant.with_store(&store);
    let variant = json!({"price": inr(250), "inventory": {"levels": [{"quantity": 2}]}});
    let input = json!({"title": "A Thing", "status": "active", "variants": [variant]});
    let variant = owner.post("/v1/products").json(input).await.expect(201).str("/variants/0/id");
    let input = json!({"url": receiver.url("/hooks"), "event_types": ["order.created"]});
    let subscription = owner.post("/v1/operations/webhook-subscriptions").json(input).await;
    let secret: SigningSecret = subscription.expect(201).str("/secret").parse().unwrap();

    let orders = format!("/v1/storefront/{subdomain}/orders");
    let placed = guest.stranger().post(&orders).key("checkout").json(cart(&[(&variant, 2)])).await;
    let order = placed.expect(201).str("/order/id");
    let seen = owner.get(&format!("/v1/orders/{order}")).await.expect(200);
    assert_eq!(seen.int("/totals/total/amount"), 500);

    let mut handed_on = 0;
    for _ in 0..MOST {
        handed_on += deployed.hand_on_stream().await;
        if deployed.hand_on_queue("WebhookQueue", "Webhooks").await > 0 {
            break;
        }
    }
    assert!(handed_on > 0);
    let received = receiver.wait_for_event("order.created").await;
    assert_eq!(received.json()["entity"]["id"], order);
    let timestamp = received.header("x-service-timestamp").parse().unwrap();
    let expected = service_hmac(&secret, timestamp, &received.body);
    assert_eq!(received.header("x-service-hmac-sha256"), expected);

    let deliveries = owner.get("/v1/operations/webhook-deliveries").await.expect(200);
    let states: Vec<_> = deliveries.data().iter().map(|delivery| &delivery["status"]).collect();
    assert_eq!(states, [&json!("succeeded")]);
    // The order took the last of them, which the stream tells of as well.
    let in_stock = format!("/v1/storefront/{subdomain}/products?in_stock=");
    for (is_there, expected) in [(true, 0), (false, 1)] {
        let list = guest.stranger().get(&format!("{in_stock}{is_there}")).await.expect(200);
        assert_eq!(list.data().len(), expected, "{is_there}");
    }

    let schedule =
        samples("dispatcher").into_iter().find(|(name, _)| name == "schedule").unwrap().1;
    deployed.function("Dispatcher").await.invoke(&schedule).await.unwrap();
    let by = [
        ("delivery attempt", "Webhooks"),
        ("platform checked", "Dispatcher"),
        ("request", "Orders"),
        ("sweep finished", "Dispatcher"),
    ];
    as_it_is_read(&deployed, &by).await;

    // Each of the families that took part is a process of its own, and none of them is another's.
    for name in ["Health", "Auth", "Stores", "Products", "Storefront", "Orders", "Operations"] {
        super::never_panicked(name, deployed.function(name).await);
    }
    for name in ["Dispatcher", "Webhooks"] {
        super::never_panicked(name, deployed.function(name).await);
    }
}
