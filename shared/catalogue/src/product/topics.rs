//! The topics of events about products.

use super::ProductView;

core_types::topics! {
    PRODUCT_CREATED = "product.created", "product", Some("read_products"), ProductView,
        "A product was created.";
    PRODUCT_UPDATED = "product.updated", "product", Some("read_products"), ProductView,
        "A product or one of its variants changed.";
    PRODUCT_ARCHIVED = "product.archived", "product", Some("read_products"), ProductView,
        "A product was archived; shoppers no longer see it.";
    PRODUCT_DELETED = "product.deleted", "product", Some("read_products"), ProductView,
        "A product was permanently deleted.";
}
