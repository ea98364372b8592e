//! The demo: a merchant with an active store of forty products that accepts payments, a customer of that
//! store, and an operator. It is created at the first start of a data directory.

mod accounts;
mod api;
mod catalogue;
mod payments;
mod picture;
mod store;
pub mod themes;

use std::sync::Arc;

use emulators::AnyError;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use crate::System;
use crate::progress::Progress;
use crate::providers::Providers;
pub use accounts::{Account, CUSTOMER, MERCHANT, OPERATOR};
use api::Api;
pub use store::SUBDOMAIN;

/// Creates the demo, unless it exists, and connects it to these payment providers. Their data is lost with
/// them, so the demo's webhook endpoints are registered at every start.
pub async fn seed(system: &System, providers: Option<&Providers>) -> Result<(), AnyError> {
    // Some hundred requests that need no log lines.
    make(system).with_subscriber(NoSubscriber::default()).await?;
    if let Err(cause) = dress(system).with_subscriber(NoSubscriber::default()).await {
        // The demo works without a theme.
        tracing::warn!(%cause, "theme of the demo store not installed");
    }
    let Some(providers) = providers else { return Ok(()) };
    let connected = payments::connect(system, providers).with_subscriber(NoSubscriber::default());
    if let Err(cause) = connected.await {
        // A user may have changed the store since; that must not prevent the start.
        tracing::warn!(%cause, "demo store not connected to the payment providers");
    }
    Ok(())
}

/// Creates the accounts and the store. The operator is created last, so that an interrupted attempt is
/// repeated; once the operator exists, this is one read.
async fn make(system: &System) -> Result<(), AnyError> {
    let app = system.app();
    if accounts::load(app, &OPERATOR).await?.is_some() {
        return Ok(());
    }
    let progress = Arc::new(Progress::begin("Preparing the demo store"));
    let merchant = match accounts::load(app, &MERCHANT).await? {
        Some(found) => found,
        None => accounts::create(app, &MERCHANT).await?,
    };
    let api = Api::sign_in(app, system.router(), &merchant).await?.showing(&progress);
    let store = store::open(&api).await?;
    catalogue::stock_up(&api, &store).await?;
    api.sign_out().await?;
    accounts::register(app, &store).await?;
    accounts::create(app, &OPERATOR).await?;
    Ok(())
}

/// Publishes the demo's themes, unless the store has one; then this is a few reads.
async fn dress(system: &System) -> Result<(), AnyError> {
    let app = system.app();
    let accounts = (accounts::load(app, &MERCHANT).await?, accounts::load(app, &OPERATOR).await?);
    let (Some(merchant), Some(operator)) = accounts else { return Ok(()) };
    // Read from the table: the storefront would cache for a moment that there is no theme.
    let Some(store) = store::load(app).await? else { return Ok(()) };
    if store.live_theme.is_some() {
        return Ok(());
    }
    let progress = Arc::new(Progress::begin("Preparing the demo store"));
    let merchant = Api::sign_in(app, system.router(), &merchant).await?.showing(&progress);
    let operator = Api::sign_in(app, system.router(), &operator).await?;
    themes::publish(&merchant, &operator, store.id.as_str()).await?;
    operator.sign_out().await?;
    merchant.sign_out().await
}
