//! Where a payment lies: it is beside its order, and its id alone does not say which that is.

use gateway::item::{Item, Key};
use gateway::problem::Code;
use gateway::table::Write;
use ground::key;
use serde::{Deserialize, Serialize};

use super::{Payment, ProviderReference};

/// What leads from a payment's id to the payment: written with it, and never changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaymentLocator(pub ProviderReference);

impl Item for PaymentLocator {
    const KIND: &'static str = "payment_place";
    fn key(&self) -> Key {
        key::payment_locator(&self.0.store_id, &self.0.payment_id)
    }
    fn version(&self) -> u64 {
        self.0.version
    }
}

/// Adds a new payment to a transaction: two actions, so that it is found by its id at once.
pub fn create(write: Write, payment: &Payment) -> Write {
    write
        .create(payment, Code::VersionConflict)
        .create(&PaymentLocator(ProviderReference::from(payment)), Code::VersionConflict)
}
