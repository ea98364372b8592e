//! What is mailed about what was sold.

mod dispute;
mod gift_card;
mod load;
mod order;

pub use dispute::dispute_opened;
pub use gift_card::gift_card;
pub use load::is_wanted;
pub use order::{
    order_cancelled, order_delivered, order_expired, order_placed, order_refunded, order_shipped,
    payment_requested,
};
