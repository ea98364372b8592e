//! Topics of stores' events.

use super::StoreView;

core_types::topics! {
    STORE_CREATED = "store.created", "store", Some("read_store"), StoreView,
        "A store was opened.";
    STORE_UPDATED = "store.updated", "store", Some("read_store"), StoreView,
        "A store's data changed.";
    STORE_ACTIVATED = "store.activated", "store", Some("read_store"), StoreView,
        "A store began to take orders.";
    STORE_PAUSED = "store.paused", "store", Some("read_store"), StoreView,
        "A store stopped taking orders.";
    STORE_CLOSED = "store.closed", "store", Some("read_store"), StoreView,
        "A store was shut.";
    STORE_REOPENED = "store.reopened", "store", Some("read_store"), StoreView,
        "A shut store came back, paused.";
    STORE_DELETED = "store.deleted", "store", Some("read_store"), StoreView,
        "A store was deleted; `store.redacted` follows in 30 days.";
    STORE_REDACTED = "store.redacted", "store", Some("read_store"), StoreView,
        "A deleted store's grace ended: remove what you hold of it.";
}
