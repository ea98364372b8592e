//! A store that lacks what it needs to sell opens only if its merchant accepts that.

use support::{Client, Gateway, Merchant, Reply, Value, json};

async fn store() -> (Gateway, Client, String) {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    (gateway, merchant.at(&store), format!("/v1/stores/{}", store.id))
}

fn missing(reply: &Reply) -> Vec<&str> {
    let items = reply.at("/items").as_array().unwrap();
    let missing = items.iter().filter(|item| item["met"] == false);
    missing.map(|item| item["requirement"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_store_activates_when_all_requirements_are_met() {
    let (_gateway, owner, path) = store().await;
    let readiness = format!("{path}/readiness");
    let before = owner.get(&readiness).await.expect(200);
    assert_eq!(missing(&before), ["shipping", "payments", "taxes", "owner_email"]);
    assert_eq!(*before.at("/ready"), json!(false));
    let activate = format!("{path}/activate");
    let rejected = owner.post(&activate).json(json!({})).await.expect(409);
    let named = rejected.at("/missing").as_array().unwrap();
    let named: Vec<_> = named.iter().map(|one| one["requirement"].clone()).collect();
    assert_eq!(named, ["shipping", "payments", "taxes"]);
    assert!(rejected.str("/missing/0/detail").contains("shipping zone"), "{}", rejected.text);
    rejected.problem("store_not_ready");

    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [{"name": "Standard", "kind": "flat", "price": {"amount": 5_000, "currency": "INR"}}],
    });
    owner.post(&format!("{path}/shipping-zones")).json(zone).await.expect(201);
    let told = json!({"instructions": "IBAN 42."});
    owner.put("/v1/payments/providers/manual").json(told).await.expect(200);
    let rejected = owner.post(&activate).json(json!({"accept_missing": ["shipping"]})).await;
    assert_eq!(rejected.expect(409).at("/missing").as_array().unwrap().len(), 1);
    let rate = json!({"name": "GST", "country": "IN", "percent": "18"});
    owner.post(&format!("{path}/tax-rates")).json(rate).await.expect(201);
    let ready = owner.get(&readiness).await.expect(200);
    assert_eq!((ready.at("/ready"), missing(&ready)), (&json!(true), vec!["owner_email"]));
    owner.post(&activate).json(json!({})).await.expect(200);
    // A store that was open opens again without being asked.
    owner.post(&format!("{path}/pause")).json(json!({})).await.expect(200);
    owner.put("/v1/payments/providers/manual").json(json!({"enabled": false})).await.expect(200);
    owner.post(&activate).json(json!({})).await.expect(200);
}

#[tokio::test]
async fn readiness_tells_manual_payments_from_no_payments() {
    let (_gateway, owner, path) = store().await;
    let detail = || async {
        let shown = owner.get(&format!("{path}/readiness")).await.expect(200);
        shown.at("/items").as_array().unwrap()[1]["detail"].as_str().unwrap().to_owned()
    };
    assert!(detail().await.contains("paid manually"));
    owner.put("/v1/payments/providers/manual").json(json!({"enabled": false})).await.expect(200);
    assert!(detail().await.contains("cannot be paid"));
    let rejected = owner.post(&format!("{path}/activate")).json(json!({})).await.expect(409);
    assert!(rejected.str("/missing/1/detail").contains("cannot be paid"));
}

#[tokio::test]
async fn a_merchant_can_accept_missing_requirements_on_activation() {
    let (_gateway, owner, path) = store().await;
    let activate = format!("{path}/activate");
    let unknown = owner.post(&activate).json(json!({"accept_missing": ["mail"]})).await;
    assert_eq!(unknown.expect(422).field_errors()[0].0, "/accept_missing/0");
    let opened = owner.post(&activate).json(support::open_as_is()).await.expect(200);
    assert_eq!(*opened.at("/status"), Value::from("active"));
}
