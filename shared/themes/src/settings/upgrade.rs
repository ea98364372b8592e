//! Migrates content to another version of its theme.
//!
//! A value is carried over if the new version accepts it. A value that equals the old default becomes the
//! new default, because nobody chose it; so does a value that the new version rejects. Values, sections and
//! blocks that the new version does not have are dropped.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::validate::{Validator, block_type, weight};
use super::{
    Content, Difference, MAX_CONTENT, MAX_SECTIONS, SectionOrBlock, Sections, difference, value,
};
use crate::finding::below;
use crate::schema::{BlockType, MAX_BLOCKS, Schema, Setting};

/// The result of migrating content to another schema.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeUpgrade")]
pub struct Upgrade {
    /// The differences between the schemas.
    pub difference: Difference,
    /// The pointers of the values in the content that are carried over.
    pub carried: Vec<String>,
    /// The pointers of the values in the content that become the new default.
    pub reset: Vec<String>,
    /// The pointers of the sections, blocks and values that are dropped.
    pub dropped: Vec<String>,
    /// The content under the new schema.
    pub content: Content,
}

/// Migrates `content` from the old schema to the new one.
pub fn upgrade(old: &Schema, new: &Schema, content: &Content) -> Upgrade {
    let mut migration =
        SettingsMigration { old, new, bytes_left: MAX_CONTENT, upgrade: Upgrade::default() };
    let before: Vec<&Setting> = old.settings().collect();
    let after: Vec<&Setting> = new.settings().collect();
    let settings = migration.settings(&before, &after, &content.settings, "/settings");
    // If the values exceed the limit together with new defaults, all become the new version's.
    let settings = settings.unwrap_or_else(|| new.initial.settings.clone());
    let Sections { sections, order } = migration.page(&content.sections, &content.order, "");
    let templates =
        migration.lists(&content.templates, "/templates", |name| new.has_template(name));
    let section_groups = migration.lists(&content.section_groups, "/section_groups", |name| {
        new.section_groups.contains_key(name)
    });
    let static_sections = migration.static_sections(&content.static_sections, "/static_sections");
    let content = Content { settings, sections, order, templates, section_groups, static_sections };
    Upgrade { difference: difference(old, new), content, ..migration.upgrade }
}

struct SettingsMigration<'a> {
    old: &'a Schema,
    new: &'a Schema,
    /// The number of bytes left: defaults of the new version can be longer.
    bytes_left: usize,
    upgrade: Upgrade,
}

/// The allowed block types of the old and the new version.
type Allowed<'a> = (&'a [BlockType], &'a [BlockType]);

impl SettingsMigration<'_> {
    fn settings(
        &mut self,
        old: &[&Setting],
        new: &[&Setting],
        values: &Map<String, Value>,
        pointer: &str,
    ) -> Option<Map<String, Value>> {
        let mut settings = Map::new();
        for (id, setting) in new.iter().filter_map(|new| Some((new.id.as_ref()?, *new))) {
            let pointer = below(pointer, id);
            let before = old.iter().find(|old| old.id.as_ref() == Some(id));
            let default = default_of(setting);
            let moved = values.get(id).and_then(|value| {
                let followed = before.is_some_and(|before| default_of(before) == *value);
                if followed && default != *value {
                    return None;
                }
                let mut validate = Validator::default();
                let taken =
                    validate.value(setting, value, "").filter(|_| validate.field_errors.is_empty());
                // An unset value equals the default, which may itself be invalid (an empty one).
                taken.or_else(|| (*value == default).then(|| default.clone()))
            });
            if values.contains_key(id) {
                let list = if moved.is_some() {
                    &mut self.upgrade.carried
                } else {
                    &mut self.upgrade.reset
                };
                list.push(pointer);
            }
            let value = moved.unwrap_or(default);
            let bytes = id.len().saturating_add(weight(&value));
            self.bytes_left = self.bytes_left.checked_sub(bytes)?;
            settings.insert(id.clone(), value);
        }
        let removed = values.keys().filter(|id| !settings.contains_key(id.as_str()));
        self.upgrade.dropped.extend(removed.map(|id| below(pointer, id)));
        Some(settings)
    }

    fn page(
        &mut self,
        before: &BTreeMap<String, SectionOrBlock>,
        names: &[String],
        pointer: &str,
    ) -> Sections {
        let at = below(pointer, "sections");
        let mut sections = BTreeMap::new();
        let mut order = Vec::new();
        let mut counts = BTreeMap::new();
        for name in names {
            let Some(section) = before.get(name) else { continue };
            let pointer = below(&at, name);
            let limit = self.new.section(&section.kind).map(|kind| kind.limit.unwrap_or(u32::MAX));
            if order.len() >= MAX_SECTIONS || !is_below_limit(&mut counts, &section.kind, limit) {
                self.upgrade.dropped.push(pointer);
                continue;
            }
            let Some(section) = self.section(section, &pointer) else {
                self.upgrade.dropped.push(pointer);
                continue;
            };
            sections.insert(name.clone(), section);
            order.push(name.clone());
        }
        Sections { sections, order }
    }

    fn lists(
        &mut self,
        before: &BTreeMap<String, Sections>,
        pointer: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, Sections> {
        let mut lists = BTreeMap::new();
        for (name, Sections { sections, order }) in before {
            let pointer = below(pointer, name);
            if is_known(name) {
                lists.insert(name.clone(), self.page(sections, order, &pointer));
            } else {
                self.upgrade.dropped.push(pointer);
            }
        }
        lists
    }

    fn static_sections(
        &mut self,
        before: &BTreeMap<String, SectionOrBlock>,
        pointer: &str,
    ) -> BTreeMap<String, SectionOrBlock> {
        let mut sections = BTreeMap::new();
        for (kind, section) in before {
            let pointer = below(pointer, kind);
            if let Some(section) = self.section(section, &pointer) {
                sections.insert(kind.clone(), section);
            } else {
                self.upgrade.dropped.push(pointer);
            }
        }
        sections
    }

    fn section(&mut self, section: &SectionOrBlock, pointer: &str) -> Option<SectionOrBlock> {
        let new = self.new.section(&section.kind)?;
        let old = self.old.section(&section.kind);
        let before: Vec<&Setting> = old.iter().flat_map(|old| &old.settings).collect();
        let after: Vec<&Setting> = new.settings.iter().collect();
        let at = below(pointer, "settings");
        let settings = self.settings(&before, &after, &section.settings, &at)?;
        let allowed: Allowed<'_> = (old.map_or(&[], |old| &old.blocks), &new.blocks);
        let most = new.max_blocks.unwrap_or(MAX_BLOCKS);
        let given = (&section.blocks, section.block_order.as_slice());
        let (blocks, block_order) = self.blocks(allowed, given, most, pointer);
        Some(SectionOrBlock { settings, blocks, block_order, ..section.clone() })
    }

    fn blocks(
        &mut self,
        (old, new): Allowed<'_>,
        (blocks, block_order): (&BTreeMap<String, SectionOrBlock>, &[String]),
        most: u32,
        pointer: &str,
    ) -> (BTreeMap<String, SectionOrBlock>, Vec<String>) {
        let mut retained = BTreeMap::new();
        let mut order = Vec::new();
        let mut counts = BTreeMap::new();
        let is_static = |(_, block): &(&String, &SectionOrBlock)| block.is_static;
        let statics = blocks.iter().filter(is_static).map(|(name, _)| name);
        for name in block_order.iter().chain(statics) {
            let Some(block) = blocks.get(name) else { continue };
            let pointer = below(&below(pointer, "blocks"), name);
            let schema = self.new;
            let kind = block_type(schema, new, &block.kind, block.is_static);
            let limit = kind.map(|kind| kind.limit.unwrap_or(u32::MAX));
            let is_full = u32::try_from(retained.len()).map_or(true, |count| count >= most);
            let Some(kind) =
                kind.filter(|_| !is_full && is_below_limit(&mut counts, &block.kind, limit))
            else {
                self.upgrade.dropped.push(pointer);
                continue;
            };
            let was = block_type(self.old, old, &block.kind, block.is_static);
            let Some(block) = self.block(was, kind, block, &pointer) else {
                self.upgrade.dropped.push(pointer);
                continue;
            };
            if !block.is_static {
                order.push(name.clone());
            }
            retained.insert(name.clone(), block);
        }
        (retained, order)
    }

    fn block(
        &mut self,
        old: Option<&BlockType>,
        new: &BlockType,
        block: &SectionOrBlock,
        pointer: &str,
    ) -> Option<SectionOrBlock> {
        let before: Vec<&Setting> = old.iter().flat_map(|old| &old.settings).collect();
        let after: Vec<&Setting> = new.settings.iter().collect();
        let at = below(pointer, "settings");
        let settings = self.settings(&before, &after, &block.settings, &at)?;
        let allowed: Allowed<'_> = (old.map_or(&[], |old| &old.blocks), &new.blocks);
        let given = (&block.blocks, block.block_order.as_slice());
        let (blocks, block_order) = self.blocks(allowed, given, MAX_BLOCKS, pointer);
        Some(SectionOrBlock { settings, blocks, block_order, ..block.clone() })
    }
}

fn default_of(setting: &Setting) -> Value {
    setting.default.clone().unwrap_or_else(|| value::blank(setting))
}

/// Counts one more element of this kind, if the limit allows it. An unknown kind allows none.
fn is_below_limit(counts: &mut BTreeMap<String, u32>, kind: &str, limit: Option<u32>) -> bool {
    let count = counts.entry(kind.to_owned()).or_default();
    let has_room = limit.is_some_and(|limit| *count < limit);
    *count = count.saturating_add(u32::from(has_room));
    has_room
}
