//! The topics of events about categories.

use super::CategoryView;

core_types::topics! {
    CATEGORY_CREATED = "category.created", "category", Some("read_products"), CategoryView,
        "A category was created.";
    CATEGORY_UPDATED = "category.updated", "category", Some("read_products"), CategoryView,
        "A category was changed, or moved with its subcategories.";
    CATEGORY_DELETED = "category.deleted", "category", Some("read_products"), CategoryView,
        "A category was deleted; it is removed from its products within minutes, without further events.";
}
