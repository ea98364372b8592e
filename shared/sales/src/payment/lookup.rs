//! The key of a payment: in the partition of its order, whose number is part of the payment's id.

use core_types::id::{OrderId, PaymentId, StoreId};
use identity::store::Store;

use super::{Payment, ProviderReference};

/// The parts of a payment's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentLookup {
    /// The store.
    pub store_id: StoreId,
    /// The order.
    pub order_id: OrderId,
    /// The payment.
    pub payment_id: PaymentId,
}

impl PaymentLookup {
    /// The key of a store's payment, from its id. The payment may not exist.
    pub fn of(store: &Store, id: &PaymentId) -> Self {
        let order_id = store.order_id(id.order_number());
        Self { store_id: store.id.clone(), order_id, payment_id: id.clone() }
    }
}

impl From<&Payment> for PaymentLookup {
    fn from(payment: &Payment) -> Self {
        Self {
            store_id: payment.store_id.clone(),
            order_id: payment.order_id.clone(),
            payment_id: payment.id.clone(),
        }
    }
}

impl From<&ProviderReference> for PaymentLookup {
    fn from(reference: &ProviderReference) -> Self {
        Self {
            store_id: reference.store_id.clone(),
            order_id: reference.order_id.clone(),
            payment_id: reference.payment_id.clone(),
        }
    }
}
