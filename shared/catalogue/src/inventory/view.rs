//! Responses with stock. The API calls a variant whose stock is tracked an item.

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
    /// Held for unpaid orders, or set aside by the merchant.
    pub reserved: i64,
    /// Belongs to paid orders that are not shipped yet.
    pub committed: i64,
    /// Physically present: the sum of the other three.
    pub on_hand: i64,
}

core_types::view! {
    /// The stock of an item at a location.
    LevelView of level: Level {
        /// The item and the location, joined by `:`.
        id: String = format!("{}:{}", level.variant_id, level.location_id),
        /// The item: a variant.
        item_id: VariantId = level.variant_id.clone(),
        /// The location.
        location_id: LocationId,
        /// The quantities by state.
        quantities: Quantities = Quantities::from(level),
        /// When the level was created.
        created_at: Timestamp,
        /// When it was last changed.
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
    /// The subject of its event.
    pub fn subject_of<'a>(&'a self, store: &'a StoreId) -> EventSubject<'a> {
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
    /// The state of the stock that the quantity counts.
    pub state: StockState,
    /// The change of the quantity.
    pub delta: i64,
    /// The quantity after the request.
    pub quantity_after: i64,
}

/// The result of a manual request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AdjustmentView {
    /// The request's id in the ledger.
    pub id: MovementId,
    /// The kind of the request: adjusted, set or moved.
    pub kind: MovementKind,
    /// The reason, in the caller's words.
    pub reason: String,
    /// The caller's reference, such as the number of a delivery.
    pub reference: Option<String>,
    /// Whether it was a dry run, which writes nothing.
    pub dry_run: bool,
    /// The quantities that the request named, each once.
    pub changes: Vec<ChangeView>,
    /// The movements in the ledger, one for each level that changed.
    pub ledger_ids: Vec<MovementId>,
    /// The time of the adjustment.
    pub created_at: Timestamp,
}

core_types::view! {
    /// A movement of stock.
    #[schemars(rename = "StockMovement")]
    MovementView of movement: Movement {
        /// The id.
        id: MovementId,
        /// The kind of the movement.
        kind: MovementKind,
        /// The changes of the quantities.
        deltas: Quantities = Quantities::from(movement.delta),
        /// The manual request that caused it.
        adjustment_id: Option<MovementId>,
        /// The order that caused it.
        order_id: Option<OrderId>,
        /// The reason, in the caller's words.
        reason: Option<String>,
        /// The caller's reference, such as the number of a delivery.
        reference: Option<String>,
        /// The principal who caused it.
        actor: Option<String>,
        /// When it was written.
        created_at: Timestamp,
        /// As `created_at`.
        updated_at: Timestamp = movement.created_at,
        /// Always 1.
        version: u64,
    }
}
