//! What others write into a store's item in passing. None of it makes the store's version stale,
//! and no write of the store undoes it.

use core_types::fields::Handle;
use core_types::id::StoreId;
use core_types::key;
use primitives::problem::Code;
use table::{Change, Condition, Write};

use super::{LiveTheme, MAX_MENUS, MAX_THEMES, Store, StoreStatus};

/// The attributes that the functions below write.
const COUNTED: &[&str] = &["config_changes", "menus", "themes", "live_theme", "currency_locked"];

/// Writes a changed store. Rejected, like a stale version, when it has another currency and
/// something was priced in the old one meanwhile.
pub fn replace(write: Write, store: &Store) -> Write {
    let sound = Condition::new("currency_locked = :no OR currency = :currency")
        .value(":no", false)
        .value(":currency", &store.currency);
    write.replace_except(store, COUNTED, sound, Code::VersionConflict)
}

/// Says that something was changed that a storefront shows or obeys, though it is not the store
/// itself: a menu, a policy, a setting, a way to pay. Part of the transaction that changes it.
pub fn configured(write: Write, store: &StoreId) -> Write {
    let change =
        Change::new("ADD config_changes :one").only_if("attribute_exists(PK)").value(":one", 1);
    write.update(&key::store(store), change, Code::NotFound)
}

/// As [`configured`], for a menu that is made: it is one of the store's from now on. Part of the
/// transaction that creates it. Rejected when the store has [`MAX_MENUS`] others.
pub fn menu_made(write: Write, store: &StoreId, menu: &Handle) -> Write {
    let has_room = "attribute_not_exists(menus) OR size(menus) < :most OR contains(menus, :handle)";
    let change = Change::new("ADD config_changes :one, menus :menu")
        .only_if(format!("attribute_exists(PK) AND ({has_room})"))
        .value(":one", 1)
        .value(":most", MAX_MENUS)
        .value(":handle", menu)
        .member(":menu", menu.as_str());
    write.update(&key::store(store), change, Code::MenuLimit.with("limit", MAX_MENUS))
}

/// As [`configured`], for a menu that is removed. Part of the transaction that deletes it.
pub fn menu_removed(write: Write, store: &StoreId, menu: &Handle) -> Write {
    let change = Change::new("ADD config_changes :one DELETE menus :menu")
        .only_if("attribute_exists(PK)")
        .value(":one", 1)
        .member(":menu", menu.as_str());
    write.update(&key::store(store), change, Code::NotFound)
}

/// Says that a theme is one of the store's from now on. Part of the transaction that installs it.
/// Rejected when the store has [`MAX_THEMES`] others.
pub fn theme_installed(write: Write, store: &StoreId, theme: &str) -> Write {
    let has_room =
        "attribute_not_exists(themes) OR size(themes) < :most OR contains(themes, :slug)";
    let change = Change::new("ADD themes :theme")
        .only_if(format!("attribute_exists(PK) AND ({has_room})"))
        .value(":most", MAX_THEMES)
        .value(":slug", theme)
        .member(":theme", theme);
    write.update(&key::store(store), change, Code::ThemeLimit.with("limit", MAX_THEMES))
}

/// Says that a theme is none of the store's any more. Part of the transaction that uninstalls it.
/// Rejected when the storefront is shown in it.
pub fn theme_uninstalled(write: Write, store: &StoreId, theme: &str) -> Write {
    let is_hidden = "attribute_not_exists(live_theme) OR live_theme.slug <> :slug";
    let change = Change::new("DELETE themes :theme")
        .only_if(format!("attribute_exists(PK) AND ({is_hidden})"))
        .value(":slug", theme)
        .member(":theme", theme);
    write.update(&key::store(store), change, Code::ThemeIsPublished)
}

/// As [`configured`], for what the storefront is shown in from now on. Part of the transaction that
/// makes the release. Rejected when the theme is not the store's any more.
pub fn theme_published(write: Write, store: &StoreId, live: &LiveTheme) -> Write {
    let change = Change::new("SET live_theme = :live ADD config_changes :one")
        .only_if("attribute_exists(PK) AND contains(themes, :slug)")
        .value(":live", live)
        .value(":slug", &live.slug)
        .value(":one", 1);
    write.update(&key::store(store), change, Code::ThemeNotInstalled)
}

/// Says that something is priced in the currency of the store that was read: from now on it stays.
/// Part of the transaction that makes the first such thing, and none of any other: once the store
/// has left its draft, or is marked, its currency is fixed. Rejected when the store has another
/// currency by now.
pub fn keep_currency(write: Write, store: &Store) -> Write {
    if store.currency_locked || store.status != StoreStatus::Draft {
        return write;
    }
    let change = Change::new("SET currency_locked = :yes")
        .only_if("currency = :currency")
        .value(":yes", true)
        .value(":currency", &store.currency);
    write.update(&key::store(&store.id), change, Code::VersionConflict)
}
