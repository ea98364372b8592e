//! Authorize, redeem, refresh, revoke: what a code and a token may do, and how often.

mod authorization;
mod codes;
mod consent;
mod embedded;
mod installations;
mod tokens;

use support::{Client, Shop};

/// The store, read by an app.
async fn read_store(shop: &Shop, app: &Client) -> u16 {
    app.get(&format!("/v1/stores/{}", shop.store.id)).await.status
}
