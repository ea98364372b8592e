//! That the system stands up and the whole way through it is open.

use support::{Gateway, Merchant, json};

#[tokio::test]
async fn a_fresh_system_is_healthy_and_rejects_unknown_routes() {
    let gateway = Gateway::start().await;
    let health = gateway.get("/health").await.expect(200);
    assert_eq!(health.str("/status"), "ok");
    assert!(health.header("x-request-id").is_some());

    let unknown = gateway.get("/v1/nowhere").await.expect(404).problem("not_found");
    assert_eq!(unknown.header("allow"), None);
    let rejected = gateway.client().delete("/health").await.expect(405);
    let rejected = rejected.problem("method_not_allowed");
    assert!(rejected.header("allow").is_some_and(|allow| allow.contains("GET")));
}

#[tokio::test]
async fn a_merchant_signs_up_and_opens_a_store() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    assert_eq!(store.view["status"], "draft");
    let stores = merchant.get("/v1/stores").await.expect(200);
    assert_eq!(stores.data().len(), 1);

    let stranger = Merchant::sign_up(&gateway).await;
    let path = format!("/v1/stores/{}", store.id);
    let foreign = stranger.get(&path).await.expect(404);
    let unknown = stranger.get("/v1/stores/sto_00000000000000000000000000000000").await.expect(404);
    assert_eq!(foreign.json["code"], unknown.json["code"]);
    merchant.patch(&path).json(json!({"name": "Another"})).await.expect(200);
    assert_eq!(gateway.events("store.updated").await.len(), 1);
}

#[tokio::test]
async fn a_mail_is_sent_through_stream_and_queue() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let input = json!({"email": merchant.email});
    merchant.stranger().post("/v1/auth/signin/otp").json(input).await.expect(202);
    let code = gateway.mailbox(&merchant.email).code().await;
    assert_eq!(code.len(), 6);
}
