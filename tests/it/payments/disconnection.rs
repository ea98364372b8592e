//! An account that is given up takes no payment any more, and cuts none off.

use support::json;

use super::connected::{Connected, provider_path, razorpay, stripe};

#[tokio::test]
async fn a_payment_is_refundable_after_its_provider_is_disconnected() {
    let connected = Connected::open().await;
    let (order, waiting) = (connected.order().await, connected.order().await);
    let (id, carrier) = connected.paid("stripe", &order).await;
    let path = provider_path("stripe");
    connected.owner.delete(&path).await.expect(204);
    connected.owner.get(&path).await.expect(404).problem("not_found");
    connected.owner.delete(&path).await.expect(404).problem("not_found");
    connected.owner.post(&format!("{path}/test")).json(json!({})).await.expect(404);
    let listed = connected.owner.get("/v1/payments/providers").await.expect(200);
    let names: Vec<_> = listed.data().iter().map(|one| one["provider"].clone()).collect();
    assert_eq!(names, ["manual", "razorpay"]);
    let methods = format!("/v1/storefront/{}/payments/methods", connected.store.subdomain);
    let shown = connected.gateway.client().get(&methods).await.expect(200);
    assert!(!shown.text.contains("stripe"), "{}", shown.text);
    connected.begin("stripe", &waiting).await.expect(409).problem("provider_not_connected");
    // Money that was taken goes back, and what the provider says of it is believed.
    let part = json!({"amount": {"amount": 100, "currency": "INR"}});
    connected.act(&id, "refunds", part).await.expect(201);
    connected.tell_refund("refund.updated", &carrier).await;
    assert_eq!(connected.payment(&id).await.int("/refunded/amount"), 100);
    // Another account starts from nothing but its versions.
    connected.owner.put(&path).json(json!({"enabled": true})).await.expect(422);
    let again = connected.owner.put(&path).json(stripe()).await.expect(200);
    assert_eq!((again.at("/enabled").clone(), again.int("/version") > 1), (json!(true), true));
    connected.begin("stripe", &waiting).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_a_payment_and_disconnecting_its_provider_exclude_each_other() {
    let connected = Connected::open_to_many("automatic").await;
    let path = provider_path("razorpay");
    for _ in 0..50 {
        let order = connected.order().await;
        let delete = connected.owner.delete(&path);
        let (gone, begun) =
            tokio::join!(async { delete.await }, connected.begin("razorpay", &order));
        match (gone.status, begun.status) {
            (204, 404) => {
                connected.owner.put(&path).json(razorpay()).await.expect(200);
            }
            (409, 201) => {
                gone.problem("provider_in_use");
                let kept = connected.owner.get(&path).await.expect(200);
                assert_eq!(kept.at("/enabled"), true, "it is as it was");
                connected.providers.pay_razorpay(&begun.str("/provider_order_id"));
                let id = begun.str("/payment_id");
                let paid = connected.act(&id, "sync", json!({})).await.expect(200);
                assert_eq!(paid.str("/status"), "captured");
                connected.act(&id, "refunds", json!({})).await.expect(201);
            }
            _ => panic!("{} and {}", gone.text, begun.text),
        }
    }
    connected.owner.delete(&path).await.expect(204);
}
