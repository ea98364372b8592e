//! The topics of discounts.

use super::DiscountView;

core_types::topics! {
    DISCOUNT_CREATED = "discount.created", "discount", Some("read_discounts"), DiscountView,
        "A discount was made.";
    DISCOUNT_UPDATED = "discount.updated", "discount", Some("read_discounts"), DiscountView,
        "A discount changed, or was switched on or off.";
    DISCOUNT_DELETED = "discount.deleted", "discount", Some("read_discounts"), DiscountView,
        "A discount was removed.";
}
