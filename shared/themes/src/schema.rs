//! What a merchant may set in a theme: its settings, its sections and their blocks.
//!
//! The shapes are those of Shopify's themes (shopify.dev, "Input settings", "Section schema"), so
//! that a theme that was made for one can be read here: `config/settings_schema.json`, and the JSON
//! between `{% schema %}` and `{% endschema %}` in each section and block.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::settings::Content;

pub(crate) mod read;
pub(crate) mod section;
mod setting;

/// Steps of a range at most (our choice): more is a number.
pub const MAX_STEPS: i128 = 1_000;
/// Settings of the whole theme at most (our choice).
pub const MAX_SETTINGS: usize = 500;
/// Settings of one section or one block at most (our choice).
pub const MAX_SECTION_SETTINGS: usize = 100;
/// Blocks of one section at most, whatever its schema says.
pub const MAX_BLOCKS: u32 = 50;
/// How deep blocks may stand in blocks.
pub const MAX_BLOCK_DEPTH: usize = 8;

primitives::string_enum! {
    /// What a setting is: the control that a merchant sees, and the values that it takes.
    SettingKind {
        /// A boolean.
        Checkbox = "checkbox",
        /// A number.
        Number = "number",
        /// One of the options.
        Radio = "radio",
        /// A number between two, in steps.
        Range = "range",
        /// One of the options.
        Select = "select",
        /// One line of text.
        Text = "text",
        /// `left`, `center` or `right`.
        TextAlignment = "text_alignment",
        /// Lines of text.
        Textarea = "textarea",
        /// The handle of an article, as `blog/article`.
        Article = "article",
        /// The handle of a blog.
        Blog = "blog",
        /// The handle of a collection.
        Collection = "collection",
        /// Handles of collections.
        CollectionList = "collection_list",
        /// A color in CSS's notation.
        Color = "color",
        /// A CSS background: a color or a gradient.
        ColorBackground = "color_background",
        /// The name of a scheme in a group of them.
        ColorScheme = "color_scheme",
        /// Color schemes, each with the settings of the group's definition.
        ColorSchemeGroup = "color_scheme_group",
        /// The handle of a font: `assistant_n4`.
        FontPicker = "font_picker",
        /// HTML as the merchant writes it, without what runs.
        Html = "html",
        /// A path of an image: in the store's media or in the theme's assets.
        ImagePicker = "image_picker",
        /// One line of text, with emphasis and links.
        InlineRichtext = "inline_richtext",
        /// The handle of a menu.
        LinkList = "link_list",
        /// Text for a template, kept as text: nobody runs it.
        Liquid = "liquid",
        /// The handle of a page.
        Page = "page",
        /// The handle of a product.
        Product = "product",
        /// Handles of products.
        ProductList = "product_list",
        /// Paragraphs, lists and headings, with emphasis and links.
        Richtext = "richtext",
        /// A link: a path of the storefront, or a web, mail or telephone URL.
        Url = "url",
        /// A path of a video: in the store's media or in the theme's assets.
        Video = "video",
        /// The URL of a video at a provider of them.
        VideoUrl = "video_url",
        /// A heading between settings; it has no value.
        Header = "header",
        /// A text between settings; it has no value.
        Paragraph = "paragraph",
    }
}

impl SettingKind {
    /// Whether it is shown between settings and has no value.
    pub const fn is_sidebar(self) -> bool {
        matches!(self, Self::Header | Self::Paragraph)
    }
}

/// A text that a merchant sees: as it is, by language, or as the key of a translation (`t:…`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeLabel")]
#[serde(untagged)]
pub enum Label {
    /// One text.
    Text(String),
    /// A text for each language.
    ByLocale(BTreeMap<String, String>),
}

impl Default for Label {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// One thing that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSettingOption")]
pub struct Choice {
    /// What is kept.
    pub value: String,
    /// What is seen.
    pub label: Label,
    /// What it stands below in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Label>,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSetting")]
pub struct Setting {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: SettingKind,
    /// What its value is called in a template; none for a heading or a paragraph, which has no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What a merchant sees beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// More about it; the text of a heading or a paragraph is `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Label>,
    /// The text of a heading or a paragraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Label>,
    /// What is shown where nothing was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Label>,
    /// Its value where nothing was set, safe as every value is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// How far numbers are apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Number>,
    /// What the number counts: `px`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What can be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// How many handles a list has at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Whose videos are taken: `youtube`, `vimeo`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// The settings of each scheme of a group of color schemes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definition: Vec<Setting>,
    /// Which color of a scheme is for what; kept as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Value>,
    /// When it is shown, as an expression of the editor's; kept as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_if: Option<String>,
}

/// Settings under one heading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSettingsGroup")]
pub struct Group {
    /// The heading.
    pub name: Label,
    /// The settings, in their order.
    #[serde(default)]
    pub settings: Vec<Setting>,
}

/// What a theme says of itself in `config/settings_schema.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThemeInfo {
    /// What it is called.
    pub theme_name: String,
    /// Which version; the one that counts is in the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_version: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_author: Option<String>,
    /// Where it is explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_documentation_url: Option<String>,
    /// Where help is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_support_url: Option<String>,
    /// To whom one writes for help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_support_email: Option<String>,
}

/// A kind of block: of one section, or a file of `blocks/`, which every section can take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeBlockType")]
pub struct BlockType {
    /// What it is called in content; `@theme` stands for every file of `blocks/`, `@app` for blocks of
    /// apps, of which there are none here.
    #[serde(rename = "type")]
    pub kind: String,
    /// What a merchant sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Label>,
    /// How many of it one section takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Its settings.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// What stands in it; only in files of `blocks/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockType>,
}

/// A section as it is offered to a merchant who adds one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemePreset")]
pub struct Preset {
    /// What a merchant sees.
    pub name: Label,
    /// Where it stands in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Label>,
    /// The section with the preset's settings and blocks.
    pub section: crate::settings::Element,
}

/// A kind of section: a file of `sections/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSectionType")]
pub struct SectionType {
    /// What it is called in content: its file's name without `.liquid`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What a merchant sees; none for a section without a schema, which only a template can place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Label>,
    /// The HTML element around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The CSS class of that element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How many of it a page takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How many blocks it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_blocks: Option<u32>,
    /// Its settings.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// The blocks that it takes.
    #[serde(default)]
    pub blocks: Vec<BlockType>,
    /// What a merchant can begin with; a section without one is not offered.
    #[serde(default)]
    pub presets: Vec<Preset>,
}

/// Everything that can be set in one version of a theme.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSchema")]
pub struct Schema {
    /// What the theme says of itself.
    pub theme_info: ThemeInfo,
    /// The settings of the whole theme.
    pub settings_schema: Vec<Group>,
    /// Its sections, by name.
    pub sections: Vec<SectionType>,
    /// Its blocks that every section can take, by name.
    #[serde(default)]
    pub blocks: Vec<BlockType>,
    /// The languages that it speaks, the default first.
    pub locales: Vec<String>,
    /// What it looks like when nothing was set: `config/settings_data.json` and the sections of
    /// `templates/index.json`, checked, over the defaults.
    pub initial: Content,
}

impl Schema {
    /// The settings of the whole theme that have a value.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings_schema.iter().flat_map(|group| &group.settings)
    }

    /// The section of this type.
    pub fn section(&self, kind: &str) -> Option<&SectionType> {
        self.sections.iter().find(|section| section.kind == kind)
    }
}
