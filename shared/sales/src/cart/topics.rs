//! The events of carts. Changes emit none: the order of a cart, and a cart that was left, are what others act on.

use super::view::CartSummary;

core_types::topics! {
    CART_ABANDONED = "cart.abandoned", "cart", Some("read_orders"), CartSummary,
        "A customer who accepts marketing left a cart for an hour.";
    CART_CONVERTED = "cart.converted", "cart", Some("read_orders"), CartSummary,
        "A cart became an order.";
}
