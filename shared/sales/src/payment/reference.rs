//! The lookup item of a provider's reference.

use core_types::id::{OrderId, PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use serde::{Deserialize, Serialize};
use table::item::Item;

use super::Payment;

/// The lookup item of a provider's reference, by which a webhook finds its payment.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "provider_reference")]
#[item(key = key::provider_reference(self.provider.as_str(), &self.reference))]
pub struct ProviderReference {
    /// The payment provider: `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// The provider's reference ([`Payment::provider_reference`]).
    pub reference: String,
    /// The store.
    pub store_id: StoreId,
    /// The order.
    pub order_id: OrderId,
    /// The payment.
    pub payment_id: PaymentId,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl From<&Payment> for ProviderReference {
    fn from(payment: &Payment) -> Self {
        Self {
            provider: payment.provider,
            reference: payment.provider_reference.clone(),
            store_id: payment.store_id.clone(),
            order_id: payment.order_id.clone(),
            payment_id: payment.id.clone(),
            version: 1,
        }
    }
}
