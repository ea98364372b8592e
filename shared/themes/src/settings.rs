//! What a merchant has set: checked against the theme's schema, and made safe.

use std::collections::BTreeMap;

use primitives::problem::{FieldError, FieldErrors};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::finding::{Code, Finding};
use crate::findings::Findings;
use crate::release::canonical;
use crate::schema::Schema;

pub use difference::{Change, ChangeKind, Difference, difference};
pub use upgrade::{Upgrade, upgrade};

pub(crate) use validate::{Note, Validator};

pub(crate) mod decimal;
mod difference;
mod formats;
mod html;
#[cfg(test)]
mod tests;
mod upgrade;
mod validate;
mod value;

/// Bytes of a draft at most, as it is sent and as it is kept.
pub const MAX_CONTENT: usize = 256 * 1024;
/// Sections of a page at most (our choice).
pub const MAX_SECTIONS: usize = 25;

/// What stands on a page: a section, or, in one, a block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeElement")]
pub struct Element {
    /// Which kind of section, or of block.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the merchant calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Its settings, each with a value.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Blocks in it, by a name of the editor's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<String, Element>,
    /// Their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_order: Vec<String>,
}

/// What a theme is set to: checked, safe, and every setting with a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeContent")]
pub struct Content {
    /// The settings of the whole theme.
    pub settings: Map<String, Value>,
    /// The sections of the first page, by a name of the editor's.
    pub sections: BTreeMap<String, Element>,
    /// Their order.
    pub order: Vec<String>,
}

/// What a merchant wants a theme to be set to, as it was sent. What is left out is nothing: no
/// settings but the defaults, no sections.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// An object: the settings of the whole theme.
    pub settings: Value,
    /// An object: the sections of the first page, by a name of the editor's.
    pub sections: Value,
    /// An array: their order.
    pub order: Value,
}

/// What the draft comes to: with defaults where nothing was set and made safe where it was not, and
/// what was left out or changed.
///
/// # Errors
/// Every place that is not what the schema says, by its pointer in the draft.
pub fn check(schema: &Schema, draft: &Draft) -> Result<(Content, Vec<Finding>), FieldErrors> {
    let mut validate = Validator::default();
    let settings = validate.settings(schema.settings(), &draft.settings, "/settings");
    let (sections, order) = validate.page(schema, (&draft.sections, &draft.order), "");
    let content = Content { settings, sections, order };
    if validate.faults.is_empty() && canonical(&content).len() > MAX_CONTENT {
        let detail = format!("Must have at most {MAX_CONTENT} bytes, with defaults.");
        validate.faults.push(FieldError::new("", "too_large", detail));
    }
    if !validate.faults.is_empty() {
        return Err(validate.faults);
    }
    let note = |note: Note| Finding::new(note.code, "", note.detail).at(note.pointer);
    let mut findings: Findings = validate.notes.into_iter().map(note).collect();
    findings.count(Code::SettingUnknown, validate.more_unknown);
    Ok((content, findings.listed().0))
}

/// What the theme looks like when nothing was set.
pub fn defaults(schema: &Schema) -> Content {
    schema.initial.clone()
}
