//! Installed themes: a theme on a store, with its version and the number of its releases.
//!
//! The store's own item lists its installed themes (`identity::store`), so that their number is bounded.
//! The item here has the details of one. It outlives an uninstallation, so that release numbers continue
//! after a later installation.

use catalogue::blob::pinned::BlobRef;
use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::id::{InstalledThemeId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::manifest::{Slug, Version};
use crate::theme::Offer;

core_types::topics! {
    THEME_INSTALLED = "theme.installed", "installed_theme", Some("read_themes"), InstalledThemeView,
        "A theme was installed.";
    THEME_UPGRADED = "theme.upgraded", "installed_theme", Some("read_themes"), InstalledThemeView,
        "A theme was upgraded to another version.";
    THEME_UNINSTALLED = "theme.uninstalled", "installed_theme", Some("read_themes"),
        InstalledThemeView, "A theme was uninstalled.";
}

primitives::string_enum! {
    /// Whether a theme is installed on a store.
    #[schemars(rename = "ThemeInstallationStatus")]
    InstallationStatus {
        /// The theme is installed.
        Installed = "installed",
        /// The theme was installed before.
        Uninstalled = "uninstalled",
    }
}

/// A theme that is or was installed on a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Item)]
#[item(kind = "installed_theme", key = key::installed_theme(&self.store_id, self.slug.as_str()))]
#[item(version = self.revision, packed)]
pub struct InstalledTheme {
    /// The id, derived from the store and the slug.
    pub id: InstalledThemeId,
    /// The store.
    pub store_id: StoreId,
    /// The theme's slug.
    pub slug: Slug,
    /// The installed version.
    #[serde(rename = "number")]
    pub theme_version: Version,
    /// The reference to the version's stored contents.
    pub contents: BlobRef,
    /// Whether it is installed.
    pub status: InstallationStatus,
    /// The number of its newest release; 0 without one.
    #[serde(rename = "release_head")]
    pub latest_release: u64,
    /// When it was last installed.
    pub installed_at: Timestamp,
    /// When it was first installed.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The number of writes; stored as `version`.
    #[serde(rename = "version")]
    pub revision: u64,
}

impl InstalledTheme {
    /// Installs a theme. After an earlier installation (`before`), its release numbers continue.
    ///
    /// # Errors
    /// `already_installed`, with the `theme`.
    pub fn install(
        before: Option<&Self>,
        store: &StoreId,
        slug: &Slug,
        offer: &Offer,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if before.is_some_and(Self::is_installed) {
            return Err(Code::AlreadyInstalled.with("theme", slug.as_str()));
        }
        Ok(Self {
            id: InstalledThemeId::derive(&[store.as_str(), slug.as_str()]),
            store_id: store.clone(),
            slug: slug.clone(),
            theme_version: offer.version.clone(),
            contents: offer.contents.clone(),
            status: InstallationStatus::Installed,
            latest_release: before.map_or(0, |before| before.latest_release),
            installed_at: now,
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            revision: before.map_or(0, |before| before.revision).saturating_add(1),
        })
    }

    /// Whether it is installed.
    pub fn is_installed(&self) -> bool {
        self.status == InstallationStatus::Installed
    }

    /// Returns the theme at its next revision.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Returns the theme as uninstalled.
    #[must_use]
    pub fn uninstalled(&self, now: Timestamp) -> Self {
        Self { status: InstallationStatus::Uninstalled, ..self.changed(now) }
    }

    /// Returns the theme at another version.
    #[must_use]
    pub fn at(&self, offer: &Offer, now: Timestamp) -> Self {
        let (theme_version, contents) = (offer.version.clone(), offer.contents.clone());
        Self { theme_version, contents, ..self.changed(now) }
    }

    /// Returns the theme with one more release.
    #[must_use]
    pub fn released(&self, now: Timestamp) -> Self {
        Self { latest_release: crate::release::next(self.latest_release), ..self.changed(now) }
    }
}

impl Resource for InstalledTheme {
    type View = InstalledThemeView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.revision }
    }
}

core_types::view! {
    /// A theme that is or was installed on a store.
    InstalledThemeView of installed: InstalledTheme {
        /// The id, derived from the store and the slug.
        id: InstalledThemeId,
        /// The theme's name in URLs.
        theme: Slug = installed.slug.clone(),
        /// The installed version of the theme.
        version: Version = installed.theme_version.clone(),
        /// Whether it is installed.
        status: InstallationStatus,
        /// The number of its newest release; 0 without one.
        release_head: u64 = installed.latest_release,
        /// When it was last installed.
        installed_at: Timestamp,
        /// When it was first installed.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The number of writes; `version` is the theme's own.
        revision: u64,
    }
}

impl Example for InstalledThemeView {
    fn example() -> Self {
        Self {
            id: sample_id!(InstalledThemeId),
            theme: sample("plain-linen"),
            version: sample("1.2.0"),
            status: InstallationStatus::Installed,
            release_head: 3,
            installed_at: EXAMPLE_TIME,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            revision: 4,
        }
    }
}
