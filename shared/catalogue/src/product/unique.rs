//! The one product of a handle, the one variant of a SKU.

use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId, VariantId};
use core_types::key;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::{Change, Condition};

use super::{Outline, Product, Variant};

/// The one product of a handle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueProductHandle {
    /// Part of the key.
    pub store_id: StoreId,
    /// The handle.
    pub handle: Handle,
    /// Whose it is.
    pub product_id: ProductId,
    /// What the product is likened by, so that its page reads what is beside it at the same time.
    pub outline: Outline,
    /// When it was claimed.
    pub created_at: Timestamp,
}

impl Item for UniqueProductHandle {
    const KIND: &'static str = "product_handle";
    fn key(&self) -> Key {
        key::unique_product_handle(&self.store_id, self.handle.as_str())
    }
    fn version(&self) -> u64 {
        1
    }
}

/// The one variant of a SKU. SKUs are compared without case: `tee-m` on a label is `TEE-M`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueSku {
    /// Part of the key.
    pub store_id: StoreId,
    /// The SKU, as it was given.
    pub sku: String,
    /// Whose it is.
    pub product_id: ProductId,
    /// Whose it is.
    pub variant_id: VariantId,
    /// When it was claimed.
    pub created_at: Timestamp,
}

impl UniqueSku {
    /// The key of a SKU on a store.
    pub fn key_of(store: &StoreId, sku: &str) -> Key {
        key::unique_sku(store, &sku.to_lowercase())
    }

    /// That the claim is still its variant's.
    pub fn still_its(&self) -> Condition {
        Condition::new("variant_id = :variant").value(":variant", &self.variant_id)
    }

    /// The claim of this variant; none when it has no SKU.
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

impl Item for UniqueSku {
    const KIND: &'static str = "sku";
    fn key(&self) -> Key {
        Self::key_of(&self.store_id, &self.sku)
    }
    fn version(&self) -> u64 {
        1
    }
}

impl Product {
    /// The claim of its handle.
    pub fn claim(&self, now: Timestamp) -> UniqueProductHandle {
        UniqueProductHandle {
            store_id: self.store_id.clone(),
            handle: self.handle.clone(),
            product_id: self.id.clone(),
            outline: self.outline(),
            created_at: now,
        }
    }

    /// The claim of its handle brought up to what the product is now.
    pub fn reclaim(&self) -> Change {
        Change::new("SET outline = :outline")
            .only_if("product_id = :product")
            .value(":outline", self.outline())
            .value(":product", &self.id)
    }
}
