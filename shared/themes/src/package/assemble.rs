//! Builds a theme's schema and initial content from its files.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::json;
use super::layout::{Files, stem};
use crate::canonical_json::canonical;
use crate::finding::{Code, FileFindings, Finding, below};
use crate::findings::Findings;
use crate::schema::{BlockType, Schema, SectionType, read, section};
use crate::settings::{Content, MAX_CONTENT, Sections, Validator};

const SETTINGS_DATA: &str = "config/settings_data.json";
const INDEX: &str = "templates/index.json";
/// The maximum size of the schemas of all sections and blocks together, in bytes (our choice).
const MAX_SCHEMAS: usize = 2 << 20;
/// The maximum size of all presets together with their defaults, in bytes (our choice).
const MAX_PRESETS: usize = 1 << 20;
/// The maximum size of the sections of all templates and groups together with their defaults, in bytes (our choice).
const MAX_PAGES: usize = 1 << 20;
/// Members of `config/settings_data.json` that are not settings: content of older themes and of apps.
const NO_SETTINGS: &[&str] =
    &["sections", "blocks", "content_for_index", "platform_customizations"];

/// Reads the schema as far as the files are valid, and reports their problems.
pub(super) fn schema(files: &Files, findings: &mut Findings) -> Schema {
    let mut schema = Schema { locales: locales(files, findings), ..Schema::default() };
    if let Some(value) = value(files, read::PATH, findings) {
        let mut report = FileFindings::new(read::PATH, findings);
        (schema.theme_info, schema.settings_schema) = read::theme(&value, &mut report);
    }
    let mut bytes_left = MAX_SCHEMAS;
    schema.blocks = blocks(files, &mut bytes_left, findings);
    let sections = sections(files, &mut bytes_left, findings);
    schema.sections = sections.iter().map(|(_, _, section)| section.clone()).collect();
    // Presets are read last: they may have blocks that other files declare.
    let mut bytes_left = MAX_PRESETS;
    let presets: Vec<_> = sections
        .iter()
        .map(|(path, value, kind)| {
            let mut report = FileFindings::new(path, findings);
            section::presets(&kind.kind, value, (&schema, &mut bytes_left), &mut report)
        })
        .collect();
    for (section, presets) in schema.sections.iter_mut().zip(presets) {
        section.presets = presets;
    }
    schema.initial = initial(files, &schema, findings);
    let mut bytes_left = MAX_PAGES;
    schema.templates = pages(files, &schema, "templates", &mut bytes_left, findings);
    schema.section_groups = pages(files, &schema, "sections", &mut bytes_left, findings);
    schema
}

/// Parses a JSON file; none if it does not exist or is invalid, which is reported.
pub(super) fn value(files: &Files, path: &str, findings: &mut Findings) -> Option<Value> {
    let bytes = files.get(path)?.as_ref()?;
    match json::parse(bytes) {
        Ok(value) => Some(value),
        Err(detail) => {
            findings.push(Finding::new(Code::JsonInvalid, path, detail));
            None
        }
    }
}

/// The Liquid files of a directory: path, name and text.
fn texts<'a>(
    files: &'a Files,
    directory: &'a str,
) -> impl Iterator<Item = (&'a String, &'a str, &'a str)> {
    files.iter().filter_map(move |(path, bytes)| {
        let stem = stem(path, directory, "liquid")?;
        Some((path, stem, std::str::from_utf8(bytes.as_ref()?).ok()?))
    })
}

fn blocks(files: &Files, bytes_left: &mut usize, findings: &mut Findings) -> Vec<BlockType> {
    let read = |(path, kind, text): (&String, &str, &str)| {
        let mut report = FileFindings::new(path, findings);
        let value = section::embedded(text, bytes_left, &mut report)?;
        Some(section::block(kind, &value, &mut report))
    };
    texts(files, "blocks").filter_map(read).collect()
}

fn sections<'a>(
    files: &'a Files,
    bytes_left: &mut usize,
    findings: &mut Findings,
) -> Vec<(&'a String, Value, SectionType)> {
    let read = |(path, bytes): (&'a String, &'a Option<Vec<u8>>)| {
        let kind = stem(path, "sections", "liquid")?;
        let mut report = FileFindings::new(path, findings);
        let text = bytes.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        let value = text.and_then(|text| section::embedded(text, bytes_left, &mut report));
        // An unreadable section still exists, so that pages with it are not reported as well.
        Some(match value {
            Some(value) => {
                let section = section::section(kind, &value, &mut report);
                (path, value, section)
            }
            None => (path, Value::Null, section::bare(kind)),
        })
    };
    files.iter().filter_map(read).collect()
}

/// The languages of `locales/*.json`, the default first, without the files of the editor's texts.
fn locales(files: &Files, findings: &mut Findings) -> Vec<String> {
    let mut locales = Vec::new();
    let mut has_default = false;
    let paths: Vec<&String> = files.keys().filter(|path| path.starts_with("locales/")).collect();
    for path in paths {
        let is_object = value(files, path, findings).is_none_or(|value| value.is_object());
        if !is_object {
            findings.push(Finding::new(Code::JsonShape, path, "Must be an object.").at(""));
        }
        let Some(name) = stem(path, "locales", "json").filter(|name| !name.ends_with(".schema"))
        else {
            continue;
        };
        if let Some(locale) = name.strip_suffix(".default") {
            has_default = true;
            locales.insert(0, locale.to_owned());
        } else {
            locales.push(name.to_owned());
        }
    }
    if !locales.is_empty() && !has_default {
        let detail = "Exactly one default locale is required, such as `locales/en.default.json`.";
        findings.push(Finding::new(Code::DefaultLocaleMissing, "locales", detail));
    }
    locales
}

/// Reads the initial content of the theme.
fn initial(files: &Files, schema: &Schema, findings: &mut Findings) -> Content {
    let data = value(files, SETTINGS_DATA, findings);
    let mut report = FileFindings::new(SETTINGS_DATA, findings);
    let (pointer, current) = data.map(|data| current(&data, &mut report)).unwrap_or_default();
    let mut validate = Validator::of_theme();
    let settings = validate.settings(schema.settings(), &current, &pointer);
    report_findings(validate, &mut report);
    let Sections { sections, order } = match value(files, INDEX, findings) {
        Some(index) => {
            let member = |name: &str| index.get(name).unwrap_or(&Value::Null);
            let mut validate = Validator::of_theme();
            let page = validate.page(schema, (member("sections"), member("order")), "");
            report_findings(validate, &mut FileFindings::new(INDEX, findings));
            page
        }
        None => Sections::default(),
    };
    let content = Content { settings, sections, order, ..Content::default() };
    if canonical(&content).len() > MAX_CONTENT {
        let detail = format!("The theme's settings must have at most {MAX_CONTENT} bytes.");
        findings.push(Finding::new(Code::ContentTooLarge, SETTINGS_DATA, detail));
    }
    content
}

/// Finds the current settings and their pointer: under `current`, or in the preset that it names.
fn current(data: &Value, report: &mut FileFindings<'_>) -> (String, Value) {
    let (pointer, found) = match data.get("current") {
        Some(Value::String(name)) => {
            let preset = data.get("presets").and_then(|presets| presets.get(name));
            (below("/presets", name), preset)
        }
        // A theme that sets nothing has an empty object here.
        None if data.as_object().is_some_and(Map::is_empty) => return Default::default(),
        found => ("/current".to_owned(), found),
    };
    let Some(settings) = found.and_then(Value::as_object) else {
        report.say(
            Code::JsonShape,
            &pointer,
            "`current` must be an object, or the name of a preset.",
        );
        return (pointer, Value::Null);
    };
    let is_setting = |(name, _): &(&String, &Value)| !NO_SETTINGS.contains(&name.as_str());
    let settings: Map<String, Value> = settings
        .iter()
        .filter(is_setting)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (pointer, settings.into())
}

/// Reads the JSON templates or the section groups in this directory, by name, without the home page.
fn pages(
    files: &Files,
    schema: &Schema,
    directory: &str,
    bytes_left: &mut usize,
    findings: &mut Findings,
) -> BTreeMap<String, Sections> {
    let named = |path: &String| {
        let name = path.strip_prefix(directory)?.strip_prefix('/')?.strip_suffix(".json")?;
        (path != INDEX).then(|| (path.clone(), name.to_owned()))
    };
    let mut pages = BTreeMap::new();
    for (path, name) in files.keys().filter_map(named) {
        let Some(page) = value(files, &path, findings) else { continue };
        let mut report = FileFindings::new(&path, findings);
        if !page.is_object() {
            report.say(Code::JsonShape, "", "Must be an object.");
            continue;
        }
        let member = |name: &str| page.get(name).unwrap_or(&Value::Null);
        let mut validate = Validator::of_theme();
        let page = validate.page(schema, (member("sections"), member("order")), "");
        report_findings(validate, &mut report);
        let Some(left) = bytes_left.checked_sub(canonical(&page).len()) else {
            let detail = format!("All pages must have at most {MAX_PAGES} bytes.");
            report.say(Code::ContentTooLarge, "", detail);
            break;
        };
        *bytes_left = left;
        pages.insert(name, page);
    }
    pages
}

/// Reports the errors and warnings of content as findings.
fn report_findings(validate: Validator, report: &mut FileFindings<'_>) {
    report.count(Code::SettingValueInvalid, validate.field_errors.more());
    report.count(Code::SettingUnknown, validate.more_unknown);
    for violation in validate.field_errors.iter() {
        let code = match violation.violation.code {
            "unknown_section" => Code::SectionTypeUnknown,
            "unknown_block" => Code::BlockTypeUnknown,
            "order_mismatch" => Code::OrderInvalid,
            "too_large" => Code::ContentTooLarge,
            _ => Code::SettingValueInvalid,
        };
        report.say(code, &violation.pointer, violation.violation.detail.clone());
    }
    for note in validate.notes {
        report.say(note.code, &note.pointer, note.detail);
    }
}
