//! The files of themes, parsed once in a process: a file with a digest never changes.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use liquid::{Language, ParseError, Template};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde_json::Value as Json;

use crate::schema::Declared;
use crate::theme::Theme;

/// The bytes of sources whose parsed forms are kept: those of some large themes. Parsed they take several times
/// as much.
const KEPT: u64 = 8 << 20;
/// The number of files that the cache is made for.
const FILES: usize = 4_000;

/// A Liquid file.
pub(crate) struct Source {
    /// The template, or why it is none.
    pub(crate) template: Result<Arc<Template>, ParseError>,
    /// The schema of a section or block, or null.
    pub(crate) schema: Json,
    /// The settings that the schema declares, of the file itself.
    pub(crate) declared: Arc<Declared>,
    /// The settings of the block types that the schema declares itself, by type.
    pub(crate) blocks: BTreeMap<String, Arc<Declared>>,
    bytes: u64,
}

/// What a file is parsed to.
#[derive(Clone)]
enum Parsed {
    Liquid(Arc<Source>),
    Json(Result<Arc<Json>, Arc<str>>, u64),
}

/// A digest and a path.
type Key = (Arc<str>, Arc<str>);

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Parsed> for Weight {
    fn weight(&self, _: &Key, parsed: &Parsed) -> u64 {
        match parsed {
            Parsed::Liquid(source) => source.bytes.max(1),
            Parsed::Json(_, bytes) => (*bytes).max(1),
        }
    }
}

static CACHE: LazyLock<Cache<Key, Parsed, Weight>> =
    LazyLock::new(|| Cache::with_weighter(FILES, KEPT, Weight));

/// The Liquid file at a path; none if the theme has none.
pub(crate) fn liquid(language: &Language, theme: &Theme, path: &str) -> Option<Arc<Source>> {
    match parsed(theme, path, |text| Parsed::Liquid(Arc::new(Source::parse(language, path, text))))?
    {
        Parsed::Liquid(source) => Some(source),
        Parsed::Json(..) => None,
    }
}

/// The JSON file at a path, or why it is none.
pub(crate) fn json(theme: &Theme, path: &str) -> Option<Result<Arc<Json>, Arc<str>>> {
    let read = |text: &str| {
        let json = parse_json(text).map(Arc::new).map_err(Arc::from);
        Parsed::Json(json, u64::try_from(text.len()).unwrap_or(u64::MAX))
    };
    match parsed(theme, path, read)? {
        Parsed::Json(json, _) => Some(json),
        Parsed::Liquid(_) => None,
    }
}

fn parsed(theme: &Theme, path: &str, parse: impl FnOnce(&str) -> Parsed) -> Option<Parsed> {
    let file = theme.files.get(path)?;
    let key = (Arc::clone(&file.sha256), Arc::from(path));
    if let Some(known) = CACHE.get(&key) {
        return Some(known);
    }
    let text = String::from_utf8_lossy(&file.bytes);
    let parsed = parse(text.trim_start_matches('\u{feff}'));
    CACHE.insert(key, parsed.clone());
    Some(parsed)
}

/// JSON with comments, and with commas behind last elements.
fn parse_json(text: &str) -> Result<Json, String> {
    let mut json = text.to_owned();
    json_strip_comments::strip(&mut json).map_err(|error| format!("it is not JSON: {error}"))?;
    serde_json::from_str(&json).map_err(|error| format!("it is not JSON: {error}"))
}

impl Source {
    fn parse(language: &Language, path: &str, text: &str) -> Self {
        let schema = schema_of(text).map(parse_json);
        let invalid = schema.as_ref().and_then(|schema| schema.as_ref().err()).cloned();
        let template = match invalid {
            Some(message) => Err(ParseError::new(1, format!("In its schema, {message}"))),
            None => Template::parse_in(language, path, text).map(Arc::new),
        };
        let schema = schema.and_then(Result::ok).unwrap_or_default();
        let blocks = crate::data::list(&schema, "/blocks").iter().filter_map(|block| {
            let settings = block.get("settings")?;
            let kind = block.get("type")?.as_str()?;
            Some((kind.to_owned(), Arc::new(Declared::of(Some(settings)))))
        });
        Self {
            template,
            declared: Arc::new(Declared::of(schema.get("settings"))),
            blocks: blocks.collect(),
            schema,
            bytes: u64::try_from(text.len()).unwrap_or(u64::MAX),
        }
    }
}

/// The text of the `schema` tag, if there is one.
fn schema_of(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let (_, behind) = rest.split_once("{%")?;
        rest = behind;
        let tag = behind.trim_start_matches('-').trim_start();
        let Some(after) = tag.strip_prefix("schema") else { continue };
        let after = after.trim_start().trim_start_matches('-');
        let Some(body) = after.strip_prefix("%}") else { continue };
        let is_end = |at: &usize| {
            let tag = body.get(at.saturating_add(2)..).unwrap_or_default();
            tag.trim_start_matches('-').trim_start().starts_with("endschema")
        };
        let end = body.match_indices("{%").map(|(at, _)| at).find(is_end)?;
        return body.get(..end);
    }
}
