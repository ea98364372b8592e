//! What paid orders say about a store: how many mails it may send to strangers.

use support::{Value, json};

use super::connected::Connected;

async fn limits(connected: &Connected) -> [i64; 2] {
    connected.gateway.quiet().await;
    let path = format!("/v1/stores/{}/mail-usage", connected.store.id);
    let shown = connected.owner.get(&path).await.expect(200);
    ["/limit", "/merchant_limit"].map(|name| shown.int(name))
}

/// The store's account with a provider takes real money from now on, as with the keys for that.
async fn go_live(connected: &Connected, provider: &str) {
    let accounts = connected.gateway.items_of("payment_provider", "STO#").await;
    let account = accounts.iter().find(|account| account["provider"] == provider).unwrap();
    connected.gateway.change_item(account, json!({"mode": "live"})).await;
}

#[tokio::test]
async fn live_payments_raise_a_stores_mail_limit() {
    let connected = Connected::open().await;
    connected.merchant.prove(&connected.gateway).await;
    assert_eq!(limits(&connected).await, [50, 100]);
    // What a merchant says was paid, and what a sandbox was paid with, anybody can do.
    let marked = connected.order().await;
    let path = format!("/v1/orders/{}/mark-paid", marked.id);
    connected.owner.post(&path).key("marked").json(json!({})).await.expect(200);
    connected.paid("stripe", &connected.order().await).await;
    assert_eq!(limits(&connected).await, [50, 100]);
    go_live(&connected, "stripe").await;
    connected.paid("stripe", &connected.order().await).await;
    assert_eq!(limits(&connected).await, [60, 120]);
    // The event that says so is counted once, however often it is handed on.
    let events: Vec<Value> = connected.gateway.events("order.paid").await;
    assert_eq!(events.len(), 3);
    connected.gateway.sweep().await;
    assert_eq!(limits(&connected).await, [60, 120]);
}
