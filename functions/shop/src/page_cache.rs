//! Pages of visitors who have neither a cart nor a session are everybody's for two seconds.

use std::sync::Arc;

use axum::body::Bytes;
use crypto::seal;
use gateway::app::App;
use primitives::clock::Timestamp;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// How long a page is everybody's (our choice): a changed price is shown by then.
const SECONDS: i64 = 2;
/// The bytes of all kept pages.
const BYTES: u64 = 32 << 20;
/// How many pages the cache is made for.
const PAGES: usize = 1_000;

/// A rendered page.
#[derive(Debug, Clone)]
pub(crate) struct KeptPage {
    pub(crate) html: Bytes,
    /// The entity tag, with its quotes.
    pub(crate) tag: Arc<str>,
    at: Timestamp,
}

impl KeptPage {
    pub(crate) fn new(html: String, at: Timestamp) -> Self {
        let digest = seal::digest(&html);
        let digest = digest.get(..32).unwrap_or(&digest);
        Self { tag: format!("\"{digest}\"").into(), html: Bytes::from(html), at }
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<String, KeptPage> for Weight {
    fn weight(&self, key: &String, page: &KeptPage) -> u64 {
        u64::try_from(key.len().saturating_add(page.html.len())).unwrap_or(u64::MAX)
    }
}

/// The kept pages of this process.
pub(crate) struct PageCache(Cache<String, KeptPage, Weight>);

impl Default for PageCache {
    fn default() -> Self {
        Self(Cache::with_weighter(PAGES, BYTES, Weight))
    }
}

impl PageCache {
    /// A page that is not older than two seconds.
    pub(crate) fn get(&self, key: &str, app: &App) -> Option<KeptPage> {
        let page = self.0.get(key)?;
        let age = page.at.seconds_until(app.clock.now());
        (0..SECONDS).contains(&age).then_some(page)
    }

    pub(crate) fn insert(&self, key: String, page: KeptPage) {
        self.0.insert(key, page);
    }
}
