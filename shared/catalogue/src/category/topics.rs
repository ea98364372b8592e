//! The topics of events about categories.

use super::CategoryView;

core_types::topics! {
    CATEGORY_CREATED = "category.created", "category", Some("read_products"), CategoryView,
        "A category was made.";
    CATEGORY_UPDATED = "category.updated", "category", Some("read_products"), CategoryView,
        "A category changed, or moved with all below it.";
    CATEGORY_DELETED = "category.deleted", "category", Some("read_products"), CategoryView,
        "A category was removed; its products lose it within minutes, which is not announced.";
}
