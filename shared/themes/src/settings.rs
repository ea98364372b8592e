//! The content of a theme: values of settings, validated against the schema and sanitized.

use primitives::problem::{FieldError, FieldErrors};
use serde_json::Value;

use crate::canonical_json::canonical;
use crate::finding::{Code, Finding};
use crate::findings::Findings;
use crate::schema::Schema;

pub use content::{Content, SectionOrBlock};
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
    let (sections, order) = validate.page(schema, (&draft.sections, &draft.order), "");
    let content = Content { settings, sections, order };
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
