//! The topics of events about collections.

use super::CollectionView;

core_types::topics! {
    COLLECTION_CREATED = "collection.created", "collection", Some("read_products"), CollectionView,
        "A collection was created.";
    COLLECTION_UPDATED = "collection.updated", "collection", Some("read_products"), CollectionView,
        "A collection, or the list of its products, changed.";
    COLLECTION_DELETED = "collection.deleted", "collection", Some("read_products"), CollectionView,
        "A collection was deleted; its products stay.";
}
