//! Claims that make handles and SKUs unique within a store.

use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId, VariantId};
use core_types::key;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::{Change, Condition};

use super::{Outline, Product, Variant};

/// The claim of a handle by a product.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "product_handle")]
#[item(key = key::unique_product_handle(&self.store_id, self.handle.as_str()), version = 1)]
pub struct UniqueProductHandle {
    /// Part of the key.
    pub store_id: StoreId,
    /// The handle.
    pub handle: Handle,
    /// The product.
    pub product_id: ProductId,
    /// The product's outline, so that its page loads related products at the same time.
    pub outline: Outline,
    /// When it was claimed.
    pub created_at: Timestamp,
}

/// The claim of a SKU by a variant. SKUs are compared regardless of case: `tee-m` is `TEE-M`.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "sku", key = Self::key_of(&self.store_id, &self.sku), version = 1)]
pub struct UniqueSku {
    /// Part of the key.
    pub store_id: StoreId,
    /// The SKU, as it was given.
    pub sku: String,
    /// The product.
    pub product_id: ProductId,
    /// The variant.
    pub variant_id: VariantId,
    /// When it was claimed.
    pub created_at: Timestamp,
}

impl UniqueSku {
    /// The key of a SKU on a store.
    pub fn key_of(store: &StoreId, sku: &str) -> Key {
        key::unique_sku(store, &sku.to_lowercase())
    }

    /// The condition that the stored claim still belongs to this variant.
    pub fn still_its(&self) -> Condition {
        Condition::new("variant_id = :variant").value(":variant", &self.variant_id)
    }

    /// The claim for the SKU of `variant`; none when it has no SKU.
    pub fn of(variant: &Variant, now: Timestamp) -> Option<Self> {
        Some(Self {
            store_id: variant.store_id.clone(),
            sku: variant.sku.clone()?,
            product_id: variant.product_id.clone(),
            variant_id: variant.id.clone(),
            created_at: now,
        })
    }
}

impl Product {
    /// The claim for its handle.
    pub fn claim(&self, now: Timestamp) -> UniqueProductHandle {
        UniqueProductHandle {
            store_id: self.store_id.clone(),
            handle: self.handle.clone(),
            product_id: self.id.clone(),
            outline: self.outline(),
            created_at: now,
        }
    }

    /// The update of the claim of its handle with its current outline.
    pub fn reclaim(&self) -> Change {
        Change::new("SET outline = :outline")
            .only_if("product_id = :product")
            .value(":outline", self.outline())
            .value(":product", &self.id)
    }
}
