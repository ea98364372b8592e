//! Cancelled and returned lines as they are shown.

use core_types::id::OrderItemId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::order::refund::RestockType;
use crate::order::{OrderView, Units};

/// What became of units of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedLine {
    /// The id of one of the order's `items`.
    pub order_item_id: OrderItemId,
    /// How many units of it.
    pub quantity: u32,
    /// What became of them: `cancel` and `return` put them back into stock.
    pub restock_type: RestockType,
    /// Where they are in stock again.
    pub restocked_at: Vec<Units>,
}

/// An order of which units were cancelled, or came back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "OrderLinesChange")]
pub struct LinesView {
    /// The units.
    pub lines: Vec<ChangedLine>,
    /// Why, in the merchant's words.
    pub reason: Option<String>,
    /// The order as it is now.
    #[serde(flatten)]
    pub order: OrderView,
}
