//! Lookup items of barcodes.

use core_types::id::{ProductId, StoreId, VariantId};
use core_types::key;
use serde::{Deserialize, Serialize};
use table::Query;
use table::item::Item;

use super::Variant;

/// The lookup item of a variant's barcode. Unlike SKUs, barcodes are not unique: several variants may
/// have the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "barcode", key = key::barcode(&self.store_id, &self.barcode, &self.variant_id))]
#[item(version = 1)]
pub struct Barcode {
    /// Part of the key.
    pub store_id: StoreId,
    /// The barcode in lower case.
    pub barcode: String,
    /// The product.
    pub product_id: ProductId,
    /// The variant.
    pub variant_id: VariantId,
}

impl Barcode {
    /// The lookup item of `variant`; none when it has no barcode.
    pub fn of(variant: &Variant) -> Option<Self> {
        Some(Self {
            store_id: variant.store_id.clone(),
            barcode: variant.barcode.as_deref()?.to_lowercase(),
            product_id: variant.product_id.clone(),
            variant_id: variant.id.clone(),
        })
    }

    /// The query for a store's variants with this barcode, regardless of case.
    pub fn query(store: &StoreId, barcode: &str) -> Query {
        Query::partition(key::barcode_variants(store, &barcode.to_lowercase()))
    }
}
