//! Reads the schema of a section or block: the JSON between `{% schema %}` and `{% endschema %}`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::setting::{self, text};
use super::{
    BlockType, Label, MAX_BLOCKS, MAX_SECTION_SETTINGS, Preset, Schema, SectionType, Setting,
};
use crate::finding::{Code, FileFindings, below};
use crate::package::json;
use crate::settings::Validator;

/// The largest `limit` that a section type can declare.
const MAX_LIMIT: u32 = 25;
/// The maximum number of block types that a section can declare.
const MAX_BLOCK_TYPES: usize = 100;
/// The HTML elements that can enclose a section.
const TAGS: &[&str] = &["article", "aside", "div", "footer", "header", "section"];
const SECTION_MEMBERS: &[&str] = &[
    "name",
    "tag",
    "class",
    "limit",
    "max_blocks",
    "settings",
    "blocks",
    "presets",
    "default",
    "locales",
    "enabled_on",
    "disabled_on",
    "templates",
];
const BLOCK_MEMBERS: &[&str] =
    &["type", "name", "limit", "settings", "blocks", "presets", "tag", "class"];

#[expect(clippy::unwrap_used, reason = "the expressions are constants, and every test uses them")]
static OPENING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{%-?\s*schema\s*-?%\}").unwrap());
#[expect(clippy::unwrap_used, reason = "as above")]
static CLOSING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{%-?\s*endschema\s*-?%\}").unwrap());

/// Extracts the JSON of a file's schema, if there is one. `left` is the number of bytes left for the
/// theme's schemas.
pub(crate) fn embedded(
    liquid: &str,
    bytes_left: &mut usize,
    report: &mut FileFindings<'_>,
) -> Option<Value> {
    let mut openings = OPENING.find_iter(liquid);
    let Some(opening) = openings.next() else {
        let detail = "The section has no schema: merchants cannot add it, and it has no settings.";
        report.say_of_file(Code::SectionSchemaMissing, detail);
        return None;
    };
    if openings.next().is_some() {
        report.say_of_file(Code::SectionSchemaDuplicate, "A section must have only one schema.");
        return None;
    }
    let rest = liquid.get(opening.end()..).unwrap_or_default();
    let Some(closing) = CLOSING.find(rest) else {
        report.say_of_file(Code::SectionSchemaUnclosed, "The schema has no `{% endschema %}`.");
        return None;
    };
    let text = rest.get(..closing.start()).unwrap_or_default();
    let Some(less) = bytes_left.checked_sub(text.len()) else {
        report
            .say_of_file(Code::TooManySettings, "The schemas of a theme must have at most 2 MiB.");
        return None;
    };
    *bytes_left = less;
    match json::parse(text.as_bytes()) {
        Ok(value) => Some(value),
        Err(error) => {
            let detail = format!("The schema: {error} Counted from `{{% schema %}}`.");
            report.say_of_file(Code::JsonInvalid, detail);
            None
        }
    }
}

/// Reads a section type without its presets, which need all block types.
pub(crate) fn section(kind: &str, value: &Value, report: &mut FileFindings<'_>) -> SectionType {
    let mut section = bare(kind);
    let Some(object) = value.as_object() else {
        report.say(Code::JsonShape, "", "Must be an object.");
        return section;
    };
    unknown(object, SECTION_MEMBERS, "", report);
    section.name = name(object, "", report);
    section.tag = member(object, "tag", report, |tag| TAGS.contains(&tag));
    section.class = member(object, "class", report, is_class);
    section.limit = integer(object, "limit", (1, MAX_LIMIT), "", report);
    section.max_blocks = integer(object, "max_blocks", (0, MAX_BLOCKS), "", report);
    section.settings = settings(object, "", report);
    section.blocks = blocks(object, "", report);
    section
}

/// A section type of which only the name is known.
pub(crate) fn bare(kind: &str) -> SectionType {
    SectionType {
        kind: kind.to_owned(),
        name: None,
        tag: None,
        class: None,
        limit: None,
        max_blocks: None,
        settings: Vec::new(),
        blocks: Vec::new(),
        presets: Vec::new(),
    }
}

/// Reads a block type from its own file.
pub(crate) fn block(kind: &str, value: &Value, report: &mut FileFindings<'_>) -> BlockType {
    let empty = Map::new();
    let object = value.as_object().unwrap_or_else(|| {
        report.say(Code::JsonShape, "", "Must be an object.");
        &empty
    });
    unknown(object, BLOCK_MEMBERS, "", report);
    BlockType {
        kind: kind.to_owned(),
        name: name(object, "", report),
        limit: None,
        settings: settings(object, "", report),
        blocks: blocks(object, "", report),
    }
}

/// Reads the presets of a section type as validated content. `left` is the number of bytes left for the
/// theme's presets.
pub(crate) fn presets(
    kind: &str,
    value: &Value,
    (schema, bytes_left): (&Schema, &mut usize),
    report: &mut FileFindings<'_>,
) -> Vec<Preset> {
    let list = match value.get("presets") {
        None | Some(Value::Null) => return Vec::new(),
        Some(list) => list.as_array(),
    };
    let Some(list) = list else {
        report.say(Code::JsonShape, "/presets", "Must be an array.");
        return Vec::new();
    };
    let mut presets = Vec::new();
    for (index, preset) in list.iter().enumerate() {
        let pointer = format!("/presets/{index}");
        let Some(name) = preset.get("name").and_then(text) else {
            report.say(Code::PresetInvalid, &below(&pointer, "name"), "A preset must have a name.");
            continue;
        };
        let mut validate = Validator::of_theme().with_bytes_left(*bytes_left);
        let given = as_content(kind, preset);
        let section = validate.section(schema, &given, &pointer);
        *bytes_left = validate.capacity_left();
        for violation in validate.field_errors.iter() {
            report.say(Code::PresetInvalid, &violation.pointer, violation.violation.detail.clone());
        }
        report.count(Code::PresetInvalid, validate.field_errors.more());
        report.count(Code::SettingUnknown, validate.more_unknown);
        for note in validate.notes {
            report.say(note.code, &note.pointer, note.detail);
        }
        let category = preset.get("category").and_then(text);
        presets.extend(section.map(|section| Preset { name, category, section }));
    }
    presets
}

/// Converts a preset to a section of a page. Blocks in a list have no names and are numbered.
fn as_content(kind: &str, preset: &Value) -> Value {
    let mut content = Map::new();
    content.insert("type".to_owned(), kind.into());
    content.insert("settings".to_owned(), preset.get("settings").cloned().unwrap_or_default());
    content.extend(named_blocks(preset));
    content.into()
}

fn named_blocks(preset: &Value) -> Map<String, Value> {
    let inner = |block: &Value| -> Value {
        let mut block = block.clone();
        let named = named_blocks(&block);
        if let Some(block) = block.as_object_mut() {
            block.remove("id");
            block.extend(named);
        }
        block
    };
    let mut members = Map::new();
    match preset.get("blocks") {
        Some(Value::Array(list)) => {
            // The template finds a static block by its id.
            let name = |(index, block): (usize, &Value)| match block.get("id") {
                Some(Value::String(id)) => id.clone(),
                _ => format!("block-{}", index.saturating_add(1)),
            };
            let order = list.iter().enumerate().map(name).map(Value::from).collect();
            let named = |(index, block)| (name((index, block)), inner(block));
            let blocks: Map<String, Value> = list.iter().enumerate().map(named).collect();
            members.insert("blocks".to_owned(), blocks.into());
            members.insert("block_order".to_owned(), order);
        }
        Some(Value::Object(blocks)) => {
            let blocks: Map<String, Value> =
                blocks.iter().map(|(name, block)| (name.clone(), inner(block))).collect();
            members.insert("blocks".to_owned(), blocks.into());
            members.extend(
                preset.get("block_order").map(|order| ("block_order".to_owned(), order.clone())),
            );
        }
        Some(other) => {
            members.insert("blocks".to_owned(), other.clone());
        }
        None => {}
    }
    members
}

fn blocks(
    object: &Map<String, Value>,
    pointer: &str,
    report: &mut FileFindings<'_>,
) -> Vec<BlockType> {
    let at = below(pointer, "blocks");
    let list = match object.get("blocks") {
        None | Some(Value::Null) => return Vec::new(),
        Some(list) => list.as_array(),
    };
    let Some(list) = list else {
        report.say(Code::JsonShape, &at, "Must be an array of blocks.");
        return Vec::new();
    };
    if list.len() > MAX_BLOCK_TYPES {
        let detail = format!("Must have at most {MAX_BLOCK_TYPES} types of blocks.");
        report.say(Code::BlockTypeInvalid, &at, detail);
        return Vec::new();
    }
    let mut kinds = BTreeSet::new();
    let read = |(index, value): (usize, &Value)| {
        let pointer = format!("{at}/{index}");
        let kind = value.get("type").and_then(Value::as_str).filter(|kind| is_kind(kind));
        let object =
            value.as_object().zip(kind).filter(|(_, kind)| kinds.insert((*kind).to_owned()));
        let Some((object, kind)) = object else {
            let detail = "Must be a name that no other block type has.";
            report.say(Code::BlockTypeInvalid, &below(&pointer, "type"), detail);
            return None;
        };
        unknown(object, BLOCK_MEMBERS, &pointer, report);
        Some(BlockType {
            kind: kind.to_owned(),
            name: object.get("name").and_then(text),
            limit: integer(object, "limit", (1, MAX_BLOCKS), &pointer, report),
            settings: settings(object, &pointer, report),
            blocks: Vec::new(),
        })
    };
    list.iter().enumerate().filter_map(read).collect()
}

fn settings(
    object: &Map<String, Value>,
    pointer: &str,
    report: &mut FileFindings<'_>,
) -> Vec<Setting> {
    let Some(list) = object.get("settings") else { return Vec::new() };
    let at = below(pointer, "settings");
    let most = (at.as_str(), MAX_SECTION_SETTINGS);
    let settings = setting::list(list, most, &mut BTreeSet::new(), report);
    if settings.iter().any(|setting| setting.kind == super::SettingKind::ColorSchemeGroup) {
        report.say(
            Code::SettingInvalid,
            &at,
            "`color_scheme_group` is only allowed in the settings of the theme.",
        );
    }
    settings
}

fn name(
    object: &Map<String, Value>,
    pointer: &str,
    report: &mut FileFindings<'_>,
) -> Option<Label> {
    let name = object.get("name").and_then(text);
    if name.is_none() {
        report.say(Code::SectionInvalid, &below(pointer, "name"), "Must be a string.");
    }
    name
}

fn member(
    object: &Map<String, Value>,
    name: &str,
    report: &mut FileFindings<'_>,
    is_good: impl Fn(&str) -> bool,
) -> Option<String> {
    let value = object.get(name).filter(|value| !value.is_null())?;
    let text = value.as_str().filter(|text| is_good(text));
    if text.is_none() {
        let detail = format!("Must be a valid `{name}` of a section.");
        report.say(Code::SectionInvalid, &below("", name), detail);
    }
    text.map(str::to_owned)
}

fn integer(
    object: &Map<String, Value>,
    name: &str,
    (min, max): (u32, u32),
    pointer: &str,
    report: &mut FileFindings<'_>,
) -> Option<u32> {
    let value = object.get(name).filter(|value| !value.is_null())?;
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let number = number.filter(|number| (min..=max).contains(number));
    if number.is_none() {
        let detail = format!("Must be an integer from {min} to {max}.");
        report.say(Code::SectionInvalid, &below(pointer, name), detail);
    }
    number
}

fn unknown(
    object: &Map<String, Value>,
    known: &[&str],
    pointer: &str,
    report: &mut FileFindings<'_>,
) {
    for member in object.keys().filter(|member| !known.contains(&member.as_str())) {
        report.say(
            Code::SettingUnknownMember,
            &below(pointer, member),
            "Unknown member; it is ignored.",
        );
    }
}

/// Whether a text is the name of a block type, or a reserved one like `@theme` and `@app`.
fn is_kind(kind: &str) -> bool {
    let bare = kind.strip_prefix('@').unwrap_or(kind);
    (1..=64).contains(&bare.len())
        && bare.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Whether a text needs no escaping as the `class` attribute of an element.
fn is_class(class: &str) -> bool {
    class.len() <= 200
        && class.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '))
}
