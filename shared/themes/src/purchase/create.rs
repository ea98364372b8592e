//! Creates purchases with the payment provider of the seller's store.

use core_types::id::{OrderId, PaymentId, StoreId, ThemePurchaseId};
use core_types::key;
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::{HOUR, Timestamp};
use primitives::problem::{Code, Problem};
use sales::payment::account::ProviderAccount;
use sales::payment::provider::{ClientParameters, Provider};
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
    /// Creates a purchase with the provider of the seller's store, and writes it.
    ///
    /// # Errors
    /// `provider_not_connected`, `amount_not_supported`, `provider_error`, `provider_timeout`.
    pub async fn create<C: Completion<CreatedPurchase>>(
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
        let provider_client = at_once.connect(&key)?;
        let now = services.clock.now();
        let id = ThemePurchaseId::mint(now);
        let new_payment = NewPayment {
            store_id: sale.seller.clone(),
            order_id: OrderId::derive(&["theme purchase", id.as_str()]),
            order_number: id.to_string(),
            amount: sale.price.clone(),
            expires_at: Some(now.plus(PAYABLE_FOR)),
        };
        if !sales::payment::can_take(provider, &new_payment.amount) {
            return Err(Code::AmountNotSupported.with("provider", provider.as_str()));
        }
        let payment_id = PaymentId::derive(&["theme purchase", id.as_str()]);
        let at_provider =
            provider_client.create_payment(services, &payment_id, &new_payment).await?;
        let payment = Payment::begun(payment_id, &at_once, new_payment, at_provider, &key, now);
        let purchase = Self {
            id,
            store_id: sale.buyer.clone(),
            slug: sale.theme.slug.clone(),
            payment,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let client = provider_client
            .client_parameters(&purchase.payment, purchase.payment.client_secret(&key));
        let write = services
            .table
            .write()
            .create(&purchase, Code::VersionConflict)
            .create(&purchase.reference(), Code::VersionConflict)
            .check(&account.key(), account.version_condition(), Code::VersionConflict);
        completion.commit(write, &CreatedPurchase::of(&purchase, client), now).await
    }
}

/// A created purchase, with the parameters with which the browser pays.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CreatedPurchase {
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
    /// The parameters with which the browser pays.
    client: ClientParameters,
    /// The deadline for payment.
    expires_at: Option<Timestamp>,
    /// When it was created.
    created_at: Timestamp,
    /// When it was last changed.
    updated_at: Timestamp,
    /// From 1, one more with each write.
    version: u64,
}

impl CreatedPurchase {
    fn of(purchase: &ThemePurchase, client: ClientParameters) -> Self {
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
