//! The store and the product of a summary, stored as its partition key.

use core_types::id::{ProductId, StoreId};
use core_types::key;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Store and product, serialized as the partition key that they form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SummaryPartition {
    pub(super) store: StoreId,
    pub(super) product: ProductId,
}

impl SummaryPartition {
    pub(super) fn new(store: &StoreId, product: &ProductId) -> Self {
        Self { store: store.clone(), product: product.clone() }
    }
}

impl Serialize for SummaryPartition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&key::summary(&self.store, &self.product).pk)
    }
}

impl<'de> Deserialize<'de> for SummaryPartition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let partition = String::deserialize(deserializer)?;
        let named = key::summary_of(&partition);
        let (store, product) =
            named.ok_or_else(|| serde::de::Error::custom("no product's partition"))?;
        Ok(Self { store, product })
    }
}
