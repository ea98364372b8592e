//! Sellables: the data of variants that a checkout reads.

use core_types::fields::TaxClass;
use core_types::id::{ProductId, StoreId, VariantId};
use core_types::key;
use core_types::money::Money;
use identity::store::{InventoryPolicy, Store};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::Change;
use table::item::Item;

use super::{Product, ProductStatus, Variant};

/// The data of a variant that a checkout needs. It is stored with the variant's stock, so that a cart
/// is read in one batch.
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "sellable", key = key::sellable(&self.store_id, &self.variant_id))]
pub struct Sellable {
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub variant_id: VariantId,
    /// Its product.
    pub product_id: ProductId,
    /// The product's title.
    pub product_title: String,
    /// The variant's title.
    pub variant_title: String,
    /// The stock-keeping unit.
    pub sku: Option<String>,
    /// The variant's image, or else the product's first.
    pub image_url: Option<String>,
    /// The price.
    pub price: Money,
    /// The product's status.
    pub status: ProductStatus,
    /// Whether the variant is discontinued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discontinued: bool,
    /// Whether its stock is tracked.
    pub tracked: bool,
    /// The variant's own policy on selling beyond its stock; without one, the store's applies
    /// ([`Sellable::continues_selling`]).
    pub policy: Option<InventoryPolicy>,
    /// Whether it is shipped.
    pub requires_shipping: bool,
    /// Whether tax is levied on it.
    #[serde(default = "super::is_taxable")]
    pub taxable: bool,
    /// The weight.
    #[serde(default)]
    pub weight_grams: Option<u32>,
    /// The tax class; null for goods without one.
    #[serde(default)]
    pub tax_class: Option<TaxClass>,
    /// Whether it was ever ordered ([`note_ordered`]); no write of the catalogue changes this.
    #[serde(default)]
    pub was_ordered: bool,
    /// Counts writes of the catalogue.
    pub version: u64,
}

impl Sellable {
    /// Whether shoppers may buy it.
    pub fn is_on_sale(&self) -> bool {
        self.status == ProductStatus::Active && !self.discontinued
    }

    /// Whether its merchant may order it, also before it is on sale.
    pub fn is_orderable(&self) -> bool {
        self.status != ProductStatus::Archived && !self.discontinued
    }

    /// Whether it is sold beyond its stock: its own policy, or else the store's current one.
    pub fn continues_selling(&self, store: &Store) -> bool {
        self.policy.unwrap_or(store.inventory_policy) == InventoryPolicy::Continue
    }

    /// Whether it equals `wanted`, apart from its version and the order mark.
    pub fn has_content_of(&self, wanted: &Self) -> bool {
        let (was_ordered, version) = (self.was_ordered, self.version);
        *self == Self { was_ordered, version, ..wanted.clone() }
    }

    /// Marks it as ordered, on condition that it is still at the version that the cart was priced by.
    /// So a concurrent change or removal comes either before the order or after it.
    #[must_use]
    pub fn mark_ordered(&self) -> Change {
        Change::new("SET was_ordered = :ordered")
            .only_if("#version = :read")
            .name("#version", "version")
            .value(":read", self.version)
            .value(":ordered", true)
    }

    /// The update that replaces the stored one; the order mark is not touched.
    #[must_use]
    pub fn change(&self) -> Change {
        let set = "SET product_title = :title, variant_title = :variant, price = :price, \
                   #status = :status, tracked = :tracked, requires_shipping = :shipping, \
                   sku = :sku, image_url = :image, #policy = :policy, \
                   weight_grams = :weight, tax_class = :class, taxable = :taxable, \
                   discontinued = :gone, \
                   #version = #version + :one";
        Change::new(set)
            .only_if("attribute_exists(PK)")
            .name("#status", "status")
            .name("#version", "version")
            .name("#policy", "policy")
            .value(":title", &self.product_title)
            .value(":variant", &self.variant_title)
            .value(":price", &self.price)
            .value(":status", self.status)
            .value(":tracked", self.tracked)
            .value(":shipping", self.requires_shipping)
            .value(":sku", &self.sku)
            .value(":image", &self.image_url)
            .value(":policy", self.policy)
            .value(":weight", self.weight_grams)
            .value(":class", &self.tax_class)
            .value(":taxable", self.taxable)
            .value(":gone", self.discontinued)
            .value(":one", 1)
    }
}

impl Product {
    /// The sellable of this variant of the product.
    pub fn sellable(&self, variant: &Variant) -> Sellable {
        Sellable {
            store_id: self.store_id.clone(),
            variant_id: variant.id.clone(),
            product_id: self.id.clone(),
            product_title: self.title.clone(),
            variant_title: variant.title.clone(),
            sku: variant.sku.clone(),
            image_url: variant
                .image_url
                .clone()
                .or_else(|| self.image().map(|image| image.url.clone())),
            price: variant.price.clone(),
            status: self.status,
            discontinued: variant.discontinued,
            tracked: variant.tracked,
            policy: variant.policy,
            requires_shipping: variant.requires_shipping,
            taxable: variant.taxable,
            weight_grams: variant.weight_grams,
            tax_class: self.tax_class.clone(),
            was_ordered: false,
            version: 1,
        }
    }
}

/// Marks variants as ordered, before the order is placed. From then on they are only deleted if all of their
/// orders have ended. Only the first order of a variant costs a write. It is not part of the order's own
/// transaction, which 40 lines fill; a mark without an order is harmless.
pub async fn note_ordered(services: &Services, read: &[&Sellable]) -> Result<(), Problem> {
    let mut write = services.table.write();
    for sellable in read.iter().filter(|sellable| !sellable.was_ordered) {
        write = write.update(&sellable.key(), sellable.mark_ordered(), Code::VersionConflict);
    }
    write.commit().await
}
