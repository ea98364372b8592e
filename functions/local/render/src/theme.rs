//! The theme that pages are rendered with.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value as Json};

/// A release or a draft of a theme: its files, and the merchant's settings.
#[derive(Debug, Clone, Default)]
pub struct Theme {
    /// The content of the templates, locales and configuration, by path in the package.
    pub files: BTreeMap<String, Bytes>,
    /// The URL of each asset, by the name that follows `assets/`. Templates get URLs, never contents.
    pub assets: BTreeMap<String, String>,
    /// The values of the theme's settings, by their ids.
    pub settings: Map<String, Json>,
    /// The merchant's sections of the home page, and the sections of layouts, by their ids: `{type, settings,
    /// blocks, block_order, disabled}`.
    pub sections: Map<String, Json>,
    /// The sections of the home page, in their order; without it, `templates/index.json` has the order.
    pub order: Option<Vec<String>>,
    /// The language of the page (RFC 5646), for `locales/<language>.json`.
    pub locale: String,
}

impl Theme {
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let file = self.files.get(path)?;
        Some(String::from_utf8_lossy(file).trim_start_matches('\u{FEFF}').to_owned())
    }

    /// The JSON at this path, or why it is invalid.
    pub(crate) fn json(&self, path: &str) -> Option<Result<Json, String>> {
        let text = self.text(path)?;
        let text = behind_comments(&text);
        Some(serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}")))
    }

    /// The translations of the page's language and of the theme's default language; null if one is missing.
    pub(crate) fn translations(&self) -> [Json; 2] {
        let language = self.locale.split('-').next().unwrap_or_default();
        let names = [
            format!("locales/{}.json", self.locale),
            format!("locales/{}.default.json", self.locale),
            format!("locales/{language}.json"),
            format!("locales/{language}.default.json"),
        ];
        let read = |path: &str| self.json(path)?.ok();
        let own = names.iter().find_map(|path| read(path));
        let default = self
            .files
            .keys()
            .find(|path| path.starts_with("locales/") && path.ends_with(".default.json"));
        let default = default.and_then(|path| read(path));
        [own.unwrap_or_default(), default.unwrap_or_default()]
    }
}

/// The text after the comments that theme editors put before JSON; the whole text if one is not closed.
fn behind_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        match comment.split_once("*/") {
            Some((_, behind)) => rest = behind.trim_start(),
            None => return text,
        }
    }
    rest
}
