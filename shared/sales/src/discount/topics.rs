//! The topics of discounts.

use super::DiscountView;

core_types::topics! {
    DISCOUNT_CREATED = "discount.created", "discount", Some("read_discounts"), DiscountView,
        "A discount was created.";
    DISCOUNT_UPDATED = "discount.updated", "discount", Some("read_discounts"), DiscountView,
        "A discount was changed, enabled or disabled.";
    DISCOUNT_DELETED = "discount.deleted", "discount", Some("read_discounts"), DiscountView,
        "A discount was deleted.";
}
