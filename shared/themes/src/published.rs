//! Releases as they are kept: what a storefront was shown in, one after the other.
//!
//! A release never changes. Its number is given by creating it and by raising the theme's head in one
//! transaction, each on condition of the other's state: so of two who publish at once one does, and
//! the history has no gap. What is gone back to becomes a release of its own, with the contents and
//! the digest of the old one.

use std::sync::Arc;
use std::time::Duration;

use catalogue::blob::pinned::BlobRef;
use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::id::{MerchantId, StoreId, ThemeReleaseId};
use core_types::key;
use core_types::resource::Resource;
use core_types::sample_id;
use gateway::app::App;
use primitives::clock::{MINUTE, Timestamp};
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use table::{Query, ReadConsistency, Write};
use identity::store::{self, LiveTheme, Store};
use serde::{Deserialize, Serialize};

use crate::file::Digest;
use crate::installed::InstalledTheme;
use crate::manifest::{Slug, Version};
use crate::settings::Content;

core_types::topics! {
    THEME_PUBLISHED = "theme.published", "theme_release", Some("read_themes"), ReleaseView,
        "The storefront is shown in a new release of a theme.";
    THEME_ROLLED_BACK = "theme.rolled_back", "theme_release", Some("read_themes"), ReleaseView,
        "The storefront is shown again in what an earlier release of the theme was.";
}

/// A release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThemeRelease {
    /// Follows from the store, the slug and the number.
    pub id: ThemeReleaseId,
    /// The store.
    pub store_id: StoreId,
    /// The theme.
    pub slug: Slug,
    /// From 1, without a gap.
    pub number: u64,
    /// The version of the theme.
    pub theme_version: Version,
    /// Where the contents of that version lie.
    pub contents: BlobRef,
    /// What the theme is set to.
    pub content: Content,
    /// The digest over files and settings ([`crate::release::content_sha256`]).
    pub content_sha256: Digest,
    /// What its publisher says of it.
    pub message: Option<String>,
    /// Who published it: `mer_…` or `app_…`.
    pub published_by: String,
    /// The draft that it was made of; none when it goes back to an earlier release.
    pub draft_version: Option<u64>,
    /// The release that it goes back to.
    pub rolled_back_from: Option<u64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Always 1.
    pub version: u64,
}

impl Item for ThemeRelease {
    const KIND: &'static str = "theme_release";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::theme_release(&self.store_id, self.slug.as_str(), self.number)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// What is published, and by whom.
#[derive(Debug, Clone)]
pub struct Publication {
    /// What the theme is set to.
    pub content: Content,
    /// Its digest with the theme's files.
    pub content_sha256: Digest,
    /// The draft that it comes from.
    pub draft_version: u64,
    /// What its publisher says of it.
    pub message: Option<String>,
    /// `mer_…` or `app_…`.
    pub by: String,
}

impl ThemeRelease {
    /// The release that comes next for an installed theme.
    pub fn publish(installed: &InstalledTheme, published: Publication, now: Timestamp) -> Self {
        let number = crate::release::next(installed.release_head);
        Self {
            id: Self::id_of(&installed.store_id, &installed.slug, number),
            store_id: installed.store_id.clone(),
            slug: installed.slug.clone(),
            number,
            theme_version: installed.number.clone(),
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

    /// The release that comes next, with all that this one shows.
    #[must_use]
    pub fn again(
        &self,
        installed: &InstalledTheme,
        message: Option<String>,
        by: &str,
        now: Timestamp,
    ) -> Self {
        let number = crate::release::next(installed.release_head);
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

    /// Adds what making this release the live one takes: the release, the theme's head, the store.
    pub fn go_live(&self, write: Write, installed: &InstalledTheme, now: Timestamp) -> Write {
        let live = LiveTheme { slug: self.slug.to_string(), release: self.number };
        let write = write
            .create(self, Code::VersionConflict)
            .replace(&installed.released(now), Code::VersionConflict);
        store::theme_published(write, &self.store_id, &live)
    }
}

/// How long a process remembers where the contents of releases lie (our choice): that never changes, but
/// takes memory.
const REMEMBERED: Duration = MINUTE.saturating_mul(5);
/// Releases before the live one whose files are still served: pages that were made of them may still be
/// around (our choice).
const SERVED: usize = 10;

/// Where the contents of a store's live release lie.
#[derive(Debug)]
struct LivePlace(BlobRef);

/// Where those of the last releases lie, each once.
#[derive(Debug)]
struct LastPlaces(Vec<BlobRef>);

/// Where the contents lie that a store's storefront is shown with; none before something was published.
///
/// # Errors
/// 503.
pub async fn live_place(app: &App, store: &Store) -> Result<Option<BlobRef>, Problem> {
    let Some(shown) = &store.live_theme else { return Ok(None) };
    let (name, now) = (name_of(store, shown), app.clock.now());
    match app.cache.get::<LivePlace>(&name, now) {
        Some(known) => Ok(Some(known.0.clone())),
        None => Ok(live(app, store).await?.map(|release| release.contents)),
    }
}

/// Where the contents of the last releases of a store's live theme lie, the newest first and each once.
///
/// # Errors
/// 503.
pub async fn last_places(app: &App, store: &Store) -> Result<Vec<BlobRef>, Problem> {
    let Some(shown) = &store.live_theme else { return Ok(Vec::new()) };
    let (name, now) = (name_of(store, shown), app.clock.now());
    if let Some(known) = app.cache.get::<LastPlaces>(&name, now) {
        return Ok(known.0.clone());
    }
    let query = Query::partition(key::theme_releases(&store.id))
        .begins_with(key::theme_releases_of(&shown.slug))
        .newest_first()
        .seen(ReadConsistency::Eventual);
    let mut places: Vec<BlobRef> = Vec::new();
    for release in app.table.all::<ThemeRelease>(&query, SERVED).await? {
        if !places.contains(&release.contents) {
            places.push(release.contents);
        }
    }
    app.cache.keep(&name, Arc::new(LastPlaces(places.clone())), now, REMEMBERED);
    Ok(places)
}

/// What is remembered of a release is of it alone: the next has another name.
fn name_of(store: &Store, live: &LiveTheme) -> String {
    format!("{}/{}/{}", store.id, live.slug, live.release)
}

/// The release that a store's storefront is shown in; none before something was published.
///
/// # Errors
/// 503.
pub async fn live(app: &App, store: &Store) -> Result<Option<ThemeRelease>, Problem> {
    let Some(live) = &store.live_theme else { return Ok(None) };
    // A release is there since before the store named it, and never changes.
    let key = key::theme_release(&store.id, &live.slug, live.release);
    let found: Option<ThemeRelease> = app.table.peek(&key).await?;
    if let Some(release) = &found {
        let place = Arc::new(LivePlace(release.contents.clone()));
        app.cache.keep(&name_of(store, live), place, app.clock.now(), REMEMBERED);
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
    /// A release as lists and events show it.
    ReleaseView of release: ThemeRelease {
        /// Follows from the store, the slug and the number.
        id: ThemeReleaseId,
        /// The theme's name in URLs.
        theme: Slug = release.slug.clone(),
        /// From 1, without a gap.
        number: u64,
        /// The version of the theme.
        theme_version: Version,
        /// The digest over files and settings: the same whenever they are.
        content_sha256: Digest,
        /// What its publisher says of it.
        message: Option<String>,
        /// Who published it: `mer_…` or `app_…`.
        published_by: String,
        /// The draft that it was made of; none when it goes back to an earlier release.
        draft_version: Option<u64>,
        /// The release that it goes back to.
        rolled_back_from: Option<u64>,
        /// When it was published.
        published_at: Timestamp = release.created_at,
        /// The same.
        created_at: Timestamp,
        /// The same: a release never changes.
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
