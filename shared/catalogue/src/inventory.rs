//! Stock: the quantities of variants at locations, and their movements (docs/conventions.md §13).
//!
//! A [`Level`] counts one variant at one location: `on_hand = available + committed + reserved`.
//! The sum always holds, because every change is a [`Delta`], which has no `on_hand` of its own. Orders
//! change levels in place ([`StockSteps`]): arithmetic and condition of a [`StockStep`] are in
//! the write itself, so no number of parallel orders oversells. A manual change ([`plan`]) is decided
//! over the level as read, and written on condition of its version, so the response has the resulting
//! quantities.
//!
//! Every change appends its [`Movement`] in the same transaction (our choice: the table's design
//! would also allow an event consumer to append it later). This costs one more action per line, and
//! in return a level and its ledger never differ.

mod adjustment;
mod allocation;
mod orders;
mod retry;
mod samples;
mod topics;
mod view;

use core_types::id::{LocationId, MovementId, OrderId, StoreId, VariantId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::context::Context;
use serde::{Deserialize, Serialize};
use table::item::Item;

pub use adjustment::{Adjustment, InventoryChange, LevelLookup, MAX_LEVELS, StockSnapshot, plan};
pub use allocation::allocate;
pub use orders::{StockStep, StockSteps};
pub use retry::{retry_on_conflict, retry_on_conflict_attempts, retry_on_conflict_eventual_first};
pub use topics::*;
pub use view::{AdjustmentView, ChangeView, LevelView, MovementView, Quantities};

/// The most of a variant that may be at a location.
pub const MAX_QUANTITY: i64 = 1_000_000_000;

primitives::string_enum! {
    /// A state of stock, which a quantity counts.
    StockState {
        /// Can be sold.
        Available = "available",
        /// Reserved by unpaid orders, or set aside by the merchant.
        Reserved = "reserved",
        /// Belongs to paid orders that are not shipped yet.
        Committed = "committed",
        /// Physically present: the sum of the other three.
        OnHand = "on_hand",
    }
}

primitives::string_enum! {
    /// The kind of a stock movement.
    MovementKind {
        /// A manual adjustment by a delta.
        Adjusted = "adjusted",
        /// A manual change to a given quantity.
        Set = "set",
        /// A manual move between states or locations.
        Moved = "moved",
        /// An order was placed, or became unpaid again.
        Reserved = "reserved",
        /// An order was paid or confirmed.
        Committed = "committed",
        /// An order was shipped.
        Fulfilled = "fulfilled",
        /// A shipment was cancelled before it left.
        BroughtBack = "brought_back",
        /// An order was cancelled or expired.
        Released = "released",
        /// Units of a paid order were cancelled and not restocked.
        WrittenOff = "written_off",
        /// Goods were returned.
        Restocked = "restocked",
    }
}

/// The changes of a level's counters; `on_hand` changes by the sum of the first three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delta {
    /// The change of `available`.
    pub available: i64,
    /// The change of `reserved`.
    pub reserved: i64,
    /// The change of `committed`.
    pub committed: i64,
    /// The change of the part of `reserved` that the merchant has set aside.
    #[serde(default, rename = "held")]
    pub set_aside: i64,
}

impl Delta {
    /// The change of `on_hand`.
    pub fn on_hand(self) -> i64 {
        self.available.saturating_add(self.reserved).saturating_add(self.committed)
    }

    /// Whether it changes nothing.
    pub fn is_zero(self) -> bool {
        self == Self::default()
    }

    /// This change followed by another.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            available: self.available.saturating_add(other.available),
            reserved: self.reserved.saturating_add(other.reserved),
            committed: self.committed.saturating_add(other.committed),
            set_aside: self.set_aside.saturating_add(other.set_aside),
        }
    }
}

/// The stock of a variant at a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "level", key = key::level(&self.store_id, &self.variant_id, &self.location_id))]
#[item(indexes = vec![key::levels_of_location(&self.store_id, &self.location_id, &self.variant_id)])]
pub struct Level {
    /// Part of the key.
    pub store_id: StoreId,
    /// The variant; the API calls it the item. Part of the key.
    pub variant_id: VariantId,
    /// Part of the key.
    pub location_id: LocationId,
    /// Can be sold; negative only where the variant is sold beyond its stock.
    pub available: i64,
    /// Belongs to paid orders that are not shipped yet.
    pub committed: i64,
    /// Reserved by unpaid orders, or set aside by the merchant.
    pub reserved: i64,
    /// `available + committed + reserved`.
    pub on_hand: i64,
    /// The part of `reserved` that the merchant has set aside: safety stock. Only this part can be moved by
    /// hand; the rest belongs to unpaid orders.
    #[serde(default, rename = "held")]
    pub set_aside: i64,
    /// The `available` that it was created with; its ledger begins after that.
    #[serde(default, rename = "opening")]
    pub initial_available: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Level {
    /// A new level with this quantity available. It is one action of a transaction: the quantity is
    /// recorded as [`Level::initial_available`], so it needs no movement.
    pub fn open(
        store: &StoreId,
        variant: &VariantId,
        location: &LocationId,
        quantity: i64,
        now: Timestamp,
    ) -> Self {
        Self {
            store_id: store.clone(),
            variant_id: variant.clone(),
            location_id: location.clone(),
            available: quantity,
            committed: 0,
            reserved: 0,
            on_hand: quantity,
            set_aside: 0,
            initial_available: quantity,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The quantity in this state.
    pub fn quantity(&self, state: StockState) -> i64 {
        match state {
            StockState::Available => self.available,
            StockState::Reserved => self.reserved,
            StockState::Committed => self.committed,
            StockState::OnHand => self.on_hand,
        }
    }

    /// The level at its next version after `delta`; none if a counter would fall below zero or
    /// rise above [`MAX_QUANTITY`]. With `oversell`, `available` may fall below zero.
    #[must_use]
    pub fn after(&self, delta: Delta, oversell: bool, now: Timestamp) -> Option<Self> {
        let next = Self {
            available: self.available.checked_add(delta.available)?,
            committed: self.committed.checked_add(delta.committed)?,
            reserved: self.reserved.checked_add(delta.reserved)?,
            on_hand: self.on_hand.checked_add(delta.on_hand())?,
            set_aside: self.set_aside.checked_add(delta.set_aside)?,
            updated_at: now,
            version: self.version.saturating_add(1),
            ..self.clone()
        };
        // An `available` below zero, of a variant that was sold beyond its stock, may rise to a value
        // that is still below zero.
        let sellable = next.available >= 0 || oversell || delta.available >= 0;
        let counted = next.committed >= 0 && next.set_aside >= 0 && next.set_aside <= next.reserved;
        let bounded = next.on_hand <= MAX_QUANTITY && next.available <= MAX_QUANTITY;
        (sellable && counted && (bounded || delta.on_hand() <= 0)).then_some(next)
    }

    /// The counters, as the change from zero.
    pub fn counters(&self) -> Delta {
        Delta {
            available: self.available,
            reserved: self.reserved,
            committed: self.committed,
            set_aside: self.set_aside,
        }
    }
}

/// A movement of stock: an entry in the ledger of a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "movement")]
#[item(key = key::movement(&self.store_id, &self.variant_id, &self.location_id, &self.id))]
pub struct Movement {
    /// Part of the key.
    pub id: MovementId,
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub variant_id: VariantId,
    /// Part of the key.
    pub location_id: LocationId,
    /// The kind of the movement.
    pub kind: MovementKind,
    /// The differences of the counters.
    pub delta: Delta,
    /// The manual request that caused it.
    pub adjustment_id: Option<MovementId>,
    /// The order that caused it.
    pub order_id: Option<OrderId>,
    /// The reason, in the caller's words.
    pub reason: Option<String>,
    /// The caller's reference, such as the number of a delivery.
    pub reference: Option<String>,
    /// The principal who caused it.
    pub actor: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// Always 1: a ledger is append-only.
    pub version: u64,
}

impl Movement {
    /// A movement at this level, by the principal of the current request.
    pub(crate) fn new(
        (store, variant, location): (&StoreId, &VariantId, &LocationId),
        kind: MovementKind,
        delta: Delta,
        now: Timestamp,
    ) -> Self {
        Self {
            id: MovementId::mint(now),
            store_id: store.clone(),
            variant_id: variant.clone(),
            location_id: location.clone(),
            kind,
            delta,
            adjustment_id: None,
            order_id: None,
            reason: None,
            reference: None,
            actor: Context::current().map(|context| context.principal()).filter(|p| !p.is_empty()),
            created_at: now,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests;
