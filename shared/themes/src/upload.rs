//! Uploaded packages, and their way into the catalogue.

use catalogue::blob::pinned::BlobRef;
use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::fields::WebUrl;
use core_types::id::{MerchantId, StoreId, ThemePackageId};
use core_types::key::{self, IndexKey};
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};

use crate::file::Digest;
use crate::finding::Finding;
use crate::manifest::{Manifest, Slug, Version};
use crate::package::Package;
use crate::status::{PackageAction, PackageStatus};
use crate::theme::Offer;

core_types::topics! {
    PACKAGE_UPLOADED = "theme_package.uploaded", "theme_package", None, PackageView,
        "A theme package was uploaded.";
    PACKAGE_SUBMITTED = "theme_package.submitted", "theme_package", None, PackageView,
        "A developer submitted a theme package for the catalogue.";
    PACKAGE_WITHDRAWN = "theme_package.withdrawn", "theme_package", None, PackageView,
        "A developer withdrew a theme package.";
    PACKAGE_APPROVED = "theme_package.approved", "theme_package", None, PackageView,
        "An operator approved a theme package: stores can install it.";
    PACKAGE_REJECTED = "theme_package.rejected", "theme_package", None, PackageView,
        "An operator rejected a theme package.";
}

/// The details that a developer submits with a package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeListing")]
pub struct Listing {
    /// Images of storefronts with the theme.
    pub preview_images: Vec<WebUrl>,
    /// The developer's store that receives payments for a paid theme.
    pub seller_store_id: Option<StoreId>,
    /// The changes in this version.
    pub changelog: Option<String>,
}

/// An uploaded package of a theme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThemePackage {
    /// `pkg_…`; later ones sort after it.
    pub id: ThemePackageId,
    /// The merchant who owns it.
    pub owner_id: MerchantId,
    /// The manifest, from `theme.json`.
    pub manifest: Manifest,
    /// SHA-256 of the archive.
    pub sha256: Digest,
    /// The size of the archive in bytes.
    pub size: u64,
    /// The number of files in it.
    pub files: u64,
    /// The findings in it: warnings alone.
    pub findings: Vec<Finding>,
    /// The reference to its stored contents.
    pub contents: BlobRef,
    /// Its state.
    pub status: PackageStatus,
    /// The details given at its last submission.
    pub listing: Option<Listing>,
    /// The operator's notes to the developer.
    pub notes: Vec<String>,
    /// The operator who decided; not returned to developers.
    pub decided_by: Option<MerchantId>,
    /// When it was last submitted.
    pub submitted_at: Option<Timestamp>,
    /// When an operator last decided.
    pub decided_at: Option<Timestamp>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The number of writes; stored as `version`.
    #[serde(rename = "version")]
    pub revision: u64,
}

impl Item for ThemePackage {
    const KIND: &'static str = "theme_package";
    const PACKING: Option<Packing> = Some(Packing::ALL);
    fn key(&self) -> Key {
        key::theme_package(&self.id)
    }
    fn version(&self) -> u64 {
        self.revision
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let listed = key::theme_packages_by_time(&self.owner_id, self.created_at, &self.id);
        let waits = self.submitted_at.filter(|_| self.status == PackageStatus::Submitted);
        let queued = waits.map(|at| key::theme_packages_submitted(at, &self.id));
        std::iter::once(listed).chain(queued).collect()
    }
}

impl ThemePackage {
    /// Creates the item of a valid package whose contents are stored.
    pub fn uploaded(
        owner: &MerchantId,
        zip: &[u8],
        package: &Package,
        findings: Vec<Finding>,
        contents: BlobRef,
        now: Timestamp,
    ) -> Self {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        Self {
            id: ThemePackageId::mint(now),
            owner_id: owner.clone(),
            manifest: package.manifest.clone(),
            sha256: Digest::of(zip),
            size: count(zip.len()),
            files: count(package.files.len()),
            findings,
            contents,
            status: PackageStatus::Valid,
            listing: None,
            notes: Vec::new(),
            decided_by: None,
            submitted_at: None,
            decided_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
        }
    }

    /// The installable version that it brings.
    pub fn offer(&self) -> Offer {
        Offer {
            version: self.manifest.version.clone(),
            package_id: self.id.clone(),
            contents: self.contents.clone(),
        }
    }

    fn after(&self, action: PackageAction, now: Timestamp) -> Result<Self, Problem> {
        let Some(status) = self.status.after(action) else {
            return Err(Problem::state(self.status.as_str(), &self.status.allowed_actions()));
        };
        let revision = self.revision.saturating_add(1);
        Ok(Self { status, updated_at: now, revision, ..self.clone() })
    }

    /// Returns the package as submitted for the catalogue.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn submit(&self, listing: Listing, now: Timestamp) -> Result<Self, Problem> {
        let next = self.after(PackageAction::Submit, now)?;
        Ok(Self { listing: Some(listing), submitted_at: Some(now), notes: Vec::new(), ..next })
    }

    /// Returns the package as withdrawn.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn withdraw(&self, now: Timestamp) -> Result<Self, Problem> {
        self.after(PackageAction::Withdraw, now)
    }

    /// Returns the package with an operator's decision.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn decide(
        &self,
        action: PackageAction,
        notes: Vec<String>,
        operator: &MerchantId,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let next = self.after(action, now)?;
        Ok(Self { notes, decided_by: Some(operator.clone()), decided_at: Some(now), ..next })
    }
}

impl Resource for ThemePackage {
    type View = PackageView;
    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject { store: None, app: None, entity: self.id.as_str(), version: self.revision }
    }
}

core_types::view! {
    /// A package, as its owner and the operators see it.
    PackageView of package: ThemePackage {
        /// The id.
        id: ThemePackageId,
        /// The theme's name in URLs.
        slug: Slug = package.manifest.slug.clone(),
        /// The theme's display name.
        name: String = package.manifest.name.clone(),
        /// The version of the theme.
        version: Version = package.manifest.version.clone(),
        /// Its state.
        status: PackageStatus,
        /// SHA-256 of the archive.
        sha256: Digest,
        /// The size of the archive in bytes.
        size: u64,
        /// The number of files in it.
        files: u64,
        /// The findings in it: warnings alone.
        findings: Vec<Finding>,
        /// The details given at its last submission.
        listing: Option<Listing>,
        /// The operator's notes to the developer.
        notes: Vec<String>,
        /// The actions that its state allows.
        allowed_actions: Vec<&'static str> = package.status.allowed_actions(),
        /// When it was last submitted.
        submitted_at: Option<Timestamp>,
        /// When an operator last decided.
        decided_at: Option<Timestamp>,
        /// When it was uploaded.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The number of writes, for `If-Match`; `version` is the theme's own.
        revision: u64,
    }
}

impl Example for PackageView {
    fn example() -> Self {
        Self {
            id: ThemePackageId::derive(&["example"]),
            slug: sample("plain-linen"),
            name: "Plain Linen".into(),
            version: sample("1.2.0"),
            status: PackageStatus::Submitted,
            sha256: Digest::of(b"example"),
            size: 48_213,
            files: 31,
            findings: Vec::new(),
            listing: Some(Listing {
                preview_images: vec![sample::<WebUrl>("https://example.com/linen.png")],
                seller_store_id: None,
                changelog: Some("A wider header.".into()),
            }),
            notes: Vec::new(),
            allowed_actions: PackageStatus::Submitted.allowed_actions(),
            submitted_at: Some(EXAMPLE_TIME),
            decided_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            revision: 2,
        }
    }
}
