//! The theme that pages are rendered with.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value as Json};

/// A file of a theme.
#[derive(Debug, Clone)]
pub struct File {
    /// The digest of its bytes: what was parsed from a file with this digest is kept.
    pub sha256: Arc<str>,
    /// Its content.
    pub bytes: Bytes,
}

/// A release or a draft of a theme: its files, and the merchant's settings.
#[derive(Debug, Clone, Default)]
pub struct Theme {
    /// The templates, locales and configuration, by path in the package. Of the assets, those that templates
    /// write into a page: SVG images.
    pub files: Arc<BTreeMap<String, File>>,
    /// The URL of each asset, by the name that follows `assets/`.
    pub assets: Arc<BTreeMap<String, String>>,
    /// The values of the theme's settings, by their ids.
    pub settings: Map<String, Json>,
    /// What the merchant placed instead of what a file of the theme places: `{sections, order}` of a JSON template or a
    /// section group, by its path, such as `templates/product.json`; of a section that stands alone `{type, settings,
    /// blocks, block_order}`, by the path of its file.
    pub placed: BTreeMap<String, Arc<Json>>,
    /// The language of the page (RFC 5646), for `locales/<language>.json`.
    pub locale: String,
    /// The theme's name.
    pub name: String,
}

impl Theme {
    /// Whether the theme or the merchant has this template.
    pub(crate) fn has_template(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.placed.contains_key(path)
    }

    /// Whether a renderer reads this file. Others are only linked to.
    pub fn reads(path: &str) -> bool {
        const FOLDERS: [&str; 7] =
            ["blocks/", "config/", "layout/", "locales/", "sections/", "snippets/", "templates/"];
        FOLDERS.iter().any(|folder| path.starts_with(folder))
            || (path.starts_with("assets/") && path.strip_suffix(".svg").is_some())
    }
}

/// Files with text contents, by path.
pub fn files<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
) -> Arc<BTreeMap<String, File>> {
    let file = |(path, text): (&str, &str)| {
        // A text is as good as its digest.
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        (path.to_owned(), File { sha256: Arc::from(text), bytes })
    };
    Arc::new(files.into_iter().map(file).collect())
}
