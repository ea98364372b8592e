//! The themes of this process. A release never changes, and is kept with its files.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalogue::blob::pinned::BlobRef;
use quick_cache::sync::Cache;
use shop_theme::File;
use themes::settings::Content;

/// Themes whose files are kept, and releases.
const THEMES: usize = 64;

/// The files of a theme's version.
#[derive(Clone)]
pub(crate) struct ThemeFiles {
    pub(crate) files: Arc<BTreeMap<String, File>>,
    pub(crate) assets: Arc<BTreeMap<String, String>>,
    pub(crate) name: String,
}

/// The themes of this process, by the digests of their contents; and the releases, by store, theme and number.
pub(crate) struct ThemeCache {
    pub(crate) versions: Cache<String, ThemeFiles>,
    pub(crate) releases: Cache<String, Arc<(BlobRef, Content)>>,
}

impl Default for ThemeCache {
    fn default() -> Self {
        Self { versions: Cache::new(THEMES), releases: Cache::new(THEMES) }
    }
}
