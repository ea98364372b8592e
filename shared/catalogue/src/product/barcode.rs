//! Which variants carry a barcode.

use core_types::id::{ProductId, StoreId, VariantId};
use core_types::key;
use serde::{Deserialize, Serialize};
use table::Query;
use table::item::{Item, Key};

use super::Variant;

/// A variant that carries a barcode. Several may carry the same: it is found by it, not named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barcode {
    /// Part of the key.
    pub store_id: StoreId,
    /// The barcode, without regard to case.
    pub barcode: String,
    /// Whose it is.
    pub product_id: ProductId,
    /// Whose it is.
    pub variant_id: VariantId,
}

impl Item for Barcode {
    const KIND: &'static str = "barcode";
    fn key(&self) -> Key {
        key::barcode(&self.store_id, &self.barcode, &self.variant_id)
    }
    fn version(&self) -> u64 {
        1
    }
}

impl Barcode {
    /// The entry of this variant; none when it has no barcode.
    pub fn of(variant: &Variant) -> Option<Self> {
        Some(Self {
            store_id: variant.store_id.clone(),
            barcode: variant.barcode.as_deref()?.to_lowercase(),
            product_id: variant.product_id.clone(),
            variant_id: variant.id.clone(),
        })
    }

    /// The variants of a store that carry this one.
    pub fn query(store: &StoreId, barcode: &str) -> Query {
        Query::partition(key::barcode_variants(store, &barcode.to_lowercase()))
    }
}
