//! Opens purchases with the payment provider of the seller's store.

use core_types::id::{OrderId, PaymentId, StoreId, ThemePurchaseId};
use core_types::key;
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::{HOUR, Timestamp};
use primitives::problem::{Code, Problem};
use sales::payment::account::ProviderAccount;
use sales::payment::provider::{Client, Provider};
use sales::payment::{Capabilities, CaptureMethod, NewPayment, Payment, PaymentStatus};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::Completion;
use table::item::Item;

use super::ThemePurchase;
use crate::manifest::Slug;
use crate::theme::Theme;

/// The period in which a purchase can be paid (our choice).
const PAYABLE_FOR: std::time::Duration = HOUR;

/// The parties, the theme and the price of a purchase.
#[derive(Debug, Clone, Copy)]
pub struct Sale<'a> {
    /// The store that buys.
    pub buyer: &'a StoreId,
    /// The theme.
    pub theme: &'a Theme,
    /// Its price.
    pub price: &'a Money,
    /// The seller's store.
    pub seller: &'a StoreId,
}

impl ThemePurchase {
    /// Opens a purchase with the provider of the seller's store, and writes it.
    ///
    /// # Errors
    /// `provider_not_connected`, `amount_not_supported`, `provider_error`, `provider_timeout`.
    pub async fn open<C: Completion<OpenedPurchase>>(
        services: &Services,
        sale: Sale<'_>,
        provider: ProviderName,
        completion: &C,
    ) -> Result<C::Output, Problem> {
        if !Capabilities::of(provider).is_online {
            let detail =
                "Must be a provider that is called over the network: `razorpay` or `stripe`.";
            return Err(Problem::field("/provider", "invalid_choice", detail));
        }
        let account_key = key::payment_provider(sale.seller, provider.as_str());
        let account: Option<ProviderAccount> = services.table.get(&account_key).await?;
        let account = account.filter(|account| account.enabled);
        let account = account.ok_or(Code::ProviderNotConnected)?;
        // Nobody would capture it later: payments are captured automatically.
        let at_once =
            ProviderAccount { capture_method: CaptureMethod::Automatic, ..account.clone() };
        let key = services.secrets.payment_key().await?;
        let connected = at_once.connect(&key)?;
        let now = services.clock.now();
        let id = ThemePurchaseId::mint(now);
        let opening = NewPayment {
            store_id: sale.seller.clone(),
            order_id: OrderId::derive(&["theme purchase", id.as_str()]),
            order_number: id.to_string(),
            amount: sale.price.clone(),
            expires_at: Some(now.plus(PAYABLE_FOR)),
        };
        if !sales::payment::can_take(provider, &opening.amount) {
            return Err(Code::AmountNotSupported.with("provider", provider.as_str()));
        }
        let payment_id = PaymentId::derive(&["theme purchase", id.as_str()]);
        let at_provider = connected.open(services, &payment_id, &opening).await?;
        let payment = Payment::begun(payment_id, &at_once, opening, at_provider, &key, now);
        let purchase = Self {
            id,
            store_id: sale.buyer.clone(),
            slug: sale.theme.slug.clone(),
            payment,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let client = connected.client(&purchase.payment, purchase.payment.client_secret(&key));
        let write = services
            .table
            .write()
            .create(&purchase, Code::VersionConflict)
            .create(&purchase.reference(), Code::VersionConflict)
            .check(&account.key(), account.version_condition(), Code::VersionConflict);
        completion.commit(write, &OpenedPurchase::of(&purchase, client), now).await
    }
}

/// An opened purchase, with the data with which the browser pays.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OpenedPurchase {
    /// The id.
    id: ThemePurchaseId,
    /// The same id, under the name that `purchase/verify` requires.
    purchase_id: ThemePurchaseId,
    /// The theme's name in URLs.
    theme: Slug,
    /// The store that buys.
    store_id: StoreId,
    /// The payment provider.
    provider: ProviderName,
    /// The provider's reference: a Razorpay order or a Stripe payment intent.
    provider_order_id: String,
    /// The amount to pay.
    amount: Money,
    /// The state of the payment.
    status: PaymentStatus,
    /// The data with which the browser pays.
    client: Client,
    /// The deadline for payment.
    expires_at: Option<Timestamp>,
    /// When it was created.
    created_at: Timestamp,
    /// When it was last changed.
    updated_at: Timestamp,
    /// From 1, one more with each write.
    version: u64,
}

impl OpenedPurchase {
    fn of(purchase: &ThemePurchase, client: Client) -> Self {
        let payment = &purchase.payment;
        Self {
            id: purchase.id.clone(),
            purchase_id: purchase.id.clone(),
            theme: purchase.slug.clone(),
            store_id: purchase.store_id.clone(),
            provider: payment.provider,
            provider_order_id: payment.provider_reference.clone(),
            amount: payment.amount.clone(),
            status: payment.status,
            client,
            expires_at: payment.expires_at,
            created_at: purchase.created_at,
            updated_at: purchase.updated_at,
            version: purchase.version,
        }
    }
}
