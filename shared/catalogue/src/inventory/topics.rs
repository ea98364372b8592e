//! What is announced of stock.

use super::AdjustmentView;

ground::topics! {
    INVENTORY_ADJUSTED = "inventory.adjusted", "inventory_adjustment", Some("read_inventory"),
        AdjustmentView, "Stock was adjusted, set or moved by the merchant.";
}
