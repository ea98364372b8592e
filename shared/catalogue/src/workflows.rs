//! What is closed what a store shows and has in stock over several items.

pub mod adjust_stock;
pub mod save_product;
