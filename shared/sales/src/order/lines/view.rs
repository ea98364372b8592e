//! The representation of cancelled and returned lines in responses and events.

use core_types::id::OrderItemId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::order::refund::RestockType;
use crate::order::{OrderView, Units};

/// Cancelled or returned units of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedLine {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The number of units.
    pub quantity: u32,
    /// The effect on stock: `cancel` and `return` put them back.
    pub restock_type: RestockType,
    /// The locations where they are put back.
    pub restocked_at: Vec<Units>,
}

/// An order with the units that were just cancelled or returned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "OrderLinesChange")]
pub struct LinesView {
    /// The units.
    pub lines: Vec<ChangedLine>,
    /// The merchant's reason.
    pub reason: Option<String>,
    /// The order after the change.
    #[serde(flatten)]
    pub order: OrderView,
}
