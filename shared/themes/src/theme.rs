//! Themes: published in the catalogue, or private to their owners.
//!
//! A slug belongs to the merchant who first uploads a package with it. A theme enters the catalogue when an
//! operator approves one of its packages, and is described there by that package.

use catalogue::blob::pinned::BlobRef;
use core_types::fields::{self, WebUrl};
use core_types::id::{MerchantId, StoreId, ThemeId, ThemePackageId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::rating::Rating;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};

use crate::manifest::{Manifest, Slug, Version};
use crate::upload::{Listing, ThemePackage};

/// The category under which a theme without one is listed.
pub const UNSORTED: &str = "other";

primitives::string_enum! {
    /// Whether a theme is in the catalogue.
    ThemeStatus {
        /// Not in the catalogue: only its owner can see and install it.
        Private = "private",
        /// In the catalogue: every store can install it.
        Published = "published",
        /// Removed from the catalogue; stores that have installed it keep it.
        Withdrawn = "withdrawn",
    }
}

/// An installable version: its number, its package and its stored contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The version number.
    pub version: Version,
    /// The package that brought it.
    pub package_id: ThemePackageId,
    /// The reference to its stored contents.
    pub contents: BlobRef,
}

/// A theme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Theme {
    /// The id, derived from the slug.
    pub id: ThemeId,
    /// The name in URLs.
    pub slug: Slug,
    /// The merchant who owns it.
    pub owner_id: MerchantId,
    /// The display name.
    pub name: String,
    /// The author, as the manifest names them.
    pub author: String,
    /// The description.
    pub description: Option<String>,
    /// The kind of shop that it suits.
    pub category: Option<fields::Slug>,
    /// The price of a licence for one store; none for a free theme.
    pub price: Option<Money>,
    /// Images of storefronts with the theme.
    pub preview_images: Vec<WebUrl>,
    /// The owner's store that receives payments.
    pub seller_store_id: Option<StoreId>,
    /// Whether it is in the catalogue.
    pub status: ThemeStatus,
    /// The newest version in the catalogue.
    pub published: Option<Offer>,
    /// The newest uploaded version, which the owner's own stores can install.
    pub newest: Offer,
    /// When it first entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// When its first package was uploaded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The number of writes; stored as `version`.
    #[serde(rename = "version")]
    pub revision: u64,
}

impl Item for Theme {
    const KIND: &'static str = "theme";
    const PACKING: Option<Packing> = Some(Packing::ALL);
    fn key(&self) -> Key {
        key::theme(self.slug.as_str())
    }
    fn version(&self) -> u64 {
        self.revision
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let category = self.category.as_ref().map_or(UNSORTED, fields::Slug::as_str);
        vec![key::themes_by_status(self.status.as_str(), category, self.slug.as_str())]
    }
}

impl Theme {
    /// Creates the private theme of its first package.
    pub fn begun(package: &ThemePackage, now: Timestamp) -> Self {
        let Manifest { slug, name, author, description, category, price, .. } =
            package.manifest.clone();
        Self {
            id: ThemeId::derive(&[slug.as_str()]),
            slug,
            owner_id: package.owner_id.clone(),
            name,
            author,
            description,
            category,
            price,
            preview_images: Vec::new(),
            seller_store_id: None,
            status: ThemeStatus::Private,
            published: None,
            newest: package.offer(),
            published_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
        }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Returns the theme with another uploaded package. A private theme takes its description from it.
    ///
    /// # Errors
    /// `slug_taken`: another merchant owns the theme.
    pub fn with(&self, package: &ThemePackage, now: Timestamp) -> Result<Self, Problem> {
        if self.owner_id != package.owner_id {
            return Err(Code::SlugTaken.into());
        }
        let mut next = self.changed(now);
        if package.manifest.version > self.newest.version {
            next.newest = package.offer();
        }
        if self.status == ThemeStatus::Private {
            next = next.described_by(&package.manifest);
        }
        Ok(next)
    }

    fn described_by(self, manifest: &Manifest) -> Self {
        let Manifest { name, author, description, category, price, .. } = manifest.clone();
        Self { name, author, description, category, price, ..self }
    }

    /// Returns the published theme with a package that an operator has approved. A version older than
    /// the newest published one leaves the catalogue's description unchanged.
    #[must_use]
    pub fn accepted(&self, package: &ThemePackage, listing: &Listing, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        let version = &package.manifest.version;
        if self.published.as_ref().is_none_or(|known| *version > known.version) {
            next.preview_images.clone_from(&listing.preview_images);
            next = next.described_by(&package.manifest);
            next.seller_store_id.clone_from(&listing.seller_store_id);
            next.published = Some(package.offer());
        }
        next.status = ThemeStatus::Published;
        next.published_at = next.published_at.or(Some(now));
        next
    }

    /// Returns the theme without a version that was in the catalogue. `left` is the newest version that
    /// remains there; without one, the theme is withdrawn.
    #[must_use]
    pub fn without(&self, version: &Version, left: Option<Offer>, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        if self.published.as_ref().is_some_and(|known| known.version == *version) {
            next.published = left;
        }
        if next.published.is_none() {
            next.status = ThemeStatus::Withdrawn;
        }
        next
    }

    /// Whether `owner` owns the theme: an owner who acts in person sees unpublished versions.
    pub fn is_of(&self, owner: Option<&MerchantId>) -> bool {
        owner.is_some_and(|owner| self.owner_id == *owner)
    }

    /// The version to install if the request names none: the newest for the theme's owner, the newest
    /// published one for everybody else.
    pub fn offered_to(&self, owner: Option<&MerchantId>) -> Option<&Offer> {
        if self.is_of(owner) { Some(&self.newest) } else { self.published.as_ref() }
    }

    /// The price of a licence for a store of `owner`; none for their own theme.
    pub fn price_for(&self, owner: &MerchantId) -> Option<&Money> {
        self.price.as_ref().filter(|_| self.owner_id != *owner)
    }

    /// Whether it is in the catalogue.
    pub fn is_published(&self) -> bool {
        self.status == ThemeStatus::Published
    }
}

/// The requesting store's relation to a theme.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThemeAccess {
    /// The store has installed the theme.
    pub installed: bool,
    /// The store may install the theme: it is free, its owner's own, or paid for.
    pub licensed: bool,
}

core_types::view! {
    /// A theme as the catalogue lists it.
    ThemeView of (theme: Theme, access: ThemeAccess) {
        /// The id, derived from the slug.
        id: ThemeId,
        /// The name in URLs.
        slug: Slug,
        /// The display name.
        name: String,
        /// The author, as the manifest names them.
        author: String,
        /// The description.
        description: Option<String>,
        /// The kind of shop that it suits.
        category: Option<fields::Slug>,
        /// The newest version in the catalogue; without one, the newest uploaded version.
        version: Version = theme.published.as_ref().unwrap_or(&theme.newest).version.clone(),
        /// The price of a licence for one store; none for a free theme.
        price: Option<Money>,
        /// The rating. Themes are not rated yet: its count is 0.
        rating: Rating = Rating::of(0, 0),
        /// Images of storefronts with the theme.
        preview_images: Vec<WebUrl>,
        /// Whether it is in the catalogue.
        status: ThemeStatus,
        /// Whether the requesting store has installed it.
        installed: bool = access.installed,
        /// Whether the requesting store may install it: it is free, its owner's own, or paid for.
        licensed: bool = access.licensed,
        /// When it first entered the catalogue.
        published_at: Option<Timestamp>,
        /// When its first package was uploaded.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The number of writes; `version` is the theme's own.
        revision: u64,
    }
}

/// A version of a theme, stored in the theme's partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Item)]
#[item(kind = "theme_version")]
#[item(key = key::theme_version(self.slug.as_str(), &self.offer.number.sort_key()))]
#[item(version = self.revision, packed)]
pub struct ThemeVersion {
    /// The theme's slug.
    pub slug: Slug,
    /// The version, its package and its contents.
    #[serde(flatten)]
    pub offer: StoredOffer,
    /// Whether it is in the catalogue.
    pub published: bool,
    /// The changes in this version.
    pub changelog: Option<String>,
    /// When it first entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The number of writes; stored as `version`.
    #[serde(rename = "version")]
    pub revision: u64,
}

/// An [`Offer`] as stored: its version is named `number`, because `version` counts the item's writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredOffer {
    /// The version number.
    pub number: Version,
    /// The package that brought it.
    pub package_id: ThemePackageId,
    /// The reference to its stored contents.
    pub contents: BlobRef,
}

impl From<StoredOffer> for Offer {
    fn from(stored: StoredOffer) -> Self {
        let StoredOffer { number, package_id, contents } = stored;
        Self { version: number, package_id, contents }
    }
}

impl ThemeVersion {
    /// Creates the unpublished version of a package.
    pub fn of(package: &ThemePackage, now: Timestamp) -> Self {
        let Offer { version, package_id, contents } = package.offer();
        Self {
            slug: package.manifest.slug.clone(),
            offer: StoredOffer { number: version, package_id, contents },
            published: false,
            changelog: None,
            published_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
        }
    }

    /// Returns the version, added to or removed from the catalogue. Without a new changelog, it keeps the
    /// earlier one.
    #[must_use]
    pub fn listed(&self, published: bool, changelog: Option<String>, now: Timestamp) -> Self {
        let published_at = self.published_at.or_else(|| published.then_some(now));
        let revision = self.revision.saturating_add(1);
        let changelog = changelog.or_else(|| self.changelog.clone());
        Self { published, changelog, published_at, updated_at: now, revision, ..self.clone() }
    }
}

/// A version in the response about its theme.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VersionView {
    /// The version number.
    version: Version,
    /// The changes in this version.
    changelog: Option<String>,
    /// When it first entered the catalogue.
    published_at: Option<Timestamp>,
}

impl From<&ThemeVersion> for VersionView {
    fn from(version: &ThemeVersion) -> Self {
        Self {
            version: version.offer.number.clone(),
            changelog: version.changelog.clone(),
            published_at: version.published_at,
        }
    }
}
