//! Stock as it is shown. The API calls a variant whose stock is counted an item.

use core_types::event::EventSubject;
use core_types::id::{LocationId, MovementId, OrderId, StoreId, VariantId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Delta, Level, Movement, MovementKind, StockState};

/// Quantities by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "StockQuantities")]
pub struct Quantities {
    /// Can be sold.
    pub available: i64,
    /// Set aside: for orders that are not paid yet, or by the merchant.
    pub reserved: i64,
    /// Belongs to orders that are paid and not yet shipped.
    pub committed: i64,
    /// Lies there: the sum of the other three.
    pub on_hand: i64,
}

core_types::view! {
    /// How much of an item is at a location.
    LevelView of level: Level {
        /// The item and the location, joined by `:`.
        id: String = format!("{}:{}", level.variant_id, level.location_id),
        /// The item: a variant.
        item_id: VariantId = level.variant_id.clone(),
        /// The location.
        location_id: LocationId,
        /// The quantities by state.
        quantities: Quantities = Quantities::from(level),
        /// When there was a level first.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Counts changes.
        version: u64,
    }
}
impl From<Delta> for Quantities {
    fn from(delta: Delta) -> Self {
        Self {
            available: delta.available,
            reserved: delta.reserved,
            committed: delta.committed,
            on_hand: delta.on_hand(),
        }
    }
}

impl From<&Level> for Quantities {
    fn from(level: &Level) -> Self {
        Self {
            available: level.available,
            reserved: level.reserved,
            committed: level.committed,
            on_hand: level.on_hand,
        }
    }
}

impl AdjustmentView {
    /// What an event says it is about.
    pub fn about<'a>(&'a self, store: &'a StoreId) -> EventSubject<'a> {
        EventSubject { store: Some(store), app: None, entity: self.id.as_str(), version: 1 }
    }
}

/// One quantity that a manual request changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "StockChange")]
pub struct ChangeView {
    /// The item.
    pub item_id: VariantId,
    /// The location.
    pub location_id: LocationId,
    /// Which quantity.
    pub state: StockState,
    /// By how much.
    pub delta: i64,
    /// What it is now.
    pub quantity_after: i64,
}

/// What a manual request came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AdjustmentView {
    /// The request's id in the ledger.
    pub id: MovementId,
    /// Whether it adjusted, set or moved.
    pub kind: MovementKind,
    /// Why, in the caller's words.
    pub reason: String,
    /// What the caller knows it by.
    pub reference: Option<String>,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// The quantities that were named, each once.
    pub changes: Vec<ChangeView>,
    /// The movements in the ledger, one for each level that changed.
    pub ledger_ids: Vec<MovementId>,
    /// When.
    pub created_at: Timestamp,
}

core_types::view! {
    /// A movement of stock.
    #[schemars(rename = "StockMovement")]
    MovementView of movement: Movement {
        /// The id.
        id: MovementId,
        /// What moved it.
        kind: MovementKind,
        /// How the quantities changed.
        deltas: Quantities = Quantities::from(movement.delta),
        /// The manual request that it is part of.
        adjustment_id: Option<MovementId>,
        /// The order that it is part of.
        order_id: Option<OrderId>,
        /// Why, in the caller's words.
        reason: Option<String>,
        /// What the caller knows it by.
        reference: Option<String>,
        /// Who moved it.
        actor: Option<String>,
        /// When.
        created_at: Timestamp,
        /// When.
        updated_at: Timestamp = movement.created_at,
        /// Always 1.
        version: u64,
    }
}
