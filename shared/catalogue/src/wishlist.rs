//! Wishlists: the products that a customer wants to remember.

use core_types::fields::Handle;
use core_types::id::{CustomerId, ProductId, StoreId, VariantId, WishId};
use core_types::key;
use core_types::money::Money;
use identity::customer::Customer;
use primitives::clock::Timestamp;
use primitives::problem::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::{Change, Condition, Write};

use crate::product::Product;

/// Wishes of one customer. How many there are, the customer's own item says.
pub const MAX_WISHES: u32 = 500;
/// What stands in a key for a wish without a variant.
const ANY_VARIANT: &str = "-";

/// A product that a customer wants to remember, and perhaps which variant of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Wish {
    /// Part of the key.
    pub store_id: StoreId,
    /// Whose wish it is.
    pub customer_id: CustomerId,
    /// Part of the key.
    pub product_id: ProductId,
    /// The variant, if it matters.
    pub variant_id: Option<VariantId>,
    /// When it was added.
    pub created_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Wish {
    const KIND: &'static str = "wish";
    fn key(&self) -> Key {
        let variant = self.variant_id.as_ref().map_or(ANY_VARIANT, VariantId::as_str);
        key::wish(&self.store_id, &self.customer_id, &self.product_id, variant)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Wish {
    /// What sort keys of wishes for a product begin with.
    pub fn prefix_of(product: &ProductId) -> String {
        format!("{}{product}#", key::WISHES)
    }

    /// A new wish.
    pub fn make(
        customer: &Customer,
        product_id: ProductId,
        variant_id: Option<VariantId>,
        now: Timestamp,
    ) -> Self {
        let (store_id, customer_id) = (customer.store_id.clone(), customer.id.clone());
        Self { store_id, customer_id, product_id, variant_id, created_at: now, version: 1 }
    }

    /// The id: that of another wish for the same is the same.
    fn id(&self) -> WishId {
        let variant = self.variant_id.as_ref().map_or(ANY_VARIANT, VariantId::as_str);
        WishId::derive(&[self.customer_id.as_str(), self.product_id.as_str(), variant])
    }

    /// The product as the wish shows it, when the store shows it at all.
    pub fn view(&self, product: Option<&Product>) -> WishView {
        let shown = product.filter(|product| product.is_visible());
        WishView {
            id: self.id(),
            product_id: self.product_id.clone(),
            variant_id: self.variant_id.clone(),
            product: shown.map(WishedProduct::from),
            created_at: self.created_at,
            updated_at: self.created_at,
            version: self.version,
        }
    }
}

/// Adds a wish that is not there yet. Ends in `version_conflict` when it is, and in
/// `wishlist_limit` when there are too many.
pub fn add(write: Write, customer: &Customer, wish: &Wish) -> Write {
    let change = Change::new("SET wishes_count = wishes_count + :one")
        .only_if("wishes_count < :max")
        .value(":one", 1)
        .value(":max", MAX_WISHES);
    let full = Code::WishlistLimit.with("maximum", MAX_WISHES);
    write.create(wish, Code::VersionConflict).update(&customer.key(), change, full)
}

/// Removes wishes that are there. Ends in `version_conflict` when one of them is not.
pub fn remove(write: Write, customer: &Customer, wishes: &[Wish]) -> Write {
    let change = Change::new("SET wishes_count = wishes_count - :gone")
        .only_if("wishes_count >= :gone")
        .value(":gone", wishes.len());
    let write = write.update(&customer.key(), change, Code::VersionConflict);
    wishes.iter().fold(write, |write, wish| {
        let is_there = Condition::new("attribute_exists(PK)");
        write.delete_if(&wish.key(), is_there, Code::VersionConflict)
    })
}

/// Moves wishes of an account that is gone to another's list; those in `known` are there already. Ends in
/// `not_found` when that account is gone as well, and in `version_conflict` when a wish is.
pub fn hand_over(write: Write, to: &Customer, wishes: &[Wish], known: &[Wish]) -> Write {
    let moved = |wish: &Wish| Wish { customer_id: to.id.clone(), ..wish.clone() };
    let is_known = |wish: &Wish| known.iter().any(|own| own.key() == wish.key());
    let new: Vec<Wish> = wishes.iter().map(moved).filter(|wish| !is_known(wish)).collect();
    let change = Change::new("SET wishes_count = wishes_count + :more")
        .only_if("attribute_exists(PK)")
        .value(":more", new.len());
    let write = write.update(&to.key(), change, Code::NotFound);
    let write = new.iter().fold(write, |write, wish| write.create(wish, Code::VersionConflict));
    wishes.iter().fold(write, |write, wish| {
        write.delete_if(&wish.key(), Condition::exists(), Code::VersionConflict)
    })
}

/// A wish as its owner sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WishlistItem")]
pub struct WishView {
    /// The id.
    pub id: WishId,
    /// The product: what a wish is named by.
    pub product_id: ProductId,
    /// The variant, if it matters.
    pub variant_id: Option<VariantId>,
    /// The product as it is now; null while the store does not show it.
    pub product: Option<WishedProduct>,
    /// When it was added.
    pub created_at: Timestamp,
    /// The same: a wish never changes.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

core_types::view! {
    /// A product as a wish shows it.
    WishedProduct of product: Product {
        /// Its name in URLs.
        handle: Handle,
        /// What shoppers read.
        title: String,
        /// The lowest price of its variants.
        price: Money = product.price_range().min,
        /// The picture that stands for it.
        image_url: Option<String> = product.image().map(|image| image.url.clone()),
    }
}
