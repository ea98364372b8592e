//! Stored licences: one for each store and theme, active or ended.

use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::id::{StoreId, ThemeLicenseId, ThemePurchaseId};
use core_types::key;
use core_types::money::{self, Money};
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::entitlement::{LicenseEnd, Term};
use crate::manifest::Slug;

core_types::topics! {
    THEME_LICENSED = "theme.licensed", "theme_license", Some("read_themes"), LicenseView,
        "A theme licence was purchased.";
    THEME_LICENSE_ENDED = "theme.license_ended", "theme_license", Some("read_themes"), LicenseView,
        "A theme licence ended: installed themes stay, and no further one can be installed with it.";
}

/// A store's licence for a theme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "theme_license", key = key::theme_license(&self.store_id, self.slug.as_str()))]
#[item(packed)]
pub struct ThemeLicense {
    /// `lic_…`. A licence that is granted again keeps its id.
    pub id: ThemeLicenseId,
    /// The store that may install the theme.
    pub store_id: StoreId,
    /// The theme's slug.
    pub slug: Slug,
    /// The period in which it is active.
    pub term: Term,
    /// The purchase that granted it.
    pub purchase_id: ThemePurchaseId,
    /// The amount paid.
    pub price: Money,
    /// When the store was first granted a licence for this theme.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl ThemeLicense {
    /// Grants a licence by a purchase; `before` is the store's earlier licence, which has ended.
    pub fn granted(
        before: Option<&Self>,
        store: &StoreId,
        slug: &Slug,
        (purchase, price): (&ThemePurchaseId, &Money),
        now: Timestamp,
    ) -> Self {
        Self {
            id: before.map_or_else(|| ThemeLicenseId::mint(now), |before| before.id.clone()),
            store_id: store.clone(),
            slug: slug.clone(),
            term: Term::granted(now),
            purchase_id: purchase.clone(),
            price: price.clone(),
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            version: before.map_or(0, |before| before.version).saturating_add(1),
        }
    }

    /// Returns the licence as ended.
    #[must_use]
    pub fn ended(&self, end: LicenseEnd, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { term: self.term.ended(end, now), updated_at: now, version, ..self.clone() }
    }
}

impl Resource for ThemeLicense {
    type View = LicenseView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

core_types::view! {
    /// A store's licence for a theme.
    LicenseView of license: ThemeLicense {
        /// The id.
        id: ThemeLicenseId,
        /// The theme's name in URLs.
        theme: Slug = license.slug.clone(),
        /// The store that may install it.
        store_id: StoreId,
        /// Whether it is active.
        active: bool = license.term.is_active(),
        /// When it was granted: when its payment was verified.
        granted_at: Timestamp = license.term.granted_at,
        /// When it ended.
        ended_at: Option<Timestamp> = license.term.ended_at,
        /// The reason of its end.
        end: Option<LicenseEnd> = license.term.end,
        /// The purchase that granted it.
        purchase_id: ThemePurchaseId,
        /// The amount paid.
        price: Money,
        /// When the store was first granted a licence for this theme.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// From 1, one more with each write.
        version: u64,
    }
}

impl Example for LicenseView {
    fn example() -> Self {
        Self {
            id: sample_id!(ThemeLicenseId),
            theme: sample("plain-linen"),
            store_id: sample_id!(StoreId),
            active: true,
            granted_at: EXAMPLE_TIME,
            ended_at: None,
            end: None,
            purchase_id: sample_id!(ThemePurchaseId),
            price: money::sample(4_900),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
