//! Reads and validates the declaration of a setting, and sanitizes its default.

use std::collections::BTreeSet;

use primitives::fields::FromText;
use serde_json::{Map, Number, Value};

use super::{Choice, Label, MAX_SECTION_SETTINGS, MAX_STEPS, Setting, SettingKind};
use crate::finding::{Code, FileFindings, below};
use crate::settings::{Validator, decimal};

/// The known members of a setting.
const MEMBERS: &[&str] = &[
    "type",
    "id",
    "label",
    "info",
    "content",
    "placeholder",
    "default",
    "min",
    "max",
    "step",
    "unit",
    "options",
    "limit",
    "accept",
    "definition",
    "role",
    "visible_if",
    "alignment",
];
/// The maximum length of an id in characters.
const MAX_ID: usize = 64;

/// Whether a setting of this type may have a member. Whether a color may be transparent is up to its value here.
fn is_member(kind: SettingKind, member: &str) -> bool {
    MEMBERS.contains(&member) || (kind == SettingKind::Color && member == "alpha")
}

/// Reads a text of the editor.
pub(super) fn text(value: &Value) -> Option<Label> {
    serde_json::from_value(value.clone()).ok()
}

/// Reads the valid settings of a list, and reports problems of the others.
pub(super) fn list(
    value: &Value,
    (pointer, most): (&str, usize),
    ids: &mut BTreeSet<String>,
    report: &mut FileFindings<'_>,
) -> Vec<Setting> {
    let Some(list) = value.as_array() else {
        report.say(Code::JsonShape, pointer, "Must be an array of settings.");
        return Vec::new();
    };
    if list.len() > most {
        report.say(Code::TooManySettings, pointer, format!("Must be at most {most} settings."));
        return Vec::new();
    }
    let read = |(index, value): (usize, &Value)| {
        let pointer = format!("{pointer}/{index}");
        Reader { report, pointer }.setting(value, ids)
    };
    list.iter().enumerate().filter_map(read).collect()
}

struct Reader<'a, 'b> {
    report: &'a mut FileFindings<'b>,
    pointer: String,
}

impl Reader<'_, '_> {
    fn say(&mut self, code: Code, member: &str, detail: impl Into<String>) {
        self.report.say(code, &below(&self.pointer, member), detail);
    }

    fn setting(&mut self, value: &Value, ids: &mut BTreeSet<String>) -> Option<Setting> {
        let Some(object) = value.as_object() else {
            self.report.say(Code::JsonShape, &self.pointer, "Must be an object.");
            return None;
        };
        let kind = self.kind(object)?;
        for member in object.keys().filter(|member| !is_member(kind, member)) {
            self.say(Code::SettingUnknownMember, member, "Unknown member; it is ignored.");
        }
        let id = if kind.is_sidebar() { None } else { Some(self.id(object, ids)?) };
        let mut setting = Setting {
            kind,
            id,
            label: self.label(object, "label"),
            info: self.label(object, "info"),
            content: self.label(object, "content"),
            placeholder: self.label(object, "placeholder"),
            default: None,
            min: self.number(object, "min"),
            max: self.number(object, "max"),
            step: self.number(object, "step"),
            unit: self.text(object, "unit"),
            options: self.options(object, kind),
            limit: self.limit(object),
            accept: self.accept(object),
            definition: self.definition(object, kind),
            role: object.get("role").cloned(),
            visible_if: self.text(object, "visible_if"),
        };
        self.validate_labels(&setting);
        if kind == SettingKind::Range && !self.range(&mut setting) {
            return Some(setting);
        }
        setting.default = self.default(object, &setting);
        Some(setting)
    }

    fn kind(&mut self, object: &Map<String, Value>) -> Option<SettingKind> {
        let name = object.get("type").and_then(Value::as_str);
        let kind = name.and_then(|name| SettingKind::from_text(name).ok());
        if kind.is_none() {
            let detail = match name {
                Some(name) => format!("There is no setting type `{name}`."),
                None => "A setting must have a `type`.".to_owned(),
            };
            self.say(Code::SettingTypeUnknown, "type", detail);
        }
        kind
    }

    fn id(&mut self, object: &Map<String, Value>, ids: &mut BTreeSet<String>) -> Option<String> {
        let id = object.get("id").and_then(Value::as_str).filter(|id| {
            (1..=MAX_ID).contains(&id.len())
                && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        });
        let Some(id) = id else {
            let detail = "Must be 1 to 64 letters, digits, underscores and hyphens.";
            self.say(Code::SettingIdInvalid, "id", detail);
            return None;
        };
        if !ids.insert(id.to_owned()) {
            self.say(Code::SettingIdDuplicate, "id", format!("Another setting has the id `{id}`."));
            return None;
        }
        Some(id.to_owned())
    }

    fn label(&mut self, object: &Map<String, Value>, name: &str) -> Option<Label> {
        let value = object.get(name).filter(|value| !value.is_null())?;
        // The placeholder of a number may be a number.
        let label = text(value).or_else(|| value.as_number().map(|n| Label::Text(n.to_string())));
        if label.is_none() {
            self.say(
                Code::SettingInvalid,
                name,
                "Must be a string, or an object with a string for each language.",
            );
        }
        label
    }

    fn text(&mut self, object: &Map<String, Value>, name: &str) -> Option<String> {
        let value = object.get(name).filter(|value| !value.is_null())?;
        if !value.is_string() {
            self.say(Code::SettingInvalid, name, "Must be a string.");
        }
        value.as_str().map(str::to_owned)
    }

    fn number(&mut self, object: &Map<String, Value>, name: &str) -> Option<Number> {
        let value = object.get(name).filter(|value| !value.is_null())?;
        let number = value.as_number().filter(|number| decimal::millionths(number).is_some());
        if number.is_none() {
            self.say(Code::SettingRangeInvalid, name, "Must be a number of at most six decimals.");
        }
        number.map(decimal::normal)
    }

    fn limit(&mut self, object: &Map<String, Value>) -> Option<u32> {
        let value = object.get("limit").filter(|value| !value.is_null())?;
        let limit = value.as_u64().and_then(|limit| u32::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=50).contains(limit));
        if limit.is_none() {
            self.say(Code::SettingInvalid, "limit", "Must be an integer from 1 to 50.");
        }
        limit
    }

    fn accept(&mut self, object: &Map<String, Value>) -> Vec<String> {
        let Some(value) = object.get("accept") else { return Vec::new() };
        let accepted: Option<Vec<String>> = value
            .as_array()
            .and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        let known = |name: &String| matches!(name.as_str(), "youtube" | "vimeo");
        match accepted {
            Some(accepted) if accepted.iter().all(known) => accepted,
            _ => {
                self.say(Code::SettingInvalid, "accept", "Must have only `youtube` and `vimeo`.");
                Vec::new()
            }
        }
    }

    fn options(&mut self, object: &Map<String, Value>, kind: SettingKind) -> Vec<Choice> {
        if !matches!(kind, SettingKind::Select | SettingKind::Radio) {
            return Vec::new();
        }
        let list = object.get("options").cloned().unwrap_or_default();
        let options: Vec<Choice> = match serde_json::from_value(list) {
            Ok(options) => options,
            Err(error) => {
                let detail = format!("Must be an array of `value` and `label`: {error}.");
                self.say(Code::SettingOptionsInvalid, "options", detail);
                return Vec::new();
            }
        };
        let values: BTreeSet<&str> = options.iter().map(|option| option.value.as_str()).collect();
        if options.is_empty() || values.len() < options.len() {
            let detail = "Must have at least one option, with unique values.";
            self.say(Code::SettingOptionsInvalid, "options", detail);
        }
        options
    }

    fn definition(&mut self, object: &Map<String, Value>, kind: SettingKind) -> Vec<Setting> {
        if kind != SettingKind::ColorSchemeGroup {
            return Vec::new();
        }
        let value = object.get("definition").unwrap_or(&Value::Null);
        let pointer = below(&self.pointer, "definition");
        let at = (pointer.as_str(), MAX_SECTION_SETTINGS);
        let definition = list(value, at, &mut BTreeSet::new(), self.report);
        if definition.iter().any(|setting| setting.kind == SettingKind::ColorSchemeGroup) {
            let detail = "A color scheme cannot contain a `color_scheme_group`.";
            self.report.say(Code::SettingInvalid, &pointer, detail);
            return Vec::new();
        }
        definition
    }

    fn validate_labels(&mut self, setting: &Setting) {
        let (member, label) = if setting.kind.is_sidebar() {
            ("content", &setting.content)
        } else {
            ("label", &setting.label)
        };
        // The editor shows the schemes of a group and the colors of a palette, which need no label.
        let is_plain =
            matches!(setting.kind, SettingKind::ColorSchemeGroup | SettingKind::ColorPalette);
        if label.is_none() && !is_plain {
            self.say(
                Code::SettingLabelMissing,
                member,
                "Without a label, merchants do not see what the setting is for.",
            );
        }
    }

    /// Validates the bounds and the step of a range; the step is 1 by default.
    fn range(&mut self, setting: &mut Setting) -> bool {
        setting.step.get_or_insert_with(|| Number::from(1));
        let scaled = |number: &Option<Number>| number.as_ref().and_then(decimal::millionths);
        let bounds = (scaled(&setting.min), scaled(&setting.max), scaled(&setting.step));
        let (Some(min), Some(max), Some(step)) = bounds else {
            self.report.say(
                Code::SettingRangeInvalid,
                &self.pointer,
                "A `range` must have `min` and `max`.",
            );
            return false;
        };
        if step <= 0 || min >= max {
            let detail = "`min` must be less than `max`, and `step` greater than 0.";
            self.report.say(Code::SettingRangeInvalid, &self.pointer, detail);
            return false;
        }
        let steps = max.saturating_sub(min).checked_div(step).unwrap_or_default();
        if steps > MAX_STEPS {
            self.say(
                Code::SettingRangeInvalid,
                "step",
                format!("Must have at most {MAX_STEPS} steps."),
            );
            return false;
        }
        true
    }

    fn default(&mut self, object: &Map<String, Value>, setting: &Setting) -> Option<Value> {
        let given = object.get("default").filter(|value| !value.is_null())?;
        let pointer = below(&self.pointer, "default");
        if setting.kind.is_sidebar() {
            self.report.say(
                Code::SettingDefaultInvalid,
                &pointer,
                "Settings of this type have no value.",
            );
            return None;
        }
        let mut validate = Validator::default();
        let value = validate.value(setting, given, &pointer);
        for violation in validate.field_errors.iter() {
            let detail = violation.violation.detail.clone();
            self.report.say(Code::SettingDefaultInvalid, &violation.pointer, detail);
        }
        self.report.count(Code::SettingDefaultInvalid, validate.field_errors.more());
        self.report.count(Code::SettingUnknown, validate.more_unknown);
        for note in validate.notes {
            self.report.say(note.code, &note.pointer, note.detail);
        }
        value
    }
}
