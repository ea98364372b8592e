//! Validates content against a schema. Collects every field error and warning, with their pointers.

mod page;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use primitives::problem::{FieldError, FieldErrors};
use serde_json::{Map, Value};

use super::{MAX_CONTENT, html, value};
use crate::finding::{Code, below};
use crate::findings::MAX_LISTED;
use crate::schema::{Setting, SettingKind};

pub(crate) use page::block_type;

/// The maximum number of color schemes in a group.
const MAX_SCHEMES: usize = 30;

/// A warning about a value.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) code: Code,
    pub(crate) pointer: String,
    pub(crate) detail: &'static str,
}

/// Validates content, and collects its field errors and warnings.
#[derive(Debug)]
pub(crate) struct Validator {
    /// The number of bytes left for values. Defaults are filled in, so that a short page of many blocks
    /// could have a very long result.
    bytes_left: usize,
    /// Whether the content is the theme's own, in which a value that is no option is replaced.
    is_of_theme: bool,
    /// Whether the values exceeded the limit: that is reported once, and no more values are accepted.
    is_full: bool,
    /// The errors of invalid values.
    pub(crate) field_errors: FieldErrors,
    /// The warnings about values that were left out or changed.
    pub(crate) notes: Vec<Note>,
    /// The number of unknown settings beyond those in `notes`.
    pub(crate) more_unknown: usize,
}

impl Default for Validator {
    fn default() -> Self {
        Self {
            bytes_left: MAX_CONTENT,
            is_of_theme: false,
            is_full: false,
            more_unknown: 0,
            field_errors: FieldErrors::default(),
            notes: Vec::new(),
        }
    }
}

impl Validator {
    /// A validator of the content in a theme's own files.
    pub(crate) fn of_theme() -> Self {
        Self { is_of_theme: true, ..Self::default() }
    }

    /// Limits values to `bytes_left` bytes.
    pub(crate) fn with_bytes_left(self, bytes_left: usize) -> Self {
        Self { bytes_left, ..self }
    }

    /// The number of bytes left.
    pub(crate) const fn capacity_left(&self) -> usize {
        self.bytes_left
    }

    /// Reserves bytes for values. Returns whether there were enough; the first lack is reported as an error.
    fn take(&mut self, bytes: usize) -> bool {
        if self.is_full {
            return false;
        }
        if let Some(bytes_left) = self.bytes_left.checked_sub(bytes) {
            self.bytes_left = bytes_left;
            return true;
        }
        self.is_full = true;
        let detail = format!("Must have at most {MAX_CONTENT} bytes, with defaults.");
        self.violation("", "too_large", detail);
        false
    }

    fn violation(&mut self, pointer: &str, code: &'static str, detail: impl Into<String>) {
        self.field_errors.add(|| FieldError::new(pointer, code, detail.into()));
    }

    fn note(&mut self, pointer: String, code: Code, detail: &'static str) {
        self.notes.push(Note { code, pointer, detail });
    }

    /// Reads an object; `null` is an empty one.
    fn object<'a>(&mut self, value: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
        static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        match value {
            Value::Object(object) => Some(object),
            Value::Null => Some(&EMPTY),
            _ => {
                self.violation(pointer, "invalid_type", "Must be an object.");
                None
            }
        }
    }

    /// Validates values of settings; omitted ones get their defaults.
    pub(crate) fn settings<'a>(
        &mut self,
        declared: impl Iterator<Item = &'a Setting>,
        given: &Value,
        pointer: &str,
    ) -> Map<String, Value> {
        let mut settings = Map::new();
        let Some(given) = self.object(given, pointer) else { return settings };
        let mut known = BTreeSet::new();
        for (id, setting) in declared.filter_map(|setting| Some((setting.id.as_ref()?, setting))) {
            known.insert(id.as_str());
            let default = || setting.default.clone().unwrap_or_else(|| value::blank(setting));
            let value = match given.get(id) {
                None | Some(Value::Null) => Some(default()),
                Some(value) => self.value(setting, value, &below(pointer, id)),
            };
            let Some(value) = value else { continue };
            if !self.take(id.len().saturating_add(weight(&value))) {
                return settings;
            }
            settings.insert(id.clone(), value);
        }
        for id in given.keys().filter(|id| !known.contains(id.as_str())) {
            let detail = "The theme has no such setting; the value was removed.";
            if self.notes.len() < MAX_LISTED {
                self.note(below(pointer, id), Code::SettingUnknown, detail);
            } else {
                self.more_unknown = self.more_unknown.saturating_add(1);
            }
        }
        settings
    }

    /// Validates one value; none if it is invalid, which is reported.
    pub(crate) fn value(
        &mut self,
        setting: &Setting,
        given: &Value,
        pointer: &str,
    ) -> Option<Value> {
        if setting.kind == SettingKind::ColorSchemeGroup {
            return self.schemes(setting, given, pointer);
        }
        match value::safe(setting, given) {
            Ok(safe) => {
                let texts = given.as_str().zip(safe.as_str());
                if texts.is_some_and(|(given, safe)| html::is_reduced(given, safe)) {
                    let detail = "The HTML was sanitized.";
                    self.note(pointer.to_owned(), Code::SettingSanitized, detail);
                }
                Some(safe)
            }
            Err(violation) if self.is_of_theme && violation.code == "invalid_choice" => {
                let detail = "The value is none of the options; the default stands in for it.";
                self.note(pointer.to_owned(), Code::SettingValueReplaced, detail);
                Some(setting.default.clone().unwrap_or_else(|| value::blank(setting)))
            }
            Err(violation) => {
                self.field_errors.add(|| FieldError::at(pointer, violation));
                None
            }
        }
    }

    fn schemes(&mut self, setting: &Setting, given: &Value, pointer: &str) -> Option<Value> {
        let given = self.object(given, pointer)?;
        if given.len() > MAX_SCHEMES {
            self.violation(
                pointer,
                "too_many",
                format!("Must have at most {MAX_SCHEMES} schemes."),
            );
            return None;
        }
        let mut schemes = Map::new();
        for (name, scheme) in given {
            let pointer = below(pointer, name);
            self.name(name, &pointer);
            let inner = scheme.get("settings").unwrap_or(&Value::Null);
            self.object(scheme, &pointer)?;
            let settings =
                self.settings(setting.definition.iter(), inner, &below(&pointer, "settings"));
            schemes.insert(name.clone(), serde_json::json!({ "settings": settings }));
        }
        Some(schemes.into())
    }

    fn name(&mut self, name: &str, pointer: &str) {
        if let Err(violation) = value::name(name) {
            self.field_errors.add(|| FieldError::at(pointer, violation));
        }
    }
}

/// Estimates the size of a value as JSON in bytes: at least that of its texts.
pub(super) fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len().saturating_add(weight(value))).sum()
        }
        _ => 0,
    };
    inside.saturating_add(4)
}
