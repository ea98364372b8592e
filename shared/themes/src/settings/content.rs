//! The content of a theme: its sections and blocks.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A section of a page, or a block in one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSectionOrBlock")]
pub struct SectionOrBlock {
    /// The section type or block type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The merchant's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is hidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Whether the template places the block itself, by its name: it has no place in the order.
    #[serde(default, rename = "static", skip_serializing_if = "std::ops::Not::not")]
    pub is_static: bool,
    /// The values of its settings, defaults included.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// The blocks in it, by names that the editor chooses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<String, SectionOrBlock>,
    /// The order of the blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_order: Vec<String>,
}

/// The sections of a template or of a section group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSections")]
pub struct Sections {
    /// The sections, by names that the editor chooses.
    #[serde(default)]
    pub sections: BTreeMap<String, SectionOrBlock>,
    /// The order of the sections.
    #[serde(default)]
    pub order: Vec<String>,
}

/// The content of a theme: validated and sanitized, with a value for every setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeContent")]
pub struct Content {
    /// The values of the settings of the whole theme.
    pub settings: Map<String, Value>,
    /// The sections of the home page, by names that the editor chooses.
    pub sections: BTreeMap<String, SectionOrBlock>,
    /// The order of the sections.
    pub order: Vec<String>,
    /// The sections of other templates, by name: `product`, `collection.sale`. Others are as the theme has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, Sections>,
    /// The sections of section groups, by name: `header-group`. Others are as the theme has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub section_groups: BTreeMap<String, Sections>,
    /// Sections that a layout places by their type, by that type: `header`. Others are as the theme has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub static_sections: BTreeMap<String, SectionOrBlock>,
}
