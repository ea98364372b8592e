//! The topics of events about stock.

use super::AdjustmentView;

core_types::topics! {
    INVENTORY_ADJUSTED = "inventory.adjusted", "inventory_adjustment", Some("read_inventory"),
        AdjustmentView, "Stock was adjusted, set or moved by the merchant.";
}
