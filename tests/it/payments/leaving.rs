//! An account that is given up takes no payment any more, and cuts none off.

use support::json;

use super::till::{Till, provider_path, razorpay, stripe};

#[tokio::test]
async fn what_was_paid_is_refunded_when_the_account_is_gone() {
    let till = Till::open().await;
    let (order, waiting) = (till.order().await, till.order().await);
    let (id, carrier) = till.paid("stripe", &order).await;
    let path = provider_path("stripe");
    till.owner.delete(&path).await.expect(204);
    till.owner.get(&path).await.expect(404).problem("unknown_provider");
    till.owner.delete(&path).await.expect(404).problem("unknown_provider");
    till.owner.post(&format!("{path}/test")).json(json!({})).await.expect(404);
    let listed = till.owner.get("/v1/payments/providers").await.expect(200);
    let names: Vec<_> = listed.data().iter().map(|one| one["provider"].clone()).collect();
    assert_eq!(names, ["manual", "razorpay"]);
    let methods = format!("/v1/storefront/{}/payments/methods", till.store.subdomain);
    let shown = till.gateway.client().get(&methods).await.expect(200);
    assert!(!shown.text.contains("stripe"), "{}", shown.text);
    till.begin("stripe", &waiting).await.expect(404).problem("unknown_provider");
    // Money that was taken goes back, and what the provider says of it is believed.
    let part = json!({"amount": {"amount": 100, "currency": "INR"}});
    till.act(&id, "refunds", part).await.expect(201);
    till.tell_refund("refund.updated", &carrier).await;
    assert_eq!(till.payment(&id).await.int("/refunded/amount"), 100);
    // Another account starts from nothing but its versions.
    till.owner.put(&path).json(json!({"enabled": true})).await.expect(422);
    let again = till.owner.put(&path).json(stripe()).await.expect(200);
    assert_eq!((again.at("/enabled").clone(), again.int("/version") > 1), (json!(true), true));
    till.begin("stripe", &waiting).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_is_begun_or_its_account_given_up_and_never_both() {
    let till = Till::open_to_many("automatic").await;
    let path = provider_path("razorpay");
    for _ in 0..50 {
        let order = till.order().await;
        let delete = till.owner.delete(&path);
        let (gone, begun) = tokio::join!(async { delete.await }, till.begin("razorpay", &order));
        match (gone.status, begun.status) {
            (204, 404) => {
                till.owner.put(&path).json(razorpay()).await.expect(200);
            }
            (409, 201) => {
                gone.problem("provider_in_use");
                let kept = till.owner.get(&path).await.expect(200);
                assert_eq!(kept.at("/enabled"), true, "it is as it was");
                till.providers.pay_razorpay(&begun.str("/provider_order_id"));
                let id = begun.str("/payment_id");
                let paid = till.act(&id, "sync", json!({})).await.expect(200);
                assert_eq!(paid.str("/status"), "captured");
                till.act(&id, "refunds", json!({})).await.expect(201);
            }
            _ => panic!("{} and {}", gone.text, begun.text),
        }
    }
    till.owner.delete(&path).await.expect(204);
}
