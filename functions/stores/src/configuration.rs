//! The writes of a store's configuration: menus, policies, settings, texts of mails.

use core_types::id::StoreId;
use identity::store;
use primitives::problem::Code;
use services::Services;
use table::Write;
use table::item::Item;

/// Begins the write of an item of the store's configuration: creates it at version 1, and replaces it
/// otherwise. A concurrent write fails one of them with `version_conflict`. The store's configuration
/// counter is raised too, so that cached storefront pages are renewed.
pub(crate) fn save<T: Item>(services: &Services, store: &StoreId, item: &T) -> Write {
    written(store::count_config_change(services.table.write(), store), item)
}

/// Adds the write of an item: creates it at version 1, and replaces it otherwise.
pub(crate) fn written<T: Item>(write: Write, item: &T) -> Write {
    if item.version() == 1 {
        write.create(item, Code::VersionConflict)
    } else {
        write.replace(item, Code::VersionConflict)
    }
}
