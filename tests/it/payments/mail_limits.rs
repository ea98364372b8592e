//! What paid orders say about a store: how many mails it may send to strangers.

use core_types::id::StoreId;
use core_types::key;
use sales::payment::{Mode, account::ProviderAccount};
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
    let store = StoreId::parse(&connected.store.id).unwrap();
    let table = &connected.gateway.app().table;
    let account: Option<ProviderAccount> =
        table.get(&key::payment_provider(&store, provider)).await.unwrap();
    let account = account.unwrap();
    let live = ProviderAccount { mode: Mode::Live, version: account.version + 1, ..account };
    let rejected = primitives::problem::Code::VersionConflict;
    table.write().replace(&live, rejected).commit().await.unwrap();
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
