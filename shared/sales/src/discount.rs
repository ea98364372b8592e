//! Discounts: codes that shoppers name, and automatic ones (docs/commerce.md §3).
//!
//! A cart takes one code and, of the automatic discounts, the one that saves the most of what the
//! code leaves. A discount is never more than what it is taken off, and is divided over its lines by
//! the largest remainder. What is used is counted in the checkout's own transaction ([`uses`]).

mod code;
mod saving;
mod standing;
#[cfg(test)]
pub(crate) mod tests;
mod topics;
pub mod uses;
mod view;

use catalogue::collection::MAX_MEMBERS;
use core_types::event::EventSubject;
use core_types::id::{CollectionId, DiscountId, ProductId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};

use crate::document::{Document, Entry, about};

pub use code::{DiscountCode, UniqueDiscountCode, count_try, ensure_try};
pub use saving::{Goods, Saving};
pub use standing::{DiscountRejection, Shopper, Standing};
pub use topics::*;
pub use view::{DiscountValueView, DiscountView};

/// Products that one discount names.
pub const MAX_PRODUCTS: usize = 100;
/// Collections that one discount names.
pub const MAX_COLLECTIONS: usize = 10;
/// Automatic discounts that are not over, of one store: a checkout looks at all of them. Shopify has
/// the same limit.
pub const MAX_AUTOMATIC: usize = 25;
/// Codes that one cart may name; all but one are rejected.
pub const MAX_CODES: usize = 5;

const _: () = assert!(MAX_PRODUCTS <= MAX_MEMBERS);

primitives::string_enum! {
    /// What a discount does.
    DiscountKind {
        /// A part of the price.
        Percentage = "percentage",
        /// A sum, once for all its lines together.
        Fixed = "fixed",
        /// Sending it costs nothing.
        FreeShipping = "free_shipping",
        /// Who buys some gets others for less.
        BuyXGetY = "buy_x_get_y",
    }
}

primitives::string_enum! {
    /// Whether a discount can be used.
    DiscountStatus {
        /// Not yet.
        Scheduled = "scheduled",
        /// It can.
        Active = "active",
        /// Its time is over.
        Expired = "expired",
        /// The merchant has switched it off.
        Disabled = "disabled",
    }
}

/// Which lines of a cart; all of them when nothing is named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DiscountTargets")]
pub struct Targets {
    /// These products.
    #[serde(default)]
    pub product_ids: Vec<ProductId>,
    /// Products of these collections.
    #[serde(default)]
    pub collection_ids: Vec<CollectionId>,
}

impl Targets {
    /// Whether it is every line.
    pub fn is_everything(&self) -> bool {
        self.product_ids.is_empty() && self.collection_ids.is_empty()
    }
}

/// What a discount does, with its measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DiscountValue {
    /// A part of the price.
    Percentage {
        /// Hundredths of a percent: 1000 is 10 %.
        basis_points: i64,
    },
    /// A sum.
    Fixed {
        /// The sum.
        amount: Money,
    },
    /// Sending it costs nothing.
    FreeShipping,
    /// Who buys some gets others for less.
    BuyXGetY {
        /// How many are bought.
        buy_quantity: u32,
        /// How many are got for them.
        get_quantity: u32,
        /// What is taken off these: 10000 makes them free.
        basis_points: i64,
        /// What can be got; what is bought, unless named.
        get: Targets,
        /// How often in one order.
        most: Option<u32>,
    },
}

impl DiscountValue {
    /// Its kind.
    pub const fn kind(&self) -> DiscountKind {
        match self {
            Self::Percentage { .. } => DiscountKind::Percentage,
            Self::Fixed { .. } => DiscountKind::Fixed,
            Self::FreeShipping => DiscountKind::FreeShipping,
            Self::BuyXGetY { .. } => DiscountKind::BuyXGetY,
        }
    }
}

/// What the lines that a discount is for must come to, before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Minimum {
    /// At least this sum.
    pub subtotal: Option<Money>,
    /// At least so many units.
    pub quantity: Option<u32>,
}

/// A discount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discount {
    /// `dsc_` and 32 hexadecimal digits.
    pub id: DiscountId,
    /// The store that gives it.
    pub store_id: StoreId,
    /// What shoppers read.
    pub title: String,
    /// What shoppers name; none when it is automatic.
    pub code: Option<DiscountCode>,
    /// What it does.
    pub value: DiscountValue,
    /// For which lines; what is bought, of buy X get Y.
    pub applies_to: Targets,
    /// What these must come to.
    pub minimum: Minimum,
    /// Whether it is for customers who have not ordered yet.
    pub first_order_only: bool,
    /// How many orders may use it.
    pub usage_limit: Option<u32>,
    /// How many orders of one customer may.
    pub per_customer_limit: Option<u32>,
    /// From when.
    pub starts_at: Timestamp,
    /// Until when; the moment itself is over.
    pub ends_at: Option<Timestamp>,
    /// Whether the merchant has switched it off.
    pub disabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Discount {
    const KIND: &'static str = "discount";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::discount(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        vec![key::discounts_of_store(&self.store_id, self.created_at, &self.id)]
    }
}

/// Automatic discounts are kept together as well, for a checkout to look at.
impl Entry for Discount {
    const KIND: &'static str = "automatic_discounts";
    type View = DiscountView;

    fn document(&self) -> Key {
        key::automatic_discounts(&self.store_id)
    }

    fn event_subject(&self) -> EventSubject<'_> {
        about(&self.store_id, self.id.as_str(), self.version)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl Discount {
    /// Whether it can be used now.
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

    /// The discount switched on or off.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is that already.
    pub fn switched(&self, disabled: bool, now: Timestamp) -> Result<Self, Problem> {
        if self.disabled == disabled {
            let action = if disabled { "enable" } else { "disable" };
            return Err(Problem::state(self.status_at(now).as_str(), &[action]));
        }
        Ok(Self { disabled, ..Entry::changed(self, now) })
    }

    /// Every collection that it names.
    pub fn collections(&self) -> impl Iterator<Item = &CollectionId> {
        let got = match &self.value {
            DiscountValue::BuyXGetY { get, .. } => get.collection_ids.as_slice(),
            _ => &[],
        };
        self.applies_to.collection_ids.iter().chain(got)
    }

    /// The item that makes its code its own, if it has one.
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

/// The store's automatic discounts with this one among them, as far as it is one and is not over;
/// nothing when they do not change. What is over makes room.
///
/// # Errors
/// `discount_limit`.
pub fn listed(
    document: &Document<Discount>,
    discount: &Discount,
    is_gone: bool,
    now: Timestamp,
) -> Result<Option<Document<Discount>>, Problem> {
    let over = |known: &Discount| known.ends_at.is_some_and(|end| end <= now);
    let mut next = document.clone();
    next.entries.retain(|known| !over(known));
    let is_kept = discount.code.is_none() && !discount.disabled && !is_gone && !over(discount);
    let next = match (is_kept, next.entry(discount.id.as_str()).is_ok()) {
        (true, _) => next.with(discount.clone()),
        (false, true) => next.without(discount.id.as_str()),
        (false, false) => return Ok(None),
    };
    if next.entries.len() > MAX_AUTOMATIC {
        return Err(Code::DiscountLimit.with("limit", MAX_AUTOMATIC));
    }
    Ok(Some(next))
}
