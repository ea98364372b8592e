//! Writes of products and stock that span several items.

pub mod adjust_stock;
pub mod save_product;
