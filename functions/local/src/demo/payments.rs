//! The payments of the demo store: through the emulated payment providers, with their keys, and with its
//! webhook endpoints registered there.

use crate::providers::{
    Provider, Providers, RAZORPAY_KEY_ID, RAZORPAY_SECRET, STRIPE_KEY_ID, STRIPE_SECRET,
    WEBHOOK_SECRET,
};
use core_types::provider::ProviderName;
use emulators::AnyError;
use sales::payment::load;
use serde_json::{Value, json};
use services::Services;

use super::accounts::{self, MERCHANT, told};
use super::api::Api;
use super::store::{self, SUBDOMAIN};
use crate::System;

/// Connects the demo store to the emulated providers, unless it has an account with them: a merchant's
/// changes stay. A deleted store is not created again.
pub(super) async fn connect(system: &System, providers: &Providers) -> Result<(), AnyError> {
    let app = system.app();
    let (Some(store), Some(merchant)) =
        (store::load(app).await?, accounts::load(app, &MERCHANT).await?)
    else {
        return Ok(());
    };
    let mut missing = Vec::new();
    for (provider, name) in played(app, providers) {
        let path = format!("/v1/storefront/{SUBDOMAIN}/payments/{name}/webhook");
        let url = format!("{}{path}", system.url());
        let registered = providers.register(provider, &url, WEBHOOK_SECRET);
        registered.map_err(|rejection| rejection.body.to_string())?;
        if load::account(app, &store, name).await.map_err(told)?.is_none() {
            missing.push(name);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let api = Api::sign_in(app, system.router(), &merchant).await?.at(&store.id);
    for name in missing {
        let path = format!("/v1/payments/providers/{name}");
        api.call("PUT", &path, Some(json!({"credentials": credentials(name)}))).await?;
    }
    api.sign_out().await
}

/// The providers that the system reaches here, and not at another base URL.
fn played(services: &Services, providers: &Providers) -> Vec<(Provider, ProviderName)> {
    let (used, here) = (&services.config.payment_base_urls, providers.base_urls());
    let razorpay = (Provider::Razorpay, ProviderName::Razorpay);
    let stripe = (Provider::Stripe, ProviderName::Stripe);
    let both = [(razorpay, used.razorpay == here.razorpay), (stripe, used.stripe == here.stripe)];
    both.into_iter().filter(|(_, is_here)| *is_here).map(|(names, _)| names).collect()
}

fn credentials(name: ProviderName) -> Value {
    match name {
        ProviderName::Razorpay => json!({
            "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }),
        ProviderName::Stripe => json!({
            "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }),
        ProviderName::Manual => json!({}),
    }
}
