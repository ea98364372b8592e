//! Themes of the marketplace, and those that their makers alone know.
//!
//! A slug is its maker's who uploads a package of it first. In the catalogue is a theme of which an
//! operator has accepted a package; what is said there is what that package says.

use catalogue::blob::pinned::BlobRef;
use core_types::fields::{Handle, WebUrl};
use core_types::id::{MerchantId, StoreId, ThemeId, ThemePackageId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::rating::Rating;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, Slug, Version};
use crate::upload::{Listing, ThemePackage};

/// What a theme without a category is listed under.
pub const UNSORTED: &str = "other";

primitives::string_enum! {
    /// Whether a theme is in the catalogue.
    ThemeStatus {
        /// Its maker alone knows it.
        Private = "private",
        /// Every store can install it.
        Published = "published",
        /// It was in the catalogue; who has installed it keeps it.
        Withdrawn = "withdrawn",
    }
}

/// A version, and where what it is made of lies: all that installing it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Which version.
    pub version: Version,
    /// The package that it came in.
    pub package_id: ThemePackageId,
    /// Where its contents lie.
    pub contents: BlobRef,
}

/// A theme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Theme {
    /// Follows from the slug.
    pub id: ThemeId,
    /// Its name in URLs.
    pub slug: Slug,
    /// Who made it.
    pub owner_id: MerchantId,
    /// What people call it.
    pub name: String,
    /// Who made it, in their own words.
    pub author: String,
    /// What it is for.
    pub description: Option<String>,
    /// What kind of shop it is for.
    pub category: Option<Handle>,
    /// What a licence for one store costs; none when it is free.
    pub price: Option<Money>,
    /// What it looks like.
    pub preview_images: Vec<WebUrl>,
    /// The store of its maker's that takes the money.
    pub seller_store_id: Option<StoreId>,
    /// Whether it is in the catalogue.
    pub status: ThemeStatus,
    /// The newest version of the catalogue.
    pub published: Option<Offer>,
    /// The newest version that was uploaded: for its maker's own stores.
    pub newest: Offer,
    /// When it entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// When its first package was uploaded.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    #[serde(rename = "version")]
    pub revision: u64,
}

impl Item for Theme {
    const KIND: &'static str = "theme";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::theme(self.slug.as_str())
    }
    fn version(&self) -> u64 {
        self.revision
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let category = self.category.as_ref().map_or(UNSORTED, Handle::as_str);
        vec![key::themes_by_status(self.status.as_str(), category, self.slug.as_str())]
    }
}

impl Theme {
    /// The theme of a first package.
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

    /// The theme with one package more.
    ///
    /// # Errors
    /// `slug_taken`: it is somebody else's.
    pub fn with(&self, package: &ThemePackage, now: Timestamp) -> Result<Self, Problem> {
        if self.owner_id != package.owner_id {
            return Err(Code::SlugTaken.into());
        }
        let mut next = self.changed(now);
        if package.manifest.version > self.newest.version {
            next.newest = package.offer();
        }
        if self.status == ThemeStatus::Private {
            next = next.told_by(&package.manifest);
        }
        Ok(next)
    }

    fn told_by(self, manifest: &Manifest) -> Self {
        let Manifest { name, author, description, category, price, .. } = manifest.clone();
        Self { name, author, description, category, price, ..self }
    }

    /// The theme with a package that an operator has accepted; an older version than the newest
    /// changes nothing that the catalogue says.
    #[must_use]
    pub fn accepted(&self, package: &ThemePackage, listing: &Listing, now: Timestamp) -> Self {
        let mut next = self.changed(now);
        let version = &package.manifest.version;
        if self.published.as_ref().is_none_or(|known| *version > known.version) {
            next = next.told_by(&package.manifest);
            next.preview_images.clone_from(&listing.preview_images);
            next.seller_store_id.clone_from(&listing.seller_store_id);
            next.published = Some(package.offer());
        }
        next.status = ThemeStatus::Published;
        next.published_at = next.published_at.or(Some(now));
        next
    }

    /// The theme without a version that was in the catalogue; `newest` is what is left there.
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

    /// Whether `owner`, if they act themselves, made the theme: they see versions that are not published.
    pub fn is_of(&self, owner: Option<&MerchantId>) -> bool {
        owner.is_some_and(|owner| self.owner_id == *owner)
    }

    /// The version that is installed unless one is named: the newest for the theme's owner, the published
    /// one for everybody else.
    pub fn offered_to(&self, owner: Option<&MerchantId>) -> Option<&Offer> {
        if self.is_of(owner) { Some(&self.newest) } else { self.published.as_ref() }
    }

    /// What a licence costs a store of `owner`: nothing where it is their own theme.
    pub fn price_for(&self, owner: &MerchantId) -> Option<&Money> {
        self.price.as_ref().filter(|_| self.owner_id != *owner)
    }

    /// Whether it is in the catalogue.
    pub fn is_published(&self) -> bool {
        self.status == ThemeStatus::Published
    }
}

/// What the store that asks has of a theme.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    /// It has installed it.
    pub installed: bool,
    /// It may install it: the theme is free, its own, or paid for.
    pub licensed: bool,
}

core_types::view! {
    /// A theme as the catalogue lists it.
    ThemeView of (theme: Theme, standing: Standing) {
        /// Follows from the slug.
        id: ThemeId,
        /// Its name in URLs.
        slug: Slug,
        /// What people call it.
        name: String,
        /// Who made it.
        author: String,
        /// What it is for.
        description: Option<String>,
        /// What kind of shop it is for.
        category: Option<Handle>,
        /// The newest version of the catalogue; before there is one, the newest that was uploaded.
        version: Version = theme.published.as_ref().unwrap_or(&theme.newest).version.clone(),
        /// What a licence for one store costs; none when it is free.
        price: Option<Money>,
        /// What its users say of it.
        rating: Rating = Rating::of(0, 0),
        /// What it looks like.
        preview_images: Vec<WebUrl>,
        /// Whether it is in the catalogue.
        status: ThemeStatus,
        /// Whether the store that asks has installed it.
        installed: bool = standing.installed,
        /// Whether the store that asks may install it: it is free, its own, or paid for.
        licensed: bool = standing.licensed,
        /// When it entered the catalogue.
        published_at: Option<Timestamp>,
        /// When its first package was uploaded.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Counts writes; `version` is the theme's own.
        revision: u64,
    }
}

/// A version of a theme, in its partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThemeVersion {
    /// The theme.
    pub slug: Slug,
    /// The version, its package and its contents.
    #[serde(flatten)]
    pub offer: StoredOffer,
    /// Whether it is in the catalogue.
    pub published: bool,
    /// What is new in it.
    pub changelog: Option<String>,
    /// When it entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    #[serde(rename = "version")]
    pub revision: u64,
}

/// An [`Offer`] beside the item's own `version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredOffer {
    /// Which version.
    pub number: Version,
    /// The package that it came in.
    pub package_id: ThemePackageId,
    /// Where its contents lie.
    pub contents: BlobRef,
}

impl From<StoredOffer> for Offer {
    fn from(stored: StoredOffer) -> Self {
        let StoredOffer { number, package_id, contents } = stored;
        Self { version: number, package_id, contents }
    }
}

impl Item for ThemeVersion {
    const KIND: &'static str = "theme_version";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::theme_version(self.slug.as_str(), &self.offer.number.sort_key())
    }
    fn version(&self) -> u64 {
        self.revision
    }
}

impl ThemeVersion {
    /// The version of a package.
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

    /// The version in the catalogue, or out of it.
    #[must_use]
    pub fn listed(&self, published: bool, changelog: Option<String>, now: Timestamp) -> Self {
        let published_at = self.published_at.or_else(|| published.then_some(now));
        let revision = self.revision.saturating_add(1);
        let changelog = changelog.or_else(|| self.changelog.clone());
        Self { published, changelog, published_at, updated_at: now, revision, ..self.clone() }
    }
}

/// A version as a theme's page shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VersionView {
    /// Which version.
    version: Version,
    /// What is new in it.
    changelog: Option<String>,
    /// When it entered the catalogue.
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
