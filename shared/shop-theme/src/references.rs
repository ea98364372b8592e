//! What the settings of a page refer to: what its data must have.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::data::{Data, Page, text};
use crate::language::LANGUAGE;
use crate::schema::Declared;
use crate::section;
use crate::shop::Shop;
use crate::source;
use crate::template;
use crate::theme::Theme;

/// Handles of resources that settings name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// Of collections.
    pub collections: BTreeSet<String>,
    /// Of products.
    pub products: BTreeSet<String>,
    /// Of menus.
    pub menus: BTreeSet<String>,
    /// Of texts.
    pub pages: BTreeSet<String>,
}

impl References {
    fn add(&mut self, kind: &str, handle: &str) {
        let handle = handle.rsplit('/').next().unwrap_or(handle).to_owned();
        match kind {
            "collection" => self.collections.insert(handle),
            "product" => self.products.insert(handle),
            "link_list" => self.menus.insert(handle),
            "page" => self.pages.insert(handle),
            _ => false,
        };
    }

    /// Adds those of an element and of the blocks in it.
    fn add_element(&mut self, theme: &Theme, folder: &str, own: Option<&Declared>, placed: &Json) {
        let kind = text(placed, "/type");
        let source = source::liquid(&LANGUAGE, theme, &format!("{folder}/{kind}.liquid"));
        let values = placed.get("settings").and_then(Json::as_object);
        let none = Map::new();
        let values = values.unwrap_or(&none);
        let mut add = |kind: &str, handle: &str| self.add(kind, handle);
        match (own, &source) {
            (Some(own), _) => own.references(values, &mut add),
            (None, Some(source)) => source.declared.references(values, &mut add),
            (None, None) => {}
        }
        let blocks = placed.get("blocks").and_then(Json::as_object);
        for block in blocks.into_iter().flat_map(Map::values) {
            let own = source.as_ref().and_then(|source| source.blocks.get(text(block, "/type")));
            self.add_element(theme, "blocks", own.map(AsRef::as_ref), block);
        }
    }
}

/// What the settings of the theme and of the sections of a page refer to. Groups of sections are on every
/// page.
pub fn references(theme: &Theme, page: &Page) -> References {
    let mut found = References::default();
    let schema = source::json(theme, "config/settings_schema.json").and_then(Result::ok);
    let declared = Declared::of_theme(&schema.unwrap_or_default());
    declared.references(&theme.settings, &mut |kind, handle| found.add(kind, handle));
    let shop = Shop::new(&LANGUAGE, (theme, page.clone(), &Data::default()));
    let of_page = format!("templates/{}.json", template::name(&shop));
    let is_group =
        |path: &&String| path.starts_with("sections/") && path.strip_suffix(".json").is_some();
    let groups = theme.files.keys().filter(is_group);
    for path in groups.chain(theme.has_template(&of_page).then_some(&of_page)) {
        let Ok(list) = section::read(&shop, path) else { continue };
        let sections = list.get("sections").and_then(Json::as_object);
        for section in sections.into_iter().flat_map(Map::values) {
            found.add_element(theme, "sections", None, section);
        }
    }
    let is_alone = |(path, _): &(&String, _)| path.strip_suffix(".liquid").is_some();
    for (_, section) in theme.placed.iter().filter(is_alone) {
        found.add_element(theme, "sections", None, section);
    }
    found
}
