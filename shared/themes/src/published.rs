//! Stored releases: the history of a store's storefront.
//!
//! A release never changes. One transaction creates it and raises the theme's head, each conditionally:
//! of two concurrent publications one succeeds, and the numbers have no gap. A rollback creates a new
//! release with the contents and the digest of an earlier one.

use std::sync::Arc;
use std::time::Duration;

use catalogue::blob::pinned::BlobRef;
use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::id::{MerchantId, StoreId, ThemeReleaseId};
use core_types::key;
use core_types::resource::Resource;
use core_types::sample_id;
use identity::store::{self, LiveTheme, Store};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Query, ReadConsistency, Write};

use crate::file::Digest;
use crate::installed::InstalledTheme;
use crate::manifest::{Slug, Version};
use crate::settings::Content;

core_types::topics! {
    THEME_PUBLISHED = "theme.published", "theme_release", Some("read_themes"), ReleaseView,
        "A release of a theme was published on the storefront.";
    THEME_ROLLED_BACK = "theme.rolled_back", "theme_release", Some("read_themes"), ReleaseView,
        "A theme was rolled back to the content of an earlier release.";
}

/// A release of a theme on a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Item)]
#[item(kind = "theme_release")]
#[item(key = key::theme_release(&self.store_id, self.slug.as_str(), self.number), packed)]
pub struct ThemeRelease {
    /// The id, derived from the store, the slug and the number.
    pub id: ThemeReleaseId,
    /// The store.
    pub store_id: StoreId,
    /// The theme's slug.
    pub slug: Slug,
    /// From 1, without a gap.
    pub number: u64,
    /// The version of the theme.
    pub theme_version: Version,
    /// The reference to that version's stored contents.
    pub contents: BlobRef,
    /// The settings and sections.
    pub content: Content,
    /// The digest over files and settings ([`crate::release::content_sha256`]).
    pub content_sha256: Digest,
    /// The publisher's message.
    pub message: Option<String>,
    /// The principal that published it: `mer_…` or `app_…`.
    pub published_by: String,
    /// The version of the draft that it was published from; none for a rollback.
    pub draft_version: Option<u64>,
    /// The number of the earlier release that a rollback restores.
    pub rolled_back_from: Option<u64>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Always 1.
    pub version: u64,
}

/// A publication of a draft.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The settings and sections.
    pub content: Content,
    /// The digest over the theme's files and the content.
    pub content_sha256: Digest,
    /// The version of the draft.
    pub draft_version: u64,
    /// The publisher's message.
    pub message: Option<String>,
    /// The publisher: `mer_…` or `app_…`.
    pub by: String,
}

impl ThemeRelease {
    /// Creates the next release of an installed theme from a draft.
    pub fn publish(installed: &InstalledTheme, published: Publication, now: Timestamp) -> Self {
        let number = crate::release::next(installed.latest_release);
        Self {
            id: Self::id_of(&installed.store_id, &installed.slug, number),
            store_id: installed.store_id.clone(),
            slug: installed.slug.clone(),
            number,
            theme_version: installed.theme_version.clone(),
            contents: installed.contents.clone(),
            content: published.content,
            content_sha256: published.content_sha256,
            message: published.message,
            published_by: published.by,
            draft_version: Some(published.draft_version),
            rolled_back_from: None,
            created_at: now,
            version: 1,
        }
    }

    /// Creates the next release of an installed theme with the content of this one.
    #[must_use]
    pub fn again(
        &self,
        installed: &InstalledTheme,
        message: Option<String>,
        by: &str,
        now: Timestamp,
    ) -> Self {
        let number = crate::release::next(installed.latest_release);
        Self {
            id: Self::id_of(&self.store_id, &self.slug, number),
            number,
            message,
            published_by: by.to_owned(),
            draft_version: None,
            rolled_back_from: Some(self.number),
            created_at: now,
            ..self.clone()
        }
    }

    fn id_of(store: &StoreId, slug: &Slug, number: u64) -> ThemeReleaseId {
        ThemeReleaseId::derive(&[store.as_str(), slug.as_str(), &number.to_string()])
    }

    /// Adds the writes that make this release live: the release, the theme's head, the store.
    pub fn go_live(&self, write: Write, installed: &InstalledTheme, now: Timestamp) -> Write {
        let live = LiveTheme { slug: self.slug.to_string(), release: self.number };
        let write = write
            .create(self, Code::VersionConflict)
            .replace(&installed.released(now), Code::VersionConflict);
        store::set_live_theme(write, &self.store_id, &live)
    }
}

/// The time for which a process caches the references to releases' contents (our choice). They never
/// change, but take memory.
const CACHED_FOR: Duration = MINUTE.saturating_mul(5);
/// The number of newest releases whose files are still served: pages rendered from them may still be open
/// (our choice).
const SERVED_RELEASES: usize = 10;

/// The cached reference to the contents of a store's live release.
#[derive(Debug)]
struct LiveContents(BlobRef);

/// The cached references to the contents of the newest releases, without duplicates.
#[derive(Debug)]
struct RecentContents(Vec<BlobRef>);

/// Returns the reference to the contents of a store's live release; none before the first publication.
///
/// # Errors
/// 503.
pub async fn live_place(services: &Services, store: &Store) -> Result<Option<BlobRef>, Problem> {
    let Some(live_theme) = &store.live_theme else { return Ok(None) };
    let (name, now) = (cache_key(store, live_theme), services.clock.now());
    match services.cache.get::<LiveContents>(&name, now) {
        Some(known) => Ok(Some(known.0.clone())),
        None => Ok(live(services, store).await?.map(|release| release.contents)),
    }
}

/// Returns the references to the contents of the newest releases of a store's live theme, newest first and
/// without duplicates.
///
/// # Errors
/// 503.
pub async fn last_places(services: &Services, store: &Store) -> Result<Vec<BlobRef>, Problem> {
    let Some(live_theme) = &store.live_theme else { return Ok(Vec::new()) };
    let (name, now) = (cache_key(store, live_theme), services.clock.now());
    if let Some(known) = services.cache.get::<RecentContents>(&name, now) {
        return Ok(known.0.clone());
    }
    let query = Query::partition(key::theme_releases(&store.id))
        .begins_with(key::theme_releases_of(&live_theme.slug))
        .newest_first()
        .with_consistency(ReadConsistency::Eventual);
    let mut blobs: Vec<BlobRef> = Vec::new();
    for release in services.table.all::<ThemeRelease>(&query, SERVED_RELEASES).await? {
        if !blobs.contains(&release.contents) {
            blobs.push(release.contents);
        }
    }
    services.cache.insert(&name, Arc::new(RecentContents(blobs.clone())), now, CACHED_FOR);
    Ok(blobs)
}

/// The cache key of a store's live release. The next release has another key, so that nothing is stale.
fn cache_key(store: &Store, live: &LiveTheme) -> String {
    format!("{}/{}/{}", store.id, live.slug, live.release)
}

/// Loads the live release of a store; none before the first publication.
///
/// # Errors
/// 503.
pub async fn live(services: &Services, store: &Store) -> Result<Option<ThemeRelease>, Problem> {
    let Some(live) = &store.live_theme else { return Ok(None) };
    // An eventually consistent read suffices: a release is written with the store's reference to it,
    // and never changes.
    let key = key::theme_release(&store.id, &live.slug, live.release);
    let found: Option<ThemeRelease> = services.table.peek(&key).await?;
    if let Some(release) = &found {
        let place = Arc::new(LiveContents(release.contents.clone()));
        services.cache.insert(&cache_key(store, live), place, services.clock.now(), CACHED_FOR);
    }
    Ok(found)
}

impl Resource for ThemeRelease {
    type View = ReleaseView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

core_types::view! {
    /// A release of a theme, without its settings.
    ReleaseView of release: ThemeRelease {
        /// The id, derived from the store, the slug and the number.
        id: ThemeReleaseId,
        /// The theme's name in URLs.
        theme: Slug = release.slug.clone(),
        /// From 1, without a gap.
        number: u64,
        /// The version of the theme.
        theme_version: Version,
        /// The digest over files and settings: equal for equal content.
        content_sha256: Digest,
        /// The publisher's message.
        message: Option<String>,
        /// The principal that published it: `mer_…` or `app_…`.
        published_by: String,
        /// The version of the draft that it was published from; none for a rollback.
        draft_version: Option<u64>,
        /// The number of the earlier release that a rollback restores.
        rolled_back_from: Option<u64>,
        /// When it was published.
        published_at: Timestamp = release.created_at,
        /// The same as `published_at`.
        created_at: Timestamp,
        /// The same as `published_at`: a release never changes.
        updated_at: Timestamp = release.created_at,
        /// Always 1.
        version: u64,
    }
}

impl Example for ReleaseView {
    fn example() -> Self {
        Self {
            id: sample_id!(ThemeReleaseId),
            theme: sample("plain-linen"),
            number: 3,
            theme_version: sample("1.2.0"),
            content_sha256: Digest::of(b"example"),
            message: Some("For the summer.".into()),
            published_by: sample_id!(MerchantId).to_string(),
            draft_version: Some(7),
            rolled_back_from: None,
            published_at: EXAMPLE_TIME,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
