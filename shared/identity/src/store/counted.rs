//! Attributes of a store's item that other writes change. They do not raise the store's version, and
//! writes of the store do not overwrite them.

use core_types::fields::Handle;
use core_types::id::StoreId;
use core_types::key;
use primitives::problem::Code;
use table::{Change, Condition, Write};

use super::{LiveTheme, MAX_MENUS, MAX_THEMES, Store, StoreStatus};

/// The attributes that the functions below write.
const COUNTED: &[&str] =
    &["config_changes", "menus", "themes", "live_theme", "password_protected", "currency_locked"];

/// Writes a changed store. Rejected, like a stale version, if the currency changes and something was
/// priced in the old one meanwhile.
pub fn replace(write: Write, store: &Store) -> Write {
    let sound = Condition::new("currency_locked = :no OR currency = :currency")
        .value(":no", false)
        .value(":currency", &store.currency);
    write.replace_except(store, COUNTED, sound, Code::VersionConflict)
}

/// Counts a change of the storefront's configuration outside the store's item: a menu, a policy, a
/// setting, a payment method. Part of the transaction that changes it.
pub fn count_config_change(write: Write, store: &StoreId) -> Write {
    let change =
        Change::new("ADD config_changes :one").only_if("attribute_exists(PK)").value(":one", 1);
    write.update(&key::store(store), change, Code::NotFound)
}

/// As [`count_config_change`], for a created menu, which is added to the store's list. Part of the transaction that
/// creates it. Rejected if the store has [`MAX_MENUS`] others.
pub fn add_menu(write: Write, store: &StoreId, menu: &Handle) -> Write {
    let has_room = "attribute_not_exists(menus) OR size(menus) < :most OR contains(menus, :handle)";
    let change = Change::new("ADD config_changes :one, menus :menu")
        .only_if(format!("attribute_exists(PK) AND ({has_room})"))
        .value(":one", 1)
        .value(":most", MAX_MENUS)
        .value(":handle", menu)
        .member(":menu", menu.as_str());
    write.update(&key::store(store), change, Code::MenuLimit.with("limit", MAX_MENUS))
}

/// As [`count_config_change`], for a deleted menu. Part of the transaction that deletes it.
pub fn remove_menu(write: Write, store: &StoreId, menu: &Handle) -> Write {
    let change = Change::new("ADD config_changes :one DELETE menus :menu")
        .only_if("attribute_exists(PK)")
        .value(":one", 1)
        .member(":menu", menu.as_str());
    write.update(&key::store(store), change, Code::NotFound)
}

/// Adds a theme to the store's installed themes. Part of the transaction that installs it. Rejected if the
/// store has [`MAX_THEMES`] others.
pub fn add_theme(write: Write, store: &StoreId, theme: &str) -> Write {
    let has_room =
        "attribute_not_exists(themes) OR size(themes) < :most OR contains(themes, :slug)";
    let change = Change::new("ADD themes :theme")
        .only_if(format!("attribute_exists(PK) AND ({has_room})"))
        .value(":most", MAX_THEMES)
        .value(":slug", theme)
        .member(":theme", theme);
    write.update(&key::store(store), change, Code::ThemeLimit.with("limit", MAX_THEMES))
}

/// Removes a theme from the store's installed themes. Part of the transaction that uninstalls it. Rejected
/// if the theme is live.
pub fn remove_theme(write: Write, store: &StoreId, theme: &str) -> Write {
    let is_hidden = "attribute_not_exists(live_theme) OR live_theme.slug <> :slug";
    let change = Change::new("DELETE themes :theme")
        .only_if(format!("attribute_exists(PK) AND ({is_hidden})"))
        .value(":slug", theme)
        .member(":theme", theme);
    write.update(&key::store(store), change, Code::ThemeIsPublished)
}

/// As [`count_config_change`], for a new live release. Part of the transaction that creates the release. Rejected if
/// the theme is not installed any more.
pub fn set_live_theme(write: Write, store: &StoreId, live: &LiveTheme) -> Write {
    let change = Change::new("SET live_theme = :live ADD config_changes :one")
        .only_if("attribute_exists(PK) AND contains(themes, :slug)")
        .value(":live", live)
        .value(":slug", &live.slug)
        .value(":one", 1);
    write.update(&key::store(store), change, Code::ThemeNotInstalled)
}

/// As [`count_config_change`], for settings by which visitors of the shop begin to need a password, or no longer do. Part
/// of the transaction that changes them.
pub fn set_password_protection(write: Write, store: &StoreId, is_protected: bool) -> Write {
    let change = Change::new("SET password_protected = :protected ADD config_changes :one")
        .only_if("attribute_exists(PK)")
        .value(":protected", is_protected)
        .value(":one", 1);
    write.update(&key::store(store), change, Code::NotFound)
}

/// Locks the store's currency, because something is priced in it. Part of the transaction that creates
/// the first such item. Writes nothing if the currency is fixed already: the store is locked, or not a
/// draft any more. Rejected if the store has another currency by now.
pub fn lock_currency(write: Write, store: &Store) -> Write {
    if store.currency_locked || store.status != StoreStatus::Draft {
        return write;
    }
    let change = Change::new("SET currency_locked = :yes")
        .only_if("currency = :currency")
        .value(":yes", true)
        .value(":currency", &store.currency);
    write.update(&key::store(&store.id), change, Code::VersionConflict)
}
