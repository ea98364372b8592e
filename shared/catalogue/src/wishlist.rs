//! Wishlists: the products that a customer has saved.

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

/// The most wishes of one customer. Their number is an attribute of the customer's item.
pub const MAX_WISHES: u32 = 500;
/// The part of the key that stands for no variant.
const ANY_VARIANT: &str = "-";

/// A product that a customer has saved, or a variant of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Wish {
    /// Part of the key.
    pub store_id: StoreId,
    /// The customer. Part of the key.
    pub customer_id: CustomerId,
    /// Part of the key.
    pub product_id: ProductId,
    /// The variant, if one was chosen. Part of the key.
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
    /// The prefix of the sort keys of a customer's wishes for a product.
    pub fn prefix_of(product: &ProductId) -> String {
        format!("{}{product}#", key::WISHES)
    }

    /// A new wish.
    pub fn new(
        customer: &Customer,
        product_id: ProductId,
        variant_id: Option<VariantId>,
        now: Timestamp,
    ) -> Self {
        let (store_id, customer_id) = (customer.store_id.clone(), customer.id.clone());
        Self { store_id, customer_id, product_id, variant_id, created_at: now, version: 1 }
    }

    /// The id, derived from customer, product and variant, so that saving the same again gives the same.
    fn id(&self) -> WishId {
        let variant = self.variant_id.as_ref().map_or(ANY_VARIANT, VariantId::as_str);
        WishId::derive(&[self.customer_id.as_str(), self.product_id.as_str(), variant])
    }

    /// The response for a wish; `product` is included if it is active.
    pub fn view(&self, product: Option<&Product>) -> WishView {
        let visible = product.filter(|product| product.is_visible());
        WishView {
            id: self.id(),
            product_id: self.product_id.clone(),
            variant_id: self.variant_id.clone(),
            product: visible.map(WishedProduct::from),
            created_at: self.created_at,
            updated_at: self.created_at,
            version: self.version,
        }
    }
}

/// Adds the creation of a wish to a transaction. It fails with `version_conflict` if the wish exists, and
/// with `wishlist_limit` if the customer has [`MAX_WISHES`].
pub fn add(write: Write, customer: &Customer, wish: &Wish) -> Write {
    let change = Change::new("SET wishes_count = wishes_count + :one")
        .only_if("wishes_count < :max")
        .value(":one", 1)
        .value(":max", MAX_WISHES);
    let full = Code::WishlistLimit.with("maximum", MAX_WISHES);
    write.create(wish, Code::VersionConflict).update(&customer.key(), change, full)
}

/// Adds the deletion of wishes to a transaction. It fails with `version_conflict` if one does not exist.
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

/// Adds to a transaction the move of wishes of a deleted account to another account, which has those in
/// `known` already. It fails with `not_found` if that account does not exist, and with
/// `version_conflict` if one of the wishes does not.
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

/// An item of a customer's wishlist.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WishlistItem")]
pub struct WishView {
    /// The id.
    pub id: WishId,
    /// The product.
    pub product_id: ProductId,
    /// The variant, if one was chosen.
    pub variant_id: Option<VariantId>,
    /// The current product; null while it is not active.
    pub product: Option<WishedProduct>,
    /// When it was added.
    pub created_at: Timestamp,
    /// The same as `created_at`: an entry of a wishlist never changes.
    pub updated_at: Timestamp,
    /// The number of writes.
    pub version: u64,
}

core_types::view! {
    /// The product of a wishlist item.
    WishedProduct of product: Product {
        /// Its name in URLs.
        handle: Handle,
        /// The title that shoppers see.
        title: String,
        /// The lowest price of its variants.
        price: Money = product.price_range().min,
        /// The address of its first image.
        image_url: Option<String> = product.image().map(|image| image.url.clone()),
    }
}
