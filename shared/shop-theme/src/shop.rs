//! What the objects, filters and tags of one page share.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use liquid::Language;
use serde_json::{Map, Value as Json};

use crate::ajax::cart_json;
use crate::amounts::AmountStyle;
use crate::data::{Data, Page, handle};
use crate::limits::{Finding, FindingCode};
use crate::money::{Money, symbol};
use crate::schema::Declared;
use crate::source::{self, Source};
use crate::theme::Theme;

/// One page of a shop: its data, its theme, and what was made of them.
pub(crate) struct Shop {
    /// The tags and filters that templates are parsed with.
    pub(crate) language: &'static Language,
    pub(crate) data: Data,
    pub(crate) page: Page,
    pub(crate) theme: Theme,
    pub(crate) money: Money,
    /// How amounts are written.
    pub(crate) amounts: AmountStyle,
    /// The texts of the page's language, and of the theme's default language.
    translations: [Arc<Json>; 2],
    unknown_tags: Mutex<BTreeSet<Finding>>,
    cart: OnceLock<Json>,
    /// The theme's settings: no object, which would hold the page and never be freed.
    settings: OnceLock<ThemeSettings>,
    /// The products of lists, shared by the objects that templates get again and again.
    shared: Mutex<HashMap<usize, Shared>>,
}

/// The settings that a theme declares, and their values.
type ThemeSettings = (Arc<Declared>, Arc<Map<String, Json>>);
/// Items of a list, each of which objects hold.
type Shared = Arc<[Arc<Json>]>;

/// What tags and filters find again with [`liquid::Context::host`].
pub(crate) struct Host(pub(crate) Arc<Shop>);

impl Shop {
    pub(crate) fn new(
        language: &'static Language,
        (theme, page, data): (&Theme, Page, &Data),
    ) -> Arc<Self> {
        Arc::new(Self {
            language,
            translations: translations(theme),
            money: Money::of(data),
            amounts: data
                .amounts
                .clone()
                .unwrap_or_else(|| AmountStyle::english(symbol(data.currency()))),
            data: data.clone(),
            page,
            theme: theme.clone(),
            unknown_tags: Mutex::default(),
            cart: OnceLock::new(),
            settings: OnceLock::new(),
            shared: Mutex::default(),
        })
    }

    /// The URL of a path of the shop, which begins with a slash.
    pub(crate) fn to(&self, path: &str) -> String {
        match (path, self.data.root.is_empty()) {
            ("/", false) => self.data.root.clone(),
            _ => format!("{}{path}", self.data.root),
        }
    }

    /// The path of this page, with the root.
    pub(crate) fn here(&self) -> String {
        self.to(&self.data.path_of(&self.page))
    }

    /// The URL of this page with another query.
    pub(crate) fn here_with(&self, query: &[(String, String)]) -> String {
        let mut url = self.here();
        for (place, (name, value)) in query.iter().enumerate() {
            url.push(if place == 0 { '?' } else { '&' });
            url.push_str(&encoded(name));
            url.push('=');
            url.push_str(&encoded(value));
        }
        url
    }

    /// The cart as scripts read it.
    pub(crate) fn cart(&self) -> &Json {
        self.cart.get_or_init(|| cart_json(&self.data.cart, &self.data))
    }

    /// A product that the page's data has, by its handle or id.
    pub(crate) fn product(&self, name: &str) -> Option<&Json> {
        let of_page = match &self.page {
            Page::Product(product) => Some(&**product),
            _ => None,
        };
        let listed: &[Json] = match &self.page {
            Page::Collection(listing) => &listing.products,
            Page::Search { results, .. } => &results.products,
            _ => &[],
        };
        let of_collections = self.data.collections.iter().flat_map(|(_, products)| products);
        let all = of_page.into_iter().chain(&self.data.products).chain(listed);
        let is_it = |product: &&Json| {
            handle(product) == name || product.get("id").and_then(Json::as_str) == Some(name)
        };
        all.chain(of_collections).chain(&self.data.recommendations).find(is_it)
    }

    /// The settings that the theme declares, and their values.
    pub(crate) fn theme_settings(&self) -> ThemeSettings {
        let made = || {
            let declared = source::json(&self.theme, "config/settings_schema.json");
            let declared = declared.and_then(Result::ok).unwrap_or_default();
            (Arc::new(Declared::of_theme(&declared)), Arc::new(self.theme.settings.clone()))
        };
        self.settings.get_or_init(made).clone()
    }

    /// The items of a list of this page's data, to be shared.
    pub(crate) fn shared(&self, list: &[Json]) -> Shared {
        // The data does not move while the page is rendered.
        let place = list.as_ptr().addr();
        let mut known = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || list.iter().map(|item| Arc::new(item.clone())).collect();
        Arc::clone(known.entry(place).or_insert_with(made))
    }

    /// The text of a translation's key; with a count, the form for it.
    pub(crate) fn translation(&self, key: &str, count: Option<i64>) -> Option<&str> {
        self.translations.iter().find_map(|texts| lookup(texts, key, count))
    }

    /// A template of the theme, parsed.
    pub(crate) fn source(&self, path: &str) -> Option<Arc<Source>> {
        let source = source::liquid(self.language, &self.theme, path)?;
        let unknown = source.template.as_ref().map(|template| template.warnings());
        if let Some(unknown) = unknown.ok().filter(|unknown| !unknown.is_empty()) {
            let finding = |tag: &liquid::ParseError| {
                let message = format!("line {}: {}", tag.line, tag.message);
                Finding::new(FindingCode::UnknownTag, path, message)
            };
            let mut noted = self.unknown_tags.lock().unwrap_or_else(PoisonError::into_inner);
            noted.extend(unknown.iter().map(finding));
        }
        Some(source)
    }

    /// The unknown tags of the files of the page.
    pub(crate) fn unknown_tags(&self) -> BTreeSet<Finding> {
        std::mem::take(&mut *self.unknown_tags.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The text at a dotted key. With a count its `zero`, `one` or `other` form.
fn lookup<'t>(texts: &'t Json, key: &str, count: Option<i64>) -> Option<&'t str> {
    let found = key.split('.').try_fold(texts, |texts, part| texts.get(part))?;
    if let Some(text) = found.as_str() {
        return Some(text);
    }
    let forms: &[&str] = match count? {
        0 => &["zero", "other", "many"],
        1 => &["one", "other"],
        2 => &["two", "few", "other", "many"],
        3..=4 => &["few", "other", "many"],
        _ => &["other", "many"],
    };
    forms.iter().find_map(|form| found.get(form)?.as_str())
}

fn translations(theme: &Theme) -> [Arc<Json>; 2] {
    let language = theme.locale.split('-').next().unwrap_or_default();
    let names = [
        format!("locales/{}.json", theme.locale),
        format!("locales/{}.default.json", theme.locale),
        format!("locales/{language}.json"),
        format!("locales/{language}.default.json"),
    ];
    let read = |path: &str| source::json(theme, path)?.ok();
    let own = names.iter().find_map(|path| read(path));
    let default = theme
        .files
        .keys()
        .find(|path| path.starts_with("locales/") && path.ends_with(".default.json"));
    let default = default.and_then(|path| read(path));
    [own.unwrap_or_default(), default.unwrap_or_default()]
}

/// A text as a part of a query.
pub(crate) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
