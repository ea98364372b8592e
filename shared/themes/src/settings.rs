//! The content of a theme: values of settings, validated against the schema and sanitized.

use primitives::problem::{FieldError, FieldErrors, Problem};
use serde_json::Value;

use crate::canonical_json::canonical;
use crate::finding::{Code, Finding};
use crate::findings::Findings;
use crate::schema::Schema;

pub use content::{Content, SectionOrBlock, Sections};
pub use difference::{Change, ChangeKind, Difference, difference};
pub use upgrade::{Upgrade, upgrade};

pub(crate) use validate::{Note, Validator};

mod content;
pub(crate) mod decimal;
mod difference;
mod formats;
mod html;
#[cfg(test)]
mod tests;
mod upgrade;
mod validate;
mod value;

/// The maximum size of a draft in bytes, both in the request and as stored.
pub const MAX_CONTENT: usize = 256 * 1024;
/// The maximum number of sections on a page (our choice).
pub const MAX_SECTIONS: usize = 25;
/// The maximum number of templates, of section groups, and of static sections in a draft (our choice).
pub const MAX_TEMPLATES: usize = 100;

/// The unvalidated content of a draft, as in the request. Omitted members mean defaults for the settings,
/// and no sections.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnvalidatedContent {
    /// An object: the values of the settings of the whole theme.
    pub settings: Value,
    /// An object: the sections of the home page, by names that the editor chooses.
    pub sections: Value,
    /// An array: the order of the sections.
    pub order: Value,
    /// An object: the sections of other templates, by the template's name.
    pub templates: Value,
    /// An object: the sections of section groups, by the group's name.
    pub section_groups: Value,
    /// An object: sections that a layout or template places by their type, by that type.
    pub static_sections: Value,
}

impl UnvalidatedContent {
    /// Content that was valid before, perhaps for another version of the theme.
    ///
    /// # Errors
    /// 500.
    pub fn of(content: &Content) -> Result<Self, Problem> {
        let value = |value: Result<Value, _>| value.map_err(Problem::internal);
        Ok(Self {
            settings: content.settings.clone().into(),
            sections: value(serde_json::to_value(&content.sections))?,
            order: value(serde_json::to_value(&content.order))?,
            templates: value(serde_json::to_value(&content.templates))?,
            section_groups: value(serde_json::to_value(&content.section_groups))?,
            static_sections: value(serde_json::to_value(&content.static_sections))?,
        })
    }
}

/// Validates a draft against a schema. Returns the content, sanitized and with defaults for omitted
/// values, and a warning for each value that was left out or changed.
///
/// # Errors
/// A field error for every invalid value, with its pointer in the draft.
pub fn check(
    schema: &Schema,
    draft: &UnvalidatedContent,
) -> Result<(Content, Vec<Finding>), FieldErrors> {
    let mut validate = Validator::default();
    let settings = validate.settings(schema.settings(), &draft.settings, "/settings");
    let Sections { sections, order } = validate.page(schema, (&draft.sections, &draft.order), "");
    let templates =
        validate.lists(schema, &draft.templates, "/templates", |name| schema.has_template(name));
    let section_groups = validate.lists(schema, &draft.section_groups, "/section_groups", |name| {
        schema.section_groups.contains_key(name)
    });
    let static_sections =
        validate.static_sections(schema, &draft.static_sections, "/static_sections");
    let content = Content { settings, sections, order, templates, section_groups, static_sections };
    if validate.field_errors.is_empty() && canonical(&content).len() > MAX_CONTENT {
        let detail = format!("Must have at most {MAX_CONTENT} bytes, with defaults.");
        validate.field_errors.push(FieldError::new("", "too_large", detail));
    }
    if !validate.field_errors.is_empty() {
        return Err(validate.field_errors);
    }
    let note = |note: Note| Finding::new(note.code, "", note.detail).at(note.pointer);
    let mut findings: Findings = validate.notes.into_iter().map(note).collect();
    findings.count(Code::SettingUnknown, validate.more_unknown);
    Ok((content, findings.listed().0))
}

/// The initial content of a theme.
pub fn defaults(schema: &Schema) -> Content {
    schema.initial.clone()
}
