//! Where a payment lies: beside its order, to which its id leads.

use core_types::id::{OrderId, PaymentId, StoreId};
use identity::store::Store;

use super::{Payment, ProviderReference};

/// A payment of an order of a store: all that its key is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentLookup {
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The order that it belongs to.
    pub order_id: OrderId,
    /// The id of one of the order's payments.
    pub payment_id: PaymentId,
}

impl PaymentLookup {
    /// Where a store's payment lies, if there is one of this id.
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
