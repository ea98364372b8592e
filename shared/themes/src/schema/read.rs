//! Reads `config/settings_schema.json`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::setting::{self, text};
use super::{Group, MAX_SETTINGS, Setting, ThemeInfo};
use crate::finding::{Code, FileFindings, below};

/// Its path in a package.
pub(crate) const PATH: &str = "config/settings_schema.json";

/// Reads the theme's description and its groups of settings, as far as they are valid.
pub(crate) fn theme(value: &Value, report: &mut FileFindings<'_>) -> (ThemeInfo, Vec<Group>) {
    let Some(elements) = value.as_array() else {
        report.say(Code::JsonShape, "", "Must be an array.");
        return (ThemeInfo::default(), Vec::new());
    };
    let is_info =
        |element: &&Value| element.get("name").and_then(Value::as_str) == Some("theme_info");
    let info = elements.first().filter(is_info).and_then(Value::as_object);
    if info.is_none() {
        let detail = "The first element must be an object whose `name` is `theme_info`.";
        report.say(Code::ThemeInfoMissing, "/0", detail);
    }
    let theme_info = info.map(|info| theme_info(info, report)).unwrap_or_default();
    let mut ids = BTreeSet::new();
    let mut groups = Vec::new();
    for (index, element) in elements.iter().enumerate().skip(usize::from(info.is_some())) {
        let pointer = format!("/{index}");
        groups.extend(group(element, &pointer, &mut ids, report));
    }
    if groups.iter().flat_map(|group| &group.settings).count() > MAX_SETTINGS {
        report.say(
            Code::TooManySettings,
            "",
            format!("Must have at most {MAX_SETTINGS} settings."),
        );
        groups.clear();
    }
    (theme_info, groups)
}

fn theme_info(info: &Map<String, Value>, report: &mut FileFindings<'_>) -> ThemeInfo {
    let member = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
    if member("theme_name").is_none_or(|name| name.trim().is_empty()) {
        report.say(Code::ThemeInfoMissing, "/0/theme_name", "Must be a string.");
    }
    ThemeInfo {
        theme_name: member("theme_name").unwrap_or_default(),
        theme_version: member("theme_version"),
        theme_author: member("theme_author"),
        theme_documentation_url: member("theme_documentation_url"),
        theme_support_url: member("theme_support_url"),
        theme_support_email: member("theme_support_email"),
    }
}

fn group(
    element: &Value,
    pointer: &str,
    ids: &mut BTreeSet<String>,
    report: &mut FileFindings<'_>,
) -> Option<Group> {
    let name = element.get("name").and_then(text);
    if name.is_none() {
        report.say(Code::GroupInvalid, &below(pointer, "name"), "A group must have a name.");
    }
    let settings: Vec<Setting> = match element.get("settings") {
        Some(list) => setting::list(list, (&below(pointer, "settings"), MAX_SETTINGS), ids, report),
        None => Vec::new(),
    };
    Some(Group { name: name?, settings })
}
