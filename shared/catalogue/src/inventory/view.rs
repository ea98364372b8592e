//! Stock as it is shown. The API calls a variant whose stock is counted an item.

use gateway::clock::Timestamp;
use ground::event::About;
use ground::id::{LocationId, MovementId, OrderId, StoreId, VariantId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Delta, Level, Movement, MovementKind, StockState};

/// Quantities by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Quantities {
    /// Can be sold.
    pub available: i64,
    /// Set aside: for orders that are not paid yet, or by hand.
    pub reserved: i64,
    /// Belongs to orders that are paid and not yet shipped.
    pub committed: i64,
    /// Lies there: the sum of the other three.
    pub on_hand: i64,
}

/// How much of an item is at a location.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LevelView {
    /// The item and the location, joined by `:`.
    pub id: String,
    /// The item: a variant.
    pub item_id: VariantId,
    /// The location.
    pub location_id: LocationId,
    /// The quantities by state.
    pub quantities: Quantities,
    /// When there was a level first.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Counts changes.
    pub version: u64,
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

impl From<&Level> for LevelView {
    fn from(level: &Level) -> Self {
        Self {
            id: format!("{}:{}", level.variant_id, level.location_id),
            item_id: level.variant_id.clone(),
            location_id: level.location_id.clone(),
            quantities: Quantities::from(level),
            created_at: level.created_at,
            updated_at: level.updated_at,
            version: level.version,
        }
    }
}

impl AdjustmentView {
    /// What an event says it is about.
    pub fn about<'a>(&'a self, store: &'a StoreId) -> About<'a> {
        About { store: Some(store), app: None, entity: self.id.as_str(), version: 1 }
    }
}

/// One quantity that a request by hand changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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

/// What a request by hand came to.
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

/// A movement of stock.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MovementView {
    /// The id.
    pub id: MovementId,
    /// What moved it.
    pub kind: MovementKind,
    /// How the quantities changed.
    pub deltas: Quantities,
    /// The request by hand that it is part of.
    pub adjustment_id: Option<MovementId>,
    /// The order that it is part of.
    pub order_id: Option<OrderId>,
    /// Why, in the caller's words.
    pub reason: Option<String>,
    /// What the caller knows it by.
    pub reference: Option<String>,
    /// Who moved it.
    pub actor: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// When.
    pub updated_at: Timestamp,
    /// Always 1.
    pub version: u64,
}

impl From<&Movement> for MovementView {
    fn from(movement: &Movement) -> Self {
        Self {
            id: movement.id.clone(),
            kind: movement.kind,
            deltas: Quantities::from(movement.delta),
            adjustment_id: movement.adjustment_id.clone(),
            order_id: movement.order_id.clone(),
            reason: movement.reason.clone(),
            reference: movement.reference.clone(),
            actor: movement.actor.clone(),
            created_at: movement.created_at,
            updated_at: movement.created_at,
            version: movement.version,
        }
    }
}
