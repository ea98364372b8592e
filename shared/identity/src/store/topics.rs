//! Topics of stores' events.

use super::StoreView;

core_types::topics! {
    STORE_CREATED = "store.created", "store", Some("read_store"), StoreView,
        "A store was created.";
    STORE_UPDATED = "store.updated", "store", Some("read_store"), StoreView,
        "A store's data changed.";
    STORE_ACTIVATED = "store.activated", "store", Some("read_store"), StoreView,
        "A store started to accept orders.";
    STORE_PAUSED = "store.paused", "store", Some("read_store"), StoreView,
        "A store stopped accepting orders.";
    STORE_CLOSED = "store.closed", "store", Some("read_store"), StoreView,
        "A store was closed.";
    STORE_REOPENED = "store.reopened", "store", Some("read_store"), StoreView,
        "A closed store was reopened, paused.";
    STORE_DELETED = "store.deleted", "store", Some("read_store"), StoreView,
        "A store was deleted; `store.redacted` follows in 30 days.";
    STORE_REDACTED = "store.redacted", "store", Some("read_store"), StoreView,
        "The grace period of a deleted store ended: delete what you store about it.";
}
