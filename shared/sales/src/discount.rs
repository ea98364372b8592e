//! Discounts: by a code that the shopper enters, and automatic ones (docs/commerce.md §3).
//!
//! A cart takes one code and one automatic discount: of those that combine with the code's, the one that saves
//! the most after it. A discount never exceeds the amount that it reduces, and is allocated to its lines by the
//! largest remainder. Uses are counted in the transaction of the checkout ([`uses`]).

mod code;
mod eligibility;
mod saving;
#[cfg(test)]
pub(crate) mod tests;
mod topics;
pub mod uses;
mod view;

use catalogue::collection::MAX_MEMBERS;
use core_types::event::EventSubject;
use core_types::id::{CollectionId, DiscountId, ProductId, ShippingRateId, StoreId};
use core_types::key;
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

use crate::pricing_document::{PricingDocument, PricingEntry, subject_of};

pub use code::{DiscountCode, UniqueDiscountCode, count_try, ensure_try};
pub use eligibility::{DiscountRejection, DiscountUsage, Shopper, ShopperIds};
pub use saving::{DiscountableLine, Saving};
pub use topics::*;
pub use view::{DiscountValueView, DiscountView};

/// The most products that one discount can target.
pub const MAX_PRODUCTS: usize = 100;
/// The most collections that one discount can target.
pub const MAX_COLLECTIONS: usize = 10;
/// The most automatic discounts of one store that have not ended: a checkout evaluates all of them. Shopify
/// has the same limit.
pub const MAX_AUTOMATIC: usize = 25;
/// The most codes in a request for a cart; all but one are rejected.
pub const MAX_CODES: usize = 5;

const _: () = assert!(MAX_PRODUCTS <= MAX_MEMBERS);

primitives::string_enum! {
    /// The kind of a discount.
    DiscountKind {
        /// A percentage off the price.
        Percentage = "percentage",
        /// An amount off, once for all its lines together.
        Fixed = "fixed",
        /// Free shipping.
        FreeShipping = "free_shipping",
        /// A reduced price of some units when others are bought.
        BuyXGetY = "buy_x_get_y",
    }
}

primitives::string_enum! {
    /// The class of a discount, by which it combines with others (`combines_with`).
    DiscountClass {
        /// It reduces the whole order.
        Order = "order",
        /// It reduces the lines of some products, or of units got for others.
        Product = "product",
        /// It reduces shipping.
        Shipping = "shipping",
    }
}

primitives::string_enum! {
    /// The status of a discount.
    DiscountStatus {
        /// It has not started.
        Scheduled = "scheduled",
        /// It can be used.
        Active = "active",
        /// It has ended.
        Expired = "expired",
        /// The merchant has disabled it.
        Disabled = "disabled",
    }
}

/// The lines of a cart that a discount targets: all lines if both lists are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DiscountTargets")]
pub struct Targets {
    /// The targeted products.
    #[serde(default)]
    pub product_ids: Vec<ProductId>,
    /// The collections whose products are targeted.
    #[serde(default)]
    pub collection_ids: Vec<CollectionId>,
}

impl Targets {
    /// Whether it targets every line.
    pub fn is_whole_order(&self) -> bool {
        self.product_ids.is_empty() && self.collection_ids.is_empty()
    }
}

/// The kind of a discount with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DiscountValue {
    /// A percentage off the price.
    Percentage {
        /// Hundredths of a percent: 1000 is 10 %.
        basis_points: i64,
    },
    /// An amount off.
    Fixed {
        /// The amount.
        amount: Money,
    },
    /// Free shipping.
    FreeShipping {
        /// The highest price of a shipping rate that it makes free.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_amount: Option<Money>,
        /// The shipping rates that it makes free; all of them if empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shipping_rate_ids: Vec<ShippingRateId>,
    },
    /// A reduced price of some units when others are bought.
    BuyXGetY {
        /// The units that must be bought.
        buy_quantity: u32,
        /// The units that get the discount for them.
        get_quantity: u32,
        /// The percentage off these, in hundredths of a percent: 10000 makes them free.
        basis_points: i64,
        /// The lines that can get the discount; by default those that must be bought.
        get: Targets,
        /// The maximum number of times that it applies to one order.
        #[serde(rename = "most")]
        max_uses: Option<u32>,
    },
}

impl DiscountValue {
    /// The kind of the discount.
    pub const fn kind(&self) -> DiscountKind {
        match self {
            Self::Percentage { .. } => DiscountKind::Percentage,
            Self::Fixed { .. } => DiscountKind::Fixed,
            Self::FreeShipping { .. } => DiscountKind::FreeShipping,
            Self::BuyXGetY { .. } => DiscountKind::BuyXGetY,
        }
    }
}

/// The classes of other discounts that a discount may be used with, as Shopify's `combinesWith`. Two discounts
/// combine if each allows the class of the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DiscountCombinesWith")]
pub struct CombinesWith {
    /// Whether it combines with discounts on the whole order.
    pub order_discounts: bool,
    /// Whether it combines with discounts on products.
    pub product_discounts: bool,
    /// Whether it combines with discounts on shipping.
    pub shipping_discounts: bool,
}

impl Default for CombinesWith {
    /// All of them (our choice; Shopify's default is none).
    fn default() -> Self {
        Self { order_discounts: true, product_discounts: true, shipping_discounts: true }
    }
}

impl CombinesWith {
    const fn allows(&self, class: DiscountClass) -> bool {
        match class {
            DiscountClass::Order => self.order_discounts,
            DiscountClass::Product => self.product_discounts,
            DiscountClass::Shipping => self.shipping_discounts,
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The minimum purchase: required of the lines that a discount targets, before any discount.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Minimum {
    /// The minimum subtotal.
    pub subtotal: Option<Money>,
    /// The minimum number of units.
    pub quantity: Option<u32>,
}

/// A discount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "discount", key = key::discount(&self.store_id, &self.id), packed)]
#[item(indexes = vec![key::discounts_of_store(&self.store_id, self.created_at, &self.id)])]
pub struct Discount {
    /// The id: `dsc_` and 32 hexadecimal digits.
    pub id: DiscountId,
    /// The store.
    pub store_id: StoreId,
    /// The title that shoppers see.
    pub title: String,
    /// The code that shoppers enter; none if it is automatic.
    pub code: Option<DiscountCode>,
    /// The kind with its parameters.
    pub value: DiscountValue,
    /// The lines that it targets; of buy X get Y, those that must be bought.
    pub applies_to: Targets,
    /// The minimum purchase of these.
    pub minimum: Minimum,
    /// The classes of discounts that it may be used with.
    #[serde(default, skip_serializing_if = "CombinesWith::is_default")]
    pub combines_with: CombinesWith,
    /// Whether it is only for customers who have not ordered yet.
    pub first_order_only: bool,
    /// The maximum number of orders that can use it.
    pub usage_limit: Option<u32>,
    /// The maximum number of orders of one customer that can use it.
    pub per_customer_limit: Option<u32>,
    /// When it starts.
    pub starts_at: Timestamp,
    /// When it ends, exclusive.
    pub ends_at: Option<Timestamp>,
    /// Whether the merchant has disabled it.
    pub disabled: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

/// Automatic discounts are also stored together in one document, which a checkout reads.
impl PricingEntry for Discount {
    const KIND: &'static str = "automatic_discounts";
    type View = DiscountView;

    fn document_key(&self) -> Key {
        key::automatic_discounts(&self.store_id)
    }

    fn event_subject(&self) -> EventSubject<'_> {
        subject_of(&self.store_id, self.id.as_str(), self.version)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl DiscountKind {
    /// The class of a discount that names neither products nor collections.
    pub const fn default_class(self) -> DiscountClass {
        match self {
            Self::FreeShipping => DiscountClass::Shipping,
            Self::BuyXGetY => DiscountClass::Product,
            Self::Percentage | Self::Fixed => DiscountClass::Order,
        }
    }
}

impl Discount {
    /// The status at `now`.
    pub fn status_at(&self, now: Timestamp) -> DiscountStatus {
        if self.disabled {
            DiscountStatus::Disabled
        } else if now < self.starts_at {
            DiscountStatus::Scheduled
        } else if self.ends_at.is_some_and(|end| end <= now) {
            DiscountStatus::Expired
        } else {
            DiscountStatus::Active
        }
    }

    /// Disables or enables the discount.
    ///
    /// # Errors
    /// `invalid_state_transition` if it is already in that state.
    pub fn switched(&self, disabled: bool, now: Timestamp) -> Result<Self, Problem> {
        if self.disabled == disabled {
            let action = if disabled { "enable" } else { "disable" };
            return Err(Problem::state(self.status_at(now).as_str(), &[action]));
        }
        Ok(Self { disabled, ..PricingEntry::changed(self, now) })
    }

    /// The class by which it combines with others.
    pub fn class(&self) -> DiscountClass {
        match self.value.kind().default_class() {
            DiscountClass::Order if !self.applies_to.is_whole_order() => DiscountClass::Product,
            class => class,
        }
    }

    /// Whether both may be used in one order.
    pub fn combines(&self, other: &Self) -> bool {
        self.combines_with.allows(other.class()) && other.combines_with.allows(self.class())
    }

    /// Whether it makes a shipping rate at this price free.
    pub fn frees(&self, rate: &ShippingRateId, price: &Money) -> bool {
        let DiscountValue::FreeShipping { max_amount, shipping_rate_ids } = &self.value else {
            return false;
        };
        let is_named = shipping_rate_ids.is_empty() || shipping_rate_ids.contains(rate);
        let max = max_amount.as_ref();
        is_named
            && max.is_none_or(|max| max.currency == price.currency && price.amount <= max.amount)
    }

    /// All collections that it targets.
    pub fn collections(&self) -> impl Iterator<Item = &CollectionId> {
        let get_targets = match &self.value {
            DiscountValue::BuyXGetY { get, .. } => get.collection_ids.as_slice(),
            _ => &[],
        };
        self.applies_to.collection_ids.iter().chain(get_targets)
    }

    /// The item that makes its code unique, if it has a code.
    pub fn unique_code(&self) -> Option<UniqueDiscountCode> {
        let code = self.code.clone()?;
        Some(UniqueDiscountCode {
            store_id: self.store_id.clone(),
            code,
            discount_id: self.id.clone(),
            version: 1,
        })
    }
}

/// Adds a discount to the store's automatic discounts, replaces it or removes it; returns none if it is not
/// and was not listed. It is listed if it has no code, is enabled and has not ended. The others that have
/// ended are removed.
///
/// # Errors
/// `discount_limit`.
pub fn listed(
    document: &PricingDocument<Discount>,
    discount: &Discount,
    is_deleted: bool,
    now: Timestamp,
) -> Result<Option<PricingDocument<Discount>>, Problem> {
    let is_expired = |known: &Discount| known.ends_at.is_some_and(|end| end <= now);
    let mut next = document.clone();
    next.entries.retain(|known| !is_expired(known));
    let is_listed =
        discount.code.is_none() && !discount.disabled && !is_deleted && !is_expired(discount);
    let next = match (is_listed, next.entry(discount.id.as_str()).is_ok()) {
        (true, _) => next.with(discount.clone()),
        (false, true) => next.without(discount.id.as_str()),
        (false, false) => return Ok(None),
    };
    if next.entries.len() > MAX_AUTOMATIC {
        return Err(Code::DiscountLimit.with("limit", MAX_AUTOMATIC));
    }
    Ok(Some(next))
}
