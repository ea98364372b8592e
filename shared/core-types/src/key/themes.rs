//! Keys of themes.

use primitives::clock::Timestamp;
use table::item::Key;

use super::{IndexKey, gsi5, gsi6};
use crate::id::{MerchantId, PreviewSessionId, StoreId, ThemePackageId, ThemePurchaseId};

// The marketplace.

/// A theme.
pub fn theme(slug: &str) -> Key {
    Key::new(format!("THM#{slug}"), "A")
}
/// The partition of the themes of a catalogue status.
pub fn themes_of_status(status: &str) -> String {
    format!("THMCAT#{status}")
}
/// Themes of a catalogue status, by category and slug.
pub fn themes_by_status(status: &str, category: &str, slug: &str) -> IndexKey {
    gsi5(themes_of_status(status), format!("{category}#{slug}"))
}
/// A version of a theme; `order` sorts as versions do.
pub fn theme_version(slug: &str, order: &str) -> Key {
    Key::new(format!("THM#{slug}"), format!("{THEME_VERSIONS}{order}"))
}
/// The prefix of the sort keys of a theme's versions.
pub const THEME_VERSIONS: &str = "VER#";
/// A package.
pub fn theme_package(id: &ThemePackageId) -> Key {
    Key::new(format!("PKG#{id}"), "A")
}
/// The partition of a merchant's packages.
pub fn theme_packages_of(maker: &MerchantId) -> String {
    format!("DEV#{maker}#PKG")
}
/// A merchant's packages, by creation.
pub fn theme_packages_by_time(
    maker: &MerchantId,
    created: Timestamp,
    id: &ThemePackageId,
) -> IndexKey {
    gsi5(theme_packages_of(maker), format!("{created}#{id}"))
}
/// The partition of the packages that wait for an operator.
pub const THEME_PACKAGES_SUBMITTED: &str = "PKGQ#submitted";
/// The packages that wait for an operator, by when they were submitted.
pub fn theme_packages_submitted(at: Timestamp, id: &ThemePackageId) -> IndexKey {
    gsi6(THEME_PACKAGES_SUBMITTED.to_owned(), format!("{at}#{id}"))
}

// On a store.

/// A theme on a store.
pub fn installed_theme(store: &StoreId, slug: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("THM#{slug}"))
}
/// The draft of a theme on a store.
pub fn theme_draft(store: &StoreId, slug: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("THM#{slug}#DRF"))
}
/// A release of a theme on a store.
pub fn theme_release(store: &StoreId, slug: &str, number: u64) -> Key {
    Key::new(theme_releases(store), format!("{}{number:08}", theme_releases_of(slug)))
}
/// The partition of a store's releases: a partition of its own, so that lists of the store's other items do
/// not read them.
pub fn theme_releases(store: &StoreId) -> String {
    format!("STO#{store}#THM")
}
/// The prefix of the sort keys of a theme's releases on a store.
pub fn theme_releases_of(slug: &str) -> String {
    format!("{slug}#REL#")
}
/// A preview session.
pub fn preview_session(id: &PreviewSessionId) -> Key {
    Key::new(format!("PRV#{id}"), "A")
}
/// A store's licence for a theme.
pub fn theme_license(store: &StoreId, slug: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("LIC#{slug}"))
}
/// A purchase of a theme for a store.
pub fn theme_purchase(store: &StoreId, id: &ThemePurchaseId) -> Key {
    Key::new(format!("STO#{store}"), format!("THP#{id}"))
}
/// The uniqueness item of a payment provider's reference: one purchase for each.
pub fn theme_purchase_reference(provider: &str, reference: &str) -> Key {
    Key::new(format!("UQ#THP#{provider}#{reference}"), "U")
}
