//! A theme on a store: which version, and how many releases were made of it.
//!
//! The store's own item names the themes that are installed on it (`identity::store`), so that they
//! have a number; this says what is known of one. It stays when the theme is uninstalled, so that
//! releases are numbered on.

use catalogue::blob::pinned::BlobRef;
use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::id::{InstalledThemeId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};

use crate::manifest::{Slug, Version};
use crate::theme::Offer;

core_types::topics! {
    THEME_INSTALLED = "theme.installed", "installed_theme", Some("read_themes"), InstalledThemeView,
        "A theme was installed.";
    THEME_UPGRADED = "theme.upgraded", "installed_theme", Some("read_themes"), InstalledThemeView,
        "A theme was brought to another version.";
    THEME_UNINSTALLED = "theme.uninstalled", "installed_theme", Some("read_themes"),
        InstalledThemeView, "A theme was uninstalled.";
}

primitives::string_enum! {
    /// Whether a theme is on a store.
    #[schemars(rename = "ThemeInstallationStatus")]
    InstallationStatus {
        /// It is.
        Installed = "installed",
        /// It was.
        Uninstalled = "uninstalled",
    }
}

/// A theme on a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstalledTheme {
    /// Follows from the store and the slug.
    pub id: InstalledThemeId,
    /// The store.
    pub store_id: StoreId,
    /// The theme.
    pub slug: Slug,
    /// Which version.
    pub number: Version,
    /// Where its contents lie.
    pub contents: BlobRef,
    /// Whether it is on the store.
    pub status: InstallationStatus,
    /// The number of its last release; 0 before there is one.
    pub release_head: u64,
    /// When it was installed last.
    pub installed_at: Timestamp,
    /// When it was installed first.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    #[serde(rename = "version")]
    pub revision: u64,
}

impl Item for InstalledTheme {
    const KIND: &'static str = "installed_theme";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::installed_theme(&self.store_id, self.slug.as_str())
    }
    fn version(&self) -> u64 {
        self.revision
    }
}

impl InstalledTheme {
    /// The theme as it is installed: anew, where it was before.
    ///
    /// # Errors
    /// `already_installed`.
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
            number: offer.version.clone(),
            contents: offer.contents.clone(),
            status: InstallationStatus::Installed,
            release_head: before.map_or(0, |before| before.release_head),
            installed_at: now,
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            revision: before.map_or(0, |before| before.revision).saturating_add(1),
        })
    }

    /// Whether it is on the store.
    pub fn is_installed(&self) -> bool {
        self.status == InstallationStatus::Installed
    }

    /// The theme at its next revision.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// The theme, uninstalled.
    #[must_use]
    pub fn uninstalled(&self, now: Timestamp) -> Self {
        Self { status: InstallationStatus::Uninstalled, ..self.changed(now) }
    }

    /// The theme at this version.
    #[must_use]
    pub fn at(&self, offer: &Offer, now: Timestamp) -> Self {
        let (number, contents) = (offer.version.clone(), offer.contents.clone());
        Self { number, contents, ..self.changed(now) }
    }

    /// The theme with one release more.
    #[must_use]
    pub fn released(&self, now: Timestamp) -> Self {
        Self { release_head: crate::release::next(self.release_head), ..self.changed(now) }
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
    /// A theme on a store, as the store and its apps see it.
    InstalledThemeView of installed: InstalledTheme {
        /// Follows from the store and the slug.
        id: InstalledThemeId,
        /// The theme's name in URLs.
        theme: Slug = installed.slug.clone(),
        /// Which version of it.
        version: Version = installed.number.clone(),
        /// Whether it is on the store.
        status: InstallationStatus,
        /// The number of its last release; 0 before there is one.
        release_head: u64,
        /// When it was installed last.
        installed_at: Timestamp,
        /// When it was installed first.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Counts writes; `version` is the theme's own.
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
