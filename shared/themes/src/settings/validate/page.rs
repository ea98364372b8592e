//! Validates the sections and blocks of a page, and their order.

use std::collections::BTreeMap;

use primitives::fields::Violation;
use primitives::problem::FieldError;
use serde_json::{Map, Value};

use super::Validator;
use crate::finding::{Code, below};
use crate::schema::{BlockType, MAX_BLOCK_DEPTH, MAX_BLOCKS, Schema, Setting};
use crate::settings::{MAX_SECTIONS, MAX_TEMPLATES, SectionOrBlock, Sections, value};

/// The maximum length of a merchant's name for an element, in characters.
const MAX_NAME: usize = 100;

/// The settings and blocks that a section or block allows.
struct Allowed<'a> {
    settings: &'a [Setting],
    blocks: &'a [BlockType],
    most: u32,
    depth: usize,
}

impl Validator {
    /// Validates the sections of a page and their order.
    pub(crate) fn page(
        &mut self,
        schema: &Schema,
        (sections, order): (&Value, &Value),
        pointer: &str,
    ) -> Sections {
        let at = below(pointer, "sections");
        let mut page = BTreeMap::new();
        let Some(given) = self.object(sections, &at) else { return Sections::default() };
        if given.len() > MAX_SECTIONS {
            self.violation(&at, "too_many", format!("Must have at most {MAX_SECTIONS} sections."));
            return Sections::default();
        }
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (name, section) in given {
            let pointer = below(&at, name);
            self.name(name, &pointer);
            if let Some(section) = self.section(schema, section, &pointer) {
                let count = counts.entry(section.kind.clone()).or_default();
                *count = count.saturating_add(1);
                let limit = schema.section(&section.kind).and_then(|kind| kind.limit);
                self.limit(*count, limit, &pointer);
                page.insert(name.clone(), section);
            }
        }
        let order = self.order(given, order, &below(pointer, "order"));
        Sections { sections: page, order }
    }

    /// Validates the sections of templates or of section groups, by name.
    pub(crate) fn lists(
        &mut self,
        schema: &Schema,
        given: &Value,
        pointer: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, Sections> {
        let mut lists = BTreeMap::new();
        let Some(given) = self.members(given, pointer) else { return lists };
        for (name, list) in given {
            let pointer = below(pointer, name);
            if !is_known(name) {
                let detail = "The theme has no such JSON file.";
                self.violation(&pointer, "unknown_template", detail);
                continue;
            }
            if !self.take(name.len()) || self.object(list, &pointer).is_none() {
                continue;
            }
            let member = |name: &str| list.get(name).unwrap_or(&Value::Null);
            let page = self.page(schema, (member("sections"), member("order")), &pointer);
            lists.insert(name.clone(), page);
        }
        lists
    }

    /// Validates sections that a layout or template places by their type.
    pub(crate) fn static_sections(
        &mut self,
        schema: &Schema,
        given: &Value,
        pointer: &str,
    ) -> BTreeMap<String, SectionOrBlock> {
        let mut sections = BTreeMap::new();
        let Some(given) = self.members(given, pointer) else { return sections };
        for (kind, section) in given {
            let pointer = below(pointer, kind);
            let mut section = section.clone();
            if let Some(members) = section.as_object_mut() {
                members.entry("type").or_insert_with(|| kind.as_str().into());
            }
            if section.get("type").is_some_and(|given| given != kind.as_str()) {
                let detail = format!("Must be `{kind}`.");
                self.violation(&below(&pointer, "type"), "unknown_section", detail);
            } else if let Some(section) = self.section(schema, &section, &pointer) {
                sections.insert(kind.clone(), section);
            }
        }
        sections
    }

    fn members<'a>(&mut self, given: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
        let given = self.object(given, pointer)?;
        if given.len() > MAX_TEMPLATES {
            let detail = format!("Must have at most {MAX_TEMPLATES} members.");
            self.violation(pointer, "too_many", detail);
            return None;
        }
        Some(given)
    }

    /// Validates one section of a page.
    pub(crate) fn section(
        &mut self,
        schema: &Schema,
        given: &Value,
        pointer: &str,
    ) -> Option<SectionOrBlock> {
        let kind = self.kind(given, pointer).filter(|kind| self.take(kind.len()))?;
        let Some(declared) = schema.section(kind) else {
            let detail = format!("The theme has no section `{kind}`.");
            self.violation(&below(pointer, "type"), "unknown_section", detail);
            return None;
        };
        let most = declared.max_blocks.unwrap_or(MAX_BLOCKS).min(MAX_BLOCKS);
        let allowed =
            Allowed { settings: &declared.settings, blocks: &declared.blocks, most, depth: 0 };
        Some(self.element(schema, &allowed, given, pointer))
    }

    fn block(
        &mut self,
        schema: &Schema,
        (allowed, depth): (&[BlockType], usize),
        given: &Value,
        pointer: &str,
    ) -> Option<SectionOrBlock> {
        let kind = self.kind(given, pointer).filter(|kind| self.take(kind.len()))?;
        let Some(declared) = block_type(schema, allowed, kind, is_static(given)) else {
            let detail = format!("The section has no block type `{kind}`.");
            self.violation(&below(pointer, "type"), "unknown_block", detail);
            return None;
        };
        let (settings, blocks) = (&declared.settings, &declared.blocks);
        let allowed =
            Allowed { settings, blocks, most: MAX_BLOCKS, depth: depth.saturating_add(1) };
        Some(self.element(schema, &allowed, given, pointer))
    }

    /// Validates the content of a section or block.
    fn element(
        &mut self,
        schema: &Schema,
        allowed: &Allowed<'_>,
        given: &Value,
        pointer: &str,
    ) -> SectionOrBlock {
        const KNOWN: &[&str] =
            &["type", "name", "disabled", "settings", "blocks", "block_order", "static"];
        let member = |name: &str| given.get(name).unwrap_or(&Value::Null);
        for name in given.as_object().into_iter().flat_map(Map::keys) {
            if !KNOWN.contains(&name.as_str()) {
                let detail = "Unknown member; it was removed.";
                self.note(below(pointer, name), Code::SettingUnknown, detail);
            }
        }
        let settings =
            self.settings(allowed.settings.iter(), member("settings"), &below(pointer, "settings"));
        let (blocks, block_order) = self.blocks(schema, allowed, given, pointer);
        SectionOrBlock {
            kind: member("type").as_str().unwrap_or_default().to_owned(),
            name: self.title(member("name"), &below(pointer, "name")),
            disabled: self.flag(member("disabled"), &below(pointer, "disabled")),
            is_static: self.flag(member("static"), &below(pointer, "static")),
            settings,
            blocks,
            block_order,
        }
    }

    fn blocks(
        &mut self,
        schema: &Schema,
        allowed: &Allowed<'_>,
        given: &Value,
        pointer: &str,
    ) -> (BTreeMap<String, SectionOrBlock>, Vec<String>) {
        let at = below(pointer, "blocks");
        let mut blocks = BTreeMap::new();
        let member = |name: &str| given.get(name).unwrap_or(&Value::Null);
        let Some(all) = self.object(member("blocks"), &at) else { return (blocks, Vec::new()) };
        let too_many = u32::try_from(all.len()).map_or(true, |count| count > allowed.most);
        if too_many || (allowed.depth >= MAX_BLOCK_DEPTH && !all.is_empty()) {
            let detail =
                format!("Must have at most {} blocks, nested at most eight deep.", allowed.most);
            self.violation(&at, "too_many", detail);
            return (blocks, Vec::new());
        }
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (name, block) in all {
            let pointer = below(&at, name);
            self.name(name, &pointer);
            let block = self.block(schema, (allowed.blocks, allowed.depth), block, &pointer);
            if let Some(block) = block {
                let count = counts.entry(block.kind.clone()).or_default();
                *count = count.saturating_add(1);
                let limit = block_type(schema, allowed.blocks, &block.kind, block.is_static);
                self.limit(*count, limit.and_then(|kind| kind.limit), &pointer);
                blocks.insert(name.clone(), block);
            }
        }
        let order = self.order(all, member("block_order"), &below(pointer, "block_order"));
        (blocks, order)
    }

    /// Validates an order, which must name each element once. Without one, elements are sorted by name.
    fn order(&mut self, all: &Map<String, Value>, order: &Value, pointer: &str) -> Vec<String> {
        if order.is_null() {
            let placed = all.iter().filter(|(_, element)| !is_static(element));
            let mut names: Vec<String> = placed.map(|(name, _)| name.clone()).collect();
            names.sort_unstable();
            return names;
        }
        let names: Option<Vec<String>> = order
            .as_array()
            .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        let Some(names) = names else {
            self.violation(pointer, "invalid_type", "Must be an array of names.");
            return Vec::new();
        };
        let is_placed = |name: &&str| !all.get(*name).is_some_and(is_static);
        let mut seen: Vec<&str> = names.iter().map(String::as_str).filter(is_placed).collect();
        let order = seen.iter().map(|name| (*name).to_owned()).collect();
        seen.sort_unstable();
        let mut wanted: Vec<&str> = all.keys().map(String::as_str).filter(is_placed).collect();
        wanted.sort_unstable();
        if seen != wanted {
            self.violation(pointer, "order_mismatch", "Must have each name exactly once.");
        }
        order
    }

    fn kind<'a>(&mut self, given: &'a Value, pointer: &str) -> Option<&'a str> {
        if !given.is_object() {
            self.violation(pointer, "invalid_type", "Must be an object.");
            return None;
        }
        let kind = given.get("type").and_then(Value::as_str);
        if kind.is_none() {
            self.violation(&below(pointer, "type"), "required", "This field is required.");
        }
        kind
    }

    fn title(&mut self, given: &Value, pointer: &str) -> Option<String> {
        let validated = match given {
            Value::Null => return None,
            Value::String(text) => value::line(text, MAX_NAME, false).map(|()| text.clone()),
            _ => Err(Violation::new("invalid_type", "Must be a string.")),
        };
        validated
            .map_err(|violation| self.field_errors.add(|| FieldError::at(pointer, violation)))
            .ok()
    }

    fn flag(&mut self, given: &Value, pointer: &str) -> bool {
        if !given.is_null() && !given.is_boolean() {
            self.violation(pointer, "invalid_type", "Must be a boolean.");
        }
        given.as_bool().unwrap_or_default()
    }

    fn limit(&mut self, count: u32, limit: Option<u32>, pointer: &str) {
        if let Some(limit) = limit.filter(|limit| count > *limit) {
            self.violation(
                pointer,
                "too_many",
                format!("There can be at most {limit} of this type."),
            );
        }
    }
}

/// Whether the template places this block itself.
fn is_static(block: &Value) -> bool {
    block.get("static").and_then(Value::as_bool) == Some(true)
}

/// Finds the block type of this name among those that a section or block allows: its own, or the theme's
/// if it is named there or allowed by `@theme`. A static block can be any of the theme's.
pub(crate) fn block_type<'a>(
    schema: &'a Schema,
    allowed: &'a [BlockType],
    kind: &str,
    is_static: bool,
) -> Option<&'a BlockType> {
    let of_theme = || schema.blocks.iter().find(|block| block.kind == kind);
    match allowed.iter().find(|block| block.kind == kind && !kind.starts_with('@')) {
        Some(own) if own.name.is_none() && own.settings.is_empty() => of_theme().or(Some(own)),
        Some(own) => Some(own),
        None if is_static || allowed.iter().any(|block| block.kind == "@theme") => of_theme(),
        None => None,
    }
}
